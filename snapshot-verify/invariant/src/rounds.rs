//! Rounds that are ghost scans: a round begins with a write to one shared variable and ends with a
//! write of a view to another, by any processes.
//!
//! A round spans from the latest begin to its end: an interval of the execution with a vector,
//! which the observer judges at the end. The observer's bits of the open round are in the centre.
//! For nesting, a published view has the token of the round: fresh, if the round began after t's
//! present scan did. A scan returns such a view, and so the vector of a round within it.

use snapshot_core::observer::Must;
use snapshot_language::Span;
use snapshot_language::program::SharedId;

use crate::byte::{BASE, FRESH, OLD, Row, T};
use crate::ghosts::observer;
use crate::layout::{Layout, ROUND, Round, SPECIFICATION, at};
use crate::step::{Failure, Run};

impl Run<'_, '_> {
    /// Begins or ends a round at a write; returns why the proof fails there.
    pub(crate) fn pass_round(
        &self,
        state: &mut [u8],
        round: Round,
        variable: SharedId,
        row: &Row,
    ) -> Option<Failure> {
        let layout = self.layout;
        if layout.tokens() {
            layout.pass_nested(state, round, variable);
            return None;
        }
        let now = observer(state[SPECIFICATION]);
        if round == Round::Begin {
            state[ROUND] = now.invoke_scan().bits() + 1;
            return None;
        }
        let span = self.span(state);
        let content = &layout.program.shared(variable).content;
        let views = layout.views_of(content).unwrap_or_default();
        let known = |at: &usize| match row[*at] {
            BASE => Some(false),
            byte if byte == BASE + 1 => Some(true),
            _ => None,
        };
        let entries: Option<Vec<bool>> = views.iter().map(known).collect();
        let must = state[ROUND].checked_sub(1).and_then(Must::from_bits);
        let (Some([at_i, at_j]), Some(must)) = (entries.as_deref(), must) else {
            return Some(Failure::Vector(span));
        };
        match now.respond_scan(must, *at_i, *at_j) {
            Ok(next) => {
                state[SPECIFICATION] = next.bits();
                state[ROUND] = 0;
                None
            }
            Err(_) => Some(Failure::Vector(span)),
        }
    }

    /// Returns the location of the process in the text.
    fn span(&self, state: &[u8]) -> Span {
        let place = self.place(state);
        let span = place.and_then(|(procedure, here)| self.layout.code[procedure].statements[here]);
        span.unwrap_or_default()
    }
}

impl Layout<'_> {
    /// Begins or ends a round in the views of others and of the process itself, for nesting.
    pub fn pass_nested(&self, state: &mut [u8], round: Round, variable: SharedId) {
        match round {
            Round::Begin => {
                let is_within = state[self.blocks[usize::from(T)] + at::GHOST] != 0;
                state[ROUND] = if is_within { FRESH } else { OLD };
            }
            Round::End => {
                let content = &self.program.shared(variable).content;
                let begin = self.shared[variable.0 as usize].base;
                for at in self.views_of(content).unwrap_or_default() {
                    if self.slots[begin + at].kept {
                        state[begin + at] = state[ROUND];
                    }
                }
            }
        }
    }
}
