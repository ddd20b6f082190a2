//! Histories in which any process may update any segment, and scans may be partial.
//!
//! A [`ManyWriters`] recipe works like a [`Recipe`](super::Recipe): it runs an array under a random
//! scheduler, so that the order of effects is a linearization. No value occurs twice, unless few
//! values are requested.
//!
//! A planted violation is a script (`play.rs`) whose actors are idle when it begins. While it is
//! performed, no other operation takes effect, and one scan of the script lies about one segment or
//! two. Each script needs a certain rule of the saturated relation (docs/many-writers.md): without
//! that rule its operations show no contradiction, and all other operations are honest. The honest
//! twin differs only in the response of the lying scan.

mod play;

use snapshot_core::history::{Declaration, Writers};
use snapshot_core::{History, Process, Segment};

use self::play::{Deed, Play, Step};
use super::error::RecipeError;
use super::{Draw, OwnedAction, OwnedEvent, record, share};

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
    /// Largest number of updates with an unknown outcome: they take effect before it is lost, or
    /// never.
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
    pub fn events(&self) -> Result<CrowdEvents, RecipeError> {
        self.check()?;
        Ok(CrowdEvents::new(self))
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

/// The open operation of a process.
#[derive(Clone, Debug)]
struct Open {
    deed: Deed,
    /// Values that a scan saw when it took effect.
    view: Option<Vec<i64>>,
    is_effective: bool,
    is_lost: bool,
}

/// Iterator over the events of a recipe with many writers; from [`ManyWriters::events`].
#[derive(Clone, Debug)]
pub struct CrowdEvents {
    draw: Draw,
    recipe: ManyWriters,
    object: Vec<i64>,
    open: Vec<Option<Open>>,
    /// Number of operations outside of the script, and number of those invoked.
    ordinary: usize,
    invoked: usize,
    to_lose: usize,
    next_value: i64,
    /// Segment that ordinary operations must not update.
    reserved: Option<usize>,
    /// The script, the process of each of its actors, and the next step.
    play: Play,
    cast: Vec<usize>,
    step: usize,
    /// Number of ordinary operations before the script.
    start: usize,
}

impl CrowdEvents {
    fn new(recipe: &ManyWriters) -> Self {
        let mut draw = Draw::new(recipe.seed, 7);
        let segments = recipe.segments;
        let play = recipe.violation.map_or_else(Play::default, |violation| {
            let i = draw.below(segments);
            let j = if segments > 1 { (i + 1 + draw.below(segments - 1)) % segments } else { i };
            let most = recipe.operations.min(recipe.processes);
            Play::new(violation, (i, j), most, recipe.honest)
        });
        let ordinary = recipe.operations.saturating_sub(play.operations());
        let mut processes: Vec<usize> = (0..recipe.processes).collect();
        draw.shuffle(&mut processes);
        processes.truncate(play.actors());
        let reserved = play.reserved();
        let start = ordinary / 4 * 3 + draw.below(ordinary / 4 + 1);
        Self {
            draw,
            object: vec![0; segments],
            open: vec![None; recipe.processes],
            ordinary,
            invoked: 0,
            to_lose: recipe.pending.min(ordinary),
            next_value: 1,
            reserved,
            play,
            cast: processes,
            step: 0,
            start,
            recipe: recipe.clone(),
        }
    }

    fn is_performing(&self) -> bool {
        self.invoked >= self.start && self.step < self.play.steps.len()
    }

    /// Makes one step, which may be an event.
    fn advance(&mut self) -> Option<OwnedEvent> {
        let process = self.draw.below(self.open.len());
        let is_cast = self.is_performing() && self.cast.contains(&process);
        let is_ready = self.step > 0 || self.cast.iter().all(|p| self.open[*p].is_none());
        if self.is_performing() && is_ready && self.draw.coin() {
            return self.perform();
        }
        if is_cast && (self.step > 0 || self.open[process].is_none()) {
            return None;
        }
        match &self.open[process] {
            None => self.begin(process),
            Some(open) if open.is_effective => Some(self.end(process)),
            Some(_) if self.step > 0 && self.is_performing() => None,
            Some(_) => {
                self.take_effect(process);
                None
            }
        }
    }

    fn begin(&mut self, process: usize) -> Option<OwnedEvent> {
        if self.invoked == self.ordinary {
            return None;
        }
        let segments = self.recipe.segments;
        let target = self.draw.below(segments);
        let is_scan = self.draw.chance(self.recipe.scan_fraction) || self.reserved == Some(target);
        let is_lost = !is_scan
            && self.to_lose > 0
            && self.draw.below(self.ordinary - self.invoked) < 2 * self.to_lose;
        self.to_lose -= usize::from(is_lost);
        self.invoked += 1;
        let deed = if is_scan {
            Deed::Scan
        } else {
            self.next_value += 1;
            let value = match self.recipe.values {
                None => self.next_value,
                Some(values) => self.draw.below(values as usize) as i64,
            };
            Deed::Update { segment: target, value }
        };
        Some(self.invoke(process, deed, is_lost))
    }

    fn invoke(&mut self, process: usize, deed: Deed, is_lost: bool) -> OwnedEvent {
        // Some lost updates are marked as effective in advance, so that they never take effect.
        let is_effective = is_lost && self.draw.coin();
        self.open[process] = Some(Open { deed, view: None, is_effective, is_lost });
        event(
            process,
            match deed {
                Deed::Update { segment, value } => {
                    OwnedAction::InvokeUpdate { segment: Segment::from_index(segment), value }
                }
                Deed::Scan => OwnedAction::InvokeScan,
            },
        )
    }

    fn take_effect(&mut self, process: usize) {
        if let Some(open) = &mut self.open[process] {
            match open.deed {
                Deed::Update { segment, value } => self.object[segment] = value,
                Deed::Scan => open.view = Some(self.object.clone()),
            }
            open.is_effective = true;
        }
    }

    fn end(&mut self, process: usize) -> OwnedEvent {
        let open = self.open[process].take();
        let is_lost = open.as_ref().is_some_and(|open| open.is_lost);
        let action = match open.and_then(|open| open.view) {
            Some(view) => self.returned(view, &[]),
            None if is_lost => OwnedAction::Unknown,
            None => OwnedAction::RespondUpdate,
        };
        event(process, action)
    }

    /// Makes a response with gaps, except at the segments that are needed.
    fn returned(&mut self, view: Vec<i64>, needed: &[usize]) -> OwnedAction {
        if self.recipe.gaps == 0.0 {
            return OwnedAction::RespondScan { values: view };
        }
        let gaps = self.recipe.gaps;
        let entries = view.into_iter().enumerate();
        let kept = entries.filter(|(k, _)| needed.contains(k) || !self.draw.chance(gaps));
        let entries = kept.map(|(k, value)| (Segment::from_index(k), value)).collect();
        OwnedAction::RespondPartialScan { entries }
    }

    /// Performs the next step of the script.
    fn perform(&mut self) -> Option<OwnedEvent> {
        let step = self.play.steps[self.step].clone();
        self.step += 1;
        match step {
            Step::Invoke(actor, deed) => {
                let deed = match deed {
                    Deed::Update { segment, value } => {
                        Deed::Update { segment, value: self.marker(value) }
                    }
                    Deed::Scan => Deed::Scan,
                };
                Some(self.invoke(self.cast[actor], deed, false))
            }
            Step::Effect(actor) => {
                self.take_effect(self.cast[actor]);
                None
            }
            Step::Respond(actor, lie) => {
                let process = self.cast[actor];
                let open = self.open[process].take();
                let Some(mut view) = open.and_then(|open| open.view) else {
                    return Some(event(process, OwnedAction::RespondUpdate));
                };
                for (segment, value) in lie {
                    view[segment] = if value == 0 { 0 } else { self.marker(value) };
                }
                let needed = self.play.segments.clone();
                Some(event(process, self.returned(view, &needed)))
            }
        }
    }

    /// Returns a value of the script, numbered from 1: beyond all other values.
    fn marker(&self, value: i64) -> i64 {
        let others = self.recipe.values.map_or(self.recipe.operations as i64 + 1, i64::from);
        others + value
    }
}

impl Iterator for CrowdEvents {
    type Item = OwnedEvent;

    fn next(&mut self) -> Option<OwnedEvent> {
        loop {
            let is_over = self.invoked == self.ordinary && self.step == self.play.steps.len();
            if is_over && self.open.iter().all(Option::is_none) {
                return None;
            }
            if let Some(event) = self.advance() {
                return Some(event);
            }
        }
    }
}

fn event(process: usize, action: OwnedAction) -> OwnedEvent {
    OwnedEvent { process: Process::from_index(process), action }
}
