//! Random walks: executions under a random scheduler.
//!
//! A scheduler that gives all processes the same chance at every move is a poor
//! tester: an operation that is overtaken by several others, which is what
//! violations are made of, is exponentially rare. So processes have weights of
//! very different size, and these are drawn again from time to time.
//!
//! A walk is determined by its seed, forever: ChaCha8 is a fixed function, and
//! what is drawn from it is computed here.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_core::Process;

use super::client::{Client, Progress};
use super::event::Call;
use super::machine::Machine;
use super::schedule::{Execution, Move, MoveErrorKind, MoveKind};
use super::state::State;

/// A random execution.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Walk {
    /// The process and its move.
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

/// A random scheduler of a client, before its first move.
#[derive(Clone, Debug)]
pub struct Scheduler {
    client: Client,
    random: ChaCha8Rng,
    progress: Progress,
    weights: Vec<usize>,
    /// What weights are drawn from, and how many moves they last, on average.
    choices: [usize; 3],
    period: usize,
}

impl Scheduler {
    /// Of n processes; the same seed makes the same choices.
    pub fn new(client: Client, n: usize, seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let (choices, period) = (WEIGHTS, PERIOD);
        Self { client, random, progress: client.start(n), weights: vec![1; n], choices, period }
    }

    /// The same, but for processes that pause for long, in the midst of an operation,
    /// while others complete many.
    #[must_use]
    pub fn with_long_pauses(self) -> Self {
        Self { choices: [1, 64, 1 << 12], period: 60, ..self }
    }

    /// The next move, in the state that its predecessors led to: of some process
    /// that can move, and if it is idle, something that the client allows it to
    /// begin. `None` when no process can move.
    pub fn next(&mut self, state: &State) -> Option<Move> {
        let n = self.weights.len();
        self.next_by(state, |client, progress, process| client.calls(progress, process, n))
    }

    /// The same; `calls` tells what an idle process may begin.
    pub fn next_by(
        &mut self,
        state: &State,
        calls: impl FnMut(&Client, &Progress, Process) -> Vec<Call>,
    ) -> Option<Move> {
        self.next_taking(state, |_| 1, calls)
    }

    /// The same, of steps that have this many outcomes.
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

/// At most this many moves at random, as a [`Scheduler`] draws them. The walk ends
/// early when no process can move.
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

/// A number below a limit. For limits far below 2^32 as good as uniform.
fn below(random: &mut ChaCha8Rng, limit: usize) -> usize {
    ((u64::from(random.next_u32()) * limit as u64) >> 32) as usize
}
