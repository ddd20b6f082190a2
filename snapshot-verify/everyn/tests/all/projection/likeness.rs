//! Checks that a view is a view of a state: each known byte must be true of the state.

use std::collections::BTreeMap;

use snapshot_core::Process;
use snapshot_everyn::compile::over;
use snapshot_everyn::model::{Act, For, ROUND, SPECIFICATION, at};
use snapshot_everyn::prove::Actor;
use snapshot_everyn::run::{Crowd, GAP, MEMBER, NOT_BEGUN};
use snapshot_everyn::shape::{
    BASE, BORROWED, DEAD, FRESH, I, J, Leaf, MINE, Mode, NONE, OTHER, SOME, Scalar, Shape, T,
    UNKNOWN, integer,
};
use snapshot_everyn::term::Over;
use snapshot_language::program::{IndexSet, ProcedureId, SharedId, Type};
use snapshot_semantics::interpret::{Data, OpenCall};

use super::execution::{Doing, Execution};

/// An unbroken link.
const LINKED: u8 = BASE + 1;

/// Processes of a view.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Tuple {
    /// i and j, and t.
    pub members: [Option<usize>; 3],
    /// Member whose scans are followed.
    pub tracked: u8,
}

impl Tuple {
    /// Returns the kind of its views: its members in ascending order.
    pub fn crowd(&self) -> Crowd {
        let mut members: Vec<u8> =
            [I, J, T].into_iter().filter(|place| self.process(*place).is_some()).collect();
        members.sort_by_key(|place| self.process(*place));
        Crowd { members, tracked: self.tracked }
    }

    fn process(&self, place: u8) -> Option<usize> {
        self.members[usize::from(place)]
    }

    /// Returns the place of a process.
    pub fn place(&self, process: usize) -> u8 {
        let place = self.members.iter().position(|member| *member == Some(process));
        place.map_or(OTHER, |place| place as u8)
    }

    /// Returns the actor of a process's steps.
    pub fn actor(&self, process: usize) -> Actor {
        match self.place(process) {
            I => Actor::I,
            J => Actor::J,
            T => Actor::Tracked,
            _ => Actor::Another,
        }
    }
}

/// A view beside a state.
pub struct Likeness<'a> {
    execution: &'a Execution<'a>,
    tuple: &'a Tuple,
    view: &'a [u8],
    /// Versions of the state, by versions of the view.
    versions: BTreeMap<u8, u32>,
    /// Flipped classes of bits.
    flips: BTreeMap<usize, bool>,
    /// Number of known bytes.
    pub told: usize,
    /// Number of known links.
    pub links_told: usize,
}

impl<'a> Likeness<'a> {
    pub fn new(execution: &'a Execution<'a>, tuple: &'a Tuple, view: &'a [u8]) -> Self {
        Self {
            execution,
            tuple,
            view,
            versions: BTreeMap::from([(BASE, 0)]),
            flips: BTreeMap::new(),
            told: 0,
            links_told: 0,
        }
    }

    fn mode(&self) -> Mode {
        self.execution.model.obligation.mode
    }

    /// Returns true if the view belongs to the state.
    pub fn holds(&mut self) -> bool {
        let execution = self.execution;
        let members = self.tuple.crowd().members;
        // Most differences are in the locations of processes.
        let shown: Vec<u8> =
            members.into_iter().filter(|member| !self.is_in_transit(*member)).collect();
        shown.iter().all(|member| self.stands(*member))
            && (!execution.tells_specification()
                || self.view[SPECIFICATION] == execution.specification)
            && self.round()
            && self.shared()
            && self.names()
            && shown
                .iter()
                .all(|member| self.is_within_hidden_step(*member) || self.holds_variables(*member))
    }

    /// Returns true if a process is between two pauses of a ghost scan that the view does not show:
    /// its stores in its own variables become visible with the step.
    fn is_within_hidden_step(&self, member: u8) -> bool {
        let (process, _) = self.calls(member);
        let doing = &self.execution.doing[process];
        doing.ghost.is_some() && self.execution.is_in_transit(process)
    }

    /// Returns true if a process is between two pauses, and the view shows its computation there.
    fn is_in_transit(&self, member: u8) -> bool {
        let (process, calls) = self.calls(member);
        let doing = &self.execution.doing[process];
        let shows_ghost = doing.ghost.is_some() && self.hidden(member, doing, &calls).is_none();
        let is_shown = shows_ghost || (doing.ghost.is_none() && doing.acted);
        is_shown && self.execution.is_in_transit(process)
    }

    fn block(&self, member: u8) -> usize {
        self.execution.model.blocks[usize::from(member)]
    }

    fn calls(&self, member: u8) -> (usize, Vec<OpenCall<'a>>) {
        let process = self.tuple.process(member).expect("members are there");
        let state = &self.execution.state;
        (process, self.execution.machine.open_calls(state, Process::from_index(process)))
    }

    /// Returns the call that is the ghost scan, if the view does not follow it.
    fn hidden(&self, member: u8, doing: &Doing, calls: &[OpenCall<'_>]) -> Option<usize> {
        let is_ghost =
            |call: &OpenCall<'_>| self.execution.model.is_ghost[call.procedure.0 as usize];
        match member != T && member != self.tuple.tracked && doing.ghost.is_some() {
            true => calls.iter().position(is_ghost),
            false => None,
        }
    }

    fn number(&self, call: &OpenCall<'_>) -> usize {
        self.execution.model.entries[call.procedure.0 as usize] + call.at
    }

    fn two(&self, at: usize) -> usize {
        usize::from(u16::from_le_bytes([self.view[at], self.view[at + 1]]))
    }

    /// Checks the location of a process, and its operation.
    fn stands(&mut self, member: u8) -> bool {
        let (process, calls) = self.calls(member);
        let doing = &self.execution.doing[process];
        let block = self.block(member);
        let byte = |offset: usize| self.view[block + offset];
        let hidden = self.hidden(member, doing, &calls);
        let is_direct = self.mode() == Mode::Direct;
        let token = byte(at::TOKEN);
        let after = self.latest();
        let is_hidden = self.execution.is_hidden(process);
        let switched = if is_hidden { doing.before.1 } else { doing.switched };
        if is_direct && byte(at::SWITCHED) != u8::from(switched && member != T) {
            return false;
        }
        if hidden == Some(0) || (is_hidden && (doing.ghost.is_none() || hidden.is_some())) {
            return self.two(block + at::PC) == 0
                && [at::OPERATION, at::GHOST, at::BEGUN, at::BITS, at::INVOKED]
                    .iter()
                    .all(|offset| byte(*offset) == 0);
        }
        let is_fresh = doing.ghost.as_ref().is_some_and(|ghost| after < ghost.opened);
        if token == FRESH && !is_fresh {
            return false;
        }
        let pc = match hidden {
            Some(ghost) => self.number(&calls[ghost - 1]),
            None => calls.last().map_or(0, |call| self.number(call)),
        };
        let bits = doing.ghost.as_ref().and_then(|ghost| ghost.bits);
        let is_judged = is_direct && self.execution.is_judged(process);
        let (begun, bits) = match hidden {
            Some(_) => (false, 0),
            None => (bits.is_some(), if is_judged { bits.unwrap_or_default() } else { 0 }),
        };
        let operation = if is_hidden { 0 } else { doing.operation };
        self.two(block + at::PC) == pc
            && byte(at::OPERATION) == operation
            && byte(at::GHOST) == u8::from(doing.ghost.is_some())
            && byte(at::BEGUN) == u8::from(begun)
            && (byte(at::BITS) == bits || !self.execution.tells_specification())
            && byte(at::INVOKED) == u8::from(doing.invoked && !is_hidden)
    }

    /// Checks the open round.
    fn round(&self) -> bool {
        let execution = self.execution;
        match self.mode() {
            _ if !execution.by_rounds() => true,
            Mode::Direct => self.view[ROUND] == execution.round,
            Mode::Nested => self.view[ROUND] != FRESH || self.latest() < execution.round_began,
        }
    }

    /// Returns the time at which t's latest ghost scan was opened.
    fn latest(&self) -> u64 {
        let tracked = self.tuple.process(T);
        tracked.map_or(u64::MAX, |tracked| self.execution.doing[tracked].latest)
    }

    /// Checks the names that are in force, and their rows.
    fn names(&mut self) -> bool {
        let execution = self.execution;
        (0..execution.model.named.len()).all(|number| {
            let name = &execution.model.named[number];
            let in_force = execution.is_in_force(number);
            let process = execution.named(number).expect("a name is a process");
            let byte = self.view[execution.model.name_at(number)];
            let followed = self.tuple.place(process as usize) == self.tuple.tracked;
            if in_force && byte >= BASE && followed != (byte == BASE + self.tuple.tracked) {
                return false;
            }
            self.told += usize::from(in_force && byte >= BASE);
            name.rows.iter().all(|row| {
                let variable = execution.machine.program().shared(row.array);
                let shape = Shape::of(&variable.content, self.mode());
                let mut at = execution.model.shared[row.named.0 as usize].base;
                let rest = &variable.dimensions[1..];
                let mut indices = vec![Some(process)];
                !in_force || self.cells(row.array, rest, &shape, &mut indices, &mut at)
            })
        })
    }

    fn shared(&mut self) -> bool {
        let execution = self.execution;
        (0..).zip(&execution.machine.program().shared).all(|(id, variable)| {
            let shape = Shape::of(&variable.content, self.mode());
            let mut at = execution.model.shared[id as usize].base;
            self.cells(SharedId(id), &variable.dimensions, &shape, &mut Vec::new(), &mut at)
        })
    }

    /// Checks the known links of a process to cells of named rows, in both directions: a falsely
    /// broken link would hide the write of an SC.
    fn links_to_named(&mut self, member: u8) -> bool {
        let execution = self.execution;
        let process = self.tuple.process(member).expect("members are there");
        let names = (0..execution.model.named.len()).filter(|name| execution.is_in_force(*name));
        let rows = names.flat_map(|name| {
            let of = execution.named(name).expect("a name is a process");
            execution.model.named[name].rows.iter().map(move |row| (of, row))
        });
        let mut holds = true;
        for (of, row) in rows {
            for at in execution.model.links_of(member, row.named) {
                let Some((_, path)) = &execution.model.slots[at].link else { continue };
                let rest = path.iter().map(|place| self.index(*place, None));
                let indices: Option<Vec<i64>> = std::iter::once(Some(of)).chain(rest).collect();
                let is_kept = execution.model.slots[at].kept;
                let says = match self.view[at] {
                    LINKED => Some(true),
                    BASE | NONE if is_kept => Some(false),
                    _ => None,
                };
                if let (Some(says), Some(indices)) = (says, indices) {
                    let me = Process::from_index(process);
                    let machine = execution.machine;
                    let is = machine.is_linked(&execution.state, row.array, &indices, me);
                    holds &= is == Some(says);
                    self.links_told += 1;
                }
            }
        }
        holds
    }

    /// Checks the links of a process.
    fn links(&mut self, member: u8) -> bool {
        if !self.links_to_named(member) {
            return false;
        }
        let execution = self.execution;
        let process = self.tuple.process(member).expect("members are there");
        (0..).zip(&execution.machine.program().shared).all(|(id, variable)| {
            let links = execution.model.links_of(member, SharedId(id)).next();
            let Some(mut at) = links else { return true };
            let me = Process::from_index(process);
            self.link(SharedId(id), me, &variable.dimensions, &mut Vec::new(), &mut at)
        })
    }

    fn link(
        &mut self,
        id: SharedId,
        process: Process,
        dimensions: &[IndexSet],
        indices: &mut Vec<Option<i64>>,
        at: &mut usize,
    ) -> bool {
        let Some((first, rest)) = dimensions.split_first() else {
            let byte = self.view[*at];
            let is_kept = self.execution.model.slots[*at].kept;
            *at += 1;
            let Some(indices) = indices.iter().copied().collect::<Option<Vec<i64>>>() else {
                return true;
            };
            let machine = self.execution.machine;
            let is = machine.is_linked(&self.execution.state, id, &indices, process);
            let says = match byte {
                BASE => Some(false),
                LINKED => Some(true),
                _ => None,
            };
            self.told += usize::from(is_kept && says.is_some());
            self.links_told += usize::from(is_kept && says.is_some());
            return !is_kept || says.is_none() || says == is;
        };
        let all: Vec<Option<i64>> = match over(*first) {
            Over::Members => (I..=OTHER).map(|place| self.index(place, None)).collect(),
            Over::Range(low, count) => {
                (i64::from(low)..i64::from(low) + count as i64).map(Some).collect()
            }
            Over::Many => vec![None],
        };
        all.into_iter().all(|index| {
            indices.push(index);
            let holds = self.link(id, process, rest, indices, at);
            indices.pop();
            holds
        })
    }

    /// Checks all cells of a variable with these first indices; `at` advances through their bytes.
    fn cells(
        &mut self,
        id: SharedId,
        dimensions: &[IndexSet],
        shape: &Shape,
        indices: &mut Vec<Option<i64>>,
        at: &mut usize,
    ) -> bool {
        let Some((first, rest)) = dimensions.split_first() else {
            let begin = *at;
            *at += shape.size();
            let indices: Option<Vec<i64>> = indices.iter().copied().collect();
            let execution = self.execution;
            let data =
                indices.and_then(|indices| execution.machine.cell(&execution.state, id, &indices));
            let content = &execution.machine.program().shared(id).content;
            return self.row(begin, content, shape, data, None, None);
        };
        let all: Vec<Option<i64>> = match over(*first) {
            Over::Members => (I..=OTHER).map(|place| self.index(place, None)).collect(),
            Over::Range(low, count) => {
                (i64::from(low)..i64::from(low) + count as i64).map(Some).collect()
            }
            Over::Many => vec![None],
        };
        all.into_iter().all(|index| {
            indices.push(index);
            let holds = self.cells(id, rest, shape, indices, at);
            indices.pop();
            holds
        })
    }

    /// Returns the process at a place; for "any other", the process of the present round.
    fn index(&self, place: u8, other: Option<i64>) -> Option<i64> {
        match place {
            OTHER => other,
            place => self.tuple.process(place).map(|process| process as i64),
        }
    }

    /// Checks the bytes of a value from `at` on.
    fn row(
        &mut self,
        begin: usize,
        content: &Type,
        shape: &Shape,
        data: Option<&Data>,
        other: Option<i64>,
        owner: Option<u8>,
    ) -> bool {
        let Some(data) = data else { return true };
        match (shape, content, data) {
            (Shape::Leaf(leaf), _, data) => self.leaf(begin, *leaf, data, owner),
            (Shape::Members(element), Type::Array { element: inner, .. }, Data::Parts(parts)) => {
                (I..=OTHER).all(|place| {
                    let part = self.index(place, other).map(|index| &parts[index as usize]);
                    let begin = begin + usize::from(place) * element.size();
                    self.row(begin, inner, element, part, other, owner)
                })
            }
            (
                Shape::Range(_, _, element),
                Type::Array { element: inner, .. },
                Data::Parts(parts),
            ) => parts.iter().enumerate().all(|(position, part)| {
                let begin = begin + position * element.size();
                self.row(begin, inner, element, Some(part), other, owner)
            }),
            (Shape::Record(_), Type::Record(fields), Data::Parts(parts)) => {
                fields.iter().enumerate().all(|(position, field)| {
                    let (offset, inner) = shape.field(position);
                    let part = Some(&parts[position]);
                    self.row(begin + offset, &field.content, inner, part, other, owner)
                })
            }
            _ => unreachable!("shapes are made of types"),
        }
    }

    fn leaf(&mut self, at: usize, leaf: Leaf, data: &Data, owner: Option<u8>) -> bool {
        let byte = self.view[at];
        if !self.execution.model.slots[at].kept || matches!(byte, DEAD | UNKNOWN) {
            return true;
        }
        self.told += 1;
        let is_nested = self.mode() == Mode::Nested;
        match (byte, data) {
            (SOME, data) => *data != Data::None,
            (NONE, data) => *data == Data::None,
            (_, Data::None) => false,
            (byte, _) if leaf.scalar == Scalar::View && is_nested => self.token(byte, data, owner),
            (BORROWED, _) if leaf.scalar == Scalar::View => true,
            (byte, Data::Bool(truth)) => {
                let differs = byte != BASE + u8::from(*truth);
                match self.class(at) {
                    Some(class) => *self.flips.entry(class).or_insert(differs) == differs,
                    None => !differs,
                }
            }
            (byte, Data::Number(number)) => match leaf.scalar {
                // Names are compared separately.
                Scalar::Member if self.execution.model.slots[at].names => true,
                Scalar::Member => byte == BASE + self.tuple.place(*number as usize),
                _ => byte == integer(*number as i32),
            },
            (_, Data::Value(_)) if is_nested => true,
            (byte, Data::Value(value)) => u32::from(byte - BASE) == *value,
            (byte, Data::Version(version)) => {
                let known = self.versions.iter().find(|(_, known)| **known == *version);
                match (self.versions.get(&byte), known) {
                    (Some(known), _) => known == version,
                    (None, Some(_)) => false,
                    (None, None) => {
                        self.versions.insert(byte, *version);
                        true
                    }
                }
            }
            (_, Data::Counter(_) | Data::Node { .. }) => false,
            (_, Data::Parts(_)) => unreachable!("scalars have no parts"),
        }
    }

    /// Returns the class of a bit, where the view shows it.
    fn class(&self, at: usize) -> Option<usize> {
        let classes = &self.execution.model.flips;
        classes.iter().position(|class| {
            class
                .bits
                .iter()
                .any(|bit| bit.at == at && bit.round.is_none_or(|(at, byte)| self.view[at] == byte))
        })
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

    fn holds_variables(&mut self, member: u8) -> bool {
        let execution = self.execution;
        let (process, calls) = self.calls(member);
        let block = self.block(member);
        let doing = &execution.doing[process];
        let is_hidden = execution.is_hidden(process);
        let private: &[Data] = match is_hidden {
            true => &doing.before.0,
            false => execution.machine.private(&execution.state, Process::from_index(process)),
        };
        let declared = &execution.machine.program().private;
        let variables = declared.iter().zip(private).zip(&execution.model.private);
        for ((variable, data), (room, _)) in variables {
            let shape = Shape::of(&variable.content, self.mode());
            let begin = block + room.base;
            if !self.row(begin, &variable.content, &shape, Some(data), None, Some(member)) {
                return false;
            }
        }
        if !self.links(member) {
            return false;
        }
        let hidden = self.hidden(member, doing, &calls);
        let mut shown = 0..hidden.unwrap_or(calls.len());
        if is_hidden {
            let is_ghost =
                |call: &OpenCall<'_>| execution.model.is_ghost[call.procedure.0 as usize];
            let ghost = calls.iter().position(is_ghost);
            let is_open = doing.ghost.is_some() && hidden.is_none();
            shown.start = ghost.filter(|_| is_open).unwrap_or(shown.end);
        }
        let first = shown.start;
        shown.all(|depth| {
            let back = match depth {
                0 => 0,
                depth if is_hidden && depth == first => usize::from(NOT_BEGUN),
                depth => execution.model.returns[self.number(&calls[depth - 1]) + 1][0],
            };
            self.frame(member, &calls[depth], back)
        })
    }

    fn frame(&mut self, member: u8, call: &OpenCall<'_>, back: usize) -> bool {
        let execution = self.execution;
        let block = self.block(member);
        let frame = &execution.model.frames[call.procedure.0 as usize];
        let procedure = execution.machine.program().procedure(call.procedure);
        if self.two(block + frame.back) != back {
            return false;
        }
        let now = self.number(call);
        let loops = self.loops(call.procedure);
        let active: Vec<(usize, &For)> = loops
            .into_iter()
            .enumerate()
            .filter(|(_, one)| (one.body..one.end).contains(&now))
            .collect();
        let (mut others, mut unnamed) = (Vec::new(), Vec::new());
        for (number, this) in &active {
            let local = frame.locals.iter().position(|room| room.base == this.variable);
            let Data::Number(index) = call.locals[local.expect("an index is a local")] else {
                unreachable!("an index is a number")
            };
            let merged = this.merged[usize::from(member)];
            // Members whose rounds keep nothing count as any other.
            let place = match self.tuple.place(index as usize) {
                place if place != OTHER && merged[usize::from(place)] => {
                    unnamed.push(this.variable);
                    OTHER
                }
                place => place,
            };
            let expected = match this.over {
                Over::Members if place != OTHER => MEMBER + place,
                Over::Members => {
                    others.push(index);
                    self.gap(index, merged)
                }
                Over::Range(..) => MEMBER,
                Over::Many => GAP,
            };
            if self.view[block + this.position] != expected {
                return false;
            }
            self.told += 1;
            let except = self.view[block + this.position + 1];
            let data = call.excepts[*number].map(Data::Number);
            let says = match (this.over, data) {
                (Over::Members, Some(Data::Number(one))) => {
                    Some(BASE + self.tuple.place(one as usize))
                }
                (Over::Range(..), Some(Data::Number(one))) => Some(integer(one as i32)),
                _ => None,
            };
            let is_definite = !matches!(except, DEAD | UNKNOWN | SOME);
            if is_definite && says != Some(except) {
                return false;
            }
        }
        // Values stored at "any other" belong to the process of the present round.
        let other = if let [one] = others.as_slice() { Some(*one) } else { None };
        procedure.locals.iter().zip(call.locals).zip(&frame.locals).all(|((local, data), room)| {
            let shape = Shape::of(&local.content, self.mode());
            let begin = block + room.base;
            unnamed.contains(&room.base)
                || self.row(begin, &local.content, &shape, Some(data), other, Some(member))
        })
    }

    fn loops(&self, procedure: ProcedureId) -> Vec<&'a For> {
        let instructions = self.execution.model.code.iter();
        let of = instructions.filter(|instruction| instruction.procedure == procedure);
        of.filter_map(|instruction| match &instruction.act {
            Act::Begin(this) => Some(this),
            _ => None,
        })
        .collect()
    }

    /// Returns the gap of a process that is not a member.
    fn gap(&self, process: i64, merged: [bool; 3]) -> u8 {
        let crowd = self.tuple.crowd();
        let own = crowd.members.iter().filter(|member| !merged[usize::from(**member)]);
        let mut before = own.filter(|member| {
            self.tuple.process(**member).is_some_and(|member| (member as i64) < process)
        });
        before.next_back().map_or(GAP, |member| GAP + 1 + member)
    }
}
