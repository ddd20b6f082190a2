//! Recordings, and their simple histories.

use proptest::prelude::*;
use snapshot_core::history::{Declaration, History, HistoryBuilder, Writers};
use snapshot_core::observer::{Alarm, Observer};
use snapshot_core::simple::{Letter, NotSimple, SimpleHistory, Switching, Symbol, WellFormed};
use snapshot_core::{OperationId, Segment};

use crate::automata::words::{histories, word};

const I: Switching = Switching::I;
const J: Switching = Switching::J;

fn builder(writers: Writers) -> HistoryBuilder<&'static str> {
    let declaration = Declaration::new("-").with_segments(4).with_writers(writers);
    History::builder(declaration).unwrap()
}

fn segments(simple: &SimpleHistory) -> (usize, Option<usize>) {
    let index = |l| simple.segment(l).map(Segment::index);
    (index(I).unwrap(), index(J))
}

#[test]
fn letters_classify_values_and_keep_event_numbers() {
    let mut history = builder(Writers::Single);
    history.invoke_update(3, 3, "x").unwrap();
    history.invoke_update(0, 0, "-").unwrap();
    history.invoke_scan(1).unwrap(); // Lost: no letters.
    history.unknown(1).unwrap();
    history.invoke_update(1, 1, "y").unwrap(); // Failed: no letters.
    history.fail(1).unwrap();
    history.respond_update(3).unwrap();
    history.respond_update(0).unwrap();
    history.invoke_update(2, 2, "y").unwrap();
    history.invoke_scan(1).unwrap();
    history.respond_scan(1, &["-", "-", "y", "x"]).unwrap();
    history.invoke_scan(0).unwrap(); // Pending: no letters.
    let simple = SimpleHistory::recognise(&history.finish()).unwrap();
    simple.validate();
    assert_eq!(segments(&simple), (2, Some(3)));
    let expected = "p3: inv update_j(1); p0: inv update_other; p3: res update_j(1); \
         p0: res update_other; p2: inv update_i(1); p1: inv scan; p1: res scan(1, 1)";
    assert_eq!(simple.letters(), word(expected));
    let events: Vec<usize> = (0..simple.letters().len()).map(|k| simple.event(k)).collect();
    assert_eq!(events, [0, 1, 6, 7, 8, 9, 10]);
    assert_eq!(Observer::first_violation(&simple), None);
}

/// The segments that a scan of a history without switches names.
#[test]
fn without_switches_scans_then_indices_choose_segments() {
    let chosen = |entries: [&'static str; 4]| {
        let mut history = builder(Writers::Single);
        history.invoke_scan(0).unwrap();
        history.respond_scan(0, &entries).unwrap();
        let simple = SimpleHistory::recognise(&history.finish()).unwrap();
        (segments(&simple), Observer::first_violation(&simple).map(|(_, alarm)| alarm))
    };
    let unwritten = |segment| Some(Alarm::Unwritten { segment });
    assert_eq!(chosen(["-", "-", "-", "-"]), ((0, Some(1)), None));
    assert_eq!(chosen(["-", "-", "x", "-"]), ((0, Some(2)), unwritten(J)));
    assert_eq!(chosen(["x", "-", "-", "-"]), ((0, Some(1)), unwritten(I)));
    assert_eq!(chosen(["-", "-", "x", "y"]), ((2, Some(3)), unwritten(I)));
    assert_eq!(chosen(["-", "x", "y", "z"]), ((1, Some(2)), Some(Alarm::Foreign)));
}

#[test]
fn a_value_never_written_is_an_alarm_at_its_event() {
    // At a segment that switched to another value, at one that never changed when two others
    // switch, and of an update that failed.
    for (entries, alarm) in [
        (["z", "-", "-", "-"], Some(Alarm::Foreign)),
        (["-", "-", "-", "x"], Some(Alarm::Foreign)),
        (["x", "-", "f", "-"], Some(Alarm::Foreign)),
        (["x", "x", "-", "-"], None),
    ] {
        let mut history = builder(Writers::Single);
        history.invoke_update(0, 0, "x").unwrap();
        history.invoke_update(1, 1, "x").unwrap();
        history.invoke_update(2, 2, "f").unwrap();
        history.fail(2).unwrap();
        history.invoke_scan(3).unwrap();
        history.respond_scan(3, &entries).unwrap();
        let simple = SimpleHistory::recognise(&history.finish()).unwrap();
        let found = Observer::first_violation(&simple);
        assert_eq!(found.map(|(at, alarm)| (simple.event(at), alarm)), alarm.map(|a| (5, a)));
    }
}

#[test]
fn a_snapshot_of_one_segment_has_no_j() {
    let mut history = History::builder(Declaration::new(0).with_segments(1)).unwrap();
    history.invoke_update(0, 0, 7).unwrap();
    history.respond_update(0).unwrap();
    history.invoke_scan(1).unwrap();
    history.respond_scan(1, &[0]).unwrap();
    let simple = SimpleHistory::recognise(&history.finish()).unwrap();
    assert_eq!(segments(&simple), (0, None));
    assert_eq!(Observer::first_violation(&simple), Some((3, Alarm::Stale { segment: I })));
}

/// The end of an update.
enum End {
    Responds,
    IsLost,
    Fails,
    /// Responds when the next update responds.
    Overlaps,
}

/// An update of segment 0: its process, its value, and its end.
type Update = (usize, &'static str, End);

fn updates(entries: &[Update]) -> Result<SimpleHistory, NotSimple> {
    let mut history = builder(Writers::Many);
    let mut late = None;
    for (process, value, end) in entries {
        history.invoke_update(*process, 0, value).unwrap();
        if let Some(late) = late.take() {
            history.respond_update(late).unwrap();
        }
        match end {
            End::Responds => history.respond_update(*process).unwrap(),
            End::IsLost => history.unknown(*process).unwrap(),
            End::Fails => history.fail(*process).unwrap(),
            End::Overlaps => late = Some(*process),
        }
    }
    SimpleHistory::recognise(&history.finish())
}

#[test]
fn overlapping_updates_are_refused() {
    use End::{Fails, IsLost, Overlaps, Responds};
    let overlapping = |first, second| {
        let (first, second) = (OperationId::from_index(first), OperationId::from_index(second));
        Some(NotSimple::Overlapping { segment: Segment::from_index(0), first, second })
    };
    let cases: [(&[Update], _); 11] = [
        (&[(0, "-", Responds), (1, "x", Responds), (2, "x", Responds)], None),
        (&[(0, "-", Overlaps), (1, "x", Responds)], overlapping(0, 1)),
        (&[(0, "x", Overlaps), (1, "x", Responds)], overlapping(0, 1)),
        (&[(0, "x", Overlaps)], None),
        // A lost update is harmless among equal ones.
        (&[(0, "-", IsLost), (0, "-", Responds)], None),
        (&[(0, "x", IsLost), (0, "x", Responds), (1, "x", Responds)], None),
        (&[(0, "x", IsLost), (0, "x", IsLost), (0, "x", Responds)], None),
        // Lost, it may undo the switch at any time.
        (&[(0, "-", IsLost), (0, "x", Responds)], overlapping(0, 1)),
        (&[(0, "-", IsLost), (1, "-", Responds), (0, "x", Responds)], overlapping(0, 2)),
        // Failed, it may do nothing any more.
        (&[(0, "x", Fails), (0, "y", Responds)], None),
        (&[(0, "-", Responds), (0, "x", Fails), (0, "-", Responds)], None),
    ];
    for (number, (entries, expected)) in cases.iter().enumerate() {
        assert_eq!(updates(entries).err(), *expected, "case {number}");
    }
}

#[test]
fn a_third_value_and_a_third_segment_are_refused() {
    use End::Responds;
    let segment = Segment::from_index(0);
    for last in ["y", "-"] {
        let refused = updates(&[(0, "x", Responds), (0, "x", Responds), (0, last, Responds)]);
        let update = OperationId::from_index(2);
        assert_eq!(refused, Err(NotSimple::SecondChange { segment, update }));
    }
    let mut history = builder(Writers::Single);
    for process in 0..3 {
        history.invoke_update(process, process, "x").unwrap();
    }
    let update = OperationId::from_index(2);
    let refused = SimpleHistory::recognise(&history.finish());
    assert_eq!(refused, Err(NotSimple::ThirdSegment { segment: Segment::from_index(2), update }));
}

#[test]
fn malformed_words_are_refused_at_the_offending_letter() {
    for (text, message) in [
        ("p0: inv scan; p0: inv scan", "letter 1: process 0 invokes"),
        ("p0: inv scan; p0: res update_i(1)", "letter 1: process 0 gets a response"),
        ("p0: inv update_i(0); p0: res update_i(1)", "letter 1: process 0 gets a response"),
        ("p1: res scan(0, 0)", "letter 0: process 1 gets a response"),
        ("p3: inv scan", "letter 0: process 3 does not exist"),
        ("p0: inv update_i(1); p1: inv update_i(0)", "letter 1: segment i receives 0 after 1"),
        ("p0: inv update_j(0); p1: inv update_j(1)", "letter 1: segment j receives 1 while"),
        (
            "p0: inv update_i(0); p0: inv scan; p0: res scan(0, 0); p0: inv update_i(1)",
            "letter 3: segment i receives 1 while",
        ),
    ] {
        let error = SimpleHistory::from_letters(3, word(text)).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

/// The recording of a word: i is segment 1, j is segment 3, of four.
fn record(processes: usize, letters: &[Letter]) -> History<u8> {
    let declaration = Declaration::new(0)
        .with_segments(5)
        .with_initial(vec![0, 5, 6, 7])
        .with_processes(processes)
        .with_writers(Writers::Many);
    let mut history = History::builder(declaration).unwrap();
    let mut open = vec![false; processes];
    let place = |segment: Switching| 1 + 2 * segment.index();
    for letter in letters {
        let process = letter.process().index();
        if letter.symbol().is_invocation() && std::mem::replace(&mut open[process], true) {
            history.unknown(process).unwrap();
        }
        match letter.symbol() {
            Symbol::InvokeScan => history.invoke_scan(process),
            Symbol::InvokeUpdate { segment, value } => {
                let initial = 5 + 2 * segment.index() as u8;
                history.invoke_update(process, place(segment), if value { 100 } else { initial })
            }
            Symbol::InvokeOther => history.invoke_update(process, 4, 0),
            response => {
                open[process] = false;
                let at = |bit, initial| if bit { 100 } else { initial };
                match response {
                    Symbol::RespondScan { at_i, at_j } => {
                        history.respond_scan(process, &[0, at(at_i, 5), 6, at(at_j, 7), 0])
                    }
                    Symbol::RespondForeign => history.respond_scan(process, &[0, 5, 6, 9, 0]),
                    _ => history.respond_update(process),
                }
            }
        }
        .unwrap();
    }
    history.finish()
}

/// Returns true if updates of one segment, some switching one, were open at the same time.
fn overlaps(processes: usize, letters: &[Letter]) -> bool {
    let mut open: Vec<Option<Symbol>> = vec![None; processes];
    let segment = |symbol: Symbol| match symbol {
        Symbol::InvokeUpdate { segment, .. } => Some(segment.index()),
        Symbol::InvokeOther => Some(2),
        _ => None,
    };
    letters.iter().any(|letter| {
        let symbol = letter.symbol();
        let index = letter.process().index();
        open[index] = symbol.is_invocation().then_some(symbol);
        let others = open.iter().enumerate().filter(|(other, _)| *other != index);
        segment(symbol).is_some()
            && others.filter_map(|(_, symbol)| *symbol).any(|o| segment(o) == segment(symbol))
    })
}

proptest! {
    #[test]
    fn recognition_inverts_recording((processes, letters) in histories()) {
        let history = record(processes, &letters);
        let recognised = SimpleHistory::recognise(&history);
        if overlaps(processes, &letters) {
            prop_assert!(matches!(recognised, Err(NotSimple::Overlapping { .. })), "{recognised:?}");
            return Ok(());
        }
        let recognised = recognised.unwrap();
        recognised.validate();
        let found = Observer::first_violation(&recognised).map(|(at, _)| recognised.event(at));
        let original = SimpleHistory::from_letters(processes, letters.clone()).unwrap();
        let expected = Observer::first_violation(&original).map(|(at, _)| {
            let lost = lost_before(processes, &letters[..at]);
            at + lost
        });
        prop_assert_eq!(found, expected);
    }
}

/// Number of outcomes lost in a word: each is one more event of its recording.
fn lost_before(processes: usize, letters: &[Letter]) -> usize {
    let mut open = vec![false; processes];
    letters
        .iter()
        .filter(|letter| {
            let invokes = letter.symbol().is_invocation();
            std::mem::replace(&mut open[letter.process().index()], invokes) && invokes
        })
        .count()
}

#[test]
fn well_formedness_counts_open_operations() {
    let mut so_far = WellFormed::new(3);
    for letter in word("p0: inv update_i(1); p0: inv scan; p1: inv update_other") {
        so_far.admit(letter).unwrap();
    }
    assert_eq!(so_far.open(), 2);
}
