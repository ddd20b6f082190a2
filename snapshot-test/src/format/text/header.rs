//! The header of a text recording: sizes, initial values, writers.

use snapshot_core::history::{Admission, Declaration, Writers};
use snapshot_core::{Process, Segment};

use super::cursor::{Cursor, Step};
use super::{HEADERS, value_list};
use crate::Value;
use crate::format::Object;
use crate::format::error::{Fault, Found, ReadErrorKind};

/// The header lines so far. Contradictions between two lines are reported at the second.
#[derive(Debug)]
pub(super) struct Header {
    declaration: Declaration<Value>,
    object: Object,
    /// The line of each of [`HEADERS`], once it was given.
    lines: [Option<u64>; HEADERS.len()],
}

impl Header {
    pub(super) fn new() -> Self {
        Self {
            declaration: Declaration::new(Value::ZERO),
            object: Object::Snapshot,
            lines: [None; HEADERS.len()],
        }
    }

    pub(super) fn finish(self) -> (Declaration<Value>, Object) {
        (self.declaration, self.object)
    }

    /// Parses line number `line`: a header, a comment, or nothing.
    pub(super) fn line(&mut self, cursor: &mut Cursor<'_>, line: u64) -> Step<()> {
        if cursor.at_line_end() {
            return cursor.end_line("");
        }
        let start = cursor.at();
        let known = HEADERS.iter().position(|keyword| cursor.keyword(keyword.as_bytes()));
        let Some(known) = known else {
            let expected = "a header or an event";
            return Err(cursor.unexpected_event(expected, &HEADERS));
        };
        let width = cursor.at() - start;
        let keyword = quoted(HEADERS[known]);
        if let Some(first) = self.lines[known].replace(line) {
            return Err(Fault::new(
                start,
                width,
                ReadErrorKind::DuplicateHeader { keyword, first },
            ));
        }
        cursor.skip_blanks();
        match HEADERS[known] {
            "segments" => {
                let size = size(cursor, "segments", Segment::LIMIT + 1)?;
                self.declaration.segments = Some(size);
            }
            "processes" => {
                let size = size(cursor, "processes", Process::LIMIT + 1)?;
                self.declaration.processes = Some(size);
            }
            "initial" => value_list(cursor, &mut self.declaration.initial)?,
            "writers" => self.declaration.writers = writers(cursor)?,
            _ => self.object = object(cursor)?,
        }
        cursor.end_line(keyword)?;
        if let Err(error) = Admission::new(&self.declaration) {
            return Err(Fault::new(start, width, ReadErrorKind::Declaration(error.kind)));
        }
        Ok(())
    }
}

fn size(cursor: &mut Cursor<'_>, what: &'static str, limit: usize) -> Step<usize> {
    let start = cursor.at();
    let given = cursor.number("a number")?;
    if given == 0 || given > limit as u64 {
        let kind = ReadErrorKind::SizeOutOfRange {
            what,
            found: Found::new(&cursor.since(start)),
            limit: limit as u64,
        };
        return Err(Fault::new(start, cursor.at() - start, kind));
    }
    Ok(given as usize)
}

fn writers(cursor: &mut Cursor<'_>) -> Step<Writers> {
    if cursor.keyword(b"many") {
        Ok(Writers::Many)
    } else if cursor.keyword(b"single") {
        Ok(Writers::Single)
    } else {
        Err(cursor.unexpected_word("`many` or `single`", &["many", "single"]))
    }
}

fn object(cursor: &mut Cursor<'_>) -> Step<Object> {
    let found = Object::ALL.into_iter().find(|object| cursor.keyword(object.name().as_bytes()));
    found.ok_or_else(|| {
        cursor.unexpected_word("`snapshot` or `immediate`", &Object::ALL.map(Object::name))
    })
}

/// Returns the name of the header in messages.
pub(super) fn quoted(keyword: &str) -> &'static str {
    match keyword {
        "segments" => "`segments`",
        "processes" => "`processes`",
        "initial" => "`initial`",
        "object" => "`object`",
        _ => "`writers`",
    }
}
