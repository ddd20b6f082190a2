//! Random walks: executions under a random scheduler.
//!
//! A scheduler that gives all processes the same chance at every move is a poor
//! tester: an operation that is overtaken by several others, which is what
//! violations are made of, is exponentially rare. So processes have weights of
//! very different size, and these are drawn anew from time to time.
//!
//! A walk is determined by its seed, forever: ChaCha8 is a fixed function, and
//! what is drawn from it is computed here.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;

use super::client::Client;
use super::machine::Machine;
use super::schedule::{Execution, Move, MoveErrorKind, MoveKind};

/// A random execution.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Walk {
    /// Who did what.
    pub moves: Vec<Move>,
    /// What that did.
    pub execution: Execution,
    /// What is wrong with one more move, if the walk ended because of that.
    pub faulty: Option<(Move, super::fault::Fault)>,
}

/// The weights that a process may have.
const WEIGHTS: [usize; 3] = [1, 8, 64];

/// How many moves the weights last, on average.
const PERIOD: usize = 12;

/// At most so many moves at random: each time some process that can move, and
/// if it is idle, something that the client allows it to begin. The walk ends
/// early when no process can move.
pub fn walk(machine: &Machine<'_>, client: &Client, seed: u64, moves: usize) -> Walk {
    let n = machine.processes();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut state = machine.initial().clone();
    let mut progress = client.start(n);
    let (mut made, mut reports, mut faulty) = (Vec::new(), Vec::new(), None);
    let mut weights = vec![1; n];
    while made.len() < moves {
        if below(&mut random, PERIOD) == 0 {
            weights.fill_with(|| WEIGHTS[below(&mut random, WEIGHTS.len())]);
        }
        let mut possible: Vec<(Process, Vec<MoveKind>)> = Vec::new();
        for process in (0..n).map(Process::must) {
            let kinds = if state.is_idle(process.index()) {
                let calls = client.calls(&progress, process, n);
                calls.into_iter().map(MoveKind::Begin).collect()
            } else {
                vec![MoveKind::Step]
            };
            if !kinds.is_empty() {
                possible.push((process, kinds));
            }
        }
        if possible.is_empty() {
            break;
        }
        let weight = |(process, _): &(Process, Vec<MoveKind>)| weights[process.index()];
        let total = possible.iter().map(weight).sum();
        let mut drawn = below(&mut random, total);
        let chosen = possible.iter().position(|one| {
            let chosen = drawn < weight(one);
            drawn = drawn.saturating_sub(weight(one));
            chosen
        });
        let (process, kinds) = &possible[chosen.unwrap_or(0)];
        let kind = kinds[below(&mut random, kinds.len())];
        let next = Move { process: *process, kind };
        if let MoveKind::Begin(call) = kind {
            client.begin(&mut progress, *process, call);
        }
        match machine.make(&mut state, next) {
            Ok(report) => reports.push(report),
            Err(MoveErrorKind::Fault(fault)) => {
                faulty = Some((next, fault));
                break;
            }
            Err(refused) => unreachable!("only possible moves are made, but: {refused}"),
        }
        made.push(next);
    }
    let execution = Execution { processes: n, reports, last: state };
    Walk { moves: made, execution, faulty }
}

/// A number below a limit. For limits far below 2^32 as good as uniform.
fn below(random: &mut ChaCha8Rng, limit: usize) -> usize {
    ((u64::from(random.next_u32()) * limit as u64) >> 32) as usize
}
