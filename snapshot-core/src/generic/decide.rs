//! From the parts of a history to its outcome: by rules, then by search in turns.

use super::history::History;
use super::monitors::{Beyond, Decision};
use super::problem::{self, Problem};
use super::proof::Proof;
use super::replay::replay_part;
use super::search::{self, Stuck};
use super::specification::Specification;
use super::{DeepestPrefix, Outcome, Reason};
use crate::OperationId;
use crate::search::Budget;
use crate::seeded::SeededMap;
use crate::verdict::{Exhausted, Linearization};

/// What rules decided.
#[derive(Default)]
pub(super) struct ByRules {
    /// Per operation the number of its part; of no use if all parts are open.
    parts: Vec<u32>,
    /// Per part, unless rules decided it.
    open: Vec<Option<Beyond>>,
    /// The orders of the others.
    orders: Vec<Vec<OperationId>>,
    proof: Option<Proof>,
}

impl ByRules {
    /// Why rules did not decide the part of an operation.
    fn beyond(&self, operation: u32) -> Option<&Beyond> {
        self.open.get(*self.parts.get(operation as usize)? as usize)?.as_ref()
    }
}

/// Decides each part by rules, up to the first violation.
pub(super) fn by_rules<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
) -> ByRules {
    let operations = history.operations();
    let mut numbers: SeededMap<S::Part, u32> = SeededMap::default();
    let mut parts: Vec<Vec<OperationId>> = Vec::new();
    let mut found = ByRules { parts: vec![u32::MAX; operations.len()], ..ByRules::default() };
    for (index, operation) in operations.iter().enumerate() {
        if operation.is_failed() {
            continue;
        }
        let number = *numbers.entry(specification.part(&operation.input)).or_insert_with(|| {
            parts.push(Vec::new());
            parts.len() as u32 - 1
        });
        found.parts[index] = number;
        parts[number as usize].push(OperationId::from_index(index));
    }
    for part in &parts {
        let open = match specification.decide_part(history, part) {
            // A guess, or a mistake of a monitor, does not replay: the search decides.
            Decision::Linearizable(order) => {
                let is_order = replay_part(specification, history, part, &order).is_ok();
                found.orders.extend(is_order.then_some(order));
                (!is_order).then_some(Beyond::Guess)
            }
            Decision::Violation(proof) => {
                let checked = specification.check_proof(history, part, &proof);
                if checked.is_ok() {
                    found.proof = Some(proof);
                    return found;
                }
                debug_assert!(false, "{checked:?}: {proof:?}");
                Some(Beyond::Guess)
            }
            Decision::Beyond(beyond) => Some(beyond),
        };
        found.open.push(open);
    }
    found
}

/// Configurations that a search of one of several parts may enter at its first turn, in addition
/// to one for each operation.
const FIRST_TURN: u64 = 1 << 12;

/// How much more each turn allows than the one before: what is searched again is a small share.
const GROWTH: u64 = 8;

/// Decides what rules left open by search.
pub(super) fn decide<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    rules: ByRules,
    budget: &mut Budget<'_>,
) -> Outcome {
    if let Some(proof) = rules.proof {
        return Outcome::NotLinearizable { reason: Reason::Rule(proof), states: 0 };
    }
    let is_open = |id: u32| rules.parts.is_empty() || rules.beyond(id).is_some();
    let problems = if rules.parts.is_empty() || rules.open.iter().any(Option::is_some) {
        problem::by_part(specification, history, is_open)
    } else {
        Vec::new()
    };
    search(specification, history, problems, rules, budget)
}

/// Searches the parts in turns. A search that has not ended within its turn begins anew at
/// the next one, which is longer: it holds no memory meanwhile, and no part waits for the end of
/// another that is harder.
pub(super) fn search<S: Specification>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    problems: Vec<Problem<'_, S::Input, S::Output>>,
    mut rules: ByRules,
    budget: &mut Budget<'_>,
) -> Outcome {
    // The first configuration of those that a search enters after rules.
    let mut states = u64::from(!rules.parts.is_empty() && !problems.is_empty());
    let furthest = |Stuck { due, events, order }| {
        let due = OperationId::from_index(due as usize);
        DeepestPrefix { events, due, order: Linearization { order: named(&order) } }
    };
    let exhausted = |rules: &ByRules, exhausted, stuck: Stuck, states| Outcome::Exhausted {
        exhausted,
        beyond: rules.beyond(stuck.due).cloned().unwrap_or(Beyond::Object),
        furthest: furthest(stuck),
        states,
    };
    let mut too_large: Option<Stuck> = None;
    let mut turn = FIRST_TURN;
    let mut open = problems;
    while !open.is_empty() {
        let is_last = open.len() == 1;
        let mut left = Vec::new();
        for problem in open {
            // One that goes straight on enters as many as it has operations.
            let most =
                if is_last { u64::MAX } else { turn.saturating_add(problem.items.len() as u64) };
            match search::find(specification, problem, most, budget, &mut states) {
                search::Ending::Found(order) => rules.orders.push(named(&order)),
                search::Ending::None(stuck) => {
                    let reason = Reason::Searched(furthest(stuck));
                    return Outcome::NotLinearizable { reason, states };
                }
                search::Ending::Interrupted(problem) => left.push(problem),
                search::Ending::Exhausted(Exhausted::Memory, stuck) => {
                    too_large.get_or_insert(stuck);
                }
                search::Ending::Exhausted(which, stuck) => {
                    return exhausted(&rules, which, stuck, states);
                }
            }
        }
        open = left;
        turn = turn.saturating_mul(GROWTH);
    }
    match too_large {
        Some(stuck) => exhausted(&rules, Exhausted::Memory, stuck, states),
        None => Outcome::Linearizable { linearization: merge(history, rules.orders), states },
    }
}

fn named(order: &[u32]) -> Vec<OperationId> {
    order.iter().map(|id| OperationId::from_index(*id as usize)).collect()
}

/// One order from those of the parts. Each operation is given a point in time
/// within its interval, as early as its part's order allows; where operation A
/// precedes B, A's point, some invocation before A's response, comes before B's.
fn merge<I, O>(history: &History<I, O>, mut orders: Vec<Vec<OperationId>>) -> Linearization {
    if orders.len() == 1 {
        return Linearization { order: orders.swap_remove(0) };
    }
    let mut points: Vec<(usize, OperationId)> = Vec::new();
    for order in orders {
        let mut point = 0;
        for id in order {
            point = point.max(history.operations()[id.index()].invocation);
            points.push((point, id));
        }
    }
    points.sort_by_key(|(point, _)| *point);
    Linearization { order: points.into_iter().map(|(_, id)| id).collect() }
}
