//! The backward search against a forward search of all states with a few processes.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;

use snapshot_core::Process;
use snapshot_language::program::Program;
use snapshot_language::program::linearization::at_points;
use snapshot_semantics::certificate::Budget;
use snapshot_semantics::coverability::{
    Global, Local, LocalId, Pairs, Standing, System, Upward, Watched, backward,
};
use snapshot_semantics::interpret::{
    Action, Call, Client, Data, Machine, ObjectState, OperationCall, Sequential, State, Values,
};
use snapshot_semantics::refine::{self, RefinementVerdict, Techniques, refine_object};
use test_support::effort::either;

use super::{VALUES, found, programs};

/// A watched operation: its process, and the results that were right since it began.
type Watch = (usize, OperationCall, BTreeSet<Option<Data>>);

/// A state of n processes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Whole {
    state: State,
    object: ObjectState,
    standings: Vec<Standing>,
    watch: Option<Watch>,
}

/// All states with n processes, with the states after each, and whether a step is an error.
struct Forward<'p> {
    machine: Machine<'p>,
    sequential: Sequential<'p>,
    at_points: Box<[bool]>,
    numbers: HashMap<Whole, usize>,
    all: Vec<Whole>,
    after: Vec<Vec<usize>>,
    is_error: Vec<bool>,
}

impl<'p> Forward<'p> {
    fn new(program: &'p Program, n: usize) -> Self {
        let machine = Machine::at_points(program, n).unwrap();
        let sequential = Sequential::new(program.object().unwrap(), n).unwrap();
        let first = Whole {
            state: machine.initial().clone(),
            object: sequential.initial(),
            standings: vec![Standing::Idle; n],
            watch: None,
        };
        let mut forward = Self {
            at_points: at_points(program),
            numbers: HashMap::from([(first.clone(), 0)]),
            all: vec![first],
            after: Vec::new(),
            is_error: Vec::new(),
            machine,
            sequential,
        };
        while forward.after.len() < forward.all.len() {
            let (steps, is_error) = forward.steps(forward.all[forward.after.len()].clone());
            let steps = steps.into_iter().map(|step| {
                let next = forward.all.len();
                *forward.numbers.entry(step.clone()).or_insert_with(|| {
                    forward.all.push(step);
                    next
                })
            });
            let steps = steps.collect();
            forward.after.push(steps);
            forward.is_error.push(is_error);
        }
        forward
    }

    fn result(
        &self,
        object: &ObjectState,
        process: usize,
        call: OperationCall,
    ) -> Option<Option<Data>> {
        self.sequential.apply(object, process, call).unwrap().map(|(_, result)| result)
    }

    fn steps(&self, before: Whole) -> (Vec<Whole>, bool) {
        let (mut steps, mut is_error) = (Vec::new(), false);
        for process in 0..before.standings.len() {
            let one = Process::from_index(process);
            let is_watched = before.watch.as_ref().is_some_and(|(watched, ..)| *watched == process);
            if before.standings[process] == Standing::Idle {
                for call in self.sequential.calls(process, VALUES) {
                    if !self.sequential.may_begin(&before.object, process, call).unwrap() {
                        continue;
                    }
                    let mut next = before.clone();
                    if self
                        .machine
                        .begin_in_parts(&mut next.state, one, Call::Operation(call), None)
                        .is_err()
                    {
                        is_error = true;
                        continue;
                    }
                    let has_points = self.at_points[call.operation.0 as usize];
                    next.standings[process] =
                        if has_points { Standing::Begun(call) } else { Standing::Free };
                    if !has_points && before.watch.is_none() {
                        let right =
                            self.result(&before.object, process, call).into_iter().collect();
                        steps.push(Whole { watch: Some((process, call, right)), ..next.clone() });
                    }
                    steps.push(next);
                }
                continue;
            }
            for outcome in 0..self.machine.outcomes(&before.state, one) {
                let mut next = before.clone();
                let Ok(advance) =
                    self.machine.advance_in_parts(&mut next.state, one, outcome, None)
                else {
                    is_error = true;
                    continue;
                };
                if let Some(Action::End { result, .. }) = &advance.action {
                    match &before.standings[process] {
                        Standing::Free if is_watched => {
                            is_error |= !before.watch.as_ref().unwrap().2.contains(result);
                            continue;
                        }
                        Standing::Done(right) if right != result => {
                            is_error = true;
                            continue;
                        }
                        Standing::Begun(_) => {
                            is_error = true;
                            continue;
                        }
                        _ => next.standings[process] = Standing::Idle,
                    }
                }
                for _ in 0..advance.points {
                    let Standing::Begun(call) = next.standings[process] else {
                        next.standings[process] = Standing::Idle;
                        is_error = true;
                        break;
                    };
                    let Some((object, result)) =
                        self.sequential.apply(&before.object, process, call).unwrap()
                    else {
                        next.standings[process] = Standing::Idle;
                        is_error = true;
                        break;
                    };
                    next.object = object;
                    next.standings[process] = Standing::Done(result);
                    if let Some((watched, call, right)) = &mut next.watch {
                        let now = self.sequential.apply(&next.object, *watched, *call).unwrap();
                        right.extend(now.map(|(_, result)| result));
                    }
                }
                let is_broken =
                    advance.action.is_none() && next.standings[process] == Standing::Idle;
                if !is_broken {
                    steps.push(next);
                }
            }
        }
        (steps, is_error)
    }

    /// Returns, per state, whether an error can be reached.
    fn leads_to_error(&self) -> Vec<bool> {
        let mut leads = self.is_error.clone();
        loop {
            let mut has_grown = false;
            for state in (0..leads.len()).rev() {
                if !leads[state] && self.after[state].iter().any(|next| leads[*next]) {
                    leads[state] = true;
                    has_grown = true;
                }
            }
            if !has_grown {
                return leads;
            }
        }
    }
}

/// Returns whether the upward-closed set has a state.
fn is_covered(system: &System<'_>, upward: &Upward, whole: &Whole) -> bool {
    let watched = whole.watch.as_ref().map(|(process, call, right)| Watched {
        part: whole.state.process_part(*process),
        call: *call,
        right: right.clone(),
    });
    let global =
        Global { shared: whole.state.shared_part(), object: whole.object.clone(), watched };
    let global = system.find_global(&global).expect("pairs have every reachable state");
    let is_in_crowd =
        |process: &usize| whole.watch.as_ref().is_none_or(|(watched, ..)| watched != process);
    let local = |process: usize| {
        let (part, standing) =
            (whole.state.process_part(process), whole.standings[process].clone());
        system.find_local(&Local { part, standing }).expect("pairs have every reachable state")
    };
    let mut crowd: Vec<LocalId> =
        (0..whole.standings.len()).filter(is_in_crowd).map(local).collect();
    crowd.sort_unstable();
    upward.contains(global, &crowd)
}

/// The upward-closed set holds exactly the reachable states from which an error can be reached.
#[test]
fn the_set_is_exact_on_all_states_of_a_few_processes() {
    let (mut leading, mut others) = (0, 0);
    for (name, program) in programs() {
        let mut budget = Budget { memory: 1 << 30, proceed: &mut || true };
        let mut system = System::new(&program, VALUES).unwrap();
        let pairs = Pairs::new(&mut system, &mut budget).unwrap();
        let upward = backward(&pairs, &mut budget).unwrap();
        for n in 1..=either(2, 4) {
            let forward = Forward::new(&program, n);
            let leads = forward.leads_to_error();
            for (whole, leads) in forward.all.iter().zip(&leads) {
                assert_eq!(
                    is_covered(&system, &upward, whole),
                    *leads,
                    "{name}, n = {n}: {whole:?}"
                );
                *if *leads { &mut leading } else { &mut others } += 1;
            }
        }
    }
    assert!(leading > 1000 && others > 1000, "{leading} lead to an error, {others} do not");
}

/// Refinement with the same points answers alike for each n; answers that are known.
#[test]
fn refinement_agrees_for_each_small_n() {
    let (mut right, mut wrong) = (0, 0);
    let mut least = HashMap::new();
    for (name, program) in programs() {
        let answer = found(&program).unwrap().wrong;
        least.insert(name.clone(), answer);
        for n in 1..=either(3, 4) {
            let machine = Machine::at_points(&program, n).unwrap();
            let sequential = Sequential::new(program.object().unwrap(), n).unwrap();
            let client = Client::unbounded(Values::Full(VALUES));
            let means = Techniques { points: true, ..Techniques::ALL };
            let mut budget = refine::Budget {
                states: 1 << 22,
                memory: 1 << 30,
                threads: NonZeroUsize::MIN,
                proceed: &mut |_| true,
            };
            let refined = refine_object(&machine, &sequential, &client, means, &mut budget);
            let is_right = refined.unwrap().verdict == RefinementVerdict::Verified;
            let expected = answer.is_none_or(|least| n < least);
            // Refinement lets an operation take effect at any of the points that it passes.
            let is_stricter = name == "two points";
            assert!(is_right == expected || is_stricter && is_right, "{name}, n = {n}: {answer:?}");
            *if is_right { &mut right } else { &mut wrong } += 1;
        }
    }
    assert!(right >= 15 && wrong >= 10, "{right} right, {wrong} wrong");
    for (name, expected) in [
        ("packed_stack None", None),
        ("packed_stack Some(\"lost_push\")", Some(2)),
        ("test_and_set_lock None", None),
        ("test_and_set_lock Some(\"test_then_set\")", Some(2)),
        ("wrapping_counter None", None),
        ("wrapping_counter Some(\"lost_update\")", Some(2)),
        ("a lost update", Some(2)),
        ("a late point", Some(2)),
        ("an atomic step", None),
        ("a lock", None),
        ("two points", Some(1)),
        ("a point on one path", Some(1)),
        ("a fault", Some(2)),
    ] {
        assert_eq!(least[name], expected, "{name}");
    }
}
