//! Any bytes as a log of intervals: [`fuzz_checks::import::check_intervals`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz_checks::import::check_intervals(bytes));
