//! Explanations: a violation, shown by the few operations that prove it.

mod argument;
mod derivation;
mod excerpt;
mod picture;
mod proof_operation;
mod render;
mod returned;
mod run;
mod track;

pub use excerpt::Excerpt;
pub use picture::picture;
pub use proof_operation::{Deed, Ending, Explanation, ProofOperation};
pub use render::wrap;
pub use returned::ReturnedValues;
pub use run::{AcceptingRun, accepting_run};

use crate::history::History;
use crate::monitor::Alarm;

/// Explains an alarm of the monitor from the history that raised it.
/// O(length of the history).
///
/// # Panics
/// If the history did not raise this alarm.
pub fn explain<V: Clone + Eq>(history: &History<V>, alarm: &Alarm) -> Explanation<V> {
    let mut values = ReturnedValues::new(alarm);
    for event in history.events().take(alarm.event + 1) {
        values.observe(&event);
    }
    let mut excerpt = Excerpt::new(alarm, values, &history.declaration());
    for event in history.events() {
        excerpt.observe(&event);
    }
    excerpt.finish()
}
