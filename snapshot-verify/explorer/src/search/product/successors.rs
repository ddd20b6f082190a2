//! Successors of a state: canonical and packed, after ample steps.

use snapshot_core::Process;

use super::{Choice, Move, Product, Stop, TransitionCache};
use crate::instance::{Location, Scalar};
use crate::limits::Limit;
use crate::search::canonical::Around;
use crate::search::code::RegisterMachine;
use crate::search::layout::Register;

/// After this many ample steps a state is explored with all moves, even if more could follow or
/// they form a cycle.
const MOST_AT_ONCE: usize = 256;

/// The outcome of a move.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Successor<const W: usize> {
    /// The violation or fault of the move, if any.
    pub stop: Option<Stop>,
    /// The next state, canonical and packed. `None` after a fault, and after a violation unless the
    /// search continues past violations.
    pub state: Option<[u64; W]>,
}

impl Product<'_> {
    /// Calls `each` for every move from a canonical state.
    ///
    /// `scratch` is overwritten; the caller provides it to reuse its allocations.
    #[inline]
    pub fn successors<const W: usize>(
        &self,
        state: &[u64; W],
        scratch: &mut Scratch,
        mut each: impl FnMut(Move, Successor<W>),
    ) {
        let mut expansion = 0;
        while self.unpack(state, expansion, scratch) {
            for process in (0..self.processes.len()).map(Process::from_index) {
                let machine = &scratch.machine;
                let choices = self.choices(process, |register| machine.get(register));
                let behind_barrier =
                    self.choices_behind_barrier(process, |register| machine.get(register));
                for choice in choices.into_iter().chain(behind_barrier).flatten() {
                    let successor = self.successor(process, choice, state, scratch);
                    each(Move { expansion, process, choice }, successor);
                    scratch.undo(expansion);
                }
            }
            expansion += 1;
        }
    }

    /// Like [`Self::successors`], for callers outside the inner loop of a search: compiled once for
    /// all of them.
    #[inline(never)]
    pub fn successors_dyn<const W: usize>(
        &self,
        state: &[u64; W],
        scratch: &mut Scratch,
        each: &mut dyn FnMut(Move, Successor<W>),
    ) {
        self.successors(state, scratch, each);
    }

    /// Like [`Self::successors`], but reuses cached transitions.
    #[inline]
    pub fn successors_cached<const W: usize>(
        &self,
        state: &[u64; W],
        scratch: &mut Scratch,
        cache: &mut TransitionCache<W>,
        mut each: impl FnMut(Move, Successor<W>),
    ) {
        let fields = self.layout.fields();
        let get = |register: Register| fields[register].get(state);
        let mut is_unpacked = false;
        for process in (0..self.processes.len()).map(Process::from_index) {
            let location = Location(get(self.registers.location(process)) as u32);
            for choice in self.choices(process, get).into_iter().flatten() {
                let site = cache.site(process, choice, location);
                let successor = match cache.get(site, state) {
                    Ok(next) => Successor { stop: None, state: Some(next) },
                    Err(place) => {
                        is_unpacked = is_unpacked || self.unpack(state, 0, scratch);
                        let successor = self.successor(process, choice, state, scratch);
                        scratch.undo(0);
                        if let Successor { stop: None, state: Some(next) } = &successor {
                            cache.insert(site, place, state, next);
                        }
                        successor
                    }
                };
                each(Move { expansion: 0, process, choice }, successor);
            }
        }
    }

    /// Returns the successor for a move from the state in the machine, which is an expansion of
    /// `state`.
    #[inline]
    fn successor<const W: usize>(
        &self,
        process: Process,
        choice: Choice,
        state: &[u64; W],
        scratch: &mut Scratch,
    ) -> Successor<W> {
        let stop = self.take(process, choice, &mut scratch.machine).err();
        if !self.goes_on(stop) {
            return Successor { stop, state: None };
        }
        match self.settled(state, scratch) {
            Ok(next) => Successor { stop, state: Some(next) },
            Err(later) => Successor { stop: Some(later), state: None },
        }
    }

    /// Returns true if states are explored without canonical forms and ample steps.
    pub(super) const fn is_plain(&self) -> bool {
        self.forgetting.is_none()
            && self.numbering.is_none()
            && self.symmetry.is_none()
            && self.ample.is_none()
    }

    /// Unpacks an expansion of a state; expansions with smaller numbers must be unpacked before.
    /// Returns `false` if there are fewer expansions.
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

    /// Returns the packed canonical form of the state in the machine, after ample steps. The
    /// machine's state was made from `state`.
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
        let Scratch { canonical, after, ahead, .. } = scratch;
        after.copy_from_slice(machine.state());
        self.canonicalise_since(canonical, after);
        let AtOnce { stop, .. } = self.go_ahead(after, ahead);
        if let Some(stop) = stop {
            return Err(stop);
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

    /// Takes ample steps from a canonical state until none is left, and replaces the state. If
    /// ample steps form a cycle, the state becomes the first one on the cycle: a process that spins
    /// stays where its spinning begins. This is the cycle proviso of partial order reduction; it is
    /// not needed for soundness, since the state is explored with all moves, but it keeps spinning
    /// out of traces as far as possible.
    pub fn go_ahead(&self, state: &mut [Scalar], ahead: &mut Ahead) -> AtOnce {
        if self.ample.is_none() {
            return AtOnce { steps: 0, stop: None };
        }
        for steps in 0..MOST_AT_ONCE {
            match self.leader(state, ahead) {
                None => return AtOnce { steps, stop: None },
                Some((_, Err(stop))) => return AtOnce { steps: steps + 1, stop: Some(stop) },
                Some((_, Ok(()))) => {
                    if steps == 0 {
                        ahead.circle.begin(state);
                    }
                    self.follow(state, ahead);
                }
            }
            if let Some(length) = ahead.circle.closed(state) {
                return AtOnce { steps: self.enter(state, length, ahead), stop: None };
            }
        }
        self.limits.reach(Limit::AtOnce);
        AtOnce { steps: MOST_AT_ONCE, stop: None }
    }

    /// Replaces `state` by the canonical form of the state in the leader's machine.
    fn follow(&self, state: &mut [Scalar], ahead: &mut Ahead) {
        let Ahead { machine, later, .. } = ahead;
        later.copy_from_slice(machine.state());
        self.canonicalise_since(state, later);
        state.copy_from_slice(later);
    }

    /// Sets `state` to the first state of a cycle of this length, and returns the number of steps
    /// from the start of the walk to it. Two walks, one ahead by `length`, meet there.
    fn enter(&self, state: &mut [Scalar], length: usize, ahead: &mut Ahead) -> usize {
        let walk = |state: &mut [Scalar], ahead: &mut Ahead| {
            if let Some((_, Ok(()))) = self.leader(state, ahead) {
                self.follow(state, ahead);
            }
        };
        let mut first = ahead.circle.first.clone();
        state.copy_from_slice(&first);
        (0..length).for_each(|_| walk(&mut first, ahead));
        let mut steps = 0;
        while first != state {
            walk(&mut first, ahead);
            walk(state, ahead);
            steps += 1;
        }
        steps
    }

    /// Returns the first process with an ample step in a canonical state, and how that step ends;
    /// the machine has taken the step.
    ///
    /// A step that violates or faults may be ample; then no other step needs to be examined.
    pub fn leader(
        &self,
        state: &[Scalar],
        ahead: &mut Ahead,
    ) -> Option<(Process, Result<(), Stop>)> {
        let ample = self.ample?;
        let Ahead { machine, around, wide, .. } = ahead;
        if !ample.persistent_step(self.registers, state, around) {
            return None;
        }
        machine.begin();
        machine.state_mut().copy_from_slice(state);
        for process in (0..self.processes.len()).map(Process::from_index) {
            if !ample.may_commute(around, state, process) {
                continue;
            }
            let taken = self.take(process, Choice::Step, machine);
            if taken.is_err() {
                return Some((process, taken));
            }
            // A state that represents several states may have several successors.
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
}

/// Buffers for making successors; one per thread.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// The machine that runs the steps.
    pub machine: RegisterMachine,
    /// The canonical state from which steps are tried.
    canonical: Vec<Scalar>,
    /// Another expansion of that state.
    expanded: Vec<Scalar>,
    /// The state after the step, while it is made canonical.
    after: Vec<Scalar>,
    /// Buffers for ample steps.
    ahead: Ahead,
}

/// The result of a sequence of ample steps.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AtOnce {
    /// The number of steps, including one that goes wrong.
    pub steps: usize,
    /// The violation or fault of the last step.
    pub stop: Option<Stop>,
}

/// A cycle detection among states left by ample steps (Brent, BIT 20, 1980): the state after 1, 2,
/// 4, 8, ... steps is kept until it occurs again.
#[derive(Clone, Debug, Default)]
struct Circle {
    /// The start of the walk.
    first: Vec<Scalar>,
    kept: Vec<Scalar>,
    /// The number of steps before the kept state.
    at: usize,
    steps: usize,
}

impl Circle {
    /// Starts a walk with this state.
    fn begin(&mut self, state: &[Scalar]) {
        let Self { first, kept, .. } = self;
        for of in [first, kept] {
            of.clear();
            of.extend_from_slice(state);
        }
        (self.at, self.steps) = (0, 0);
    }

    /// Adds the state after one more step. Returns the cycle's length if the state closes one.
    fn closed(&mut self, state: &[Scalar]) -> Option<usize> {
        self.steps += 1;
        if self.kept == state {
            return Some(self.steps - self.at);
        }
        if self.steps.is_power_of_two() {
            self.kept.copy_from_slice(state);
            self.at = self.steps;
        }
        None
    }
}

/// Buffers for ample steps.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// The machine that takes the step.
    pub machine: RegisterMachine,
    /// The possible future accesses of other processes.
    around: Around,
    /// Another expansion of the canonical state.
    wide: Vec<Scalar>,
    /// The state after the ample steps.
    later: Vec<Scalar>,
    /// Ends ample steps that form a cycle.
    circle: Circle,
}

impl Ahead {
    pub fn new(product: &Product<'_>) -> Self {
        let [wide, later] = [0; 2].map(|zero| vec![zero; product.registers.count()]);
        let (around, circle) = (Around::default(), Circle::default());
        Self { machine: product.code.machine(), around, wide, later, circle }
    }
}

impl Scratch {
    pub fn new(product: &Product<'_>) -> Self {
        let machine = product.code.machine();
        let count = product.registers.count();
        let [canonical, expanded, after] = [0; 3].map(|zero| vec![zero; count]);
        let ahead = Ahead::new(product);
        Self { machine, canonical, expanded, after, ahead }
    }

    /// Puts the state before the step into the machine. Expansion 0 is the canonical state itself.
    #[inline]
    fn load(&mut self, expansion: u32) {
        self.machine.begin();
        let before = if expansion == 0 { &self.canonical } else { &self.expanded };
        self.machine.state_mut().copy_from_slice(before);
    }

    /// Restores the state before the step in the machine.
    #[inline]
    fn undo(&mut self, expansion: u32) {
        let before = if expansion == 0 { &self.canonical } else { &self.expanded };
        self.machine.undo(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states 0, 1, ... form a walk that returns from `length + entry - 1` to `entry`.
    #[test]
    fn cycle_is_found_with_its_length() {
        for entry in 0..20 {
            for length in 1..20 {
                let next = |at: Scalar| if at + 1 == entry + length { entry } else { at + 1 };
                let mut circle = Circle::default();
                circle.begin(&[0]);
                let mut state = 0;
                let closed = (0..MOST_AT_ONCE).find_map(|_| {
                    state = next(state);
                    circle.closed(&[state])
                });
                assert_eq!(closed, Some(length as usize), "{entry} {length}");
                assert_eq!(circle.first, [0]);
            }
        }
    }
}
