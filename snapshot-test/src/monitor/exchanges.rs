//! One immediate snapshot of a recording that is judged while it is being made.

use std::io::Read;

use snapshot_core::immediate::{
    Action, Event, ExchangeError, History, HistoryBuilder, Judgement as Answer, Monitor,
};

use super::State;
use super::judge::{Judge, Next, Past};
use crate::format::{Batch, Excerpt, Format, Key, Location, Object, ReadError, Reader};
use crate::judge::{Judgement, Options, immediate};
use crate::{InputError, Value};

/// The judge of one immediate snapshot.
///
/// Its past is cut off where no operation is open and no outcome is unknown: every later operation
/// is in a later block than all earlier ones, and finds in the segments the values of the last
/// operations that did not fail.
pub struct Exchanges {
    past: Past,
    monitor: Monitor<Value>,
    /// The events since the cut, if few.
    kept: Option<(HistoryBuilder<Value>, Vec<Location>)>,
    /// The value that each process is writing.
    open: Vec<Option<Value>>,
    /// The value of the last operation of each process.
    values: Vec<Value>,
}

impl Exchanges {
    fn note(&mut self, event: &Event<'_, Value>) {
        let process = event.process;
        if self.open.len() <= process {
            self.open.resize(process + 1, None);
        }
        match event.action {
            Action::Invoke { value } => self.open[process] = Some(value.clone()),
            Action::Respond { .. } => {
                let Some(value) = self.open[process].take() else { return };
                if self.values.len() <= process {
                    self.values.resize(process + 1, self.past.declaration.default_initial.clone());
                }
                self.values[process] = value;
            }
            Action::Fail | Action::Unknown => self.open[process] = None,
        }
    }
}

impl Judge for Exchanges {
    const OBJECT: Object = Object::Immediate;
    type Event<'a> = Event<'a, Value>;
    type Error = ExchangeError;

    fn since(past: Past) -> Result<Self, ExchangeError> {
        let monitor = Monitor::new(past.declaration.clone())?;
        let builder = History::builder(past.declaration.clone())?;
        let (open, values) = (Vec::new(), past.declaration.initial.clone());
        Ok(Self { past, monitor, kept: Some((builder, Vec::new())), open, values })
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
            Answer::SetLinearizable => State::Fine,
            Answer::Undecided(_) => State::Undecided,
            Answer::Violation(_) => State::Violation,
        }
    }

    fn is_first(&self) -> bool {
        true
    }

    fn observe(
        &mut self,
        location: Location,
        event: &Event<'_, Value>,
    ) -> Result<(), ExchangeError> {
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

    fn cut(&mut self, at: Location, _: Format, _: &Options) -> Result<State, ExchangeError> {
        let state = self.state();
        if self.monitor.pending() > 0 || state != State::Fine {
            return Ok(state);
        }
        if self.monitor.events() > 0 {
            let segments = self.monitor.known_segments();
            self.past.extend(self.monitor.events(), segments, &self.values);
            self.monitor = Monitor::new(self.past.declaration.clone())?;
            self.kept = Some((History::builder(self.past.declaration.clone())?, Vec::new()));
        }
        self.past.cut = at;
        Ok(State::Fine)
    }

    fn judgement(&self, format: Format, _: &Options) -> Option<Judgement> {
        let (builder, locations) = self.kept.as_ref()?;
        let history = builder.clone().finish();
        Some(immediate::judge_recording(format, history, locations.clone()))
    }

    fn next<R: Read>(
        reader: &mut Reader<R>,
    ) -> Option<Result<Next<'_, Event<'_, Value>>, ReadError>> {
        if reader.is_keyed() {
            let next = reader.next_keyed_exchange()?;
            return Some(next.map(|one| Next {
                key: Some((one.key.index(), one.name)),
                location: one.location,
                event: one.event,
            }));
        }
        let next = reader.next_exchange()?;
        Some(next.map(|(location, event)| Next { key: None, location, event }))
    }

    fn for_each(batch: &Batch, mut take: impl FnMut(Key, Location, &Event<'_, Value>)) {
        for ((location, event), key) in batch.located_exchanges().zip(batch.keys()) {
            take(*key, *location, &event);
        }
    }

    fn refused(location: Location, error: ExchangeError, excerpt: Option<Excerpt>) -> InputError {
        InputError::of_exchange(location, error, excerpt)
    }
}
