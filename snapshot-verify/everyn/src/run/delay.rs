//! Operations that are shown late.
//!
//! Until its operation makes its first access to a kept variable, outside of its ghost scans, a
//! process counts as idle: its steps so far influence no other process, and are repeated as a whole
//! with that access. A ghost scan of such an operation begins and ends as if an idle process had
//! called it. The invocation of the operation is delayed accordingly, which only adds precedence.

use snapshot_language::program::ProcedureId;

use super::{Branch, Run, pc};
use crate::model::{Act, Target, Unsupported, at};
use crate::shape::{BASE, Bytes, DEAD, OTHER, SOME, Scalar, T, UNKNOWN};

/// Changes of private variables by an operation so far.
#[derive(Default)]
struct Stored {
    /// True if a private variable has changed.
    any: bool,
    /// A private variable whose value is unknown.
    unknown: Option<usize>,
}

/// Return location of a ghost scan whose operation counts as not begun.
pub const NOT_BEGUN: u16 = u16::MAX;

impl Run<'_> {
    /// Returns the first visible steps of an idle process, each with true if it opens a ghost scan.
    /// Ghost scans of processes that are not followed are skipped, with unknown results.
    pub fn from_idle(
        &self,
        state: &[u8],
        is_followed: bool,
    ) -> Result<Vec<(Branch, bool)>, Unsupported> {
        let block = self.block();
        let mut out = Vec::new();
        let mut waiting = Vec::new();
        for (operation, procedure, argument) in self.calls(state) {
            if self.model.is_ghost[procedure.0 as usize] {
                continue;
            }
            let mut begun = state.to_vec();
            self.start(&mut begun, operation, procedure, argument);
            waiting.push(Branch::new(begun));
        }
        let mut visited = rustc_hash::FxHashSet::default();
        while let Some(mut branch) = waiting.pop() {
            if branch.failure.is_some() {
                out.push((branch, false));
                continue;
            }
            let here = pc(&branch.state, block);
            self.go_on_with(waiting.len().max(visited.len()).max(out.len()), &branch)?;
            let instruction = &self.model.code[here];
            if !visited.insert(branch.clone()) {
                continue;
            }
            match &instruction.act {
                Act::Call(procedure, arguments, into) if self.is_shown(*procedure) => {
                    let stored = self.stored_private(state, &branch.state);
                    if let Some(split) = self.split(&branch, stored.unknown) {
                        waiting.extend(split);
                        continue;
                    }
                    if stored.any {
                        // Its stores show that it has begun.
                        let mut shown = Vec::new();
                        self.emit(branch, &mut shown)?;
                        out.extend(shown.into_iter().map(|branch| (branch, false)));
                        continue;
                    }
                    if is_followed {
                        // Nothing judged here can stop it.
                        let values = self.arguments(&mut branch.state, arguments).into_iter();
                        let values = values.map(|(bytes, _)| bytes.unwrap_or_default()).collect();
                        let mut opened = state.to_vec();
                        let back = usize::from(NOT_BEGUN);
                        self.enter(&mut opened, *procedure, values, back);
                        self.open(&mut opened);
                        let mut shown = Vec::new();
                        self.emit(Branch::new(opened), &mut shown)?;
                        out.extend(shown.into_iter().map(|branch| (branch, true)));
                    }
                    self.pass_over(branch, into.as_ref(), &mut waiting);
                }
                act if (act.cell().is_some() || matches!(act, Act::Atomic))
                    && self.pauses_before(&branch.state, instruction) =>
                {
                    self.first_access(&mut branch.state);
                    let after = match &instruction.act {
                        Act::Atomic => self.atomic(vec![branch])?,
                        _ => self.access(branch, instruction)?,
                    };
                    let mut shown = Vec::new();
                    for branch in after {
                        self.settle(branch, instruction.leaves(), &mut shown)?;
                    }
                    out.extend(shown.into_iter().map(|branch| (branch, false)));
                }
                Act::Idle => out.push((branch, false)),
                _ => {
                    let mut ended = Vec::new();
                    self.local(branch, instruction, &mut waiting, &mut ended)?;
                    out.extend(ended.into_iter().map(|branch| (branch, false)));
                }
            }
        }
        Ok(out)
    }

    /// Returns true if the calls of a procedure are ghost scans that are shown.
    pub(super) fn is_shown(&self, procedure: ProcedureId) -> bool {
        self.model.is_ghost[procedure.0 as usize] && !self.is_passed(procedure)
    }

    /// Returns true if the calls of a procedure are ghost scans that are skipped.
    pub(super) fn is_passed(&self, procedure: ProcedureId) -> bool {
        self.model.is_ghost[procedure.0 as usize] && self.model.passes[usize::from(self.me)]
    }

    /// Skips a ghost scan: its result is unknown.
    pub(super) fn pass_over(
        &self,
        mut branch: Branch,
        into: Option<&Target>,
        waiting: &mut Vec<Branch>,
    ) {
        let block = self.block();
        let here = pc(&branch.state, block);
        super::set_pc(&mut branch.state, block, here + 1);
        self.forget(&mut branch.state, here + 1);
        self.lose_links(&mut branch.state, here + 1);
        match into {
            Some(target) => {
                let unknown: Bytes = std::iter::repeat_n(UNKNOWN, target.size).collect();
                self.store(branch, target, unknown, waiting);
            }
            None => waiting.push(branch),
        }
    }

    /// Returns the changes of the private variables. For i and j all views must agree: so the
    /// centre's values count, and a value unknown to a view may be any.
    fn stored_private(&self, before: &[u8], now: &[u8]) -> Stored {
        let block = self.block();
        let rooms = self.model.private.iter();
        let bytes = rooms.flat_map(|(room, _)| block + room.base..block + room.base + room.size);
        let mut stored = Stored::default();
        for at in bytes.filter(|at| self.me == T || !self.model.slots[*at].tracked) {
            stored.any |= before[at] != now[at] || (self.me != T && self.names_another(at, now));
            if self.me != T && matches!(now[at], UNKNOWN | SOME) {
                stored.unknown = Some(at);
            }
        }
        stored
    }

    /// Returns true if a variable of i or j names a process that is t in one view and any other in
    /// another: views do not agree on whether it named the same process before.
    fn names_another(&self, at: usize, state: &[u8]) -> bool {
        let leaf = self.model.slots[at].leaf;
        let is_name = leaf.is_some_and(|leaf| leaf.scalar == Scalar::Member);
        is_name && [BASE + T, BASE + OTHER].contains(&state[at])
    }

    /// Ends a ghost scan whose operation counts as not begun.
    pub(super) fn leave_not_begun(&self, state: &mut [u8]) {
        let block = self.block();
        for (procedure, frame) in self.model.frames.iter().enumerate() {
            if self.model.ghostly[procedure] {
                state[block + frame.back..block + frame.end].fill(DEAD);
            }
        }
        self.close(state);
        state[block + at::INVOKED] = 0;
        super::set_pc(state, block, 0);
    }
}
