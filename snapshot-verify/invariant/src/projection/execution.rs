//! Concrete executions, with the part of their past that certificates record: the state of the
//! specification, and the ghost scans. Both are computed from the interpreter's steps.
//!
//! A move of a process is one access that is a pause and the computation up to the next, or, in
//! fine executions, one access. docs/certificates.md defines pauses.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use snapshot_core::Process;
use snapshot_language::program::{Access, SharedId};
use snapshot_semantics::interpret::code::Instruction;
use snapshot_semantics::interpret::{Call, Data, Machine, Next, OpenCall, Passage, State};

use super::histories::History;
use crate::byte::{I, J, OTHER, T};
use crate::claim::Property;
use crate::layout::{Layout, op};

/// Accesses between two pauses after which a process counts as spinning.
pub(super) const PATIENCE: usize = 300;

#[derive(Clone, Debug)]
pub struct Ghost {
    /// Time of its opening.
    pub opened: u64,
    /// Bits of the specification, from its first access on.
    pub bits: Option<u8>,
    /// Number of open calls of ghost scans within it.
    pub(super) depth: usize,
}

/// Past of a process, without its location.
#[derive(Clone, Debug)]
pub struct Doing {
    /// As in a block of a view.
    pub operation: u8,
    /// True if it has begun to write 1.
    pub switched: bool,
    pub ghost: Option<Ghost>,
    /// Time at which its latest ghost scan was opened.
    pub latest: u64,
    /// Number of its operations.
    pub operations: u64,
    /// True if its operation is shown.
    pub acted: bool,
    /// Its private variables, and whether it had begun to write 1, before its operation.
    pub before: (Vec<Data>, bool),
}

#[derive(Clone, Debug)]
pub struct Returned {
    /// Time at which the ghost scan was opened.
    pub opened: u64,
    /// Calling process, and the number of its operation.
    pub by: (usize, u64),
    pub vector: Data,
}

/// Result of a move.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ended {
    Well,
    /// A ghost scan was judged wrong.
    Violation,
    /// A fault of the program.
    Fault,
    /// The move did not end within `PATIENCE` accesses.
    Never,
}

/// An execution with its past.
#[derive(Clone)]
pub struct Execution<'a> {
    pub machine: &'a Machine<'a>,
    pub layout: &'a Layout<'a>,
    /// i and j; for nesting, only i counts.
    pub pair: [usize; 2],
    pub state: State,
    /// Not empty: one, unless processes may be lost.
    pub histories: Vec<History>,
    pub doing: Vec<Doing>,
    pub returned: Vec<Returned>,
    /// Process that wrote the clock last.
    pub signer: Option<usize>,
    /// Begin of the open round.
    pub round: Option<u64>,
    /// True if each access is a separate move, even if it is not a pause.
    pub fine: bool,
    pub(super) time: u64,
    /// The cell of a process's latest LL on a variable in its operation.
    pub(super) linked: FxHashMap<(usize, SharedId), Vec<i64>>,
    /// Processes that may be lost, each with a variable that it has no link to; until it tests the
    /// link again, or its procedure ends or calls.
    pub(super) lost: BTreeSet<(usize, SharedId)>,
    /// Assumed locations of processes that may be lost.
    pub(super) moved: FxHashMap<usize, usize>,
}

impl<'a> Execution<'a> {
    pub fn new(machine: &'a Machine<'a>, layout: &'a Layout<'a>, pair: [usize; 2]) -> Self {
        let idle = Doing {
            operation: op::IDLE,
            switched: false,
            ghost: None,
            latest: 0,
            operations: 0,
            acted: true,
            before: (Vec::new(), false),
        };
        Self {
            machine,
            layout,
            pair,
            state: machine.initial().clone(),
            histories: vec![History::default()],
            doing: vec![idle; machine.processes()],
            returned: Vec::new(),
            signer: None,
            round: None,
            fine: false,
            time: 0,
            linked: FxHashMap::default(),
            lost: BTreeSet::new(),
            moved: FxHashMap::default(),
        }
    }

    /// Returns the content of the clock.
    pub fn clock(&self) -> Option<u64> {
        let variable = self.layout.clock?.variable;
        match self.machine.cell(&self.state, variable, &[]) {
            Some(Data::Counter(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns true if the next access of a process is a plain write to the clock.
    fn writes_clock(&self, calls: &[OpenCall<'_>]) -> bool {
        calls.last().is_some_and(|call| match self.instruction(call) {
            Instruction::Access { access: Access::Write(place, _), .. } => {
                self.layout.is_clock(place.variable)
            }
            _ => false,
        })
    }

    pub fn has_tokens(&self) -> bool {
        self.layout.tokens()
    }

    pub(super) fn is_observed(&self) -> bool {
        self.layout.obligation.property == Property::Observer
    }

    /// Returns i, j, or another process.
    pub fn place(&self, process: usize) -> u8 {
        match () {
            () if process == self.pair[0] => I,
            () if process == self.pair[1] && !self.has_tokens() => J,
            () => T,
        }
    }

    /// Returns the operations that a process may begin, if it is idle.
    pub fn calls(&self, process: usize) -> Vec<Call> {
        if !self.state.is_idle(process) {
            return Vec::new();
        }
        if self.has_tokens() {
            return vec![Call::Update(self.new_value()), Call::Scan];
        }
        let (place, switched) = (self.place(process), self.doing[process].switched);
        let mut calls = vec![Call::Scan];
        if place == T || !switched {
            calls.push(Call::Update(0));
        }
        if place != T {
            calls.push(Call::Update(1));
        }
        calls
    }

    pub fn open_calls(&self, process: usize) -> Vec<OpenCall<'_>> {
        let mut calls = self.machine.open_calls(&self.state, Process::from_index(process));
        if let (Some(at), Some(call)) = (self.moved.get(&process), calls.last_mut()) {
            call.at = *at;
        }
        calls
    }

    /// Returns an index as a process sees it: itself, i or j, or another.
    pub fn seen_by(&self, process: usize, index: usize) -> u8 {
        match self.place(index) {
            T if index != process => OTHER,
            place => place,
        }
    }

    pub fn instruction(&self, call: &OpenCall<'_>) -> Instruction<'a> {
        self.layout.code[call.procedure.0 as usize].instructions[call.at]
    }

    /// Returns true if a process is between two pauses: views make its computation there in one
    /// step.
    pub fn is_in_transit(&self, process: usize) -> bool {
        self.doing[process].operation != op::IDLE && !self.is_at_pause(process)
    }

    /// Returns true if the operation of a process is not shown yet.
    pub fn is_hidden(&self, process: usize) -> bool {
        !self.state.is_idle(process) && !self.doing[process].acted
    }

    /// Shows a scan of i or j before its first access that is a pause, if it is shown late; returns
    /// true if it has just become shown.
    pub fn approach(&mut self, process: usize) -> bool {
        let doing = &self.doing[process];
        let is_scan = self.place(process) != T && doing.operation == op::SCANS;
        let arrives = is_scan && self.is_hidden(process) && doing.ghost.is_none();
        let arrives = arrives && self.is_at_pause(process);
        self.doing[process].acted |= arrives;
        arrives
    }

    /// Makes a move: begins an operation, or makes the next step of the open one.
    pub fn go(&mut self, process: usize, call: Option<Call>) -> Ended {
        let lost = self.lost.clone();
        let ended = self.advance(process, call);
        if ended == Ended::Well {
            self.forget();
            self.respond_early(process, &lost);
        }
        ended
    }

    fn advance(&mut self, process: usize, call: Option<Call>) -> Ended {
        let me = Process::from_index(process);
        let mut passages = Vec::new();
        match call {
            Some(call) => {
                self.begin(process, call);
                if self.machine.begin_passing(&mut self.state, me, call, &mut passages).is_err() {
                    return Ended::Fault;
                }
                self.note_lost(process);
            }
            None => {
                if self.is_at_pause(process) {
                    self.first_access(process);
                }
                match self.access(process, &mut passages) {
                    Ended::Well => {}
                    ended => return ended,
                }
            }
        }
        for _ in 0..PATIENCE {
            if self.pass(process, &passages) == Ended::Violation {
                return Ended::Violation;
            }
            passages.clear();
            if self.state.is_idle(process) || self.is_at_pause(process) {
                return Ended::Well;
            }
            if self.machine.next(&self.state, me) == Next::Respond {
                if self.machine.advance_passing(&mut self.state, me, &mut passages).is_err() {
                    return Ended::Fault;
                }
                if !self.end(process) {
                    return Ended::Violation;
                }
                continue;
            }
            if self.fine {
                return Ended::Well;
            }
            match self.access(process, &mut passages) {
                Ended::Well => {}
                ended => return ended,
            }
        }
        Ended::Never
    }

    pub(super) fn access(&mut self, process: usize, passages: &mut Vec<Passage>) -> Ended {
        let calls = self.open_calls(process);
        let (mut is_point, mut round) = (false, None);
        if let Some(call) = calls.last() {
            let is_update = call.procedure == self.machine.program().update();
            is_point = is_update && self.layout.point == Some(call.at);
            let passed = self.layout.round_at(call.procedure.0 as usize, call.at);
            if is_point || passed.is_some() {
                let (writes, variable) = match self.instruction(call) {
                    Instruction::Access { access: Access::Write(place, _), .. } => {
                        (true, place.variable)
                    }
                    Instruction::Access { access: Access::StoreConditional(place, _), .. } => {
                        (self.is_linked(process), place.variable)
                    }
                    _ => panic!("neither a plain write nor an SC"),
                };
                is_point &= writes;
                round = passed.filter(|_| writes).map(|round| (round, variable));
            }
        }
        let (before, writes) = (self.clock(), self.writes_clock(&calls));
        let me = Process::from_index(process);
        let is_load = |call: &OpenCall<'_>| {
            let instruction = self.instruction(call);
            matches!(instruction, Instruction::Access { access: Access::LoadLinked(_), .. })
        };
        if calls.last().is_some_and(is_load)
            && let Next::Access { variable, indices, .. } = self.machine.next(&self.state, me)
        {
            self.linked.insert((process, variable), indices);
            self.lost.remove(&(process, variable));
        }
        if self.machine.advance_passing(&mut self.state, me, passages).is_err() {
            return Ended::Fault;
        }
        // Other writes change it.
        if writes || self.clock() != before {
            self.signer = Some(process);
        }
        if is_point {
            self.pass_point(process);
        }
        if !passages.is_empty() || self.machine.next(&self.state, me) == Next::Respond {
            self.lost.retain(|(of, _)| *of != process);
        }
        for process in 0..self.doing.len() {
            self.note_lost(process);
        }
        round.map_or(Ended::Well, |(round, variable)| self.pass_round(round, variable))
    }

    /// Returns true if a process is linked to the cell that it accesses next.
    fn is_linked(&self, process: usize) -> bool {
        let me = Process::from_index(process);
        let Next::Access { variable, indices, .. } = self.machine.next(&self.state, me) else {
            return false;
        };
        self.machine.is_linked(&self.state, variable, &indices, me) == Some(true)
    }

    fn begin(&mut self, process: usize, call: Call) {
        let has_tokens = self.has_tokens();
        let switches = call == Call::Update(1) && self.place(process) != T && !has_tokens;
        let private = self.machine.private(&self.state, Process::from_index(process)).to_vec();
        let scan = self.machine.program().scan().0 as usize;
        let is_ghost = call == Call::Scan && self.layout.is_ghost[scan];
        let doing = &mut self.doing[process];
        doing.operation = match call {
            Call::Scan => op::SCANS,
            Call::Update(_) if switches && !doing.switched => op::SWITCHES,
            Call::Update(_) => op::UPDATES,
            Call::Operation(_) => panic!("of no snapshot"),
        };
        doing.before = (private, doing.switched);
        doing.acted = is_ghost || !self.layout.late;
        doing.switched |= switches;
        doing.operations += 1;
        self.linked.retain(|(of, _), _| *of != process);
        self.lost.retain(|(of, _)| *of != process);
    }

    fn first_access(&mut self, process: usize) {
        if self.doing[process].ghost.is_some() {
            self.begin_scan(process);
        } else {
            self.doing[process].acted = true;
            let waits = self.may_be_past(process);
            self.invoke(process, waits);
        }
    }

    fn pass_point(&mut self, process: usize) {
        let is_memory = matches!(self.layout.obligation.property, Property::Memory(_));
        if !is_memory || self.doing[process].operation != op::SWITCHES {
            return;
        }
        let place = self.place(process);
        self.history().specification |= 1 << place;
        let specification = self.history().specification;
        for doing in &mut self.doing {
            if let Some(Ghost { bits: Some(bits), .. }) = &mut doing.ghost {
                *bits |= 1 << specification;
            }
        }
    }

    /// Ends an operation; returns false for an update that has not taken effect.
    pub(super) fn end(&mut self, process: usize) -> bool {
        let is_memory = matches!(self.layout.obligation.property, Property::Memory(_));
        let place = self.place(process);
        let mut is_right = true;
        if self.doing[process].operation == op::SWITCHES {
            self.invoke(process, false);
            self.respond(process);
            is_right = !is_memory || self.history().specification >> place & 1 == 1;
        }
        self.stop(process);
        is_right
    }

    /// Resets the past of a process at the end of its operation.
    pub(super) fn stop(&mut self, process: usize) {
        let doing = &mut self.doing[process];
        doing.operation = op::IDLE;
        doing.acted = true;
        for history in &mut self.histories {
            history.invoked.remove(&process);
        }
    }
}
