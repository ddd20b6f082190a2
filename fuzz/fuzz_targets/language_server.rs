//! Any bytes as messages and texts of an editor: [`fuzz_checks::cli::lsp::check`].
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz_checks::cli::lsp::check(bytes));
