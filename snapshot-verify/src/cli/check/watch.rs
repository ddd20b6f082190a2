//! `check --watch`: once more whenever a file changes.
//!
//! Files are compared by what they hold, every [`PAUSE`]: texts are short, editors replace
//! files rather than write them, and a notice of the operating system would be of the file that
//! is gone.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use snapshot_io::limited::{LINE_LIMIT, read_text};
use snapshot_io::output;

use super::Check;
use crate::cli::input::LARGEST;
use crate::cli::{interrupt, trouble};

/// Between two looks at the files.
const PAUSE: Duration = Duration::from_millis(200);

/// Clears a terminal, and what was scrolled away.
const CLEAR: &str = "\x1b[H\x1b[2J\x1b[3J";

impl Check {
    /// Checks again and again, until Ctrl-C: what came of the last time.
    pub(super) fn watch(&self) -> ExitCode {
        let files: Vec<&str> = self.inputs.iter().map(String::as_str).collect();
        let files: Vec<&str> =
            files.into_iter().filter(|name| corpus::algorithm(name).is_none()).collect();
        if files.is_empty() {
            return trouble("--watch waits for changes of files: name one");
        }
        let stop = interrupt::listen();
        loop {
            let texts = read(&files);
            if io::stdout().is_terminal() {
                let mut out = io::stdout().lock();
                let _ = out.write_all(CLEAR.as_bytes()).and_then(|()| out.flush());
            }
            let has_changed = AtomicBool::new(false);
            let is_done = AtomicBool::new(false);
            let code = thread::scope(|scope| {
                scope.spawn(|| {
                    // A search for the answer about a text that is gone is of no use.
                    while !is_done.load(Ordering::Relaxed) {
                        thread::sleep(PAUSE);
                        if is_other(&texts, &files) && !has_changed.swap(true, Ordering::Relaxed) {
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                });
                let code = self.once();
                is_done.store(true, Ordering::Relaxed);
                code
            });
            if has_changed.load(Ordering::Relaxed) {
                stop.store(false, Ordering::Relaxed);
                continue;
            }
            output::report(format_args!("watching {}; Ctrl-C ends", files.join(", ")));
            while !is_other(&texts, &files) {
                if stop.load(Ordering::Relaxed) {
                    return code;
                }
                thread::sleep(PAUSE);
            }
        }
    }
}

/// What the files hold; of one that cannot be read nothing.
fn read(files: &[&str]) -> Vec<Option<String>> {
    files.iter().map(|file| read_text(Path::new(file), LARGEST, LINE_LIMIT).ok()).collect()
}

/// Whether a file holds something else. One that is not there is about to be written.
fn is_other(texts: &[Option<String>], files: &[&str]) -> bool {
    let now = read(files);
    texts.iter().zip(now).any(|(before, now)| now.is_some() && *before != now)
}
