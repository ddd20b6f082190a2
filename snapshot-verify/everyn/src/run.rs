//! Steps of one process in a state of the crowd.
//!
//! A step is one access to something that is kept, and what follows up to the next such
//! access. An access to nothing that is kept influences nobody, and its result is unknown
//! anyway: it goes with the step before. Steps branch where something is unknown, and in
//! loops over the crowd: between two tracked processes there are any number of others,
//! none included, so a round with "any other" may be made any number of times.

use rustc_hash::FxHashSet;
use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;
use snapshot_language::Span;
use snapshot_language::program::{ProcedureId, SharedId};

use super::evaluate::{Scope, Stop, same};
use super::model::{
    Act, Cell, For, IDLE, Instruction, Model, SCANS, SPECIFICATION, SWITCHES, Slot, Specification,
    Step, Target, UPDATES, Unsupported, at,
};
use super::shape::{
    BASE, BORROWED, Bytes, DEAD, EXEMPT, FRESH, I, J, MINE, MIXED, Mode, OLD, OTHER, OWN, PLACES,
    SOME, Scalar, T, UNKNOWN, integer,
};
use super::term::{Other, Over};

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
}

/// A process that makes a step.
pub struct Run<'m> {
    /// The program.
    pub model: &'m Model,
    /// Who is there.
    pub crowd: &'m Crowd,
    /// Who makes it.
    pub me: u8,
}

/// Where a cell lies.
enum Located {
    /// There.
    At(usize),
    /// It is not kept; whether its views are shown elsewhere, and its indices.
    Gone(bool, Vec<Option<u8>>),
}

impl Branch {
    fn new(state: Vec<u8>) -> Self {
        let (elsewhere, others, tokens) = (Vec::new(), Vec::new(), Vec::new());
        Self { state, failure: None, elsewhere, others, tokens }
    }
}

/// Where a process stands.
pub fn pc(state: &[u8], block: usize) -> usize {
    usize::from(u16::from_le_bytes([state[block + at::PC], state[block + at::PC + 1]]))
}

/// Puts a process somewhere.
pub fn set_pc(state: &mut [u8], block: usize, to: usize) {
    state[block + at::PC..block + at::PC + 2].copy_from_slice(&(to as u16).to_le_bytes());
}

impl<'m> Run<'m> {
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
        match self.mode() {
            Mode::Direct => self.me == self.crowd.tracked,
            Mode::Nested => self.me == T,
        }
    }

    fn scope<'a>(&'a self, state: &'a mut [u8]) -> Scope<'a> {
        let fresh = super::view::versions(self.model, state);
        Scope {
            model: self.model,
            members: &self.crowd.members,
            state,
            me: self.me,
            unknown: None,
            fresh,
            lenient: self.is_direct() || self.me != T,
        }
    }

    /// Whether a ghost scan of the process is open.
    pub fn in_ghost(&self, state: &[u8]) -> bool {
        state[self.block() + at::GHOST] != 0
    }

    /// The ways to begin an operation: an update, or a scan.
    pub fn begin(&self, state: &[u8], scan: bool) -> Result<Vec<Branch>, Unsupported> {
        let block = self.block();
        let mut calls = Vec::new();
        if scan {
            calls.push((SCANS, self.model.scan, None));
        } else if self.me == T || self.mode() == Mode::Nested {
            calls.push((UPDATES, self.model.update, Some(OWN)));
        } else if state[block + at::SWITCHED] == 0 {
            calls.push((UPDATES, self.model.update, Some(BASE)));
            calls.push((SWITCHES, self.model.update, Some(BASE + 1)));
        } else {
            calls.push((UPDATES, self.model.update, Some(BASE + 1)));
        }
        let mut out = Vec::new();
        for (operation, procedure, argument) in calls {
            let mut state = state.to_vec();
            state[block + at::OPERATION] = operation;
            if operation == SWITCHES {
                state[block + at::SWITCHED] = 1;
            }
            let arguments = argument.map(|byte| Bytes::from_slice(&[byte]));
            self.enter(&mut state, procedure, arguments.into_iter().collect(), 0);
            if self.model.is_ghost[procedure.0 as usize] {
                self.open(&mut state);
            }
            self.settle(Branch::new(state), &mut out)?;
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
            Act::Read(..) | Act::Write(..) | Act::Swap(..) | Act::Atomic => {
                self.first_access(&mut begun.state);
                let mut waiting = vec![begun];
                if matches!(instruction.act, Act::Atomic) {
                    waiting = self.atomic(waiting)?;
                } else {
                    waiting = self.access(waiting.remove(0), instruction)?;
                }
                for branch in waiting {
                    self.settle(branch, &mut out)?;
                }
            }
            Act::Call(procedure, arguments, _)
                if self.model.is_ghost[procedure.0 as usize] && !self.in_ghost(state) =>
            {
                let state = &mut begun.state;
                self.invoke_update(state);
                let mut values = Vec::new();
                for argument in arguments {
                    match self.scope(state).bytes(argument) {
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
            _ => self.settle(begun, &mut out)?,
        }
        Ok(out)
    }

    /// Opens a ghost scan.
    fn open(&self, state: &mut [u8]) {
        let block = self.block();
        state[block + at::GHOST] = 1;
        if self.is_direct() {
            return;
        }
        let tracked = self.model.blocks[usize::from(T)];
        if self.me == T {
            for (at, slot) in self.model.slots.iter().enumerate() {
                let is_view = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
                if is_view && matches!(state[at], FRESH | MINE) {
                    state[at] = OLD;
                }
            }
            for owner in [I, J] {
                let token = self.model.blocks[usize::from(owner)] + at::TOKEN;
                if state[token] == FRESH {
                    state[token] = OLD;
                }
            }
        } else {
            let is_within = state[tracked + at::GHOST] != 0;
            state[block + at::TOKEN] = if is_within { FRESH } else { OLD };
        }
    }

    /// Closes a ghost scan, whatever it was.
    fn close(&self, state: &mut [u8]) {
        let block = self.block();
        for offset in [at::GHOST, at::BEGUN, at::BITS, at::TOKEN] {
            state[block + offset] = 0;
        }
    }

    fn first_access(&self, state: &mut [u8]) {
        let block = self.block();
        if state[block + at::GHOST] != 0 {
            self.begin_scan(state);
        } else {
            self.invoke_update(state);
        }
    }

    fn begin_scan(&self, state: &mut [u8]) {
        let block = self.block();
        if state[block + at::BEGUN] != 0 {
            return;
        }
        state[block + at::BEGUN] = 1;
        if !self.is_direct() {
            return;
        }
        let now = state[SPECIFICATION];
        state[block + at::BITS] = match self.model.obligation.specification {
            Specification::Observer => observer(now).invoke_scan().bits(),
            Specification::Local => 1 << now,
        };
    }

    fn invoke_update(&self, state: &mut [u8]) {
        let block = self.block();
        let is_first = state[block + at::INVOKED] == 0;
        if state[block + at::OPERATION] == SWITCHES && is_first {
            state[block + at::INVOKED] = 1;
            if self.model.obligation.specification == Specification::Observer {
                let now = observer(state[SPECIFICATION]);
                state[SPECIFICATION] = now.invoke_update(self.segment()).bits();
            }
        }
    }

    fn segment(&self) -> Switching {
        if self.me == I { Switching::I } else { Switching::J }
    }

    /// Passes the point where an update takes effect.
    fn pass_point(&self, state: &mut [u8]) {
        let is_local = self.model.obligation.specification == Specification::Local;
        let switches = state[self.block() + at::OPERATION] == SWITCHES;
        if !is_local || !switches || !self.is_direct() {
            return;
        }
        state[SPECIFICATION] |= 1 << self.me;
        let block = self.model.blocks[usize::from(self.crowd.tracked)];
        if state[block + at::BEGUN] != 0 {
            state[block + at::BITS] |= 1 << state[SPECIFICATION];
        }
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
        set_pc(state, block, self.model.entries[procedure.0 as usize]);
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
                state[begin + offset] = byte;
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

    /// Ends a step: what is dead is forgotten, what all views must agree on is made
    /// definite.
    fn emit(&self, mut branch: Branch, out: &mut Vec<Branch>) -> Result<(), Unsupported> {
        let here = pc(&branch.state, self.block());
        if here != 0 {
            self.forget(&mut branch.state, here);
        }
        let states = super::view::definite(self.model, self.crowd, branch.state)?;
        out.extend(states.into_iter().map(|state| Branch {
            state,
            failure: branch.failure,
            elsewhere: branch.elsewhere.clone(),
            others: branch.others.clone(),
            tokens: branch.tokens.clone(),
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

    /// Goes on until the next pause.
    fn settle(&self, branch: Branch, out: &mut Vec<Branch>) -> Result<(), Unsupported> {
        let mut visited: FxHashSet<Vec<u8>> = FxHashSet::default();
        let mut waiting = vec![branch];
        while let Some(branch) = waiting.pop() {
            if branch.failure.is_some() {
                out.push(branch);
                continue;
            }
            let here = pc(&branch.state, self.block());
            let instruction = &self.model.code[here];
            let pauses = match &instruction.act {
                Act::Idle | Act::Atomic => true,
                Act::Read(..) | Act::Write(..) | Act::Swap(..) => {
                    instruction.pause[usize::from(self.me)]
                }
                Act::Call(procedure, ..) => {
                    self.model.is_ghost[procedure.0 as usize] && !self.in_ghost(&branch.state)
                }
                _ => false,
            };
            if pauses {
                self.emit(branch, out)?;
                continue;
            }
            if matches!(instruction.act, Act::Jump(_) | Act::Next(_) | Act::Begin(_))
                && !visited.insert(branch.state.clone())
            {
                continue;
            }
            self.local(branch, instruction, &mut waiting, out)?;
        }
        Ok(())
    }

    /// All of an atomic block.
    fn atomic(&self, branches: Vec<Branch>) -> Result<Vec<Branch>, Unsupported> {
        let mut done = Vec::new();
        let mut waiting: Vec<(Branch, usize)> = branches.into_iter().map(|one| (one, 0)).collect();
        let mut visited: FxHashSet<(Branch, usize)> = FxHashSet::default();
        while let Some((branch, depth)) = waiting.pop() {
            if branch.failure.is_some() {
                done.push(branch);
                continue;
            }
            if !visited.insert((branch.clone(), depth)) {
                continue;
            }
            let here = pc(&branch.state, self.block());
            let instruction = &self.model.code[here];
            match &instruction.act {
                Act::Atomic | Act::EndAtomic => {
                    let mut branch = branch;
                    set_pc(&mut branch.state, self.block(), here + 1);
                    let begins = matches!(instruction.act, Act::Atomic);
                    let depth = if begins { depth + 1 } else { depth - 1 };
                    match depth {
                        0 => done.push(branch),
                        depth => waiting.push((branch, depth)),
                    }
                }
                Act::Read(..) | Act::Write(..) | Act::Swap(..) => {
                    let after = self.access(branch, instruction)?;
                    waiting.extend(after.into_iter().map(|branch| (branch, depth)));
                }
                _ => {
                    let mut after = Vec::new();
                    let mut ended = Vec::new();
                    self.local(branch, instruction, &mut after, &mut ended)?;
                    waiting.extend(after.into_iter().map(|branch| (branch, depth)));
                    done.extend(ended);
                }
            }
        }
        Ok(done)
    }

    /// One instruction that is no pause.
    fn local(
        &self,
        mut branch: Branch,
        instruction: &Instruction,
        waiting: &mut Vec<Branch>,
        out: &mut Vec<Branch>,
    ) -> Result<(), Unsupported> {
        let block = self.block();
        let here = pc(&branch.state, block);
        match &instruction.act {
            Act::Read(..) | Act::Write(..) | Act::Swap(..) => {
                waiting.extend(self.access(branch, instruction)?);
            }
            Act::Assign(target, value) => {
                let mut scope = self.scope(&mut branch.state);
                let value = scope.bytes(value);
                let unknown = scope.unknown;
                match value {
                    Ok(bytes) => {
                        set_pc(&mut branch.state, block, here + 1);
                        self.store(branch, target, bytes, waiting);
                    }
                    Err(stop) => self.stopped(branch, stop, unknown, waiting),
                }
            }
            Act::Unless(condition, target) => {
                let mut scope = self.scope(&mut branch.state);
                let truth = scope.truth(condition);
                let unknown = scope.unknown;
                match truth {
                    Ok(Some(truth)) => {
                        set_pc(&mut branch.state, block, if truth { here + 1 } else { *target });
                        waiting.push(branch);
                    }
                    Ok(None) => match self.split(&branch, unknown) {
                        Some(split) => waiting.extend(split),
                        None => {
                            let mut other = branch.clone();
                            set_pc(&mut other.state, block, *target);
                            set_pc(&mut branch.state, block, here + 1);
                            waiting.extend([other, branch]);
                        }
                    },
                    Err(stop) => self.stopped(branch, stop, unknown, waiting),
                }
            }
            Act::Jump(target) => {
                set_pc(&mut branch.state, block, *target);
                waiting.push(branch);
            }
            Act::Begin(this) => {
                if let Some(except) = &this.except {
                    let except = match self.scope(&mut branch.state).scalar(except) {
                        Ok(byte) => byte,
                        Err(stop) => {
                            self.stopped(branch, stop, None, waiting);
                            return Ok(());
                        }
                    };
                    branch.state[block + this.position + 1] = except;
                }
                self.next_round(branch, this, None, waiting);
            }
            Act::Next(this) => {
                let position = branch.state[block + this.position];
                self.next_round(branch, this, Some(position), waiting);
            }
            Act::Call(procedure, arguments, _) => {
                let mut values = Vec::new();
                for argument in arguments {
                    let mut scope = self.scope(&mut branch.state);
                    let bytes = scope.bytes(argument);
                    let unknown = scope.unknown;
                    match bytes {
                        Ok(bytes) => values.push(bytes),
                        Err(stop) => {
                            self.stopped(branch, stop, unknown, waiting);
                            return Ok(());
                        }
                    }
                }
                self.forget(&mut branch.state, here + 1);
                self.enter(&mut branch.state, *procedure, values, here + 1);
                waiting.push(branch);
            }
            Act::Return(result) => {
                let mut scope = self.scope(&mut branch.state);
                let value = result.as_ref().map(|result| scope.bytes(result)).transpose();
                let unknown = scope.unknown;
                match value {
                    Ok(bytes) => self.leave(branch, instruction, bytes, waiting, out)?,
                    Err(stop) => self.stopped(branch, stop, unknown, waiting),
                }
            }
            Act::EndAtomic => {
                set_pc(&mut branch.state, block, here + 1);
                waiting.push(branch);
            }
            Act::Idle | Act::Atomic => unreachable!("pauses are not run here"),
        }
        Ok(())
    }

    /// Something had no value: tries all values of what was unknown, or fails.
    fn stopped(
        &self,
        mut branch: Branch,
        stop: Stop,
        unknown: Option<usize>,
        waiting: &mut Vec<Branch>,
    ) {
        let is_fault = matches!(stop, Stop::Fault(_));
        match self.split(&branch, unknown.filter(|_| is_fault)) {
            Some(split) => waiting.extend(split),
            None => {
                branch.failure = Some(failed(stop));
                waiting.push(branch);
            }
        }
    }

    /// From one position in a loop to all that may be next.
    fn next_round(
        &self,
        mut branch: Branch,
        this: &For,
        position: Option<u8>,
        waiting: &mut Vec<Branch>,
    ) {
        let block = self.block();
        let variable = block + this.variable;
        self.clear_others(&mut branch.state);
        let mut go = |mut branch: Branch, position: u8, index: u8| {
            branch.state[block + this.position] = position;
            branch.state[variable] = index;
            set_pc(&mut branch.state, block, this.body);
            waiting.push(branch);
        };
        let except = branch.state[block + this.position + 1];
        match this.over {
            Over::Members => {
                let order = &self.crowd.members;
                // Positions in order: a gap, a member, a gap, a member, ..., a gap.
                let positions = 2 * order.len() + 1;
                let now = position.map(|position| self.index_of(position));
                let mut next = match now {
                    None => 0,
                    // A gap may go on.
                    Some(gap) if gap % 2 == 0 => gap,
                    Some(member) => member + 1,
                };
                while next < positions {
                    if next % 2 == 0 {
                        let at = if next == 0 { GAP } else { GAP + 1 + order[next / 2 - 1] };
                        go(branch.clone(), at, BASE + OTHER);
                        next += 1;
                        continue;
                    }
                    let member = order[next / 2];
                    match except {
                        byte if byte == BASE + member => {}
                        UNKNOWN | SOME => {
                            // It may be the one that is left out.
                            go(branch.clone(), MEMBER + member, BASE + member);
                        }
                        _ => {
                            go(branch, MEMBER + member, BASE + member);
                            return;
                        }
                    }
                    next += 1;
                }
            }
            Over::Range(low, count) => {
                let mut next = match position {
                    None => 0,
                    Some(_) => this.over.place(branch.state[variable]) + 1,
                };
                while next < count {
                    let index = integer(low + next as i32);
                    if except == index {
                        next += 1;
                        continue;
                    }
                    go(branch.clone(), MEMBER, index);
                    if !matches!(except, UNKNOWN | SOME) {
                        return;
                    }
                    next += 1;
                }
            }
            Over::Many => go(branch.clone(), GAP, UNKNOWN),
        }
        // It is over.
        branch.state[block + this.position..block + this.position + 2].fill(DEAD);
        branch.state[variable] = DEAD;
        set_pc(&mut branch.state, block, this.end);
        waiting.push(branch);
    }

    /// The number of a position among those of this crowd, in order.
    fn index_of(&self, position: u8) -> usize {
        let place = |member: u8| {
            self.crowd.members.iter().position(|one| *one == member).unwrap_or_default()
        };
        match position {
            GAP => 0,
            position if position > GAP => 2 * place(position - GAP - 1) + 2,
            position => 2 * place(position - MEMBER) + 1,
        }
    }

    /// The next round with "any other" is with another one.
    fn clear_others(&self, state: &mut [u8]) {
        let block = self.block();
        let end = self.model.frames.last().map_or(at::END, |frame| frame.end);
        let slots = self.model.slots[block..block + end].iter();
        for (byte, slot) in state[block..block + end].iter_mut().zip(slots) {
            if slot.other {
                *byte = DEAD;
            }
        }
    }

    /// Ends a procedure, and with it perhaps a ghost scan or the operation.
    fn leave(
        &self,
        mut branch: Branch,
        instruction: &Instruction,
        result: Option<Bytes>,
        waiting: &mut Vec<Branch>,
        out: &mut Vec<Branch>,
    ) -> Result<(), Unsupported> {
        let block = self.block();
        let procedure = instruction.procedure.0 as usize;
        let frame = &self.model.frames[procedure];
        let back = block + frame.back;
        let to = usize::from(u16::from_le_bytes([branch.state[back], branch.state[back + 1]]));
        let is_ghost = self.model.is_ghost[procedure] && self.in_ghost(&branch.state);
        let mut branches = vec![branch.clone()];
        if is_ghost {
            let row = result.clone().unwrap_or_default();
            branches = self.end_scan(branch.clone(), &row, instruction.span);
        }
        let is_root = to == 0;
        for mut branch in branches {
            if branch.failure.is_some() {
                out.push(branch);
                continue;
            }
            let state = &mut branch.state;
            state[block + frame.back..block + frame.end].fill(DEAD);
            if is_root {
                let failure = self.end_operation(state, is_ghost, &result, instruction.span);
                self.close(state);
                state[block + at::INVOKED] = 0;
                state[block + at::OPERATION] = IDLE;
                set_pc(state, block, 0);
                branch.failure = failure;
                match failure {
                    Some(_) => out.push(branch),
                    None => self.emit(branch, out)?,
                }
                continue;
            }
            set_pc(state, block, to);
            let Act::Call(_, _, into) = &self.model.code[to - 1].act else {
                unreachable!("a caller stands behind its call")
            };
            let mut result = result.clone();
            if is_ghost && self.mode() == Mode::Nested {
                let token = if self.me == T { MINE } else { state[block + at::TOKEN].max(OLD) };
                let token = if state[block + at::TOKEN] == FRESH { FRESH } else { token };
                result = Some(Bytes::from_slice(&[token]));
            }
            if is_ghost {
                self.close(state);
            }
            let mut after = Vec::new();
            match (into, result) {
                (Some(target), Some(bytes)) => self.store(branch, target, bytes, &mut after),
                _ => after.push(branch),
            }
            if is_ghost {
                // So that all others see the end of a ghost scan as a step of its own.
                for branch in after {
                    match branch.failure {
                        Some(_) => out.push(branch),
                        None => self.emit(branch, out)?,
                    }
                }
            } else {
                waiting.extend(after);
            }
        }
        branch.elsewhere.clear();
        Ok(())
    }

    fn end_operation(
        &self,
        state: &mut [u8],
        is_ghost: bool,
        result: &Option<Bytes>,
        span: Span,
    ) -> Option<Failure> {
        let block = self.block();
        match state[block + at::OPERATION] {
            SWITCHES if self.is_direct() => {
                self.invoke_update(state);
                match self.model.obligation.specification {
                    Specification::Observer => {
                        let now = observer(state[SPECIFICATION]);
                        state[SPECIFICATION] = now.respond_update(self.segment()).bits();
                        None
                    }
                    Specification::Local => {
                        let passed = state[SPECIFICATION] >> self.me & 1 == 1;
                        (!passed).then_some(Failure::Unpassed(span))
                    }
                }
            }
            SCANS if !is_ghost && self.mode() == Mode::Nested && self.is_judged() => {
                let is_mine = result.as_ref().is_some_and(|row| row.as_slice() == [MINE]);
                (!is_mine).then_some(Failure::Stale(span))
            }
            _ => None,
        }
    }

    /// Judges what a ghost scan returns.
    fn end_scan(&self, mut branch: Branch, row: &[u8], span: Span) -> Vec<Branch> {
        if !self.is_judged() {
            return vec![branch];
        }
        self.begin_scan(&mut branch.state);
        if self.mode() == Mode::Nested {
            branch.failure = match row {
                [OWN | FRESH | EXEMPT] => None,
                [MIXED] => Some(Failure::Mixed(span)),
                _ => Some(Failure::Stale(span)),
            };
            return vec![branch];
        }
        let entries = [row[usize::from(I)], row[usize::from(J)]];
        if entries == [BORROWED, BORROWED] {
            return vec![branch];
        }
        if entries.contains(&BORROWED) {
            branch.failure = Some(Failure::Mixed(span));
            return vec![branch];
        }
        let values = |byte: u8| match byte {
            BASE => vec![false],
            byte if byte == BASE + 1 => vec![true],
            _ => vec![false, true],
        };
        let mut branches = Vec::new();
        for at_i in values(entries[0]) {
            for at_j in values(entries[1]) {
                branches.push(self.judge(branch.clone(), [at_i, at_j], span));
            }
        }
        branches
    }

    fn judge(&self, mut branch: Branch, entries: [bool; 2], span: Span) -> Branch {
        let block = self.block();
        let state = &mut branch.state;
        let bits = state[block + at::BITS];
        let is_right = match self.model.obligation.specification {
            Specification::Observer => {
                let must = Must::from_bits(bits).unwrap_or(Must::NOTHING);
                let now = observer(state[SPECIFICATION]);
                match now.respond_scan(must, entries[0], entries[1]) {
                    Ok(next) => {
                        state[SPECIFICATION] = next.bits();
                        true
                    }
                    Err(_) => false,
                }
            }
            Specification::Local => {
                let vector = u8::from(entries[0]) | u8::from(entries[1]) << 1;
                bits >> vector & 1 == 1
            }
        };
        if !is_right {
            branch.failure = Some(Failure::Vector { entries, span });
        }
        branch
    }

    /// Where a part of a variable lies, and stores there.
    fn store(&self, mut branch: Branch, target: &Target, bytes: Bytes, out: &mut Vec<Branch>) {
        let block = self.block();
        let mut at = block + target.room.base;
        let mut gone = false;
        let mut anywhere = false;
        for step in &target.path {
            match step {
                Step::Field(offset) => at += offset,
                Step::Element(index, over, size, other) => {
                    let index = match self.scope(&mut branch.state).scalar(index) {
                        Ok(index) => index,
                        Err(stop) => {
                            branch.failure = Some(failed(stop));
                            out.push(branch);
                            return;
                        }
                    };
                    let is_other = *over == Over::Members && index == BASE + OTHER;
                    match index {
                        DEAD..BASE => anywhere = true,
                        _ if is_other => {
                            gone |= *other == Other::Unknown || gone;
                            at += usize::from(OTHER) * size;
                        }
                        index => at += over.place(index) * size,
                    }
                }
            }
        }
        let state = &mut branch.state;
        if anywhere {
            // Any of its parts: nothing is known of them any more.
            let begin = block + target.room.base;
            let end = begin + target.room.size;
            for (byte, slot) in state[begin..end].iter_mut().zip(&self.model.slots[begin..end]) {
                if slot.kept {
                    let is_token = self.mode() == Mode::Nested
                        && slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
                    *byte = match slot.other {
                        true => DEAD,
                        false if is_token => OLD,
                        false => UNKNOWN,
                    };
                }
            }
            if target.private.is_some() {
                for (at, slot) in (begin..end).zip(&self.model.slots[begin..end]) {
                    note_other(&mut branch.others, slot, at, UNKNOWN);
                }
            }
            let has_view = self.has_view(at, 0, &bytes)
                || self.model.slots[begin..begin + target.room.size]
                    .iter()
                    .any(|slot| slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View));
            if has_view && target.path.len() > 1 {
                branch.failure = self.is_judged().then_some(Failure::Mixed(target.span));
            }
            out.push(branch);
            return;
        }
        if target.in_token {
            // An element of a view that is but a token.
            let byte = state[at];
            let is_own = byte == OWN && bytes.as_slice() == [OWN];
            if self.model.slots[at].kept {
                state[at] = if is_own { OWN } else { MIXED };
            }
            out.push(branch);
            return;
        }
        for (offset, &byte) in bytes.iter().enumerate() {
            let slot = &self.model.slots[at + offset];
            if slot.other {
                // Views have no place there: they count as borrowed, and are shown to be
                // right with that process tracked.
                let is_view = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
                if is_view && self.is_lost_view(target, at + offset, byte) {
                    branch.failure = self.is_judged().then_some(Failure::Mixed(target.span));
                } else if slot.kept && !is_view && !gone && bytes.len() < target.room.size {
                    state[at + offset] = byte;
                } else {
                    state[at + offset] = DEAD;
                }
            } else if slot.kept {
                state[at + offset] = byte;
                if target.private.is_some() {
                    note_other(&mut branch.others, slot, at + offset, byte);
                }
            }
        }
        out.push(branch);
    }

    fn has_view(&self, begin: usize, from: usize, bytes: &[u8]) -> bool {
        (from..bytes.len()).any(|offset| {
            let leaf = self.model.slots.get(begin + offset).and_then(|slot| slot.leaf);
            leaf.is_some_and(|leaf| leaf.scalar == Scalar::View)
        })
    }

    /// Whether a view that is put aside for an untracked process is none that is shown to
    /// be right elsewhere.
    fn is_lost_view(&self, target: &Target, at: usize, byte: u8) -> bool {
        // What is stored whole has nothing of its own at "any other".
        let stored_whole = target.path.iter().all(|step| !matches!(step, Step::Element(..)));
        if stored_whole {
            return false;
        }
        match self.mode() {
            Mode::Nested => byte != EXEMPT,
            Mode::Direct => {
                // An element of the view itself is read as unknown again.
                let is_element = target.size == 1;
                let _ = at;
                !is_element && !matches!(byte, BORROWED | DEAD)
            }
        }
    }

    fn locate(&self, state: &mut [u8], cell: &Cell) -> Result<Located, Stop> {
        let mut number = 0;
        let mut gone = false;
        let mut indices = Vec::new();
        let mut members = 0;
        let mut others = 0;
        for (over, index) in &cell.indices {
            let index = self.scope(state).scalar(index)?;
            match over {
                Over::Members => {
                    members += 1;
                    match index {
                        DEAD..BASE => {
                            gone = true;
                            indices.push(None);
                        }
                        index => {
                            others += usize::from(index == BASE + OTHER);
                            gone |= index == BASE + OTHER;
                            indices.push(Some(index - BASE));
                        }
                    }
                    number = number * PLACES + usize::from(index.saturating_sub(BASE));
                }
                Over::Range(_, count) => match index {
                    DEAD..BASE => gone = true,
                    index => number = number * count + over.place(index),
                },
                Over::Many => {
                    gone = true;
                    indices.push(None);
                }
            }
        }
        let room = &self.model.shared[cell.variable.0 as usize];
        Ok(match gone {
            true => {
                let exempt = members == 1 && others == 1 && cell.indices.len() == 1;
                Located::Gone(exempt, indices)
            }
            false => Located::At(room.base + number * room.size),
        })
    }

    /// Makes an access; the process then stands behind it.
    fn access(
        &self,
        mut branch: Branch,
        instruction: &Instruction,
    ) -> Result<Vec<Branch>, Unsupported> {
        let block = self.block();
        let here = pc(&branch.state, block);
        let (cell, into) = match &instruction.act {
            Act::Read(cell, into) | Act::Swap(cell, _, _, into, _) => (cell, into.as_ref()),
            Act::Write(cell, _) => (cell, None),
            _ => unreachable!("only accesses are made here"),
        };
        let located = match self.locate(&mut branch.state, cell) {
            Ok(located) => located,
            Err(stop) => {
                branch.failure = Some(failed(stop));
                return Ok(vec![branch]);
            }
        };
        let mut out = Vec::new();
        match &instruction.act {
            Act::Read(..) => {
                let bytes = self.content(&branch.state, cell, &located);
                set_pc(&mut branch.state, block, here + 1);
                match into {
                    Some(target) => self.store(branch, target, bytes, &mut out),
                    None => out.push(branch),
                }
            }
            Act::Write(_, value) => {
                let mut scope = self.scope(&mut branch.state);
                let value = scope.bytes(value);
                let unknown = scope.unknown;
                match value {
                    Ok(bytes) => {
                        self.write(&mut branch, cell, &located, &bytes);
                        if instruction.point {
                            self.pass_point(&mut branch.state);
                        }
                        set_pc(&mut branch.state, block, here + 1);
                        out.push(branch);
                    }
                    Err(stop) => {
                        let mut split = Vec::new();
                        self.stopped(branch, stop, unknown, &mut split);
                        for branch in split {
                            match branch.failure {
                                Some(_) => out.push(branch),
                                None => out.extend(self.access(branch, instruction)?),
                            }
                        }
                    }
                }
            }
            Act::Swap(_, old, new, _, leaves) => {
                let content = self.content(&branch.state, cell, &located);
                let mut scope = self.scope(&mut branch.state);
                let (old, new) = match (scope.bytes(old), scope.bytes(new)) {
                    (Ok(old), Ok(new)) => (old, new),
                    (Err(stop), _) | (_, Err(stop)) => {
                        branch.failure = Some(failed(stop));
                        return Ok(vec![branch]);
                    }
                };
                let mut equal = Some(true);
                for ((leaf, path), (one, two)) in leaves.iter().zip(content.iter().zip(&old)) {
                    let there = path.iter().all(|place| self.crowd.members.contains(place));
                    let truth = if there { same(*leaf, *one, *two) } else { None };
                    if !there && !path.contains(&OTHER) {
                        continue;
                    }
                    equal = match (equal, truth) {
                        (Some(false), _) | (_, Some(false)) => Some(false),
                        (Some(true), Some(true)) => Some(true),
                        _ => None,
                    };
                }
                for success in [true, false] {
                    if equal == Some(!success) {
                        continue;
                    }
                    let mut branch = branch.clone();
                    if success {
                        self.write(&mut branch, cell, &located, &new);
                        if instruction.point {
                            self.pass_point(&mut branch.state);
                        }
                    }
                    set_pc(&mut branch.state, block, here + 1);
                    let result = Bytes::from_slice(&[BASE + u8::from(success)]);
                    match into {
                        Some(target) => self.store(branch, target, result, &mut out),
                        None => out.push(branch),
                    }
                }
            }
            _ => unreachable!("only accesses are made here"),
        }
        Ok(out)
    }

    fn content(&self, state: &[u8], cell: &Cell, located: &Located) -> Bytes {
        match *located {
            Located::Gone(exempt, _) => cell.shape.unknown(self.mode(), true, exempt),
            Located::At(begin) => {
                let mut bytes = cell.shape.unknown(self.mode(), true, false);
                for (offset, byte) in bytes.iter_mut().enumerate() {
                    let slot = &self.model.slots[begin + offset];
                    if slot.kept && state[begin + offset] != DEAD {
                        *byte = state[begin + offset];
                    }
                }
                bytes
            }
        }
    }

    fn write(&self, branch: &mut Branch, cell: &Cell, located: &Located, bytes: &[u8]) {
        let is_token = |at: usize| {
            let leaf = self.model.slots[at].leaf;
            let is_view = leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
            is_view && self.mode() == Mode::Nested
        };
        match located {
            Located::At(begin) => {
                for (offset, &byte) in bytes.iter().enumerate() {
                    let at = begin + offset;
                    let slot = &self.model.slots[at];
                    if !slot.kept {
                        continue;
                    }
                    note_other(&mut branch.others, slot, at, byte);
                    branch.state[at] = byte;
                    if is_token(at) {
                        note(&mut branch.tokens, at);
                        // Only a ghost scan's view that is known to be within t's is fresh.
                        let is_fresh = self.me != T && byte == FRESH;
                        branch.state[at] = if is_fresh { FRESH } else { OLD };
                    }
                }
            }
            Located::Gone(_, indices) => {
                for (at, slot) in self.model.slots.iter().enumerate() {
                    let Some((variable, path)) = &slot.cell else { continue };
                    let hit = indices.iter().zip(path).all(|(index, place)| match index {
                        None => true,
                        Some(index) => index == place,
                    });
                    let is_there = path.iter().all(|place| self.crowd.members.contains(place));
                    if *variable == cell.variable && hit && is_there && slot.kept {
                        note_other(&mut branch.others, slot, at, UNKNOWN);
                        let is_token = is_token(at);
                        branch.state[at] = if is_token { OLD } else { UNKNOWN };
                        if is_token {
                            note(&mut branch.tokens, at);
                        }
                    }
                }
                note(&mut branch.elsewhere, (cell.variable, indices.clone()));
            }
        }
    }

    /// The end of a ghost scan of a process that is not followed, seen from outside.
    pub fn exit(&self, state: &[u8]) -> Vec<Vec<u8>> {
        let block = self.block();
        let here = pc(state, block);
        let Act::Call(_, _, into) = &self.model.code[here].act else { return Vec::new() };
        let mut state = state.to_vec();
        let token = state[block + at::TOKEN];
        set_pc(&mut state, block, here + 1);
        self.close(&mut state);
        let mut out = Vec::new();
        match into {
            Some(target) => {
                let token = if token == FRESH { FRESH } else { OLD };
                let bytes = match self.mode() {
                    Mode::Nested => Bytes::from_slice(&[token]),
                    Mode::Direct => std::iter::repeat_n(UNKNOWN, target.size).collect(),
                };
                self.store(Branch::new(state), target, bytes, &mut out);
            }
            None => out.push(Branch::new(state)),
        }
        out.into_iter().map(|branch| branch.state).collect()
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

/// Notes a byte that may name "any other" process now.
fn note_other(others: &mut Vec<usize>, slot: &Slot, at: usize, byte: u8) {
    let is_member = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Member);
    let may_be_other = byte == BASE + OTHER || matches!(byte, DEAD | UNKNOWN | SOME);
    if is_member && slot.kept && may_be_other {
        note(others, at);
    }
}

fn observer(bits: u8) -> ObserverState {
    ObserverState::from_bits(bits).unwrap_or(ObserverState::INITIAL)
}

fn failed(stop: Stop) -> Failure {
    match stop {
        Stop::Fault(span) => Failure::Fault(span),
        Stop::Taken(span) => Failure::Mixed(span),
    }
}
