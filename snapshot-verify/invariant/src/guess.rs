//! Parts of a proof without any hint: all is kept, and what is optional is tried.
//!
//! To keep more is always right, and to show operations late or loops loosely is tried where it
//! fits. What an analysis of the program would leave out is in the views, so there are more of them; a
//! proof needs no more than that they are few enough.

use snapshot_language::program::{Program, Type};

use crate::byte::{I, J};
use crate::claim::{Aim, Ghosts, Obligation};
use crate::layout::{Layout, may_fail};
use crate::write::Part;

/// The ways to a proof, each with all of its parts, in the order in which they are tried.
pub fn guesses(program: &Program) -> Vec<Vec<Part>> {
    let faults = may_fail(program).then_some(Aim::Faults);
    let of = |ghosts, aims: &[Aim], is_loose| -> Option<Vec<Part>> {
        let all = faults.iter().chain(aims);
        all.map(|aim| part(program, Obligation { ghosts, aim: *aim }, is_loose)).collect()
    };
    let mut ways: Vec<Vec<Part>> = Vec::new();
    for is_loose in [true, false] {
        ways.extend(of(Ghosts::Scans, &[Aim::Observer], is_loose));
        if has_views(program) {
            ways.extend(of(Ghosts::Calls, &[Aim::Nesting, Aim::Observer], is_loose));
        }
    }
    for way in &mut ways {
        let nested = way.iter().any(|part| part.obligation.aim == Aim::Nesting);
        let direct = way.iter_mut().filter(|part| part.obligation.aim == Aim::Observer);
        direct.for_each(|part| part.nested = nested);
    }
    ways.dedup();
    ways
}

/// Whether a view lies in shared memory, so that a scan may return that of another.
fn has_views(program: &Program) -> bool {
    let is_view = |content: &Type| *content == Type::view();
    program.shared.iter().any(|variable| variable.content.any(&is_view))
}

/// A part that keeps all; `None`: the program has no such ghost scans, or a construct that no list is made for.
fn part(program: &Program, obligation: Obligation, is_loose: bool) -> Option<Part> {
    let layout = Layout::new(program, obligation).ok()?;
    let loops = |owner: u8| {
        let code = layout.code.iter().enumerate();
        code.flat_map(move |(procedure, code)| {
            (0..code.fors).map(move |number| (owner, procedure, number))
        })
    };
    let loose = if is_loose { loops(I).chain(loops(J)).collect() } else { Vec::new() };
    Some(Part {
        obligation,
        kept: layout.names().map(str::to_owned).collect(),
        point: None,
        round: None,
        late: true,
        loose,
        decided: Vec::new(),
        alike: true,
        names: Vec::new(),
        nested: false,
        classes: Vec::new(),
    })
}
