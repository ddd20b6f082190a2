//! *Write* strong linearizability: an oracle that tries all functions from executions to orders of
//! their updates, and known answers. After **each** move any open updates may be appended; reads are
//! placed anew among them each time. It shares only the interpreter with the game.

use std::collections::HashMap;

use snapshot_semantics::interpret::{Call, MoveKind, State};

use super::contents::{Answer, Contents};
use super::oracle::moves;
use super::*;

/// An operation, with the times of its invocation and of its response.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Interval {
    process: usize,
    call: Call,
    begin: usize,
    end: Option<(usize, Answer)>,
}

impl Interval {
    /// Returns true if an operation ended before another began.
    fn precedes(&self, other: &Self) -> bool {
        self.end.as_ref().is_some_and(|(end, _)| *end < other.begin)
    }
}

type Key = (usize, Vec<u8>, Vec<Interval>, Vec<usize>);

struct Oracle<'a> {
    machine: &'a Machine<'a>,
    object: Option<&'a Sequential<'a>>,
    client: Client,
    known: HashMap<Key, bool>,
    is_cut: bool,
}

impl Oracle<'_> {
    fn is_update(&self, one: &Interval) -> bool {
        match one.call {
            Call::Update(_) => true,
            Call::Scan => false,
            Call::Operation(call) => {
                // The objects of these tests have reads with this name.
                self.object.unwrap().object().name_of(call.operation) != "read"
            }
        }
    }

    fn apply(&self, contents: &Contents, one: &Interval) -> Option<(Contents, Answer)> {
        contents.apply(self.object, one.process, one.call)
    }

    /// Returns true if the history has a linearization with exactly these updates, in this order.
    fn is_order(&self, all: &[Interval], order: &[usize]) -> bool {
        let mut contents = vec![Contents::first(self.machine, self.object)];
        for (at, one) in order.iter().enumerate() {
            if order[at + 1..].iter().any(|later| all[*later].precedes(&all[*one])) {
                return false;
            }
            let Some((after, answer)) = self.apply(contents.last().unwrap(), &all[*one]) else {
                return false;
            };
            if all[*one].end.as_ref().is_some_and(|(_, returned)| *returned != answer) {
                return false;
            }
            contents.push(after);
        }
        let ended = (0..all.len()).filter(|one| all[*one].end.is_some());
        let (updates, reads): (Vec<usize>, Vec<usize>) =
            ended.partition(|one| self.is_update(&all[*one]));
        updates.iter().all(|one| order.contains(one))
            && self.has_places(all, order, &contents, &reads, &mut Vec::new())
    }

    /// Returns true if the other reads have places, the first ones being placed behind so many
    /// updates.
    fn has_places(
        &self,
        all: &[Interval],
        order: &[usize],
        contents: &[Contents],
        reads: &[usize],
        placed: &mut Vec<usize>,
    ) -> bool {
        let Some(read) = reads.get(placed.len()).map(|read| &all[*read]) else { return true };
        for (place, held) in contents.iter().enumerate() {
            let Some((_, answer)) = self.apply(held, read) else { continue };
            let returned = read.end.as_ref().map(|(_, returned)| returned);
            let is_between = order[..place].iter().all(|before| !read.precedes(&all[*before]))
                && order[place..].iter().all(|behind| !all[*behind].precedes(read));
            let is_sorted = placed.iter().zip(reads).all(|(other, one)| {
                let one = &all[*one];
                (!one.precedes(read) || *other <= place) && (!read.precedes(one) || place <= *other)
            });
            if returned != Some(&answer) || !is_between || !is_sorted {
                continue;
            }
            placed.push(place);
            let has = self.has_places(all, order, contents, reads, placed);
            placed.pop();
            if has {
                return true;
            }
        }
        false
    }

    /// Returns all orders after appending any open updates.
    fn appended(&self, all: &[Interval], order: &[usize]) -> Vec<Vec<usize>> {
        let mut orders = vec![order.to_vec()];
        let mut next = 0;
        while next < orders.len() {
            let one = orders[next].clone();
            let free = (0..all.len())
                .filter(|update| self.is_update(&all[*update]) && !one.contains(update));
            for update in free {
                orders.push(one.iter().copied().chain([update]).collect());
            }
            next += 1;
        }
        orders
    }

    fn exists(
        &mut self,
        (left, time): (usize, usize),
        state: &State,
        all: &[Interval],
        order: &[usize],
    ) -> bool {
        let key = (left, self.machine.key(state), all.to_vec(), order.to_vec());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let n = self.machine.processes();
        let count = |process| all.iter().filter(|one| one.process == process).count() as u32;
        let begun: Vec<u32> = (0..n).map(count).collect();
        let moves = moves(self.machine, self.object, &self.client, state, &begun);
        if left == 0 && !moves.is_empty() {
            self.is_cut = true;
            return true;
        }
        let exists = moves.into_iter().all(|made| {
            let mut after = state.clone();
            let report = self.machine.make(&mut after, made).unwrap();
            let mut all = all.to_vec();
            let process = made.process.index();
            // Times count events, so executions with the same history meet.
            let mut now = time;
            if let MoveKind::Begin(call) = made.kind {
                all.push(Interval { process, call, begin: now, end: None });
                now += 1;
            }
            let answer = report.event.and_then(|event| Answer::new(event.action));
            if let Some(answer) = answer {
                let own = all.iter_mut().rfind(|one| one.process == process).unwrap();
                own.end = Some((now, answer));
                now += 1;
            }
            let mut orders = self.appended(&all, order);
            orders.retain(|order| self.is_order(&all, order));
            orders.iter().any(|order| self.exists((left - 1, now), &after, &all, order))
        });
        self.known.insert(key, exists);
        exists
    }
}

/// Answers by trying all functions on executions of at most this many moves; `None`: a function
/// exists for these, but there are longer executions.
fn tried(program: &Program, n: usize, client: &Client, moves: usize) -> Option<bool> {
    let machine = Machine::new(program, n).unwrap();
    let object = program.object().map(|object| Sequential::new(object, n).unwrap());
    let mut oracle = Oracle {
        machine: &machine,
        object: object.as_ref(),
        client: *client,
        known: HashMap::new(),
        is_cut: false,
    };
    let exists = oracle.exists((moves, 0), machine.initial(), &[], &[]);
    (!exists || !oracle.is_cut).then_some(exists)
}

fn word(verdict: &StrongVerdict) -> &'static str {
    match verdict {
        StrongVerdict::Strong => "yes",
        StrongVerdict::NotStrong(_) => "no",
        StrongVerdict::Unknown => "unknown",
        StrongVerdict::Faulty { .. } => "faulty",
    }
}

#[test]
fn oracle_agrees_on_random_programs() {
    let mut counts = [0, 0, 0, 0];
    for seed in 0..60 {
        let text = corpus::program::text(seed);
        let program = program(&text);
        let client = bounded(Some(1));
        let (found, _) = answered(&program, 2, &client, Strength::Writes);
        let found = word(&found.verdict);
        if found == "faulty" || found == "unknown" {
            continue;
        }
        let (all, _) = answered(&program, 2, &client, Strength::All);
        match tried(&program, 2, &client, 12) {
            Some(exists) => {
                assert_eq!(found, if exists { "yes" } else { "no" }, "{text}");
                counts[usize::from(!exists)] += 1;
            }
            None => counts[2] += 1,
        }
        if word(&all.verdict) == "yes" {
            assert_eq!(found, "yes", "orders of all operations have orders of updates: {text}");
            counts[3] += 1;
        }
    }
    println!("{counts:?}: a function, none, open; strongly linearizable");
    assert!(counts[0] >= 5 && counts[1] >= 5 && counts[3] >= 5, "{counts:?}");
}

#[test]
fn oracle_agrees_on_known_programs() {
    for (name, n, operations) in [("cas_counter", 2, 1), ("atomic_register", 2, 1)] {
        let program = program(text(name));
        let client = bounded(Some(operations));
        let (found, _) = answered(&program, n, &client, Strength::Writes);
        assert_eq!(word(&found.verdict), "yes", "{name}");
        assert_eq!(tried(&program, n, &client, 40), Some(true), "{name}");
    }
}

/// Bodies of writes, of few accesses.
const WRITES: [&str; 4] = [
    "    X := v\n",
    "    x := X\n    CAS(X, x, v)\n",
    "    Y := v\n    X := v\n",
    "    X := v\n    Y := v\n",
];

/// Bodies of reads.
const READS: [&str; 3] = [
    "    x := X\n    return x\n",
    "    x := Y\n    return x\n",
    "    x := X\n    y := Y\n    return if x = y then x else y\n",
];

/// With two operations of a process, a read can have places before, between and behind two writes:
/// the player's sets have several members, and each counts. Two operations of both take long:
/// `SNAPSHOT_EFFORT=slow`.
#[test]
fn oracle_agrees_on_registers_with_two_operations() {
    let mut counts = [0, 0];
    let scopes: &[[u32; 2]] =
        if test_support::effort::is_slow() { &[[1, 2], [2, 2]] } else { &[[1, 2]] };
    for (number, (write, read)) in
        WRITES.iter().flat_map(|write| READS.map(|read| (*write, read))).enumerate()
    {
        let program = program(&format!(
            "algorithm register_{number}
object register:
    state held: value
    write(v: value): held := v
    read: value: return held
shared X: cas value
shared Y: cas value
write(v):
{write}read:
{read}"
        ));
        for each in scopes {
            let client = Client::unbounded(Values::Full(2)).with_each(each);
            let (found, _) = answered(&program, 2, &client, Strength::Writes);
            let exists = tried(&program, 2, &client, 24).expect("executions are short");
            let expected = if exists { "yes" } else { "no" };
            assert_eq!(word(&found.verdict), expected, "{write}{read}{each:?}");
            counts[usize::from(!exists)] += 1;
        }
    }
    println!("{counts:?}: a function, none");
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn answers_for_writes_are_as_known() {
    // One writer: the order of the writes is fixed (Hadzilacos, Hu and Toueg). In objects without
    // reads, both properties are the same.
    for (name, n, operations) in [
        ("bowman", 2, 2),
        ("bowman", 3, 1),
        ("double_collect", 3, 1),
        ("afek_unbounded", 2, 2),
        ("atomic_register", 2, 2),
        ("atomic_register", 3, 1),
        ("cas_counter", 2, 2),
    ] {
        let program = program(text(name));
        let (found, _) = answered(&program, n, &bounded(Some(operations)), Strength::Writes);
        println!("{name} n = {n} {operations}: {} positions", found.positions);
        assert_eq!(word(&found.verdict), "yes", "{name} n = {n} {operations}");
    }
    let program = program(text("tagged_queue"));
    let client = bounded(Some(1));
    let (all, _) = answered(&program, 2, &client, Strength::All);
    let (writes, _) = answered(&program, 2, &client, Strength::Writes);
    assert_eq!((all.verdict, all.positions), (writes.verdict, writes.positions));
}

/// A write whose compare-and-swap fails takes effect before the one that made it fail: so the order
/// of two writes is open until both have returned.
#[test]
fn an_order_of_writes_that_the_future_decides_is_refuted() {
    let program = program(
        "algorithm rw_cas
object register:
    state held: value
    write(v: value): held := v
    read: value: return held
shared X: cas value
write(v):
    x := X
    CAS(X, x, v)
read:
    x := X
    return x
",
    );
    let client = |values| Client { operations: Some(2), ..Client::unbounded(Values::Full(values)) };
    let (two, _) = answered(&program, 2, &client(2), Strength::Writes);
    assert_eq!(two.verdict, StrongVerdict::Strong);
    let (three, confirmed) = answered(&program, 2, &client(3), Strength::Writes);
    let StrongVerdict::NotStrong(case) = &three.verdict else { panic!("{:?}", three.verdict) };
    println!("{} positions, {} leaves, {confirmed:?}", three.positions, case.leaves());
    assert!(case.leaves() >= 2 && confirmed.unwrap().searched >= 2);
    // Without one of its branches the tree is no argument.
    let machine = Machine::new(&program, 2).unwrap();
    let object = Sequential::new(program.object().unwrap(), 2).unwrap();
    let mut fewer = case.clone();
    fewer.branches.pop();
    assert!(confirm(&machine, Some(&object), Strength::Writes, &fewer).is_err());
}
