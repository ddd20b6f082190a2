//! Groups of one: objects whose operations take effect one at a time, as synchronisation objects.

use std::ops::RangeInclusive;

use super::{Bond, DeepestPrefix, Member, Synchronisation, Verdict, Violation};
use crate::generic::{self, History, Specification};
use crate::immediate::SetLinearization;
use crate::search::Budget;

/// An object whose operations take effect one at a time. A history is set-linearizable for it iff
/// it is linearizable for the inner object, and blocks of one are a linearization.
#[derive(Clone, Copy, Debug, Default)]
pub struct Single<S>(pub S);

impl<S: Specification> Synchronisation for Single<S> {
    type State = S::State;
    type Input = S::Input;
    type Output = S::Output;

    fn initial(&self) -> S::State {
        self.0.initial()
    }

    fn arities(&self) -> RangeInclusive<usize> {
        1..=1
    }

    fn together(&self, state: &mut S::State, group: &[Member<'_, S::Input, S::Output>]) -> Bond {
        match group {
            [(input, output)] if self.0.apply(state, input, *output) => Bond::Yes,
            _ => Bond::No,
        }
    }

    fn bytes(&self, state: &S::State) -> usize {
        self.0.bytes(state)
    }
}

/// Decides by rules and by search, part by part, whether a history is linearizable; the linearization is
/// one of blocks of one. As [`crate::generic::check`].
pub fn one_by_one<S: Specification>(
    specification: &Single<S>,
    history: &History<S::Input, S::Output>,
    budget: &mut Budget<'_>,
) -> Verdict {
    generic::check(&specification.0, history, budget).into()
}

impl From<generic::Outcome> for Verdict {
    fn from(outcome: generic::Outcome) -> Self {
        let furthest = |furthest: generic::DeepestPrefix| DeepestPrefix {
            due: Some(furthest.due),
            groups: furthest.order.iter().map(|id| vec![id]).collect(),
        };
        match outcome {
            generic::Outcome::Linearizable { linearization, .. } => {
                let blocks = linearization.iter().map(|id| [id]);
                Verdict::SetLinearizable(SetLinearization::new(blocks))
            }
            generic::Outcome::NotLinearizable { reason, .. } => Verdict::Violation(match reason {
                generic::Reason::Rule(proof) => Violation::Rule(proof),
                generic::Reason::Searched(found) => Violation::Searched(furthest(found)),
            }),
            generic::Outcome::Exhausted { exhausted, furthest: found, beyond, .. } => {
                let furthest = Some(furthest(found));
                Verdict::Unknown { exhausted, furthest, beyond: Some(beyond) }
            }
        }
    }
}
