//! Seeded generation of histories whose verdict is known by construction.
//!
//! A [`Recipe`] runs an atomic snapshot object, an array, under a random scheduler (the private
//! module `scheduler`). Every operation has an invocation, one instant inside at which it acts on the
//! array, and a response, so the order of these instants is a linearization of the record. Segment
//! k is written by process k; processes without a segment only scan.
//!
//! If a recipe asks for a [`Violation`], a few operations follow a script (the private module
//! `script`) in which one scan lies. The script's operations mix with all others, and the rest of
//! the run is unchanged. The argument why no linearization exists involves only the script's
//! operations, so it is independent of the others. Moreover, the lie breaks the named rule and no
//! other, and [`Recipe::twin`] is the same run without the lie.
//!
//! Histories come as a stream of events in constant memory ([`Recipe::events`]) or as a whole
//! ([`Recipe::history`]); both have the same events.

mod draw;
mod error;
mod event;
mod exchanges;
mod fate;
mod many_writers;
mod rule;
mod scheduler;
mod script;
mod values;

pub use draw::Draw;
pub use error::RecipeError;
pub use event::{OwnedAction, OwnedEvent};
pub use exchanges::{ExchangeEvents, Exchanges, Flaw, OwnedExchange, OwnedExchangeAction};
pub use fate::Fate;
pub use many_writers::{Contradiction, ManyWriters};
pub use rule::{Rule, Violation};
pub use scheduler::Events;
use snapshot_core::history::Declaration;
use snapshot_core::{History, Process, Segment};

use self::scheduler::{Clients, Plan, Run, Script};
use self::script::Stage;
use self::values::Values;

/// Values of the updates. Every segment holds `0` initially.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Style {
    /// (i, j)-simple: segments i and j each switch once, at a random point, from 0 to 1; every
    /// other update writes 0.
    Simple {
        /// First of the two segments.
        i: usize,
        /// Second of the two segments.
        j: usize,
    },
    /// No value occurs twice.
    Differentiated,
    /// Values from 0 to one less than this, so most are ambiguous. The updates of a planted
    /// violation write values outside of this range.
    SmallDomain(u32),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    pub processes: usize,
    /// Number of segments; process k writes segment k.
    pub segments: usize,
    /// Number of operations, including the operations of a violation.
    pub operations: usize,
    pub style: Style,
    /// Share of scans among the operations of processes with a segment.
    pub scan_fraction: f64,
    /// Number of operations without a response: some stay open at the end of the history, some have
    /// an unknown outcome. Such an update takes effect before, long after, or never. Its process
    /// writes no more, so that the updates of a segment stay totally ordered. The cast of a
    /// violation must not get lost before its performance, so the actual number may be smaller.
    pub pending: usize,
    /// Fixes all random choices.
    pub seed: u64,
    /// Violation to plant, if any.
    pub violation: Option<Violation>,
    /// Performs the script of the violation without the lie: the history is linearizable and one
    /// event away from the bad one.
    pub honest: bool,
}

impl Recipe {
    /// Creates a recipe of a linearizable history, half of it scans, in which all operations
    /// respond.
    pub const fn new(
        processes: usize,
        segments: usize,
        operations: usize,
        style: Style,
        seed: u64,
    ) -> Self {
        Self {
            processes,
            segments,
            operations,
            style,
            scan_fraction: 0.5,
            pending: 0,
            seed,
            violation: None,
            honest: false,
        }
    }

    #[must_use]
    pub const fn with_scan_fraction(mut self, share: f64) -> Self {
        self.scan_fraction = share;
        self
    }

    /// Sets the number of operations without a response.
    #[must_use]
    pub const fn with_pending(mut self, pending: usize) -> Self {
        self.pending = pending;
        self
    }

    #[must_use]
    pub const fn with_violation(mut self, violation: Violation) -> Self {
        self.violation = Some(violation);
        self
    }

    /// Returns the recipe of the same run without a lie: linearizable, and at most one event away.
    #[must_use]
    pub fn twin(&self) -> Self {
        Self { honest: true, ..self.clone() }
    }

    /// Returns true if the history is linearizable.
    pub const fn is_linearizable(&self) -> bool {
        self.violation.is_none() || self.honest
    }

    /// Returns the verdict that a checker must give.
    pub fn expected(&self) -> crate::Expected {
        match self.violation {
            Some(violation) if !self.honest => {
                crate::Expected::Violation { reason: Some(violation.rule.name()) }
            }
            _ => crate::Expected::Linearizable,
        }
    }

    /// Returns sizes and initial values, as a recorder would declare them.
    pub const fn declaration(&self) -> Declaration<i64> {
        Declaration::new(0).with_processes(self.processes).with_segments(self.segments)
    }

    /// Returns the events, one by one, in memory that does not grow with their number: O(processes
    /// × segments).
    ///
    /// # Errors
    /// If no history can follow the recipe.
    pub fn events(&self) -> Result<Events, RecipeError> {
        self.check()?;
        let mut draw = Draw::new(self.seed, 0);
        let scripted = self.violation.map_or(0, |violation| violation.rule.operations());
        let ordinary = self.operations - scripted;
        let mut values = Values::new(self, ordinary, &mut draw);
        let script = self.violation.map(|violation| self.script(violation, &mut values, &mut draw));
        let switches = self.violation.is_some_and(|violation| {
            !matches!(violation.rule, Rule::NeverWritten | Rule::FailedUpdateSeen)
        });
        let plan = Plan {
            clients: Clients::Owners { scans: self.scan_fraction },
            values,
            processes: self.processes,
            segments: self.segments,
            ordinary,
            pending: self.pending,
            failures: 0.0,
            gaps: 0.0,
            script,
            switches,
        };
        Ok(Events(Run::new(plan, draw)))
    }

    fn script(&self, violation: Violation, values: &mut Values, draw: &mut Draw) -> Script {
        let targets = self.targets(violation, draw);
        values.reserve(targets.0);
        if violation.rule.segments() == 2 {
            values.reserve(targets.1);
        }
        let marker = |index| values.marker(index, self.operations);
        let stage = Stage {
            processes: self.processes,
            targets,
            markers: (marker(0), marker(1)),
            honest: self.honest,
        };
        stage.script(violation, draw)
    }

    /// Returns the segments at which to break a rule; equal if the rule concerns one segment.
    fn targets(&self, violation: Violation, draw: &mut Draw) -> (usize, usize) {
        let (i, j) = match (violation.segments, self.style) {
            (Some(targets), _) => targets,
            (None, Style::Simple { i, j }) => {
                if draw.coin() {
                    (i, j)
                } else {
                    (j, i)
                }
            }
            (None, _) => {
                let writers = self.processes.min(self.segments);
                let i = draw.below(writers);
                let other = if writers > 1 { draw.below(writers - 1) } else { i };
                (i, if other >= i && writers > 1 { other + 1 } else { other })
            }
        };
        if violation.rule.segments() == 2 { (i, j) } else { (i, i) }
    }

    /// Returns the whole history. O(operations × segments) time and memory.
    ///
    /// # Errors
    /// If no history can follow the recipe.
    pub fn history(&self) -> Result<History<i64>, RecipeError> {
        Ok(record(self.declaration(), self.events()?))
    }

    fn check(&self) -> Result<(), RecipeError> {
        let size = |what, given, limit| match given {
            given if given == 0 || given > limit => {
                Err(RecipeError::BadSize { what, given, limit })
            }
            _ => Ok(()),
        };
        size("processes", self.processes, Process::LIMIT + 1)?;
        size("segments", self.segments, Segment::LIMIT + 1)?;
        share("the fraction of scans", self.scan_fraction)?;
        match self.style {
            Style::Simple { i, j } if i == j || i.max(j) >= self.segments => {
                return Err(RecipeError::BadSimple { i, j, segments: self.segments });
            }
            Style::SmallDomain(values) => {
                size("values", values as usize, u32::MAX as usize)?;
            }
            _ => {}
        }
        self.violation.map_or(Ok(()), |violation| self.check_violation(violation))
    }

    fn check_violation(&self, violation: Violation) -> Result<(), RecipeError> {
        let rule = violation.rule;
        share("the share of operations before the violation", violation.after)?;
        let writers = self.processes.min(self.segments);
        for (what, needed, given) in [
            ("processes", rule.processes(), self.processes),
            ("segments with a writer", rule.segments(), writers),
            ("operations", rule.operations(), self.operations),
        ] {
            if given < needed {
                return Err(RecipeError::TooSmall { rule, what, needed, given });
            }
        }
        let targets = match (violation.segments, self.style) {
            (Some(targets), _) => targets,
            (None, Style::Simple { i, j }) => (i, j),
            (None, _) => return Ok(()),
        };
        let used = [targets.0, targets.1];
        let used = &used[..if violation.segments.is_some() { rule.segments() } else { 2 }];
        let possible = used.iter().all(|target| {
            *target < writers
                && match self.style {
                    Style::Simple { i, j } => [i, j].contains(target),
                    _ => true,
                }
        });
        if !possible || (rule.segments() == 2 && targets.0 == targets.1) {
            return Err(RecipeError::BadTarget { rule, i: targets.0, j: targets.1, writers });
        }
        Ok(())
    }
}

fn share(what: &'static str, given: f64) -> Result<(), RecipeError> {
    if (0.0..=1.0).contains(&given) { Ok(()) } else { Err(RecipeError::BadShare { what, given }) }
}

/// Records generated events as a history.
pub(crate) fn record(
    declaration: Declaration<i64>,
    events: impl IntoIterator<Item = OwnedEvent>,
) -> History<i64> {
    let mut builder = History::builder(declaration).expect("a checked recipe declares its sizes");
    for event in events {
        builder.push(&event.as_event()).expect("the scheduler respects the rules of histories");
    }
    builder.finish()
}
