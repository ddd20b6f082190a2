//! The search for an order, just in time (Lowe, "Testing for Linearizability",
//! 2017; the tree that it prunes is Wing and Gong's, "Testing and Verifying
//! Concurrent Objects", 1993).
//!
//! Events are passed in the order of time. Only a response of an operation that
//! is not yet taken, the *due* one, forces a choice: some open operation must be
//! taken, until the due one is. Any linearization can be read so: cut it behind
//! each operation that is due when its turn comes.
//!
//! A configuration is the position reached, the state, and which of the open
//! operations are taken; what was taken and has responded no longer matters. A
//! configuration is entered once. Further:
//!
//! * *Queries are taken at once.* A query that the state allows is taken without
//!   alternative: it changes nothing, and no open operation can precede it, so in any
//!   linearization of what is left it may as well come first.
//! * *The first of its kind.* Of open operations with the same input and output
//!   only the one that responds first is tried: if the other comes first in a
//!   linearization, swap the two. What comes between them and after the response
//!   of the one comes after that of the first, too, so no precedence is broken.
//! * *No idle effects.* A pending operation that would change nothing now is
//!   not taken: it need not be.

use std::mem;

use super::problem::{Item, NEVER, Problem, UNIQUE};
use super::slots::{SlotSet, WideSet};
use super::specification::Specification;
use super::states::{StateId, States};
use crate::search::Budget;
use crate::seeded::SeededSet;
use crate::verdict::Exhausted;

/// How often the budget of time is looked at, in configurations.
const PERIOD: u64 = 256;

/// How a search of one part ended.
pub(super) enum Ending<P> {
    /// With an order of operations of the history.
    Found(Vec<u32>),
    None(Stuck),
    Exhausted(Exhausted, Stuck),
    /// It has entered as many configurations as it may: the problem, for another search.
    Interrupted(P),
}

/// How far a search got that found no order.
pub(super) struct Stuck {
    /// The operation whose response was not passed.
    pub due: u32,
    /// Number of events before that response.
    pub events: usize,
    /// An order that explains all before that response.
    pub order: Vec<u32>,
}

/// Searches for an order of a problem's items; counts configurations, and enters `most` of them.
pub(super) fn find<'h, S: Specification>(
    specification: &S,
    problem: Problem<'h, S::Input, S::Output>,
    most: u64,
    budget: &mut Budget<'_>,
    visited: &mut u64,
) -> Ending<Problem<'h, S::Input, S::Output>> {
    let end = visited.saturating_add(most);
    match problem.slots {
        0..=64 => Search::<S, u64>::new(specification, problem).run(end, budget, visited),
        _ => Search::<S, WideSet>::new(specification, problem).run(end, budget, visited),
    }
}

/// What a memo remembers.
#[derive(Eq, Hash, PartialEq)]
struct Configuration<B> {
    step: u32,
    state: StateId,
    taken: B,
}

/// A choice, and the configuration in which it was made.
struct Choice<B> {
    slot: u32,
    step: usize,
    state: StateId,
    taken: B,
    /// Length of the order before it.
    length: usize,
}

/// Where among the candidates of a configuration to go on.
#[derive(Clone, Copy)]
enum Cursor {
    /// With the due operation.
    Due,
    /// With the others, from this slot on.
    Slot(u32),
}

struct Search<'s, 'h, S: Specification, B> {
    specification: &'s S,
    problem: Problem<'h, S::Input, S::Output>,
    is_classified: bool,
    states: States<S::State>,
    scratch: S::State,
    // The configuration; `step` is that of a due response.
    step: usize,
    state: StateId,
    taken: B,
    /// Slots of open operations: of queries, and of others.
    queries: B,
    effects: B,
    /// Per slot the item that holds it, or held it last.
    holders: Vec<u32>,
    order: Vec<u32>,
    choices: Vec<Choice<B>>,
    visited: SeededSet<Configuration<B>>,
    bytes: usize,
    furthest: DeepestPrefix,
}

/// The order with which the search got furthest.
struct DeepestPrefix {
    step: usize,
    order: Vec<u32>,
    /// This many of its items begin the current order, too.
    common: usize,
}

impl<'s, 'h, S: Specification, B: SlotSet> Search<'s, 'h, S, B> {
    fn new(specification: &'s S, problem: Problem<'h, S::Input, S::Output>) -> Self {
        let mut states = States::new();
        let scratch = specification.initial();
        let (state, _) = states.number(&scratch);
        let empty = B::empty(problem.slots);
        Self {
            specification,
            is_classified: false,
            states,
            scratch,
            step: 0,
            state,
            taken: empty.clone(),
            queries: empty.clone(),
            effects: empty,
            holders: vec![0; problem.slots],
            order: Vec::with_capacity(problem.items.len()),
            choices: Vec::new(),
            visited: SeededSet::default(),
            bytes: 0,
            furthest: DeepestPrefix { step: 0, order: Vec::new(), common: 0 },
            problem,
        }
    }

    fn run(
        mut self,
        end: u64,
        budget: &mut Budget<'_>,
        visited: &mut u64,
    ) -> Ending<Problem<'h, S::Input, S::Output>> {
        let mut cursor = Cursor::Due;
        if self.advance() {
            return Ending::Found(self.ids(&self.order));
        }
        loop {
            let Some(slot) = self.next_candidate(cursor) else {
                self.note_furthest();
                let Some(slot) = self.undo() else {
                    return Ending::None(self.stuck());
                };
                cursor = self.after(slot);
                continue;
            };
            if !self.choose(slot) {
                cursor = self.after(slot);
                continue;
            }
            if self.advance() {
                return Ending::Found(self.ids(&self.order));
            }
            if !self.enter() {
                self.undo();
                cursor = self.after(slot);
                continue;
            }
            cursor = Cursor::Due;
            *visited += 1;
            if self.bytes > budget.memory {
                return self.exhausted(Exhausted::Memory);
            }
            if visited.is_multiple_of(PERIOD) && !(budget.proceed)() {
                return self.exhausted(Exhausted::Time);
            }
            if *visited >= end {
                return Ending::Interrupted(self.problem);
            }
        }
    }

    /// Passes events up to the next due response; whether there is none.
    fn advance(&mut self) -> bool {
        while let Some(step) = self.problem.steps.get(self.step) {
            let item = &self.problem.items[step.item()];
            let slot = item.slot;
            if step.is_response() {
                if !self.taken.contains(slot) {
                    return false;
                }
                self.taken.remove(slot);
                if item.is_query {
                    self.queries.remove(slot);
                } else {
                    self.effects.remove(slot);
                }
            } else {
                self.holders[slot as usize] = step.item() as u32;
                if item.is_query {
                    self.queries.insert(slot);
                    if self.allows(item) {
                        self.take(slot);
                    }
                } else {
                    self.effects.insert(slot);
                }
            }
            self.step += 1;
        }
        true
    }

    /// Goes back to an earlier step; which operations are taken there is the
    /// caller's to say.
    fn retreat(&mut self, target: usize) {
        while self.step > target {
            self.step -= 1;
            let step = self.problem.steps[self.step];
            let item = &self.problem.items[step.item()];
            let open = if item.is_query { &mut self.queries } else { &mut self.effects };
            if step.is_response() {
                open.insert(item.slot);
                self.holders[item.slot as usize] = step.item() as u32;
            } else {
                open.remove(item.slot);
            }
        }
    }

    #[inline]
    fn holder(&self, slot: u32) -> &Item<'h, S::Input, S::Output> {
        &self.problem.items[self.holders[slot as usize] as usize]
    }

    #[inline]
    fn due(&self) -> &Item<'h, S::Input, S::Output> {
        &self.problem.items[self.problem.steps[self.step].item()]
    }

    #[inline]
    fn allows(&self, query: &Item<'h, S::Input, S::Output>) -> bool {
        self.specification.allows(self.states.get(self.state), query.input, query.output)
    }

    #[inline]
    fn take(&mut self, slot: u32) {
        self.taken.insert(slot);
        self.order.push(self.holders[slot as usize]);
    }

    /// The next candidate of the current configuration.
    fn next_candidate(&self, cursor: Cursor) -> Option<u32> {
        let due = self.due();
        let mut from = match cursor {
            Cursor::Due if !due.is_query => return Some(due.slot),
            Cursor::Due => 0,
            Cursor::Slot(from) => from,
        };
        loop {
            let slot = self.effects.next_not_in(&self.taken, from)?;
            if slot != due.slot && self.is_first_of_its_kind(slot) {
                return Some(slot);
            }
            from = slot + 1;
        }
    }

    /// Where to go on after the candidate in a slot.
    fn after(&self, slot: u32) -> Cursor {
        let due = self.due();
        if slot == due.slot && !due.is_query { Cursor::Slot(0) } else { Cursor::Slot(slot + 1) }
    }

    fn is_first_of_its_kind(&self, slot: u32) -> bool {
        let item = self.holder(slot);
        if item.class == UNIQUE {
            return true;
        }
        let mut from = 0;
        while let Some(other) = self.effects.next_not_in(&self.taken, from) {
            let rival = self.holder(other);
            let is_earlier = (rival.response, rival.id) < (item.response, item.id);
            if rival.class == item.class && is_earlier {
                return false;
            }
            from = other + 1;
        }
        true
    }

    /// Takes the operation in a slot, and the queries that are allowed then.
    /// Whether that is possible, and of use.
    fn choose(&mut self, slot: u32) -> bool {
        let item = &self.problem.items[self.holders[slot as usize] as usize];
        self.scratch.clone_from(self.states.get(self.state));
        if !self.specification.apply(&mut self.scratch, item.input, item.output) {
            return false;
        }
        let (state, is_new) = self.states.number(&self.scratch);
        if is_new {
            // The hash's table and the links between states of one hash.
            self.bytes += self.specification.bytes(&self.scratch) + 24;
        }
        let is_idle = state == self.state;
        if is_idle && item.response == NEVER {
            return false;
        }
        self.choices.push(Choice {
            slot,
            step: self.step,
            state: self.state,
            taken: self.taken.clone(),
            length: self.order.len(),
        });
        self.take(slot);
        if !is_idle {
            self.state = state;
            self.take_queries();
        }
        true
    }

    fn take_queries(&mut self) {
        let mut from = 0;
        while let Some(slot) = self.queries.next_not_in(&self.taken, from) {
            if self.allows(self.holder(slot)) {
                self.take(slot);
            }
            from = slot + 1;
        }
    }

    /// Undoes the last choice; returns its slot.
    fn undo(&mut self) -> Option<u32> {
        let choice = self.choices.pop()?;
        if !mem::replace(&mut self.is_classified, true) {
            self.problem.classify();
        }
        self.retreat(choice.step);
        self.state = choice.state;
        self.taken = choice.taken;
        self.order.truncate(choice.length);
        self.furthest.common = self.furthest.common.min(choice.length);
        Some(choice.slot)
    }

    /// Whether the current configuration is new.
    fn enter(&mut self) -> bool {
        let words = size_of_val(self.taken.words());
        // An eighth of a hash table is empty at best, half of it at worst.
        self.bytes += (size_of::<Configuration<B>>() + words + 1) * 3 / 2;
        let (step, state, taken) = (self.step as u32, self.state, self.taken.clone());
        self.visited.insert(Configuration { step, state, taken })
    }

    /// Remembers the current order if no other got further. Amortised O(1):
    /// what it shares with the last one is not copied again.
    fn note_furthest(&mut self) {
        let furthest = &mut self.furthest;
        if self.step > furthest.step || furthest.order.is_empty() {
            furthest.step = self.step;
            furthest.order.truncate(furthest.common);
            furthest.order.extend_from_slice(&self.order[furthest.common..]);
            furthest.common = self.order.len();
        }
    }

    fn exhausted<P>(mut self, exhausted: Exhausted) -> Ending<P> {
        self.note_furthest();
        Ending::Exhausted(exhausted, self.stuck())
    }

    fn stuck(self) -> Stuck {
        let due = &self.problem.items[self.problem.steps[self.furthest.step].item()];
        let (due, events) = (due.id, due.response as usize);
        Stuck { due, events, order: self.ids(&self.furthest.order) }
    }

    fn ids(&self, order: &[u32]) -> Vec<u32> {
        order.iter().map(|&item| self.problem.items[item as usize].id).collect()
    }
}
