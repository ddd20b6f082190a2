//! Random executions.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;
use snapshot_everyn::compile::compile;
use snapshot_everyn::model::{Act, Ghosts, Model, Obligation, Part, Specification};
use snapshot_everyn::prove::{Limits, Sabotage, Steps, steps};
use snapshot_everyn::shape::{Mode, T};
use snapshot_language::program::Program;
use snapshot_semantics::interpret::{Client, Machine, Move, MoveKind, Scheduler, Values};

use super::execution::Execution;
use super::follow::{Counts, Follower};
use super::programs::{
    DIRECT, LOCAL, NESTED, NESTED_CALLS, by_calls, corpus, parsed, small, views,
};
use trial::effort::{Effort, is_left_out};

pub fn below(random: &mut ChaCha8Rng, limit: usize) -> usize {
    random.next_u32() as usize % limit
}

/// Returns true if a link may be tested behind a ghost scan.
fn leaves_links(model: &Model) -> bool {
    model.code.windows(2).any(|pair| match &pair[0].act {
        Act::Call(procedure, ..) => {
            let is_ghost = model.is_ghost[procedure.0 as usize];
            is_ghost && pair[1].live_links.contains(&true)
        }
        _ => false,
    })
}

/// Runs one execution of n processes of very different speed.
fn walk(
    program: &Program,
    model: &Model,
    steps: &Steps,
    n: usize,
    seed: u64,
    moves: usize,
) -> Result<Counts, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let machine = Machine::new(program, n).map_err(|error| error.to_string())?;
    let i = below(&mut random, n - 1);
    let j = i + 1 + below(&mut random, n - 1 - i);
    let pair = if random.next_u32() & 1 == 0 || model.obligation.mode != NESTED.mode {
        [i, j]
    } else {
        [j, i]
    };
    let mut execution = Execution::new(&machine, model, pair);
    // If a ghost scan ends after accesses that are not pauses, views report its end to the observer
    // earlier; and they show the links that it leaves as broken earlier.
    let is_observed = model.obligation.mode == Mode::Direct
        && model.obligation.specification == Specification::Observer;
    execution.fine = seed % 8 >= 4 && !is_observed && !leaves_links(model);
    let mut follower = Follower::new(execution, steps);
    let values = Values::Simple(Process::from_index(i), Process::from_index(j));
    let mut scheduler = Scheduler::new(Client::unbounded(values), n, seed);
    for _ in 0..moves {
        let current = &follower.execution;
        let calls = |process: Process| current.calls(process.index());
        let next = scheduler.next_by(&current.state, |_, _, process| calls(process));
        let Some(Move { process, kind }) = next else { break };
        let process = process.index();
        let call = match kind {
            MoveKind::Begin(call) => Some(call),
            MoveKind::Step | MoveKind::Take(_) => None,
        };
        if !follower.go(process, call)? {
            break;
        }
    }
    Ok(follower.counts)
}

pub fn walks(program: &Program, obligation: Obligation, runs: u64, moves: usize) -> Counts {
    let found = views(program, obligation, 1 << 20).expect("all views are found");
    let counts = walks_among(program, &found, runs, moves);
    println!("{} {obligation:?}: {} views, {counts:?}", program.name, found.1.rows.len());
    counts
}

/// Runs executions of 2 to 5 processes.
pub fn walks_among(
    program: &Program,
    (model, steps): &(Model, Steps),
    runs: u64,
    moves: usize,
) -> Counts {
    let mut counts = Counts::default();
    for seed in 0..runs {
        let n = 2 + seed as usize % 4;
        match walk(program, model, steps, n, seed, moves) {
            Ok(more) => counts.add(more),
            Err(missing) => panic!("{}, seed {seed}: {missing}", program.name),
        }
    }
    counts
}

#[test]
fn executions_of_verified_programs_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let programs = [(corpus("bowman"), 500), (small("versioned"), 0), (small("locked"), 100)];
    for (program, by_another) in &programs {
        for obligation in [NESTED, DIRECT] {
            let counts = walks(program, obligation, 120, 120);
            assert_eq!((counts.failures, counts.dubious), (0, 0), "no execution is abandoned");
            assert!(counts.total() > 20_000 && counts.bytes > 50_000, "{counts:?}");
            let is_direct = obligation == DIRECT;
            let [i, j, t, another] = counts.changed;
            let least = 300;
            assert!(i > least && t > least && (j > least || !is_direct), "{counts:?}");
            // Steps of other processes are visible only if they write cells that all processes
            // write.
            assert!(another >= *by_another, "{counts:?}");
        }
    }
}

/// Returns the number of executions, of the programs whose updates scan.
/// `SNAPSHOT_EFFORT=night` makes more than a million projections of each.
pub fn executions() -> u64 {
    trial::effort::by_effort(40, 64, 2_000)
}

/// Returns true to include the programs whose views take a minute.
pub fn are_large_ones_taken() -> bool {
    trial::effort::is_slow()
}

/// Returns the number of random programs.
pub fn programs(usual: u64) -> u64 {
    trial::effort::by_effort(usual, 2 * usual, 2_000)
}

#[test]
fn executions_of_scanning_updates_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    for name in ["afek_unbounded", "afek_bounded", "attiya_welch"] {
        let mut total = Counts::default();
        for obligation in by_calls() {
            let is_large = match obligation.part {
                Part::By(T) => name != "afek_unbounded",
                Part::By(_) => false,
                _ => name == "attiya_welch",
            };
            if is_large && !are_large_ones_taken() {
                // Tens of thousands of views.
                continue;
            }
            let counts = walks(&corpus(name), obligation, executions(), 200);
            assert_eq!((counts.failures, counts.dubious), (0, 0), "no execution is abandoned");
            total.add(counts);
        }
        assert!(total.total() > 50_000 && total.bytes > 50_000, "{total:?}");
        let [i, j, t, _] = total.changed;
        assert!(i > 300 && j > 300 && t > 300, "{total:?}");
    }
}

#[test]
fn executions_of_unproved_programs_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let (mut failures, mut moves) = (0, 0);
    for (program, obligation) in [
        (corpus("bowman"), LOCAL),
        (corpus("naive_collect"), DIRECT),
        (corpus("afek_unbounded"), NESTED_CALLS),
    ] {
        let counts = walks(&program, obligation, 2_000, 40);
        failures += counts.failures;
        moves += counts.total();
    }
    assert!(failures > 10 && moves > 10_000, "{failures} of {moves}");
}

/// Programs with names, versions, numbers, loops and blocks of all kinds, right and wrong.
#[test]
fn executions_of_random_programs_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let programs = programs(40);
    let (mut tried, mut counts) = (0, Counts::default());
    let texts = (0..programs).map(corpus::program::text);
    for text in texts.chain((0..programs / 2).map(corpus::program::exchanging)) {
        let program = parsed(&text);
        for obligation in [NESTED, DIRECT, LOCAL] {
            let Some(found) = views(&program, obligation, 20_000) else { continue };
            let is_atomic =
                found.0.code.iter().any(|instruction| matches!(instruction.act, Act::Atomic));
            if obligation == LOCAL && is_atomic {
                // The interpreter does not tell when an atomic block stores its value.
                continue;
            }
            tried += 1;
            counts.add(walks_among(&program, &found, 8, 60));
        }
    }
    println!("{tried} obligations of {programs} programs: {counts:?}");
    assert!(tried as u64 > programs / 2, "{tried}");
    assert!(counts.failures > 0 && counts.total() > 20_000, "{counts:?}");
    assert!(counts.changed.iter().all(|changed| *changed > 150), "{counts:?}");
}

/// Returns true if operations are shown late, and some of their stores to private variables are not
/// kept: an execution decides by all stores whether one has begun, and views by the kept ones.
fn forgets(model: &Model) -> bool {
    let is_kept = |at: usize| model.slots[at].kept || model.slots[at].other;
    let mut rooms = model.private.iter().flat_map(|(room, _)| room.base..room.base + room.size);
    model.delays && !rooms.all(|at| model.blocks.iter().all(|block| is_kept(block + at)))
}

/// Programs that keep state between operations, by scans and by calls that return a view.
#[test]
fn executions_of_programs_with_state_are_among_the_views() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let programs = programs(40);
    let (mut tried, mut by_call, mut counts) = (0, 0, Counts::default());
    for text in (0..programs).map(corpus::program::keeping) {
        let program = parsed(&text);
        for obligation in [NESTED, DIRECT, LOCAL].into_iter().chain(by_calls()) {
            let Some(found) = views(&program, obligation, 5_000) else { continue };
            let is_atomic = found.0.code.iter().any(|one| matches!(one.act, Act::Atomic));
            if obligation.specification == Specification::Local && is_atomic || forgets(&found.0) {
                continue;
            }
            tried += 1;
            by_call += usize::from(obligation.ghosts == Ghosts::Calls);
            counts.add(walks_among(&program, &found, 8, 60));
        }
    }
    println!("{tried} obligations of {programs} programs, {by_call} by calls: {counts:?}");
    assert!(tried as u64 > programs && by_call as u64 > programs / 2, "{tried} {by_call}");
    assert!(counts.failures + counts.dubious > 5 && counts.total() > 25_000, "{counts:?}");
}

/// Returns true if some execution of 2 to 4 processes has no views.
fn misses(program: &Program, model: &Model) -> bool {
    let limits = Limits { views: 1 << 20, bytes: 1 << 29, ..Limits::default() };
    let steps = steps(model, limits, Sabotage::default()).unwrap();
    let mut seeds = 0..400;
    seeds.any(|seed| walk(program, model, &steps, 2 + seed as usize % 3, seed, 150).is_err())
}

/// A bit that is not flipped with its class, and one that is flipped though it decides: executions
/// notice both.
#[test]
fn observable_flips_are_detected() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let program = corpus("afek_bounded");
    let by_i = by_calls()[3];
    let right = compile(&program, by_i).unwrap();
    assert!(!misses(&program, &right));
    let large = right.flips.iter().position(|class| class.bits.len() > 3);
    let large = large.expect("a handshake has many copies");
    let mut less = right.clone();
    let anchor = less.flips[large].anchor;
    less.flips[large].bits.retain(|bit| Some(bit.at) == anchor);
    if anchor.is_none() {
        less.flips[large].bits = vec![right.flips[large].bits[0]];
    }
    assert!(misses(&program, &less), "the others are left as they were");
}

/// Operations are shown late, though a ghost scan leaves them something: executions notice.
#[test]
fn late_operations_with_stored_results_are_detected() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let stores = parsed(
        "
algorithm stores
shared a[segment]: value
private turns: bool
update(v):
    s := look()
    if turns:
        a[me] := v
    a[me] := v
scan:
    s := look()
    return s
procedure look(): view:
    local copy[segment]: value
    turns := not turns
    for s in segments: copy[s] := a[s]
    return copy
",
    );
    let mut model = compile(&stores, by_calls()[2]).unwrap();
    assert!(!model.delays, "a ghost scan stores in a private variable");
    assert!(!misses(&stores, &model));
    model.delays = true;
    assert!(misses(&stores, &model), "the stored result is lost");
}
