//! The second method: refinement of the algorithm against the atomic snapshot.
//!
//! A breadth-first search over pairs of a state of the interpreter and a set of
//! configurations of the normalised [`Specification`]; a violation is an event
//! after which the set is empty. For full executions over a small value domain as
//! well as for simple ones.
//!
//! It exists to disagree: it shares nothing with the observer, with instances,
//! reductions or the explorer, only the program and the interpreter. So where it
//! and the explorer give the same verdict, an error must have been made twice.
//! It is also the baseline that the method of Amram et al. is compared with:
//! PAT's refinement checking (Liu, Chen, Liu and Sun, FM 2009).
//!
//! States are told apart up to the names of versions ([`State::key`]), so
//! programs with versions have finitely many states without a bound on the
//! number of operations. Programs with counters do not: bound them.

mod specification;

pub use specification::{Possibilities, Specification};

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use snapshot_core::Process;

use crate::interpret::{
    Client, ClientError, Event, Fault, Machine, Move, MoveKind, Progress, State,
};

/// What a search may cost.
pub struct Budget<'a> {
    /// The largest number of states.
    pub states: usize,
    /// Asked from time to time; `false` ends the search.
    pub proceed: &'a mut dyn FnMut() -> bool,
}

/// What a search found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refinement {
    /// The answer.
    pub verdict: Verdict,
    /// How many states of algorithm, client and specification were reached.
    pub states: usize,
    /// How many moves were tried.
    pub transitions: u64,
    /// The length of the longest shortest path to a state.
    pub depth: usize,
    /// How many sets of configurations occurred.
    pub possibilities: usize,
}

/// Whether all executions are linearizable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// They are: all executions of this client were explored.
    Verified,
    /// This execution is not, and there is no shorter one.
    Violation(Vec<Move>),
    /// The last of these moves has no meaning.
    Faulty {
        /// The moves.
        moves: Vec<Move>,
        /// What is wrong with the last of them.
        fault: Fault,
    },
    /// A budget ran out.
    Unknown,
}

/// A reached state that has not been left yet.
struct Waiting {
    node: u32,
    depth: usize,
    state: State,
    progress: Progress,
    possibilities: Possibilities,
}

/// Explores all executions of a client.
///
/// # Errors
/// If the client does not suit the number of processes, or its executions are
/// too many to search all.
pub fn refine(
    machine: &Machine<'_>,
    client: &Client,
    budget: &mut Budget<'_>,
) -> Result<Refinement, ClientError> {
    client.validate(machine.processes())?;
    Ok(Search::new(machine, *client).run(budget))
}

struct Search<'m, 'p> {
    machine: &'m Machine<'p>,
    client: Client,
    specification: Specification,
    seen: FxHashSet<Box<[u8]>>,
    /// How each state was first reached: from which, by which move. The first
    /// state was not.
    origins: Vec<Option<(u32, Move)>>,
    waiting: VecDeque<Waiting>,
    transitions: u64,
    depth: usize,
}

/// Moves between two questions whether to go on.
const QUESTION_EVERY: u64 = 4096;

impl<'m, 'p> Search<'m, 'p> {
    fn new(machine: &'m Machine<'p>, client: Client) -> Self {
        let specification = Specification::new(machine.processes());
        let mut search = Self {
            machine,
            client,
            seen: FxHashSet::default(),
            origins: Vec::new(),
            waiting: VecDeque::new(),
            transitions: 0,
            depth: 0,
            specification,
        };
        let first = Waiting {
            node: 0,
            depth: 0,
            state: machine.initial().clone(),
            progress: client.start(machine.processes()),
            possibilities: search.specification.initial(),
        };
        search.reach(first, None);
        search
    }

    fn run(mut self, budget: &mut Budget<'_>) -> Refinement {
        let mut verdict = Verdict::Verified;
        'search: while let Some(from) = self.waiting.pop_front() {
            for made in self.moves(&from) {
                self.transitions += 1;
                let asked = self.transitions.is_multiple_of(QUESTION_EVERY);
                if self.seen.len() >= budget.states || (asked && !(budget.proceed)()) {
                    verdict = Verdict::Unknown;
                    break 'search;
                }
                if let Err(found) = self.follow(&from, made) {
                    verdict = found;
                    break 'search;
                }
            }
        }
        Refinement {
            verdict,
            states: self.seen.len(),
            transitions: self.transitions,
            depth: self.depth,
            possibilities: self.specification.len(),
        }
    }

    fn moves(&self, from: &Waiting) -> Vec<Move> {
        let n = self.machine.processes();
        let mut moves = Vec::new();
        for process in (0..n).map(Process::must) {
            if from.state.is_idle(process.index()) {
                let calls = self.client.calls(&from.progress, process, n);
                let begin = |call| Move { process, kind: MoveKind::Begin(call) };
                moves.extend(calls.into_iter().map(begin));
            } else {
                moves.push(Move::step(process));
            }
        }
        moves
    }

    /// Makes a move; an error is the answer.
    fn follow(&mut self, from: &Waiting, made: Move) -> Result<(), Verdict> {
        let mut state = from.state.clone();
        let mut progress = from.progress.clone();
        let process = made.process;
        let action = match made.kind {
            MoveKind::Begin(call) => {
                self.client.begin(&mut progress, process, call);
                self.machine.begin(&mut state, process, call).map(Some)
            }
            MoveKind::Step => self.machine.advance(&mut state, process),
        };
        let action = action.map_err(|fault| {
            let moves = self.path(from.node, made);
            Verdict::Faulty { moves, fault }
        })?;
        let possibilities = match action {
            Some(action) => {
                let event = Event { process, action };
                let after = self.specification.after(from.possibilities, &event);
                after.ok_or_else(|| Verdict::Violation(self.path(from.node, made)))?
            }
            None => from.possibilities,
        };
        let depth = from.depth + 1;
        let reached = Waiting { node: 0, depth, state, progress, possibilities };
        self.reach(reached, Some((from.node, made)));
        Ok(())
    }

    fn reach(&mut self, reached: Waiting, origin: Option<(u32, Move)>) {
        let mut key = reached.state.key();
        key.extend(reached.progress.key());
        key.extend(reached.possibilities.to_bytes());
        if self.seen.insert(key.into_boxed_slice()) {
            self.depth = reached.depth;
            let node = self.origins.len() as u32;
            self.origins.push(origin);
            self.waiting.push_back(Waiting { node, ..reached });
        }
    }

    /// The moves that lead to a state, and one more.
    fn path(&self, mut node: u32, last: Move) -> Vec<Move> {
        let mut moves = vec![last];
        while let Some((before, made)) = self.origins[node as usize] {
            moves.push(made);
            node = before;
        }
        moves.reverse();
        moves
    }
}
