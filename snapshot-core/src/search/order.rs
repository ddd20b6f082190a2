//! The search for an order (Wing and Gong 1993, Lowe 2017).
//!
//! Operations are taken one by one, each as soon as no operation that precedes it is left. Two
//! facts keep the search small:
//! * A scan that can be taken now, and agrees with the current values, is taken immediately,
//!   without alternative: it changes nothing, and taking it earlier hinders no other operation.
//! * An update that would overwrite a value that an open scan still needs is not taken (if
//!   narrowing provides the last update that the scan can have read, or a guide all such updates).
//!
//! With a [`Guide`], an operation is taken only after all its known predecessors.
//!
//! The search remembers each state (the operations taken, the values of the segments) that it has
//! left without success, and does not enter it again.

use super::Budget;
use super::candidates::Candidates;
use super::guide::{Guide, Progress};
use super::problem::{MISSING, NEVER, Operation, Problem};
use crate::seeded::SeededSet;
use crate::verdict::Exhausted;

/// The end of a search.
pub(super) enum Ending {
    /// An order was found: indices into the problem's operations.
    Found(Vec<u32>),
    None {
        states: u64,
    },
    Exhausted {
        exhausted: Exhausted,
        states: u64,
        linearizable_events: usize,
    },
}

/// The budget of time is checked every this many states.
const PERIOD: u64 = 256;

/// Searches for an order of the problem's operations.
pub(super) fn find<'p>(
    problem: &'p Problem,
    candidates: Option<&Candidates<'_>>,
    guide: Option<&'p Guide>,
    budget: &mut Budget<'_>,
) -> Ending {
    let mut search = Search::new(problem, candidates);
    search.progress = guide.map(|guide| Progress::new(problem, guide));
    search.run(budget)
}

/// An update taken by choice, with the value it overwrote, and the scans taken after it without
/// choice.
struct Choice {
    /// The chosen update; the search continues with later updates after it fails.
    update: u32,
    overwritten: u32,
    /// Length of the order before it.
    length: usize,
}

struct Search<'p> {
    problem: &'p Problem,
    /// For each scan and segment, the last run that it can have read.
    latest: Option<Vec<Vec<u32>>>,
    numbers: Vec<u32>,
    progress: Option<Progress<'p>>,
    taken: Vec<bool>,
    values: Vec<u32>,
    order: Vec<u32>,
    choices: Vec<Choice>,
    /// All operations before this one are taken, or may stay untaken.
    first: usize,
    /// Operations that need not take effect.
    optional: Vec<u32>,
    visited: SeededSet<Box<[u32]>>,
    bytes: usize,
    states: u64,
    reached: usize,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, candidates: Option<&Candidates<'_>>) -> Self {
        let len = problem.operations.len();
        let number = |update| candidates.and_then(|c| c.number(update)).unwrap_or(0);
        let is_optional = |index: &u32| problem.operations[*index as usize].response == NEVER;
        Self {
            problem,
            latest: candidates.map(Candidates::latest),
            numbers: (0..len).map(number).collect(),
            progress: None,
            taken: vec![false; len],
            values: problem.initial.clone(),
            order: Vec::with_capacity(len),
            choices: Vec::new(),
            first: 0,
            optional: (0..len as u32).filter(is_optional).collect(),
            visited: SeededSet::default(),
            bytes: 0,
            states: 0,
            reached: 0,
        }
    }

    fn run(mut self, budget: &mut Budget<'_>) -> Ending {
        let mut deadline = self.take_scans();
        let mut next = 0;
        loop {
            if deadline == NEVER {
                return Ending::Found(self.order);
            }
            if let Some(update) = self.next_update(next, deadline) {
                self.choose(update);
                deadline = self.take_scans();
                if self.enter() {
                    next = 0;
                    self.states += 1;
                    if self.bytes > budget.memory {
                        return self.exhausted(Exhausted::Memory);
                    }
                    if self.states.is_multiple_of(PERIOD) && !(budget.proceed)() {
                        return self.exhausted(Exhausted::Time);
                    }
                    continue;
                }
            }
            match self.undo() {
                Some(update) => {
                    next = update + 1;
                    deadline = self.deadline();
                }
                None => return Ending::None { states: self.states },
            }
        }
    }

    fn exhausted(self, exhausted: Exhausted) -> Ending {
        let linearizable_events = self.reached;
        Ending::Exhausted { exhausted, states: self.states, linearizable_events }
    }

    /// Returns the response of the first complete operation not yet taken: only operations invoked
    /// before it can be taken now. [`NEVER`] if all are taken.
    fn deadline(&self) -> u32 {
        // The untaken operations that were invoked first determine it.
        let mut deadline = NEVER;
        for index in self.first..self.problem.operations.len() {
            let operation = &self.problem.operations[index];
            if operation.invocation > deadline {
                break;
            }
            if !self.taken[index] {
                deadline = deadline.min(operation.response);
            }
        }
        deadline
    }

    /// Takes every scan that can be taken and agrees with the values; returns
    /// the deadline afterwards.
    fn take_scans(&mut self) -> u32 {
        'again: loop {
            while self.first < self.taken.len()
                && (self.taken[self.first] || self.problem.operations[self.first].response == NEVER)
            {
                self.first += 1;
            }
            let deadline = self.deadline();
            self.reached = self.reached.max((deadline as usize).min(self.problem.events));
            for index in self.first..self.problem.operations.len() {
                let operation = &self.problem.operations[index];
                if operation.invocation > deadline {
                    break;
                }
                let can_be_taken = !self.taken[index] && operation.segment.is_none();
                if can_be_taken && self.agrees(operation) && self.is_ready(index) {
                    self.take(index);
                    continue 'again;
                }
            }
            return deadline;
        }
    }

    /// Returns true if every entry that a scan returned equals the current value.
    #[inline]
    fn agrees(&self, scan: &Operation) -> bool {
        let mut entries = self.problem.returned(scan).iter().zip(&self.values);
        entries.all(|(value, held)| value == held || *value == MISSING)
    }

    /// Returns the first update from `from` on that can be taken.
    fn next_update(&self, from: u32, deadline: u32) -> Option<u32> {
        let start = (from as usize).max(self.first);
        let optional = self.optional.iter().copied().filter(|&index| {
            index >= from && (index as usize) < start && !self.taken[index as usize]
        });
        let optional = optional
            .filter(|&index| self.is_ready(index as usize) && self.spares_scans(index, deadline));
        let optional = optional.min();
        if optional.is_some() {
            return optional;
        }
        for index in start..self.problem.operations.len() {
            let operation = &self.problem.operations[index];
            if operation.invocation > deadline {
                return None;
            }
            if !self.taken[index]
                && operation.segment.is_some()
                && self.is_ready(index)
                && self.spares_scans(index as u32, deadline)
            {
                return Some(index as u32);
            }
        }
        None
    }

    /// Returns true if no open scan needs the value that the update would overwrite.
    fn spares_scans(&self, update: u32, deadline: u32) -> bool {
        let (Some(latest), Some(segment)) =
            (&self.latest, self.problem.operations[update as usize].segment)
        else {
            return true;
        };
        let number = self.numbers[update as usize];
        let begun = self.problem.operations[self.first..]
            .iter()
            .take_while(|operation| operation.invocation <= deadline);
        let mut waiting = (self.first..)
            .zip(begun)
            .filter(|(index, operation)| !self.taken[*index] && operation.segment.is_none());
        waiting.all(|(index, _)| {
            let can_follow =
                |progress: &Progress<'_>| progress.can_follow(index, segment, &self.taken);
            latest[index][usize::from(segment)] >= number
                && self.progress.as_ref().is_none_or(can_follow)
        })
    }

    fn choose(&mut self, update: u32) {
        let operation = &self.problem.operations[update as usize];
        let segment = usize::from(operation.segment.unwrap_or(0));
        let overwritten = std::mem::replace(&mut self.values[segment], operation.value);
        self.choices.push(Choice { update, overwritten, length: self.order.len() });
        self.take(update as usize);
    }

    fn is_ready(&self, index: usize) -> bool {
        self.progress.as_ref().is_none_or(|progress| progress.is_ready(index))
    }

    fn take(&mut self, index: usize) {
        self.taken[index] = true;
        self.order.push(index as u32);
        if let Some(progress) = &mut self.progress {
            progress.take(index);
        }
    }

    /// Undoes the last choice and returns it.
    fn undo(&mut self) -> Option<u32> {
        let choice = self.choices.pop()?;
        for index in self.order.drain(choice.length..) {
            self.taken[index as usize] = false;
            if let Some(progress) = &mut self.progress {
                progress.give_back(index as usize);
            }
            let operation = &self.problem.operations[index as usize];
            if operation.response != NEVER {
                self.first = self.first.min(index as usize);
            }
        }
        let segment = self.problem.operations[choice.update as usize].segment;
        self.values[usize::from(segment.unwrap_or(0))] = choice.overwritten;
        Some(choice.update)
    }

    /// Returns true if the current state is new.
    fn enter(&mut self) -> bool {
        let mut key: Vec<u32> = Vec::with_capacity(self.values.len() + 4);
        key.push(self.first as u32);
        key.extend(&self.values);
        let mut word = 0;
        let mut bits = 0;
        let mut push = |bit: bool, key: &mut Vec<u32>| {
            word |= u32::from(bit) << bits;
            bits += 1;
            if bits == 32 {
                key.push(std::mem::take(&mut word));
                bits = 0;
            }
        };
        for &index in &self.optional {
            push(self.taken[index as usize], &mut key);
        }
        let deadline = self.deadline();
        for index in self.first..self.problem.operations.len() {
            let operation = &self.problem.operations[index];
            if operation.invocation > deadline {
                break;
            }
            if operation.response != NEVER {
                push(self.taken[index], &mut key);
            }
        }
        key.push(word);
        self.bytes += key.len() * 4 + 48;
        self.visited.insert(key.into_boxed_slice())
    }
}
