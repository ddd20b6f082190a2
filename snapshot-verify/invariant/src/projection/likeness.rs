//! The bytes of the views of a state: for each byte, what a view of the state may hold there. A view
//! belongs to the state if each of its bytes is as expected.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use snapshot_core::Process;
use snapshot_language::program::{IndexSet, ProcedureId, SharedId, Type};
use snapshot_semantics::interpret::code::{For, Instruction};
use snapshot_semantics::interpret::{Data, OpenCall};

use super::execution::{Doing, Execution};
use super::histories::History;
use super::tuple::{Standing, Tuple};
use crate::byte::{
    ANY, BASE, BORROWED, BROKEN, FRESH, LINKED, LOOSE, MINE, NONE, OTHER, PLACES, T, integer, truth,
};
use crate::claim::Ghosts;
use crate::clock::{FAR, NEXT, NOW, PAST, SOME, UNTIL};
use crate::cursor;
use crate::layout::{Frame, Index, Layout, ROUND, SIGNER, SPECIFICATION, Scalar, at, fixed, op};
use crate::step::{COUNTING, GAP, MEMBER};

/// Content of a byte in the views of a state.
#[derive(Clone, Copy, Debug)]
pub enum Expected<'s> {
    /// This byte.
    Is(u8),
    /// This byte, or unknown.
    Known(u8),
    /// As [`Self::Known`], of a link.
    Link(u8),
    Unknown,
    /// Any other byte.
    Not(u8),
    /// This byte, unknown, or borrowed.
    Entry(u8),
    /// This truth value, or, where its class is flipped, the other; or unknown.
    Bit(bool),
    Version(u32),
    /// A counter, by its window, or its relation to the clock.
    Counter(u64),
    /// The token of a view that a process holds, or that is in a cell.
    Token(&'s Data, Option<u8>),
}

impl Expected<'_> {
    /// Returns the only byte that it may be, if it is known.
    pub const fn definite(&self) -> Option<u8> {
        match self {
            Self::Is(byte) | Self::Known(byte) | Self::Link(byte) => Some(*byte),
            _ => None,
        }
    }
}

/// Comparison of a view with a state that it belongs to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Alike {
    /// Known bytes.
    pub bytes: usize,
    /// Known links.
    pub links: usize,
    /// Bits whose class belongs to a round.
    pub rounds: usize,
    /// Counters of which more is known than that they are there.
    pub counted: usize,
    /// True if a class of bits is flipped.
    pub flipped: bool,
}

/// The views of a state for a tuple.
pub struct Likeness<'s> {
    execution: &'s Execution<'s>,
    history: &'s History,
    tuple: &'s Tuple,
    /// In the order of the program.
    pub expected: Vec<(usize, Expected<'s>)>,
    /// Number of rounds of loose loops that count as rounds of any other process.
    pub loose: usize,
}

impl<'s> Likeness<'s> {
    /// Expects the views of a state that show the operations of the `shown` members; the others are
    /// between two pauses.
    pub fn new(
        execution: &'s Execution<'s>,
        history: &'s History,
        tuple: &'s Tuple,
        shown: &[(u8, Standing<'s>)],
    ) -> Self {
        let mut likeness = Self { execution, history, tuple, expected: Vec::new(), loose: 0 };
        likeness.expect(SPECIFICATION, Expected::Is(history.specification));
        likeness.round();
        shown.iter().for_each(|(member, standing)| likeness.stands(*member, standing));
        likeness.signer();
        likeness.shared();
        shown.iter().for_each(|(member, standing)| likeness.variables(*member, standing));
        likeness
    }

    fn layout(&self) -> &'s Layout<'s> {
        self.execution.layout
    }

    fn expect(&mut self, at: usize, expected: Expected<'s>) {
        self.expected.push((at, expected));
    }

    /// The open round.
    fn round(&mut self) {
        let round = self.execution.round;
        match self.layout().obligation.ghosts {
            Ghosts::Rounds if self.execution.has_tokens() => {
                if round.is_none_or(|opened| opened <= self.latest()) {
                    self.expect(ROUND, Expected::Not(FRESH));
                }
            }
            Ghosts::Rounds => {
                let byte = self.history.round.map_or(0, |bits| bits + 1);
                self.expect(ROUND, Expected::Is(byte));
            }
            _ => self.expect(ROUND, Expected::Is(0)),
        }
    }

    fn stands(&mut self, member: u8, standing: &Standing<'_>) {
        let Some(process) = self.tuple.process(member) else { return };
        let doing = &self.execution.doing[process];
        let block = self.layout().blocks[usize::from(member)];
        let invoked = self.history.invoked.contains(&process) && !standing.is_hidden;
        let switched = if standing.is_hidden { doing.before.1 } else { doing.switched };
        let is_judged = standing.is_followed && self.layout().obligation.judges(member);
        let bits = doing.ghost.as_ref().and_then(|ghost| ghost.bits).filter(|_| is_judged);
        let is_fresh =
            |doing: &Doing| doing.ghost.as_ref().is_some_and(|ghost| self.latest() < ghost.opened);
        if !is_fresh(doing) {
            self.expect(block + at::TOKEN, Expected::Not(FRESH));
        }
        let head = [
            (at::OP, standing.operation),
            (at::GHOST, u8::from(standing.ghost)),
            (at::BEGUN, u8::from(bits.is_some())),
            (at::BITS, bits.unwrap_or_default()),
            (at::INVOKED, u8::from(invoked)),
            (at::SWITCHED, u8::from(switched && member != T)),
        ];
        head.into_iter().for_each(|(at, byte)| self.expect(block + at, Expected::Is(byte)));
    }

    /// Returns the time at which t's latest ghost scan was opened.
    fn latest(&self) -> u64 {
        let tracked = self.tuple.process(T);
        tracked.map_or(u64::MAX, |tracked| self.execution.doing[tracked].latest)
    }

    /// The process that wrote the clock last.
    fn signer(&mut self) {
        let place = self.execution.signer.map(|process| BASE + self.tuple.place(process));
        self.expect(SIGNER, Expected::Known(place.unwrap_or(NONE)));
    }

    fn shared(&mut self) {
        let (execution, layout) = (self.execution, self.layout());
        for (id, variable) in (0..).map(SharedId).zip(&layout.program.shared) {
            for (path, room) in &layout.cells[id.0 as usize] {
                let Some(indices) = self.indices(id, path, &variable.dimensions) else {
                    if path.first() == Some(&Index::Named) {
                        self.expect(room.base, Expected::Unknown);
                    }
                    continue;
                };
                let data = execution.machine.cell(&execution.state, id, &indices);
                if let (true, Some(Data::Counter(number))) = (layout.is_clock(id), data) {
                    // The kept remainder.
                    let divisor = layout.clock.map_or(1, |clock| clock.divisor);
                    let remainder = integer(*number as i64 % divisor);
                    self.expect(room.base, Expected::Known(remainder));
                    continue;
                }
                self.row(room.base, &variable.content, data, None);
            }
        }
    }

    /// Returns the indices of a cell that has a place, if its members are present.
    fn indices(
        &self,
        variable: SharedId,
        path: &[Index],
        dimensions: &[IndexSet],
    ) -> Option<Vec<i64>> {
        let name = self.layout().name_of(variable);
        let index = |(index, over): (&Index, &IndexSet)| match (index, over) {
            (Index::Named, _) => Some(self.execution.named(name?)? as i64),
            (Index::Member(member), _) => Some(self.tuple.process(*member)? as i64),
            (Index::Place(place), IndexSet::Range(low, high)) => {
                Some(fixed(*low, *high)?.0 + *place as i64)
            }
            _ => None,
        };
        path.iter().zip(dimensions).map(index).collect()
    }

    /// The links of a member: each known one is true of the state.
    fn links(&mut self, member: u8, is_idle: bool) {
        let (execution, layout) = (self.execution, self.layout());
        let machine = execution.machine;
        let process = self.tuple.process(member).map(Process::from_index);
        for (id, variable) in (0..).map(SharedId).zip(&layout.program.shared) {
            let cells = &layout.cells[id.0 as usize];
            for (at, (path, _)) in layout.links_of(member, id).zip(cells) {
                let indices = self.indices(id, path, &variable.dimensions);
                let Some((process, indices)) = process.zip(indices) else {
                    if path.first() == Some(&Index::Named) {
                        self.expect(at, Expected::Unknown);
                    }
                    continue;
                };
                let is = match layout.name_of(id) {
                    Some(_) => Some(execution.is_linked_to(process.index(), id, &indices)),
                    None => machine.is_linked(&execution.state, id, &indices, process),
                };
                let link = |is| Expected::Link(if is { LINKED } else { BROKEN });
                let expected = is.filter(|_| !is_idle).map_or(Expected::Unknown, link);
                self.expect(at, expected);
            }
        }
    }

    fn variables(&mut self, member: u8, standing: &Standing<'s>) {
        let (execution, layout) = (self.execution, self.layout());
        let Some(process) = self.tuple.process(member) else { return };
        let block = layout.blocks[usize::from(member)];
        let now = execution.machine.private(&execution.state, Process::from_index(process));
        let private = if standing.is_hidden { &execution.doing[process].before.0 } else { now };
        let declared = &layout.program.private;
        for ((variable, data), room) in declared.iter().zip(private).zip(&layout.private) {
            self.row(block + room.base, &variable.content, Some(data), Some(member));
        }
        self.links(member, standing.operation == op::IDLE);
        standing.calls.iter().for_each(|call| self.frame(member, block, call));
    }

    fn frame(&mut self, member: u8, block: usize, call: &OpenCall<'s>) {
        let layout = self.layout();
        let frame = &layout.frames[call.procedure.0 as usize];
        let procedure = layout.program.procedure(call.procedure);
        for one in &layout.code[call.procedure.0 as usize].instructions {
            match one {
                Instruction::BeginFor(this) if (this.body..this.end).contains(&call.at) => {
                    self.position(member, block, frame, call, this);
                }
                _ => {}
            }
        }
        for ((local, data), room) in procedure.locals.iter().zip(call.locals).zip(&frame.locals) {
            // The rounds are compared instead of the variables of loops.
            let is_named = |at: usize| !layout.slots[block + at].name.is_empty();
            if (room.base..room.base + room.size).all(is_named) {
                self.row(block + room.base, &local.content, Some(data), Some(member));
            }
        }
    }

    /// The round of a loop.
    fn position(
        &mut self,
        member: u8,
        block: usize,
        frame: &Frame,
        call: &OpenCall<'_>,
        this: &For<'_>,
    ) {
        let position = block + frame.fors[this.number];
        let variable = block + frame.locals[this.variable.0 as usize].base;
        let Data::Number(index) = call.locals[this.variable.0 as usize] else {
            unreachable!("an index is a number")
        };
        let (stands, says) = match this.over {
            over if over.is_of_names() => self.member(member, call.procedure, this, index as usize),
            IndexSet::Range(low, high) if fixed(low, high).is_some() => (COUNTING, integer(index)),
            _ => (COUNTING, ANY),
        };
        let except = call.excepts[this.number].map(|left_out| match this.over.is_of_names() {
            true => BASE + self.tuple.place(left_out as usize),
            false => integer(left_out),
        });
        self.expect(position, Expected::Is(stands));
        self.expect(variable, Expected::Is(says));
        self.expect(position + 1, except.map_or(Expected::Unknown, Expected::Known));
    }

    /// Returns the position and the variable of a loop over processes in the round of a process.
    fn member(
        &mut self,
        member: u8,
        procedure: ProcedureId,
        this: &For<'_>,
        index: usize,
    ) -> (u8, u8) {
        let loose = (member, procedure.0 as usize, this.number);
        let is_loose = self.layout().loose.contains(&loose);
        let mut members = self.tuple.kind().members;
        members.retain(|member| !is_loose || *member == T);
        let place = self.tuple.place(index);
        if members.contains(&place) {
            return (MEMBER + place, BASE + place);
        }
        let is_before = |member: &&u8| self.tuple.process(**member).is_some_and(|one| one < index);
        let gap = members.iter().rfind(is_before).map_or(GAP, |member| GAP + 1 + member);
        self.loose += usize::from(is_loose);
        (gap, BASE + if is_loose { LOOSE } else { OTHER })
    }

    /// The bytes of a value, from `begin` on.
    fn row(&mut self, begin: usize, content: &Type, data: Option<&'s Data>, owner: Option<u8>) {
        let mut at = begin;
        self.part(&mut at, content, data, owner);
    }

    /// As [`Self::row`]; `at` advances through the bytes.
    fn part(&mut self, at: &mut usize, content: &Type, data: Option<&'s Data>, owner: Option<u8>) {
        let element = |index: usize| match data {
            Some(Data::Parts(parts)) => parts.get(index),
            // An array that is absent has no elements; an array of an absent process has none
            // either.
            _ => None,
        };
        match content {
            Type::Optional(inner) if inner.is_scalar() => self.part(at, inner, data, owner),
            view if self.execution.has_tokens() && *view == Type::view() => {
                self.leaf(*at, data, owner);
                *at += 1;
            }
            Type::Array { index, element: inner } if index.is_of_names() => {
                for place in 0..PLACES as u8 {
                    let part = self.tuple.process(place).and_then(element);
                    self.part(at, inner, part, owner);
                }
            }
            Type::Array { index: IndexSet::Range(low, high), element: inner }
                if fixed(*low, *high).is_some() =>
            {
                let (low, high) = fixed(*low, *high).unwrap_or_default();
                for place in 0..=(high - low) as usize {
                    self.part(at, inner, element(place), owner);
                }
            }
            Type::Record(fields) => {
                for (number, field) in fields.iter().enumerate() {
                    self.part(at, &field.content, element(number), owner);
                }
            }
            _ => {
                self.leaf(*at, data, owner);
                *at += 1;
            }
        }
    }

    fn leaf(&mut self, at: usize, data: Option<&'s Data>, owner: Option<u8>) {
        let layout = self.layout();
        let slot = &layout.slots[at];
        let (Some(data), Some(leaf)) = (data, slot.leaf) else { return };
        let mut names = 0..layout.named.len();
        if let Some(name) = names.find(|name| layout.name_at(*name) == at) {
            let followed = self.tuple.followed;
            let is = self.execution.named(name) == self.tuple.process(followed);
            self.expect(at, Expected::Known(BASE + if is { followed } else { OTHER }));
            return;
        }
        let is_token = self.execution.has_tokens() && leaf.scalar == Scalar::View;
        let expected = match data {
            Data::None => Expected::Known(NONE),
            data if is_token => Expected::Token(data, owner),
            Data::Bool(truth) if layout.class_bits.contains_key(&at) => Expected::Bit(*truth),
            Data::Bool(is) => Expected::Known(truth(*is)),
            Data::Number(number) if leaf.scalar == Scalar::Member => {
                Expected::Known(BASE + self.tuple.place(*number as usize))
            }
            Data::Number(number) => Expected::Known(integer(*number)),
            Data::Value(_) if self.execution.has_tokens() => Expected::Not(NONE),
            Data::Value(value) => {
                let byte = u8::try_from(*value).unwrap_or(u8::MAX).saturating_add(BASE);
                match leaf.scalar {
                    Scalar::View => Expected::Entry(byte),
                    _ => Expected::Known(byte),
                }
            }
            Data::Version(version) => Expected::Version(*version),
            Data::Counter(number) => Expected::Counter(*number),
            Data::Node { .. } | Data::Parts(_) => Expected::Unknown,
        };
        self.expect(at, expected);
    }

    /// Compares a view with the state; `None` if it does not belong to it.
    pub fn alike(&self, view: &[u8]) -> Option<Alike> {
        let mut alike = Alike::default();
        // Versions of the state, by versions of the view; and the flipped classes of bits.
        let mut versions: SmallVec<[(u8, u32); 8]> = SmallVec::from_slice(&[(BASE, 0)]);
        let mut flips: FxHashMap<usize, bool> = FxHashMap::default();
        for &(at, expected) in &self.expected {
            let byte = view[at];
            let is_so = match expected {
                Expected::Is(is) => byte == is,
                Expected::Not(not) => byte != not,
                _ if byte == ANY => continue,
                Expected::Unknown => false,
                Expected::Known(is) => byte == is,
                Expected::Link(is) => {
                    alike.links += 1;
                    byte == is
                }
                Expected::Entry(is) => byte == is || byte == BORROWED,
                Expected::Bit(_)
                | Expected::Version(_)
                | Expected::Counter(_)
                | Expected::Token(..)
                    if byte == NONE =>
                {
                    false
                }
                Expected::Counter(number) => {
                    alike.counted += usize::from(byte != SOME);
                    self.is_counted(byte, number)
                }
                Expected::Bit(is) => {
                    let differs = byte != truth(is);
                    match self.layout().class_of(view, at) {
                        None => !differs,
                        Some(class) => {
                            let mut of = self.layout().class_bits[&at].iter();
                            let is_of_round =
                                of.any(|(one, round)| *one == class && round.is_some());
                            alike.rounds += usize::from(is_of_round);
                            *flips.entry(class).or_insert(differs) == differs
                        }
                    }
                }
                Expected::Version(version) => {
                    let same = versions.iter().find(|(known, _)| *known == byte);
                    match same.map(|(_, same)| *same) {
                        Some(same) => same == version,
                        None => {
                            let is_new = versions.iter().all(|(_, known)| *known != version);
                            versions.push((byte, version));
                            is_new
                        }
                    }
                }
                Expected::Token(data, owner) => self.token(byte, data, owner),
            };
            if !is_so {
                return None;
            }
            alike.bytes += usize::from(!matches!(expected, Expected::Is(_)));
        }
        alike.flipped = flips.values().any(|flipped| *flipped);
        Some(alike)
    }

    /// Returns true if a byte is true of a counter.
    fn is_counted(&self, byte: u8, number: u64) -> bool {
        if cursor::is_window(byte) {
            let n = self.execution.machine.processes();
            return (0..cursor::MOST).all(|at| match cursor::place(byte, at) {
                ANY => true,
                said => said == BASE + self.tuple.place((number as usize + at) % n),
            });
        }
        let Some(now) = self.execution.clock() else { return byte == SOME };
        match byte {
            PAST => number < now,
            NOW => number == now,
            NEXT => number == now + 1,
            FAR => number > now + 1,
            UNTIL => number <= now,
            _ => byte == SOME,
        }
    }

    /// Returns true if a token is true of a view: a ghost scan that began late enough, or that this
    /// operation called, returned this vector.
    fn token(&self, token: u8, data: &Data, owner: Option<u8>) -> bool {
        let mut returned = self.execution.returned.iter().filter(|one| one.vector == *data);
        let after = self.latest();
        match (token, owner.and_then(|owner| self.tuple.process(owner))) {
            (FRESH, _) => returned.any(|one| after < one.opened),
            (MINE, Some(process)) => {
                let now = (process, self.execution.doing[process].operations);
                returned.any(|one| one.by == now)
            }
            (MINE, None) => false,
            _ => true,
        }
    }
}
