//! All deciders of simple histories against brute force: [`fuzz_checks::simple`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (processes, letters) = fuzz_checks::simple::word(bytes);
    fuzz_checks::simple::check(processes, letters);
});
