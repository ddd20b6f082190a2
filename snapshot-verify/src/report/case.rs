//! What a report is about.

use serde::Serialize;

use crate::exercise::Exercise;
use crate::interpret::Fault;
use crate::language::{Source, Span};
use crate::program::Object;
use crate::verify::{Outcome, Request, Unfinished, Verdict};

/// An algorithm or bug variant for some n, and what was found out about it.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The algorithm or file as the user named it.
    pub input: &'a str,
    /// Its name in the text.
    pub algorithm: &'a str,
    /// The bug variant, if it is one.
    pub bug: Option<&'a str>,
    /// The object that it declares, if it does.
    pub object: Option<&'a Object>,
    /// Its text.
    pub source: &'a Source,
    /// What was asked.
    pub request: &'a Request,
    /// The answers, pair by pair.
    pub outcomes: &'a [Outcome],
    /// What the executions exercise that the answers are about, if all are proofs.
    pub exercise: Option<&'a Exercise>,
    /// Where the program looks at values; empty if nowhere.
    pub looks_at_values: &'a [TextPosition],
}

/// The answer where nothing but the prover says that an algorithm is right.
pub(super) const UNCONFIRMED: &str = "proved, not confirmed";

/// A place in the text of an algorithm, and what is to be said of it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct TextPosition {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is there.
    pub message: String,
}

/// How often each verdict was given.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Tally {
    /// Verified.
    pub verified: usize,
    /// With a proof for every n that is not confirmed.
    pub unconfirmed: usize,
    /// Violations.
    pub violation: usize,
    /// Faults.
    pub fault: usize,
    /// Refused.
    pub refused: usize,
    /// Linearization points that are none.
    pub misplaced: usize,
    /// Unknown.
    pub unknown: usize,
    /// Of those verified: in which something never happens.
    pub vacuous: usize,
}

impl Tally {
    /// Counts one more.
    pub const fn count(&mut self, verdict: &Verdict) {
        *match verdict {
            Verdict::Verified => &mut self.verified,
            Verdict::Unconfirmed(_) => &mut self.unconfirmed,
            Verdict::Violation(_) | Verdict::ObjectViolation(_) => &mut self.violation,
            Verdict::Fault(_) => &mut self.fault,
            Verdict::Refused => &mut self.refused,
            Verdict::Misplaced(_) => &mut self.misplaced,
            Verdict::Unknown(_) => &mut self.unknown,
        } += 1;
    }

    /// The exit code that tells of these verdicts: 1 if anything is wrong, else
    /// 3 if something is not known, else 0. `strict`: a vacuous proof is none.
    pub const fn exit_code(&self, strict: bool) -> u8 {
        if self.violation + self.fault > 0 {
            1
        } else if self.unconfirmed + self.refused + self.misplaced + self.unknown > 0
            || (strict && self.vacuous > 0)
        {
            3
        } else {
            0
        }
    }
}

/// What goes before a sentence about a place of a text, if it is about one: `name:line:column: `.
pub fn placed(source: &Source, span: Option<Span>) -> String {
    span.map_or_else(String::new, |span| source.place(span) + ": ")
}

impl TextPosition {
    /// A place of a text.
    pub fn new(source: &Source, span: Span, message: impl ToString) -> Self {
        let (line, column) = source.position(span);
        Self { line, column, message: message.to_string() }
    }

    /// Where a program goes wrong.
    pub fn of_fault(source: &Source, fault: &Fault) -> Self {
        Self::new(source, fault.span, &fault.kind)
    }
}

impl Case<'_> {
    /// `bowman with early_exit, n = 3`
    pub fn title(&self) -> String {
        let bug = self.bug.map_or_else(String::new, |bug| format!(" with {bug}"));
        format!("{}{bug}, n = {}", self.algorithm, self.request.processes)
    }

    /// How many values operations are given, if all executions over some values are looked at and
    /// operations are given any.
    pub fn values(&self) -> Option<u32> {
        self.request.values.filter(|_| self.object.is_none_or(Object::takes_values))
    }

    /// The answer for all pairs together, in a few words.
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
        } else if any(|verdict| matches!(verdict, Verdict::Unconfirmed(_))) {
            UNCONFIRMED
        } else if any(|verdict| matches!(verdict, Verdict::Refused)) {
            "no violation found, but no proof: the program looks at values"
        } else {
            "verified"
        }
    }
}
