//! The first event at which an execution is not correct.

use super::{Answer, Cost, Evidence, ObjectKind};
use crate::OperationId;
use crate::generic::History;
use crate::search::Budget;
use crate::synchronisation::Violation;

/// The event that completes a violation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Completion {
    /// Number of the event.
    pub event: usize,
    /// True if the execution before it is known to be correct; else the violation is complete at
    /// that event or before.
    pub is_first: bool,
}

/// Decides an execution without any search: `None` if that is not possible.
fn by_rules<K, I, O>(
    kind: &K,
    history: &History<I, O>,
    proceed: &mut dyn FnMut() -> bool,
) -> Option<Answer<(), Violation, ()>>
where
    K: ObjectKind<History = History<I, O>, Violation = Violation>,
{
    let mut budget = Budget { memory: 0, proceed };
    match kind.judge(history, &mut budget).answer {
        Answer::Correct(_) => Some(Answer::Correct(())),
        Answer::Violation(violation) => Some(Answer::Violation(violation)),
        Answer::Unknown(_) | Answer::Disputed(_) => None,
    }
}

/// Returns the violation that rules find in an execution, if it has one: the judge of an execution
/// that is being made, at each of its prefixes. `None` also if rules do not decide.
pub fn alarm<K, I, O>(kind: &K, history: &History<I, O>) -> Option<Violation>
where
    K: ObjectKind<History = History<I, O>, Violation = Violation>,
{
    if K::COST == Cost::Search {
        return None;
    }
    match by_rules(kind, history, &mut || true)? {
        Answer::Violation(violation) => Some(violation),
        _ => None,
    }
}

/// Returns the event that completes a violation. O(log n) decisions of prefixes by rules; one, if
/// only the last operation of the violation is wrong. The first event is found if rules decide all
/// of these prefixes.
pub fn completion<K, I: Clone, O: Clone>(
    kind: &K,
    history: &History<I, O>,
    violation: &Violation,
    budget: &mut Budget<'_>,
) -> Completion
where
    K: ObjectKind<History = History<I, O>, Violation = Violation>,
{
    let response = |id: OperationId| history.operations()[id.index()].response();
    let end = |violation: &Violation| violation.operations().into_iter().filter_map(response).max();
    // Numbers of events: of a correct prefix, and of a wrong one.
    let (mut right, mut wrong) = (0, history.len());
    let mut guesses: Vec<usize> = end(violation).map_or_else(Vec::new, |end| vec![end, end + 1]);
    let mut left = GUESSES;
    while right + 1 < wrong {
        let guess = guesses.pop().filter(|guess| (right + 1..wrong).contains(guess));
        let next = guess.unwrap_or(right + (wrong - right) / 2);
        let answer = match K::COST {
            Cost::Search => None,
            _ => by_rules(kind, &history.prefix(next), budget.proceed),
        };
        match answer {
            Some(Answer::Correct(())) => right = next,
            Some(Answer::Violation(earlier)) => {
                wrong = next;
                if left > 0 {
                    left -= 1;
                    guesses.extend(end(&earlier).into_iter().flat_map(|end| [end, end + 1]));
                }
            }
            _ => return Completion { event: wrong - 1, is_first: false },
        }
    }
    Completion { event: wrong - 1, is_first: true }
}

/// Number of prefixes that end where a violation names its last response, before all others are
/// halved.
const GUESSES: u32 = 3;
