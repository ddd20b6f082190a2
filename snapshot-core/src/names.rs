//! Names of processes and segments, for texts.
//!
//! Histories and judges know numbers only. A [`Names`] translates them in sentences and pictures:
//! as the log that was read names them, or, without names, as `process 1` and `segment 0`.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::sync::Arc;

use crate::{Process, Segment};

/// The names of processes and segments, by number; of each kind, all have names or none has.
/// Clones share one table.
///
/// ```
/// use snapshot_core::{Names, Process, Segment};
///
/// let mut names = Names::default();
/// assert_eq!(names.segment(Segment::from_index(0)).to_string(), "segment 0");
/// names.push_segment("x");
/// names.push_segment("two words");
/// assert_eq!(names.segment(Segment::from_index(0)).to_string(), "x");
/// assert_eq!(names.segment(Segment::from_index(1)).to_string(), "\"two words\"");
/// assert_eq!(names.process(Process::from_index(3)).to_string(), "process 3");
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Names {
    processes: Arc<Vec<Box<str>>>,
    segments: Arc<Vec<Box<str>>>,
}

impl Names {
    /// Returns the table with these names; an empty list stands for numbers.
    pub fn new(processes: Vec<Box<str>>, segments: Vec<Box<str>>) -> Self {
        Self { processes: Arc::new(processes), segments: Arc::new(segments) }
    }

    /// Adds the name of the next process.
    pub fn push_process(&mut self, name: impl Into<Box<str>>) {
        Arc::make_mut(&mut self.processes).push(name.into());
    }

    /// Adds the name of the next segment.
    pub fn push_segment(&mut self, name: impl Into<Box<str>>) {
        Arc::make_mut(&mut self.segments).push(name.into());
    }

    /// Returns the names of processes 0, 1, ...; empty if they have none.
    pub fn processes(&self) -> &[Box<str>] {
        &self.processes
    }

    /// Returns the names of segments 0, 1, ...; empty if they have none.
    pub fn segments(&self) -> &[Box<str>] {
        &self.segments
    }

    /// Returns true if neither processes nor segments have names.
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty() && self.segments.is_empty()
    }

    /// Returns the names, each cut after this many characters, for pictures.
    #[must_use]
    pub fn shortened(&self, most: usize) -> Self {
        let cut = |name: &str| match name.char_indices().nth(most) {
            Some((end, _)) => format!("{}\u{2026}", &name[..end]).into(),
            None => name.into(),
        };
        let all = |names: &[Box<str>]| names.iter().map(|name| cut(name)).collect();
        Self::new(all(&self.processes), all(&self.segments))
    }

    /// Writes a process as a noun: its name, or `process 1`.
    pub fn process(&self, process: Process) -> impl Display + '_ {
        Noun {
            name: name_of(&self.processes, process.index()),
            kind: "process ",
            index: process.index(),
        }
    }

    /// Writes a segment as a noun: its name, or `segment 0`.
    pub fn segment(&self, segment: Segment) -> impl Display + '_ {
        Noun {
            name: name_of(&self.segments, segment.index()),
            kind: "segment ",
            index: segment.index(),
        }
    }

    /// Writes a process as a label: its name, or `p1`.
    pub fn process_label(&self, process: Process) -> impl Display + '_ {
        Noun { name: name_of(&self.processes, process.index()), kind: "p", index: process.index() }
    }

    /// Writes a segment as a label: its name, or `s0`.
    pub fn segment_label(&self, segment: Segment) -> impl Display + '_ {
        Noun { name: name_of(&self.segments, segment.index()), kind: "s", index: segment.index() }
    }
}

fn name_of(names: &[Box<str>], index: usize) -> Option<&str> {
    names.get(index).map(|name| &**name)
}

/// A name, or a kind with a number. A name that is a number is written with its kind.
struct Noun<'a> {
    name: Option<&'a str>,
    kind: &'static str,
    index: usize,
}

impl Display for Noun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            None => write!(f, "{}{}", self.kind, self.index),
            Some(number) if is_number(number) => write!(f, "{}{number}", self.kind),
            Some(name) => f.write_str(&shown(name)),
        }
    }
}

/// Returns true for the digits of a number without leading zeros.
fn is_number(name: &str) -> bool {
    let is_digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    is_digits && (name == "0" || !name.starts_with('0'))
}

/// Returns a name as it stands in texts: itself if it is one printable word, else in double quotes,
/// with escapes.
fn shown(name: &str) -> Cow<'_, str> {
    let is_plain = |one: char| {
        !one.is_whitespace() && !is_invisible(one) && !matches!(one, '"' | '\\' | ',' | ';')
    };
    let is_word = !name.is_empty() && name.chars().all(is_plain);
    if is_word {
        return Cow::Borrowed(name);
    }
    let mut quoted = String::with_capacity(name.len() + 2);
    quoted.push('"');
    for one in name.chars() {
        match one {
            '"' | '\\' => quoted.extend(['\\', one]),
            one if is_invisible(one) => quoted.extend(one.escape_unicode()),
            one => quoted.push(one),
        }
    }
    quoted.push('"');
    Cow::Owned(quoted)
}

/// Returns true for control characters, and for those that reorder or join the text around them.
fn is_invisible(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noun(name: &str) -> String {
        let names = Names::new(vec![name.into()], Vec::new());
        names.process(Process::from_index(0)).to_string()
    }

    #[test]
    fn names_are_written_as_the_log_has_them() {
        for plain in ["client-1", ":x", "é", "שם", "[1", "a.b/c", "007"] {
            assert_eq!(noun(plain), plain);
        }
        assert_eq!(noun("17"), "process 17");
        assert_eq!(noun(""), "\"\"");
        assert_eq!(noun("a b"), "\"a b\"");
        assert_eq!(noun("a\"\\"), "\"a\\\"\\\\\"");
        assert_eq!(noun("a\nb\u{1b}[0m\u{202e}"), "\"a\\u{a}b\\u{1b}[0m\\u{202e}\"");
    }

    #[test]
    fn different_names_are_written_differently() {
        let names =
            ["0", "00", "process 0", "\"process 0\"", "a", "\"a\"", "", " ", "a\\", "\u{200b}"];
        let mut written: Vec<String> = names.iter().map(|name| noun(name)).collect();
        written.sort();
        written.dedup();
        assert_eq!(written.len(), names.len());
    }

    #[test]
    fn clones_do_not_change_with_the_original() {
        let mut names = Names::default();
        names.push_process("a");
        let before = names.clone();
        names.push_process("b");
        assert_eq!((before.processes().len(), names.processes().len()), (1, 2));
    }
}
