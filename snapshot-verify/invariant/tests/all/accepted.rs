//! Certificates of right programs are accepted.

use std::time::Instant;

use snapshot_invariant::check::Answer;
use snapshot_invariant::claim::Property;
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::write::{Part, WriteError};
use snapshot_language::program::Program;

use crate::programs::{by_rounds, certificate, checked, of_corpus, parsed, parts, small};

/// A scan that takes a view from shared memory if a private variable is set, which never happens.
pub const SPARE: &str = "
algorithm spare
shared a[segment]: value
shared last[segment]: view
private is_spared: bool
update(v):
    w := look()
    last[me] := w
    a[me] := v
scan:
    w := look()
    if is_spared: w := last[me]
    return w
procedure look(): view:
    local w: view
    atomic:
        for s in segments: w[s] := a[s]
    return w
";

/// Parts of [`SPARE`]: nesting, and the vectors that scans assemble.
pub fn spare_parts(program: &Program) -> Vec<Part> {
    let mut found = parts(program, &["scans.nesting", "scans.observer"]);
    found[1].nested = true;
    found
}

/// A private array, stored to in loops that leave out the process itself.
pub const TIDY: &str = "
algorithm tidy
shared a[segment]: value
private noted[process]: bool
update(v):
    a[me] := v
    for k in processes except me: noted[k] := false
scan:
    local w: view
    atomic:
        for s in segments: w[s] := a[s]
    if noted[me]: w[me] := initial
    return w
";

/// Numbers of processes in the ranges of types.
pub const NUMBERED: &str = "
algorithm numbered
shared a[segment]: value
shared last: 0..n-1
shared next: process
update(v):
    local k: 0..n-1
    last := n - 1
    k := last
    k := (k + 1) mod n
    next := process(k)
    a[me] := v
scan:
    local w: view
    atomic:
        for s in segments: w[s] := a[s]
    return w
";

fn accepted(program: &Program, rungs: &[&str], least: u64) {
    accepted_by(program, parts(program, rungs), least);
}

fn accepted_by(program: &Program, mut parts: Vec<Part>, least: u64) {
    let began = Instant::now();
    // One list for all places of t, where that is precise enough.
    parts.iter_mut().for_each(|part| part.alike = true);
    let (text, summary) = certificate(program, &parts, InjectedFault::default()).unwrap();
    println!(
        "{}: {:?}, {} bytes, made in {:?}",
        program.name,
        summary.obligations,
        text.len(),
        began.elapsed()
    );
    let began = Instant::now();
    let per_view = text.len() / summary.views();
    // Fixed content weighs more in short lists.
    assert!(per_view <= 24 || summary.views() < 500, "{per_view} bytes per view");
    match checked(program, text.as_bytes()) {
        Answer::Accepted(accepted) => {
            println!("checked in {:?}, {} steps", began.elapsed(), accepted.steps);
            assert_eq!(accepted.views(), summary.views() as u64);
            assert!(accepted.views() >= least, "{}", accepted.views());
            assert!(accepted.steps > accepted.views());
        }
        answer => panic!("{answer:?}"),
    }
}

#[test]
fn proofs_by_the_observer() {
    accepted(&of_corpus("bowman", None), &["scans.observer"], 1000);
    accepted(&small("locked"), &["scans.observer"], 1000);
    accepted(&small("versioned"), &["scans.observer"], 500);
}

#[test]
fn proofs_of_programs_with_links() {
    accepted(&small("locked_by_links"), &["scans.observer"], 5_000);
    accepted(&small("undisturbed"), &["scans.observer"], 1_000);
    // A number in a range: the program may go wrong.
    let turns = small("turns");
    let mut found = parts(&turns, &["scans.nesting whole", "scans.observer"]);
    found[0].obligation.property = Property::Faults;
    accepted_by(&turns, found, 5_000);
}

#[test]
fn proofs_by_memory() {
    let rungs = ["scans.memory-t", "scans.memory-i", "scans.memory-j"];
    accepted(&small("versioned"), &rungs, 500);
}

/// Certificates by calls: afek_unbounded; at night afek_bounded, which takes minutes.
#[test]
fn proofs_by_calls() {
    let is_whole = test_support::effort::is_night();
    let name = if is_whole { "afek_bounded" } else { "afek_unbounded" };
    let rungs = ["calls.nesting", "calls.memory-t", "calls.memory-i", "calls.memory-j"];
    accepted(&of_corpus(name, None), &rungs, 1_000);
}

/// Certificates by rounds: each guess that leads to a certificate is right, and one does.
#[test]
fn proofs_by_rounds() {
    let published = small("published");
    let guesses = by_rounds(&published);
    let is_made =
        |parts: &Vec<Part>| certificate(&published, parts, InjectedFault::default()).is_ok();
    let (made, others): (Vec<_>, Vec<_>) = guesses.into_iter().partition(is_made);
    assert!(!made.is_empty() && others.len() > 1, "{} {}", made.len(), others.len());
    for parts in made {
        accepted_by(&published, parts, 1_000);
    }
}

/// Certificates of scans that might take a view from elsewhere: nesting shows that the view belongs
/// to a scan within them.
#[test]
fn proofs_of_borrowing_scans() {
    let spare = parsed(SPARE, None);
    accepted_by(&spare, spare_parts(&spare), 200);
}

/// Certificate of a program whose private array is stored to in rounds of any other process.
#[test]
fn proofs_with_loose_loops() {
    let tidy = parsed(TIDY, None);
    let loose = |part: &Part| part.loose.len();
    assert!(parts(&tidy, &["scans.observer"]).iter().map(loose).sum::<usize>() > 1);
    accepted(&tidy, &["scans.observer"], 30);
}

/// Certificate of a program with numbers that depend on n, in their ranges for each n.
#[test]
fn proofs_with_numbers_depending_on_n() {
    let numbered = parsed(NUMBERED, None);
    let mut found = parts(&numbered, &["scans.faults", "scans.observer"]);
    found[0].obligation.property = Property::Faults;
    accepted_by(&numbered, found, 40);
}

/// Integers have bytes wherever hints keep them: integers in range are known.
#[test]
fn large_integers_are_known() {
    let text = corpus::small("locked").replacen(
        "update(v):\n",
        "private k: 100..160\nupdate(v):\n    if k < 160: k := k + 1\n",
        1,
    );
    let program = parsed(&text, None);
    let right =
        certificate(&program, &parts(&program, &["scans.faults"]), InjectedFault::default());
    assert!(right.is_ok(), "{right:?}");
    let wrong = parsed(&text.replacen("k < 160", "k >= 100", 1), None);
    let refused = certificate(&wrong, &parts(&wrong, &["scans.faults"]), InjectedFault::default());
    assert!(matches!(refused, Err(WriteError::Failure { .. })), "{refused:?}");
}

/// Collects until the version of the last update, of any process, stays the same.
const STAMPED: &str = "
algorithm stamped
shared a[segment]: value
shared stamp: version
update(v):
    atomic:
        a[me] := v
        stamp := fresh
scan:
    local w: view
    loop
        old := stamp
        for s in segments: w[s] := a[s]
        latest := stamp
        if old = latest: return w
";

/// Certificate of a program in which each process makes versions that others keep.
#[test]
fn proofs_with_versions_by_any_process() {
    let stamped = parsed(STAMPED, None);
    accepted(&stamped, &["scans.observer"], 100);
    for (from, to) in [
        (
            "    atomic:\n        a[me] := v\n        stamp := fresh",
            "    stamp := fresh\n    a[me] := v",
        ),
        ("        stamp := fresh", "        old := stamp\n        stamp := old"),
    ] {
        assert!(STAMPED.contains(from), "{from}");
        let wrong = parsed(&STAMPED.replacen(from, to, 1), None);
        let made =
            certificate(&wrong, &parts(&wrong, &["scans.observer"]), InjectedFault::default());
        assert!(matches!(made, Err(WriteError::Failure { .. })), "{to}: {made:?}");
    }
}
