//! Views that were made elsewhere, first values, and last stores and writes: wrong programs whose
//! certificates were once accepted, each with a right twin. All named scalars are kept.

use snapshot_invariant::claim::{Obligation, Property};
use snapshot_invariant::layout::Layout;
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::write::{Part, WriteError};
use snapshot_language::program::Program;

use crate::programs::{certificate, parsed};

/// Returns the parts of a proof with these obligations that keeps all names without this text.
fn keeping_all_but(left_out: &str, program: &Program, obligations: &[&str]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for name in obligations {
        let obligation = Obligation::from_name(name).unwrap();
        let layout = Layout::new(program, obligation).unwrap();
        let names = layout.names().filter(|name| left_out.is_empty() || !name.contains(left_out));
        let nested = parts.iter().any(|part| part.obligation.property == Property::Nesting);
        parts.push(Part {
            obligation,
            kept: names.map(str::to_owned).collect(),
            point: None,
            round: None,
            late: false,
            loose: Vec::new(),
            decided: Vec::new(),
            alike: true,
            clock: None,
            windows: Vec::new(),
            names: Vec::new(),
            nested,
            classes: Vec::new(),
        });
    }
    parts
}

/// Asserts that the text has no certificate, and has one with the edit.
fn is_refused(text: &str, obligations: &[&str], left_out: &str, (from, to): (&str, &str)) {
    assert!(text.contains(from), "{from}");
    let made = |text: &str| {
        let program = parsed(text, None);
        let parts = keeping_all_but(left_out, &program, obligations);
        certificate(&program, &parts, InjectedFault::default())
    };
    let wrong = made(text);
    assert!(matches!(wrong, Err(WriteError::Failure { .. })), "{text}: {wrong:?}");
    let right = made(&text.replacen(from, to, 1));
    assert!(right.is_ok(), "with {to}: {text}: {right:?}");
}

const SCANS: [&str; 2] = ["scans.nesting", "scans.observer"];
const CALLS: [&str; 2] = ["calls.nesting", "calls.observer"];

/// The scan that reads a cell's first value did not make it.
#[test]
fn initial_views_of_cells_are_stale() {
    let text = "
algorithm nought

shared a[segment]: value
shared latest: view

update(v):
    a[me] := v

scan:
    r := latest
    return r
";
    let collect = "    local r: view\n    atomic:\n        for s in segments: r[s] := a[s]\n";
    is_refused(text, &SCANS, "", ("    r := latest\n", collect));
    let text = "
algorithm nought2

shared a[segment]: value
shared latest: view

update(v):
    a[me] := v

scan:
    r := look()
    return r

procedure look(): view:
    r := latest
    return r
";
    is_refused(text, &CALLS, "", ("    r := latest\n", collect));
}

/// A view from the place of one other process is not exempt in the place of another.
#[test]
fn views_are_exempt_only_in_the_place_of_their_process() {
    let matrix = corpus::small("matrix");
    let own = ("            if k != p: return x[k]\n", "            if k != p: skip\n");
    is_refused(matrix, &SCANS, "m[", own);
    is_refused(matrix, &SCANS, "", own);
    let swapped = "
algorithm swapped

shared a[segment]: value
shared r[process]: view

update(v):
    a[me] := v

scan:
    local w: view
    local x[process]: view
    for p in processes except me:
        y := r[p]
        for k in processes except me:
            if k != p:
                x[k] := y
                return x[k]
    atomic:
        for s in segments: w[s] := a[s]
    return w
";
    is_refused(swapped, &SCANS, "", ("                return x[k]\n", "                skip\n"));
    let published = "
algorithm matrix2

shared a[segment]: value
shared m[process]: array [process] of view

procedure look(): view:
    local w: view
    local x: array [process] of view
    for p in processes except me:
        x := m[p]
        for k in processes except me:
            if k != p: return x[k]
    atomic:
        for s in segments: w[s] := a[s]
    return w

update(v):
    local y: array [process] of view
    g := look()
    y := [g for k in processes]
    m[me] := y
    a[me] := v

scan:
    r := look()
    return r
";
    is_refused(published, &CALLS, "", own);
}

/// First values of locals may go wrong, too; and a value that nothing computes is unknown.
#[test]
fn initial_values_may_be_faults() {
    let text = "
algorithm wide

shared a[segment]: value

update(v):
    a[me] := v

scan:
    local w: view
    local p: process := process(2)
    atomic:
        for s in segments: w[s] := a[s]
    return w
";
    let faults = ["scans.faults", "scans.observer"];
    is_refused(text, &faults, "", ("process(2)", "process(1)"));
    let number = ("    local p: process := process(2)", "    local k: 0..n := 3");
    is_refused(&text.replacen(number.0, number.1, 1), &faults, "", ("0..n := 3", "0..n := 2"));
    let program = parsed(text, None);
    let parts = keeping_all_but("", &program, &["scans.observer"]);
    let made = snapshot_invariant::write::write(
        &program,
        &crate::programs::claim(&program),
        &parts,
        &mut Vec::new(),
        &mut snapshot_invariant::Budget { memory: 1 << 30, proceed: &mut || true },
    );
    assert!(matches!(made, Err(WriteError::Missing(_))), "{made:?}");
    let private = text.replacen("    local p: process := process(2)\n", "", 1).replacen(
        "shared a[segment]: value\n",
        "shared a[segment]: value\nprivate p: process := process(2)\n",
        1,
    );
    let observer = Obligation::from_name("scans.observer").unwrap();
    assert!(Layout::new(&parsed(&private, None), observer).is_err());
}

/// The result of a ghost scan is stored where a private variable says, and the last step of the
/// scan may store that variable.
#[test]
fn results_are_stored_at_the_index_of_the_last_step() {
    let text = "
algorithm z0

shared a[segment]: value
shared r[process]: view
shared ok: process or none := none
shared going: process or none := none
private x: 0..1

procedure look(): view:
    local w: view
    atomic:
        ok := none
        g := going
        if g != me: going := none
    atomic:
        o := ok
        if o != none and o != me: y := r[o]
    if o != none and o != me:
        x := 1
        return y
    atomic:
        for s in segments: w[s] := a[s]
    x := 1
    return w

update(v):
    local la[0..1]: view
    x := 0
    going := me
    la[x] := look()
    atomic:
        z := going
        if z = me:
            r[me] := la[0]
            ok := me
            going := none
    a[me] := v

scan:
    g := look()
    return g
";
    is_refused(text, &["calls.nesting"], "", ("r[me] := la[0]", "r[me] := la[1]"));
}

/// Views show the last write of a process before it loops for ever, including views in which it may
/// not loop.
#[test]
fn last_write_before_looping_is_visible() {
    let right = ("            if b: copy[s] := initial\n", "            if b: copy[s] := a[s]\n");
    is_refused(corpus::small("halts"), &SCANS, "junk", right);
    let faulty = corpus::small("halts_by_fault");
    let faults = ["scans.faults", "scans.observer"];
    is_refused(faulty, &faults, "junk", ("    p := none\n", "    p := false\n"));
}

/// All indices of a stored place may go wrong, also if the first is unknown, or the place holds
/// nothing.
#[test]
fn every_index_of_a_place_may_be_a_fault() {
    let faults = ["scans.faults", "scans.observer"];
    let wide = "
algorithm missed
shared a[segment]: value
update(v):
    local x[0..n]: array [0..1] of bool
    local q: 0..1 or none := none
    x[0][q] := true
    a[me] := v
scan:
    local w: view
    atomic:
        for s in segments: w[s] := a[s]
    return w
";
    is_refused(wide, &faults, "", ("0..1 or none := none", "0..1 or none := 0"));
    let unknown = "
algorithm missed2
shared a[segment]: value
shared k: process
update(v):
    local x[process]: array [process] of bool
    local q: process or none := none
    p := k
    x[p][q] := true
    a[me] := v
scan:
    local w: view
    atomic:
        for s in segments: w[s] := a[s]
    return w
";
    is_refused(unknown, &faults, "p#", ("process or none := none", "process or none := me"));
}
