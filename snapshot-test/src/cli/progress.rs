//! Progress of reading a recording, on a terminal: with the time that is left.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use snapshot_io::escape;
use snapshot_test::input::{Gauge, Reading};

/// Delay before the line is shown: most answers come sooner.
const PATIENCE: Duration = Duration::from_millis(500);

/// Interval between two checks of the progress.
const LOOK: Duration = Duration::from_millis(200);

/// Redraws of the line per second.
const REDRAW: u8 = 5;

/// A line on the terminal while an input is judged; removed on drop.
pub(super) struct Line {
    /// Dropping it ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Line {
    /// Creates the line for the input of this name, if standard error is a terminal.
    pub(super) fn new(name: &str, gauge: &Gauge) -> Self {
        if !io::stderr().is_terminal() {
            return Self { end: None, thread: None };
        }
        let (name, gauge) = (escape::name(name).into_owned(), gauge.clone());
        let (end, ended) = mpsc::channel();
        let thread = thread::spawn(move || {
            let begun = Instant::now();
            let (mut pass, mut since) = (1, begun);
            let mut drawn = None;
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let reading = gauge.reading();
                if reading.passes > pass {
                    (pass, since) = (reading.passes, Instant::now());
                }
                if begun.elapsed() >= PATIENCE {
                    let text = line(&name, reading, since.elapsed());
                    drawn.get_or_insert_with(bar).set_message(text);
                }
            }
            if let Some(bar) = drawn {
                bar.finish_and_clear();
            }
        });
        Self { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        drop(self.end.take());
        // A line that could not be drawn is not a reason to stop.
        self.thread.take().map(JoinHandle::join);
    }
}

/// Creates a line that is at most as wide as the terminal.
fn bar() -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(REDRAW);
    let style = ProgressStyle::with_template("{wide_msg}").expect("the template is one");
    ProgressBar::with_draw_target(None, target).with_style(style)
}

/// Returns the text of the line `elapsed` after this reading of the input began.
fn line(name: &str, reading: Reading, elapsed: Duration) -> String {
    let Reading { passes, read, size } = reading;
    let again = if passes > 1 { ", read again" } else { "" };
    let rate = read as f64 / elapsed.as_secs_f64().max(0.001);
    let speed = HumanBytes(rate as u64);
    match size {
        Some(size) if read >= size => {
            format!("{name}{again}: all of {} is read, and judged now", HumanBytes(size))
        }
        Some(size) if read > 0 => {
            let left = Duration::from_secs_f64(((size - read) as f64 / rate).ceil());
            let percent = 100.0 * read as f64 / size as f64;
            format!(
                "{name}{again}: {percent:.0} % of {}, {speed}/s, {:#} left",
                HumanBytes(size),
                HumanDuration(left)
            )
        }
        Some(size) => format!("{name}{again}: {}", HumanBytes(size)),
        None => format!("{name}{again}: {} so far, {speed}/s", HumanBytes(read)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use snapshot_test::input::Reading;

    use super::line;

    #[test]
    fn progress_line_has_share_rate_and_time_left() {
        let of = |passes, read: u64, size: Option<u64>, seconds| {
            let reading = Reading { passes, read: read << 20, size: size.map(|size| size << 20) };
            line("a.txt", reading, Duration::from_secs(seconds))
        };
        assert_eq!(of(1, 0, Some(40), 1), "a.txt: 40.00 MiB");
        assert_eq!(of(1, 10, Some(40), 5), "a.txt: 25 % of 40.00 MiB, 2.00 MiB/s, 15s left");
        assert_eq!(of(1, 39, Some(40), 1), "a.txt: 98 % of 40.00 MiB, 39.00 MiB/s, 1s left");
        assert_eq!(of(1, 40, Some(40), 9), "a.txt: all of 40.00 MiB is read, and judged now");
        assert_eq!(
            of(2, 1, Some(4_000), 1),
            "a.txt, read again: 0 % of 3.91 GiB, 1.00 MiB/s, 67m left"
        );
        assert_eq!(of(3, 6, None, 3), "a.txt, read again: 6.00 MiB so far, 2.00 MiB/s");
        // An input that grew since it was opened, and one that took no time.
        assert_eq!(of(1, 41, Some(40), 9), "a.txt: all of 40.00 MiB is read, and judged now");
        assert!(of(1, 1, Some(40), 0).contains("1s left"));
    }
}
