//! The meaning of an immediate snapshot, and a search that uses nothing else.

use std::ops::RangeInclusive;

use snapshot_core::generic;
use snapshot_core::immediate::{Action, History};
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::{Bond, Member, Synchronisation, Verdict, by_search as search};

use super::SEARCH_MEMORY;
use crate::Value;

/// The specification: first all operations of a block write, then all read.
struct Exchange {
    initial: Vec<Value>,
}

/// The segment, and the value written to it.
type Input = (usize, Value);

impl Synchronisation for Exchange {
    type State = Vec<Value>;
    type Input = Input;
    type Output = Vec<Value>;

    fn initial(&self) -> Vec<Value> {
        self.initial.clone()
    }

    fn arities(&self) -> RangeInclusive<usize> {
        1..=self.initial.len()
    }

    fn together(&self, state: &mut Vec<Value>, group: &[Member<'_, Input, Vec<Value>>]) -> Bond {
        for ((segment, value), _) in group {
            state[*segment].clone_from(value);
        }
        let outputs = group.iter().filter_map(|(_, output)| *output);
        let is_fixed = |segment: usize| group.iter().any(|((written, _), _)| *written == segment);
        let mut bond = Bond::Yes;
        for output in outputs {
            for (segment, value) in output.iter().enumerate() {
                match *value == state[segment] {
                    true => {}
                    // No other process writes the segment of a member.
                    false if is_fixed(segment) => return Bond::No,
                    false => bond = Bond::Prefix,
                }
            }
        }
        bond
    }

    fn can_complete(
        &self,
        state: &Vec<Value>,
        group: &[Member<'_, Input, Vec<Value>>],
        left: &[Member<'_, Input, Vec<Value>>],
    ) -> bool {
        let is_written = |segment: usize, value: &Value| {
            let mut members = group.iter().chain(left);
            members.any(|((written, new), _)| *written == segment && new == value)
        };
        group.iter().filter_map(|(_, output)| *output).all(|output| {
            let mut entries = output.iter().enumerate();
            entries.all(|(k, value)| *value == state[k] || is_written(k, value))
        })
    }

    fn bytes(&self, state: &Vec<Value>) -> usize {
        size_of_val(state.as_slice())
    }
}

/// Decides whether an execution is set-linearizable; `None` if that takes too much memory.
pub(super) fn by_search(history: &History<Value>) -> Option<bool> {
    let mut plain = generic::History::builder();
    for (_, event) in history.events() {
        let process = event.process;
        let pushed = match event.action {
            Action::Invoke { value } => plain.invoke(process, (process, value.clone())),
            Action::Respond { values } => plain.respond(process, values.to_vec()),
            Action::Fail => plain.fail(process),
            Action::Unknown => plain.unknown(process),
        };
        pushed.expect("what an execution has, any history can have");
    }
    let initial = (0..history.segments()).map(|k| history.initial_value(k).clone()).collect();
    let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
    match search(&Exchange { initial }, &plain.finish(), &mut budget) {
        Verdict::SetLinearizable(_) => Some(true),
        Verdict::Violation(_) => Some(false),
        Verdict::Unknown { .. } => None,
    }
}
