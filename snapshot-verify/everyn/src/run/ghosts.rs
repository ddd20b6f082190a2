//! Ghost scans and operations: the specification's bits of them, and their judgement.
//!
//! A ghost scan begins with its first access to a kept variable and ends with its last, as
//! operations do: that only adds precedence (docs/theory/every-n.md, shrinking).

use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;
use snapshot_language::Span;

use super::{Branch, Failure, NOT_BEGUN, Run, pc, set_pc};
use crate::model::{
    Act, IDLE, Instruction, ROUND, SCANS, SPECIFICATION, SWITCHES, Specification, Unsupported, at,
};
use crate::shape::{
    BASE, BORROWED, Bytes, DEAD, EXEMPT, FRESH, I, J, MINE, MIXED, Mode, OLD, OWN, Scalar, T,
    UNKNOWN,
};

impl Run<'_> {
    pub(super) fn open(&self, state: &mut [u8]) {
        let block = self.block();
        state[block + at::GHOST] = 1;
        if self.is_direct() {
            return;
        }
        let tracked = self.model.blocks[usize::from(T)];
        if self.me == T {
            state[ROUND] = state[ROUND].max(OLD);
            self.age(state, FRESH);
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

    /// Closes any ghost scan.
    pub(super) fn close(&self, state: &mut [u8]) {
        let block = self.block();
        for offset in [at::GHOST, at::BEGUN, at::BITS, at::TOKEN] {
            state[block + offset] = 0;
        }
    }

    pub(super) fn first_access(&self, state: &mut [u8]) {
        let block = self.block();
        if state[block + at::GHOST] != 0 {
            self.begin_scan(state);
        } else {
            self.invoke_update(state);
        }
    }

    pub(super) fn begin_scan(&self, state: &mut [u8]) {
        let block = self.block();
        if state[block + at::BEGUN] != 0 {
            return;
        }
        state[block + at::BEGUN] = 1;
        if !self.is_direct() || self.by_rounds() {
            return;
        }
        let now = state[SPECIFICATION];
        state[block + at::BITS] = match self.model.obligation.specification {
            Specification::Observer => observer(now).invoke_scan().bits(),
            Specification::Local if self.is_judged() => 1 << now,
            Specification::Local => 0,
        };
    }

    pub(super) fn invoke_update(&self, state: &mut [u8]) {
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

    pub(super) fn segment(&self) -> Switching {
        if self.me == I { Switching::I } else { Switching::J }
    }

    /// Passes the point where an update takes effect.
    pub(super) fn pass_point(&self, state: &mut [u8]) {
        let is_local = self.model.obligation.specification == Specification::Local;
        let switches = state[self.block() + at::OPERATION] == SWITCHES;
        if !is_local || !switches || !self.is_direct() {
            return;
        }
        state[SPECIFICATION] |= 1 << self.me;
        let block = self.model.blocks[usize::from(self.crowd.tracked)];
        let is_judged = Run { me: self.crowd.tracked, ..*self }.is_judged();
        if is_judged && state[block + at::BEGUN] != 0 {
            state[block + at::BITS] |= 1 << state[SPECIFICATION];
        }
    }

    /// Ends a procedure, and possibly a ghost scan or the operation.
    pub(super) fn leave(
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
        if to == usize::from(NOT_BEGUN) {
            for mut branch in branches {
                self.leave_not_begun(&mut branch.state);
                match branch.failure {
                    Some(_) => out.push(branch),
                    None => self.emit(branch, out)?,
                }
            }
            return Ok(());
        }
        for mut branch in branches {
            if branch.failure.is_some() {
                out.push(branch);
                continue;
            }
            let state = &mut branch.state;
            state[block + frame.back..block + frame.end].fill(DEAD);
            if is_root {
                let failure = self.end_operation(state, is_ghost, &result, instruction.span);
                if !self.is_direct() && self.me == T {
                    // Views of t's own ghost scans belong to an earlier operation once the next one
                    // begins.
                    self.age(state, MINE);
                }
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
            if let [to, others @ ..] = self.model.returns[to].as_slice()
                && !others.is_empty()
            {
                for to in std::iter::once(to).chain(others) {
                    let mut branch = branch.clone();
                    set_pc(&mut branch.state, block, *to);
                    waiting.push(branch);
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
                // All other processes see the end of a ghost scan as a separate step.
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

    /// Makes all views with this token old.
    fn age(&self, state: &mut [u8], token: u8) {
        for (byte, slot) in state.iter_mut().zip(&self.model.slots) {
            let is_view = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
            if is_view && *byte == token {
                *byte = OLD;
            }
        }
    }

    pub(super) fn end_operation(
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

    /// Judges the result of a ghost scan.
    pub(super) fn end_scan(&self, mut branch: Branch, row: &[u8], span: Span) -> Vec<Branch> {
        if !self.is_judged() || (self.is_direct() && self.by_rounds()) {
            return vec![branch];
        }
        self.begin_scan(&mut branch.state);
        if self.mode() == Mode::Nested && self.by_rounds() {
            branch.failure = (row != [FRESH]).then_some(Failure::Stale(span));
            return vec![branch];
        }
        if self.mode() == Mode::Nested {
            branch.failure = match row {
                [OWN | FRESH | EXEMPT] => None,
                [MIXED] => Some(Failure::Mixed(span)),
                _ => Some(Failure::Stale(span)),
            };
            return vec![branch];
        }
        // Where no view is returned, because a loop over a never-empty range has not run, any may
        // be.
        let entry = |place: u8| row.get(usize::from(place)).copied().unwrap_or(UNKNOWN);
        let entries = [entry(I), entry(J)];
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

    pub(super) fn judge(&self, mut branch: Branch, entries: [bool; 2], span: Span) -> Branch {
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

    /// Ends the ghost scan of a process that is not followed, seen from outside.
    pub fn exit(&self, state: &[u8]) -> Result<Vec<Vec<u8>>, Unsupported> {
        let block = self.block();
        let here = pc(state, block);
        let Act::Call(_, _, into) = &self.model.code[here].act else { return Ok(Vec::new()) };
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
        // As the step ends for the process itself: then all views have one centre.
        let mut ended = Vec::new();
        for branch in out {
            self.emit(branch, &mut ended)?;
        }
        Ok(ended.into_iter().map(|branch| branch.state).collect())
    }
}

pub(super) fn observer(bits: u8) -> ObserverState {
    ObserverState::from_bits(bits).unwrap_or(ObserverState::INITIAL)
}
