//! The earlier events that a refused one may contradict, in memory that does not grow with the
//! recording, so that a consumer which keeps no history can name them, too.

use snapshot_core::history::{Action, Event, HistoryError, HistoryErrorKind};

use crate::Value;
use crate::error::{InputError, InputErrorKind};
use crate::format::{Excerpt, Location};

/// Where those events are that a later one may contradict: the last invocation
/// of each process and the first update of each segment.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    last_invocation: Vec<Option<Location>>,
    first_update: Vec<Option<Location>>,
}

impl Origins {
    /// Remembers where an event was, after it has been admitted. O(1).
    #[inline]
    pub fn note(&mut self, location: Location, event: &Event<'_, Value>) {
        match event.action {
            Action::InvokeUpdate { segment, .. } => {
                *slot(&mut self.last_invocation, event.process.index()) = Some(location);
                slot(&mut self.first_update, segment.index()).get_or_insert(location);
            }
            Action::InvokeScan => {
                *slot(&mut self.last_invocation, event.process.index()) = Some(location);
            }
            _ => {}
        }
    }

    /// The error for an event that was refused at `location`; `excerpt` is
    /// [`Reader::excerpt`](crate::format::Reader::excerpt) of it.
    pub fn refused(
        &self,
        location: Location,
        error: HistoryError,
        excerpt: Option<Excerpt>,
    ) -> InputError {
        let earlier = match &error.kind {
            HistoryErrorKind::AlreadyOpen { process, .. }
            | HistoryErrorKind::WrongResponse { process, .. } => {
                self.last_invocation.get(process.index())
            }
            HistoryErrorKind::SecondWriter { segment, .. } => {
                self.first_update.get(segment.index())
            }
            _ => None,
        };
        let earlier = earlier.copied().flatten();
        let is_about_values = matches!(error.kind, HistoryErrorKind::WrongEntryCount { .. });
        let excerpt = if is_about_values { excerpt.map(Excerpt::on_values) } else { excerpt };
        let kind = InputErrorKind::Admission(error.kind);
        InputError::new(location, kind, excerpt, earlier)
    }
}

fn slot(slots: &mut Vec<Option<Location>>, index: usize) -> &mut Option<Location> {
    if index >= slots.len() {
        slots.resize(index + 1, None);
    }
    &mut slots[index]
}
