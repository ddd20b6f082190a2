//! `choose`: every element is taken, and choices of an algorithm are explored like choices of its
//! client.

use std::collections::BTreeSet;
use std::process::Command;

use snapshot_core::Process;
use snapshot_verify::counterexample::ObjectCounterexample;
use snapshot_verify::interpret::{Action, Call, Client, Move, MoveKind, Values};
use snapshot_verify::refine::RefinementVerdict;
use test_support::effort::{either, is_slow};

use super::{Case, bounded, program};

/// Collects the results of an operation whose only steps are choices, for each choice.
fn returned(case: &Case<'_>, moves: &[Move], results: &mut BTreeSet<String>) {
    let execution = case.machine.run(moves).unwrap();
    if let Some(event) = execution.events().find(|event| event.action.is_response()) {
        let Action::End { text, .. } = &event.action else { panic!("{event:?}") };
        results.insert(text.to_string());
        return;
    }
    let process = Process::from_index(1);
    for outcome in 0..case.machine.outcomes(&execution.last, process) {
        let moves: Vec<Move> =
            moves.iter().copied().chain([Move::taking(process, outcome)]).collect();
        returned(case, &moves, results);
    }
}

#[test]
fn exactly_the_elements_of_the_set_are_chosen() {
    for (kind, set, expected) in [
        ("0..9", "2..4", "2 3 4"),
        ("0..9", "n-1..n+1", "2 3 4"),
        ("1..1", "1..1", "1"),
        ("process", "processes", "p0 p1 p2"),
        ("segment", "segments", "0 1 2"),
        ("process or none", "processes", "p0 p1 p2"),
        ("0..9", "processes", "0 1 2"),
    ] {
        for (declared, place) in [("", "x"), ("local x[process]: T\n    ", "x[me]")] {
            let declared = declared.replace('T', kind);
            let text = format!(
                "algorithm chooser\ntype T = {kind}\nobject one:\n    state held: T\n    \
                 draw: T: return held\ndraw:\n    {declared}{place} := choose {set}\n    \
                 return {place}\n"
            );
            let program = program(&text);
            let case = Case::new(&program, 3);
            let process = Process::from_index(1);
            let call = Call::Operation(case.sequential.calls(1, 2)[0]);
            let begin = Move { process, kind: MoveKind::Begin(call) };
            let mut results = BTreeSet::new();
            returned(&case, &[begin], &mut results);
            let expected = expected.split(' ').map(str::to_owned).collect();
            assert_eq!(results, expected, "{text}");
        }
    }
}

/// An algorithm with an operation that looks at one flag first, and then at the flags in `rest`.
fn flags(chosen: bool, first: &str, rest: &str) -> String {
    let (parameter, choice) = match chosen {
        true => (String::new(), format!("    first := choose {first}\n")),
        false => (
            format!("(first: {})", if first == "processes" { "process" } else { first }),
            String::new(),
        ),
    };
    let at = if first == "processes" { "first" } else { "process(first)" };
    let named = if chosen { "" } else { "(first)" };
    format!(
        "algorithm flags
object flags:
    state up[process]: bool
    raise: up[me] := true
    any_up{parameter}: bool: return any p in processes: up[p]
shared up[process]: bool
raise: up[me] := true
any_up{named}:
{choice}    if up[{at}]: return true
    {rest}
    return false
"
    )
}

#[test]
fn choices_are_explored_like_those_of_a_client() {
    let mut counts = [0, 0];
    for (first, rest) in [
        ("processes", "for p in processes: if up[p]: return true"),
        ("processes", "for p in processes except first: if up[p]: return true"),
        ("processes", "skip"),
        ("processes", "if up[process(0)]: return true"),
        ("0..n-1", "for p in processes: if p != process(first): if up[p]: return true"),
        ("1..n-1", "if up[process(0)]: return true"),
        ("0..0", "for p in processes: if up[p]: return true"),
    ]
    .into_iter()
    .take(either(5, 7))
    {
        // Three processes only if the rest of the operation looks at no flags; in the slow suite
        // always.
        let most = if is_slow() || rest == "skip" { 3 } else { 2 };
        for n in 2..=most {
            let mut verdicts = Vec::new();
            for chosen in [true, false] {
                let text = flags(chosen, first, rest);
                let program = program(&text);
                let case = Case::new(&program, n);
                let client = bounded(if n == 2 { 2 } else { 1 });
                let is_wrong = case.is_wrong(&client, true);
                assert_eq!(case.is_wrong(&client, false), is_wrong, "{text}: partial order");
                let enumerated = case.enumerate(&client).violations > 0;
                assert_eq!(enumerated, is_wrong, "{text}: enumeration");
                let client = Client::unbounded(Values::Full(2));
                let is_wrong_ever = case.is_wrong(&client, true);
                let random = case.is_wrong_at_random(&client, 2_000, 40);
                assert_eq!(random, is_wrong_ever, "{text}: random executions");
                verdicts.push((is_wrong, is_wrong_ever));
            }
            assert_eq!(verdicts[0], verdicts[1], "n = {n}, {first}, {rest}");
            counts[usize::from(verdicts[0].1)] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > either(1, 3)), "{counts:?} right and wrong");
}

/// Choices among the outcomes of `new`: the path to a violation is found again.
#[test]
fn choices_and_allocations_in_one_program() {
    let text = corpus::algorithm("linked_stack").unwrap().text;
    let text = text.replacen(
        "        if t = none: return none\n",
        "        k := choose 0..2\n        if t = none: return none\n",
        1,
    );
    let algorithm = super::algorithm(&text);
    for bug in ["aba", "lost_push"] {
        let program = algorithm.program(Some(bug)).unwrap();
        let case = Case::new(&program, 2);
        let found = case.refine(&Client::unbounded(Values::Full(2)), true, true);
        let RefinementVerdict::Violation(moves) = found.verdict else {
            panic!("{bug}: {:?}", found.verdict)
        };
        let shown = ObjectCounterexample::validated(&case.machine, &case.sequential, &moves);
        assert_eq!(shown.unwrap().moves(), moves);
    }
    let program = algorithm.program(None).unwrap();
    let case = Case::new(&program, 2);
    assert!(!case.is_wrong(&bounded(2), true));
}

#[test]
fn counterexample_names_choices_and_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
            .args(arguments.split_whitespace())
            .current_dir(folder.path())
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    std::fs::write(folder.path().join("flags.snapshot"), flags(true, "processes", "skip")).unwrap();
    let (code, text) = run("check flags.snapshot -n 2 --trace found.trace");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("choose p1 of processes"), "{text}");
    let (code, text) = run("replay found.trace");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("choose p1 of processes"), "{text}");
    let (code, text) = run("simulate flags.snapshot -n 2 --walks 200");
    assert_eq!(code, 1, "{text}");
    // An outcome that does not exist.
    let trace = std::fs::read_to_string(folder.path().join("found.trace")).unwrap();
    assert!(trace.contains("take 1"), "{trace}");
    std::fs::write(folder.path().join("found.trace"), trace.replace("take 1", "take 2")).unwrap();
    assert_eq!(run("replay found.trace").0, 2);
}
