//! All deciders of simple histories against brute force: [`snapshot_fuzz::simple`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (processes, letters) = snapshot_fuzz::simple::word(bytes);
    snapshot_fuzz::simple::check(processes, letters);
});
