//! Between two pauses: instructions that access no kept variable, and atomic blocks.
//!
//! At an unknown condition both branches are taken. If one variable decides it, the branches
//! distinguish its values, which then stay known. A fault that an unknown value might cause is
//! tried for each value, and fails the proof only if one causes it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Branch, Run, failed, pc, set_pc};
use crate::evaluate::Stop;
use crate::model::{Act, Instruction, Unsupported};
use crate::shape::{NONE, T};

/// Turning points of a step: jumps, and ends of rounds. They are searched in depth.
#[derive(Default)]
struct Turns {
    /// Numbers of the branches, including their effects on others.
    numbers: FxHashMap<Branch, usize>,
    /// The present path: numbers, and how many branches waited beside.
    way: Vec<(usize, usize)>,
    /// Edges.
    steps: Vec<(usize, usize)>,
    /// True if a path may turn for ever.
    is_endless: bool,
}

impl Turns {
    /// Switches to another path, with this many waiting beside.
    fn leave(&mut self, waiting: usize) {
        while self.way.pop_if(|(_, beside)| *beside > waiting).is_some() {}
    }

    /// Returns true if no path has reached this branch before.
    fn is_new(&mut self, branch: &Branch, waiting: usize) -> bool {
        let next = self.numbers.len();
        let number = *self.numbers.entry(branch.clone()).or_insert(next);
        self.steps.extend(self.way.last().map(|(from, _)| (*from, number)));
        if number == next {
            self.way.push((number, waiting));
        } else {
            self.is_endless |= self.way.iter().any(|(from, _)| *from == number);
        }
        number == next
    }

    /// Returns the branches from which a path may turn for ever.
    fn endless(self) -> Vec<Branch> {
        if !self.is_endless {
            return Vec::new();
        }
        let mut goes_on = vec![true; self.numbers.len()];
        let mut leads = vec![0; self.numbers.len()];
        let mut from: Vec<Vec<usize>> = vec![Vec::new(); self.numbers.len()];
        for &(one, next) in &self.steps {
            leads[one] += 1;
            from[next].push(one);
        }
        let mut ends: Vec<usize> = (0..leads.len()).filter(|number| leads[*number] == 0).collect();
        while let Some(end) = ends.pop() {
            goes_on[end] = false;
            for &one in &from[end] {
                leads[one] -= 1;
                if leads[one] == 0 {
                    ends.push(one);
                }
            }
        }
        let mut all: Vec<_> =
            self.numbers.into_iter().filter(|(_, number)| goes_on[*number]).collect();
        all.sort_unstable_by_key(|(_, number)| *number);
        all.into_iter().map(|(branch, _)| branch).collect()
    }
}

impl Run<'_> {
    /// Continues until the next pause.
    ///
    /// A process that may run for ever without a pause stays at a turning point, if its step
    /// `leaves` something to others; otherwise its old location covers this case. If only one view
    /// shows it, and it may pause as well, the pause covers this case: it does nothing more. For i
    /// and j outside of their ghost scans, whether they may pause depends on the views' knowledge,
    /// and their locations must not.
    pub(super) fn settle(
        &self,
        branch: Branch,
        leaves: bool,
        out: &mut Vec<Branch>,
    ) -> Result<(), Unsupported> {
        let before = out.len();
        let mut turns = Turns::default();
        let mut waiting = vec![branch];
        while let Some(branch) = waiting.pop() {
            turns.leave(waiting.len());
            if branch.failure.is_some() {
                out.push(branch);
                continue;
            }
            let here = pc(&branch.state, self.block());
            let ways = waiting.len().max(turns.numbers.len()).max(out.len());
            self.go_on_with(ways, &branch)?;
            let instruction = &self.model.code[here];
            let pauses = match &instruction.act {
                Act::Call(procedure, ..) => {
                    self.is_shown(*procedure) && !self.in_ghost(&branch.state)
                }
                _ => self.pauses_before(&branch.state, instruction),
            };
            if pauses {
                self.emit(branch, out)?;
                continue;
            }
            if matches!(instruction.act, Act::Jump(_) | Act::Next(_) | Act::Begin(_))
                && !turns.is_new(&branch, waiting.len())
            {
                continue;
            }
            self.local(branch, instruction, &mut waiting, out)?;
        }
        if !leaves {
            return Ok(());
        }
        let pauses = out.len() > before;
        for branch in turns.endless() {
            // Loops over indices end: an endless path passes a jump again and again.
            if !matches!(self.model.code[pc(&branch.state, self.block())].act, Act::Jump(_)) {
                continue;
            }
            let is_alone = self.me == T || self.in_ghost(&branch.state);
            if !(is_alone && pauses) {
                self.emit(branch, out)?;
            }
        }
        Ok(())
    }

    /// Runs a whole atomic block.
    pub(super) fn atomic(&self, branches: Vec<Branch>) -> Result<Vec<Branch>, Unsupported> {
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
            self.go_on_with(waiting.len().max(visited.len()).max(done.len()), &branch)?;
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
                act if act.cell().is_some() => {
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

    /// Executes one instruction that is not a pause.
    pub(super) fn local(
        &self,
        mut branch: Branch,
        instruction: &Instruction,
        waiting: &mut Vec<Branch>,
        out: &mut Vec<Branch>,
    ) -> Result<(), Unsupported> {
        let block = self.block();
        let here = pc(&branch.state, block);
        match &instruction.act {
            act if act.cell().is_some() => {
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
                        Ok(byte) if this.over.may_leave_out(byte) => byte,
                        Ok(_) => NONE,
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
            Act::Call(procedure, _, into) if self.is_passed(*procedure) => {
                self.pass_over(branch, into.as_ref(), waiting);
            }
            Act::Call(procedure, arguments, _) => {
                let mut values = Vec::new();
                for (bytes, unknown) in self.arguments(&mut branch.state, arguments) {
                    match bytes {
                        Ok(bytes) => values.push(bytes),
                        Err(stop) => {
                            self.stopped(branch, stop, unknown, waiting);
                            return Ok(());
                        }
                    }
                }
                self.forget(&mut branch.state, here + 1);
                let back = self.model.returns[here + 1][0];
                self.enter(&mut branch.state, *procedure, values, back);
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
            _ => unreachable!("pauses are not run here, and accesses were made"),
        }
        Ok(())
    }

    /// Handles a missing value: tries all values of the unknown byte, or fails.
    pub(super) fn stopped(
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
}
