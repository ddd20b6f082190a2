//! The atomic snapshot as a specification of sequences of events.
//!
//! An atomic snapshot takes effect at one instant within each operation. Its states, the
//! *configurations*, consist of the contents of the segments and, per open operation, whether it
//! has taken effect; for a scan, with the values seen. Taking effect is invisible, so the
//! specification is nondeterministic; its subset construction (`subsets`) is deterministic. It is
//! independent of simple histories and observers: it allows any values and any number of
//! operations.
//!
//! **Linearization points.** An operation with linearization points in the text takes effect there,
//! and nowhere else: [`Letter::Point`] is that event. If all operations have points, each set has
//! one configuration, and the only check is to compare the result of a scan with the values at its
//! point. This is the specification of Theorem 2 of the FM 2009 paper, except for the time of the
//! comparison. The paper's linearization event carries the response, so the result of an operation
//! must be known there. Here the result may become known later, so that a scan may take effect
//! before it knows that it succeeded. For the same reason a scan may pass points more than once, as
//! in a loop: it takes effect at the last one, since it changes nothing. An update must pass
//! exactly one point, since others may have seen it.

use std::mem::size_of;

use snapshot_core::Process;

use super::subsets::{Automaton, Letter, LetterId, Pointed, Possibilities, Subsets};
use crate::interpret::{Action, Event, Fault, value_found, value_renamed};
use crate::program::linearization::Points;

/// Reason why operations do not take effect at their linearization points.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Misplacement {
    /// An update passes a second point.
    Twice(Process),
    /// An operation passes no point.
    Never(Process),
    /// The result of a scan differs from the segments at its point.
    Differs {
        /// Process of the scan.
        process: Process,
        /// Contents at the point, per segment.
        held: Vec<u32>,
        /// Result of the scan.
        returned: Vec<u32>,
    },
    /// Updates take effect at their points, scans anywhere; but the segments never had these
    /// contents while the scan was open.
    Unseen {
        /// Process of the scan.
        process: Process,
        /// Result of the scan.
        returned: Vec<u32>,
    },
    /// An operation of an object that the text declares passes no point, or its result is
    /// impossible at all points that it passes.
    Elsewhere(Process),
}

/// A possible state of the snapshot after the events so far.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Configuration {
    segments: Vec<u32>,
    open: Vec<Open>,
}

/// The open operation of a process.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Open {
    Nothing,
    /// An update that has not taken effect.
    Update(u32),
    /// An update that has taken effect.
    Updated,
    /// A scan that has not taken effect.
    Scan,
    /// A scan that has taken effect, and saw these values.
    Scanned(Vec<u32>),
}

/// Subset construction of the atomic snapshot's configurations.
pub type SnapshotSpecification = Subsets<AtomicSnapshot>;

/// The atomic snapshot of n segments that all hold 0, process k writing segment k.
#[derive(Clone, Copy, Debug)]
pub struct AtomicSnapshot {
    n: usize,
    points: Points,
}

impl AtomicSnapshot {
    /// Creates the snapshot of n segments; operations with points take effect there.
    pub const fn new(n: usize, points: Points) -> Self {
        Self { n, points }
    }
}

impl SnapshotSpecification {
    /// Creates the specification of a snapshot of n segments that all hold 0, process k writing
    /// segment k. Operations take effect anywhere.
    pub fn new(n: usize) -> Self {
        Self::with_points(n, Points::NONE)
    }

    /// Creates the specification in which operations with linearization points take effect there.
    pub fn with_points(n: usize, points: Points) -> Self {
        Self::of(AtomicSnapshot::new(n, points))
    }

    /// Returns true if some operations take effect at linearization points.
    pub const fn has_points(&self) -> bool {
        self.automaton.points.any()
    }

    /// Returns the reason why a letter has no successor.
    ///
    /// # Panics
    /// As [`Self::successor`].
    pub fn why(&self, before: Possibilities, letter: LetterId) -> Misplacement {
        let (process, returned) = match self.letter_itself(letter) {
            Letter::Point(process) => return Misplacement::Twice(*process),
            Letter::Event(Event { process, action: Action::RespondScan(returned) }) => {
                (*process, returned.clone())
            }
            Letter::Event(Event { process, .. }) | Letter::Past(process) => {
                return Misplacement::Never(*process);
            }
        };
        let held = self.configurations(before).find_map(|one| match &one.open[process.index()] {
            Open::Scanned(held) => Some(held.clone()),
            _ => None,
        });
        match held {
            _ if !self.automaton.points.scans => Misplacement::Unseen { process, returned },
            Some(held) => Misplacement::Differs { process, held, returned },
            None => Misplacement::Never(process),
        }
    }
}

impl Automaton for AtomicSnapshot {
    type Configuration = Configuration;

    fn processes(&self) -> usize {
        self.n
    }

    fn initial(&self) -> Configuration {
        Configuration { segments: vec![0; self.n], open: vec![Open::Nothing; self.n] }
    }

    fn after(&self, one: &Configuration, event: &Event) -> Option<Configuration> {
        one.after(event)
    }

    fn take_effect(
        &self,
        one: &Configuration,
        reach: &mut dyn FnMut(Configuration),
    ) -> Result<(), Fault> {
        for (process, open) in one.open.iter().enumerate() {
            let is_free = match open {
                Open::Update(_) => !self.points.updates,
                Open::Scan => !self.points.scans,
                Open::Nothing | Open::Updated | Open::Scanned(_) => false,
            };
            if is_free {
                one.taking_effect(process).into_iter().for_each(&mut *reach);
            }
        }
        Ok(())
    }

    fn may_change(&self, one: &Configuration, process: Process) -> bool {
        matches!(one.open[process.index()], Open::Update(_))
    }

    fn has_taken_effect(&self, one: &Configuration, process: Process) -> bool {
        matches!(one.open[process.index()], Open::Updated | Open::Scanned(_))
    }

    fn values(&self, one: &Configuration, found: &mut Vec<u32>) {
        one.segments.iter().for_each(|value| value_found(*value, found));
        for open in &one.open {
            match open {
                Open::Update(value) => value_found(*value, found),
                Open::Scanned(seen) => seen.iter().for_each(|value| value_found(*value, found)),
                Open::Nothing | Open::Updated | Open::Scan => {}
            }
        }
    }

    fn renamed(&self, one: &Configuration, rename: &mut dyn FnMut(u32) -> u32) -> Configuration {
        let mut all = |values: &[u32]| -> Vec<u32> {
            values.iter().map(|value| value_renamed(*value, rename)).collect()
        };
        let segments = all(&one.segments);
        let open = one.open.iter().map(|open| match open {
            Open::Update(value) => Open::Update(all(&[*value])[0]),
            Open::Scanned(seen) => Open::Scanned(all(seen)),
            open => open.clone(),
        });
        let open = open.collect();
        Configuration { segments, open }
    }

    fn size(&self, one: &Configuration) -> usize {
        one.size()
    }
}

impl Pointed for AtomicSnapshot {
    fn at_point(
        &self,
        one: &Configuration,
        process: Process,
        reach: &mut dyn FnMut(Configuration),
    ) -> Result<(), Fault> {
        one.at_point(process.index()).into_iter().for_each(reach);
        Ok(())
    }

    fn may_be_past(&self, _: &Configuration, _: Process) -> bool {
        true
    }
}

impl Configuration {
    /// Returns the configuration after an event, if the event is possible here.
    fn after(&self, Event { process, action }: &Event) -> Option<Self> {
        let process = process.index();
        let open = match (&self.open[process], action) {
            (Open::Nothing, Action::InvokeUpdate(value)) => Open::Update(*value),
            (Open::Nothing, Action::InvokeScan) => Open::Scan,
            (Open::Updated, Action::RespondUpdate) => Open::Nothing,
            (Open::Scanned(seen), Action::RespondScan(values)) if seen == values => Open::Nothing,
            (Open::Update(_), Action::RespondUpdate)
            | (Open::Scan | Open::Scanned(_), Action::RespondScan(_)) => return None,
            (open, action) => {
                panic!("no history of a snapshot has `{action}` where a process is in {open:?}")
            }
        };
        let mut after = self.clone();
        after.open[process] = open;
        Some(after)
    }

    /// Returns the configuration with the open operation of a process at its linearization point.
    fn at_point(&self, process: usize) -> Option<Self> {
        match &self.open[process] {
            Open::Scanned(_) => {
                let mut again = self.clone();
                again.open[process] = Open::Scan;
                again.taking_effect(process)
            }
            Open::Update(_) | Open::Scan => self.taking_effect(process),
            Open::Updated => None,
            Open::Nothing => panic!("process {process} is at a point of no operation"),
        }
    }

    /// Lets the open operation of a process take effect now, if it has not yet.
    fn taking_effect(&self, process: usize) -> Option<Self> {
        let mut after = self.clone();
        after.open[process] = match self.open[process] {
            Open::Update(value) => {
                after.segments[process] = value;
                Open::Updated
            }
            Open::Scan => Open::Scanned(self.segments.clone()),
            Open::Nothing | Open::Updated | Open::Scanned(_) => return None,
        };
        Some(after)
    }

    /// Approximate memory use in bytes, with its slots in tables.
    fn size(&self) -> usize {
        let n = self.segments.len();
        let seen = self.open.iter().filter(|open| matches!(open, Open::Scanned(_))).count();
        let own = size_of::<Self>() + n * size_of::<Open>() + (1 + seen) * n * size_of::<u32>();
        own + size_of::<[usize; 8]>()
    }
}
