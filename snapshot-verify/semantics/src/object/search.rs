//! Searches for an order of the operations of a history: of single operations, or of blocks of
//! operations that take effect together.
//!
//! [`snapshot_core::generic`] orders single operations, [`snapshot_core::synchronisation`] orders
//! blocks.

use snapshot_core::OperationId;
use snapshot_core::generic::{self, Outcome};
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::{self, Verdict};

use super::ObjectJudgeError;
pub use crate::interpret::{Answer, Question};
use crate::interpret::{Declared, Sequential};

/// Memory in bytes for each search.
const MEMORY: usize = 1 << 30;

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
    let judged = Declared::new(sequential);
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
    match judged.fault() {
        Some(fault) => Err(ObjectJudgeError::Object(fault)),
        None => found,
    }
}
