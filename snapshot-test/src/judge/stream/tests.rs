//! For every division of a file among threads, the judgement equals that of reading it line by
//! line.

use std::io::Write;

use corpus::generate::{Recipe, Rule, Style, Violation};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::super::cooperation;
use super::*;
use crate::format::Format;
use crate::generate::generate;
use crate::input::{Gauge, Input};

/// Malformed lines, invalid events, and unusual valid lines.
const LINES: [&str; 12] = [
    "p0 okay",
    "@1 p0 scan",
    "segments 3",
    "p0 scan\np0 scan",
    "p1 ok 1 2 3 4 5 6 7",
    "p0 update 5 6",
    "p0 update \u{1}",
    "p7 unknown",
    "p99999999999999999999 scan",
    "p1 ok s0 7 _",
    "writers many",
    "p1 update s0 \"text\"",
];

/// Returns a recording of some operations, sometimes with a violation, or with a line that is
/// invalid at its position.
fn recording(random: &mut ChaCha8Rng) -> String {
    let style = match random.random_range(0..3) {
        0 => Style::Differentiated,
        1 => Style::SmallDomain(3),
        _ => Style::Simple { i: 0, j: 1 },
    };
    let (processes, segments) = (random.random_range(3..6), random.random_range(2..4));
    let operations = random.random_range(20..90);
    let recipe = Recipe::new(processes, segments, operations, style, random.random())
        .with_pending(random.random_range(0..3));
    let violating = (random.random_bool(0.4) && style == Style::Differentiated)
        .then(|| recipe.clone().with_violation(Violation::new(Rule::Inversion)));
    let text = violating
        .and_then(|recipe| generate(&recipe, Format::Text, &[], Vec::new()).ok())
        .unwrap_or_else(|| {
            generate(&recipe, Format::Text, &[], Vec::new()).expect("the recipe can be followed")
        });
    let text = String::from_utf8(text).expect("recordings are UTF-8");
    let is_event = |line: &str| line.starts_with('p') && !line.starts_with("processes");
    let events = text.lines().filter(|line| is_event(line)).count();
    let spoilt = random.random_bool(0.5).then(|| random.random_range(0..events));
    let mut spoilt_text = String::new();
    let mut event = 0;
    for line in text.lines() {
        if is_event(line) && spoilt == Some(event) {
            spoilt_text += LINES[random.random_range(0..LINES.len())];
            spoilt_text.push('\n');
        }
        event += usize::from(is_event(line));
        match random.random_range(0..12) {
            0 => spoilt_text += &format!("  {line}\n"),
            1 => spoilt_text += &format!("{line} # a comment\n"),
            2 => spoilt_text += &format!("\n\t# p0 scan\n{line}\n"),
            3 => spoilt_text += &format!("{line}\r\n"),
            _ => spoilt_text += &format!("{line}\n"),
        }
    }
    if random.random_bool(0.5) {
        spoilt_text = with_texts(&spoilt_text, random.random_range(1..operations as i64));
    }
    if random.random_bool(0.1) {
        spoilt_text.pop();
    }
    spoilt_text
}

/// Returns the recording with texts for the values from this integer on.
fn with_texts(recording: &str, from: i64) -> String {
    let word = |word: &str| match word.trim_end().parse::<i64>() {
        Ok(value) if value >= from => format!("\"{value}\"{}", &word[word.trim_end().len()..]),
        _ => word.to_owned(),
    };
    let line = |line: &str| {
        let first = line.trim_start();
        let is_event = first.starts_with('p') && !first.starts_with("processes");
        let words = line.split(' ').map(|part| if is_event { word(part) } else { part.to_owned() });
        words.collect::<Vec<_>>().join(" ")
    };
    recording.split_inclusive('\n').map(line).collect()
}

#[test]
fn every_division_gives_the_same_judgement() {
    let mut random = ChaCha8Rng::seed_from_u64(22);
    // Linearizable, violation, malformed, others.
    let mut findings = [0; 4];
    let (mut pieces, mut with_texts) = (0, 0);
    for _ in 0..400 {
        let text = recording(&mut random);
        let mut file = tempfile::NamedTempFile::new().expect("there is room for files");
        file.write_all(text.as_bytes()).expect("the recording can be written");
        let input = Input::File(file.path().to_owned());
        let live = random.random_bool(0.3);
        let options = Options { live, ..Options::default() };
        let judge = |division| {
            let opened = input.open_repeatably(None, &Gauge::default());
            let (reader, replay) = opened.expect("its header is right");
            judge_divided(reader, Some(replay), &options, division)
        };
        let whole = judge(Division { first: usize::MAX, threads: 1, size: 1 });
        findings[match &whole.finding {
            Finding::Linearizable { .. } => 0,
            Finding::Violation(_) => 1,
            Finding::Malformed(_) => 2,
            _ => 3,
        }] += 1;
        let is_judged = !matches!(whole.finding, Finding::Malformed(_));
        with_texts += usize::from(is_judged && text.contains(" \""));
        for threads in 1..=4 {
            let (first, size) = (random.random_range(1..9), 1 << random.random_range(0..11));
            let divided = judge(Division { first, threads, size });
            assert_eq!(
                format!("{divided:?}"),
                format!("{whole:?}"),
                "{first} events one by one, {threads} threads, pieces of {size} bytes, live: \
                 {live}\n{text}"
            );
            pieces += text.len() / size;
        }
    }
    assert!(pieces > 100_000 && findings[..3].iter().all(|count| *count > 20), "{findings:?}");
    assert!(with_texts > 30, "{with_texts} of values that are no integers from some event on");
}

/// Without a copy of the input, a part of bounded size is kept of a stream in which updates of one
/// segment overlap throughout.
#[test]
fn streams_of_many_writers_are_forgotten() {
    let mut text = String::from("segments 1\nwriters many\np0 update s0 1\n");
    for value in 2..20_000 {
        let before = if value == 2 { 0 } else { (value - 1) % 2 + 1 };
        text += &format!("p{} update s0 {value}\np{before} ok\n", value % 2 + 1);
        if value % 7 == 0 {
            text += &format!("p3 scan\np3 ok {value}\n");
        }
    }
    let mut file = tempfile::NamedTempFile::new().expect("there is room for files");
    file.write_all(text.as_bytes()).expect("the recording can be written");
    let opened = Input::File(file.path().to_owned()).open_gauged(None, &Gauge::default());
    let division = Division { first: usize::MAX, threads: 1, size: 1 };
    let options = Options { forget: true, ..Options::default() };
    let reading = read(&mut opened.expect("its header is right"), None, &options, division);
    let reading = reading.expect("its declaration is right");
    let operations = reading.monitor.operations();
    let saturation = reading.saturation.as_ref().expect("the relation decides");
    let (kept, forgotten) = (saturation.retained() as u64, saturation.forgotten().operations);
    let held = reading.monitor.retained() as u64;
    assert!(operations > 20_000 && forgotten + kept == operations, "{forgotten} {kept}");
    assert!(kept < 5_000 && held < 100, "{kept} and {held} of {operations}");
    let finding = conclude(reading, None, &options);
    assert!(
        matches!(finding, Finding::Linearizable { method: Method::Saturation, .. }),
        "{finding:?}"
    );
}

/// Pieces are judged in order and none after the judge breaks off; each break takes place.
#[test]
fn judging_stops_at_a_break() {
    let text: String = (0..200).map(|number| format!("p0 update {number}\np0 ok\n")).collect();
    let text = format!("segments 1\np0 scan\np0 ok 0\n{text}");
    for threads in 1..=4 {
        for most in 1..40 {
            let mut reader = crate::format::Reader::text(text.as_bytes()).expect("a right header");
            reader.next_event();
            let pieces = reader.pieces().expect("text without keys").of_size(100);
            let (mut judged, mut events) = (0, 0);
            let irregular = cooperation::for_each_piece(pieces, threads, |batch| {
                judged += 1;
                events += batch.len();
                if judged == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert!(irregular.is_none());
            assert!(judged == most || events == 401, "{judged} pieces, {events} events");
        }
    }
}

/// A panic of the judge is passed on, and no thread waits for the others forever.
#[test]
fn panics_of_the_judge_propagate() {
    let text = "p0 scan\np0 ok 0\n".repeat(1000);
    for threads in 1..=4 {
        let outcome = std::panic::catch_unwind(|| {
            let mut reader = crate::format::Reader::text(text.as_bytes()).expect("no header");
            reader.next_event();
            let pieces = reader.pieces().expect("text without keys").of_size(100);
            let mut judged = 0;
            cooperation::for_each_piece(pieces, threads, |_| {
                judged += 1;
                assert!(judged < 20, "on purpose");
                ControlFlow::Continue(())
            })
        });
        assert!(outcome.is_err());
    }
}
