//! One immediate snapshot of a recording that is judged while it is being made.

use snapshot_core::immediate::{Action, Event, ExchangeError, Judgement as Answer, Monitor};

use super::State;
use super::judge::{Judge, Kept, Past};
use crate::Value;
use crate::format::{Format, Location};
use crate::judge::{Judgement, Options, immediate};
use crate::kind::Immediate;

/// The judge of one immediate snapshot.
///
/// Its past is cut off where no operation is open and no outcome is unknown: every later operation
/// is in a later block than all earlier ones, and finds in the segments the values of the last
/// operations that did not fail.
pub struct Exchanges {
    past: Past,
    monitor: Monitor<Value>,
    /// The events since the cut, if few.
    kept: Kept<Immediate>,
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
    type Kind = Immediate;

    fn since(past: Past) -> Result<Self, ExchangeError> {
        let monitor = Monitor::new(past.declaration.clone())?;
        let kept = Kept::new(past.declaration.clone())?;
        let (open, values) = (Vec::new(), past.declaration.initial.clone());
        Ok(Self { past, monitor, kept, open, values })
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
        self.kept.push(location, event, self.past.most_kept)?;
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
            self.kept.restart(self.past.declaration.clone())?;
        }
        self.past.cut = at;
        Ok(State::Fine)
    }

    fn judgement(&self, format: Format, _: &Options) -> Option<Judgement> {
        let (history, locations) = self.kept.history()?;
        Some(immediate::judge_recording(format, history, locations.to_vec()))
    }
}
