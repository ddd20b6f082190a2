//! Objects judged each to its own first violation, while the recording is being made: the alarms
//! equal those of `check` for each object alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::Write as _;
use std::ops::Range;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use snapshot_test::format::{Format, Object, Reader};
use snapshot_test::input::{Input, OpenError};
use snapshot_test::judge::{Finding, Options, judge};
use snapshot_test::monitor::{Answer, Checkpoint, End, Partition, Snapshots, Standing};
use snapshot_test::{Atomic, SnapshotKind as _};
use test_support::effort::either;

use crate::inputs::Course;
use crate::objects::run;

/// An alarm: the key, the number of the event within the object, and its line.
pub type Alarm = (String, u64, u64);

/// A recording of several objects, and the expected alarms.
#[derive(Default)]
pub struct Recording {
    pub text: String,
    pub events: u64,
    pub objects: u64,
    pub alarms: BTreeSet<Alarm>,
    /// Events that no history can have at their position, in the same form.
    pub refused: BTreeSet<Alarm>,
}

impl Recording {
    /// Returns random runs of `objects` objects, interleaved, some of which have an event too many.
    /// `check` judges each object alone.
    pub fn new(random: &mut ChaCha8Rng, objects: usize, length: usize) -> Self {
        Self::of(random, 0..objects, length)
    }

    /// As [`Self::new`], for objects with these numbers: other numbers give other keys.
    pub fn of(random: &mut ChaCha8Rng, objects: Range<usize>, length: usize) -> Self {
        let is_owned = random.random_bool(0.7);
        let header = format!(
            "segments 2\nprocesses 5\nwriters {}\n",
            if is_owned { "single" } else { "many" }
        );
        let mut runs = Vec::new();
        for k in objects {
            let lines = run(random, 2, is_owned);
            let mut lines = lines.into_iter().take(length).collect::<Vec<_>>();
            if random.random_range(0..6) == 0 {
                let at = random.random_range(0..=lines.len());
                lines.insert(at, "p4 ok".to_owned());
                lines.insert(at + 1, "p4 ok".to_owned());
            }
            let key = if k % 3 == 0 { format!("\"k{k}\"") } else { k.to_string() };
            runs.extend((!lines.is_empty()).then_some((key, lines)));
        }
        let alone: Vec<_> = runs.iter().map(|(_, lines)| first_wrong(&header, lines)).collect();
        let objects = runs.len() as u64;
        let mut recording = Self { text: header, objects, ..Self::default() };
        let mut next = vec![0; runs.len()];
        let mut left: Vec<usize> = (0..runs.len()).collect();
        while !left.is_empty() {
            let at = random.random_range(0..left.len());
            let k = left[at];
            let (key, lines) = &runs[k];
            writeln!(recording.text, "@{key} {}", lines[next[k]]).unwrap();
            recording.events += 1;
            let alarm = (key.clone(), next[k] as u64, 3 + recording.events);
            match alone[k] {
                Some((at, true)) if at == alarm.1 => recording.alarms.insert(alarm),
                Some((at, false)) if at == alarm.1 => recording.refused.insert(alarm),
                _ => false,
            };
            next[k] += 1;
            if next[k] == lines.len() {
                left.swap_remove(at);
            }
        }
        recording
    }
}

/// Returns the event that completes the violation of a recording of one object, by `check`, or else
/// one that no history can have there; and true if it is a violation.
fn first_wrong(header: &str, lines: &[String]) -> Option<(u64, bool)> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    write!(file, "{header}{text}").unwrap();
    let judgement = judge(&Input::File(file.path().to_owned()), None, &Options::default());
    match judgement.finding {
        Finding::Violation(violation) => Some((violation.decided_at.0 as u64, true)),
        // Earlier events were not searched where values repeat.
        Finding::Malformed(OpenError::Input(error)) => {
            let event = error.location().line - 4;
            let before = &lines[..event as usize];
            first_wrong(header, before).or(Some((event, false)))
        }
        Finding::Linearizable { .. } => None,
        other => panic!("{other:?}: {header}{text}"),
    }
}

/// Returns a raised alarm, in the expected form.
pub fn due(answer: &Answer) -> Alarm {
    let (event, place) = answer.decided_at();
    let text = answer.human("r");
    let key = text.strip_prefix("r").unwrap().split(": violation").next().unwrap();
    (key.trim_start_matches(" @").to_owned(), event, place.line)
}

/// Returns the alarms of a standing, in the expected form, and the events that were refused.
pub fn alarms(standing: &Standing) -> (BTreeSet<Alarm>, BTreeSet<Alarm>) {
    let (mut alarms, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for (key, end) in &standing.ends {
        let End::Ended(ended) = end else { panic!("{key:?} is open") };
        let key = key.as_ref().map_or(String::new(), ToString::to_string);
        let alarm = (key, ended.event, ended.line);
        if ended.refused.is_some() {
            refused.insert(alarm)
        } else {
            alarms.insert(alarm)
        };
    }
    (alarms, refused)
}

/// Runs a monitor that is killed at random times, and resumes from its last checkpoint. Returns the
/// alarms it has raised, with their numbers of times, and the standing at the end.
fn killed(text: &str, random: &mut ChaCha8Rng, part: usize) -> (BTreeMap<Alarm, usize>, Standing) {
    let declaration = Reader::text(text.as_bytes()).unwrap().declaration().clone();
    let mut raised: BTreeMap<Alarm, usize> = BTreeMap::new();
    let mut checkpoint: Option<Checkpoint> = None;
    let mut kills = random.random_range(0..4);
    'killed: loop {
        let mut share =
            Partition::<Snapshots>::of_many(Format::Text, declaration.clone(), Options::default());
        share.cut_after(part);
        let mut known = BTreeSet::new();
        let mut rest = text;
        if let Some(checkpoint) = &checkpoint {
            share.begin_behind(checkpoint.bytes, checkpoint.lines);
            checkpoint.objects.iter().for_each(|saved| share.resume(saved).unwrap());
            known = alarms(&share.standing()).0;
            rest = &text[checkpoint.bytes as usize..];
        }
        let mut raise = |alarm: Answer| {
            let alarm = due(&alarm);
            assert!(!known.contains(&alarm), "{alarm:?} is in the checkpoint, and raised again");
            *raised.entry(alarm).or_default() += 1;
        };
        let mut reader = Reader::text(rest.as_bytes()).unwrap();
        reader.take_all();
        while let Some(next) = Atomic::next(&mut reader) {
            let next = next.unwrap();
            if random.random_range(0..20) == 0 {
                for number in share.cut(next.location).unwrap() {
                    raise(share.alarm(number));
                }
                let (at, saved) = (share.place(next.location), share.save(next.location));
                let kind = (Format::Text, Object::Snapshot);
                let kept = Checkpoint::at(at, kind, &declaration, saved).text();
                checkpoint = Some(Checkpoint::parse(&kept).unwrap());
            }
            if kills > 0 && random.random_range(0..60) == 0 {
                kills -= 1;
                continue 'killed;
            }
            let key = next.key;
            match share.observe(key, next.location, &next.event) {
                Ok(None) => {}
                Ok(Some(number)) => raise(share.alarm(number)),
                Err(error) => {
                    let refused = share.refuse(key, next.location, error);
                    refused.map_or_else(|answer| raise(*answer), drop);
                }
            }
        }
        for number in share.undecided().collect::<Vec<_>>() {
            share.judge_undecided(number).into_iter().for_each(&mut raise);
        }
        return (raised, share.standing());
    }
}

#[test]
fn alarms_after_kills_equal_those_of_check() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut due, mut twice) = (0, 0);
    for _ in 0..160 {
        let objects = random.random_range(1..12);
        let recording = Recording::new(&mut random, objects, 40);
        for part in [1, 5, 256] {
            let (raised, standing) = killed(&recording.text, &mut random, part);
            let all: BTreeSet<Alarm> = raised.keys().cloned().collect();
            assert_eq!(all, recording.alarms, "{}", recording.text);
            let expected = (recording.alarms.clone(), recording.refused.clone());
            assert_eq!(alarms(&standing), expected, "{}", recording.text);
            let counts = (standing.events, standing.objects);
            assert_eq!(counts, (recording.events, recording.objects), "{}", recording.text);
            due += all.len();
            twice += raised.values().filter(|times| **times > 1).count();
        }
    }
    // Between an alarm and the next checkpoint a kill repeats it.
    assert!(due > 150 && twice > 10, "{due} alarms, {twice} of them more than once");
}

/// With repeated values, the alarm is raised when the past is to be cut off, not at the end.
#[test]
fn search_raises_alarms_before_the_end() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let (mut early, mut late) = (0, 0);
    for _ in 0..1200 {
        let Recording { text, .. } = Recording::new(&mut random, 1, 40);
        let mut reader = Reader::text(text.as_bytes()).unwrap();
        let declaration = reader.declaration().clone();
        let mut share =
            Partition::<Snapshots>::of_many(Format::Text, declaration, Options::default());
        share.cut_after(1);
        reader.take_all();
        while let Some(next) = Atomic::next(&mut reader) {
            let next = next.unwrap();
            let Ok(found) = share.observe(next.key, next.location, &next.event) else { break };
            if let Some(number) = found {
                early += usize::from(share.undecided().next().is_some());
                share.alarm(number);
            }
        }
        let open: Vec<usize> = share.undecided().collect();
        late += open.into_iter().filter_map(|number| share.judge_undecided(number)).count();
    }
    assert!(early >= 3 && late >= 3, "{early} by a search before the end, {late} there");
}

#[test]
fn any_number_of_workers_raises_the_same_alarms() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (mut due, mut twice) = (0, 0);
    for _ in 0..either(120, 200) {
        let objects = random.random_range(1..20);
        let recording = Recording::new(&mut random, objects, 40);
        for numbers in [&[1][..], &[2], &[3], &[5], &[1, 2, 3, 5]] {
            let kills = if numbers.len() == 1 { 0 } else { random.random_range(0..4) };
            let texts = std::slice::from_ref(&recording.text);
            let course = Course { texts, workers: numbers, kills };
            let (brought, mut standings) = course.run(&mut random);
            let (raised, standing) = (brought.alarms(), standings.remove(0));
            let all: BTreeSet<Alarm> = raised.keys().map(|(_, alarm)| alarm.clone()).collect();
            assert_eq!(all, recording.alarms, "{numbers:?}: {}", recording.text);
            let expected = (recording.alarms.clone(), recording.refused.clone());
            assert_eq!(alarms(&standing), expected, "{numbers:?}: {}", recording.text);
            let counts = (standing.events, standing.objects);
            assert_eq!(counts, (recording.events, recording.objects), "{}", recording.text);
            due += all.len();
            let more = raised.values().filter(|times| **times > 1).count();
            assert!(more == 0 || numbers.len() > 1, "{numbers:?}: {}", recording.text);
            twice += more;
        }
    }
    assert!(due > 200 && twice > 3, "{due} alarms, {twice} of them more than once");
}
