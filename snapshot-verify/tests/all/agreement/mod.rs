//! All ways to an answer agree: with any reductions, any number of threads, by the second method;
//! on the corpus, its bugs, and mutants.
mod certificates;
mod confirmed;
mod distributed;
mod each_reduction;
mod every;
mod generated;
pub mod mutants;
mod names;
mod refinement;
mod regressions;
mod shrink;
mod speed;
mod unreduced;

use std::num::NonZeroUsize;

use mutants::{Mutant, mutants};
use snapshot_core::Process;
use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::search::SelfCheck;
use snapshot_verify::verify::{
    Operations, Outcome, Pairs, Reduction, Reductions, Request, TABLE, Unwatched, Verdict, verify,
};
use test_support::effort::{by_effort, either};

/// All pairs by exploration with all reductions and the self-check.
fn standard(processes: usize, operations: Operations) -> Request {
    Request {
        operations,
        keep_going: true,
        self_check: Some(SelfCheck::DEFAULT),
        ..Request::new(processes)
    }
}

fn request(processes: usize, operations: u32, reductions: Reductions) -> Request {
    let base = standard(processes, Operations::AtMost(operations));
    Request { reductions, memory: 2 << 30, ..base }
}

/// Returns, per pair, the answer in a word and the states.
fn answers(program: &Program, request: &Request) -> Vec<(&'static str, u64)> {
    let outcomes = verify(program, true, request, &Unwatched::default()).unwrap();
    let answer = |outcome: &Outcome| (word(&outcome.verdict).unwrap(), outcome.measures.states);
    outcomes.iter().map(answer).collect()
}

/// Returns the answer in a word, if there is one.
fn word(verdict: &Verdict) -> Option<&'static str> {
    match verdict {
        // The shorter of the two depends on the length of steps.
        Verdict::Violation(_) | Verdict::Fault(_) => Some("wrong"),
        Verdict::Verified => Some("right"),
        Verdict::Unknown(_) => None,
        other => panic!("{other:?}"),
    }
}

fn words(program: &Program, request: &Request) -> Vec<&'static str> {
    answers(program, request).into_iter().map(|(word, _)| word).collect()
}

/// Returns the answers in words, if all fit into memory.
fn words_if_any(program: &Program, request: &Request) -> Option<Vec<&'static str>> {
    let outcomes = verify(program, true, request, &Unwatched::default()).unwrap();
    outcomes.iter().map(|outcome| word(&outcome.verdict)).collect()
}

fn all_but(reduction: Reduction) -> Reductions {
    Reductions::standard().without(reduction)
}

/// No reductions; but versions and counters need a canonical form to be packed.
const PLAIN: Reductions = Reductions::NONE.with(Reduction::Counters);

/// Memory that suffices for almost all mutants with few reductions.
fn enough() -> u64 {
    by_effort(64 << 20, 64 << 20, 256 << 20)
}

/// Returns a subset that depends on the number.
fn subset(number: usize) -> Reductions {
    let chosen = TABLE.iter().enumerate().filter(|(at, _)| {
        number.wrapping_mul(0x9E37_79B9).wrapping_add(number >> 3) >> (at + 5) & 1 == 1
    });
    chosen.map(|(_, entry)| entry.reduction).chain([Reduction::Counters]).collect()
}

/// The algorithms of the corpus that exploration supports.
fn snapshots() -> impl Iterator<Item = &'static corpus::Algorithm> {
    corpus::algorithms().iter().filter(|file| file.name != "register")
}

fn programs() -> Vec<(String, Program)> {
    let mut programs = Vec::new();
    for file in snapshots() {
        let algorithm = parse(file.name, file.text).unwrap();
        programs.push((file.name.to_owned(), algorithm.program(None).unwrap()));
        for bug in algorithm.bugs() {
            let program = algorithm.program(Some(&bug.name.text)).unwrap();
            programs.push((format!("{} {}", file.name, bug.name.text), program));
        }
    }
    programs
}

/// Mutants of all algorithms, `step` apart.
fn sample(step: usize) -> Vec<Mutant> {
    let of = |file: &corpus::Algorithm| mutants(file.name, file.text);
    snapshots().flat_map(of).step_by(step).collect()
}

#[test]
fn there_are_enough_mutants() {
    let count = sample(1).len();
    assert!(count >= 200, "{count} mutants compile");
}

#[test]
fn omitting_any_reduction_changes_no_answer() {
    let each = by_effort(16, 4, 1);
    // Every twelfth program; in the slow suite each.
    for (number, (name, program)) in programs().into_iter().enumerate().step_by(either(12, 1)) {
        let plain = words(&program, &request(2, 1, PLAIN));
        let others = TABLE.iter().filter(|entry| entry.reduction != Reduction::Counters);
        for entry in others.skip(number % each).step_by(each) {
            let request = request(2, 1, all_but(entry.reduction));
            assert_eq!(words(&program, &request), plain, "{name} without {}", entry.name);
        }
        let mut request = request(2, 1, Reductions::standard());
        let one = answers(&program, &request);
        request.threads = NonZeroUsize::new(2).unwrap();
        assert_eq!(answers(&program, &request), one, "{name}: threads");
        assert_eq!(one.into_iter().map(|(word, _)| word).collect::<Vec<_>>(), plain, "{name}");
    }
}

#[test]
fn reductions_agree_on_mutants() {
    let step = by_effort(146, 59, 1);
    let [mut wrong, mut right, mut large, mut tried] = [0; 4];
    for (number, mutant) in sample(step).into_iter().enumerate() {
        let all = words(&mutant.program, &request(2, 1, Reductions::standard()));
        let left_out = TABLE[number % TABLE.len()].reduction;
        let rest = all_but(left_out).with(Reduction::Counters);
        let ways = [PLAIN, subset(number), rest];
        let each = by_effort(3, 3, 1);
        for reductions in ways.into_iter().skip(number % each).step_by(each) {
            let request = Request { memory: enough(), ..request(2, 1, reductions) };
            match words_if_any(&mutant.program, &request) {
                Some(found) => assert_eq!(found, all, "{}: {reductions:?}", mutant.name),
                None => large += 1,
            }
            tried += 1;
        }
        if all.contains(&"wrong") { wrong += 1 } else { right += 1 }
    }
    println!("{wrong} wrong, {right} right, {large} too large");
    // The reductions are only tested if both answers occur.
    assert!(wrong.min(right) * 4 > wrong + right, "{wrong} wrong, {right} right");
    assert!(large * 20 < tried, "{large} of {tried} too large");
}

/// Start of the second phase of jayanti's scans.
const FINISH: &str = "SC(X, x with (phase: 2, proc_b: me))";

/// Without [`FINISH`], an updater's first step lets its own next access be skipped.
#[test]
fn process_acting_twice_in_a_step_is_found_wrong() {
    let text = corpus::algorithm("jayanti").unwrap().text;
    assert!(text.contains(FINISH));
    let unfinished = parse("unfinished", &text.replacen(FINISH, "", 1)).unwrap();
    let program = unfinished.program(None).unwrap();
    let found = words(&program, &request(2, 1, all_but(Reduction::Constant)));
    assert_eq!(found, ["wrong"]);
}

/// A write of another process shows a scan that its link is broken, and then the scan is wrong.
const REACTING: &str = "algorithm reacting
shared a[segment]: value
shared X: llsc bool
update(v):
    a[me] := v
    X := true
scan:
    local none_yet: value or none
    local copy[segment]: value
    x := LL(X)
    if VL(X):
        for s in segments: copy[s] := a[s]
    else:
        skip
    return copy
";

#[test]
fn reaction_that_goes_wrong_is_a_fault() {
    let faulty = REACTING.replace("skip", "copy[me] := none_yet");
    for (text, is_fault) in [(REACTING, false), (&faulty, true)] {
        let program = parse("reacting", text).unwrap().program(None).unwrap();
        let all = request(2, 2, Reductions::standard());
        let outcomes = verify(&program, true, &all, &Unwatched::default()).unwrap();
        let verdict = &outcomes[0].verdict;
        assert_eq!(matches!(verdict, Verdict::Fault(_)), is_fault, "{verdict:?}");
        assert!(verdict.is_wrong(), "{verdict:?}");
        assert_eq!(words(&program, &request(2, 2, PLAIN)), ["wrong"]);
    }
}

/// Stale variables are learnt only if that pays off: for more operations.
#[test]
fn forgetting_stale_variables_changes_no_answer() {
    let text = corpus::algorithm("jayanti").unwrap().text;
    let jayanti = parse("jayanti", text).unwrap();
    let bug = Mutant {
        name: "plain_ss".into(),
        program: jayanti.program(Some("plain_ss")).unwrap(),
        text: text.to_owned(),
    };
    let step = by_effort(640, 80, 1);
    for mutant in mutants("jayanti", text).into_iter().step_by(step).chain([bug]) {
        let mut plain = request(2, 3, all_but(Reduction::Stale));
        let mut stale = request(2, 3, Reductions::standard());
        let name = &mutant.name;
        assert_eq!(words(&mutant.program, &stale), words(&mutant.program, &plain), "{name}");
        for request in [&mut plain, &mut stale] {
            request.operations = Operations::Unbounded;
        }
        assert_eq!(words(&mutant.program, &stale), words(&mutant.program, &plain), "{name}");
    }
}

#[test]
fn reductions_agree_on_three_processes() {
    for name in ["bowman", "naive_collect", "double_collect"] {
        let file = corpus::algorithm(name).unwrap();
        for (number, mutant) in
            mutants(name, file.text).into_iter().enumerate().step_by(either(4, 2))
        {
            let all = words(&mutant.program, &request(3, 1, Reductions::standard()));
            let base = Reductions::NONE.with(Reduction::Dead).with(Reduction::Constant);
            assert_eq!(all, words(&mutant.program, &request(3, 1, base)), "{}", mutant.name);
            let some = words(&mutant.program, &request(3, 1, subset(number).with(Reduction::Dead)));
            assert_eq!(all, some, "{}: {:?}", mutant.name, subset(number));
        }
    }
}

#[test]
fn bowman_has_the_known_numbers_of_states() {
    let bowman = parse("bowman", corpus::algorithm("bowman").unwrap().text).unwrap();
    let program = bowman.program(None).unwrap();
    let reductions = Reductions::NONE.with(Reduction::Dead).with(Reduction::Constant);
    let known = [(3, 76_075, 249_645), (4, 2_151_306, 9_276_497)];
    for (processes, states, transitions) in known.into_iter().take(either(1, 2)) {
        let mut request = request(processes, 1, reductions);
        request.operations = Operations::Unbounded;
        request.pairs = Pairs::One(Process::from_index(0), Process::from_index(1));
        let outcomes = verify(&program, true, &request, &Unwatched::default()).unwrap();
        let measures = outcomes[0].measures;
        assert!(matches!(outcomes[0].verdict, Verdict::Verified));
        assert_eq!((measures.states, measures.transitions), (states, transitions));
    }
}
