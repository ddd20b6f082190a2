//! Ways to a proof: which obligations are shown together, and what each keeps.

use snapshot_invariant::byte::{I, J, T};
use snapshot_invariant::claim::{Ghosts, Obligation, Property};
use snapshot_invariant::layout::may_fail;
use snapshot_invariant::write;
use snapshot_language::deadline::Deadline;
use snapshot_language::program::{Program, Type};

use crate::compile::compile;
use crate::cursors::windows;
use crate::export;
use crate::model::{Goal, Unsupported};

/// A part of a way: what is shown, and the obligation whose analysis says what is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Step {
    pub obligation: Obligation,
    goal: Goal,
    /// True if nesting is another part of the way.
    nested: bool,
    /// The rounds of the way.
    round: Option<[u16; 2]>,
}

/// A way to a proof.
pub(crate) enum Way {
    /// All of these obligations, each with what analyses keep.
    Hinted(Vec<Step>),
    /// The same, by a guess at rounds that is not the first: with a smaller part of the views.
    Later(Vec<Step>),
    /// All of these parts, which keep everything.
    Guessed(Vec<write::Part>),
    /// Rounds of several processes, by any guess, once faults are excluded: nesting and vectors do
    /// not depend on the kind of ghost scans.
    Rounds,
}

/// Source of what a rung keeps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Hint {
    Analysis(Step),
    Guess(Box<write::Part>),
}

/// Returns the obligations that show that vectors are right, in the ways that are tried.
fn vectors(ghosts: Ghosts) -> Vec<Vec<Property>> {
    let local = [T, I, J].map(Property::Memory).to_vec();
    match ghosts {
        Ghosts::Scans => vec![vec![Property::Observer], local],
        Ghosts::Calls => vec![local, vec![Property::Observer]],
        Ghosts::Rounds => vec![vec![Property::Observer]],
    }
}

/// Returns the ways with these ghost scans, in the order in which they are tried: faults and nesting apart, with
/// few scalars, or with all that may matter to either.
pub fn ways(
    program: &Program,
    (ghosts, round): (Ghosts, Option<[u16; 2]>),
    is_whole: bool,
) -> Vec<Vec<Step>> {
    // A scan lies within itself, and can borrow only views in shared memory.
    let borrows = ghosts != Ghosts::Scans || has_views(program);
    let step = |property: Property| {
        let obligation = Obligation { ghosts, property };
        Step {
            nested: borrows && !obligation.has_tokens(),
            ..Step::new(obligation, round, is_whole)
        }
    };
    let first = may_fail(program).then_some(Property::Faults).into_iter();
    let first: Vec<Property> = first.chain(borrows.then_some(Property::Nesting)).collect();
    let of = |vectors: Vec<Property>| first.iter().copied().chain(vectors).map(step).collect();
    vectors(ghosts).into_iter().map(of).collect()
}

impl Step {
    /// Returns the part for an obligation, with these rounds, if any.
    pub fn new(obligation: Obligation, round: Option<[u16; 2]>, is_whole: bool) -> Self {
        let is_whole = is_whole && obligation.has_tokens();
        let mut goal = Goal { obligation, is_whole, round };
        if obligation.property == Property::Faults && round.is_some() {
            // Faults do not depend on ghost scans.
            goal = Goal::new(Obligation { ghosts: Ghosts::Scans, property: Property::Faults });
        }
        Self { obligation, goal, nested: false, round }
    }

    /// Returns true if absence of faults is shown, of an algorithm with rounds.
    pub(crate) fn is_of_rounds_faults(&self) -> bool {
        self.obligation.ghosts == Ghosts::Rounds && self.obligation.property == Property::Faults
    }

    /// Returns what the views of this part keep, and the other guesses.
    ///
    /// # Errors
    /// If the program has constructs that the analyses do not know, or the deadline passes.
    pub fn part(
        &self,
        program: &Program,
        deadline: Deadline<'_>,
    ) -> Result<write::Part, Unsupported> {
        let model = compile(program, self.goal, deadline)?;
        let windows = windows(program, self.obligation);
        let mut kept = export::kept(program, &model);
        kept.extend(windows.iter().map(|(name, _)| name.clone()));
        Ok(write::Part {
            obligation: self.obligation,
            nested: self.nested,
            kept,
            point: export::point(&model),
            round: self.round.map(|round| export::round(&model, round)),
            late: model.delays,
            loose: export::loose(&model),
            decided: export::decided(program, &model),
            alike: export::alike(&model),
            names: export::named(program, &model),
            clock: None,
            windows,
            classes: export::classes(program, &model),
        })
    }
}

/// Returns true if a view lies in shared memory, so that a scan may return that of another.
pub(crate) fn has_views(program: &Program) -> bool {
    let is_view = |content: &Type| *content == Type::view();
    program.shared.iter().any(|variable| variable.content.any(&is_view))
}

/// Returns the names of the state that views of scans keep whose vectors the observer judges, whether
/// such a proof exists or not.
///
/// # Errors
/// The construct that has no model.
pub fn kept(program: &Program) -> Result<Vec<String>, &'static str> {
    let obligation = Obligation { ghosts: Ghosts::Scans, property: Property::Observer };
    let model = compile(program, Goal::new(obligation), Deadline::NEVER);
    let model = model.map_err(|unsupported| unsupported.construct)?;
    Ok(export::kept(program, &model))
}
