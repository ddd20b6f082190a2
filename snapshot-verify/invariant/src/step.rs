//! Steps of one process in a view.
//!
//! A step is one access to something that is kept, and what follows up to the next such
//! access; accesses to nothing that is kept give unknown results and go with the step
//! before. Where a condition is unknown, both ways are gone. A loop over the crowd passes
//! the members that are there, in their order, and between them any number of others.

use rustc_hash::FxHashSet;
use snapshot_language::Span;
use snapshot_language::program::{Access, CellPlace, Place, Projection, Root, SharedId, Type};
use snapshot_semantics::interpret::code::{For, Instruction};

use thiserror::Error;

use crate::byte::{ANY, BASE, OTHER, Row, T, integer, number, truth};
use crate::evaluate::{Scope, Stop, patched_token, stored_token};
use crate::layout::{Index, Layout, Room, SPECIFICATION, Scalar, at, by_members, fixed, op, size};

/// Who is there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Kind {
    /// The members, in the order of their numbers.
    pub members: Vec<u8>,
    /// The one whose scans are followed; t is followed in all that it does.
    pub followed: u8,
}

/// What cannot be excluded.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
pub enum Failure {
    /// A ghost scan returns a vector that is not right.
    #[error("a vector that is not linearizable, returned at byte {} of the text", .0.begin)]
    Vector(Span),
    /// A ghost scan or a scan returns a view that need not be of one within it.
    #[error("a view that was made before the scan began, returned at byte {} of the text", .0.begin)]
    Stale(Span),
    /// A view is taken apart, or mixed, that was made elsewhere.
    #[error("a view of several origins, at byte {} of the text", .0.begin)]
    Mixed(Span),
    /// An update ends without having taken effect.
    #[error("an update that ends without having taken effect")]
    Unpassed(Span),
    /// The program goes wrong.
    #[error("a fault at byte {} of the text", .0.begin)]
    Fault(Span),
    /// A construct that is not modelled.
    #[error("{0}, which certificates for every n do not know")]
    Unfit(&'static str),
}

/// What a step leaves for others.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Write {
    /// A cell gets a content.
    Cell(SharedId, Vec<Index>, Row),
    /// A private variable was stored to; what it holds is in the view.
    Private(usize),
}

/// A way in which a step may end.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Outcome {
    /// The view behind, versions as they were numbered before.
    pub state: Vec<u8>,
    /// What it leaves, in order.
    pub writes: Vec<Write>,
    /// Why the proof fails there.
    pub failure: Option<Failure>,
    /// The number of the version that is made next.
    pub fresh: u8,
}

/// A process that makes a step.
pub struct Run<'a, 'p> {
    /// The program.
    pub layout: &'a Layout<'p>,
    /// Who is there.
    pub kind: &'a Kind,
    /// The process.
    pub me: u8,
    /// Mistakes on purpose, for tests.
    pub planted: Planted,
}

/// Mistakes that tests plant in the search, never in the check.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Planted {
    /// Steps of further processes are not made.
    pub no_others: bool,
    /// Steps of i and j in their scans are not made for others.
    pub no_scans: bool,
    /// Two processes may be named where only one can be.
    pub two_named: bool,
    /// Unknown conditions do not hold.
    pub unknown_is_false: bool,
    /// Failures are passed over.
    pub no_failures: bool,
}

/// The position of a loop in the gap before all members; behind one it is one more, and that
/// member.
pub const GAP: u8 = 1;
/// At a member it is that much, and the member.
pub const MEMBER: u8 = 8;
/// In a loop over integers.
pub const COUNTING: u8 = 16;

impl<'p> Run<'_, 'p> {
    /// The first byte of the process's block.
    pub fn block(&self) -> usize {
        self.layout.blocks[usize::from(self.me)]
    }

    fn head(&self, state: &[u8], offset: usize) -> u8 {
        state[self.block() + offset]
    }

    /// Whether it is in a scan or in a ghost scan, which only its own views show.
    pub fn is_inside(&self, state: &[u8]) -> bool {
        self.head(state, at::OP) == op::SCANS || self.head(state, at::GHOST) != 0
    }

    fn is_followed(&self) -> bool {
        self.me == self.kind.followed
    }

    /// Where it stands: the procedure and the instruction.
    pub fn place(&self, state: &[u8]) -> Option<(usize, usize)> {
        let operation = self.head(state, at::OP);
        if operation == op::IDLE {
            return None;
        }
        let mut procedure = self.layout.root(operation);
        loop {
            let stands = self.head(state, self.layout.frames[procedure].at);
            let here = usize::from(stands.checked_sub(1)?);
            match self.layout.code[procedure].instructions[here] {
                Instruction::Call { procedure: inner, .. }
                    if self.head(state, self.layout.frames[inner.0 as usize].at) != 0 =>
                {
                    procedure = inner.0 as usize;
                }
                _ => return Some((procedure, here)),
            }
        }
    }

    /// All ways in which the process may go on; of i and j, unless they are in a scan that the
    /// view does not follow.
    pub fn steps(&self, state: &[u8]) -> Vec<Outcome> {
        let mut out = Vec::new();
        let fresh = versions(self.layout, state);
        let begin = Outcome { state: state.to_vec(), writes: Vec::new(), failure: None, fresh };
        match self.place(state) {
            None => {
                for (operation, value) in self.operations(state) {
                    let mut begun = begin.clone();
                    self.invoke(&mut begun, operation, value);
                    self.settle(begun, &mut out);
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
            Instruction::Access { .. } => {
                self.first_access(&mut branch);
                let mut after = Vec::new();
                self.access(branch, procedure, &mut after);
                after.into_iter().for_each(|branch| self.settle(branch, out));
            }
            Instruction::BeginAtomic { .. } => {
                self.first_access(&mut branch);
                for branch in self.atomic(branch) {
                    self.settle(branch, out);
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
                    T => self.settle(branch, out),
                    // The centre shows that it is open, even if it accesses nothing.
                    _ => self.emit(branch, out),
                }
            }
            _ => self.settle(branch, out),
        }
    }

    /// Whether a call of a procedure, now, begins a ghost scan.
    fn opens(&self, state: &[u8], procedure: usize) -> bool {
        self.layout.is_ghost[procedure] && self.head(state, at::GHOST) == 0
    }

    fn arguments(
        &self,
        branch: &mut Outcome,
        procedure: usize,
        arguments: &'p [snapshot_language::program::Expression],
    ) -> Option<Vec<Row>> {
        let mut rows = Vec::new();
        for argument in arguments {
            match self.scope(branch, procedure).row(argument) {
                Ok(row) => rows.push(row),
                Err(stop) => match self.unknown(stop) {
                    Some(failure) => {
                        branch.failure = Some(failure);
                        return None;
                    }
                    None => {
                        let tokens = self.layout.tokens();
                        let view = if tokens { crate::byte::OLD } else { ANY };
                        rows.push(self.layout.unknown(&argument.content, view));
                    }
                },
            }
        }
        Some(rows)
    }

    /// What stops an evaluation: a failure of the proof, if that is what it is about.
    pub fn unknown(&self, stop: Stop) -> Option<Failure> {
        match stop {
            Stop::Fault(span) => {
                self.layout.obligation.fears(self.me).then_some(Failure::Fault(span))
            }
            Stop::Apart(span) => Some(Failure::Mixed(span)),
        }
    }

    /// What expressions of a procedure see.
    pub fn scope<'s>(&'s self, branch: &'s mut Outcome, procedure: usize) -> Scope<'s, 'p> {
        Scope {
            layout: self.layout,
            members: &self.kind.members,
            state: &mut branch.state,
            me: self.me,
            procedure,
            fresh: &mut branch.fresh,
            unknown: None,
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
            // A first value that depends on n is unknown.
            if let Ok(row) = self.scope(branch, procedure).row(&local.initial) {
                self.put(&mut branch.state, block + room.base, &row);
            }
        }
        self.arrive(&mut branch.state, procedure, 0);
    }

    /// Puts a process before an instruction of the procedure that it is in.
    fn arrive(&self, state: &mut [u8], procedure: usize, here: usize) {
        let block = self.block();
        let frame = &self.layout.frames[procedure];
        state[block + frame.at] = here as u8 + 1;
        for local in &self.layout.forgotten[procedure][here] {
            let room = frame.locals[*local];
            state[block + room.base..block + room.base + room.size].fill(ANY);
        }
    }

    /// Sets what is kept.
    fn put(&self, state: &mut [u8], begin: usize, row: &[u8]) {
        for (at, byte) in (begin..).zip(row) {
            if self.layout.slots[at].kept {
                state[at] = *byte;
            }
        }
    }

    /// Goes on until the next access to something that is kept.
    fn settle(&self, branch: Outcome, out: &mut Vec<Outcome>) {
        let mut seen: FxHashSet<Outcome> = FxHashSet::default();
        let mut waiting = vec![branch];
        while let Some(branch) = waiting.pop() {
            let Some((procedure, here)) = self.place(&branch.state) else {
                self.emit(branch, out);
                continue;
            };
            if branch.failure.is_some() {
                out.push(branch);
                continue;
            }
            let instruction = self.layout.code[procedure].instructions[here];
            let pauses = match instruction {
                Instruction::Access { access, into, .. } => {
                    self.layout.stops_always || !self.is_silent(&branch, procedure, access, into)
                }
                Instruction::BeginAtomic { .. } => true,
                Instruction::Call { procedure, .. } => {
                    self.opens(&branch.state, procedure.0 as usize)
                }
                _ => false,
            };
            if pauses {
                self.emit(branch, out);
                continue;
            }
            let turns = matches!(
                instruction,
                Instruction::Jump { .. } | Instruction::NextFor(_) | Instruction::BeginFor(_)
            );
            if turns && !seen.insert(branch.clone()) {
                continue;
            }
            self.local(branch, procedure, here, &mut waiting, out);
        }
    }

    /// All of an atomic block.
    fn atomic(&self, branch: Outcome) -> Vec<Outcome> {
        let mut done = Vec::new();
        let mut seen: FxHashSet<(Outcome, usize)> = FxHashSet::default();
        let mut waiting = vec![(branch, 0)];
        while let Some((mut branch, depth)) = waiting.pop() {
            let Some((procedure, here)) = self.place(&branch.state) else {
                done.push(branch);
                continue;
            };
            if branch.failure.is_some() {
                done.push(branch);
                continue;
            }
            if !seen.insert((branch.clone(), depth)) {
                continue;
            }
            match self.layout.code[procedure].instructions[here] {
                Instruction::BeginAtomic { .. } => {
                    self.arrive(&mut branch.state, procedure, here + 1);
                    waiting.push((branch, depth + 1));
                }
                Instruction::EndAtomic => {
                    self.arrive(&mut branch.state, procedure, here + 1);
                    match depth {
                        0 | 1 => done.push(branch),
                        depth => waiting.push((branch, depth - 1)),
                    }
                }
                Instruction::Access { .. } => {
                    let mut after = Vec::new();
                    self.access(branch, procedure, &mut after);
                    waiting.extend(after.into_iter().map(|branch| (branch, depth)));
                }
                _ => {
                    let (mut after, mut ended) = (Vec::new(), Vec::new());
                    self.local(branch, procedure, here, &mut after, &mut ended);
                    waiting.extend(after.into_iter().map(|branch| (branch, depth)));
                    done.extend(ended);
                }
            }
        }
        done
    }

    /// One instruction that is no pause.
    fn local(
        &self,
        mut branch: Outcome,
        procedure: usize,
        here: usize,
        waiting: &mut Vec<Outcome>,
        out: &mut Vec<Outcome>,
    ) {
        match self.layout.code[procedure].instructions[here] {
            Instruction::Access { .. } => self.access(branch, procedure, waiting),
            Instruction::Assign { place, value } => {
                let mut scope = self.scope(&mut branch, procedure);
                let row = scope.row(value);
                let unknown = scope.unknown;
                match row {
                    Ok(row) => {
                        self.store(&mut branch, procedure, place, &row);
                        self.arrive(&mut branch.state, procedure, here + 1);
                        waiting.push(branch);
                    }
                    Err(stop) => self.stopped(branch, stop, unknown, waiting, |branch| {
                        let view = self.layout.unknown(&value.content, self.lost_view());
                        self.store(branch, procedure, place, &view);
                        self.arrive(&mut branch.state, procedure, here + 1);
                    }),
                }
            }
            Instruction::Unless { condition, target } => {
                let mut scope = self.scope(&mut branch, procedure);
                let holds = scope.holds(condition);
                let unknown = scope.unknown;
                let holds = match holds {
                    Ok(holds) => holds,
                    Err(stop) => match self.unknown(stop) {
                        Some(_) => {
                            self.stopped(branch, stop, unknown, waiting, |_| {});
                            return;
                        }
                        None => None,
                    },
                };
                let holds =
                    if self.planted.unknown_is_false { holds.or(Some(false)) } else { holds };
                match (holds, holds.is_none().then(|| self.split(&branch, unknown)).flatten()) {
                    (Some(holds), _) => {
                        let next = if holds { here + 1 } else { target };
                        self.arrive(&mut branch.state, procedure, next);
                        waiting.push(branch);
                    }
                    (None, Some(split)) => waiting.extend(split),
                    (None, None) => {
                        let mut other = branch.clone();
                        self.arrive(&mut other.state, procedure, target);
                        self.arrive(&mut branch.state, procedure, here + 1);
                        waiting.extend([other, branch]);
                    }
                }
            }
            Instruction::Jump { target } => {
                self.arrive(&mut branch.state, procedure, target);
                waiting.push(branch);
            }
            Instruction::BeginFor(this) => {
                let mut except = ANY;
                if let Some(left_out) = this.except {
                    except = match self.scope(&mut branch, procedure).scalar(left_out) {
                        Ok(byte) => byte,
                        Err(stop) => match self.unknown(stop) {
                            Some(failure) => {
                                branch.failure = Some(failure);
                                waiting.push(branch);
                                return;
                            }
                            None => ANY,
                        },
                    };
                }
                let position = self.layout.frames[procedure].fors[this.number];
                let block = self.block();
                branch.state[block + position + 1] = except;
                self.next_round(branch, procedure, this, None, waiting);
            }
            Instruction::NextFor(this) => {
                let position = self.layout.frames[procedure].fors[this.number];
                let now = branch.state[self.block() + position];
                self.next_round(branch, procedure, this, Some(now), waiting);
            }
            Instruction::Call { procedure: inner, arguments, .. } => {
                match self.arguments(&mut branch, procedure, arguments) {
                    Some(rows) => {
                        self.enter(&mut branch, inner.0 as usize, rows);
                        waiting.push(branch);
                    }
                    None => out.push(branch),
                }
            }
            Instruction::Return { result } => {
                let row = match result {
                    None => Some(Row::new()),
                    Some(result) => {
                        let mut scope = self.scope(&mut branch, procedure);
                        match scope.row(result) {
                            Ok(row) => Some(row),
                            Err(stop) => match self.unknown(stop) {
                                Some(failure) => {
                                    branch.failure = Some(failure);
                                    None
                                }
                                None => {
                                    Some(self.layout.unknown(&result.content, self.lost_view()))
                                }
                            },
                        }
                    }
                };
                let span = result.map_or_else(Span::default, |result| result.span);
                match row {
                    Some(row) => self.leave(branch, procedure, &row, span, waiting, out),
                    None => out.push(branch),
                }
            }
            Instruction::EndAtomic => {
                self.arrive(&mut branch.state, procedure, here + 1);
                waiting.push(branch);
            }
            Instruction::BeginAtomic { .. } => unreachable!("a pause is not run here"),
        }
    }

    fn lost_view(&self) -> u8 {
        if self.layout.tokens() { crate::byte::OLD } else { ANY }
    }

    /// Something has no value: tries the values of what was unknown, fails, or goes on with
    /// nothing known, if faults are not what it is about.
    fn stopped(
        &self,
        mut branch: Outcome,
        stop: Stop,
        unknown: Option<usize>,
        waiting: &mut Vec<Outcome>,
        go_on: impl Fn(&mut Outcome),
    ) {
        let Some(failure) = self.unknown(stop) else {
            go_on(&mut branch);
            waiting.push(branch);
            return;
        };
        match self.split(&branch, unknown) {
            Some(split) => waiting.extend(split),
            None => {
                branch.failure = Some(failure);
                waiting.push(branch);
            }
        }
    }

    /// A branch for each value of a scalar that is unknown.
    fn split(&self, branch: &Outcome, unknown: Option<usize>) -> Option<Vec<Outcome>> {
        let at = unknown?;
        let values = self.layout.slots[at].leaf?.values(&self.kind.members)?;
        let with = |byte| {
            let mut branch = branch.clone();
            branch.state[at] = byte;
            branch
        };
        Some(values.into_iter().map(with).collect())
    }

    /// From one position of a loop to all that may be next.
    fn next_round(
        &self,
        branch: Outcome,
        procedure: usize,
        this: For<'p>,
        now: Option<u8>,
        waiting: &mut Vec<Outcome>,
    ) {
        let block = self.block();
        let frame = &self.layout.frames[procedure];
        let position = block + frame.fors[this.number];
        let variable = block + frame.locals[this.variable.0 as usize].base;
        let except = branch.state[position + 1];
        let leaves_out = this.except.is_some();
        let mut go = |to: u8, index: u8| {
            let mut branch = branch.clone();
            branch.state[position] = to;
            branch.state[variable] = index;
            self.arrive(&mut branch.state, procedure, this.body);
            waiting.push(branch);
        };
        let mut ends = true;
        if by_members(this.over) {
            // A gap, a member, a gap, ..., a gap.
            let members = &self.kind.members;
            let mut next = match now {
                None => 0,
                Some(GAP) => 0,
                Some(byte) if byte >= MEMBER => 2 * self.rank(byte - MEMBER) + 2,
                Some(byte) => 2 * self.rank(byte - GAP - 1) + 2,
            };
            while next <= 2 * members.len() {
                if next % 2 == 0 {
                    let gap = if next == 0 { GAP } else { GAP + 1 + members[next / 2 - 1] };
                    go(gap, BASE + OTHER);
                } else {
                    let member = members[next / 2];
                    if !leaves_out || except != BASE + member {
                        go(MEMBER + member, BASE + member);
                        // What is left out is unknown: it may be this one.
                        if !leaves_out || except != ANY {
                            ends = false;
                            break;
                        }
                    }
                }
                next += 1;
            }
        } else if let Some((low, high)) = match this.over {
            snapshot_language::program::IndexSet::Range(low, high) => fixed(low, high),
            _ => None,
        } {
            let from = match now {
                None => low,
                Some(_) => number(branch.state[variable]) + 1,
            };
            for index in from..=high {
                if leaves_out && except == integer(index) {
                    continue;
                }
                go(COUNTING, integer(index));
                if !leaves_out || except != ANY {
                    ends = false;
                    break;
                }
            }
        } else {
            go(COUNTING, ANY);
        }
        if ends {
            let mut branch = branch;
            branch.state[position..position + 2].fill(ANY);
            branch.state[variable] = ANY;
            self.arrive(&mut branch.state, procedure, this.end);
            waiting.push(branch);
        }
    }

    fn rank(&self, member: u8) -> usize {
        self.kind.members.iter().position(|one| *one == member).unwrap_or_default()
    }

    /// Ends a step: the centre is made definite.
    pub fn emit(&self, branch: Outcome, out: &mut Vec<Outcome>) {
        if branch.failure.is_some() {
            out.push(branch);
            return;
        }
        match crate::centre::definite(self.layout, self.kind, &branch.state) {
            Ok(states) => {
                let with = |state| Outcome { state, ..branch.clone() };
                out.extend(states.into_iter().map(with));
            }
            Err(failure) => out.push(Outcome { failure: Some(failure), ..branch }),
        }
    }

    /// Stores in a variable of the process; what has an unknown place makes all of its
    /// variable unknown.
    pub fn store(&self, branch: &mut Outcome, procedure: usize, place: &Place, row: &[u8]) {
        let block = self.block();
        let program = self.layout.program;
        let (room, mut content) = match place.root {
            Root::Local(id) => (
                self.layout.frames[procedure].locals[id.0 as usize],
                &program.procedures[procedure].local(id).content,
            ),
            Root::Private(id) => {
                let write = Write::Private(id.0 as usize);
                if !branch.writes.contains(&write) {
                    branch.writes.push(write);
                }
                (self.layout.private[id.0 as usize], &program.private(id).content)
            }
        };
        let tokens = self.layout.tokens();
        let mut begin = block + room.base;
        for projection in &place.path {
            match (projection, content) {
                (Projection::Index(index), Type::Array { index: over, element }) => {
                    if tokens && *content == Type::view() {
                        // One of its elements: evaluated for what may go wrong.
                        if let Err(stop) = self.scope(branch, procedure).scalar(index) {
                            branch.failure = branch.failure.or(self.unknown(stop));
                        }
                        let token = patched_token(branch.state[begin]);
                        self.put(&mut branch.state, begin, &[token]);
                        return;
                    }
                    let byte = match self.scope(branch, procedure).scalar(index) {
                        Ok(byte) => byte,
                        Err(stop) => {
                            branch.failure = branch.failure.or(self.unknown(stop));
                            ANY
                        }
                    };
                    let size = size(element, tokens);
                    match self.offset(*over, byte) {
                        Some(offset) => begin += offset * size,
                        // The place of one that is not there holds nothing.
                        None if by_members(*over) && byte == BASE + OTHER => return,
                        None => {
                            self.lose(&mut branch.state, block, room);
                            return;
                        }
                    }
                    content = element;
                }
                (Projection::Field(position), Type::Record(fields)) => {
                    let before = fields[..*position].iter();
                    begin += before.map(|field| size(&field.content, tokens)).sum::<usize>();
                    content = &fields[*position].content;
                }
                _ => return,
            }
        }
        self.put(&mut branch.state, begin, row);
    }

    /// Where an index leads, in elements, if its place is there.
    fn offset(&self, over: snapshot_language::program::IndexSet, byte: u8) -> Option<usize> {
        if byte == ANY {
            return None;
        }
        match over {
            snapshot_language::program::IndexSet::Range(low, high) => {
                let (low, high) = fixed(low, high)?;
                (low..=high).contains(&number(byte)).then(|| (number(byte) - low) as usize)
            }
            _ => {
                let member = byte - BASE;
                self.kind.members.contains(&member).then_some(usize::from(member))
            }
        }
    }

    fn lose(&self, state: &mut [u8], block: usize, room: Room) {
        state[block + room.base..block + room.base + room.size].fill(ANY);
    }

    /// The indices of a cell.
    fn indices(
        &self,
        branch: &mut Outcome,
        procedure: usize,
        place: &CellPlace,
    ) -> Result<Vec<Index>, Stop> {
        let dimensions = &self.layout.program.shared(place.variable).dimensions;
        let mut indices = Vec::new();
        for (index, over) in place.indices.iter().zip(dimensions) {
            let byte = self.scope(branch, procedure).scalar(index)?;
            indices.push(match (byte, by_members(*over)) {
                (ANY, true) => Index::Anyone,
                (byte, true) => Index::Member(byte - BASE),
                (byte, false) => match self.offset(*over, byte) {
                    Some(place) => Index::Place(place),
                    None if byte == ANY => Index::Anywhere,
                    None => return Err(Stop::Fault(index.span)),
                },
            });
        }
        Ok(indices)
    }

    /// Whether an access goes with the step before it: it touches nothing that is kept, in
    /// this view if it reads, in any if it writes. Of i and j outside of their scans every
    /// view must say the same: there all cells of a variable count as one.
    fn is_silent(
        &self,
        branch: &Outcome,
        procedure: usize,
        access: &Access,
        into: Option<&Place>,
    ) -> bool {
        let writes = access.writes();
        if !writes && !self.keeps(procedure, into) {
            return true;
        }
        let exact = self.me == T || (self.is_followed() && self.is_inside(&branch.state));
        if !exact {
            // Whatever the indices are: they may be known in one view, and not in another.
            let cells = self.layout.cells[access.place().variable.0 as usize].iter();
            let mut slots = cells.flat_map(|(_, room)| room.base..room.base + room.size);
            return !slots.any(|at| self.layout.slots[at].kept);
        }
        let mut branch = branch.clone();
        let Ok(indices) = self.indices(&mut branch, procedure, access.place()) else {
            return false;
        };
        let is_mine = |one: &Index| *one == Index::Member(T);
        let others_are_t = writes && !indices.iter().any(is_mine);
        !self.touches(access.place().variable, &indices, others_are_t)
    }

    /// Whether cells with these indices are kept; another process may be t, or not.
    fn touches(&self, variable: SharedId, indices: &[Index], others_are_t: bool) -> bool {
        self.layout.cells[variable.0 as usize].iter().any(|(path, room)| {
            let hit = indices.iter().zip(path).all(|(index, place)| match (index, place) {
                (Index::Member(OTHER), Index::Member(T)) => others_are_t,
                (Index::Anyone | Index::Anywhere, _) => true,
                (index, place) => index == place,
            });
            hit && self.layout.slots[room.base..room.base + room.size].iter().any(|slot| slot.kept)
        })
    }

    /// Whether a place is part of a variable that is kept at all.
    fn keeps(&self, procedure: usize, into: Option<&Place>) -> bool {
        let Some(place) = into else { return false };
        let room = match place.root {
            Root::Local(id) => self.layout.frames[procedure].locals[id.0 as usize],
            Root::Private(id) => self.layout.private[id.0 as usize],
        };
        let begin = self.block() + room.base;
        self.layout.slots[begin..begin + room.size].iter().any(|slot| slot.kept)
    }

    /// Makes an access.
    fn access(&self, mut branch: Outcome, procedure: usize, out: &mut Vec<Outcome>) {
        let Some((_, here)) = self.place(&branch.state) else { return };
        let instruction = self.layout.code[procedure].instructions[here];
        let Instruction::Access { access, into, .. } = instruction else { return };
        let indices = match self.indices(&mut branch, procedure, access.place()) {
            Ok(indices) => indices,
            Err(stop) => match self.unknown(stop) {
                Some(failure) => {
                    branch.failure = Some(failure);
                    out.push(branch);
                    return;
                }
                None => vec![Index::Anyone; access.place().indices.len()],
            },
        };
        // Where the cell is not known, it may be each of those that are there, or none.
        for indices in definite_indices(self.kind, &indices) {
            self.access_at(branch.clone(), procedure, here, access, into, indices, out);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what an access is made of")]
    fn access_at(
        &self,
        mut branch: Outcome,
        procedure: usize,
        here: usize,
        access: &Access,
        into: Option<&Place>,
        indices: Vec<Index>,
        out: &mut Vec<Outcome>,
    ) {
        let variable = access.place().variable;
        let declared = self.layout.program.shared(variable);
        let found =
            self.layout.cells[variable.0 as usize].iter().find(|(path, _)| *path == indices);
        let there = |(path, _): &&(Vec<Index>, Room)| {
            path.iter().all(|index| match index {
                Index::Member(member) => self.kind.members.contains(member),
                _ => true,
            })
        };
        let room = found.filter(there).map(|(_, room)| *room);
        let content = match room {
            Some(room) => {
                let view = self.layout.read_view(false);
                let mut row = self.layout.unknown(&declared.content, view);
                let state = &branch.state[room.base..room.base + room.size];
                for (byte, kept) in row.iter_mut().zip(state) {
                    *byte = if *kept == ANY { *byte } else { *kept };
                }
                row
            }
            None => {
                let exempt = indices == [Index::Member(OTHER)];
                let view = self.layout.read_view(exempt);
                self.layout.unknown(&declared.content, view)
            }
        };
        let point = self.is_point(procedure, here);
        let finish = |mut branch: Outcome, row: &[u8]| {
            if let Some(into) = into {
                self.store(&mut branch, procedure, into, row);
            }
            self.arrive(&mut branch.state, procedure, here + 1);
            branch
        };
        match access {
            Access::Read(_) => out.push(finish(branch, &content)),
            Access::Write(_, value) => {
                let mut scope = self.scope(&mut branch, procedure);
                let row = scope.row(value);
                let unknown = scope.unknown;
                match row {
                    Ok(row) => {
                        self.write(&mut branch, variable, &indices, room, row, point);
                        out.push(finish(branch, &[]));
                    }
                    Err(stop) => {
                        let mut after = Vec::new();
                        self.stopped(branch, stop, unknown, &mut after, |branch| {
                            let row = self.layout.unknown(&value.content, self.lost_view());
                            self.write(branch, variable, &indices, room, row, point);
                            *branch = finish(branch.clone(), &[]);
                        });
                        for branch in after {
                            let done = self.place(&branch.state) != Some((procedure, here));
                            match branch.failure.is_some() || done {
                                true => out.push(branch),
                                false => self.access(branch, procedure, out),
                            }
                        }
                    }
                }
            }
            Access::CompareAndSwap(_, old, new) => {
                let old = self.scope(&mut branch, procedure).row(old);
                let equal = match &old {
                    Ok(old) => {
                        self.scope(&mut branch, procedure).equal(&declared.content, &content, old)
                    }
                    Err(_) => None,
                };
                if let Err(stop) = old
                    && let Some(failure) = self.unknown(stop)
                {
                    branch.failure = Some(failure);
                    out.push(branch);
                    return;
                }
                for success in [true, false] {
                    if equal == Some(!success) {
                        continue;
                    }
                    let mut branch = branch.clone();
                    if success {
                        let row = match self.scope(&mut branch, procedure).row(new) {
                            Ok(row) => row,
                            Err(stop) => match self.unknown(stop) {
                                Some(failure) => {
                                    branch.failure = Some(failure);
                                    out.push(branch);
                                    continue;
                                }
                                None => self.layout.unknown(&new.content, self.lost_view()),
                            },
                        };
                        self.write(&mut branch, variable, &indices, room, row, point);
                    }
                    out.push(finish(branch, &[truth(success)]));
                }
            }
            Access::LoadLinked(_) | Access::StoreConditional(..) | Access::Validate(_) => {
                branch.failure = Some(Failure::Unfit("LL/SC cells"));
                out.push(branch);
            }
        }
    }

    fn write(
        &self,
        branch: &mut Outcome,
        variable: SharedId,
        indices: &[Index],
        room: Option<Room>,
        row: Row,
        point: bool,
    ) {
        if let Some(room) = room {
            for (at, byte) in (room.base..).zip(&row) {
                let slot = &self.layout.slots[at];
                if !slot.kept {
                    continue;
                }
                let is_token = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View)
                    && self.layout.tokens();
                let token = stored_token(*byte, self.me == T);
                branch.state[at] = if is_token { token } else { *byte };
            }
        }
        // What no view keeps is seen by none.
        let is_mine = |one: &Index| *one == Index::Member(T);
        if self.touches(variable, indices, self.me != T || !indices.iter().any(is_mine)) {
            branch.writes.push(Write::Cell(variable, indices.to_vec(), row));
        }
        if point {
            self.pass_point(&mut branch.state);
        }
    }

    fn is_point(&self, procedure: usize, here: usize) -> bool {
        self.layout.point == Some(here) && procedure == self.layout.program.update().0 as usize
    }
}

/// All definite members that indices may be.
pub fn definite_indices(kind: &Kind, indices: &[Index]) -> Vec<Vec<Index>> {
    let mut all = vec![Vec::new()];
    for index in indices {
        let values: Vec<Index> = match index {
            Index::Anyone => {
                kind.members.iter().chain(&[OTHER]).map(|one| Index::Member(*one)).collect()
            }
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

/// The least number that no version of a view has.
pub fn versions(layout: &Layout<'_>, state: &[u8]) -> u8 {
    let numbers = layout.versions.iter().filter_map(|at| state[*at].checked_sub(BASE));
    numbers.max().map_or(1, |greatest| greatest + 1)
}

/// The byte of the specification.
pub fn specification(state: &[u8]) -> u8 {
    state[SPECIFICATION]
}
