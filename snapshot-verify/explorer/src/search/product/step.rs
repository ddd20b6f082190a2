//! One move: the client, the step's code, the observer, and the reactions.

use snapshot_core::Process;
use snapshot_core::observer::{Alarm, Must, ObserverState};
use snapshot_core::simple::Switching;

use super::{Choice, Product, Stop};
use crate::instance::{Location, Scalar};
use crate::limits::Limit;
use crate::search::code::{Ending, Entry, RegisterMachine};
use crate::search::layout::{INVOKED_BITS, Register};

/// The greatest number of reactions to one step.
const MOST_REACTIONS: usize = 1 << 10;

impl Product<'_> {
    /// Returns the role of a process, i or j, if it has one.
    #[inline]
    pub(super) fn switching(&self, process: Process) -> Option<Switching> {
        Switching::BOTH.into_iter().zip(self.pair).find(|(_, p)| *p == process).map(|(l, _)| l)
    }

    #[inline]
    pub(super) fn observer(&self, get: impl Fn(Register) -> Scalar) -> ObserverState {
        let invoked = get(self.registers.invoked());
        let rest = get(self.registers.needed_and_bad());
        let bits = (invoked | rest << INVOKED_BITS) as u8;
        ObserverState::from_bits(bits).unwrap_or(ObserverState::INITIAL)
    }

    #[inline]
    fn observe(&self, observer: ObserverState, machine: &mut RegisterMachine) {
        let bits = Scalar::from(observer.bits());
        machine.set(self.registers.invoked(), bits & ((1 << INVOKED_BITS) - 1));
        machine.set(self.registers.needed_and_bad(), bits >> INVOKED_BITS);
        if self.counts_barriers {
            // The current bits are also known behind the next barrier.
            let due = self.registers.due();
            machine.set(due, machine.get(due) | bits >> INVOKED_BITS);
        }
    }

    /// Returns the observer's state for a response. With barriers counted, all ended operations
    /// respond first.
    #[inline]
    fn at_response(&self, machine: &RegisterMachine) -> ObserverState {
        if !self.counts_barriers {
            return self.observer(|register| machine.get(register));
        }
        let (invoked, due) = (self.registers.invoked(), self.registers.due());
        self.observer(|register| machine.get(if register == invoked { invoked } else { due }))
    }

    /// Sets the observer's state after a response: immediately, or at the next barrier.
    #[inline]
    fn respond(&self, observer: ObserverState, machine: &mut RegisterMachine) {
        if self.counts_barriers {
            machine.set(self.registers.due(), Scalar::from(observer.bits()) >> INVOKED_BITS);
        } else {
            self.observe(observer, machine);
        }
    }

    /// Passes a barrier: all ended operations respond, and their processes may begin operations.
    fn pass_barrier(&self, machine: &mut RegisterMachine) {
        let barriers = self.registers.barriers();
        machine.set(barriers, machine.get(barriers) - 1);
        machine.set(self.registers.needed_and_bad(), machine.get(self.registers.due()));
        for (index, client) in self.processes.iter().enumerate() {
            if client.active && self.is_idle(index, |register| machine.get(register)) {
                machine.set(self.registers.left(Process::from_index(index)), 1);
            }
        }
    }

    /// Takes one move of a process, from the state in the machine to the next one, which is not
    /// made canonical.
    ///
    /// # Errors
    /// If a response cannot be linearized, or the program goes wrong, in this process or in a
    /// reaction. Unless the search continues past violations, this is the last event, and the
    /// machine keeps the state at that moment.
    #[inline]
    pub fn take(
        &self,
        process: Process,
        choice: Choice,
        machine: &mut RegisterMachine,
    ) -> Result<(), Stop> {
        let entry = self.invoke(process, choice, machine);
        let ending = self.code.run(process, entry, machine);
        let finished = self.finish(process, ending, machine);
        if self.reacting == 0 {
            return finished;
        }
        self.react(process, finished.err(), machine).map_or(Ok(()), Err)
    }

    /// Returns true if there is a next state, given a violation or fault, if any.
    #[inline]
    pub(super) const fn goes_on(&self, stop: Option<Stop>) -> bool {
        match stop {
            None => true,
            Some(Stop::Violation(_)) => self.past_violations,
            Some(Stop::Fault(_) | Stop::TooNarrow) => false,
        }
    }

    /// Performs an invocation, before the operation's first step.
    #[inline]
    fn invoke(&self, process: Process, choice: Choice, machine: &mut RegisterMachine) -> Entry {
        let location = self.registers.location(process);
        if choice == Choice::Step {
            return Entry::Step(Location(machine.get(location) as u32));
        }
        if choice.is_behind_barrier() {
            self.pass_barrier(machine);
        }
        if self.bounded {
            let left = self.registers.left(process);
            machine.set(left, machine.get(left) - 1);
        }
        match choice.invocation() {
            Choice::Update(value) => {
                if let Some(argument) = self.processes[process.index()].argument {
                    machine.set(argument, value);
                }
                if value == 1
                    && let Some(l) = self.switching(process)
                {
                    self.observe(
                        self.observer(|register| machine.get(register)).invoke_update(l),
                        machine,
                    );
                }
                Entry::Update
            }
            Choice::Scan => {
                let must = self.observer(|register| machine.get(register)).invoke_scan();
                machine.set(self.registers.must_bits(process), Scalar::from(must.bits()));
                Entry::Scan
            }
            _ => unreachable!("a step is handled above, and a barrier is passed"),
        }
    }

    /// Applies the ending of a step.
    #[inline]
    fn finish(
        &self,
        process: Process,
        ending: Ending,
        machine: &mut RegisterMachine,
    ) -> Result<(), Stop> {
        let alarm = match ending {
            Ending::Paused(at) => {
                machine.set(self.registers.location(process), at.index() as Scalar);
                return Ok(());
            }
            Ending::UpdateResponds { value } => {
                if value == 1
                    && let Some(l) = self.switching(process)
                {
                    self.respond(self.at_response(machine).respond_update(l), machine);
                }
                None
            }
            Ending::ScanResponds { at: [at_i, at_j], foreign } => {
                self.respond_scan(process, [at_i == 1, at_j == 1], foreign != 0, machine)
            }
            Ending::Faulted(index) => return Err(Stop::Fault(self.code.fault(index))),
            Ending::Declined => unreachable!("a step is no reaction"),
        };
        machine.set(self.registers.location(process), Location::IDLE.index() as Scalar);
        for &(register, scalar) in &self.processes[process.index()].locals {
            if machine.get(register) != scalar {
                machine.set(register, scalar);
            }
        }
        alarm.map_or(Ok(()), |alarm| Err(Stop::Violation(alarm)))
    }

    /// Passes a scan's response to the observer. Returns the alarm if it accepts.
    #[inline]
    fn respond_scan(
        &self,
        process: Process,
        [at_i, at_j]: [bool; 2],
        foreign: bool,
        machine: &mut RegisterMachine,
    ) -> Option<Alarm> {
        let must = self.registers.must_bits(process);
        let bits = machine.get(must) as u8;
        machine.set(must, 0);
        if foreign {
            return Some(Alarm::Foreign);
        }
        let before = self.at_response(machine);
        let must = Must::from_bits(bits).unwrap_or(Must::NOTHING);
        match before.respond_scan(must, at_i, at_j) {
            Ok(after) => {
                self.respond(after, machine);
                None
            }
            Err(alarm) => {
                self.respond(regardless(before, at_i, at_j), machine);
                Some(alarm)
            }
        }
    }

    /// Runs reactions until none applies or something goes wrong; runs none if `stop` is set.
    /// Returns the violation or fault, if any.
    ///
    /// Reactions do not form cycles, so each process comes to rest. After [`MOST_REACTIONS`] the
    /// others would be skipped, which is sound: reactions are optional.
    fn react(
        &self,
        mover: Process,
        mut stop: Option<Stop>,
        machine: &mut RegisterMachine,
    ) -> Option<Stop> {
        let mut seen = 0;
        let mut dirty = 1 << mover.index();
        for _ in 0..MOST_REACTIONS {
            if !self.goes_on(stop) {
                return stop;
            }
            for &register in &machine.written()[seen..] {
                dirty |= self.watchers[usize::from(register)];
            }
            seen = machine.written().len();
            dirty &= self.reacting;
            if dirty == 0 {
                return stop;
            }
            let process = dirty.trailing_zeros() as usize;
            match self.react_once(Process::from_index(process), machine) {
                None => dirty &= !(1 << process),
                Some(Ok(())) => {}
                Some(Err(fault @ Stop::Fault(_))) => stop = Some(fault),
                Some(Err(later)) => stop = stop.or(Some(later)),
            }
        }
        self.limits.reach(Limit::Reactions);
        stop
    }

    /// Runs the first reaction of a process whose condition holds, if there is one.
    fn react_once(
        &self,
        process: Process,
        machine: &mut RegisterMachine,
    ) -> Option<Result<(), Stop>> {
        let location = Location(machine.get(self.registers.location(process)) as u32);
        for number in 0..self.code.reactions(process, location) {
            machine.begin_reaction();
            let ending = self.code.react(process, location, number, machine);
            if ending != Ending::Declined {
                let finished = self.finish(process, ending, machine);
                machine.end_reaction(process);
                return Some(finished);
            }
        }
        None
    }
}

/// Returns the state with all bits that this return of a scan sets, even if the scan cannot be
/// linearized.
fn regardless(before: ObserverState, at_i: bool, at_j: bool) -> ObserverState {
    let [i, j] = Switching::BOTH;
    let permissive = ObserverState::INITIAL.invoke_update(i).invoke_update(j);
    let set = permissive.respond_scan(Must::NOTHING, at_i, at_j).unwrap_or(permissive);
    let set = set.bits() & !permissive.bits();
    ObserverState::from_bits(before.bits() | set).unwrap_or(before)
}
