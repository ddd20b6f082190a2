//! Any bytes as a checkpoint of a monitor: [`fuzz_checks::checkpoint::check`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz_checks::checkpoint::check(bytes));
