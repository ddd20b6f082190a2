//! Programs that are expected to be right for every n are proved, and no other is: those of `corpus/small` with
//! their bugs, and those of the tests below.
//!
//! Most of the wrong ones were once proved by mistake, or break one rule of proofs. Their right twins show
//! that a proof is in reach.

use snapshot_hints::ladder::{Answer, Attempt, Budget, prove_all};
use snapshot_invariant::step::Failure;
use snapshot_language::program::Program;
use test_support::effort::{either, is_slow};

use crate::{of_corpus, parsed};

/// Returns the answer with this many views of all rungs together.
fn answer(program: &Program, views: usize) -> Answer {
    prove_all(program, Budget { views, bytes: 1 << 30 })
}

/// Returns true if a failure of some rung could not be excluded.
fn fails(answer: &Answer) -> bool {
    answer.rungs.iter().any(|rung| matches!(rung.attempt, Attempt::Fails(..)))
}

/// Asserts that a text is proved, or is not because a failure cannot be excluded.
fn check(text: &str, is_right: bool) {
    let answer = answer(&parsed(text, None), 100_000);
    assert_eq!(answer.is_proved(), is_right, "{text}: {:?}", answer.rungs);
    assert!(is_right || fails(&answer), "{text}: {:?}", answer.rungs);
}

fn edited(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

/// Programs without bugs that are wrong themselves.
const WRONG: [&str; 2] = ["overflowing", "rounds_flip"];

/// All programs with few views each; in the slow suite with as many as nearly all proofs take.
#[test]
fn small_programs_and_their_bugs_are_as_expected() {
    let views = either(12_000, 120_000);
    let (mut right, mut proved, mut failed, mut wrong) = (0, 0, 0, 0);
    for name in corpus::smalls() {
        let algorithm = snapshot_language::parse(name, corpus::small_with_bugs(name)).unwrap();
        let is_right = |bug: Option<&str>| {
            let mut all = algorithm.expectations().iter().filter(|one| one.every);
            all.any(|one| one.bug.as_ref().map(|bug| bug.text.as_str()) == bug)
        };
        let bugs: Vec<&str> = algorithm.bugs().iter().map(|bug| bug.name.text.as_str()).collect();
        if bugs.is_empty() && !is_right(None) && !WRONG.contains(&name) {
            continue;
        }
        for bug in [None].into_iter().chain(bugs.into_iter().map(Some)) {
            let answer = answer(&algorithm.program(bug).unwrap(), views);
            let is_proved = answer.is_proved();
            match is_right(bug) {
                true => assert!(is_proved || answer.short.is_some(), "{name} {bug:?}"),
                false => assert!(!is_proved, "{name} {bug:?} is proved"),
            }
            proved += usize::from(is_proved);
            right += usize::from(is_right(bug));
            wrong += usize::from(!is_right(bug));
            failed += usize::from(!is_proved && fails(&answer));
        }
    }
    println!("{proved} of {right} proved; {failed} of {wrong} fail");
    assert!(proved >= either(30, right - 2) && right >= 39, "{proved} of {right}");
    assert!(failed >= either(70, wrong - 10) && wrong >= 90, "{failed} of {wrong}");
}

#[test]
fn no_bug_of_the_corpus_is_proved() {
    let mut tried = 0;
    for algorithm in corpus::algorithms() {
        let parsed = snapshot_language::parse(algorithm.name, algorithm.text).unwrap();
        for bug in parsed.bugs() {
            let program = parsed.program(Some(&bug.name.text)).unwrap();
            let answer = answer(&program, either(4_000, 40_000));
            assert!(!answer.is_proved(), "{} {}", algorithm.name, bug.name.text);
            tried += 1;
        }
    }
    assert!(tried >= 9, "{tried}");
    assert!(!answer(&of_corpus("naive_collect", None), 20_000).is_proved());
    let refused = answer(&of_corpus("double_collect", None), 1_000);
    assert!(!refused.is_proved() && refused.looks_at_values && refused.rungs.is_empty());
    assert!(!answer(&of_corpus("register", None), 1_000).is_proved());
    // Updates shake hands with the first two processes only.
    let text = edited(
        corpus::algorithm("afek_bounded").unwrap().text,
        "for k in processes: f[k] := not q[k][me]",
        "for k in processes: if k = process(0) or k = process(1): f[k] := not q[k][me]",
    );
    let answer = answer(&parsed(&text, None), either(10_000, 200_000));
    assert!(!answer.is_proved() && (fails(&answer) || !is_slow()), "{:?}", answer.rungs);
}

/// A narrow range may stand where a wider one is expected; its integers stay the same.
#[test]
fn integers_are_the_same_in_all_ranges() {
    let text = "
algorithm narrow
shared a[segment]: value
private x: 1..2 := 1
private k: 0..3 := 0
update(v):
    MOVE
    if CONDITION:
        a[me] := v
scan:
    local copy[segment]: value
    atomic: for s in segments: copy[s] := a[s]
    return copy
";
    // A test of x, which is always 1; true if it lets an update write.
    let looks = [
        ("k := x", "k = 0", false),
        ("k := x", "k = 1", true),
        ("skip", "all m in 1..3 except x: m != 2", false),
        ("skip", "all m in 0..3 except x: m != 0", false),
        ("skip", "all m in 0..3 except x: m != 1", true),
        ("k := 0; for m in 0..3 except x: if m = 1: k := 1", "k = 0", true),
        ("k := 0; for m in 0..3 except x: if m = 0: k := 1", "k = 0", false),
    ];
    for (step, condition, writes) in looks {
        check(&text.replace("MOVE", step).replace("CONDITION", condition), writes);
    }
}

/// Faults in expressions on which nothing else depends, or for some n only.
#[test]
fn faults_are_found_in_any_expression() {
    let statements = [
        ("private c: counter or none", "if c mod 2 = 1: skip", false),
        ("private c: 0..n or none", "if c + 1 < n: skip", false),
        ("private c: 0..n or none", "if c / 2 < 3: skip", false),
        ("private c: counter or none\nprivate d: counter", "d := c + 1", false),
        ("private p: process or none\nprivate q: view", "q[p] := initial", false),
        ("private p: process or none\nprivate w: array [0..n] of bool", "if w[p]: skip", false),
        ("private p: process", "if p = process(2): skip", false),
        ("private p: process", "p := process(n - 3)", false),
        ("private k: 0..n", "k := 3", false),
        ("private c: counter", "if c mod 2 = 1: skip", true),
        ("private c: 0..n", "if c / 2 < 3: skip", true),
        ("private p: process", "if p = process(n - 1) or p = process(1): skip", true),
        ("private k: 0..n", "k := 2", true),
        ("private q: view", "q[me] := initial", true),
    ];
    for (declared, statement, is_right) in statements {
        let text = edited(corpus::small("locked"), "scan:\n", &format!("{declared}\nscan:\n"));
        let stated = format!("    {statement}\n    return copy");
        let answer = answer(&parsed(&edited(&text, "    return copy", &stated), None), 20_000);
        assert_eq!(answer.is_proved(), is_right, "{declared}: {statement}: {:?}", answer.rungs);
    }
}

/// A step with many unknown values, many nested loops, and many scalars are refused soon.
#[test]
fn steps_with_too_many_outcomes_are_refused() {
    let many = "
algorithm many
shared a[segment]: value
shared f[process]: array [0..29] of bool
shared boss: process
shared owner: cas process or none := none
update(v):
    p := boss
    bits := f[p]
    is_free := all b in 0..29: bits[b]
    boss := me
    f[me] := bits
    if not is_free:
        repeat
            got := CAS(owner, none, me)
        until got
    a[me] := v
    if not is_free: owner := none
scan:
    local copy[segment]: value
    repeat
        got := CAS(owner, none, me)
    until got
    for s in segments: copy[s] := a[s]
    owner := none
    return copy
";
    let mut deep = "
algorithm deep
shared a[segment]: value
shared p: process
update(v):
"
    .to_owned();
    for depth in 0..12 {
        deep += &format!("{}for k{depth} in processes:\n", "    ".repeat(depth + 1));
    }
    deep += &format!("{}p := k11\n    a[me] := v\n", "    ".repeat(13));
    deep += "scan:\n    local copy[segment]: value\n    for s in segments: copy[s] := a[s]\n    return copy\n";
    let (dimensions, arrays) = ("[process]".repeat(8), "array [process] of ".repeat(6));
    let declared = format!("shared a[segment]: value\nshared wide{dimensions}: {arrays}bool");
    let wide = edited(corpus::small("locked"), "shared a[segment]: value", &declared);
    for (text, construct) in [(&*deep, "within each other"), (&*wide, "scalars")] {
        let answer = answer(&parsed(text, None), 20_000);
        let refuses = |attempt: &Attempt| match attempt {
            Attempt::Unsupported(unsupported) => unsupported.construct.contains(construct),
            _ => false,
        };
        assert!(!answer.is_proved(), "{text}");
        assert!(answer.rungs.iter().any(|rung| refuses(&rung.attempt)), "{:?}", answer.rungs);
    }
    let answer = answer(&parsed(many, None), either(4_000, 40_000));
    let is_it = |attempt: &Attempt| matches!(attempt, Attempt::Fails(Failure::TooMany, _));
    assert!(!answer.is_proved(), "{many}");
    assert!(answer.rungs.iter().any(|rung| is_it(&rung.attempt)), "{:?}", answer.rungs);
}
