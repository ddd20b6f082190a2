//! Small programs, each for a part of the language.

use snapshot_language as language;
use snapshot_language::program::Program;

/// The expected result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    Linearizable,
    Violation,
    Fault(&'static str),
}

use Answer::{Fault, Linearizable, Violation};

/// A program with the expected result of its exploration.
pub struct Case {
    pub text: &'static str,
    /// The name of a bug; `None` for the correct text.
    pub bug: Option<&'static str>,
    pub processes: usize,
    /// Operations per process.
    pub operations: u32,
    pub answer: Answer,
}

impl Case {
    pub fn program(&self) -> Program {
        program(self.text, self.bug)
    }

    pub fn name(&self) -> String {
        let first = self.text.lines().find(|line| line.starts_with("algorithm"));
        format!("{}, bug {:?}, n = {}", first.unwrap_or(""), self.bug, self.processes)
    }
}

pub fn program(text: &str, bug: Option<&str>) -> Program {
    let algorithm = language::parse("test", text).unwrap_or_else(|wrong| panic!("{wrong}"));
    algorithm.program(bug).unwrap_or_else(|wrong| panic!("{wrong}"))
}

pub const BOWMAN: &str = include_str!("../../../../../corpus/algorithms/bowman.snapshot");

/// Records, `LL` and `SC` of a single cell.
pub const WHOLE: &str = r#"
algorithm whole
shared X: llsc record (values: view, last: process)
update(v):
    repeat
        old := LL(X)
        new := old.values
        new[me] := v
        done := SC(X, (new, me))
    until done
scan:
    (w, _) := LL(X)
    return w
bug deaf "a writer does not care whether it succeeded":
    in update, replace `until done` by `until true`
"#;

/// Like [`WHOLE`], with a plain write that breaks the links but undoes writes in between.
pub const PLAIN: &str = r#"
algorithm plain
shared X: llsc record (values: view, last: process or none)
update(v):
    repeat
        old := LL(X)
        new := old.values
        new[me] := v
        ok := VL(X)
        if ok: ok := SC(X, (values: new, last: none))
    until ok
scan:
    x := LL(X)
    X := x
    return x.values
"#;

/// A lock made of compare-and-swap, and procedures.
pub const LOCK: &str = r#"
algorithm lock
shared lock: cas process or none
shared a[segment]: value
procedure acquire():
    repeat
        ok := CAS(lock, none, me)
    until ok
procedure release(): lock := none
update(v):
    acquire()
    a[me] := v
    release()
scan:
    local copy[segment]: value
    acquire()
    for s in segments: copy[s] := a[s]
    release()
    return copy
bug unlocked "readers do not lock":
    in scan, delete `acquire()`
    in scan, delete `release()`
bug held "CAS from what is there":
    in acquire, replace `none` by `me`
"#;

/// Reads in one step.
pub const ATOMIC: &str = r#"
algorithm atomically
shared a[segment]: value
private done: 0..2
update(v):
    a[me] := v
    if done < 2: done := done + 1
scan:
    local copy[segment]: value
    atomic:
        for s in segments: copy[s] := a[s]
    return copy
bug piecemeal "one by one":
    in scan, replace `atomic:` by `if true:`
bug overflow "counts too far":
    in update, replace `done < 2` by `true`
"#;

/// Versions: double collect with fresh versions, without help.
pub const VERSIONS: &str = r#"
algorithm versions
shared r[process]: record (val: value, seq: version)
update(v): r[me] := (v, fresh)
scan:
    local a[process]: record (val: value, seq: version)
    local b[process]: record (val: value, seq: version)
    for k in processes: a[k] := r[k]
    loop
        for k in processes: b[k] := r[k]
        if all k in processes except me: a[k].seq = b[k].seq: exit
        a := b
    return [b[k].val for k in segments]
bug stale "versions are not compared":
    in scan, replace `a[k].seq = b[k].seq` by `a[k].seq = a[k].seq`
"#;

/// Counters, with order and remainder, compared where they are computed.
pub const COUNTERS: &str = r#"
algorithm counters
shared r[process]: record (val: value, seq: counter)
shared turn: llsc counter
private own: counter
update(v):
    x := LL(turn)
    SC(turn, x + 1)
    own := own + 1
    r[me] := (v, own)
scan:
    local a[process]: record (val: value, seq: counter)
    local seen[0..1]: bool
    again := true
    while again:
        for k in processes: a[k] := r[k]
        again := false
        for k in processes:
            b := r[k]
            if a[k].seq < b.seq or a[k].seq + 1 = b.seq: again := true
            seen[b.seq mod 2] := true
    return [a[k].val for k in segments]
bug backwards "compares the wrong way round":
    in scan, replace `a[k].seq < b.seq or a[k].seq + 1 = b.seq` by `a[k].seq > b.seq`
"#;

/// Constant and computed indices, single and double; assignments to parts and to several places;
/// and loops with exceptions.
pub const INDICES: &str = r#"
algorithm indices
type pair = record (left: process, right: process)
shared grid[process][0..1]: record (val: value, tags: array [1..2] of bit)
shared which[process]: 0..1
shared lock: cas process or none
private order: pair := (me, me)
private next[process]: process := me
procedure swap(x: pair): pair:
    x := (x.right, x.left)
    return x
procedure flip(t: 1..2, old: array [1..2] of bit): array [1..2] of bit:
    old[t] := 1 - old[t]
    for u in 1..2 except t: old[u] := old[t]
    return old
update(v):
    repeat
        ok := CAS(lock, none, me)
    until ok
    k := order.left
    w := which[k]
    t := grid[k][w].tags
    order := swap((left: order.right, right: next[next[k]]))
    next[next[order.left]] := order.right
    t := flip(w + 1, t)
    grid[order.left][1 - w] := (v, t)
    which[me] := 1 - w
    lock := none
scan:
    local copy[segment]: value
    repeat
        ok := CAS(lock, none, me)
    until ok
    for s in segments:
        w := which[process(s)]
        (copy[s], t) := grid[process(s)][w]
        odd := any u in 1..2 except w + 1: t[u] = 0 and u > w
        if odd or t[1] = t[2]: skip
        else: copy[s] := copy[segment(process(s))]
    lock := none
    return copy
bug wrong_half "writes the half that is current":
    in update, replace `grid[order.left][1 - w]` by `grid[order.left][w]`
bug outside "an index that is too large":
    in update, replace `flip(w + 1, t)` by `flip(w + 2, t)`
"#;

/// `none` where a value is required, but only in parts that are not evaluated.
pub const NONES: &str = r#"
algorithm nones
shared hint: process or none
shared a[segment]: value or none
update(v):
    a[me] := v
    hint := me
scan:
    local copy[segment]: value or none
    local mine[segment]: value
    h := hint
    if h != none and h != me: x := a[segment(h)]
    else: x := a[me]
    for s in segments: copy[s] := a[s]
    for s in segments: mine[s] := if copy[s] = none then initial else copy[s]
    atomic:
        for s in segments: copy[s] := a[s]
    for s in segments: mine[s] := if copy[s] = none then initial else copy[s]
    return mine
bug untested "takes what may be none":
    in scan, replace `h != none and h != me` by `h != me`
bug early "returns the collect":
    in scan, replace `atomic:` by `if true:`
"#;

/// Places whose indices change during the assignment, exceptions that change during a loop, indices
/// that are valid only where they are evaluated.
pub const MOVES: &str = r#"
algorithm moves
type cell = record (at: 0..1, also: 0..1)
shared a[segment]: value
shared hint: process or none
private w[0..1]: cell := (0, 1)
private turn: process := me
private sides: cell := (0, 1)
update(v):
    a[me] := v
    hint := me
scan:
    local copy[segment]: value
    local known[process]: bool
    h := hint
    w[w[0].at] := (w[1].also, 1 - w[0].at)
    w[w[0].also] := (at: w[w[0].at].also, also: w[0].at)
    sides := (sides.also, sides.at)
    if sides.at = 1: z := a[me]
    seen := h != none and known[h]
    none_known := h = none or not known[h]
    if seen or not none_known: copy[me] := a[me]
    for k in processes except turn:
        turn := k
        copy[k] := a[k]
        known[k] := true
    for k in processes: known[k] := k != turn
    atomic:
        for s in segments: copy[s] := a[s]
    if w[0].at + w[1].also > 1: x := a[segment(w[0].at)]
    if all k in processes except turn: known[k]: y := a[turn]
    return copy
bug kept "does not read again":
    in scan, replace `for s in segments: copy[s] := a[s]` by `skip`
bug unguarded "knows somebody in any case":
    in scan, replace `h != none and known[h]` by `known[h]`
"#;

pub fn cases() -> Vec<Case> {
    let case = |text, bug, processes, operations, answer| Case {
        text,
        bug,
        processes,
        operations,
        answer,
    };
    let range = Fault("a number is out of its range");
    vec![
        case(BOWMAN, None, 2, 2, Linearizable),
        case(BOWMAN, None, 3, 1, Linearizable),
        case(BOWMAN, Some("early_exit"), 3, 2, Violation),
        case(WHOLE, None, 2, 2, Linearizable),
        case(WHOLE, None, 3, 1, Linearizable),
        case(WHOLE, Some("deaf"), 2, 2, Violation),
        case(PLAIN, None, 2, 2, Violation),
        case(LOCK, None, 2, 2, Linearizable),
        case(LOCK, None, 3, 1, Linearizable),
        case(LOCK, Some("unlocked"), 3, 2, Violation),
        case(LOCK, Some("held"), 2, 1, Linearizable),
        case(ATOMIC, None, 3, 1, Linearizable),
        case(ATOMIC, Some("piecemeal"), 3, 2, Violation),
        case(ATOMIC, Some("overflow"), 2, 3, range),
        case(VERSIONS, None, 2, 2, Linearizable),
        case(VERSIONS, None, 3, 1, Linearizable),
        case(VERSIONS, Some("stale"), 3, 2, Violation),
        case(COUNTERS, None, 2, 2, Linearizable),
        case(COUNTERS, Some("backwards"), 3, 2, Violation),
        case(INDICES, None, 2, 2, Linearizable),
        case(INDICES, Some("wrong_half"), 2, 2, Violation),
        case(INDICES, Some("outside"), 2, 2, range),
        case(NONES, None, 2, 2, Linearizable),
        case(MOVES, None, 2, 2, Linearizable),
        case(MOVES, None, 3, 1, Linearizable),
        case(MOVES, Some("kept"), 3, 2, Violation),
        case(MOVES, Some("unguarded"), 2, 1, Fault("none is unwrapped")),
        case(NONES, Some("untested"), 2, 1, Fault("none is unwrapped")),
    ]
}

#[test]
fn all_cases_compile() {
    let mut wrong = Vec::new();
    for case in cases() {
        match language::parse("test", case.text).and_then(|parsed| parsed.program(case.bug)) {
            Ok(_) => {}
            Err(diagnostics) => wrong.push(diagnostics.to_string()),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
