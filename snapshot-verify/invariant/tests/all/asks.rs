//! The budget within steps.

use std::cell::Cell;

use snapshot_invariant::asks::{Asks, PERIOD};

#[test]
fn budget_is_asked_once_per_period_and_stays_over() {
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
