//! The search for a sequence of groups, depth first (Lawrence and Lowe, section 7.1).
//!
//! Events are passed in the order of time. Only a response of an operation that has not yet taken
//! effect, the *due* one, forces a choice: groups of open operations are taken until one contains
//! the due operation. Every set linearization can be found so: move each group to as late an
//! instant as its operations allow, and it stands directly before a response of one of them or
//! before another group. (This is the mirror image of the paper's rule, groups as soon as possible;
//! it never branches where operations do not overlap.)
//!
//! A configuration is the current position, the state, and the set of open operations that have
//! taken effect; it is entered once. Further:
//!
//! * *The first of their kind.* Of open operations with the same input and output, the first to
//!   respond is taken first: if a set linearization takes x now, though y responds before it, then
//!   y in a later group, both can change places, since y is open now and x responds after the later
//!   group.
//! * *No idle groups.* Pending operations that change nothing need not take effect.
//! * *A stateless object needs only groups* with the due operation: the order of groups does not
//!   matter. And at an instant without open operations, the groups so far are final.

use super::combination::{Candidates, Combination};
use super::specification::{Synchronisation, is_stateless};
use crate::OperationId;
use crate::generic::History;
use crate::generic::problem::{NEVER, Problem, plain};
use crate::generic::slots::{SlotSet, WideSet};
use crate::generic::states::{StateId, States};
use crate::search::Budget;
use crate::seeded::SeededSet;
use crate::verdict::Exhausted;

/// A sequence of groups, each of numbers of operations.
pub(super) type Groups = Vec<Vec<OperationId>>;

/// The end of a search.
pub(super) enum Ending {
    /// Groups that explain the history.
    Found(Groups),
    /// No groups explain the history; the longest prefix explained.
    None(DeepestPrefix),
    /// A budget ran out.
    Exhausted(Exhausted, DeepestPrefix),
}

/// The longest prefix that the search could explain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeepestPrefix {
    /// The operation whose response is the next event; `None` at the end.
    pub due: Option<OperationId>,
    /// Groups that explain the events before that response.
    pub groups: Groups,
}

/// Returns true if a state at the end is acceptable.
type Accepts<'a, T> = dyn FnMut(&T, &mut Budget<'_>) -> Result<bool, Exhausted> + 'a;

/// Searches for groups of a history; `accepts` decides on the state at the end.
pub(super) fn find<S: Synchronisation>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    with_pending: bool,
    budget: &mut Budget<'_>,
    states: &mut u64,
    accepts: &mut Accepts<'_, S::State>,
) -> Ending {
    let mut problem = plain(history);
    if !with_pending {
        problem.keep_complete();
    }
    problem.classify();
    let slots = problem.slots;
    let mut run = Run { specification, problem, budget, states, accepts };
    match slots {
        0..=64 => Search::<S, u64>::new(&run).run(&mut run),
        _ => Search::<S, WideSet>::new(&run).run(&mut run),
    }
}

struct Run<'a, 'h, 'b, S: Synchronisation> {
    specification: &'a S,
    problem: Problem<'h, S::Input, S::Output>,
    budget: &'a mut Budget<'b>,
    states: &'a mut u64,
    accepts: &'a mut Accepts<'a, S::State>,
}

#[derive(Eq, Hash, PartialEq)]
struct Configuration<B> {
    step: u32,
    state: StateId,
    taken: B,
}

/// A group that was taken, and the configuration before it.
struct Choice<B> {
    /// The operations of the group, by their items.
    members: Vec<u32>,
    step: usize,
    state: StateId,
    taken: B,
}

struct Search<'h, S: Synchronisation, B> {
    states: States<S::State>,
    step: usize,
    state: StateId,
    /// Slots of open operations that have taken effect.
    taken: B,
    /// Open operations that have not taken effect, by response, then by number.
    open: Vec<u32>,
    choices: Vec<Choice<B>>,
    /// Groups before the first choice that can be undone.
    settled: Vec<Vec<u32>>,
    visited: SeededSet<Configuration<B>>,
    bytes: usize,
    combination: Combination<'h, S>,
    furthest: Best,
}

/// The choices that led to the longest prefix.
#[derive(Default)]
struct Best {
    step: usize,
    groups: Vec<Vec<u32>>,
    /// Length of the common prefix of `groups` and the current choices.
    common: usize,
}

impl<'h, S: Synchronisation, B: SlotSet> Search<'h, S, B> {
    fn new(run: &Run<'_, 'h, '_, S>) -> Self {
        let mut states = States::new();
        let (state, _) = states.number(&run.specification.initial());
        Self {
            states,
            step: 0,
            state,
            taken: B::empty(run.problem.slots),
            open: Vec::new(),
            choices: Vec::new(),
            settled: Vec::new(),
            visited: SeededSet::default(),
            bytes: 0,
            combination: Combination::new(run.specification),
            furthest: Best::default(),
        }
    }

    fn run(mut self, run: &mut Run<'_, 'h, '_, S>) -> Ending {
        match self.arrive(run) {
            Ok(true) => return Ending::Found(self.groups(run)),
            Ok(false) => {}
            Err(exhausted) => return self.exhausted(run, exhausted),
        }
        // True if the next group must come after the one undone last.
        let mut again = false;
        loop {
            match self.next_group(run, again) {
                Err(exhausted) => return self.exhausted(run, exhausted),
                Ok(false) => {
                    self.note_furthest();
                    if !self.undo(run) {
                        return Ending::None(self.stuck(run));
                    }
                    again = true;
                    continue;
                }
                Ok(true) => {}
            }
            self.choose(run);
            match self.arrive(run) {
                Ok(true) => return Ending::Found(self.groups(run)),
                Ok(false) => {}
                Err(exhausted) => return self.exhausted(run, exhausted),
            }
            if self.step == run.problem.steps.len() || !self.enter() {
                self.note_furthest();
                if !self.undo(run) {
                    // All groups before the choices are final.
                    return Ending::None(self.stuck(run));
                }
                again = true;
                continue;
            }
            again = false;
            *run.states += 1;
            if self.bytes > run.budget.memory {
                return self.exhausted(run, Exhausted::Memory);
            }
            if run.states.is_multiple_of(256) && !(run.budget.proceed)() {
                return self.exhausted(run, Exhausted::Time);
            }
        }
    }

    /// Passes events up to the next due response. Returns true if there is none, and the state at
    /// the end is acceptable.
    fn arrive(&mut self, run: &mut Run<'_, 'h, '_, S>) -> Result<bool, Exhausted> {
        let problem = &run.problem;
        while let Some(step) = problem.steps.get(self.step) {
            let index = step.item() as u32;
            let item = &problem.items[step.item()];
            if step.is_response() {
                if !self.taken.contains(item.slot) {
                    return Ok(false);
                }
                self.taken.remove(item.slot);
            } else {
                self.insert(problem, index);
            }
            self.step += 1;
            if is_stateless::<S>() && !self.choices.is_empty() && self.is_nothing_open() {
                self.commit();
            }
        }
        (run.accepts)(self.states.get(self.state), run.budget)
    }

    /// Returns true if no operation, complete or pending, is open, taken or not. (A pending one
    /// that was taken could be useful later, if it were not taken.)
    fn is_nothing_open(&self) -> bool {
        self.open.is_empty() && self.taken.words().iter().all(|&word| word == 0)
    }

    /// Makes the current groups final: no operation is open, and there is only one state.
    fn commit(&mut self) {
        self.settled.extend(self.choices.drain(..).map(|choice| choice.members));
        self.visited = SeededSet::default();
        self.bytes = 0;
        self.furthest = Best::default();
    }

    fn place(
        &self,
        problem: &Problem<'h, S::Input, S::Output>,
        index: u32,
    ) -> Result<usize, usize> {
        let order = |index: u32| (problem.items[index as usize].response, index);
        self.open.binary_search_by_key(&order(index), |&other| order(other))
    }

    fn insert(&mut self, problem: &Problem<'h, S::Input, S::Output>, index: u32) {
        if let Err(place) = self.place(problem, index) {
            self.open.insert(place, index);
        }
    }

    fn next_group(
        &mut self,
        run: &mut Run<'_, 'h, '_, S>,
        mut again: bool,
    ) -> Result<bool, Exhausted> {
        loop {
            let candidates = Candidates {
                items: &run.problem.items,
                open: &self.open,
                // The first open operation to respond is the due one.
                with_first: is_stateless::<S>(),
            };
            let state = self.states.get(self.state);
            let found =
                self.combination.find(run.specification, state, &candidates, again, run.budget)?;
            if !found {
                return Ok(false);
            }
            let never =
                |&index: &usize| run.problem.items[self.open[index] as usize].response == NEVER;
            let is_idle = self.combination.indices.iter().all(never)
                && self.combination.state == *self.states.get(self.state);
            if !is_idle {
                return Ok(true);
            }
            again = true;
        }
    }

    /// Takes the group that was found.
    fn choose(&mut self, run: &Run<'_, 'h, '_, S>) {
        let indices = &self.combination.indices;
        let members: Vec<u32> = indices.iter().map(|&index| self.open[index]).collect();
        let (state, is_new) = self.states.number(&self.combination.state);
        if is_new {
            self.bytes += run.specification.bytes(&self.combination.state) + 24;
        }
        let mut chosen = indices.iter().copied().peekable();
        let mut index = 0;
        self.open.retain(|_| {
            let is_chosen = chosen.next_if_eq(&index).is_some();
            index += 1;
            !is_chosen
        });
        let taken = self.taken.clone();
        for &member in &members {
            self.taken.insert(run.problem.items[member as usize].slot);
        }
        self.choices.push(Choice { members, step: self.step, state: self.state, taken });
        self.state = state;
    }

    /// Undoes the last group, and leaves it as the combination to continue from. Returns false if
    /// there was none.
    fn undo(&mut self, run: &Run<'_, 'h, '_, S>) -> bool {
        let Some(choice) = self.choices.pop() else { return false };
        let problem = &run.problem;
        while self.step > choice.step {
            self.step -= 1;
            let step = problem.steps[self.step];
            if !step.is_response()
                && let Ok(place) = self.place(problem, step.item() as u32)
            {
                self.open.remove(place);
            }
        }
        self.state = choice.state;
        self.taken = choice.taken;
        for &member in &choice.members {
            self.insert(problem, member);
        }
        let mut indices = std::mem::take(&mut self.combination.indices);
        indices.clear();
        indices
            .extend(choice.members.iter().filter_map(|&member| self.place(problem, member).ok()));
        indices.sort_unstable();
        self.combination.indices = indices;
        self.furthest.common = self.furthest.common.min(self.choices.len());
        true
    }

    /// Returns true if the current configuration is new.
    fn enter(&mut self) -> bool {
        let words = size_of_val(self.taken.words());
        self.bytes += (size_of::<Configuration<B>>() + words + 1) * 3 / 2;
        let (step, state, taken) = (self.step as u32, self.state, self.taken.clone());
        self.visited.insert(Configuration { step, state, taken })
    }

    /// Stores the current groups if they lead further than all earlier ones; does not copy the
    /// common prefix again.
    fn note_furthest(&mut self) {
        let furthest = &mut self.furthest;
        if self.step > furthest.step || furthest.groups.is_empty() {
            furthest.step = self.step;
            furthest.groups.truncate(furthest.common);
            let new = self.choices[furthest.common..].iter();
            furthest.groups.extend(new.map(|choice| choice.members.clone()));
            furthest.common = self.choices.len();
        }
    }

    fn exhausted(mut self, run: &Run<'_, 'h, '_, S>, exhausted: Exhausted) -> Ending {
        self.note_furthest();
        let stuck = self.stuck(run);
        Ending::Exhausted(exhausted, stuck)
    }

    fn stuck(self, run: &Run<'_, 'h, '_, S>) -> DeepestPrefix {
        let problem = &run.problem;
        let due = problem.steps.get(self.furthest.step);
        let due = due.map(|step| identity(problem, step.item() as u32));
        let groups = self.settled.iter().chain(&self.furthest.groups);
        DeepestPrefix { due, groups: groups.map(|members| identities(problem, members)).collect() }
    }

    fn groups(&self, run: &Run<'_, 'h, '_, S>) -> Groups {
        let choices = self.choices.iter().map(|choice| &choice.members);
        let all = self.settled.iter().chain(choices);
        all.map(|members| identities(&run.problem, members)).collect()
    }
}

fn identity<I, O>(problem: &Problem<'_, I, O>, index: u32) -> OperationId {
    OperationId::from_index(problem.items[index as usize].id as usize)
}

fn identities<I, O>(problem: &Problem<'_, I, O>, members: &[u32]) -> Vec<OperationId> {
    members.iter().map(|&index| identity(problem, index)).collect()
}
