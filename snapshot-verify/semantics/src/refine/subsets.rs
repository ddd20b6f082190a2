//! The subset construction: of a nondeterministic specification, the set of **all**
//! configurations that agree with the events so far, made as far as it is needed.
//!
//! A sequence of events is a linearizable history iff that set is not empty. This is the
//! normalisation of the specification that refinement checkers do (Roscoe 1994; for
//! linearizability: Liu, Chen, Liu and Sun, FM 2009), done on the fly.
//!
//! A set is *closed*: with a configuration it has those in which one more open operation, or one
//! more block of some that may do so together, has taken effect. An invocation is followed by closing the set; a response only removes
//! configurations, of closed sets closed ones.

use std::hash::Hash;
use std::mem::size_of;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use snapshot_core::Process;

use crate::interpret::{Event, Fault};

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
    /// The open operation of a process is at one of its linearization points.
    Point(Process),
    /// The next step of a process is the response: it is at no point any more.
    Past(Process),
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

/// A nondeterministic specification: its configurations, and how letters and operations that
/// take effect lead from one to others.
pub trait Automaton {
    /// One of the ways in which the events so far may have come about.
    type Configuration: Eq + Hash;

    /// Before any event.
    fn initial(&self) -> Self::Configuration;

    /// After an event, if that is possible there.
    ///
    /// # Panics
    /// If it begins an operation while one of the same process is open, or ends none that is.
    fn after(&self, one: &Self::Configuration, event: &Event) -> Option<Self::Configuration>;

    /// Calls `reach` with all that is reached when the open operation of a process is at one of
    /// its linearization points; not at all if it may be at none there.
    ///
    /// # Errors
    /// As [`Self::take_effect`].
    ///
    /// # Panics
    /// If the process has no operation open.
    fn at_point(
        &self,
        one: &Self::Configuration,
        process: Process,
        reach: &mut dyn FnMut(Self::Configuration),
    ) -> Result<(), Fault>;

    /// Whether the open operation of a process, which will be at no point any more, may still
    /// end. That it may not shows at its response, too, if this is `true`.
    fn may_be_past(&self, one: &Self::Configuration, process: Process) -> bool;

    /// Calls `reach` with all that is reached when an open operation, or several of them
    /// together, take effect now.
    ///
    /// # Errors
    /// If what they do has no meaning there: the specification itself is faulty.
    fn take_effect(
        &self,
        one: &Self::Configuration,
        reach: &mut dyn FnMut(Self::Configuration),
    ) -> Result<(), Fault>;

    /// About how many bytes a configuration takes, with its places in tables.
    fn size(&self, one: &Self::Configuration) -> usize;
}

/// The subset construction, as far as it was needed.
#[derive(Clone, Debug)]
pub struct Subsets<A: Automaton> {
    pub(super) automaton: A,
    configurations: Vec<Rc<A::Configuration>>,
    configuration_numbers: FxHashMap<Rc<A::Configuration>, u32>,
    /// Each set ascending.
    sets: Vec<Rc<[u32]>>,
    set_numbers: FxHashMap<Rc<[u32]>, Possibilities>,
    letters: Vec<Rc<Letter>>,
    letter_numbers: FxHashMap<Rc<Letter>, LetterId>,
    successors: FxHashMap<(Possibilities, LetterId), Successor>,
    bytes: usize,
    fault: Option<Fault>,
}

impl<A: Automaton> Subsets<A> {
    /// With nothing but the initial set.
    pub fn of(automaton: A) -> Self {
        let mut subsets = Self {
            automaton,
            configurations: Vec::new(),
            configuration_numbers: FxHashMap::default(),
            sets: Vec::new(),
            set_numbers: FxHashMap::default(),
            letters: Vec::new(),
            letter_numbers: FxHashMap::default(),
            successors: FxHashMap::default(),
            bytes: 0,
            fault: None,
        };
        let first = subsets.automaton.initial();
        let first = subsets.configuration(first);
        subsets.set(vec![first]);
        subsets
    }

    /// What is wrong with the specification itself, if that has shown.
    pub const fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// The same, once: what led there can be looked at after that.
    pub const fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// The configurations of a set.
    ///
    /// # Panics
    /// If it is no set of this specification.
    pub fn configurations(
        &self,
        set: Possibilities,
    ) -> impl Iterator<Item = &A::Configuration> + '_ {
        let of = |number: &u32| &*self.configurations[*number as usize];
        self.sets[set.0 as usize].iter().map(of)
    }

    /// The letter with this number.
    ///
    /// # Panics
    /// If it is none of this specification.
    pub fn letter_itself(&self, letter: LetterId) -> &Letter {
        &self.letters[letter.0 as usize]
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
        let mut reached = Vec::new();
        for number in &*set {
            let one = Rc::clone(&self.configurations[*number as usize]);
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

    /// The set of the same configurations, each made into another one.
    pub fn mapped(
        &mut self,
        set: Possibilities,
        map: impl Fn(&A::Configuration) -> A::Configuration,
    ) -> Possibilities {
        let before = Rc::clone(&self.sets[set.0 as usize]);
        let configurations = before.iter().map(|number| {
            let one = Rc::clone(&self.configurations[*number as usize]);
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
            let one = Rc::clone(&self.configurations[number as usize]);
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
    /// Whether more operations may take effect after it than before.
    const fn may_change(&self) -> bool {
        match self {
            Self::Event(event) => !event.action.is_response(),
            Self::Point(_) => true,
            Self::Past(_) => false,
        }
    }
}
