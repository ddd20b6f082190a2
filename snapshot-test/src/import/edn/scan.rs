//! The forms of a log in EDN, one after the other, without recursion.
//!
//! The reader of EDN builds trees, and processing trees recurses: a deeply nested log would
//! overflow the stack. So forms are separated here first, by brackets, strings, characters,
//! comments, tags and discards alone; each has its position, and its depth is bounded. The reader
//! parses the contents of a form.

use super::super::ImportErrorKind;
use super::super::place::{Spot, Step};

/// The largest number of brackets and tags around a value.
pub(super) const DEEPEST: usize = 64;

/// Iterates over the forms of a piece of a log.
#[derive(Clone, Debug)]
pub(super) struct Forms<'a> {
    log: &'a str,
    at: usize,
    end: usize,
}

/// The kinds of brackets at the start of a form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bracket {
    Map,
    /// A vector or list.
    Sequence,
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
    /// All forms from byte `start` on.
    pub(super) const fn of(log: &'a str, start: usize) -> Self {
        Self { log, at: start, end: log.len() }
    }

    /// Iterates over the forms within a form in brackets, whose end may be missing.
    pub(super) fn within(log: &'a str, form: Spot) -> Self {
        let end = form.at + form.width;
        Self { log, at: opening(log, form).map_or(end, |(at, _)| at + 1), end }
    }

    /// Returns the next form; `None` at the end, or at a closing bracket.
    pub(super) fn next(&mut self) -> Step<Option<Spot>> {
        self.skip();
        while self.rest().starts_with("#_") {
            self.at += 2;
            if self.form()?.is_none() {
                return Ok(None);
            }
            self.skip();
        }
        self.form()
    }

    /// Passes white space, and the bracket that closes the enclosing form.
    pub(super) fn close(&mut self, open: Spot) -> Step<()> {
        self.skip();
        let expected = closing(self.log.as_bytes()[open.at]);
        match self.rest().chars().next() {
            Some(found) if found == expected => {
                self.at += 1;
                Ok(())
            }
            found => Err(self.unclosed(open, found)),
        }
    }

    /// Returns true at the end.
    pub(super) const fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    /// Returns the position of the next byte.
    pub(super) fn place(&self) -> Spot {
        Spot::new(self.at, (self.at + 1).min(self.log.len()))
    }

    fn rest(&self) -> &'a str {
        &self.log[self.at..self.end]
    }

    /// Passes white space and comments.
    fn skip(&mut self) {
        loop {
            let rest =
                self.rest().trim_start_matches(|one: char| one.is_whitespace() || one == ',');
            self.at = self.end - rest.len();
            if !rest.starts_with(';') {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
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
            let rest = self.rest();
            let Some(first) = rest.chars().next() else {
                let bracket = open.into_iter().find_map(|open| match open {
                    Open::Bracket(at) => Some(at),
                    Open::Tag | Open::Discard => None,
                });
                return match bracket {
                    Some(at) => Err(self.unclosed(Spot { at, width: 1 }, None)),
                    None if self.at > begin => Err(self.incomplete(begin)),
                    None => Ok(None),
                };
            };
            match first {
                '[' | '(' | '{' => {
                    open.push(Open::Bracket(self.at));
                    self.at += 1;
                    continue;
                }
                '#' if rest.starts_with("#{") => {
                    open.push(Open::Bracket(self.at + 1));
                    self.at += 2;
                    continue;
                }
                '#' if rest.starts_with("#_") => {
                    open.push(Open::Discard);
                    self.at += 2;
                    continue;
                }
                '#' => {
                    open.push(Open::Tag);
                    self.at += token(rest);
                    continue;
                }
                ']' | ')' | '}' => match open.pop() {
                    // It closes the enclosing form.
                    None if self.at == begin => return Ok(None),
                    Some(Open::Bracket(at)) if closing(self.log.as_bytes()[at]) == first => {
                        self.at += 1;
                    }
                    Some(Open::Bracket(at)) => {
                        return Err(self.unclosed(Spot { at, width: 1 }, Some(first)));
                    }
                    _ => return Err(self.incomplete(begin)),
                },
                '"' => self.at += self.string()?,
                '\\' => self.at += character(rest),
                _ => self.at += token(rest),
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

    /// Returns the length of the next string.
    fn string(&self) -> Step<usize> {
        let mut is_escaped = false;
        for (at, byte) in self.rest().bytes().enumerate().skip(1) {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => return Ok(at + 1),
                _ => {}
            }
        }
        Err(ImportErrorKind::Unclosed { open: "\"" }.at(Spot { at: self.at, width: 1 }))
    }

    fn incomplete(&self, begin: usize) -> Box<super::super::place::Fault> {
        let message = "a tag, or a discard, has no form behind it".to_owned();
        ImportErrorKind::Edn { message }.at(Spot::new(begin, self.at.max(begin + 1)))
    }

    fn unclosed(&self, open: Spot, found: Option<char>) -> Box<super::super::place::Fault> {
        let bracket = match self.log.as_bytes()[open.at] {
            b'[' => "[",
            b'(' => "(",
            _ => "{",
        };
        match found {
            None => ImportErrorKind::Unclosed { open: bracket }.at(open).against(self.place()),
            Some(found) => {
                let expected = closing(bracket.as_bytes()[0]);
                let message = format!("expected `{expected}`, found `{found}`");
                ImportErrorKind::Edn { message }.at(self.place()).against(open)
            }
        }
    }
}

/// Returns the bracket at the start of a form, after its tags, and its position.
pub(super) fn opening(log: &str, form: Spot) -> Option<(usize, Bracket)> {
    let mut forms = Forms { log, at: form.at, end: form.at + form.width };
    loop {
        let rest = forms.rest();
        if !rest.starts_with('#') || rest.starts_with("#{") {
            break;
        }
        forms.at += token(rest);
        forms.skip();
    }
    match log.as_bytes().get(forms.at)? {
        b'{' => Some((forms.at, Bracket::Map)),
        b'[' | b'(' => Some((forms.at, Bracket::Sequence)),
        _ => None,
    }
}

const fn closing(open: u8) -> char {
    match open {
        b'[' => ']',
        b'(' => ')',
        _ => '}',
    }
}

/// Returns the length of the word at the beginning, at least 1.
fn token(text: &str) -> usize {
    let is_end = |one: char| one.is_whitespace() || ",;\"()[]{}".contains(one);
    let first = text.chars().next().map_or(1, char::len_utf8);
    text[first..].find(is_end).map_or(text.len(), |end| first + end)
}

/// Returns the length of the character at the beginning, such as `\a`, `\newline`, `\[`.
fn character(text: &str) -> usize {
    let second = text[1..].chars().next().map_or(0, char::len_utf8);
    let is_end = |one: char| one.is_whitespace() || ",;()[]{}".contains(one);
    let rest = &text[1 + second..];
    1 + second + rest.find(is_end).unwrap_or(rest.len())
}
