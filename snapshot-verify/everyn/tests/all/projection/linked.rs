//! LL/SC cells: executions of programs with links, random ones among them.

use std::fmt::Write;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use snapshot_everyn::model::{Ghosts, Obligation, Part};
use snapshot_everyn::rounds::candidates;
use snapshot_everyn::shape::{I, T};
use snapshot_language::program::Program;
use trial::effort::{Effort, either, is_left_out};

use super::follow::Counts;
use super::programs::{DIRECT, LOCAL, NESTED, corpus, parsed, small, views};
use super::random::{are_large_ones_taken, below, executions, programs, walks, walks_among};

#[test]
fn executions_with_links_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let mut total = Counts::default();
    for name in ["undisturbed", "locked_by_links", "turns"] {
        for obligation in [NESTED, DIRECT] {
            let counts = walks(&small(name), obligation, 2 * executions(), 150);
            assert_eq!((counts.failures, counts.dubious), (0, 0), "no execution is abandoned");
            assert!(counts.links > 1_000, "{counts:?}");
            total.add(counts);
        }
    }
    // A write to the cell of an unknown process may break any of the links.
    let numbered = "
algorithm numbered
shared m[process]: llsc bool
shared a[segment]: value
update(v):
    x := LL(m[me])
    m[process(0)] := not x
    ok := VL(m[me])
    if ok: a[me] := v
    a[me] := v
scan:
    local copy[segment]: value
    x := LL(m[me])
    m[process(0)] := not x
    ok := VL(m[me])
    for s in segments: copy[s] := a[s]
    if ok: for s in segments: copy[s] := a[s]
    return copy
";
    let counts = walks(&parsed(numbered), NESTED, 2 * executions(), 60);
    assert!(counts.links > 1_000, "{counts:?}");
    total.add(counts);
    assert!(total.total() > 100_000 && total.links > 20_000, "{total:?}");
}

#[test]
fn executions_of_helpers_with_links_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    // riany keeps too much to enumerate.
    let jayanti = corpus("jayanti");
    let mut total = walks(&jayanti, DIRECT, 4 * executions(), 60);
    if are_large_ones_taken() {
        // Hundreds of thousands of views.
        let faults = Obligation { part: Part::Faults, ..NESTED };
        total.add(walks(&jayanti, faults, 2_000, 150));
    }
    let [all, links] = either([30_000, 12_000], [50_000, 20_000]);
    assert!(total.total() > all && total.links > links, "{total:?}");
}

/// Ghost scans within updates that leave them a link, or take it away.
#[test]
fn executions_with_links_across_ghost_scans_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let text = "
algorithm across
shared c: llsc bool
shared a[segment]: value
update(v):
    FIRST
    s := look()
    ok := SC(c, true)
    if ok: a[me] := v
    a[me] := v
scan:
    s := look()
    return s
procedure look(): view:
    local copy[segment]: value
    WITHIN
    for s in segments: copy[s] := a[s]
    return copy
";
    let ways = [
        ("skip", "x := LL(c)"),
        ("x := LL(c)", "skip"),
        ("x := LL(c)", "c := false"),
        ("x := LL(c)", "y := LL(c)\n    SC(c, y)"),
    ];
    let mut total = Counts::default();
    for (first, within) in ways {
        let program = parsed(&text.replace("FIRST", first).replace("WITHIN", within));
        let calls = |one| Obligation { ghosts: Ghosts::Calls, ..one };
        let by = [T, I].map(|place| Obligation { part: Part::By(place), ..LOCAL });
        for obligation in [NESTED, DIRECT, by[0], by[1]].map(calls) {
            total.add(walks(&program, obligation, executions(), 60));
        }
    }
    // Linked to a cell of a process that a shared variable names: a view that follows that process
    // loses its knowledge of the link while the ghost scan is not followed.
    let text = "
algorithm across_named
shared o: process
shared m[process]: llsc bool
shared a[segment]: value
update(v):
    q := o
    x := LL(m[q])
    s := look()
    ok := SC(m[q], true)
    if ok: a[me] := v
    a[me] := v
scan:
    o := me
    s := look()
    return s
procedure look(): view:
    local copy[segment]: value
    for s in segments: copy[s] := a[s]
    return copy
";
    let obligation = Obligation { ghosts: Ghosts::Calls, ..NESTED };
    total.add(walks(&parsed(text), obligation, 2 * executions(), 60));
    assert!(total.total() > 50_000 && total.links > 10_000, "{total:?}");
}

/// Returns the obligations of each guess at rounds.
fn by_rounds(name: &str, program: &Program) -> Vec<[Obligation; 2]> {
    let guesses = candidates(program).expect("a supported program");
    assert!(guesses.len() >= 2, "{name}");
    let nested = |ghosts| Obligation { ghosts, part: Part::Tokens, ..NESTED };
    guesses.into_iter().map(|ghosts| [nested(ghosts), Obligation { ghosts, ..DIRECT }]).collect()
}

#[test]
fn executions_with_rounds_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let mut total = Counts::default();
    let published = small("published");
    for guess in by_rounds("published", &published) {
        for obligation in guess {
            total.add(walks(&published, obligation, executions(), 120));
        }
    }
    // A wrong guess is abandoned where a round ends.
    assert!(total.total() > 20_000 && total.failures > 10, "{total:?}");
    let jayanti = corpus("jayanti");
    for [nested, _] in by_rounds("jayanti", &jayanti) {
        let counts = walks(&jayanti, nested, executions(), 150);
        assert_eq!((counts.failures, counts.dubious), (0, 0), "rounds are within scans");
        assert!(counts.links > 1_000 && counts.changed[usize::from(T)] > 300, "{counts:?}");
    }
}

/// Returns a random program: LL, SC, VL and plain writes, of one cell, of one that names a process,
/// and of one per process, whose results decide how a collect is made.
fn text(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut text = "\
algorithm linked
shared c: llsc bool
shared o: llsc process or none := none
shared m[process]: llsc bool
shared h[process]: process
shared a[segment]: value
private kept: bool
"
    .to_owned();
    let mut operation = |text: &mut String, is_scan: bool| {
        for _ in 0..2 + below(&mut random, 4) {
            let bit = ["true", "false", "kept", "not kept", "got"][below(&mut random, 5)];
            let own = ["me", "p", "me"][below(&mut random, 3)];
            let line = match below(&mut random, 18) {
                0 => "got := LL(c)".to_owned(),
                1 => "got := VL(c)".to_owned(),
                2 => format!("got := SC(c, {bit})"),
                3 => format!("c := {bit}"),
                4 | 5 => format!("got := LL(m[{own}])"),
                6 => format!("got := VL(m[{own}])"),
                7 => format!("got := SC(m[{own}], {bit})"),
                8 => format!("m[{own}] := {bit}"),
                9 => "r := LL(o)\n    if r != none: p := r".to_owned(),
                10 => "got := SC(o, me)".to_owned(),
                11 => "got := VL(o)".to_owned(),
                12 => format!("for q in processes: SC(m[q], {bit})"),
                13 => "for q in processes: got := LL(m[q])".to_owned(),
                14 => "kept := got".to_owned(),
                15 => "h[me] := p".to_owned(),
                // For another process, the named process is unknown.
                16 => "p := h[p]".to_owned(),
                _ => "o := none".to_owned(),
            };
            let guard = ["", "", "if got: ", "if not got: "][below(&mut random, 4)];
            let is_block = line.starts_with("for") || line.contains('\n');
            writeln!(text, "    {}{line}", if is_block { "" } else { guard }).unwrap();
        }
        *text += match is_scan {
            true => "    atomic: for s in segments: w[s] := a[s]\n",
            false => "    if got: a[me] := v\n    a[me] := v\n",
        };
    };
    text += "update(v):\n    local got: bool\n    local r: process or none\n    p := me\n";
    operation(&mut text, false);
    text += "scan:\n    local w: view\n    local got: bool\n    local r: process or none\n    \
             p := me\n";
    operation(&mut text, true);
    text += "    if got: atomic: for s in segments: w[s] := a[s]\n    return w\n";
    text
}

#[test]
fn executions_of_random_programs_with_links_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let programs = programs(40);
    let (mut tried, mut refused, mut counts) = (0, 0, Counts::default());
    for seed in 0..programs {
        let text = text(seed);
        let Ok(algorithm) = snapshot_language::parse("linked", &text) else {
            refused += 1;
            continue;
        };
        let Ok(program) = algorithm.program(None) else {
            refused += 1;
            continue;
        };
        for obligation in [NESTED, DIRECT] {
            let Some(found) = views(&program, obligation, 4_000) else { continue };
            tried += 1;
            counts.add(walks_among(&program, &found, 8, 60));
        }
    }
    println!("{tried} obligations of {programs} programs, {refused} refused: {counts:?}");
    assert!(tried as u64 > programs / 4, "{tried}, {refused} refused");
    assert!(counts.total() > 8_000 && counts.links > 2_000, "{counts:?}");
    assert!(counts.changed.iter().all(|changed| *changed > 60), "{counts:?}");
}
