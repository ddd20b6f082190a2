//! Timing of a monitor's progress lines and checkpoints.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::{Duration, Instant};

use snapshot_io::{output, replacement};
use snapshot_test::SnapshotKind;
use snapshot_test::monitor::{Judge, Live, State};

/// Number of events between two reads of the clock.
const STRIDE: u64 = 1 << 8;

/// The longest time between two reads of the clock.
pub(super) const PERIOD: Duration = Duration::from_secs(1);

/// Least ratio of the interval between checkpoints to the time for making one: for any number of
/// objects, checkpoints are a small part of the work.
const SHARE: u32 = 20;

/// Progress lines on standard error.
pub(super) struct Progress {
    /// Interval of the lines; zero: none.
    status: Duration,
    /// Time of the last line.
    last: Instant,
    /// Number of events at the last line.
    at: u64,
}

impl Progress {
    pub fn new(status: Option<Duration>) -> Self {
        let default = if io::stderr().is_terminal() { 10 } else { 0 };
        let status = status.unwrap_or(Duration::from_secs(default));
        Self { status, last: Instant::now(), at: 0 }
    }

    /// Prints a progress line, if one is due and new events were read.
    pub fn print(&mut self, name: &str, events: u64, progress: impl FnOnce() -> String) {
        let elapsed = self.last.elapsed();
        if self.status.is_zero() || elapsed < self.status || events == self.at {
            return;
        }
        let rate = (events - self.at) as f64 / elapsed.as_secs_f64();
        output::report(format_args!("{name}: {}, {rate:.0} events/s", progress()));
        (self.last, self.at) = (Instant::now(), events);
    }

    /// Returns true if a line is due.
    pub fn is_due(&self) -> bool {
        !self.status.is_zero() && self.last.elapsed() >= self.status
    }

    /// Returns the time until the next line.
    pub fn patience(&self) -> Duration {
        if self.status.is_zero() {
            return PERIOD;
        }
        self.status.saturating_sub(self.last.elapsed()).clamp(Duration::from_millis(10), PERIOD)
    }
}

/// The timing of a thread that reads one input to its first violation.
pub(super) struct Clocks {
    progress: Progress,
    /// Number of events so far.
    since: u64,
    looked: Instant,
    /// The least time between two reads that matter.
    period: Duration,
}

impl Clocks {
    /// Creates the timing for checkpoints with the interval `every`.
    pub fn new(status: Option<Duration>, every: Duration) -> Self {
        let period = every.min(PERIOD);
        Self { progress: Progress::new(status), since: 0, looked: Instant::now(), period }
    }

    /// Counts an event. Returns true if a checkpoint is due. Reads the clock every 256 events.
    pub fn is_time(&mut self) -> bool {
        self.since += 1;
        if !self.since.is_multiple_of(STRIDE) || self.looked.elapsed() < self.period {
            return false;
        }
        self.looked = Instant::now();
        true
    }

    /// Prints a progress line, if one is due.
    pub fn print(&mut self, name: &str, progress: impl FnOnce() -> String) {
        self.progress.print(name, self.since, progress);
    }
}

/// Returns the progress of a monitor that ends at the first violation.
pub(super) fn progress<J: Judge>(live: &Live<J>) -> String {
    let state = match live.state() {
        State::Fine => format!("{} so far", J::Kind::OBJECT.criterion()),
        State::Undecided => "not decided".to_owned(),
        State::Violation => "a violation".to_owned(),
    };
    let (events, objects, open) = (live.events(), live.objects(), live.pending());
    format!("{events} events, {objects} objects, {open} operations open, {state}")
}

/// The checkpoint file.
pub(super) struct Keeper<'a> {
    path: Option<&'a Path>,
    every: Duration,
    next: Instant,
    /// True if the last checkpoint could not be written.
    has_failed: bool,
}

impl<'a> Keeper<'a> {
    pub fn new(path: Option<&'a Path>, every: Duration) -> Self {
        Self { path, every, next: Instant::now(), has_failed: false }
    }

    /// Returns true if a checkpoint is due.
    pub fn is_due(&self) -> bool {
        self.is_wanted() && Instant::now() >= self.next
    }

    /// Returns true if checkpoints are wanted.
    pub const fn is_wanted(&self) -> bool {
        self.path.is_some()
    }

    /// Returns the time until the next checkpoint.
    pub fn time_left(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Writes the text of a checkpoint that was begun at `began`. If it cannot be written, the
    /// previous one stays, and a warning is printed, once until the next success.
    pub fn keep(&mut self, checkpoint: &str, began: Instant) {
        let Some(path) = self.path else { return };
        match replacement::write(path, checkpoint.as_bytes()) {
            Ok(()) if self.has_failed => {
                self.has_failed = false;
                output::report(format_args!("{} is written again", path.display()));
            }
            Ok(()) => {}
            Err(error) => {
                if !self.has_failed {
                    output::report(format_args!(
                        "warning: cannot write {}: {error}; going on without a new checkpoint (the \
                         one before stays), and trying again",
                        path.display()
                    ));
                }
                self.has_failed = true;
            }
        }
        let now = Instant::now();
        self.next = (began + self.every).max(now + (now - began) * SHARE);
    }
}
