//! The atomic snapshot as a specification: which events may follow which.
//!
//! An atomic snapshot takes effect at one instant within each operation. Its
//! states - *configurations* - are what the segments hold and, per open
//! operation, whether it has taken effect, a scan with what it saw. Taking
//! effect is invisible, so the specification is nondeterministic; its subset
//! construction (`subsets`) is not. It knows nothing of simple histories or observers: any
//! values, any number of operations.
//!
//! **Linearization points.** Operations of which the text says where they take
//! effect do so there, and nowhere else: [`Letter::Point`] is that event. If that
//! is said of all operations, sets have one configuration each, and all checking
//! is done where what a scan returns is compared with what it saw at its point:
//! that is the specification of Theorem 2 of the FM 2009 paper, but for when it
//! compares. The paper's linearization event carries the response, so what an
//! operation is going to return must be known there; here it may be known later,
//! so that a scan may take effect before it knows that it succeeded. For the same
//! reason a scan may pass points more than once, as in a loop: it takes effect at
//! the last one, as it changes nothing. An update may not, for others may have
//! seen it: it must pass exactly one.

use std::mem::size_of;

use snapshot_core::Process;

use super::subsets::{Automaton, Letter, LetterId, Possibilities, Subsets};
use crate::interpret::{Action, Event, Fault};
use crate::program::linearization::Points;

/// Why operations do not take effect at their linearization points.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Misplacement {
    /// An update passes a second one.
    Twice(Process),
    /// An operation passes none.
    Never(Process),
    /// A scan returns something else than what the segments held at its point.
    Differs {
        /// The process of the scan.
        process: Process,
        /// What they held, per segment.
        held: Vec<u32>,
        /// What it returns.
        returned: Vec<u32>,
    },
    /// Updates take effect at their points, scans anywhere; but the segments never
    /// held this while the scan was open.
    Unseen {
        /// The process of the scan.
        process: Process,
        /// What it returns.
        returned: Vec<u32>,
    },
    /// An operation of an object that the text declares could not have returned what it returns
    /// at any point that it passed; or it passed none.
    Elsewhere(Process),
}

/// One of the ways in which the events so far may have come about.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Configuration {
    segments: Vec<u32>,
    open: Vec<Open>,
}

/// The open operation of a process.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Open {
    Nothing,
    /// It has not taken effect.
    Update(u32),
    /// It has.
    Updated,
    /// It has not taken effect.
    Scan,
    /// It has, and saw these.
    Scanned(Vec<u32>),
}

/// The atomic snapshot, as the set of all its configurations.
pub type SnapshotSpecification = Subsets<AtomicSnapshot>;

/// The atomic snapshot of n segments that all hold 0, process k writing segment k.
#[derive(Clone, Copy, Debug)]
pub struct AtomicSnapshot {
    n: usize,
    points: Points,
}

impl SnapshotSpecification {
    /// Of a snapshot of n segments that all hold 0, process k writing segment k.
    /// Operations take effect anywhere.
    pub fn new(n: usize) -> Self {
        Self::with_points(n, Points::NONE)
    }

    /// The same, but operations with linearization points take effect there.
    pub fn with_points(n: usize, points: Points) -> Self {
        Self::of(AtomicSnapshot { n, points })
    }

    /// Whether some operations take effect at linearization points.
    pub const fn has_points(&self) -> bool {
        self.automaton.points.any()
    }

    /// Why there is nothing after a letter.
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

    fn initial(&self) -> Configuration {
        Configuration { segments: vec![0; self.n], open: vec![Open::Nothing; self.n] }
    }

    fn after(&self, one: &Configuration, event: &Event) -> Option<Configuration> {
        one.after(event)
    }

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

    fn size(&self, one: &Configuration) -> usize {
        one.size()
    }
}

impl Configuration {
    /// After an event, if that is possible here.
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

    /// With the open operation of a process at its linearization point.
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

    /// With the open operation of a process taking effect now, if it has not yet.
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

    /// About how many bytes it takes, with its places in tables.
    fn size(&self) -> usize {
        let n = self.segments.len();
        let seen = self.open.iter().filter(|open| matches!(open, Open::Scanned(_))).count();
        let own = size_of::<Self>() + n * size_of::<Open>() + (1 + seen) * n * size_of::<u32>();
        own + size_of::<[usize; 8]>()
    }
}
