//! Histories in one line, for tests that are about one history.

use snapshot_core::History;
use snapshot_core::history::{Declaration, Writers};

/// The history of these events, in which any process may update any segment
/// and all segments are initially 0. `0:u1=5` is process 0 invoking update(5)
/// of segment 1, `0:s` it invoking a scan; `0:ok` is the response of an update,
/// `0:5,7` that of a scan, `0:fail` and `0:unknown` end either.
pub fn history(segments: usize, events: &str) -> History<i64> {
    let declaration = Declaration::new(0).with_segments(segments).with_writers(Writers::Many);
    let mut history = History::builder(declaration).expect("a sound declaration");
    for event in events.split_whitespace() {
        let (process, action) = event.split_once(':').expect("process:action");
        let process: usize = process.parse().expect("a process number");
        let pushed = match action {
            "s" => history.invoke_scan(process),
            "ok" => history.respond_update(process),
            "fail" => history.fail(process),
            "unknown" => history.unknown(process),
            _ => match action.strip_prefix('u').and_then(|update| update.split_once('=')) {
                Some((segment, value)) => history.invoke_update(
                    process,
                    segment.parse().expect("a segment number"),
                    value.parse().expect("a value"),
                ),
                None => {
                    let values = action.split(',').map(|value| value.parse().expect("a value"));
                    history.respond_scan(process, &values.collect::<Vec<i64>>())
                }
            },
        };
        pushed.unwrap_or_else(|error| panic!("{event}: {error}"));
    }
    history.finish()
}
