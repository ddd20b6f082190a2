//! Ctrl-C: the first time a wish to end with an answer, the second time to end.

use std::sync::atomic::{AtomicBool, Ordering};

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

/// What a shell reports of a program that Ctrl-C ended.
const ENDED: i32 = 130;

/// Listens from now on. Where that is impossible, Ctrl-C ends the program.
pub fn listen() -> &'static AtomicBool {
    // An error is no reason not to search.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(ENDED);
        }
    });
    &STOP
}
