//! Judges whether a history of an object is linearizable.
//!
//! Two judges decide: the search of orders (`search`), and the set of all configurations
//! (`refine::ObjectSpecification`). They share only the effects of single operations and blocks. If
//! they disagree, neither verdict is used.

use snapshot_core::{Process, generic};
use thiserror::Error;

use super::search::{self, Answer, History, Order, Question};
use crate::interpret::{Action, Event, Fault, OperationCall, Sequential};
use crate::refine::ObjectSpecification;

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Judgement {
    /// This order of its operations explains the history.
    Linearizable { order: Order },
    /// No order of its operations explains the history.
    Violation {
        /// Number of events of the shortest prefix without an explanation. The last of them is a
        /// response.
        events: usize,
        /// Order that explains this prefix without its last event.
        order: Order,
    },
}

impl Judgement {
    /// Returns true if some order of its operations explains the history.
    pub const fn is_linearizable(&self) -> bool {
        matches!(self, Self::Linearizable { .. })
    }
}

/// Reason why a history has no verdict.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ObjectJudgeError {
    #[error("the history has too many orders to try with {memory} bytes")]
    Undecided {
        /// Memory of the search, in bytes.
        memory: usize,
    },
    /// An operation has no meaning in some order.
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
        /// Verdict by the configurations, likewise.
        configurations: &'static str,
    },
}

impl ObjectJudgeError {
    /// Returns true if this program is at fault, as opposed to the request.
    pub const fn is_ours(&self) -> bool {
        matches!(self, Self::Disagreement { .. })
    }
}

/// Judge of the histories of an object.
#[derive(Clone, Debug)]
pub struct Judge<'s, 'p> {
    sequential: &'s Sequential<'p>,
}

impl<'s, 'p> Judge<'s, 'p> {
    pub const fn new(sequential: &'s Sequential<'p>) -> Self {
        Self { sequential }
    }

    /// Judges the history of these events, by both judges.
    ///
    /// # Errors
    /// If a judge gives no verdict, or they disagree.
    pub fn judge(&self, events: &[&Event]) -> Result<Judgement, ObjectJudgeError> {
        let allowed = self.allowed(events)?;
        let searched = search::order(self.sequential, &history(events))?;
        match (allowed, searched) {
            (None, Some(order)) => Ok(Judgement::Linearizable { order }),
            (Some(events_allowed), None) => {
                let before = history(&events[..events_allowed]);
                let Some(order) = search::order(self.sequential, &before)? else {
                    return Err(disagreement("a violation", "linearizable"));
                };
                Ok(Judgement::Violation { events: events_allowed + 1, order })
            }
            (None, None) => Err(disagreement("a violation", "linearizable")),
            (Some(_), Some(_)) => Err(disagreement("linearizable", "a violation")),
        }
    }

    /// Returns true if the history of these events is linearizable, by the search of orders alone.
    ///
    /// # Errors
    /// If the search is undecided.
    pub fn is_linearizable(&self, events: &[&Event]) -> Result<bool, ObjectJudgeError> {
        Ok(search::order(self.sequential, &history(events))?.is_some())
    }

    /// Returns true if a process may begin an operation after these events: in some order that
    /// explains them, with or without the open operations. The search of orders decides, by one
    /// more operation of the process that queries the condition.
    ///
    /// # Errors
    /// If the search is undecided.
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
        Ok(search::order(self.sequential, &history.finish())?.is_some())
    }

    /// Returns the number of events that the configurations of the object explain, if not all.
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
}

const fn disagreement(search: &'static str, configurations: &'static str) -> ObjectJudgeError {
    ObjectJudgeError::Disagreement { search, configurations }
}

fn history(events: &[&Event]) -> History {
    begun_history(events).finish()
}

/// Returns the history of these events as a builder, so that further events can be added.
///
/// # Panics
/// If an event does not belong to an object.
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
