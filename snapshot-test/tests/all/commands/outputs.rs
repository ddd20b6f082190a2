//! Written files: their contents afterwards belong to this run.

use std::fs;

use super::{answer, run};

const VIOLATION: &str = "segments 2\np0 update 1\np0 ok\np1 scan\np1 ok 0 0\n";
const EXCHANGED: &str = "p0 exchange 1\np1 exchange 2\np0 ok 2\np1 ok 1\n";
const MALFORMED: &str = "segments 2\np0 what\n";

/// Returns the exit code, and the contents of the file afterwards.
fn after(arguments: &str, path: &str) -> (i32, Option<String>) {
    let (code, _, _) = answer(run(arguments));
    (code, fs::read_to_string(path).ok())
}

#[test]
fn malformed_input_removes_the_older_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(at("proofs")).unwrap();
    let (recording, certificate) = (at("recording"), at("proofs/recording.certificate"));
    for (object, text, code) in [("", VIOLATION, 1), ("--object exchanger ", EXCHANGED, 0)] {
        let check = format!("check {object}--certificate {} {recording}", at("proofs"));
        fs::write(&recording, text).unwrap();
        let (found, written) = after(&check, &certificate);
        assert_eq!(found, code, "{object}");
        assert!(written.is_some(), "{object}");
        fs::write(&recording, MALFORMED).unwrap();
        assert_eq!(after(&check, &certificate), (2, None), "{object}");
    }
}

#[test]
fn malformed_input_removes_the_older_page() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (recording, page) = (at("recording"), at("page.html"));
    fs::write(&recording, VIOLATION).unwrap();
    let explain = format!("explain {recording} --html {page}");
    let (code, written) = after(&explain, &page);
    assert!(code == 1 && written.is_some());
    fs::write(&recording, MALFORMED).unwrap();
    assert_eq!(after(&explain, &page), (2, None));
    // The recording itself is not overwritten.
    let (code, _, error) =
        answer(run(&format!("explain {recording} --html {}", at("./recording"))));
    assert_eq!(
        (code, error),
        (2, format!("{} would be written over: name another file\n", at("./recording")))
    );
    assert_eq!(fs::read_to_string(&recording).unwrap(), MALFORMED);
}
