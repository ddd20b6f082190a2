//! Whether to go on: asked within steps and analyses, however long they are.

use std::cell::Cell;

/// How much is done between two questions, in bytes that are touched and expressions that are evaluated:
/// a millisecond or so.
const PERIOD: usize = 1 << 16;

/// Whoever may end the work, and the work since that was asked last. Once it is to end, that stays so.
#[derive(Clone)]
pub struct Asks<'a> {
    proceed: &'a dyn Fn() -> bool,
    since: Cell<usize>,
    is_over: Cell<bool>,
}

impl<'a> Asks<'a> {
    /// Asks this.
    pub fn new(proceed: &'a dyn Fn() -> bool) -> Self {
        Self { proceed, since: Cell::new(0), is_over: Cell::new(false) }
    }

    /// Notes work that is done.
    pub fn note(&self, work: usize) {
        self.since.set(self.since.get().saturating_add(work));
    }

    /// Whether to go on, after so much more work.
    pub fn go_on(&self, work: usize) -> bool {
        self.note(work);
        if self.since.get() >= PERIOD && !self.is_over.get() {
            self.since.set(0);
            self.is_over.set(!(self.proceed)());
        }
        !self.is_over.get()
    }
}

/// Goes on for ever.
impl Default for Asks<'_> {
    fn default() -> Self {
        Self::new(&|| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_once_in_a_while_and_stays_over() {
        let asked = Cell::new(0);
        let proceed = || {
            asked.set(asked.get() + 1);
            asked.get() != 2
        };
        let asks = Asks::new(&proceed);
        assert!(asks.go_on(PERIOD - 1) && asked.get() == 0);
        assert!(asks.go_on(1) && asked.get() == 1);
        asks.note(2 * PERIOD);
        assert!(!asks.go_on(0) && asked.get() == 2);
        assert!(!asks.go_on(PERIOD) && asked.get() == 2);
    }
}
