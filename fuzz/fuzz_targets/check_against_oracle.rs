//! All deciders of histories against brute force: [`fuzz_checks::agreement`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    fuzz_checks::agreement::check(&fuzz_checks::history::history(bytes));
});
