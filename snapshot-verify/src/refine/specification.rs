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

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_core::Process;

use crate::interpret::{Action, Event};

/// A set of configurations, by number. Equal sets have equal numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Possibilities(u32);

impl Possibilities {
    /// The number.
    pub const fn to_bytes(self) -> [u8; 4] {
        self.0.to_le_bytes()
    }
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

/// The subset construction, as far as it was needed.
#[derive(Clone, Debug)]
pub struct Specification {
    /// Each set ascending.
    sets: Vec<Vec<Configuration>>,
    numbers: FxHashMap<Vec<Configuration>, Possibilities>,
    successors: FxHashMap<(Possibilities, Event), Option<Possibilities>>,
}

impl Specification {
    /// Of a snapshot of n segments that all hold 0, process k writing segment k.
    pub fn new(n: usize) -> Self {
        let first = Configuration { segments: vec![0; n], open: vec![Open::Nothing; n] };
        let mut specification = Self {
            sets: Vec::new(),
            numbers: FxHashMap::default(),
            successors: FxHashMap::default(),
        };
        specification.number(vec![first]);
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

    /// After one more event; `None` if no linearizable history has it there.
    ///
    /// # Panics
    /// If `before` is not of this specification, or if the event begins an
    /// operation while one of the same process is open, or ends none that is.
    pub fn after(&mut self, before: Possibilities, event: &Event) -> Option<Possibilities> {
        if let Some(known) = self.successors.get(&(before, event.clone())) {
            return *known;
        }
        let set = &self.sets[before.0 as usize];
        let process = event.process;
        let moved = set.iter().filter_map(|one| one.after(process, &event.action));
        let moved: FxHashSet<Configuration> = moved.collect();
        let mut set: Vec<Configuration> = match event.action {
            Action::InvokeUpdate(_) | Action::InvokeScan => closed(moved).into_iter().collect(),
            Action::RespondUpdate | Action::RespondScan(_) => moved.into_iter().collect(),
        };
        set.sort_unstable();
        let after = (!set.is_empty()).then(|| self.number(set));
        self.successors.insert((before, event.clone()), after);
        after
    }

    fn number(&mut self, set: Vec<Configuration>) -> Possibilities {
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        let number = Possibilities(self.sets.len() as u32);
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }
}

impl Configuration {
    /// After an event, if that is possible here.
    fn after(&self, process: Process, action: &Action) -> Option<Self> {
        let open = match (&self.open[process.index()], action) {
            (Open::Nothing, Action::InvokeUpdate(value)) => Open::Update(*value),
            (Open::Nothing, Action::InvokeScan) => Open::Scan,
            (Open::Updated, Action::RespondUpdate) => Open::Nothing,
            (Open::Scanned(seen), Action::RespondScan(values)) if seen == values => Open::Nothing,
            (Open::Update(_), Action::RespondUpdate)
            | (Open::Scan | Open::Scanned(_), Action::RespondScan(_)) => return None,
            (open, action) => panic!("no history has `{action}` where a process is in {open:?}"),
        };
        let mut after = self.clone();
        after.open[process.index()] = open;
        Some(after)
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
}

/// With all configurations that some open operations' taking effect leads to.
fn closed(mut set: FxHashSet<Configuration>) -> FxHashSet<Configuration> {
    let mut waiting: Vec<Configuration> = set.iter().cloned().collect();
    while let Some(one) = waiting.pop() {
        for process in 0..one.open.len() {
            if let Some(next) = one.taking_effect(process)
                && set.insert(next.clone())
            {
                waiting.push(next);
            }
        }
    }
    set
}
