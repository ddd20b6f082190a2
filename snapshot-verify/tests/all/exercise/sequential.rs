//! An oracle for objects with the opposite direction, and its own configurations: for each state
//! separately, a forward search for a return, in the algorithm and in the object.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use snapshot_core::Process;
use snapshot_verify::exercise::{Ending, Stuck};
use snapshot_verify::interpret::{
    Action, Call, Data, Fault, Machine, Move, MoveKind, ObjectState, OperationCall, Sequential,
    State,
};
use snapshot_verify::program::Program;

use super::{exercised, program};
use crate::agreement::mutants::mutants;

/// Maximum number of states of a judged mutant.
const STATES: usize = 1_200;

/// A configuration of an object: its state, and per process its open operation.
#[derive(Clone, Debug)]
struct One {
    state: ObjectState,
    open: Vec<Option<Result<Option<Data>, OperationCall>>>,
}

/// Configurations by their text.
type Set = BTreeMap<String, One>;

struct Object<'p> {
    sequential: Sequential<'p>,
    n: usize,
    /// True if it did something undefined.
    is_faulty: Cell<bool>,
}

impl Object<'_> {
    fn first(&self) -> Set {
        let one = One { state: self.sequential.initial(), open: vec![None; self.n] };
        Set::from([(format!("{one:?}"), one)])
    }

    fn unless_faulty<T>(&self, done: Result<T, Fault>) -> Option<T> {
        self.is_faulty.set(self.is_faulty.get() || done.is_err());
        done.ok()
    }

    /// Configurations in which one more open operation has taken effect.
    fn effects(&self, one: &One) -> Vec<One> {
        let mut reached = Vec::new();
        for process in 0..self.n {
            if let Some(Err(call)) = one.open[process] {
                let applied = self.sequential.apply(&one.state, process, call);
                if let Some(Some((state, result))) = self.unless_faulty(applied) {
                    let mut open = one.open.clone();
                    open[process] = Some(Ok(result));
                    reached.push(One { state, open });
                }
            }
        }
        reached
    }

    fn closed(&self, all: impl IntoIterator<Item = One>) -> Set {
        let mut work: Vec<One> = all.into_iter().collect();
        let mut set = Set::new();
        while let Some(one) = work.pop() {
            if set.insert(format!("{one:?}"), one.clone()).is_none() {
                work.extend(self.effects(&one));
            }
        }
        set
    }

    /// Configurations after an event; empty if no configuration explains it.
    fn after(&self, set: &Set, process: usize, action: &Action) -> Set {
        let after = set.values().filter_map(|one| {
            let mut after = one.clone();
            after.open[process] = match (action, &one.open[process]) {
                (Action::Begin { call, .. }, None) => Some(Err(*call)),
                (Action::End { result, .. }, Some(Ok(returns))) if result == returns => None,
                _ => return None,
            };
            Some(after)
        });
        self.closed(after)
    }

    fn calls(&self, set: &Set, process: usize) -> Vec<OperationCall> {
        let may = |call: &OperationCall| {
            set.values().any(|one| {
                let may_begin = self.sequential.may_begin(&one.state, process, *call);
                self.unless_faulty(may_begin) == Some(true)
            })
        };
        self.sequential.calls(process, 1).into_iter().filter(may).collect()
    }

    /// Returns true if in one configuration none of these processes ever returns.
    fn explains(&self, set: &Set, stuck: &[usize]) -> bool {
        set.values().any(|one| {
            let (mut known, mut work) = (BTreeSet::new(), vec![one.clone()]);
            while let Some(one) = work.pop() {
                if stuck.iter().any(|process| matches!(one.open[*process], Some(Ok(_)))) {
                    return false;
                }
                if !known.insert(format!("{one:?}")) {
                    continue;
                }
                work.extend(self.effects(&one));
                for process in 0..self.n {
                    let alone = Set::from([(String::new(), one.clone())]);
                    let next = |open| {
                        let mut next = one.clone();
                        next.open[process] = open;
                        next
                    };
                    match one.open[process] {
                        Some(Err(_)) => {}
                        Some(Ok(_)) => work.push(next(None)),
                        None => {
                            let calls = self.calls(&alone, process).into_iter();
                            work.extend(calls.map(|call| next(Some(Err(call)))));
                        }
                    }
                }
            }
            true
        })
    }
}

/// A state of the algorithm, and the configurations that agree with the events.
struct Place {
    state: State,
    set: Set,
    /// Successors by moves; for a step by an open operation, the process, and whether it returns.
    next: Vec<(usize, Option<(usize, bool)>)>,
}

/// Returns all places; `None` if they are too many, or something is wrong.
fn places(machine: &Machine<'_>, object: &Object<'_>) -> Option<Vec<Place>> {
    let key = |state: &State, set: &Set| {
        let set: Vec<&String> = set.keys().collect();
        format!("{:?} {set:?}", state.key())
    };
    let first = Place { state: machine.initial().clone(), set: object.first(), next: Vec::new() };
    let mut numbers = BTreeMap::from([(key(&first.state, &first.set), 0)]);
    let mut places = vec![first];
    let mut number = 0;
    while number < places.len() {
        for process in 0..object.n {
            let is_idle = places[number].state.is_idle(process);
            let kinds: Vec<MoveKind> = match is_idle {
                true => {
                    let calls = object.calls(&places[number].set, process).into_iter();
                    calls.map(|call| MoveKind::Begin(Call::Operation(call))).collect()
                }
                false => vec![MoveKind::Step],
            };
            for kind in kinds {
                let mut state = places[number].state.clone();
                let made = Move { process: Process::from_index(process), kind };
                let report = machine.make(&mut state, made).ok()?;
                let set = match &report.event {
                    Some(event) => object.after(&places[number].set, process, &event.action),
                    None => places[number].set.clone(),
                };
                if set.is_empty() {
                    return None;
                }
                let returns = report.event.is_some_and(|event| event.action.is_response());
                let next = *numbers.entry(key(&state, &set)).or_insert(places.len());
                if next == places.len() {
                    places.push(Place { state, set, next: Vec::new() });
                }
                places[number].next.push((next, (!is_idle).then_some((process, returns))));
            }
        }
        number += 1;
        if places.len() > STATES {
            return None;
        }
    }
    Some(places)
}

/// Returns the processes that return in some continuation.
fn able(places: &[Place], from: usize) -> BTreeSet<usize> {
    let (mut known, mut work, mut able) = (BTreeSet::from([from]), vec![from], BTreeSet::new());
    while let Some(at) = work.pop() {
        for (next, by) in &places[at].next {
            able.extend(by.filter(|(_, returns)| *returns).map(|(process, _)| process));
            if known.insert(*next) {
                work.push(*next);
            }
        }
    }
    able
}

/// Returns true if an operation returns when only its process makes steps.
fn ends_alone(places: &[Place], from: usize, process: usize) -> bool {
    let (mut known, mut at) = (BTreeSet::from([from]), from);
    loop {
        let mut own = places[at].next.iter().filter_map(|(next, by)| {
            let (mover, returns) = (*by)?;
            (mover == process).then_some((*next, returns))
        });
        let (next, returns) = own.next().expect("an open operation makes a step");
        if returns {
            return true;
        }
        if !known.insert(next) {
            return false;
        }
        at = next;
    }
}

/// Returns the results: hangs, waits for the object, waits for others.
fn judged(program: &Program, name: &str) -> Option<[bool; 3]> {
    let n = 2;
    let machine = Machine::new(program, n).ok()?;
    let sequential = Sequential::new(program.object()?, n).ok()?;
    let object = Object { sequential, n, is_faulty: Cell::new(false) };
    let places = places(&machine, &object)?;
    if object.is_faulty.get() {
        return None;
    }
    let found = exercised(program, n, None, 10_000);
    let (mut hangs, mut waits, mut blocks) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    for (number, place) in places.iter().enumerate() {
        let open: Vec<usize> = (0..n).filter(|process| !place.state.is_idle(*process)).collect();
        let able = able(&places, number);
        let stuck: Vec<usize> =
            open.iter().copied().filter(|process| !able.contains(process)).collect();
        if !stuck.is_empty() && object.explains(&place.set, &stuck) {
            waits.extend(stuck.iter().map(|process| (number, *process)));
        } else {
            hangs.extend(stuck.iter().map(|process| ((number, *process), able.is_empty())));
        }
        let alone = open.iter().filter(|process| !ends_alone(&places, number, **process));
        blocks.extend(alone.map(|process| (number, *process)));
    }
    let place_of = |stuck: &Stuck| {
        let mut number = 0;
        for made in &stuck.moves {
            let mut state = places[number].state.clone();
            let report = machine.make(&mut state, *made).unwrap();
            let set = match &report.event {
                Some(event) => {
                    object.after(&places[number].set, made.process.index(), &event.action)
                }
                None => places[number].set.clone(),
            };
            let is_it =
                |place: &Place| place.state.key() == state.key() && place.set.keys().eq(set.keys());
            number = places.iter().position(is_it).unwrap();
        }
        (number, stuck.process.index())
    };
    match &found.ending {
        Ending::Possible => assert!(hangs.is_empty(), "{name}: {hangs:?}"),
        Ending::Open => panic!("{name}"),
        Ending::Impossible(stuck) => {
            let is_deadlock = hangs.get(&place_of(stuck));
            assert_eq!(is_deadlock, Some(&stuck.is_deadlock), "{name}");
            assert_eq!(stuck.is_deadlock, hangs.values().any(|one| *one), "{name}");
        }
    }
    match &found.alone {
        Ending::Possible => assert!(blocks.is_empty(), "{name}"),
        Ending::Open => panic!("{name}"),
        Ending::Impossible(stuck) => assert!(blocks.contains(&place_of(stuck)), "{name}"),
    }
    match &found.waiting {
        None => assert!(waits.is_empty() || !hangs.is_empty(), "{name}"),
        Some(stuck) => assert!(waits.contains(&place_of(stuck)), "{name}"),
    }
    Some([!hangs.is_empty(), !waits.is_empty(), !blocks.is_empty()])
}

const SEMAPHORE: &str = "algorithm semaphore
object semaphore:
    state left: 0..1 := 1
    down await left > 0:
        left := left - 1
    up await left < 1:
        left := left + 1
shared free: cas bool := true
down:
    local ok: bool
    repeat
        t := free
        if t: ok := CAS(free, true, false)
        else: ok := false
    until ok
up:
    local ok: bool
    repeat
        ok := CAS(free, false, true)
    until ok
";

const HANDOVER: &str = "algorithm handover
object handover:
    state full: bool
    put by process 0 await not full:
        full := true
    take by others await full:
        full := false
shared turn: bool
put:
    repeat
        t := turn
    until not t
    turn := true
take:
    repeat
        t := turn
    until t
    turn := false
";

/// Mutants of small objects, among them many that hang where the object does not.
#[test]
fn a_forward_search_agrees_on_mutants_of_objects() {
    let lock = corpus::algorithm("tas_lock").unwrap().text;
    let (mut all, mut counts) = (0, [0; 3]);
    for (name, text) in [("tas_lock", lock), ("semaphore", SEMAPHORE), ("handover", HANDOVER)] {
        assert!(judged(&program(text), name).is_some(), "{name} itself");
        for mutant in mutants(name, text) {
            if let Some(found) = judged(&mutant.program, &mutant.name) {
                all += 1;
                counts.iter_mut().zip(found).for_each(|(count, is)| *count += usize::from(is));
            }
        }
    }
    println!("{all} mutants; {counts:?} hang, wait for the object, wait for others");
    assert!(all >= 25 && counts.iter().all(|count| *count >= 5), "{all} {counts:?}");
}
