//! The subset construction of a nondeterministic specification: the set of **all** configurations
//! that agree with the events so far, computed on demand.
//!
//! A sequence of events is a linearizable history iff that set is not empty. Refinement checkers
//! normalise the specification this way (Roscoe 1994; for linearizability: Liu, Chen, Liu and Sun,
//! FM 2009); here it is done on the fly.
//!
//! A set is *closed*: with each configuration it contains those in which one more open operation,
//! or one more block of operations with `together`, has taken effect. An invocation is followed by
//! closing the set. A response only removes configurations, which preserves closedness.

use std::hash::Hash;
use std::mem::size_of;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_core::Process;

use crate::interpret::{Event, Fault};
use crate::product::{Lent, Memo, Unknown, known};

/// Number of a set of configurations. Equal sets have equal numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Possibilities(u32);

/// Number of a letter. Equal letters have equal numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LetterId(u32);

/// Letter of the specification's alphabet.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Letter {
    /// Invocation or response of an operation.
    Event(Event),
    /// The open operation of a process is at one of its linearization points.
    Point(Process),
    /// The next step of a process is the response: it will pass no further point.
    Past(Process),
}

/// Transition of a set by a letter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Successor {
    /// Set after the letter; `None` if no execution of the specification has the letter there.
    pub after: Option<Possibilities>,
    /// True if all configurations of the set allow the letter.
    pub keeps_all: bool,
}

/// A nondeterministic specification: its configurations, and their transitions by letters and by
/// operations that take effect.
pub trait Automaton {
    /// A possible state of the specification after the events so far.
    type Configuration: Clone + Eq + Hash + Ord;

    /// Returns the number of processes.
    fn processes(&self) -> usize;

    /// Returns the configuration before any event.
    fn initial(&self) -> Self::Configuration;

    /// Returns the configuration after an event, if the event is possible there.
    ///
    /// # Panics
    /// If an invocation finds its process busy, or a response finds it idle.
    fn after(&self, one: &Self::Configuration, event: &Event) -> Option<Self::Configuration>;

    /// Calls `reach` with each result of an open operation, or several of them together, taking
    /// effect now.
    ///
    /// # Errors
    /// If an operation has no meaning there: the specification itself is faulty.
    fn take_effect(
        &self,
        one: &Self::Configuration,
        reach: &mut dyn FnMut(Self::Configuration),
    ) -> Result<(), Fault>;

    /// Returns true if the open operation of a process, which has not taken effect, may change the
    /// state of the specification when it does.
    fn may_change(&self, one: &Self::Configuration, process: Process) -> bool;

    /// Returns true if the open operation of a process has taken effect.
    fn has_taken_effect(&self, one: &Self::Configuration, process: Process) -> bool;

    /// Returns the processes whose operations take effect from one configuration to the next, in
    /// ascending order.
    fn taking_effect(
        &self,
        one: &Self::Configuration,
        next: &Self::Configuration,
    ) -> impl Iterator<Item = Process> {
        let processes = (0..self.processes()).map(Process::from_index);
        processes.filter(|process| {
            !self.has_taken_effect(one, *process) && self.has_taken_effect(next, *process)
        })
    }

    /// Adds the names of the values in a configuration, each once.
    fn values(&self, one: &Self::Configuration, found: &mut Vec<u32>);

    /// Renames the values in a configuration.
    fn renamed(
        &self,
        one: &Self::Configuration,
        rename: &mut dyn FnMut(u32) -> u32,
    ) -> Self::Configuration;

    /// Approximate memory use in bytes of what the automaton remembers.
    fn bytes(&self) -> usize {
        0
    }

    /// Approximate memory use of a configuration in bytes, with its slots in tables.
    fn size(&self, one: &Self::Configuration) -> usize;
}

/// An automaton whose operations may take effect at linearization points.
pub trait Pointed: Automaton {
    /// Calls `reach` with each result of the open operation of a process being at one of its
    /// linearization points; not at all if it cannot be at a point there.
    ///
    /// # Errors
    /// As [`Automaton::take_effect`].
    ///
    /// # Panics
    /// If the process has no open operation.
    fn at_point(
        &self,
        one: &Self::Configuration,
        process: Process,
        reach: &mut dyn FnMut(Self::Configuration),
    ) -> Result<(), Fault>;

    /// Returns true if the open operation of a process may still end without passing another point.
    /// May return true even if it cannot: then the response reveals it.
    fn may_be_past(&self, one: &Self::Configuration, process: Process) -> bool;
}

/// The part of the subset construction that was needed so far.
#[derive(Clone, Debug)]
pub struct Subsets<A: Automaton> {
    pub(super) automaton: A,
    configurations: Vec<Arc<A::Configuration>>,
    configuration_numbers: FxHashMap<Arc<A::Configuration>, u32>,
    /// Sets of configurations, each in ascending order.
    sets: Vec<Arc<[u32]>>,
    set_numbers: FxHashMap<Arc<[u32]>, Possibilities>,
    letters: Vec<Arc<Letter>>,
    letter_numbers: FxHashMap<Arc<Letter>, LetterId>,
    /// Successors of a set by a letter, packed.
    successors: Memo<2, 1>,
    bytes: usize,
    fault: Option<Fault>,
}

impl<A: Pointed> Subsets<A> {
    /// Creates the construction with the initial set only.
    pub fn of(automaton: A) -> Self {
        let mut subsets = Self {
            automaton,
            configurations: Vec::new(),
            configuration_numbers: FxHashMap::default(),
            sets: Vec::new(),
            set_numbers: FxHashMap::default(),
            letters: Vec::new(),
            letter_numbers: FxHashMap::default(),
            successors: Memo::default(),
            bytes: 0,
            fault: None,
        };
        let first = subsets.automaton.initial();
        let first = subsets.configuration(first);
        subsets.set(vec![first]);
        subsets
    }

    /// Returns the first fault of the specification itself, if one occurred.
    pub const fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Takes the fault, so that the caller can examine the events that led to it.
    pub const fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// Returns the configurations of a set.
    ///
    /// # Panics
    /// If the set does not belong to this specification.
    pub fn configurations(
        &self,
        set: Possibilities,
    ) -> impl Iterator<Item = &A::Configuration> + '_ {
        let of = |number: &u32| &*self.configurations[*number as usize];
        self.sets[set.0 as usize].iter().map(of)
    }

    /// Returns the letter with this number.
    ///
    /// # Panics
    /// If the number does not belong to this specification.
    pub fn letter_itself(&self, letter: LetterId) -> &Letter {
        &self.letters[letter.0 as usize]
    }

    /// Returns the set before any event.
    pub const fn initial(&self) -> Possibilities {
        Possibilities(0)
    }

    /// Returns the number of sets that have occurred.
    pub const fn len(&self) -> usize {
        self.sets.len()
    }

    /// Returns false: the initial set always exists.
    pub const fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes + self.successors.bytes() + self.automaton.bytes()
    }

    /// Returns the number of a letter.
    pub fn letter(&mut self, letter: Letter) -> LetterId {
        known(Lent::Exclusive(self).letter(letter))
    }

    fn add_letter(&mut self, letter: Letter) -> LetterId {
        let number = LetterId(self.letters.len() as u32);
        let letter = Arc::new(letter);
        self.letters.push(Arc::clone(&letter));
        self.letter_numbers.insert(letter, number);
        number
    }

    /// Returns the transition of a set by a letter.
    ///
    /// # Panics
    /// If `before` or `letter` do not belong to this specification, or if the letter begins an
    /// operation of a busy process or ends one of an idle process.
    pub fn successor(&mut self, before: Possibilities, letter: LetterId) -> Successor {
        known(Lent::Exclusive(self).successor(before, letter))
    }

    fn learn_successor(&mut self, before: Possibilities, letter: LetterId) -> Successor {
        let set = Arc::clone(&self.sets[before.0 as usize]);
        let letter_itself = Arc::clone(&self.letters[letter.0 as usize]);
        let mut moved = FxHashSet::default();
        let mut kept = 0;
        let mut reached = Vec::new();
        for number in &*set {
            let one = Arc::clone(&self.configurations[*number as usize]);
            match &*letter_itself {
                Letter::Event(event) => reached.extend(self.automaton.after(&one, event)),
                Letter::Point(process) => {
                    let reach = &mut |next| reached.push(next);
                    if let Err(fault) = self.automaton.at_point(&one, *process, reach) {
                        self.fault.get_or_insert(fault);
                    }
                }
                Letter::Past(process) => {
                    if self.automaton.may_be_past(&one, *process) {
                        moved.insert(*number);
                        kept += 1;
                    }
                }
            }
            kept += usize::from(!reached.is_empty());
            for next in reached.drain(..) {
                moved.insert(self.configuration(next));
            }
        }
        if letter_itself.may_change() {
            self.close(&mut moved);
        }
        let mut moved: Vec<u32> = moved.into_iter().collect();
        moved.sort_unstable();
        let after = (!moved.is_empty()).then(|| self.set(moved));
        let successor = Successor { after, keeps_all: kept == set.len() };
        self.successors.insert(&[before.0, letter.0], [successor.packed()]);
        successor
    }

    /// Returns the set after an event; `None` if no linearizable history has the event there.
    ///
    /// # Panics
    /// As [`Self::successor`].
    pub fn after(&mut self, before: Possibilities, event: &Event) -> Option<Possibilities> {
        let letter = self.letter(Letter::Event(event.clone()));
        self.successor(before, letter).after
    }

    /// Maps each configuration of a set.
    pub fn mapped(
        &mut self,
        set: Possibilities,
        map: impl Fn(&A::Configuration) -> A::Configuration,
    ) -> Possibilities {
        let before = Arc::clone(&self.sets[set.0 as usize]);
        let configurations = before.iter().map(|number| {
            let one = Arc::clone(&self.configurations[*number as usize]);
            self.configuration(map(&one))
        });
        let mut after: Vec<u32> = configurations.collect();
        after.sort_unstable();
        after.dedup();
        self.set(after)
    }

    /// Adds all configurations that are reached when open operations take effect.
    fn close(&mut self, set: &mut FxHashSet<u32>) {
        let mut waiting: Vec<u32> = set.iter().copied().collect();
        let mut reached = Vec::new();
        while let Some(number) = waiting.pop() {
            let one = Arc::clone(&self.configurations[number as usize]);
            let found = self.automaton.take_effect(&one, &mut |next| reached.push(next));
            if let Err(fault) = found {
                self.fault.get_or_insert(fault);
            }
            for next in reached.drain(..) {
                let next = self.configuration(next);
                if set.insert(next) {
                    waiting.push(next);
                }
            }
        }
    }

    fn configuration(&mut self, one: A::Configuration) -> u32 {
        if let Some(number) = self.configuration_numbers.get(&one) {
            return *number;
        }
        self.bytes += self.automaton.size(&one);
        let number = self.configurations.len() as u32;
        let one = Arc::new(one);
        self.configurations.push(Arc::clone(&one));
        self.configuration_numbers.insert(one, number);
        number
    }

    fn set(&mut self, set: Vec<u32>) -> Possibilities {
        if let Some(number) = self.set_numbers.get(&*set) {
            return *number;
        }
        // Two entries of two words and a number each, with spare capacity, for the tables.
        self.bytes += set.len() * size_of::<u32>() + 12 * size_of::<usize>();
        let number = Possibilities(self.sets.len() as u32);
        let set: Arc<[u32]> = set.into();
        self.sets.push(Arc::clone(&set));
        self.set_numbers.insert(set, number);
        number
    }
}

impl<A: Pointed> Lent<'_, Subsets<A>> {
    /// Returns the number of a letter.
    ///
    /// # Errors
    /// If it is unknown.
    pub fn letter(&mut self, letter: Letter) -> Result<LetterId, Unknown> {
        match self.letter_numbers.get(&letter) {
            Some(number) => Ok(*number),
            None => Ok(self.exclusively()?.add_letter(letter)),
        }
    }

    /// Returns the transition of a set by a letter.
    ///
    /// # Errors
    /// If it is unknown.
    pub fn successor(
        &mut self,
        before: Possibilities,
        letter: LetterId,
    ) -> Result<Successor, Unknown> {
        match self.successors.find(&[before.0, letter.0]) {
            Some([known]) => Ok(Successor::unpacked(known)),
            None => Ok(self.exclusively()?.learn_successor(before, letter)),
        }
    }
}

impl Successor {
    /// Returns twice the number of the set plus two, or 0 without a set; and 1 more if all
    /// configurations are kept.
    fn packed(self) -> u32 {
        self.after.map_or(0, |set| (set.0 + 1) << 1) | u32::from(self.keeps_all)
    }

    fn unpacked(packed: u32) -> Self {
        let after = (packed >> 1).checked_sub(1).map(Possibilities);
        Self { after, keeps_all: packed & 1 == 1 }
    }
}

impl Possibilities {
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Creates the set with this number, which must exist.
    pub(crate) const fn of_number(number: u32) -> Self {
        Self(number)
    }
}

impl Letter {
    /// Returns true if the letter may enable further operations to take effect.
    const fn may_change(&self) -> bool {
        match self {
            Self::Event(event) => !event.action.is_response(),
            Self::Point(_) => true,
            Self::Past(_) => false,
        }
    }
}
