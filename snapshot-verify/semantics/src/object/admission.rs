//! Decides which operations of an object may begin, event by event.
//!
//! The client of an object obeys `by` and `when`; otherwise the algorithm promises nothing. So
//! moves from outside are checked against both before they are made.

use std::fmt;

use snapshot_core::Process;
use thiserror::Error;

use crate::interpret::{Call, Event, Fault, Machine, Move, MoveKind, OperationCall, Sequential};
use crate::language::Span;
use crate::program::By;
use crate::refine::{ObjectSpecification, Possibilities};

/// Operations that may begin after the events so far.
#[derive(Debug)]
pub struct Admission<'p> {
    specification: ObjectSpecification<'p>,
    /// `None` after an event that no order of the operations explains.
    set: Option<Possibilities>,
}

/// Reason why an operation may not begin.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// The operation belongs to other processes.
    By(By),
    /// The condition holds in no order of the operations that explains the results so far.
    When,
}

/// A move that begins an operation against the rules of the object.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("move {number}: process {process} may not begin {operation} there: {refusal}")]
pub struct Forbidden {
    /// Number of the move, from 1.
    pub number: usize,
    pub process: Process,
    /// Text of the operation, with its arguments.
    pub operation: String,
    pub refusal: Refusal,
    /// Clause of the object that forbids it.
    pub span: Span,
}

impl<'p> Admission<'p> {
    /// Creates the admission of an object in its initial state.
    pub fn new(sequential: Sequential<'p>) -> Self {
        let specification = ObjectSpecification::new(sequential);
        let set = Some(specification.initial());
        Self { specification, set }
    }

    /// Returns the reason why `by` or `when` forbids a process to begin an operation, if any. After
    /// an event that no order explains, `when` forbids nothing: the history is a violation for any
    /// continuation.
    ///
    /// # Errors
    /// If `when` has no meaning in some order.
    pub fn refusal(&self, process: Process, call: OperationCall) -> Result<Option<Refusal>, Fault> {
        let operation = self.specification.sequential().object().operation(call.operation);
        if !operation.by.includes(process.index()) {
            return Ok(Some(Refusal::By(operation.by.clone())));
        }
        let Some(set) = self.set else { return Ok(None) };
        let may = self.specification.may_begin(set, process, call)?;
        Ok((!may).then_some(Refusal::When))
    }

    /// Adds an event; returns true if some order of the operations explains all events so far.
    ///
    /// # Errors
    /// If the object is faulty in some order.
    pub fn happens(&mut self, event: &Event) -> Result<bool, Fault> {
        self.set = self.set.and_then(|set| self.specification.after(set, event));
        match self.specification.fault() {
            Some(fault) => Err(fault.clone()),
            None => Ok(self.set.is_some()),
        }
    }
}

/// Returns the first of these moves that begins an operation against the rules of the object. Stops
/// at a move that is impossible or faulty, and when `proceed`, which is called before each move,
/// returns `false`.
///
/// # Errors
/// If the object is faulty in some order.
pub fn forbidden(
    machine: &Machine<'_>,
    sequential: &Sequential<'_>,
    moves: &[Move],
    mut proceed: impl FnMut() -> bool,
) -> Result<Option<Forbidden>, Fault> {
    let mut admission = Admission::new(sequential.clone());
    let mut state = machine.initial().clone();
    for (&made, number) in moves.iter().zip(1..) {
        if !proceed() {
            break;
        }
        if let MoveKind::Begin(call @ Call::Operation(begun)) = made.kind
            && machine.has(call)
            && let Some(refusal) = admission.refusal(made.process, begun)?
        {
            let operation = sequential.object().operation(begun.operation);
            let says = match refusal {
                Refusal::By(_) => operation.effect,
                Refusal::When => operation.when.unwrap_or(operation.effect),
            };
            return Ok(Some(Forbidden {
                number,
                process: made.process,
                operation: machine.call_text(call),
                refusal,
                span: sequential.object().specification.procedure(says).span,
            }));
        }
        let Ok(report) = machine.make(&mut state, made) else { break };
        if let Some(event) = &report.event {
            admission.happens(event)?;
        }
    }
    Ok(None)
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::By(By::Process(number)) => write!(f, "only process {number} begins it (`by`)"),
            Self::By(_) => f.write_str("it belongs to the other processes (`by`)"),
            Self::When => f.write_str(
                "its `when` holds in no order of the operations that explains what was returned so \
                 far",
            ),
        }
    }
}
