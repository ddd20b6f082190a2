//! Any bytes as a recording in the disc22 format: [`snapshot_fuzz::parse`].
#![no_main]

use libfuzzer_sys::fuzz_target;
use snapshot_test::format::Format;

fuzz_target!(|bytes: &[u8]| snapshot_fuzz::parse::check(Format::Disc22, bytes));
