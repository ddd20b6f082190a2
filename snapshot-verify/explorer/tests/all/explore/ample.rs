//! Ample steps commute with all future steps of other processes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_core::Process;
use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::{Instance, Location, Scalar};
use snapshot_explorer::pipeline::{self, Prepared};
use snapshot_explorer::por::persistent_sets::PersistentSets;
use snapshot_explorer::quotient::canonical_renaming::{CAP, CanonicalRenaming};
use snapshot_explorer::reduction::{Reduction, Reductions};
use snapshot_explorer::search::code::RegisterMachine;
use snapshot_explorer::search::product::{Ahead, Product, Scratch};
use snapshot_explorer::search::{Choice, Exploration, Outcome, SearchVerdict, Stop};
use snapshot_language::parse;
use test_support::effort::either;

use crate::explore::published::explored;

/// Updates write to the process that began last, in a cell selected by a cell. A loser's SC and a
/// write of an unchanged value have no effect at that moment.
const CHOICES: &str = "algorithm choices
shared which[process]: 0..1
shared cell[process][0..1]: value or none
shared owner: llsc process or none
private mine: 0..1
update(v):
    mine := 1 - mine
    cell[me][mine] := v
    which[me] := mine
    o := LL(owner)
    SC(owner, me)
    if o != none:
        w := which[o]
        cell[o][w] := none
scan:
    local r[segment]: value
    o := LL(owner)
    for k in processes:
        w := which[k]
        c := cell[k][w]
        if c != none: r[k] := c
    valid := VL(owner)
    if not valid: r[me] := initial
    SC(owner, none)
    c := cell[me][mine]
    return r
";

/// The location of an update does not determine the cell that it writes.
const UNTOLD: &str = "algorithm untold
shared cell[process][0..1]: value or none
private far: 0..99
update(v):
    far := 99 - far
    cell[me][far mod 2] := v
scan:
    local r[segment]: value
    for k in processes:
        c := cell[k][1]
        if c = none: c := cell[k][0]
        if c != none: r[k] := c
    return r
";

fn instance(text: &str, processes: usize) -> Instance {
    let program = parse("ample", text).unwrap().program(None).unwrap();
    let pair = [0, 1].map(Process::from_index);
    let instance = pipeline::instance(&program, processes, pair, Deadline::NEVER).unwrap();
    Prepared::from_instance(instance, Reductions::standard(), Deadline::NEVER).unwrap().instance
}

/// Walks at random. At each ample step, the other processes continue for a while with and without
/// it, and the results must be the same. Returns the number of comparisons; an error describes a
/// difference.
fn walk(instance: &Instance, operations: u32, steps: u32) -> Result<u32, String> {
    let numbering = CanonicalRenaming::new(instance, CAP, Deadline::NEVER).unwrap();
    let ample = PersistentSets::new(instance, Some(operations), Deadline::NEVER).unwrap().unwrap();
    let exploration = Exploration {
        operations: Some(operations),
        numbering: Some(&numbering),
        ample: Some(&ample),
        ..Exploration::default()
    };
    let walked = exploration.product(instance, |product| {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut machine = Scratch::new(product).machine;
        let mut ahead = Ahead::new(product);
        let mut state = product.initial().0;
        let mut met = 0;
        for _ in 0..steps {
            if let Some((leader, Ok(()))) = product.leader(&state, &mut ahead) {
                met += 1;
                let led = ahead.machine.state().to_vec();
                go_on(product, &mut machine, &mut random, leader, [&state, &led])?;
            }
            let moves = moves(product, &mut machine, &state);
            if moves.is_empty() {
                state = product.initial().0;
                continue;
            }
            let (process, choice) = moves[random.random_range(0..moves.len())];
            match take(product, &mut machine, &state, process, choice) {
                Ok(next) => state = next,
                Err(_) => state = product.initial().0,
            }
            product.canonicalise(&mut state);
        }
        Ok(met)
    });
    walked.unwrap()
}

fn moves(
    product: &Product<'_>,
    machine: &mut RegisterMachine,
    state: &[Scalar],
) -> Vec<(Process, Choice)> {
    machine.begin();
    machine.state_mut().copy_from_slice(state);
    product.moves(machine)
}

fn take(
    product: &Product<'_>,
    machine: &mut RegisterMachine,
    state: &[Scalar],
    process: Process,
    choice: Choice,
) -> Result<Vec<Scalar>, Stop> {
    machine.begin();
    machine.state_mut().copy_from_slice(state);
    product.take(process, choice, machine)?;
    Ok(machine.state().to_vec())
}

/// All processes except the leader move at random, in the state before its step and in the state
/// after it.
fn go_on(
    product: &Product<'_>,
    machine: &mut RegisterMachine,
    random: &mut ChaCha8Rng,
    leader: Process,
    [before, after]: [&Vec<Scalar>; 2],
) -> Result<(), String> {
    let registers = product.layout().registers();
    // If a process responds earlier, the observer knows at least as much.
    let compared = 0..registers.must_bits(Process::from_index(0));
    let differs =
        |one: &[Scalar], other: &[Scalar]| compared.clone().find(|&at| one[at] != other[at]);
    let [mut waiting, mut led] = [before, after].map(Clone::clone);
    let stood = before[registers.location(leader)];
    for _ in 0..40 {
        let others: Vec<_> = moves(product, machine, &waiting)
            .into_iter()
            .filter(|(process, _)| *process != leader)
            .collect();
        if others.is_empty() {
            break;
        }
        let (process, choice) = others[random.random_range(0..others.len())];
        let first = take(product, machine, &waiting, process, choice);
        let second = take(product, machine, &led, process, choice);
        match (first, second) {
            (Ok(first), Ok(second)) => (waiting, led) = (first, second),
            (_, Err(Stop::Violation(_))) => break,
            (first, second) => return Err(format!("{first:?} {second:?}")),
        }
        // A reaction may have replaced the step, and even responded.
        let moved = waiting[registers.location(leader)] != stood;
        if moved && differs(&waiting, &led).is_none() {
            break;
        }
        let idle = waiting[registers.location(leader)] == Location::IDLE.index() as Scalar;
        let late = if idle {
            waiting.clone()
        } else {
            take(product, machine, &waiting, leader, Choice::Step)
                .map_err(|stop| format!("{stop:?}, after p{process} {choice:?}"))?
        };
        if let Some(at) = differs(&late, &led) {
            let name = product.layout().name(at);
            return Err(format!("{name}, after p{process} {choice:?}, led by p{leader}: {late:?}"));
        }
    }
    Ok(())
}

#[test]
fn ample_steps_commute_with_all_later_steps() {
    let corpus = |name: &str| corpus::algorithm(name).unwrap().text;
    let texts = [
        (CHOICES, 2, 2),
        (CHOICES, 3, 4),
        (UNTOLD, 3, 2),
        (corpus("bowman"), 3, 2),
        (corpus("jayanti"), 3, 2),
        (corpus("afek_unbounded"), 3, 2),
        (corpus("afek_bounded"), 3, 2),
        (corpus("attiya_welch"), 3, 2),
        (corpus("riany"), 2, 3),
        (corpus("riany"), 3, 1),
    ];
    for (text, processes, operations) in texts {
        let met = walk(&instance(text, processes), operations, either(400, 3_000));
        let title = text.lines().find(|line| line.starts_with("algorithm")).unwrap();
        assert!(met.as_ref().is_ok_and(|&met| met > either(20, 200)), "{title}: {met:?}");
    }
}

#[test]
fn ample_saves_states_and_keeps_the_verdict() {
    // The last four run in the slow suite.
    let without = Reductions::standard().without(Reduction::Ample);
    for (name, bug, operations, share) in [
        ("attiya_welch", None, Some(2), 2),
        ("attiya_welch", None, None, 1),
        ("attiya_welch", Some("stale_view"), None, 1),
        ("afek_unbounded", None, Some(2), 1),
        ("bowman", None, None, 1),
        ("jayanti", None, Some(2), 2),
        ("jayanti", None, None, 1),
        ("riany", None, Some(2), 2),
        ("riany", Some("early_count"), Some(2), 1),
    ]
    .into_iter()
    .take(either(5, 9))
    {
        let [fewer, all] = [Reductions::standard(), without].map(|by| {
            explored(name, bug, by, Exploration { operations, ..Exploration::default() })
        });
        let verified = |outcome: &Outcome| matches!(outcome.verdict, SearchVerdict::Verified);
        assert_eq!((verified(&fewer), verified(&all)), (bug.is_none(), bug.is_none()), "{name}");
        assert!(fewer.states * share < all.states, "{name}: {} of {}", fewer.states, all.states);
    }
}
