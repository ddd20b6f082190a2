//! Random programs with names: random sequences of accesses to rows and to the cells of names, in
//! the form that the rules require.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_invariant::Budget;
use snapshot_invariant::layout::{Layout, RowOf};
use snapshot_invariant::search::{ViewSets, close};
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::Program;
use test_support::effort::{by_effort, either};

use super::walk::{Counts, Views, walk};
use crate::programs::{parsed, parts};

/// Writer of the statements of one procedure, one after the other.
struct Writer {
    random: ChaCha8Rng,
    text: String,
    /// True if `y` is a copy.
    is_copy: bool,
    /// True if the latest LL on `row` was by this copy.
    is_latest: bool,
}

impl Writer {
    fn below(&mut self, limit: u32) -> u32 {
        self.random.next_u32() % limit
    }

    fn say(&mut self, line: &str) {
        self.text.push_str(line);
    }

    /// Returns a statement that leaves copies unchanged.
    fn simple(&mut self, is_scan: bool) -> &'static str {
        let rows = if is_scan { 4 } else { 6 };
        match self.below(6 + rows) {
            0 => "SC(x, (true, me))",
            1 if self.is_copy => "SC(x, y with (on: false))",
            2 if self.is_copy && self.random.next_u32().is_multiple_of(4) => {
                "SC(x, y with (on: true))"
            }
            2 if self.is_copy => "SC(x, y)",
            3 => "x := (true, me)",
            4 => "x := (false, me)",
            5..8 if is_scan => "for s in segments: row[me][s] := none",
            5..8 => "row[me][me] := v",
            8.. if is_scan && self.is_copy => "for s in segments: w := row[y.who][s]",
            8 | 9 if self.is_latest => "SC(row[y.who][me], v)",
            8.. if self.is_latest => "won := SC(row[y.who][me], v)",
            _ => "skip",
        }
    }

    fn statement(&mut self, is_scan: bool) {
        let simple = self.simple(is_scan);
        match self.below(8) {
            0 | 1 => {
                self.say("    y := LL(x)\n");
                (self.is_copy, self.is_latest) = (true, false);
            }
            2 if !is_scan && self.is_copy => {
                self.say("    LL(row[y.who][me])\n");
                self.is_latest = true;
            }
            3 => self.say(&format!("    if VL(x):\n        {simple}\n")),
            // Tests whether an SC to a row has succeeded.
            5 if !is_scan => {
                let whether = ["won", "not won"][self.below(2) as usize];
                self.say(&format!("    if {whether}:\n        {simple}\n"));
            }
            4 if self.is_copy => self.say(&format!("    if y.on:\n        {simple}\n")),
            _ => {
                self.say(&format!("    {simple}\n"));
                if simple.starts_with("won") && self.below(2) == 0 {
                    let whether = ["won", "not won"][self.below(2) as usize];
                    self.say(&format!("    if {whether}:\n        x := (false, me)\n"));
                }
            }
        }
    }
}

/// Returns a program: names are in force always, or while `on` is true.
pub fn text(seed: u64) -> String {
    let random = ChaCha8Rng::seed_from_u64(seed);
    let mut writer = Writer { random, text: String::new(), is_copy: false, is_latest: false };
    writer.say(
        "algorithm renamed
shared x: llsc record (on: bool, who: process)
shared row[process][segment]: llsc value or none
shared out: llsc view
update(v):
    won := false
    y := LL(x)
",
    );
    writer.is_copy = true;
    if writer.below(4) > 0 {
        writer.say("    LL(row[y.who][me])\n");
        writer.is_latest = true;
    }
    for _ in 0..1 + writer.below(4) {
        writer.statement(false);
    }
    writer.say("scan:\n    local v[segment]: value\n    y := LL(x)\n    SC(x, (true, me))\n");
    (writer.is_copy, writer.is_latest) = (true, false);
    for _ in 0..writer.below(4) {
        writer.statement(true);
    }
    let guard = if writer.below(2) == 0 { "if VL(x): " } else { "" };
    writer.say(&format!("    LL(out)\n    {guard}SC(out, v)\n"));
    for _ in 0..writer.below(3) {
        writer.statement(true);
    }
    writer.say("    result := LL(out)\n    return result\n");
    writer.text
}

/// Returns the part with all scalars except copies; of values only whether there is one, so that
/// lists are short.
fn chosen(program: &Program, seed: u64) -> Part {
    let found = parts(program, &["scans.faults"]).remove(0);
    let layout = Layout::new(program, found.obligation).unwrap();
    let is_data = |kept: &&str| {
        let (_, name) = kept.split_once(':').unwrap_or(("", kept));
        let is_about = ["x", "row[", "link:x", "link:row", "update.v", "update.won"];
        let is_copy = name.ends_with(".who") && seed % 4 == 1;
        is_about.iter().any(|about| name.starts_with(about)) || name.ends_with(".on") || is_copy
    };
    let kept = layout.names().filter(is_data).map(str::to_owned).collect();
    let name = ["x.who row", "x.who on=1 row", "x.who on=0 row"][seed as usize % 3];
    Part { names: vec![name.to_owned()], kept, late: false, alike: seed.is_multiple_of(2), ..found }
}

/// Adds guesses that the writer of certificates never makes: only the named rows are kept, or only
/// the rows of processes, or links are forgotten somewhere.
fn change(layout: &mut Layout<'_>, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for slot in &mut layout.slots {
        let is_left_out = match slot.row {
            Some(RowOf::Member(..)) => seed % 5 == 3,
            Some(RowOf::Named(_)) => seed % 5 == 4,
            None => false,
        };
        slot.kept &= !is_left_out;
    }
    if seed % 5 == 2 {
        let linked = (0..layout.links.len()).filter(|one| layout.links[*one].is_some());
        let linked: Vec<usize> = linked.collect();
        for here in layout.unlinked.iter_mut().flatten() {
            here.extend(linked.iter().filter(|_| random.next_u32().is_multiple_of(4)));
            here.sort_unstable();
            here.dedup();
        }
    }
    layout.index();
}

#[test]
fn states_of_random_programs_with_names_have_views() {
    let (mut listed, mut listed_views, mut total) = (0, 0, Counts::default());
    for seed in 0..3 * by_effort(7, 64, 2_000) {
        let text = text(seed);
        let program = parsed(&text, None);
        let part = chosen(&program, seed);
        let mut layout = lay_out(&program, &part).unwrap();
        assert_eq!(layout.named.len(), 1);
        change(&mut layout, seed);
        // A name that comes into force without a write to the name is unsupported.
        let Some(family) = listed_within(&layout, 24 << 20) else { continue };
        listed += 1;
        listed_views += family.len();
        let views = Views::new(&layout, &family, InjectedFault::default());
        for run in 0..12 {
            match walk(&views, 2 + run as usize % 3, run, 60) {
                Ok(more) => total.add(more),
                Err(missing) => panic!("{text}{part:?}\n{missing}"),
            }
        }
    }
    println!("{listed} lists of {listed_views} views: {total:?}");
    let of = [total.links, total.changes, total.joins];
    assert!(
        listed > either(10, 20) && of.iter().all(|count| *count > either(500, 1_000)),
        "{listed}: {total:?}"
    );
}

/// Returns the list without failures, if it takes at most `memory` bytes.
fn listed_within(layout: &Layout<'_>, memory: u64) -> Option<ViewSets> {
    let mut proceed = || true;
    close(layout, InjectedFault::default(), &mut Budget { memory, proceed: &mut proceed }).ok()
}
