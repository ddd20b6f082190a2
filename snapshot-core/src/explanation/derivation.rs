//! A refutation in words, one numbered line after the other.

use std::fmt::{Display, Write};

use super::proof_operation::{Deed, Explanation, ProofOperation};
use crate::verdict::{Line, Refutation, Rule};
use crate::{OperationId, Segment};

impl<V: Clone + Display + Eq> Explanation<V> {
    /// Writes the lines of a refutation as sentences, one per line.
    pub(super) fn derivation(
        &self,
        refutation: &Refutation,
        call: &impl Fn(OperationId) -> String,
    ) -> String {
        let mut text = String::new();
        let mut depth = 0_usize;
        for (number, line) in refutation.lines.iter().enumerate() {
            if matches!(line.rule, Rule::Otherwise | Rule::Excluded { .. }) {
                depth = depth.saturating_sub(1);
            }
            let indent = "  ".repeat(depth.min(8));
            let sentence = self.sentence(refutation, line, call);
            let is_told = matches!(line.rule, Rule::Chain { .. } | Rule::Block { .. });
            let written = if line.is_contradiction() && !is_told {
                writeln!(text, "{indent}({}) {sentence} That is a contradiction.", number + 1)
            } else {
                writeln!(text, "{indent}({}) {sentence}", number + 1)
            };
            written.expect("writing to a string cannot fail");
            depth += usize::from(matches!(line.rule, Rule::Suppose | Rule::Source { .. }));
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn sentence(
        &self,
        refutation: &Refutation,
        line: &Line,
        call: &impl Fn(OperationId) -> String,
    ) -> String {
        let (before, after) = (call(line.before), call(line.after));
        let called = |segment: Segment| self.names.segment(segment);
        match line.rule {
            Rule::Time => format!("{before} had ended before {after} began."),
            Rule::Reads => {
                format!("{after} saw {before}, so {before} comes before {after}.")
            }
            Rule::First => {
                let segment = self.updated(line.after);
                format!(
                    "{before} returned the initial value of {segment}, so it comes before {after}."
                )
            }
            Rule::Chain { first, second } if line.is_contradiction() => {
                let between = call(refutation.lines[first].after);
                format!(
                    "By ({}) and ({}), {before} must come before and after {between}: a \
                     contradiction.",
                    first + 1,
                    second + 1
                )
            }
            Rule::Chain { first, second } => {
                format!("By ({}) and ({}), {before} comes before {after}.", first + 1, second + 1)
            }
            Rule::Block { segment, because } => {
                self.replaced(refutation, line, segment, because, call)
            }
            Rule::Suppose => format!("Suppose that {before} comes before {after}."),
            Rule::Otherwise => {
                format!("So {before} must come before {after}.")
            }
            Rule::Source { segment } if line.before == line.after => {
                format!("Suppose that {after} found the initial value in {}.", called(segment))
            }
            Rule::Source { segment } => {
                let value = self.value(line.after, segment);
                format!("Suppose that {after} read {value} in {} from {before}.", called(segment))
            }
            Rule::Excluded { segment } if line.before == line.after => {
                format!("So {after} did not find the initial value in {}.", called(segment))
            }
            Rule::Excluded { segment } => {
                let value = self.value(line.after, segment);
                format!("So {after} did not read {value} in {} from {before}.", called(segment))
            }
            Rule::Unreadable { segment } => self.unreadable(line.after, segment, call),
        }
    }

    /// Returns the sentence of a line that follows since a value, once replaced, does not come
    /// back.
    fn replaced(
        &self,
        refutation: &Refutation,
        line: &Line,
        segment: Segment,
        because: usize,
        call: &impl Fn(OperationId) -> String,
    ) -> String {
        let cause = &refutation.lines[because];
        let called = self.names.segment(segment);
        let by = format!("by ({})", because + 1);
        let value = |id| self.value(id, segment);
        let is_scan = |id| self.operation(id).is_some_and(ProofOperation::is_scan);
        let (before, after) = (call(line.before), call(line.after));
        let so = if line.is_contradiction() {
            format!("so {before} must come before itself: a contradiction.")
        } else if line.before == cause.before {
            format!("so {after} comes after {before}.")
        } else {
            format!("so {before} comes before {after}.")
        };
        let (old, new) = (call(cause.before), call(cause.after));
        // The other operation of the cause, which had its value there, or found it there.
        let did = |id| {
            let verb = if is_scan(id) { "found" } else { "wrote" };
            format!("{} {verb} {}", call(id), value(id))
        };
        if line.before == cause.before && is_scan(cause.after) && !is_scan(line.after) {
            return format!(
                "{new} returned {} for {called}, which {after} wrote, though {by} {} there before \
                 {new}: {so}",
                value(cause.after),
                did(cause.before),
            );
        }
        if line.after == cause.after && is_scan(line.before) && !is_scan(cause.before) {
            return format!(
                "{before} returned {} for {called}, which {old} wrote, though {by} {} there after \
                 {old}: {so}",
                value(line.before),
                did(cause.after),
            );
        }
        let also = |id: OperationId, of: OperationId| {
            let verb = if is_scan(id) { "found" } else { "wrote" };
            if id == of { String::new() } else { format!(", which {verb} {},", value(id)) }
        };
        let so = if line.is_contradiction() {
            so
        } else {
            let (first, second) = (also(line.before, cause.before), also(line.after, cause.after));
            let so = format!("so {before}{first} comes before {after}{second}");
            format!("{}.", so.trim_end_matches(','))
        };
        format!(
            "In {called}, {by}, {} before {}, and a replaced value does not come back: {so}",
            did(cause.before),
            did(cause.after),
        )
    }

    /// Explains why a scan has no source for its entry: no source is left, or another update came
    /// after all of them, before the scan began.
    fn unreadable(
        &self,
        scan: OperationId,
        segment: Segment,
        call: &impl Fn(OperationId) -> String,
    ) -> String {
        let (name, returned) = (call(scan), self.value(scan, segment));
        let called = self.names.segment(segment);
        let begin = self.operation(scan).map_or(0, |operation| operation.invocation);
        let updates = self.operations.iter().filter_map(|operation| match &operation.deed {
            Deed::Update { segment: k, value } if *k == segment => Some((operation, value)),
            _ => None,
        });
        let ended =
            |operation: &ProofOperation<V>| operation.ending.event().is_some_and(|end| end < begin);
        let replaced = updates
            .clone()
            .filter(|(operation, value)| ended(operation) && value.to_string() != returned)
            .max_by_key(|(operation, _)| operation.invocation);
        let is_read = |(update, value): (&ProofOperation<V>, &V)| {
            let is_overwritten = replaced.is_some_and(|(other, _)| {
                update.ending.event().is_some_and(|end| end < other.invocation)
            });
            value.to_string() == returned && !is_overwritten
        };
        match replaced {
            Some((update, value)) if !updates.clone().any(is_read) => format!(
                "{name} returned {returned} for {called}. But {update} had ended before {name} \
                 began, and {returned} had not been written again since {update} began: {value} or \
                 a later value was due.",
                update = call(update.id),
            ),
            _ => format!("So {name} read {returned} in {called} from no update at all."),
        }
    }

    /// Returns the noun for the segment of an update.
    pub(super) fn updated(&self, id: OperationId) -> String {
        match self.operation(id).map(|operation: &ProofOperation<V>| &operation.deed) {
            Some(Deed::Update { segment, .. }) => self.names.segment(*segment).to_string(),
            _ => String::new(),
        }
    }

    /// Returns the value that an operation wrote to a segment, or returned for it.
    fn value(&self, id: OperationId, segment: Segment) -> String {
        match self.operation(id).map(|operation| &operation.deed) {
            Some(Deed::Update { value, .. }) => value.to_string(),
            _ => self.entry(id, segment),
        }
    }
}
