//! The text of a line of a refutation.

use snapshot_core::verdict::{Line, Rule};
use snapshot_core::{OperationId, Segment};

use super::CertificateError;

/// Renders a line of a refutation: the rule, both operations, and the further arguments of the
/// rule.
pub fn line_text(line: &Line) -> String {
    let (rule, before, after) = (line.rule.name(), line.before, line.after);
    match line.rule {
        Rule::Chain { first, second } => format!("{rule} {before} {after} {first} {second}"),
        Rule::Block { segment, because } => {
            format!("{rule} {before} {after} {segment} {because}")
        }
        Rule::Source { segment } | Rule::Excluded { segment } | Rule::Unreadable { segment } => {
            format!("{rule} {before} {after} {segment}")
        }
        _ => format!("{rule} {before} {after}"),
    }
}

/// Parses the text of [`line_text`].
pub(super) fn line(text: &str) -> Result<Line, CertificateError> {
    let unexpected = || CertificateError::Line { found: text.chars().take(80).collect() };
    let mut words = text.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    let numbers: Result<Vec<usize>, _> = words.map(str::parse).collect();
    let numbers = numbers.map_err(|_| unexpected())?;
    let (before, after, rule) = match (name, numbers.as_slice()) {
        ("time", &[before, after]) => (before, after, Rule::Time),
        ("reads", &[before, after]) => (before, after, Rule::Reads),
        ("first", &[before, after]) => (before, after, Rule::First),
        ("suppose", &[before, after]) => (before, after, Rule::Suppose),
        ("otherwise", &[before, after]) => (before, after, Rule::Otherwise),
        ("source", &[before, after, segment]) => {
            (before, after, Rule::Source { segment: Segment::new(segment)? })
        }
        ("excluded", &[before, after, segment]) => {
            (before, after, Rule::Excluded { segment: Segment::new(segment)? })
        }
        ("unreadable", &[before, after, segment]) => {
            (before, after, Rule::Unreadable { segment: Segment::new(segment)? })
        }
        ("chain", &[before, after, first, second]) => {
            (before, after, Rule::Chain { first, second })
        }
        ("block", &[before, after, segment, because]) => {
            (before, after, Rule::Block { segment: Segment::new(segment)?, because })
        }
        _ => return Err(unexpected()),
    };
    Ok(Line { before: OperationId::new(before)?, after: OperationId::new(after)?, rule })
}
