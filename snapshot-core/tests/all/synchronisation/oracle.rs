//! The definitions taken literally, without memory or reduction: an execution is passed event by
//! event, and between any two events any set of open operations may take effect together if the
//! object permits it. Only `Bond::Yes` counts.

use snapshot_core::generic::History;
use snapshot_core::synchronisation::{Bond, Member, Synchronisation};

/// The truth about an execution, by the definitions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Truth {
    pub is_set_linearizable: bool,
    /// True if some maximal set linearization leaves no return to come.
    pub has_progress: bool,
}

struct Literal<'a, S: Synchronisation> {
    specification: &'a S,
    history: &'a History<S::Input, S::Output>,
    /// For each event its operation, and true if it is the response.
    events: Vec<(usize, bool)>,
    truth: Truth,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Phase {
    Idle,
    Open,
    Taken,
    Done,
}

pub fn truth<S: Synchronisation>(
    specification: &S,
    history: &History<S::Input, S::Output>,
) -> Truth {
    let mut events = Vec::new();
    for (id, operation) in history.operations().iter().enumerate() {
        if operation.is_failed() {
            continue;
        }
        events.push((operation.invocation, id, false));
        events.extend(operation.response().map(|response| (response, id, true)));
    }
    events.sort_unstable();
    let events = events.into_iter().map(|(_, id, responds)| (id, responds)).collect();
    let truth = Truth { is_set_linearizable: false, has_progress: false };
    let mut literal = Literal { specification, history, events, truth };
    let phases = vec![Phase::Idle; history.operations().len()];
    literal.go(0, &specification.initial(), &phases);
    literal.truth
}

impl<S: Synchronisation> Literal<'_, S> {
    fn go(&mut self, event: usize, state: &S::State, phases: &[Phase]) {
        let Truth { is_set_linearizable, has_progress } = self.truth;
        if is_set_linearizable && has_progress {
            return;
        }
        let mut can_go_on = false;
        for (group, after) in self.groups(state, phases) {
            can_go_on = true;
            let mut phases = phases.to_vec();
            for id in group {
                phases[id] = Phase::Taken;
            }
            self.go(event, &after, &phases);
        }
        let Some(&(id, responds)) = self.events.get(event) else {
            self.truth.is_set_linearizable = true;
            let is_anticipated = phases.contains(&Phase::Taken);
            self.truth.has_progress |= !can_go_on && !is_anticipated;
            return;
        };
        let mut phases = phases.to_vec();
        if responds {
            if phases[id] != Phase::Taken {
                return;
            }
            phases[id] = Phase::Done;
        } else {
            phases[id] = Phase::Open;
        }
        self.go(event + 1, state, &phases);
    }

    /// All groups that are possible, with the state after each.
    fn groups(&self, state: &S::State, phases: &[Phase]) -> Vec<(Vec<usize>, S::State)> {
        let open: Vec<usize> = (0..phases.len()).filter(|&id| phases[id] == Phase::Open).collect();
        let mut groups = Vec::new();
        for set in 1u32..1 << open.len() {
            let of_set = open.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
            let ids: Vec<usize> = of_set.map(|(_, &id)| id).collect();
            let operations = self.history.operations();
            let members: Vec<Member<'_, S::Input, S::Output>> =
                ids.iter().map(|&id| (&operations[id].input, operations[id].output())).collect();
            let mut after = state.clone();
            if self.specification.together(&mut after, &members) == Bond::Yes {
                groups.push((ids, after));
            }
        }
        groups
    }
}
