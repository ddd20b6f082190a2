//! Histories in one line, for tests of single histories.

use snapshot_core::History;
use snapshot_core::history::{Declaration, Writers};

use crate::judge::recording::Letter;

/// Parses the events of a sketch, with their processes. `0:u1=5` is the invocation of update(5) of
/// segment 1 by process 0, `0:s` of a scan; `0:ok` is the response of an update, `0:5,7` of a scan,
/// `0:fail` and `0:unknown` end either.
pub fn letters(events: &str) -> Vec<(usize, Letter)> {
    let letter = |event: &str| {
        let (process, action) = event.split_once(':').expect("process:action");
        let process: usize = process.parse().expect("a process number");
        let letter = match action {
            "s" => Letter::InvokeScan,
            "ok" => Letter::RespondUpdate,
            "fail" => Letter::Fail,
            "unknown" => Letter::Unknown,
            _ => match action.strip_prefix('u').and_then(|update| update.split_once('=')) {
                Some((segment, value)) => Letter::InvokeUpdate {
                    segment: segment.parse().expect("a segment number"),
                    value: value.parse().expect("a value"),
                },
                None => {
                    let values = action.split(',').map(|value| value.parse().expect("a value"));
                    Letter::RespondScan { values: values.collect() }
                }
            },
        };
        (process, letter)
    };
    events.split_whitespace().map(letter).collect()
}

/// Parses the history of these events, in which any process may update any segment and all segments
/// are initially 0.
pub fn history(segments: usize, events: &str) -> History<i64> {
    build(Declaration::new(0).with_segments(segments).with_writers(Writers::Many), events)
}

/// As [`history`], where each segment has one writer.
pub fn single_writers(segments: usize, events: &str) -> History<i64> {
    build(Declaration::new(0).with_segments(segments), events)
}

fn build(declaration: Declaration<i64>, events: &str) -> History<i64> {
    let mut history = History::builder(declaration).expect("a sound declaration");
    for (process, letter) in letters(events) {
        let pushed = history.push(&letter.event(process));
        pushed.unwrap_or_else(|error| panic!("{process}:{letter:?}: {error}"));
    }
    history.finish()
}
