//! Conditions of linearization points are evaluated once the results of accesses are stored, for
//! any kind of marked statement: random texts against equivalent texts in which a separate
//! statement evaluates the condition and counts.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;
use snapshot_verify::interpret::{Client, Machine, Move, Next, State, Values};
use snapshot_verify::object::walk_object;
use snapshot_verify::program::linearization::at_points;
use snapshot_verify::refine::{Letter, Misplacement, RefinementVerdict, Techniques};
use test_support::effort::either;

use super::points::{explained, refine, walk};
use super::{Case, program};

/// A statement with a mark, and without: `MARK` is the mark, `HIT` counts where the condition of
/// the mark holds. Both stand alone on a line.
const KINDS: [(&str, &str); 24] = [
    ("p := w MARK", "p := w\nHIT"),
    ("(z, b) := w MARK", "(z, b) := w\nHIT"),
    ("(z, _) := w MARK", "(z, _) := w\nHIT"),
    ("z := w.val MARK", "z := w.val\nHIT"),
    ("b := not busy MARK", "b := not busy\nHIT"),
    ("b := not w.flag MARK", "b := not w.flag\nHIT"),
    ("k := SWAP(t, 1) MARK", "k := SWAP(t, 1)\nHIT"),
    ("p := SWAP(w, (z, b)) MARK", "p := SWAP(w, (z, b))\nHIT"),
    ("b := TAS(busy) MARK", "b := TAS(busy)\nHIT"),
    ("p.flag := TAS(busy) MARK", "p.flag := TAS(busy)\nHIT"),
    ("TAS(busy) MARK", "TAS(busy)\nHIT"),
    ("k := FAA(t, 0) MARK", "k := FAA(t, 0)\nHIT"),
    ("z := a[me] MARK", "z := a[me]\nHIT"),
    ("p.val := w.val MARK", "p.val := w.val\nHIT"),
    ("w.flag := b MARK", "w.flag := b\nHIT"),
    ("a[me] := z MARK", "a[me] := z\nHIT"),
    ("b := if b then busy else w.flag MARK", "b := if b then busy else w.flag\nHIT"),
    ("b := CAS(t, k, 2) MARK", "b := CAS(t, k, 2)\nif b:\n    HIT"),
    ("b := CAS(t, 0, 1) and z = 0 MARK", "s := CAS(t, 0, 1)\nb := s and z = 0\nif s:\n    HIT"),
    (
        "b := z = 0 and CAS(t, 1, 0) MARK",
        "s := false\nif z = 0: s := CAS(t, 1, 0)\nb := s\nif s:\n    HIT",
    ),
    ("k := same(t) MARK", "h := t\nHIT\nk := same(h)"),
    (
        "atomic:\n    k := t\n    (z, _) := w\n    if TAS(busy): b := w.flag\nMARK",
        "atomic:\n    k := t\n    HIT\n    (z, _) := w\n    HIT\n    s := TAS(busy)\n    HIT\n    \
         if s:\n        b := w.flag\n        HIT",
    ),
    (
        "repeat\n    k := t\nuntil not busy or me = 0 MARK",
        "loop\n    k := t\n    s := not busy\n    HIT\n    if s or me = 0: exit",
    ),
    ("if w.val = 0: (_, b) := w MARK", "if w.val = 0:\n    (_, b) := w\n    HIT"),
];

/// All are defined in every state.
const CONDITIONS: [&str; 10] = [
    "z = 0",
    "z != p.val",
    "b",
    "not b",
    "k = 1",
    "k < 2",
    "p.flag or b",
    "all q in processes: a_seen[q] = z",
    "me = 0",
    "if b then k = 0 else z = 1",
];

/// A block of statements, marked at random, with and without its marks.
#[derive(Default)]
struct Pair {
    marked: String,
    counted: String,
}

impl Pair {
    fn line(&mut self, line: &str) {
        self.add(line, line);
    }

    fn add(&mut self, marked: &str, counted: &str) {
        for (to, lines) in [(&mut self.marked, marked), (&mut self.counted, counted)] {
            lines.lines().for_each(|line| *to += &format!("    {line}\n"));
        }
    }

    fn statement(&mut self, (marked, counted): (&str, &str), random: &mut ChaCha8Rng, one_in: u32) {
        let drawn = random.next_u32() as usize;
        let condition = CONDITIONS[drawn % CONDITIONS.len()];
        let hit = "hits := (hits + 1) mod 8";
        let (mark, hit) = match (random.next_u32().is_multiple_of(one_in), drawn % 5) {
            (false, _) => (String::new(), "skip".to_owned()),
            (true, 0) => ("linearizes".to_owned(), hit.to_owned()),
            (true, _) => (format!("linearizes if {condition}"), format!("if {condition}: {hit}")),
        };
        let marked = marked.replace("MARK", &mark).replace("\n\n", "\n");
        self.add(&marked, &counted.replace("HIT", &hit));
    }

    fn some(&mut self, random: &mut ChaCha8Rng) {
        for _ in 0..random.next_u32() % 3 {
            let kind = KINDS[random.next_u32() as usize % KINDS.len()];
            self.statement(kind, random, 2);
        }
    }
}

/// Returns both texts: a flag, put and got, between all kinds of accesses.
fn texts(seed: u64) -> [String; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let locals = "local p: Pair\nlocal z: 0..1\nlocal b: bool\nlocal k: 0..3\nlocal s: bool\n\
                  local h: 0..3\nlocal a_seen[process]: 0..1";
    let mut pair = Pair::default();
    let body = |pair: &mut Pair, head: &str| {
        pair.marked += &format!("{head}:\n");
        pair.counted += &format!("{head}:\n");
        pair.line(locals);
    };
    body(&mut pair, "put(x)");
    pair.some(&mut random);
    let store = [
        ("w := (x, b) MARK", "w := (x, b)\nHIT"),
        ("w.val := x MARK", "w.val := x\nHIT"),
        ("(_, b) := SWAP(w, (x, b)) MARK", "(_, b) := SWAP(w, (x, b))\nHIT"),
    ];
    pair.statement(store[random.next_u32() as usize % store.len()], &mut random, 1);
    pair.some(&mut random);
    body(&mut pair, "get");
    pair.some(&mut random);
    let read = [
        ("(z, _) := w MARK", "(z, _) := w\nHIT"),
        ("z := w.val MARK", "z := w.val\nHIT"),
        ("p := w MARK", "p := w\nHIT"),
        ("return w.val MARK", "r := w.val\nHIT"),
    ];
    let read = read[random.next_u32() as usize % read.len()];
    pair.statement(read, &mut random, 1);
    match read.0 {
        "p := w MARK" => pair.line("return p.val"),
        "return w.val MARK" => pair.counted += "    return r\n",
        _ => {
            pair.some(&mut random);
            pair.line("return z");
        }
    }
    let head = "algorithm marks
object flag:
    state held: 0..1
    put(x: 0..1): held := x
    get: 0..1: return held
type Pair = record (val: 0..1, flag: bool)
shared w: cas Pair
shared t: cas 0..3
shared busy: cas bool
shared a[process]: 0..1
private hits: 0..7
procedure same(y: 0..3): 0..3
    return y
";
    [pair.marked, pair.counted].map(|text| format!("{head}{text}"))
}

/// Returns the count of a process.
fn hits(machine: &Machine<'_>, state: &State, process: Process) -> u32 {
    let variables = machine.variables(state, process);
    let hits = variables.iter().find(|one| one.name == "hits").unwrap();
    hits.held.parse().unwrap()
}

/// Returns the letters of a move of the text that counts.
fn counted(machine: &Machine<'_>, state: &mut State, made: Move) -> Vec<Letter> {
    let before = hits(machine, state, made.process);
    let report = machine.make(state, made).unwrap();
    let points = (hits(machine, state, made.process) + 8 - before) % 8;
    let points = (0..points).map(|_| Letter::Point(made.process));
    let past = machine.next(state, made.process) == Next::Respond;
    let past = past.then_some(Letter::Past(made.process));
    points.chain(report.event.map(Letter::Event)).chain(past).collect()
}

/// Returns the letters of an execution, according to the text that counts.
fn all_counted(machine: &Machine<'_>, moves: &[Move]) -> Vec<Letter> {
    let mut state = machine.initial().clone();
    moves.iter().flat_map(|made| counted(machine, &mut state, *made)).collect()
}

#[test]
fn conditions_are_evaluated_after_results_are_stored() {
    let client = Client::bounded(Values::Full(2), 2);
    let mut passed: BTreeMap<u32, u32> = BTreeMap::new();
    for seed in 0..either(150, 2000) {
        let [marked, plain] = texts(seed);
        let (program, plain) = (program(&marked), program(&plain));
        let case = Case::new(&program, 2);
        let machine = Machine::new(&plain, 2).unwrap();
        let walk = walk_object(&case.machine, &case.sequential, &client, seed, 60).unwrap();
        let mut states = [case.at_points.initial().clone(), machine.initial().clone()];
        for made in walk.moves {
            let report = case.at_points.make(&mut states[0], made).unwrap();
            let points = report.accesses.iter().filter(|access| access.linearizes).count();
            let letters = counted(&machine, &mut states[1], made);
            let expected = letters.iter().filter(|one| matches!(one, Letter::Point(_))).count();
            assert_eq!(points, expected, "{made}: {}\n{marked}", report.deeds());
            *passed.entry(points as u32).or_default() += 1;
        }
    }
    println!("{passed:?}");
    assert!(passed.len() >= 3 && passed[&0] > 300 && passed[&1] > 300, "{passed:?}");
}

/// Refinement at points agrees with a search that tries each operation at each point seen by the
/// text that counts.
#[test]
fn verdicts_at_points_agree_with_counted_points() {
    let client = Client::bounded(Values::Full(2), 1);
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..either(60, 1500) {
        let [marked, plain] = texts(seed);
        let (program, plain) = (program(&marked), program(&plain));
        let points = at_points(&program);
        assert_eq!(*points, [true, true], "{marked}");
        let case = Case::new(&program, 2);
        let machine = Machine::new(&plain, 2).unwrap();
        let means = Techniques { points: true, ..Techniques::ALL };
        let explains = |points: &[bool], moves: &[Move]| {
            explained(&case, points, all_counted(&machine, moves).into_iter())
        };
        let word = match refine(&case, &client, means).verdict {
            RefinementVerdict::Verified => {
                for seed in 0..8 {
                    let (moves, _) = walk(&case, &points, &client, seed, 40);
                    assert!(explains(&points, &moves), "{marked}{moves:?}");
                }
                "verified"
            }
            RefinementVerdict::Violation(moves) => {
                assert!(!explains(&[false, false], &moves), "{marked}{moves:?}");
                "violation"
            }
            RefinementVerdict::Misplaced { moves, misplacement } => {
                assert!(!explains(&points, &moves), "{marked}{moves:?}");
                assert!(explains(&[false, false], &moves), "{marked}{moves:?}");
                assert!(matches!(misplacement, Misplacement::Elsewhere(_)), "{misplacement:?}");
                "misplaced"
            }
            other => panic!("{other:?}\n{marked}"),
        };
        *counts.entry(word).or_default() += 1;
    }
    println!("{counts:?}");
    for word in ["verified", "misplaced"] {
        assert!(counts.get(word).is_some_and(|count| *count > 5), "{counts:?}");
    }
}
