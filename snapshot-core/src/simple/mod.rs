//! Simple histories: two segments, one switch each.
//!
//! In an *(i, j)-simple* history only the segments i and j ever change, and
//! each only once, for good: from its initial value, called 0, to one other
//! value, called 1. A data-independent snapshot algorithm is linearizable iff
//! all of its simple histories are (Amram et al., DISC 2022, Theorem 5), and
//! whether a simple history is linearizable is a regular property (Theorem 11
//! there): see [`crate::automata`] and [`crate::observer`].
//!
//! This type deviates from the paper's Definition 4 where recordings require it: values are
//! arbitrary, and only their classes matter; a scan may return values that were never written;
//! outcomes of updates may be lost.

mod letter;
mod recognise;
mod well_formed;

pub use letter::{Letter, Switching, Symbol};
pub use recognise::NotSimple;
pub use well_formed::{Malformed, MalformedKind, WellFormed};

use crate::Segment;

/// An (i, j)-simple history, 8 bytes per letter.
///
/// Its letters are a well-formed word (see [`WellFormed`]); each letter has the number of its event
/// in the recording. Failed updates and incomplete scans have no letters: they constrain nothing.
///
/// ```
/// use snapshot_core::simple::SimpleHistory;
/// use snapshot_core::{History, history::Declaration, observer::Observer};
///
/// let mut history = History::builder(Declaration::new("-")).unwrap();
/// history.invoke_update(0, 0, "x").unwrap();
/// history.respond_update(0).unwrap();
/// history.invoke_scan(1).unwrap();
/// history.respond_scan(1, &["-", "-"]).unwrap(); // misses the complete update
/// let simple = SimpleHistory::recognise(&history.finish()).unwrap();
/// let (letter, _) = Observer::first_violation(&simple).unwrap();
/// assert_eq!(simple.event(letter), 3);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SimpleHistory {
    processes: usize,
    i: Segment,
    /// Larger than `i`; absent if the snapshot has only one segment. Then no letter updates j, and
    /// scans return 0 there.
    j: Option<Segment>,
    letters: Vec<Letter>,
    /// For each letter, the number of its event in the recording; ascending.
    events: Vec<u32>,
}

impl SimpleHistory {
    /// Creates the simple history of this word, with i = 0 and j = 1; each letter is its own event.
    /// O(length + switches * processes).
    ///
    /// # Errors
    /// If the word is not a simple history.
    pub fn from_letters(processes: usize, letters: Vec<Letter>) -> Result<Self, Malformed> {
        let mut word = WellFormed::new(processes);
        for (position, &letter) in letters.iter().enumerate() {
            word.admit(letter).map_err(|kind| Malformed { position, kind })?;
        }
        let events = (0..letters.len() as u32).collect();
        Ok(Self {
            processes,
            i: Segment::from_index(0),
            j: Some(Segment::from_index(1)),
            letters,
            events,
        })
    }

    /// Creates the simple history of these letters, with the numbers of their events.
    pub(crate) fn from_parts(
        processes: usize,
        (i, j): (Segment, Option<Segment>),
        letters: Vec<Letter>,
        events: Vec<u32>,
    ) -> Self {
        let simple = Self { processes, i, j, letters, events };
        if cfg!(debug_assertions) {
            simple.validate();
        }
        simple
    }

    /// Number of processes; every letter's process is below it.
    #[inline]
    pub const fn processes(&self) -> usize {
        self.processes
    }

    /// Returns the segment of the snapshot behind i or j; `None` for j if the snapshot has only one
    /// segment.
    #[inline]
    pub const fn segment(&self, segment: Switching) -> Option<Segment> {
        match segment {
            Switching::I => Some(self.i),
            Switching::J => self.j,
        }
    }

    /// The letters in the order of time.
    #[inline]
    pub fn letters(&self) -> &[Letter] {
        &self.letters
    }

    /// Number of the recording's event behind letter number `letter`.
    ///
    /// # Panics
    /// If the letter does not exist.
    #[inline]
    pub fn event(&self, letter: usize) -> usize {
        self.events[letter] as usize
    }

    /// Checks the invariants that every method of this type relies on. O(length).
    ///
    /// # Panics
    /// If an invariant is broken, naming it.
    pub fn validate(&self) {
        let mut word = WellFormed::new(self.processes);
        for &letter in &self.letters {
            assert_eq!(word.admit(letter), Ok(()), "the letters are a well-formed word");
        }
        assert_eq!(self.letters.len(), self.events.len(), "each letter has its event");
        assert!(self.events.is_sorted_by(|a, b| a < b), "events are ascending");
        assert!(self.j.is_none_or(|j| self.i < j), "i is below j");
    }
}
