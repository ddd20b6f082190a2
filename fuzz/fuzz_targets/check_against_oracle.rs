//! All deciders of histories against brute force: [`snapshot_fuzz::agreement`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    snapshot_fuzz::agreement::check(&snapshot_fuzz::history::history(bytes));
});
