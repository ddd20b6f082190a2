//! The long histories that several rows share.

use corpus::generate::{Recipe, Style};
use snapshot_core::History;
use snapshot_core::simple::SimpleHistory;

/// The processes and segments of the differentiated histories.
const PROCESSES: usize = 8;

/// The processes and segments of the simple histories.
const SIMPLE_PROCESSES: usize = 20;

/// A kind of long linearizable history, half of its operations scans.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stream {
    /// (i, j)-simple, 20 processes and segments, i and j in the middle.
    Simple,
    /// No value occurs twice; 8 processes and segments.
    Differentiated,
}

impl Stream {
    /// Fixes the stream's random choices.
    pub const fn seed(self) -> u64 {
        match self {
            Self::Simple => 2_022,
            Self::Differentiated => 2_010,
        }
    }

    /// The recipe of about this many events: every operation has two.
    pub const fn recipe(self, events: u64) -> Recipe {
        let operations = (events / 2) as usize;
        match self {
            Self::Simple => {
                let style = Style::Simple { i: 7, j: 12 };
                Recipe::new(SIMPLE_PROCESSES, SIMPLE_PROCESSES, operations, style, self.seed())
            }
            Self::Differentiated => {
                Recipe::new(PROCESSES, PROCESSES, operations, Style::Differentiated, self.seed())
            }
        }
    }
}

/// A differentiated history of about this many events, in memory.
///
/// # Panics
/// If there are no events at all.
pub fn half_scans(events: u64) -> History<i64> {
    Stream::Differentiated.recipe(events).history().expect("the recipe can be followed")
}

/// A simple history of about this many events, in memory.
pub(crate) fn simple(events: u64) -> SimpleHistory {
    let history = Stream::Simple.recipe(events).history().expect("the recipe can be followed");
    SimpleHistory::recognise(&history).expect("the recipe is simple")
}
