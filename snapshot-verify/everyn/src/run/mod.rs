//! Steps of one process in a state of the crowd.
//!
//! A step is one access to something that is kept, and what follows up to the next such
//! access. An access to nothing that is kept influences no process, and its result is unknown
//! anyway: it goes with the step before. Steps branch where something is unknown, and in
//! loops over the crowd: between two tracked processes there are any number of others,
//! none included, so a round with "any other" may be made any number of times.
//!
//! | module | content |
//! | --- | --- |
//! | `settle` | from one pause to the next |
//! | `rounds` | loops over the crowd |
//! | `pauses` | where a process pauses |
//! | `delay` | operations that are shown from their first access on |
//! | `ghosts` | what is kept in mind of scans and updates, and judged |
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

/// The order of the tracked processes; of loops, that is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Crowd {
    /// All that are there, in ascending order.
    pub members: Vec<u8>,
    /// The one whose scans are followed.
    pub tracked: u8,
}

/// What cannot be excluded.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Failure {
    /// A scan returns a vector that violates linearizability.
    Vector {
        /// Its entries at i and j.
        entries: [bool; 2],
        /// Where it returns.
        span: Span,
    },
    /// A scan returns a view that need not be of a scan within it.
    Stale(Span),
    /// A view that was borrowed is taken apart, or mixed with another.
    Mixed(Span),
    /// An update ends without having passed its linearization point.
    Unpassed(Span),
    /// The program goes wrong.
    Fault(Span),
}

/// One way in which a step may end.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Branch {
    /// The state.
    pub state: Vec<u8>,
    /// Why the proof fails there.
    pub failure: Option<Failure>,
    /// Cells that were written for processes that are not tracked: the variable, and its
    /// indices over processes or segments; none: any.
    pub elsewhere: Vec<(SharedId, Vec<Option<u8>>)>,
    /// Shared bytes, and those of private variables, that may have been set to "any other"
    /// process, though maybe to the same.
    pub others: Vec<usize>,
    /// Shared tokens that were set.
    pub tokens: Vec<usize>,
    /// Bytes that have t among their indices within a cell or a private variable of i or j, or
    /// are tokens of one, and may have been set: what they hold in the views of others is not
    /// said here.
    pub hidden: Vec<usize>,
    /// Whether a round began.
    pub begins_round: bool,
    /// Shared tokens that are now that of the round.
    pub of_round: Vec<usize>,
    /// Cells of LL/SC variables that were written, so that links to them broke: the variable,
    /// and the number of the cell.
    pub broken: Vec<(SharedId, usize)>,
}

/// A process that makes a step.
pub struct Run<'m> {
    /// The program.
    pub model: &'m Model,
    /// The processes that are there.
    pub crowd: &'m Crowd,
    /// The one that makes it.
    pub me: u8,
    /// The least number that a new version may have: none that was there before the step, for what is
    /// lost within the step others may still hold.
    pub fresh: u8,
    /// When a step that takes long must end.
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

/// What an argument is, and the byte that was unknown, if one was.
type Argument = (Result<Bytes, Stop>, Option<usize>);

/// Where a process stands.
pub fn pc(state: &[u8], block: usize) -> usize {
    usize::from(u16::from_le_bytes([state[block + at::PC], state[block + at::PC + 1]]))
}

/// Puts a process somewhere.
pub fn set_pc(state: &mut [u8], block: usize, to: usize) {
    state[block + at::PC..block + at::PC + 2].copy_from_slice(&(to as u16).to_le_bytes());
}

impl<'m> Run<'m> {
    /// Goes on with one more way, of that many, unless they are too many, or it is time to end.
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

    /// Whether what this process does is judged here.
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

    /// What the arguments of a call are, and what was unknown of each: in one scope, for two new versions
    /// among them are not one.
    fn arguments(&self, state: &mut [u8], arguments: &[Term]) -> Vec<Argument> {
        let mut scope = self.scope(state);
        let mut one = |argument: &Term| {
            scope.unknown = None;
            (scope.bytes(argument), scope.unknown)
        };
        arguments.iter().map(&mut one).collect()
    }

    /// Whether a ghost scan of the process is open.
    pub fn in_ghost(&self, state: &[u8]) -> bool {
        state[self.block() + at::GHOST] != 0
    }

    /// The operations that an idle process may call: what it then does, and the value that
    /// an update writes.
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

    /// The ways to begin an operation: an update, or a scan.
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

    /// The ways in which a process that is not idle goes on.
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

    /// Views that are parts of a variable count as old at first.
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

    /// Sets bytes that are kept; places of "any other" hold nothing lasting.
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

    /// Forgets what is dead before an instruction of the procedure that runs.
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

    /// Forgets what the only condition that reads it does not need any more.
    fn forget_decided(&self, state: &mut [u8]) {
        let block = self.block();
        for one in &self.model.uses[usize::from(self.me)] {
            let kept = state[one.at];
            if kept < BASE || !crate::view::is_outside(self.model, state, one.at) {
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

    /// Forgets what nothing that is judged depends on.
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

    /// Ends a step: what is dead is forgotten, what all views must agree on is made
    /// definite.
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

    /// A definite value for what was unknown, each of them; nothing if there are none.
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

/// Positions of a loop: at a member, or in the gap before all, or behind a member.
pub const MEMBER: u8 = 1;

/// The gap before all members; behind member m it is one more, and m.
pub const GAP: u8 = 5;

/// Adds to a list what is not in it.
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
