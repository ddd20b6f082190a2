//! Does the checker give the right answers? The cases of the crate `corpus`,
//! whose answers are known, say so.
//!
//! A [`Case`] is right if three judges that share nothing but the history agree
//! ([`Case::try_out`]):
//!
//! 1. [`check`](snapshot_core::check::check) gives the expected verdict, and
//!    the expected reason where the case has one;
//! 2. [`certificate`](snapshot_core::certificate) confirms the proof that came
//!    with the verdict;
//! 3. [`search_plainly`], which knows
//!    nothing but the meaning of update and scan, finds the same; for immediate snapshots a
//!    search for blocks does, which knows nothing but the meaning of exchange. It is left out
//!    where it cannot be afforded ([`Family::is_searchable`]).
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

/// Bytes that one search may take. The searchable families need far less.
const SEARCH_MEMORY: usize = 1 << 28;

/// What exact search without any theory says of a history; `None` if it would
/// take too much memory.
fn by_search<V: Clone + Eq + Hash>(history: &History<V>) -> Option<bool> {
    let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
    match search_plainly(history, &mut budget) {
        Outcome::Linearizable(_) => Some(true),
        Outcome::NotLinearizable { .. } => Some(false),
        Outcome::Exhausted { .. } => None,
    }
}
