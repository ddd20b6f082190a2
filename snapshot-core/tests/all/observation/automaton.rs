//! Small deterministic objects, as tables, and their executions.

use proptest::prelude::*;
use snapshot_core::generic::Specification;
use snapshot_core::observation::{ConcurrentHistory, Event, SerialHistory, Shape, Thread};

/// `table[state][operation]`: the response and the next state, or stuck.
#[derive(Clone, Debug)]
pub struct Automaton {
    pub table: Vec<Vec<Option<(u8, usize)>>>,
}

pub const OPERATIONS: usize = 3;

/// The columns of a test: the operations of each thread.
pub type Columns = Vec<Vec<usize>>;

pub fn shape(columns: &Columns) -> Shape {
    Shape::new(&columns.iter().map(Vec::len).collect::<Vec<_>>()).unwrap()
}

pub fn automaton() -> impl Strategy<Value = Automaton> {
    let cell = prop_oneof![5 => (0..2_u8, 0..3_usize).prop_map(Some), 1 => Just(None)];
    let row = prop::collection::vec(cell, OPERATIONS);
    prop::collection::vec(row, 3).prop_map(|table| Automaton { table })
}

pub fn columns() -> impl Strategy<Value = Columns> {
    prop::collection::vec(prop::collection::vec(0..OPERATIONS, 0..3_usize), 1..4_usize)
}

impl Automaton {
    /// Returns all serial histories of a test, by trying every thread after every operation.
    pub fn serial(&self, columns: &Columns) -> Vec<SerialHistory<u8>> {
        let mut found = Vec::new();
        self.extend(columns, 0, &mut vec![0; columns.len()], &mut Vec::new(), &mut found);
        found
    }

    fn extend(
        &self,
        columns: &Columns,
        state: usize,
        done: &mut Vec<usize>,
        operations: &mut Vec<(Thread, u8)>,
        found: &mut Vec<SerialHistory<u8>>,
    ) {
        if done.iter().zip(columns).all(|(done, column)| *done == column.len()) {
            found.push(SerialHistory { operations: operations.clone(), stuck: None });
        }
        for t in 0..columns.len() {
            let Some(operation) = columns[t].get(done[t]) else { continue };
            match self.table[state][*operation] {
                None => found.push(SerialHistory {
                    operations: operations.clone(),
                    stuck: Some(Thread::from_index(t)),
                }),
                Some((response, next)) => {
                    done[t] += 1;
                    operations.push((Thread::from_index(t), response));
                    self.extend(columns, next, done, operations, found);
                    operations.pop();
                    done[t] -= 1;
                }
            }
        }
    }

    /// Returns a concurrent history, driven by `choices`: threads call, take effect, return; an
    /// operation that is not defined waits. `flaw` changes one response, or makes the history stuck
    /// early.
    pub fn concurrent(
        &self,
        columns: &Columns,
        choices: &[u8],
        flaw: Option<(u8, u8)>,
    ) -> Option<ConcurrentHistory<u8>> {
        #[derive(Clone, Copy)]
        enum At {
            Idle,
            Called,
            Effective(u8),
        }
        let mut at = vec![At::Idle; columns.len()];
        let mut done = vec![0; columns.len()];
        let mut state = 0;
        let mut events = Vec::new();
        for choice in choices.iter().chain(std::iter::repeat(&0)) {
            let can: Vec<usize> = (0..columns.len())
                .filter(|t| match at[*t] {
                    At::Idle => done[*t] < columns[*t].len(),
                    At::Called => self.table[state][columns[*t][done[*t]]].is_some(),
                    At::Effective(_) => true,
                })
                .collect();
            if can.is_empty() {
                break;
            }
            let t = can[usize::from(*choice) % can.len()];
            let thread = Thread::from_index(t);
            at[t] = match at[t] {
                At::Idle => {
                    events.push(Event::Call(thread));
                    At::Called
                }
                At::Called => {
                    let (response, next) = self.table[state][columns[t][done[t]]].unwrap();
                    state = next;
                    At::Effective(response)
                }
                At::Effective(response) => {
                    done[t] += 1;
                    events.push(Event::Return(thread, response));
                    At::Idle
                }
            };
        }
        let mut stuck = at.iter().any(|at| matches!(at, At::Called));
        if let Some((place, kind)) = flaw {
            let place = usize::from(place) % events.len().max(1);
            match (kind % 3, events.get_mut(place)?) {
                (0, _) => {
                    // All operations open after `place` stay open forever.
                    events.truncate(place + 1);
                    stuck = true;
                }
                (_, Event::Return(_, response)) => *response ^= 1,
                (_, Event::Call(_)) => {}
            }
        }
        ConcurrentHistory::new(&shape(columns), events, stuck).ok()
    }
}

impl Specification for Automaton {
    type State = usize;
    type Input = usize;
    type Output = u8;
    type Part = ();

    fn initial(&self) -> usize {
        0
    }

    fn apply(&self, state: &mut usize, input: &usize, output: Option<&u8>) -> bool {
        match self.table[*state][*input] {
            Some((response, next)) if output.is_none_or(|output| *output == response) => {
                *state = next;
                true
            }
            _ => false,
        }
    }

    fn part(&self, _: &usize) {}
}
