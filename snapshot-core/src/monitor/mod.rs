//! The online monitor: is the history so far linearizable?
//!
//! The conditions A to E of [`crate::linear`] are each decided at the moment when a scan responds,
//! so the alarm comes with the first event that makes the prefix non-linearizable. The monitor
//! keeps only state that an open scan can be compared with: for each segment, the updates that such
//! a scan may still return (`window`); and the vectors of complete scans from the largest one
//! before the oldest open scan on (`crate::chain`). So memory grows with the number of operations
//! concurrent with the oldest open scan, never with the length of the stream. (An update whose
//! outcome is unknown is concurrent with everything after it.)
//!
//! B and E together are one comparison: let t* be the latest instant among the
//! scan's invocation and the invocations of the updates that it saw; no update
//! after one that it saw may have responded before t*.
//!
//! Values may repeat, as long as each entry of each scan has one candidate among the updates that
//! can explain it. With several candidates, the judgement is [`Judgement::Undecided`]. Where
//! updates of one segment overlap, [`crate::saturation`] decides, in a stream that declares
//! [`Writers::Many`] (`overlap.rs`).

mod alarm;
mod events;
mod evidence;
mod narrow;
mod overlap;
mod scans;
mod translation;
mod window;

pub use alarm::{Alarm, Undecided, Violation};

use std::collections::VecDeque;
use std::hash::Hash;

use self::evidence::id;
use self::overlap::Overlap;
use self::window::{Instant, Window};
use crate::chain::Chain;
use crate::history::{Action, Admission, Declaration, Event, HistoryError, Writers};
use crate::sights::Sights;
use crate::verdict::Cause;
use crate::{Process, Segment};

/// Up to this many started scans and vectors, besides short windows, are never forgotten.
const MIN_RETAINED: usize = 24;

/// The judgement after an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Judgement {
    /// The history so far is linearizable.
    Linearizable,
    /// The history so far is not linearizable; its continuations are not, either.
    Violation(Alarm),
    /// The certain facts did not decide some event.
    Undecided(Undecided),
}

/// The open operation of a process.
#[derive(Clone, Copy, Debug)]
enum Open {
    Nothing,
    Update { operation: u64, segment: u32 },
    Scan { operation: u64, invocation: Instant, floor: u64 },
}

/// Judges a stream of events as they happen.
///
/// Cost: O(1) per event, O(segments) per response of a scan. With [`Writers::Many`], plus the cost
/// of [`crate::saturation::Saturation`].
///
/// ```
/// use snapshot_core::history::{Declaration, Event};
/// use snapshot_core::monitor::{Judgement, Monitor};
/// use snapshot_core::{Process, Segment};
///
/// let (writer, reader) = (Process::from_index(0), Process::from_index(1));
/// let mut monitor = Monitor::new(Declaration::new(0).with_segments(2)).unwrap();
/// monitor.observe(&Event::invoke_update(writer, Segment::from_index(0), &7)).unwrap();
/// monitor.observe(&Event::respond_update(writer)).unwrap();
/// monitor.observe(&Event::invoke_scan(reader)).unwrap();
/// // The update is over, and yet the scan does not see it:
/// let judgement = monitor.observe(&Event::respond_scan(reader, &[0, 0])).unwrap();
/// assert!(matches!(judgement, Judgement::Violation(alarm) if alarm.event == 3));
/// ```
#[derive(Clone, Debug)]
pub struct Monitor<V> {
    declaration: Declaration<V>,
    admission: Admission,
    judgement: Judgement,
    windows: Vec<Window<V>>,
    chain: Chain,
    open: Vec<Open>,
    /// Processes that began scans, oldest first, with the scans' invocations. Ended scans are
    /// skipped when they reach the front, and removed when most have ended: at most [`MIN_RETAINED`] more
    /// than two per open operation.
    scanning: VecDeque<(Process, Instant)>,
    operations: u64,
    without_outcome: u64,
    failed: u64,
    /// The vector of the scan that responds.
    vector: Vec<u64>,
    /// Judges streams in which updates of one segment overlap.
    overlap: Option<Box<Overlap<V>>>,
    /// The updates that scans read, if they are wanted.
    sights: Option<Box<Sights>>,
}

impl<V: Clone + Eq + Hash> Monitor<V> {
    /// Creates a monitor before the first event.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    pub fn new(declaration: Declaration<V>) -> Result<Self, HistoryError> {
        let overlaps = declaration.writers == Writers::Many;
        let overlap = overlaps.then(|| Box::new(Overlap::new(declaration.clone())));
        Ok(Self { overlap, ..Self::linear(declaration)? })
    }

    /// As [`Self::new`], but judges by the linear-time conditions alone: undecided as
    /// soon as updates of one segment overlap.
    ///
    /// # Errors
    /// If the declaration contradicts itself.
    pub fn linear(declaration: Declaration<V>) -> Result<Self, HistoryError> {
        Ok(Self {
            admission: Admission::new(&declaration)?,
            declaration,
            judgement: Judgement::Linearizable,
            windows: Vec::new(),
            chain: Chain::default(),
            open: Vec::new(),
            scanning: VecDeque::new(),
            operations: 0,
            without_outcome: 0,
            failed: 0,
            vector: Vec::new(),
            overlap: None,
            sights: None,
        })
    }

    /// Keeps the updates that scans read, from now on.
    pub(crate) fn keep(&mut self, sights: Sights) {
        self.sights = Some(Box::new(sights));
    }

    /// Returns the updates that scans read, if they were kept.
    pub(crate) fn into_sights(self) -> Option<Sights> {
        self.sights.map(|sights| *sights)
    }

    /// The judgement so far.
    #[inline]
    pub fn judgement(&self) -> Judgement {
        match &self.overlap {
            None => self.judgement,
            Some(overlap) => overlap.judgement(self.judgement),
        }
    }

    /// Returns true if every prefix that ends before the event of a violation is known to be
    /// linearizable. Not so where values repeat or scans are partial, and updates overlap.
    pub fn is_first(&self) -> bool {
        match (&self.overlap, self.judgement) {
            (Some(overlap), Judgement::Undecided(_)) => overlap.is_first(),
            _ => true,
        }
    }

    /// Number of events so far.
    pub const fn events(&self) -> usize {
        self.admission.events()
    }

    /// Number of operations invoked so far.
    pub const fn operations(&self) -> u64 {
        self.operations
    }

    /// Number of operations that neither responded nor failed so far.
    pub const fn pending(&self) -> u64 {
        self.admission.open() as u64 + self.without_outcome
    }

    /// Number of operations that certainly had no effect.
    pub const fn failed(&self) -> u64 {
        self.failed
    }

    /// Number of segments as known so far.
    pub fn segments(&self) -> usize {
        self.admission.segments()
    }

    /// Number of processes: as declared, else the largest index that occurred, plus 1.
    pub fn processes(&self) -> usize {
        self.admission.processes()
    }

    /// Returns true if all operations have ended, the history is linearizable, and updates of each
    /// segment did not overlap. Then each segment has the value of its last update, in every
    /// linearization.
    pub fn is_quiescent(&self) -> bool {
        self.judgement == Judgement::Linearizable && self.pending() == 0
    }

    /// Returns the declaration of a history that continues here, if this one [is at
    /// rest](Self::is_quiescent): the continuation is linearizable by itself iff the whole is.
    /// O(segments).
    pub fn continuation(&self) -> Option<Declaration<V>> {
        if !self.is_quiescent() {
            return None;
        }
        let mut declaration = self.declaration.clone();
        for (segment, window) in self.windows.iter().enumerate() {
            let value = window.last_value().clone();
            match declaration.initial.get_mut(segment) {
                Some(initial) => *initial = value,
                None => declaration.initial.push(value),
            }
        }
        Some(declaration)
    }

    /// Number of updates and scans kept for comparison.
    pub fn retained(&self) -> usize {
        let overlap = self.overlap.as_ref().map_or(0, |overlap| overlap.retained());
        overlap
            + self.windows.iter().map(Window::len).sum::<usize>()
            + self.chain.len()
            + self.scanning.len()
    }

    /// Takes the next event. After a violation, or once undecided, events are still admitted and
    /// counted, and the judgement stays; but with [`Writers::Many`], certain facts may still turn
    /// an undecided judgement into a violation.
    ///
    /// # Errors
    /// If no history can have this event here; the event then changes nothing.
    #[inline]
    pub fn observe(&mut self, event: &Event<'_, V>) -> Result<Judgement, HistoryError> {
        let judgement = self.observe_linearly(event)?;
        match &mut self.overlap {
            None => Ok(judgement),
            Some(overlap) => Ok(overlap.observe(judgement, event)),
        }
    }

    #[inline]
    fn observe_linearly(&mut self, event: &Event<'_, V>) -> Result<Judgement, HistoryError> {
        let process = event.process;
        if self.judgement != Judgement::Linearizable {
            self.admission.admit(event)?;
            self.count(event);
            return Ok(self.judgement);
        }
        match event.action {
            Action::InvokeUpdate { segment, value } => {
                self.take_invocation_of_update(process, segment, value)?;
            }
            Action::InvokeScan => self.take_invocation_of_scan(process)?,
            Action::RespondUpdate => self.take_response_of_update(process)?,
            Action::RespondScan { values } => self.take_response_of_scan(process, values)?,
            Action::RespondPartialScan { entries, .. } => {
                let now = self.now();
                self.admission.admit(event)?;
                self.end_partial_scan(process, entries, now);
            }
            Action::Fail => {
                let now = self.now();
                self.admission.give_up(process)?;
                self.fail(process, now);
            }
            Action::Unknown => {
                self.admission.give_up(process)?;
                self.without_outcome += 1;
                if let Open::Update { operation, segment } = self.close(process) {
                    self.windows[segment as usize].give_up(operation);
                }
            }
        }
        Ok(self.judgement)
    }

    #[cold]
    fn fail(&mut self, process: Process, now: Instant) {
        self.failed += 1;
        if let Open::Update { operation, segment } = self.close(process)
            && let Some(scan) = self.windows[segment as usize].fail(operation)
        {
            let segment = Segment::from_index(segment as usize);
            let (scan, update) = (id(scan), id(operation));
            self.alarm(now, Violation::FailedUpdateSeen { scan, update, segment });
        }
    }

    /// Updates the counts that continue after the judgement is final.
    #[cold]
    fn count(&mut self, event: &Event<'_, V>) {
        match event.action {
            Action::InvokeUpdate { .. } | Action::InvokeScan => self.operations += 1,
            Action::Fail => self.failed += 1,
            Action::Unknown => self.without_outcome += 1,
            Action::RespondUpdate
            | Action::RespondScan { .. }
            | Action::RespondPartialScan { .. } => {}
        }
    }

    /// The conditions apply only to vectors without gaps.
    #[cold]
    fn end_partial_scan(&mut self, process: Process, entries: &[(Segment, V)], now: Instant) {
        let Open::Scan { operation, invocation, floor } = self.close(process) else { return };
        if self.admission.settled_segments() == Some(entries.len()) {
            let values: Vec<V> = entries.iter().map(|entry| entry.1.clone()).collect();
            self.end_scan(&values, operation, invocation, floor, now);
        } else {
            self.undecided(now, Cause::PartialScan { scan: id(operation) });
        }
    }

    #[inline]
    fn close(&mut self, process: Process) -> Open {
        std::mem::replace(&mut self.open[process.index()], Open::Nothing)
    }

    #[cold]
    fn alarm(&mut self, now: Instant, violation: Violation) {
        self.judgement = Judgement::Violation(Alarm { event: now as usize - 1, violation });
    }

    #[cold]
    fn undecided(&mut self, now: Instant, cause: Cause) {
        self.judgement = Judgement::Undecided(Undecided { event: now as usize - 1, cause });
    }

    /// Records the open operation of a process.
    #[inline]
    fn open(&mut self, process: Process, operation: Open) {
        if process.index() >= self.open.len() {
            self.open.resize(process.index() + 1, Open::Nothing);
        }
        self.open[process.index()] = operation;
    }

    #[inline]
    fn begin_scan(&mut self, process: Process, now: Instant) {
        let operation = self.operations;
        self.operations += 1;
        let floor = self.chain.floor();
        self.open(process, Open::Scan { operation, invocation: now, floor });
        if self.scanning.len() > MIN_RETAINED + 2 * self.admission.open() {
            self.forget_ended_scans();
        }
        self.scanning.push_back((process, now));
    }

    /// Forgets all ended scans: scans that fail, or whose outcome is lost, may be many while no
    /// scan responds. O(1) amortised, since at least as many scans are forgotten as are kept.
    #[cold]
    fn forget_ended_scans(&mut self) {
        let open = &self.open;
        self.scanning.retain(|&(process, begun)| {
            matches!(open[process.index()], Open::Scan { invocation, .. } if invocation == begun)
        });
    }

    #[inline]
    fn begin_update(&mut self, process: Process, segment: Segment, value: &V, now: Instant) {
        let operation = self.operations;
        self.operations += 1;
        self.grow(segment.index() + 1);
        self.windows[segment.index()].begin(operation, value, now);
        if self.windows[segment.index()].is_long() {
            let oldest = self.oldest_open_scan().map_or(now, |(invocation, _)| invocation);
            self.windows[segment.index()].forget_before(oldest);
        }
        self.open(process, Open::Update { operation, segment: segment.index() as u32 });
    }

    /// Adds windows up to at least this many segments.
    #[inline]
    fn grow(&mut self, segments: usize) {
        if self.windows.is_empty() {
            // Most of many monitors have few segments.
            self.windows.reserve_exact(segments);
        }
        for segment in self.windows.len()..segments {
            self.windows.push(Window::new(self.declaration.initial_value(segment).clone()));
        }
    }

    /// Returns the invocation and floor of the oldest open scan.
    #[inline]
    fn oldest_open_scan(&mut self) -> Option<(Instant, u64)> {
        while let Some(&(process, begun)) = self.scanning.front() {
            if let Open::Scan { invocation, floor, .. } = self.open[process.index()]
                && invocation == begun
            {
                return Some((invocation, floor));
            }
            self.scanning.pop_front();
        }
        None
    }
}
