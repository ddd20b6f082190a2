//! Objects that are judged each to its own first violation, while the recording is being made:
//! the alarms are those of `check` for each object alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::Write as _;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use snapshot_test::format::{Format, Reader};
use snapshot_test::input::Input;
use snapshot_test::judge::{Finding, Options, judge};
use snapshot_test::monitor::{Checkpoint, End, Judge as _, Share, Snapshots, Standing};

use crate::objects::run;

/// An alarm: the key, the number of the event among those of the object, and its line.
type Alarm = (String, u64, u64);

/// A recording of several objects, and the alarms that are due.
pub struct Recording {
    pub text: String,
    pub events: u64,
    pub objects: u64,
    pub alarms: BTreeSet<Alarm>,
}

impl Recording {
    /// Random runs of `objects` objects, interleaved. Of each, `check` is asked alone.
    pub fn new(random: &mut ChaCha8Rng, objects: usize, length: usize) -> Self {
        let is_owned = random.random_bool(0.7);
        let header = format!(
            "segments 2\nprocesses 5\nwriters {}\n",
            if is_owned { "single" } else { "many" }
        );
        let mut runs = Vec::new();
        for k in 0..objects {
            let lines = run(random, 2, is_owned);
            let lines = lines.into_iter().take(length).collect::<Vec<_>>();
            let key = if k % 3 == 0 { format!("\"k{k}\"") } else { k.to_string() };
            runs.extend((!lines.is_empty()).then_some((key, lines)));
        }
        let alone: Vec<Option<u64>> =
            runs.iter().map(|(_, lines)| first_wrong(&header, lines)).collect();
        let mut recording =
            Self { text: header, events: 0, objects: runs.len() as u64, alarms: BTreeSet::new() };
        let mut next = vec![0; runs.len()];
        let mut left: Vec<usize> = (0..runs.len()).collect();
        while !left.is_empty() {
            let at = random.random_range(0..left.len());
            let k = left[at];
            let (key, lines) = &runs[k];
            writeln!(recording.text, "@{key} {}", lines[next[k]]).unwrap();
            recording.events += 1;
            if alone[k] == Some(next[k] as u64) {
                recording.alarms.insert((key.clone(), next[k] as u64, 3 + recording.events));
            }
            next[k] += 1;
            if next[k] == lines.len() {
                left.swap_remove(at);
            }
        }
        recording
    }
}

/// The event that completes the violation of a recording of one object, by `check`.
fn first_wrong(header: &str, lines: &[String]) -> Option<u64> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{header}{}", lines.join("\n")).unwrap();
    let judgement = judge(&Input::File(file.path().to_owned()), None, &Options::default());
    match judgement.finding {
        Finding::Violation(violation) => Some(violation.decided_at.0 as u64),
        Finding::Linearizable { .. } => None,
        other => panic!("{other:?}: {header}{}", lines.join("\n")),
    }
}

/// The alarms of a standing, as they are due.
fn alarms(standing: &Standing) -> BTreeSet<Alarm> {
    let alarm = |(key, end): &(Option<snapshot_test::Value>, End)| match end {
        End::Ended(ended) => {
            assert_eq!(ended.refused, None);
            (key.as_ref().unwrap().to_string(), ended.event, ended.line)
        }
        End::Open => panic!("{key:?} is open"),
    };
    standing.ends.iter().map(alarm).collect()
}

/// A monitor that is killed now and then, and goes on from its last checkpoint: what it has
/// raised, with how often, and the standing at the end.
fn killed(text: &str, random: &mut ChaCha8Rng, part: usize) -> (BTreeMap<Alarm, usize>, Standing) {
    let declaration = Reader::text(text.as_bytes()).unwrap().declaration().clone();
    let mut raised: BTreeMap<Alarm, usize> = BTreeMap::new();
    let mut checkpoint: Option<Checkpoint> = None;
    let mut kills = random.random_range(0..4);
    'killed: loop {
        let mut share =
            Share::<Snapshots>::of_many(Format::Text, declaration.clone(), Options::default());
        share.cut_after(part);
        let mut known = BTreeSet::new();
        let mut rest = text;
        if let Some(checkpoint) = &checkpoint {
            share.begin_behind(checkpoint.bytes, checkpoint.lines);
            checkpoint.objects.iter().for_each(|saved| share.resume(saved).unwrap());
            known = alarms(&share.standing());
            rest = &text[checkpoint.bytes as usize..];
        }
        let mut raise = |alarm: snapshot_test::monitor::Answer| {
            let (event, place) = alarm.decided_at();
            let name = alarm.human("r");
            let key = name.strip_prefix("r @").unwrap().split(": violation").next().unwrap();
            let alarm = (key.to_owned(), event, place.line);
            assert!(!known.contains(&alarm), "{alarm:?} is in the checkpoint, and raised again");
            *raised.entry(alarm).or_default() += 1;
        };
        let mut reader = Reader::text(rest.as_bytes()).unwrap();
        while let Some(next) = reader.next_keyed() {
            let next = next.unwrap();
            if random.random_range(0..20) == 0 {
                for number in share.cut(next.location).unwrap() {
                    raise(share.alarm(number));
                }
                let (at, saved) = (share.place(next.location), share.save(next.location));
                let kind = (Format::Text, Snapshots::OBJECT);
                let kept = Checkpoint::at(at, kind, &declaration, saved).text();
                checkpoint = Some(Checkpoint::parse(&kept).unwrap());
            }
            if kills > 0 && random.random_range(0..60) == 0 {
                kills -= 1;
                continue 'killed;
            }
            let key = Some((next.key.index(), next.name));
            if let Some(number) = share.observe(key, next.location, &next.event).unwrap() {
                raise(share.alarm(number));
            }
        }
        for number in share.undecided().collect::<Vec<_>>() {
            share.settle(number).into_iter().for_each(&mut raise);
        }
        return (raised, share.standing());
    }
}

#[test]
fn killed_and_resumed_each_alarm_is_that_of_check() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut due, mut twice) = (0, 0);
    for _ in 0..160 {
        let objects = random.random_range(1..12);
        let recording = Recording::new(&mut random, objects, 40);
        for part in [1, 5, 256] {
            let (raised, standing) = killed(&recording.text, &mut random, part);
            let all: BTreeSet<Alarm> = raised.keys().cloned().collect();
            assert_eq!(all, recording.alarms, "{}", recording.text);
            assert_eq!(alarms(&standing), recording.alarms, "{}", recording.text);
            let counts = (standing.events, standing.objects);
            assert_eq!(counts, (recording.events, recording.objects), "{}", recording.text);
            due += all.len();
            twice += raised.values().filter(|times| **times > 1).count();
        }
    }
    // Between an alarm and the next checkpoint a kill repeats it.
    assert!(due > 150 && twice > 10, "{due} alarms, {twice} of them more than once");
}

/// Values repeat, and the object goes on for long after its violation: the alarm is raised where
/// the past is to be cut off, not at the end.
#[test]
fn what_a_search_finds_does_not_wait_for_the_end() {
    let mut lines = vec!["p2 scan"];
    for update in [["p0 update 1", "p0 ok"], ["p1 update 7", "p1 ok"], ["p0 update 2", "p0 ok"]] {
        lines.extend(update);
    }
    lines.extend(["p1 update 8", "p1 ok", "p0 update 1", "p0 ok", "p2 ok 1 7"]);
    lines.extend(["p3 scan", "p3 ok 1 7"]);
    let later: Vec<String> = (9..300).map(|v| format!("p1 update {v}\n@1 p1 ok")).collect();
    lines.extend(later.iter().map(String::as_str));
    let text = format!("segments 2\n@1 {}\n", lines.join("\n@1 "));
    let mut reader = Reader::text(text.as_bytes()).unwrap();
    let declaration = reader.declaration().clone();
    let mut share = Share::<Snapshots>::of_many(Format::Text, declaration, Options::default());
    let mut raised = Vec::new();
    while let Some(next) = reader.next_keyed() {
        let next = next.unwrap();
        let key = Some((next.key.index(), next.name));
        if let Some(number) = share.observe(key, next.location, &next.event).unwrap() {
            raised.push((share.alarm(number).decided_at().1.line, next.location.line));
        }
    }
    assert_eq!(raised.len(), 1, "{raised:?}");
    let (wrong, seen) = raised[0];
    assert!(wrong == 15 && seen < 300, "{raised:?}");
}
