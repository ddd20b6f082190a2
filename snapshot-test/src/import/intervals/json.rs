//! Intervals as JSON: a list of objects, or objects one after the other. This includes the lists of
//! Porcupine's operations, with Go's names of their fields: `ClientId`, `Input`, `Call`, `Output`,
//! `Return`. An input is an object with `op`, `key`, `segment`, `value`; an output is the value
//! that was read, or an object with it, or the list of a scan's entries.

use serde::de::IgnoredAny;

use super::super::ImportErrorKind;
use super::super::place::{Spot, Step};
use super::row::{Content, Given, Name, Row, set};
use crate::Value;
use crate::format::{Member, members};

/// Parses the operations of a log that begins at byte `start`.
pub(super) fn rows(log: &str, start: usize, is_null_a_value: bool) -> Step<Vec<Row>> {
    let mut texts = Texts { log, at: start };
    let mut rows = Vec::new();
    texts.skip();
    let is_list = texts.take(b'[');
    loop {
        texts.skip();
        if texts.at == log.len() && !is_list {
            break;
        }
        if is_list && rows.is_empty() && texts.take(b']') {
            break;
        }
        let spot = texts.next()?;
        rows.push(Reader { log, is_null_a_value }.row(spot)?);
        texts.skip();
        if is_list && !texts.take(b',') {
            texts.expect(b']')?;
            break;
        }
    }
    texts.skip();
    if texts.at < log.len() {
        let message = "expected the end of the log behind the list".to_owned();
        return Err(ImportErrorKind::Json { message }.at(Spot::new(texts.at, texts.at + 1)));
    }
    Ok(rows)
}

/// Iterates over the JSON texts of a log.
struct Texts<'a> {
    log: &'a str,
    at: usize,
}

impl Texts<'_> {
    fn skip(&mut self) {
        let rest = &self.log[self.at..];
        self.at = self.log.len() - rest.trim_ascii_start().len();
    }

    /// Passes this byte, if it is next.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.log.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Step<()> {
        if self.take(byte) {
            return Ok(());
        }
        let (at, end) = (self.at, self.log.len());
        let message = match at < end {
            true => "expected `,` or `]` behind an operation".to_owned(),
            false => "expected `]`, found the end of the log: was it cut off?".to_owned(),
        };
        Err(ImportErrorKind::Json { message }.at(Spot::new(at, (at + 1).min(end))))
    }

    /// Returns the position of the next JSON text, which is an object.
    fn next(&mut self) -> Step<Spot> {
        let rest = &self.log[self.at..];
        let mut texts = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        if let Some(Err(error)) = texts.next() {
            return Err(self.malformed(&error));
        }
        let spot = Spot { at: self.at, width: texts.byte_offset() };
        if !rest.starts_with('{') {
            let found = short(&rest[..texts.byte_offset()]);
            let message = format!("expected an object, found {found}");
            return Err(ImportErrorKind::Json { message }.at(spot));
        }
        self.at += spot.width;
        Ok(spot)
    }

    fn malformed(&self, error: &serde_json::Error) -> Box<super::super::place::Fault> {
        let rest = &self.log[self.at..];
        let lines = rest.split_inclusive('\n').take(error.line() - 1);
        let at = self.at + lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
        let whole = error.to_string();
        let message = whole.rfind(" at line ").map_or(whole.as_str(), |end| &whole[..end]);
        let kind = ImportErrorKind::Json { message: message.to_owned() };
        kind.at(Spot { at: at.min(self.log.len()), width: 1 })
    }
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    log: &'a str,
    is_null_a_value: bool,
}

impl<'a> Reader<'a> {
    /// Reads the operation of an object.
    fn row(self, spot: Spot) -> Step<Row> {
        let mut row = Row { spot, ..Row::default() };
        for (name, value) in self.members(spot) {
            self.field(&mut row, &name, value, false)?;
        }
        Ok(row)
    }

    fn text(self, spot: Spot) -> &'a str {
        &self.log[spot.at..spot.at + spot.width]
    }

    /// Returns the names and the values of an object's members; the elements of an array have no
    /// names.
    fn members(self, spot: Spot) -> impl Iterator<Item = (Given<String>, Spot)> {
        let placed = move |piece: std::ops::Range<usize>| Spot {
            at: spot.at + piece.start,
            width: piece.len(),
        };
        members(self.text(spot)).into_iter().map(move |Member { name, value }| {
            let name = placed(name.unwrap_or_default());
            let is = serde_json::from_str(self.text(name)).unwrap_or_default();
            (Given { is, spot: name }, placed(value))
        })
    }

    fn field(self, row: &mut Row, found: &Given<String>, at: Spot, is_input: bool) -> Step<()> {
        let name = Name::new(&found.is, found.spot)?;
        if self.text(at) == "null" && name != Name::Value && name != Name::Output {
            return Ok(());
        }
        match name {
            Name::Client => set(&mut row.client, name, found, self.name(name, at)?),
            Name::Operation => set(&mut row.operation, name, found, self.name(name, at)?),
            Name::Key => {
                let mut key = self.name(name, at)?;
                // The keys 17 and "17" are different.
                let is_text = self.text(at).starts_with('"');
                if is_text && (key.is.parse::<i64>().is_ok() || key.is.starts_with('"')) {
                    key.is = self.text(at).to_owned();
                }
                set(&mut row.key, name, found, key)
            }
            Name::Segment => {
                let is = match self.text(at).starts_with('[') {
                    true => {
                        let elements = self.members(at);
                        let names = elements.map(|(_, at)| Ok(self.name(name, at)?.is));
                        names.collect::<Step<_>>()?
                    }
                    false => vec![self.name(name, at)?.is],
                };
                set(&mut row.segments, name, found, Given { is, spot: at })
            }
            Name::Value => {
                let field = if is_input { &mut row.input } else { &mut row.value };
                set(field, name, found, Given { is: self.content(at)?, spot: at })
            }
            Name::Output => self.output(row, found, at),
            Name::Call => set(&mut row.call, name, found, self.name(name, at)?),
            Name::Return => set(&mut row.end, name, found, self.name(name, at)?),
            Name::Outcome => set(&mut row.outcome, name, found, self.name(name, at)?),
            Name::Comment => Ok(()),
            Name::Input if self.text(at).starts_with('{') && !is_input => {
                self.members(at).try_for_each(|(name, at)| self.field(row, &name, at, true))
            }
            Name::Input => Err(self.wrong(name, "an object with `op`, `key` and `value`", at)),
        }
    }

    /// Reads the result: a value, an object with it, or the list of a scan's entries.
    fn output(self, row: &mut Row, found: &Given<String>, at: Spot) -> Step<()> {
        if !self.text(at).starts_with('{') {
            let is = Given { is: self.content(at)?, spot: at };
            return set(&mut row.output, Name::Output, found, is);
        }
        self.members(at).try_for_each(|(found, at)| match Name::new(&found.is, found.spot)? {
            Name::Value => {
                let is = Given { is: self.content(at)?, spot: at };
                set(&mut row.output, Name::Output, &found, is)
            }
            Name::Comment => Ok(()),
            _ => Err(self.wrong(Name::Output, "an object with `value`", at)),
        })
    }

    fn wrong(
        self,
        name: Name,
        expected: &'static str,
        at: Spot,
    ) -> Box<super::super::place::Fault> {
        let found = short(self.text(at));
        ImportErrorKind::Field { field: name.name(), expected, found, cure: "" }.at(at)
    }

    /// Reads a raw number, or a text.
    fn name(self, name: Name, at: Spot) -> Step<Given<String>> {
        let text = self.text(at);
        let is = match text.as_bytes().first() {
            Some(b'"') => serde_json::from_str(text).unwrap_or_default(),
            Some(b'-' | b'0'..=b'9') => text.to_owned(),
            _ => return Err(self.wrong(name, "a number or a text", at)),
        };
        Ok(Given { is, spot: at })
    }

    fn content(self, at: Spot) -> Step<Content> {
        Ok(match self.text(at).as_bytes().first() {
            Some(b'[') => {
                let entries = self.members(at).map(|(_, at)| self.value(at));
                Content::List(entries.collect::<Step<_>>()?)
            }
            Some(b'{') => {
                let mut entries: Vec<(Given<String>, Option<Value>)> = Vec::new();
                let mut names = std::collections::HashMap::new();
                for (name, at) in self.members(at) {
                    if let Some(first) = names.insert(name.is.clone(), name.spot) {
                        let (field, found) = (Name::Segment.name(), name.is);
                        let kind = ImportErrorKind::DuplicateField { field, found };
                        return Err(kind.at(name.spot).against(first));
                    }
                    entries.push((name, self.value(at)?));
                }
                Content::Named(entries.into_iter().map(|(name, value)| (name.is, value)).collect())
            }
            _ => Content::One(self.value(at)?),
        })
    }

    /// Reads a value; `None` for `null`, unless `null` is a value.
    fn value(self, at: Spot) -> Step<Option<Value>> {
        let text = self.text(at);
        if text == "null" {
            return Ok(self.is_null_a_value.then(|| Value::from(text)));
        }
        if text.starts_with('"') {
            let value: String = serde_json::from_str(text).unwrap_or_default();
            if self.is_null_a_value && value == "null" {
                let kind = ImportErrorKind::Field {
                    field: "value",
                    expected: "another text than \"null\", since by --initial null the value null \
                               is written so,",
                    found: text.to_owned(),
                    cure: "write another text in its place",
                };
                return Err(kind.at(at));
            }
            return Ok(Some(Value::from(value.as_str())));
        }
        let integer = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
        integer.map(|number| Some(Value::from(number))).ok_or_else(|| {
            let expected = "integers of 64 bits or texts";
            let cure = "write anything else as a text, in double quotes";
            let found = short(text);
            ImportErrorKind::Field { field: "value", expected, found, cure }.at(at)
        })
    }
}

/// Returns the text in backquotes, cut after some characters.
fn short(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("`{}...`", &text[..cut]),
        None => format!("`{text}`"),
    }
}
