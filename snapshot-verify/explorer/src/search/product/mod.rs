//! The product of an instance with its most general client and the observer.
//!
//! A **move** is one step of one process: an idle process invokes a scan or an
//! update, any other takes the step of its location. Process i invokes updates
//! of 0 until it has invoked one of 1, and from then on only those; likewise j;
//! all others write 0. The observer sees an invocation before the step
//! runs and of a response after it. Then reactions run until none applies, and
//! what the operation owned is reset if it has responded, for it means nothing
//! any more.

mod step;
mod successors;
mod transition_cache;

use snapshot_core::Process;
use snapshot_core::observer::Alarm;

pub use successors::{Ahead, AtOnce, Scratch, Successor};
pub use transition_cache::TransitionCache;

use super::canonical::{Ample, Forgetting, Numbering, Permutation, Symmetry};
use super::code::{Code, Fault, RegisterMachine};
use crate::instance::{Instance, Location, Owner, Scalar};
use crate::search::layout::{Layout, Register, Registers};

/// What a process does.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Choice {
    /// It invokes an update of this value, 0 or 1.
    Update(Scalar),
    /// It invokes a scan.
    Scan,
    /// It goes on with its operation.
    Step,
}

/// One step of one process. The order is the one in which counterexamples are
/// chosen.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Move {
    /// From which of the states that the canonical one stands for; see
    /// [`Numbering::expand`].
    pub expansion: u32,
    /// The process.
    pub process: Process,
    /// What.
    pub choice: Choice,
}

/// Why a search need not go on behind a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stop {
    /// The observer accepts: the response cannot be linearized. The bits that the
    /// response sets are set all the same, for callers that go on.
    Violation(Alarm),
    /// The program goes wrong: there is no next state.
    Fault(Fault),
    /// The next state does not fit the layout.
    TooNarrow,
}

/// The product, ready to run.
#[derive(Debug)]
pub struct Product<'a> {
    layout: &'a Layout,
    registers: Registers,
    code: Code,
    pub(super) forgetting: Option<&'a dyn Forgetting>,
    pub(super) numbering: Option<&'a dyn Numbering>,
    pub(super) symmetry: Option<&'a dyn Symmetry>,
    pub(super) ample: Option<&'a dyn Ample>,
    pair: [Process; 2],
    processes: Vec<Client>,
    /// By slot: the processes (one bit each) with a reaction that reads it.
    watchers: Vec<u64>,
    /// The processes that have any reaction.
    reacting: u64,
    initial: Vec<Scalar>,
    bounded: bool,
    past_violations: bool,
}

/// What the client knows of one process.
#[derive(Debug)]
struct Client {
    /// Whether it may invoke anything.
    active: bool,
    /// Where an update's argument goes.
    argument: Option<Register>,
    /// The registers that its operations own, and what they are reset to.
    locals: Vec<(Register, Scalar)>,
}

/// What the product is made from, beyond the instance and its layout.
#[derive(Debug)]
pub struct Rules<'a> {
    /// How many operations each process may begin, if that is bounded.
    pub operations: Option<&'a [u32]>,
    /// Whether a process may invoke operations at all, by process.
    pub active: &'a [bool],
    /// What is forgotten.
    pub forgetting: Option<&'a dyn Forgetting>,
    /// The canonical form of versions and counters.
    pub numbering: Option<&'a dyn Numbering>,
    /// The symmetry that is used.
    pub symmetry: Option<&'a dyn Symmetry>,
    /// Which steps are taken at once; not with `past_violations`.
    pub ample: Option<&'a dyn Ample>,
    /// Whether violations have successors.
    pub past_violations: bool,
}

impl<'a> Product<'a> {
    /// The product of an instance with code compiled from it.
    pub fn new(instance: &Instance, layout: &'a Layout, code: Code, rules: &Rules<'a>) -> Self {
        let registers = layout.registers();
        let mut initial = vec![0; registers.count()];
        for (register, slot) in instance.slots.iter().enumerate() {
            initial[register] = slot.meaningless().unwrap_or(slot.initial);
        }
        let mut processes = Vec::new();
        for (index, graph) in instance.graphs.iter().enumerate() {
            let process = Process::from_index(index);
            if let Some(operations) = rules.operations {
                let left = Scalar::try_from(operations[index]);
                initial[registers.left(process)] =
                    left.expect("a register holds how many operations are left");
            }
            let owned = instance.slots.iter().enumerate();
            let owned = owned.filter(|(_, slot)| slot.owner == Owner::Operation(process));
            processes.push(Client {
                active: rules.active[index],
                argument: graph.argument.map(|slot| registers.slot(slot)),
                locals: owned
                    .filter_map(|(register, slot)| Some((register, slot.meaningless()?)))
                    .collect(),
            });
        }
        let mut watchers = vec![0; registers.count()];
        let mut reacting = 0;
        for (process, graph) in instance.graphs.iter().enumerate() {
            for reaction in graph.locations.iter().flat_map(|standing| &standing.reactions) {
                reacting |= 1 << process;
                reaction.when.slots(&mut |slot| watchers[slot.index()] |= 1 << process);
            }
        }
        Self {
            layout,
            registers,
            code,
            forgetting: rules.forgetting,
            numbering: rules.numbering,
            symmetry: rules.symmetry,
            ample: rules.ample,
            pair: instance.pair,
            processes,
            watchers,
            reacting,
            initial,
            bounded: rules.operations.is_some(),
            past_violations: rules.past_violations,
        }
    }

    /// How states are packed.
    pub const fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// The canonical form of the initial state, and the permutation that leads
    /// there.
    pub fn initial(&self) -> (Vec<Scalar>, Permutation) {
        let mut state = self.initial.clone();
        let permutation = self.canonicalise(&mut state);
        (state, permutation)
    }

    /// Makes a state canonical, and tells by which permutation.
    pub fn canonicalise(&self, state: &mut [Scalar]) -> Permutation {
        if let Some(forgetting) = self.forgetting {
            forgetting.forget(self.registers, state);
        }
        if let Some(numbering) = self.numbering {
            numbering.normalise(self.registers, state);
        }
        let Some(symmetry) = self.symmetry else { return Permutation::IDENTITY };
        let permutation = symmetry.canonicalise(self.registers, state);
        // Numbers go by the order of slots, which the permutation has changed.
        if permutation != Permutation::IDENTITY
            && let Some(numbering) = self.numbering
        {
            numbering.normalise(self.registers, state);
        }
        permutation
    }

    /// The same for a state that a step has made from a canonical one.
    fn canonicalise_since(&self, canonical: &[Scalar], state: &mut [Scalar]) {
        if self.symmetry.is_some() {
            // A permutation may change every class of numbers.
            self.canonicalise(state);
            return;
        }
        if let Some(forgetting) = self.forgetting {
            forgetting.forget(self.registers, state);
        }
        if let Some(numbering) = self.numbering {
            numbering.normalise_since(self.registers, canonical, state);
            debug_assert!(
                {
                    let mut again = state.to_vec();
                    numbering.normalise(self.registers, &mut again);
                    again == state
                },
                "where nothing changed, numbers are as they should be"
            );
        }
    }

    /// Permutes a state, if there is a symmetry.
    pub fn permute(&self, by: &Permutation, state: &mut [Scalar]) {
        if let Some(symmetry) = self.symmetry {
            symmetry.permute(self.registers, by, state);
        }
    }

    /// What may be done in the state in the machine, in order.
    pub fn moves(&self, machine: &RegisterMachine) -> Vec<(Process, Choice)> {
        let processes = (0..self.processes.len()).map(Process::from_index);
        let of = |process| {
            self.choices(process, |register| machine.get(register))
                .into_iter()
                .flatten()
                .map(move |choice| (process, choice))
        };
        processes.flat_map(of).collect()
    }

    /// What a process may do, in order; `get` reads a register of the state.
    #[inline]
    fn choices(&self, process: Process, get: impl Fn(Register) -> Scalar) -> [Option<Choice>; 3] {
        if get(self.registers.location(process)) != Location::IDLE.index() as Scalar {
            return [Some(Choice::Step), None, None];
        }
        let client = &self.processes[process.index()];
        if !client.active || self.bounded && get(self.registers.left(process)) == 0 {
            return [None; 3];
        }
        let update = |value, may: bool| may.then_some(Choice::Update(value));
        let switching = self.switching(process);
        let invoked = switching.map(|l| self.observer(&get).invoked(l));
        let zero = update(0, invoked != Some(true));
        let one = update(1, invoked.is_some());
        [zero, one, Some(Choice::Scan)]
    }
}
