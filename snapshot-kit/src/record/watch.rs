//! A recording that is judged while it is made.
//!
//! One lock orders the events, and each passes the monitor before the lock is released: nothing is
//! recorded after the first violation. As with [`Clock::Ticket`](crate::Clock::Ticket), the order
//! is sound, and threads are kept in step.

use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use snapshot_core::history::{Declaration, Event, HistoryBuilder};
use snapshot_core::monitor::{Judgement, Monitor};
use snapshot_core::{History, Process, Segment};

use super::log::Mark;
use super::{RecordError, lock};

/// Judges an event; returns `true` if it completes a violation.
type Judge<V> = Box<dyn FnMut(&Event<'_, V>) -> bool + Send>;

/// The recording so far.
pub(super) struct Watched<V> {
    history: HistoryBuilder<V>,
    judge: Judge<V>,
    /// Violation of the rules of histories by the events.
    error: Option<RecordError>,
}

/// Recorder of the events of all processes.
pub(super) struct Watch<V> {
    watched: Mutex<Watched<V>>,
    is_stopped: AtomicBool,
}

impl<V> std::fmt::Debug for Watch<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("is_stopped", &self.is_stopped).finish_non_exhaustive()
    }
}

impl<V: Clone> Watch<V> {
    pub(super) fn new(declaration: &Declaration<V>) -> Result<Arc<Self>, RecordError>
    where
        V: Eq + Hash + Send + 'static,
    {
        let mut monitor = Monitor::new(declaration.clone())?;
        let judge = Box::new(move |event: &Event<'_, V>| {
            matches!(monitor.observe(event), Ok(Judgement::Violation(_)))
        });
        let history = History::builder(declaration.clone())?;
        let watched = Mutex::new(Watched { history, judge, error: None });
        Ok(Arc::new(Self { watched, is_stopped: AtomicBool::new(false) }))
    }

    pub(super) fn observe(
        &self,
        process: Process,
        mark: Mark,
        values: &[V],
        entries: &[(Segment, V)],
    ) {
        let mut watched = lock(&self.watched);
        if self.is_stopped() {
            return;
        }
        let event = Event { process, action: mark.action(values, entries) };
        let pushed = watched.history.push(&event);
        let is_over = match pushed {
            Ok(()) => (watched.judge)(&event),
            Err(error) => {
                watched.error = Some(error.into());
                true
            }
        };
        if is_over {
            self.is_stopped.store(true, Ordering::Release);
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    pub(super) fn history(&self) -> Result<History<V>, RecordError> {
        let watched = lock(&self.watched);
        match &watched.error {
            Some(error) => Err(error.clone()),
            None => Ok(watched.history.clone().finish()),
        }
    }
}
