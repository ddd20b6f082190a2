//! A refutation in words, one numbered line after the other.

use std::fmt::{Display, Write};

use super::exhibit::{Deed, Exhibit, Explanation};
use crate::verdict::{Line, Refutation, Rule};
use crate::{OperationId, Segment};

impl<V: Clone + Display + Eq> Explanation<V> {
    /// The lines of a refutation as sentences, each on a line of its own.
    pub(super) fn derivation(
        &self,
        refutation: &Refutation,
        call: &impl Fn(OperationId) -> String,
    ) -> String {
        let mut text = String::new();
        let mut depth = 0_usize;
        for (number, line) in refutation.lines.iter().enumerate() {
            if line.rule == Rule::Otherwise {
                depth = depth.saturating_sub(1);
            }
            let indent = "  ".repeat(depth.min(8));
            let sentence = self.sentence(refutation, line, call);
            let written = if line.before == line.after {
                writeln!(text, "{indent}({}) {sentence} That is a contradiction.", number + 1)
            } else {
                writeln!(text, "{indent}({}) {sentence}", number + 1)
            };
            written.expect("writing to a string cannot fail");
            depth += usize::from(line.rule == Rule::Suppose);
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
        match line.rule {
            Rule::Time => format!("{before} had ended before {after} began."),
            Rule::Reads => {
                format!("{after} saw {before}, so {before} comes before {after}.")
            }
            Rule::First => {
                let segment = self.updated(line.after);
                format!(
                    "{before} returned the initial value of segment {segment}, so it comes before \
                     {after}."
                )
            }
            Rule::Chain { first, second } => {
                format!("By ({}) and ({}), {before} comes before {after}.", first + 1, second + 1)
            }
            Rule::Block { segment, because } => {
                let cause = &refutation.lines[because];
                format!(
                    "By ({}), {} of segment {segment} had been replaced when {} came there, for \
                     good: so {before} comes before {after}.",
                    because + 1,
                    self.value(cause.before, segment),
                    self.value(cause.after, segment),
                )
            }
            Rule::Suppose => format!("Suppose that {before} comes before {after}."),
            Rule::Otherwise => {
                format!("So {before} must come before {after}.")
            }
        }
    }

    fn updated(&self, id: OperationId) -> String {
        match self.exhibit(id).map(|exhibit: &Exhibit<V>| &exhibit.deed) {
            Some(Deed::Update { segment, .. }) => segment.to_string(),
            _ => String::new(),
        }
    }

    /// What an operation wrote to a segment, or returned for it.
    fn value(&self, id: OperationId, segment: Segment) -> String {
        match self.exhibit(id).map(|exhibit| &exhibit.deed) {
            Some(Deed::Update { value, .. }) => value.to_string(),
            _ => self.entry(id, segment),
        }
    }
}
