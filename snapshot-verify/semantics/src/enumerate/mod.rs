//! Enumerates all executions of a tiny instance; an exact search judges each history.
//!
//! This spells out the definition of correctness: run the interpreter in every possible way, and
//! decide for every history, complete or cut, whether it is linearizable. It uses neither the
//! theory of simple executions, nor an observer, nor a specification automaton. The price is a
//! state per machine state *and* history. Even the histories of the most general client grow
//! without end, so the number of operations must be bounded, to one or two per process.
//!
//! Executions with the same history so far and the same state have the same continuations; only one
//! of them is continued. Executions are found in order of length, shortest first.

mod histories;

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use snapshot_core::Process;
use thiserror::Error;

use self::histories::{Histories, HistoryId};
use crate::interpret::{
    Call, Client, ClientError, Event, Fault, Machine, Move, MoveKind, Progress, Sequential, State,
};
use crate::object::ObjectJudgeError;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Enumeration {
    /// Number of distinct pairs of a state and a history.
    pub states: usize,
    /// Number of distinct histories, all prefixes counted.
    pub histories: usize,
    /// Number of histories that are not linearizable, but were without their last event.
    pub violations: usize,
    /// A shortest execution that violates linearizability.
    pub first: Option<Vec<Move>>,
    /// A shortest execution whose last move is a fault.
    pub faulty: Option<(Vec<Move>, Fault)>,
}

/// Reason why executions cannot be enumerated.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum EnumerationError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("all executions can be enumerated only if the number of operations is bounded")]
    Unbounded,
    /// A history of an object could not be judged.
    #[error(transparent)]
    Object(#[from] ObjectJudgeError),
    #[error("more than {limit} states of execution: fewer operations or processes are needed")]
    TooMany {
        /// Largest allowed number of states.
        limit: usize,
    },
}

/// Runs the machine in every way that the client allows.
///
/// # Errors
/// If the client does not suit the machine, has no bound on its operations, or has more executions
/// than `limit` allows.
pub fn enumerate(
    machine: &Machine<'_>,
    client: &Client,
    limit: usize,
) -> Result<Enumeration, EnumerationError> {
    enumerated(machine, None, client, limit)
}

/// Enumerates the executions of an object that the text declares. `snapshot_core::generic` judges
/// the histories and decides which operations may begin. Of the client, only the values, the
/// operations and the participating processes count.
///
/// # Errors
/// As [`enumerate`], or if the object is faulty.
pub fn enumerate_object(
    machine: &Machine<'_>,
    sequential: &Sequential<'_>,
    client: &Client,
    limit: usize,
) -> Result<Enumeration, EnumerationError> {
    client.validate_object(sequential)?;
    enumerated(machine, Some(sequential), client, limit)
}

fn enumerated(
    machine: &Machine<'_>,
    object: Option<&Sequential<'_>>,
    client: &Client,
    limit: usize,
) -> Result<Enumeration, EnumerationError> {
    client.validate(machine.processes())?;
    if client.operations.is_none() && client.barriers.is_none() {
        return Err(EnumerationError::Unbounded);
    }
    let mut walk = Walk {
        machine,
        client: *client,
        object,
        histories: Histories::new(machine.processes(), object),
        seen: FxHashSet::default(),
        origins: Vec::new(),
        violating: FxHashSet::default(),
        first: None,
        faulty: None,
    };
    let first = Point {
        state: machine.initial().clone(),
        progress: client.start(machine.processes()),
        history: Histories::empty(),
    };
    let mut waiting = VecDeque::new();
    walk.arrive(first, None, &mut waiting);
    while let Some((number, point)) = waiting.pop_front() {
        for process in (0..machine.processes()).map(Process::from_index) {
            for kind in walk.kinds(&point, process) {
                walk.leave(number, &point, Move { process, kind }, &mut waiting);
            }
        }
        if let Some(fault) = walk.histories.fault() {
            return Err(fault.clone().into());
        }
        if walk.seen.len() > limit {
            return Err(EnumerationError::TooMany { limit });
        }
    }
    Ok(Enumeration {
        states: walk.seen.len(),
        histories: walk.histories.len(),
        violations: walk.violating.len(),
        first: walk.first,
        faulty: walk.faulty,
    })
}

struct Point {
    state: State,
    progress: Progress,
    history: HistoryId,
}

struct Walk<'m, 'p> {
    machine: &'m Machine<'p>,
    object: Option<&'m Sequential<'p>>,
    client: Client,
    histories: Histories<'m, 'p>,
    seen: FxHashSet<Box<[u8]>>,
    origins: Vec<Option<(usize, Move)>>,
    violating: FxHashSet<HistoryId>,
    first: Option<Vec<Move>>,
    faulty: Option<(Vec<Move>, Fault)>,
}

impl Walk<'_, '_> {
    fn kinds(&mut self, point: &Point, process: Process) -> Vec<MoveKind> {
        if point.state.is_idle(process.index()) {
            if self.is_barred(point.history) {
                return Vec::new();
            }
            let calls = match self.object {
                None => self.client.calls(&point.progress, process, self.machine.processes()),
                Some(object) => {
                    let calls = self.client.calls_of_object(object, &point.progress, process);
                    let mut may_begin = |call: &Call| match call {
                        Call::Operation(call) => {
                            self.histories.may_begin(point.history, process, *call)
                        }
                        Call::Update(_) | Call::Scan => false,
                    };
                    calls.into_iter().filter(|call| may_begin(call)).collect()
                }
            };
            calls.into_iter().map(MoveKind::Begin).collect()
        } else {
            let outcomes = 0..self.machine.outcomes(&point.state, process);
            outcomes.map(|outcome| Move::taking(process, outcome).kind).collect()
        }
    }

    /// Returns true if an invocation behind a history would be a barrier too many.
    fn is_barred(&self, history: HistoryId) -> bool {
        let Some(most) = self.client.barriers else { return false };
        let events = self.histories.events(history);
        let is_response: Vec<bool> =
            events.iter().map(|event| event.action.is_response()).collect();
        let barriers = is_response.windows(2).filter(|pair| pair[0] && !pair[1]).count();
        is_response.last() == Some(&true) && barriers >= most as usize
    }

    fn leave(
        &mut self,
        number: usize,
        point: &Point,
        made: Move,
        waiting: &mut VecDeque<(usize, Point)>,
    ) {
        let (mut state, mut progress) = (point.state.clone(), point.progress.clone());
        let process = made.process;
        let action = match made.kind {
            MoveKind::Begin(call) => {
                self.client.begin(&mut progress, process, call);
                self.machine.begin(&mut state, process, call).map(Some)
            }
            MoveKind::Step | MoveKind::Take(_) => {
                self.machine.advance_taking(&mut state, process, made.outcome())
            }
        };
        let mut history = point.history;
        match action {
            Ok(Some(action)) => {
                if !self.record(&mut history, Event { process, action }) {
                    self.first.get_or_insert_with(|| path(&self.origins, number, made));
                    return;
                }
            }
            Ok(None) => {}
            Err(fault) => {
                let moves = || (path(&self.origins, number, made), fault);
                self.faulty.get_or_insert_with(moves);
                return;
            }
        }
        let reached = Point { state, progress, history };
        self.arrive(reached, Some((number, made)), waiting);
    }

    /// Appends an event; returns true if the history is still linearizable.
    fn record(&mut self, history: &mut HistoryId, event: Event) -> bool {
        let (longer, is_linearizable) = self.histories.after(*history, event);
        *history = longer;
        if !is_linearizable {
            self.violating.insert(longer);
        }
        is_linearizable
    }

    fn arrive(
        &mut self,
        point: Point,
        origin: Option<(usize, Move)>,
        waiting: &mut VecDeque<(usize, Point)>,
    ) {
        // The history determines the client's progress.
        let mut key = point.state.key();
        key.extend(Histories::key(point.history));
        if self.seen.insert(key.into_boxed_slice()) {
            self.origins.push(origin);
            waiting.push_back((self.origins.len() - 1, point));
        }
    }
}

/// Returns the moves that lead to a point, and one more.
fn path(origins: &[Option<(usize, Move)>], mut number: usize, last: Move) -> Vec<Move> {
    let mut moves = vec![last];
    while let Some((before, made)) = origins[number] {
        moves.push(made);
        number = before;
    }
    moves.reverse();
    moves
}
