//! Rows of arrays that a field refers to, and lost processes: executions of programs that expose a
//! mistake in one of their rules, for any writes as the begin and the end of rounds.

use snapshot_invariant::layout::Layout;
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::Program;
use test_support::effort::{either, is_slow};

use super::walk::Counts;
use super::{SILENT, among_laid_out, executions};
use crate::programs::{by_rounds, parsed};

/// The row that is read was filled before it was named.
pub const COPIED: &str = "
algorithm copied
shared x: llsc record (phase: 1..3, who: process)
shared a[segment]: value
shared row[process][segment]: value
shared out: llsc view
update(v): a[me] := v
scan:
    push()
    push()
    result := LL(out)
    return result
procedure push():
    local v[segment]: value
    y := LL(x)
    if y.phase = 1:
        for s in segments:
            b := a[s]
            row[me][s] := b
        SC(x, (2, me))
        y := LL(x)
    if y.phase = 2:
        for s in segments: v[s] := row[y.who][s]
        LL(out)
        if VL(x): SC(out, v)
        SC(x, y with (phase: 1))
";

/// The named process writes its own row, and others read it.
pub const OWNED: &str = "
algorithm owned
shared x: llsc process
shared row[process][segment]: value
shared out: llsc view
update(v): row[me][me] := v
scan:
    local v[segment]: value
    y := LL(x)
    SC(x, me)
    y := LL(x)
    for s in segments: v[s] := row[y][s]
    LL(out)
    if VL(x): SC(out, v)
    result := LL(out)
    return result
";

/// A value read by a copy without the link to the name is published.
const UNGUARDED: &str = "
algorithm unguarded
shared x: llsc process
shared row[process][segment]: value
shared out: llsc view
update(v): row[me][me] := v
scan:
    local v[segment]: value
    y := LL(x)
    SC(x, me)
    y := LL(x)
    for s in segments: v[s] := row[y][s]
    LL(out)
    if VL(x): SC(out, v)
    LL(out)
    SC(out, v)
    result := LL(out)
    return result
";

/// Late SCs refer to rows that are not named any more, and a process that is named again has the
/// old links to its row.
const RETURNING: &str = "
algorithm returning
shared x: llsc process
shared row[process][segment]: llsc value
shared out: llsc view
update(v):
    y := LL(x)
    LL(row[y][me])
    SC(row[y][me], v)
scan:
    local v[segment]: value
    LL(x)
    SC(x, me)
    y := LL(x)
    for s in segments: v[s] := row[y][s]
    LL(out)
    if VL(x): SC(out, v)
    result := LL(out)
    return result
";

/// A late helper links to the row of a process that is not named any more, and has filled it since.
pub const REFILLED: &str = "
algorithm refilled
shared x: llsc record (on: bool, who: process)
shared row[process][segment]: llsc value
shared out: llsc view
update(v):
    y := LL(x)
    LL(row[y.who][me])
    if VL(x): SC(row[y.who][me], v)
scan:
    local v[segment]: value
    y := LL(x)
    if not y.on:
        row[me][me] := v[me]
        SC(x, (true, me))
    else:
        for s in segments: v[s] := row[y.who][s]
        LL(out)
        if VL(x): SC(out, v)
        SC(x, y with (on: false))
    result := LL(out)
    return result
";

/// A late update still writes its own row.
const BELATED: &str = "
algorithm belated
shared x: llsc process
shared row[process][segment]: value
shared out: llsc view
update(v):
    y := LL(x)
    row[me][me] := v
    SC(x, y)
scan:
    local v[segment]: value
    LL(x)
    SC(x, me)
    y := LL(x)
    for s in segments: v[s] := row[y][s]
    LL(out)
    if VL(x): SC(out, v)
    result := LL(out)
    return result
";

/// Returns the part of a guess at rounds, for programs with short lists; with the hints' scalars,
/// or all except copies of names.
fn chosen(program: &Program, name: &str, guess: usize, all: bool) -> Part {
    let found = by_rounds(program).swap_remove(guess).remove(1);
    let mut part = Part { names: vec![name.to_owned()], ..found };
    if all {
        let layout = Layout::new(program, part.obligation).unwrap();
        // A copy is the name itself, or within a record that is a copy.
        let is_data = |kept: &&str| {
            let (_, local) = kept.split_once(':').unwrap_or(("", kept));
            let is_copy = local.ends_with(".who") || local.ends_with(".y#1");
            let is_of_others = kept.contains("[t]") && !kept.contains("row[t]");
            !(is_copy && kept.contains(':') || is_of_others)
        };
        part.kept = layout.names().filter(is_data).map(str::to_owned).collect();
        (part.late, part.alike) = (false, true);
    }
    part
}

/// Returns the programs with a short list, and optionally those that take a minute. (The list of
/// `helped` takes more than 2 GiB.)
pub fn programs(many: bool) -> Vec<(Program, Part)> {
    let of = |text: &str, name: &str, guess, all| {
        let program = parsed(text, None);
        let part = chosen(&program, name, guess, all);
        (program, part)
    };
    let mut programs = vec![
        of(COPIED, "x.who phase=2,3 row", 0, false),
        of(COPIED, "x.who phase=2,3 row", 0, true),
        of(COPIED, "x.who row", 1, true),
        of(OWNED, "x row", 0, false),
    ];
    if many {
        programs.push(of(REFILLED, "x.who on=1 row", 1, true));
        programs.push(of(UNGUARDED, "x row", 0, false));
        let unlinked = REFILLED.replacen("if VL(x): SC(row", "SC(row", 1);
        programs.push(of(&unlinked, "x.who on=1 row", 1, true));
        programs.push(of(RETURNING, "x row", 0, false));
        programs.push(of(BELATED, "x row", 0, false));
    }
    programs
}

#[test]
fn states_of_programs_with_names_have_views() {
    let mut total = Counts::default();
    for (program, part) in programs(is_slow()) {
        let layout = lay_out(&program, &part).unwrap();
        assert!(!layout.named.is_empty(), "{}", program.name);
        match among_laid_out(&layout, SILENT, executions() / either(4, 2), 100) {
            Ok(counts) => total.add(counts),
            Err(missing) => panic!("{missing}"),
        }
    }
    let of = [total.links, total.lost, total.changes, total.joins];
    assert!(of.iter().all(|count| *count > 100), "{total:?}");
}
