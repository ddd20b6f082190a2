//! Histories in which any process may update any segment, and scans may be partial.
//!
//! A [`ManyWriters`] recipe works like a [`Recipe`](super::Recipe): it runs an array under a random
//! scheduler, so that the order of effects is a linearization. No value occurs twice, unless few
//! values are requested.
//!
//! A planted violation is a script (`script.rs`) whose actors are idle when it begins. While it is
//! performed, no other operation takes effect, and one scan of the script lies about one segment or
//! two. Each script needs a certain rule of the saturated relation (docs/many-writers.md): without
//! that rule its operations show no contradiction, and all other operations are honest. The honest
//! twin differs only in the response of the lying scan.

mod script;

use snapshot_core::history::{Declaration, Writers};
use snapshot_core::{History, Process, Segment};

use self::script::Play;
use super::error::RecipeError;
use super::scheduler::{Clients, Events, Plan, Run, Script};
use super::values::Values;
use super::{Draw, record, share};

/// Rule that refutes a planted violation of many writers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Contradiction {
    /// **time** and **reads**: a scan returns a value that is written after it.
    Time,
    /// **first**: a scan returns the initial value, which was overwritten.
    First,
    /// **block**: a scan returns a value that another one had replaced.
    Block,
    /// **block**, of updates that overlap: a value returns after another one was seen.
    Return,
    /// **chain**: a scan sees an update, but misses a preceding one.
    Chain,
    /// **block** and **chain**: two scans see two updates in opposite orders.
    Inversion,
    /// Consecutive ones: no cycle, but also no order of all scans.
    Ring,
}

impl Contradiction {
    pub const ALL: [Self; 7] = [
        Self::Time,
        Self::First,
        Self::Block,
        Self::Return,
        Self::Chain,
        Self::Inversion,
        Self::Ring,
    ];

    /// Name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::First => "first",
            Self::Block => "block",
            Self::Return => "return",
            Self::Chain => "chain",
            Self::Inversion => "crossed",
            Self::Ring => "ring",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|contradiction| contradiction.name() == name)
    }

    /// Returns the smallest number of processes that can perform it.
    pub const fn processes(self) -> usize {
        match self {
            Self::Time | Self::First | Self::Block => 1,
            Self::Return => 3,
            Self::Chain => 2,
            Self::Inversion => 4,
            Self::Ring => 8,
        }
    }

    /// Returns the number of segments involved.
    pub const fn segments(self) -> usize {
        match self {
            Self::Chain | Self::Inversion | Self::Ring => 2,
            _ => 1,
        }
    }

    /// Returns the smallest number of operations in its script.
    pub const fn operations(self) -> usize {
        match self {
            Self::Time | Self::First => 2,
            Self::Block => 3,
            Self::Chain => 4,
            Self::Return => 5,
            Self::Inversion => 6,
            Self::Ring => 8,
        }
    }
}

/// Recipe of a history of many writers.
#[derive(Clone, Debug, PartialEq)]
pub struct ManyWriters {
    /// Number of processes; each may update each segment.
    pub processes: usize,
    pub segments: usize,
    /// Number of operations, including the operations of a violation.
    pub operations: usize,
    /// Share of scans among the operations.
    pub scan_fraction: f64,
    /// Share of entries that scans do not return.
    pub gaps: f64,
    /// Largest number of updates without a response: some stay open at the end of the history, some
    /// have an unknown outcome. They take effect before, long after, or never.
    pub pending: usize,
    /// Number of values, from 0, which then repeat. `None`: no value occurs twice.
    pub values: Option<u32>,
    /// Fixes all random choices.
    pub seed: u64,
    /// Violation to plant, if any. The values of its script occur nowhere else.
    pub violation: Option<Contradiction>,
    /// Performs the script without the lie: the history is linearizable, and one event away from
    /// the bad one.
    pub honest: bool,
}

impl ManyWriters {
    /// Creates a recipe of a linearizable history, half of it full scans.
    pub const fn new(processes: usize, segments: usize, operations: usize, seed: u64) -> Self {
        Self {
            processes,
            segments,
            operations,
            scan_fraction: 0.5,
            gaps: 0.0,
            pending: 0,
            values: None,
            seed,
            violation: None,
            honest: false,
        }
    }

    /// Returns the recipe of the same run without a lie.
    #[must_use]
    pub fn twin(&self) -> Self {
        Self { honest: true, ..self.clone() }
    }

    /// Returns the verdict that a checker must give.
    pub const fn expected(&self) -> crate::Expected {
        match self.violation {
            Some(_) if !self.honest => crate::Expected::Violation { reason: None },
            _ => crate::Expected::Linearizable,
        }
    }

    /// Returns sizes and initial values, as a recorder would declare them.
    pub const fn declaration(&self) -> Declaration<i64> {
        let mut declaration =
            Declaration::new(0).with_processes(self.processes).with_segments(self.segments);
        declaration.writers = Writers::Many;
        declaration
    }

    /// Returns the events, one by one, in memory that does not grow with their number.
    ///
    /// # Errors
    /// If no history can follow the recipe.
    pub fn events(&self) -> Result<Events, RecipeError> {
        self.check()?;
        let mut draw = Draw::new(self.seed, 7);
        let values = self.values.map_or(Values::Differentiated, Values::SmallDomain);
        let (script, reserved) = self.script(&values, &mut draw).unzip();
        let plan = Plan {
            clients: Clients::Crowd { scans: self.scan_fraction, reserved: reserved.flatten() },
            values,
            processes: self.processes,
            segments: self.segments,
            ordinary: self.operations - script.as_ref().map_or(0, Script::operations),
            pending: self.pending,
            failures: 0.0,
            gaps: self.gaps,
            script,
            switches: false,
        };
        Ok(Events(Run::new(plan, draw)))
    }

    /// Returns the script, and the segment that no other operation may update.
    fn script(&self, values: &Values, draw: &mut Draw) -> Option<(Script, Option<usize>)> {
        let violation = self.violation?;
        let i = draw.below(self.segments);
        let others = self.segments - 1;
        let j = if others > 0 { (i + 1 + draw.below(others)) % self.segments } else { i };
        let most = self.operations.min(self.processes);
        let base = values.marker(0, self.operations) - 1;
        let play = Play::new(violation, (i, j), most, base, self.honest);
        let mut cast: Vec<usize> = (0..self.processes).collect();
        draw.shuffle(&mut cast);
        cast.truncate(play.actors());
        let reserved = play.reserved();
        Some((play.cast(cast, (i, j)), reserved))
    }

    /// Returns the whole history.
    ///
    /// # Errors
    /// If no history can follow the recipe.
    pub fn history(&self) -> Result<History<i64>, RecipeError> {
        Ok(record(self.declaration(), self.events()?))
    }

    fn check(&self) -> Result<(), RecipeError> {
        for (what, given, limit) in [
            ("processes", self.processes, Process::LIMIT + 1),
            ("segments", self.segments, Segment::LIMIT + 1),
        ] {
            if given == 0 || given > limit {
                return Err(RecipeError::BadSize { what, given, limit });
            }
        }
        if self.values == Some(0) {
            let limit = u32::MAX as usize;
            return Err(RecipeError::BadSize { what: "values", given: 0, limit });
        }
        share("the fraction of scans", self.scan_fraction)?;
        share("the fraction of gaps", self.gaps)?;
        let Some(violation) = self.violation else { return Ok(()) };
        for (what, needed, given) in [
            ("processes", violation.processes(), self.processes),
            ("segments", violation.segments(), self.segments),
            ("operations", violation.operations(), self.operations),
        ] {
            if given < needed {
                let rule = violation.name();
                return Err(RecipeError::TooSmallForMany { rule, what, needed, given });
            }
        }
        Ok(())
    }
}
