//! Any bytes as a recording in the text format: [`fuzz_checks::parse`].
#![no_main]

use libfuzzer_sys::fuzz_target;
use snapshot_test::format::Format;

fuzz_target!(|bytes: &[u8]| fuzz_checks::parse::check(Format::Text, bytes));
