//! Steps of one process in a view.
//!
//! A step is one access to a kept variable and the computation up to the next such access; accesses
//! to unkept variables give unknown results and belong to the step before. If a condition is
//! unknown, both branches are taken. A loop over the crowd passes the members that are present, in
//! their order, and between them any number of others.

pub mod late;
mod linked;
pub mod lost;
mod memory;
mod named;
mod passed;
mod run_local;

use smallvec::SmallVec;
use snapshot_language::Span;
use snapshot_language::program::{Expression, IndexSet, SharedId};
use snapshot_semantics::interpret::code::Instruction;
use thiserror::Error;

use crate::byte::{ANY, BASE, LOOSE, OTHER, Row, T};
use crate::evaluate::{Scope, Stop};
use crate::layout::{Index, Layout, Round, SPECIFICATION, at, fixed, op};

/// Members that are present in a view.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Kind {
    /// In the order of their numbers.
    pub members: Vec<u8>,
    /// Member whose scans are followed; t is followed at all times.
    pub followed: u8,
}

/// Failures that cannot be excluded.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
pub enum Failure {
    #[error("the return of a vector that is not linearizable")]
    Vector(Span),
    /// A ghost scan or a scan may return a view that belongs to no ghost scan within it.
    #[error("the return of a view that was made before the scan began")]
    Stale(Span),
    /// The program takes apart, or mixes, a view that was made elsewhere.
    #[error("a view of several origins")]
    Mixed(Span),
    /// An update ends without having taken effect.
    #[error("an update that ends without having taken effect")]
    Unpassed(Span),
    /// The program goes wrong.
    #[error("a fault")]
    Fault(Span),
    /// Unsupported construct.
    #[error("{0}, which certificates for every n do not know")]
    Unsupported(&'static str),
    /// Unknown values lead to more than [`MOST_WAYS`] outcomes of a step.
    #[error("a step that may end in more than {MOST_WAYS} ways")]
    TooMany,
    /// The budget ended within the step.
    #[error("a step that was not made to its end")]
    Ended,
}

impl Failure {
    /// Returns the location in the text.
    pub const fn span(&self) -> Option<Span> {
        match self {
            Self::Vector(span)
            | Self::Stale(span)
            | Self::Mixed(span)
            | Self::Unpassed(span)
            | Self::Fault(span) => Some(*span),
            Self::Unsupported(_) | Self::TooMany | Self::Ended => None,
        }
    }
}

/// Maximum number of outcomes of one step; further ones are not tried.
pub const MOST_WAYS: usize = 1 << 14;

/// Maximum number of bytes of their views.
const MOST_BYTES: usize = 1 << 26;

/// Returns true if a step has too many outcomes, each with a view of this many bytes.
pub const fn are_too_many(ways: usize, size: usize) -> bool {
    ways > MOST_WAYS || ways.saturating_mul(size) > MOST_BYTES
}

/// Write of a step, as others see it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Write {
    /// A cell receives a content; the write may begin or end a round.
    Cell(SharedId, Vec<Index>, Row, Option<Round>),
    /// A private variable was stored to; the view holds its value.
    Private(usize),
    /// The process linked to a cell of this variable; the view shows to which.
    Link(SharedId),
    /// The process made itself the named one: the view holds the named row.
    Named(usize),
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Outcome {
    /// View after the step; versions keep their numbers.
    pub state: Vec<u8>,
    /// In order.
    pub writes: Vec<Write>,
    /// Reason why the proof fails there.
    pub failure: Option<Failure>,
    /// Number of the next new version.
    pub fresh: u8,
    /// Operation that the step is part of; one of [`op`].
    pub operation: u8,
}

/// Step of one process in a view.
pub struct Run<'a, 'p> {
    pub layout: &'a Layout<'p>,
    pub kind: &'a Kind,
    /// Process that makes the step.
    pub me: u8,
    /// Injected faults, for tests.
    pub planted: InjectedFault,
}

/// Faults that tests inject in the search, never in the check.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct InjectedFault {
    /// Omits steps of further processes.
    pub no_others: bool,
    /// Omits, for others, steps of i and j in their scans.
    pub no_scans: bool,
    /// Allows two named processes where there can be only one.
    pub two_named: bool,
    /// Takes unknown conditions for false.
    pub unknown_is_false: bool,
    /// Ignores failures.
    pub no_failures: bool,
    /// Takes any two bits of one class for different.
    pub symbols_differ: bool,
    /// Omits the hidden part of an operation that is shown late.
    pub late_is_unseen: bool,
    /// Leaves failures in a round of any other process to another view, also within nested loops.
    pub any_round: bool,
}

/// Position of a loop in the gap before all members; the gap after member m has position
/// `GAP + 1 + m`.
pub const GAP: u8 = 1;
/// At member m, the position is `MEMBER + m`.
pub const MEMBER: u8 = 8;
/// Position of a loop over integers.
pub const COUNTING: u8 = 16;

impl<'p> Run<'_, 'p> {
    /// Returns the first byte of the process's block.
    pub fn block(&self) -> usize {
        self.layout.blocks[usize::from(self.me)]
    }

    fn head(&self, state: &[u8], offset: usize) -> u8 {
        state[self.block() + offset]
    }

    /// Returns true if the process is in a scan or in a ghost scan, which only its own views show.
    pub fn is_inside(&self, state: &[u8]) -> bool {
        self.head(state, at::OP) == op::SCANS || self.head(state, at::GHOST) != 0
    }

    fn is_followed(&self) -> bool {
        self.me == self.kind.followed
    }

    /// Returns the location of the process: the procedure and the instruction.
    pub fn place(&self, state: &[u8]) -> Option<(usize, usize)> {
        self.layout.place(state, self.me, true)
    }

    /// Returns all outcomes of the process's next step; for i and j, none while they are in a scan
    /// that the view does not follow.
    pub fn steps(&self, state: &[u8]) -> Vec<Outcome> {
        let mut out = Vec::new();
        let fresh = versions(self.layout, state);
        let operation = self.head(state, at::OP);
        let (state, writes) = (state.to_vec(), Vec::new());
        let begin = Outcome { state, writes, failure: None, fresh, operation };
        let state = &begin.state.clone();
        match self.place(state) {
            None if self.layout.late => self.begin_late(&begin, &mut out),
            None => {
                for (operation, value) in self.operations(state) {
                    let mut begun = begin.clone();
                    self.invoke(&mut begun, operation, value);
                    self.run_local(begun, false, &mut out);
                }
            }
            Some(_) if !self.is_followed() && self.is_inside(state) => {}
            Some((procedure, here)) => {
                let instruction = self.layout.code[procedure].instructions[here];
                self.step(begin, procedure, instruction, &mut out);
            }
        }
        out
    }

    fn operations(&self, state: &[u8]) -> Vec<(u8, u8)> {
        let mut all = match (self.me, self.layout.obligation.has_tokens()) {
            (T, _) | (_, true) => vec![(op::UPDATES, BASE)],
            _ if self.head(state, at::SWITCHED) != 0 => vec![(op::UPDATES, BASE + 1)],
            _ => vec![(op::UPDATES, BASE), (op::SWITCHES, BASE + 1)],
        };
        if self.is_followed() {
            all.push((op::SCANS, ANY));
        }
        all
    }

    fn invoke(&self, branch: &mut Outcome, operation: u8, value: u8) {
        let block = self.block();
        branch.state[block + at::OP] = operation;
        branch.operation = operation;
        if operation == op::SWITCHES {
            branch.state[block + at::SWITCHED] = 1;
        }
        let root = self.layout.root(operation);
        let arguments = match operation {
            op::SCANS => Vec::new(),
            _ => vec![Row::from_slice(&[value])],
        };
        self.enter(branch, root, arguments);
        if operation == op::SCANS && self.layout.is_ghost[root] {
            self.open(branch);
        }
    }

    fn step(
        &self,
        mut branch: Outcome,
        procedure: usize,
        instruction: Instruction<'p>,
        out: &mut Vec<Outcome>,
    ) {
        match instruction {
            Instruction::Access { access, .. } => {
                let is_marked = |here| {
                    self.layout.round_at(procedure, here).is_some()
                        || self.is_point(procedure, here)
                };
                let place = self.place(&branch.state);
                let written = access.writes() || place.is_some_and(|(_, here)| is_marked(here));
                self.first_access(&mut branch);
                let mut after = Vec::new();
                self.access(branch, procedure, &mut after);
                after.into_iter().for_each(|branch| self.run_local(branch, written, out));
            }
            Instruction::BeginAtomic { .. } => {
                self.first_access(&mut branch);
                for branch in self.atomic(branch) {
                    self.run_local(branch, true, out);
                }
            }
            Instruction::Call { procedure: inner, arguments, .. }
                if self.opens(&branch.state, inner.0 as usize) =>
            {
                self.invoke_update(&mut branch.state);
                if !self.is_followed() {
                    self.open(&mut branch);
                    self.emit(branch, out);
                    return;
                }
                let Some(rows) = self.arguments(&mut branch, procedure, arguments) else {
                    out.push(branch);
                    return;
                };
                self.enter(&mut branch, inner.0 as usize, rows);
                self.open(&mut branch);
                match self.me {
                    T => self.run_local(branch, false, out),
                    // The centre shows that the ghost scan is open, even if it makes no access.
                    _ => self.emit(branch, out),
                }
            }
            _ => self.run_local(branch, false, out),
        }
    }

    /// Returns true if a call of a procedure, now, begins a ghost scan.
    fn opens(&self, state: &[u8], procedure: usize) -> bool {
        self.layout.is_ghost[procedure]
            && self.head(state, at::GHOST) == 0
            && !self.passes_over(procedure)
    }

    /// Returns true if the calls of a procedure are ghost scans that are passed over.
    fn passes_over(&self, procedure: usize) -> bool {
        self.layout.is_ghost[procedure] && self.layout.passes[usize::from(self.me)]
    }

    fn arguments(
        &self,
        branch: &mut Outcome,
        procedure: usize,
        arguments: &'p [Expression],
    ) -> Option<Vec<Row>> {
        arguments.iter().map(|argument| self.evaluated(branch, procedure, argument)).collect()
    }

    /// Returns the value of an expression, unknown if it has none and that is not judged. `None`:
    /// the branch fails.
    pub(super) fn evaluated(
        &self,
        branch: &mut Outcome,
        procedure: usize,
        expression: &Expression,
    ) -> Option<Row> {
        match self.scope(branch, procedure).row(expression) {
            Ok(row) => Some(row),
            Err(stop) => match self.unknown(stop, &branch.state) {
                Some(failure) => {
                    branch.failure = Some(failure);
                    None
                }
                None => Some(self.layout.unknown(&expression.content, self.lost_view())),
            },
        }
    }

    /// Returns the failure of the proof for a stopped evaluation, if the obligation judges it.
    pub fn unknown(&self, stop: Stop, state: &[u8]) -> Option<Failure> {
        match stop {
            Stop::Fault(span) => {
                let is_judged = self.layout.obligation.fears(self.me) && !self.is_elsewhere(state);
                is_judged.then_some(Failure::Fault(span))
            }
            Stop::Apart(span) => Some(Failure::Mixed(span)),
        }
    }

    /// Returns true if exactly one loop over processes runs, in a round of any other process: a
    /// failure there also occurs in the round of i, in the view in which i is that process.
    fn is_elsewhere(&self, state: &[u8]) -> bool {
        let block = self.block();
        let positions = self.layout.frames.iter().flat_map(|frame| &frame.fors);
        let positions = positions.map(|position| state[block + position]);
        let is_gap = |position: &u8| (GAP..MEMBER).contains(position);
        let running = positions.filter(|position| !matches!(*position, ANY | COUNTING));
        let running: SmallVec<[u8; 4]> = running.collect();
        match self.planted.any_round {
            true => running.iter().any(is_gap),
            false => running.len() == 1 && running.iter().all(is_gap),
        }
    }

    /// Returns the inputs of evaluations in a procedure.
    pub fn scope<'s>(&'s self, branch: &'s mut Outcome, procedure: usize) -> Scope<'s, 'p> {
        Scope {
            layout: self.layout,
            members: &self.kind.members,
            state: &mut branch.state,
            me: self.me,
            procedure,
            fresh: &mut branch.fresh,
            unknown: None,
            is_first: false,
            symbols_differ: self.planted.symbols_differ,
        }
    }

    fn enter(&self, branch: &mut Outcome, procedure: usize, arguments: Vec<Row>) {
        let block = self.block();
        let frame = &self.layout.frames[procedure];
        branch.state[block + frame.at..block + frame.end].fill(ANY);
        for (room, row) in frame.locals.iter().zip(&arguments) {
            self.put(&mut branch.state, block + room.base, row);
        }
        let declared = self.layout.program.procedures[procedure].locals.iter();
        for (local, room) in declared.zip(&frame.locals).skip(arguments.len()) {
            // A first value that depends on n is unknown, and may go wrong.
            match self.scope(branch, procedure).row(&local.initial) {
                Ok(row) => self.put(&mut branch.state, block + room.base, &row),
                Err(stop) => {
                    branch.failure = branch.failure.or(self.unknown(stop, &branch.state));
                }
            }
        }
        self.arrive(&mut branch.state, procedure, 0);
    }

    /// Moves a process to an instruction of its present procedure.
    pub(crate) fn arrive(&self, state: &mut [u8], procedure: usize, here: usize) {
        let block = self.block();
        let frame = &self.layout.frames[procedure];
        state[block + frame.at] = here as u8 + 1;
        for local in &self.layout.forgotten[procedure][here] {
            let room = frame.locals[*local];
            state[block + room.base..block + room.base + room.size].fill(ANY);
        }
        for variable in &self.layout.unlinked[procedure][here] {
            state[self.layout.links_of(self.me, SharedId(*variable as u32))].fill(ANY);
        }
    }

    /// Sets the kept bytes of a row.
    fn put(&self, state: &mut [u8], begin: usize, row: &[u8]) {
        for (at, byte) in (begin..).zip(row) {
            if self.layout.slots[at].kept {
                let is_there = self.is_there(at);
                state[at] = if is_there { self.layout.element(at, *byte) } else { ANY };
            }
        }
    }

    /// Returns true if the members among the indices of a byte are present: elements of others are
    /// never known, because they belong to several processes, or to none.
    fn is_there(&self, at: usize) -> bool {
        self.layout.slots[at].path.iter().all(|member| self.kind.members.contains(member))
    }
}

/// Returns all cells that indices may stand for: members that are present, any other, and places.
pub fn definite_indices(
    layout: &Layout<'_>,
    kind: &Kind,
    variable: SharedId,
    indices: &[Index],
) -> Vec<Vec<Index>> {
    let mut all = vec![Vec::new()];
    for (index, over) in indices.iter().zip(&layout.program.shared(variable).dimensions) {
        let members = kind.members.iter().chain(&[OTHER]).map(|one| Index::Member(*one));
        let values: Vec<Index> = match index {
            Index::Anyone | Index::Anywhere => match over {
                IndexSet::Range(low, high) => match fixed(*low, *high) {
                    Some((low, high)) => {
                        (0..=high - low).map(|place| Index::Place(place as usize)).collect()
                    }
                    // Cells of such variables have no place.
                    None => vec![Index::Anywhere],
                },
                _ => members.collect(),
            },
            Index::Member(LOOSE) => members.filter(|one| *one != Index::Member(T)).collect(),
            index => vec![*index],
        };
        all = all
            .iter()
            .flat_map(|path: &Vec<Index>| {
                values.iter().map(move |value| [path.as_slice(), &[*value]].concat())
            })
            .collect();
    }
    all
}

/// Returns the least number that no version of a view has.
pub fn versions(layout: &Layout<'_>, state: &[u8]) -> u8 {
    let numbers = layout.versions.iter().filter_map(|at| state[*at].checked_sub(BASE));
    numbers.max().map_or(1, |greatest| greatest + 1)
}

/// Returns the byte of the specification.
pub fn specification(state: &[u8]) -> u8 {
    state[SPECIFICATION]
}
