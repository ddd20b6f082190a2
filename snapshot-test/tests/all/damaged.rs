//! Good recordings that were damaged in transit: the damage that is noticed, and the rest.

use std::fs;

use snapshot_test::input::{Gauge, Input, Reading};
use snapshot_test::judge::{Finding, Options, judge, judge_object};
use test_support::Program;

const PROGRAM: Program = Program::new(env!("CARGO_BIN_EXE_snapshot-test"));

/// Returns the answer to a text: `Ok` if it is linearizable, else the line that is refused, or
/// `None` if no order explains it.
fn check_result(path: &std::path::Path, bytes: &[u8]) -> Result<(), Option<u64>> {
    fs::write(path, bytes).unwrap();
    match judge(&Input::File(path.to_owned()), None, &Options::default()).finding {
        Finding::Linearizable { .. } => Ok(()),
        Finding::Violation(_) => Err(None),
        Finding::Malformed(snapshot_test::input::OpenError::Input(error)) => {
            Err(Some(error.location().line))
        }
        other => panic!("{}: {other:?}", String::from_utf8_lossy(bytes)),
    }
}

#[test]
fn lost_doubled_and_cut_lines_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (good, path) = (folder.path().join("good"), folder.path().join("damaged"));
    for format in ["text", "jsonl"] {
        let target = good.display().to_string();
        let options = ["--processes", "3", "--operations", "24", "--to", format, "-o", &target];
        let (code, text) = PROGRAM.answer(&[&["generate"][..], &options].concat());
        assert_eq!(code, 0, "{text}");
        let text = fs::read_to_string(&good).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        assert_eq!(check_result(&path, text.as_bytes()), Ok(()));
        // A line of progress shows that the whole input is read.
        let (gauge, input) = (Gauge::default(), Input::File(good.clone()));
        judge_object(&input, None, None, &Options::default(), &gauge);
        let size = text.len() as u64;
        assert_eq!(gauge.reading(), Reading { passes: 1, read: size, size: Some(size) });
        let is_event = |line: &str| match format {
            "text" => line.starts_with('p') && !line.starts_with("processes"),
            _ => line.contains("\"process\":"),
        };
        let (mut lost, mut open) = (0, 0);
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| is_event(line)) {
            let (before, after) = (lines[..index].concat(), lines[index + 1..].concat());
            // Doubled: the second one is refused, in its line.
            let doubled = [&before, *line, *line, &after].concat();
            let found = check_result(&path, doubled.as_bytes());
            assert_eq!(found, Err(Some(index as u64 + 2)), "{format}: {doubled}");
            // Lost: the next event of its process is refused, unless there is no such event, or a
            // scan has returned a value that was never written.
            match check_result(&path, [before.clone(), after].concat().as_bytes()) {
                Ok(()) => open += 1,
                Err(None) => lost += 1,
                Err(Some(line)) => {
                    lost += 1;
                    assert!(line > index as u64, "{line} {index}");
                }
            }
            // Cut: whole lines are a recording, which ends sooner; a part of a line is refused.
            assert_eq!(check_result(&path, before.as_bytes()), Ok(()), "{format}: {before}");
            for length in 1..line.len() {
                let cut = [before.as_bytes(), &line.as_bytes()[..length]].concat();
                let found = check_result(&path, &cut);
                assert_eq!(found, Err(Some(index as u64 + 1)), "{format}: {length} of {line}");
            }
        }
        assert!(lost > 40 && open <= 3, "{lost} {open}");
    }
}
