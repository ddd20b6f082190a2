//! Steps that belong to one transition do not change an answer: the objects of the corpus with
//! their bugs, random stacks, and texts that need each of the conditions.

use snapshot_verify::interpret::{Client, Values};
use snapshot_verify::program::guards;
use snapshot_verify::program::linearization::has_points;
use snapshot_verify::refine::Techniques;
use test_support::effort::{either, seeds};

use super::symmetry::Both;
use super::{Case, algorithm, comparands, program};

/// Compares searches without and with fusion; returns the numbers of states of a right program.
fn compare(case: &Case<'_>, client: &Client, means: Techniques, text: &str) -> Option<[usize; 2]> {
    let both = Both::of(case, client, [false, true].map(|fusion| Techniques { fusion, ..means }));
    let [plain, fused] = both.said;
    assert_eq!(plain.0, fused.0, "{means:?}\n{text}");
    if plain.0 != "verified" {
        return None;
    }
    let [all, few] = both.states;
    // Which steps are put first depends on the order in which states are expanded.
    assert!(few <= all + all / 100, "{few} of {all} states, {means:?}\n{text}");
    Some(both.states)
}

/// With all other reductions, with partial order reduction only, and with none.
fn all_means(points: bool) -> [Techniques; 3] {
    let partial_order = Techniques { partial_order: true, points, ..Techniques::NONE };
    [
        Techniques { points, ..Techniques::ALL },
        partial_order,
        Techniques { points, ..Techniques::NONE },
    ]
}

#[test]
fn objects_of_the_corpus_have_the_same_answers() {
    let (mut fewer, mut wrong) = (Vec::new(), 0);
    for file in corpus::object_algorithms() {
        let algorithm = algorithm(file.text);
        let bugs = algorithm.bugs().iter().map(|bug| Some(&*bug.name.text));
        for bug in std::iter::once(None).chain(bugs.step_by(either(3, 1))) {
            let Ok(program) = algorithm.program_with_points(bug) else { continue };
            for n in 2..=either(2, 3) {
                let client = Client::bounded(Values::Full(either(1, 2)), 4 - n as u32);
                for points in [false, true] {
                    if points && !has_points(&program) {
                        continue;
                    }
                    let case = Case::new(&program, n);
                    let text = format!("{} {bug:?}, n = {n}", file.name);
                    let means = all_means(points).into_iter().take(either(1, 3));
                    let found: Vec<_> =
                        means.map(|means| compare(&case, &client, means, &text)).collect();
                    let Some([all, few]) = found[0] else {
                        wrong += 1;
                        continue;
                    };
                    fewer.push((file.name, n, points, all * 10 / few));
                }
            }
        }
    }
    println!("{wrong} wrong; states in tenths: {fewer:?}");
    // Without guards, with guards of the process itself, and with others.
    for (name, points, tenths) in [
        ("atomic_register", false, 40),
        ("treiber_stack", false, 20),
        ("ms_queue", true, 15),
        ("linked_stack", false, 12),
    ] {
        let is_it = |one: &&(&str, usize, bool, usize)| one.0 == name && one.2 == points;
        let found = fewer.iter().find(is_it).expect("it is right");
        assert!(found.3 >= tenths, "{found:?}");
    }
    assert!(wrong >= either(10, 40), "{wrong}");
}

#[test]
fn random_stacks_have_the_same_answers() {
    let seeds = seeds(8, 48);
    let count = seeds.end - seeds.start;
    let [mut right, mut wrong] = [0; 2];
    for seed in seeds {
        let text = comparands::text(seed);
        let program = program(&text);
        let case = Case::new(&program, 2);
        let client = Client::bounded(Values::Full(2), 2);
        for means in all_means(false) {
            match compare(&case, &client, means, &text) {
                Some(_) => right += 1,
                None => wrong += 1,
            }
        }
    }
    assert!(right.min(wrong) * 10 > count, "{right} right, {wrong} wrong");
}

/// Returns the answer for a text with two processes and two operations each.
fn answer(text: &str) -> &'static str {
    let program = program(text);
    let case = Case::new(&program, 2);
    let client = Client::bounded(Values::Full(1), 2);
    let [plain, fused] = Both::of(&case, &client, [Techniques::NONE, Techniques::ALL]).said;
    assert_eq!(plain.0, fused.0, "{text}");
    fused.0
}

/// Asking begins while nothing is closed, and ends after the other process has closed it: delayed
/// until its first access, it could not begin any more.
#[test]
fn operations_of_others_open_and_close_guards() {
    let text = "algorithm closing
object door:
    state closed: bool
    close when not closed: closed := true
    ask: bool when not closed: return false
shared flag: bool
close:
    flag := true
ask:
    seen := flag
    return seen
";
    assert!(!guards::are_own(program(text).object().unwrap()));
    assert_eq!(answer(text), "violation");
}

/// A node is written after others can reach it: by a shared variable, or only by a local of another
/// process.
#[test]
fn nodes_that_others_reach_are_not_private() {
    let text = "algorithm box
object box:
    state kept: 0..1
    put: kept := 1
    get: 0..1: return kept
node Node: held: 0..1
shared top: Node or none
put:
    added := new Node(0)
    top := added
    added.held := 1
get:
    local seen: 0..1
    t := top
    if t = none: return 0
    seen := t.held
    return seen
";
    // One process puts twice: another gets 1 and then, from the new node, 0.
    assert_eq!(answer(text), "violation");
    let taken = text.replace("    added.held := 1", "    top := none\n    added.held := 1");
    assert_ne!(taken, text);
    assert_eq!(answer(&taken), "violation");
    let before = text
        .replace("    top := added\n    added.held := 1", "    added.held := 1\n    top := added");
    assert_ne!(before, text);
    assert_eq!(answer(&before), "verified");
}

/// A node is written after it was freed, and another process may have allocated it.
#[test]
fn freed_nodes_are_not_private() {
    let text = "algorithm box
object box:
    put: skip
    get: 0..1: return 0
node Node up to 3 type stable: held: 0..1
put:
    added := new Node(0)
    free added
    added.held := 1
get:
    local seen: 0..1
    mine := new Node(0)
    seen := mine.held
    return seen
";
    assert_eq!(answer(text), "violation");
}
