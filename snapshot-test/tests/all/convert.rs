//! End-to-end tests of the command `snapshot-test convert`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_snapshot-test"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A child that refuses its arguments does not read its input: this does not fail the test.
    let _ = child.stdin.take().expect("standard input is piped").write_all(input);
    child.wait_with_output().expect("the program ends")
}

/// Returns exit code, standard output, standard error.
fn answer(output: &Output) -> (i32, &str, &str) {
    let text = |bytes| std::str::from_utf8(bytes).expect("the output is text");
    let code = output.status.code().expect("the program ends by itself");
    (code, text(&output.stdout), text(&output.stderr))
}

const TEXT: &str =
    "segments 2\nprocesses 2\np0 update 5\np1 scan\np0 ok\np1 ok 5 0\np1 update -7\n";
const DISC22: &str = "startUpdate!0,5;startScan!1;endUpdate!0,5;endScan!1,5,0;startUpdate!1,-7;";

#[test]
fn files_and_pipes_are_converted_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("a.txt"), TEXT).unwrap();
    fs::write(path.join("a.disc22"), DISC22).unwrap();
    let piped = run(path, &["convert", "--to", "disc22"], TEXT.as_bytes());
    assert_eq!(answer(&piped), (0, DISC22, ""));
    let file = run(path, &["convert", "--to", "disc22", "a.txt"], b"");
    assert_eq!(answer(&file), (0, DISC22, ""));
    // disc22 is read twice, also from a pipe.
    let piped = run(path, &["convert", "--to", "text", "-"], DISC22.as_bytes());
    assert_eq!(answer(&piped), (0, TEXT, ""));
    let file = run(path, &["convert", "--from", "disc22", "--to", "text", "a.disc22"], b"");
    assert_eq!(answer(&file), (0, TEXT, ""));
    let jsonl = run(path, &["convert", "--to", "jsonl", "a.txt", "-o", "a.jsonl"], b"");
    assert_eq!(answer(&jsonl), (0, "", ""));
    let back = run(path, &["convert", "--to", "text", "a.jsonl"], b"");
    assert_eq!(answer(&back), (0, TEXT, ""));
}

#[test]
fn a_file_may_be_replaced_by_its_conversion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, DISC22).unwrap();
    let replaced = run(folder.path(), &["convert", "--to", "text", "a", "-o", "a"], b"");
    assert_eq!(answer(&replaced), (0, "", ""));
    assert_eq!(fs::read_to_string(&path).unwrap(), TEXT);
}

#[test]
fn bad_input_leaves_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("out"), "precious").unwrap();
    let bad = format!("{TEXT}p1 ok\np1 ok\n");
    let report = "standard input:9:1: process 1 ends an operation, but it has none open; \
                  record its invocation before its response\n  p1 ok\n  ^^\n";
    let to_file = run(path, &["convert", "--to", "jsonl", "-o", "out"], bad.as_bytes());
    assert_eq!(answer(&to_file), (2, "", report));
    let to_stream = run(path, &["convert", "--to", "jsonl"], bad.as_bytes());
    assert_eq!(answer(&to_stream), (2, "", report));
    assert_eq!(fs::read_to_string(path.join("out")).unwrap(), "precious");
    let truncated = run(path, &["convert", "--to", "text"], &DISC22.as_bytes()[..20]);
    assert_eq!(truncated.status.code(), Some(2));
    assert_eq!(fs::read_dir(path).unwrap().count(), 1, "temporary files are removed");
}

#[test]
fn inputs_that_cannot_be_opened_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = run(folder.path(), &["convert", "--to", "text", "missing.txt"], b"");
    assert_eq!(
        answer(&missing),
        (
            2,
            "",
            "expected a history in missing.txt, found no such file\n\
             help: check the path; `-` reads standard input\n"
        )
    );
    let directory = run(folder.path(), &["convert", "--to", "text", "."], b"");
    assert_eq!(
        answer(&directory),
        (2, "", "expected a history in ., found a directory\nhelp: name one file in it\n")
    );
    let empty = run(folder.path(), &["convert", "--to", "text"], b"");
    assert_eq!(
        answer(&empty),
        (
            2,
            "",
            "standard input:1:1: empty input: expected a history, found nothing\n\
             help: an empty history is a header line such as `segments 2`\n"
        )
    );
    let nowhere = run(
        folder.path(),
        &["convert", "--to", "text", "-o", "no/such/folder/out"],
        TEXT.as_bytes(),
    );
    let (code, out, report) = answer(&nowhere);
    assert_eq!((code, out), (2, ""));
    assert!(report.starts_with("cannot write no/such/folder/out: "), "{report}");
}

#[test]
fn byte_order_mark_before_blank_lines_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let input = format!("\u{feff}\n{}{TEXT}", " \r\n".repeat(5000));
    let output = run(folder.path(), &["convert", "--to", "text"], input.as_bytes());
    assert_eq!(answer(&output), (0, TEXT, ""));
}

#[cfg(unix)]
#[test]
fn links_and_permissions_survive_a_replacement() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("real"), "old").unwrap();
    fs::set_permissions(path.join("real"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real", path.join("link")).unwrap();
    let output = run(path, &["convert", "--to", "text", "-o", "link"], TEXT.as_bytes());
    assert_eq!(answer(&output), (0, "", ""));
    assert!(path.join("link").is_symlink());
    assert_eq!(fs::read_to_string(path.join("real")).unwrap(), TEXT);
    let mode = fs::metadata(path.join("real")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let device = run(path, &["convert", "--to", "text", "-o", "/dev/null"], TEXT.as_bytes());
    assert_eq!(answer(&device), (0, "", ""));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}
