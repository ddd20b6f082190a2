//! Several inputs of one monitor: in any interleaving, with any number of workers, killed and
//! resumed at any point, the alarms equal those of `check` for each object alone.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::thread;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use snapshot_test::format::{Format, Location, Object, Reader};
use snapshot_test::judge::Options;
use snapshot_test::monitor::{
    AlarmSink, Answer, Checkpoint, Checkpoints, DuplicateKey, Emptied, Outbox, Partition,
    Snapshots, Standing, WorkerPool, owner,
};
use snapshot_test::{InputError, Value};
use test_support::effort::either;

use crate::shares::{self, Recording, due};

/// Takes the numbers of new events and keys.
type Count = fn(u64, u64);

type Alarm = (usize, shares::Alarm);

/// A key of two inputs, with these inputs, and its first line in the second one.
type Refused = (String, usize, usize, Option<u64>);

/// The findings of workers: the number of times of each alarm, and keys of two inputs.
#[derive(Default)]
pub struct Brought {
    alarms: Mutex<BTreeMap<Alarm, usize>>,
    clashes: Mutex<Vec<Refused>>,
}

impl Brought {
    /// Returns the number of times of each alarm; each key must belong to one input.
    pub fn alarms(self) -> BTreeMap<Alarm, usize> {
        let clashes = self.clashes.into_inner().unwrap();
        assert!(clashes.is_empty(), "{clashes:?}");
        self.alarms.into_inner().unwrap()
    }
}

impl AlarmSink for Brought {
    fn answer(&self, input: usize, answer: &Answer) -> bool {
        *self.alarms.lock().unwrap().entry((input, due(answer))).or_default() += 1;
        true
    }

    fn refuse(&self, _: usize, _: Option<&Value>, _: &InputError) -> bool {
        true
    }

    fn clash(&self, clash: &DuplicateKey<'_>) {
        let DuplicateKey { key, first, second, at } = *clash;
        let line = at.map(|at| at.line);
        self.clashes.lock().unwrap().push((key.to_string(), first, second, line));
    }
}

/// An input that is being read.
struct Open<'a> {
    dealer: snapshot_test::monitor::Router,
    reader: Reader<Emptied<&'a [u8], Count>>,
    begin: (u64, u64),
}

/// The parameters of reading inputs.
pub struct Course<'a> {
    pub texts: &'a [String],
    /// The possible numbers of workers.
    pub workers: &'a [usize],
    pub kills: usize,
}

fn name(input: usize) -> String {
    format!("{input}.txt")
}

impl Course<'_> {
    /// Reads all inputs, alternating between them. Returns the results of each, and all findings.
    /// Sometimes stores a checkpoint of one of them, and sometimes resumes from it.
    pub fn run(mut self, random: &mut ChaCha8Rng) -> (Brought, Vec<Standing>) {
        let (brought, stop) = (Brought::default(), AtomicBool::new(false));
        let mut kept: Vec<Option<String>> = vec![None; self.texts.len()];
        loop {
            let named: Vec<String> = (0..self.texts.len()).map(name).collect();
            let pairs = named.iter().zip(&kept);
            let file =
                Checkpoints::text(pairs.map(|(name, text)| (name.as_str(), text.as_deref())));
            let file = Checkpoints::parse(&file).unwrap();
            let resumed = |input: usize| {
                let named = file.inputs.iter().find(|one| one.input == name(input));
                named.and_then(|one| one.checkpoint.as_ref())
            };
            let number = self.workers[random.random_range(0..self.workers.len())];
            let before = brought.alarms.lock().unwrap().clone();
            let standings = thread::scope(|scope| {
                let count = self.texts.len();
                let workers = NonZeroUsize::new(number).unwrap();
                let crew = WorkerPool::new(scope, workers, count, &brought, &stop).unwrap();
                self.until_killed((crew, number), resumed, &mut kept, random)
            });
            // Alarms in the checkpoint are not raised again.
            for (alarm, times) in brought.alarms.lock().unwrap().iter() {
                let is_held = resumed(alarm.0).is_some_and(|held| {
                    held.objects.iter().any(|saved| {
                        let key = saved.key.as_ref();
                        let key = key.map_or(String::new(), |key| Value::from(key).to_string());
                        key == alarm.1.0 && saved.ended.is_some()
                    })
                });
                assert!(!is_held || before.get(alarm) == Some(times), "{alarm:?}");
            }
            if let Some(standings) = standings {
                return (brought, standings);
            }
        }
    }

    /// The same until the monitor is killed: then there are no standings.
    fn until_killed<'c>(
        &mut self,
        (crew, workers): (WorkerPool<'_>, usize),
        resumed: impl Fn(usize) -> Option<&'c Checkpoint>,
        kept: &mut [Option<String>],
        random: &mut ChaCha8Rng,
    ) -> Option<Vec<Standing>> {
        let texts = self.texts;
        // Some bytes at a time, or all available ones.
        let how = (workers, [100, usize::MAX][random.random_range(0..2)]);
        let inputs = texts.iter().enumerate();
        let mut open: Vec<_> = inputs
            .map(|(input, text)| Some(opened(&crew, (input, text), resumed(input), how)))
            .collect();
        while let Some(input) = some(&open, random) {
            for _ in 0..random.random_range(1..30) {
                let Some(one) = &mut open[input] else { break };
                let Some(next) = one.dealer.next(&mut one.reader) else {
                    let at = one.reader.place();
                    let one = open[input].take().unwrap();
                    let objects = one.dealer.end(Some(at));
                    kept[input] = Some(checkpoint(&texts[input], at, one.begin, objects));
                    break;
                };
                let next = next.unwrap();
                if random.random_range(0..20) == 0 {
                    let objects = one.dealer.save(next.location());
                    kept[input] =
                        Some(checkpoint(&texts[input], next.location(), one.begin, objects));
                }
                if self.kills > 0 && random.random_range(0..60) == 0 {
                    self.kills -= 1;
                    // Immediately, or as late as possible.
                    if random.random_bool(0.7) {
                        open.into_iter().flatten().for_each(|one| drop(one.dealer.end(None)));
                        crew.finish();
                    }
                    return None;
                }
                one.dealer.deal(&next, &mut one.reader);
            }
        }
        Some(crew.finish())
    }
}

/// Picks one of the open inputs.
fn some(open: &[Option<Open<'_>>], random: &mut ChaCha8Rng) -> Option<usize> {
    let left: Vec<usize> = (0..open.len()).filter(|input| open[*input].is_some()).collect();
    (!left.is_empty()).then(|| left[random.random_range(0..left.len())])
}

fn opened<'a>(
    crew: &WorkerPool<'_>,
    (input, text): (usize, &'a str),
    resumed: Option<&Checkpoint>,
    (workers, most): (usize, usize),
) -> Open<'a> {
    let declaration = Reader::text(text.as_bytes()).unwrap().declaration().clone();
    let share =
        |_| Partition::<Snapshots>::of_many(Format::Text, declaration.clone(), Options::default());
    let mut shares: Vec<_> = (0..workers).map(share).collect();
    let home = owner(&Value::from(name(input).as_str()), workers);
    let begin = resumed.map_or((0, 0), |checkpoint| (checkpoint.bytes, checkpoint.lines));
    shares.iter_mut().for_each(|share| share.begin_behind(begin.0, begin.1));
    for saved in resumed.iter().flat_map(|checkpoint| &checkpoint.objects) {
        let worker = saved.key.as_ref().map_or(home, |key| owner(&key.into(), workers));
        shares[worker].resume(saved).unwrap();
    }
    let outbox = Outbox::default();
    // A comment: without any line, there would be no recording.
    let rest = &text.as_bytes()[begin.0 as usize..];
    let rest = if rest.is_empty() { b"# the end\n" } else { rest };
    let count: Count = |_, _| ();
    let reader = Reader::text(outbox.before(rest, most, count)).unwrap();
    Open { dealer: crew.intake(input).begin(shares, home, outbox), reader, begin }
}

fn checkpoint(
    text: &str,
    at: Location,
    begin: (u64, u64),
    objects: Vec<snapshot_test::monitor::Saved>,
) -> String {
    let declaration = Reader::text(text.as_bytes()).unwrap().declaration().clone();
    let (offset, line) = (at.offset + begin.0, at.line + begin.1);
    // The comment is not part of the input.
    let offset = offset.min(text.len() as u64);
    let line = line.min(text.lines().count() as u64 + 1);
    let at = Location { offset, line, ..at };
    Checkpoint::at(at, (Format::Text, Object::Snapshot), &declaration, objects).text()
}

/// Returns inputs with different objects; some inputs have no keys.
fn recordings(random: &mut ChaCha8Rng) -> Vec<Recording> {
    let count: usize = random.random_range(1..6);
    let recording = |input| {
        if random.random_bool(0.3) {
            let mut one = Recording::of(random, 0..1, 40);
            let lines = one.text.lines().map(|line| match line.strip_prefix('@') {
                Some(keyed) => keyed.split_once(' ').unwrap().1.to_owned() + "\n",
                None => line.to_owned() + "\n",
            });
            one.text = lines.collect();
            let bare = |alarms: &BTreeSet<(String, u64, u64)>| {
                alarms.iter().map(|(_, event, line)| (String::new(), *event, *line)).collect()
            };
            (one.alarms, one.refused) = (bare(&one.alarms), bare(&one.refused));
            return one;
        }
        let objects = random.random_range(1..8);
        Recording::of(random, 100 * input..100 * input + objects, 40)
    };
    (0..count).map(recording).collect()
}

#[test]
fn interleaved_and_resumed_alarms_equal_those_of_each_object() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let (mut due, mut twice, mut bare) = (0, 0, 0);
    for _ in 0..either(80, 160) {
        let recordings = recordings(&mut random);
        let texts: Vec<String> = recordings.iter().map(|one| one.text.clone()).collect();
        for (workers, kills) in [(&[1][..], 0), (&[3], 0), (&[1, 2, 5], 4)] {
            let course = Course { texts: &texts, workers, kills };
            let (brought, standings) = course.run(&mut random);
            let raised = brought.alarms();
            let expected = recordings.iter().enumerate().flat_map(|(input, one)| {
                one.alarms.iter().map(move |alarm| (input, alarm.clone()))
            });
            let expected: BTreeSet<Alarm> = expected.collect();
            assert_eq!(raised.keys().cloned().collect::<BTreeSet<_>>(), expected, "{texts:#?}");
            for (standing, one) in standings.iter().zip(&recordings) {
                assert_eq!((standing.objects, standing.events), (one.objects, one.events));
                let due = (one.alarms.clone(), one.refused.clone());
                assert_eq!(shares::alarms(standing), due, "{texts:#?}");
            }
            due += expected.len();
            bare += expected.iter().filter(|alarm| alarm.1.0.is_empty()).count();
            twice += raised.values().filter(|times| **times > 1).count();
            assert!(kills > 0 || raised.values().all(|times| *times == 1), "{texts:#?}");
        }
    }
    assert!(
        due > either(50, 100) && twice > either(1, 3) && bare > either(5, 10),
        "{due}, {twice} twice, {bare} without keys"
    );
}

/// For every order of the inputs, and every owner.
#[test]
fn key_of_two_inputs_is_refused_with_its_position() {
    let mut random = ChaCha8Rng::seed_from_u64(12);
    let mut seconds = BTreeSet::new();
    for _ in 0..60 {
        let one = |keys: &[&str]| {
            let events = |key: &&str| format!("@{key} p0 update 1\n@{key} p0 ok\n");
            String::from("segments 1\n") + &keys.iter().map(events).collect::<String>()
        };
        let texts = [one(&["1", "2", "3", "\"x\""]), one(&["4", "5", "\"x\"", "6"]), one(&["7"])];
        let workers = &[[1, 2, 5][random.random_range(0..3)]];
        let course = Course { texts: &texts, workers, kills: 0 };
        let (brought, _) = course.run(&mut random);
        let clashes = brought.clashes.into_inner().unwrap();
        let [(key, first, second, line)] = &clashes[..] else { panic!("{clashes:?}") };
        assert_eq!((key.as_str(), first + second), ("\"x\"", 1));
        assert_eq!(*line, Some([8, 6][*second]), "{clashes:?}");
        seconds.insert(*second);
    }
    assert_eq!(seconds.len(), 2, "both orders occur");
}
