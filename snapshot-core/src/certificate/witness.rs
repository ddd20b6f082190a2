//! Confirming a witness: its few operations have no order, for any choice of the other operations.
//!
//! A witness lists segments and operations: complete scans, and updates of these segments. Two
//! conditions make it a proof. The listed operations, seen through the listed segments, must have
//! no linearization; [brute force](super::brute_force) decides that. And every operation that is
//! not listed must be *omissible*: leaving it out must turn a linearizable history into a
//! linearizable one (`omission.rs` defines and proves this). Then a linearization of the history
//! would yield one of the listed operations; none exists, so the history has no linearization.
//!
//! Brute force ignores a segment that no listed update writes, and for which every listed scan
//! returned the initial value: it contradicts nothing, yet would cost memory in every state.
//!
//! # Not proved
//!
//! The witness's reason and renaming explain the contradiction to a reader. The
//! proof does not use them, and this check does not judge them.

use thiserror::Error;

use super::brute_force::{BruteForceError, MAX_OPERATIONS};
use super::omission::{NotOmissible, Omission};
use super::projection::Projection;
use crate::verdict::{Linearization, Witness};
use crate::{History, Names, OperationId, Segment};

/// Number of states that [`check`] allows brute force.
pub const DEFAULT_BUDGET: usize = 1_000_000;

/// The reason why a witness does not prove a history non-linearizable.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum WitnessError {
    /// A segment is out of order or occurs twice.
    #[error("{}", segment_order(&Names::default(), *segment))]
    SegmentOrder {
        /// The segment.
        segment: Segment,
    },
    /// An operation is out of order or occurs twice.
    #[error(
        "operation {operation} is out of order: a witness lists its operations in ascending order"
    )]
    OperationOrder {
        /// The operation.
        operation: OperationId,
    },
    /// The witness names a segment that the history does not have.
    #[error("the witness names segment {segment}, but the history has only {segments}")]
    NoSuchSegment {
        /// The segment named.
        segment: Segment,
        /// Number of segments of the history.
        segments: usize,
    },
    /// The witness names an operation that the history does not have.
    #[error("the witness names operation {operation}, but the history has only {operations}")]
    NoSuchOperation {
        /// The operation named.
        operation: OperationId,
        /// Number of operations of the history.
        operations: usize,
    },
    /// A listed scan never responded.
    #[error("scan {scan} never responded, so it cannot contradict anything")]
    IncompleteScan {
        /// The scan.
        scan: OperationId,
    },
    /// A listed update writes a segment that is not listed.
    #[error("{}", other_segment(&Names::default(), *update, *segment))]
    OtherSegment {
        /// The update.
        update: OperationId,
        /// The segment of the update.
        segment: Segment,
    },
    /// An update that is not listed might matter.
    #[error(
        "update {update} is not listed, but scan {scan} may have read it \
             and it is not redundant; list it"
    )]
    NotOmissible {
        /// The update.
        update: OperationId,
        /// The first listed scan that may have read it.
        scan: OperationId,
    },
    /// The listed operations can be ordered.
    #[error("the listed operations have a linearization, so they contradict nothing")]
    Linearizable {
        /// A linearization of the listed operations, seen through the listed segments.
        linearization: Linearization,
    },
    /// Brute force gave up.
    #[error(transparent)]
    Undecided(#[from] BruteForceError),
}

impl WitnessError {
    /// Returns the sentence for this error; segments have these names.
    pub fn told(&self, names: &Names) -> String {
        match *self {
            Self::SegmentOrder { segment } => segment_order(names, segment),
            Self::OtherSegment { update, segment } => other_segment(names, update, segment),
            _ => self.to_string(),
        }
    }
}

fn segment_order(names: &Names, segment: Segment) -> String {
    let segment = names.segment(segment);
    format!("{segment} is out of order: a witness lists its segments in ascending order")
}

fn other_segment(names: &Names, update: OperationId, segment: Segment) -> String {
    format!("update {update} is listed, but not {}, which it writes", names.segment(segment))
}

/// Checks that a witness proves a history non-linearizable, allowing brute
/// force [`DEFAULT_BUDGET`] states.
///
/// O(length of the history + updates of listed segments x listed scans), and
/// brute force on the listed operations.
///
/// # Errors
/// The first reason why the witness proves nothing, in the order of the list.
pub fn check<V: Eq>(history: &History<V>, witness: &Witness) -> Result<(), WitnessError> {
    check_within(history, witness, DEFAULT_BUDGET)
}

/// As [`check`], with a budget for brute force in states.
///
/// # Errors
/// As [`check`].
pub fn check_within<V: Eq>(
    history: &History<V>,
    witness: &Witness,
    budget: usize,
) -> Result<(), WitnessError> {
    check_listed(history, witness)?;
    let takes_part = |id: &&OperationId| !history.operation(**id).is_failed();
    let given = witness.operations.iter().filter(takes_part).count();
    if given > MAX_OPERATIONS {
        return Err(BruteForceError::TooLarge { given, limit: MAX_OPERATIONS }.into());
    }
    if let Err(NotOmissible { update, scan }) = Omission::new(history, witness).check_unlisted() {
        return Err(WitnessError::NotOmissible { update, scan });
    }
    let listed = witness.operations.iter().copied();
    let relevant = relevant_segments(history, witness);
    match Projection::new(history, &relevant, listed).linearization(budget)? {
        Some(linearization) => Err(WitnessError::Linearizable { linearization }),
        None => Ok(()),
    }
}

impl WitnessError {
    /// Returns true if the witness is not refused, but is too large for exhaustive search.
    pub const fn is_undecided(&self) -> bool {
        matches!(self, Self::Undecided(_))
    }
}

/// Returns the listed segments that a listed update writes, or for which a listed scan returned
/// another value than the initial one, ascending.
fn relevant_segments<V: Eq>(history: &History<V>, witness: &Witness) -> Vec<Segment> {
    let mut relevant = vec![false; witness.segments.len()];
    for &id in &witness.operations {
        let operation = history.operation(id);
        match operation.segment() {
            Some(segment) => {
                if let Ok(k) = witness.segments.binary_search(&segment) {
                    relevant[k] = true;
                }
            }
            None => {
                for (relevant, &segment) in relevant.iter_mut().zip(&witness.segments) {
                    *relevant |= history
                        .entry(operation, segment)
                        .is_some_and(|value| value != history.initial_value(segment));
                }
            }
        }
    }
    let segments = witness.segments.iter().zip(relevant);
    segments.filter(|(_, relevant)| *relevant).map(|(segment, _)| *segment).collect()
}

fn check_listed<V>(history: &History<V>, witness: &Witness) -> Result<(), WitnessError> {
    if let Some(pair) = witness.segments.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(WitnessError::SegmentOrder { segment: pair[1] });
    }
    if let Some(pair) = witness.operations.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(WitnessError::OperationOrder { operation: pair[1] });
    }
    let segments = history.segments();
    if let Some(&segment) = witness.segments.iter().find(|segment| segment.index() >= segments) {
        return Err(WitnessError::NoSuchSegment { segment, segments });
    }
    let operations = history.operations().len();
    for &id in &witness.operations {
        match history.operations().get(id.index()) {
            None => return Err(WitnessError::NoSuchOperation { operation: id, operations }),
            Some(operation) => match operation.segment() {
                None if !operation.is_complete() => {
                    return Err(WitnessError::IncompleteScan { scan: id });
                }
                Some(segment) if witness.segments.binary_search(&segment).is_err() => {
                    return Err(WitnessError::OtherSegment { update: id, segment });
                }
                _ => {}
            },
        }
    }
    Ok(())
}
