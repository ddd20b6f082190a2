//! The sequences of events that are histories.
//!
//! The builder of an in-memory history and the online monitor admit exactly the same sequences:
//! both pass every event through [`Admission`], which tracks open operations and refuses an event
//! that no history can have there. A refused event leaves no trace, so a caller may repair it and
//! continue.

use super::declaration::{Declaration, Writers};
use super::error::{HistoryError, HistoryErrorKind};
use super::event::{Action, Event};
use crate::{Process, Segment};

/// The open operation of a process, as far as admission needs it.
#[derive(Clone, Copy, Debug)]
struct Open {
    invocation: usize,
    is_scan: bool,
}

/// Tracks open operations, and refuses events that no history can have.
#[derive(Clone, Debug)]
pub struct Admission {
    open: Vec<Option<Open>>,
    /// First writer of each segment; empty when any process may write.
    writer: Vec<Option<Process>>,
    writers: Writers,
    declared_processes: Option<usize>,
    /// Once known, the number of segments never changes.
    segments: Option<usize>,
    segments_seen: usize,
    events: usize,
    open_count: usize,
}

impl Admission {
    /// Creates the admission of a recording with this declaration.
    ///
    /// # Errors
    /// If the declaration contradicts itself or exceeds the limits of
    /// [`Process`] or [`Segment`].
    pub fn new<V>(declaration: &Declaration<V>) -> Result<Self, HistoryError> {
        let refuse = |kind| Err(HistoryError { event: 0, kind });
        if let Some(segments) = declaration.segments {
            if segments == 0 || segments > Segment::LIMIT + 1 {
                let limit = Segment::LIMIT + 1;
                return refuse(HistoryErrorKind::BadSize {
                    what: "segments",
                    given: segments,
                    limit,
                });
            }
            if declaration.initial.len() > segments {
                let initial = declaration.initial.len();
                return refuse(HistoryErrorKind::TooManyInitialValues { initial, segments });
            }
        }
        if let Some(given) = declaration.processes
            && (given == 0 || given > Process::LIMIT + 1)
        {
            let limit = Process::LIMIT + 1;
            return refuse(HistoryErrorKind::BadSize { what: "processes", given, limit });
        }
        if declaration.initial.len() > Segment::LIMIT + 1 {
            let limit = Segment::LIMIT + 1;
            return refuse(HistoryErrorKind::BadSize {
                what: "segments",
                given: declaration.initial.len(),
                limit,
            });
        }
        Ok(Self {
            open: Vec::new(),
            writer: Vec::new(),
            writers: declaration.writers,
            declared_processes: declaration.processes,
            segments: declaration.segments,
            segments_seen: declaration.initial.len().max(1),
            events: 0,
            open_count: 0,
        })
    }

    /// Number of segments known so far.
    #[inline]
    pub fn segments(&self) -> usize {
        self.segments.unwrap_or(self.segments_seen)
    }

    /// Number of processes: as declared, else the largest index that occurred, plus 1.
    #[inline]
    pub fn processes(&self) -> usize {
        self.declared_processes.unwrap_or(self.open.len())
    }

    /// Number of events admitted.
    #[inline]
    pub const fn events(&self) -> usize {
        self.events
    }

    /// Number of operations that are open.
    #[inline]
    pub const fn open(&self) -> usize {
        self.open_count
    }

    /// Admits the next event, or returns the reason why no history can have it here. O(1).
    ///
    /// # Errors
    /// See [`HistoryErrorKind`]; the refused event changes nothing.
    #[inline]
    pub fn admit<V>(&mut self, event: &Event<'_, V>) -> Result<(), HistoryError> {
        let process = event.process;
        match event.action {
            Action::InvokeUpdate { segment, .. } => self.invoke_update(process, segment),
            Action::InvokeScan => self.invoke_scan(process),
            Action::RespondUpdate => self.respond_update(process),
            Action::RespondScan { values } => self.respond_scan(process, values.len()),
            Action::RespondPartialScan { segments, entries } => {
                let width = segments.map(|segments| segments.get() as usize);
                self.respond_partial_scan(process, width, entries.iter().map(|entry| entry.0))
            }
            Action::Fail | Action::Unknown => self.give_up(process),
        }
    }

    /// Returns the number of segments, if it is final.
    #[inline]
    pub const fn settled_segments(&self) -> Option<usize> {
        self.segments
    }

    /// As [`Self::admit`], for `inv update_segment(..)`.
    ///
    /// # Errors
    /// As [`Self::admit`].
    #[inline]
    pub fn invoke_update(
        &mut self,
        process: Process,
        segment: Segment,
    ) -> Result<(), HistoryError> {
        self.check_idle(process)?;
        let index = segment.index();
        if let Some(segments) = self.segments
            && index >= segments
        {
            return self.refuse(HistoryErrorKind::NoSuchSegment { segment, segments });
        }
        if self.writers == Writers::Single {
            if index >= self.writer.len() {
                self.writer.resize(index + 1, None);
            }
            match self.writer[index] {
                Some(writer) if writer != process => {
                    let kind = HistoryErrorKind::SecondWriter { segment, writer, process };
                    return self.refuse(kind);
                }
                Some(_) => {}
                None => self.writer[index] = Some(process),
            }
        }
        self.segments_seen = self.segments_seen.max(index + 1);
        self.begin(process, false);
        Ok(())
    }

    /// As [`Self::admit`], for `inv scan`.
    ///
    /// # Errors
    /// As [`Self::admit`].
    #[inline]
    pub fn invoke_scan(&mut self, process: Process) -> Result<(), HistoryError> {
        self.check_idle(process)?;
        self.begin(process, true);
        Ok(())
    }

    /// As [`Self::admit`], for `res update`.
    ///
    /// # Errors
    /// As [`Self::admit`].
    #[inline]
    pub fn respond_update(&mut self, process: Process) -> Result<(), HistoryError> {
        match self.open.get(process.index()) {
            Some(Some(open)) if !open.is_scan => {
                self.end(process);
                Ok(())
            }
            _ => self.refuse_response(process),
        }
    }

    /// As [`Self::admit`], for `res scan` with `entries` values.
    ///
    /// # Errors
    /// As [`Self::admit`].
    #[inline]
    pub fn respond_scan(&mut self, process: Process, entries: usize) -> Result<(), HistoryError> {
        match self.open.get(process.index()) {
            Some(Some(open)) if open.is_scan => {}
            _ => return self.refuse_response(process),
        }
        if self.segments != Some(entries) {
            self.settle_segments(process, entries)?;
        }
        self.end(process);
        Ok(())
    }

    /// As [`Self::admit`], for `res scan` of a partial scan; `width` is the number of segments, if
    /// the event contains it. O(entries).
    ///
    /// # Errors
    /// As [`Self::admit`].
    pub fn respond_partial_scan(
        &mut self,
        process: Process,
        width: Option<usize>,
        entries: impl Iterator<Item = Segment>,
    ) -> Result<(), HistoryError> {
        match self.open.get(process.index()) {
            Some(Some(open)) if open.is_scan => {}
            _ => return self.refuse_response(process),
        }
        let mut last: Option<Segment> = None;
        for segment in entries {
            if let Some(after) = last.filter(|after| *after >= segment) {
                return self.refuse(HistoryErrorKind::EntryOrder { process, segment, after });
            }
            last = Some(segment);
        }
        let needed = last.map_or(0, |segment| segment.index() + 1);
        if let (Some(segment), Some(segments)) = (last, self.segments.or(width))
            && needed > segments
        {
            return self.refuse(HistoryErrorKind::NoSuchSegment { segment, segments });
        }
        if let Some(width) = width.filter(|width| self.segments != Some(*width)) {
            self.settle_segments(process, width)?;
        }
        self.segments_seen = self.segments_seen.max(needed);
        self.end(process);
        Ok(())
    }

    /// As [`Self::admit`], for a failure or an unknown outcome.
    ///
    /// # Errors
    /// As [`Self::admit`].
    #[inline]
    pub fn give_up(&mut self, process: Process) -> Result<(), HistoryError> {
        match self.open.get(process.index()) {
            Some(Some(_)) => {
                self.end(process);
                Ok(())
            }
            _ => self.refuse_response(process),
        }
    }

    #[inline]
    fn check_idle(&mut self, process: Process) -> Result<(), HistoryError> {
        match self.open.get(process.index()) {
            Some(None) => Ok(()),
            Some(Some(open)) => {
                let invocation = open.invocation;
                self.refuse(HistoryErrorKind::AlreadyOpen { process, invocation })
            }
            None => self.add_process(process),
        }
    }

    #[cold]
    fn add_process(&mut self, process: Process) -> Result<(), HistoryError> {
        match self.declared_processes {
            Some(processes) if process.index() >= processes => {
                self.refuse(HistoryErrorKind::NoSuchProcess { process, processes })
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn begin(&mut self, process: Process, is_scan: bool) {
        let index = process.index();
        if index >= self.open.len() {
            self.open.resize(index + 1, None);
        }
        self.open[index] = Some(Open { invocation: self.events, is_scan });
        self.open_count += 1;
        self.events += 1;
    }

    #[inline]
    fn end(&mut self, process: Process) {
        self.open[process.index()] = None;
        self.open_count -= 1;
        self.events += 1;
    }

    /// Fixes the number of segments at the first full scan, unless declared.
    #[cold]
    fn settle_segments(&mut self, process: Process, found: usize) -> Result<(), HistoryError> {
        let expected = self.segments();
        if self.segments.is_some() || found < expected || found > Segment::LIMIT + 1 {
            return self.refuse(HistoryErrorKind::WrongEntryCount { process, expected, found });
        }
        self.segments = Some(found);
        Ok(())
    }

    #[cold]
    fn refuse(&self, kind: HistoryErrorKind) -> Result<(), HistoryError> {
        Err(HistoryError { event: self.events, kind })
    }

    /// Refuses the response of a process without an open operation, or with one of the other kind.
    #[cold]
    fn refuse_response(&self, process: Process) -> Result<(), HistoryError> {
        self.refuse(match (self.open.get(process.index()), self.declared_processes) {
            (Some(&Some(Open { is_scan, invocation })), _) => {
                HistoryErrorKind::WrongResponse { process, open_is_scan: is_scan, invocation }
            }
            (None, Some(processes)) if process.index() >= processes => {
                HistoryErrorKind::NoSuchProcess { process, processes }
            }
            _ => HistoryErrorKind::NothingOpen { process },
        })
    }
}
