//! Subject of a report.

use serde::Serialize;

use crate::exercise::Exercise;
use crate::interpret::Fault;
use crate::language::{Source, Span};
use crate::program::Object;
use crate::verify::{Outcome, Request, Unfinished, Verdict};

/// An algorithm or bug variant for some n, and its answers.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The algorithm or file as the user named it.
    pub input: &'a str,
    /// Name of the algorithm in the text.
    pub algorithm: &'a str,
    pub bug: Option<&'a str>,
    /// The object that the algorithm declares, if any.
    pub object: Option<&'a Object>,
    pub source: &'a Source,
    pub request: &'a Request,
    /// Pair by pair.
    pub outcomes: &'a [Outcome],
    /// Coverage of the executions, if all answers are proofs.
    pub exercise: Option<&'a Exercise>,
    /// Places where the program looks at values.
    pub looks_at_values: &'a [TextPosition],
}

/// A place in the text of an algorithm, with a message.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct TextPosition {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    pub message: String,
}

/// Number of answers per verdict.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Tally {
    pub verified: usize,
    pub violation: usize,
    pub fault: usize,
    pub refused: usize,
    /// Invalid linearization points.
    pub misplaced: usize,
    pub unknown: usize,
    /// Verified, but some event never happens.
    pub vacuous: usize,
}

impl Tally {
    /// Counts one more verdict.
    pub const fn count(&mut self, verdict: &Verdict) {
        *match verdict {
            Verdict::Verified => &mut self.verified,
            Verdict::Violation(_) | Verdict::ObjectViolation(_) => &mut self.violation,
            Verdict::Fault(_) => &mut self.fault,
            Verdict::Refused => &mut self.refused,
            Verdict::Misplaced(_) => &mut self.misplaced,
            Verdict::Unknown(_) => &mut self.unknown,
        } += 1;
    }

    /// Returns the exit code: 1 if anything is wrong, else 3 if anything is unknown, else 0. With
    /// `strict`, a vacuous proof counts as unknown.
    pub const fn exit_code(&self, strict: bool) -> u8 {
        if self.violation + self.fault > 0 {
            1
        } else if self.refused + self.misplaced + self.unknown > 0 || (strict && self.vacuous > 0) {
            3
        } else {
            0
        }
    }
}

/// Returns the prefix `name:line:column: ` for a sentence about a place of a text, if there is one.
pub fn placed(source: &Source, span: Option<Span>) -> String {
    span.map_or_else(String::new, |span| source.place(span) + ": ")
}

impl TextPosition {
    pub fn new(source: &Source, span: Span, message: impl ToString) -> Self {
        let (line, column) = source.position(span);
        Self { line, column, message: message.to_string() }
    }

    /// Returns the place of a fault.
    pub fn of_fault(source: &Source, fault: &Fault) -> Self {
        Self::new(source, fault.span, &fault.kind)
    }
}

impl Case<'_> {
    /// Returns text such as `bowman with early_exit, n = 3`.
    pub fn title(&self) -> String {
        let bug = self.bug.map_or_else(String::new, |bug| format!(" with {bug}"));
        format!("{}{bug}, n = {}", self.algorithm, self.request.processes)
    }

    /// Returns the number of values passed to operations, if all executions over some values are
    /// explored and operations have arguments.
    pub fn values(&self) -> Option<u32> {
        self.request.values.filter(|_| self.object.is_none_or(Object::takes_values))
    }

    /// Returns the answer for all pairs together, in a few words.
    pub fn conclusion(&self) -> &'static str {
        let any = |test: fn(&Verdict) -> bool| self.outcomes.iter().any(|one| test(&one.verdict));
        if any(Verdict::is_violation) {
            "not linearizable"
        } else if any(|verdict| matches!(verdict, Verdict::Fault(_))) {
            "faulty"
        } else if any(|verdict| matches!(verdict, Verdict::Misplaced(_))) {
            "unknown, for the statements marked with `linearizes` are no linearization points: \
             check it without --points"
        } else if any(|verdict| matches!(verdict, Verdict::Unknown(Unfinished::Interrupted))) {
            "unknown, interrupted"
        } else if any(|verdict| matches!(verdict, Verdict::Unknown(_))) {
            "unknown"
        } else if any(|verdict| matches!(verdict, Verdict::Refused)) {
            "no violation found, but no proof: the program looks at values"
        } else {
            "verified"
        }
    }
}
