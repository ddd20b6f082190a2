//! The atomic snapshot as a specification: which events may follow which.
//!
//! An atomic snapshot takes effect at one instant within each operation. Its
//! states - *configurations* - are what the segments hold and, per open
//! operation, whether it has taken effect, a scan with what it saw. Taking
//! effect is invisible, so the specification is nondeterministic; its subset
//! construction is not: after some events it is in the set of **all**
//! configurations that agree with them. A sequence of events is a linearizable
//! history iff that set is not empty.
//!
//! This is the normalisation of the specification that refinement checkers do
//! (Roscoe 1994; for linearizability: Liu, Chen, Liu and Sun, FM 2009), done on
//! the fly. It knows nothing of simple histories or observers: any values, any
//! number of operations.
//!
//! A set is *closed*: with a configuration it has those in which one more open
//! operation has taken effect. An invocation is followed by closing the set; a
//! response only removes configurations, of closed sets closed ones.
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
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_core::Process;

use crate::interpret::{Action, Event};
use crate::program::linearization::Points;

/// A set of configurations, by number. Equal sets have equal numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Possibilities(u32);

/// What the specification sees, by number. Equal letters have equal numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LetterId(u32);

/// What the specification sees.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Letter {
    /// An operation begins or ends.
    Event(Event),
    /// The open operation of a process takes effect, if it has linearization
    /// points.
    Point(Process),
}

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
}

/// One of the ways in which the events so far may have come about.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Configuration {
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

/// What a letter makes of a set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Successor {
    /// The set after it; `None` if no execution of the specification has the
    /// letter there.
    pub after: Option<Possibilities>,
    /// Whether all configurations of the set before can have the letter.
    pub keeps_all: bool,
}

/// The subset construction, as far as it was needed.
#[derive(Clone, Debug)]
pub struct SnapshotSpecification {
    points: Points,
    configurations: Vec<Rc<Configuration>>,
    configuration_numbers: FxHashMap<Rc<Configuration>, u32>,
    /// Each set ascending.
    sets: Vec<Rc<[u32]>>,
    set_numbers: FxHashMap<Rc<[u32]>, Possibilities>,
    letters: Vec<Rc<Letter>>,
    letter_numbers: FxHashMap<Rc<Letter>, LetterId>,
    successors: FxHashMap<(Possibilities, LetterId), Successor>,
    bytes: usize,
}

impl SnapshotSpecification {
    /// Of a snapshot of n segments that all hold 0, process k writing segment k.
    /// Operations take effect anywhere.
    pub fn new(n: usize) -> Self {
        Self::with_points(n, Points::NONE)
    }

    /// The same, but operations with linearization points take effect there.
    pub fn with_points(n: usize, points: Points) -> Self {
        let mut specification = Self {
            points,
            configurations: Vec::new(),
            configuration_numbers: FxHashMap::default(),
            sets: Vec::new(),
            set_numbers: FxHashMap::default(),
            letters: Vec::new(),
            letter_numbers: FxHashMap::default(),
            successors: FxHashMap::default(),
            bytes: 0,
        };
        let first = Configuration { segments: vec![0; n], open: vec![Open::Nothing; n] };
        let first = specification.configuration(first);
        specification.set(vec![first]);
        specification
    }

    /// Before any event.
    pub const fn initial(&self) -> Possibilities {
        Possibilities(0)
    }

    /// How many sets have occurred.
    pub const fn len(&self) -> usize {
        self.sets.len()
    }

    /// Never: there is the initial set.
    pub const fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let successor = size_of::<((Possibilities, LetterId), Successor)>() + 1;
        self.bytes + self.successors.capacity() * successor
    }

    /// A letter's number.
    pub fn letter(&mut self, letter: Letter) -> LetterId {
        if let Some(number) = self.letter_numbers.get(&letter) {
            return *number;
        }
        let number = LetterId(self.letters.len() as u32);
        let letter = Rc::new(letter);
        self.letters.push(Rc::clone(&letter));
        self.letter_numbers.insert(letter, number);
        number
    }

    /// After one more letter.
    ///
    /// # Panics
    /// If `before` or `letter` are not of this specification, or if the letter
    /// begins an operation while one of the same process is open, or ends none
    /// that is.
    pub fn successor(&mut self, before: Possibilities, letter: LetterId) -> Successor {
        if let Some(known) = self.successors.get(&(before, letter)) {
            return *known;
        }
        let set = Rc::clone(&self.sets[before.0 as usize]);
        let letter_itself = Rc::clone(&self.letters[letter.0 as usize]);
        let mut moved = FxHashSet::default();
        let mut kept = 0;
        for number in &*set {
            if let Some(one) = self.configurations[*number as usize].after(&letter_itself) {
                kept += 1;
                moved.insert(self.configuration(one));
            }
        }
        if !letter_itself.is_response() {
            self.close(&mut moved);
        }
        let mut moved: Vec<u32> = moved.into_iter().collect();
        moved.sort_unstable();
        let after = (!moved.is_empty()).then(|| self.set(moved));
        let successor = Successor { after, keeps_all: kept == set.len() };
        self.successors.insert((before, letter), successor);
        successor
    }

    /// After one more event; `None` if no linearizable history has it there.
    ///
    /// # Panics
    /// As [`Self::successor`].
    pub fn after(&mut self, before: Possibilities, event: &Event) -> Option<Possibilities> {
        let letter = self.letter(Letter::Event(event.clone()));
        self.successor(before, letter).after
    }

    /// Why there is nothing after a letter.
    ///
    /// # Panics
    /// As [`Self::successor`].
    pub fn why(&self, before: Possibilities, letter: LetterId) -> Misplacement {
        let set = &self.sets[before.0 as usize];
        let (process, returned) = match &*self.letters[letter.0 as usize] {
            Letter::Point(process) => return Misplacement::Twice(*process),
            Letter::Event(Event { process, action: Action::RespondScan(returned) }) => {
                (*process, returned.clone())
            }
            Letter::Event(Event { process, .. }) => return Misplacement::Never(*process),
        };
        let open = |number: &u32| &self.configurations[*number as usize].open[process.index()];
        let held = set.iter().find_map(|number| match open(number) {
            Open::Scanned(held) => Some(held.clone()),
            _ => None,
        });
        match held {
            _ if !self.points.scans => Misplacement::Unseen { process, returned },
            Some(held) => Misplacement::Differs { process, held, returned },
            None => Misplacement::Never(process),
        }
    }

    /// Adds all configurations that some open operations' taking effect leads to.
    fn close(&mut self, set: &mut FxHashSet<u32>) {
        let mut waiting: Vec<u32> = set.iter().copied().collect();
        while let Some(number) = waiting.pop() {
            let one = Rc::clone(&self.configurations[number as usize]);
            for process in 0..one.open.len() {
                if self.is_free(&one.open[process])
                    && let Some(next) = one.taking_effect(process)
                {
                    let next = self.configuration(next);
                    if set.insert(next) {
                        waiting.push(next);
                    }
                }
            }
        }
    }

    /// Whether an operation may take effect anywhere.
    const fn is_free(&self, open: &Open) -> bool {
        match open {
            Open::Update(_) => !self.points.updates,
            Open::Scan => !self.points.scans,
            Open::Nothing | Open::Updated | Open::Scanned(_) => false,
        }
    }

    fn configuration(&mut self, one: Configuration) -> u32 {
        if let Some(number) = self.configuration_numbers.get(&one) {
            return *number;
        }
        self.bytes += one.size();
        let number = self.configurations.len() as u32;
        let one = Rc::new(one);
        self.configurations.push(Rc::clone(&one));
        self.configuration_numbers.insert(one, number);
        number
    }

    fn set(&mut self, set: Vec<u32>) -> Possibilities {
        if let Some(number) = self.set_numbers.get(&*set) {
            return *number;
        }
        // Twice two words and a number, of what has place for more, for the tables.
        self.bytes += set.len() * size_of::<u32>() + 12 * size_of::<usize>();
        let number = Possibilities(self.sets.len() as u32);
        let set: Rc<[u32]> = set.into();
        self.sets.push(Rc::clone(&set));
        self.set_numbers.insert(set, number);
        number
    }
}

impl Possibilities {
    /// The number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// With this number, which must be that of a set.
    pub(super) const fn of_number(number: u32) -> Self {
        Self(number)
    }
}

impl Letter {
    const fn is_response(&self) -> bool {
        matches!(
            self,
            Self::Event(Event { action: Action::RespondUpdate | Action::RespondScan(_), .. })
        )
    }
}

impl Configuration {
    /// After a letter, if that is possible here.
    fn after(&self, letter: &Letter) -> Option<Self> {
        let (process, action) = match letter {
            Letter::Event(Event { process, action }) => (process.index(), action),
            Letter::Point(process) => return self.at_point(process.index()),
        };
        let open = match (&self.open[process], action) {
            (Open::Nothing, Action::InvokeUpdate(value)) => Open::Update(*value),
            (Open::Nothing, Action::InvokeScan) => Open::Scan,
            (Open::Updated, Action::RespondUpdate) => Open::Nothing,
            (Open::Scanned(seen), Action::RespondScan(values)) if seen == values => Open::Nothing,
            (Open::Update(_), Action::RespondUpdate)
            | (Open::Scan | Open::Scanned(_), Action::RespondScan(_)) => return None,
            (open, action) => panic!("no history has `{action}` where a process is in {open:?}"),
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
