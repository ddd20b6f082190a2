//! Rows of arrays that a shared variable names, and late processes: executions of right programs,
//! and of random ones.

use std::fmt::Write;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use snapshot_everyn::model::{Ghosts, Obligation};
use snapshot_everyn::names::Use;
use snapshot_everyn::rounds::candidates;
use snapshot_language::program::Program;

use super::follow::Counts;
use super::programs::{DIRECT, corpus, parsed, views};
use super::random::{are_large_ones_taken, below, executions, programs, walks_among};
use trial::effort::{Effort, is_left_out};

/// Programs with a name that is always in force, and with one that is not.
const NAMED: [&str; 6] = [
    "
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
",
    // Late SCs refer to rows that are not named any more.
    "
algorithm renamed
shared x: llsc record (on: bool, who: process)
shared row[process][segment]: llsc value
shared out: view
update(v):
    y := LL(x)
    help(y.who, v)
procedure help(q: process, w: value):
    LL(row[q][me])
    SC(row[q][me], w)
scan:
    local v[segment]: value
    y := LL(x)
    SC(x, (true, me))
    y := LL(x)
    atomic: for s in segments: v[s] := row[y.who][s]
    out := v
    result := out
    return result
",
    // A late process publishes the values that it reads.
    "
algorithm unguarded
shared x: llsc record (on: bool, who: process)
shared row[process][segment]: value
shared out: llsc view
update(v): row[me][me] := v
scan:
    local v[segment]: value
    y := LL(x)
    SC(x, (true, me))
    y := LL(x)
    for s in segments: v[s] := row[y.who][s]
    LL(out)
    SC(out, v)
    result := LL(out)
    return result
",
    // A process that is named again still has the old links to its row.
    "
algorithm returning
shared x: llsc process
shared row[process][segment]: llsc value
shared out: view
update(v):
    y := LL(x)
    LL(row[y][me])
    SC(row[y][me], v)
scan:
    local v[segment]: value
    LL(x)
    SC(x, me)
    atomic:
        y := LL(x)
        for s in segments: v[s] := row[y][s]
    out := v
    result := out
    return result
",
    // A late helper links to the row of a process that is not named any more, and has filled it
    // since.
    "
algorithm refilled
shared x: llsc process
shared row[process][segment]: llsc value or none
shared out: view
update(v):
    y := LL(x)
    LL(row[y][me])
    SC(row[y][me], none)
scan:
    local v[segment]: value
    atomic:
        LL(x)
        for s in segments: row[me][s] := v[s]
    SC(x, me)
    atomic:
        y := LL(x)
        c := row[y][me]
    if c = none: out := v
    result := out
    return result
",
    // A late update fails to write the name, and still writes its row.
    "
algorithm belated
shared x: llsc process
shared row[process][segment]: value or none
shared out: view
update(v):
    y := LL(x)
    row[me][me] := none
    SC(x, y)
scan:
    local v[segment]: value
    LL(x)
    SC(x, me)
    y := LL(x)
    c := row[y][me]
    if c != none: v[me] := c
    out := v
    result := out
    return result
",
];

/// Returns the vectors of all guesses at rounds.
fn guesses(program: &Program) -> Vec<Obligation> {
    let guesses = candidates(program).expect("a supported program");
    guesses.into_iter().map(|ghosts: Ghosts| Obligation { ghosts, ..DIRECT }).collect()
}

#[test]
fn executions_with_named_rows_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let mut total = Counts::default();
    for text in NAMED.into_iter().chain([corpus::small("helped")]) {
        let program = parsed(text);
        // Hundreds of thousands of views.
        let is_large =
            ["belated", "helped", "refilled", "renamed", "returning"].contains(&&*program.name);
        if is_large && !are_large_ones_taken() {
            continue;
        }
        // The guess with about the fewest views.
        let within =
            |most| guesses(&program).into_iter().find_map(|one| views(&program, one, most));
        let found = within(1 << 18).or_else(|| within(1 << 20));
        let found = found.expect("views of some guess are found");
        assert!(!found.0.named.is_empty(), "rows are named");
        let counts = walks_among(&program, &found, 4 * executions(), 150);
        println!("{}: {} views, {counts:?}", program.name, found.1.rows.len());
        total.add(counts);
    }
    if are_large_ones_taken() {
        // Hundreds of thousands of views.
        let jayanti = corpus("jayanti");
        let found = views(&jayanti, guesses(&jayanti)[0], 1 << 20).expect("all views are found");
        let counts = walks_among(&jayanti, &found, executions(), 400);
        assert_eq!((counts.failures, counts.dubious), (0, 0), "no execution is abandoned");
        println!("jayanti: {} views, {counts:?}", found.1.rows.len());
        total.add(counts);
    }
    assert!(total.total() > 8_000 && total.links > 2_000, "{total:?}");
}

/// Returns a random program with a name: a random sequence of actions, under random conditions.
fn text(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut text = "\
algorithm named
shared x: llsc record (on: bool, who: process)
shared a[segment]: value
shared row[process][segment]: llsc value or none
shared out: llsc view
procedure help(q: process):
    LL(row[q][me])
    w := a[me]
"
    .to_owned();
    text += ["    if VL(x): SC(row[q][me], w)\n", "    SC(row[q][me], w)\n"][below(&mut random, 2)];
    text += "update(v):\n    y := LL(x)\n";
    let guards = ["", "", "if y.on: ", "if not y.on: "];
    for _ in 0..2 + below(&mut random, 4) {
        let guard = guards[below(&mut random, 4)];
        let bit = ["true", "false"][below(&mut random, 2)];
        let line = match below(&mut random, 7) {
            0 | 1 => "a[me] := v".to_owned(),
            2 => "y := LL(x)".to_owned(),
            3 => format!("SC(x, ({bit}, me))"),
            4 => "row[me][me] := v".to_owned(),
            _ => "help(y.who)".to_owned(),
        };
        writeln!(text, "    {guard}{line}").unwrap();
    }
    text += "    a[me] := v\nscan:\n    push()\n    push()\n    result := LL(out)\n    \
             return result\nprocedure push():\n    local v[segment]: value\n    y := LL(x)\n";
    for _ in 0..3 + below(&mut random, 4) {
        let guard = guards[below(&mut random, 4)];
        let bit = ["true", "false"][below(&mut random, 2)];
        let line = match below(&mut random, 9) {
            0 => "for s in segments: row[me][s] := none".to_owned(),
            1 => "for s in segments: (b := a[s]; row[me][s] := b)".to_owned(),
            2 | 3 => format!("SC(x, ({bit}, me))"),
            4 => format!("SC(x, y with (on: {bit}))"),
            5 | 6 => "y := LL(x)".to_owned(),
            7 => "for s in segments: (b := a[s]; v[s] := b)".to_owned(),
            _ => "for s in segments: (c := row[y.who][s]; if c != none: v[s] := c)".to_owned(),
        };
        // Two statements in a loop.
        match line.split_once(": (") {
            Some((head, body)) => {
                let (first, second) = body.trim_end_matches(')').split_once("; ").unwrap();
                let indent = if guard.is_empty() { "    " } else { "        " };
                if !guard.is_empty() {
                    writeln!(text, "    {}", guard.trim_end()).unwrap();
                }
                writeln!(text, "{indent}{head}:\n{indent}    {first}\n{indent}    {second}")
            }
            None => writeln!(text, "    {guard}{line}"),
        }
        .unwrap();
    }
    text += "    LL(out)\n    if VL(x): SC(out, v)\n    SC(x, y with (on: false))\n";
    text
}

#[test]
fn executions_of_random_programs_with_names_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let programs = programs(16);
    let (mut tried, mut lost, mut through, mut counts) = (0, 0, 0, Counts::default());
    for seed in 0..programs {
        let text = text(seed);
        let program = parsed(&text);
        for direct in guesses(&program) {
            let Some(found) = views(&program, direct, 6_000) else { continue };
            tried += 1;
            let used = |used: &Option<Use>| matches!(used, Some(Use::Through(..)));
            through += usize::from(found.0.code.iter().any(|one| used(&one.used)));
            lost +=
                usize::from(found.0.lost.iter().any(|one| one.ways.iter().any(Option::is_some)));
            counts.add(walks_among(&program, &found, 8, 80));
        }
    }
    println!("{tried} guesses of {programs} programs: {through} with names, {lost} with late ones");
    println!("{counts:?}");
    assert!(through > 4 && lost > 4 && counts.total() > 4_000, "{through} {lost} {counts:?}");
}
