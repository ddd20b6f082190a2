//! Which scalars are kept for an obligation, and which accesses are pauses.
//!
//! Any choice is sound: what is not kept is unknown when it is read. The choice decides
//! whether the proof succeeds, and how large it gets.

use super::model::{Act, Cell, Model};

/// Decides what is kept; fills in the pauses.
pub fn restrict(model: &mut Model) {
    for at in 0..model.code.len() {
        let pause = |process: u8| match &model.code[at].act {
            Act::Read(cell, _) | Act::Write(cell, _) | Act::Swap(cell, ..) => {
                is_kept(model, cell, process)
            }
            _ => true,
        };
        let pause = [pause(0), pause(1), pause(2)];
        model.code[at].pause = pause;
    }
}

/// Whether anything in a cell may be kept, for this process.
fn is_kept(model: &Model, cell: &Cell, process: u8) -> bool {
    let _ = process;
    model
        .slots
        .iter()
        .any(|slot| slot.kept && slot.cell.as_ref().is_some_and(|(id, _)| *id == cell.variable))
}
