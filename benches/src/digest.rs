//! Digests of inputs and answers: 64-bit FNV-1a.
//!
//! Not for safety against malice, but to notice that something changed; it is a
//! few lines, so no dependency can change it either.

use std::collections::HashMap;
use std::fmt;

use snapshot_core::history::{Action, Event};
use snapshot_core::verdict::{Linearization, Verdict, Witness};

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A running digest; shown as 16 hexadecimal digits.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct Digest(u64);

impl Digest {
    /// Of nothing.
    pub const EMPTY: Self = Self(OFFSET);

    /// Takes bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(PRIME);
        }
        self
    }

    /// Takes a number, as eight bytes, least first.
    #[must_use]
    pub fn number(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Takes an event of a recording.
    #[must_use]
    pub fn event(self, event: &Event<'_, i64>) -> Self {
        let digest = self.number(event.process.index() as u64);
        match event.action {
            Action::InvokeUpdate { segment, value } => {
                digest.bytes(b"update").number(segment.index() as u64).number(*value as u64)
            }
            Action::InvokeScan => digest.bytes(b"scan"),
            Action::RespondUpdate => digest.bytes(b"updated"),
            Action::RespondScan { values } => values
                .iter()
                .fold(digest.bytes(b"scanned"), |digest, value| digest.number(*value as u64)),
            Action::RespondPartialScan { entries, .. } => {
                entries.iter().fold(digest.bytes(b"partly scanned"), |digest, (k, value)| {
                    digest.number(k.index() as u64).number(*value as u64)
                })
            }
            Action::Fail => digest.bytes(b"failed"),
            Action::Unknown => digest.bytes(b"unknown"),
        }
    }

    /// Takes a linearization: its order counts.
    #[must_use]
    pub fn linearization(self, linearization: &Linearization) -> Self {
        linearization.iter().fold(self, |digest, id| digest.number(id.index() as u64))
    }

    /// Takes a witness: reason, segments, operations.
    #[must_use]
    pub fn witness(self, witness: &Witness) -> Self {
        let digest = self.bytes(witness.reason.name().as_bytes());
        let segments = witness.segments.iter().map(|segment| segment.index() as u64);
        let operations = witness.operations.iter().map(|id| id.index() as u64);
        segments.chain(operations).fold(digest, Self::number)
    }

    /// Takes a verdict with its certificate.
    #[must_use]
    pub fn verdict(self, verdict: &Verdict) -> Self {
        let digest = self.bytes(verdict.name().as_bytes());
        match verdict {
            Verdict::Linearizable(linearization) => digest.linearization(linearization),
            Verdict::Violation(witness) => digest.witness(witness),
            Verdict::Unknown(unknown) => digest.number(unknown.linearizable_events as u64),
            Verdict::Disputed(dispute) => panic!("{dispute}"),
        }
    }
}

const RECORDED: &str = include_str!("../digests.json");

/// Compares a row's digest at the smoke size with the one of `digests.json`; what is wrong, if
/// they differ. A digest there changes only together with a change that means to change an input
/// or an answer, and whose message says so.
///
/// # Panics
/// If the file is no object of digests.
pub fn expected(row: &str, found: Digest) -> Option<String> {
    let recorded: HashMap<String, String> =
        serde_json::from_str(RECORDED).expect("digests.json is one object, from rows to digests");
    match recorded.get(row) {
        Some(digest) if *digest == found.to_string() => None,
        Some(digest) => Some(format!(
            "row {row} has digest {found}, but digests.json says {digest}: its input or its \
             answer changed; find out which, and record the new digest only if the change is meant"
        )),
        None => Some(format!(
            "row {row} has no digest in digests.json; once its answer is checked, add {found}"
        )),
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use snapshot_core::OperationId;

    use super::*;

    #[test]
    fn it_is_fnv_1a() {
        // The test vectors of the algorithm's authors (isthe.com/chongo/tech/comp/fnv).
        assert_eq!(Digest::EMPTY.to_string(), "cbf29ce484222325");
        assert_eq!(Digest::EMPTY.bytes(b"a").to_string(), "af63dc4c8601ec8c");
        assert_eq!(Digest::EMPTY.bytes(b"foobar").to_string(), "85944171f73967e8");
    }

    #[test]
    fn the_order_of_operations_counts() {
        let digest = |order: [usize; 2]| {
            let order = order.map(OperationId::from_index).to_vec();
            Digest::EMPTY.verdict(&Verdict::Linearizable(Linearization { order }))
        };
        assert_ne!(digest([0, 1]), digest([1, 0]));
    }

    #[test]
    fn only_the_recorded_digest_passes() {
        assert!(expected("check", Digest::EMPTY).unwrap().contains("51461bdd1e1ad0a5"));
        assert!(expected("no such row", Digest::EMPTY).unwrap().contains("cbf29ce484222325"));
    }
}
