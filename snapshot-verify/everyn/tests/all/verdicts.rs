//! Programs that are proved for every n, and, more important, programs that are not.

use snapshot_everyn::compile::compile;
use snapshot_everyn::ladder::{Answer, Budget, Rung, prove_all};
use snapshot_everyn::model::{Act, Ghosts, Obligation, Part, Specification, Unsupported};
use snapshot_everyn::prove::{Attempt, Limits, Sabotage, prove};
use snapshot_everyn::shape::{I, J, Mode};
use snapshot_language::program::Program;
use trial::effort::either;

pub fn parsed(text: &str, bug: Option<&str>) -> Program {
    let algorithm = snapshot_language::parse("test", text).expect("a text that is right");
    algorithm.program(bug).expect("a program that is right")
}

pub fn corpus(name: &str, bug: Option<&str>) -> Program {
    parsed(corpus::algorithm(name).expect("an algorithm of the corpus").text, bug)
}

pub fn answer(program: &Program) -> Answer {
    answer_of(program, 1_000_000)
}

/// Returns the answer with about this many views of all obligations together.
fn answer_of(program: &Program, views: usize) -> Answer {
    prove_all(program, Budget { views, bytes: 1 << 29, ..Budget::default() })
}

pub fn is_proved(text: &str) -> bool {
    answer(&parsed(text, None)).proved
}

/// Asserts that the text is not proved, because a failure cannot be excluded, and is proved with
/// the edit.
pub fn is_refuted(text: &str, from: &str, to: &str) {
    assert!(text.contains(from), "{from}");
    assert!(is_proved(&text.replacen(from, to, 1)), "with {to}: {text}");
    let answer = answer(&parsed(text, None));
    assert!(!answer.proved, "{text}");
    let mut findings = answer.rungs.iter().filter_map(|rung| rung.finding.as_ref().ok());
    let fails = |attempt: &Attempt| matches!(attempt, Attempt::Fails(..));
    assert!(findings.any(|finding| fails(&finding.attempt)), "{text}: {:?}", answer.rungs);
}

/// Asserts that the text is not proved, because of an unsupported construct.
pub fn is_unknown(text: &str, construct: &str) {
    let answer = answer(&parsed(text, None));
    assert!(!answer.proved, "{text}");
    let is_it = |unsupported: &Unsupported| unsupported.construct.contains(construct);
    let is_refused = |rung: &Rung| match &rung.finding {
        Err(unsupported) => is_it(unsupported),
        Ok(finding) => {
            matches!(&finding.attempt, Attempt::Unsupported(unsupported) if is_it(unsupported))
        }
    };
    assert!(answer.rungs.iter().any(is_refused), "{construct}: {:?}", answer.rungs);
}

#[test]
fn bowman_is_proved() {
    let answer = answer(&corpus("bowman", None));
    assert!(answer.proved);
    assert_eq!(answer.rungs.len(), 3, "no rung fails");
}

#[test]
fn right_programs_are_proved() {
    let afek = answer(&corpus("afek_unbounded", None));
    assert!(afek.proved, "{:?}", afek.rungs);
    let flips = answer(&corpus("afek_bounded", None));
    assert!(flips.proved, "{:?}", flips.rungs);
    assert!(is_proved(corpus::small("versioned")));
    assert!(is_proved(corpus::small("locked")));
}

#[test]
fn wrong_variants_of_right_programs_are_not_proved() {
    // Each right program, with an edit that makes it wrong.
    let edits = [
        ("versioned", "r[me] := (v, fresh)", "r[me] := r0"),
        ("versioned", "if all s in segments", "if any s in segments"),
        ("versioned", "a[s].seq = b[s].seq", "a[s].seq = a[s].seq"),
        (
            "versioned",
            "for s in segments:\n            b[s]",
            "for s in segments except me:\n            b[s]",
        ),
        (
            "locked",
            "    for s in segments:\n        copy[s] := a[s]\n    owner := none",
            "    owner := none\n    for s in segments:\n        copy[s] := a[s]",
        ),
        ("locked", "until got\n    a[me]", "until true\n    a[me]"),
        ("locked", "until got\n    for", "until not got\n    for"),
        (
            "locked",
            "for s in segments:\n        copy",
            "for s in segments except me:\n        copy",
        ),
    ];
    let mut wrong = 0;
    for (name, from, to) in edits {
        let text = corpus::small(name);
        assert!(text.contains(from), "{from}");
        let to = to.replace("r[me] := r0", "old := r[me]; r[me] := old with (val: v)");
        let text = text.replacen(from, &to, 1);
        assert!(!is_proved(&text), "{text}");
        wrong += 1;
    }
    assert_eq!(wrong, edits.len());
}

#[test]
fn no_bug_of_the_corpus_is_proved() {
    let mut tried = 0;
    for algorithm in corpus::algorithms() {
        let parsed = snapshot_language::parse(algorithm.name, algorithm.text).expect("parses");
        for bug in parsed.bugs() {
            let program = parsed.program(Some(&bug.name.text)).expect("a program");
            assert!(
                !answer_of(&program, either(2_000, 20_000)).proved,
                "{} {}",
                algorithm.name,
                bug.name.text
            );
            tried += 1;
        }
    }
    assert!(tried >= 9, "{tried}");
    assert!(!answer_of(&corpus("naive_collect", None), 20_000).proved);
    let refused = answer(&corpus("double_collect", None));
    assert!(!refused.proved && refused.looks_at_values && refused.rungs.is_empty());
    assert!(!answer(&corpus("register", None)).proved);
}

/// Programs that are right with two processes, or three, and wrong with more.
#[test]
fn programs_for_few_processes_are_not_proved() {
    let naive = "
algorithm few
shared r[segment]: value
update(v):
    r[me] := v
scan:
    local copy[segment]: value
    local last[segment]: value
    for s in segments: copy[s] := r[s]
    CHECK
    return copy
";
    let checks = [
        // Some process takes care, the others do not.
        "if me = process(2): for s in segments: last[s] := r[s]",
        "if me != process(0): for s in segments: copy[s] := r[s]",
        "if me = process(n-1): copy[segment(0)] := r[segment(0)]",
        "if number(me) < 2: skip",
    ];
    let mut tried = 0;
    for check in checks {
        let text = naive.replace("CHECK", check);
        let Ok(algorithm) = snapshot_language::parse("few", &text) else { continue };
        let Ok(program) = algorithm.program(None) else { continue };
        assert!(!answer(&program).proved, "{text}");
        tried += 1;
    }
    assert!(tried >= 2, "{tried}");
    // A lock that only processes 0 and 1 take.
    let locked = corpus::small("locked");
    for guard in ["me = process(0) or me = process(1)", "me != process(2)"] {
        let text = locked.replacen(
            "    repeat\n        got := CAS(owner, none, me)\n    until got\n    a[me]",
            &format!(
                "    if {guard}:\n        repeat\n            got := CAS(owner, none, me)\n        \
                 until got\n    a[me]"
            ),
            1,
        );
        assert_ne!(text, locked);
        assert!(!is_proved(&text), "{text}");
    }
}

/// Updates shake hands with the first two processes only, as if the array had no more places.
#[test]
fn handshakes_with_too_few_processes_are_not_proved() {
    let whole = corpus::algorithm("afek_bounded").expect("an algorithm of the corpus").text;
    let text = whole.replacen(
        "for k in processes: f[k] := not q[k][me]",
        "for k in processes: if k = process(0) or k = process(1): f[k] := not q[k][me]",
        1,
    );
    assert_ne!(text, whole);
    let answer = answer_of(&parsed(&text, None), 50_000);
    assert!(!answer.proved);
    let fails = |attempt: &Attempt| matches!(attempt, Attempt::Fails(..));
    let mut findings = answer.rungs.iter().filter_map(|rung| rung.finding.as_ref().ok());
    assert!(findings.any(|finding| fails(&finding.attempt)), "{:?}", answer.rungs);
}

#[test]
fn faults_are_not_proved() {
    // After a while, a lock has another owner, or none.
    let released = "    a[me] := v\n    owner := none\n    x := owner\n    a[x] := v";
    let locked = corpus::small("locked");
    let text = locked.replacen("    a[me] := v\n    owner := none", released, 1);
    assert_ne!(text, locked);
    assert!(!is_proved(&text));
    let text = "
algorithm counts
shared a[segment]: value
private k: 0..1
update(v):
    k := k + 1
    a[me] := v
scan:
    local copy[segment]: value
    atomic: for s in segments: copy[s] := a[s]
    return copy
";
    assert!(!is_proved(text), "the third update goes wrong");
    assert!(is_proved(&text.replace("k + 1", "1 - k")), "and this one does not");
}

/// Breaking rule 4 loses bowman: its owner would not be unique.
#[test]
fn join_with_two_owners_loses_the_proof() {
    let obligation = Obligation {
        mode: Mode::Direct,
        ghosts: Ghosts::Scans,
        specification: Specification::Observer,
        part: Part::Whole,
    };
    let model = compile(&corpus("bowman", None), obligation).expect("a supported program");
    let limits = Limits { views: 1 << 20, bytes: 1 << 29, ..Limits::default() };
    let right = prove(&model, limits, Sabotage::default()).finding;
    let broken =
        prove(&model, limits, Sabotage { two_owners: true, ..Sabotage::default() }).finding;
    assert!(right.holds());
    assert!(matches!(broken.attempt, Attempt::Fails(..)), "a spurious violation");
}

/// Reads without pauses would make a collect atomic, and a wrong program right.
#[test]
fn reads_without_pauses_would_prove_a_wrong_program() {
    let obligation = Obligation {
        mode: Mode::Direct,
        ghosts: Ghosts::Scans,
        specification: Specification::Observer,
        part: Part::Whole,
    };
    let mut model =
        compile(&corpus("naive_collect", None), obligation).expect("a supported program");
    let limits = Limits { views: 1 << 20, bytes: 1 << 29, ..Limits::default() };
    let finding = prove(&model, limits, Sabotage::default()).finding;
    assert!(matches!(finding.attempt, Attempt::Fails(..)), "it is wrong");
    for instruction in &mut model.code {
        if matches!(instruction.act, Act::Read(..)) {
            instruction.pause = [false; 3];
        }
    }
    assert!(
        prove(&model, limits, Sabotage::default()).finding.holds(),
        "without pauses the wrong program is proved"
    );
}

/// Members whose rounds store kept bytes do not count as any other.
#[test]
fn members_counted_as_others_would_prove_a_wrong_program() {
    let text = "
algorithm done
shared a[segment]: value
update(v):
    a[me] := v
scan:
    local done[segment]: bool
    local copy[segment]: value
    for s in segments:
        if not done[s]:
            done[s] := true
    if all s in segments: done[s]:
        for s in segments: copy[s] := a[s]
        return copy
    atomic: for s in segments: copy[s] := a[s]
    return copy
";
    let obligation = Obligation {
        mode: Mode::Direct,
        ghosts: Ghosts::Scans,
        specification: Specification::Observer,
        part: Part::Whole,
    };
    let mut model = compile(&parsed(text, None), obligation).expect("a supported program");
    let limits = Limits { views: 1 << 20, bytes: 1 << 29, ..Limits::default() };
    let finding = prove(&model, limits, Sabotage::default()).finding;
    assert!(matches!(finding.attempt, Attempt::Fails(..)), "a collect is not atomic");
    let mut loops = 0;
    for instruction in &mut model.code {
        if let Act::Begin(this) | Act::Next(this) = &mut instruction.act {
            loops += 1;
            if loops <= 2 {
                this.merged = [[true; 3]; 3];
            }
        }
    }
    model.index();
    assert!(
        prove(&model, limits, Sabotage::default()).finding.holds(),
        "the wrong program is proved"
    );
}

/// Bits that may be flipped: copied, negated and compared ones, except those that decide themselves
/// or are set to a constant.
#[test]
fn deciding_bits_are_not_flipped() {
    let text = "
algorithm flips
shared a[segment]: value
shared q[process]: bool
private mine: bool
update(v):
    t := q[me]
    MOVE
    if t != mine:
        a[me] := v
    q[me] := not mine
scan:
    local copy[segment]: value
    for s in segments: copy[s] := a[s]
    return copy
";
    let obligation = Obligation {
        mode: Mode::Direct,
        ghosts: Ghosts::Scans,
        specification: Specification::Observer,
        part: Part::Whole,
    };
    let classes = |step: &str| {
        let text = text.replace("MOVE", step);
        let model = compile(&parsed(&text, None), obligation).expect("a supported program");
        let kept = model.slots.iter().filter(|slot| slot.kept && slot.owner.is_none()).count();
        assert!(kept >= 4, "the handshake is kept: {text}");
        model.flips.len()
    };
    // One class of i, one of j; t writes no kept byte.
    assert_eq!([classes("skip"), classes("mine := not t"), classes("mine := t")], [2, 2, 2]);
    let deciding = ["mine := true", "mine := t = mine", "mine := t or mine"];
    for step in deciding {
        assert_eq!(classes(step), 0, "{step}");
    }
    assert_eq!(classes("if mine: mine := t"), 0);
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
        ("let pair := [m + 1 for m in 1..2]", "pair[x] = 1", false),
        ("let pair := [m + 1 for m in 1..2]", "pair[x] = 2", true),
    ];
    let mut tried = [0, 0];
    for (step, condition, writes) in looks {
        let text = text.replace("MOVE", step).replace("CONDITION", condition);
        let Ok(algorithm) = snapshot_language::parse("narrow", &text) else { continue };
        let Ok(program) = algorithm.program(None) else { continue };
        assert_eq!(answer(&program).proved, writes, "{text}");
        tried[usize::from(writes)] += 1;
    }
    assert!(tried[0] >= 3 && tried[1] >= 3, "{tried:?}");
}

/// A scan forgets the values of a failed collect: there are fewer views, with the same result.
#[test]
fn dead_bytes_of_scans_are_forgotten() {
    let program = corpus("attiya_welch", None);
    for place in [I, J] {
        let obligation = Obligation {
            mode: Mode::Direct,
            ghosts: Ghosts::Calls,
            specification: Specification::Local,
            part: Part::By(place),
        };
        let model = compile(&program, obligation).expect("a supported program");
        let mut lasting = model.clone();
        lasting.faint.clear();
        let [less, more] = [model, lasting].map(|model| {
            let finding = prove(&model, Limits::default(), Sabotage::default()).finding;
            assert!(finding.holds());
            finding.views()
        });
        assert!(20 * less < 19 * more, "{less} of {more}");
    }
}
