//! Written recordings are read back unchanged, in every format that can express them.

use proptest::collection::vec;
use proptest::prelude::*;
use snapshot_core::History;
use snapshot_core::history::{Action, Declaration, HistoryBuilder, Writers};
use snapshot_test::convert::{ConvertError, convert};
use snapshot_test::format::{Format, Reader, Writer, disc22, write_history};
use snapshot_test::{Value, read_history};

fn values() -> BoxedStrategy<Value> {
    prop_oneof![
        4 => (-9i64..10).prop_map(Value::Integer),
        2 => any::<i64>().prop_map(Value::Integer),
        1 => Just(Value::Integer(i64::MIN)),
        2 => ".{0,6}".prop_map(|text| Value::from(text.as_str())),
        1 => any::<String>().prop_map(|text| Value::from(text.as_str())),
    ]
    .boxed()
}

fn integers() -> BoxedStrategy<Value> {
    any::<i64>().prop_map(Value::Integer).boxed()
}

/// The next operation of a process, if it is idle; else the end of its operation.
#[derive(Clone, Debug)]
struct Choice {
    process: usize,
    scan: bool,
    segment: usize,
    end: u8,
    values: Vec<Value>,
}

/// Histories of `segments` segments: random choices, each made admissible. `plain`: only histories
/// that disc22 can express.
fn histories(plain: bool) -> impl Strategy<Value = History<Value>> {
    (1usize..5, any::<[bool; 3]>()).prop_flat_map(move |(segments, [many, declare, initial])| {
        let value = if plain { integers } else { values };
        let choice = (0..segments + 2, any::<bool>(), 0..segments, 0u8..10, vec(value(), segments))
            .prop_map(|(process, scan, segment, end, values)| Choice {
                process,
                scan,
                segment,
                end,
                values,
            });
        let initial = if initial && !plain { 0..segments } else { 0..1 };
        (vec(value(), initial), vec(choice, 0..40)).prop_map(move |(initial, choices)| {
            let mut declaration = Declaration::new(Value::ZERO).with_initial(initial);
            if plain {
                declaration.initial.clear();
            }
            if plain || declare {
                declaration.segments = Some(segments);
                let processes = if plain { segments } else { segments + 2 };
                declaration.processes = Some(processes);
            }
            if many && !plain {
                declaration.writers = Writers::Many;
            }
            history(declaration, segments, plain, &choices)
        })
    })
}

fn history(
    declaration: Declaration<Value>,
    segments: usize,
    plain: bool,
    choices: &[Choice],
) -> History<Value> {
    let many = declaration.writers == Writers::Many;
    let mut history: HistoryBuilder<Value> =
        History::builder(declaration).expect("the declaration is consistent");
    // The open operation of each process: none, an update, a scan.
    let mut open: Vec<Option<bool>> = vec![None; segments + 2];
    if plain {
        // The largest process occurs.
        history.invoke_scan(segments - 1).expect("nothing is open");
        open[segments - 1] = Some(true);
    }
    for choice in choices {
        let process = if plain { choice.process % segments } else { choice.process };
        let scan = choice.scan || (!many && process >= segments);
        match open[process] {
            None if scan => history.invoke_scan(process),
            None => {
                let segment = if many { choice.segment } else { process };
                history.invoke_update(process, segment, choice.values[0].clone())
            }
            Some(_) if !plain && choice.end == 0 => history.fail(process),
            Some(_) if !plain && choice.end == 1 => history.unknown(process),
            Some(true) => history.respond_scan(process, &choice.values),
            Some(false) => history.respond_update(process),
        }
        .expect("only admissible events are generated");
        open[process] = if open[process].is_none() { Some(scan) } else { None };
    }
    history.finish()
}

fn reader(format: Format, written: &[u8]) -> Reader<&[u8]> {
    match format {
        Format::Text => Reader::text(written),
        Format::Jsonl => Reader::jsonl(written),
        Format::Disc22 => {
            disc22::segments(written).map(|segments| Reader::disc22(written, segments))
        }
        Format::Edn | Format::Intervals => unreachable!("{format} has no reader of events"),
    }
    .expect("written recordings are well-formed")
}

/// Writes, reads back, and compares events and declaration; also by way of each other format.
fn check(history: &History<Value>, formats: &[Format]) -> Result<(), TestCaseError> {
    for &format in formats {
        let written = write_history(format, Vec::new(), history)
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        let (read, locations) = read_history(reader(format, &written))
            .map_err(|error| TestCaseError::fail(error.report("written").to_string()))?;
        let shown = String::from_utf8_lossy(&written);
        prop_assert!(read.events().eq(history.events()), "{}", shown);
        prop_assert_eq!(read.declaration(), history.declaration());
        prop_assert_eq!(locations.len(), history.len());
        for &other in formats {
            let failed = |error: ConvertError| TestCaseError::fail(error.to_string());
            let there = convert(reader(format, &written), other, Vec::new()).map_err(failed)?;
            let back = convert(reader(other, &there), format, Vec::new()).map_err(failed)?;
            prop_assert_eq!(&back, &written, "through {}", other);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_and_jsonl_round_trip_every_history(history in histories(false)) {
        check(&history, &[Format::Text, Format::Jsonl])?;
    }

    #[test]
    fn plain_histories_round_trip_in_every_format(history in histories(true)) {
        check(&history, &Format::ALL)?;
    }

    #[test]
    fn disc22_keeps_all_events_or_refuses(history in histories(false)) {
        if let Ok(written) = write_history(Format::Disc22, Vec::new(), &history) {
            let (read, _) = read_history(reader(Format::Disc22, &written)).unwrap();
            // An unknown outcome at the end of a process becomes a pending operation.
            let kept = history.events().filter(|event| event.action != Action::Unknown);
            prop_assert!(read.events().eq(kept));
            prop_assert_eq!(read.segments(), history.segments());
        }
    }
}

#[test]
fn empty_history_round_trips_in_text_and_jsonl() {
    for format in [Format::Text, Format::Jsonl] {
        let declaration = Declaration::new(Value::ZERO);
        let written = Writer::new(format, Vec::new(), &declaration).unwrap().finish().unwrap();
        let (read, _) = read_history(reader(format, &written)).unwrap();
        assert!(read.is_empty());
    }
}

#[test]
fn unlisted_initial_values_are_written() {
    let declaration =
        Declaration::new(Value::from("none")).with_segments(3).with_initial(vec![Value::from(1)]);
    for format in [Format::Text, Format::Jsonl] {
        let written = Writer::new(format, Vec::new(), &declaration).unwrap().finish().unwrap();
        let reader = reader(format, &written);
        let initial = &reader.declaration().initial;
        assert_eq!(initial[..], [Value::from(1), Value::from("none"), Value::from("none")]);
    }
}

#[test]
fn idle_processes_are_known_to_disc22_by_their_segments() {
    let text = "segments 3\nprocesses 3\np0 scan\np0 ok 0 0 0\n";
    let reader_of_text = reader(Format::Text, text.as_bytes());
    let written = convert(reader_of_text, Format::Disc22, Vec::new()).unwrap();
    assert_eq!(written, b"startScan!0;endScan!0,0,0,0;");
    let back = convert(reader(Format::Disc22, &written), Format::Text, Vec::new()).unwrap();
    assert_eq!(back, text.as_bytes());
}

/// Returns disc22's refusal of a recording in the text format.
fn refused(text: &str) -> String {
    let reader = reader(Format::Text, text.as_bytes());
    let error = convert(reader, Format::Disc22, Vec::new()).expect_err("disc22 cannot say this");
    error.report("in").to_string()
}

#[test]
fn disc22_refuses_inexpressible_recordings() {
    assert_eq!(
        refused("p0 update \"x\"\n"),
        "in:1:1: disc22 knows only integers, found \"x\"; write the recording as text or jsonl\n  \
         p0 update \"x\"\n  ^^"
    );
    assert_eq!(
        refused("p0 scan\np0 ok 0\np0 update s1 5\n"),
        "in:3:1: segment 1 does not exist: there are 1 segments, numbered from 0; \
         correct the segment or the number of segments\n  p0 update s1 5\n  ^^"
    );
    assert_eq!(
        refused("p0 update s1 5\n"),
        "in:1:1: in disc22 process 0 can only update segment 0, found an update of segment 1; \
         renumber the processes, or write the recording as text or jsonl\n  p0 update s1 5\n  ^^"
    );
    assert_eq!(
        refused("p0 scan\np0 fail\n"),
        "in:2:1: disc22 has no failed operations, found one of process 0; \
         write the recording as text or jsonl\n  p0 fail\n  ^^"
    );
    assert_eq!(
        refused("p0 scan\np0 unknown\np0 scan\n"),
        "in:3:1: disc22 can express an unknown outcome only by a process that does nothing more, \
         found another event of process 0; write the recording as text or jsonl\n  p0 scan\n  ^^"
    );
    assert_eq!(
        refused("initial 0 7\np0 scan\n"),
        "in: disc22 knows no initial value but 0, found 7; write the recording as text or jsonl"
    );
    assert_eq!(
        refused("p2 scan\np2 ok 0 0\n"),
        "in: disc22 has as many segments as processes, here 3, by the largest process and \
         the longest scan, found 2 segment(s) and 3 process(es); write the recording as text or jsonl"
    );
    assert_eq!(
        refused("# nothing\n"),
        "in: disc22 cannot express an empty history; write it as text or jsonl"
    );
}
