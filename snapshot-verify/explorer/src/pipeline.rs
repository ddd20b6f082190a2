//! From a program to what is explored.
//!
//! Each stage is a function from the one before, and can be looked at. The
//! reductions apply in the order of their [table](crate::reduction::TABLE): what is constant
//! first, since all others gain by it; decisions before what is dead, since what
//! was read for an outcome that cannot come is dead only once outcomes are told
//! apart; fusing after that, since steps without remaining effect vanish in it.
//! Locations with equal futures are identified whenever variables are forgotten.
//! Variables are split before they are forgotten for the last time, so that each part
//! is forgotten by itself.
//!
//! What is done to one process after the other is done by the threads of the current
//! rayon pool. The results do not depend on how many they are.

use snapshot_core::Process;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{Instance, InstanceError, Scalar};
use crate::limits::{Limit, LimitSet};
use crate::passes::bisimulation::minimise;
use crate::passes::dead_variable_reset::{reset_dead_variables, reset_uniformly};
use crate::passes::link_copy_propagation::propagate_link_copies;
use crate::passes::lipton::{fuse_invocations, fuse_movers};
use crate::passes::live_range_split::split_live_ranges;
use crate::passes::predicate_specialisation::specialise;
use crate::passes::sccp::propagate_constants;
use crate::por::persistent_sets::PersistentSets;
use crate::program::Program;
use crate::quotient::canonical_renaming::plain::Plain;
use crate::quotient::canonical_renaming::{CAP, CanonicalRenaming};
use crate::quotient::dead_cells::speculative::{READ, Stale};
use crate::quotient::dead_cells::static_liveness::StaticDeadCells;
use crate::quotient::process_symmetry::ProcessSymmetry;
use crate::reduction::{Reduction, Reductions};
use crate::search::layout::{Register, Registers};
use crate::search::{Exploration, ExploreError, Fault, SearchVerdict, canonical};

/// An instance with all that a search makes of it.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What is explored, unless something is forgotten.
    pub instance: Instance,
    /// The canonical form of versions and counters, if there are any.
    pub numbering: Option<CanonicalRenaming>,
    /// The limits of techniques that its preparation came to.
    pub limits: LimitSet,
    /// From this size on, gaps between counters are not distinguished.
    cap: Scalar,
    reductions: Reductions,
    /// Of what is explored; none before it was looked for.
    static_cells: Option<StaticDeadCells>,
    forgetful: Option<Forgetful>,
    /// Whether the conjecture was made, or there is none.
    has_learnt: bool,
}

/// An instance that forgets what was thought to be stale.
#[derive(Clone, Debug)]
struct Forgetful {
    stale: Stale,
    /// With its reads guarded.
    guarded: Instance,
    /// With what is stale at first forgotten.
    initial: Instance,
    /// How often the conjecture was refuted.
    refutations: u32,
}

/// What is forgotten after every step.
#[derive(Clone, Copy, Debug)]
pub struct DeadCells<'a> {
    static_cells: Option<&'a StaticDeadCells>,
    stale: Option<&'a Stale>,
}

/// Larger gaps between counters are never kept exactly.
const MOST_CAP: Scalar = 32;

/// After this many refutations nothing is forgotten any more.
const REFUTATIONS: u32 = 200;

/// A program compiled for n, i, j; every event a step of its own.
///
/// # Errors
/// If it has no such instance, or the deadline comes first.
pub fn instance(
    program: &Program,
    processes: usize,
    pair: [Process; 2],
    deadline: Deadline<'_>,
) -> Result<Instance, InstanceError> {
    let [i, j] = pair.map(Process::index);
    Instance::within(program, processes, (i, j), deadline)
}

/// Without what cannot matter.
///
/// # Errors
/// If the deadline comes first.
pub fn sliced(
    instance: &Instance,
    reductions: Reductions,
    deadline: Deadline<'_>,
) -> Result<Instance, Stopped> {
    let mut sliced = instance.clone();
    if reductions.contains(Reduction::Counters) {
        sliced = propagate_link_copies(&sliced, deadline)?;
    }
    if reductions.contains(Reduction::Constant) {
        sliced = propagate_constants(&sliced, deadline)?;
    }
    if reductions.contains(Reduction::Decided) {
        sliced = specialise(&sliced, deadline)?;
    }
    if reductions.contains(Reduction::Dead) {
        sliced = minimise(&reset_dead_variables(&sliced, deadline)?, deadline)?;
        if reductions.contains(Reduction::Constant) {
            // Decided branches and forgotten variables leave more of it.
            sliced = propagate_constants(&sliced, deadline)?;
        }
    }
    Ok(sliced)
}

/// With steps fused, until nothing more can be.
///
/// # Errors
/// If the deadline comes first.
pub fn steps(
    sliced: &Instance,
    reductions: Reductions,
    deadline: Deadline<'_>,
) -> Result<Instance, Stopped> {
    if !reductions.contains(Reduction::Shrink) {
        return Ok(sliced.clone());
    }
    // What fused steps assign twice, they need to assign once; steps that do nothing
    // any more are fused; what only they read is looked at by nothing. Blanks come last:
    // what is constant is found without regard to what they mean.
    let settled = |instance: &Instance| {
        let mut settled = fuse_movers(instance, deadline)?;
        if reductions.contains(Reduction::Constant) {
            settled = propagate_constants(&settled, deadline)?;
        }
        if reductions.contains(Reduction::Dead) {
            settled = reset_uniformly(&settled, deadline)?;
        }
        minimise(&settled, deadline)
    };
    let until_settled = |instance: &Instance| {
        let mut reduced = settled(instance)?;
        for _ in 1..ROUNDS {
            let next = settled(&reduced)?;
            if next == reduced {
                return Ok(reduced);
            }
            reduced = next;
        }
        Limit::Rounds.reach(deadline);
        Ok(reduced)
    };
    let mut reduced = until_settled(&fuse_invocations(&until_settled(sliced)?, deadline)?)?;
    if reductions.contains(Reduction::Counters) {
        reduced = split_live_ranges(&reduced, deadline)?;
    }
    if reductions.contains(Reduction::Dead) {
        reduced = reset_dead_variables(&reduced, deadline)?;
    }
    Ok(reduced)
}

/// Rounds after which there is no more to be had, or very little.
const ROUNDS: u32 = 8;

impl Prepared {
    /// All stages, for n, i, j; only the processes that `is_active` selects will
    /// begin operations.
    ///
    /// # Errors
    /// If the program has no such instance, or the deadline comes first.
    pub fn new(
        program: &Program,
        processes: usize,
        pair: [Process; 2],
        reductions: Reductions,
        is_active: impl Fn(Process) -> bool,
        deadline: Deadline<'_>,
    ) -> Result<Self, InstanceError> {
        let instance = instance(program, processes, pair, deadline)?;
        Ok(Self::from_instance(instance.with_active(is_active), reductions, deadline)?)
    }

    /// The stages after an instance.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub fn from_instance(
        instance: Instance,
        reductions: Reductions,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let sliced = sliced(&instance, reductions, deadline)?;
        let instance = steps(&sliced, reductions, deadline)?;
        let numbering = match reductions.contains(Reduction::Counters) {
            true => Some(CanonicalRenaming::new(&instance, CAP, deadline)?),
            false => None,
        };
        let numbering = numbering.filter(|numbering| !numbering.is_trivial());
        Ok(Self {
            instance,
            numbering,
            limits: LimitSet::noted(deadline),
            cap: CAP,
            reductions,
            static_cells: None,
            forgetful: None,
            has_learnt: false,
        })
    }

    /// Versions and counters as they are, if there are any, their reduction is left out,
    /// and they are finitely many: with counters, operations must be bounded.
    pub fn plain(&self, operations: Option<u32>) -> Option<Plain> {
        if self.reductions.contains(Reduction::Counters) {
            return None;
        }
        let plain = Plain::new(self.explored());
        let is_finite = operations.is_some() || !plain.has_counters();
        (is_finite && !plain.is_trivial()).then_some(plain)
    }

    /// Keeps larger gaps between counters exactly: what was found because they were not
    /// distinguished is then not found any more. `false` if that would change nothing, or
    /// they are as large as they are allowed to be.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub fn raise_counter_cap(&mut self, deadline: Deadline<'_>) -> Result<bool, Stopped> {
        let changes = self.numbering.as_ref().is_some_and(CanonicalRenaming::is_approximate);
        if changes && self.cap >= MOST_CAP {
            Limit::Gaps.reach(deadline);
        }
        if !changes || self.cap >= MOST_CAP {
            return Ok(false);
        }
        self.cap *= 2;
        self.numbering = Some(CanonicalRenaming::new(&self.instance, self.cap, deadline)?);
        Ok(true)
    }

    /// Finds out which cells are dead in which states, unless that is known. Where
    /// processes choose cells at run time this takes seconds, elsewhere no time at all.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub fn analyse(&mut self, deadline: Deadline<'_>) -> Result<(), Stopped> {
        if self.static_cells.is_none() && self.reductions.contains(Reduction::Stale) {
            self.static_cells = Some(StaticDeadCells::new(self.explored(), deadline)?);
        }
        Ok(())
    }

    /// Whether what may be forgotten besides has not been learnt yet, and is wanted.
    pub fn may_learn(&self) -> bool {
        !self.has_learnt && self.reductions.contains(Reduction::Stale)
    }

    /// Learns what may be forgotten besides, unless that is known. `exploration` is what
    /// it is for. Takes about a second; nothing is learnt past the deadline.
    ///
    /// # Errors
    /// If the instance cannot be explored.
    pub fn learn(
        &mut self,
        exploration: &Exploration<'_>,
        deadline: Deadline<'_>,
    ) -> Result<(), ExploreError> {
        if !self.may_learn() {
            return Ok(());
        }
        self.has_learnt = true;
        if let Ok(Some((mut stale, guarded))) = Stale::new(&self.instance, deadline) {
            stale.learn(&guarded, exploration, deadline)?;
            let initial = stale.initialised(&guarded);
            self.static_cells = None;
            self.forgetful = Some(Forgetful { stale, guarded, initial, refutations: 0 });
        }
        Ok(())
    }

    /// Corrects what led to a fault that is none of the program; `false` if it is one
    /// of the program.
    ///
    /// # Errors
    /// If the instance cannot be explored.
    pub fn refute(
        &mut self,
        exploration: &Exploration<'_>,
        verdict: &SearchVerdict,
        deadline: Deadline<'_>,
    ) -> Result<bool, ExploreError> {
        let SearchVerdict::Fault { trace, fault: Fault { what: READ, .. } } = verdict else {
            return Ok(false);
        };
        if let Some(forgetful) = &mut self.forgetful {
            forgetful.stale.refute(&forgetful.guarded, exploration, trace)?;
            forgetful.initial = forgetful.stale.initialised(&forgetful.guarded);
            forgetful.refutations += 1;
            if forgetful.refutations == REFUTATIONS {
                Limit::Refutations.reach(deadline);
            }
            self.static_cells = None;
        }
        Ok(true)
    }

    /// From now on everything that was seen to be read is thought to be stale: a wrong
    /// conjecture, which tests plant.
    pub fn suspect_everything(&mut self) {
        if let Some(forgetful) = &mut self.forgetful {
            forgetful.stale.suspect_everything();
        }
    }

    fn forgetful(&self) -> Option<&Forgetful> {
        let useful = |forgetful: &&Forgetful| {
            forgetful.stale.is_useful() && forgetful.refutations < REFUTATIONS
        };
        self.forgetful.as_ref().filter(useful)
    }

    /// What is explored.
    pub fn explored(&self) -> &Instance {
        self.forgetful().map_or(&self.instance, |forgetful| &forgetful.initial)
    }

    /// What is forgotten after every step, if anything is.
    pub fn forgetting(&self) -> Option<DeadCells<'_>> {
        let static_cells = self.static_cells.as_ref().filter(|dead| dead.is_useful());
        let stale = self.forgetful().map(|forgetful| &forgetful.stale);
        (static_cells.is_some() || stale.is_some()).then_some(DeadCells { static_cells, stale })
    }

    /// Which steps are taken at once with this many operations each, if that is wanted and
    /// known.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub fn ample(
        &self,
        operations: Option<u32>,
        deadline: Deadline<'_>,
    ) -> Result<Option<PersistentSets>, Stopped> {
        if !self.reductions.contains(Reduction::Ample) {
            return Ok(None);
        }
        PersistentSets::new(self.explored(), operations, deadline)
    }

    /// The symmetry among the processes that take part, if there is any and it is
    /// wanted.
    ///
    /// # Errors
    /// If the deadline comes first.
    pub fn symmetry(
        &self,
        is_active: impl Fn(Process) -> bool,
        deadline: Deadline<'_>,
    ) -> Result<Option<ProcessSymmetry>, Stopped> {
        if !self.reductions.contains(Reduction::Symmetry) {
            return Ok(None);
        }
        let symmetry = ProcessSymmetry::new(self.explored(), is_active, deadline)?;
        Ok(Some(symmetry).filter(|symmetry| !symmetry.is_trivial()))
    }
}

impl canonical::Forgetting for DeadCells<'_> {
    fn forget(&self, registers: Registers, state: &mut [Scalar]) {
        if let Some(dead) = self.static_cells {
            dead.forget(registers, state);
        }
        if let Some(stale) = self.stale {
            stale.forget(registers, state);
        }
    }

    fn is_blank(&self, registers: Registers, register: Register, scalar: Scalar) -> bool {
        self.stale.is_some_and(|stale| stale.is_blank(registers, register, scalar))
    }
}
