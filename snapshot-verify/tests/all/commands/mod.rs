//! The program as its users meet it: what it prints, what it refuses, and how it
//! ends.

mod answers;
mod bad_input;
mod certificates;
mod checkpoints;
#[path = "../../../../snapshot-picture/tests/all/browser/chromium.rs"]
mod chromium;
mod cluster;
mod cluster_keys;
mod cluster_network;
mod corpus;
mod disk;
mod editors;
mod every;
mod fmt;
mod html;
mod limits;
mod lsp;
mod marks;
mod outputs;
mod pages;
mod spin;
mod traces;
mod watch;

use std::path::Path;
use std::process::Command;

/// Exit code, standard output, standard error; of arguments that stand in one line,
/// apart by blanks.
fn answer(arguments: &str) -> (i32, String, String) {
    answer_in(Path::new("."), arguments)
}

/// The same in a folder.
fn answer_in(folder: &Path, arguments: &str) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("the output is text");
    let code = output.status.code().expect("the program ends by itself");
    (code, text(output.stdout), text(output.stderr))
}

/// What the program prints where it ends with this code and reports nothing.
fn printed(code: i32, arguments: &str) -> String {
    printed_in(Path::new("."), code, arguments)
}

/// The same in a folder.
fn printed_in(folder: &Path, code: i32, arguments: &str) -> String {
    let (found, out, error) = answer_in(folder, arguments);
    assert_eq!((found, error.as_str()), (code, ""), "{arguments}: {out}");
    out
}

/// What the program reports where it refuses.
fn refused(arguments: &str) -> String {
    let (code, out, error) = answer(arguments);
    assert_eq!((code, out.as_str()), (2, ""), "{arguments}: {error}");
    error
}

/// The lines of JSON that the program prints where it ends with this code.
fn json(code: i32, arguments: &str) -> Vec<serde_json::Value> {
    let out = printed(code, &format!("{arguments} --report json"));
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
