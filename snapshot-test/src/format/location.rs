//! Positions in an input, and excerpts of the input around them.

use std::fmt;

#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Location {
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1, counted in characters.
    pub column: u64,
    /// Number of bytes before the position.
    pub offset: u64,
}

impl Location {
    pub const START: Self = Self { line: 1, column: 1, offset: 0 };
}

/// Writes `line:column`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A short piece of the input with the relevant part marked.
///
/// A whole line, or one event of a format that puts all events on one line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Excerpt {
    text: String,
    /// Characters before the mark.
    before: usize,
    /// Characters marked, at least 1.
    marked: usize,
}

impl Excerpt {
    /// The longest excerpt, in characters; more would wrap in a terminal.
    pub const LIMIT: usize = 120;

    /// Returns the same excerpt with the values of a scan marked, instead of the event.
    #[must_use]
    pub(crate) fn on_values(mut self) -> Self {
        let end = self.text.find('#').unwrap_or(self.text.len());
        let line = self.text[..end].trim_end();
        let values = if let (Some(begin), Some(end)) = (line.find('['), line.rfind(']')) {
            Some((begin, end + 1))
        } else if line.contains('!') {
            let end = line.find(';').unwrap_or(line.len());
            line[..end].find(',').map(|comma| (comma + 1, end))
        } else {
            let third = line.split_whitespace().nth(2);
            third.map(|third| (third.as_ptr().addr() - line.as_ptr().addr(), line.len()))
        };
        if let Some((begin, end)) = values.filter(|(begin, end)| begin < end) {
            self.before = line[..begin].chars().count();
            self.marked = line[begin..end].chars().count();
        }
        self
    }

    /// Marks `width` bytes of `line` from byte `at` on. `None` if the line is
    /// long or not printable.
    pub(super) fn new(line: &[u8], at: usize, width: usize) -> Option<Self> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > 4 * Self::LIMIT {
            return None;
        }
        let at = at.min(line.len());
        let end = (at + width).min(line.len());
        let before = std::str::from_utf8(&line[..at]).ok()?.chars().count();
        let marked = std::str::from_utf8(&line[at..end]).ok()?.chars().count().max(1);
        let text = std::str::from_utf8(line).ok()?.replace('\t', " ");
        let printable = !text.trim().is_empty() && !text.chars().any(char::is_control);
        (printable && text.chars().count() <= Self::LIMIT).then_some(Self { text, before, marked })
    }

    /// As [`Self::new`], also for a long line, which is cut around the mark. `None` if the line is
    /// blank.
    pub(crate) fn around(line: &[u8], at: usize, width: usize) -> Option<Self> {
        /// Characters kept before the mark.
        const BEFORE: usize = 40;
        const CUT: &str = "...";
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (before, rest) = line.split_at(at.min(line.len()));
        let (marked, after) = rest.split_at(width.min(rest.len()));
        let shown = |piece: &[u8]| -> Vec<char> {
            let blank = |one: char| if one.is_control() { ' ' } else { one };
            String::from_utf8_lossy(piece).chars().map(blank).collect()
        };
        let [before, mut marked, mut after] = [before, marked, after].map(shown);
        let mut text = String::new();
        let all = before.len() + marked.len() + after.len();
        let is_long = all > Self::LIMIT;
        let skipped = if is_long { before.len().saturating_sub(BEFORE) } else { 0 };
        if skipped > 0 {
            text.push_str(CUT);
        }
        text.extend(&before[skipped..]);
        let before = text.chars().count();
        if is_long {
            let room = Self::LIMIT - before - CUT.len();
            let is_cut = marked.len() + after.len() > room;
            marked.truncate(room);
            after.truncate(room - marked.len());
            text.extend(marked.iter().chain(&after));
            text.push_str(if is_cut { CUT } else { "" });
        } else {
            text.extend(marked.iter().chain(&after));
        }
        let marked = marked.len().max(1);
        (!text.trim().is_empty()).then_some(Self { text, before, marked })
    }
}

/// Writes two indented lines: the text, and the mark below it.
impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {}", self.text)?;
        write!(f, "  {}{}", " ".repeat(self.before), "^".repeat(self.marked))
    }
}
