//! From a checked program to a [`Model`] of the prover.

use snapshot_language::Span;
use snapshot_language::deadline::Deadline;
use snapshot_language::program::Program;

pub use snapshot_hints::compile::over;

use crate::model::{Act, Ghosts, Model, Obligation, Part, Unsupported};
use crate::shape::{I, J, T};

/// Prepares a program.
///
/// # Errors
/// If it has unsupported constructs, or no ghost scans of this kind.
pub fn compile(program: &Program, obligation: Obligation) -> Result<Model, Unsupported> {
    compile_within(program, obligation, Deadline::NEVER)
}

/// As [`compile`], within a deadline.
///
/// # Errors
/// As [`compile`], or if the deadline passes.
pub fn compile_within(
    program: &Program,
    obligation: Obligation,
    deadline: Deadline<'_>,
) -> Result<Model, Unsupported> {
    let base = snapshot_hints::compile::compile_within(program, obligation, deadline)?;
    let mut model = Model::from(base);
    crate::run::pauses::fill_places(&mut model);
    model.passes = [I, J, T].map(|me| may_pass(&model, me));
    model.returns = crate::returns::returns(&model, deadline);
    model.lost = crate::lost::lost(&model, deadline);
    model.faint = crate::faint::faint(&model, &crate::prove::crowds(&model), deadline);
    let construct = "programs that are not prepared in time";
    deadline.check().map_err(|_| Unsupported { span: Span::default(), construct })?;
    Ok(model)
}

/// Returns true if the ghost scans of a process may be skipped.
fn may_pass(model: &Model, me: u8) -> bool {
    let is_judged = match model.obligation.part {
        Part::By(member) => member == me,
        _ => true,
    };
    let mut ghostly = model.code.iter().filter(|one| model.ghostly[one.procedure.0 as usize]);
    let accesses = ghostly.any(|one| match &one.act {
        Act::Atomic => one.pause[usize::from(me)],
        act => act.cell().is_some() && one.pause[usize::from(me)],
    });
    let by_calls = model.obligation.ghosts == Ghosts::Calls;
    model.delays && by_calls && !is_judged && !accesses
}
