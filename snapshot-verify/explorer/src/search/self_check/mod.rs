//! The search checks itself: what each reduction claims of a state is tried.
//!
//! A canonical form, a forgotten cell, a step taken at once and a dropped state each
//! rest on an argument, and on code that may fail to do what was argued. So some of the
//! states that a search visits are examined, each time with random witnesses:
//!
//! | claim | what is tried | file |
//! | --- | --- | --- |
//! | symmetry | a step of the permuted state is the permuted step | `symmetry` |
//! | numbering | what a canonical state stands for leads to its canonical successors | `numbering` |
//! | forgetting | what was forgotten may be anything | `forgetting` |
//! | ample | a step taken at once commutes with what others do | `ample` |
//! | antichain | a dropped state is dominated, and domination is kept by steps | `antichain` |
//!
//! What steps do is taken from the code of the instance alone, before any canonical
//! form: so the judge of a canonical form is the code that it must respect. A failure is
//! a [`Defect`], and never the program's.
//!
//! # Which states
//!
//! One in [`SelfCheck::one_in`] by a hash of the state with the seed, and of each level
//! [`PER_LEVEL`] or so: small searches are examined densely. Which states they are, and
//! the witnesses, depend on the seed and the state only, not on threads.

mod ample;
mod antichain;
mod forgetting;
mod numbering;
mod symmetry;

use std::fmt::Write;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;
use thiserror::Error;

use super::code::RegisterMachine;
use super::product::{Ahead, Choice, Product, Stop};
use super::store::{Store, hash};
use crate::instance::{Domain, Instance, NONE, Scalar};
use crate::search::layout::Registers;

/// About how many states of each level are examined at least, if it has that many.
pub const PER_LEVEL: u64 = 8;

/// How densely a search examines itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SelfCheck {
    /// Of that many states one is examined, at least 1.
    pub one_in: u64,
    /// Of the choice of states and witnesses.
    pub seed: u64,
}

impl SelfCheck {
    /// The density by default: it costs a few per cent of large searches.
    pub const DEFAULT: Self = Self { one_in: 4096, seed: 0 };

    /// On in debug builds, as assertions are; off in others.
    pub const fn of_build() -> Option<Self> {
        if cfg!(debug_assertions) { Some(Self::DEFAULT) } else { None }
    }
}

/// A claim of a reduction that does not hold: a bug of ours.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("the self-check of {reduction} failed: {what}; at {step}; in the state {state}")]
pub struct Defect {
    /// The name of the reduction, as in the table of reductions.
    pub reduction: &'static str,
    /// What does not hold.
    pub what: String,
    /// The move at which it shows: `p2 scan`, say.
    pub step: String,
    /// The state, by name of register; what is 0 or none is left out.
    pub state: String,
}

/// How often each claim was tried on something that a mistake could show on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Examined {
    /// States that were examined.
    pub states: u64,
    /// Permuted states.
    pub symmetry: u64,
    /// States other than the canonical one that it stands for.
    pub numbering: u64,
    /// States with something else where something is forgotten.
    pub forgetting: u64,
    /// Orders of a step taken at once and steps of others.
    pub ample: u64,
    /// Dominated states.
    pub antichain: u64,
}

impl Examined {
    /// With those of another.
    pub const fn add(&mut self, more: &Self) {
        self.states += more.states;
        self.symmetry += more.symmetry;
        self.numbering += more.numbering;
        self.forgetting += more.forgetting;
        self.ample += more.ample;
        self.antichain += more.antichain;
    }
}

/// How a move ends, as far as it matters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    /// There is a next state.
    Well,
    Violation,
    Fault(&'static str),
}

impl End {
    fn from_step(taken: Result<(), Stop>) -> Self {
        match taken {
            Ok(()) | Err(Stop::TooNarrow) => Self::Well,
            Err(Stop::Violation(_)) => Self::Violation,
            Err(Stop::Fault(fault)) => Self::Fault(fault.what),
        }
    }
}

/// One move, and where it leads before anything is made canonical.
#[derive(Clone, Debug)]
struct Step {
    process: Process,
    choice: Choice,
    end: End,
    after: Vec<Scalar>,
}

impl Step {
    fn name(&self) -> String {
        let Self { process, choice, .. } = self;
        match choice {
            Choice::Update(value) => format!("p{process} update({value})"),
            Choice::Scan => format!("p{process} scan"),
            Choice::Step => format!("p{process} step"),
            Choice::UpdateBehindBarrier(value) => format!("barrier, p{process} update({value})"),
            Choice::ScanBehindBarrier => format!("barrier, p{process} scan"),
        }
    }
}

/// Examines states; one per thread.
#[derive(Debug)]
pub(super) struct Examiner<'a, const W: usize> {
    claims: Claims<'a>,
    options: SelfCheck,
    /// Successors of states that were examined, which the store must hold or dominate.
    stored: Vec<[u64; W]>,
    defect: Option<([u64; W], Defect)>,
}

/// Tries what is claimed of states. It knows them unpacked, whatever their width: so it is
/// compiled once.
#[derive(Debug)]
struct Claims<'a> {
    product: &'a Product<'a>,
    instance: &'a Instance,
    registers: Registers,
    antichain: bool,
    ahead: Ahead,
    machine: RegisterMachine,
    random: ChaCha8Rng,
    examined: Examined,
}

/// The first defect of a state.
type Examination = Result<(), Defect>;

impl<'a, const W: usize> Examiner<'a, W> {
    pub fn new(
        product: &'a Product<'a>,
        instance: &'a Instance,
        options: SelfCheck,
        antichain: bool,
    ) -> Self {
        let ahead = Ahead::new(product);
        let claims = Claims {
            registers: product.layout().registers(),
            machine: ahead.machine.clone(),
            random: ChaCha8Rng::seed_from_u64(options.seed),
            examined: Examined::default(),
            product,
            instance,
            antichain,
            ahead,
        };
        Self { claims, options, stored: Vec::new(), defect: None }
    }

    /// Of this many states of a level one is examined.
    pub fn rate(&self, level: u64) -> u64 {
        self.options.one_in.min(level / PER_LEVEL).max(1)
    }

    /// Examines a state, if it is one of those at this rate.
    #[inline]
    pub fn look(&mut self, state: &[u64; W], rate: u64) {
        let mixed = hash(state, 0) ^ self.options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if self.defect.is_none() && (mixed >> 16).is_multiple_of(rate) {
            self.examine(state, mixed);
        }
    }

    #[cold]
    fn examine(&mut self, packed: &[u64; W], seed: u64) {
        let mut state = vec![0; self.claims.registers.count()];
        self.claims.product.layout().unpack(packed, &mut state);
        self.expect_successors(packed);
        if let Err(defect) = self.claims.hold(&state, seed) {
            self.defect = Some((*packed, defect));
        }
    }

    /// Whether what was to be stored is, now that a level is complete: of the states that belong
    /// to the store.
    pub fn finish(&mut self, store: &Store<'_, W>, belongs: impl Fn(&[u64; W]) -> bool) {
        for state in std::mem::take(&mut self.stored) {
            if self.defect.is_none()
                && belongs(&state)
                && let Err(defect) = self.is_stored(&state, store)
            {
                self.defect = Some((state, defect));
            }
        }
    }

    pub fn take_examined(&mut self) -> Examined {
        std::mem::take(&mut self.claims.examined)
    }

    /// The defect, with the state that it was found in.
    pub const fn take_defect(&mut self) -> Option<([u64; W], Defect)> {
        self.defect.take()
    }
}

impl Claims<'_> {
    /// Whether all that is claimed of a state holds, with the witnesses of a seed.
    fn hold(&mut self, state: &[Scalar], seed: u64) -> Examination {
        self.random = ChaCha8Rng::seed_from_u64(seed);
        self.examined.states += 1;
        let steps = self.steps(state);
        self.symmetry(state, &steps)?;
        self.numbering(state)?;
        self.forgetting(state, &steps)?;
        self.ample(&steps)?;
        self.antichain(state, &steps)
    }

    /// One move.
    fn step(&mut self, state: &[Scalar], process: Process, choice: Choice) -> Step {
        self.machine.begin();
        self.machine.state_mut().copy_from_slice(state);
        let end = End::from_step(self.product.take(process, choice, &mut self.machine));
        Step { process, choice, end, after: self.machine.state().to_vec() }
    }

    /// All moves from a state.
    fn steps(&mut self, state: &[Scalar]) -> Vec<Step> {
        self.machine.begin();
        self.machine.state_mut().copy_from_slice(state);
        let moves = self.product.moves(&self.machine);
        moves.into_iter().map(|(process, choice)| self.step(state, process, choice)).collect()
    }

    /// The normal form of numbers, and no more: what is forgotten may depend on which of
    /// several numbers stands for them all, and of processes that are alike, more than
    /// one order may be canonical.
    fn normal(&self, mut state: Vec<Scalar>) -> Vec<Scalar> {
        if let Some(numbering) = self.product.numbering {
            numbering.normalise(self.registers, &mut state);
        }
        state
    }

    /// A number below `bound`, which is positive.
    fn below(&mut self, bound: usize) -> usize {
        (self.random.next_u64() % bound as u64) as usize
    }

    /// A number from the version or counter that is always there to the largest that steps
    /// do not make.
    fn number(&mut self) -> Scalar {
        let first_fresh = self.product.numbering.map_or(1, |numbering| numbering.first_fresh());
        self.below(first_fresh.max(1) as usize) as Scalar
    }

    /// Something of a slot's domain.
    fn scalar(&mut self, domain: Domain) -> Scalar {
        let is_none = self.below(4) == 0;
        match domain {
            Domain::Range { optional: true, .. }
            | Domain::Version { optional: true }
            | Domain::Counter { optional: true }
                if is_none =>
            {
                NONE
            }
            Domain::Range { low, high, .. } => {
                let count = (i64::from(high) - i64::from(low) + 1) as usize;
                low.wrapping_add(self.below(count) as Scalar)
            }
            Domain::Version { .. } | Domain::Counter { .. } => self.number(),
        }
    }

    fn defect(
        &self,
        reduction: &'static str,
        what: impl Into<String>,
        step: &Step,
        state: &[Scalar],
    ) -> Defect {
        let state = self.describe(state);
        Defect { reduction, what: what.into(), step: step.name(), state }
    }

    /// The state for people.
    fn describe(&self, state: &[Scalar]) -> String {
        let mut text = String::new();
        for (variable, &scalar) in self.registers.variables().zip(state) {
            if scalar != 0 && scalar != NONE {
                let comma = if text.is_empty() { "" } else { ", " };
                let name = variable.name(self.instance);
                write!(text, "{comma}{name} = {scalar}").expect("a string takes all");
            }
        }
        format!("({text})")
    }
}
