//! Certificates of rewritten programs, and those that need no hint.

use snapshot_hints::guess::guesses;
use snapshot_invariant::check::{Answer, Refusal};
use snapshot_invariant::claim::{Claim, Property};
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::write::{Part, WriteError};
use snapshot_language::program::Program;
use snapshot_language::program::rewrite::rewrite;

use crate::altered::sealed;
use crate::programs::{certificate_of, checked, claim, parsed, parts, refused};

/// A lock by compare-and-swap on a Boolean, and a twin that takes it without success.
fn lock(until: &str) -> String {
    format!(
        "algorithm lock
shared locked: cas bool
shared a[segment]: value
update(v):
    acquire()
    a[me] := v
    locked := false
scan:
    local copy[segment]: value
    acquire()
    for s in segments: copy[s] := a[s]
    locked := false
    return copy
procedure acquire():
    repeat
        got := CAS(locked, false, true)
    until {until}
"
    )
}

/// A double collect with counters.
fn collect(increase: &str) -> String {
    format!(
        "algorithm collect
shared r[process]: record (data: value, seq: counter)
update(v):
    old := r[me]
    r[me] := (v, {increase})
scan:
    local a[process]: record (data: value, seq: counter)
    local b[process]: record (data: value, seq: counter)
    loop:
        for k in processes: a[k] := r[k]
        for k in processes: b[k] := r[k]
        if all k in processes: a[k].seq = b[k].seq:
            return [b[k].data for k in processes]
"
    )
}

/// A view in one cell; `torn`: read in one step and written in another.
fn one_view(is_torn: bool) -> String {
    let update = if is_torn { "x := w\n    x[me] := v\n    w := x" } else { "w[me] := v" };
    format!(
        "algorithm one_view\nshared w: view\nupdate(v):\n    {update}\nscan:\n    x := w\n    return x\n"
    )
}

/// The claim of a program that is rewritten, and the ways to a proof of what it is rewritten to: by what
/// the hints keep, and without hints.
fn rewritten(program: &Program) -> (Claim, Vec<Vec<Part>>) {
    let rewritten = rewrite(program).expect("a program of some form");
    let changes = rewritten.changes.iter().map(ToString::to_string).collect();
    let kept = parts(&rewritten.program, &["scans.observer"]);
    let ways = [vec![kept], guesses(&rewritten.program)].concat();
    (Claim { rewritten: changes, ..claim(program) }, ways)
}

/// The first certificate that a way leads to.
fn proved(program: &Program, claim: &Claim, ways: &[Vec<Part>]) -> Option<String> {
    let made = |way: &Vec<Part>| match certificate_of(program, claim, way, InjectedFault::default())
    {
        Ok((text, _)) => Some(text),
        Err(WriteError::Failure { .. } | WriteError::Unsupported(_)) => None,
        Err(other) => panic!("{other}"),
    };
    let text = ways.iter().find_map(made)?;
    let answer = checked(program, text.as_bytes());
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
    Some(text)
}

#[test]
fn certificate_states_the_rewriting() {
    for (right, wrong, change) in [
        (lock("got"), lock("true"), "owner locked"),
        (collect("old.seq + 1"), collect("old.seq"), "stamp r.seq"),
    ] {
        let program = parsed(&right, None);
        let (claim, ways) = rewritten(&program);
        assert_eq!(claim.rewritten, [change]);
        let text = proved(&program, &claim, &ways).expect("a proof");
        let said = format!("rewritten 1\n{change}\n");
        assert!(text.contains(&said), "{text}");
        // As it is written there is no proof; and none of the twin.
        assert!(proved(&program, &super::programs::claim(&program), &guesses(&program)).is_none());
        let twin = parsed(&wrong, None);
        let without = super::programs::claim(&twin);
        assert!(proved(&twin, &without, &guesses(&twin)).is_none());
        if rewrite(&twin).is_some() {
            let (claim, ways) = rewritten(&twin);
            assert!(proved(&twin, &claim, &ways).is_none());
        }
        // Another rewriting, none, or one more is refused.
        let lines = |with: &str| -> Vec<String> {
            let changed = text.replace(&said, with);
            changed.lines().filter(|line| !line.starts_with("end ")).map(str::to_owned).collect()
        };
        let twice = format!("rewritten 2\n{change}\n{change}\n");
        let refusal = refused(&program, sealed(&lines("rewritten 1\nstamp a\n")).as_bytes());
        assert_eq!(refusal, Refusal::Rewritten);
        // One more may also be more than there are variables.
        let refusal = refused(&program, sealed(&lines(&twice)).as_bytes());
        assert!(matches!(refusal, Refusal::Rewritten | Refusal::Line(_)), "{refusal}");
        let refusal = refused(&program, sealed(&lines("rewritten 0\n")).as_bytes());
        assert_ne!(refusal, Refusal::Rewritten);
        // So is the certificate of a program that is not rewritten, and of the twin.
        let refusal = refused(&twin, text.as_bytes());
        println!("{refusal}");
        let more = lines(&said).into_iter().chain(["x".to_owned()]).collect::<Vec<_>>();
        refused(&program, sealed(&more).as_bytes());
    }
}

#[test]
fn elements_of_shared_views_are_kept_one_by_one() {
    let right = parsed(&one_view(false), None);
    let ways = guesses(&right);
    let first = ways[0].last().unwrap().obligation;
    assert!(first.property == Property::Observer && first.name() == "scans.observer");
    assert!(proved(&right, &claim(&right), &ways).is_some());
    let torn = parsed(&one_view(true), None);
    assert!(proved(&torn, &claim(&torn), &guesses(&torn)).is_none());
}

#[test]
fn a_claim_of_another_rewriting_has_no_certificate() {
    let program = parsed(&lock("got"), None);
    let (_, ways) = rewritten(&program);
    let wrong = Claim { rewritten: vec!["owner a".to_owned()], ..claim(&program) };
    let made = certificate_of(&program, &wrong, &ways[0], InjectedFault::default());
    assert!(matches!(made, Err(WriteError::Rewritten)), "{made:?}");
}
