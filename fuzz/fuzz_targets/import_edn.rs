//! Any bytes as a history in EDN: [`fuzz_checks::import::check_edn`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz_checks::import::check_edn(bytes));
