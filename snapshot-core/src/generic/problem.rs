//! The operations of one part of a history, as the search needs them.
//!
//! Failed operations are gone, and pending queries, which change nothing. What
//! is left holds a slot from its invocation to its response, and belongs to a
//! class of interchangeable operations: same input, same output.

use std::hash::Hash;

use super::history::{Ending, History, Operation};
use super::specification::Specification;
use crate::seeded::SeededMap;

/// The response of an operation that has none.
pub(crate) const NEVER: u32 = u32::MAX;

/// The class of an operation that no other is like.
pub(crate) const UNIQUE: u32 = u32::MAX;

/// An operation to be ordered.
pub(crate) struct Item<'h, I, O> {
    /// Its number in the history.
    pub id: u32,
    /// Number of its response event; [`NEVER`] if it need not take effect.
    pub response: u32,
    pub slot: u32,
    pub is_query: bool,
    /// Operations of one class can stand for each other; [`UNIQUE`] if there is
    /// but one. Queries have none.
    pub class: u32,
    pub input: &'h I,
    pub output: Option<&'h O>,
}

/// An event: an operation, by its index, begins or ends.
#[derive(Clone, Copy)]
pub(crate) struct Step(u32);

impl Step {
    #[inline]
    pub const fn item(self) -> usize {
        (self.0 >> 1) as usize
    }

    #[inline]
    pub const fn is_response(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The operations of one part, in the order of their invocations.
pub(crate) struct Problem<'h, I, O> {
    pub items: Vec<Item<'h, I, O>>,
    pub steps: Vec<Step>,
    /// Number of slots.
    pub slots: usize,
}

/// Place of an operation in its part.
#[derive(Clone, Copy)]
struct Place {
    part: u32,
    item: u32,
}

const NOWHERE: Place = Place { part: 0, item: u32::MAX };

/// Splits a history into its parts, of the operations that are wanted. Linear in its length.
pub(crate) fn by_part<'h, S: Specification>(
    specification: &S,
    history: &'h History<S::Input, S::Output>,
    is_wanted: impl Fn(u32) -> bool,
) -> Vec<Problem<'h, S::Input, S::Output>> {
    let mut numbers: SeededMap<S::Part, u32> = SeededMap::default();
    let is_query = |input: &_, output: Option<&_>| specification.is_query(input, output);
    split(history, is_wanted, is_query, |input| {
        let next = numbers.len() as u32;
        *numbers.entry(specification.part(input)).or_insert(next)
    })
}

/// The history in one piece.
pub(crate) fn whole<'h, S: Specification>(
    specification: &S,
    history: &'h History<S::Input, S::Output>,
) -> Vec<Problem<'h, S::Input, S::Output>> {
    split(history, |_| true, |input, output| specification.is_query(input, output), |_| 0)
}

/// The history in one piece, without any knowledge of its operations.
pub(crate) fn plain<I, O>(history: &History<I, O>) -> Problem<'_, I, O> {
    let whole = split(history, |_| true, |_, _| false, |_| 0).pop();
    whole.unwrap_or(Problem { items: Vec::new(), steps: Vec::new(), slots: 0 })
}

fn split<'h, I, O>(
    history: &'h History<I, O>,
    is_wanted: impl Fn(u32) -> bool,
    is_query: impl Fn(&I, Option<&O>) -> bool,
    mut part: impl FnMut(&'h I) -> u32,
) -> Vec<Problem<'h, I, O>> {
    const IDLE: u32 = u32::MAX;
    let operations = history.operations();
    let mut problems: Vec<Problem<'h, I, O>> = Vec::new();
    let mut places = vec![NOWHERE; operations.len()];
    // Per event, what happens: an operation times 2, plus 1 if it responds.
    let mut events = vec![IDLE; history.len()];
    for (id, operation) in operations.iter().enumerate() {
        let Operation { input, invocation, ending, .. } = operation;
        let (response, output) = match ending {
            Ending::Complete { response, output } => (*response as u32, Some(output)),
            Ending::Pending => (NEVER, None),
            Ending::Failed { .. } => continue,
        };
        if !is_wanted(id as u32) {
            continue;
        }
        let is_query = is_query(input, output);
        if is_query && response == NEVER {
            continue;
        }
        let part = part(input);
        if part as usize == problems.len() {
            problems.push(Problem { items: Vec::new(), steps: Vec::new(), slots: 0 });
        }
        let items = &mut problems[part as usize].items;
        places[id] = Place { part, item: items.len() as u32 };
        events[*invocation] = (id as u32) << 1;
        if response != NEVER {
            events[response as usize] = (id as u32) << 1 | 1;
        }
        let id = id as u32;
        items.push(Item { id, response, slot: 0, is_query, class: UNIQUE, input, output });
    }
    for event in events {
        if event != IDLE {
            let Place { part, item } = places[(event >> 1) as usize];
            problems[part as usize].steps.push(Step(item << 1 | event & 1));
        }
    }
    for problem in &mut problems {
        problem.assign_slots();
    }
    problems
}

impl<I, O> Problem<'_, I, O> {
    /// Leaves out the operations that never respond.
    pub(crate) fn keep_complete(&mut self) {
        self.steps.retain(|step| self.items[step.item()].response != NEVER);
    }

    fn assign_slots(&mut self) {
        let mut free: Vec<u32> = Vec::new();
        for step in &self.steps {
            let item = &mut self.items[step.item()];
            if step.is_response() {
                free.push(item.slot);
            } else {
                item.slot = free.pop().unwrap_or_else(|| {
                    self.slots += 1;
                    self.slots as u32 - 1
                });
            }
        }
    }
}

impl<I: Eq + Hash, O: Eq + Hash> Problem<'_, I, O> {
    /// Finds out which operations can stand for each other. Worth it only once
    /// a search must go back.
    pub fn classify(&mut self) {
        let mut firsts: SeededMap<(&I, Option<&O>), u32> = SeededMap::default();
        for index in 0..self.items.len() {
            let item = &self.items[index];
            if item.is_query {
                continue;
            }
            let first = *firsts.entry((item.input, item.output)).or_insert(index as u32);
            if first != index as u32 {
                self.items[first as usize].class = first;
                self.items[index].class = first;
            }
        }
    }
}
