//! Intervals as CSV (RFC 4180): a header line with the names of the fields, then a line per
//! operation. A field that is empty is left out. The entries of a scan stand in one field,
//! apart by blanks.

use super::intervals::{Row, value};
use super::{ImportError, ImportErrorKind};

pub(super) fn rows(log: &[u8]) -> Result<Vec<Row>, ImportError> {
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(log);
    let failed = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        ImportErrorKind::Csv(error).at(line)
    };
    let names: Vec<String> =
        reader.headers().map_err(failed)?.iter().map(str::to_ascii_lowercase).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(failed)?;
        let line = record.position().map_or(1, csv::Position::line);
        let mut row = Row { line, ..Row::default() };
        for (name, field) in names.iter().zip(&record) {
            if field.is_empty() {
                continue;
            }
            let text = || Some(field.to_owned());
            match name.trim_start_matches('\u{feff}') {
                "client" | "process" => row.client = text(),
                "operation" | "op" => row.operation = text(),
                "segment" => row.segment = text(),
                "value" | "values" => {
                    row.values = Some(field.split_ascii_whitespace().map(value).collect());
                }
                "call" => row.call = text(),
                "return" => row.end = text(),
                "outcome" => row.outcome = text(),
                "comment" => {}
                _ => {
                    let field = name.clone();
                    return Err(ImportErrorKind::UnknownField { field }.at(1));
                }
            }
        }
        rows.push(row);
    }
    Ok(rows)
}
