//! Steps of one process in a state of the crowd.
//!
//! A step is one access to a kept variable and the computation up to the next such access. An
//! access to unkept variables influences no process, and its result is unknown: it belongs to the
//! step before. Steps branch at unknown values, and in loops over the crowd: between two tracked
//! processes there are any number of others, possibly zero, so a round with "any other" may be made
//! any number of times.
//!
//! | module | content |
//! | --- | --- |
//! | `settle` | from one pause to the next |
//! | `rounds` | loops over the crowd |
//! | `pauses` | locations at which a process pauses |
//! | `delay` | operations that are shown from their first access on |
//! | `ghosts` | the specification's state of scans and updates, and judgements |
//! | `memory` | cells and variables |
//! | `named` | rows of arrays that a shared variable names |
//! | `linked` | LL/SC cells |
//! | `lost` | processes whose link is broken |
//! | `published` | rounds that are ghost scans |

mod delay;
mod ghosts;
mod linked;
mod lost;
mod memory;
mod named;
pub mod pauses;
mod published;
mod rounds;
mod settle;

use snapshot_language::Span;
use snapshot_language::deadline::Deadline;
use snapshot_language::program::{ProcedureId, SharedId};

pub use delay::NOT_BEGUN;

use crate::evaluate::{Scope, Stop};
use crate::model::{Act, Model, Part, SCANS, SWITCHES, UPDATES, Unsupported, at};
use crate::shape::{BASE, Bytes, DEAD, Mode, OLD, OWN, SOME, Scalar, T};
use crate::term::Term;

/// Order of the tracked processes, and so of loops.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Crowd {
    /// Members that are present, in ascending order.
    pub members: Vec<u8>,
    /// Member whose scans are followed.
    pub tracked: u8,
}

/// Failures that cannot be excluded.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Failure {
    /// A scan returns a vector that violates linearizability.
    Vector {
        /// Entries at i and j.
        entries: [bool; 2],
        span: Span,
    },
    /// A scan returns a view that may belong to no scan within it.
    Stale(Span),
    /// A borrowed view is taken apart, or mixed with another.
    Mixed(Span),
    /// An update ends without having passed its linearization point.
    Unpassed(Span),
    /// The program goes wrong.
    Fault(Span),
}

/// An outcome of a step.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Branch {
    pub state: Vec<u8>,
    /// Reason why the proof fails there.
    pub failure: Option<Failure>,
    /// Cells that were written for untracked processes: the variable, and its indices over
    /// processes or segments; `None`: any.
    pub elsewhere: Vec<(SharedId, Vec<Option<u8>>)>,
    /// Bytes of shared and private variables that may have been set to "any other" process,
    /// possibly the same one as before.
    pub others: Vec<usize>,
    /// Shared tokens that were set.
    pub tokens: Vec<usize>,
    /// Bytes that have t among their indices within a cell or a private variable of i or j, or are
    /// tokens of one, and may have been set: their values in the views of others are unknown here.
    pub hidden: Vec<usize>,
    /// True if a round began.
    pub begins_round: bool,
    /// Shared tokens that become the round's.
    pub of_round: Vec<usize>,
    /// Cells of LL/SC variables that were written, so that links to them broke: the variable, and
    /// the number of the cell.
    pub broken: Vec<(SharedId, usize)>,
}

/// Step of one process.
pub struct Run<'m> {
    pub model: &'m Model,
    /// Processes that are present.
    pub crowd: &'m Crowd,
    /// Process that makes the step.
    pub me: u8,
    /// Least number of a new version: unused before the step, because others may still hold a
    /// version that this view loses within the step.
    pub fresh: u8,
    /// Deadline within a long step.
    pub deadline: Deadline<'m>,
}

impl Branch {
    pub(crate) fn new(state: Vec<u8>) -> Self {
        let (elsewhere, others) = (Vec::new(), Vec::new());
        let (tokens, of_round, broken) = (Vec::new(), Vec::new(), Vec::new());
        let (hidden, begins_round) = (Vec::new(), false);
        let failure = None;
        Self { state, failure, elsewhere, others, tokens, hidden, begins_round, of_round, broken }
    }
}

/// Value of an argument, and its unknown byte, if any.
type Argument = (Result<Bytes, Stop>, Option<usize>);

/// Returns the location of a process.
pub fn pc(state: &[u8], block: usize) -> usize {
    usize::from(u16::from_le_bytes([state[block + at::PC], state[block + at::PC + 1]]))
}

/// Moves a process to a location.
pub fn set_pc(state: &mut [u8], block: usize, to: usize) {
    state[block + at::PC..block + at::PC + 2].copy_from_slice(&(to as u16).to_le_bytes());
}

impl<'m> Run<'m> {
    /// Fails if there are too many branches, or the deadline has passed.
    fn go_on_with(&self, ways: usize, branch: &Branch) -> Result<(), Unsupported> {
        let here = pc(&branch.state, self.block());
        if crate::view::are_too_many(ways, branch.state.len()) {
            return Err(crate::view::too_many_ways(self.model, here));
        }
        let construct = "a step that does not end in time";
        let late = |_| Unsupported { span: self.model.code[here].span, construct };
        self.deadline.check().map_err(late)
    }

    fn block(&self) -> usize {
        self.model.blocks[usize::from(self.me)]
    }

    fn mode(&self) -> Mode {
        self.model.obligation.mode
    }

    fn is_direct(&self) -> bool {
        self.mode() == Mode::Direct
    }

    /// Returns true if this obligation judges this process.
    fn is_judged(&self) -> bool {
        match (self.mode(), self.model.obligation.part) {
            (Mode::Direct, Part::By(member)) => self.me == self.crowd.tracked && self.me == member,
            (Mode::Direct, _) => self.me == self.crowd.tracked,
            (Mode::Nested, part) => self.me == T && part != Part::Faults,
        }
    }

    fn scope<'a>(&'a self, state: &'a mut [u8]) -> Scope<'a> {
        let fresh = crate::view::versions(self.model, state).max(self.fresh);
        Scope {
            model: self.model,
            members: &self.crowd.members,
            state,
            me: self.me,
            unknown: None,
            fresh,
            lenient: self.is_direct() || self.me != T || self.model.obligation.part == Part::Tokens,
            trusting: self.is_direct() || !self.is_judged(),
        }
    }

    /// Returns the values of the arguments of a call, each with its unknown byte: in one scope, so
    /// that two new versions among them differ.
    fn arguments(&self, state: &mut [u8], arguments: &[Term]) -> Vec<Argument> {
        let mut scope = self.scope(state);
        let mut one = |argument: &Term| {
            scope.unknown = None;
            (scope.bytes(argument), scope.unknown)
        };
        arguments.iter().map(&mut one).collect()
    }

    /// Returns true if a ghost scan of the process is open.
    pub fn in_ghost(&self, state: &[u8]) -> bool {
        state[self.block() + at::GHOST] != 0
    }

    /// Returns the operations that an idle process may call: the operation, its procedure, and the
    /// value that an update writes.
    fn calls(&self, state: &[u8]) -> Vec<(u8, ProcedureId, Option<u8>)> {
        let update = self.model.update;
        let switched = state[self.block() + at::SWITCHED] != 0;
        let updates = match () {
            () if self.me == T || self.mode() == Mode::Nested => vec![(UPDATES, OWN)],
            () if switched => vec![(UPDATES, BASE + 1)],
            () => vec![(UPDATES, BASE), (SWITCHES, BASE + 1)],
        };
        let updates = updates.into_iter().map(|(what, value)| (what, update, Some(value)));
        updates.chain([(SCANS, self.model.scan, None)]).collect()
    }

    /// Enters the procedure of an operation.
    fn start(&self, state: &mut [u8], operation: u8, procedure: ProcedureId, argument: Option<u8>) {
        let block = self.block();
        state[block + at::OPERATION] = operation;
        if operation == SWITCHES {
            state[block + at::SWITCHED] = 1;
        }
        let arguments = argument.map(|byte| Bytes::from_slice(&[byte]));
        self.enter(state, procedure, arguments.into_iter().collect(), 0);
    }

    /// Returns all ways to begin an operation: an update, or a scan.
    pub fn begin(&self, state: &[u8], scan: bool) -> Result<Vec<Branch>, Unsupported> {
        let mut out = Vec::new();
        for (operation, procedure, argument) in self.calls(state) {
            if (operation == SCANS) != scan {
                continue;
            }
            let mut state = state.to_vec();
            self.start(&mut state, operation, procedure, argument);
            if self.model.is_ghost[procedure.0 as usize] {
                self.open(&mut state);
            }
            self.settle(Branch::new(state), false, &mut out)?;
        }
        Ok(out)
    }

    /// Returns the successors of a process that is not idle.
    pub fn step(&self, state: &[u8]) -> Result<Vec<Branch>, Unsupported> {
        let block = self.block();
        let here = pc(state, block);
        let instruction = &self.model.code[here];
        let mut out = Vec::new();
        let mut begun = Branch::new(state.to_vec());
        match &instruction.act {
            act if act.cell().is_some() || matches!(act, Act::Atomic) => {
                self.first_access(&mut begun.state);
                let mut waiting = vec![begun];
                if matches!(instruction.act, Act::Atomic) {
                    waiting = self.atomic(waiting)?;
                } else {
                    waiting = self.access(waiting.remove(0), instruction)?;
                }
                for branch in waiting {
                    self.settle(branch, instruction.leaves(), &mut out)?;
                }
            }
            Act::Call(procedure, arguments, _)
                if self.model.is_ghost[procedure.0 as usize] && !self.in_ghost(state) =>
            {
                let state = &mut begun.state;
                self.invoke_update(state);
                let mut values = Vec::new();
                for (bytes, _) in self.arguments(state, arguments) {
                    match bytes {
                        Ok(bytes) => values.push(bytes),
                        Err(stop) => begun.failure = Some(failed(stop)),
                    }
                }
                if begun.failure.is_none() {
                    self.forget(state, here + 1);
                    self.enter(state, *procedure, values, here + 1);
                    self.open(state);
                    self.emit(begun, &mut out)?;
                } else {
                    out.push(begun);
                }
            }
            _ => self.settle(begun, false, &mut out)?,
        }
        Ok(out)
    }

    fn enter(&self, state: &mut [u8], procedure: ProcedureId, arguments: Vec<Bytes>, back: usize) {
        let block = self.block();
        let frame = &self.model.frames[procedure.0 as usize];
        state[block + frame.back..block + frame.back + 2]
            .copy_from_slice(&(back as u16).to_le_bytes());
        for (room, bytes) in frame.locals.iter().zip(arguments) {
            self.put(state, block + room.base, &bytes);
        }
        for (room, initial) in &self.model.fresh_locals[procedure.0 as usize] {
            // Initial values are constants: they cannot stop.
            if let Ok(bytes) = self.scope(state).bytes(initial) {
                let bytes = self.first(block + room.base, bytes);
                self.put(state, block + room.base, &bytes);
            }
        }
        let entry = self.model.entries[procedure.0 as usize];
        self.forget(state, entry);
        set_pc(state, block, entry);
    }

    /// Makes views that are parts of a variable initially old.
    fn first(&self, begin: usize, mut bytes: Bytes) -> Bytes {
        if self.mode() == Mode::Nested && bytes.len() > 1 {
            for (offset, byte) in bytes.iter_mut().enumerate() {
                let leaf = self.model.slots[begin + offset].leaf;
                if leaf.is_some_and(|leaf| leaf.scalar == Scalar::View) {
                    *byte = OLD;
                }
            }
        }
        bytes
    }

    /// Sets kept bytes; places of "any other" hold nothing lasting.
    fn put(&self, state: &mut [u8], begin: usize, bytes: &[u8]) {
        for (offset, &byte) in bytes.iter().enumerate() {
            let slot = &self.model.slots[begin + offset];
            if slot.kept && !slot.other {
                state[begin + offset] = slot.stored(byte);
            } else if slot.kept {
                state[begin + offset] = DEAD;
            }
        }
    }

    /// Forgets the dead bytes before an instruction of the running procedure.
    fn forget(&self, state: &mut [u8], before: usize) {
        let Some(instruction) = self.model.code.get(before) else { return };
        let block = self.block();
        let frame = &self.model.frames[instruction.procedure.0 as usize];
        for (room, live) in frame.locals.iter().zip(&instruction.live) {
            if !live {
                state[block + room.base..block + room.base + room.size].fill(DEAD);
            }
        }
    }

    /// Forgets bytes whose only condition is decided without them.
    fn forget_decided(&self, state: &mut [u8]) {
        let block = self.block();
        for one in &self.model.uses[usize::from(self.me)] {
            let kept = state[one.at];
            if kept < BASE || !self.model.is_outside(state, one.at) {
                continue;
            }
            let act = &self.model.code[one.instruction].act;
            let Some(condition) = crate::decided::condition(act) else { continue };
            let outer: Vec<u8> =
                one.bound.iter().map(|(variable, _)| state[block + variable]).collect();
            for (variable, place) in &one.bound {
                state[block + variable] = BASE + place;
            }
            let with = self.scope(state).truth(condition);
            if matches!(with, Ok(Some(_))) {
                state[one.at] = DEAD;
                if self.scope(state).truth(condition) != with {
                    state[one.at] = kept;
                }
            }
            for ((variable, _), byte) in one.bound.iter().zip(outer) {
                state[block + variable] = byte;
            }
        }
    }

    /// Forgets bytes that no judged result depends on.
    fn forget_faint(&self, state: &mut [u8], here: usize) {
        if self.me != self.crowd.tracked || !self.in_ghost(state) {
            return;
        }
        let block = self.block();
        let procedure = self.model.code[here].procedure;
        for faint in self.model.faint.iter().filter(|one| one.is_of(self.crowd, procedure)) {
            for at in faint.bytes(self.model, &state[block..], here) {
                state[block + at] = DEAD;
            }
        }
    }

    /// Ends a step: forgets dead bytes, and makes the bytes definite on which all views must agree.
    fn emit(&self, mut branch: Branch, out: &mut Vec<Branch>) -> Result<(), Unsupported> {
        let here = pc(&branch.state, self.block());
        if here != 0 {
            self.forget(&mut branch.state, here);
            self.forget_decided(&mut branch.state);
            self.forget_faint(&mut branch.state, here);
        }
        self.forget_links(&mut branch.state, here);
        let states = crate::view::definite(self.model, self.crowd, branch.state)?;
        out.extend(states.into_iter().map(|state| Branch {
            state,
            failure: branch.failure,
            elsewhere: branch.elsewhere.clone(),
            others: branch.others.clone(),
            tokens: branch.tokens.clone(),
            hidden: branch.hidden.clone(),
            begins_round: branch.begins_round,
            of_round: branch.of_round.clone(),
            broken: branch.broken.clone(),
        }));
        Ok(())
    }

    /// Returns a branch for each value of an unknown byte; `None` if there are infinitely many.
    fn split(&self, branch: &Branch, unknown: Option<usize>) -> Option<Vec<Branch>> {
        let at = unknown?;
        let values = self.model.slots[at].leaf?.values(self.mode(), &self.crowd.members)?;
        let some = branch.state[at] == SOME;
        let values = values.into_iter().filter(|value| !some || *value >= BASE);
        let with = |value| {
            let mut branch = branch.clone();
            branch.state[at] = value;
            branch
        };
        Some(values.map(with).collect())
    }
}

/// Position of a loop at a member; the gaps follow [`GAP`].
pub const MEMBER: u8 = 1;

/// Position of the gap before all members; the gap behind member m has `GAP + 1 + m`.
pub const GAP: u8 = 5;

/// Adds an item to a list, unless it is present.
fn note<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

fn failed(stop: Stop) -> Failure {
    match stop {
        Stop::Fault(span) => Failure::Fault(span),
        Stop::Taken(span) => Failure::Mixed(span),
    }
}
