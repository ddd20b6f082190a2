//! `check --watch`: repeats the check whenever a file changes.
//!
//! The contents of files are compared every [`PAUSE`]: texts are short, editors replace files
//! rather than write them, and a notification of the operating system would concern the deleted
//! file.

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

/// Time between two comparisons.
const PAUSE: Duration = Duration::from_millis(200);

/// Clears a terminal and its scrollback.
const CLEAR: &str = "\x1b[H\x1b[2J\x1b[3J";

impl Check {
    /// Checks repeatedly, until Ctrl-C. Returns the exit code of the last check.
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
                    // The answer about an outdated text is useless, so its search is stopped.
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
            output::report(format_args!("watching {}; press Ctrl-C to stop", files.join(", ")));
            while !is_other(&texts, &files) {
                if stop.load(Ordering::Relaxed) {
                    return code;
                }
                thread::sleep(PAUSE);
            }
        }
    }
}

/// Reads the files; `None` for an unreadable one.
fn read(files: &[&str]) -> Vec<Option<String>> {
    files.iter().map(|file| read_text(Path::new(file), LARGEST, LINE_LIMIT).ok()).collect()
}

/// Returns true if the content of a file differs. A missing file is about to be written.
fn is_other(texts: &[Option<String>], files: &[&str]) -> bool {
    let now = read(files);
    texts.iter().zip(now).any(|(before, now)| now.is_some() && *before != now)
}
