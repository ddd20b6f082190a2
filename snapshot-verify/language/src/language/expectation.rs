//! `expect` lines: expected verdicts on an algorithm and its bugs.

use std::fmt;

use super::Span;
use super::diagnostic::message;
use super::parser::{Clauses, Parser};
use super::tree::Name;

/// Expected verdict on an algorithm, or on one of its bugs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Expectation {
    /// Bug variant; `None`: the correct text.
    pub bug: Option<Name>,
    /// True if the verdict holds for every n >= 2. Then no other parameter is given, and
    /// `processes` is 2.
    pub every: bool,
    /// Number of processes, at least 2.
    pub processes: u32,
    /// Value of `size`, if it differs from the declared one.
    pub size: Option<u32>,
    /// Only pair i < j < n to be explored.
    pub pair: Option<(u32, u32)>,
    /// Bound on the operations that each process begins, at least 1; `None`: unbounded.
    pub operations: Option<u32>,
    /// Bound of each process, for other properties than linearizability; empty: `operations` is the
    /// bound.
    pub each: Vec<u32>,
    /// Number of values, at least 2, for full executions instead of simple ones.
    pub values: Option<u32>,
    /// The only process that updates, below n, which does not scan. Requires full executions.
    pub updater: Option<u32>,
    /// The operation whose progress is expected; `None`: all.
    pub operation: Option<Name>,
    pub verdict: ExpectedVerdict,
    /// Most shared accesses of a wait-free operation.
    pub accesses: Option<u32>,
    /// Span of the line.
    pub span: Span,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ExpectedVerdict {
    /// Every execution is linearizable.
    Linearizable,
    /// Some execution is not linearizable.
    Violation,
    /// Some execution has a fault: for example, an access to a freed node.
    Fault,
    /// A proof is refused: the program is not data-independent.
    NoProof,
    /// Orders of executions can be chosen such that longer executions have longer orders.
    Strong(Strength),
    /// They cannot.
    NotStrong(Strength),
    /// Operations have this progress.
    Free(Freedom),
    /// They have not.
    NotFree(Freedom),
}

/// Operations whose order longer executions keep.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Strength {
    /// All operations.
    #[default]
    All,
    /// Those that may change the object: *write* strong linearizability.
    Writes,
}

/// Progress: freedom from this.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Freedom {
    Wait,
    Lock,
    Obstruction,
    Starvation,
    Deadlock,
}

impl ExpectedVerdict {
    /// Returns true for another property than linearizability.
    pub const fn is_property(self) -> bool {
        matches!(self, Self::Strong(_) | Self::NotStrong(_) | Self::Free(_) | Self::NotFree(_))
    }
}

impl Freedom {
    pub const ALL: [Self; 5] =
        [Self::Wait, Self::Lock, Self::Obstruction, Self::Starvation, Self::Deadlock];

    /// Returns the word before `-free`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Lock => "lock",
            Self::Obstruction => "obstruction",
            Self::Starvation => "starvation",
            Self::Deadlock => "deadlock",
        }
    }
}

impl Strength {
    /// Returns the name of the property.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "strongly linearizable",
            Self::Writes => "write strongly linearizable",
        }
    }
}

impl fmt::Display for Freedom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-free", self.word())
    }
}

impl Expectation {
    /// Returns the first part of it that applies only to algorithms of snapshots.
    pub(super) fn of_snapshot(&self) -> Option<&'static str> {
        let parts = [
            (self.pair.is_some(), "pair"),
            (self.updater.is_some(), "updater"),
            (self.verdict == ExpectedVerdict::NoProof, "no proof"),
        ];
        parts.iter().find(|(is_there, _)| *is_there).map(|(_, part)| *part)
    }
}

impl Parser<'_> {
    /// Returns the expectation, and reports parts that can never hold.
    pub(super) fn checked_expectation(
        &mut self,
        bug: Option<Name>,
        (processes, place): (u32, Span),
        clauses: Clauses,
        progress: (Option<Name>, ExpectedVerdict, Option<u32>),
        span: Span,
    ) -> Expectation {
        let (operation, verdict, accesses) = progress;
        if processes < 2 {
            let message = message!("too-few-processes", "an instance has at least 2 processes")
                .help("with one process there is nothing to go wrong");
            self.report(message, place);
        } else if let Some((i, j, place)) = clauses.pair
            && (i >= j || j >= processes)
        {
            let message =
                message!("pair-out-of-range", "{i},{j} is no pair of segments for n = {processes}")
                    .help("a pair is I,J with I < J < n; segments count from 0");
            self.report(message, place);
        }
        if let Some((updater, place)) = clauses.updater {
            if updater >= processes {
                let message = message!(
                    "updater-out-of-range",
                    "process {updater} is out of range: there are {processes}"
                )
                .help("processes count from 0");
                self.report(message, place);
            } else if clauses.values.is_none() {
                let message = message!(
                    "updater-of-simple",
                    "one updater, but simple executions, in which all update"
                )
                .help("add `full, values K`, all executions over K values");
                self.report(message, place);
            }
        }
        let least = [("operations", clauses.operations, 1), ("values", clauses.values, 2)];
        for (clause, given, least) in least {
            if let Some((given, place)) = given
                && given < least
            {
                let message =
                    message!("vacuous-expectation", "too few {clause} to expect anything")
                        .label(format!("expected at least {least}"));
                self.report(message, place);
            }
        }
        let each = clauses.each.map(|(given, place)| {
            self.check_each(&given, processes, verdict, place);
            given
        });
        Expectation {
            bug,
            every: clauses.every,
            processes,
            size: clauses.size.map(|(given, _)| given),
            pair: clauses.pair.map(|(i, j, _)| (i, j)),
            operations: clauses.operations.map(|(given, _)| given),
            each: each.unwrap_or_default(),
            values: clauses.values.map(|(given, _)| given),
            updater: clauses.updater.map(|(given, _)| given),
            operation,
            verdict,
            accesses,
            span,
        }
    }

    /// Reports a list of bounds that is not of the processes, or not of such a verdict.
    fn check_each(&mut self, each: &[u32], processes: u32, verdict: ExpectedVerdict, place: Span) {
        let is_complete = each.len() == processes as usize;
        if is_complete && verdict.is_property() {
            return;
        }
        let message = match is_complete {
            false => message!(
                "bounds-of-others",
                "{} bounds on operations for {processes} processes",
                each.len()
            )
            .help("give one for each, or one number for all: `operations 2`"),
            true => message!(
                "bounds-of-linearizability",
                "executions with a bound for each process are not searched for violations"
            )
            .help("give one number for all: `operations 2`"),
        };
        self.report(message, place);
    }
}

impl fmt::Display for ExpectedVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Linearizable => "linearizable",
            Self::Violation => "violation",
            Self::Fault => "fault",
            Self::NoProof => "no proof",
            Self::Strong(strength) => strength.name(),
            Self::NotStrong(strength) => return write!(f, "not {}", strength.name()),
            Self::Free(freedom) => return freedom.fmt(f),
            Self::NotFree(freedom) => return write!(f, "not {freedom}"),
        })
    }
}

/// Formats as the language writes it.
impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expect ")?;
        if let Some(bug) = &self.bug {
            write!(f, "{}, ", bug.text)?;
        }
        if self.every {
            return write!(f, "every n: {}", self.verdict);
        }
        write!(f, "n = {}", self.processes)?;
        if let Some(size) = self.size {
            write!(f, ", size {size}")?;
        }
        if let Some((i, j)) = self.pair {
            write!(f, ", pair {i},{j}")?;
        }
        if let Some(operations) = self.operations {
            write!(f, ", operations {operations}")?;
        }
        if !self.each.is_empty() {
            let each: Vec<String> = self.each.iter().map(u32::to_string).collect();
            write!(f, ", operations ({})", each.join(", "))?;
        }
        if let Some(values) = self.values {
            write!(f, ", full, values {values}")?;
        }
        if let Some(updater) = self.updater {
            write!(f, ", updater {updater}")?;
        }
        f.write_str(": ")?;
        if let Some(operation) = &self.operation {
            write!(f, "{} ", operation.text)?;
        }
        self.verdict.fmt(f)?;
        match self.accesses {
            None => Ok(()),
            Some(1) => f.write_str(", 1 access"),
            Some(accesses) => write!(f, ", {accesses} accesses"),
        }
    }
}
