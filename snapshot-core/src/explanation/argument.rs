//! The proof of a violation, in words.

use std::fmt::{Display, Write};

use super::proof_operation::{Deed, Explanation, ProofOperation};
use crate::verdict::Reason;
use crate::{OperationId, Segment};

/// Up to this many operations without an order are usually a smallest such set.
const MAX_SMALLEST_SET: usize = 12;

impl<V: Clone + Display + Eq> Explanation<V> {
    /// Returns a short argument why the operations have no linearization. `name` gives the names of
    /// operations; the argument begins by introducing each.
    pub fn argument(&self, name: impl Fn(&ProofOperation<V>) -> String) -> String {
        let call =
            |id: OperationId| self.operation(id).map_or_else(|| format!("operation {id}"), &name);
        let value = |id: OperationId| match self.operation(id).map(|operation| &operation.deed) {
            Some(Deed::Update { value, .. }) => value.to_string(),
            _ => String::new(),
        };
        let segment = |id: OperationId| self.updated(id);
        let called = |segment: Segment| self.names.segment(segment);
        if let Some(refutation) = &self.refutation {
            return self.derivation(refutation, &call);
        }
        let entry = |id: OperationId, segment: Segment| self.entry(id, segment);
        let mut text = String::new();
        let out = &mut text;
        let written = match self.witness.reason {
            Reason::NeverWritten { scan, segment } => write!(
                out,
                "{scan} returned {value} for {segment}. No update of {segment} \
                 that was invoked before {scan} responded wrote {value}, and it is not the \
                 initial value: {scan} returned a value that was never there.",
                scan = call(scan),
                value = entry(scan, segment),
                segment = called(segment),
            ),
            Reason::FailedUpdateSeen { scan, update } => write!(
                out,
                "{scan} returned {value} for {segment}, which only {update} wrote. \
                 But {update} failed, so it never took effect: {scan} returned a value that \
                 was never there.",
                scan = call(scan),
                update = call(update),
                value = value(update),
                segment = segment(update),
            ),
            Reason::Future { scan, update } => write!(
                out,
                "{scan} returned {value} for {segment}, which {update} wrote. So \
                 {update} must come before {scan}. But {scan} had responded before {update} \
                 was invoked, so {scan} must come before {update}: a contradiction.",
                scan = call(scan),
                update = call(update),
                value = value(update),
                segment = segment(update),
            ),
            Reason::Stale { scan, overwriting } => self.stale(out, scan, overwriting, &call),
            Reason::Decrease { earlier, later, segment } => write!(
                out,
                "{earlier} returned {more} for {segment}, and {later} returned {less}, \
                 which is older. So {later} must come before {earlier}. But {earlier} had \
                 responded before {later} was invoked, so {earlier} must come before {later}: \
                 a contradiction.",
                earlier = call(earlier),
                later = call(later),
                more = entry(earlier, segment),
                less = entry(later, segment),
                segment = called(segment),
            ),
            Reason::Inversion { first, second, i, j } => write!(
                out,
                "For {i}, {first} returned {first_i} and {second} returned {second_i}, \
                 which is older: so {second} must come before {first}. For {j}, \
                 {second} returned {second_j} and {first} returned {first_j}, which is older: \
                 so {first} must come before {second}. A contradiction.",
                first = call(first),
                second = call(second),
                first_i = entry(first, i),
                second_i = entry(second, i),
                first_j = entry(first, j),
                second_j = entry(second, j),
                i = called(i),
                j = called(j),
            ),
            Reason::Missing { scan, seen, missing } => write!(
                out,
                "{scan} returned {seen_value} for {seen_segment}, which {seen} wrote: \
                 so {seen} must come before {scan}. For {missing_segment} it returned \
                 {older}, which is older than what {missing} wrote: so {scan} must come before \
                 {missing}, and {seen} before {missing}. But {missing} had responded before \
                 {seen} was invoked: a contradiction.",
                scan = call(scan),
                seen = call(seen),
                missing = call(missing),
                seen_value = value(seen),
                seen_segment = segment(seen),
                missing_segment = segment(missing),
                older = self.entry_of_update(scan, missing),
            ),
            Reason::Cycle | Reason::Ordering | Reason::NoOrder => write!(
                out,
                "No order of these {} operations lets every scan return what it returned: all \
                 orders were tried. No other update can have been read by these scans, so no \
                 order of the whole history does either.{}",
                self.operations.len(),
                if self.operations.len() > MAX_SMALLEST_SET {
                    " They need not be the fewest: the search for fewer has a budget, too."
                } else {
                    ""
                }
            ),
        };
        written.expect("writing to a string cannot fail");
        text
    }

    fn stale(
        &self,
        out: &mut String,
        scan: OperationId,
        overwriting: OperationId,
        call: &impl Fn(OperationId) -> String,
    ) -> std::fmt::Result {
        let Some(Deed::Update { segment, .. }) = self.operation(overwriting).map(|e| &e.deed)
        else {
            return Ok(());
        };
        let value = self.entry(scan, *segment);
        let origin = self.operations.iter().find(|operation| {
            operation.id != overwriting
                && matches!(&operation.deed, Deed::Update { segment: k, value: v }
                            if k == segment && v.to_string() == value)
        });
        let called = self.names.segment(*segment);
        write!(out, "{} returned {value} for {called}, ", call(scan))?;
        match origin {
            Some(origin) => write!(out, "which {} wrote. ", call(origin.id))?,
            None => write!(out, "the initial value. ")?,
        }
        write!(
            out,
            "But {overwriting} had overwritten it, and responded, before {scan} was invoked: so \
             {overwriting} must come before {scan}, and {scan} must return what it wrote or \
             something newer.",
            overwriting = call(overwriting),
            scan = call(scan),
        )
    }

    pub(super) fn entry(&self, scan: OperationId, segment: Segment) -> String {
        match self.operation(scan).map(|operation| &operation.deed) {
            Some(Deed::Scan { entries }) => {
                let entry = entries.iter().find(|(k, _)| *k == segment);
                entry.map_or_else(String::new, |(_, value)| value.to_string())
            }
            _ => String::new(),
        }
    }

    fn entry_of_update(&self, scan: OperationId, update: OperationId) -> String {
        match self.operation(update).map(|operation| &operation.deed) {
            Some(Deed::Update { segment, .. }) => self.entry(scan, *segment),
            _ => String::new(),
        }
    }
}
