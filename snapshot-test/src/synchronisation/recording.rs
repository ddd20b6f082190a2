//! From lines to the history of an object.

use std::io::Read;

use snapshot_core::OperationId;

use super::error::{ReadError, ReadErrorKind, quoted};
use super::interface::{Interface, Recorded};
use super::object::{Object, nearest};
use super::reader::{Deed, Line, Lines};
use super::token::Token;
use crate::format::{Backwards, Format, Location};

/// An operation as its recording has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Text {
    /// Its name.
    pub operation: &'static str,
    /// Its arguments.
    pub arguments: Vec<Token>,
    /// What it returned, if it responded.
    pub results: Option<Vec<Token>>,
    /// The line of its invocation.
    pub invoked: u64,
    /// The line of its end, if there is one.
    pub ended: Option<u64>,
}

/// A history with what its recording says of the operations.
pub(super) struct Recording<S: Interface> {
    pub history: Recorded<S>,
    pub texts: Vec<Text>,
    pub format: Option<Format>,
    /// Times that contradict the order of the lines.
    pub backwards: Option<Backwards>,
}

/// Reads a recording of an object.
pub(super) fn read<S: Interface>(
    interface: &S,
    object: Object,
    input: impl Read,
    format: Option<Format>,
) -> Result<Recording<S>, ReadError> {
    let mut lines = Lines::new(input, format);
    let mut history = Recorded::<S>::builder();
    let mut texts: Vec<Text> = Vec::new();
    // The open operation of each process.
    let mut open: Vec<Option<(OperationId, S::Input)>> = Vec::new();
    let mut seen: Option<Location> = None;
    while let Some(read) = lines.next() {
        let (location, line) = read?;
        let at = (location.column - 1) as usize;
        let fail = |kind: ReadErrorKind| lines.fail((at, kind));
        let (process, deed) = match line {
            Line::Event { process, deed } => (process, deed),
            Line::Object(_) if seen.is_some() => return Err(fail(ReadErrorKind::LateHeader)),
            Line::Object(name) => {
                seen = Some(location);
                if name.parse() != Ok(object) {
                    let wanted = object.to_string();
                    return Err(fail(ReadErrorKind::OtherObject { found: name, wanted }));
                }
                continue;
            }
        };
        seen = Some(location);
        let of_process = |open: &[Option<(OperationId, S::Input)>]| {
            open.get(process).and_then(Option::as_ref).map(|(id, _)| *id)
        };
        let before = of_process(&open);
        let ended = match deed {
            Deed::Invoke { operation, arguments } => {
                let signature = S::SIGNATURES.iter().find(|known| known.name == operation);
                let Some(signature) = signature else {
                    return Err(fail(no_operation::<S>(&operation)));
                };
                let input = |of: &S| of.input(&operation, &arguments);
                let (Some(input), Some(kept)) = (input(interface), input(interface)) else {
                    let found =
                        [operation].into_iter().chain(arguments.iter().map(ToString::to_string));
                    let found: Vec<String> = found.collect();
                    return Err(fail(ReadErrorKind::Unexpected {
                        expected: format!("`{}`", signature.usage),
                        found: quoted(Some(found.join(" "))),
                        nearest: None,
                    }));
                };
                let id = history.invoke(process, input).map_err(|error| fail(error.into()))?;
                if process >= open.len() {
                    open.resize_with(process + 1, || None);
                }
                open[process] = Some((id, kept));
                texts.push(Text {
                    operation: signature.name,
                    arguments,
                    results: None,
                    invoked: location.line,
                    ended: None,
                });
                continue;
            }
            Deed::Ok(results) => {
                let Some(Some((id, input))) = open.get(process) else {
                    // What no history can have.
                    let error = history.unknown(process).err();
                    return Err(error
                        .map_or_else(|| fail(ReadErrorKind::Empty), |error| fail(error.into())));
                };
                let Some(output) = interface.output(input, &results) else {
                    let name = texts[id.index()].operation;
                    let known = S::SIGNATURES.iter().find(|known| known.name == name);
                    let expected = known.map_or("", |known| known.results);
                    let found: Vec<String> = results.iter().map(ToString::to_string).collect();
                    let found = if found.is_empty() {
                        "nothing".to_owned()
                    } else {
                        quoted(Some(found.join(" ")))
                    };
                    let article =
                        if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                    let expected = format!("{expected} after `ok`, which ends {article} `{name}`");
                    return Err(fail(ReadErrorKind::Unexpected { expected, found, nearest: None }));
                };
                texts[id.index()].results = Some(results);
                history.respond(process, output)
            }
            Deed::Fail => history.fail(process),
            Deed::Unknown => history.unknown(process),
        };
        ended.map_err(|error| fail(error.into()))?;
        if let Some(id) = before {
            texts[id.index()].ended = Some(location.line);
            open[process] = None;
        }
    }
    if seen.is_none() {
        let location = Location::START;
        return Err(ReadError { location, kind: ReadErrorKind::Empty, line: None });
    }
    let (format, backwards) = (lines.format(), lines.backwards());
    Ok(Recording { history: history.finish(), texts, format, backwards })
}

fn no_operation<S: Interface>(found: &str) -> ReadErrorKind {
    let names: Vec<&'static str> = S::SIGNATURES.iter().map(|known| known.name).collect();
    let all: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    ReadErrorKind::Unexpected {
        expected: format!("{}, `ok`, `fail` or `unknown`", all.join(", ")),
        found: quoted(Some(found)),
        nearest: nearest(found, &names).or_else(|| nearest(found, &["ok", "fail", "unknown"])),
    }
}
