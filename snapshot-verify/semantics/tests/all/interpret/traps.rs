//! Small algorithms, right and wrong: the methods agree on all of them.

use std::num::NonZeroUsize;

use snapshot_core::Process;
use snapshot_language::program::Program;
use snapshot_semantics::counterexample::Counterexample;
use snapshot_semantics::enumerate::{EnumerationError, enumerate};
use snapshot_semantics::interpret::{Client, ClientError, Machine, Roles, Values};
use snapshot_semantics::refine::{
    Budget, Refinement, RefinementVerdict, Techniques, Unfinished, refine,
};
use test_support::effort::is_slow;

use crate::interpret::bowman::bowman;
use crate::interpret::texts::{PLAIN, program, refined_with};

/// One collect.
const NAIVE_COLLECT: &str = "algorithm naive_collect
shared a[segment]: value
update(v):
    a[me] := v
scan:
    local copy[segment]: value
    for s in segments: copy[s] := a[s]
    return copy
";

/// Collects until two collects return equal values.
const DOUBLE_COLLECT: &str = "algorithm double_collect
shared a[segment]: value
update(v):
    a[me] := v
scan:
    local one[segment]: value
    local two[segment]: value
    loop:
        for s in segments: one[s] := a[s]
        for s in segments: two[s] := a[s]
        if all s in segments: one[s] = two[s]: return two
";

/// Collects until two collects return equal versions.
const VERSIONED: &str = "algorithm versioned
type cell = record (val: value, seq: version)
shared a[segment]: cell
update(v):
    a[me] := (v, fresh)
scan:
    local one[segment]: cell
    local two[segment]: cell
    loop:
        for s in segments: one[s] := a[s]
        for s in segments: two[s] := a[s]
        if all s in segments: one[s].seq = two[s].seq: return [two[s].val for s in segments]
";

/// All segments in one cell, copied, changed and written back.
const COPIED: &str = "algorithm copied
shared all_of_it: view
update(v):
    w := all_of_it
    w[me] := v
    all_of_it := w
scan:
    w := all_of_it
    return w
";

/// Like `COPIED`, in one step.
const ATOMIC: &str = "algorithm one_step
shared all_of_it: view
update(v):
    atomic: w := all_of_it; w[me] := v; all_of_it := w
scan:
    w := all_of_it
    return w
";

/// Like `COPIED`, with LL and SC.
const LINKED: &str = "algorithm linked
shared all_of_it: llsc view
update(v):
    repeat
        w := LL(all_of_it)
        w[me] := v
        done := SC(all_of_it, w)
    until done
scan:
    w := all_of_it
    return w
";

/// Like `LINKED`, but ignores the success of SC.
const UNTESTED: &str = "algorithm untested
shared all_of_it: llsc view
update(v):
    w := LL(all_of_it)
    w[me] := v
    SC(all_of_it, w)
scan:
    w := all_of_it
    return w
";

/// A scan that announces itself in a cell that updates reset by CAS.
const SWAPPED: &str = "algorithm swapped
shared turn: cas 0..1
shared a[segment]: value
update(v):
    a[me] := v
    CAS(turn, 1, 0)
scan:
    local copy[segment]: value
    repeat
        turn := 1
        for s in segments: copy[s] := a[s]
    until turn = 1
    return copy
";

/// Counts its updates, but the scan compares only the count of segment 0.
const COUNTED: &str = "algorithm counted
type cell = record (val: value, seq: counter)
shared a[segment]: cell
private mine: counter
update(v):
    mine := mine + 1
    a[me] := (v, mine)
scan:
    local copy[segment]: value
    loop:
        x := a[segment(0)]
        for s in segments:
            y := a[s]
            copy[s] := y.val
        z := a[segment(0)]
        if x.seq = z.seq: return copy
";

fn simple(i: usize, j: usize) -> Values {
    Values::Simple(Process::from_index(i), Process::from_index(j))
}

fn refined(machine: &Machine<'_>, client: &Client) -> Refinement {
    refined_with(machine, client, PLAIN, 3_000_000)
}

/// Returns the length of a shortest violation, by both methods.
fn agreed(machine: &Machine<'_>, client: &Client) -> Option<usize> {
    let name = &machine.program().name;
    let enumeration = enumerate(machine, client, 3_000_000).unwrap();
    let enumerated = enumeration.first.map(|moves| moves.len());
    assert_eq!(enumeration.violations > 0, enumerated.is_some());
    assert_eq!(enumeration.faulty, None);
    let refined = match refined(machine, client).verdict {
        RefinementVerdict::Verified => None,
        RefinementVerdict::Violation(moves) => {
            let validated = Counterexample::validated(machine, None, &moves).unwrap();
            assert_eq!(validated.moves(), moves);
            Some(moves.len())
        }
        verdict => panic!("{name}: {verdict:?}"),
    };
    assert_eq!(refined, enumerated, "{name}, {client:?}");
    let reduced = refined_with(machine, client, Techniques::default(), 3_000_000);
    match (reduced.verdict, refined) {
        (RefinementVerdict::Verified, None) => {}
        // Steps put first may lengthen it.
        (RefinementVerdict::Violation(moves), Some(shortest)) => {
            assert!(moves.len() >= shortest, "{name}")
        }
        (verdict, _) => panic!("{name}, partial order: {verdict:?}"),
    }
    refined
}

/// Checks the lengths of shortest violations, with 2 processes and 2 operations each, and with 3
/// processes and 1.
fn check(program: &Program, expected: [Option<usize>; 2]) {
    for ((n, operations), expected) in [(2, 2), (3, 1)].into_iter().zip(expected) {
        let machine = Machine::new(program, n).unwrap();
        let found = |values| agreed(&machine, &Client::bounded(values, operations));
        let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
        let simple = pairs.filter_map(|(i, j)| found(simple(i, j))).min();
        // Theorem 5 and its basis: either all simple, two-valued and differentiated executions are
        // linearizable, or each kind has a violation.
        let name = &program.name;
        assert_eq!(simple, expected, "{name}, n = {n}, simple");
        assert_eq!(found(Values::Full(2)), expected, "{name}, n = {n}, two values");
        assert_eq!(found(Values::Distinct), expected, "{name}, n = {n}, distinct values");
    }
}

#[test]
fn the_methods_agree_on_right_algorithms() {
    for text in [VERSIONED, ATOMIC, LINKED] {
        check(&program(text), [None, None]);
    }
    // Its executions are the most numerous; in the quick suite, only `methods` runs it.
    if is_slow() {
        check(&bowman(false), [None, None]);
    }
}

#[test]
fn the_methods_agree_on_wrong_algorithms() {
    // A process's own segment does not change during its scan, so naive collects need three
    // processes for a violation.
    check(&program(NAIVE_COLLECT), [None, Some(10)]);
    check(&program(COPIED), [Some(10), Some(10)]);
    check(&program(UNTESTED), [Some(10), Some(10)]);
    check(&program(SWAPPED), [None, None]);
    check(&program(COUNTED), [None, Some(12)]);
}

#[test]
fn state_counts_agree_with_counts_by_hand() {
    // One process: idle, and two states in each of update and scan; again for each number of
    // operations begun, if that is bounded.
    let program = program(ATOMIC);
    let machine = Machine::new(&program, 1).unwrap();
    let states = |client| refined(&machine, &client).states;
    assert_eq!(states(Client::unbounded(Values::Full(1))), 5);
    assert_eq!(states(Client::bounded(Values::Full(1), 2)), 11);
    assert_eq!(states(Client::bounded(Values::Full(1), 3)), 16);
    // Each operation begins, then ends: 1 + (2 + 2) + 2 x (2 + 2) histories, and one state more per
    // open one.
    let all = enumerate(&machine, &Client::bounded(Values::Full(1), 2), 1000).unwrap();
    assert_eq!((all.histories, all.states, all.violations), (13, 19, 0));
}

#[test]
fn double_collect_is_wrong_only_in_full_executions() {
    let program = program(DOUBLE_COLLECT);
    let machine = Machine::new(&program, 3).unwrap();
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        let found = refined(&machine, &Client::unbounded(simple(i, j)));
        assert_eq!(found.verdict, RefinementVerdict::Verified);
    }
    let scanner = Roles::Scanner(Process::from_index(2));
    let client = Client::unbounded(Values::Full(2)).with_roles(scanner);
    let RefinementVerdict::Violation(moves) = refined(&machine, &client).verdict else {
        panic!("a segment may change and change back")
    };
    assert_eq!(moves.len(), 25);
    let told = Counterexample::validated(&machine, None, &moves).unwrap();
    assert_eq!(told.history().operations().len(), 7);
}

#[test]
fn versions_need_no_bound() {
    let program = program(VERSIONED);
    let machine = Machine::new(&program, 2).unwrap();
    for values in [simple(0, 1), Values::Full(2)] {
        let found = refined(&machine, &Client::unbounded(values));
        assert_eq!(found.verdict, RefinementVerdict::Verified);
    }
}

#[test]
fn budgets_end_in_unknown_and_bad_clients_are_refused() {
    let program = program(NAIVE_COLLECT);
    let machine = Machine::new(&program, 3).unwrap();
    let client = Client::unbounded(simple(0, 1));
    let found = refined_with(&machine, &client, PLAIN, 1000);
    assert_eq!(
        (found.verdict, found.states),
        (RefinementVerdict::Unknown(Unfinished::States), 1000)
    );
    let program = self::program(VERSIONED);
    let versioned = Machine::new(&program, 3).unwrap();
    let mut asked = Vec::new();
    let mut proceed = |progress: &_| {
        asked.push(*progress);
        asked.len() < 3
    };
    let (states, memory, threads) = (usize::MAX, usize::MAX, NonZeroUsize::MIN);
    let mut budget = Budget { states, memory, threads, proceed: &mut proceed };
    let found = refine(&versioned, &client, PLAIN, &mut budget).unwrap();
    assert_eq!(found.verdict, RefinementVerdict::Unknown(Unfinished::Ended));
    assert!(asked[0].states < asked[1].states && asked[1].depth <= asked[2].depth);
    assert!(asked[2].frontier < asked[2].states && asked[2].bytes > 0);
    for memory in [1 << 10, 1 << 20, 1 << 22] {
        let mut budget = Budget { states, memory, threads, proceed: &mut |_| true };
        let found = refine(&versioned, &client, PLAIN, &mut budget).unwrap();
        assert_eq!(found.verdict, RefinementVerdict::Unknown(Unfinished::Memory));
        assert!(found.states > 0 || memory < 1 << 20);
    }

    let mut budget = Budget { states: 1000, memory, threads, proceed: &mut |_| true };
    let mut refused = |client| refine(&machine, &client, PLAIN, &mut budget).unwrap_err();
    let (i, j) = (Process::from_index(1), Process::from_index(3));
    assert_eq!(refused(Client::unbounded(simple(1, 3))), ClientError::Pair { i, j, processes: 3 });
    assert_eq!(
        refused(Client::unbounded(simple(1, 1))),
        ClientError::Pair { i, j: i, processes: 3 }
    );
    assert_eq!(refused(Client::unbounded(Values::Full(0))), ClientError::NoValue);
    assert_eq!(refused(Client::unbounded(Values::Distinct)), ClientError::Unbounded);
    let missing = client.with_roles(Roles::Scanner(j));
    assert_eq!(refused(missing), ClientError::NoProcess { process: j, processes: 3 });
    assert_eq!(enumerate(&machine, &client, 1000), Err(EnumerationError::Unbounded));
    let client = Client::bounded(simple(0, 1), 2);
    assert_eq!(enumerate(&machine, &client, 100), Err(EnumerationError::TooMany { limit: 100 }));
}

#[test]
fn faults_are_found_with_their_moves() {
    let text = "algorithm faulty\nshared c: 0..2\nupdate(v):\n    x := c\n    c := x + 1\n\
                scan:\n    loop: x := c\n    return [initial for s in segments]\n";
    let program = program(text);
    let machine = Machine::new(&program, 2).unwrap();
    let client = Client::bounded(simple(0, 1), 2);
    let RefinementVerdict::Faulty { moves, fault } = refined(&machine, &client).verdict else {
        panic!("c overflows at the third update")
    };
    assert_eq!(moves.len(), 10);
    let error = machine.run(&moves).unwrap_err();
    assert_eq!((error.number, error.made), (10, moves[9]));
    let enumerated = enumerate(&machine, &client, 100_000).unwrap();
    let (other, same) = enumerated.faulty.unwrap();
    assert_eq!((other.len(), same), (10, fault));
}
