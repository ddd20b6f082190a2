//! Seeded generation of histories whose answer is known by construction.
//!
//! A [`Recipe`] is followed by running an atomic snapshot object, an array,
//! under a random scheduler (the private module `run`): every operation has an
//! invocation, one instant inside at which it acts on the array, and a
//! response, so the order of these instants is a linearization of what was
//! recorded. Segment k is written by process k; processes that have no segment
//! only scan.
//!
//! Where a recipe asks for a [`Violation`], a few operations follow a script
//! (the private module `script`) in which one scan lies. The script's
//! operations mingle with all others, the rest of the run is untouched, and the
//! argument why no linearization exists involves the script's operations only:
//! it holds whatever the others do. Moreover the lie breaks the named rule and
//! no other, and [`Recipe::twin`] is the same run without the lie.
//!
//! Histories come as a stream of events in constant memory ([`Recipe::events`])
//! or as a whole ([`Recipe::history`]); both are the same events.

mod draw;
mod error;
mod event;
mod exchanges;
mod many_writers;
mod rule;
mod run;
mod script;
mod values;

pub(crate) use draw::Draw;
pub use error::RecipeError;
pub use event::{OwnedAction, OwnedEvent};
pub use exchanges::{ExchangeEvents, Exchanges, Flaw, OwnedExchange, OwnedExchangeAction};
pub use many_writers::{Contradiction, CrowdEvents, ManyWriters};
pub use rule::{Rule, Violation};
pub use run::Events;
use snapshot_core::history::Declaration;
use snapshot_core::{History, Process, Segment};

/// Which values the updates write. Every segment holds `0` initially.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Style {
    /// (i, j)-simple: segments i and j each switch once, at a random point, from
    /// 0 to 1; every other update writes 0.
    Simple {
        /// The first of the two segments.
        i: usize,
        /// The other one.
        j: usize,
    },
    /// No value occurs twice.
    Differentiated,
    /// Values are drawn from 0 to one less than this, so most are ambiguous. The
    /// updates of a planted violation write values outside.
    SmallDomain(u32),
}

/// What to generate.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// Number of processes.
    pub processes: usize,
    /// Number of segments; process k writes segment k.
    pub segments: usize,
    /// Number of operations, those of a violation included.
    pub operations: usize,
    /// Which values the updates write.
    pub style: Style,
    /// The share of scans among the operations of processes that have a segment.
    pub scan_fraction: f64,
    /// How many operations get no response: some stay open at the end of the
    /// history, some have an unknown outcome, and such an update takes effect
    /// before, long after, or never. Its process writes no more, so that the
    /// updates of a segment stay totally ordered. With a violation, whose cast
    /// must not get lost before its performance, it may be fewer.
    pub pending: usize,
    /// Fixes all random choices.
    pub seed: u64,
    /// The violation to plant, if any.
    pub violation: Option<Violation>,
    /// Perform the script of the violation, but without the lie: the history is
    /// linearizable and one event away from the bad one.
    pub honest: bool,
}

impl Recipe {
    /// A linearizable history, half of it scans, in which everything responds.
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

    /// Sets the share of scans.
    #[must_use]
    pub const fn with_scan_fraction(mut self, share: f64) -> Self {
        self.scan_fraction = share;
        self
    }

    /// Sets the number of operations that get no response.
    #[must_use]
    pub const fn with_pending(mut self, pending: usize) -> Self {
        self.pending = pending;
        self
    }

    /// Plants a violation.
    #[must_use]
    pub const fn with_violation(mut self, violation: Violation) -> Self {
        self.violation = Some(violation);
        self
    }

    /// The same run with no scan lying: linearizable, and at most one event away.
    #[must_use]
    pub fn twin(&self) -> Self {
        Self { honest: true, ..self.clone() }
    }

    /// Whether the history is linearizable.
    pub const fn is_linearizable(&self) -> bool {
        self.violation.is_none() || self.honest
    }

    /// The answer that a checker must give.
    pub fn expected(&self) -> crate::Expected {
        match self.violation {
            Some(violation) if !self.honest => {
                crate::Expected::Violation { reason: Some(violation.rule.name()) }
            }
            _ => crate::Expected::Linearizable,
        }
    }

    /// Sizes and initial values, as a recorder would declare them.
    pub const fn declaration(&self) -> Declaration<i64> {
        Declaration::new(0).with_processes(self.processes).with_segments(self.segments)
    }

    /// The events, one by one, in memory that does not grow with their number:
    /// O(processes × segments).
    ///
    /// # Errors
    /// If no history can follow the recipe.
    pub fn events(&self) -> Result<Events, RecipeError> {
        self.check()?;
        Ok(Events::new(self))
    }

    /// The whole history. O(operations × segments) time and memory.
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

/// The history of generated events.
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
