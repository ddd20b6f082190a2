//! Operations and ghost scans: their begin and end for the specification, and the judgement of
//! their results.
//!
//! Both begin with their first access to a kept variable and end with their last: this only adds
//! precedence.

use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::Switching;
use snapshot_language::Span;
use snapshot_semantics::interpret::code::Instruction;

use crate::byte::{ANY, BASE, BORROWED, FRESH, I, J, MINE, MIXED, OLD, Row, T};
use crate::claim::{Ghosts, Property};
use crate::evaluate::is_nested;
use crate::layout::{ROUND, SPECIFICATION, Scalar, at, op};
use crate::step::{Failure, Outcome, Run};

impl<'p> Run<'_, 'p> {
    fn judges_me(&self) -> bool {
        self.me == self.kind.followed && self.layout.obligation.judges(self.me)
    }

    pub(crate) fn open(&self, branch: &mut Outcome) {
        let block = self.block();
        let state = &mut branch.state;
        state[block + at::GHOST] = 1;
        if !self.layout.tokens() {
            return;
        }
        let tracked = self.layout.blocks[usize::from(T)];
        if self.me == T {
            // Fresh views are older than this ghost scan.
            self.age(state, FRESH);
            if state[ROUND] == FRESH {
                state[ROUND] = OLD;
            }
            for owner in [I, J] {
                let token = self.layout.blocks[usize::from(owner)] + at::TOKEN;
                if state[token] == FRESH {
                    state[token] = OLD;
                }
            }
        } else {
            let is_within = state[tracked + at::GHOST] != 0;
            state[block + at::TOKEN] = if is_within { FRESH } else { OLD };
        }
    }

    fn close(&self, state: &mut [u8]) {
        let block = self.block();
        for offset in [at::GHOST, at::BEGUN, at::BITS, at::TOKEN] {
            state[block + offset] = 0;
        }
    }

    /// Notes an access to a kept variable.
    pub(crate) fn first_access(&self, branch: &mut Outcome) {
        match branch.state[self.block() + at::GHOST] {
            0 => self.invoke_update(&mut branch.state),
            _ => self.begin_scan(&mut branch.state),
        }
    }

    fn begin_scan(&self, state: &mut [u8]) {
        let block = self.block();
        if state[block + at::BEGUN] != 0 || !self.judges_me() {
            return;
        }
        state[block + at::BEGUN] = 1;
        let now = state[SPECIFICATION];
        state[block + at::BITS] = match self.layout.obligation.property {
            Property::Observer => observer(now).invoke_scan().bits(),
            Property::Memory(_) => 1 << now,
            Property::Faults | Property::Nesting => 0,
        };
    }

    /// Notes the first access of the update to 1.
    pub(crate) fn invoke_update(&self, state: &mut [u8]) {
        let block = self.block();
        if state[block + at::OP] == op::SWITCHES && state[block + at::INVOKED] == 0 {
            state[block + at::INVOKED] = 1;
            if self.layout.obligation.property == Property::Observer {
                let now = observer(state[SPECIFICATION]);
                state[SPECIFICATION] = now.invoke_update(self.segment()).bits();
            }
        }
    }

    fn segment(&self) -> Switching {
        if self.me == I { Switching::I } else { Switching::J }
    }

    pub(super) fn is_point(&self, procedure: usize, here: usize) -> bool {
        self.layout.point == Some(here) && procedure == self.layout.program.update().0 as usize
    }

    /// Passes the place where updates take effect.
    pub(crate) fn pass_point(&self, state: &mut [u8]) {
        let is_memory = matches!(self.layout.obligation.property, Property::Memory(_));
        if !is_memory || state[self.block() + at::OP] != op::SWITCHES {
            return;
        }
        state[SPECIFICATION] |= 1 << self.me;
        let followed = self.kind.followed;
        let block = self.layout.blocks[usize::from(followed)];
        if self.layout.obligation.judges(followed) && state[block + at::BEGUN] != 0 {
            state[block + at::BITS] |= 1 << state[SPECIFICATION];
        }
    }

    /// Ends a procedure, and possibly a ghost scan or the operation.
    pub(crate) fn leave(
        &self,
        mut branch: Outcome,
        procedure: usize,
        row: &Row,
        span: Span,
        waiting: &mut Vec<Outcome>,
        out: &mut Vec<Outcome>,
    ) {
        let block = self.block();
        let in_ghost = branch.state[block + at::GHOST] != 0;
        let frame = &self.layout.frames[procedure];
        let caller = self.caller(&branch.state, procedure);
        // The open ghost scan is the outermost call of such a procedure.
        let is_ghost = in_ghost
            && self.layout.is_ghost[procedure]
            && caller.is_none_or(|(caller, _)| !self.layout.ghostly[caller]);
        let mut row = row.clone();
        if is_ghost {
            self.begin_scan(&mut branch.state);
            if let Some(failure) = self.judge(&mut branch.state, &row, span) {
                branch.failure = Some(failure);
                out.push(branch);
                return;
            }
            if self.layout.tokens() {
                let is_fresh = branch.state[block + at::TOKEN] == FRESH;
                row = Row::from_slice(&[match (self.me, is_fresh) {
                    (T, _) => MINE,
                    (_, true) => FRESH,
                    (_, false) => OLD,
                }]);
            }
        }
        let Some((caller, here)) = caller else {
            let failure = self.end_operation(&mut branch.state, &row, is_ghost, span);
            let state = &mut branch.state;
            state[block + frame.at..block + frame.end].fill(ANY);
            if self.layout.tokens() && self.me == T {
                // Views of t's own ghost scans belong to an earlier operation once the next one
                // begins.
                self.age(state, MINE);
            }
            self.close(state);
            state[block + at::INVOKED] = 0;
            state[block + at::OP] = op::IDLE;
            self.layout.clear_links(state, self.me);
            branch.failure = failure;
            self.emit(branch, out);
            return;
        };
        branch.state[block + frame.at..block + frame.end].fill(ANY);
        if is_ghost {
            self.close(&mut branch.state);
        }
        // All other processes see the end of a ghost scan as a separate step.
        if is_ghost {
            self.resume(&mut branch, caller, here, &row);
            self.emit(branch, out);
            return;
        }
        let alike = self.layout.alike_calls(caller, here);
        let alone = [here];
        for &at in if alike.is_empty() { &alone } else { alike } {
            let mut branch = branch.clone();
            self.resume(&mut branch, caller, at, &row);
            waiting.push(branch);
        }
    }

    /// Moves a process past a call that has returned.
    pub(crate) fn resume(&self, branch: &mut Outcome, caller: usize, here: usize, row: &[u8]) {
        let instruction = self.layout.code[caller].instructions[here];
        if let Instruction::Call { into: Some(into), .. } = instruction {
            self.store(branch, caller, into, row);
        }
        self.arrive(&mut branch.state, caller, here + 1);
    }

    /// Returns the caller of a procedure, and its location; `None` if the procedure is the
    /// operation.
    fn caller(&self, state: &[u8], procedure: usize) -> Option<(usize, usize)> {
        let block = self.block();
        let stands = |other: usize| {
            let here = state[block + self.layout.frames[other].at].checked_sub(1)?;
            match self.layout.code[other].instructions[usize::from(here)] {
                Instruction::Call { procedure: inner, .. } if inner.0 as usize == procedure => {
                    Some((other, usize::from(here)))
                }
                _ => None,
            }
        };
        (0..self.layout.frames.len()).find_map(stands)
    }

    /// Makes all views with this token old.
    fn age(&self, state: &mut [u8], token: u8) {
        for (byte, slot) in state.iter_mut().zip(&self.layout.slots) {
            let is_view = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
            if is_view && *byte == token {
                *byte = OLD;
            }
        }
    }

    fn end_operation(
        &self,
        state: &mut [u8],
        row: &[u8],
        is_ghost: bool,
        span: Span,
    ) -> Option<Failure> {
        let block = self.block();
        match (state[block + at::OP], self.layout.obligation.property) {
            (op::SWITCHES, Property::Observer) => {
                self.invoke_update(state);
                let now = observer(state[SPECIFICATION]);
                state[SPECIFICATION] = now.respond_update(self.segment()).bits();
                None
            }
            (op::SWITCHES, Property::Memory(_)) => {
                let passed = state[SPECIFICATION] >> self.me & 1 == 1;
                (!passed).then_some(Failure::Unpassed(span))
            }
            (op::SCANS, Property::Nesting) if !is_ghost && self.judges_me() => {
                (row != [MINE]).then_some(Failure::Stale(span))
            }
            _ => None,
        }
    }

    /// Judges the result of a ghost scan.
    fn judge(&self, state: &mut [u8], row: &[u8], span: Span) -> Option<Failure> {
        if !self.judges_me() {
            return None;
        }
        if self.layout.tokens() {
            let by_rounds = self.layout.obligation.ghosts == Ghosts::Rounds;
            return match row {
                [FRESH] => None,
                // However it was assembled, it must be the vector of a round.
                _ if by_rounds => Some(Failure::Stale(span)),
                [token] if is_nested(*token) => None,
                [MIXED] => Some(Failure::Mixed(span)),
                _ => Some(Failure::Stale(span)),
            };
        }
        // Where no view is returned, because a loop over a never-empty range has not run, any may
        // be.
        let entry = |member: u8| row.get(usize::from(member)).copied().unwrap_or(ANY);
        let entries = [entry(I), entry(J)];
        match entries {
            [BORROWED, BORROWED] => return None,
            [BORROWED, _] | [_, BORROWED] => return Some(Failure::Mixed(span)),
            _ => {}
        }
        let [Some(at_i), Some(at_j)] = entries.map(|byte| match byte {
            BASE => Some(false),
            byte if byte == BASE + 1 => Some(true),
            _ => None,
        }) else {
            return self.judge_unknown(state, entries, span);
        };
        self.judge_vector(state, [at_i, at_j], span)
    }

    /// Judges an unknown entry: all its values must be right, and leave the same state.
    fn judge_unknown(&self, state: &mut [u8], entries: [u8; 2], span: Span) -> Option<Failure> {
        let values = |byte: u8| match byte {
            ANY => vec![false, true],
            byte => vec![byte == BASE + 1],
        };
        let before = state.to_vec();
        let mut after: Option<Vec<u8>> = None;
        for at_i in values(entries[0]) {
            for at_j in values(entries[1]) {
                state.copy_from_slice(&before);
                let failure = self.judge_vector(state, [at_i, at_j], span);
                if failure.is_some() || after.as_ref().is_some_and(|after| after != state) {
                    return Some(failure.unwrap_or(Failure::Vector(span)));
                }
                after = Some(state.to_vec());
            }
        }
        None
    }

    fn judge_vector(&self, state: &mut [u8], entries: [bool; 2], span: Span) -> Option<Failure> {
        let bits = state[self.block() + at::BITS];
        let is_right = match self.layout.obligation.property {
            Property::Observer => {
                let Some(must) = Must::from_bits(bits) else { return Some(Failure::Vector(span)) };
                match observer(state[SPECIFICATION]).respond_scan(must, entries[0], entries[1]) {
                    Ok(next) => {
                        state[SPECIFICATION] = next.bits();
                        true
                    }
                    Err(_) => false,
                }
            }
            _ => bits >> (u8::from(entries[0]) | u8::from(entries[1]) << 1) & 1 == 1,
        };
        (!is_right).then_some(Failure::Vector(span))
    }
}

pub(crate) fn observer(bits: u8) -> ObserverState {
    // Reading a certificate refuses bits that are not a state.
    ObserverState::from_bits(bits).unwrap_or(ObserverState::INITIAL)
}
