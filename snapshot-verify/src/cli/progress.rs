//! The progress of a search, on the terminal.
//!
//! On a terminal, one line is rewritten repeatedly; elsewhere, if requested, lines are written from
//! time to time.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use snapshot_core::Process;
use snapshot_io::escape;
use snapshot_verify::report::{count, memory};
use snapshot_verify::search::{Progress, Storage};
use snapshot_verify::verify::{Effort, Watch};

use super::interrupt;
use super::memory::allocated;

/// Redraws per second of the line on a terminal.
const REDRAW: u8 = 5;

/// Time until the first line elsewhere. Each later pause is twice as long, up to [`PAUSE`].
const FIRST_LINE: Duration = Duration::from_secs(1);

/// Maximum time between two lines elsewhere.
const PAUSE: Duration = Duration::from_secs(5);

/// Writes progress to standard error.
#[derive(Debug)]
pub struct Ticker {
    /// `None` if silent.
    style: Option<Style>,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Style {
    Redraw,
    Lines,
}

#[derive(Debug)]
struct State {
    /// Subject of the present search.
    about: String,
    /// The line on the terminal, which the next one replaces.
    drawn: Option<ProgressBar>,
    /// Time of the last line, and pause until the next one.
    last: Instant,
    pause: Duration,
}

impl Ticker {
    /// Shows progress on a terminal, or if `asked`.
    pub fn new(asked: bool) -> Self {
        let style = match (io::stderr().is_terminal(), asked) {
            (true, _) => Some(Style::Redraw),
            (false, true) => Some(Style::Lines),
            (false, false) => None,
        };
        let state =
            State { about: String::new(), drawn: None, last: Instant::now(), pause: FIRST_LINE };
        Self { style, state: Mutex::new(state) }
    }

    /// Begins another search.
    pub fn begin(&self, about: String) {
        if let Ok(mut state) = self.state.lock() {
            state.about = escape::name(&about).into_owned();
        }
    }

    /// Shows the progress of the search.
    pub fn tick(&self, progress: &Progress) {
        let (Some(style), Ok(mut state)) = (self.style, self.state.lock()) else { return };
        let text = line(&state.about, progress);
        match style {
            Style::Redraw => state.drawn.get_or_insert_with(bar).set_message(text),
            Style::Lines if state.last.elapsed() >= state.pause => {
                state.last = Instant::now();
                state.pause = PAUSE.min(2 * state.pause);
                // An unread progress line is no reason to stop.
                let _ = writeln!(io::stderr().lock(), "{text}");
            }
            Style::Lines => {}
        }
    }

    /// Removes the progress line before an answer.
    pub fn clear(&self) {
        if let Ok(mut state) = self.state.lock()
            && let Some(bar) = state.drawn.take()
        {
            bar.finish_and_clear();
        }
    }
}

/// Returns a line no wider than the terminal.
fn bar() -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(REDRAW);
    let style = ProgressStyle::with_template("{wide_msg}").expect("the template is one");
    ProgressBar::with_draw_target(None, target).with_style(style)
}

fn line(about: &str, progress: &Progress) -> String {
    if progress.tracing {
        return format!("{about}: found something, looking for the way to it");
    }
    format!(
        "{about}: {} states, {} states/s, frontier {}, depth {}, {}",
        count(progress.states),
        count(progress.states_per_second as u64),
        count(progress.frontier),
        progress.depth,
        memory(progress.memory),
    )
}

/// Forwards the progress of searches to the ticker.
pub struct ProgressWatch<'a> {
    /// Subject of the searches.
    pub title: String,
    pub stop: &'a AtomicBool,
    pub ticker: &'a Ticker,
    /// Place of the states of searches.
    pub storage: Storage<'a>,
}

impl<'a> ProgressWatch<'a> {
    /// Watches searches in memory by threads of this process, until Ctrl-C.
    pub fn new(title: String, ticker: &'a Ticker) -> Self {
        let stop = interrupt::listen();
        Self { title, stop, ticker, storage: Storage::Memory }
    }
}

impl Watch for ProgressWatch<'_> {
    fn stop(&self) -> &AtomicBool {
        self.stop
    }

    fn begin(&self, pair: Option<[Process; 2]>, effort: Effort) {
        let pair = pair.map_or_else(String::new, |[i, j]| format!(", pair ({i},{j})"));
        let active = effort.active;
        let operations = match (effort.operations, effort.barriers) {
            (_, Some(barriers)) => format!(", {barriers} barriers, {active} processes"),
            (Some(operations), None) => format!(", {operations} operations of {active}"),
            (None, None) => String::new(),
        };
        self.ticker.begin(format!("{}{pair}{operations}", self.title));
    }

    fn prove(&self, rung: &str) {
        self.ticker.begin(format!("{}, {rung}", self.title));
    }

    fn progress(&self, progress: &Progress) {
        if !progress.between {
            self.ticker.tick(progress);
        }
    }

    fn storage(&self) -> Storage<'_> {
        self.storage
    }

    fn allocated(&self) -> Option<fn() -> u64> {
        Some(allocated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_line_has_rate_and_sizes() {
        let progress = Progress {
            seconds: 2.0,
            states: 3_000_000,
            states_per_second: 1_500_000.4,
            frontier: 12_345,
            depth: 31,
            memory: 48 << 20,
            tracing: false,
            between: false,
        };
        assert_eq!(
            line("bowman n = 5 (0,1)", &progress),
            "bowman n = 5 (0,1): 3,000,000 states, 1,500,000 states/s, frontier 12,345, depth 31, \
             48.0 MiB"
        );
    }
}
