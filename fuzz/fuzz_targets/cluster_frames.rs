//! Any bytes as frames of a cluster: [`fuzz_checks::cli::cluster::check`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz_checks::cli::cluster::check(bytes));
