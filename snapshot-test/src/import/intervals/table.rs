//! Intervals as CSV (RFC 4180): a header line with the names of the fields, then a line per
//! operation. An empty field is left out. Values, and segments, share one field, separated by
//! blanks; a value is written as in the text format, but a text needs no quotes unless it would be
//! read as something else: an integer, a gap `_`, or several values.

use super::super::ImportErrorKind;
use super::super::place::{Spot, Step};
use super::row::{Content, Given, Name, Row, set};
use crate::Value;
use crate::error::InputErrorKind;

/// Parses the operations of a log that begins at byte `start`. Lines before the header may be
/// comments.
pub(super) fn rows(log: &[u8], start: usize) -> Step<Vec<Row>> {
    let start = header(log, start);
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(&log[start..]);
    let columns = columns(&mut reader, log, start)?;
    let mut rows = Vec::new();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| failed(error, log, start))? {
        let begin = start + record.position().map_or(0, |at| at.byte() as usize);
        let spots = fields(log, begin);
        let whole = spots
            .first()
            .zip(spots.last())
            .map(|(first, last)| Spot::new(first.at, last.at + last.width));
        let mut row = Row { spot: whole.unwrap_or_default(), ..Row::default() };
        for ((field, column), spot) in record.iter().zip(&columns).zip(spots) {
            if !field.is_empty() {
                add(&mut row, column, field, spot)?;
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Returns the byte at which the header line begins: behind blank lines and comments.
fn header(log: &[u8], mut start: usize) -> usize {
    loop {
        let rest = &log[start..];
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
        let line = rest[..length].trim_ascii();
        if length == 0 || !(line.is_empty() || line.starts_with(b"#")) {
            return start;
        }
        start += length;
    }
}

/// Returns the fields of the columns, each at most once.
fn columns(
    reader: &mut csv::Reader<&[u8]>,
    log: &[u8],
    start: usize,
) -> Step<Vec<Given<(Name, String)>>> {
    let names = reader.headers().map_err(|error| failed(error, log, start))?;
    let mut columns: Vec<Given<(Name, String)>> = Vec::new();
    for (name, spot) in names.iter().zip(fields(log, start)) {
        let field = Name::new(name, spot)?;
        if matches!(field, Name::Input | Name::Output) {
            return Err(ImportErrorKind::UnknownField { field: name.to_owned() }.at(spot));
        }
        let first = columns.iter().find(|column| column.is.0 == field);
        if let Some(first) = first.filter(|_| field != Name::Comment) {
            let (field, found) = (field.name(), name.to_owned());
            let kind = ImportErrorKind::DuplicateField { field, found };
            return Err(kind.at(spot).against(first.spot));
        }
        columns.push(Given { is: (field, name.to_owned()), spot });
    }
    Ok(columns)
}

fn add(row: &mut Row, column: &Given<(Name, String)>, field: &str, spot: Spot) -> Step<()> {
    let name = column.is.0;
    let found = Given { is: column.is.1.clone(), spot };
    let text = || Given { is: field.to_owned(), spot };
    match name {
        Name::Client => set(&mut row.client, name, &found, text()),
        Name::Operation => set(&mut row.operation, name, &found, text()),
        Name::Key => set(&mut row.key, name, &found, text()),
        Name::Segment => {
            let is = field.split_ascii_whitespace().map(str::to_owned).collect();
            set(&mut row.segments, name, &found, Given { is, spot })
        }
        Name::Value => {
            let is = match values(field, spot)?.as_slice() {
                [Some(value)] => Content::One(Some(value.clone())),
                values => Content::List(values.to_vec()),
            };
            set(&mut row.value, name, &found, Given { is, spot })
        }
        Name::Call => set(&mut row.call, name, &found, text()),
        Name::Return => set(&mut row.end, name, &found, text()),
        Name::Outcome => set(&mut row.outcome, name, &found, text()),
        Name::Comment | Name::Input | Name::Output => Ok(()),
    }
}

/// Parses values separated by blanks; `_` is a gap.
fn values(field: &str, spot: Spot) -> Step<Vec<Option<Value>>> {
    let mut rest = field.trim_ascii_start();
    let mut values = Vec::new();
    while !rest.is_empty() {
        let length = if rest.starts_with('"') {
            let end = quoted(rest);
            let is_apart = |end: &usize| {
                rest[*end..].is_empty()
                    || rest[*end..].starts_with(|c: char| c.is_ascii_whitespace())
            };
            end.filter(is_apart).ok_or_else(|| {
                ImportErrorKind::Field {
                field: "value",
                expected: "a text in double quotes, as JSON writes it, and a blank behind it,",
                found: format!("`{rest}`"),
                cure: "in CSV, a field with double quotes stands in double quotes itself, and each \
                       one in it is doubled: \"\"\"a text\"\" 5\"",
            }
            .at(spot)
            })?
        } else {
            rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len())
        };
        let (token, after) = rest.split_at(length);
        values.push((token != "_").then(|| value(token)));
        rest = after.trim_ascii_start();
    }
    Ok(values)
}

/// Parses the value of `--initial`.
pub(super) fn initial(text: &str) -> Step<Value> {
    match values(text, Spot::default())?.as_slice() {
        [Some(value)] => Ok(value.clone()),
        _ => Err(ImportErrorKind::Field {
            field: "--initial",
            expected: "one value",
            found: format!("`{text}`"),
            cure: "write an integer, or a text in double quotes: --initial '\"a text\"'",
        }
        .at(Spot::default())),
    }
}

/// Returns the length of the JSON text at the beginning.
fn quoted(text: &str) -> Option<usize> {
    let mut texts = serde_json::Deserializer::from_str(text).into_iter::<String>();
    texts.next()?.ok()?;
    Some(texts.byte_offset())
}

/// Parses a value: an integer if possible, a text in double quotes, else the raw text.
pub(super) fn value(token: &str) -> Value {
    let integer = token.parse::<i64>().ok().filter(|number| number.to_string() == token);
    let quoted = || {
        let text = token.starts_with('"').then(|| serde_json::from_str::<String>(token));
        text.and_then(Result::ok)
    };
    match integer {
        Some(integer) => Value::from(integer),
        None => quoted().map_or_else(|| Value::from(token), |text| Value::from(text.as_str())),
    }
}

/// Returns the positions of the fields of the record that begins at a byte, without blanks around
/// them.
fn fields(log: &[u8], mut begin: usize) -> Vec<Spot> {
    // The reader counts blank lines to the record behind them.
    while log.get(begin).is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
        begin += 1;
    }
    let mut spots = Vec::new();
    let mut from = begin;
    let trimmed = |from: usize, to: usize| {
        let piece = &log[from..to];
        let at = from + (piece.len() - piece.trim_ascii_start().len());
        Spot { at, width: piece.trim_ascii().len() }
    };
    let mut at = begin;
    let mut is_quoted = false;
    while at < log.len() {
        match log[at] {
            // A quote is special only at the beginning of a field.
            b'"' if at == from => is_quoted = true,
            b'"' if is_quoted && log.get(at + 1) == Some(&b'"') => at += 1,
            b'"' => is_quoted = false,
            b',' if !is_quoted => {
                spots.push(trimmed(from, at));
                from = at + 1;
            }
            b'\n' | b'\r' if !is_quoted => break,
            _ => {}
        }
        at += 1;
    }
    spots.push(trimmed(from, at));
    spots
}

fn failed(error: csv::Error, log: &[u8], start: usize) -> Box<super::super::place::Fault> {
    let begin = start + error.position().map_or(0, |at| at.byte() as usize);
    let spots = fields(log, begin);
    let last = spots.last().copied().unwrap_or_default();
    let spot = Spot::new(spots.first().map_or(begin, |first| first.at), last.at + last.width);
    match error.into_kind() {
        csv::ErrorKind::Io(error) => return InputErrorKind::Io(error).at(spot),
        csv::ErrorKind::Utf8 { .. } => ImportErrorKind::NotUtf8,
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => ImportErrorKind::Csv {
            message: format!("expected {expected_len} fields, as it has them, found {len}"),
        },
        other => ImportErrorKind::Csv { message: format!("{other:?}") },
    }
    .at(spot)
}
