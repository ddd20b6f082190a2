//! Concrete executions, with the part of their past that the proof records: the state of the
//! observer, and the ghost scans. Both are computed from the interpreter's steps.
//!
//! A move of a process is one access that is a pause for the obligation, and the computation up to
//! the next: other accesses influence no kept variable.

use snapshot_core::Process;
use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;
use snapshot_everyn::model::{
    Act, Ghosts, IDLE, Model, Part, Round, SCANS, SWITCHES, Specification, UPDATES,
};
use snapshot_everyn::run::pauses::{Index, pauses};
use snapshot_everyn::shape::{BASE, I, J, Leaf, Mode, OTHER, Scalar, T, integer};
use snapshot_language::program::{SharedId, Type};
use snapshot_semantics::interpret::{Action, Call, Data, Machine, Next, Passage, State};

/// Accesses between two pauses after which a process counts as spinning.
const PATIENCE: usize = 300;

/// An open ghost scan.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Ghost {
    /// Time of its opening.
    pub opened: u64,
    /// Bits of the specification, from its first access on.
    pub bits: Option<u8>,
}

/// Past of a process, without its location.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Doing {
    /// As in a block of a view.
    pub operation: u8,
    /// True if an update that switches has made its first access.
    pub invoked: bool,
    /// True if it has begun to write 1.
    pub switched: bool,
    pub ghost: Option<Ghost>,
    /// Time at which its latest ghost scan was opened.
    pub latest: u64,
    /// Number of its operations.
    pub operations: u64,
    /// True if its operation is shown: it has made an access that is a pause, outside of its ghost
    /// scans, or operations are shown from their begin on.
    pub acted: bool,
    /// Its private variables, and whether it had begun to write 1, before its operation.
    pub before: (Vec<Data>, bool),
    /// True if the specification has seen its response: it is lost on its path to the response.
    pub responded: bool,
}

/// The vector of a ghost scan.
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
    /// A scan violated linearizability.
    Violation,
    /// A fault of the program.
    Fault,
    /// The move did not end within [`PATIENCE`] accesses.
    Never,
}

/// An execution with its past.
#[derive(Clone)]
pub struct Execution<'a> {
    pub machine: &'a Machine<'a>,
    pub model: &'a Model,
    /// i and j; for nesting, only i counts.
    pub pair: [usize; 2],
    pub state: State,
    /// The state of the specification.
    pub specification: u8,
    pub doing: Vec<Doing>,
    pub returned: Vec<Returned>,
    /// Bits of the open round plus 1; 0 if no round is open.
    pub round: u8,
    /// Begin of the latest round.
    pub round_began: u64,
    /// True if each access is a separate move, even if it is not a pause.
    pub fine: bool,
    time: u64,
    values: u32,
}

impl<'a> Execution<'a> {
    pub fn new(machine: &'a Machine<'a>, model: &'a Model, pair: [usize; 2]) -> Self {
        let idle = Doing {
            operation: IDLE,
            invoked: false,
            switched: false,
            ghost: None,
            latest: 0,
            operations: 0,
            acted: true,
            before: (Vec::new(), false),
            responded: false,
        };
        Self {
            machine,
            model,
            pair,
            state: machine.initial().clone(),
            specification: 0,
            doing: vec![idle; machine.processes()],
            returned: Vec::new(),
            round: 0,
            round_began: 0,
            fine: false,
            time: 0,
            values: 0,
        }
    }

    pub fn is_direct(&self) -> bool {
        self.model.obligation.mode == Mode::Direct
    }

    /// Returns true if another obligation excludes faults.
    pub fn ignores_faults(&self) -> bool {
        self.is_direct() || self.model.obligation.part == Part::Tokens
    }

    /// Returns true if the state of the specification can be computed from outside: not if it
    /// depends on the borrowed views, since cells hold views.
    pub fn tells_specification(&self) -> bool {
        let is_local = self.model.obligation.specification == Specification::Local;
        self.is_direct() && (is_local || self.judges() || self.by_rounds())
    }

    /// Returns true if ghost scans are rounds.
    pub fn by_rounds(&self) -> bool {
        matches!(self.model.obligation.ghosts, Ghosts::Rounds { .. })
    }

    /// Returns true if each ghost scan is judged by its result.
    fn judges(&self) -> bool {
        let slots = &self.model.slots;
        let is_view = |leaf: Leaf| leaf.scalar == Scalar::View;
        let mut shared = slots.iter().filter(|slot| slot.cell.is_some());
        !shared.any(|slot| slot.leaf.is_some_and(is_view))
    }

    /// Returns true if the ghost scans of a process are judged.
    pub fn is_judged(&self, process: usize) -> bool {
        match self.model.obligation.part {
            Part::By(place) => self.place(process) == place,
            _ => true,
        }
    }

    /// Returns i, j, or another process.
    pub fn place(&self, process: usize) -> u8 {
        match () {
            () if process == self.pair[0] => I,
            () if process == self.pair[1] && self.is_direct() => J,
            () => T,
        }
    }

    /// Returns the operations that a process may begin, if it is idle.
    pub fn calls(&self, process: usize) -> Vec<Call> {
        if !self.state.is_idle(process) {
            return Vec::new();
        }
        if !self.is_direct() {
            return vec![Call::Update(self.values + 1), Call::Scan];
        }
        let mut calls = vec![Call::Scan];
        let (place, switched) = (self.place(process), self.doing[process].switched);
        if place == T || !switched {
            calls.push(Call::Update(0));
        }
        if place != T {
            calls.push(Call::Update(1));
        }
        calls
    }

    /// Returns the instruction that a process stands before, by its number in the model.
    pub fn pc(&self, process: usize) -> Option<usize> {
        let calls = self.machine.open_calls(&self.state, Process::from_index(process));
        let last = calls.last()?;
        Some(self.model.entries[last.procedure.0 as usize] + last.at)
    }

    /// Returns an index as a process sees it: itself, i or j, or another.
    fn seen_by(&self, process: usize, index: usize) -> u8 {
        match self.place(index) {
            T if index != process => OTHER,
            place => place,
        }
    }

    fn is_at_pause(&self, process: usize) -> bool {
        let calls = self.machine.open_calls(&self.state, Process::from_index(process));
        let Some(pc) = self.pc(process) else { return false };
        let instruction = &self.model.code[pc];
        let call = calls.last().expect("a process that is not idle runs something");
        let frame = &self.model.frames[instruction.procedure.0 as usize];
        let place = self.place(process);
        let is_followed = place == T || self.doing[process].ghost.is_some();
        pauses(self.model, instruction, place, is_followed, &|variable| {
            let local = frame.locals.iter().position(|room| room.base == variable);
            match call.locals[local.expect("an index is a local")] {
                Data::Number(index) => Index::At(self.seen_by(process, index as usize)),
                _ => Index::Any,
            }
        })
    }

    /// Returns true if a process is between two pauses: views make its computation there in one
    /// step.
    pub fn is_in_transit(&self, process: usize) -> bool {
        !self.state.is_idle(process) && !self.is_at_pause(process)
    }

    /// Returns true if the operation of a process is not shown yet.
    pub fn is_hidden(&self, process: usize) -> bool {
        !self.state.is_idle(process) && !self.doing[process].acted
    }

    /// Returns true if a process is lost: its link is broken, and none of its steps before it links
    /// again matters to others.
    fn is_lost(&self, process: usize) -> bool {
        let Some(pc) = self.pc(process).filter(|_| self.is_at_pause(process)) else { return false };
        let me = Process::from_index(process);
        self.model.lost.iter().any(|lost| {
            let ways = lost.ways[pc].as_ref();
            let is_linked = self.machine.is_linked(&self.state, lost.variable, &[], me);
            // Names are known only for the followed process.
            let is_known = self.place(process) == T || self.doing[process].ghost.is_some();
            let others = |name: &usize| {
                let is_named = self.is_in_force(*name) && self.named(*name) == Some(process as i64);
                is_known && !is_named && self.model.slots[self.model.name_at(*name)].kept
            };
            ways.is_some_and(|ways| is_linked == Some(false) && ways.unnamed.iter().all(others))
        })
    }

    /// Returns a field of the cell of a name.
    fn field(&self, name: usize, offset: usize) -> &Data {
        let held = self.machine.cell(&self.state, self.model.named[name].variable, &[]);
        match held.expect("an existing cell") {
            // Its fields are scalars.
            Data::Parts(parts) => &parts[offset],
            scalar => scalar,
        }
    }

    /// Returns the process that a name refers to.
    pub fn named(&self, name: usize) -> Option<i64> {
        match self.field(name, self.model.named[name].offset) {
            Data::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns true if a name is in force.
    pub fn is_in_force(&self, name: usize) -> bool {
        let Some(force) = &self.model.named[name].force else { return true };
        let byte = match self.field(name, force.offset) {
            Data::Bool(truth) => BASE + u8::from(*truth),
            Data::Number(number) => integer(*number as i32),
            other => panic!("{other:?} tells when a name is in force"),
        };
        force.bytes.contains(&byte)
    }

    /// Returns the execution with all lost processes where they will test their link again, as in
    /// views.
    pub fn found(&self) -> Self {
        let mut found = self.clone();
        found.fine = false;
        for process in 0..self.doing.len() {
            for _ in 0..PATIENCE {
                if !found.is_lost(process) {
                    break;
                }
                assert_eq!(found.step(process, None), Ended::Well, "it does nothing that matters");
            }
        }
        found
    }

    /// Makes a move: begins an operation, or makes the next step of the open one.
    pub fn go(&mut self, process: usize, call: Option<Call>) -> Ended {
        let ended = self.step(process, call);
        if ended == Ended::Well {
            let found = self.found();
            for (process, then) in found.doing.iter().enumerate() {
                let responds = then.operation == IDLE && self.doing[process].operation != IDLE;
                if responds && self.is_lost(process) && !self.doing[process].responded {
                    self.respond(process);
                    self.doing[process].responded = true;
                }
            }
        }
        ended
    }

    fn step(&mut self, process: usize, call: Option<Call>) -> Ended {
        let me = Process::from_index(process);
        let mut passages = Vec::new();
        match call {
            Some(call) => {
                self.begin(process, call);
                if self.machine.begin_passing(&mut self.state, me, call, &mut passages).is_err() {
                    return Ended::Fault;
                }
            }
            None => {
                if self.is_at_pause(process) {
                    self.first_access(process);
                }
                let ended = self.access(process, &mut passages);
                if ended != Ended::Well {
                    return ended;
                }
            }
        }
        if let ended @ (Ended::Violation | Ended::Fault) = self.pass(process, &passages) {
            return ended;
        }
        for _ in 0..PATIENCE {
            if self.state.is_idle(process) || self.is_at_pause(process) {
                return Ended::Well;
            }
            if self.machine.next(&self.state, me) == Next::Respond {
                let mut nothing = Vec::new();
                let advance = self.machine.advance_passing(&mut self.state, me, &mut nothing);
                debug_assert!(matches!(
                    advance,
                    Ok(Some(Action::RespondScan(_) | Action::RespondUpdate))
                ));
                self.end(process);
                continue;
            }
            if self.fine {
                return Ended::Well;
            }
            let mut passages = Vec::new();
            let ended = self.access(process, &mut passages);
            if ended != Ended::Well {
                return ended;
            }
            if let ended @ (Ended::Violation | Ended::Fault) = self.pass(process, &passages) {
                return ended;
            }
        }
        Ended::Never
    }

    fn access(&mut self, process: usize, passages: &mut Vec<Passage>) -> Ended {
        let pc = self.pc(process);
        let me = Process::from_index(process);
        let round = pc.and_then(|pc| self.round_of(process, pc));
        if self.machine.advance_passing(&mut self.state, me, passages).is_err() {
            return Ended::Fault;
        }
        if pc.is_some_and(|pc| self.model.code[pc].point) {
            self.pass_point(process);
        }
        match round {
            Some((Round::Begin, _)) => {
                self.time += 1;
                self.round_began = self.time;
                if self.is_direct() {
                    self.round = self.observer().invoke_scan().bits() + 1;
                }
                Ended::Well
            }
            Some((Round::End, variable)) => self.end_round(variable),
            None => Ended::Well,
        }
    }

    /// Returns the role for rounds of the write before which a process stands, and its variable. An
    /// SC has a role if the process is linked.
    fn round_of(&self, process: usize, pc: usize) -> Option<(Round, SharedId)> {
        let instruction = &self.model.code[pc];
        let round = instruction.round?;
        let variable = instruction.act.cell()?.variable;
        let me = Process::from_index(process);
        let is_linked = self.machine.is_linked(&self.state, variable, &[], me);
        let writes = matches!(instruction.act, Act::Write(..)) || is_linked == Some(true);
        writes.then_some((round, variable))
    }

    fn end_round(&mut self, variable: SharedId) -> Ended {
        let content = &self.machine.program().shared(variable).content;
        let held = self.machine.cell(&self.state, variable, &[]).expect("it was written");
        let vector = view_in(content, held).expect("a view was published").clone();
        if !self.is_direct() {
            let (opened, by) = (self.round_began, (usize::MAX, 0));
            self.returned.push(Returned { opened, by, vector });
            return Ended::Well;
        }
        let Data::Parts(parts) = &vector else { unreachable!("a view is an array") };
        let [at_i, at_j] = self.pair.map(|segment| parts[segment] == Data::Value(1));
        let Some(bits) = self.round.checked_sub(1) else { return Ended::Violation };
        let must = Must::from_bits(bits).expect("bits of the observer");
        match self.observer().respond_scan(must, at_i, at_j) {
            Ok(next) => {
                self.specification = next.bits();
                self.round = 0;
                Ended::Well
            }
            Err(_) => Ended::Violation,
        }
    }

    fn begin(&mut self, process: usize, call: Call) {
        let switches = call == Call::Update(1) && self.place(process) != T && self.is_direct();
        self.values += u32::from(!self.is_direct());
        let private = self.machine.private(&self.state, Process::from_index(process));
        let doing = &mut self.doing[process];
        doing.operation = match call {
            Call::Scan => SCANS,
            Call::Update(_) if switches && !doing.switched => SWITCHES,
            Call::Update(_) => UPDATES,
            Call::Operation(_) => panic!("not an operation of a snapshot"),
        };
        doing.before = (private.to_vec(), doing.switched);
        // A scan that is a ghost scan is shown where it is followed.
        let is_ghost = call == Call::Scan && self.model.is_ghost[self.model.scan.0 as usize];
        doing.acted = is_ghost || !self.model.delays;
        doing.switched |= switches;
        doing.operations += 1;
    }

    fn observer(&self) -> ObserverState {
        ObserverState::from_bits(self.specification).expect("a state of the observer")
    }

    fn is_observed(&self) -> bool {
        self.is_direct() && self.model.obligation.specification == Specification::Observer
    }

    fn segment(&self, process: usize) -> Switching {
        if process == self.pair[0] { Switching::I } else { Switching::J }
    }

    fn first_access(&mut self, process: usize) {
        if self.doing[process].ghost.is_some() {
            self.begin_scan(process);
        } else {
            self.doing[process].acted = true;
            self.invoke(process);
        }
    }

    fn begin_scan(&mut self, process: usize) {
        let now = match () {
            () if !self.is_direct() || self.by_rounds() => 0,
            () if self.is_observed() => self.observer().invoke_scan().bits(),
            () => 1 << self.specification,
        };
        let ghost = self.doing[process].ghost.as_mut().expect("a ghost scan is open");
        ghost.bits.get_or_insert(now);
    }

    fn invoke(&mut self, process: usize) {
        let doing = &mut self.doing[process];
        if doing.operation == SWITCHES && !doing.invoked {
            doing.invoked = true;
            if self.is_observed() {
                let next = self.observer().invoke_update(self.segment(process));
                self.specification = next.bits();
            }
        }
    }

    fn pass_point(&mut self, process: usize) {
        if self.is_observed() || !self.is_direct() || self.doing[process].operation != SWITCHES {
            return;
        }
        self.specification |= 1 << self.place(process);
        for doing in &mut self.doing {
            if let Some(Ghost { bits: Some(bits), .. }) = &mut doing.ghost {
                *bits |= 1 << self.specification;
            }
        }
    }

    fn respond(&mut self, process: usize) {
        if self.doing[process].operation == SWITCHES {
            self.invoke(process);
            if self.is_observed() {
                let next = self.observer().respond_update(self.segment(process));
                self.specification = next.bits();
            }
        }
    }

    fn end(&mut self, process: usize) {
        if !self.doing[process].responded {
            self.respond(process);
        }
        self.doing[process].responded = false;
        let doing = &mut self.doing[process];
        doing.operation = IDLE;
        doing.invoked = false;
        doing.acted = true;
    }

    /// Begins and ends ghost scans at calls and returns.
    fn pass(&mut self, process: usize, passages: &[Passage]) -> Ended {
        for passage in passages {
            match passage {
                Passage::In(procedure) => {
                    let is_ghost = self.model.is_ghost[procedure.0 as usize];
                    let passes = self.model.passes[usize::from(self.place(process))];
                    if is_ghost && !passes && self.doing[process].ghost.is_none() {
                        let me = Process::from_index(process);
                        let private = self.machine.private(&self.state, me);
                        let has_stored = private != self.doing[process].before.0.as_slice();
                        self.doing[process].acted |= has_stored;
                        if self.doing[process].acted {
                            self.invoke(process);
                        }
                        self.time += 1;
                        let doing = &mut self.doing[process];
                        doing.ghost = Some(Ghost { opened: self.time, bits: None });
                        doing.latest = self.time;
                    }
                }
                Passage::Out(procedure, data) => {
                    let is_ghost = self.model.is_ghost[procedure.0 as usize];
                    if is_ghost && self.doing[process].ghost.is_some() {
                        let vector = data.clone().expect("a ghost scan returns a view");
                        if self.close(process, vector) == Ended::Violation {
                            return Ended::Violation;
                        }
                    }
                }
            }
        }
        Ended::Well
    }

    fn close(&mut self, process: usize, vector: Data) -> Ended {
        self.begin_scan(process);
        let ghost = self.doing[process].ghost.take().expect("a ghost scan is open");
        if !self.is_direct() {
            if self.by_rounds() {
                return Ended::Well;
            }
            let by = (process, self.doing[process].operations);
            self.returned.push(Returned { opened: ghost.opened, by, vector });
            return Ended::Well;
        }
        let Data::Parts(parts) = &vector else { unreachable!("a view is an array") };
        let entries = self.pair.map(|segment| parts[segment] == Data::Value(1));
        let bits = ghost.bits.unwrap_or_default();
        if self.by_rounds() {
            return Ended::Well;
        }
        if !self.judges() || !self.is_judged(process) {
            return Ended::Well;
        }
        if !self.is_observed() {
            let vector = u8::from(entries[0]) | u8::from(entries[1]) << 1;
            return if bits >> vector & 1 == 1 { Ended::Well } else { Ended::Violation };
        }
        let must = Must::from_bits(bits).expect("bits of the observer");
        match self.observer().respond_scan(must, entries[0], entries[1]) {
            Ok(next) => {
                self.specification = next.bits();
                Ended::Well
            }
            Err(_) => Ended::Violation,
        }
    }

    /// Returns a key that distinguishes states of one obligation, except by the names of versions.
    pub fn key(&self) -> (Vec<u8>, [u8; 2], Vec<Doing>) {
        let mut doing = self.doing.clone();
        for doing in &mut doing {
            (doing.latest, doing.operations) = (0, 0);
            if let Some(ghost) = &mut doing.ghost {
                ghost.opened = 0;
            }
        }
        (self.state.key(), [self.specification, self.round], doing)
    }
}

/// Returns the view in a value of a type.
fn view_in<'d>(content: &Type, data: &'d Data) -> Option<&'d Data> {
    match (content, data) {
        (content, data) if *content == Type::view() => Some(data),
        (Type::Record(fields), Data::Parts(parts)) => {
            fields.iter().zip(parts.iter()).find_map(|(field, part)| view_in(&field.content, part))
        }
        _ => None,
    }
}
