//! Any bytes as an algorithm: [`snapshot_fuzz::algorithm`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| snapshot_fuzz::algorithm::check(bytes));
