//! One object of a recording that is judged while it is being made.

use snapshot_core::history::{Action, Declaration, Event, HistoryError, HistoryErrorKind, Writers};
use snapshot_core::monitor::{Judgement as Answer, Monitor};
use snapshot_core::{Process, Segment};

use super::State;
use super::checkpoint::Saved;
use super::judge::{Judge, Kept, Past};
use crate::Value;
use crate::format::{Format, Location};
use crate::judge::{Finding, Judgement, Options, judge_recording};
use crate::kind::Atomic;

/// The largest number of events of an object that are kept for an argument.
pub(super) const MOST_KEPT: usize = 1 << 20;

/// The judge of one snapshot, since the last instant at which its past was cut off.
pub struct Snapshots {
    past: Past,
    monitor: Monitor<Value>,
    /// The events since the cut, if few.
    kept: Kept<Atomic>,
    /// The open update of each process.
    open: Vec<Option<(Segment, Value)>>,
    /// The value of the last update of each segment.
    values: Vec<Value>,
    writers: Vec<Option<Process>>,
}

impl Snapshots {
    /// Checks that a segment has one writer, also across cuts.
    fn require_writer(&self, event: &Event<'_, Value>) -> Result<(), HistoryError> {
        let Action::InvokeUpdate { segment, .. } = event.action else { return Ok(()) };
        match self.writers.get(segment.index()) {
            Some(Some(writer))
                if self.past.declaration.writers == Writers::Single && *writer != event.process =>
            {
                let (writer, process) = (*writer, event.process);
                let kind = HistoryErrorKind::SecondWriter { segment, writer, process };
                Err(HistoryError { event: self.monitor.events(), kind })
            }
            _ => Ok(()),
        }
    }

    /// Records the value of the last update of each segment, and its process.
    fn note(&mut self, event: &Event<'_, Value>) {
        let process = event.process.index();
        if self.open.len() <= process {
            self.open.resize(process + 1, None);
        }
        match event.action {
            Action::InvokeUpdate { segment, value } => {
                self.open[process] = Some((segment, value.clone()));
                if self.writers.len() <= segment.index() {
                    self.writers.resize(segment.index() + 1, None);
                }
                self.writers[segment.index()] = Some(event.process);
            }
            Action::RespondUpdate => {
                let Some((segment, value)) = self.open[process].take() else { return };
                if self.values.len() <= segment.index() {
                    let initial = self.past.declaration.default_initial.clone();
                    self.values.resize(segment.index() + 1, initial);
                }
                self.values[segment.index()] = value;
            }
            _ => self.open[process] = None,
        }
    }
}

impl Judge for Snapshots {
    type Kind = Atomic;

    fn since(past: Past) -> Result<Self, HistoryError> {
        let monitor = Monitor::new(past.declaration.clone())?;
        let kept = Kept::new(past.declaration.clone())?;
        let (open, values) = (Vec::new(), past.declaration.initial.clone());
        Ok(Self { past, monitor, kept, open, values, writers: Vec::new() })
    }

    fn resume(declaration: &Declaration<Value>, saved: &Saved) -> Result<Self, HistoryError> {
        let writers = saved.writers.iter().map(|writer| writer.map(Process::from_index)).collect();
        Ok(Self { writers, ..Self::since(Past::resumed(declaration, saved))? })
    }

    fn save(&self, key: Option<&Value>) -> Saved {
        let writers = self.writers.iter().map(|writer| writer.map(Process::index)).collect();
        Saved { writers, ..self.past.save(key) }
    }

    fn past(&self) -> &Past {
        &self.past
    }

    fn past_mut(&mut self) -> &mut Past {
        &mut self.past
    }

    fn events(&self) -> usize {
        self.monitor.events()
    }

    fn pending(&self) -> u64 {
        self.monitor.pending()
    }

    fn state(&self) -> State {
        match self.monitor.judgement() {
            Answer::Linearizable => State::Fine,
            Answer::Undecided(_) => State::Undecided,
            Answer::Violation(_) => State::Violation,
        }
    }

    fn is_first(&self) -> bool {
        self.monitor.is_first()
    }

    fn observe(
        &mut self,
        location: Location,
        event: &Event<'_, Value>,
    ) -> Result<(), HistoryError> {
        self.require_writer(event)?;
        self.monitor.observe(event)?;
        self.kept.push(location, event, self.past.most_kept)?;
        self.note(event);
        Ok(())
    }

    fn cut(
        &mut self,
        at: Location,
        format: Format,
        options: &Options,
    ) -> Result<State, HistoryError> {
        if self.monitor.pending() > 0 || self.past.declaration.writers == Writers::Many {
            return Ok(self.state());
        }
        if self.monitor.events() > 0 {
            let state = match self.state() {
                State::Undecided => match self.judgement(format, options).map(|one| one.finding) {
                    Some(Finding::Linearizable { .. }) => State::Fine,
                    Some(Finding::Violation(_)) => State::Violation,
                    _ => State::Undecided,
                },
                state => state,
            };
            if state != State::Fine {
                return Ok(state);
            }
            let segments = self.monitor.segments().max(self.values.len());
            let segments = (segments > 0).then_some(segments);
            self.past.extend(self.monitor.events(), segments, &self.values);
            let declaration = &self.past.declaration;
            self.monitor = Monitor::new(declaration.clone())?;
            self.kept.restart(declaration.clone())?;
        }
        self.past.cut = at;
        Ok(State::Fine)
    }

    fn judgement(&self, format: Format, options: &Options) -> Option<Judgement> {
        let (history, locations) = self.kept.history()?;
        Some(judge_recording(Some(format), &history, locations, None, options))
    }
}
