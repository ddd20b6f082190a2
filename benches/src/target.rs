//! Targets, what was measured against them, and the table of both.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

/// What a row must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At least so much.
    AtLeast(f64),
    /// At most so much.
    AtMost(f64),
    /// None: shown for comparison.
    Shown,
}

impl Target {
    /// Whether a measured value reaches it.
    pub fn is_met(self, measured: f64) -> bool {
        match self {
            Self::AtLeast(least) => measured >= least,
            Self::AtMost(most) => measured <= most,
            Self::Shown => true,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, ">= {least}"),
            Self::AtMost(most) => write!(f, "<= {most}"),
            Self::Shown => f.write_str("-"),
        }
    }
}

/// A measured row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was measured.
    pub what: String,
    /// The value.
    pub measured: f64,
    /// The unit of value and target.
    pub unit: &'static str,
    /// What it must reach.
    pub target: Target,
    /// Whether the target speaks of a size like this one.
    pub is_judged: bool,
}

impl Outcome {
    /// Whether a target that speaks of this size is missed.
    pub fn is_missed(&self) -> bool {
        self.is_judged && !self.target.is_met(self.measured)
    }

    fn mark(&self) -> &'static str {
        match (self.target, self.is_judged, self.target.is_met(self.measured)) {
            (Target::Shown, _, _) => "",
            (_, false, _) => "not judged at this size",
            (_, true, true) => "met",
            (_, true, false) => "MISSED",
        }
    }
}

/// The outcomes as a table, one per line.
pub fn report(outcomes: &[Outcome]) -> String {
    let width = outcomes.iter().map(|outcome| outcome.what.len()).max().unwrap_or(0);
    let line = |outcome: &Outcome| {
        let Outcome { what, measured, unit, target, .. } = outcome;
        let target = target.to_string();
        let mark = outcome.mark();
        format!("{what:width$}  {measured:>10.2} {unit:<10}  {target:>9}  {mark}")
            .trim_end()
            .to_owned()
            + "\n"
    };
    outcomes.iter().map(line).collect()
}

/// Prints the table, or why there is none; the exit code: 1 if a target is missed, 2 if
/// nothing could be measured.
pub fn conclude(measured: Result<Vec<Outcome>, Box<dyn Error>>) -> ExitCode {
    match measured {
        Ok(outcomes) => {
            print!("\n{}", report(&outcomes));
            match outcomes.iter().any(Outcome::is_missed) {
                true => ExitCode::FAILURE,
                false => ExitCode::SUCCESS,
            }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(measured: f64, target: Target, is_judged: bool) -> Outcome {
        Outcome { what: "row".to_owned(), measured, unit: "x", target, is_judged }
    }

    #[test]
    fn only_a_judged_target_is_missed() {
        assert!(outcome(1.0, Target::AtLeast(2.0), true).is_missed());
        assert!(outcome(3.0, Target::AtMost(2.0), true).is_missed());
        assert!(!outcome(2.0, Target::AtLeast(2.0), true).is_missed());
        assert!(!outcome(2.0, Target::AtMost(2.0), true).is_missed());
        assert!(!outcome(3.0, Target::AtMost(2.0), false).is_missed());
        assert!(!outcome(f64::MAX, Target::Shown, true).is_missed());
    }

    #[test]
    fn the_table_says_so() {
        let table = report(&[
            outcome(1.0, Target::AtLeast(2.0), true),
            outcome(2.5, Target::AtLeast(2.0), true),
            outcome(1.0, Target::AtLeast(2.0), false),
        ]);
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[0].ends_with(">= 2  MISSED") && lines[1].ends_with("met"), "{table}");
        assert!(lines[1].contains(" 2.50 x ") && lines[2].ends_with("at this size"), "{table}");
    }
}
