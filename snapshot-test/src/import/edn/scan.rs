//! The forms of a log in EDN, one after the other, without recursion.
//!
//! The reader of EDN builds trees, and processing trees recurses: a deeply nested log would
//! overflow the stack. So forms are separated here first, by brackets, strings, characters,
//! comments, tags and discards alone; each has its position, and its depth is bounded. The reader
//! parses the contents of a form.

use super::super::ImportErrorKind;
use super::super::place::{Fault, Spot, Step};

/// The largest number of brackets and tags around a value.
pub(super) const DEEPEST: usize = 64;

/// Iterates over the forms of a piece of a log; positions are those in the piece.
#[derive(Clone, Debug)]
pub(super) struct Forms<'a> {
    log: &'a str,
    at: usize,
    /// True once the end of the piece mattered: a longer piece may have other forms.
    reached: bool,
}

/// The beginning of a form, behind its tags.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Head {
    /// An opening bracket, which was passed; by its position.
    Open(usize),
    /// Anything else.
    Other,
    /// The closing bracket of an enclosing form, or the end.
    End,
}

/// An unfinished part of a form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Open {
    /// A bracket, by its position.
    Bracket(usize),
    /// A tag, which ends with the form behind it.
    Tag,
    /// A discarded form; the forms behind it are kept.
    Discard,
}

impl<'a> Forms<'a> {
    /// All forms from byte `at` on.
    pub(super) const fn new(log: &'a str, at: usize) -> Self {
        Self { log, at, reached: false }
    }

    /// Returns the text of a form.
    pub(super) fn text(&self, form: Spot) -> &'a str {
        &self.log[form.at..form.at + form.width]
    }

    /// Returns the position of the next byte.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// Returns true if a longer piece may have other forms up to here.
    pub(super) const fn reached(&self) -> bool {
        self.reached
    }

    /// Returns the next form; `None` at the end, or at a closing bracket.
    pub(super) fn next(&mut self) -> Step<Option<Spot>> {
        if self.discards()? { self.form() } else { Ok(None) }
    }

    /// Passes the tags and the opening bracket of the next form, if it has one. Returns where the
    /// form begins, and its head.
    pub(super) fn head(&mut self) -> Step<(usize, Head)> {
        if !self.discards()? {
            return Ok((self.at, Head::End));
        }
        let begin = self.at;
        loop {
            match self.rest() {
                [] | [b']' | b')' | b'}', ..] if self.at == begin => return Ok((begin, Head::End)),
                [b'{' | b'[' | b'(', ..] => {
                    self.at += 1;
                    return Ok((begin, Head::Open(self.at - 1)));
                }
                [b'#', b'{' | b'_', ..] => break,
                [b'#', ..] => {
                    self.token();
                    self.skip();
                }
                _ => break,
            }
        }
        self.at = begin;
        Ok((begin, Head::Other))
    }

    /// Returns the text from a position on.
    pub(super) fn text_from(&self, begin: usize) -> &'a str {
        &self.log[begin..]
    }

    /// Passes the line that begins at a position.
    pub(super) fn line_at(&mut self, begin: usize) -> Spot {
        let rest = self.text_from(begin);
        let end = memchr::memchr(b'\n', rest.as_bytes());
        self.reached |= end.is_none();
        let width = end.unwrap_or(rest.len());
        self.at = begin + width;
        Spot { at: begin, width: rest[..width].trim_end().len() }
    }

    /// Iterates over the forms of a part.
    pub(super) fn within(&self, part: Spot) -> Self {
        Self::new(&self.log[..part.at + part.width], part.at)
    }

    /// Returns the form that begins at a position.
    pub(super) fn form_at(&mut self, begin: usize) -> Step<Option<Spot>> {
        self.at = begin;
        self.form()
    }

    /// Returns the byte at a position.
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.log.as_bytes()[at]
    }

    /// Passes white space, and the bracket that closes the enclosing form.
    pub(super) fn close(&mut self, open: Spot) -> Step<()> {
        self.close_of(self.byte(open.at), open, 0)
    }

    /// As [`Self::close`], for a bracket in the log, of which `before` bytes precede this piece;
    /// the position of a fault is that in the log.
    pub(super) fn close_of(&mut self, bracket: u8, open: Spot, before: usize) -> Step<()> {
        self.skip();
        match self.log[self.at..].chars().next() {
            Some(found) if found == closing(bracket) => {
                self.at += 1;
                Ok(())
            }
            found => {
                let place = self.place();
                Err(unclosed(bracket, open, found, Spot { at: place.at + before, ..place }))
            }
        }
    }

    /// Returns true at the end.
    pub(super) const fn is_at_end(&self) -> bool {
        self.at >= self.log.len()
    }

    /// Returns the position of the next byte.
    pub(super) fn place(&self) -> Spot {
        Spot::new(self.at, (self.at + 1).min(self.log.len()))
    }

    fn rest(&self) -> &'a [u8] {
        &self.log.as_bytes()[self.at..]
    }

    /// Passes white space, comments and discarded forms; returns false if one has no end.
    fn discards(&mut self) -> Step<bool> {
        self.skip();
        while self.rest().starts_with(b"#_") {
            self.at += 2;
            if self.form()?.is_none() {
                return Ok(false);
            }
            self.skip();
        }
        Ok(true)
    }

    /// Passes white space and comments.
    fn skip(&mut self) {
        let bytes = self.log.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b';' => {
                    let end = memchr::memchr(b'\n', &bytes[self.at..]);
                    self.at = end.map_or(bytes.len(), |end| self.at + end);
                }
                b',' => self.at += 1,
                _ => match white(self.log, self.at) {
                    0 => return,
                    width => self.at += width,
                },
            }
        }
        self.reached = true;
    }

    /// Passes the next form, if any; discards count as a part of the form behind them.
    fn form(&mut self) -> Step<Option<Spot>> {
        let begin = self.at;
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.skip();
            if open.len() > DEEPEST {
                let kind = ImportErrorKind::TooDeep { most: DEEPEST };
                return Err(kind.at(Spot { at: begin.max(self.at.saturating_sub(1)), width: 1 }));
            }
            match self.rest() {
                [] => {
                    let bracket = open.into_iter().find_map(|open| match open {
                        Open::Bracket(at) => Some(at),
                        Open::Tag | Open::Discard => None,
                    });
                    return match bracket {
                        Some(at) => Err(self.unclosed(Spot { at, width: 1 }, None)),
                        None if self.at > begin => Err(self.incomplete(begin)),
                        None => Ok(None),
                    };
                }
                [b'[' | b'(' | b'{', ..] => {
                    open.push(Open::Bracket(self.at));
                    self.at += 1;
                    continue;
                }
                [b'#', b'{', ..] => {
                    open.push(Open::Bracket(self.at + 1));
                    self.at += 2;
                    continue;
                }
                [b'#', b'_', ..] => {
                    open.push(Open::Discard);
                    self.at += 2;
                    continue;
                }
                [b'#', ..] => {
                    open.push(Open::Tag);
                    self.token();
                    continue;
                }
                [first @ (b']' | b')' | b'}'), ..] => match open.pop() {
                    // It closes the enclosing form.
                    None if self.at == begin => return Ok(None),
                    Some(Open::Bracket(at))
                        if closing(self.log.as_bytes()[at]) == char::from(*first) =>
                    {
                        self.at += 1;
                    }
                    Some(Open::Bracket(at)) => {
                        let found = Some(char::from(*first));
                        return Err(self.unclosed(Spot { at, width: 1 }, found));
                    }
                    _ => return Err(self.incomplete(begin)),
                },
                [b'"', ..] => self.string()?,
                [b'\\', ..] => self.character(),
                _ => self.token(),
            }
            // A form is complete, and with it its tags.
            while open.last() == Some(&Open::Tag) {
                open.pop();
            }
            match open.last() {
                None => return Ok(Some(Spot::new(begin, self.at))),
                Some(Open::Discard) => drop(open.pop()),
                Some(_) => {}
            }
        }
    }

    /// Passes the next word, at least one character.
    fn token(&mut self) {
        self.at += self.log[self.at..].chars().next().map_or(1, char::len_utf8);
        self.pass_until(|byte| {
            matches!(byte, b',' | b';' | b'"' | b'(' | b')' | b'[' | b']' | b'{' | b'}')
        });
    }

    /// Passes the next character, such as `\a`, `\newline`, `\[`.
    fn character(&mut self) {
        self.at += 1;
        self.at += self.log[self.at..].chars().next().map_or(0, char::len_utf8);
        self.pass_until(|byte| {
            matches!(byte, b',' | b';' | b'(' | b')' | b'[' | b']' | b'{' | b'}')
        });
    }

    /// Passes all bytes before white space, and before one of these.
    fn pass_until(&mut self, is_end: impl Fn(u8) -> bool) {
        let bytes = self.log.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            let is_over = match byte {
                0..=b' ' | 0x80.. => {
                    self.log.is_char_boundary(self.at) && white(self.log, self.at) > 0
                }
                byte => is_end(byte),
            };
            if is_over {
                return;
            }
            self.at += 1;
        }
        self.reached = true;
    }

    /// Passes the next string.
    fn string(&mut self) -> Step<()> {
        let rest = self.rest();
        let mut from = 1;
        while let Some(found) = memchr::memchr2(b'\\', b'"', &rest[from.min(rest.len())..]) {
            if rest[from + found] == b'"' {
                self.at += from + found + 1;
                return Ok(());
            }
            from += found + 2;
        }
        self.reached = true;
        Err(ImportErrorKind::Unclosed { open: "\"" }.at(Spot { at: self.at, width: 1 }))
    }

    fn incomplete(&self, begin: usize) -> Box<Fault> {
        let message = "a tag, or a discard, has no form behind it".to_owned();
        ImportErrorKind::Edn { message }.at(Spot::new(begin, self.at.max(begin + 1)))
    }

    fn unclosed(&self, open: Spot, found: Option<char>) -> Box<Fault> {
        unclosed(self.byte(open.at), open, found, self.place())
    }
}

/// Returns the fault of a bracket that `found`, or the end of the log, does not close.
fn unclosed(bracket: u8, open: Spot, found: Option<char>, place: Spot) -> Box<Fault> {
    let Some(found) = found else {
        let open_bracket = match bracket {
            b'[' => "[",
            b'(' => "(",
            _ => "{",
        };
        return ImportErrorKind::Unclosed { open: open_bracket }.at(open).against(place);
    };
    let message = format!("expected `{}`, found `{found}`", closing(bracket));
    ImportErrorKind::Edn { message }.at(place).against(open)
}

/// Returns the width in bytes of the white space at a position; 0 if there is another character.
#[inline]
fn white(log: &str, at: usize) -> usize {
    match log.as_bytes()[at] {
        b' ' | b'\t'..=b'\r' => 1,
        0x80.. => {
            let next = log[at..].chars().next();
            next.filter(|next| next.is_whitespace()).map_or(0, char::len_utf8)
        }
        _ => 0,
    }
}

const fn closing(open: u8) -> char {
    match open {
        b'[' => ']',
        b'(' => ')',
        _ => '}',
    }
}
