//! The product of an instance with its most general client and the observer.
//!
//! A **move** is one step of one process: an idle process invokes a scan or an
//! update, any other takes the step of its location. Process i invokes updates
//! of 0 until it has invoked one of 1, and from then on only those; likewise j;
//! all others write 0. The observer is told of an invocation before the step
//! runs and of a response after it. Then reactions run until none applies, and
//! what the operation owned is reset if it has responded, for it means nothing
//! any more.

mod recall;
mod step;

use snapshot_core::Process;
use snapshot_core::observer::Alarm;

pub use recall::Recall;

use super::canonical::{Ample, Around, Forgetting, Numbering, Permutation, Symmetry};
use super::code::{Code, Fault, Machine};
use crate::instance::{Instance, Location, Owner, Scalar};
use crate::layout::{Layout, Register, Registers};

/// After so many steps taken at once a state is explored, whatever might be taken next.
pub const MOST_AT_ONCE: usize = 256;

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
    /// The next state does not fit the layout.
    TooNarrow,
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
    ample: Option<&'a dyn Ample>,
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
    /// Which steps are taken at once; not with `past_violations`.
    pub ample: Option<&'a dyn Ample>,
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
        match self.symmetry {
            Some(symmetry) => symmetry.canonicalise(self.registers, state),
            None => Permutation::IDENTITY,
        }
    }

    /// The same for a state that a step has made from a canonical one.
    fn canonicalise_since(&self, canonical: &[Scalar], state: &mut [Scalar]) {
        if self.symmetry.is_some() {
            // What was permuted need not be numbered as it would be.
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
            for process in (0..self.processes.len()).map(Process::must) {
                let machine = &scratch.machine;
                let choices = self.choices(process, |register| machine.get(register));
                for choice in choices.into_iter().flatten() {
                    let successor = self.successor(process, choice, state, scratch);
                    each(Move { expansion, process, choice }, successor);
                    scratch.undo(expansion);
                }
            }
            expansion += 1;
        }
    }

    /// The same, where moves may have been made before.
    #[inline]
    pub fn successors_recalled<const W: usize>(
        &self,
        state: &[u64; W],
        scratch: &mut Scratch,
        recall: &mut Recall<W>,
        mut each: impl FnMut(Move, Successor<W>),
    ) {
        let fields = self.layout.fields();
        let get = |register: Register| fields[register].get(state);
        let mut is_unpacked = false;
        for process in (0..self.processes.len()).map(Process::must) {
            let location = Location(get(self.registers.location(process)) as u32);
            for choice in self.choices(process, get).into_iter().flatten() {
                let site = recall.site(process, choice, location);
                let successor = match recall.recall(site, state) {
                    Ok(next) => Successor { stop: None, state: Some(next) },
                    Err(place) => {
                        is_unpacked = is_unpacked || self.unpack(state, 0, scratch);
                        let successor = self.successor(process, choice, state, scratch);
                        scratch.undo(0);
                        if let Successor { stop: None, state: Some(next) } = &successor {
                            recall.remember(site, place, state, next);
                        }
                        successor
                    }
                };
                each(Move { expansion: 0, process, choice }, successor);
            }
        }
    }

    /// Where a move leads from the state in the machine, which is an expansion of `state`.
    #[inline]
    fn successor<const W: usize>(
        &self,
        process: Process,
        choice: Choice,
        state: &[u64; W],
        scratch: &mut Scratch,
    ) -> Successor<W> {
        let stop = self.take(process, choice, &mut scratch.machine).err();
        let goes_on = match stop {
            None => true,
            Some(Stop::Violation(_)) => self.past_violations,
            Some(Stop::Fault(_) | Stop::TooNarrow) => false,
        };
        if !goes_on {
            return Successor { stop, state: None };
        }
        match self.settled(state, scratch) {
            Ok(next) => Successor { stop, state: Some(next) },
            Err(later) => Successor { stop: Some(later), state: None },
        }
    }

    /// Whether states are explored as steps leave them.
    const fn is_plain(&self) -> bool {
        self.forgetting.is_none()
            && self.numbering.is_none()
            && self.symmetry.is_none()
            && self.ample.is_none()
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

    /// The canonical form of what the machine has made of a state, packed; after what
    /// may be done at once.
    #[inline]
    fn settled<const W: usize>(
        &self,
        state: &[u64; W],
        scratch: &mut Scratch,
    ) -> Result<[u64; W], Stop> {
        let machine = &scratch.machine;
        let fields = self.layout.fields();
        let mut packed = *state;
        if self.is_plain() {
            for &register in machine.written() {
                let register = usize::from(register);
                fields[register].put(&mut packed, machine.get(register));
            }
            return Ok(packed);
        }
        let Scratch { canonical, after, later, ahead, .. } = scratch;
        after.copy_from_slice(machine.state());
        self.canonicalise_since(canonical, after);
        for _ in 0..MOST_AT_ONCE {
            match self.leader(after, ahead) {
                None => break,
                Some((_, Err(stop))) => return Err(stop),
                Some((_, Ok(()))) => {
                    later.copy_from_slice(ahead.machine.state());
                    self.canonicalise_since(after, later);
                    std::mem::swap(after, later);
                }
            }
        }
        for (field, (before, &after)) in fields.iter().zip(canonical.iter().zip(&*after)) {
            if *before == after {
                continue;
            }
            if !self.layout.is_narrow() {
                field.put(&mut packed, after);
            } else if !field.try_put(&mut packed, after) {
                return Err(Stop::TooNarrow);
            }
        }
        debug_assert_eq!(packed, self.layout.pack(after));
        Ok(packed)
    }

    /// The first process whose step may be taken at once in a canonical state, if any,
    /// and how that step ends; the machine has taken it.
    ///
    /// A step that violates or faults may be: there is no need to look for another.
    pub fn leader(
        &self,
        state: &[Scalar],
        ahead: &mut Ahead,
    ) -> Option<(Process, Result<(), Stop>)> {
        let ample = self.ample?;
        let Ahead { machine, around, wide } = ahead;
        if !ample.look(self.registers, state, around) {
            return None;
        }
        machine.begin();
        machine.state_mut().copy_from_slice(state);
        for process in (0..self.processes.len()).map(Process::must) {
            if !ample.may_commute(around, state, process) {
                continue;
            }
            let taken = self.take(process, Choice::Step, machine);
            if taken.is_err() {
                return Some((process, taken));
            }
            // What stands for several states may have several successors.
            let is_one = !machine.has_succeeded()
                || self.numbering.is_none_or(|numbering| {
                    wide.copy_from_slice(state);
                    !numbering.expand(self.registers, wide, 1)
                });
            if is_one && ample.commutes(around, process, state, machine.state(), machine.written())
            {
                return Some((process, taken));
            }
            machine.undo(state);
        }
        None
    }

    /// What may be done in the state in the machine, in order.
    pub fn moves(&self, machine: &Machine) -> Vec<(Process, Choice)> {
        let processes = (0..self.processes.len()).map(Process::must);
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
    /// The state after what is done at once.
    later: Vec<Scalar>,
    /// For what is done at once.
    ahead: Ahead,
}

/// What looking for a step to take at once needs.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// Has taken the step.
    pub machine: Machine,
    /// What others may still do.
    around: Around,
    /// Another state that the canonical one stands for.
    wide: Vec<Scalar>,
}

impl Ahead {
    /// For this product.
    pub fn new(product: &Product<'_>) -> Self {
        let wide = vec![0; product.registers.count()];
        Self { machine: product.code.machine(), around: Around::default(), wide }
    }
}

impl Scratch {
    /// For this product.
    pub fn new(product: &Product<'_>) -> Self {
        let machine = product.code.machine();
        let count = product.registers.count();
        let [canonical, expanded, after, later] = [0; 4].map(|zero| vec![zero; count]);
        let ahead = Ahead::new(product);
        Self { machine, canonical, expanded, after, later, ahead }
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
