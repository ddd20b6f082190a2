//! Recordings judged while they are made: for cuts, checkpoints and resumption at any point, the
//! answers equal those of the whole.

use corpus::generate::{Recipe, Style};
use snapshot_core::check::check;
use snapshot_core::history::Action;
use snapshot_core::search::Budget;
use snapshot_core::verdict::Verdict;
use snapshot_test::format::{Format, Reader};
use snapshot_test::judge::Options;
use snapshot_test::monitor::{Checkpoint, Live, Snapshots, State};
use snapshot_test::{Atomic, SnapshotKind as _, read_history};

/// Returns recordings as text: rounds, between which no operation is open, the last with a scan
/// that may be wrong.
fn recordings() -> Vec<String> {
    let mut texts = Vec::new();
    for seed in 0..60 {
        let history = Recipe::new(3, 2, 6, Style::Differentiated, seed).history().unwrap();
        let mut text = String::from("segments 2\nprocesses 3\n");
        let mut written: [Vec<u64>; 2] = [vec![0], vec![0]];
        for round in 0..4 {
            for event in history.events() {
                let process = event.process;
                text += &match event.action {
                    Action::InvokeUpdate { segment, .. } => {
                        let written = &mut written[segment.index()];
                        written.push(written.len() as u64);
                        format!("p{process} update s{segment} {}\n", written.len() - 1)
                    }
                    Action::InvokeScan => format!("p{process} scan\n"),
                    Action::RespondUpdate => format!("p{process} ok\n"),
                    Action::Fail => format!("p{process} fail\n"),
                    Action::Unknown => format!("p{process} unknown\n"),
                    Action::RespondScan { .. } | Action::RespondPartialScan { .. } => {
                        // The last value, or seldom the one before: correct or wrong.
                        let guess = |k: usize| {
                            let back = u64::from(
                                (seed + round * 7 + process.index() as u64) % 9 == k as u64,
                            );
                            written[k].last().unwrap().saturating_sub(back)
                        };
                        format!("p{process} ok {} {}\n", guess(0), guess(1))
                    }
                };
            }
        }
        texts.push(text);
    }
    texts
}

/// Judges the rest of a recording, up to a violation. Returns the number of events.
fn judged(live: &mut Live, text: &str) -> (State, u64) {
    let mut reader = Reader::text(text.as_bytes()).unwrap();
    while let Some(next) = reader.next_event() {
        let (location, event) = next.unwrap();
        if live.observe(None, location, &event).unwrap() {
            break;
        }
    }
    (live.state(), live.events())
}

fn fresh(text: &str, part: usize) -> Live {
    let reader = Reader::text(text.as_bytes()).unwrap();
    Live::new(Format::Text, reader.declaration().clone(), Options::default()).cutting_after(part)
}

#[test]
fn cuts_change_no_answer() {
    let (mut right, mut wrong, mut parts) = (0, 0, 0);
    for text in recordings() {
        let (history, _) = read_history(Reader::text(text.as_bytes()).unwrap()).unwrap();
        let mut budget = Budget { memory: 1 << 28, proceed: &mut || true };
        let report = check(&history, &mut budget);
        for part in [1, 3, 10, 1000] {
            let (state, events) = judged(&mut fresh(&text, part), &text);
            match (&report.verdict, state) {
                (Verdict::Linearizable(_), State::Fine) => right += 1,
                (Verdict::Violation(_), State::Violation) => {
                    wrong += 1;
                    assert_eq!(Some(events as usize - 1), report.decided_at, "{text}");
                }
                (verdict, state) => panic!("{verdict:?}, but {state:?} with {part}: {text}"),
            }
            parts += usize::from(part == 1);
        }
    }
    assert!(right > 20 && wrong > 20 && parts == 60, "{right} right, {wrong} wrong");
}

#[test]
fn resuming_anywhere_gives_the_same_answer() {
    let (mut resumed, mut moved) = (0, 0);
    for text in recordings().iter().step_by(3) {
        let expected = judged(&mut fresh(text, 4), text);
        let mut live = fresh(text, 4);
        let mut reader = Reader::text(text.as_bytes()).unwrap();
        while let Some(next) = reader.next_event() {
            let (location, event) = next.unwrap();
            let saved = live.checkpoint(location).unwrap().text();
            let checkpoint = Checkpoint::parse(&saved).unwrap();
            let mut again = Live::<Snapshots>::resume(&checkpoint, Options::default()).unwrap();
            let rest = &text[checkpoint.bytes as usize..];
            assert_eq!(judged(&mut again, rest), expected, "{saved}: {text}");
            resumed += 1;
            moved += usize::from(checkpoint.bytes > 30);
            if live.observe(None, location, &event).unwrap() {
                break;
            }
        }
    }
    assert!(resumed > 300 && moved > 100, "{resumed}, {moved} of which go on from the middle");
}

/// Several objects, each cut off separately.
#[test]
fn each_object_resumes_from_its_own_position() {
    let one = |key: usize, line: &str| format!("@{key} {line}\n");
    let mut text = String::from("segments 1\n");
    // Object 0 has an operation open throughout; object 1 continues.
    text += &one(0, "p0 update 7");
    for value in 1..50 {
        for line in [format!("p0 update {value}"), "p0 ok".to_owned()] {
            text += &one(1, &line);
        }
        text += &one(1, "p1 scan");
        text += &one(1, &format!("p1 ok {value}"));
    }
    let good = text.clone() + &one(0, "p1 scan") + &one(0, "p1 ok 7") + &one(0, "p0 ok");
    let stale = text.clone() + &one(1, "p1 scan") + &one(1, "p1 ok 48");
    let other = text + &one(0, "p0 ok") + &one(0, "p1 scan") + &one(0, "p1 ok 0");
    for (text, expected) in
        [(good, State::Fine), (stale, State::Violation), (other, State::Violation)]
    {
        let run = |live: &mut Live, text: &str, saves: &mut Vec<String>| {
            let mut reader = Reader::text(text.as_bytes()).unwrap();
            reader.take_all();
            while let Some(next) = Atomic::next(&mut reader) {
                let next = next.unwrap();
                saves.push(live.checkpoint(next.location).unwrap().text());
                if live.observe(next.key, next.location, &next.event).unwrap() {
                    break;
                }
            }
            live.state()
        };
        let mut saves = Vec::new();
        let whole = run(&mut fresh(&text, 8), &text, &mut saves);
        assert_eq!(whole, expected);
        for saved in saves {
            let checkpoint = Checkpoint::parse(&saved).unwrap();
            let mut live = Live::<Snapshots>::resume(&checkpoint, Options::default()).unwrap();
            let rest = &text[checkpoint.bytes as usize..];
            assert_eq!(run(&mut live, rest, &mut Vec::new()), expected, "{saved}");
            let [Some(first), Some(second)] =
                [checkpoint.objects.first(), checkpoint.objects.get(1)]
            else {
                continue;
            };
            assert!(second.bytes >= first.bytes, "{saved}");
        }
    }
}

#[test]
fn malformed_checkpoints_are_refused() {
    let text = "segments 1\np0 update 1\np0 ok\n";
    let mut live = fresh(text, 1);
    judged(&mut live, text);
    let mut reader = Reader::text(text.as_bytes()).unwrap();
    let (location, _) = reader.next_event().unwrap().unwrap();
    let good = live.checkpoint(location).unwrap().text();
    assert!(Checkpoint::parse(&good).is_ok());
    for (from, to) in [
        ("\"snapshot_checkpoint\":1", "\"snapshot_checkpoint\":2"),
        ("\"text\"", "\"disc22\""),
        ("{", "["),
        ("\"bytes\"", "\"byte\""),
        ("\"lines\":", "\"lines\":-"),
        ("\"lines\":", "\"lines\":1844674407370955161"),
        ("\"events\":", "\"events\":1844674407370955161"),
    ] {
        assert!(Checkpoint::parse(&good.replacen(from, to, 1)).is_err(), "{to}");
    }
}
