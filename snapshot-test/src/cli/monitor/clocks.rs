//! When a monitor says how far it is, and when it keeps where to go on.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::{Duration, Instant};

use snapshot_io::{output, replacement};
use snapshot_test::monitor::{Judge, Live, State};

/// Events between two looks at the clock.
const STRIDE: u64 = 1 << 8;

/// The most time between two looks at the clock that matter.
pub(super) const PERIOD: Duration = Duration::from_secs(1);

/// A checkpoint comes after this many times as long as the one before took, at least: however many
/// objects there are, checkpoints are a small part of the work.
const SHARE: u32 = 20;

/// Lines that say how far it is.
pub(super) struct Progress {
    /// Between two of them; zero: none.
    status: Duration,
    /// When the last one was printed.
    last: Instant,
    /// Events that had been read then.
    at: u64,
}

impl Progress {
    pub fn new(status: Option<Duration>) -> Self {
        let default = if io::stderr().is_terminal() { 10 } else { 0 };
        let status = status.unwrap_or(Duration::from_secs(default));
        Self { status, last: Instant::now(), at: 0 }
    }

    /// Prints how far it is, if it is time for that, and events have come.
    pub fn print(&mut self, name: &str, events: u64, progress: impl FnOnce() -> String) {
        let elapsed = self.last.elapsed();
        if self.status.is_zero() || elapsed < self.status || events == self.at {
            return;
        }
        let rate = (events - self.at) as f64 / elapsed.as_secs_f64();
        output::report(format_args!("{name}: {}, {rate:.0} events/s", progress()));
        (self.last, self.at) = (Instant::now(), events);
    }

    /// Whether it is time for the next line, if there are any.
    pub fn is_due(&self) -> bool {
        !self.status.is_zero() && self.last.elapsed() >= self.status
    }

    /// How long nothing is to be printed.
    pub fn patience(&self) -> Duration {
        if self.status.is_zero() {
            return PERIOD;
        }
        self.status.saturating_sub(self.last.elapsed()).clamp(Duration::from_millis(10), PERIOD)
    }
}

/// When the clock was looked at last, by what reads one input to its first violation.
pub(super) struct Clocks {
    progress: Progress,
    /// Events so far.
    since: u64,
    looked: Instant,
    /// The least time between two looks that matter.
    period: Duration,
}

impl Clocks {
    /// For checkpoints as often as `every`.
    pub fn new(status: Option<Duration>, every: Duration) -> Self {
        let period = every.min(PERIOD);
        Self { progress: Progress::new(status), since: 0, looked: Instant::now(), period }
    }

    /// Counts an event; whether it is time for a checkpoint. The clock is looked at every
    /// 256 events.
    pub fn is_time(&mut self) -> bool {
        self.since += 1;
        if !self.since.is_multiple_of(STRIDE) || self.looked.elapsed() < self.period {
            return false;
        }
        self.looked = Instant::now();
        true
    }

    /// Prints how far it is, if it is time for that.
    pub fn print(&mut self, name: &str, progress: impl FnOnce() -> String) {
        self.progress.print(name, self.since, progress);
    }
}

/// How far it is that ends at the first violation.
pub(super) fn progress<J: Judge>(live: &Live<J>) -> String {
    let state = match live.state() {
        State::Fine => format!("{} so far", J::OBJECT.criterion()),
        State::Undecided => "not decided".to_owned(),
        State::Violation => "a violation".to_owned(),
    };
    let (events, objects, open) = (live.events(), live.objects(), live.pending());
    format!("{events} events, {objects} objects, {open} operations open, {state}")
}

/// The file of the checkpoint.
pub(super) struct Keeper<'a> {
    path: Option<&'a Path>,
    every: Duration,
    next: Instant,
    /// Whether the last one could not be written.
    has_failed: bool,
}

impl<'a> Keeper<'a> {
    pub fn new(path: Option<&'a Path>, every: Duration) -> Self {
        Self { path, every, next: Instant::now(), has_failed: false }
    }

    /// Whether a checkpoint is to be made.
    pub fn is_due(&self) -> bool {
        self.is_wanted() && Instant::now() >= self.next
    }

    /// Whether there are to be checkpoints.
    pub const fn is_wanted(&self) -> bool {
        self.path.is_some()
    }

    /// How long it is until the next one.
    pub fn time_left(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Keeps a checkpoint, its text, that was begun at `began`. Where it cannot be written, the one before
    /// stays, and a warning says so, once until one is written again.
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
