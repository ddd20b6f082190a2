//! Dead cells are read by no process before they are written.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_core::Process;
use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::{Instance, Scalar};
use snapshot_explorer::pipeline::{self, Prepared};
use snapshot_explorer::quotient::canonical_renaming::{CAP, CanonicalRenaming};
use snapshot_explorer::quotient::dead_cells::static_liveness::StaticDeadCells;
use snapshot_explorer::reduction::{Reduction, Reductions};
use snapshot_explorer::search::canonical::Forgetting;
use snapshot_explorer::search::code::RegisterMachine;
use snapshot_explorer::search::product::{Product, Scratch};
use snapshot_explorer::search::{Exploration, SearchVerdict};
use snapshot_language::parse;
use test_support::effort::either;

use crate::explore::published::explored;
use crate::explore::self_check::DYING_POINTER;

/// A writer has two cells, and a pointer to the one to be read.
const TWO_CELLS: &str = "algorithm two_cells
shared cell[process][0..1]: value
shared pointer[process]: 0..1
private mine: 0..1
update(v):
    mine := 1 - mine
    cell[me][mine] := v
    pointer[me] := mine
scan:
    local r[segment]: value
    for k in processes:
        g := pointer[k]
        r[k] := cell[k][g]
    return r
";

/// The process selected by a counter has one more cell; scanners increment the counter.
const BY_TURNS: &str = "algorithm by_turns
shared turn: llsc counter
shared pointer[process]: 0..1 or none
shared cell[process][0..1]: value or none
private mine: 0..1
private far: 0..99
update(v):
    mine := 1 - mine
    cell[me][mine] := none
    pointer[me] := mine
    t := turn
    g := pointer[process(t mod n)]
    if g != none: cell[process(t mod n)][g] := v
    pointer[me] := none
scan:
    local r[segment]: value
    t := LL(turn)
    g := pointer[process(t mod n)]
    if g != none:
        c := cell[process(t mod n)][g]
        if c != none: r[me] := c
    SC(turn, t + 1)
    return r
";

/// Changes of the text after which dead cells are read.
const TRAPS: [(&str, &str, &str); 7] = [
    // The pointer is set before the cell is written.
    (
        TWO_CELLS,
        "    cell[me][mine] := v\n    pointer[me] := mine\n",
        "    pointer[me] := mine\n    cell[me][mine] := v\n",
    ),
    // The pointer is set again without a write.
    (
        TWO_CELLS,
        "    pointer[me] := mine\n",
        "    pointer[me] := mine\n    pointer[me] := 1 - mine\n",
    ),
    // The cell is not always written.
    (
        TWO_CELLS,
        "    cell[me][mine] := v\n",
        "    x := pointer[process(0)]\n    if x = 0: cell[me][mine] := v\n",
    ),
    // Another process writes the other of the two cells.
    (
        TWO_CELLS,
        "    cell[me][mine] := v\n",
        "    x := pointer[process(0)]\n    cell[me][x] := v\n",
    ),
    // The owner reads its previous cell.
    (
        TWO_CELLS,
        "        r[k] := cell[k][g]\n",
        "        r[k] := cell[k][g]\n    r[me] := cell[me][1 - mine]\n",
    ),
    // The written cell is not known beforehand.
    (
        BY_TURNS,
        "    cell[me][mine] := none\n",
        "    x := pointer[process(1)]\n    if x != none: far := 99 - far\n    \
         cell[me][far mod 2] := none\n    c := cell[me][mine]\n    \
         if c != none: pointer[me] := none\n",
    ),
    // A process reads without testing the pointer.
    (
        BY_TURNS,
        "        c := cell[process(t mod n)][g]\n",
        "        c := cell[process((t + 1) mod n)][g]\n",
    ),
];

fn instance(text: &str, processes: usize) -> Instance {
    let program = parse("dead", text).unwrap().program(None).unwrap();
    let pair = [0, 1].map(Process::from_index);
    let instance = pipeline::instance(&program, processes, pair, Deadline::NEVER).unwrap();
    Prepared::from_instance(instance, Reductions::standard(), Deadline::NEVER).unwrap().instance
}

/// Walks at random. Wherever a cell is dead, the walk continues for a while from both states, with
/// and without its content. Both must behave in the same way, and may differ only in slots that
/// differed at first. Returns the number of dead cells met; an error describes a difference.
fn walk(instance: &Instance, steps: u32) -> Result<u32, String> {
    let dead = StaticDeadCells::new(instance, Deadline::NEVER).unwrap();
    let numbering = CanonicalRenaming::new(instance, CAP, Deadline::NEVER).unwrap();
    let exploration = Exploration { numbering: Some(&numbering), ..Exploration::default() };
    let walked = exploration.product(instance, |product| {
        let mut chance = (Scratch::new(product).machine, ChaCha8Rng::seed_from_u64(3));
        let registers = product.layout().registers();
        let mut state = product.initial().0;
        let mut met = 0;
        for _ in 0..steps {
            let mut without = state.clone();
            dead.forget(registers, &mut without);
            if without != state {
                met += 1;
                go_on(product, &mut chance, [&state, &without])?;
            }
            let Some([next]) = step(product, &mut chance, [&state])? else {
                state = product.initial().0;
                continue;
            };
            state = next;
            product.canonicalise(&mut state);
        }
        Ok(met)
    });
    walked.unwrap()
}

fn go_on(
    product: &Product<'_>,
    chance: &mut (RegisterMachine, ChaCha8Rng),
    begin: [&Vec<Scalar>; 2],
) -> Result<(), String> {
    let differ = |[one, other]: [&Vec<Scalar>; 2]| -> Vec<usize> {
        (0..one.len()).filter(|&at| one[at] != other[at]).collect()
    };
    let mut may_differ = differ(begin);
    let mut states = begin.map(Clone::clone);
    for _ in 0..30 {
        let Some(next) = step(product, chance, states.each_ref())? else { break };
        let now = differ(next.each_ref());
        if let Some(at) = now.iter().find(|at| !may_differ.contains(at)) {
            return Err(format!("{} differs", product.layout().name(*at)));
        }
        (states, may_differ) = (next, now);
    }
    Ok(())
}

/// Takes the same random step from all states; returns `None` if it has no next state.
fn step<const N: usize>(
    product: &Product<'_>,
    (machine, random): &mut (RegisterMachine, ChaCha8Rng),
    states: [&Vec<Scalar>; N],
) -> Result<Option<[Vec<Scalar>; N]>, String> {
    let mut ends = Vec::new();
    let mut chosen = None;
    let next = states.map(|state| {
        machine.begin();
        machine.state_mut().copy_from_slice(state);
        let moves = product.moves(machine);
        let by = *chosen.get_or_insert_with(|| moves[random.random_range(0..moves.len())]);
        ends.push((moves.contains(&by), product.take(by.0, by.1, machine)));
        machine.state().to_vec()
    });
    if ends.iter().any(|end| *end != ends[0]) {
        return Err(format!("{ends:?}"));
    }
    Ok(ends[0].1.is_ok().then_some(next))
}

#[test]
fn contents_of_dead_cells_make_no_difference() {
    let riany = corpus::algorithm("riany").unwrap().text;
    let jayanti = corpus::algorithm("jayanti").unwrap().text;
    let texts = [
        (TWO_CELLS, 2),
        (TWO_CELLS, 3),
        (BY_TURNS, 2),
        (BY_TURNS, 3),
        (DYING_POINTER, 2),
        (riany, 2),
        (jayanti, 3),
    ];
    for (text, processes) in texts {
        let met = walk(&instance(text, processes), 2_500).unwrap();
        assert!(met > 100, "{met} times with {processes} processes: {text}");
    }
}

#[test]
fn cells_read_later_are_not_dead() {
    for (text, right, wrong) in TRAPS {
        assert!(text.contains(right), "{right}");
        walk(&instance(&text.replace(right, wrong), 2), 2_500).unwrap();
    }
}

#[test]
fn stale_saves_states_and_keeps_the_verdict() {
    let with = Reductions::standard().without(Reduction::Ample);
    // The correct version has the most states, so it runs in the slow suite.
    for bug in [Some("early_count"), None].into_iter().take(either(1, 2)) {
        let [fewer, all] = [with, with.without(Reduction::Stale)].map(|by| {
            explored(
                "riany",
                bug,
                by,
                Exploration { operations: Some(2), ..Exploration::default() },
            )
        });
        assert_eq!(matches!(all.verdict, SearchVerdict::Verified), bug.is_none());
        assert_eq!(all.depth, fewer.depth);
        assert!(fewer.states < all.states, "{} of {}", fewer.states, all.states);
        if bug.is_none() {
            assert!(matches!(fewer.verdict, SearchVerdict::Verified));
            assert!(fewer.states * 4 < all.states * 3, "{} of {}", fewer.states, all.states);
        }
    }
}
