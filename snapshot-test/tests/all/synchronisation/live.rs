//! Recordings judged while they are read, at the place that the whole recording has.

use std::cell::Cell;
use std::io::{self, Read};

use snapshot_test::judge::Options;
use snapshot_test::synchronisation::{
    Certificate, Finding, Judgement, Object, human, json, judge, judge_by_event,
};

/// A queue whose element `wrong` overtakes the one before it.
fn queue(operations: usize, wrong: usize) -> String {
    let mut text = String::new();
    for value in 0..operations {
        text += &format!("p0 enqueue {value}\np0 ok\n");
    }
    for value in 0..operations {
        let value = match value {
            value if value + 1 == wrong => wrong,
            value if value == wrong => wrong - 1,
            value => value,
        };
        text += &format!("p1 dequeue\np1 ok {value}\n");
    }
    text
}

/// An input that counts its bytes.
struct Counted<'a> {
    text: &'a [u8],
    read: &'a Cell<usize>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(64);
        let read = self.text.read(&mut buffer[..most])?;
        self.read.set(self.read.get() + read);
        Ok(read)
    }
}

fn judged(object: &str, text: &str, live: bool) -> (Judgement, usize) {
    let object: Object = object.parse().unwrap();
    let read = Cell::new(0);
    let input = Counted { text: text.as_bytes(), read: &read };
    let options = Options { live, ..Options::default() };
    let judged = judge(&object, input, None, None, &options);
    let [judged] = judged.unwrap_or_else(|e| panic!("{}", e.report("r"))).try_into().unwrap();
    (judged, read.get())
}

#[test]
fn live_answers_have_the_position_of_the_whole_recording() {
    for (operations, wrong) in [(3, 1), (40, 2), (400, 1), (400, 100), (400, 399)] {
        let text = queue(operations, wrong);
        let (whole, all) = judged("queue", &text, false);
        let (live, read) = judged("queue", &text, true);
        let line = (2 * operations + 2 * wrong) as u64;
        assert_eq!(all, text.len());
        for judgement in [&whole, &live] {
            assert!(matches!(judgement.finding, Finding::Violation(_)));
            assert!(judgement.completion.unwrap().is_first);
            assert_eq!(judgement.decided_at(), Some(line), "{operations} {wrong}");
            assert!(!judgement.is_late);
        }
        // No longer than needed, but for what is read ahead.
        let needed = text.lines().take(line as usize).map(|line| line.len() + 1).sum::<usize>();
        assert!(read <= needed + 200, "{read} of {needed}");
    }
}

#[test]
fn searched_objects_are_judged_at_the_end() {
    let text = "p0 a 1\np1 b 2\np2 c 3\np0 ok 2 3\np1 ok 1 3\np2 ok 1 1\np0 a 1\n";
    let (judgement, read) = judged("abc", text, true);
    assert_eq!(read, text.len());
    assert!(judgement.is_late && matches!(judgement.finding, Finding::Violation(_)));
    let report = human("r", &judgement);
    assert!(report.contains("by search, judged at the end)"), "{report}");
}

#[test]
fn searched_violation_has_few_operations() {
    let mut text = String::new();
    for value in 0..20 {
        text += &format!("p{} add {value}\np{0} ok true\n", value % 3);
    }
    text += "p0 contains 7\np0 ok true\np1 contains 9\np1 ok false\np0 remove 3\np0 ok true\n";
    let (judgement, _) = judged("set", &text, false);
    let report = human("r", &judgement);
    assert!(report.contains("X2 = contains(9) by process 1, returned false"), "{report}");
    assert!(report.contains("No order of X1 and X2 explains"), "{report}");
    assert!(!report.contains("X3"), "{report}");
}

/// A register that is written and read, with a stale read at the end or not.
fn register(operations: usize, is_stale: bool) -> String {
    let mut text = String::new();
    for value in 1..=operations / 2 {
        text += &format!("p0 write {value}\np1 read\np0 ok\np1 ok {value}\n");
    }
    if is_stale {
        text += &format!("p0 read\np0 ok {}\n", operations / 2 - 1);
    }
    text
}

#[test]
fn what_no_later_violation_needs_is_forgotten() {
    for is_stale in [false, true] {
        let (judgement, _) = judged("register", &register(40_000, is_stale), true);
        let watched = judgement.watched.unwrap();
        assert!(watched.is_online && watched.forgotten > 16_384, "{watched:?}");
        assert!(watched.most < 17_000, "{watched:?}");
        assert_eq!(judgement.counts.operations, 40_000 + u64::from(is_stale));
        assert_eq!(judgement.counts.events, 80_000 + 2 * usize::from(is_stale));
        let report = human("r", &judgement);
        let json = json("r", &judgement, None);
        assert!(report.contains("by rules, judged at each event, at most 16"), "{report}");
        assert!(json.contains(&format!("\"kept\":{}", watched.most)), "{json}");
        assert_eq!(matches!(judgement.finding, Finding::Violation(_)), is_stale, "{report}");
        if is_stale {
            assert_eq!(judgement.decided_at(), Some(80_002), "{report}");
            assert!(report.contains("of the operations that are kept"), "{report}");
            assert!(json.contains("\"operation\":40000"), "{json}");
        }
        assert!(Certificate::new(&judgement).is_none());
    }
}

/// Values that come again leave a recording to be judged again as it grows.
#[test]
fn reports_say_how_a_recording_was_judged_while_it_was_read() {
    for (object, text, expected) in [
        ("queue", "p0 enqueue 1\np0 ok\n", "by rules, judged at each event)"),
        (
            "queue",
            "p0 enqueue 1\np0 ok\np0 enqueue 1\np0 ok\n",
            "by rules, judged again as it grew)",
        ),
        ("stack", "p0 push 1\np0 ok\n", "by rules, judged again as it grew)"),
        ("channel", "p0 send 1\n", "by keys, judged again as it grew)"),
    ] {
        let (judgement, _) = judged(object, text, true);
        let report = human("r", &judgement);
        assert!(report.contains(expected), "{report}");
    }
}

#[test]
fn a_certificate_and_progress_keep_the_whole_recording() {
    let text = register(40_000, false);
    for options in [
        Options { live: true, linearization: true, ..Options::default() },
        Options { live: true, progress: true, ..Options::default() },
    ] {
        let object: Object = "register".parse().unwrap();
        let judged = judge(&object, text.as_bytes(), None, None, &options).unwrap();
        let watched = judged[0].watched.unwrap();
        assert_eq!((watched.forgotten, watched.most), (0, 40_000));
        assert!(Certificate::new(&judged[0]).is_some());
    }
}

/// A right recording is judged with few operations in memory, and has the report of the whole; any
/// other is left to be read as a whole.
#[test]
fn settled_recordings_have_the_report_of_the_whole() {
    for (object, text, is_settled) in [
        ("register", register(40_000, false), true),
        ("register", register(400, false), true),
        ("register", register(40_000, true), false),
        ("queue", queue(400, 1), false),
        // Values that come again, a judge that is partial, and none while it is read.
        ("queue", "p0 enqueue 1\np0 ok\np0 enqueue 1\np0 ok\n".to_owned(), false),
        ("stack", "p0 push 1\np0 ok\n".to_owned(), false),
        ("channel", "p0 send 1\n".to_owned(), false),
    ] {
        let kind: Object = object.parse().unwrap();
        let options = Options::default();
        let settled = judge_by_event(&kind, text.as_bytes(), None, None, &options).unwrap();
        assert_eq!(settled.is_some(), is_settled, "{object}");
        let Some(settled) = settled else { continue };
        let (whole, _) = judged(object, &text, false);
        assert!(settled[0].texts.len() < 17_000, "{} operations are kept", settled[0].texts.len());
        assert_eq!(human("r", &settled[0]), human("r", &whole));
        assert_eq!(json("r", &settled[0], None), json("r", &whole, None));
    }
    let options = Options { linearization: true, ..Options::default() };
    let register = register(400, false);
    let object: Object = "register".parse().unwrap();
    assert!(judge_by_event(&object, register.as_bytes(), None, None, &options).unwrap().is_none());
}
