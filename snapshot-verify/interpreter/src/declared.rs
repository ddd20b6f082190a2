//! Objects that a text declares as specifications of the core.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use snapshot_core::generic::Specification;
use snapshot_core::synchronisation::{self, Bond, Synchronisation};

use super::{Data, Fault, ObjectState, OperationCall, Sequential};

/// An operation in a history.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Question {
    /// Executes an operation by a process.
    Operation(usize, OperationCall),
    /// Asks whether a process may begin an operation.
    MayBegin(usize, OperationCall),
}

/// Returned data, if any.
pub type Answer = Option<Data>;

/// An object that a text declares, for the searches of orders: of operations, and of blocks of
/// operations that take effect together. A faulty operation takes effect in no state.
#[derive(Debug)]
pub struct Declared<'p, S> {
    sequential: S,
    /// First fault of the object.
    fault: RefCell<Option<Fault>>,
    object: PhantomData<&'p ()>,
}

impl<'p, S: Borrow<Sequential<'p>>> Declared<'p, S> {
    pub const fn new(sequential: S) -> Self {
        Self { sequential, fault: RefCell::new(None), object: PhantomData }
    }

    /// Returns the first fault of the object, if any: then an execution that seems wrong need not
    /// be.
    pub fn fault(&self) -> Option<Fault> {
        self.fault.borrow().clone()
    }

    fn sequential(&self) -> &Sequential<'p> {
        self.sequential.borrow()
    }

    fn unless_faulty<T>(&self, result: Result<T, Fault>) -> Option<T> {
        result.map_err(|fault| self.fault.borrow_mut().get_or_insert(fault).clone()).ok()
    }
}

impl<'p, S: Borrow<Sequential<'p>>> Specification for Declared<'p, S> {
    type State = ObjectState;
    type Input = Question;
    type Output = Answer;
    type Part = ();

    fn initial(&self) -> ObjectState {
        self.sequential().initial()
    }

    fn apply(&self, state: &mut ObjectState, input: &Question, output: Option<&Answer>) -> bool {
        match *input {
            Question::Operation(process, call) => {
                let applied = self.sequential().apply(state, process, call);
                let Some(Some((after, result))) = self.unless_faulty(applied) else { return false };
                *state = after;
                output.is_none_or(|output| *output == result)
            }
            Question::MayBegin(process, call) => {
                let may = self.sequential().may_begin(state, process, call);
                self.unless_faulty(may) == Some(true)
            }
        }
    }

    fn part(&self, _: &Question) {}

    fn bytes(&self, state: &ObjectState) -> usize {
        state.iter().map(Data::size).sum()
    }
}

impl<'p, S: Borrow<Sequential<'p>>> Synchronisation for Declared<'p, S> {
    type State = ObjectState;
    type Input = Question;
    type Output = Answer;

    fn initial(&self) -> ObjectState {
        self.sequential().initial()
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
                Question::Operation(process, call) if self.sequential().is_together(*call) => {
                    members.push((*process, *call));
                }
                _ if group.len() > 1 => return Bond::No,
                _ => {
                    let is_it = self.apply(state, question, *output);
                    return if is_it { Bond::Yes } else { Bond::No };
                }
            }
        }
        let blocks = self.unless_faulty(self.sequential().blocks(state, &members));
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
