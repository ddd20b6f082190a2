//! Times that contradict the order of events.

use snapshot_io::output;
use snapshot_test::format::{Backwards, Doubt, Location, Noticed};

/// Warns that times run backwards in an input of this name, and says what it means for its
/// verdict.
pub(super) fn warn(name: &str, backwards: &Backwards, doubt: Doubt) {
    output::report(format_args!(
        "{name}:{}: warning: {}\nhelp: `snapshot-test convert --sort-by-time --to text FILE -o \
         RECORDING` takes the order from `time`",
        backwards.first,
        backwards.told(doubt)
    ));
}

/// As [`warn`], where there is no such conversion.
pub(super) fn warn_only(name: &str, backwards: &Backwards, doubt: Doubt) {
    output::report(format_args!(
        "{name}:{}: warning: {}\nhelp: sort the lines by `time`, if no two events of an \
         instant matter to each other",
        backwards.first,
        backwards.told(doubt)
    ));
}

/// Warns of the times of an input that is read for long: where the first runs backwards, and again
/// at the end if others did.
pub(super) struct Watch<'a> {
    name: &'a str,
    noticed: Noticed,
    /// Bytes and lines of the input before what is read.
    begin: (u64, u64),
    /// How many events were told of.
    told: u64,
}

impl<'a> Watch<'a> {
    pub(super) const fn new(name: &'a str, noticed: Noticed, begin: (u64, u64)) -> Self {
        Self { name, noticed, begin, told: 0 }
    }

    /// Warns, if there is something new to be told.
    pub(super) fn look(&mut self, is_end: bool) {
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
