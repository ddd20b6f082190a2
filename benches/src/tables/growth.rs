//! How time grows with the length of a history that has a violation near its end, for each
//! method until it exceeds its limits: for a search, the hard case.

use std::fs::File;

use corpus::generate::{Recipe, Rule, Style, Violation};

use super::{Measuring, Question, TableError};
use crate::method::METHODS;
use crate::record::Outcome;
use crate::text;

/// The name of its records.
pub const TABLE: &str = "growth";

/// Seconds that a run may take.
pub const PATIENCE: f64 = 10.0;

/// Events of the histories, by eight processes.
const LENGTHS: [u32; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];

/// Measures all methods; quick: up to 1,000 events.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn measure(measuring: &mut Measuring, quick: bool) -> Result<(), TableError> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("recording");
    let mut left = METHODS.to_vec();
    for length in LENGTHS.into_iter().take(if quick { 2 } else { LENGTHS.len() }) {
        let recipe = Recipe::new(8, 8, length as usize / 2, Style::Differentiated, 1_993)
            .with_violation(Violation::new(Rule::Decrease).after(0.9));
        text::write(&recipe, File::create(&path)?)?;
        let question = Question {
            case: format!("{length} events"),
            group: "length, violation".to_owned(),
            x: Some(f64::from(length)),
            expected: Some(Outcome::Violation),
        };
        let mut answered = Vec::new();
        for method in left {
            let subject = ["--recording".into(), (&path).into()];
            if measuring.judge(&question, &method, &subject)?.is_some_and(Outcome::is_answer) {
                answered.push(method);
            }
        }
        left = answered;
    }
    Ok(())
}
