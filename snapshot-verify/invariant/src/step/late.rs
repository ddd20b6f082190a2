//! Operations that are shown late.
//!
//! Until its first access to a kept variable, outside of its ghost scans, an operation reads and
//! leaves nothing that is kept: it counts as not begun. Its earlier computation is done as a whole
//! with that access, from the begin of the operation, and all possible results of it are among the
//! branches: reads return anything, ghost scans return anything. Two cases could differ by then,
//! and are excluded. Private variables: the steps between a store to one and a ghost scan are
//! shown; and [`may_be`] refuses ghost scans that store in them. Values: an update may write any
//! value that it may have chosen before.
//!
//! A ghost scan of such an operation begins and ends as if an idle process had called it. The
//! invocation of the operation is delayed accordingly, which only adds precedence.
//!
//! A ghost scan that is not judged is *passed over* if it only reads, into locals that are not kept,
//! and writes cells of its own that no view keeps ([`passes`]): no view shows its steps, it leaves nothing but its result,
//! which is unknown, and its process stands at the next pause behind it. This is one more
//! computation without a pause.

use rustc_hash::FxHashSet;
use snapshot_language::program::{Access, CellPlace, Expression, ExpressionKind, Place, Root};
use snapshot_semantics::interpret::code::{Code, Instruction};

use super::run_local::Ways;
use super::{Outcome, Run, Write};
use crate::byte::{ANY, PLACES, Row, T};
use crate::claim::{Ghosts, Property};
use crate::layout::{Frame, Index, Layout, at, op};

/// Returns true if operations can be shown late: their views are assembled from values, and no
/// ghost scan stores in a private variable.
pub fn may_be(layout: &Layout<'_>) -> bool {
    let stores = |place: &Place| matches!(place.root, Root::Private(_));
    let is_store = |instruction: &Instruction<'_>| match instruction {
        Instruction::Assign { place, .. } => stores(place),
        Instruction::Access { into, .. } | Instruction::Call { into, .. } => {
            into.is_some_and(stores)
        }
        _ => false,
    };
    let inside = layout.code.iter().zip(&layout.ghostly).filter(|(_, ghostly)| **ghostly);
    let mut inside = inside.flat_map(|(code, _): (&Code<'_>, _)| &code.instructions);
    !layout.tokens()
        && layout.code.len() < usize::from(u8::MAX - op::GHOSTS)
        && !inside.any(is_store)
}

/// Returns true if the ghost scans of a process are passed over, where operations are shown late.
pub fn passes(layout: &Layout<'_>, me: u8) -> bool {
    let block = layout.blocks[usize::from(me)];
    let inside = layout.code.iter().zip(&layout.frames).zip(&layout.ghostly);
    let inside = inside.filter(|(_, ghostly)| **ghostly).map(|(inside, _)| inside);
    let is_silent = |instruction: &Instruction<'_>, frame: &Frame| match instruction {
        Instruction::Access { access: Access::Read(cell), into, .. } => {
            let room = into.map(|into| match into.root {
                Root::Local(local) => frame.locals[local.0 as usize],
                Root::Private(private) => layout.private[private.0 as usize],
            });
            let mut bytes = room.into_iter().flat_map(|room| room.base..room.base + room.size);
            !layout.is_clock(cell.variable) && !bytes.any(|at| layout.slots[block + at].kept)
        }
        Instruction::Access { access: Access::Write(cell, _), .. } => {
            !layout.is_clock(cell.variable) && misses(layout, me, cell)
        }
        Instruction::Access { .. }
        | Instruction::New { .. }
        | Instruction::Choose { .. }
        | Instruction::Together { .. }
        | Instruction::Free { .. }
        | Instruction::BeginAtomic { .. } => false,
        _ => true,
    };
    layout.obligation.ghosts == Ghosts::Calls
        && matches!(layout.obligation.property, Property::Memory(judged) if judged != me)
        && inside.into_iter().all(|(code, frame): (&Code<'_>, &Frame)| {
            code.instructions.iter().all(|one| is_silent(one, frame))
        })
}

/// Returns true if no kept cell, and no link, is among those that a process may write here: all have
/// another process where it writes at its own index.
fn misses(layout: &Layout<'_>, me: u8, cell: &CellPlace) -> bool {
    let number = cell.variable.0 as usize;
    let is_mine = |(index, at): (&Expression, &Index)| match at {
        Index::Member(member) => *member == me || !is_me(index),
        _ => true,
    };
    let mut cells = layout.cells[number].iter();
    layout.links[number].is_none()
        && !cells.any(|(path, room)| {
            let mut slots = layout.slots[room.base..room.base + room.size].iter();
            slots.any(|slot| slot.kept) && cell.indices.iter().zip(path).all(is_mine)
        })
}

/// Returns true if an index is the process itself.
fn is_me(index: &Expression) -> bool {
    match &index.kind {
        ExpressionKind::Convert(inner) => is_me(inner),
        kind => matches!(kind, ExpressionKind::Me),
    }
}

impl Run<'_, '_> {
    /// Makes the first visible step of an idle process: the first access of an operation, the whole
    /// operation if it has no such access, or the begin of a ghost scan.
    pub(super) fn begin_late(&self, idle: &Outcome, out: &mut Vec<Outcome>) {
        let mut waiting = Vec::new();
        for (operation, value) in self.operations(&idle.state) {
            let mut begun = idle.clone();
            self.invoke(&mut begun, operation, value);
            match self.is_open(&begun) {
                true => self.run_local(begun, false, out),
                false => waiting.push(begun),
            }
        }
        let mut seen: FxHashSet<Outcome> = FxHashSet::default();
        let mut ways = Ways::default();
        while let Some(mut branch) = waiting.pop() {
            if !self.goes_on(&mut ways, &branch, waiting.len(), out) {
                return;
            }
            if branch.failure.is_some() {
                out.push(branch);
                continue;
            }
            let Some((procedure, here)) = self.place(&branch.state) else {
                self.emit(branch, out);
                continue;
            };
            if !seen.insert(branch.clone()) {
                continue;
            }
            let instruction = self.layout.code[procedure].instructions[here];
            let pauses = match instruction {
                Instruction::Access { access, into, .. } => {
                    !self.is_silent(&mut branch, procedure, access, into)
                }
                Instruction::BeginAtomic { .. } => true,
                _ => false,
            };
            match instruction {
                // Other processes see the steps of a scan by i or j through views that follow it.
                _ if pauses && self.me != T && self.is_inside(&branch.state) => {
                    self.emit(branch, out);
                }
                _ if pauses && self.planted.late_is_unseen => {}
                _ if pauses => self.step(branch, procedure, instruction, out),
                Instruction::Call { procedure: inner, arguments, .. }
                    if self.opens(&branch.state, inner.0 as usize) =>
                {
                    let inner = inner.0 as usize;
                    if branch.writes.iter().any(|write| matches!(write, Write::Private(_))) {
                        self.emit(branch, out);
                        continue;
                    }
                    let mut called = branch.clone();
                    let Some(rows) = self.arguments(&mut called, procedure, arguments) else {
                        out.push(called);
                        continue;
                    };
                    if self.is_followed() {
                        self.open_alone(idle, inner, rows, out);
                    }
                    let mut passed = branch;
                    let row = Row::from_slice(&[ANY; PLACES]);
                    self.resume(&mut passed, procedure, here, &row);
                    waiting.push(passed);
                }
                _ => self.local(branch, procedure, here, &mut waiting, out),
            }
        }
    }

    fn is_open(&self, branch: &Outcome) -> bool {
        branch.state[self.block() + at::GHOST] != 0
    }

    /// Begins a ghost scan as if an idle process had called it.
    fn open_alone(&self, idle: &Outcome, inner: usize, rows: Vec<Row>, out: &mut Vec<Outcome>) {
        let mut opened = idle.clone();
        opened.state[self.block() + at::OP] = op::GHOSTS + inner as u8;
        self.enter(&mut opened, inner, rows);
        self.open(&mut opened);
        match self.me {
            T => self.run_local(opened, false, out),
            _ => self.emit(opened, out),
        }
    }
}
