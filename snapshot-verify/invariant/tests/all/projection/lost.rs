//! Random programs in which processes are lost: a random sequence of the actions of a process
//! without a link, before it links again.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_invariant::Budget;
use snapshot_invariant::layout::Layout;
use snapshot_invariant::search::{Obstacle, close};
use snapshot_invariant::step::lost;
use snapshot_invariant::write::{Part, lay_out};
use snapshot_language::program::{Program, SharedId};
use test_support::effort::{by_effort, either};

use super::SILENT;
use super::walk::{Counts, Views, walk};
use crate::programs::{by_rounds, parsed};

fn below(random: &mut ChaCha8Rng, limit: u32) -> u32 {
    random.next_u32() % limit
}

/// Returns one step of a process: `x` is the cell that it is linked to, `y` and `p` are kept, `z`
/// is not.
fn simple(random: &mut ChaCha8Rng) -> &'static str {
    let all = [
        "SC(x, f)",
        "SC(x, true)",
        "f := z",
        "z := f",
        "f := VL(x)",
        "f := VL(y)",
        "LL(y)",
        "SC(y, f)",
        "y := true",
        "y := f",
        "p := f",
        "f := p",
        "f := true",
        "f := not f",
        "z := true",
        "f := y",
    ];
    all[below(random, all.len() as u32) as usize]
}

/// Returns statements, possibly nested: mostly actions of a process without a link.
fn statements(random: &mut ChaCha8Rng, count: u32, depth: usize, calls: bool) -> String {
    let indentation = "    ".repeat(depth);
    let mut text = String::new();
    for number in 0..count {
        let is_last = number + 1 == count;
        let within = |random: &mut ChaCha8Rng| {
            let count = 1 + below(random, 3);
            statements(random, count, depth + 1, calls)
        };
        let line = match below(random, 14) {
            0 if depth < 3 => format!("if f:\n{}", within(random)),
            1 if depth < 3 => format!("if VL(x):\n{}", within(random)),
            2 | 3 if depth < 3 => format!("if not VL(x):\n{}", within(random)),
            4 if depth < 3 => format!("for s{depth} in segments:\n{}", within(random)),
            5 if calls => "help()\n".to_owned(),
            6 if depth > 1 && is_last => "return\n".to_owned(),
            7 | 8 => "LL(x)\n".to_owned(),
            9 => "f := z\n".to_owned(),
            _ => format!("{}\n", simple(random)),
        };
        text += &format!("{indentation}{line}");
    }
    text
}

fn text(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let count = 1 + below(&mut random, 4);
    let update = statements(&mut random, count, 1, true);
    let help = statements(&mut random, 2, 1, false);
    format!(
        "algorithm lost
shared x: llsc bool
shared y: llsc bool
shared z: bool
shared out: llsc view
private p: bool
update(v):
    f := z
    z := not f
    f := false
    LL(x)
{update}scan:
    local v[segment]: value
    LL(x)
    SC(x, true)
    LL(out)
    SC(out, v)
    result := LL(out)
    return result
procedure help():
    f := false
    LL(x)
{help}"
    )
}

fn chosen(program: &Program, seed: u64) -> Part {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let all = by_rounds(program);
    let found = all[seed as usize % all.len()][1].clone();
    let layout = Layout::new(program, found.obligation).unwrap();
    let mut about = vec!["x", "link:x", "scan.v"];
    about.extend(
        ["y", "link:y", "p", "update.f", "help.f"].iter().filter(|_| below(&mut random, 2) == 0),
    );
    let is_kept = |kept: &&str| {
        let (_, name) = kept.split_once(':').unwrap_or(("", kept));
        let (name, _) = name.split_once('#').unwrap_or((name, ""));
        about.contains(&name)
    };
    let kept = layout.names().filter(is_kept).map(str::to_owned).collect();
    Part { kept, late: false, alike: seed.is_multiple_of(2), names: Vec::new(), ..found }
}

#[test]
fn states_of_random_programs_with_lost_processes_have_views() {
    let (mut listed, mut listed_views, mut total) = (0, 0, Counts::default());
    for seed in 0..2 * by_effort(10, 64, 2_000) {
        let text = text(seed);
        let program = parsed(&text, None);
        let part = chosen(&program, seed);
        let mut layout = lay_out(&program, &part).unwrap();
        assert!(lost::may_be(part.obligation));
        // All link to `x` first, and many never to `y`.
        layout.lost = (0..1 + seed as u32 / 2 % 2).map(SharedId).collect();
        let mut proceed = || true;
        let mut budget = Budget { memory: 8 << 20, proceed: &mut proceed };
        let Ok(family) = close(&layout, SILENT, &mut budget) else { continue };
        listed += 1;
        listed_views += family.len();
        let views = Views::new(&layout, &family, SILENT);
        // Most end soon, because the views that rounds publish are wrong.
        for run in 0..48 {
            match walk(&views, 2 + run as usize % 3, run, 60) {
                Ok(more) => total.add(more),
                Err(missing) => panic!("{text}{part:?}\n{missing}"),
            }
        }
    }
    println!("{listed} lists of {listed_views} views: {total:?}");
    let of = [total.links, total.lost, total.changes, total.joins];
    assert!(
        listed > either(7, 20) && of.iter().all(|count| *count > either(250, 500)),
        "{listed}: {total:?}"
    );
}

/// A process that is lost in a ghost scan of its update is not moved behind it: views that do not
/// follow it would show it in the ghost scan for ever.
#[test]
fn ghost_scans_of_updates_end_in_all_views() {
    let text = "
algorithm gone
shared owner: cas process or none := none
shared latest: view
shared a[segment]: value
shared c: bool
shared x: llsc bool
update(v):
    y := scan()
    a[me] := v
scan:
    local copy: view
    local got: bool
    local h: bool
    repeat
        got := CAS(owner, none, me)
    until got
    copy[me] := a[me]
    latest := copy
    owner := none
    result := latest
    LL(x)
    x := true
    h := c
    if VL(x): h := c
    return result
";
    let program = parsed(text, None);
    let fails = |is_lost: bool| {
        let part =
            by_rounds(&program).into_iter().flatten().find(|part| lost::may_be(part.obligation));
        // From the access to `owner` to the access to `latest`.
        let (round, none) = (Some([(1, 0), (1, 5)]), Vec::new());
        let mut part = Part {
            round,
            late: false,
            loose: Vec::new(),
            decided: none,
            nested: true,
            ..part.unwrap()
        };
        let mut layout = Layout::new(&program, part.obligation).unwrap();
        part.kept = layout.names().map(str::to_owned).collect();
        part.kept
            .retain(|name| !["result", "latest", "update.y"].iter().any(|one| name.contains(one)));
        layout = lay_out(&program, &part).unwrap();
        if is_lost {
            let all = (0..program.shared.len() as u32).map(SharedId);
            layout.lost = all.filter(|variable| layout.may_lose(*variable)).collect();
            assert_eq!(layout.lost.len(), 1);
        }
        let mut budget = Budget { memory: 1 << 30, proceed: &mut || true };
        match close(&layout, Default::default(), &mut budget) {
            Err(Obstacle::Failure(failure)) => failure.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert!(fails(false).contains("not linearizable"), "{}", fails(false));
    assert!(fails(true).contains("late"), "{}", fails(true));
}
