//! Operations that are shown late.
//!
//! Until its operation makes its first access to something that is kept, outside of its ghost
//! scans, a process counts as idle: what it has done so far influences no other process, and
//! is done again, whole, with that access. A ghost scan of such an operation begins and ends
//! as if an idle process had called it. The invocation of the operation is that much later,
//! which only adds precedence.

use snapshot_language::program::ProcedureId;

use super::{Branch, Run, pc};
use crate::model::{Act, Target, Unsupported, at};
use crate::shape::{BASE, Bytes, DEAD, OTHER, SOME, Scalar, T, UNKNOWN};

/// What an operation has stored so far.
#[derive(Default)]
struct Stored {
    /// Whether a private variable is not what it was.
    any: bool,
    /// A private variable of which it is not known what it is.
    unknown: Option<usize>,
}

/// Where a ghost scan returns to whose operation counts as not begun.
pub const NOT_BEGUN: u16 = u16::MAX;

impl Run<'_> {
    /// What an idle process may do, and whether it opens a ghost scan. Those of processes
    /// that are not followed are passed over, with unknown results.
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
                        // What it has stored shows that it has begun.
                        let mut shown = Vec::new();
                        self.emit(branch, &mut shown)?;
                        out.extend(shown.into_iter().map(|branch| (branch, false)));
                        continue;
                    }
                    if is_followed {
                        // Nothing that is judged here can stop it.
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

    /// Whether the calls of a procedure are ghost scans that are shown.
    pub(super) fn is_shown(&self, procedure: ProcedureId) -> bool {
        self.model.is_ghost[procedure.0 as usize] && !self.is_passed(procedure)
    }

    /// Whether the calls of a procedure are ghost scans that are passed over.
    pub(super) fn is_passed(&self, procedure: ProcedureId) -> bool {
        self.model.is_ghost[procedure.0 as usize] && self.model.passes[usize::from(self.me)]
    }

    /// Passes over a ghost scan: its result is unknown.
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

    /// What has become of the private variables. Of i and j all views must say the same: so that is
    /// what the centre has of them, and what a view does not know is any of its values.
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

    /// Whether a variable of i or j names a process that is t of one view and any other of another:
    /// views do not agree on whether what it named before was the same.
    fn names_another(&self, at: usize, state: &[u8]) -> bool {
        let leaf = self.model.slots[at].leaf;
        let is_name = leaf.is_some_and(|leaf| leaf.scalar == Scalar::Member);
        is_name && [BASE + T, BASE + OTHER].contains(&state[at])
    }

    /// The end of a ghost scan whose operation counts as not begun.
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
