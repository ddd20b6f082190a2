//! Recordings of objects whose operations take effect together.

mod converted;
mod declared;
mod generated;
mod hostile;
mod keys;
mod live;
mod logs;
mod malformed;
mod single;
mod verdicts;

use snapshot_test::judge::Options;
use snapshot_test::synchronisation::{Finding, Judgement, Object, judge, verdict};

fn judged(object: &str, recording: &str) -> Judgement {
    judged_with(object, recording, &Options::default())
}

fn judged_with(object: &str, recording: &str, options: &Options) -> Judgement {
    let object: Object = object.parse().unwrap();
    let mut judged = judge(&object, recording.as_bytes(), None, None, options)
        .unwrap_or_else(|error| panic!("{}", error.report(recording)));
    assert_eq!(judged.len(), 1, "one object");
    judged.remove(0)
}

/// Returns the verdict, and true if there is progress at the end.
fn verdicts(object: &str, recording: &str) -> (&'static str, bool) {
    let with_progress = Options { progress: true, ..Options::default() };
    let progress = judged_with(object, recording, &with_progress).finding;
    let is_progress = matches!(progress, Finding::SetLinearizable(_));
    (verdict(&judged(object, recording)), is_progress)
}
