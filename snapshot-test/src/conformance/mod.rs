//! Conformance: does the checker give the known answers of the cases in the crate `corpus`?
//!
//! A [`Case`] is right if three judges that share nothing but the history agree
//! ([`Case::try_out`]):
//!
//! 1. [`check`](snapshot_core::check::check) gives the expected verdict, and the expected reason
//!    where the case has one;
//! 2. [`certificate`](snapshot_core::certificate) confirms the proof of the verdict;
//! 3. [`search_plainly`], which uses only the meaning of update and scan, finds the same; for
//!    immediate snapshots a search for blocks, which uses only the meaning of exchange. It is left
//!    out where it is not affordable ([`Family::is_searchable`]).
//!
//! So the corpus tests the checker, and the exact search tests the corpus.

mod case;
mod exchanges;
mod family;
mod tally;
mod trial;

pub use case::{Case, Recorded};
pub use family::Family;
pub use tally::{Tally, Wrong};
pub use trial::{Answer, Fault, Trial};

use std::hash::Hash;

use snapshot_core::History;
use snapshot_core::search::{Budget, Outcome, search_plainly};

/// Bytes for one search. The searchable families need far less.
const SEARCH_MEMORY: usize = 1 << 28;

/// Decides a history by exact search without any theory; `None` if that takes too much memory.
fn by_search<V: Clone + Eq + Hash>(history: &History<V>) -> Option<bool> {
    let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
    match search_plainly(history, &mut budget) {
        Outcome::Linearizable(_) => Some(true),
        Outcome::NotLinearizable { .. } => Some(false),
        Outcome::Exhausted { .. } => None,
    }
}
