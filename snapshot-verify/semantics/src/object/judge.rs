//! Whether a history of an object is linearizable.
//!
//! Asked twice: the search of orders of `snapshot_core::generic`, and the set of all
//! configurations (`refine::ObjectSpecification`). They share what one operation does, and
//! nothing else; should they disagree, neither is believed.

use std::cell::RefCell;

use snapshot_core::generic::{self, Outcome, Specification};
use snapshot_core::search::Budget;
use snapshot_core::{OperationId, Process};
use thiserror::Error;

use crate::interpret::{Action, Data, Event, Fault, ObjectState, OperationCall, Sequential};
use crate::refine::ObjectSpecification;

/// Bytes for each search of orders.
const MEMORY: usize = 1 << 30;

/// What is known of a history.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Judgement {
    /// There is an order of its operations that explains it.
    Linearizable,
    /// There is none.
    Violation {
        /// How many events the shortest part from the begin has that nothing explains. The
        /// last of them is a response.
        events: usize,
        /// An order that explains that part without its last event.
        order: Vec<OperationId>,
    },
}

/// Why a history has no verdict.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ObjectJudgeError {
    /// The search ran out of memory.
    #[error("the history has too many orders to try with {memory} bytes")]
    Undecided {
        /// The memory of the search.
        memory: usize,
    },
    /// What an operation does has no meaning in some order.
    #[error("the object is faulty: {0}")]
    Object(Fault),
    /// The two judges disagree.
    #[error(
        "this is a bug of this program: the search of orders finds a history {search}, but the \
         configurations of the object find it {configurations}"
    )]
    Disagreement {
        /// `linearizable` or `a violation`.
        search: &'static str,
        /// The other.
        configurations: &'static str,
    },
}

/// Judges histories of an object.
#[derive(Clone, Debug)]
pub struct Judge<'s, 'p> {
    sequential: &'s Sequential<'p>,
}

/// A question to the object.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Question {
    /// An operation by a process.
    Operation(usize, OperationCall),
    /// Whether a process may begin this.
    MayBegin(usize, OperationCall),
}

/// What is returned, if anything.
type Answer = Option<Data>;

type History = generic::History<Question, Answer>;

/// The object for the search of orders.
struct Judged<'s, 'p> {
    sequential: &'s Sequential<'p>,
    /// The first fault of the object.
    fault: RefCell<Option<Fault>>,
}

impl Judged<'_, '_> {
    fn unless_faulty<T>(&self, result: Result<T, Fault>) -> Option<T> {
        result.map_err(|fault| self.fault.borrow_mut().get_or_insert(fault).clone()).ok()
    }
}

impl Specification for Judged<'_, '_> {
    type State = ObjectState;
    type Input = Question;
    type Output = Answer;
    type Part = ();

    fn initial(&self) -> ObjectState {
        self.sequential.initial()
    }

    fn apply(&self, state: &mut ObjectState, input: &Question, output: Option<&Answer>) -> bool {
        match *input {
            Question::Operation(process, call) => {
                let applied = self.sequential.apply(state, process, call);
                let Some(Some((after, result))) = self.unless_faulty(applied) else { return false };
                *state = after;
                output.is_none_or(|output| *output == result)
            }
            Question::MayBegin(process, call) => {
                let may = self.sequential.may_begin(state, process, call);
                self.unless_faulty(may) == Some(true)
            }
        }
    }

    fn part(&self, _: &Question) {}

    fn bytes(&self, state: &ObjectState) -> usize {
        state.iter().map(Data::size).sum()
    }
}

impl<'s, 'p> Judge<'s, 'p> {
    /// Of an object.
    pub const fn new(sequential: &'s Sequential<'p>) -> Self {
        Self { sequential }
    }

    /// Judges the history of these events, by both judges.
    ///
    /// # Errors
    /// If there is no answer that both give.
    pub fn judge(&self, events: &[&Event]) -> Result<Judgement, ObjectJudgeError> {
        let allowed = self.allowed(events)?;
        let searched = self.search(&history(events))?;
        match (allowed, searched) {
            (None, None) => Ok(Judgement::Linearizable),
            (Some(events_allowed), Some(_)) => {
                let before = history(&events[..events_allowed]);
                let (None, order) = self.order(&before)? else {
                    return Err(disagreement("a violation", "linearizable"));
                };
                Ok(Judgement::Violation { events: events_allowed + 1, order })
            }
            (None, Some(_)) => Err(disagreement("a violation", "linearizable")),
            (Some(_), None) => Err(disagreement("linearizable", "a violation")),
        }
    }

    /// Whether the history of these events is linearizable, by the search of orders alone.
    ///
    /// # Errors
    /// If it is not decided.
    pub fn is_linearizable(&self, events: &[&Event]) -> Result<bool, ObjectJudgeError> {
        Ok(self.search(&history(events))?.is_none())
    }

    /// Whether a process may begin an operation after these events: in some order that
    /// explains them, with or without the open operations. By the search of orders: as if
    /// the process had seen it by one more operation.
    ///
    /// # Errors
    /// If it is not decided.
    pub fn may_begin(
        &self,
        events: &[&Event],
        process: Process,
        call: OperationCall,
    ) -> Result<bool, ObjectJudgeError> {
        if !self.sequential.is_guarded(call) {
            let object = self.sequential.object();
            return Ok(object.operation(call.operation).by.includes(process.index()));
        }
        let mut history = begun_history(events);
        let question = Question::MayBegin(process.index(), call);
        history.invoke(process.index(), question).expect("an idle process may begin something");
        history.respond(process.index(), None).expect("it has just begun something");
        Ok(self.search(&history.finish())?.is_none())
    }

    /// How many events the configurations of the object explain, if not all.
    fn allowed(&self, events: &[&Event]) -> Result<Option<usize>, ObjectJudgeError> {
        let mut specification = ObjectSpecification::new(self.sequential.clone());
        let mut set = specification.initial();
        for (position, event) in events.iter().enumerate() {
            let after = specification.after(set, event);
            if let Some(fault) = specification.fault() {
                return Err(ObjectJudgeError::Object(fault.clone()));
            }
            match after {
                Some(after) => set = after,
                None => return Ok(Some(position)),
            }
        }
        Ok(None)
    }

    /// How far the search comes, if there is no order.
    fn search(&self, history: &History) -> Result<Option<usize>, ObjectJudgeError> {
        Ok(self.order(history)?.0)
    }

    /// How far the search comes, if there is no order, and the order.
    fn order(
        &self,
        history: &History,
    ) -> Result<(Option<usize>, Vec<OperationId>), ObjectJudgeError> {
        let judged = Judged { sequential: self.sequential, fault: RefCell::new(None) };
        let mut budget = Budget { memory: MEMORY, proceed: &mut || true };
        let outcome = generic::check(&judged, history, &mut budget);
        if let Some(fault) = judged.fault.into_inner() {
            return Err(ObjectJudgeError::Object(fault));
        }
        match outcome {
            Outcome::Linearizable { linearization, .. } => Ok((None, linearization.order)),
            Outcome::NotLinearizable { furthest, .. } => {
                Ok((Some(furthest.events), furthest.order.order))
            }
            Outcome::Exhausted { .. } => Err(ObjectJudgeError::Undecided { memory: MEMORY }),
        }
    }
}

const fn disagreement(search: &'static str, configurations: &'static str) -> ObjectJudgeError {
    ObjectJudgeError::Disagreement { search, configurations }
}

fn history(events: &[&Event]) -> History {
    begun_history(events).finish()
}

/// The history of these events, to which others may be added.
///
/// # Panics
/// If they are not those of a machine with an object.
fn begun_history(events: &[&Event]) -> generic::HistoryBuilder<Question, Answer> {
    let mut history = History::builder();
    for Event { process, action } in events {
        let made = match action {
            Action::Begin { call, .. } => {
                history.invoke(process.index(), Question::Operation(process.index(), *call))
            }
            Action::End { result, .. } => history.respond(process.index(), result.clone()),
            _ => panic!("a snapshot's events are none of an object"),
        };
        made.expect("a machine's events are a history");
    }
    history
}
