//! A long file, divided among threads.
//!
//! All threads read text without keys in pieces ([`cooperation`]); one reads other recordings ahead
//! of another, in batches ([`ahead`]). Either way one thread at a time judges, event after
//! event. Rarely needed details are found by reading the file again: the position of an event, the
//! error of a line, a refused event's line and the earlier event that it contradicts.

use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread;

use snapshot_core::history::HistoryError;
use snapshot_core::monitor::{self, Monitor};
use snapshot_core::observer::Observation;

use super::super::Options;
use super::super::ahead::{Batches, read_ahead};
use super::super::cooperation::{self, MOST_THREADS};
use super::super::reading::FirstReading as _;
use super::{Reading, locate};
use crate::Value;
use crate::error::InputError;
use crate::format::{Batch, Irregular, Location, PIECE_SIZE, Pieces, integer};
use crate::input::{InputReader, Replay};
use crate::origins::Origins;

/// The way of reading a long file, which does not influence the answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    /// This many events are read one by one: for fewer, threads would cost more than they save.
    pub first: usize,
    /// Number of threads for the other events.
    pub threads: usize,
    /// Bytes that a thread reads at a time.
    pub size: usize,
}

impl Division {
    pub fn usual() -> Self {
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self { first: 1 << 14, threads: threads.min(MOST_THREADS), size: PIECE_SIZE }
    }
}

impl Reading {
    /// Takes all remaining events of `reader`; false if none, for lack of threads.
    pub(super) fn read_with_threads(
        &mut self,
        reader: &mut InputReader,
        replay: &Replay,
        options: &Options,
        division: Division,
    ) -> bool {
        if let Some(pieces) = reader.pieces() {
            let pieces = pieces.of_size(division.size);
            self.read_pieces(pieces, division.threads, replay, options);
            return true;
        }

        let judge = |batches: Batches| {
            for batch in batches {
                for (location, event) in batch.located_events() {
                    if self.take(*location, &event, options)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Ok(ControlFlow::Continue(()))
        };
        let Some((mut judged, unread)) = read_ahead(reader, vec![judge]) else { return false };
        self.error = match judged.pop() {
            Some(Err(error)) => Some(refusal(replay, error)),
            Some(Ok(ControlFlow::Break(()))) | None => None,
            Some(Ok(ControlFlow::Continue(()))) => unread.map(InputError::from),
        };
        true
    }

    /// As [`Self::read_with_threads`], for a recording that can be cut into pieces. Positions, and
    /// the error of a line, are found by reading it again.
    fn read_pieces(
        &mut self,
        pieces: Pieces<'_>,
        threads: usize,
        replay: &Replay,
        options: &Options,
    ) {
        let mut refused = None;
        let mut integers = Integers::Unknown;
        let irregular = cooperation::for_each_piece(pieces, threads, |batch| {
            self.take_all(batch, &mut integers, options).unwrap_or_else(|error| {
                refused = Some(error);
                ControlFlow::Break(())
            })
        });
        self.end_integers(&mut integers);
        self.error = match (refused, irregular) {
            (Some(error), _) => Some(refusal(replay, error)),
            (None, Some(irregular)) => Some(defect(replay, irregular)),
            (None, None) => None,
        };
        if let monitor::Judgement::Violation(alarm) = self.monitor.judgement() {
            self.decided = place(replay, alarm.event);
        }
        if let Some((event, at, _)) = &mut self.conflict {
            *at = place(replay, *event).unwrap_or(*at);
        }
    }

    /// Lets the monitor of the reading judge from here on.
    fn end_integers(&mut self, integers: &mut Integers) {
        if let Integers::Judged(monitor) = integers {
            let monitor = monitor.translated(|integer| Some(Value::Integer(*integer)));
            self.monitor = monitor.expect("integers are values, and no relation is kept");
            *integers = Integers::Others;
        }
    }

    /// Takes the events of a piece, whose positions are unknown.
    fn take_all(
        &mut self,
        batch: &mut Batch,
        integers: &mut Integers,
        options: &Options,
    ) -> Result<ControlFlow<()>, HistoryError> {
        let is_plain = self.observer.observation() == Observation::NotSimple
            && self.saturation.is_none()
            && self.monitor.judgement() == monitor::Judgement::Linearizable;
        let mut observed = 0;
        if is_plain && batch.are_integers() {
            if let Integers::Unknown = integers {
                let monitor = self.monitor.translated(integer).map(Box::new);
                *integers = monitor.map_or(Integers::Others, Integers::Judged);
            }
            if let Integers::Judged(monitor) = integers {
                observed = batch.observe_integers(monitor)?;
                if observed == batch.len()
                    && monitor.judgement() == monitor::Judgement::Linearizable
                {
                    return Ok(ControlFlow::Continue(()));
                }
            }
        }
        self.end_integers(integers);
        batch.expand();
        if is_plain && observed == 0 {
            observed = batch.observe(&mut self.monitor)?;
        }
        if options.live && matches!(self.monitor.judgement(), monitor::Judgement::Violation(_)) {
            return Ok(ControlFlow::Break(()));
        }
        if observed == batch.len() {
            return Ok(ControlFlow::Continue(()));
        }
        for event in batch.events().skip(observed) {
            if self.take(Location::START, &event, options)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The judge of a recording whose values are integers, which are compared faster than other values.
enum Integers {
    /// All values may be integers.
    Unknown,
    /// All values so far are integers: this stands for the monitor of the reading.
    Judged(Box<Monitor<i64>>),
    /// There are other values, or the monitor of the reading judges.
    Others,
}

/// Returns the position of an event; `None` if the input cannot be read again so far.
fn place(replay: &Replay, event: usize) -> Option<Location> {
    locate(replay, &[event]).ok()?.first().map(|(_, location)| *location)
}

/// Returns the error for a malformed line, found by reading up to it again.
fn defect(replay: &Replay, irregular: Irregular) -> InputError {
    let unread = replay.open().ok().and_then(|mut reader| {
        loop {
            if let Err(error) = reader.next_event()? {
                return Some(InputError::from(error));
            }
        }
    });
    unread.unwrap_or_else(|| {
        InputError::io(match irregular {
            Irregular::Io(error) => error,
            Irregular::Line => io::Error::other("the input has changed while it was read"),
        })
    })
}

/// Returns the error for an event that was refused: reads up to it again, to show its line and to
/// name the earlier event that it contradicts.
fn refusal(replay: &Replay, error: HistoryError) -> InputError {
    let mut origins = Origins::default();
    let (mut location, mut excerpt) = (Location::START, None);
    if let Ok(mut reader) = replay.open() {
        for _ in 0..error.event {
            let Some(Ok((at, event))) = reader.next_event() else { break };
            origins.note(at, &event);
        }
        if let Some(Ok((at, _))) = reader.next_event() {
            location = at;
            excerpt = reader.excerpt();
        }
    }
    origins.refused(location, error, excerpt)
}
