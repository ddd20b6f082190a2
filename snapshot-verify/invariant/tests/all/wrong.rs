//! Wrong programs have no certificates, and lists that omit the failing views are refused.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_invariant::Budget;
use snapshot_invariant::check::Refusal;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::search::{Obstacle, close};
use snapshot_invariant::step::Planted;
use snapshot_invariant::write::{Part, WriteError, lay_out};
use snapshot_language::program::Program;
use trial::effort::{Effort, either, is_left_out};

use crate::accepted::{NUMBERED, SPARE, TIDY, spare_parts};
use crate::programs::{by_rounds, certificate, of_corpus, parsed, parts, refused, small};

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
    // Right programs, each with an edit that makes it wrong.
    let edits = [
        ("versioned", "r[me] := (v, fresh)", "old := r[me]; r[me] := old with (val: v)"),
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
        ("undisturbed", "c := true\n    ", ""),
        ("undisturbed", "done := SC(c, seen)", "seen := LL(c)\n        done := SC(c, seen)"),
        ("undisturbed", "SC(c, seen)", "VL(c)"),
        ("locked_by_links", "if o = none: got := SC(owner, me)", "got := SC(owner, me)"),
        ("locked_by_links", "o := LL(owner)", "o := LL(owner); o := none"),
        ("locked_by_links", "got := SC(owner, me)", "x := LL(owner); got := SC(owner, me)"),
    ];
    for (name, from, to) in edits {
        let text = corpus::small(name);
        assert!(text.contains(from), "{from}");
        programs.push((parsed(&text.replacen(from, to, 1), None), "scans.observer"));
    }
    programs
}

#[test]
fn wrong_programs_have_no_certificate() {
    for (program, rung) in programs() {
        let made = certificate(&program, &parts(&program, &[rung]), Planted::default());
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
    let made = certificate(&program, &parts(&program, &["scans.observer"]), Planted::default());
    assert!(matches!(made, Err(WriteError::Failure { .. })), "{made:?}");
}

/// All other views are listed, so that the check finds the failure.
#[test]
fn check_finds_failures_in_the_list() {
    let planted = Planted { no_failures: true, ..Planted::default() };
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
            match close(&layout, Planted::default(), &mut budget) {
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
    let edits = [
        // The lock is not taken.
        ("    acquire()\n    for s", "    for s"),
        ("    acquire()\n    a[me]", "    a[me]"),
        ("    acquire()\n    a[me] := v\n    owner := none", "    a[me] := v"),
        // An earlier published view is returned.
        ("    acquire()\n    for s", "    result := latest\n    acquire()\n    for s"),
        ("    return result", "    for s in segments: copy[s] := a[s]\n    return copy"),
        // The lock is given up too soon.
        ("    latest := copy\n    owner := none", "    owner := none\n    latest := copy"),
        (
            "    for s in segments:\n        copy",
            "    owner := none\n    for s in segments:\n        copy",
        ),
    ];
    let mut tried = 0;
    for (number, (from, to)) in edits.into_iter().enumerate() {
        let mut text = corpus::small("published").replacen(from, to, 1);
        assert!(text.contains(to), "{from}");
        if to.contains("result := latest") {
            text = text.replacen("    result := latest\n    return", "    return", 1);
        }
        let program = parsed(&text, None);
        for parts in by_rounds(&program) {
            let mut all = parts.clone();
            // Also tokens that the hints do not keep.
            let layout = Layout::new(&program, parts[0].obligation).unwrap();
            all[0].kept = layout.names().map(str::to_owned).collect();
            for parts in [parts, all] {
                let made = certificate(&program, &parts, Planted::default());
                assert!(matches!(made, Err(WriteError::Failure { .. })), "{number}: {parts:?}");
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
        match certificate(&program, parts, Planted::default()) {
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
