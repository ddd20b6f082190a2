//! A recording of a real server with many writers, where it is at hand: in
//! `shared/recordings` beside the workspace.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;
use std::process::Command;

use snapshot_test::certificate::Certificate;
use snapshot_test::input::Input;
use snapshot_test::judge::{Finding, Options, judge};
use snapshot_test::read_history;

#[test]
fn a_scan_that_is_not_atomic_is_proved_by_four_operations() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/recordings");
    let packed = beside.join("many-writers-get.jsonl.gz");
    if !packed.exists() {
        return;
    }
    let Ok(unpacked) = Command::new("gzip").arg("-dc").arg(&packed).output() else { return };
    assert!(unpacked.status.success());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("get.jsonl");
    fs::write(&path, unpacked.stdout).unwrap();
    let input = Input::File(path);
    let judgement = judge(&input, None, &Options::default());
    let Finding::Violation(violation) = judgement.finding else { panic!("{judgement:?}") };
    assert_eq!(violation.decided_at.0, 1068);
    let explanation = violation.proof.unwrap().explanation;
    assert_eq!(explanation.exhibits.len(), 4);
    let certificate = Certificate::of_violation(&explanation);
    let text = certificate.to_text();
    assert!(text.contains("\"lines\":["), "{text}");
    let certificate = Certificate::from_text(&text).unwrap();
    let history = read_history(input.open(None).unwrap()).unwrap().0;
    certificate.check(&history).unwrap();
    // One event earlier there is an order.
    assert!(certificate.check(&history.prefix(1068)).is_err());
}
