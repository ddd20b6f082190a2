//! A proof for every n as conditions in SMT-LIB, over a sort of processes without any bound.
//!
//! The views of a certificate make an invariant on i, j and any third process. The file defines it,
//! and asks, for each access of the program and each way to the next one, for a state in which the
//! invariant holds and after the step does not, or the observer accepts. If each answer is `unsat`,
//! the invariant is inductive, and the observer refuses no simple history of any n. The steps are
//! those of the interpreter (`execute`), on whole states: they use neither views, nor the kept
//! scalars, nor unknown values. So a solver checks the theorem that docs/theory/every-n.md proves on
//! paper: joined views of one state cover all processes.
//!
//! Facts about all processes are instantiated in the file (the invariant for the moving process and
//! for the process it is asked about; orders and conditions of loops for these and the processes
//! that a step refers to): the answers need no quantifiers. With fewer assumptions a condition is
//! only stronger, so `unsat` is conclusive; `sat` may only mean that there is no such proof.
//!
//! On paper remain Theorem 5 of the paper, and the fact that operations may be shrunk to their
//! accesses.

mod diagram;
mod execute;
mod expression;
mod goals;
mod observed;
mod rows;
mod store;
mod term;

use std::io;
use std::rc::Rc;

use snapshot_language::program::{Interface, Program, independence};
use snapshot_semantics::interpret::code::{Instruction, compile};
use thiserror::Error;

use crate::claim::{Ghosts, Obligation, Property};
use crate::layout::{Unsupported, may_fail};
use crate::search::{Obstacle, ViewSets, close};
use crate::step::InjectedFault;
use crate::write::{Part, lay_out};
use crate::{Budget, Unfinished};

/// Reason for the lack of conditions.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SmtError {
    /// Simple executions are not representative.
    #[error("the program looks at values, so its simple executions do not speak for the others")]
    LooksAtValues,
    /// Unsupported construct.
    #[error("conditions for solvers do not know {}", .0.0)]
    Unsupported(Unsupported),
    #[error("{} ran out", .0.name())]
    Unfinished(Unfinished),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Summary of the written file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Conditions {
    /// Questions to the solver; each answer must be `unsat`.
    pub count: usize,
    /// Views that make up the invariant.
    pub views: usize,
}

/// Writes the conditions of the proof that keeps these names. For a wrong program, or if too little
/// is kept, one of the answers is `sat`.
///
/// # Errors
/// If the program has constructs that are not modelled, or the budget runs out.
pub fn conditions(
    program: &Program,
    kept: &[String],
    output: &mut dyn io::Write,
    budget: &mut Budget<'_>,
) -> Result<Conditions, SmtError> {
    conditions_without(program, kept, None, output, budget)
}

/// As [`conditions`], without one view of the invariant, by its number among all: for tests.
///
/// # Errors
/// As [`conditions`].
#[doc(hidden)]
pub fn conditions_without(
    program: &Program,
    kept: &[String],
    left_out: Option<usize>,
    output: &mut dyn io::Write,
    budget: &mut Budget<'_>,
) -> Result<Conditions, SmtError> {
    if !matches!(program.interface, Interface::Snapshot { .. }) {
        return Err(SmtError::Unsupported(Unsupported("objects other than the snapshot")));
    }
    if independence::check(program).is_err() {
        return Err(SmtError::LooksAtValues);
    }
    if may_fail(program) {
        return Err(SmtError::Unsupported(Unsupported("operations that may go wrong")));
    }
    let is_call = |instruction: &Instruction<'_>| matches!(instruction, Instruction::Call { .. });
    if compile(program).iter().any(|code| code.instructions.iter().any(is_call)) {
        return Err(SmtError::Unsupported(Unsupported("calls")));
    }
    let obligation = Obligation { ghosts: Ghosts::Scans, property: Property::Observer };
    let (kept, classes) = (kept.to_vec(), Vec::new());
    let part = Part {
        obligation,
        kept,
        point: None,
        nested: false,
        round: None,
        late: false,
        loose: Vec::new(),
        decided: Vec::new(),
        alike: false,
        names: Vec::new(),
        clock: None,
        windows: Vec::new(),
        classes,
    };
    let mut layout = lay_out(program, &part).map_err(SmtError::Unsupported)?;
    layout.stops_always = true;
    // The solver must find the failures.
    let planted = InjectedFault { no_failures: true, ..InjectedFault::default() };
    let mut family = close(&layout, planted, budget).map_err(|obstacle| match obstacle {
        Obstacle::Failure(_) | Obstacle::Views => {
            SmtError::Unsupported(Unsupported("a version or a view that is not definite"))
        }
        Obstacle::Unfinished(unfinished) => SmtError::Unfinished(unfinished),
    })?;
    if let Some(number) = left_out {
        leave_out(&mut family, number);
    }
    let goals = goals::Goals::new(&layout, &family).map_err(SmtError::Unsupported)?;
    let count = goals.write(output)?;
    Ok(Conditions { count, views: family.len() })
}

fn leave_out(family: &mut ViewSets, number: usize) {
    let mut before = 0;
    for views in &mut family.views {
        let mut sorted: Vec<Box<[u8]>> = views.iter().cloned().collect();
        sorted.sort_unstable();
        if let Some(view) = number.checked_sub(before).and_then(|at| sorted.get(at)) {
            Rc::make_mut(views).remove(view);
            return;
        }
        before += views.len();
    }
}
