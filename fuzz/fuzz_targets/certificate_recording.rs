//! Any bytes as a certificate of a recording: [`fuzz_checks::proof::check_recording`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz_checks::proof::check_recording(bytes));
