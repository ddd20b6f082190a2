//! A recording of a real server with many writers, if available: in `shared/recordings` beside the
//! workspace.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use corpus::Expected;
use corpus::generate::{Contradiction, ManyWriters, OwnedAction, OwnedEvent};
use snapshot_test::certificate::Certificate;
use snapshot_test::format::Format;
use snapshot_test::generate::generate_many;
use snapshot_test::input::Input;
use snapshot_test::judge::{Finding, Options, judge};
use snapshot_test::read_history;

#[test]
fn non_atomic_scan_is_proved_by_four_operations() {
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
    assert_eq!(explanation.operations.len(), 4);
    let certificate = Certificate::of_violation(&explanation);
    let text = certificate.to_text();
    assert!(text.contains("\"lines\":["), "{text}");
    let certificate = Certificate::from_text(&text).unwrap();
    let history = read_history(input.open(None).unwrap()).unwrap().0;
    certificate.check(&history).unwrap();
    // One event earlier an order exists.
    assert!(certificate.check(&history.prefix(1068)).is_err());
}

/// Two updates overlap, and scans see them in both orders: a live check stops there.
#[test]
fn live_check_stops_at_the_first_violating_event() {
    let folder = tempfile::tempdir().unwrap();
    let begin = "writers many\nsegments 1\np0 update s0 5\np1 update s0 6\np0 ok\np1 ok\n\
                 p2 scan\np2 ok 5\np2 scan\n";
    let end = "p0 update s0 7\np0 ok\n";
    for (scan, events) in [("p2 ok 6\n", 8), ("p2 ok 5\n", 10)] {
        let path = folder.path().join("recording.txt");
        fs::write(&path, format!("{begin}{scan}{end}")).unwrap();
        let options = Options { live: true, ..Options::default() };
        let judgement = judge(&Input::File(path), None, &options);
        assert_eq!(judgement.counts.events, events);
        match judgement.finding {
            Finding::Violation(violation) => assert_eq!((violation.decided_at.0, events), (7, 8)),
            Finding::Linearizable { .. } => assert_eq!(events, 10),
            other => panic!("{other:?}"),
        }
    }
}

/// Few values, so that they repeat: the answers equal those of the recipe.
#[test]
fn repeated_values_are_generated_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repeated.txt");
    let mut repetitions = 0;
    for seed in 0..12 {
        let plain = ManyWriters { values: Some(4), ..ManyWriters::new(5, 3, 120, seed) };
        let violation = Some(Contradiction::ALL[seed as usize % 5]);
        for recipe in [plain.clone(), ManyWriters { violation, ..plain }] {
            let text = generate_many(&recipe, Format::Text, &[], Vec::new()).unwrap();
            fs::write(&path, text).unwrap();
            let judgement = judge(&Input::File(path.clone()), None, &Options::default());
            match (recipe.expected(), judgement.finding) {
                (Expected::Linearizable, Finding::Linearizable { .. }) => {}
                (Expected::Violation { .. }, Finding::Violation(_)) => {}
                (expected, found) => panic!("seed {seed}: {expected:?}, {found:?}"),
            }
            let mut written = HashSet::new();
            let again = |event: OwnedEvent| match event.action {
                OwnedAction::InvokeUpdate { segment, value } => !written.insert((segment, value)),
                _ => false,
            };
            repetitions += usize::from(recipe.events().unwrap().any(again));
        }
    }
    assert_eq!(repetitions, 24);
}
