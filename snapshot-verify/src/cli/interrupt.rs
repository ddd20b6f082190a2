//! Ctrl-C: the first one asks for an answer, the second one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// Exit code of a program ended by Ctrl-C, by the convention of shells.
const ENDED: i32 = 130;

/// Starts listening. If that fails, Ctrl-C ends the program.
pub fn listen() -> &'static AtomicBool {
    // An error is no reason not to search.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(ENDED);
        }
    });
    &STOP
}
