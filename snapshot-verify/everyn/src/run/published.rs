//! Rounds that are ghost scans: the specification's bits of the open round, and the judgement of
//! its vector at its publication.
//!
//! Invariant: the byte of the round is in the centre for vectors, and relative to t for nesting:
//! fresh if the latest begin came after the begin of t's open scan.

use snapshot_core::observer::Must;

use super::ghosts::observer;
use super::memory::Located;
use super::{Branch, Failure, Run};
use crate::model::{Ghosts, Instruction, ROUND, Round, SPECIFICATION, at};
use crate::rounds::views;
use crate::shape::{BASE, BORROWED, FRESH, Mode, OLD, T};

impl Run<'_> {
    /// Returns true if ghost scans are rounds.
    pub(super) fn by_rounds(&self) -> bool {
        matches!(self.model.obligation.ghosts, Ghosts::Rounds { .. })
    }

    /// Applies a write to the specification.
    pub(super) fn written(
        &self,
        branch: &mut Branch,
        instruction: &Instruction,
        located: &Located,
        bytes: &[u8],
    ) {
        if instruction.point {
            self.pass_point(&mut branch.state);
        }
        match (instruction.round, self.mode()) {
            (None, _) => {}
            (Some(Round::Begin), Mode::Nested) => {
                let tracked = self.model.blocks[usize::from(T)];
                let is_within = branch.state[tracked + at::GHOST] != 0;
                branch.state[ROUND] = if is_within { FRESH } else { OLD };
                branch.begins_round = true;
                // Views of an earlier round, published in the same step, count as old.
                for at in std::mem::take(&mut branch.of_round) {
                    super::note(&mut branch.tokens, at);
                }
            }
            (Some(Round::Begin), Mode::Direct) => {
                let bits = observer(branch.state[SPECIFICATION]).invoke_scan().bits();
                branch.state[ROUND] = bits + 1;
            }
            (Some(Round::End), Mode::Nested) => self.end_nested(branch, instruction, located),
            (Some(Round::End), Mode::Direct) => self.end_round(branch, instruction, bytes),
        }
    }

    /// Ends a round for nesting: any published view has the vector of the round, and vectors judge
    /// it.
    fn end_nested(&self, branch: &mut Branch, instruction: &Instruction, located: &Located) {
        let (Located::At(begin, _), Some(cell)) = (located, instruction.act.cell()) else { return };
        for offset in views(&cell.shape) {
            let at = begin + offset;
            if self.model.slots[at].kept && !branch.begins_round {
                branch.state[at] = branch.state[ROUND];
                branch.tokens.retain(|token| *token != at);
                super::note(&mut branch.of_round, at);
            }
        }
    }

    /// Ends a round: its vector must be right for a scan since the begin of the round.
    fn end_round(&self, branch: &mut Branch, instruction: &Instruction, bytes: &[u8]) {
        let span = instruction.span;
        let Some(cell) = instruction.act.cell() else { return };
        let entries: Vec<u8> = views(&cell.shape).into_iter().map(|at| bytes[at]).collect();
        let [at_i, at_j] = entries[..] else { return };
        if at_i == BORROWED || at_j == BORROWED || branch.state[ROUND] == 0 {
            branch.failure = Some(Failure::Mixed(span));
            return;
        }
        let is_known = |byte: u8| byte == BASE || byte == BASE + 1;
        let entries = [at_i == BASE + 1, at_j == BASE + 1];
        if !is_known(at_i) || !is_known(at_j) {
            branch.failure = Some(Failure::Vector { entries, span });
            return;
        }
        let must = Must::from_bits(branch.state[ROUND] - 1).unwrap_or(Must::NOTHING);
        let now = observer(branch.state[SPECIFICATION]);
        match now.respond_scan(must, entries[0], entries[1]) {
            Ok(next) => {
                branch.state[SPECIFICATION] = next.bits();
                branch.state[ROUND] = 0;
            }
            Err(_) => branch.failure = Some(Failure::Vector { entries, span }),
        }
    }
}
