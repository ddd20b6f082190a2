//! `fmt`: files, output, exit codes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{answer, answer_in, refused};

const UNTIDY: &str =
    "algorithm x\nupdate(v):\n  skip# why\nscan: return [initial for s in segments]\n";
const TIDY: &str =
    "algorithm x\nupdate(v):\n    skip # why\nscan: return [initial for s in segments]\n";

#[test]
fn files_are_formatted_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = |arguments: &str| answer_in(folder.path(), arguments);
    let path = |name: &str| folder.path().join(name);
    let read = |name: &str| fs::read_to_string(path(name)).unwrap();
    let write = |name: &str, text: &str| fs::write(path(name), text).unwrap();
    write("untidy", UNTIDY);
    write("tidy", TIDY);
    write("wrong", "algorithm x\nupdate(v):\n  skip skip\n");
    fs::set_permissions(path("untidy"), fs::Permissions::from_mode(0o600)).unwrap();

    let (code, out, error) = in_folder("fmt --check untidy tidy");
    assert_eq!((code, out.as_str(), error.as_str()), (1, "untidy: not formatted\n", ""));
    assert_eq!(read("untidy"), UNTIDY);
    let (code, out, error) = in_folder("fmt wrong untidy tidy missing");
    assert_eq!((code, out.as_str()), (2, "untidy: formatted\n"));
    assert!(error.contains("wrong:3:8") && error.contains("cannot read missing"), "{error}");
    assert_eq!([read("untidy"), read("tidy")], [TIDY, TIDY]);
    assert_eq!(read("wrong"), "algorithm x\nupdate(v):\n  skip skip\n");
    let mode = fs::metadata(path("untidy")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the mode is unchanged");
    assert_eq!(in_folder("fmt --check untidy tidy"), (0, String::new(), String::new()));
    let (code, _, _) = in_folder("fmt --check wrong untidy");
    assert_eq!(code, 2);
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    let program = test_support::Program::new(env!("CARGO_BIN_EXE_snapshot-verify"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    fs::write(&file, UNTIDY).unwrap();
    let from = format!("< {}", file.display());
    assert_eq!(program.run(&["fmt", "-"], &from), (0, TIDY.to_owned()));
    let (code, out) = program.run(&["fmt", "-", "--check"], &from);
    assert_eq!((code, out.as_str()), (1, "standard input: not formatted\n"));
}

#[test]
fn missing_files_and_folders_are_refused() {
    assert!(refused("fmt").contains("FILE"));
    assert!(refused("fmt /").contains("directory"));
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/small/locked.snapshot");
    assert_eq!(answer(&format!("fmt --check {}", small.display())).0, 0);
}
