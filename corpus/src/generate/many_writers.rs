//! Histories in which any process may update any segment, and scans may be partial.
//!
//! A [`ManyWriters`] recipe is followed as a [`Recipe`](super::Recipe) is: an array under a
//! random scheduler, so that the order of effects is a linearization. No value occurs twice,
//! unless few values are asked for.
//!
//! A planted violation is a script (`play.rs`) whose actors are idle when it begins. While it
//! is performed, nothing else takes effect, and one scan of the script lies about one segment
//! or two. Each script needs a certain rule of the saturated relation (docs/many-writers.md):
//! without that rule there is no contradiction among its operations, and the others tell the
//! truth. The honest twin differs in the response of the lying scan only.

mod play;

use snapshot_core::history::{Declaration, Writers};
use snapshot_core::{History, Process, Segment};

use self::play::{Deed, Play, Step};
use super::error::RecipeError;
use super::{Draw, OwnedAction, OwnedEvent, record, share};

/// What a planted violation of many writers takes to be refuted.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Contradiction {
    /// **time** and **reads**: a scan returns what is written after it.
    Time,
    /// **first**: a scan returns the initial value, which was overwritten.
    First,
    /// **block**: a scan returns a value that another one had replaced.
    Block,
    /// **block**, of updates that overlap: a value returns after another one was seen.
    Return,
    /// **chain**: a scan sees an update, but not one that precedes it.
    Chain,
    /// **block** and **chain**: two scans see two updates in opposite orders.
    Inversion,
    /// Consecutive ones: there is no cycle, but no order of all scans either.
    Ring,
}

impl Contradiction {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Time,
        Self::First,
        Self::Block,
        Self::Return,
        Self::Chain,
        Self::Inversion,
        Self::Ring,
    ];

    /// Its name in options.
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

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|contradiction| contradiction.name() == name)
    }

    /// The fewest processes that can perform it.
    pub const fn processes(self) -> usize {
        match self {
            Self::Time | Self::First | Self::Block => 1,
            Self::Return => 3,
            Self::Chain => 2,
            Self::Inversion => 4,
            Self::Ring => 8,
        }
    }

    /// The number of segments that it is about.
    pub const fn segments(self) -> usize {
        match self {
            Self::Chain | Self::Inversion | Self::Ring => 2,
            _ => 1,
        }
    }

    /// Operations that it takes at least.
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

/// What to generate.
#[derive(Clone, Debug, PartialEq)]
pub struct ManyWriters {
    /// Number of processes; each may update each segment.
    pub processes: usize,
    /// Number of segments.
    pub segments: usize,
    /// Number of operations, those of a violation included.
    pub operations: usize,
    /// The share of scans among the operations.
    pub scan_fraction: f64,
    /// The share of entries that scans do not return.
    pub gaps: f64,
    /// How many updates have an unknown outcome, at most: they take effect before that, or
    /// never.
    pub pending: usize,
    /// How many values there are, from 0: then they repeat. `None`: no value occurs twice.
    pub values: Option<u32>,
    /// Fixes all random choices.
    pub seed: u64,
    /// The violation to plant, if any. The values of its script occur nowhere else.
    pub violation: Option<Contradiction>,
    /// Perform its script without the lie: the history is linearizable, and one event away
    /// from the bad one.
    pub honest: bool,
}

impl ManyWriters {
    /// A linearizable history, half of it full scans.
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

    /// The same run with no scan lying.
    #[must_use]
    pub fn twin(&self) -> Self {
        Self { honest: true, ..self.clone() }
    }

    /// The answer that a checker must give.
    pub const fn expected(&self) -> crate::Expected {
        match self.violation {
            Some(_) if !self.honest => crate::Expected::Violation { reason: None },
            _ => crate::Expected::Linearizable,
        }
    }

    /// Sizes and initial values, as a recorder would declare them.
    pub const fn declaration(&self) -> Declaration<i64> {
        let mut declaration =
            Declaration::new(0).with_processes(self.processes).with_segments(self.segments);
        declaration.writers = Writers::Many;
        declaration
    }

    /// The events, one by one, in memory that does not grow with their number.
    ///
    /// # Errors
    /// If no history can follow the recipe.
    pub fn events(&self) -> Result<CrowdEvents, RecipeError> {
        self.check()?;
        Ok(CrowdEvents::new(self))
    }

    /// The whole history.
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
    /// What a scan saw when it took effect.
    view: Option<Vec<i64>>,
    is_effective: bool,
    is_lost: bool,
}

/// The events of a recipe with many writers, one by one; from [`ManyWriters::events`].
#[derive(Clone, Debug)]
pub struct CrowdEvents {
    draw: Draw,
    recipe: ManyWriters,
    object: Vec<i64>,
    open: Vec<Option<Open>>,
    /// Number of operations outside of the script, and how many were invoked.
    ordinary: usize,
    invoked: usize,
    to_lose: usize,
    next_value: i64,
    /// A segment that ordinary operations leave alone.
    reserved: Option<usize>,
    /// The script; the process of each of its actors; the next step.
    play: Play,
    cast: Vec<usize>,
    step: usize,
    /// Ordinary operations before the script.
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

    /// Does one thing, which may or may not be an event.
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
        // A lost update that is over when it begins never takes effect.
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

    /// A response with gaps, but not at the segments that are needed.
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

    /// The script's values, from 1: beyond all others.
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
