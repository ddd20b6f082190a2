//! Every command and option that the pages for users name exists.

use std::collections::BTreeSet;

use test_support::{Program, pages};

/// Options of other programs on the pages: cargo, its tests, rustc, Redis, tree-sitter, Helix and the Python
/// examples.
const FOREIGN: [&str; 16] = [
    "--abi",
    "--appendfsync",
    "--appendonly",
    "--dev",
    "--exact",
    "--example",
    "--features",
    "--git",
    "--grammar",
    "--incremental",
    "--kills",
    "--lib",
    "--locked",
    "--nocapture",
    "--save-baseline",
    "--workspace",
];

#[test]
fn documented_commands_exist() {
    let program = Program::new(env!("CARGO_BIN_EXE_snapshot-test"));
    let (count, wrong) = pages::unknown(program, "snapshot-test");
    assert!(count > 40, "{count}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Checks every position on a page, even sentences that name no program.
#[test]
fn documented_options_exist() {
    let sources = pages::command_line_sources();
    assert!(sources.len() > 10, "{}", sources.len());
    let (mut known, mut foreign, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for code in pages::code() {
        for option in code.options() {
            if FOREIGN.contains(&option) {
                foreign.insert(option.to_owned());
            } else if pages::declares(option, &sources) {
                known += 1;
            } else {
                wrong.push(format!("{}: {option}", code.place));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(known > 300, "{known}");
    assert_eq!(foreign.len(), FOREIGN.len(), "met: {foreign:?}");
    assert!(!pages::declares("--budget-minutes", &sources));
}
