//! Remedies for defective inputs.

use super::Format;
use super::error::ReadErrorKind;
use super::names::Kind;
use crate::Value;
use crate::synchronisation::Object as Together;

impl ReadErrorKind {
    /// Returns the remedy, as an imperative sentence without a full stop. `None` for errors of the
    /// operating system.
    pub fn cure(&self) -> Option<String> {
        let cure = match self {
            Self::Io(_) => return None,
            Self::Empty => "an empty history is a header line such as `segments 2`",
            Self::Truncated { terminator: '\n' } => {
                "end the file with a newline if its last line is whole; otherwise the recording \
                 was cut off: delete that line, its operation is then pending"
            }
            Self::Truncated { .. } => {
                "end the last event with `;` if it is whole; otherwise the recording was cut off: \
                 delete that event, its operation is then pending"
            }
            Self::TooLong => "put each event on a line of its own; is this a recording at all?",
            Self::ControlByte(0x1f) => "decompress the file first",
            Self::ControlByte(b'\t') => "write a tab within a string as \\t",
            Self::ControlByte(b'\r') => "end lines with a newline, with or without a \\r before it",
            Self::ControlByte(_) => {
                "give a history in one of the formats text, jsonl, disc22; \
                 within strings write control characters as \\u00XX"
            }
            Self::NotUtf8(_) => "save the file as UTF-8",
            Self::UnknownFormat { found } | Self::Unexpected { found, .. }
                if is_edn(found.text()) =>
            {
                "this looks like a Jepsen history (EDN): \
                 `snapshot-test convert --from edn --to text FILE -o RECORDING` makes a recording \
                 of it"
            }
            Self::UnknownFormat { found }
            | Self::Unexpected { expected: "a header or an event", found, .. }
                if found.text().starts_with(';') =>
            {
                "if this is a Jepsen history (EDN): `snapshot-test convert --from edn --to text FILE \
                 -o RECORDING` makes a recording of it"
            }
            Self::UnknownFormat { found } if is_table(found.text()) => {
                "this looks like a table or a list of calls: \
                 `snapshot-test convert --from intervals --to text FILE -o RECORDING` makes a \
                 recording of it (docs/formats.md)"
            }
            Self::UnknownFormat { .. } => {
                "a text event looks like `p0 update 5`, a JSON Lines event like \
                 {\"process\":0,\"event\":\"ok\"}, a disc22 event like `startScan!0;`"
            }
            Self::ForeignLog { format } => {
                return Some(format!(
                    "`snapshot-test check` reads it as it is; `snapshot-test convert --from {} --to \
                     text FILE -o RECORDING` makes a recording of it (docs/formats.md)",
                    format.name()
                ));
            }
            Self::OtherFormat { reading, found } => return Some(other_format(*reading, *found)),
            Self::UnknownField { found, .. } | Self::Unexpected { found, .. }
                if found.text().split(',').any(is_call) =>
            {
                "this looks like a list of calls: \
                 `snapshot-test convert --from intervals --to text FILE -o RECORDING` makes a \
                 recording of it (docs/formats.md)"
            }
            Self::UnknownField { nearest: Some(nearest), .. } => {
                return Some(format!("did you mean `{nearest}`?"));
            }
            Self::Unexpected { found, .. } if found.text().parse::<Together>().is_ok() => {
                return Some(format!("judge it with `check --object {}`", found.text()));
            }
            Self::Unexpected { found, expected, nearest } => {
                let is_operation = expected.contains("update") || expected.contains("exchange");
                let other = is_operation.then(|| of_another_operation(found.text())).flatten();
                let cure = did_you_mean(*nearest, other);
                return cure.or_else(|| Some(unexpected(expected, &found.to_string())));
            }
            Self::Trailing { after: "the value", .. } => {
                "an update writes one value to one segment: give each a line of its own, and put a \
                 comment after `#`; an update of several segments at once cannot be judged"
            }
            Self::SeveralSegments => {
                "give each an update of its own, if they took effect one by one; an update of \
                 several segments at once cannot be judged"
            }
            Self::Trailing { .. } => "put the next event on a line of its own, a comment after `#`",
            Self::UnterminatedString => {
                "close the string on the line where it begins; write a \
                                         line break within it as \\n"
            }
            Self::BadEscape { .. } => "write a backslash itself as \\\\",
            Self::ValueOutOfRange { reading: Format::Disc22, .. } => {
                "disc22 has only 64-bit integers: record as text or jsonl, and quote the value"
            }
            Self::ValueOutOfRange { found, .. } => {
                return Some(format!("quote it as a string: \"{}\"", found.text()));
            }
            Self::IdOutOfRange { .. } => "number processes and segments densely, from 0",
            Self::SizeOutOfRange { .. } => {
                "correct the number, or leave the header out: it is inferred from the events"
            }
            Self::TooManyValues { .. } => "is the end of this line missing?",
            Self::HeaderAfterEvent { .. } => "move it to the beginning of the file",
            Self::DuplicateHeader { first, .. } => {
                return Some(format!("keep this one or that of line {first}"));
            }
            Self::Declaration(_) => "correct the header",
            Self::UnknownVersion { .. } => "this program reads version 1; use a newer one",
            Self::Json { .. } => {
                "a line is one JSON object such as \
                 {\"process\":0,\"event\":\"invoke\",\"operation\":\"update\",\"value\":5}"
            }
            Self::MissingField { field: "snapshot-history", .. } => {
                "begin the line with {\"snapshot-history\":1,"
            }
            Self::MissingField { .. } => "add it; docs/formats.md lists the fields of every event",
            Self::UnknownField { .. } => "delete it, or put it into the free field `comment`",
            Self::DuplicateField { .. } => "delete one of the two",
            Self::ForeignOperation { found: "exchange", .. } => {
                "begin the recording with the line `object immediate` (JSON Lines: \
                 {\"snapshot-history\":1,\"object\":\"immediate\"})"
            }
            Self::ForeignOperation { .. } => {
                "record a write with the scan that follows it as one operation: `p0 exchange 5`, \
                 `p0 ok 5 0`; or leave out `object immediate`"
            }
            Self::ForeignObject => "begin the recording of a snapshot without `object immediate`",
            Self::ValuePerSegment => "write all values, as in `p0 ok 5 0`",
            Self::MissingKey { .. } => {
                "give every event a key, `@\"x\" p0 update 5` (JSON Lines: \"key\":\"x\"), or none"
            }
            Self::UnexpectedKey { .. } => {
                "give every event a key, from the first on, or none of them"
            }
            Self::SeveralObjects => "name one of its objects with --key; `check` takes all of them",
            Self::NoSuchKey(Value::Integer(_)) => {
                "correct --key; a key that is a text in digits is named in quotes: --key '\"5\"'"
            }
            Self::NoSuchKey(Value::Text(_)) => {
                "correct --key; `snapshot-test check --report json` counts the objects"
            }
            Self::OtherValue { .. } => "correct one of the two values",
            Self::NameAmongNumbers { kind, .. } => return Some(all_or_none(*kind)),
            Self::NumberAmongNames { kind, found, .. } => {
                return Some(format!(
                    "{}; a name of digits is quoted: \"{}\"",
                    all_or_none(*kind),
                    found.text()
                ));
            }
            Self::Undeclared { kind, .. } => {
                return Some(format!(
                    "correct it, or add it to the `{}` of the header",
                    kind.plural()
                ));
            }
            Self::NameTwice { kind, .. } => {
                return Some(format!("give each {} a name of its own", kind.name()));
            }
            Self::NamedTwice { .. } => "delete one of the two lines",
            Self::Unnamed { kind, number } => {
                let (name, letter) = (kind.name(), &kind.name()[..1]);
                return Some(format!("add `{name} {letter}{number} \"a name\"` to the header"));
            }
            Self::NameBeyond { kind, .. } => {
                return Some(format!("delete it, or correct `{}`", kind.plural()));
            }
            Self::TooManyNames { .. } => {
                "names are for few things: is a field with other contents used as a name?"
            }
            Self::ListOfNamed { kind: Kind::Process } => {
                "declare the processes in their order: {\"snapshot-history\":1,\
                 \"object\":\"immediate\",\"processes\":[\"a\",\"b\"]}"
            }
            Self::ListOfNamed { kind: Kind::Segment } => {
                "write \"values\":{\"x\":5,\"y\":0}, or declare the segments in their order: \
                 {\"snapshot-history\":1,\"segments\":[\"x\",\"y\"]}"
            }
        };
        Some(cure.to_owned())
    }
}

fn all_or_none(kind: Kind) -> String {
    format!("a recording has names for all its {}, or numbers for all", kind.plural())
}

fn is_edn(line: &str) -> bool {
    let line = line.trim_start_matches(['[', '(', ' ']);
    let line = match line.starts_with('#') {
        true => line.trim_start_matches(|one: char| one != '{'),
        false => line,
    };
    line.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with(':'))
}

fn is_table(line: &str) -> bool {
    line.starts_with('[') || line.contains([',', ';', '\t'])
}

/// Returns true if a field belongs to a call with its times: such a line has both, an event has
/// neither.
fn is_call(field: &str) -> bool {
    matches!(
        field,
        "client" | "ClientId" | "call" | "Call" | "return" | "Return" | "Input" | "Output"
    )
}

fn other_format(reading: Format, found: Format) -> String {
    format!(
        "a file has one format: convert the other part first, or, if the whole file is in the \
         {found} format, read it as `{}` instead of `{}`",
        found.name(),
        reading.name()
    )
}

/// Names that recorders give to operations on several segments.
const TRANSACTIONS: [&str; 7] = ["transaction", "txn", "tx", "commit", "batch", "mset", "multi"];

/// Returns the cure of an operation that snapshots do not have, if other objects have it, or
/// recorders.
fn of_another_operation(operation: &str) -> Option<String> {
    if TRANSACTIONS.contains(&operation) {
        let cure = "a transaction that only reads is a scan, one that writes a segment an update; \
                    one that writes several, or reads and writes, cannot be judged";
        return Some(cure.to_owned());
    }
    of_another_object(operation)
}

/// Returns the cure of an operation of other objects, if some have it.
pub(crate) fn of_another_object(operation: &str) -> Option<String> {
    const MOST: usize = 3;
    if matches!(operation, "update" | "scan") {
        return Some("recordings of snapshots are judged without --object".to_owned());
    }
    let objects = Together::with_operation(operation);
    let names: Vec<String> = objects.iter().take(MOST).map(|one| format!("`{one}`")).collect();
    let (last, others) = names.split_last()?;
    let others = if others.is_empty() { "" } else { &format!("{} or ", others.join(", ")) };
    let first = &objects[0];
    Some(format!("recordings of {others}{last} are judged by `check --object {first}`"))
}

/// Returns the cure with the word that was probably meant, if there is one.
pub(crate) fn did_you_mean(nearest: Option<&str>, cure: Option<String>) -> Option<String> {
    let nearest = nearest.map(|nearest| format!("did you mean `{nearest}`?"));
    match (nearest, cure) {
        (Some(nearest), Some(cure)) => Some(format!("{nearest} {cure}")),
        (nearest, cure) => nearest.or(cure),
    }
}

fn unexpected(expected: &str, found: &str) -> String {
    let is_word = found.starts_with('`');
    let cure = if expected.contains("disc22") {
        "events look like `startUpdate!0,5;endUpdate!0,5;startScan!1;endScan!1,5,0;`"
    } else if expected.contains(r#""snapshot""#) {
        "recordings of other objects are judged by `check --object OBJECT` \
         (docs/synchronisation.md)"
    } else if expected.starts_with('"') {
        "a line is one JSON object such as \
         {\"process\":0,\"event\":\"invoke\",\"operation\":\"update\",\"value\":5}"
    } else if expected.contains("object") {
        "a line is one JSON object such as {\"process\":0,\"event\":\"ok\"}"
    } else if expected.contains("key") {
        "a key is an integer, `@5 p0 scan`, or a text in double quotes, `@\"cart\" p0 scan`"
    } else if is_word && expected.contains("value") {
        "a value is an integer in decimal, or a text in double quotes"
    } else {
        "lines look like `p0 update 5`, `p0 ok`, `p1 scan`, `p1 ok 5 0`, `segments 2`, `# comment`"
    };
    cure.to_owned()
}
