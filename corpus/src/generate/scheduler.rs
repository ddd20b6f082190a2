//! An array with one entry per segment, and its clients, under a random scheduler.
//!
//! The scheduler picks a process at random and makes its next step: an invocation, the effect of
//! its operation on the array in one instant, alone or together with others (first all writes, then
//! all reads), or a response. Only invocations and responses are recorded; the order of effects
//! explains the record. An operation whose response is lost may take effect while its invocation is
//! open; its write may also take effect at any later time, or never.
//!
//! The operations of a [`Script`] mix with all others. Its *cast* is idle when it begins, and makes
//! no other steps until it is over. From [`Step::Freeze`] to [`Step::Thaw`] other operations may
//! begin and respond, but do not take effect.

use snapshot_core::{Process, Segment};

use super::values::Values;
use super::{Draw, Fate, OwnedAction, OwnedEvent};

/// An operation: an update writes, a scan reads, an exchange does both.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Deed {
    /// The segment with its new value.
    pub write: Option<(usize, i64)>,
    pub reads: bool,
}

impl Deed {
    pub const SCAN: Self = Self { write: None, reads: true };

    pub const fn update(segment: usize, value: i64) -> Self {
        Self { write: Some((segment, value)), reads: false }
    }

    pub const fn exchange(segment: usize, value: i64) -> Self {
        Self { write: Some((segment, value)), reads: true }
    }
}

/// The operations of clients outside of the script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Clients {
    /// Process k updates segment k. All processes scan: this share of the operations of processes
    /// with a segment.
    Owners { scans: f64 },
    /// All processes update all segments but the reserved one; they scan with this share.
    Crowd { scans: f64, reserved: Option<usize> },
    /// Process k exchanges with segment k, and operations take effect together.
    Exchanges,
}

/// A step of a script.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Step {
    Invoke(usize, Deed),
    /// Other operations stop taking effect.
    Freeze,
    /// The operations of these processes take effect together.
    Effect(Vec<usize>),
    /// Other operations may take effect again.
    Thaw,
    /// The response. A scan that did not take effect returns the content at `Freeze`. These entries
    /// are replaced: by a value, or, without one, by the content at `Freeze`.
    Respond(usize, Vec<(usize, Option<i64>)>),
    Fail(usize),
}

/// The few operations of a planted violation.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    /// Processes that perform it.
    pub cast: Vec<usize>,
    pub steps: Vec<Step>,
    /// Segments whose values its scans must return.
    pub needed: Vec<usize>,
    /// Smallest share of the other operations that are invoked before it begins.
    pub after: f64,
}

impl Script {
    /// Returns the number of operations.
    pub fn operations(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Invoke(..))).count()
    }
}

/// The parameters of a run.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub clients: Clients,
    pub values: Values,
    pub processes: usize,
    pub segments: usize,
    /// Number of operations outside of the script.
    pub ordinary: usize,
    /// Number of operations without a response.
    pub pending: usize,
    /// Share of operations that fail.
    pub failures: f64,
    /// Share of entries that scans do not return.
    pub gaps: f64,
    pub script: Option<Script>,
    /// False if updates of the script are no switches of their segments, in a simple history.
    pub switches: bool,
}

#[derive(Clone, Debug)]
struct Open {
    deed: Deed,
    /// Values that it read when it took effect.
    view: Option<Vec<i64>>,
    is_effective: bool,
    fate: Fate,
}

#[derive(Clone, Debug, Default)]
struct Actor {
    open: Option<Open>,
    /// True if it may write its own segment: it has one, and has lost no write.
    writes: bool,
    /// The write of its lost operation, as long as it may still take effect.
    late: Option<(usize, i64)>,
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

/// An event of a run.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Act {
    Invoke(Deed),
    /// The response of an operation that does not read.
    Done,
    /// The response with one value per segment.
    Returned(Vec<i64>),
    /// The response with some of the values.
    Some(Vec<(Segment, i64)>),
    Fail,
    Unknown,
}

/// A run, from event to event.
///
/// Expected time per event is O(1), O(segments) for a read, O(processes) for operations that take
/// effect together, as long as most processes can act; O(processes) among the last few events, and
/// if almost all processes have an operation that stays open.
#[derive(Clone, Debug)]
pub(super) struct Run {
    draw: Draw,
    plan: Plan,
    script: Script,
    object: Vec<i64>,
    actors: Vec<Actor>,
    /// Number of ordinary operations invoked so far.
    invoked: usize,
    /// Number of operations still to be lost.
    to_lose: usize,
    /// Number of processes that can still invoke operations.
    alive: usize,
    /// Number of open operations that will end.
    ending: usize,
    progress: Progress,
    /// True while ordinary operations must not take effect.
    is_frozen: bool,
    /// Content of the array at the script's `Freeze`.
    frozen: Vec<i64>,
}

impl Run {
    pub fn new(mut plan: Plan, mut draw: Draw) -> Self {
        let mut actors = vec![Actor::default(); plan.processes];
        for actor in actors.iter_mut().take(plan.segments) {
            actor.writes = true;
        }
        let (ordinary, mut progress) = (plan.ordinary, Progress::Over);
        let script = plan.script.take();
        if let Some(script) = &script {
            for process in &script.cast {
                actors[*process].is_needed = true;
            }
            let earliest = ((script.after * ordinary as f64).ceil() as usize).min(ordinary);
            progress = Progress::Until(earliest + draw.below(ordinary - earliest + 1));
        }
        Self {
            draw,
            script: script.unwrap_or_default(),
            object: vec![0; plan.segments],
            actors,
            invoked: 0,
            to_lose: plan.pending.min(ordinary),
            alive: plan.processes,
            ending: 0,
            progress,
            is_frozen: false,
            frozen: Vec::new(),
            plan,
        }
    }

    /// Makes one step, which may be an event.
    fn advance(&mut self) -> Option<(usize, Act)> {
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
            Some(open) => match open.fate {
                Fate::Fails => Some(self.end(process, Act::Fail)),
                Fate::Unknown | Fate::StaysOpen => self.lose(process),
                Fate::Responds if open.is_effective => {
                    let view = self.actors[process].open.take().and_then(|open| open.view);
                    let act = view.map_or(Act::Done, |view| self.returned(view, false));
                    Some(self.end(process, act))
                }
                Fate::Responds => {
                    self.take_effect(process);
                    None
                }
            },
        }
    }

    fn idle(&mut self, process: usize) -> Option<(usize, Act)> {
        if self.actors[process].late.is_some() && !self.is_frozen && self.draw.chance(0.125) {
            if let Some((segment, value)) = self.actors[process].late.take() {
                self.object[segment] = value;
            }
            return None;
        }
        if self.actors[process].is_held || self.invoked == self.plan.ordinary {
            return None;
        }
        let deed = self.deed(process)?;
        let fate = self.fate(process, deed);
        self.invoked += 1;
        Some(self.invoke(process, deed, fate))
    }

    /// Draws the next operation of a process, if it can have one.
    fn deed(&mut self, process: usize) -> Option<Deed> {
        let writes = self.actors[process].writes;
        let (segment, is_scan) = match self.plan.clients {
            Clients::Owners { scans } => (process, !writes || self.draw.chance(scans)),
            Clients::Crowd { scans, reserved } => {
                let segment = self.draw.below(self.object.len());
                (segment, self.draw.chance(scans) || reserved == Some(segment))
            }
            Clients::Exchanges if writes => (process, false),
            Clients::Exchanges => return None,
        };
        if is_scan {
            return Some(Deed::SCAN);
        }
        let value = self.plan.values.ordinary(segment, self.invoked, &mut self.draw);
        let reads = self.plan.clients == Clients::Exchanges;
        Some(Deed { write: Some((segment, value)), reads })
    }

    /// Selection sampling: each of the remaining operations is equally likely to be lost.
    fn fate(&mut self, process: usize, deed: Deed) -> Fate {
        if self.plan.failures > 0.0 && self.draw.chance(self.plan.failures) {
            return Fate::Fails;
        }
        let is_exchange = self.plan.clients == Clients::Exchanges;
        // In a crowd only updates are lost, about half of the operations; of exchanges, the last
        // process goes on.
        let (stays, share) = match self.plan.clients {
            Clients::Owners { .. } => (false, self.to_lose),
            Clients::Crowd { .. } => (deed.reads, 2 * self.to_lose),
            Clients::Exchanges => (self.alive == 1, self.to_lose),
        };
        if self.to_lose == 0
            || stays
            || self.actors[process].is_needed
            || self.draw.below(self.plan.ordinary - self.invoked) >= share
        {
            return Fate::Responds;
        }
        self.to_lose -= 1;
        let stays_open = self.alive > 1 && self.draw.coin();
        self.alive -= usize::from(stays_open || is_exchange);
        if stays_open { Fate::StaysOpen } else { Fate::Unknown }
    }

    fn invoke(&mut self, process: usize, deed: Deed, fate: Fate) -> (usize, Act) {
        let actor = &mut self.actors[process];
        actor.open = Some(Open { deed, view: None, is_effective: false, fate });
        // The writes of a segment by its owner stay totally ordered.
        if matches!(fate, Fate::Unknown | Fate::StaysOpen) && deed.write.is_some() {
            actor.writes = false;
        }
        self.ending += usize::from(fate != Fate::StaysOpen);
        (process, Act::Invoke(deed))
    }

    /// Lets the operation of a process take effect, maybe together with others.
    fn take_effect(&mut self, process: usize) {
        if self.is_frozen {
            return;
        }
        let mut members = vec![process];
        if self.plan.clients == Clients::Exchanges {
            for (other, actor) in self.actors.iter().enumerate() {
                let open = actor.open.as_ref().filter(|open| !open.is_effective);
                let is_ready = open.is_some_and(|open| open.fate == Fate::Responds);
                if other != process && is_ready && self.draw.coin() {
                    members.push(other);
                }
            }
        }
        self.block(&members);
    }

    /// Executes all writes, then all reads.
    fn block(&mut self, members: &[usize]) {
        let open = |actor: &Actor| actor.open.as_ref().and_then(|open| open.deed.write);
        for (segment, value) in members.iter().filter_map(|process| open(&self.actors[*process])) {
            self.object[segment] = value;
        }
        for process in members {
            if let Some(open) = &mut self.actors[*process].open {
                open.view = open.deed.reads.then(|| self.object.clone());
                open.is_effective = true;
            }
        }
    }

    /// Makes the next step of an operation whose response gets lost.
    fn lose(&mut self, process: usize) -> Option<(usize, Act)> {
        let choice = self.draw.below(8);
        let open = self.actors[process].open.as_ref()?;
        if choice == 0 && !open.is_effective {
            if !self.is_frozen {
                self.block(&[process]);
            }
            return None;
        }
        if choice < 4 || open.fate == Fate::StaysOpen {
            return None;
        }
        if !open.is_effective && choice < 6 {
            self.actors[process].late = open.deed.write;
        }
        Some(self.end(process, Act::Unknown))
    }

    fn end(&mut self, process: usize, act: Act) -> (usize, Act) {
        self.actors[process].open = None;
        self.ending -= 1;
        (process, act)
    }

    /// Makes a response, with gaps outside of the segments that the script needs.
    fn returned(&mut self, view: Vec<i64>, is_scripted: bool) -> Act {
        let gaps = self.plan.gaps;
        if gaps == 0.0 {
            return Act::Returned(view);
        }
        let is_needed = |k: &usize| is_scripted && self.script.needed.contains(k);
        let entries = view.into_iter().enumerate();
        let kept = entries.filter(|(k, _)| is_needed(k) || !self.draw.chance(gaps));
        Act::Some(kept.map(|(k, value)| (Segment::from_index(k), value)).collect())
    }

    /// Performs a step of the script.
    fn perform(&mut self, step: usize) -> Option<(usize, Act)> {
        self.progress = Progress::Step(step + 1);
        if step + 1 == self.script.steps.len() {
            self.progress = Progress::Over;
            for process in &self.script.cast {
                self.actors[*process].is_held = false;
                self.actors[*process].is_needed = false;
            }
        }
        match self.script.steps[step].clone() {
            Step::Invoke(process, deed) => {
                if let Some((segment, _)) = deed.write.filter(|_| self.plan.switches) {
                    self.plan.values.switched(segment);
                }
                Some(self.invoke(process, deed, Fate::Responds))
            }
            Step::Freeze => {
                self.frozen.clone_from(&self.object);
                self.is_frozen = true;
                None
            }
            Step::Effect(members) => {
                self.block(&members);
                None
            }
            Step::Thaw => {
                self.is_frozen = false;
                None
            }
            Step::Respond(process, replaced) => {
                let open = self.actors[process].open.take()?;
                if !open.deed.reads {
                    return Some(self.end(process, Act::Done));
                }
                let mut view = open.view.unwrap_or_else(|| self.frozen.clone());
                for (segment, value) in replaced {
                    view[segment] = value.unwrap_or(self.frozen[segment]);
                }
                let act = self.returned(view, true);
                Some(self.end(process, act))
            }
            Step::Fail(process) => Some(self.end(process, Act::Fail)),
        }
    }

    /// Returns true if no further event will happen.
    fn is_over(&self) -> bool {
        self.ending == 0 && self.invoked == self.plan.ordinary && self.progress == Progress::Over
    }
}

impl Iterator for Run {
    type Item = (usize, Act);

    fn next(&mut self) -> Option<(usize, Act)> {
        while !self.is_over() {
            if let Some(event) = self.advance() {
                return Some(event);
            }
        }
        None
    }
}

/// Iterator over the events of a recipe of a snapshot.
#[derive(Clone, Debug)]
pub struct Events(pub(super) Run);

impl Iterator for Events {
    type Item = OwnedEvent;

    fn next(&mut self) -> Option<OwnedEvent> {
        let (process, act) = self.0.next()?;
        let action = match act {
            Act::Invoke(Deed { write: Some((segment, value)), .. }) => {
                OwnedAction::InvokeUpdate { segment: Segment::from_index(segment), value }
            }
            Act::Invoke(_) => OwnedAction::InvokeScan,
            Act::Done => OwnedAction::RespondUpdate,
            Act::Returned(values) => OwnedAction::RespondScan { values },
            Act::Some(entries) => OwnedAction::RespondPartialScan { entries },
            Act::Fail => OwnedAction::Fail,
            Act::Unknown => OwnedAction::Unknown,
        };
        Some(OwnedEvent { process: Process::from_index(process), action })
    }
}

impl std::iter::FusedIterator for Events {}
