//! Any bytes as an algorithm: [`fuzz_checks::algorithm`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz_checks::algorithm::check(bytes));
