//! The player: states of the object, with the operations that have taken effect, by number.
//!
//! Operations take effect at responses only, and at each only as many as the answer needs. Nothing
//! else is a choice (late commitment, `docs/strong.md`).

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_core::Process;

use crate::graph::Player;
use crate::interpret::{Event, Fault, Names, Occurrence, Renamings};
use crate::product::{EventId, Memo};
use crate::refine::Automaton;

/// Interner of the configurations of an automaton.
#[derive(Debug)]
pub struct Configurations<A: Automaton> {
    automaton: A,
    all: Vec<Rc<A::Configuration>>,
    numbers: FxHashMap<Rc<A::Configuration>, u32>,
    /// Values in each configuration, in the order of their occurrence.
    values: Vec<Box<[u32]>>,
    occurrences: Vec<Occurrence>,
    renamings: Renamings,
    /// New values of the configuration being renamed.
    after: Vec<u32>,
    /// Remembered answers to a configuration and an event: range in `answers`.
    known: Memo<2, 2>,
    answers: Vec<u32>,
    /// True if values are names.
    names_values: bool,
    bytes: usize,
}

/// Processes whose operations take effect one after the other, or together.
pub type Order = Vec<Vec<Process>>;

impl<A: Automaton> Configurations<A> {
    /// Creates the interner; `names_values`: values are renamed.
    pub fn new(automaton: A, names_values: bool) -> Self {
        Self {
            automaton,
            all: Vec::new(),
            numbers: FxHashMap::default(),
            values: Vec::new(),
            occurrences: Vec::new(),
            renamings: Renamings::default(),
            after: Vec::new(),
            known: Memo::default(),
            answers: Vec::new(),
            names_values,
            bytes: 0,
        }
    }

    /// Returns the answers to a response, each with all orders that lead to it, by position among
    /// the answers.
    ///
    /// # Errors
    /// If the object is faulty in some order.
    pub fn orders(
        &mut self,
        before: u32,
        (id, event): (EventId, &Event),
    ) -> Result<Vec<Vec<Order>>, Fault> {
        let mut answers = Vec::new();
        self.answers(before, (id, event), &mut answers)?;
        let mut orders = vec![Vec::new(); answers.len()];
        let first = Rc::clone(&self.all[before as usize]);
        let mut work = vec![((*first).clone(), Order::new())];
        while let Some((one, order)) = work.pop() {
            if let Some(after) = self.automaton.after(&one, event) {
                let number = self.number(after);
                let place = answers.iter().position(|answer| *answer == number);
                orders[place.expect("all answers are known")].push(order);
                continue;
            }
            if self.automaton.has_taken_effect(&one, event.process) {
                continue;
            }
            let mut reached = Vec::new();
            self.automaton.take_effect(&one, &mut |next| reached.push(next))?;
            for next in reached {
                let mut order = order.clone();
                let block: Vec<Process> = self.automaton.taking_effect(&one, &next).collect();
                if !block.is_empty() {
                    order.push(block);
                }
                work.push((next, order));
            }
        }
        Ok(orders)
    }

    /// Adds the answers to a response, each once.
    fn find(&mut self, before: u32, event: &Event) -> Result<Vec<u32>, Fault> {
        let one = Rc::clone(&self.all[before as usize]);
        if !event.action.is_response() {
            let after = self.automaton.after(&one, event);
            return Ok(after.map(|after| self.number(after)).into_iter().collect());
        }
        let mut found: Vec<u32> = Vec::new();
        let mut known = FxHashSet::default();
        let mut work = vec![(*one).clone()];
        let mut reached = Vec::new();
        while let Some(one) = work.pop() {
            if let Some(after) = self.automaton.after(&one, event) {
                let number = self.number(after);
                if !found.contains(&number) {
                    found.push(number);
                }
                continue;
            }
            if self.automaton.has_taken_effect(&one, event.process) {
                continue;
            }
            self.automaton.take_effect(&one, &mut |next| reached.push(next))?;
            for next in reached.drain(..) {
                if known.insert(next.clone()) {
                    work.push(next);
                }
            }
        }
        Ok(found)
    }

    fn number(&mut self, one: A::Configuration) -> u32 {
        if let Some(number) = self.numbers.get(&one) {
            return *number;
        }
        let mut values = Vec::new();
        if self.names_values {
            self.automaton.values(&one, &mut values);
        }
        self.bytes += self.automaton.size(&one) + size_of_val(&*values) + size_of::<Occurrence>();
        let number = self.all.len() as u32;
        let one = Rc::new(one);
        self.all.push(Rc::clone(&one));
        self.numbers.insert(one, number);
        self.occurrences.push(Occurrence::new(&values));
        self.values.push(values.into());
        number
    }
}

impl<A: Automaton> Player for Configurations<A> {
    fn first(&mut self) -> u32 {
        let first = self.automaton.initial();
        self.number(first)
    }

    fn answers(
        &mut self,
        before: u32,
        (id, event): (EventId, &Event),
        answers: &mut Vec<u32>,
    ) -> Result<(), Fault> {
        let key = [before, id.0];
        let [first, end] = match self.known.find(&key) {
            Some(known) => known,
            None => {
                let found = self.find(before, event)?;
                let first = self.answers.len() as u32;
                self.answers.extend(found);
                let range = [first, self.answers.len() as u32];
                self.known.insert(&key, range);
                range
            }
        };
        answers.extend(&self.answers[first as usize..end as usize]);
        Ok(())
    }

    fn renamed(&mut self, state: u32, names: &mut Names) -> u32 {
        if names.keep(&self.occurrences[state as usize]) {
            return state;
        }
        let before = &self.values[state as usize];
        let mut after = std::mem::take(&mut self.after);
        after.clear();
        after.extend(before.iter().map(|name| names.rename(*name)));
        let renamed = match self.renamings.find(state, &after) {
            _ if *after == **before => state,
            Some(renamed) => renamed,
            None => {
                let name = |name: u32| {
                    let position = before.iter().position(|known| *known == name);
                    after[position.expect("all values of a configuration are known")]
                };
                let renamed = self.automaton.renamed(&self.all[state as usize], &mut { name });
                let renamed = self.number(renamed);
                self.renamings.insert(state, &after, renamed);
                renamed
            }
        };
        self.after = after;
        renamed
    }

    fn latest_value(&self, state: u32) -> u32 {
        self.occurrences[state as usize].latest_value()
    }

    fn bytes(&self) -> usize {
        let known = self.known.bytes() + self.automaton.bytes();
        self.bytes + self.renamings.bytes() + known + self.answers.capacity() * size_of::<u32>()
    }
}
