//! Every command on the pages for users exists in the program, with its options.

use test_support::{Program, pages};

#[test]
fn documented_commands_exist() {
    let program = Program::new(env!("CARGO_BIN_EXE_snapshot-verify"));
    let (count, wrong) = pages::unknown(program, "snapshot-verify");
    assert!(count > 40, "{count}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
