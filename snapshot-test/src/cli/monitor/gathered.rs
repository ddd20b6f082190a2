//! Where to go on with each input, gathered from the threads that read, and kept in one file.
//!
//! An input that is quiet has nothing new to say: it is not waited for, and what it said last stands.

use std::time::{Duration, Instant};

use snapshot_test::monitor::Checkpoints;

use super::all::Resumed;
use super::clocks::{Keeper, PERIOD};

/// So long a checkpoint waits for inputs that may be quiet.
const GRACE: Duration = Duration::from_millis(50);

/// Where to go on with each input, as far as is known.
pub(super) struct Gathered<'a> {
    keeper: Keeper<'a>,
    names: &'a [String],
    /// Whether the file is one of several inputs.
    is_several: bool,
    /// Of each input, as text.
    checkpoints: Vec<Option<String>>,
    /// Whether inputs have been asked since the file was written.
    is_asked: bool,
    /// Inputs that are being read.
    running: usize,
    /// Since the file was written: how many checkpoints came, when the first of them did, and how
    /// long it took at most to make one.
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

    /// An input begins to be read.
    pub const fn begin(&mut self) {
        self.running += 1;
    }

    /// An input has ended.
    pub const fn end(&mut self) {
        self.running -= 1;
    }

    /// Takes where to go on with an input.
    pub fn take(&mut self, input: usize, text: String, took: Duration) {
        self.checkpoints[input] = Some(text);
        self.news += 1;
        self.first.get_or_insert_with(Instant::now);
        self.took = self.took.max(took);
    }

    /// Whether it is time to ask all inputs where to go on; once.
    pub fn is_asked_for(&mut self) -> bool {
        let is_time = !self.is_asked && self.keeper.is_due();
        self.is_asked |= is_time;
        is_time
    }

    /// Whether something has come that is not in the file.
    pub const fn has_news(&self) -> bool {
        self.news > 0
    }

    /// Whether it is time to write the file, with all that is to be expected soon.
    pub fn is_complete(&self) -> bool {
        let Some(first) = self.first else { return false };
        self.keeper.is_due()
            && self.is_asked
            && (self.news >= self.running || first.elapsed() >= GRACE)
    }

    /// How long nothing is to be done.
    pub fn patience(&self) -> Duration {
        if !self.keeper.is_wanted() || self.is_asked && self.first.is_none() {
            return PERIOD;
        }
        let grace =
            self.first.map_or(Duration::ZERO, |first| GRACE.saturating_sub(first.elapsed()));
        self.keeper.time_left().max(grace).clamp(Duration::from_millis(1), PERIOD)
    }

    /// Writes the file.
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
