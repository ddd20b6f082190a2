//! Elements of sets, and counters without decrements, event by event.
//!
//! The rules of [`alternating`](crate::generic::monitors) choose among open changes by their ends. So events wait until all
//! operations have ended that were open at them; those of unknown outcome never end, which is known, too. The alarm
//! comes when the rule finds no order, and the execution is searched then, as the rules' argument is a
//! sketch.
//!
//! *Forgotten* are operations that took effect: by the same argument the others have an order from the state
//! that is reached, iff all have one from the first.

use std::collections::{BTreeSet, VecDeque};

use super::{End, Lost, Notes, Steps, Time};
use crate::generic::effect::Effect;
use crate::generic::monitors::alternating::{Bit, Count, Rule};
use crate::generic::monitors::part::NEVER;
use crate::seeded::{SeededMap, SeededSet};

/// A rule with a state.
pub(in crate::generic) trait State<V>: Rule<V> {
    fn is_initial(&self) -> bool;

    /// Operations that took effect since the last call, and those of them that have not ended.
    fn parts(&mut self) -> (&mut Vec<u32>, &mut SeededSet<u32>);
}

/// A bit with its first state.
#[derive(Debug)]
pub(in crate::generic) struct Element {
    pub bit: Bit<SeededSet<u32>>,
    initial: bool,
}

impl Rule<bool> for Element {
    fn begin(&mut self, operation: u32, ends: u32, effect: &Effect<bool>) -> bool {
        self.bit.begin(operation, ends, effect)
    }

    fn end(&mut self, operation: u32, effect: &Effect<bool>) -> bool {
        self.bit.end(operation, effect)
    }
}

impl State<bool> for Element {
    fn is_initial(&self) -> bool {
        self.bit.state == self.initial
    }

    fn parts(&mut self) -> (&mut Vec<u32>, &mut SeededSet<u32>) {
        (&mut self.bit.order, &mut self.bit.taken)
    }
}

impl State<i64> for Count<SeededSet<u32>> {
    fn is_initial(&self) -> bool {
        self.number == 0
    }

    fn parts(&mut self) -> (&mut Vec<u32>, &mut SeededSet<u32>) {
        (&mut self.order, &mut self.taken)
    }
}

/// An operation that is open, or whose events wait.
#[derive(Debug)]
struct Known<V> {
    ends: u32,
    effect: Effect<V>,
}

/// The judge of a rule's part.
#[derive(Debug)]
pub(in crate::generic) struct Waiting<V, R> {
    pub rule: R,
    open: BTreeSet<Time>,
    operations: SeededMap<Time, Known<V>>,
    /// Events that wait: their time, operation, and whether they end it.
    events: VecDeque<(Time, Time, bool)>,
}

impl Waiting<bool, Element> {
    pub fn element(initial: bool) -> Self {
        Self::new(Element { bit: Bit::new(initial, SeededSet::default()), initial })
    }
}

impl Waiting<i64, Count<SeededSet<u32>>> {
    pub fn number() -> Self {
        Self::new(Count::new(SeededSet::default()))
    }
}

impl<V, R: State<V>> Waiting<V, R> {
    fn new(rule: R) -> Self {
        let (open, operations, events) = Default::default();
        Self { rule, open, operations, events }
    }

    /// Gives the rule the events at which no operation was open that still is.
    fn advance(&mut self, notes: &mut Notes) {
        let before = self.open.first().copied().unwrap_or(Time::MAX);
        while let Some(&(at, operation, is_end)) = self.events.front()
            && at < before
        {
            self.events.pop_front();
            let Some(known) = self.operations.get(&operation) else { continue };
            let number = operation as u32;
            let is_possible = if is_end {
                self.rule.end(number, &known.effect)
            } else {
                self.rule.begin(number, known.ends, &known.effect)
            };
            if !is_possible {
                notes.is_violation = true;
                return;
            }
            if is_end {
                self.operations.remove(&operation);
            }
            self.forget_past(notes);
        }
    }

    fn forget_past(&mut self, notes: &mut Notes) {
        let (order, taken) = self.rule.parts();
        for number in order.drain(..) {
            let operation = number as Time;
            notes.settled.push(operation);
            if self.operations.get(&operation).is_some_and(|known| known.ends == NEVER) {
                self.operations.remove(&operation);
                taken.remove(&number);
            }
        }
    }
}

impl<V, R: State<V>> Steps<V> for Waiting<V, R> {
    fn invoke(&mut self, operation: Time, effect: Effect<V>, notes: &mut Notes) {
        if matches!(effect, Effect::Other) {
            return notes.lose(Lost::Operation(operation));
        }
        self.open.insert(operation);
        self.operations.insert(operation, Known { ends: NEVER, effect });
        self.events.push_back((operation, operation, false));
    }

    fn end(
        &mut self,
        operation: Time,
        (now, end): (Time, End),
        effect: Effect<V>,
        notes: &mut Notes,
    ) {
        self.open.remove(&operation);
        match end {
            End::Response => {
                self.operations.insert(operation, Known { ends: now as u32, effect });
                self.events.push_back((now, operation, true));
            }
            End::Unknown if matches!(effect, Effect::Nothing) => {
                self.operations.remove(&operation);
                notes.settled.push(operation);
            }
            End::Unknown => {}
            End::Failure => {
                self.operations.remove(&operation);
                notes.settled.push(operation);
            }
        }
        self.advance(notes);
    }

    fn is_new(&self) -> bool {
        self.rule.is_initial() && self.operations.is_empty() && self.events.is_empty()
    }
}
