//! One program per rule that makes lists short: without the rule's side conditions a wrong list
//! would be accepted.

use snapshot_invariant::check::{Answer, Refusal};
use snapshot_invariant::layout::Layout;
use snapshot_invariant::step::{Failure, InjectedFault};
use snapshot_invariant::write::{Part, WriteError};

use snapshot_language::program::Program;

use crate::altered::{lines, sealed};
use crate::programs::{certificate, checked, of_corpus, parsed, parts, refused};

/// An update looks without the lock if a private variable is set by then: wrong, though the
/// variable is never set while the process is idle.
pub const HASTY: &str = "
algorithm hasty
shared owner: cas process or none := none
shared a[segment]: value
private lax: bool
update(v):
    lax := true
    seen := look()
    lax := false
    repeat
        got := CAS(owner, none, me)
    until got
    a[me] := v
    owner := none
scan:
    seen := look()
    return seen
procedure look(): view:
    local copy[segment]: value
    if not lax:
        repeat
            got := CAS(owner, none, me)
        until got
    for s in segments:
        copy[s] := a[s]
    if not lax:
        owner := none
    return copy
";

/// Returns the part of [`HASTY`] and its variants, with the scalars that locks need in every ghost
/// scan, shown late.
pub fn hasty_part(program: &Program, rung: &str) -> Part {
    let found = parts(program, &[rung]).remove(0);
    let got = ["i", "j", "t"].map(|owner| format!("{owner}:look.got#1"));
    let kept = [found.kept.as_slice(), &got].concat();
    Part { late: true, kept, ..found }
}

/// A ghost scan behind a store to a private variable sees the stored value.
#[test]
fn late_ghost_scans_see_private_stores() {
    let hasty = parsed(HASTY, None);
    let careful = parsed(&HASTY.replace("lax := true", "lax := false"), None);
    for rung in ["calls.memory-t", "calls.memory-i", "calls.memory-j"] {
        // With two segments, one of them the process's own, i and j see one change only.
        for (program, is_right) in [(&hasty, rung != "calls.memory-t"), (&careful, true)] {
            let part = hasty_part(program, rung);
            let made = certificate(program, std::slice::from_ref(&part), InjectedFault::default());
            match made {
                Ok((_, summary)) => assert!(is_right && summary.views() > 100, "{rung}"),
                Err(WriteError::Failure { failure, .. }) => {
                    assert!(!is_right, "{rung} {failure} {part:?}")
                }
                Err(error) => panic!("{rung}: {error}"),
            }
        }
    }
}

/// A view that the process has kept since an earlier operation belongs to no ghost scan of the
/// present one.
#[test]
fn views_of_earlier_operations_are_stale() {
    let cached = corpus::small("cached");
    let fresh =
        cached.replace("        return cache\n", "        cache := look()\n        return cache\n");
    for (text, is_right) in [(cached, false), (&fresh, true)] {
        let program = parsed(text, None);
        let found = parts(&program, &["calls.nesting", "calls.observer"]);
        let made = certificate(&program, &found, InjectedFault::default());
        match made {
            Ok((text, _)) => {
                assert!(is_right);
                let answer = checked(&program, text.as_bytes());
                assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
            }
            Err(WriteError::Failure { failure, .. }) => {
                assert!(!is_right && matches!(failure, Failure::Stale(_)), "{failure}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Processes publish a view once; a scan waits for a view that was requested, and so began within
/// it, but the next scan returns it again.
const AGAIN: &str = "
algorithm again
type register = record (p: array [process] of bool, view: view)
shared owner: cas process or none := none
shared a[process]: value
shared r[process]: register
shared q[process][process]: bool
private published: bool
private found: bool
private from: process
update(v):
    local f[process]: bool
    a[me] := v
    if not published:
        for k in processes: f[k] := q[k][me]
        s := collect()
        r[me] := (f, s)
        published := true
scan:
    s := help()
    return s
procedure help(): view:
    if not found:
        for k in processes: q[me][k] := true
        repeat
            for k in processes:
                x := r[k]
                if x.p[me]:
                    from := k
                    found := true
        until found
    y := r[from]
    return y.view
procedure collect(): view:
    local copy[process]: value
    for k in processes: copy[k] := a[k]
    return [copy[k] for k in processes]
";

/// Fresh views are old to the next ghost scan.
#[test]
fn views_of_earlier_ghost_scans_are_stale() {
    let program = parsed(AGAIN, None);
    let made =
        certificate(&program, &parts(&program, &["calls.nesting"]), InjectedFault::default());
    let is_stale = |error: &WriteError| {
        matches!(error, WriteError::Failure { failure: Failure::Stale(_), .. })
    };
    assert!(made.as_ref().is_err_and(is_stale), "{made:?}");
}

/// A scan that stores its vector in an element of a process that has not begun, and reads it from
/// there: wrong for four processes, and right for processes that begin no later than the vector is
/// returned.
const LENT: &str = "
algorithm lent
shared a[segment]: value
shared begun[process]: bool
update(v):
    begun[me] := true
    a[me] := v
scan:
    s := look()
    return s
procedure look(): view:
    local lent[process]: view
    local got[process]: value
    for s in processes: got[s] := a[s]
    for k in processes: lent[k] := [got[s] for s in segments]
    for k in processes except me:
        has := begun[k]
        if not has: return lent[k]
    atomic: for s in processes: got[s] := a[s]
    return [got[s] for s in segments]
";

/// A view stored in an element of an array by process is judged only for the pairs of that process,
/// so it does not count as made here.
#[test]
fn views_in_elements_are_not_fresh() {
    let rungs = ["calls.nesting", "calls.memory-t", "calls.memory-i", "calls.memory-j"];
    let made = |text: &str| {
        let program = parsed(text, None);
        let mut parts = parts(&program, &rungs);
        for part in &mut parts {
            let layout = Layout::new(&program, part.obligation).unwrap();
            part.kept = layout.names().map(str::to_owned).collect();
        }
        certificate(&program, &parts, InjectedFault::default())
    };
    made(&LENT.replace("if not has: return lent[k]", "skip")).unwrap();
    let failed = made(LENT).err();
    assert!(matches!(failed, Some(WriteError::Failure { .. })), "{failed:?}");
}

/// A failure in the round of one process also occurs in the view in which that process is i; a
/// failure that needs two such processes is seen where one is i and the other is any other.
#[test]
fn faults_in_rounds_of_others_appear_for_i() {
    let counts = |body: &str| {
        let scan = format!("    local count[process]: 0..1\n    local copy[segment]: value{body}");
        let text = "
algorithm counts
shared a[segment]: value
update(v):
    a[me] := v
scan:
SCAN
    return copy
";
        let text = text.replace("SCAN", &scan);
        parsed(&text, None)
    };
    let once = "
    for k in processes:
        if count[k] = 0: count[k] := count[k] + 1";
    let twice = "
    for k in processes:
        count[k] := count[k] + 1
        count[k] := count[k] + 1";
    // Two others than k, which takes four processes.
    let pairs = "
    for p in processes:
        for q in processes:
            if p != q and p != me and q != me: count[p] := count[p] + 1";
    for (body, is_right) in [(once, true), (twice, false), (pairs, false)] {
        let program = counts(body);
        let parts = parts(&program, &["scans.faults"]);
        match certificate(&program, &parts, InjectedFault::default()) {
            Ok((text, _)) => {
                assert!(is_right, "{body}");
                let refusal = refused(&program, text.as_bytes());
                assert!(matches!(refusal, Refusal::Missing(_)), "all else is shown: {refusal}");
            }
            Err(error) => {
                let is_fault =
                    matches!(error, WriteError::Failure { failure: Failure::Fault(_), .. });
                assert!(is_fault && !is_right, "{body}: {error}");
            }
        }
    }
    let program = counts(pairs);
    let planted = InjectedFault { any_round: true, ..InjectedFault::default() };
    let parts = parts(&program, &["scans.faults"]);
    let (text, _) = certificate(&program, &parts, planted).expect("no check looks at it");
    assert!(matches!(refused(&program, text.as_bytes()), Refusal::Failure { .. }));
}

/// Scalars that conditions do not need are forgotten: the list is shorter, and accepted as the
/// longer one.
#[test]
fn decided_scalars_are_forgotten() {
    let program = of_corpus("afek_bounded", None);
    let found = parts(&program, &["calls.memory-i"]);
    assert!(found[0].decided.len() > 4, "{:?}", found[0].decided);
    let mut plain = found.clone();
    plain[0].decided.clear();
    let views = [found, plain].map(|parts| {
        let (text, summary) = certificate(&program, &parts, InjectedFault::default()).unwrap();
        let refusal = refused(&program, text.as_bytes());
        assert!(matches!(refusal, Refusal::Missing(_)), "all else is shown: {refusal}");
        let line = text.lines().find(|line| line.starts_with("decided ")).unwrap();
        assert_eq!(line == "decided 0", parts[0].decided.is_empty());
        // A meaningless entry is refused.
        if let Some(one) = text.lines().skip_while(|other| *other != line).nth(1)
            && !parts[0].decided.is_empty()
        {
            for wrong in [one.replacen("i:", "x:", 1), format!("{one} 0"), format!("{one} 999=i")] {
                let altered = sealed(&lines(&text.replacen(one, &wrong, 1)));
                let refusal = refused(&program, altered.as_bytes());
                assert!(matches!(refusal, Refusal::Line(_)), "{wrong}: {refusal}");
            }
        }
        summary.views()
    });
    assert!(views[0] + 100 < views[1], "{views:?}");
}

/// Returns a lock with an update that first records in one of two cells that it was made, and a
/// scan that gives up when it reads it.
fn numbered(which: &str) -> Program {
    let mut text = corpus::small("locked").to_owned();
    for (from, to) in [
        ("update(v):\n", "update(v):\n    noted[which] := true\n"),
        (
            "    local copy[segment]: value\n",
            "    local copy[segment]: value\n    gives_up := noted[0]\n    if gives_up: return copy\n",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let declared = format!("shared noted[0..1]: bool\n{which}\nupdate(v):");
    parsed(&text.replacen("update(v):", &declared, 1), None)
}

/// A write to a cell of unknown number may write each of the cells; so may one whose number may be
/// none, which is a fault in other executions.
#[test]
fn writes_at_unknown_indices_may_reach_every_cell() {
    for which in ["private which: 0..1", "private which: 0..1 or none := 0"] {
        let program = numbered(which);
        let found = parts(&program, &["scans.observer"]).remove(0);
        let layout = Layout::new(&program, found.obligation).unwrap();
        let names = layout.names().filter(|name| !name.contains("which"));
        let kept: Vec<String> = names.map(str::to_owned).collect();
        assert!(kept.iter().any(|name| name == "noted[0]"), "{kept:?}");
        let part = Part { kept, ..found };
        let made = certificate(&program, &[part], InjectedFault::default());
        let made = made.map(|(_, summary)| summary);
        let is_wrong = |error: &WriteError| {
            matches!(error, WriteError::Failure { failure: Failure::Vector(_), .. })
        };
        assert!(made.as_ref().is_err_and(is_wrong), "{which}: {made:?}");
    }
}

/// A step with too many outcomes, because much is unknown, ends the proof before it fills the
/// memory.
#[test]
fn step_with_too_many_outcomes_is_refused() {
    let collects = "
scan:
    local copy[segment]: value
    for s in segments: copy[s] := a[s]
    return copy
";
    let marks = "
algorithm marks
shared a[segment]: value
shared mark[process]: bool
update(v):
    atomic:
        for k in processes: mark[k] := true; mark[k] := false
    a[me] := v";
    let bits = "
algorithm bits
shared a[segment]: value
shared word: array [0..40] of bool
private copied: array [0..40] of bool
update(v):
    copied := word
    a[me] := v";
    let choices = "
algorithm choices
shared a[segment]: value
shared word: array [0..40] of bool
private odd: bool
update(v):
    copied := word
    for c in 0..40: if copied[c]: odd := not odd
    a[me] := v";
    for (text, kept) in [(marks, "mark["), (bits, "copied"), (choices, "update.copied")] {
        let program = parsed(&format!("{text}{collects}"), None);
        let found = parts(&program, &["scans.memory-i"]).remove(0);
        let layout = Layout::new(&program, found.obligation).unwrap();
        let names = layout.names().filter(|name| name.contains(kept) || name.contains("odd"));
        let part =
            Part { kept: [found.kept, names.map(str::to_owned).collect()].concat(), ..found };
        let made =
            certificate(&program, &[part], InjectedFault::default()).map(|(_, summary)| summary);
        let is_refused = |error: &WriteError| {
            matches!(error, WriteError::Failure { failure: Failure::TooMany, .. })
        };
        assert!(made.as_ref().is_err_and(is_refused), "{kept}: {made:?}");
    }
}

/// A collect that leaves out the process of the last update, and so returns its initial value.
const LEAVES_OUT_THE_LAST: &str = "
algorithm leaves_out_the_last
shared a[segment]: value
shared last: process
update(v):
    atomic:
        a[me] := v
        last := me
scan:
    local w: view
    atomic:
        left := last
        for s in segments except left: w[s] := a[s]
    return w
";

/// A loop that leaves out an unknown index may leave out each, or none that is listed.
#[test]
fn loops_may_leave_out_any_unknown_index() {
    let all = LEAVES_OUT_THE_LAST.replacen(" except left", "", 1);
    for (text, is_right) in [(LEAVES_OUT_THE_LAST, false), (&all, true)] {
        let program = parsed(text, None);
        let found = parts(&program, &["scans.observer"]).remove(0);
        let mut kept = found.kept.clone();
        kept.retain(|name| !name.contains("last") && !name.contains("left"));
        for kept in [found.kept.clone(), kept] {
            let made =
                certificate(&program, &[Part { kept, ..found.clone() }], InjectedFault::default());
            let made = made.map(|(_, summary)| summary);
            let is_wrong = |error: &WriteError| {
                matches!(error, WriteError::Failure { failure: Failure::Vector(_), .. })
            };
            assert_eq!(made.is_ok(), is_right, "{made:?}");
            assert!(is_right || made.as_ref().is_err_and(is_wrong), "{made:?}");
        }
    }
}
