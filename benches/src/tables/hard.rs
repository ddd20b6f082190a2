//! The hard corpus: long histories of many processes, with many values, pending
//! operations and a violation near the end, and their linearizable twins.

use std::fs::File;

use corpus::family::{Member, hard};

use super::{Measuring, Question, TableError};
use crate::method::METHODS;
use crate::record::Outcome;
use crate::text;

/// The name of its records.
pub const TABLE: &str = "hard";

/// Seconds that a history may take.
pub const PATIENCE: f64 = 10.0;

/// Measures all of them; quick: two, and their twins.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn measure(measuring: &mut Measuring, quick: bool) -> Result<(), TableError> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("recording");
    for member in hard().take(if quick { 4 } else { usize::MAX }) {
        text::write(member.recipe(), File::create(&path)?)?;
        let question = Question {
            group: group(&member),
            x: None,
            expected: Some(Outcome::of(member.expected().is_linearizable())),
            case: member.name,
        };
        for method in METHODS {
            measuring.judge(&question, method, &["--recording".into(), (&path).into()])?;
        }
    }
    Ok(())
}

/// All that differ in the rule only.
fn group(member: &Member) -> String {
    let recipe = member.recipe();
    let style = if member.name.starts_with("simple-") { "simple, " } else { "" };
    let kind = if recipe.is_linearizable() { "linearizable" } else { "violation" };
    let (segments, operations, pending) = (recipe.segments, recipe.operations, recipe.pending);
    format!("{style}{kind}, n = {segments}, {operations} operations, {pending} pending")
}
