//! Programs whose executions cannot be projected: the interpreter does not show, or views do not
//! know, where a process pauses.

use snapshot_language::program::{Access, Expression, ExpressionKind, Place, PrivateId, Root};
use snapshot_semantics::interpret::code::Instruction;

use crate::claim::Ghosts;
use crate::layout::Layout;

/// Returns why executions of a program are not projected, if they are not.
pub fn unfit(layout: &Layout<'_>) -> Option<&'static str> {
    let point = layout.point.map(|at| (layout.program.update().0 as usize, at));
    if point.is_some_and(|point| is_hidden(layout, point)) {
        return Some("an atomic block or a CAS at which an update takes effect");
    }
    if layout.round.into_iter().flatten().any(|end| is_hidden(layout, end)) {
        return Some("an atomic block or a CAS at which a round begins or ends");
    }
    if !knows_indices(layout) {
        return Some("an index that views do not know");
    }
    let is_late = layout.late && layout.obligation.ghosts == Ghosts::Calls;
    (is_late && stores_before(layout)).then_some("private variables that views do not keep")
}

/// Returns true if an operation may store in a private variable that views do not keep, and then
/// begin a ghost scan: an execution decides by all of them whether the operation is shown there, and
/// views by those that they keep.
fn stores_before(layout: &Layout<'_>) -> bool {
    let is_kept = |variable: PrivateId| {
        let room = layout.private[variable.0 as usize];
        let mut bytes = room.base..room.base + room.size;
        bytes.all(|at| layout.blocks.iter().all(|block| layout.slots[block + at].kept))
    };
    let stores = |place: &Place| match place.root {
        Root::Private(id) => !is_kept(id),
        Root::Local(_) => false,
    };
    layout.code.iter().zip(&layout.ghostly).filter(|(_, ghostly)| !**ghostly).any(|(code, _)| {
        let (mut has_stored, mut has_called, mut has_loop) = (false, false, false);
        let mut may_be = false;
        for (at, one) in code.instructions.iter().enumerate() {
            match one {
                Instruction::Assign { place, .. } => has_stored |= stores(place),
                Instruction::Access { into, .. } => has_stored |= into.is_some_and(stores),
                Instruction::Call { procedure, into, .. } => {
                    let is_ghost = layout.is_ghost[procedure.0 as usize];
                    may_be |= is_ghost && has_stored;
                    has_called |= is_ghost;
                    // Another procedure may store, or begin a ghost scan.
                    has_stored |= !is_ghost || into.is_some_and(stores);
                }
                Instruction::BeginFor(_) => has_loop = true,
                Instruction::Jump { target } | Instruction::Unless { target, .. } => {
                    has_loop |= *target <= at;
                }
                _ => {}
            }
        }
        may_be || (has_loop && has_called && has_stored)
    })
}

/// Returns true if the interpreter's steps do not tell whether an instruction writes.
fn is_hidden(layout: &Layout<'_>, (procedure, at): (usize, usize)) -> bool {
    let code = &layout.code[procedure].instructions;
    let is_swap =
        matches!(code[at], Instruction::Access { access: Access::CompareAndSwap(..), .. });
    // Each exit of a block has an end, so an instruction between two blocks counts, too.
    let begins = code[..at].iter().any(|one| matches!(one, Instruction::BeginAtomic { .. }));
    let ends = code[at..].iter().any(|one| matches!(one, Instruction::EndAtomic));
    is_swap || begins && ends
}

/// Returns true if all views know the process of each kept cell that is accessed: an execution
/// always knows it, so that it may pause elsewhere.
fn knows_indices(layout: &Layout<'_>) -> bool {
    let is_kept = |access: &Access| {
        let mut cells = layout.cells[access.place().variable.0 as usize].iter();
        cells.any(|(_, room)| {
            layout.slots[room.base..room.base + room.size].iter().any(|slot| slot.kept)
        })
    };
    let is_known = |procedure: usize, access: &Access| {
        let over = &layout.program.shared(access.place().variable).dimensions;
        let mut indices = access.place().indices.iter().zip(over);
        indices.all(|(index, over)| !over.is_of_names() || is_plain(layout, procedure, index))
    };
    layout.code.iter().enumerate().all(|(procedure, code)| {
        code.instructions.iter().enumerate().all(|(at, instruction)| match instruction {
            Instruction::Access { access, .. } => {
                let is_named = layout.uses[procedure][at].is_some();
                is_named || is_known(procedure, access) || !is_kept(access)
            }
            _ => true,
        })
    })
}

/// Returns true for the process itself, and for a local that no view forgets.
fn is_plain(layout: &Layout<'_>, procedure: usize, index: &Expression) -> bool {
    match &index.kind {
        ExpressionKind::Convert(inner) => is_plain(layout, procedure, inner),
        ExpressionKind::Me => true,
        ExpressionKind::Local(id) => !layout.may_forget(procedure, id.0 as usize),
        _ => false,
    }
}
