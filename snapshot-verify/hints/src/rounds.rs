//! Ghost scans that several processes make together (G2): a round begins with a write to a
//! shared variable, and ends with a write of a view to one.
//!
//! Any choice of these two is sound. A round that ends spans from the latest begin to its end: an
//! interval of the execution, with the vector that is written. An earlier begin is superseded: each
//! round has at most one end.

use snapshot_invariant::claim::{Ghosts, Obligation, Property};
use snapshot_language::deadline::Deadline;
use snapshot_language::program::Program;

use super::compile::compile;
use super::model::{Act, Cell, Goal, Unsupported};
use super::shape::{I, J, Scalar, Shape};

/// Returns the bytes of a cell that belong to views: the tokens, or the entries at i and j.
pub fn views(shape: &Shape) -> Vec<usize> {
    let (mut views, mut at) = (Vec::new(), 0);
    shape.each(&mut Vec::new(), &mut |leaf, path| {
        let is_shown = path.last().is_none_or(|place| matches!(*place, I | J));
        if leaf.scalar == Scalar::View && is_shown {
            views.push(at);
        }
        at += 1;
    });
    views
}

/// Returns the guesses at rounds, by the writes to shared variables that are not arrays: numbers of
/// instructions.
///
/// # Errors
/// If the program has unsupported constructs, or the deadline passes.
pub fn candidates(program: &Program, deadline: Deadline<'_>) -> Result<Vec<[u16; 2]>, Unsupported> {
    let obligation = Obligation { ghosts: Ghosts::Scans, property: Property::Nesting };
    let model = compile(program, Goal::new(obligation), deadline)?;
    let writes = model.code.iter().enumerate().filter_map(|(at, one)| match &one.act {
        Act::Write(cell, _) | Act::StoreConditional(cell, ..) if cell.indices.is_empty() => {
            Some((u16::try_from(at).ok()?, cell))
        }
        _ => None,
    });
    let writes: Vec<(u16, &Cell)> = writes.collect();
    let ends = writes.iter().filter(|(_, cell)| views(&cell.shape).len() == 1);
    let guesses = ends.flat_map(|(end, _)| {
        let begins = writes.iter().filter(move |(begin, _)| begin != end);
        begins.map(|(begin, _)| [*begin, *end])
    });
    Ok(guesses.collect())
}
