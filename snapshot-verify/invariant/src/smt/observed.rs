//! The observer in a step, as terms: its bits after an event, and its answer to the vector of a
//! scan.

use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;

use super::execute::{Actor, DOES, Executor, Way};
use super::term::{Value, table};

/// Names of the observer's bits.
pub const OBSERVER: [&str; 6] = [
    "observer.invoked_i",
    "observer.invoked_j",
    "observer.needed_i",
    "observer.needed_j",
    "observer.bad01",
    "observer.bad10",
];
impl Executor<'_> {
    pub(super) fn first_access(&self, way: &mut Way) {
        match way.does {
            "scans" => {
                let begun = way.begun.clone();
                for (must, needed) in way.must.iter_mut().zip(&way.observer[2..4]) {
                    *must = format!("(ite {begun} {must} {needed})");
                }
                way.begun = "true".to_owned();
            }
            "switches" => {
                let (segment, invoked) = (self.segment(), way.invoked.clone());
                let after = observed(&way.observer, &|state, _| state.invoke_update(segment));
                for (bit, after) in way.observer.iter_mut().zip(after) {
                    *bit = format!("(ite {invoked} {bit} {after})");
                }
                way.invoked = "true".to_owned();
            }
            _ => {}
        }
    }

    fn segment(&self) -> Switching {
        if self.actor == Actor::J { Switching::J } else { Switching::I }
    }

    pub(super) fn end(&self, way: &mut Way, result: Option<Value>) {
        self.first_access(way);
        if way.does == "switches" {
            let segment = self.segment();
            way.observer = observed(&way.observer, &|state, _| state.respond_update(segment));
        }
        if let (true, Some(result)) = (way.does == "scans", result) {
            let entries = ["process.i", "process.j"].map(|at| result.element(at).term());
            let more = [way.must.as_slice(), &entries].concat();
            let all = [way.observer.as_slice(), &more].concat();
            way.alarm = table(&all, &|bits| returned(bits).is_none());
            way.observer = observer_after(&all, &|bits| returned(bits).unwrap_or_default());
        }
        way.does = DOES[0];
        way.begun = "false".to_owned();
        way.invoked = "false".to_owned();
        way.place = None;
    }
}

/// Returns the observer's state after a vector, if the vector is right. The bits are its
/// state's, then the values that the scan must return, then the returned values.
fn returned(bits: usize) -> Option<ObserverState> {
    let state = ObserverState::from_bits((bits & 63) as u8)?;
    let must = Must::from_bits((bits >> 6 & 3) as u8)?;
    state.respond_scan(must, bits >> 8 & 1 == 1, bits >> 9 & 1 == 1).ok()
}

/// Returns the observer's bits after an event.
fn observed(
    bits: &[String; 6],
    event: &dyn Fn(ObserverState, usize) -> ObserverState,
) -> [String; 6] {
    let after = |bits: usize| {
        let state = ObserverState::from_bits((bits & 63) as u8).unwrap_or_default();
        event(state, bits)
    };
    observer_after(bits, &after)
}

fn observer_after(variables: &[String], after: &dyn Fn(usize) -> ObserverState) -> [String; 6] {
    std::array::from_fn(|bit| table(variables, &|bits| after(bits).bits() >> bit & 1 == 1))
}
