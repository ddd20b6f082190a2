//! From a program to what is explored.
//!
//! Each stage is a function from the one before, and can be looked at. The
//! reductions apply in the order of their [table](super::TABLE): what is constant
//! first, since all others gain by it; decisions before what is dead, since what
//! was read for an outcome that cannot come is dead only once that is told
//! apart; fusing after that, since steps without remaining effect vanish in it.
//! Locations with equal futures are identified whenever variables are forgotten.

use snapshot_core::Process;

use super::reduction::{Reduction, Reductions};
use crate::explore::canonical;
use crate::instance::{Instance, InstanceError};
use crate::program::Program;
use crate::reduce::constant::constant;
use crate::reduce::dead::dead;
use crate::reduce::decided::decided;
use crate::reduce::merge::merge;
use crate::reduce::numbering::{CAP, Numbering};
use crate::reduce::shrink::shrink;
use crate::reduce::symmetry::Symmetry;

/// An instance with all that a search makes of it.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// What is explored.
    pub instance: Instance,
    numbering: Option<Numbering>,
    reductions: Reductions,
}

/// A program compiled for n, i, j; every event a step of its own.
///
/// # Errors
/// If it has no such instance.
pub fn instance(
    program: &Program,
    processes: usize,
    pair: [Process; 2],
) -> Result<Instance, InstanceError> {
    let [i, j] = pair.map(Process::index);
    Instance::new(program, processes, (i, j))
}

/// Without what cannot matter.
#[must_use]
pub fn sliced(instance: &Instance, reductions: Reductions) -> Instance {
    let mut sliced = instance.clone();
    if reductions.contains(Reduction::Constant) {
        sliced = constant(&sliced);
    }
    if reductions.contains(Reduction::Decided) {
        sliced = decided(&sliced);
    }
    if reductions.contains(Reduction::Dead) {
        sliced = merge(&dead(&sliced));
        if reductions.contains(Reduction::Constant) {
            // Decided branches and forgotten variables leave more of it.
            sliced = constant(&sliced);
        }
    }
    sliced
}

/// With steps fused.
#[must_use]
pub fn steps(sliced: &Instance, reductions: Reductions) -> Instance {
    if !reductions.contains(Reduction::Shrink) {
        return sliced.clone();
    }
    let fused = shrink(sliced);
    // What fused steps assign twice, they need to assign once.
    merge(&if reductions.contains(Reduction::Dead) { dead(&fused) } else { fused })
}

impl Prepared {
    /// All stages, for n, i, j; only the processes that `is_active` selects will
    /// begin operations.
    ///
    /// # Errors
    /// If the program has no such instance.
    pub fn new(
        program: &Program,
        processes: usize,
        pair: [Process; 2],
        reductions: Reductions,
        is_active: impl Fn(Process) -> bool,
    ) -> Result<Self, InstanceError> {
        let instance = instance(program, processes, pair)?;
        Ok(Self::of(instance.with_active(is_active), reductions))
    }

    /// The stages after an instance.
    pub fn of(instance: Instance, reductions: Reductions) -> Self {
        let instance = steps(&sliced(&instance, reductions), reductions);
        let numbering = reductions
            .contains(Reduction::Counters)
            .then(|| Numbering::of(&instance, CAP))
            .filter(|numbering| !numbering.is_trivial());
        Self { instance, numbering, reductions }
    }

    /// The canonical form of versions and counters, if there are any.
    pub fn numbering(&self) -> Option<&dyn canonical::Numbering> {
        self.numbering.as_ref().map(|numbering| numbering as _)
    }

    /// The symmetry among the processes that take part, if there is any and it is
    /// wanted.
    pub fn symmetry(&self, is_active: impl Fn(Process) -> bool) -> Option<Symmetry> {
        self.reductions
            .contains(Reduction::Symmetry)
            .then(|| Symmetry::of(&self.instance, is_active))
            .filter(|symmetry| !symmetry.is_trivial())
    }
}
