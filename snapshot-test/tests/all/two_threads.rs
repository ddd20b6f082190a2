//! A long file, read by a second thread, is judged as standard input, read event by event; and
//! without delay.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use snapshot_test::format::Format;
use test_support::effort::either;

/// The second thread takes over after this many events, in batches of this many.
const FIRST: usize = 1 << 14;
const BATCH: usize = 4096;

#[derive(Clone, Copy)]
enum Event {
    Update(usize, usize),
    Updated(usize, usize),
    Scan(usize),
    Scanned(usize, [usize; 2]),
}

use Event::{Scan, Scanned, Update, Updated};

impl Event {
    /// Returns its text in a recording of this format, with the separator from the next.
    fn written(self, format: Format) -> String {
        match (format, self) {
            (Format::Text, Update(process, value)) => format!("p{process} update {value}\n"),
            (Format::Text, Updated(process, _)) => format!("p{process} ok\n"),
            (Format::Text, Scan(process)) => format!("  p{process} scan\n"),
            (Format::Text, Scanned(process, [x, y])) => format!("p{process} ok {x} {y}\n"),
            (Format::Jsonl, Update(process, value)) => format!(
                "{{\"process\":{process},\"event\":\"invoke\",\"operation\":\"update\",\
                 \"value\":{value}}}\n"
            ),
            (Format::Jsonl, Updated(process, _)) => {
                format!("{{\"process\":{process},\"event\":\"ok\"}}\n")
            }
            (Format::Jsonl, Scan(process)) => {
                format!("{{\"process\":{process},\"event\":\"invoke\",\"operation\":\"scan\"}}\n")
            }
            (Format::Jsonl, Scanned(process, [x, y])) => {
                format!("{{\"process\":{process},\"event\":\"ok\",\"values\":[{x},{y}]}}\n")
            }
            (Format::Disc22, Update(process, value)) => format!("startUpdate!{process},{value};"),
            (Format::Disc22, Updated(process, value)) => format!("endUpdate!{process},{value};"),
            (Format::Disc22, Scan(process)) => format!("startScan!{process};"),
            (Format::Disc22, Scanned(process, [x, y])) => format!("endScan!{process},{x},{y};"),
            (Format::Edn | Format::Intervals, _) => unreachable!("{format} is not written"),
        }
    }
}

/// Returns at least this many events, all in order: each of two processes updates its segment while
/// the other scans both.
fn linearizable(events: usize) -> Vec<Event> {
    let round = |number| {
        let [before, now] = [number, number + 1];
        let first = [Update(0, now), Scan(1), Updated(0, now), Scanned(1, [now, before])];
        let second = [Update(1, now), Scan(0), Updated(1, now), Scanned(0, [now, now])];
        first.into_iter().chain(second)
    };
    (0..events.div_ceil(8)).flat_map(round).collect()
}

fn written(format: Format, events: &[Event]) -> String {
    events.iter().map(|event| event.written(format)).collect()
}

/// Returns the answers for a file, by its name and through standard input.
fn both(file: &Path, options: &[&str]) -> [String; 2] {
    let check = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_snapshot-test"));
        command.arg("check").args(options);
        command
    };
    let outputs = [
        check().arg(file).output(),
        check()
            .arg("-")
            .stdin(Stdio::from(File::open(file).expect("the recording was written")))
            .output(),
    ];
    let names = [file.to_str().expect("temporary names are UTF-8"), "standard input"];
    let [by_name, through_pipe] = outputs.map(|output| output.expect("the program runs"));
    let answer = |output: std::process::Output, name| {
        let text =
            String::from_utf8([output.stdout, output.stderr].concat()).expect("reports are UTF-8");
        format!("{:?} {}", output.status.code(), text.replace(name, "NAME"))
    };
    [answer(by_name, names[0]), answer(through_pipe, names[1])]
}

/// Both answers must be the same and contain `expected`, in both reports, with
/// `--live` and without.
fn assert_same(input: &str, expected: &str, live: &str) {
    let folder = tempfile::tempdir().expect("there is room for files");
    let file = folder.path().join("recording");
    fs::write(&file, input).expect("the recording can be written");
    for (options, expected) in [
        (&["--report", "human"][..], expected),
        (&["--report", "json"], ""),
        (&["--report", "human", "--live"], live),
    ] {
        let [by_name, through_pipe] = both(&file, options);
        assert_eq!(by_name, through_pipe);
        assert!(by_name.contains(expected), "expected {expected:?} in\n{by_name}");
    }
}

/// Around the first batch of the second thread, around the second, and the end.
fn places(events: usize) -> impl Iterator<Item = usize> {
    let around = |place: usize| place - 8..place + 8;
    around(FIRST).chain(around(FIRST + BATCH)).chain([events - 4, events - 1])
}

#[test]
fn linearizable_files() {
    for format in Format::ALL {
        for events in [FIRST, FIRST + 8, FIRST + BATCH, FIRST + 3 * BATCH + 16] {
            let input = written(format, &linearizable(events));
            let expected = format!("NAME: linearizable ({} operations", events / 2);
            assert_same(&input, &expected, &expected);
        }
    }
}

#[test]
fn violations_at_any_position() {
    let events = linearizable(FIRST + 2 * BATCH);
    for format in Format::ALL {
        let few = if format == Format::Text { either(5, 1) } else { either(17, 7) };
        let scans = places(events.len()).filter(|place| matches!(events[*place], Scanned(..)));
        for place in scans.step_by(few) {
            let mut events = events.clone();
            let Scanned(process, [x, y]) = events[place] else { unreachable!() };
            events[place] = Scanned(process, [x - 2, y]);
            let expected = match format {
                Format::Disc22 => "not linearizable from 1:".to_owned(),
                _ => format!("not linearizable from {}:1 (event {place})", place + 1),
            };
            assert_same(&written(format, &events), &expected, &expected);
        }
    }
}

#[test]
fn refused_events_at_any_position() {
    let events = linearizable(FIRST + 2 * BATCH);
    for format in Format::ALL {
        let few = if format == Format::Text { 3 } else { 11 };
        for place in places(events.len()).step_by(few) {
            let mut events = events.clone();
            let open = match events[place] {
                Update(process, _) | Scan(process) => process,
                Updated(process, _) => 1 - process,
                Scanned(..) => continue,
            };
            events.insert(place + 1, Scan(open));
            let refused = "invokes an operation while its previous one is still open";
            assert_same(&written(format, &events), refused, refused);
        }
    }
}

#[test]
fn second_writer_far_from_the_first_is_noted() {
    let events = linearizable(FIRST + BATCH);
    let input = written(Format::Text, &events) + "p2 update s1 7\n";
    let note = "note: NAME:5:1: the first update of that segment";
    assert_same(&input, note, note);
}

#[test]
fn defects_at_any_position() {
    let events = linearizable(FIRST + 2 * BATCH);
    for place in places(events.len()).step_by(3) {
        let (before, after) = events.split_at(place);
        let defect = "p1 okay\n".to_owned();
        let input = written(Format::Text, before) + &defect + &written(Format::Text, after);
        let expected = format!("NAME:{}:4: ", place + 1);
        assert_same(&input, &expected, &expected);
    }
}

#[test]
fn defect_after_a_violation_is_reported() {
    let mut events = linearizable(FIRST + 2 * BATCH);
    let place = FIRST + BATCH + 3;
    let Scanned(process, _) = events[place] else { panic!("no scan responds there") };
    events[place] = Scanned(process, [3, 3]);
    let input = written(Format::Text, &events) + "p1 okay\n";
    // The report has the defect, too, unless its reader is gone.
    let defect = format!("malformed later on: {}:4: ", events.len() + 1);
    assert_same(&input, &defect, "NAME: violation");
}

#[test]
fn a_live_answer_does_not_wait_for_more_input() {
    let mut checker = Command::new(env!("CARGO_BIN_EXE_snapshot-test"))
        .args(["check", "--live", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut producer = checker.stdin.take().unwrap();
    let mut events = linearizable(FIRST + 2 * BATCH);
    events.truncate(FIRST + BATCH + 3);
    events.push(Scanned(1, [3, 3]));
    producer.write_all(written(Format::Text, &events).as_bytes()).unwrap();
    producer.flush().unwrap();
    // The producer neither writes more nor closes the pipe.
    let mut output = BufReader::new(checker.stdout.take().unwrap());
    let (sender, answers) = channel();
    let listener = thread::spawn(move || {
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        sender.send(answer).unwrap();
    });
    let answer = answers.recv_timeout(Duration::from_secs(60));
    // Now it may end, even if it is still waiting.
    drop(producer);
    listener.join().unwrap();
    assert_eq!(checker.wait().unwrap().code(), Some(1));
    assert!(answer.expect("an answer within a minute").contains("violation"));
}
