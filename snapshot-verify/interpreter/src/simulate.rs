//! Random walks: executions under a random scheduler.
//!
//! A scheduler that gives all processes the same chance at every move is a poor tester. Violations
//! typically involve an operation that several others overtake, which is then exponentially rare.
//! So processes have weights of very different size, redrawn periodically.
//!
//! The seed determines a walk on every machine and in every version: ChaCha8 is a fixed function,
//! and the draws from it are computed here.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;

use super::client::{Client, Progress};
use super::event::Call;
use super::machine::Machine;
use super::schedule::{Execution, Move, MoveErrorKind, MoveKind};
use super::state::State;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Walk {
    pub moves: Vec<Move>,
    pub execution: Execution,
    /// Last attempted move and its fault, if a fault ended the walk.
    pub faulty: Option<(Move, super::fault::Fault)>,
}

/// Weights that a process may have.
const WEIGHTS: [usize; 3] = [1, 8, 64];

/// Average number of moves between draws of the weights.
const PERIOD: usize = 12;

/// A random scheduler of a client, before its first move.
#[derive(Clone, Debug)]
pub struct Scheduler {
    client: Client,
    random: ChaCha8Rng,
    progress: Progress,
    weights: Vec<usize>,
    /// Possible weights, and the average number of moves between draws.
    choices: [usize; 3],
    period: usize,
}

impl Scheduler {
    /// Creates a scheduler of n processes; the same seed makes the same choices.
    pub fn new(client: Client, n: usize, seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let (choices, period) = (WEIGHTS, PERIOD);
        Self { client, random, progress: client.start(n), weights: vec![1; n], choices, period }
    }

    /// Lets processes pause for long in the middle of an operation, while others complete many.
    #[must_use]
    pub fn with_long_pauses(self) -> Self {
        Self { choices: [1, 64, 1 << 12], period: 60, ..self }
    }

    /// Draws the next move: a process that can move, and if it is idle, an operation that the
    /// client allows. `None` when no process can move. `state` is the result of the moves so far.
    pub fn next(&mut self, state: &State) -> Option<Move> {
        let n = self.weights.len();
        self.next_by(state, |client, progress, process| client.calls(progress, process, n))
    }

    /// Draws as [`Self::next`]; `calls` returns the operations that an idle process may begin.
    pub fn next_by(
        &mut self,
        state: &State,
        calls: impl FnMut(&Client, &Progress, Process) -> Vec<Call>,
    ) -> Option<Move> {
        self.next_taking(state, |_| 1, calls)
    }

    /// Draws as [`Self::next_by`], from steps with this many outcomes.
    pub fn next_taking(
        &mut self,
        state: &State,
        outcomes: impl Fn(Process) -> u32,
        mut calls: impl FnMut(&Client, &Progress, Process) -> Vec<Call>,
    ) -> Option<Move> {
        let n = self.weights.len();
        let random = &mut self.random;
        if below(random, self.period) == 0 {
            let choices = self.choices;
            self.weights.fill_with(|| choices[below(random, choices.len())]);
        }
        let mut possible: Vec<(Process, Vec<MoveKind>)> = Vec::new();
        for process in (0..n).map(Process::from_index) {
            let kinds: Vec<MoveKind> = if state.is_idle(process.index()) {
                let calls = calls(&self.client, &self.progress, process);
                calls.into_iter().map(MoveKind::Begin).collect()
            } else {
                (0..outcomes(process)).map(|outcome| Move::taking(process, outcome).kind).collect()
            };
            if !kinds.is_empty() {
                possible.push((process, kinds));
            }
        }
        if possible.is_empty() {
            return None;
        }
        let weight = |(process, _): &(Process, Vec<MoveKind>)| self.weights[process.index()];
        let total = possible.iter().map(weight).sum();
        let mut drawn = below(random, total);
        let chosen = possible.iter().position(|one| {
            let chosen = drawn < weight(one);
            drawn = drawn.saturating_sub(weight(one));
            chosen
        });
        let (process, kinds) = &possible[chosen.unwrap_or(0)];
        let kind = kinds[below(random, kinds.len())];
        if let MoveKind::Begin(call) = kind {
            self.client.begin(&mut self.progress, *process, call);
        }
        Some(Move { process: *process, kind })
    }
}

/// Makes up to this many random moves, drawn by a [`Scheduler`]. The walk ends early when no
/// process can move.
pub fn walk(machine: &Machine<'_>, client: &Client, seed: u64, moves: usize) -> Walk {
    let n = machine.processes();
    let mut scheduler = Scheduler::new(*client, n, seed);
    let mut state = machine.initial().clone();
    let (mut made, mut reports, mut faulty) = (Vec::new(), Vec::new(), None);
    while made.len() < moves {
        let Some(next) = scheduler.next(&state) else { break };
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

/// Draws a number below a limit. Close to uniform for limits far below 2^32.
fn below(random: &mut ChaCha8Rng, limit: usize) -> usize {
    ((u64::from(random.next_u32()) * limit as u64) >> 32) as usize
}
