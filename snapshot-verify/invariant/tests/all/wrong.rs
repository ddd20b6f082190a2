//! Wrong programs have no certificates, and lists that omit the failing views are refused.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_invariant::Budget;
use snapshot_invariant::check::Refusal;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::search::{Obstacle, close};
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::write::{Part, WriteError, lay_out};
use snapshot_language::program::Program;
use test_support::effort::{Effort, either, is_left_out};

use crate::accepted::{NUMBERED, SPARE, TIDY, spare_parts};
use crate::programs::{
    by_rounds, certificate, of_corpus, parsed, parts, refused, small, small_bug,
};

/// A process that has scanned updates without the lock: a scan's store before its first access
/// matters to views that do not follow it.
const LAX: &str = "
algorithm lax
shared owner: cas process or none := none
shared a[segment]: value
private lax: bool
update(v):
    if lax:
        a[me] := v
    else:
        repeat
            got := CAS(owner, none, me)
        until got
        a[me] := v
        owner := none
scan:
    local copy[segment]: value
    lax := true
    repeat
        got := CAS(owner, none, me)
    until got
    for s in segments:
        copy[s] := a[s]
    owner := none
    return copy
";

/// An update that has met itself among all processes does not take the lock.
pub const MET: &str = "
algorithm met
shared owner: cas process or none := none
shared a[segment]: value
update(v):
    met := false
    for k in processes:
        if k = me: met := true
    if met:
        a[me] := v
    else:
        repeat
            got := CAS(owner, none, me)
        until got
        a[me] := v
        owner := none
scan:
    local copy[segment]: value
    repeat
        got := CAS(owner, none, me)
    until got
    for s in segments:
        copy[s] := a[s]
    owner := none
    return copy
";

/// Returns wrong programs, each with an obligation that fails.
pub fn programs() -> Vec<(Program, &'static str)> {
    let mut programs = vec![
        (of_corpus("bowman", Some("early_exit")), "scans.observer"),
        (of_corpus("naive_collect", None), "scans.observer"),
        (of_corpus("afek_unbounded", Some("no_increment")), "calls.memory-t"),
    ];
    programs.push((parsed(LAX, None), "scans.observer"));
    programs.push((parsed(MET, None), "scans.observer"));
    let bugs: [(&str, &[&str]); 6] = [
        ("versioned", &["same_version", "any_equal", "itself", "own_left_out"]),
        ("locked", &["given_up", "any_answer", "not_taken", "own_left_out"]),
        ("undisturbed", &["silent", "linked_again", "validated"]),
        ("locked_by_links", &["not_free", "always_free", "linked_again"]),
        ("restored", &["restores"]),
        ("left_out", &["lost"]),
    ];
    for (name, bugs) in bugs {
        programs.extend(bugs.iter().map(|bug| (small_bug(name, bug), "scans.observer")));
    }
    programs
}

#[test]
fn wrong_programs_have_no_certificate() {
    for (program, rung) in programs() {
        let made = certificate(&program, &parts(&program, &[rung]), InjectedFault::default());
        assert!(matches!(made, Err(WriteError::Failure { .. })), "{}: {made:?}", program.name);
    }
}

/// Runs separately, and in the slow suite, because there are half a million views.
#[test]
fn fault_known_to_one_view_has_no_certificate() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let program = small("boss");
    let made =
        certificate(&program, &parts(&program, &["scans.observer"]), InjectedFault::default());
    assert!(matches!(made, Err(WriteError::Failure { .. })), "{made:?}");
}

/// All other views are listed, so that the check finds the failure.
#[test]
fn check_finds_failures_in_the_list() {
    let planted = InjectedFault { no_failures: true, ..InjectedFault::default() };
    let mut found = 0;
    // Every second one, in the slow suite each.
    for (program, rung) in programs().into_iter().step_by(either(2, 1)) {
        let Ok((text, _)) = certificate(&program, &parts(&program, &[rung]), planted) else {
            // Unsupported constructs stop the search, too.
            continue;
        };
        let refusal = refused(&program, text.as_bytes());
        assert!(matches!(refusal, Refusal::Failure { .. }), "{refusal}");
        found += 1;
    }
    assert!(found >= either(5, 10), "{found}");
}

/// The kept scalars are a guess, too: for any guess, wrong programs have no closed lists.
#[test]
fn no_guess_of_kept_scalars_proves_a_wrong_program() {
    let (mut refused, mut large) = (0, 0);
    for (program, rung) in programs() {
        let found = parts(&program, &[rung]).remove(0);
        let layout = Layout::new(&program, found.obligation).unwrap();
        let names: Vec<String> = layout.names().map(str::to_owned).collect();
        for seed in 0..4 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut kept = names.clone();
            // All scalars that the proof would need, and some of the rest; or some of all.
            kept.retain(|name| {
                let is_found = seed % 2 == 0 && found.kept.contains(name);
                is_found || random.next_u32() % 4 > 0
            });
            let part = Part { kept, late: seed % 4 < 2, ..found.clone() };
            let layout = lay_out(&program, &part).unwrap();
            let mut proceed = || true;
            let mut budget = Budget { memory: 16 << 20, proceed: &mut proceed };
            match close(&layout, InjectedFault::default(), &mut budget) {
                Err(Obstacle::Failure(_)) => refused += 1,
                Err(Obstacle::Unfinished(_) | Obstacle::Views) => large += 1,
                Ok(_) => panic!("{} {part:?}", program.name),
            }
        }
    }
    println!("{refused} refused, {large} too large");
    assert!(refused > 50, "{refused} {large}");
}

/// No guess at rounds proves a program whose scans return a view that is too old, or was not in
/// memory.
#[test]
fn no_guess_of_rounds_proves_a_wrong_program() {
    let bugs = [
        "unlocked",
        "unlocked_update",
        "free_update",
        "before",
        "collected",
        "given_up",
        "given_up_early",
    ];
    let mut tried = 0;
    for bug in bugs {
        let program = small_bug("published", bug);
        for parts in by_rounds(&program) {
            let mut all = parts.clone();
            // Also tokens that the hints do not keep.
            let layout = Layout::new(&program, parts[0].obligation).unwrap();
            all[0].kept = layout.names().map(str::to_owned).collect();
            for parts in [parts, all] {
                let made = certificate(&program, &parts, InjectedFault::default());
                assert!(matches!(made, Err(WriteError::Failure { .. })), "{bug}: {parts:?}");
                tried += 1;
            }
        }
    }
    assert!(tried > 20, "{tried}");
}

/// A text and its replacement.
type Edit<'a> = (&'a str, &'a str);

/// Wrong programs that are nearly [`SPARE`], [`TIDY`] and [`NUMBERED`].
#[test]
fn nearly_right_programs_have_no_certificate() {
    let spared = ("    last[me] := w", "    last[me] := w\n    is_spared := true");
    let is_made = |text: &str, parts: &[Part]| {
        let program = parsed(text, None);
        match certificate(&program, parts, InjectedFault::default()) {
            Ok(_) => true,
            Err(WriteError::Failure { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    };
    let observer = |program: &Program| parts(program, &["scans.observer"]);
    let faults = |program: &Program| parts(program, &["scans.faults"]);
    let of = |text: &str, of: &dyn Fn(&Program) -> Vec<Part>| of(&parsed(text, None));
    let cases: [(&str, Vec<Part>, &[Edit<'_>]); 3] = [
        (SPARE, of(SPARE, &spare_parts), &[spared]),
        (
            TIDY,
            of(TIDY, &observer),
            &[
                ("processes except me: noted[k] := false", "processes: noted[k] := true"),
                ("except me: noted[k] := false", "except process(0): noted[k] := true"),
                ("noted[k] := false", "noted[k] := not noted[me]\n    noted[me] := true"),
            ],
        ),
        (
            NUMBERED,
            of(NUMBERED, &faults),
            &[
                ("last := n - 1", "next := process(2)"),
                ("k := (k + 1) mod n\n    next := process(k)", "next := process(k + 1)"),
                (
                    "k: 0..n-1\n    last := n - 1\n    k := last\n    k := (k + 1) mod n\n",
                    "k: 0..n\n    k := n\n",
                ),
            ],
        ),
    ];
    // With the scalars of the right programs: the hints do not propose some of these.
    for (text, parts, edits) in cases {
        assert!(is_made(text, &parts), "{text}");
        for (from, to) in edits {
            assert!(text.contains(from), "{from}");
            assert!(!is_made(&text.replacen(from, to, 1), &parts), "{from}: {to}");
        }
    }
}
