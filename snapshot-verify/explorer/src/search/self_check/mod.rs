//! The search checks itself: it tests the claims of each reduction on sampled states.
//!
//! A canonical form, a forgotten cell, an ample step and a dropped state each rest on an argument,
//! and on code that may fail to implement it. So some of the visited states are examined, each with
//! random witnesses:
//!
//! | claim | test | file |
//! | --- | --- | --- |
//! | symmetry | a step of the permuted state is the permuted step | `symmetry` |
//! | numbering | states with this canonical form lead to its canonical successors | `numbering` |
//! | forgetting | forgotten values do not matter | `forgetting` |
//! | ample | an ample step commutes with moves of others | `ample` |
//! | antichain | a dropped state is dominated, and steps preserve domination | `antichain` |
//!
//! The tests run steps from the code of the instance alone, before any canonical form: so canonical
//! forms are judged by the code that they must respect. A failed test is a [`Defect`] of this
//! program, never of the algorithm under test.
//!
//! # Which states
//!
//! By a hash of the state with the seed, one state in [`SelfCheck::one_in`] is examined, and about
//! [`PER_LEVEL`] of each level: small searches are examined densely. The choice of states and
//! witnesses depends on the seed and the state only, not on threads.

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

/// The approximate least number of states examined per level, if the level has that many.
pub const PER_LEVEL: u64 = 8;

/// The density and seed of a self-check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SelfCheck {
    /// One of this many states is examined; at least 1.
    pub one_in: u64,
    /// The seed for the choice of states and witnesses.
    pub seed: u64,
}

impl SelfCheck {
    /// The default density, which costs a few per cent of large searches.
    pub const DEFAULT: Self = Self { one_in: 4096, seed: 0 };

    /// Returns the default: on in debug builds, like assertions; otherwise off.
    pub const fn of_build() -> Option<Self> {
        if cfg!(debug_assertions) { Some(Self::DEFAULT) } else { None }
    }
}

/// A claim of a reduction that does not hold: a bug of this program.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("the self-check of {reduction} failed: {what}; at {step}; in the state {state}")]
pub struct Defect {
    /// The name of the reduction, as in the table of reductions.
    pub reduction: &'static str,
    /// The claim that fails.
    pub what: String,
    /// The move that shows the failure, for example `p2 scan`.
    pub step: String,
    /// The state, by names of registers; values 0 and `none` are omitted.
    pub state: String,
}

/// The number of tests of each claim that could have revealed a mistake.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Examined {
    pub states: u64,
    /// Permuted states.
    pub symmetry: u64,
    /// Noncanonical states compared with their canonical form.
    pub numbering: u64,
    /// States with other values in forgotten slots.
    pub forgetting: u64,
    /// Orders of an ample step and moves of others.
    pub ample: u64,
    pub antichain: u64,
}

impl Examined {
    /// Adds the counts of another.
    pub const fn add(&mut self, more: &Self) {
        self.states += more.states;
        self.symmetry += more.symmetry;
        self.numbering += more.numbering;
        self.forgetting += more.forgetting;
        self.ample += more.ample;
        self.antichain += more.antichain;
    }
}

/// The kind of ending of a move.
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

/// One move, with the state after it, before canonical forms.
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
    /// Successors of examined states, which the store must hold or dominate.
    stored: Vec<[u64; W]>,
    defect: Option<([u64; W], Defect)>,
}

/// Tests the claims on a state. States are unpacked, so this code is compiled once for all widths.
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

    /// Returns the sampling rate for a level: one of this many states is examined.
    pub fn rate(&self, level: u64) -> u64 {
        self.options.one_in.min(level / PER_LEVEL).max(1)
    }

    /// Examines a state, if it is sampled at this rate.
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

    /// Checks the stored successors once a level is complete, for states that belong to this store.
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

    /// Takes the defect, with the state in which it was found.
    pub const fn take_defect(&mut self) -> Option<([u64; W], Defect)> {
        self.defect.take()
    }
}

impl Claims<'_> {
    /// Tests all claims on a state, with witnesses of this seed.
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

    /// Runs one move.
    fn step(&mut self, state: &[Scalar], process: Process, choice: Choice) -> Step {
        self.machine.begin();
        self.machine.state_mut().copy_from_slice(state);
        let end = End::from_step(self.product.take(process, choice, &mut self.machine));
        Step { process, choice, end, after: self.machine.state().to_vec() }
    }

    /// Runs all moves from a state.
    fn steps(&mut self, state: &[Scalar]) -> Vec<Step> {
        self.machine.begin();
        self.machine.state_mut().copy_from_slice(state);
        let moves = self.product.moves(&self.machine);
        moves.into_iter().map(|(process, choice)| self.step(state, process, choice)).collect()
    }

    /// Returns the normal form of numbers only. Forgetting is left out because it may depend on the
    /// numbers chosen, and permutations because several orders of interchangeable processes may be
    /// canonical.
    fn normal(&self, mut state: Vec<Scalar>) -> Vec<Scalar> {
        if let Some(numbering) = self.product.numbering {
            numbering.normalise(self.registers, &mut state);
        }
        state
    }

    /// Returns a random number below `bound`, which must be positive.
    fn below(&mut self, bound: usize) -> usize {
        (self.random.next_u64() % bound as u64) as usize
    }

    /// Returns a random number below the first fresh version: a version or counter that steps do
    /// not create.
    fn number(&mut self) -> Scalar {
        let first_fresh = self.product.numbering.map_or(1, |numbering| numbering.first_fresh());
        self.below(first_fresh.max(1) as usize) as Scalar
    }

    /// Returns a random scalar of a slot's domain.
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

    /// Returns the state as text for people.
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
