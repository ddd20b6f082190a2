//! Times that contradict the order of events.

use snapshot_io::output;
use snapshot_test::format::{Backwards, Doubt, Location, Noticed};

/// Warns that times run backwards in an input of this name, with the consequence for its verdict.
pub(super) fn warn(name: &str, backwards: &Backwards, doubt: Doubt) {
    output::report(format_args!(
        "{name}:{}: warning: {}\nhelp: `snapshot-test convert --sort-by-time --to text FILE -o \
         RECORDING` takes the order from `time`",
        backwards.first,
        backwards.told(doubt)
    ));
}

/// As [`warn`], if no such conversion exists.
pub(super) fn warn_only(name: &str, backwards: &Backwards, doubt: Doubt) {
    output::report(format_args!(
        "{name}:{}: warning: {}\nhelp: sort the lines by `time`, if no two events of an \
         instant matter to each other",
        backwards.first,
        backwards.told(doubt)
    ));
}

/// Warns about the times of a long-running input: at the first that runs backwards, and again at
/// the end if others did.
pub(super) struct Watch<'a> {
    name: &'a str,
    noticed: Noticed,
    /// Bytes and lines of the input before the part that is read.
    begin: (u64, u64),
    /// Number of events reported.
    told: u64,
}

impl<'a> Watch<'a> {
    pub(super) const fn new(name: &'a str, noticed: Noticed, begin: (u64, u64)) -> Self {
        Self { name, noticed, begin, told: 0 }
    }

    /// Warns, if there are unreported events.
    pub(super) fn save_if_due(&mut self, is_end: bool) {
        let Some(backwards) = self.noticed.backwards() else { return };
        if backwards.events > self.told && (self.told == 0 || is_end) {
            self.told = backwards.events;
            let Location { line, column, offset } = backwards.first;
            let (bytes, lines) = self.begin;
            let first = Location { line: line + lines, column, offset: offset + bytes };
            warn(self.name, &Backwards { first, ..backwards }, Doubt::Either);
        }
    }
}
