//! Ways to a proof: which obligations are shown together, and what each keeps.

use snapshot_invariant::claim::{self, Aim};
use snapshot_invariant::layout::may_fail;
use snapshot_invariant::write;
use snapshot_language::deadline::Deadline;
use snapshot_language::program::{Program, Type};

use crate::compile::compile_within;
use crate::export;
use crate::model::{Ghosts, Obligation, Part, Specification, Unsupported};
use crate::shape::{I, J, Mode, T};

/// A part of a way: what is shown, and the obligation whose analysis says what is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Step {
    pub obligation: claim::Obligation,
    hint: Obligation,
    /// True if nesting is another part of the way.
    nested: bool,
    /// The ghost scans of the way.
    ghosts: Ghosts,
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

/// Returns the ways to show nesting: by parts, which are small; or as a whole, with all scalars
/// that may matter.
pub fn nested(ghosts: Ghosts) -> [Vec<Obligation>; 2] {
    let of = |part| {
        let specification = Specification::Observer;
        Obligation { mode: Mode::Nested, ghosts, specification, part }
    };
    [vec![of(Part::Faults), of(Part::Tokens)], vec![of(Part::Whole)]]
}

/// Returns the ways to show that vectors are right.
pub fn direct(ghosts: Ghosts) -> Vec<Vec<Obligation>> {
    let of = |specification, part| Obligation { mode: Mode::Direct, ghosts, specification, part };
    let observer = vec![of(Specification::Observer, Part::Whole)];
    let local = [T, I, J].map(|member| of(Specification::Local, Part::By(member))).to_vec();
    match ghosts {
        Ghosts::Scans => vec![observer, local],
        Ghosts::Calls => vec![local, observer],
        Ghosts::Rounds { .. } => vec![observer],
    }
}

/// Returns the ways with these ghost scans, in the order in which they are tried: nesting by parts, or as a whole,
/// with all scalars that may matter.
pub fn ways(program: &Program, ghosts: Ghosts, is_whole: bool) -> Vec<Vec<Step>> {
    // A scan lies within itself, and can borrow only views in shared memory.
    let borrows = ghosts != Ghosts::Scans || has_views(program);
    // Faults do not depend on ghost scans.
    let is_rounds = matches!(ghosts, Ghosts::Rounds { .. });
    let of_faults = nested(if is_rounds { Ghosts::Scans } else { ghosts });
    let hints = |[small, whole]: &[Vec<Obligation>; 2], number: usize| match is_whole {
        true => whole[0],
        false => small[number],
    };
    let (faults, tokens) = (hints(&of_faults, 0), hints(&nested(ghosts), 1));
    let kind = match ghosts {
        Ghosts::Scans => claim::Ghosts::Scans,
        Ghosts::Calls => claim::Ghosts::Calls,
        Ghosts::Rounds { .. } => claim::Ghosts::Rounds,
    };
    let step = |(hint, aim): (Obligation, Aim)| {
        let obligation = claim::Obligation { ghosts: kind, aim };
        Step { obligation, hint, nested: borrows && hint.mode == Mode::Direct, ghosts }
    };
    let first = may_fail(program).then_some((faults, Aim::Faults)).into_iter();
    let first: Vec<_> = first.chain(borrows.then_some((tokens, Aim::Nesting))).collect();
    let aim = |hint: Obligation| match (hint.part, hint.specification) {
        (Part::By(member), Specification::Local) => (hint, Aim::Memory(member)),
        _ => (hint, Aim::Observer),
    };
    let of = |direct: Vec<Obligation>| {
        first.iter().copied().chain(direct.into_iter().map(aim)).map(step).collect()
    };
    direct(ghosts).into_iter().map(of).collect()
}

impl Step {
    /// Returns true if absence of faults is shown, of an algorithm with rounds.
    pub(crate) fn is_of_rounds_faults(&self) -> bool {
        self.obligation.ghosts == claim::Ghosts::Rounds && self.obligation.aim == Aim::Faults
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
        let model = compile_within(program, self.hint, deadline)?;
        Ok(write::Part {
            obligation: self.obligation,
            nested: self.nested,
            kept: export::kept(program, &model),
            point: export::point(&model),
            round: export::round(&model, self.ghosts),
            late: model.delays,
            loose: export::loose(&model),
            decided: export::decided(program, &model),
            alike: export::alike(&model),
            names: export::named(program, &model),
            clock: None,
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
    let [observer] = direct(Ghosts::Scans)[0][..] else { return Err("this rung") };
    let model = compile_within(program, observer, Deadline::NEVER);
    let model = model.map_err(|unsupported| unsupported.construct)?;
    Ok(export::kept(program, &model))
}

impl Obligation {
    /// Returns the name of the rung: its ghost scans, and the property shown of them.
    pub fn name(self) -> String {
        let what = match (self.mode, self.part, self.specification) {
            (Mode::Nested, Part::Faults, _) => "faults",
            (Mode::Nested, Part::Tokens, _) => "nesting",
            (Mode::Nested, ..) => "faults+nesting",
            (Mode::Direct, _, Specification::Observer) => "observer",
            (Mode::Direct, Part::By(I), _) => "memory-i",
            (Mode::Direct, Part::By(J), _) => "memory-j",
            (Mode::Direct, ..) => "memory-t",
        };
        format!("{}.{what}", self.ghosts.name())
    }
}

impl Ghosts {
    /// Returns the name of the guess.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scans => "scans",
            Self::Calls => "calls",
            Self::Rounds { .. } => "rounds",
        }
    }
}
