//! From an access to the next: conditions, loops, calls and returns.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use snapshot_language::Span;
use snapshot_language::program::IndexSet;
use snapshot_semantics::interpret::code::{For, Instruction};

use super::passed::Passed;
use super::{COUNTING, Failure, GAP, MEMBER, Outcome, Run, are_too_many};
use crate::byte::{ANY, BASE, LOOSE, NONE, OTHER, PLACES, Row, T, integer, number};
use crate::centre::definite;
use crate::evaluate::Stop;
use crate::layout::fixed;

/// Number of branches of a step taken so far.
#[derive(Default)]
pub(super) struct Ways(usize);

impl Run<'_, '_> {
    /// Counts one more branch, with this many waiting; `false`: there are too many, or the budget
    /// is exhausted, which ends the step as a failure. A branch with many writes counts more.
    pub(super) fn goes_on(
        &self,
        ways: &mut Ways,
        branch: &Outcome,
        waiting: usize,
        out: &mut Vec<Outcome>,
    ) -> bool {
        ways.0 += 1 + branch.writes.len() / 16;
        let size = branch.state.len();
        let failure = match self.layout.asks.go_on(size) {
            false => Some(Failure::Ended),
            true if are_too_many(ways.0.max(waiting).max(out.len()), size) => {
                Some(Failure::TooMany)
            }
            true => None,
        };
        if failure.is_some() {
            out.push(Outcome { failure, ..branch.clone() });
        }
        failure.is_none()
    }
}

impl<'p> Run<'_, 'p> {
    /// Continues until the next access to a kept variable.
    ///
    /// The computation may never reach such an access.
    /// 1. If the step has not written, its effect is empty.
    /// 2. Otherwise its writes (`written`) remain visible, and the process stays at the jumps that
    ///    it passes. If only one view shows its block, the process may as well stand at an access
    ///    that it may reach, and do nothing there.
    /// 3. If several views show its block, each must have all its locations, because one view may
    ///    exclude such an access and another not.
    pub(super) fn run_local(&self, branch: Outcome, written: bool, out: &mut Vec<Outcome>) {
        let before = out.len();
        let mut passed = Passed::default();
        let mut waiting = vec![(branch, None)];
        let mut ways = Ways::default();
        while let Some((mut branch, mut from)) = waiting.pop() {
            if !self.goes_on(&mut ways, &branch, waiting.len(), out) {
                return;
            }
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
                    self.layout.stops_always
                        || !self.is_silent(&mut branch, procedure, access, into)
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
            if turns {
                let (at, is_first) = passed.come(&branch, from);
                if !is_first {
                    continue;
                }
                from = Some(at);
            }
            let mut after = Vec::new();
            self.local(branch, procedure, here, &mut after, out);
            waiting.extend(after.into_iter().map(|branch| (branch, from)));
        }
        if !written {
            return;
        }
        let is_settled = out.len() > before;
        for branch in passed.endless() {
            // A loop over indices ends: without such a loop, the same jumps are passed again.
            let jumps = self.place(&branch.state).is_some_and(|(procedure, here)| {
                let instruction = self.layout.code[procedure].instructions[here];
                matches!(instruction, Instruction::Jump { .. })
            });
            if jumps && !(is_settled && self.is_alone(&branch.state)) {
                self.emit(branch, out);
            }
        }
    }

    /// Runs a whole atomic block.
    pub(super) fn atomic(&self, branch: Outcome) -> Vec<Outcome> {
        let mut done = Vec::new();
        let mut seen: FxHashSet<(Outcome, usize)> = FxHashSet::default();
        let mut waiting = vec![(branch, 0)];
        let mut ways = Ways::default();
        while let Some((mut branch, depth)) = waiting.pop() {
            if !self.goes_on(&mut ways, &branch, waiting.len(), &mut done) {
                break;
            }
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

    /// Executes one instruction that is not a pause.
    pub(super) fn local(
        &self,
        mut branch: Outcome,
        procedure: usize,
        here: usize,
        waiting: &mut Vec<Outcome>,
        out: &mut Vec<Outcome>,
    ) {
        match self.layout.code[procedure].instructions[here] {
            Instruction::Call { procedure: inner, .. } if self.passes_over(inner.0 as usize) => {
                self.resume(&mut branch, procedure, here, &[ANY; PLACES]);
                waiting.push(branch);
            }
            Instruction::Access { .. } => self.access(branch, procedure, waiting),
            Instruction::New { .. }
            | Instruction::Free { .. }
            | Instruction::Choose { .. }
            | Instruction::Together { .. } => {
                unreachable!("only objects have nodes, choices and blocks, and they are refused")
            }
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
                    Err(stop) => match self.unknown(stop, &branch.state) {
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
                if let Some(expression) = this.except {
                    except = match self.scope(&mut branch, procedure).scalar(expression) {
                        Ok(byte) => left_out(this.over, byte),
                        Err(stop) => match self.unknown(stop, &branch.state) {
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
                        if let Some(first) = self.layout.alike_calls(procedure, here).first() {
                            self.arrive(&mut branch.state, procedure, *first);
                        }
                        self.enter(&mut branch, inner.0 as usize, rows);
                        waiting.push(branch);
                    }
                    None => out.push(branch),
                }
            }
            Instruction::Return { result } => {
                let row = match result {
                    None => Some(Row::new()),
                    Some(result) => self.evaluated(&mut branch, procedure, result),
                };
                let span = result.map_or_else(Span::default, |result| result.span);
                match row {
                    Some(row) => self.leave(branch, procedure, &row, span, waiting, out),
                    None => out.push(branch),
                }
            }
            Instruction::EndAtomic | Instruction::Point { .. } => {
                self.arrive(&mut branch.state, procedure, here + 1);
                waiting.push(branch);
            }
            Instruction::BeginAtomic { .. } => unreachable!("a pause is not run here"),
        }
    }

    pub(super) fn lost_view(&self) -> u8 {
        if self.layout.tokens() { crate::byte::OLD } else { ANY }
    }

    /// Handles an expression without a value: tries the values of the unknown scalar, fails, or
    /// continues with an unknown value, if the obligation does not judge faults.
    pub(super) fn stopped(
        &self,
        mut branch: Outcome,
        stop: Stop,
        unknown: Option<usize>,
        waiting: &mut Vec<Outcome>,
        go_on: impl Fn(&mut Outcome),
    ) {
        let Some(failure) = self.unknown(stop, &branch.state) else {
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

    /// Returns a branch for each value of a scalar that is unknown.
    pub(super) fn split(&self, branch: &Outcome, unknown: Option<usize>) -> Option<Vec<Outcome>> {
        let at = unknown?;
        let values = self.layout.values(&branch.state, at, &self.kind.members)?;
        let with = |byte| {
            let mut branch = branch.clone();
            branch.state[at] = byte;
            branch
        };
        Some(values.into_iter().map(with).collect())
    }

    /// Returns the branches from one position of a loop to all possible next ones.
    pub(super) fn next_round(
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
        if this.over.is_of_names() {
            // A gap, a member, a gap, ..., a gap.
            let loose = self.layout.loose.contains(&(self.me, procedure, this.number));
            let members = self.kind.members.iter().copied();
            let members: SmallVec<[u8; 3]> =
                members.filter(|member| !loose || *member == T).collect();
            let rank =
                |member: u8| members.iter().position(|one| *one == member).unwrap_or_default();
            let mut next = match now {
                None => 0,
                Some(GAP) => 0,
                Some(byte) if byte >= MEMBER => 2 * rank(byte - MEMBER) + 2,
                Some(byte) => 2 * rank(byte.wrapping_sub(GAP + 1)) + 2,
            };
            while next <= 2 * members.len() {
                if next % 2 == 0 {
                    let gap = if next == 0 { GAP } else { GAP + 1 + members[next / 2 - 1] };
                    go(gap, BASE + if loose { LOOSE } else { OTHER });
                } else {
                    let member = members[next / 2];
                    if !leaves_out || except != BASE + member {
                        go(MEMBER + member, BASE + member);
                        // The index left out is unknown: it may be this one.
                        if !leaves_out || except != ANY {
                            ends = false;
                            break;
                        }
                    }
                }
                next += 1;
            }
        } else if let Some((low, high)) = match this.over {
            IndexSet::Range(low, high) => fixed(low, high),
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

    /// Ends a step: makes the centre definite.
    pub fn emit(&self, mut branch: Outcome, out: &mut Vec<Outcome>) {
        if branch.failure.is_some() {
            out.push(branch);
            return;
        }
        self.forget_decided(&mut branch);
        let before = std::mem::take(&mut branch.state);
        let mut states = match definite(self.layout, self.kind, before) {
            Ok(states) => states.into_iter(),
            Err(failure) => {
                out.push(Outcome { failure: Some(failure), ..branch });
                return;
            }
        };
        let last = states.next_back();
        out.extend(states.map(|state| Outcome { state, ..branch.clone() }));
        out.extend(last.map(|state| Outcome { state, ..branch }));
    }
}

/// Returns the byte of the index that a loop leaves out, from the computed value: none of the
/// indices, for a number outside; any of them, for some process.
fn left_out(over: IndexSet, byte: u8) -> u8 {
    let IndexSet::Range(low, high) = over else {
        return if byte == BASE + LOOSE { ANY } else { byte };
    };
    match fixed(low, high) {
        _ if byte == ANY => ANY,
        Some((low, high)) if (low..=high).contains(&number(byte)) => byte,
        _ => NONE,
    }
}
