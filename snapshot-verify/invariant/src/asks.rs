//! Checks, within steps and analyses of any length, whether the work may continue.

use std::cell::Cell;

/// Work between two calls of the budget, in bytes touched and expressions evaluated: about a
/// millisecond.
pub const PERIOD: usize = 1 << 16;

/// A caller that may end the work, and the work since its last call. An answer that ends the work
/// is final.
#[derive(Clone)]
pub struct Asks<'a> {
    proceed: &'a dyn Fn() -> bool,
    since: Cell<usize>,
    is_over: Cell<bool>,
}

impl<'a> Asks<'a> {
    pub fn new(proceed: &'a dyn Fn() -> bool) -> Self {
        Self { proceed, since: Cell::new(0), is_over: Cell::new(false) }
    }

    /// Counts completed work.
    pub fn note(&self, work: usize) {
        self.since.set(self.since.get().saturating_add(work));
    }

    /// Counts this much completed work, and returns true if the work may continue.
    pub fn go_on(&self, work: usize) -> bool {
        self.note(work);
        if self.since.get() >= PERIOD && !self.is_over.get() {
            self.since.set(0);
            self.is_over.set(!(self.proceed)());
        }
        !self.is_over.get()
    }
}

/// Never ends the work.
impl Default for Asks<'_> {
    fn default() -> Self {
        Self::new(&|| true)
    }
}
