//! Any bytes as a trace: [`fuzz_checks::trace::check`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz_checks::trace::check(bytes));
