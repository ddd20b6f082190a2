//! Seeded random algorithms, as texts in the language of `snapshot-verify`.
//!
//! Each begins as a *skeleton*: one of eight small ways to build a snapshot (the whole view in one
//! cell, a collect in one step or in several, two collects that must agree on versions or counters,
//! an undisturbed collect, LL/SC, a lock). *Garnish* is added around it, and between its steps:
//! variables of all types of the language, and statements that move, compare, count and exchange
//! their contents, some of them in atomic blocks, in loops over processes, under conditions. Now
//! and then garnish distorts the result of a scan or the effect of an update. So a good share of
//! the programs is linearizable and a good share is not. The verdict depends on the correct
//! treatment of names, versions, counters and links.
//!
//! Programs are well-typed by construction. They may have faults (a number out of range), and an
//! operation may never end. No statement looks at a value, so each program is data-independent.

mod helping;
mod keeping;
mod statement;
mod variable;

use crate::generate::Draw;
pub use helping::helping;
pub use keeping::keeping;
use statement::Writer;
use variable::Variables;

/// Label of the stream for programs; see [`Draw::new`].
const LABEL: u64 = 0x7072_6f67;
/// Declaration of the counter for FAA.
const STEPS: &str = "shared steps: cas counter\n";
/// Label of the stream for programs that [exchange](exchanging).
const EXCHANGING: u64 = 0x7377_6170;

/// Way in which an operation finds or changes the view.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Skeleton {
    /// The whole view in one cell, read and written in one step.
    Whole,
    /// One cell per segment, collected in one step.
    AtomicCollect,
    /// One cell per segment, read one after the other.
    Collect,
    /// Two collects, until they show the same versions.
    Versions,
    /// Two collects, until they show the same counters.
    Sequences,
    /// A collect during which nothing was announced.
    Announced,
    /// The whole view in one cell with LL and SC.
    Linked,
    Lock,
}

const SKELETONS: [Skeleton; 8] = [
    Skeleton::Whole,
    Skeleton::AtomicCollect,
    Skeleton::Collect,
    Skeleton::Versions,
    Skeleton::Sequences,
    Skeleton::Announced,
    Skeleton::Linked,
    Skeleton::Lock,
];

/// Returns the random algorithm with this seed. Reproducible; see the crate's page.
#[must_use]
pub fn text(seed: u64) -> String {
    written(seed, LABEL, false)
}

/// Returns the random algorithm with this seed, whose garnish also exchanges, adds, sets flags,
/// writes parts of cells, divides, and runs through computed ranges. Reproducible.
#[must_use]
pub fn exchanging(seed: u64) -> String {
    written(seed, EXCHANGING, true)
}

fn written(seed: u64, label: u64, exchanging: bool) -> String {
    let mut draw = Draw::new(seed, label);
    // A skeleton with one step has fewer states, so it can bear more garnish.
    let skeleton = match draw.below(2) {
        0 => SKELETONS[draw.below(2)],
        _ => SKELETONS[draw.below(SKELETONS.len())],
    };
    let variables = Variables::random(&mut draw);
    let mut text = format!("algorithm random_{seed}\n");
    for line in skeleton.declarations() {
        text += line;
        text.push('\n');
    }
    text += &variables.declarations();
    if exchanging {
        text += "shared pair: record (flag: bool, count: 0..2)\nshared flag: cas bool\n";
        text += STEPS;
    }
    let budget = match skeleton {
        Skeleton::Whole | Skeleton::AtomicCollect => 3,
        Skeleton::Collect | Skeleton::Linked | Skeleton::Lock => 2,
        Skeleton::Versions | Skeleton::Sequences | Skeleton::Announced => 1,
    };
    text += "\nupdate(v):\n";
    let mut writer = Writer::new(&mut draw, &variables, false, budget).exchanging(exchanging);
    skeleton.update(&mut writer);
    text += &writer.finish();
    text += "\nscan:\n    local w: view\n    local zero: view\n";
    for line in skeleton.locals() {
        text += line;
        text.push('\n');
    }
    let mut writer = Writer::new(&mut draw, &variables, true, budget).exchanging(exchanging);
    skeleton.scan(&mut writer);
    text += &writer.finish();
    // Not every method supports programs with counters.
    if text.contains("(steps") { text } else { text.replace(STEPS, "") }
}

impl Skeleton {
    const fn declarations(self) -> &'static [&'static str] {
        match self {
            Self::Whole => &["shared whole: view"],
            Self::AtomicCollect | Self::Collect => &["shared a[segment]: value"],
            Self::Versions => {
                &["type cell = record (val: value, seq: version)", "shared a[segment]: cell"]
            }
            Self::Sequences => &[
                "type cell = record (val: value, seq: counter)",
                "shared a[segment]: cell",
                "private seq: counter",
            ],
            Self::Announced => &["shared active: process or none", "shared a[segment]: value"],
            Self::Linked => &["shared whole: llsc view"],
            Self::Lock => &["shared lock: cas bool", "shared a[segment]: value"],
        }
    }

    const fn locals(self) -> &'static [&'static str] {
        match self {
            Self::Versions | Self::Sequences => {
                &["    local one[segment]: cell", "    local two[segment]: cell"]
            }
            _ => &[],
        }
    }

    fn update(self, to: &mut Writer<'_>) {
        match self {
            Self::Whole => {
                to.garnish();
                to.atomic(&["u := whole", "u[me] := v", "whole := u"]);
                to.garnish();
            }
            Self::AtomicCollect | Self::Collect => {
                to.garnish();
                to.atomic_or_alone("a[me] := v");
                to.garnish();
            }
            Self::Versions => {
                to.garnish();
                to.line("a[me] := (v, fresh)");
            }
            Self::Sequences => {
                to.garnish();
                to.line("seq := seq + 1");
                to.line("a[me] := (v, seq)");
            }
            Self::Announced => {
                to.line("active := none");
                to.garnish();
                to.line("a[me] := v");
            }
            Self::Linked => {
                to.garnish();
                to.line("repeat");
                to.indented(|to| {
                    to.line("u := LL(whole)");
                    to.line("u[me] := v");
                    to.line("done := SC(whole, u)");
                });
                to.line("until done");
                to.garnish();
            }
            Self::Lock => {
                to.line("loop: if CAS(lock, false, true): exit");
                to.garnish();
                to.line("a[me] := v");
                to.line("lock := false");
            }
        }
    }

    fn scan(self, to: &mut Writer<'_>) {
        const COLLECT: &str = "for s in segments: w[s] := a[s]";
        match self {
            Self::Whole => {
                to.garnish();
                to.atomic(&["w := whole"]);
                to.garnish();
            }
            Self::AtomicCollect => {
                to.garnish();
                to.atomic(&[COLLECT]);
                to.garnish();
            }
            Self::Collect => {
                to.garnish();
                to.line(COLLECT);
                to.garnish();
            }
            Self::Versions | Self::Sequences => {
                to.garnish();
                to.line("loop:");
                to.indented(|to| {
                    to.line("for s in segments: one[s] := a[s]");
                    to.line("for s in segments: two[s] := a[s]");
                    to.line("if all s in segments: one[s].seq = two[s].seq: exit");
                });
                to.line("for s in segments: w[s] := two[s].val");
                to.garnish();
            }
            Self::Announced => {
                to.line("repeat");
                to.indented(|to| {
                    to.line("active := me");
                    to.line(COLLECT);
                    to.garnish();
                });
                to.line("until active = me");
            }
            Self::Linked => {
                to.garnish();
                to.line("w := LL(whole)");
                to.garnish();
            }
            Self::Lock => {
                to.line("loop: if CAS(lock, false, true): exit");
                to.line(COLLECT);
                to.garnish();
                to.line("lock := false");
            }
        }
        to.distortion();
        to.line("return w");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_determined_by_the_seed() {
        assert_eq!(text(3), text(3));
        assert_ne!(text(3), text(4));
        assert!(text(3).contains("scan:"));
    }
}
