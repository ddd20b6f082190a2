//! Programs with state between operations: private variables, arrays by process, private or within
//! one shared cell, cells by number, links, and views that a process has returned or read before.

use crate::generate::Draw;

/// Label of the stream; see [`Draw::new`].
const KEEPING: u64 = 0x6b65_6570;

const DECLARATIONS: &str = "
private noted[process]: bool
private cache: view
private odd: bool
private which: 0..1
shared mask: array [process] of bool
shared slot[0..1]: bool
shared lent[process]: llsc bool
";

/// Statements on that state for any operation, line by line.
const GARNISH: [&[&str]; 23] = [
    &["odd := not odd"],
    &["which := (which + 1) mod 2"],
    &["noted[me] := not noted[me]"],
    &["for k in processes: noted[k] := true"],
    &["for k in processes except me: noted[k] := false"],
    &["if noted[me]: odd := true"],
    &["if any k in processes: noted[k]: odd := false"],
    &["mask := [noted[k] for k in processes]"],
    &["mask := [k = me for k in processes]"],
    &["m := mask", "for k in processes: noted[k] := m[k]"],
    &["m := mask", "odd := m[me]"],
    &["m := mask", "noted := m"],
    &["m := mask", "for k in processes except me:", "    if m[k]: noted[k] := not noted[k]"],
    &["for k in processes:", "    m := mask", "    if m[k]: odd := not odd"],
    &["slot[which] := odd"],
    &["odd := slot[which]"],
    &["for c in 0..1:", "    if slot[c]: odd := not odd"],
    &["odd := LL(lent[me])"],
    &["for k in processes: odd := LL(lent[k])"],
    &["for k in processes except me: odd := VL(lent[k])"],
    &["for k in processes: odd := SC(lent[k], noted[k])"],
    &["odd := LL(lent[me])", "odd := VL(lent[me])"],
    &["for k in processes:", "    odd := LL(lent[k])", "    odd := SC(lent[k], not odd)"],
];

/// Number of leading entries without access to shared memory.
const PRIVATE: usize = 7;

/// Number of leading entries without cells by number and links: every other program uses only
/// these.
const PLAIN: usize = 14;

/// Statements on the view of a scan, or of an update that has scanned.
const VIEWS: [&[&str]; 5] = [
    &["cache := w"],
    &["cache := w", "odd := true"],
    &["if odd: w := cache"],
    &["if noted[me]: w := cache"],
    &["if odd: w[me] := initial"],
];

/// Returns the random algorithm with this seed, with state between operations. Some are right, some
/// wrong. Reproducible.
#[must_use]
pub fn keeping(seed: u64) -> String {
    let mut draw = Draw::new(seed, KEEPING);
    let looks = draw.coin();
    let all = if seed.is_multiple_of(2) { GARNISH.as_slice() } else { &GARNISH[..PLAIN] };
    let mut text = format!("algorithm keeping_{seed}\nshared a[segment]: value");
    text += DECLARATIONS;
    if looks {
        text += "shared last[segment]: view\n";
    }
    text += "update(v):\n";
    garnish(&mut draw, all, 3, &mut text);
    if looks {
        lines(&["w := look()"], &mut text);
        garnish(&mut draw, &VIEWS[..3], 2, &mut text);
        lines(&["last[me] := w"], &mut text);
    }
    lines(&["a[me] := v"], &mut text);
    garnish(&mut draw, all, 3, &mut text);
    text += "scan:\n";
    if looks {
        lines(&["w := look()"], &mut text);
        garnish(&mut draw, &VIEWS, 2, &mut text);
        if draw.below(4) == 0 {
            lines(&["if noted[me]:", "    w := last[me]"], &mut text);
        }
        lines(&["return w"], &mut text);
        text += "procedure look(): view:\n";
    }
    text += "    local w: view\n";
    garnish(&mut draw, &GARNISH[..PRIVATE], 2, &mut text);
    match draw.below(3) {
        0 => lines(&["for s in segments: w[s] := a[s]"], &mut text),
        _ => lines(&["atomic:", "    for s in segments: w[s] := a[s]"], &mut text),
    }
    garnish(&mut draw, if looks { all } else { &VIEWS }, 2, &mut text);
    lines(&["return w"], &mut text);
    text
}

/// Appends up to `most - 1` statements of the pool.
pub(super) fn garnish(draw: &mut Draw, pool: &[&[&str]], most: usize, text: &mut String) {
    for _ in 0..draw.below(most) {
        lines(pool[draw.below(pool.len())], text);
    }
}

/// Appends lines of a procedure.
pub(super) fn lines(all: &[&str], text: &mut String) {
    for line in all {
        *text += "    ";
        *text += line;
        text.push('\n');
    }
}
