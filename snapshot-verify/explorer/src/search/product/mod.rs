//! The product of an instance with its most general client and the observer.
//!
//! A **move** is one step of one process: an idle process invokes a scan or an update; any other
//! takes the step at its location. Process i invokes updates of 0 until it has invoked one of 1,
//! and from then on only updates of 1; likewise j; all others write 0. The observer sees an
//! invocation before the step runs, and a response after it. Then reactions run until none applies.
//! Slots that the operation owned are reset if it has responded, since they are then meaningless.
//!
//! # Barriers
//!
//! A barrier is an invocation that directly follows a response, in the order of invocations and
//! responses; `snapshot_core::generic::weaken` has the definitions. With [`Rules::barriers`], the
//! search explores all executions with at most K barriers, up to differences that the observer
//! cannot see:
//!
//! 1. Responses wait for the next barrier. An execution with K barriers has K + 1 intervals, in
//!    each of which invocations precede responses. A response may be moved to the end of its
//!    interval, just before the next barrier, or to the end of the execution. It is a step that
//!    touches nothing; its process takes no other step in that interval, since it could only
//!    invoke, and that would be a barrier; and the order of operations stays the same. So when a
//!    step ends an operation, [`Variable::Due`] notes the observer's bits after the next barrier,
//!    and the process cannot begin another operation before it ([`Variable::Left`] is 0). The step
//!    violates if an immediate response would: all ended operations can respond at that moment
//!    without any barrier, and the alarm is the observer's for that history.
//! 2. An invocation may be the first event behind a barrier: then all due responses happen first.
//!    This is tried only where some operation has ended.
//!
//! Nothing else is changed, and reductions may transform the steps as before. Where a reduction
//! moves a step of p across a step that follows a barrier, it delays invocations or advances
//! responses: operations get shorter and the number of barriers stays the same. (If an invocation
//! is moved to the first access behind a barrier, the barrier moves with it: operations that end in
//! between end before the barrier then.) Nor does a process begin an operation that it could not
//! begin before: its last operation ends earlier, so no later than the same barrier. Hence the
//! arguments of [`crate::passes::lipton`] and [`crate::por::persistent_sets`] still hold. A
//! violation that is found early because a response was advanced is also found when the last of its
//! operations ends.
//!
//! [`Variable::Due`]: crate::search::layout::Variable::Due
//! [`Variable::Left`]: crate::search::layout::Variable::Left

mod choice;
mod step;
mod successors;
mod transition_cache;

use snapshot_core::Process;
use snapshot_core::observer::Alarm;

pub use choice::Choice;
pub use successors::{Ahead, AtOnce, Scratch, Successor};
pub use transition_cache::TransitionCache;

use super::canonical::{Ample, Forgetting, Numbering, Permutation, Symmetry};
use super::code::{Code, Fault, RegisterMachine};
use crate::instance::{Instance, Location, Owner, Scalar};
use crate::limits::{LimitSet, Limits};
use crate::search::layout::{Layout, Register, Registers};

/// One step of one process. Counterexamples are chosen by this order.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Move {
    /// The number of the expansion of the canonical state; see [`Numbering::expand`].
    pub expansion: u32,
    pub process: Process,
    pub choice: Choice,
}

/// Why the search does not continue behind a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stop {
    /// The observer accepts: the response cannot be linearized. The bits of the response are set
    /// nevertheless, for callers that continue.
    Violation(Alarm),
    /// The program goes wrong; the step has no next state.
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
    /// By slot, a bit set of the processes with a reaction that reads it.
    watchers: Vec<u64>,
    /// The bit set of processes with any reaction.
    reacting: u64,
    initial: Vec<Scalar>,
    bounded: bool,
    counts_barriers: bool,
    past_violations: bool,
    /// The limits of techniques that steps have reached so far.
    limits: Limits,
}

/// The client's view of one process.
#[derive(Debug)]
struct Client {
    /// Whether the process may invoke operations.
    active: bool,
    /// The register for an update's argument.
    argument: Option<Register>,
    /// The registers that the process's operations own, with their reset values.
    locals: Vec<(Register, Scalar)>,
}

/// Parameters of the product, beyond the instance and its layout.
#[derive(Debug)]
pub struct Rules<'a> {
    /// By process, the number of operations that it may begin, if that is bounded.
    pub operations: Option<&'a [u32]>,
    /// The number of barriers of an execution, if that is bounded. Then each process may begin one
    /// operation, and one more behind each barrier.
    pub barriers: Option<u32>,
    /// By process, whether it may invoke operations.
    pub active: &'a [bool],
    /// The reset of dead slots.
    pub forgetting: Option<&'a dyn Forgetting>,
    pub numbering: Option<&'a dyn Numbering>,
    pub symmetry: Option<&'a dyn Symmetry>,
    /// The choice of ample steps; not with `past_violations`.
    pub ample: Option<&'a dyn Ample>,
    pub past_violations: bool,
}

impl<'a> Product<'a> {
    /// Creates the product of an instance with code compiled from it.
    pub fn new(instance: &Instance, layout: &'a Layout, code: Code, rules: &Rules<'a>) -> Self {
        let registers = layout.registers();
        let mut initial = vec![0; registers.count()];
        for (register, slot) in instance.slots.iter().enumerate() {
            initial[register] = slot.meaningless().unwrap_or(slot.initial);
        }
        let barriers = rules.barriers.map_or(0, |barriers| {
            Scalar::try_from(barriers).expect("a register holds how many barriers are left")
        });
        initial[registers.barriers()] = barriers;
        debug_assert!(
            rules.barriers.is_none()
                || rules.operations.is_some_and(|of| of.iter().all(|&operations| operations <= 1)),
            "each process may begin one operation before the first barrier"
        );
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
            counts_barriers: rules.barriers.is_some(),
            past_violations: rules.past_violations,
            limits: Limits::default(),
        }
    }

    /// Records limits that another part of the same search reached.
    pub(super) fn has_reached(&self, limits: LimitSet) {
        self.limits.reach_all(limits);
    }

    /// Returns the limits of techniques that steps have reached so far.
    pub fn limits(&self) -> LimitSet {
        self.limits.reached()
    }

    /// Returns the packed layout of states.
    pub const fn layout(&self) -> &'a Layout {
        self.layout
    }

    pub const fn counts_barriers(&self) -> bool {
        self.counts_barriers
    }

    /// Returns the canonical form of the initial state, and the permutation that was applied.
    pub fn initial(&self) -> (Vec<Scalar>, Permutation) {
        let mut state = self.initial.clone();
        let permutation = self.canonicalise(&mut state);
        (state, permutation)
    }

    /// Makes a state canonical, and returns the permutation that was applied.
    pub fn canonicalise(&self, state: &mut [Scalar]) -> Permutation {
        if let Some(forgetting) = self.forgetting {
            forgetting.forget(self.registers, state);
        }
        if let Some(numbering) = self.numbering {
            numbering.normalise(self.registers, state);
        }
        let Some(symmetry) = self.symmetry else { return Permutation::IDENTITY };
        let permutation = symmetry.canonicalise(self.registers, state);
        // Numbers follow the order of slots, which the permutation has changed.
        if permutation != Permutation::IDENTITY
            && let Some(numbering) = self.numbering
        {
            numbering.normalise(self.registers, state);
        }
        permutation
    }

    /// Makes a state canonical that a step has made from the state `canonical`.
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

    /// Returns the moves from the state in the machine, in order.
    pub fn moves(&self, machine: &RegisterMachine) -> Vec<(Process, Choice)> {
        let processes = (0..self.processes.len()).map(Process::from_index);
        let of = |process| {
            let get = |register| machine.get(register);
            let plain = self.choices(process, get).into_iter().flatten();
            let behind_barrier = self.choices_behind_barrier(process, get).into_iter().flatten();
            plain.chain(behind_barrier).map(move |choice| (process, choice))
        };
        processes.flat_map(of).collect()
    }

    /// Returns the choices of a process without a barrier, in order. `get` reads a register of the
    /// state.
    #[inline]
    fn choices(&self, process: Process, get: impl Fn(Register) -> Scalar) -> [Option<Choice>; 3] {
        if get(self.registers.location(process)) != Location::IDLE.index() as Scalar {
            return [Some(Choice::Step), None, None];
        }
        let client = &self.processes[process.index()];
        if !client.active || self.bounded && get(self.registers.left(process)) == 0 {
            return [None; 3];
        }
        self.invocations(process, get)
    }

    /// Returns the choices of a process behind a barrier, in order. The choices are empty if no
    /// operation has ended since the last barrier.
    #[inline]
    fn choices_behind_barrier(
        &self,
        process: Process,
        get: impl Fn(Register) -> Scalar,
    ) -> [Option<Choice>; 3] {
        if !self.counts_barriers || get(self.registers.barriers()) == 0 {
            return [None; 3];
        }
        let is_idle =
            |process: usize| self.processes[process].active && self.is_idle(process, &get);
        let has_ended =
            |other| is_idle(other) && get(self.registers.left(Process::from_index(other))) == 0;
        if !is_idle(process.index()) || !(0..self.processes.len()).any(has_ended) {
            return [None; 3];
        }
        self.invocations(process, get).map(|choice| choice.map(Choice::behind_barrier))
    }

    #[inline]
    fn is_idle(&self, process: usize, get: impl Fn(Register) -> Scalar) -> bool {
        let location = self.registers.location(Process::from_index(process));
        get(location) == Location::IDLE.index() as Scalar
    }

    /// Returns the invocations of an idle process, if it may invoke any.
    #[inline]
    fn invocations(
        &self,
        process: Process,
        get: impl Fn(Register) -> Scalar,
    ) -> [Option<Choice>; 3] {
        let update = |value, may: bool| may.then_some(Choice::Update(value));
        let switching = self.switching(process);
        let invoked = switching.map(|l| self.observer(&get).invoked(l));
        let zero = update(0, invoked != Some(true));
        let one = update(1, invoked.is_some());
        [zero, one, Some(Choice::Scan)]
    }
}
