//! Any bytes as a certificate of an algorithm for every n: [`fuzz_checks::proof::check_every_n`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz_checks::proof::check_every_n(bytes));
