//! The checkpoints of all inputs, gathered from the reading threads, and kept in one file.
//!
//! An idle input keeps its previous checkpoint: it is not waited for.

use std::time::{Duration, Instant};

use snapshot_test::monitor::Checkpoints;

use super::all::Resumed;
use super::clocks::{Keeper, PERIOD};

/// Time that a checkpoint waits for idle inputs.
const GRACE: Duration = Duration::from_millis(50);

/// The latest checkpoint of each input.
pub(super) struct Gathered<'a> {
    keeper: Keeper<'a>,
    names: &'a [String],
    /// True if the file is for several inputs.
    is_several: bool,
    /// For each input, its checkpoint as text.
    checkpoints: Vec<Option<String>>,
    /// True if checkpoints have been requested since the file was written.
    is_asked: bool,
    /// Number of inputs being read.
    running: usize,
    /// Since the file was written: the number of new checkpoints, the time of the first, and the
    /// longest time to make one.
    news: usize,
    first: Option<Instant>,
    took: Duration,
}

impl<'a> Gathered<'a> {
    pub fn new(
        (names, is_several): (&'a [String], bool),
        resumed: &Resumed,
        keeper: Keeper<'a>,
    ) -> Self {
        let text = |name: &String| resumed.of(name).map(|checkpoint| checkpoint.text());
        Self {
            checkpoints: names.iter().map(text).collect(),
            keeper,
            names,
            is_several,
            is_asked: false,
            running: 0,
            news: 0,
            first: None,
            took: Duration::ZERO,
        }
    }

    /// Records that an input begins to be read.
    pub const fn begin(&mut self) {
        self.running += 1;
    }

    /// Records that an input has ended.
    pub const fn end(&mut self) {
        self.running -= 1;
    }

    /// Takes a checkpoint of an input.
    pub fn take(&mut self, input: usize, text: String, took: Duration) {
        self.checkpoints[input] = Some(text);
        self.news += 1;
        self.first.get_or_insert_with(Instant::now);
        self.took = self.took.max(took);
    }

    /// Returns true, once, if checkpoints of all inputs are to be requested.
    pub fn is_asked_for(&mut self) -> bool {
        let is_time = !self.is_asked && self.keeper.is_due();
        self.is_asked |= is_time;
        is_time
    }

    /// Returns true if there is a checkpoint that is not in the file.
    pub const fn has_news(&self) -> bool {
        self.news > 0
    }

    /// Returns true if the file is to be written, with all checkpoints that are expected soon.
    pub fn is_complete(&self) -> bool {
        let Some(first) = self.first else { return false };
        self.keeper.is_due()
            && self.is_asked
            && (self.news >= self.running || first.elapsed() >= GRACE)
    }

    /// Returns the time until the next action.
    pub fn patience(&self) -> Duration {
        if !self.keeper.is_wanted() || self.is_asked && self.first.is_none() {
            return PERIOD;
        }
        let grace =
            self.first.map_or(Duration::ZERO, |first| GRACE.saturating_sub(first.elapsed()));
        self.keeper.time_left().max(grace).clamp(Duration::from_millis(1), PERIOD)
    }

    pub fn keep(&mut self) {
        let began = Instant::now().checked_sub(self.took).unwrap_or_else(Instant::now);
        let named = self.names.iter().zip(&self.checkpoints);
        let named = named.map(|(name, text)| (name.as_str(), text.as_deref()));
        let text = match (self.is_several, &self.checkpoints[..]) {
            (false, [Some(only)]) => only.clone(),
            _ => Checkpoints::text(named),
        };
        self.keeper.keep(&text, began);
        (self.is_asked, self.news, self.first, self.took) = (false, 0, None, Duration::ZERO);
    }
}
