//! Declared objects: all judges of them agree, and user errors are reported.

mod agreement;
mod barriers;
mod blocks;
mod choices;
mod comparands;
mod exercised;
mod fusion;
mod lists;
mod marks;
mod nodes;
mod oracle;
mod points;
mod sizes;
mod snapshots;
mod symmetry;
mod threads;
mod user_errors;

use std::num::NonZeroUsize;

use snapshot_verify::enumerate::{Enumeration, enumerate_object};
use snapshot_verify::interpret::{Client, Machine, Sequential, Values};
use snapshot_verify::language::{Algorithm, parse};
use snapshot_verify::object::{Judge, walk_object};
use snapshot_verify::program::{Program, Type};
use snapshot_verify::refine::{Budget, Refinement, RefinementVerdict, Techniques, refine_object};
use test_support::effort::{either, is_night};

/// A stack with no more pushes once it holds two elements.
const STACK_OF_TWO: &str = "object stack:
    state items: list of value
    push(v: value) when len(items) < 2:
        items := prepend(v, items)
    pop: value or none:
        local v: value
        if items = []: return none
        v := first(items)
        items := rest(items)
        return v
";

fn algorithm(text: &str) -> Algorithm {
    parse("test", text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// Parses a program with its linearization points, if any.
fn program(text: &str) -> Program {
    algorithm(text).program_with_points(None).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// A program with its object, for n processes.
struct Case<'p> {
    machine: Machine<'p>,
    /// The machine with linearization points.
    at_points: Machine<'p>,
    sequential: Sequential<'p>,
}

impl<'p> Case<'p> {
    /// Returns the machine that refinement by these means runs.
    fn machine(&self, means: Techniques) -> &Machine<'p> {
        if means.points { &self.at_points } else { &self.machine }
    }

    fn new(program: &'p Program, n: usize) -> Self {
        let object = program.object().expect("the text declares an object");
        Self {
            machine: Machine::new(program, n).unwrap(),
            at_points: Machine::at_points(program, n).unwrap(),
            sequential: Sequential::new(object, n).unwrap(),
        }
    }

    fn refine(&self, client: &Client, partial_order: bool, forgetting: bool) -> Refinement {
        self.refine_by(client, Techniques { partial_order, forgetting, ..Techniques::NONE })
    }

    fn refine_by(&self, client: &Client, means: Techniques) -> Refinement {
        let (states, memory, threads) = (4_000_000, usize::MAX, NonZeroUsize::MIN);
        let mut budget = Budget { states, memory, threads, proceed: &mut |_| true };
        let found = refine_object(&self.machine, &self.sequential, client, means, &mut budget);
        found.unwrap()
    }

    /// Returns true if an execution is not linearizable, or the program has a fault.
    fn is_wrong(&self, client: &Client, partial_order: bool) -> bool {
        let [all, few] = [false, true].map(|forgetting| {
            let found = self.refine(client, partial_order, forgetting);
            let is_wrong = match found.verdict {
                RefinementVerdict::Verified => false,
                RefinementVerdict::Violation(_) | RefinementVerdict::Faulty { .. } => true,
                other => panic!("{other:?}"),
            };
            (is_wrong, found.states)
        });
        assert_eq!(all.0, few.0, "locals that no step reads");
        assert!(all.0 || few.1 <= all.1, "{} states, {} without dead locals", all.1, few.1);
        few.0
    }

    fn enumerate(&self, client: &Client) -> Enumeration {
        enumerate_object(&self.machine, &self.sequential, client, 4_000_000).unwrap()
    }

    /// Returns true if any of some random executions is wrong.
    fn is_wrong_at_random(&self, client: &Client, walks: u64, moves: usize) -> bool {
        let judge = Judge::new(&self.sequential);
        let is_wrong = |seed: &u64| {
            let walk = walk_object(&self.machine, &self.sequential, client, *seed, moves);
            let walk = walk.unwrap();
            let events: Vec<_> = walk.execution.events().collect();
            walk.faulty.is_some() || !judge.judge(&events).unwrap().is_linearizable()
        };
        (0..walks).any(|seed| is_wrong(&seed))
    }
}

/// Two values.
const fn bounded(operations: u32) -> Client {
    Client::bounded(Values::Full(2), operations)
}

/// Two operations each; of two processes, in the quick suite, two and one: with two each, the
/// enumerations of a lock and of a list take ten times as long as the others. For objects with
/// lists, whose algorithms are longer, and for more than two processes, a single value, except
/// at night.
fn enumerable(program: &Program, n: usize) -> Client {
    let object = program.object().expect("the text declares an object");
    let mut state = object.specification.private.iter();
    let has_lists = state.any(|variable| matches!(variable.content, Type::List(_)));
    let values = if (has_lists || n > 2) && !is_night() { 1 } else { 2 };
    let each: &[u32] = if n == 2 { either(&[2, 1], &[]) } else { &[] };
    Client::bounded(Values::Full(values), 2).with_each(each)
}
