//! The program from a user's point of view: output, error messages, exit codes.

mod answers;
mod bad_input;
mod certificates;
mod checkpoints;
#[path = "../../../../support/picture/tests/all/browser/chromium.rs"]
pub(crate) mod chromium;
mod cluster;
mod cluster_keys;
mod cluster_network;
mod corpus;
mod disk;
mod editors;
mod every;
mod fmt;
mod html;
mod html_properties;
mod limits;
mod lsp;
mod marks;
mod outputs;
mod pages;
mod properties;
mod spin;
mod traces;
mod watch;

use std::path::Path;
use std::process::Command;

/// Returns exit code, standard output and standard error for arguments separated by blanks.
fn answer(arguments: &str) -> (i32, String, String) {
    answer_in(Path::new("."), arguments)
}

/// As [`answer`], in a folder.
pub(crate) fn answer_in(folder: &Path, arguments: &str) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("the output is text");
    let code = output.status.code().expect("the program ends by itself");
    (code, text(output.stdout), text(output.stderr))
}

/// Returns the output of the program, which must end with this code and report nothing.
fn printed(code: i32, arguments: &str) -> String {
    printed_in(Path::new("."), code, arguments)
}

/// As [`printed`], in a folder.
fn printed_in(folder: &Path, code: i32, arguments: &str) -> String {
    let (found, out, error) = answer_in(folder, arguments);
    assert_eq!((found, error.as_str()), (code, ""), "{arguments}: {out}");
    out
}

/// Returns the error message of the program, which must refuse.
fn refused(arguments: &str) -> String {
    let (code, out, error) = answer(arguments);
    assert_eq!((code, out.as_str()), (2, ""), "{arguments}: {error}");
    error
}

/// Returns the lines of JSON of the program, which must end with this code.
fn json(code: i32, arguments: &str) -> Vec<serde_json::Value> {
    let out = printed(code, &format!("{arguments} --report json"));
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
