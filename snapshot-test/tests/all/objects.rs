//! Recordings of several objects: the verdict of each object equals that of a recording with only
//! its events, for every interleaving of the objects.

use std::fs;
use std::path::{Path, PathBuf};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use snapshot_test::Value;
use snapshot_test::certificate::Certificate;
use snapshot_test::convert::convert;
use snapshot_test::format::Format;
use snapshot_test::input::{Gauge, Input};
use snapshot_test::judge::objects::Objects;
use snapshot_test::judge::{Finding, Judgement, Options, judge, judge_object};
use snapshot_test::read_history;
use snapshot_test::report::{exit_code, verdict};

/// The value that an open operation writes, and the values it has read once it took effect.
type Open = (Option<(usize, i64)>, Option<Vec<i64>>);

/// Returns the lines of a run of an atomic object by several processes, each of which may update
/// any segment; or, if segments have owners, only its own, if there is one. In some runs, some
/// scans return a past value; some scans are partial; some runs write few values, so that the
/// source of a read is ambiguous.
pub fn run(random: &mut ChaCha8Rng, segments: usize, is_owned: bool) -> Vec<String> {
    let processes = random.random_range(1..5);
    let lies = random.random_range(0..3) == 0;
    let partial = random.random_range(0..3) == 0;
    let domain: i64 = if random.random_range(0..4) == 0 { 3 } else { i64::MAX };
    let mut held = vec![0; segments];
    let mut past = vec![0];
    let mut open: Vec<Option<Open>> = vec![None; processes];
    let mut lines = Vec::new();
    let mut next = 1;
    for _ in 0..random.random_range(4..40) {
        let p = random.random_range(0..processes);
        let Some((update, effect)) = &mut open[p] else {
            let is_update = random.random_bool(0.5) && (!is_owned || p < segments);
            let update = is_update.then(|| {
                next += 1;
                let segment = if is_owned { p } else { random.random_range(0..segments) };
                (segment, next % domain)
            });
            lines.push(match update {
                Some((s, value)) => format!("p{p} update s{s} {value}"),
                None => format!("p{p} scan"),
            });
            open[p] = Some((update, None));
            continue;
        };
        if effect.is_none() {
            if let Some((s, value)) = *update {
                held[s] = value;
                past.push(value);
            }
            *effect = Some(held.clone());
            continue;
        }
        let mut read = effect.clone().unwrap();
        if lies && random.random_range(0..4) == 0 {
            read[random.random_range(0..segments)] = past[random.random_range(0..past.len())];
        }
        let is_scan = update.is_none();
        open[p] = None;
        let show = |(k, value): (usize, &i64)| {
            if partial && (k + lines.len()) % 3 == 0 { " _".into() } else { format!(" {value}") }
        };
        let values: String = read.iter().enumerate().map(show).collect();
        lines.push(match random.random_range(0..12) {
            0 if !is_scan => format!("p{p} unknown"),
            _ if is_scan => format!("p{p} ok{values}"),
            _ => format!("p{p} ok"),
        });
    }
    lines
}

const HEADER: &str = "segments 2\nprocesses 5\nwriters many\n";

/// Objects, their recordings, and one that interleaves them.
struct Interleaving {
    folder: tempfile::TempDir,
    keys: Vec<Value>,
    whole: PathBuf,
}

impl Interleaving {
    fn new(random: &mut ChaCha8Rng, objects: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let names = [Value::from(7), Value::from("7"), "a b".into(), "\"#@\n".into()];
        let key = |k: usize| names.get(k).cloned().unwrap_or_else(|| Value::from(-(k as i64)));
        let mut runs: Vec<Vec<String>> = (0..objects).map(|_| run(random, 2, false)).collect();
        runs.retain(|run| !run.is_empty());
        for (k, run) in runs.iter().enumerate() {
            let text = format!("{HEADER}{}\n", run.join("\n"));
            fs::write(folder.path().join(k.to_string()), text).unwrap();
        }
        // By number of first occurrence; so the keys are put in that order.
        let mut whole = String::from(HEADER);
        let mut queues: Vec<_> = runs.into_iter().map(Vec::into_iter).enumerate().collect();
        while !queues.is_empty() {
            let at = random.random_range(0..queues.len());
            match queues[at].1.next() {
                Some(line) => whole += &format!("@{} {line}\n", key(queues[at].0)),
                None => drop(queues.swap_remove(at)),
            }
        }
        let path = folder.path().join("whole");
        fs::write(&path, whole).unwrap();
        Self { folder, keys: (0..objects).map(key).collect(), whole: path }
    }

    fn part(&self, k: usize) -> PathBuf {
        self.folder.path().join(k.to_string())
    }
}

fn judged(path: &Path, options: &Options) -> Judgement {
    judge(&Input::File(path.to_owned()), None, options)
}

fn decided_at(finding: &Finding) -> Option<usize> {
    match finding {
        Finding::Violation(violation) => Some(violation.decided_at.0),
        _ => None,
    }
}

fn objects(judgement: &Judgement) -> &Objects {
    match &judgement.finding {
        Finding::Objects(objects) => objects,
        other => panic!("{other:?}"),
    }
}

/// Verdicts, the events that decide them, and proofs equal those of the objects' separate
/// recordings.
fn compare(interleaving: &Interleaving, tally: &mut [usize; 3]) {
    let quick = Options::default();
    let proved = Options { linearization: true, ..quick };
    let whole = judged(&interleaving.whole, &quick);
    let with_proofs = judged(&interleaving.whole, &proved);
    let (found, complete) = (objects(&whole), objects(&with_proofs));
    assert_eq!(found.total() as usize, interleaving.keys.len());
    assert_eq!(complete.parts.len(), interleaving.keys.len());
    let mut expected = Vec::new();
    for (k, key) in interleaving.keys.iter().enumerate() {
        let alone = judged(&interleaving.part(k), &quick);
        let is_named = |part: &&snapshot_test::judge::objects::Part| part.key == *key;
        let part = found.parts.iter().find(is_named);
        let word = verdict(&alone.finding);
        assert_eq!(part.map_or("linearizable", |part| verdict(&part.judgement.finding)), word);
        if let Some(part) = part {
            assert_eq!(decided_at(&part.judgement.finding), decided_at(&alone.finding));
        }
        tally[["linearizable", "violation", "unknown"].iter().position(|w| *w == word).unwrap()] +=
            1;
        // The part's proof is a proof of the object's separate recording.
        let part = complete.parts.iter().find(is_named).unwrap();
        assert_eq!(part.judgement.counts, alone.counts);
        let certificate = match &part.judgement.finding {
            Finding::Linearizable { linearization: Some(order), .. } => {
                Certificate::Linearizable(order.clone())
            }
            Finding::Violation(violation) => {
                Certificate::of_violation(&violation.proof.as_ref().unwrap().explanation)
            }
            other => panic!("{other:?}"),
        };
        let own = Input::File(interleaving.part(k)).open(None).unwrap();
        certificate.check(&read_history(own).unwrap().0).unwrap();
        let selected = judge_object(
            &Input::File(interleaving.whole.clone()),
            None,
            Some(key),
            &quick,
            &Gauge::default(),
        );
        assert_eq!(verdict(&selected.finding), word);
        assert_eq!(selected.counts, alone.counts);
        expected.push(alone.finding);
    }
    assert_eq!(exit_code([&whole.finding]), exit_code(&expected));
}

#[test]
fn every_object_has_the_verdict_of_its_own_recording() {
    let rounds = test_support::effort::by_effort(12, 12, 1_000);
    let mut tally = [0; 3];
    for objects in 1..=8 {
        for seed in 0..rounds {
            let mut random = ChaCha8Rng::seed_from_u64(seed * 8 + objects);
            let interleaving = Interleaving::new(&mut random, objects as usize);
            compare(&interleaving, &mut tally);
        }
    }
    // Both verdicts occur, in files in which both occur.
    assert!(tally[0] > 100 && tally[1] > 20, "{tally:?}");
}

#[test]
fn conversion_keeps_keys_and_verdicts() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for objects_ in 1..=8 {
        let interleaving = Interleaving::new(&mut random, objects_);
        let read = |path: &Path| Input::File(path.to_owned()).open(None).unwrap();
        let lines = convert(read(&interleaving.whole), Format::Jsonl, Vec::new()).unwrap();
        let jsonl = interleaving.folder.path().join("jsonl");
        fs::write(&jsonl, &lines).unwrap();
        let text = convert(read(&jsonl), Format::Text, Vec::new()).unwrap();
        let normal = convert(read(&interleaving.whole), Format::Text, Vec::new()).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), String::from_utf8(normal).unwrap());
        let options = Options::default();
        let (one, other) = (judged(&interleaving.whole, &options), judged(&jsonl, &options));
        assert_eq!(one.counts, other.counts);
        let keys = |j: &Judgement| -> Vec<(Value, &str)> {
            let parts = objects(j).parts.iter();
            parts.map(|part| (part.key.clone(), verdict(&part.judgement.finding))).collect()
        };
        assert_eq!(keys(&one), keys(&other));
        assert!(convert(read(&jsonl), Format::Disc22, Vec::new()).is_err());
        // Without its key, an object's part is its separate recording.
        for (k, key) in interleaving.keys.iter().enumerate() {
            let mut reader = read(&jsonl);
            reader.select(key).unwrap();
            let part = convert(reader, Format::Text, Vec::new()).unwrap();
            let own = convert(read(&interleaving.part(k)), Format::Text, Vec::new()).unwrap();
            assert_eq!(String::from_utf8(part).unwrap(), String::from_utf8(own).unwrap());
        }
    }
}

/// A live reading stops at the first event, of all objects, that no order explains.
#[test]
fn a_live_reading_stops_at_the_first_violation_of_any_object() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live");
    let wrong = "@1 p0 update 5\n@2 p0 update 6\n@2 p0 ok\n@1 p0 ok\n@2 p1 scan\n@1 p1 scan\n\
                 @2 p1 ok 0 0\n@1 p1 ok 0 0\n";
    for (input, events) in [(wrong.to_owned(), 7), (wrong.replace("@2 p1 ok 0", "@2 p1 ok 6"), 8)] {
        fs::write(&path, format!("segments 2\n{input}")).unwrap();
        let live = judged(&path, &Options { live: true, ..Options::default() });
        assert_eq!(live.counts.events, events);
        assert_eq!(objects(&live).violations, 1);
        let part = &objects(&live).parts[0];
        assert_eq!(part.key, Value::from(if events == 7 { 2 } else { 1 }));
        let Finding::Violation(violation) = &part.judgement.finding else { panic!("{part:?}") };
        assert!(violation.proof.is_some());
    }
}

/// A defect in one object's events is a defect of the input; but an earlier violation remains.
#[test]
fn defect_of_one_object_concerns_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("defect");
    let begin = "segments 1\n@1 p0 update 5\n@2 p0 update 5\n@1 p0 ok\n@1 p1 scan\n";
    for (scan, code) in [("@1 p1 ok 5\n", 2), ("@1 p1 ok 0\n", 1)] {
        for defect in ["@2 p0 scan\n@1 p1 scan\n", "@2 p0 okay\n"] {
            fs::write(&path, format!("{begin}{scan}{defect}")).unwrap();
            for live in [false, true] {
                let judgement = judged(&path, &Options { live, ..Options::default() });
                assert_eq!(exit_code([&judgement.finding]), code, "{judgement:?}");
                match &judgement.finding {
                    Finding::Malformed(error) => {
                        let report = error.report("x").to_string();
                        assert!(report.starts_with("x:7:"), "{report}");
                    }
                    Finding::Objects(objects) => assert_eq!(objects.malformed.is_some(), !live),
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}
