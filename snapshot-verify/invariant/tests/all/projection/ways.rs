//! Programs of lost processes that expose a mistake in one rule: on the possible actions along
//! paths, their ends, and the views in which processes are lost.

use snapshot_invariant::flips::load;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::step::lost::found;
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::{Program, SharedId};
use snapshot_semantics::interpret::code::Instruction;
use test_support::effort::either;

use super::walk::{Counts, Views, walk};
use super::{SILENT, executions, listed};
use crate::programs::{by_rounds, parsed};

/// A program, and a guess at its kept scalars.
struct Aimed {
    /// Shared variables besides `x`, `c`, `never` and `out`; private variables, updates, and the
    /// begin of scans.
    text: &'static str,
    /// Prefixes of kept names: of all processes, or of one.
    kept: &'static str,
    class: &'static [&'static str],
    /// Content of `x`: truth values, or a process, the name of rows.
    content: &'static str,
}

const AIMED: Aimed = Aimed { text: "", kept: "", class: &[], content: "bool" };

const PROGRAMS: [Aimed; 12] = [
    // The end of a path depends on a late read.
    Aimed {
        text: "
shared z: bool
update(v):
    c := false
    LL(x)
    h := c
    f := z
    if f:
        LL(x)
        c := true
    else if VL(x): h := c
scan:
    local v[segment]: value
    f := z
    z := not f
    x := true
",
        kept: "t:link:x t:update.h c",
        ..AIMED
    },
    // One round of the loop is harmful. Views of different t do not agree on it: it is the round of
    // i.
    Aimed {
        text: "
update(v):
    LL(x)
    for s in segments:
        if s = me: c := true
        h := c
    if VL(x): h := c
scan:
    local v[segment]: value
    c := false
    x := true
",
        kept: "i:link:x i:update.h c",
        ..AIMED
    },
    // Two other processes are the same in views of it.
    Aimed {
        text: "
shared who: process
update(v):
    c := false
    p := who
    q := p
    LL(x)
    h := c
    if p != q: c := true
    if h:
        LL(x)
        h := c
    else if VL(x): h := c
scan:
    local v[segment]: value
    who := me
    x := true
    c := true
",
        kept: "i:link:x i:update.p i:update.q i:update.h c",
        ..AIMED
    },
    // The result of a loop depends on whether t is before i.
    Aimed {
        text: "
shared who: process
update(v):
    p := who
    LL(x)
    h := c
    f := false
    for s in segments:
        if s = p: f := true
        if s = me: g := f
    if VL(x): h := c
    LL(x)
    if g: c := true
scan:
    local v[segment]: value
    who := me
    x := true
    c := false
",
        kept: "t:link:x t:update.p t:update.h t:update.f t:update.g who c",
        ..AIMED
    },
    // A scan stores in a private variable, which others see.
    Aimed {
        text: "
private p: bool
update(v):
    x := true
    p := false
    c := true
scan:
    local v[segment]: value
    LL(x)
    h := c
    p := true
    if VL(x): h := c
    LL(x)
",
        kept: "i:link:x i:scan.h i:p c",
        ..AIMED
    },
    // A path ends in the round of t.
    Aimed {
        text: "
update(v):
    LL(x)
    h := c
    if VL(x): h := c
    for s in segments:
        LL(x)
        if VL(x): h := c
scan:
    local v[segment]: value
    x := true
    c := true
",
        kept: "i:link:x i:update.h c",
        ..AIMED
    },
    // In views of the process that i has read from, the read bit is relative to others.
    Aimed {
        text: "
shared who: process
shared r[process]: bool
update(v):
    c := false
    r[me] := true
    p := who
    LL(x)
    f := r[p]
    h := c
    if f: c := true
    if h:
        LL(x)
        f := r[p]
    else if VL(x): f := r[p]
scan:
    local v[segment]: value
    r[me] := false
    who := me
    x := true
    c := true
",
        kept: "i:link:x r[t] i:update.p i:update.f i:update.h c",
        class: &["r[t]"],
        ..AIMED
    },
    // The first access of an update is on its path, behind which it is invoked.
    Aimed {
        text: "
shared y: llsc bool
update(v):
    LL(y)
    if VL(x): h := c
    LL(x)
    if VL(x): c := true
scan:
    local v[segment]: value
    x := true
    c := false
",
        kept: "i:link:x i:link:y i:update.h c",
        ..AIMED
    },
    // The element at t is set in a round of any other.
    Aimed {
        text: "
update(v):
    local b[segment]: bool
    LL(x)
    h := c
    for s in segments:
        if s != me: b[s] := true
    if VL(x): h := c
    LL(x)
    if b[me]: c := true
scan:
    local v[segment]: value
    c := false
    x := true
",
        kept: "i:link:x i:update.h i:update.b#1[t] c",
        ..AIMED
    },
    // A named process writes its own row.
    Aimed {
        text: "
shared row[process][segment]: value or none
update(v):
    y := LL(x)
    SC(x, y)
scan:
    local v[segment]: value
    row[me][me] := none
    x := me
    LL(x)
    row[me][me] := v[me]
    SC(x, me)
    LL(x)
",
        kept: "x row[i][i] i:link:x",
        content: "process",
        ..AIMED
    },
    // The result of a path depends on the process: in that process's view it is t.
    Aimed {
        text: "
shared z: bool
shared r[segment]: bool
update(v):
    LL(x)
    h := c
    for s in segments:
        b := z
        if b: q := s
    if VL(x): h := c
    LL(x)
    h := c
    r[q] := true
scan:
    local v[segment]: value
    r[me] := false
    z := true
    c := true
    x := true
",
        kept: "i:link:x i:update.h i:update.q c r",
        ..AIMED
    },
    // Paths make versions.
    Aimed {
        text: "
update(v):
    LL(x)
    h := c
    u := fresh
    w := fresh
    if u = w: c := true
    if VL(x): h := c
    LL(x)
    h := c
scan:
    local v[segment]: value
    c := false
    x := true
",
        kept: "i:link:x i:update.h i:update.u i:update.w c",
        ..AIMED
    },
];

/// Scans never actually publish, so that no round is wrong.
fn program(Aimed { text, content, .. }: &Aimed) -> Program {
    let text = format!(
        "algorithm lost
shared x: llsc {content}
shared c: bool
shared never: bool
shared out: llsc view{text}    b := never
    if b:
        out := v
        out := v
    result := out
    return result
"
    );
    parsed(&text, None)
}

fn laid_out<'p>(program: &'p Program, aimed: &Aimed) -> Layout<'p> {
    let guesses: Vec<Part> = by_rounds(program).into_iter().map(|mut of| of.remove(1)).collect();
    let out = SharedId(3);
    let is_of_out = |part: &Part| {
        let layout = Layout::new(program, part.obligation).unwrap();
        let mut writes = part.round.into_iter().flatten();
        writes.all(|(procedure, at)| match layout.code[procedure].instructions[at] {
            Instruction::Access { access, .. } => access.place().variable == out,
            _ => false,
        })
    };
    let found = guesses.into_iter().find(is_of_out).expect("a round that is never published");
    let layout = Layout::new(program, found.obligation).unwrap();
    let chosen: Vec<&str> = aimed.kept.split(' ').chain(["never", "scan.b"]).collect();
    let is_kept = |name: &&str| {
        let short = name.split(['#', '[']).next().unwrap_or_default();
        let of_all = short.split_once(':').map_or(short, |(_, short)| short);
        [name, short, of_all].iter().any(|name| chosen.contains(name))
    };
    let kept = layout.names().filter(is_kept).map(str::to_owned).collect();
    let class = aimed.class.iter().map(|bit| ((*bit).to_owned(), None)).collect::<Vec<_>>();
    let names = Vec::from_iter((aimed.content == "process").then(|| "x row".to_owned()));
    let part = Part { kept, late: false, alike: true, classes: vec![class], names, ..found };
    let mut layout = lay_out(program, &part).unwrap();
    layout.lost = vec![SharedId(0)];
    layout
}

#[test]
fn states_of_aimed_programs_with_lost_processes_have_views() {
    for (number, aimed) in PROGRAMS.iter().enumerate() {
        let program = program(aimed);
        let layout = laid_out(&program, aimed);
        let family = listed(&layout, SILENT, 1 << 30).expect("all views");
        for (kind, listed) in family.kinds.iter().zip(&family.views) {
            let is_at_end = |view: &[u8]| {
                let view = load(&layout, view);
                found(&layout, kind, SILENT, view.clone()).is_ok_and(|ends| ends == [view])
            };
            let astray = listed.iter().filter(|view| !is_at_end(view)).count();
            assert_eq!(astray, 0, "{number}: views of {kind:?} with a lost process on its way");
        }
        let views = Views::new(&layout, &family, SILENT);
        let mut total = Counts::default();
        for seed in 0..executions() / either(4, 2) {
            match walk(&views, 2 + seed as usize % 3, seed, 60) {
                Ok(more) => total.add(more),
                Err(missing) => panic!("{number}: {}\n{missing}", aimed.text),
            }
        }
        println!("{number}: {} views, {total:?}", family.len());
        assert!(
            total.links > either(20, 100) && total.changes > either(500, 1_000),
            "{number}: {total:?}"
        );
    }
}
