//! Checks that a view is a view of a state: each known byte must be true of the state.

use rustc_hash::FxHashMap;
use snapshot_core::Process;
use snapshot_invariant::byte::{
    ANY, BASE, BORROWED, FRESH, I, J, LINKED, LOOSE, MINE, NONE, OTHER, PLACES, T, integer,
};
use snapshot_invariant::claim::Ghosts;
use snapshot_invariant::clock::{FAR, NEXT, NOW, PAST, SOME, UNTIL};
use snapshot_invariant::layout::{
    Frame, Index, Layout, ROUND, SIGNER, SPECIFICATION, Scalar, at, fixed, op,
};
use snapshot_invariant::step::{COUNTING, GAP, Kind, MEMBER};
use snapshot_language::program::{IndexSet, ProcedureId, SharedId, Type};
use snapshot_semantics::interpret::code::{For, Instruction};
use snapshot_semantics::interpret::{Data, OpenCall};

use super::execution::Execution;
use super::histories::History;

/// Processes of a view.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Tuple {
    /// i, j and t.
    pub members: [Option<usize>; PLACES],
    /// Member whose scans are followed.
    pub followed: u8,
}

impl Tuple {
    /// Returns the kind of its views: its members in ascending order.
    pub fn kind(&self) -> Kind {
        let mut members: Vec<u8> = [I, J, T].into_iter().collect();
        members.retain(|member| self.process(*member).is_some());
        members.sort_by_key(|member| self.process(*member));
        Kind { members, followed: self.followed }
    }

    /// Returns all members that are present.
    pub fn all(&self) -> Vec<usize> {
        self.members.iter().copied().flatten().collect()
    }

    pub fn process(&self, member: u8) -> Option<usize> {
        self.members[usize::from(member)]
    }

    /// Returns the place of a process.
    pub fn place(&self, process: usize) -> u8 {
        let place = self.members.iter().position(|member| *member == Some(process));
        place.map_or(OTHER, |place| place as u8)
    }
}

/// State of a member, as the view must show it.
#[derive(Debug)]
pub struct Standing<'a> {
    /// See [`op`].
    pub operation: u8,
    /// True if a ghost scan is open.
    pub ghost: bool,
    /// Shown calls.
    pub calls: Vec<OpenCall<'a>>,
    /// True if its operation is not shown.
    pub is_hidden: bool,
    /// True if it is in a followed ghost scan or scan.
    pub is_followed: bool,
}

impl Standing<'_> {
    /// Returns, per procedure, the number of its instruction plus 1.
    pub fn stands(&self, layout: &Layout<'_>) -> Vec<u8> {
        let mut stands = vec![0; layout.frames.len()];
        for (number, call) in self.calls.iter().enumerate() {
            let procedure = call.procedure.0 as usize;
            // The first of a group of merged calls stands for all.
            let alike = layout.alike_calls(procedure, call.at).first();
            let at = alike.filter(|_| number + 1 < self.calls.len()).copied();
            stands[procedure] = at.unwrap_or(call.at) as u8 + 1;
        }
        stands
    }
}

/// Returns the state of a member.
pub fn standing<'a>(execution: &'a Execution<'a>, tuple: &Tuple, member: u8) -> Standing<'a> {
    let process = tuple.process(member).expect("a member that is there");
    let doing = &execution.doing[process];
    let mut calls = execution.open_calls(process);
    let is_hidden = execution.is_hidden(process);
    let follows = member == tuple.followed;
    let is_ghost = |call: &OpenCall<'_>| execution.layout.is_ghost[call.procedure.0 as usize];
    let ghost = calls.iter().position(is_ghost).filter(|_| doing.ghost.is_some());
    let idle = |is_hidden| Standing {
        operation: op::IDLE,
        ghost: false,
        calls: Vec::new(),
        is_hidden,
        is_followed: false,
    };
    if doing.operation == op::IDLE || (doing.operation == op::SCANS && !follows) {
        return idle(is_hidden);
    }
    match ghost {
        None if is_hidden => idle(true),
        Some(_) if is_hidden && !follows => idle(true),
        Some(ghost) if is_hidden => {
            let calls = calls.split_off(ghost);
            let operation = op::GHOSTS + calls[0].procedure.0 as u8;
            Standing { operation, ghost: true, calls, is_hidden, is_followed: true }
        }
        Some(ghost) if !follows => {
            calls.truncate(ghost);
            let operation = doing.operation;
            Standing { operation, ghost: true, calls, is_hidden, is_followed: false }
        }
        ghost => {
            let (operation, is_followed) = (doing.operation, ghost.is_some());
            Standing { operation, ghost: is_followed, calls, is_hidden, is_followed }
        }
    }
}

/// A view beside a state.
pub struct Likeness<'a> {
    execution: &'a Execution<'a>,
    history: &'a History,
    tuple: &'a Tuple,
    view: &'a [u8],
    /// Versions of the state, by versions of the view.
    versions: FxHashMap<u8, u32>,
    /// Flipped classes of bits.
    pub flips: FxHashMap<usize, bool>,
    /// Number of known bytes.
    pub told: usize,
    /// Number of rounds that count as gap rounds of a loose loop.
    pub loose: usize,
    /// Number of bits whose class belongs to a round.
    pub rounds: usize,
    /// Number of known links.
    pub links: usize,
    /// Number of counters of which more is known than that they are there.
    pub counted: usize,
}

impl<'a> Likeness<'a> {
    pub fn new(
        execution: &'a Execution<'a>,
        history: &'a History,
        tuple: &'a Tuple,
        view: &'a [u8],
    ) -> Self {
        Self {
            execution,
            history,
            tuple,
            view,
            versions: FxHashMap::from_iter([(BASE, 0)]),
            flips: FxHashMap::default(),
            told: 0,
            loose: 0,
            rounds: 0,
            links: 0,
            counted: 0,
        }
    }

    fn layout(&self) -> &'a Layout<'a> {
        self.execution.layout
    }

    /// Returns true if the view belongs to the state. It shows the operations of the `shown`
    /// members; the others are between two pauses.
    pub fn holds(&mut self, shown: &[u8]) -> bool {
        self.view[SPECIFICATION] == self.history.specification
            && self.round_is_so()
            && shown.iter().all(|member| self.stands(*member))
            && self.signer()
            && self.shared()
            && shown.iter().all(|member| self.variables(*member))
    }

    /// Returns true if the open round is as in the view.
    fn round_is_so(&self) -> bool {
        let (byte, round) = (self.view[ROUND], self.execution.round);
        match self.layout().obligation.ghosts {
            Ghosts::Rounds if self.execution.has_tokens() => {
                byte != FRESH || round.is_some_and(|opened| self.latest() < opened)
            }
            Ghosts::Rounds => byte == self.history.round.map_or(0, |bits| bits + 1),
            _ => byte == 0,
        }
    }

    fn stands(&mut self, member: u8) -> bool {
        let standing = standing(self.execution, self.tuple, member);
        let process = self.tuple.process(member).expect("a member that is there");
        let doing = &self.execution.doing[process];
        let block = self.layout().blocks[usize::from(member)];
        let byte = |offset: usize| self.view[block + offset];
        let invoked = self.history.invoked.contains(&process);
        let switched = if standing.is_hidden { doing.before.1 } else { doing.switched };
        let obligation = self.layout().obligation;
        let is_judged = standing.is_followed && obligation.judges(member);
        let bits = doing.ghost.as_ref().and_then(|ghost| ghost.bits).filter(|_| is_judged);
        let is_fresh = |doing: &super::execution::Doing| {
            doing.ghost.as_ref().is_some_and(|ghost| self.latest() < ghost.opened)
        };
        byte(at::OP) == standing.operation
            && byte(at::GHOST) == u8::from(standing.ghost)
            && byte(at::BEGUN) == u8::from(bits.is_some())
            && byte(at::BITS) == bits.unwrap_or_default()
            && byte(at::INVOKED) == u8::from(invoked && !standing.is_hidden)
            && byte(at::SWITCHED) == u8::from(switched && member != T)
            && (byte(at::TOKEN) != FRESH || is_fresh(doing))
    }

    /// Returns the time at which t's latest ghost scan was opened.
    fn latest(&self) -> u64 {
        let tracked = self.tuple.process(T);
        tracked.map_or(u64::MAX, |tracked| self.execution.doing[tracked].latest)
    }

    /// Returns true if the process that wrote the clock last is as in the view.
    fn signer(&self) -> bool {
        let place = self.execution.signer.map(|process| BASE + self.tuple.place(process));
        match self.view[SIGNER] {
            ANY => true,
            byte => byte == place.unwrap_or(NONE),
        }
    }

    fn shared(&mut self) -> bool {
        let execution = self.execution;
        let program = execution.machine.program();
        (0..).zip(&program.shared).all(|(id, variable)| {
            execution.layout.cells[id as usize].iter().all(|(path, room)| {
                let Some(indices) = self.indices(SharedId(id), path, &variable.dimensions) else {
                    let is_named = path.first() == Some(&Index::Named);
                    return !is_named || self.view[room.base] == ANY;
                };
                let data = execution.machine.cell(&execution.state, SharedId(id), &indices);
                if execution.layout.is_clock(SharedId(id)) {
                    return self.remainder(room.base, data);
                }
                self.row(room.base, &variable.content, data, None)
            })
        })
    }

    /// Returns true if the kept remainder is that of the clock.
    fn remainder(&mut self, at: usize, data: Option<&Data>) -> bool {
        let divisor = self.layout().clock.map_or(1, |clock| clock.divisor);
        let (Some(Data::Counter(number)), byte) = (data, self.view[at]) else { return false };
        self.told += usize::from(byte != ANY);
        byte == ANY || byte == integer(*number as i64 % divisor)
    }

    /// Returns true if a byte is true of a counter.
    fn is_counted(&mut self, byte: u8, number: u64) -> bool {
        let Some(now) = self.execution.clock() else { return byte == SOME };
        self.counted += usize::from(byte != SOME);
        match byte {
            PAST => number < now,
            NOW => number == now,
            NEXT => number == now + 1,
            FAR => number > now + 1,
            UNTIL => number <= now,
            _ => byte == SOME,
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

    /// Returns true if each known link of a member in the view is true of the state.
    fn links(&mut self, member: u8, is_idle: bool) -> bool {
        let execution = self.execution;
        let (layout, machine) = (execution.layout, execution.machine);
        let process = self.tuple.process(member).map(Process::from_index);
        (0..).map(SharedId).zip(&machine.program().shared).all(|(id, variable)| {
            let cells = &layout.cells[id.0 as usize];
            layout.links_of(member, id).zip(cells).all(|(at, (path, _))| {
                if self.view[at] == ANY {
                    return true;
                }
                let indices = self.indices(id, path, &variable.dimensions);
                let Some((process, indices)) = process.zip(indices) else {
                    return path.first() != Some(&Index::Named);
                };
                assert!(layout.slots[at].kept, "{} is not kept", layout.slots[at].name);
                self.told += 1;
                self.links += 1;
                let is = match layout.name_of(id) {
                    Some(_) => Some(execution.is_linked_to(process.index(), id, &indices)),
                    None => machine.is_linked(&execution.state, id, &indices, process),
                };
                !is_idle && is == Some(self.view[at] == LINKED)
            })
        })
    }

    fn variables(&mut self, member: u8) -> bool {
        let execution = self.execution;
        let standing = standing(execution, self.tuple, member);
        let process = self.tuple.process(member).expect("a member that is there");
        let block = execution.layout.blocks[usize::from(member)];
        let now = execution.machine.private(&execution.state, Process::from_index(process));
        let private = if standing.is_hidden { &execution.doing[process].before.0 } else { now };
        let declared = &execution.machine.program().private;
        let mut variables = declared.iter().zip(private).zip(&execution.layout.private);
        variables.all(|((variable, data), room)| {
            self.row(block + room.base, &variable.content, Some(data), Some(member))
        }) && self.links(member, standing.operation == op::IDLE)
            && standing.calls.iter().all(|call| self.frame(member, block, call))
    }

    fn frame(&mut self, member: u8, block: usize, call: &OpenCall<'_>) -> bool {
        let layout = self.layout();
        let frame = &layout.frames[call.procedure.0 as usize];
        let procedure = layout.program.procedure(call.procedure);
        let loops = layout.code[call.procedure.0 as usize].instructions.iter();
        let mut loops = loops.filter_map(|one| match one {
            Instruction::BeginFor(this) if (this.body..this.end).contains(&call.at) => Some(this),
            _ => None,
        });
        loops.all(|this| self.round(member, block, frame, call, this))
            && procedure.locals.iter().zip(call.locals).zip(&frame.locals).all(
                |((local, data), room)| {
                    // The rounds are compared instead of the variables of loops.
                    let is_named = |at: usize| !layout.slots[block + at].name.is_empty();
                    !(room.base..room.base + room.size).all(is_named)
                        || self.row(block + room.base, &local.content, Some(data), Some(member))
                },
            )
    }

    /// Returns true if a loop is in the same round as in the view.
    fn round(
        &mut self,
        member: u8,
        block: usize,
        frame: &Frame,
        call: &OpenCall<'_>,
        this: &For<'_>,
    ) -> bool {
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
        let left_out = self.view[position + 1];
        self.told += 1;
        self.view[position] == stands
            && self.view[variable] == says
            && (left_out == ANY || except == Some(left_out))
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

    /// Returns true if the bytes from `begin` on fit a value.
    fn row(
        &mut self,
        begin: usize,
        content: &Type,
        data: Option<&Data>,
        owner: Option<u8>,
    ) -> bool {
        let mut at = begin;
        self.part(&mut at, content, data, owner)
    }

    /// As [`Self::row`]; `at` advances through the bytes, up to the first wrong one.
    fn part(
        &mut self,
        at: &mut usize,
        content: &Type,
        data: Option<&Data>,
        owner: Option<u8>,
    ) -> bool {
        let element = |index: usize| match data {
            Some(Data::Parts(parts)) => parts.get(index),
            // An array that is absent has no elements; an array of an absent process has none
            // either.
            _ => None,
        };
        match content {
            Type::Optional(inner) if inner.is_scalar() => self.part(at, inner, data, owner),
            view if self.execution.has_tokens() && *view == Type::view() => {
                *at += 1;
                self.leaf(*at - 1, data, owner)
            }
            Type::Array { index, element: inner } if index.is_of_names() => {
                (0..PLACES as u8).all(|place| {
                    let part = self.tuple.process(place).and_then(element);
                    self.part(at, inner, part, owner)
                })
            }
            Type::Array { index: IndexSet::Range(low, high), element: inner }
                if fixed(*low, *high).is_some() =>
            {
                let (low, high) = fixed(*low, *high).unwrap_or_default();
                (0..=(high - low) as usize).all(|place| self.part(at, inner, element(place), owner))
            }
            Type::Record(fields) => fields
                .iter()
                .enumerate()
                .all(|(number, field)| self.part(at, &field.content, element(number), owner)),
            _ => {
                *at += 1;
                self.leaf(*at - 1, data, owner)
            }
        }
    }

    fn leaf(&mut self, at: usize, data: Option<&Data>, owner: Option<u8>) -> bool {
        let (byte, slot) = (self.view[at], &self.layout().slots[at]);
        let (Some(data), Some(leaf)) = (data, slot.leaf) else { return true };
        if byte == ANY {
            return true;
        }
        assert!(slot.kept, "{} is not kept", slot.name);
        self.told += 1;
        let is_token = self.execution.has_tokens() && leaf.scalar == Scalar::View;
        let mut names = 0..self.layout().named.len();
        if let Some(name) = names.find(|name| self.layout().name_at(*name) == at) {
            let followed = self.tuple.followed;
            let is = self.execution.named(name) == self.tuple.process(followed);
            return byte == BASE + if is { followed } else { OTHER };
        }
        match (byte, data) {
            (NONE, data) => *data == Data::None,
            (_, Data::None) => false,
            (byte, data) if is_token => self.token(byte, data, owner),
            (BORROWED, _) if leaf.scalar == Scalar::View => true,
            (byte, Data::Bool(truth)) => {
                let differs = byte != BASE + u8::from(*truth);
                let Some(class) = self.layout().class_of(self.view, at) else { return !differs };
                let mut of = self.layout().class_bits[&at].iter();
                self.rounds += usize::from(of.any(|(one, round)| *one == class && round.is_some()));
                *self.flips.entry(class).or_insert(differs) == differs
            }
            (byte, Data::Number(number)) => match leaf.scalar {
                Scalar::Member => byte == BASE + self.tuple.place(*number as usize),
                _ => byte == integer(*number),
            },
            (_, Data::Value(_)) if self.execution.has_tokens() => true,
            (byte, Data::Value(value)) => u32::from(byte - BASE) == *value,
            (byte, Data::Version(version)) => {
                let known = self.versions.values().any(|known| known == version);
                match self.versions.get(&byte) {
                    Some(same) => same == version,
                    None if known => false,
                    None => self.versions.insert(byte, *version).is_none(),
                }
            }
            (byte, Data::Counter(number)) => self.is_counted(byte, *number),
            (_, Data::Node { .. } | Data::Parts(_)) => false,
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
