//! From a program to the instance that is explored.
//!
//! Each stage is a function of the previous one, and can be inspected. The reductions apply in the
//! order of their [table](crate::reduction::TABLE):
//!
//! * Constants come early, since all reductions behind them gain by them.
//! * Decisions come before dead variables, since slots read for an impossible outcome are dead only
//!   once outcomes are distinguished.
//! * Fusing comes after that, since it removes steps without remaining effect.
//! * Locations with equal futures are merged whenever variables are reset.
//! * Variables are split before the last reset, so that each part is reset by itself.
//!
//! Passes over single processes run on the threads of the current rayon pool. The results do not
//! depend on the number of threads.

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

/// An instance with all reductions of its states.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The instance to be explored, unless dead cells are forgotten; see [`Self::explored`].
    pub instance: Instance,
    pub numbering: Option<CanonicalRenaming>,
    /// The limits that the preparation reached.
    pub limits: LimitSet,
    /// From this size on, gaps between counters are not distinguished.
    cap: Scalar,
    reductions: Reductions,
    /// The dead cells of the explored instance; `None` before the analysis.
    static_cells: Option<StaticDeadCells>,
    forgetful: Option<SpeculativeInstance>,
    /// Whether learning is done, or has no candidates.
    has_learnt: bool,
}

/// An instance that forgets cells conjectured to be stale.
#[derive(Clone, Debug)]
struct SpeculativeInstance {
    stale: Stale,
    /// The instance with reads of possibly stale cells guarded.
    guarded: Instance,
    /// The guarded instance with initially stale cells blank.
    initial: Instance,
    /// The number of refutations of the conjecture.
    refutations: u32,
}

/// The dead cells that are reset after every step.
#[derive(Clone, Copy, Debug)]
pub struct DeadCells<'a> {
    static_cells: Option<&'a StaticDeadCells>,
    stale: Option<&'a Stale>,
}

/// The greatest cap: larger gaps between counters are never kept exactly.
const MOST_CAP: Scalar = 32;

/// After this many refutations no more cells are forgotten speculatively.
const REFUTATIONS: u32 = 200;

/// Compiles a program for n, i, j, with every event as a separate step.
///
/// # Errors
/// If the program has no such instance, or the deadline comes first.
pub fn instance(
    program: &Program,
    processes: usize,
    pair: [Process; 2],
    deadline: Deadline<'_>,
) -> Result<Instance, InstanceError> {
    let [i, j] = pair.map(Process::index);
    Instance::within(program, processes, (i, j), deadline)
}

/// Removes constants, dead slots and slots without influence.
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
            // Decided branches and reset variables leave more constants.
            sliced = propagate_constants(&sliced, deadline)?;
        }
    }
    Ok(sliced)
}

/// Fuses steps until nothing more can be fused.
pub fn steps(
    sliced: &Instance,
    reductions: Reductions,
    deadline: Deadline<'_>,
) -> Result<Instance, Stopped> {
    if !reductions.contains(Reduction::Shrink) {
        return Ok(sliced.clone());
    }
    // Fused steps may assign a slot twice, have no effect, or leave slots without readers: fusing
    // and constant propagation remove these. Blanks come last: constants are found without regard
    // to their meaning.
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

/// The greatest number of rounds; later ones gain little or nothing.
const ROUNDS: u32 = 8;

impl Prepared {
    /// Runs all stages, for n, i, j. Only the processes that `is_active` selects will begin
    /// operations.
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

    /// Runs the stages after compilation.
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

    /// Returns the plain numbering for versions and counters, if there are any, their reduction is
    /// off, and they are finitely many: with counters, operations must be bounded.
    pub fn plain(&self, operations: Option<u32>) -> Option<Plain> {
        if self.reductions.contains(Reduction::Counters) {
            return None;
        }
        let plain = Plain::new(self.explored());
        let is_finite = operations.is_some() || !plain.has_counters();
        (is_finite && !plain.is_trivial()).then_some(plain)
    }

    /// Raises the cap below which gaps between counters are exact, which excludes violations that
    /// arose from indistinct gaps. Returns `false` if this has no effect or the cap is at its
    /// maximum.
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

    /// Finds the cells that are dead in each state, unless they are known. Takes seconds if
    /// processes select cells at run time, otherwise almost no time.
    pub fn analyse(&mut self, deadline: Deadline<'_>) -> Result<(), Stopped> {
        if self.static_cells.is_none() && self.reductions.contains(Reduction::Stale) {
            self.static_cells = Some(StaticDeadCells::new(self.explored(), deadline)?);
        }
        Ok(())
    }

    /// Returns true if the speculative reset is wanted and was not learnt yet.
    pub fn may_learn(&self) -> bool {
        !self.has_learnt && self.reductions.contains(Reduction::Stale)
    }

    /// Learns the conjecture about stale cells for `exploration`, unless it is known. Takes about a
    /// second; learning ends at the deadline.
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
            self.forgetful = Some(SpeculativeInstance { stale, guarded, initial, refutations: 0 });
        }
        Ok(())
    }

    /// Corrects the conjecture after a fault that it caused; returns `false` if the fault is the
    /// program's own.
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

    /// Replaces the conjecture by a wrong one, as tests require: all slots seen to be read count as
    /// stale.
    pub fn mark_all_dead(&mut self) {
        if let Some(forgetful) = &mut self.forgetful {
            forgetful.stale.mark_all_dead();
        }
    }

    fn forgetful(&self) -> Option<&SpeculativeInstance> {
        let useful = |forgetful: &&SpeculativeInstance| {
            forgetful.stale.is_useful() && forgetful.refutations < REFUTATIONS
        };
        self.forgetful.as_ref().filter(useful)
    }

    /// Returns the instance that is explored.
    pub fn explored(&self) -> &Instance {
        self.forgetful().map_or(&self.instance, |forgetful| &forgetful.initial)
    }

    /// Returns the dead cells to be reset after every step, if there are any.
    pub fn forgetting(&self) -> Option<DeadCells<'_>> {
        let static_cells = self.static_cells.as_ref().filter(|dead| dead.is_useful());
        let stale = self.forgetful().map(|forgetful| &forgetful.stale);
        (static_cells.is_some() || stale.is_some()).then_some(DeadCells { static_cells, stale })
    }

    /// Returns the ample steps for this many operations per process, if they are wanted and known.
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

    /// Returns the symmetry among the active processes, if there is any and it is wanted.
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
