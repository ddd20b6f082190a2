//! The output of a failing test of the kit equals the program's report on its recording.

use snapshot_core::history::{Declaration, History};
use snapshot_kit::{Recorded, Value, judge};
use snapshot_test::input::Input;
use snapshot_test::judge::{Options, judge as judge_input};
use snapshot_test::report::human;

/// The recorded operations of the test.
fn history(values: [u64; 2]) -> History<u64> {
    let [first, second] = values;
    let declaration = Declaration::new(3).with_segments(2);
    let mut history = History::builder(declaration).unwrap();
    history.invoke_update(0, 0, first).unwrap();
    history.respond_update(0).unwrap();
    history.invoke_update(1, 1, u64::MAX).unwrap();
    history.invoke_scan(2).unwrap();
    history.respond_scan(2, &[second, u64::MAX]).unwrap();
    history.unknown(1).unwrap();
    history.finish()
}

#[test]
fn kit_and_program_give_the_same_report() {
    let failure = judge(&history([7, 3]), "kit: a test/1", &["a note", "two\nlines"]).unwrap_err();
    let path = failure.recording().unwrap();
    assert!(path.ends_with("snapshot/kit--a-test-1.txt"), "{}", path.display());
    let judgement = judge_input(&Input::from_argument(path), None, &Options::default());
    let report = human(&path.display().to_string(), &judgement);
    assert!(report.contains("U1 = update(7)") && report.contains("|- U1"), "{report}");
    assert!(failure.to_string().starts_with(&report), "{failure}{report}");
}

#[test]
fn linearizable_history_passes_with_its_overlap_and_writes_no_file() {
    // A failure of the same name shows where the file would be.
    let failure = judge(&history([7, 3]), "kit-good", &[]).unwrap_err();
    let path = failure.recording().expect("a failure is written");
    std::fs::remove_file(path).expect("the recording was written");
    let overlap = judge(&history([7, 7]), "kit-good", &[]).unwrap();
    assert_eq!((overlap.operations, overlap.overlapping), (3, 1));
    assert!(overlap.note().is_none());
    assert!(!path.exists(), "{}", path.display());
}

/// Values of all kinds are read as they were recorded.
#[test]
fn saved_values_round_trip() {
    let values = ["a \"b\"\n".to_owned(), "0".to_owned(), String::new()];
    let declaration = Declaration::new("first # not a comment".to_owned()).with_segments(2);
    let mut history = History::builder(declaration).unwrap();
    for value in &values {
        history.invoke_update(0, 0, value.clone()).unwrap();
        history.respond_update(0).unwrap();
    }
    let history = history.finish();
    let mut file = Vec::new();
    let line = snapshot_kit::save(&history, &["one", "two"], &mut file).unwrap();
    let reader = snapshot_test::format::Reader::text(file.as_slice()).unwrap();
    let (read, locations) = snapshot_test::read_history(reader).unwrap();
    assert_eq!(locations[0].line, line as u64);
    let read_values: Vec<&Value> =
        read.operations().iter().map(|update| read.update_value(update)).collect();
    assert_eq!(
        read_values,
        values.iter().map(Recorded::recorded).collect::<Vec<_>>().iter().collect::<Vec<_>>()
    );
}
