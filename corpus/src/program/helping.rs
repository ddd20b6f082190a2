//! Programs with features that are hard for proofs for every n: nested helpers that return views
//! and take views as arguments; loops that skip a number or a process read before; versions lost in
//! the step that makes new ones; links broken and made in one step; processes that run for ever
//! after a write; and a lock that an update may bypass because of one of these.

use super::keeping::{garnish, lines};
use crate::generate::Draw;

/// Label of the stream; see [`Draw::new`].
const HELPING: u64 = 0x6865_6c70;

const DECLARATIONS: &str = "
shared a[segment]: value
shared last[segment]: view
shared owner: cas process or none := none
shared boss: process
shared num[process][process]: 0..1
shared ver: version
shared c: llsc bool
private zero: version
private noted: bool
private never: bool
private kept: view
";

const LOCALS: [&str; 7] = [
    "local p: process",
    "local e: 0..1",
    "local x: bool",
    "local z: version",
    "local w: view",
    "local y: view",
    "local copy: view",
];

/// Statements for any operation or helper.
const GARNISH: [&[&str]; 21] = [
    &["noted := true"],
    &["noted := not noted"],
    &["zero := ver"],
    &["zero := fresh", "ver := zero"],
    &["ver := fresh"],
    &["atomic:", "    ver := zero", "    ver := fresh"],
    &["atomic:", "    z := fresh", "    ver := z", "    zero := z"],
    &["c := true"],
    &["x := LL(c)"],
    &["x := VL(c)"],
    &["atomic:", "    c := true", "    x := LL(c)"],
    &["atomic:", "    x := LL(c)", "    x := SC(c, true)"],
    &["boss := me"],
    &["if noted:", "    c := true", "    loop:", "        p := boss"],
    &["repeat", "    z := ver", "until z = zero"],
    &["p := boss"],
    &["num[me][me] := 1"],
    &["for k in processes except p: num[k][me] := 1"],
    &["for k in processes except me:", "    e := num[k][me]"],
    &["e := num[p][me]", "for d in 0..1 except e:", "    if d = 1: noted := true"],
    &["p := boss", "e := num[p][me]", "for d in 0..1 except e:", "    if d = 0: noted := true"],
];

/// Conditions on which an update bypasses the lock.
const PASSES: [&[&str]; 8] = [
    &["x := SC(c, true)"],
    &["x := LL(c)"],
    &["x := VL(c)"],
    &["z := ver", "x := z = zero"],
    &["x := noted"],
    &["p := boss", "x := p = me"],
    &["e := num[me][me]", "x := e = 1"],
    &["p := boss", "e := num[p][me]", "x := e = 1"],
];

/// Ways in which helpers get their view from a collect, `q`, and perhaps another one, `w`.
const HELPS: [&[&str]; 9] = [
    &["w := q(y)"],
    &["w := q(w)", "w := q(y)"],
    &["w := q(y)", "y := q(w)"],
    &["y := q(w)", "w := q(y)", "w := q(y)", "y := q(w)"],
    &["w := q(y)", "if never: w := kept"],
    &["w := q(y)", "last[me] := w"],
    &["w := q(y)", "kept := w"],
    &["y := last[me]", "w := q(y)"],
    &["w := q(y)", "for k in processes except me:", "    y := last[k]"],
];

/// Returns the random algorithm with this seed, with helpers that return views and an update that
/// may bypass its lock. Some are right, some wrong. Reproducible.
#[must_use]
pub fn helping(seed: u64) -> String {
    let mut draw = Draw::new(seed, HELPING);
    let mut text = format!("algorithm helping_{seed}{DECLARATIONS}");
    let is_locked = draw.coin();
    text += "update(v):\n";
    locals(&mut text);
    garnish(&mut draw, &GARNISH, 3, &mut text);
    if draw.coin() {
        lines(HELPS[draw.below(HELPS.len())], &mut text);
    }
    if is_locked {
        let take = ["    repeat", "        x := CAS(owner, none, me)", "    until x"];
        lines(PASSES[draw.below(PASSES.len())], &mut text);
        lines(&["if x:", "    a[me] := v", "else:"], &mut text);
        lines(&take, &mut text);
        lines(&["    a[me] := v", "    owner := none"], &mut text);
    } else {
        lines(&["a[me] := v"], &mut text);
    }
    garnish(&mut draw, &GARNISH, 2, &mut text);
    text += "scan:\n";
    locals(&mut text);
    let calls = if draw.below(3) == 0 { "w := r(y)" } else { "w := q(y)" };
    lines(&[calls, "return w"], &mut text);
    text += "procedure r(given: view): view\n";
    locals(&mut text);
    lines(HELPS[draw.below(HELPS.len())], &mut text);
    if draw.below(4) == 0 {
        lines(&["for k in processes except me:", "    y := last[k]", "    return y"], &mut text);
    }
    lines(&[["return w", "return y", "return w", "return given"][draw.below(4)]], &mut text);
    text += "procedure q(given: view): view\n";
    locals(&mut text);
    garnish(&mut draw, &GARNISH, 3, &mut text);
    if is_locked {
        lines(&["repeat", "    x := CAS(owner, none, me)", "until x"], &mut text);
        lines(&["for s in segments: copy[s] := a[s]"], &mut text);
        match draw.below(3) {
            0 => lines(&["owner := none"], &mut text),
            _ => {
                lines(&["atomic:", "    owner := none"], &mut text);
                let inner = [&["ver := zero", "ver := fresh"], &["c := true", "x := LL(c)"]];
                let inner = inner[draw.below(2)].map(|line| format!("    {line}"));
                lines(&inner.each_ref().map(String::as_str), &mut text);
            }
        }
    } else if draw.below(3) == 0 {
        lines(&["for s in segments: copy[s] := a[s]"], &mut text);
    } else {
        lines(&["atomic:", "    for s in segments: copy[s] := a[s]"], &mut text);
    }
    garnish(&mut draw, &GARNISH, 2, &mut text);
    if draw.below(3) == 0 {
        lines(&["if never: return given"], &mut text);
    }
    lines(&["return copy"], &mut text);
    text
}

fn locals(text: &mut String) {
    lines(&LOCALS, text);
}
