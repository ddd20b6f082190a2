//! The rows, one kind of work per file.

mod check;
mod explored;
mod hard;
mod immediate;
mod monitor;
mod observer;
mod published;
mod search;
mod wrong;

pub use check::{Check, Linearize};
pub use explored::Explored;
pub use hard::HardCorpus;
pub use immediate::{Exchanged, Judged};
pub use monitor::Monitored;
pub use observer::Observed;
pub use published::PublishedCorpus;
pub use search::Searched;
pub use wrong::Wrong;

use snapshot_core::search::Budget;
use snapshot_core::verdict::Verdict;
use snapshot_core::{History, certificate};

use crate::Digest;

/// Bytes that an exact search may use; no row needs one.
const SEARCH_MEMORY: usize = 1 << 26;

/// The verdict with its certificate, as a user asks for it.
fn verdict(history: &History<i64>) -> Verdict {
    let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
    snapshot_core::check::check(history, &mut budget).verdict
}

fn of_history(digest: Digest, history: &History<i64>) -> Digest {
    history.events().fold(digest, |digest, event| digest.event(&event))
}

/// Has the independent judge confirm a certificate.
fn confirm(history: &History<i64>, verdict: &Verdict) {
    match verdict {
        Verdict::Linearizable(order) => {
            certificate::linearization::check(history, order).expect("the order is a proof");
        }
        Verdict::Violation(witness) => {
            certificate::witness::check(history, witness).expect("the witness is a proof");
        }
        Verdict::Unknown(unknown) => panic!("no row needs more than its budget, but: {unknown:?}"),
        Verdict::Disputed(dispute) => panic!("{dispute}"),
    }
}
