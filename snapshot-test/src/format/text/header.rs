//! The header of a text recording: sizes, initial values, writers.

use snapshot_core::history::{Admission, Declaration, Writers};
use snapshot_core::{Process, Segment};

use super::cursor::{Cursor, Step};
use super::{HEADERS, value_list};
use crate::Value;
use crate::format::Object;
use crate::format::error::{Fault, Found, ReadErrorKind};
use crate::format::names::{Declared, Kind, Naming};

/// The header lines so far. Contradictions between two lines are reported at the second.
#[derive(Debug)]
pub(super) struct Header {
    declaration: Declaration<Value>,
    object: Object,
    names: Declared,
    /// The line of each of [`HEADERS`], once it was given.
    lines: [Option<u64>; HEADERS.len()],
}

impl Header {
    pub(super) fn new() -> Self {
        Self {
            declaration: Declaration::new(Value::ZERO),
            object: Object::Snapshot,
            names: Declared::default(),
            lines: [None; HEADERS.len()],
        }
    }

    /// Returns the declaration and the object; declares all names.
    pub(super) fn finish(
        self,
        naming: &mut Naming,
    ) -> Result<(Declaration<Value>, Object), ReadErrorKind> {
        let Self { mut declaration, object, names, .. } = self;
        let sizes = (declaration.processes, declaration.segments);
        names.finish(sizes, naming)?;
        let of = |kind| {
            let names = naming.so_far().get();
            Some(if kind == Kind::Process { names.processes() } else { names.segments() }.len())
                .filter(|_| naming.is_named(kind))
        };
        declaration.processes = declaration.processes.or(of(Kind::Process));
        declaration.segments = declaration.segments.or(of(Kind::Segment));
        if object == Object::Immediate {
            naming.name_own_segments(1)?;
        }
        Ok((declaration, object))
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
        if let Some(kind) = kind_of(HEADERS[known]) {
            return self.name(cursor, kind, line);
        }
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

    /// Parses the rest of a line such as `process p0 "client-1"`.
    fn name(&mut self, cursor: &mut Cursor<'_>, kind: Kind, line: u64) -> Step<()> {
        cursor.skip_blanks();
        let start = cursor.at();
        let (prefix, expected) = match kind {
            Kind::Process => (b'p', "a process such as `p0`"),
            Kind::Segment => (b's', "a segment such as `s0`"),
        };
        if !cursor.at_id(prefix) {
            return Err(cursor.unexpected(expected));
        }
        let number = match kind {
            Kind::Process => cursor.process()?.index(),
            Kind::Segment => cursor.segment()?.index(),
        };
        cursor.skip_blanks();
        let Value::Text(name) = (if cursor.peek() == b'"' { cursor.value()? } else { Value::ZERO })
        else {
            return Err(cursor.unexpected("a name in double quotes"));
        };
        let width = cursor.at() - start;
        cursor.end_line("the name")?;
        self.names.add(kind, number, &name, line).map_err(|defect| Fault::new(start, width, defect))
    }
}

/// Returns the kind that a header line gives a name to.
fn kind_of(keyword: &str) -> Option<Kind> {
    match keyword {
        "process" => Some(Kind::Process),
        "segment" => Some(Kind::Segment),
        _ => None,
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
        "process" => "`process`",
        "segment" => "`segment`",
        _ => "`writers`",
    }
}
