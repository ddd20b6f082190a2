//! One object of a recording that is judged while it is being made.

use std::io::Read;

use snapshot_core::history::{
    Action, Declaration, Event, HistoryBuilder, HistoryError, HistoryErrorKind, Writers,
};
use snapshot_core::monitor::{Judgement as Answer, Monitor};
use snapshot_core::{History, Process, Segment};

use super::State;
use super::checkpoint::Saved;
use super::judge::{Judge, Next, Past};
use crate::format::{Batch, Excerpt, Format, Key, Location, Object, ReadError, Reader};
use crate::judge::{Finding, Judgement, Options, judge_recording};
use crate::{InputError, Origins, Value};

/// The largest number of events of an object that are kept for an argument.
pub(super) const MOST_KEPT: usize = 1 << 20;

/// The largest number of events of a part whose memory is reused for the next one.
const MOST_REUSED: usize = 1 << 16;

/// The judge of one snapshot, since the last instant at which its past was cut off.
pub struct Snapshots {
    past: Past,
    monitor: Monitor<Value>,
    /// The events since the cut, if few.
    kept: Option<(HistoryBuilder<Value>, Vec<Location>)>,
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
    const OBJECT: Object = Object::Snapshot;
    type Event<'a> = Event<'a, Value>;
    type Error = HistoryError;

    fn since(past: Past) -> Result<Self, HistoryError> {
        let monitor = Monitor::new(past.declaration.clone())?;
        let builder = History::builder(past.declaration.clone())?;
        let (open, values) = (Vec::new(), past.declaration.initial.clone());
        let kept = Some((builder, Vec::new()));
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
        match &mut self.kept {
            Some((builder, locations)) if locations.len() < self.past.most_kept => {
                builder.push(event)?;
                locations.push(location);
            }
            kept => *kept = None,
        }
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
            // The memory of a part is reused if the part is as short as most.
            match &mut self.kept {
                Some((builder, locations)) if locations.capacity() <= MOST_REUSED => {
                    builder.restart(declaration.clone())?;
                    locations.clear();
                }
                kept => *kept = Some((History::builder(declaration.clone())?, Vec::new())),
            }
        }
        self.past.cut = at;
        Ok(State::Fine)
    }

    fn judgement(&self, format: Format, options: &Options) -> Option<Judgement> {
        let (builder, locations) = self.kept.as_ref()?;
        let history = builder.clone().finish();
        Some(judge_recording(Some(format), &history, locations, None, options))
    }

    fn next<R: Read>(
        reader: &mut Reader<R>,
    ) -> Option<Result<Next<'_, Event<'_, Value>>, ReadError>> {
        if reader.is_keyed() {
            let next = reader.next_keyed()?;
            return Some(next.map(|one| Next {
                key: Some((one.key.index(), one.name)),
                location: one.location,
                event: one.event,
            }));
        }
        let next = reader.next_event()?;
        Some(next.map(|(location, event)| Next { key: None, location, event }))
    }

    fn for_each(batch: &Batch, mut take: impl FnMut(Key, Location, &Event<'_, Value>)) {
        for ((location, event), key) in batch.located_events().zip(batch.keys()) {
            take(*key, *location, &event);
        }
    }

    fn refused(location: Location, error: HistoryError, excerpt: Option<Excerpt>) -> InputError {
        Origins::default().refused(location, error, excerpt)
    }
}
