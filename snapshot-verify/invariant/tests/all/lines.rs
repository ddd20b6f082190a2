//! The writer writes no line that the check refuses, for any names of variables and any guesses.

use snapshot_invariant::check::Answer;
use snapshot_invariant::claim::Ghosts;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::write::{Part, WriteError, lay_out};
use snapshot_language::program::Program;

use crate::named::FILLED;
use crate::programs::{by_rounds, certificate, checked, of_corpus, parsed, parts};

/// A lock whose condition is computed from an access: the result of the access is a local without a
/// name.
pub const LOCK: &str = "
algorithm lock
shared locked: cas process or none := none
shared a[segment]: value
update(v):
    acquire()
    a[me] := v
    locked := none
scan:
    local copy[segment]: value
    acquire()
    for s in segments: copy[s] := a[s]
    locked := none
    return copy
procedure acquire():
    repeat
        got := not CAS(locked,  # who: nobody @ first, é
            none, me)
    until not got
";

/// Returns the lines of a part of a certificate.
fn part<'t>(text: &'t str, title: &str) -> Vec<&'t str> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("{title} ")));
    let count = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap();
    lines.take(count).collect()
}

fn accepted(program: &Program, parts: &[Part]) -> String {
    let (text, _) = certificate(program, parts, InjectedFault::default()).unwrap();
    let answer = checked(program, text.as_bytes());
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}\n{text}");
    text
}

#[test]
fn unnamed_locals_are_one_word_in_conditions() {
    let program = parsed(LOCK, None);
    let text = accepted(&program, &parts(&program, &["scans.observer"]));
    let decided = part(&text, "decided");
    assert!(decided.iter().any(|line| line.contains("CAS(locked,_")), "{decided:?}");
}

/// A bit that is read where it is compared.
const COMPARED: &str = "
algorithm compared
shared owner: cas process or none := none
shared q[process]: bool
shared a[segment]: value
private p: bool
update(v):
    repeat
        got := CAS(owner, none, me)
    until got
    if q[ me ] != p: q[me] := p
    p := not p
    a[me] := v
    owner := none
scan:
    local copy[segment]: value
    repeat
        got := CAS(owner, none, me)
    until got
    for s in segments: copy[s] := a[s]
    owner := none
    return copy
";

#[test]
fn unnamed_locals_are_one_word_in_classes() {
    let program = parsed(COMPARED, None);
    let mut found = parts(&program, &["scans.observer"]);
    let layout = Layout::new(&program, found[0].obligation).unwrap();
    let hidden = |name: &&str| name.starts_with("t:update.q[ me ]#");
    let hidden = layout.names().find(hidden).unwrap().to_owned();
    let bits = [hidden, "q[t]".to_owned(), "t:p".to_owned()];
    found[0].kept.extend(bits.clone());
    found[0].classes.push(bits.map(|bit| (bit, None)).to_vec());
    let text = accepted(&program, &found);
    let classes = part(&text, "classes");
    assert!(classes.iter().any(|line| line.contains("t:update.q[_me_]#")), "{classes:?}");
}

/// Each guess twice, and guesses that fit nothing.
#[test]
fn unfit_guesses_are_omitted() {
    for (program, rung) in [
        (parsed(LOCK, None), "scans.observer"),
        (of_corpus("bowman", None), "scans.observer"),
        (parsed(COMPARED, None), "scans.observer"),
    ] {
        let mut found = parts(&program, &[rung]);
        for part in &mut found {
            part.decided.extend(part.decided.clone());
            part.loose.extend(part.loose.clone());
            part.loose.push((0, 77, 0));
            part.kept.push("no variable".to_owned());
            part.decided.push(("no variable".to_owned(), (0, 0), Vec::new()));
            let bits: Vec<_> = part.classes.concat();
            part.classes.push(bits);
            part.classes.extend(vec![vec![("no bit".to_owned(), None)]; 200]);
        }
        accepted(&program, &found);
    }
}

/// Operations are shown late only where vectors are, and rounds begin and end with writes.
#[test]
fn unfit_late_operations_are_omitted_and_rounds_refused() {
    let program = of_corpus("bowman", None);
    let mut found = parts(&program, &["scans.faults", "scans.nesting", "scans.observer"]);
    found.iter_mut().for_each(|part| part.late = true);
    let text = accepted(&program, &found);
    assert!(text.contains("\nlate 0\n"));
    found[2].obligation.ghosts = Ghosts::Rounds;
    for round in [None, Some([(0, 99), (1, 99)]), Some([(9, 0), (9, 0)])] {
        found[2].round = round;
        let made = certificate(&program, &found, InjectedFault::default());
        assert!(matches!(made, Err(WriteError::Unsupported(_))), "{round:?}: {made:?}");
    }
}

#[test]
fn repeated_guesses_are_taken_once() {
    let program = parsed(FILLED, None);
    let mut found = by_rounds(&program).into_iter().flatten();
    let mut vectors = found.find(|part| !part.names.is_empty()).expect("a part with a name");
    let once = vectors.names.len();
    vectors.names.extend(vectors.names.clone());
    assert_eq!(lay_out(&program, &vectors).expect("a layout").named.len(), once);

    let mut part = parts(&program, &["scans.observer"]).remove(0);
    let scan = program.scan().0 as usize;
    part.loose = (0..4).map(|number| (0, scan, number)).collect();
    let once = lay_out(&program, &part).expect("a layout").loose;
    assert!(!once.is_empty());
    part.loose.extend(part.loose.clone());
    assert_eq!(lay_out(&program, &part).expect("a layout").loose, once);
}
