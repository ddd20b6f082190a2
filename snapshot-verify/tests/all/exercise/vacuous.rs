//! Programs in which some event never occurs, each beside a good sibling.

use snapshot_verify::exercise::{Ending, Occurrence, Operation};

use super::{exercised, never, program};

/// A text and its expected notes.
struct Case {
    text: &'static str,
    never: &'static [&'static str],
    /// The operations that never return.
    lost: &'static [Operation],
    /// Whether an operation may be unable to end, and if so, whether all of them may.
    stuck: Option<bool>,
}

const CASES: &[Case] = &[
    Case {
        text: "algorithm a\nshared whole: view\nupdate(v):\n    atomic: w := whole; w[me] := v; \
               whole := w\nscan:\n    repeat w := whole until false\n    return w\n",
        never: &["return w"],
        lost: &[Operation::Scan],
        stuck: Some(true),
    },
    Case {
        text: "algorithm a\nshared whole: view\nupdate(v):\n    atomic: w := whole; w[me] := v; \
               whole := w\nscan:\n    repeat w := whole until true\n    return w\n",
        never: &[],
        lost: &[],
        stuck: None,
    },
    // A lock that is never released, by any process or by updates only.
    Case {
        text: "algorithm a\nshared lock: cas bool\nshared a[segment]: value\nupdate(v):\n    \
               loop: if CAS(lock, false, true): exit\n    a[me] := v\nscan:\n    local c[segment]: \
               value\n    loop: if CAS(lock, false, true): exit\n    for s in segments: c[s] := \
               a[s]\n    return c\n",
        never: &[],
        lost: &[],
        stuck: Some(true),
    },
    Case {
        text: "algorithm a\nshared lock: cas bool\nshared a[segment]: value\nupdate(v):\n    \
               loop: if CAS(lock, false, true): exit\n    a[me] := v\nscan:\n    local c[segment]: \
               value\n    for s in segments: c[s] := a[s]\n    return c\n",
        never: &[],
        lost: &[],
        stuck: Some(true),
    },
    Case {
        text: "algorithm a\nshared lock: cas bool\nshared a[segment]: value\nupdate(v):\n    \
               loop: if CAS(lock, false, true): exit\n    a[me] := v\n    lock := false\nscan:\n    \
               local c[segment]: value\n    loop: if CAS(lock, false, true): exit\n    for s in \
               segments: c[s] := a[s]\n    lock := false\n    return c\n",
        never: &[],
        lost: &[],
        stuck: None,
    },
    // A dead branch: the flag is written, but never read as true.
    Case {
        text: "algorithm a\nshared a[segment]: value\nshared f: bool\nupdate(v):\n    f := false\n    \
               a[me] := v\nscan:\n    local c[segment]: value\n    g := f\n    if g: c[me] := \
               a[me]\n    for s in segments: c[s] := a[s]\n    return c\n",
        never: &["c[me] := a[me]"],
        lost: &[],
        stuck: None,
    },
    // A procedure that is never called, and an unreachable `exit`.
    Case {
        text: "algorithm a\nshared a[segment]: value\nupdate(v):\n    loop:\n        a[me] := v\n        \
               if true: return\n        exit\nscan:\n    local c[segment]: value\n    for s in segments: c[s] := \
               a[s]\n    return c\nprocedure spare():\n    a[me] := initial\n",
        never: &["a[me] := initial", "exit"],
        lost: &[],
        stuck: None,
    },
    // An update that waits for a flag that is never set; and one that a scan sets.
    Case {
        text: "algorithm a\nshared whole: view\nshared f: bool\nupdate(v):\n    repeat g := f \
               until g\n    whole := [v for s in segments]\nscan:\n    w := whole\n    return w\n",
        never: &["whole := [v for s in segments]"],
        lost: &[Operation::Update],
        stuck: Some(true),
    },
    Case {
        text: "algorithm a\nshared whole: view\nshared f: bool\nupdate(v):\n    repeat g := f \
               until g\n    whole := [v for s in segments]\nscan:\n    f := true\n    w := whole\n    \
               return w\n",
        never: &[],
        lost: &[],
        // If all processes update before a scan begins.
        stuck: Some(true),
    },
    Case {
        text: "algorithm a\nshared whole: view\nshared f: process\nupdate(v):\n    loop:\n        g \
               := f\n        if g = me: exit\n        f := me\n    whole := [v for s in segments]\n\
               scan:\n    w := whole\n    return w\n",
        never: &[],
        lost: &[],
        stuck: None,
    },
];

#[test]
fn exactly_the_events_that_never_occur_are_reported() {
    for n in [2, 3] {
        for Case { text, never: expected, lost, stuck } in CASES {
            let program = program(text);
            let found = exercised(&program, n, None, 100_000);
            let mut dead = never(text, &found);
            dead.sort_unstable();
            assert_eq!(dead, *expected, "{text}");
            for (process, operation, standing) in &found.returns {
                let is_lost = *standing == Occurrence::Never;
                assert_eq!(is_lost, lost.contains(operation), "p{process}: {text}");
            }
            match (&found.ending, stuck) {
                (Ending::Possible, None) => {}
                (Ending::Impossible(found), Some(all)) => {
                    assert_eq!(found.is_deadlock, *all, "{text}");
                }
                (ending, _) => panic!("{ending:?}: {text}"),
            }
            let is_vacuous = !expected.is_empty() || !lost.is_empty() || stuck.is_some();
            assert_eq!(found.is_vacuous(), is_vacuous, "{text}");
        }
    }
}

/// A process that hangs alone is not in a deadlock: the others continue.
#[test]
fn a_process_may_hang_alone() {
    let text = "algorithm a\nshared a[segment]: value\nshared f: bool\nupdate(v):\n    if me = \
                process(1):\n        repeat g := f until g\n    a[me] := v\nscan:\n    local \
                c[segment]: value\n    for s in segments: c[s] := a[s]\n    return c\n";
    let found = exercised(&program(text), 3, None, 100_000);
    assert_eq!(never(text, &found), [""; 0]);
    for (process, operation, standing) in &found.returns {
        let hangs = (process.index(), *operation) == (1, Operation::Update);
        assert_eq!(*standing == Occurrence::Never, hangs, "p{process} {operation:?}");
    }
    let Ending::Impossible(stuck) = found.ending else { panic!("{:?}", found.ending) };
    let hanging = (stuck.process.index(), stuck.operation, stuck.is_deadlock);
    assert_eq!((hanging, stuck.moves.len()), ((1, Operation::Update, false), 1));
    assert_eq!(stuck.at.map(|span| &text[span.begin as usize..span.end as usize]), Some("g := f"));
}

/// With too few states for all, nothing is reported as never occurring. Hangs are still found,
/// because the future of a hang is small.
#[test]
fn unexplored_events_are_open() {
    for (number, case) in CASES.iter().enumerate() {
        let found = exercised(&program(case.text), 3, None, 20);
        assert_eq!(never(case.text, &found), [""; 0], "{number}");
        for (_, operation, standing) in &found.returns {
            let expected =
                if case.lost.contains(operation) { Occurrence::Open } else { Occurrence::Seen };
            assert_eq!(*standing, expected, "{number}");
        }
        let open = found.statements.iter().filter(|(_, one)| *one == Occurrence::Open);
        assert_eq!(open.count(), case.never.len(), "{number}");
        if case.stuck.is_none() {
            assert_eq!(found.ending, Ending::Open, "{number}");
        }
    }
    let found = exercised(&program(CASES[2].text), 6, None, 1_000);
    assert!(matches!(found.ending, Ending::Impossible(_)), "{:?}", found.ending);
}

/// Process 0 may have used up its operation with a scan, and never set the flag that the update of
/// process 1 waits for. That is not a hang: without the bound it would set the flag.
#[test]
fn bound_on_operations_causes_no_hang() {
    let text = "algorithm a\nshared whole: view\nshared f: bool\nupdate(v):\n    if me = \
                process(1):\n        repeat g := f until g\n        f := false\n    else: f := \
                true\n    atomic: w := whole; w[me] := v; whole := w\nscan:\n    w := whole\n    \
                return w\n";
    let program = program(text);
    for operations in [Some(1), Some(2), None] {
        let found = exercised(&program, 2, operations, 100_000);
        assert_eq!(
            (&found.ending, found.is_vacuous()),
            (&Ending::Possible, false),
            "{operations:?}"
        );
    }
}
