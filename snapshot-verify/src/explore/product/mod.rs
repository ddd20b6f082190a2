//! The product of an instance with its most general client and the observer.
//!
//! A **move** is one step of one process: an idle process invokes a scan or an
//! update, any other takes the step of its location. Process i invokes updates
//! of 0 until it has invoked one of 1, and from then on only those; likewise j;
//! all others write 0. The observer is told of an invocation before the step
//! runs and of a response after it. Then reactions run until none applies, and
//! what the operation owned is reset if it has responded, for it means nothing
//! any more.

mod step;

use snapshot_core::Process;
use snapshot_core::observer::Alarm;

use super::canonical::{Forgetting, Numbering, Permutation, Symmetry};
use super::code::{Code, Fault, Machine};
use crate::instance::{Instance, Location, Owner, Scalar};
use crate::layout::{Layout, Register, Registers};

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
    /// Who.
    pub process: Process,
    /// What.
    pub choice: Choice,
}

/// Why a search need not go on behind a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stop {
    /// The observer accepts: the response cannot be linearized. The bits that the
    /// response sets are set all the same, for whoever wants to go on.
    Violation(Alarm),
    /// The program goes wrong: there is no next state.
    Fault(Fault),
}

/// The product, ready to run.
#[derive(Debug)]
pub struct Product<'a> {
    layout: &'a Layout,
    registers: Registers,
    code: Code,
    forgetting: Option<&'a dyn Forgetting>,
    numbering: Option<&'a dyn Numbering>,
    symmetry: Option<&'a dyn Symmetry>,
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
    /// Who may invoke operations at all, by process.
    pub active: &'a [bool],
    /// What is forgotten.
    pub forgetting: Option<&'a dyn Forgetting>,
    /// The canonical form of versions and counters.
    pub numbering: Option<&'a dyn Numbering>,
    /// The symmetry that is used.
    pub symmetry: Option<&'a dyn Symmetry>,
    /// Whether violations have successors.
    pub past_violations: bool,
}

/// Where a move leads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Successor<const W: usize> {
    /// A violation or fault on the way.
    pub stop: Option<Stop>,
    /// The next state, canonical and packed. None after a fault, and after a
    /// violation unless these have successors.
    pub state: Option<[u64; W]>,
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
            let process = Process::must(index);
            if let Some(operations) = rules.operations {
                initial[registers.left(process)] = layout.tally().of(operations[index]);
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
        match self.symmetry {
            Some(symmetry) => symmetry.canonicalise(self.registers, state),
            None => Permutation::IDENTITY,
        }
    }

    /// Permutes a state, if there is a symmetry.
    pub fn permute(&self, by: &Permutation, state: &mut [Scalar]) {
        if let Some(symmetry) = self.symmetry {
            symmetry.permute(self.registers, by, state);
        }
    }

    /// Calls `each` for every move from a canonical state.
    ///
    /// `scratch` is overwritten; it is the caller's so that it need not be made
    /// anew each time.
    #[inline]
    pub fn successors<const W: usize>(
        &self,
        state: &[u64; W],
        scratch: &mut Scratch,
        mut each: impl FnMut(Move, Successor<W>),
    ) {
        let mut expansion = 0;
        while self.unpack(state, expansion, scratch) {
            for process in 0..self.processes.len() {
                let process = Process::must(process);
                for choice in self.choices(process, &scratch.machine).into_iter().flatten() {
                    let stop = self.take(process, choice, &mut scratch.machine).err();
                    let goes_on = match stop {
                        None => true,
                        Some(Stop::Violation(_)) => self.past_violations,
                        Some(Stop::Fault(_)) => false,
                    };
                    let next = goes_on.then(|| self.pack(state, scratch));
                    let successor = Successor { stop, state: next };
                    each(Move { expansion, process, choice }, successor);
                    scratch.undo(expansion);
                }
            }
            expansion += 1;
        }
    }

    /// Unpacks an expansion of a state, after those of smaller numbers; `false` if it
    /// does not have so many.
    #[inline]
    pub fn unpack<const W: usize>(
        &self,
        state: &[u64; W],
        expansion: u32,
        scratch: &mut Scratch,
    ) -> bool {
        if expansion > 0 && self.numbering.is_none() {
            return false;
        }
        if expansion == 0 {
            self.layout.unpack(state, &mut scratch.canonical);
        } else {
            scratch.expanded.copy_from_slice(&scratch.canonical);
            if let Some(numbering) = self.numbering
                && !numbering.expand(self.registers, &mut scratch.expanded, expansion)
            {
                return false;
            }
        }
        scratch.load(expansion);
        true
    }

    /// The canonical form of what the machine has made of a state, packed.
    #[inline]
    fn pack<const W: usize>(&self, state: &[u64; W], scratch: &mut Scratch) -> [u64; W] {
        let machine = &scratch.machine;
        if self.forgetting.is_some() || self.numbering.is_some() || self.symmetry.is_some() {
            scratch.after.copy_from_slice(machine.state());
            self.canonicalise(&mut scratch.after);
            let mut packed = *state;
            let scalars = scratch.canonical.iter().zip(&scratch.after);
            for (field, (before, &after)) in self.layout.fields().iter().zip(scalars) {
                if *before != after {
                    field.put(&mut packed, after);
                }
            }
            debug_assert_eq!(packed, self.layout.pack(&scratch.after));
            return packed;
        }
        let mut packed = *state;
        let fields = self.layout.fields();
        for &register in machine.written() {
            let register = usize::from(register);
            fields[register].put(&mut packed, machine.get(register));
        }
        packed
    }

    /// What may be done in the state in the machine, in order.
    pub fn moves(&self, machine: &Machine) -> Vec<(Process, Choice)> {
        let processes = (0..self.processes.len()).map(Process::must);
        let of = |process| {
            self.choices(process, machine)
                .into_iter()
                .flatten()
                .map(move |choice| (process, choice))
        };
        processes.flat_map(of).collect()
    }

    /// What a process may do, in order.
    #[inline]
    fn choices(&self, process: Process, machine: &Machine) -> [Option<Choice>; 3] {
        if machine.get(self.registers.location(process)) != Location::IDLE.index() as Scalar {
            return [Some(Choice::Step), None, None];
        }
        let client = &self.processes[process.index()];
        if !client.active || self.bounded && machine.get(self.registers.left(process)) == 0 {
            return [None; 3];
        }
        let update = |value, may: bool| may.then_some(Choice::Update(value));
        let switching = self.switching(process);
        let invoked = switching.map(|l| self.observer(machine).invoked(l));
        let zero = update(0, invoked != Some(true));
        let one = update(1, invoked.is_some());
        [zero, one, Some(Choice::Scan)]
    }
}

/// What making successors needs to remember; one per thread.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// Runs the steps.
    pub machine: Machine,
    /// The canonical state that steps are tried from.
    canonical: Vec<Scalar>,
    /// An expansion of it, other than itself.
    expanded: Vec<Scalar>,
    /// The state after the step, where it is made canonical.
    after: Vec<Scalar>,
}

impl Scratch {
    /// For this product.
    pub fn new(product: &Product<'_>) -> Self {
        let machine = product.code.machine();
        let count = product.registers.count();
        let [canonical, expanded, after] = [0; 3].map(|zero| vec![zero; count]);
        Self { machine, canonical, expanded, after }
    }

    /// Puts the state before the step into the machine. Expansion 0 is the canonical
    /// state itself.
    #[inline]
    fn load(&mut self, expansion: u32) {
        self.machine.begin();
        let before = if expansion == 0 { &self.canonical } else { &self.expanded };
        self.machine.state_mut().copy_from_slice(before);
    }

    /// Makes the state in the machine what it was before the step.
    #[inline]
    fn undo(&mut self, expansion: u32) {
        let before = if expansion == 0 { &self.canonical } else { &self.expanded };
        self.machine.undo(before);
    }
}
