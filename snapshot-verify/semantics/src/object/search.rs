//! Searches for an order of the operations of a history: of single operations, or of blocks of
//! operations that take effect together.
//!
//! [`snapshot_core::generic`] orders single operations, [`snapshot_core::synchronisation`] orders
//! blocks.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use snapshot_core::OperationId;
use snapshot_core::generic::{self, Outcome, Specification};
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::{self, Bond, Synchronisation, Verdict};

use super::ObjectJudgeError;
use crate::interpret::{Data, Fault, ObjectState, OperationCall, Sequential};

/// Memory in bytes for each search.
const MEMORY: usize = 1 << 30;

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Question {
    /// Executes an operation by a process.
    Operation(usize, OperationCall),
    /// Asks whether a process may begin an operation.
    MayBegin(usize, OperationCall),
}

/// Returned data, if any.
pub type Answer = Option<Data>;

pub type History = generic::History<Question, Answer>;

/// Order that explains a history; operations that take effect together form a block.
pub type Order = Vec<Vec<OperationId>>;

/// Finds an order that explains a history, if there is one.
///
/// # Errors
/// If the search is undecided, or the object is faulty in some order.
pub fn order(
    sequential: &Sequential<'_>,
    history: &History,
) -> Result<Option<Order>, ObjectJudgeError> {
    let judged = Judged { sequential, fault: RefCell::new(None) };
    let mut budget = Budget { memory: MEMORY, proceed: &mut || true };
    let undecided = ObjectJudgeError::Undecided { memory: MEMORY };
    let found = if sequential.object().has_blocks() {
        match synchronisation::by_search(&judged, history, &mut budget) {
            Verdict::SetLinearizable(all) => Ok(Some(all.blocks().map(<[_]>::to_vec).collect())),
            Verdict::Violation(_) => Ok(None),
            Verdict::Unknown { .. } => Err(undecided),
        }
    } else {
        match generic::check(&judged, history, &mut budget) {
            Outcome::Linearizable { linearization, .. } => {
                Ok(Some(linearization.order.into_iter().map(|one| vec![one]).collect()))
            }
            Outcome::NotLinearizable { .. } => Ok(None),
            Outcome::Exhausted { .. } => Err(undecided),
        }
    };
    match judged.fault.into_inner() {
        Some(fault) => Err(ObjectJudgeError::Object(fault)),
        None => found,
    }
}

/// Specification of the object for the search of orders.
struct Judged<'s, 'p> {
    sequential: &'s Sequential<'p>,
    /// First fault of the object.
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

impl Synchronisation for Judged<'_, '_> {
    type State = ObjectState;
    type Input = Question;
    type Output = Answer;

    fn initial(&self) -> ObjectState {
        self.sequential.initial()
    }

    fn arities(&self) -> RangeInclusive<usize> {
        1..=usize::MAX
    }

    /// An operation that waits prevents all larger groups from taking effect: each first part has
    /// the same effect in every order, and so would wait as the first of any larger group.
    fn together(
        &self,
        state: &mut ObjectState,
        group: &[synchronisation::Member<'_, Question, Answer>],
    ) -> Bond {
        let mut members = Vec::new();
        for (question, output) in group {
            match question {
                Question::Operation(process, call) if self.sequential.is_together(*call) => {
                    members.push((*process, *call));
                }
                _ if group.len() > 1 => return Bond::No,
                _ => {
                    let is_it = self.apply(state, question, *output);
                    return if is_it { Bond::Yes } else { Bond::No };
                }
            }
        }
        let blocks = self.unless_faulty(self.sequential.blocks(state, &members));
        let whole = blocks.and_then(|mut blocks| blocks.pop());
        let Some(block) = whole.filter(|block| block.members.len() == group.len()) else {
            return Bond::No;
        };
        *state = block.state;
        let mut pairs = group.iter().zip(&block.results);
        // A larger group may have other results.
        let agree = pairs.all(|((_, output), result)| output.is_none_or(|output| output == result));
        if agree { Bond::Yes } else { Bond::Prefix }
    }

    fn bytes(&self, state: &ObjectState) -> usize {
        Specification::bytes(self, state)
    }
}
