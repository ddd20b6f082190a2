//! A guess that does not fit is refused at its own line, before any view is read.

use snapshot_invariant::check::Refusal;
use snapshot_invariant::claim::Obligation;
use snapshot_invariant::flips;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::Program;

use crate::altered::sealed;
use crate::lines::LOCK;
use crate::named::FILLED;
use crate::programs::{by_rounds, parsed, parts, refused};

/// Returns the refusal of a certificate of one obligation that ends with these lines of its head,
/// and the number of the last line.
fn ended(program: &Program, obligation: Obligation, head: &[String]) -> (Refusal, u64) {
    let first = [
        "snapshot-certificate 9 every",
        &format!("algorithm {}", program.name),
        "bug -",
        "text digest",
        "rewritten 0",
        "obligations 1",
        &format!("obligation {}", obligation.name()),
    ];
    let lines: Vec<String> =
        first.iter().map(ToString::to_string).chain(head.iter().cloned()).collect();
    let last = lines.len() as u64;
    (refused(program, sealed(&lines).as_bytes()), last)
}

fn is_refused_at_the_last_line(program: &Program, obligation: Obligation, head: &[&str]) {
    let head: Vec<String> = head.join("\n").lines().map(str::to_owned).collect();
    let (refusal, last) = ended(program, obligation, &head);
    let is_it = matches!(&refusal, Refusal::Line(error) if error.line == last);
    assert!(is_it, "{}: {head:?}: {refusal}", obligation.name());
}

fn part(program: &Program, rung: &str) -> Part {
    parts(program, &[rung]).remove(0)
}

/// Begin of a head without names and without a point.
const BEGIN: &str = "names 0\nclocks 0\nwindows 0\npoint -";

#[test]
fn names_points_rounds_and_late_operations() {
    let program = parsed(FILLED, None);
    let rounds = by_rounds(&program).remove(0).remove(1).obligation;
    let nesting = part(&program, "scans.nesting").obligation;
    is_refused_at_the_last_line(&program, rounds, &["names 2", "x.who row", "x.who row"]);
    for round in ["round 9 0 0 0", "round 0 0 0 0", "round 0 99 1 99"] {
        is_refused_at_the_last_line(&program, rounds, &[BEGIN, round]);
    }
    is_refused_at_the_last_line(&program, nesting, &["names 0\nclocks 0\nwindows 0", "point 99"]);
    is_refused_at_the_last_line(&program, nesting, &[BEGIN, "kept 0", "late 1"]);
}

#[test]
fn loops_cells_and_calls() {
    let program = parsed(FILLED, None);
    let observer = part(&program, "scans.observer").obligation;
    let begin = format!("{BEGIN}\nkept 0\nlate 0");
    for loose in ["i 9 0", "j 0 0", "i 1 9"] {
        is_refused_at_the_last_line(&program, observer, &[&begin, "loose 1", loose]);
    }
    let layout = Layout::new(&program, observer).expect("a layout");
    let scan = program.scan().0 as usize;
    let fits = |number: &usize| layout.bytes_of_loose((0, scan, *number)).is_some();
    let number = (0..4).find(fits).expect("a loop over segments");
    let loose = format!("i {scan} {number}");
    is_refused_at_the_last_line(&program, observer, &[&begin, "loose 2", &loose, &loose]);
    // Processes are lost where vectors of rounds are shown.
    let begin = format!("{begin}\nloose 0\nalike 0");
    is_refused_at_the_last_line(&program, observer, &[&begin, "lost 1", "owner"]);
    let mut found = by_rounds(&program).remove(0);
    let [(first, at), (second, end)] = found[1].round.expect("a round");
    let rounds = found.remove(1).obligation;
    let round = format!("round {first} {at} {second} {end}");
    let with_round = begin.replace("\nkept", &format!("\n{round}\nkept"));
    is_refused_at_the_last_line(&program, rounds, &[&with_round, "lost 1", "latest"]);
    is_refused_at_the_last_line(&program, rounds, &[&with_round, "lost 2", "owner", "owner"]);
    let begin = format!("{begin}\nlost 0");
    let call = format!("{} 0", program.update().0);
    is_refused_at_the_last_line(&program, observer, &[&begin, "calls 2", &call, &call]);
    let write = format!("{} 1", program.update().0);
    is_refused_at_the_last_line(&program, observer, &[&begin, "calls 1", &write]);
}

#[test]
fn conditions_classes_and_forgotten_scalars() {
    let program = parsed(LOCK, None);
    let part = part(&program, "scans.observer");
    let layout = lay_out(&program, &part).expect("a layout");
    let kept = layout.slots.iter().filter(|slot| slot.kept && !slot.name.is_empty());
    let kept: Vec<&str> = kept.map(|slot| slot.name.as_str()).collect();
    let kept = format!("kept {}\n{}", kept.len(), kept.join("\n"));
    let begin = format!("{BEGIN}\n{kept}\nlate 0\nloose 0\nalike 0\nlost 0\ncalls 0");
    let line = layout.decided_line(layout.decided.first().expect("a condition that decides"));
    is_refused_at_the_last_line(&program, part.obligation, &[&begin, "decided 2", &line, &line]);

    let begin = format!("{begin}\ndecided 0");
    let truth = layout.names().find(|name| name.contains("got")).expect("a bit").to_owned();
    let classes = vec![truth; flips::MOST + 1].join("\n");
    let count = format!("classes {}", flips::MOST + 2);
    is_refused_at_the_last_line(&program, part.obligation, &[&begin, &count, &classes]);

    let begin = format!("{begin}\nclasses 0");
    let scan = program.scan().0 as usize;
    let mut locals = 0..layout.frames[scan].locals.len();
    let hidden = locals.find(|local| !layout.may_forget(scan, *local)).expect("a loop's variable");
    let hidden = format!("{scan} 0 {hidden}");
    is_refused_at_the_last_line(&program, part.obligation, &[&begin, "forgotten 1", &hidden]);
    let begin = format!("{begin}\nforgotten 0");
    is_refused_at_the_last_line(&program, part.obligation, &[&begin, "unlinked 1", "0 0 0"]);
}

/// A clock is one cell that is a counter, and there is one; where processes may be lost there is none.
#[test]
fn clocks() {
    let declared = "algorithm filled\nshared seq: counter\nshared each[process]: counter\n\
                    shared flag: bool\n";
    let text = FILLED.trim_start().split_once('\n').map(|(_, rest)| format!("{declared}{rest}"));
    let program = parsed(&text.expect("several lines"), None);
    let observer = part(&program, "scans.observer").obligation;
    for line in ["flag 1 0", "each 1 0", "none 1 0", "seq 0 0", "seq 1 2"] {
        is_refused_at_the_last_line(&program, observer, &["names 0\nclocks 1", line]);
    }
    is_refused_at_the_last_line(&program, observer, &["names 0\nclocks 2", "seq 1 0", "seq 1 0"]);
    let rounds = by_rounds(&program).remove(0).remove(1).obligation;
    is_refused_at_the_last_line(&program, rounds, &["names 0\nclocks 1", "seq 1 0"]);
    // Where it fits, the line behind it is the one that is refused.
    is_refused_at_the_last_line(
        &program,
        observer,
        &["names 0\nclocks 1", "seq 1 0", "windows 0", "point 99"],
    );
}

/// Versions are numbered in each view, by one byte.
#[test]
fn more_than_100_versions() {
    let text = "
algorithm versions
shared a[segment]: value
private p[0..3][0..62]: version
update(v):
    a[me] := v
scan:
    local copy[segment]: value
    atomic:
        for s in segments: copy[s] := a[s]
    return copy
";
    let program = parsed(text, None);
    let obligation = part(&program, "scans.observer").obligation;
    let layout = Layout::new(&program, obligation).expect("a layout");
    let versions = layout.names().filter(|name| name.starts_with("i:p["));
    let versions: Vec<&str> = versions.take(101).collect();
    let head = format!(
        "{BEGIN}\nkept 101\n{}\nlate 0\nloose 0\nalike 0\nlost 0\ncalls 0\ndecided 0\nclasses 0\n\
         forgotten 0\nunlinked 0",
        versions.join("\n")
    );
    let head: Vec<String> = head.lines().map(str::to_owned).collect();
    let (refusal, _) = ended(&program, obligation, &head);
    assert!(matches!(refusal, Refusal::Unsupported(_)), "{refusal}");
}
