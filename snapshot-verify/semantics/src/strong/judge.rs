//! Judges a tree of executions, by code that shares nothing with the game: each case is run by the
//! interpreter, the ways to order it are enumerated again, and each leaf is confirmed by exact
//! search of the history with the first operations of the order fixed.

use snapshot_core::Process;
use snapshot_core::generic::{self, History, Outcome, Specification};
use snapshot_core::search::Budget;
use thiserror::Error;

use super::Strength;
use super::tree::{Branch, Case};
use crate::contents::{Answer, Contents};
use crate::interpret::{Call, Event, Fault, Machine, Move, MoveError, MoveKind, Sequential};

/// Memory in bytes for each search.
const MEMORY: usize = 1 << 30;

/// Reason why a tree is no argument.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum JudgeError {
    #[error("a case is no execution: {0}")]
    Moves(MoveError),
    #[error("a case does not end with a response")]
    NoResponse,
    /// An order is in no branch.
    #[error("after {moves} moves, an order of the operations is in no branch")]
    Missing {
        /// Number of moves.
        moves: usize,
    },
    /// A leaf has an order.
    #[error("after {moves} moves, an order of the operations is left")]
    Ordered {
        /// Number of moves.
        moves: usize,
    },
    #[error("the object is faulty: {0}")]
    Object(Fault),
    #[error("a history has too many orders to try with {memory} bytes")]
    Undecided {
        /// Memory of the search, in bytes.
        memory: usize,
    },
}

/// Size of a confirmed tree.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Confirmed {
    /// Number of orders that were followed to a leaf.
    pub orders: usize,
    /// Number of histories without an order, by exact search.
    pub searched: usize,
}

/// Confirms that no function chooses an order for each execution of a tree, such that longer
/// executions have longer orders: of all operations, or of the updates.
///
/// # Errors
/// If the tree is no argument for that, or a search is undecided.
pub fn confirm(
    machine: &Machine<'_>,
    object: Option<&Sequential<'_>>,
    strength: Strength,
    case: &Case,
) -> Result<Confirmed, JudgeError> {
    let mut judging = Judging { machine, object, strength, confirmed: Confirmed::default() };
    judging.case(case, &[], &[])?;
    Ok(judging.confirmed)
}

struct Judging<'a, 'm, 'p> {
    machine: &'a Machine<'m>,
    object: Option<&'a Sequential<'p>>,
    strength: Strength,
    confirmed: Confirmed,
}

/// An operation of an execution, in the order of the invocations.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Begun {
    process: usize,
    call: Call,
    answer: Option<Answer>,
}

/// An execution that ends with a response.
#[derive(Clone, Copy)]
struct Past<'a> {
    operations: &'a [Begun],
    events: &'a [&'a Event],
    /// Operation that responds, by number.
    responding: usize,
}

/// Operations in blocks that take effect one after the other, by number.
type Blocks = Vec<Vec<usize>>;

impl Judging<'_, '_, '_> {
    fn case(
        &mut self,
        case: &Case,
        before: &[Move],
        order: &[Vec<usize>],
    ) -> Result<(), JudgeError> {
        let moves: Vec<Move> = before.iter().chain(&case.moves).copied().collect();
        let execution = self.machine.run(&moves).map_err(JudgeError::Moves)?;
        let events: Vec<&Event> = execution.events().collect();
        let is_last = execution.reports.last().is_some_and(|report| report.event.is_some());
        let Some(last) = events.last().filter(|event| is_last && event.action.is_response()) else {
            return Err(JudgeError::NoResponse);
        };
        let operations = operations(&moves, &events);
        let mine = |one: &Begun| one.process == last.process.index();
        let responding = operations.iter().rposition(mine).ok_or(JudgeError::NoResponse)?;
        let history = Past { operations: &operations, events: &events, responding };
        let orders = self.orders(&history, order)?;
        if case.branches.is_empty() {
            if !orders.is_empty() {
                return Err(JudgeError::Ordered { moves: moves.len() });
            }
            self.confirmed.orders += 1;
            return self.search(&history, order, moves.len());
        }
        for appended in orders {
            let processes: Vec<Vec<Process>> = appended
                .iter()
                .map(|block| {
                    let process = |one: &usize| Process::from_index(operations[*one].process);
                    block.iter().map(process).collect()
                })
                .collect();
            let has = |branch: &&Branch| branch.orders.contains(&processes);
            let branch = case.branches.iter().find(has);
            let branch = branch.ok_or(JudgeError::Missing { moves: moves.len() })?;
            let order: Blocks = order.iter().cloned().chain(appended).collect();
            self.case(&branch.case, &moves, &order)?;
        }
        Ok(())
    }

    /// Returns the shortest orders of open operations that can be appended so that the one that
    /// responds has its answer.
    fn orders(&self, history: &Past<'_>, order: &[Vec<usize>]) -> Result<Vec<Blocks>, JudgeError> {
        let operations = history.operations;
        let has = |order: &[Vec<usize>], one: usize| order.iter().flatten().any(|two| *two == one);
        // The answer of an operation is fixed when it is placed.
        let Some(state) = self.after(operations, order)? else { return Ok(Vec::new()) };
        let is_free = |one: &usize| !has(order, *one) && self.is_ordered(&operations[*one]);
        let free: Vec<usize> = (0..operations.len()).filter(is_free).collect();
        let mut found = Vec::new();
        let mut work = vec![(state, Blocks::new())];
        while let Some((state, appended)) = work.pop() {
            let whole: Blocks = order.iter().chain(&appended).cloned().collect();
            let is_enough = match self.strength {
                Strength::All => has(&whole, history.responding),
                Strength::Writes => self.has_places(history, &whole)?,
            };
            if is_enough {
                found.push(appended);
                continue;
            }
            let left = free.iter().filter(|one| !has(&appended, **one)).copied();
            let left: Vec<usize> = left.collect();
            for (block, after) in self.blocks(operations, &state, &left)? {
                work.push((after, appended.iter().cloned().chain([block]).collect()));
            }
        }
        Ok(found)
    }

    /// Returns true if longer executions keep the place of an operation.
    fn is_ordered(&self, one: &Begun) -> bool {
        self.strength == Strength::All
            || match one.call {
                Call::Update(_) => true,
                Call::Scan => false,
                Call::Operation(call) => {
                    self.object.is_some_and(|object| object.object().changes(call.operation))
                }
            }
    }

    /// Returns true if the history has an order with exactly these updates, in this order.
    fn has_places(&self, history: &Past<'_>, order: &[Vec<usize>]) -> Result<bool, JudgeError> {
        match self.order_of(history, order, true) {
            Outcome::NotLinearizable { .. } => Ok(false),
            Outcome::Linearizable { .. } => Ok(true),
            Outcome::Exhausted { .. } => Err(JudgeError::Undecided { memory: MEMORY }),
        }
    }

    /// Returns the blocks of free operations that can take effect next, with answers as returned,
    /// and the state after each.
    fn blocks(
        &self,
        operations: &[Begun],
        state: &Contents,
        free: &[usize],
    ) -> Result<Vec<(Vec<usize>, Contents)>, JudgeError> {
        let members: Vec<_> =
            free.iter().map(|one| (operations[*one].process, operations[*one].call)).collect();
        let effects = state.effects(self.object, &members).map_err(JudgeError::Object)?;
        let is_right = |(one, answer): (&usize, &Answer)| {
            let returned = operations[free[*one]].answer.as_ref();
            returned.is_none_or(|returned| returned == answer)
        };
        let mut found = Vec::new();
        for (positions, after, answers) in effects {
            if positions.iter().zip(&answers).all(is_right) {
                found.push((positions.into_iter().map(|one| free[one]).collect(), after));
            }
        }
        Ok(found)
    }

    /// Returns the state after an order, if the answers are as returned.
    fn after(
        &self,
        operations: &[Begun],
        order: &[Vec<usize>],
    ) -> Result<Option<Contents>, JudgeError> {
        let mut state = Contents::initial(self.object, self.machine.processes());
        for block in order {
            let next = self.blocks(operations, &state, block)?;
            match next.into_iter().find(|(members, _)| members == block) {
                Some((_, after)) => state = after,
                None => return Ok(None),
            }
        }
        Ok(Some(state))
    }

    /// Confirms by exact search that the history has no order that begins with this one.
    fn search(
        &mut self,
        history: &Past<'_>,
        order: &[Vec<usize>],
        moves: usize,
    ) -> Result<(), JudgeError> {
        if self.object.is_some_and(|object| object.object().has_blocks()) {
            // Orders of blocks were all tried.
            return Ok(());
        }
        match self.order_of(history, order, false) {
            Outcome::NotLinearizable { .. } => {
                self.confirmed.searched += 1;
                Ok(())
            }
            Outcome::Linearizable { .. } => Err(JudgeError::Ordered { moves }),
            Outcome::Exhausted { .. } => Err(JudgeError::Undecided { memory: MEMORY }),
        }
    }

    /// Searches for an order of a history in which the operations that are ordered begin with these;
    /// `is_whole`: in which there are no others.
    fn order_of(&self, past: &Past<'_>, order: &[Vec<usize>], is_whole: bool) -> Outcome {
        let Past { operations, events, .. } = *past;
        let order: Vec<usize> = order.iter().flatten().copied().collect();
        let fixed = Fixed { judging: self, operations, order: &order, is_whole };
        let mut history = History::builder();
        let mut next = 0;
        let mut open = vec![0; self.machine.processes()];
        for event in events {
            let process = event.process.index();
            let pushed = if event.action.is_response() {
                let answer = operations[open[process]].answer.clone().expect("it has responded");
                history.respond(process, answer)
            } else {
                open[process] = next;
                next += 1;
                history.invoke(process, open[process])
            };
            pushed.expect("a machine's events are a history");
        }
        let mut budget = Budget { memory: MEMORY, proceed: &mut || true };
        generic::check(&fixed, &history.finish(), &mut budget)
    }
}

/// Returns the operations of an execution in the order of their invocations.
fn operations(moves: &[Move], events: &[&Event]) -> Vec<Begun> {
    let mut calls = moves.iter().filter_map(|made| match made.kind {
        MoveKind::Begin(call) => Some(call),
        _ => None,
    });
    let mut operations: Vec<Begun> = Vec::new();
    for event in events {
        let process = event.process.index();
        let Some(answer) = Answer::new(&event.action) else {
            let call = calls.next().expect("an invocation is a move");
            operations.push(Begun { process, call, answer: None });
            continue;
        };
        let own = operations.iter_mut().rfind(|one| one.process == process);
        own.expect("a response follows its invocation").answer = Some(answer);
    }
    operations
}

/// The object, with the first operations of the order fixed.
struct Fixed<'a, 'b, 'm, 'p> {
    judging: &'a Judging<'b, 'm, 'p>,
    operations: &'a [Begun],
    order: &'a [usize],
    /// True if no further operations are ordered.
    is_whole: bool,
}

impl Specification for Fixed<'_, '_, '_, '_> {
    /// Number of operations in the order so far, up to those that are fixed.
    type State = (usize, Contents);
    type Input = usize;
    type Output = Answer;
    type Part = ();

    fn initial(&self) -> Self::State {
        (0, Contents::initial(self.judging.object, self.judging.machine.processes()))
    }

    fn apply(&self, state: &mut Self::State, input: &usize, output: Option<&Answer>) -> bool {
        let (placed, contents) = state;
        let begun = &self.operations[*input];
        let is_ordered = self.judging.is_ordered(begun);
        let is_next = self.order.get(*placed).map_or(!self.is_whole, |next| next == input);
        if is_ordered && !is_next {
            return false;
        }
        let Begun { process, call, .. } = begun;
        let effect = contents.apply(self.judging.object, (*process, *call));
        let Ok(Some((after, answer))) = effect else {
            return false;
        };
        *contents = after;
        *placed = (*placed + usize::from(is_ordered)).min(self.order.len());
        output.is_none_or(|output| *output == answer)
    }

    fn part(&self, _: &usize) {}
}
