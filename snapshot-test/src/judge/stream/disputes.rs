//! Contradictions of observer and monitor, which no known input causes: there is no answer, the
//! input is kept, and the exit code is the one of a fault.

use std::fs;
use std::io::Write;

use snapshot_core::verdict::Dispute;

use super::*;
use crate::input::{Gauge, Input};
use crate::judge::dispute;
use crate::judge::{Finding, Judgement};
use crate::report::{Tally, exit_code, human, json, verdict};

const RIGHT: &str = "segments 2\np0 update 5\np0 ok\np1 scan\np1 ok 5 0\n";
const WRONG: &str = "segments 2\np0 update 5\np0 ok\np1 scan\np1 ok 0 0\n";

/// Returns a reading in which the monitor took one recording, and the observer another.
fn divided(of_monitor: &str, of_observer: &str) -> Reading {
    let read = |text: &str| {
        let mut file = tempfile::NamedTempFile::new().expect("there is room");
        file.write_all(text.as_bytes()).expect("there is room");
        let input = Input::from_argument(file.path());
        let (mut reader, replay) = input.open_repeatably(None, &Gauge::default()).expect("opens");
        read(&mut reader, Some(&replay), &Options::default(), Division::usual()).expect("is read")
    };
    Reading { observer: read(of_observer).observer, ..read(of_monitor) }
}

#[test]
fn a_contradiction_is_no_verdict_and_keeps_the_input() {
    let (observer, monitor) = (Dispute::OBSERVER, Dispute::MONITOR);
    for (of_monitor, of_observer, accepting, refusing) in
        [(RIGHT, WRONG, monitor, observer), (WRONG, RIGHT, observer, monitor)]
    {
        let mut file = tempfile::NamedTempFile::new().expect("there is room");
        file.write_all(of_monitor.as_bytes()).expect("there is room");
        let input = Input::from_argument(file.path());
        let (_, replay) = input.open_repeatably(None, &Gauge::default()).expect("it opens");
        let options = Options::default();
        let finding = conclude(divided(of_monitor, of_observer), None, &options);
        let judgement = Judgement::new(None, Counts::default(), finding);
        let judgement = dispute::settled(judgement, Some(&replay));
        let Finding::Disputed(disputed) = &judgement.finding else { panic!("{judgement:?}") };
        assert_eq!(disputed.dispute, Dispute { accepting, refusing });
        assert_eq!(disputed.kept.as_deref(), Some(file.path()));

        assert_eq!((verdict(&judgement.finding), exit_code([&judgement.finding])), ("disputed", 4));
        let path = file.path().display().to_string();
        let text = human("run.txt", &judgement);
        assert!(text.contains("BUG in this program") && text.contains(&path), "{text}");
        let text = json("run.txt", &judgement, None);
        assert!(text.contains("\"verdict\":\"disputed\"") && text.contains(&path), "{text}");
        // It has priority over everything else.
        let mut tally = Tally { violations: 3, malformed: 1, ..Tally::default() };
        tally.count(&judgement.finding);
        assert_eq!(tally.code(), 4);
        assert!(tally.human().ends_with("1 malformed, 1 disputed\n"));
    }
    let agreed = conclude(divided(WRONG, WRONG), None, &Options::default());
    assert!(matches!(agreed, Finding::Violation(_)));
}

#[test]
fn what_was_piped_in_is_kept_in_a_file() {
    let mut copy = tempfile::tempfile().expect("there is room");
    copy.write_all(RIGHT.as_bytes()).expect("there is room");
    let kept = Replay::of_copy(copy).keep().expect("there is room");
    assert_eq!(fs::read_to_string(&kept).expect("it is there"), RIGHT);
    fs::remove_file(kept).expect("it is ours");
}
