//! An atomic snapshot object, run under a random scheduler.
//!
//! The scheduler picks a process at random and makes its next step: an invocation, the effect of
//! its operation on the array in one instant, or a response. Only invocations and responses are
//! recorded; the order of effects is a linearization of the record. An operation whose response is
//! lost may take effect while its invocation is open; an update may also take effect at any later
//! time, or never.

use snapshot_core::{Process, Segment};

use super::script::{Script, Stage, Step};
use super::values::Values;
use super::{Draw, OwnedAction, OwnedEvent, Recipe, Rule, Style, Violation};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Responds,
    /// Its outcome gets lost; its process continues.
    Unknown,
    /// It stays open, and its process makes no further step.
    StaysOpen,
}

#[derive(Clone, Debug)]
struct Open {
    /// Value of an update; `None` for a scan.
    update: Option<i64>,
    /// Values that a scan saw when it took effect.
    view: Option<Vec<i64>>,
    is_effective: bool,
    fate: Fate,
}

#[derive(Clone, Debug, Default)]
struct Actor {
    open: Option<Open>,
    /// True if it may invoke updates: it has a segment, and has lost no update.
    writes: bool,
    /// Value of its lost update, as long as the update may still take effect.
    late: Option<i64>,
    /// True if it waits for, or performs, the script.
    is_held: bool,
    /// True if its operations must not get lost, for the sake of the script.
    is_needed: bool,
}

/// Progress of the script.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Progress {
    /// The script waits until this many ordinary operations have been invoked.
    Until(usize),
    /// The cast finishes its open operations.
    Gathering,
    /// This step is next.
    Step(usize),
    Over,
}

/// Iterator over the events of a recipe; from [`Recipe::events`].
///
/// Expected time per event is O(1), O(segments) for the response of a scan, as long as most
/// processes can act; O(processes) among the last few events, and if almost all processes have an
/// operation that stays open.
#[derive(Clone, Debug)]
pub struct Events {
    draw: Draw,
    values: Values,
    scan_fraction: f64,
    object: Vec<i64>,
    actors: Vec<Actor>,
    /// Number of ordinary operations, outside of the script.
    ordinary: usize,
    /// Number of ordinary operations invoked so far.
    invoked: usize,
    /// Number of operations still to be lost.
    to_lose: usize,
    /// Number of processes without an operation that stays open.
    alive: usize,
    /// Number of open operations that will end.
    ending: usize,
    script: Script,
    progress: Progress,
    /// True while ordinary operations must not take effect.
    is_frozen: bool,
    /// Content of the object at the script's `Mark`.
    marked: Vec<i64>,
    /// False if the violated rule leaves the segment without any switch, in a simple history.
    switches: bool,
}

impl Events {
    /// Creates the iterator of a recipe that has been checked.
    pub(super) fn new(recipe: &Recipe) -> Self {
        let mut draw = Draw::new(recipe.seed, 0);
        let scripted = recipe.violation.map_or(0, |violation| violation.rule.operations());
        let ordinary = recipe.operations - scripted;
        let mut values = Values::new(recipe, ordinary, &mut draw);
        let mut actors = vec![Actor::default(); recipe.processes];
        for actor in actors.iter_mut().take(recipe.segments) {
            actor.writes = true;
        }
        let mut script = Script { cast: Vec::new(), steps: Vec::new() };
        let mut progress = Progress::Over;
        let mut switches = true;
        if let Some(violation) = recipe.violation {
            let targets = targets(recipe, violation, &mut draw);
            values.reserve(targets.0);
            if violation.rule.segments() == 2 {
                values.reserve(targets.1);
            }
            switches = !matches!(violation.rule, Rule::NeverWritten | Rule::FailedUpdateSeen);
            let marker = |index| values.marker(index, recipe.operations);
            let stage = Stage {
                processes: recipe.processes,
                targets,
                markers: (marker(0), marker(1)),
                honest: recipe.honest,
            };
            script = Script::new(violation, stage, &mut draw);
            for process in &script.cast {
                actors[*process].is_needed = true;
            }
            let earliest = ((violation.after * ordinary as f64).ceil() as usize).min(ordinary);
            progress = Progress::Until(earliest + draw.below(ordinary - earliest + 1));
        }
        Self {
            draw,
            values,
            scan_fraction: recipe.scan_fraction,
            object: vec![0; recipe.segments],
            actors,
            ordinary,
            invoked: 0,
            to_lose: recipe.pending.min(ordinary),
            alive: recipe.processes,
            ending: 0,
            script,
            progress,
            is_frozen: false,
            marked: Vec::new(),
            switches,
        }
    }

    /// Makes one step, which may be an event.
    fn advance(&mut self) -> Option<OwnedEvent> {
        match self.progress {
            Progress::Until(start) if self.invoked >= start => {
                for process in &self.script.cast {
                    self.actors[*process].is_held = true;
                }
                self.progress = Progress::Gathering;
            }
            Progress::Gathering => {
                let is_idle = |process: &usize| self.actors[*process].open.is_none();
                if self.script.cast.iter().all(is_idle) {
                    self.progress = Progress::Step(0);
                }
            }
            Progress::Step(next) if self.draw.coin() => return self.perform(next),
            _ => {}
        }
        let process = self.draw.below(self.actors.len());
        if matches!(self.progress, Progress::Step(_)) && self.actors[process].is_held {
            return None;
        }
        match &self.actors[process].open {
            None => self.idle(process),
            Some(open) if open.fate != Fate::Responds => self.lose(process),
            Some(open) if open.is_effective => Some(self.respond(process)),
            Some(_) => {
                self.take_effect(process);
                None
            }
        }
    }

    fn idle(&mut self, process: usize) -> Option<OwnedEvent> {
        if self.actors[process].late.is_some() && !self.is_frozen && self.draw.chance(0.125) {
            if let Some(value) = self.actors[process].late.take() {
                self.object[process] = value;
            }
            return None;
        }
        if self.actors[process].is_held || self.invoked == self.ordinary {
            return None;
        }
        let is_update = self.actors[process].writes && !self.draw.chance(self.scan_fraction);
        let update = is_update.then(|| self.values.ordinary(process, self.invoked, &mut self.draw));
        let fate = self.fate(process);
        self.invoked += 1;
        Some(self.invoke(process, update, fate))
    }

    /// Selection sampling: each of the remaining operations is equally likely to be lost.
    fn fate(&mut self, process: usize) -> Fate {
        if self.to_lose == 0
            || self.actors[process].is_needed
            || self.draw.below(self.ordinary - self.invoked) >= self.to_lose
        {
            return Fate::Responds;
        }
        self.to_lose -= 1;
        if self.alive > 1 && self.draw.coin() {
            self.alive -= 1;
            Fate::StaysOpen
        } else {
            Fate::Unknown
        }
    }

    fn invoke(&mut self, process: usize, update: Option<i64>, fate: Fate) -> OwnedEvent {
        let actor = &mut self.actors[process];
        actor.open = Some(Open { update, view: None, is_effective: false, fate });
        if fate != Fate::Responds && update.is_some() {
            actor.writes = false;
        }
        self.ending += usize::from(fate != Fate::StaysOpen);
        event(
            process,
            match update {
                Some(value) => {
                    OwnedAction::InvokeUpdate { segment: Segment::from_index(process), value }
                }
                None => OwnedAction::InvokeScan,
            },
        )
    }

    fn take_effect(&mut self, process: usize) {
        if self.is_frozen {
            return;
        }
        if let Some(open) = &mut self.actors[process].open {
            match open.update {
                Some(value) => self.object[process] = value,
                None => open.view = Some(self.object.clone()),
            }
            open.is_effective = true;
        }
    }

    /// Makes the next step of an operation whose response gets lost.
    fn lose(&mut self, process: usize) -> Option<OwnedEvent> {
        let choice = self.draw.below(8);
        let actor = &mut self.actors[process];
        let open = actor.open.as_mut()?;
        if choice == 0 && !open.is_effective {
            self.take_effect(process);
            return None;
        }
        if choice < 4 || open.fate == Fate::StaysOpen {
            return None;
        }
        if !open.is_effective && choice < 6 {
            actor.late = open.update;
        }
        actor.open = None;
        self.ending -= 1;
        Some(event(process, OwnedAction::Unknown))
    }

    fn respond(&mut self, process: usize) -> OwnedEvent {
        let view = self.actors[process].open.take().and_then(|open| open.view);
        self.ending -= 1;
        event(
            process,
            view.map_or(OwnedAction::RespondUpdate, |values| OwnedAction::RespondScan { values }),
        )
    }

    /// Performs a step of the script.
    fn perform(&mut self, step: usize) -> Option<OwnedEvent> {
        self.progress = Progress::Step(step + 1);
        if step + 1 == self.script.steps.len() {
            self.progress = Progress::Over;
            for process in &self.script.cast {
                self.actors[*process].is_held = false;
                self.actors[*process].is_needed = false;
            }
        }
        match self.script.steps[step].clone() {
            Step::InvokeUpdate { segment, value } => {
                if self.switches {
                    self.values.switched(segment);
                }
                Some(self.invoke(segment, Some(value), Fate::Responds))
            }
            Step::InvokeScan { process } => Some(self.invoke(process, None, Fate::Responds)),
            Step::Mark => {
                self.marked.clone_from(&self.object);
                self.is_frozen = true;
                None
            }
            Step::Apply { segment, value } => {
                self.object[segment] = value;
                None
            }
            Step::Thaw => {
                self.is_frozen = false;
                None
            }
            Step::RespondUpdate { segment } => Some(self.respond(segment)),
            Step::RespondScan { process, replaced } => {
                let mut view = self.marked.clone();
                for (segment, value) in replaced {
                    view[segment] = value;
                }
                if let Some(open) = &mut self.actors[process].open {
                    open.view = Some(view);
                }
                Some(self.respond(process))
            }
            Step::Fail { segment } => {
                self.actors[segment].open = None;
                self.ending -= 1;
                Some(event(segment, OwnedAction::Fail))
            }
        }
    }

    /// Returns true if no further event will happen.
    fn is_over(&self) -> bool {
        self.ending == 0 && self.invoked == self.ordinary && self.progress == Progress::Over
    }
}

impl Iterator for Events {
    type Item = OwnedEvent;

    fn next(&mut self) -> Option<OwnedEvent> {
        while !self.is_over() {
            if let Some(event) = self.advance() {
                return Some(event);
            }
        }
        None
    }
}

impl std::iter::FusedIterator for Events {}

fn event(process: usize, action: OwnedAction) -> OwnedEvent {
    OwnedEvent { process: Process::from_index(process), action }
}

/// Returns the segments at which to break a rule; equal if the rule concerns one segment.
fn targets(recipe: &Recipe, violation: Violation, draw: &mut Draw) -> (usize, usize) {
    let (i, j) = match (violation.segments, recipe.style) {
        (Some(targets), _) => targets,
        (None, Style::Simple { i, j }) => {
            if draw.coin() {
                (i, j)
            } else {
                (j, i)
            }
        }
        (None, _) => {
            let writers = recipe.processes.min(recipe.segments);
            let i = draw.below(writers);
            let other = if writers > 1 { draw.below(writers - 1) } else { i };
            (i, if other >= i && writers > 1 { other + 1 } else { other })
        }
    };
    if violation.rule.segments() == 2 { (i, j) } else { (i, i) }
}
