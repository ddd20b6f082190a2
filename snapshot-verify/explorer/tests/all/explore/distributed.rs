//! A distributed search has the result of a search in one process, in any order of work and
//! messages within a round; an engine that violates rounds is detected.

use std::collections::BTreeMap;
use std::sync::Mutex;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use snapshot_explorer::search::distributed::{Engine, Failure, Job, Part, Place};
use snapshot_explorer::search::{
    Exploration, ExploreError, Outcome, SearchVerdict, Storage, Unfinished,
};

use crate::explore::bowman::{Exit, bowman};
use crate::explore::random;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mistake {
    None,
    /// Some words arrive one round late.
    Late,
    Loses,
    /// Some words go to the next part.
    Misplaces,
}

/// Runs all parts on one thread, in random order.
#[derive(Debug)]
struct Simulated {
    workers: usize,
    mistake: Mistake,
    random: Mutex<ChaCha8Rng>,
    /// The number of words sent.
    sent: Mutex<usize>,
}

impl Simulated {
    fn new(workers: usize, seed: u64, mistake: Mistake) -> Self {
        let random = Mutex::new(ChaCha8Rng::seed_from_u64(seed));
        Self { workers, mistake, random, sent: Mutex::new(0) }
    }
}

impl Engine for Simulated {
    fn workers(&self) -> usize {
        self.workers
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn run(&self, job: &dyn Job) -> Result<(), Failure> {
        let mut random = self.random.lock().unwrap();
        let workers = self.workers;
        let place = |worker| Place { worker, workers, is_first: worker == 0 };
        let mut parts: Vec<Box<dyn Part>> = (0..workers).map(|at| job.part(place(at))).collect();
        let mut under_way: BTreeMap<(usize, usize), Vec<Vec<u64>>> = BTreeMap::new();
        loop {
            let mut late: BTreeMap<(usize, usize), Vec<Vec<u64>>> = BTreeMap::new();
            let mut working: Vec<usize> = (0..workers).collect();
            while !working.is_empty() || !under_way.is_empty() {
                let choice = random.random_range(0..working.len() + under_way.len());
                if let Some(&from) = working.get(choice) {
                    let is_more = parts[from].work(&mut |to, words| {
                        *self.sent.lock().unwrap() += words.len();
                        let to = match self.mistake {
                            Mistake::Misplaces if random.random_bool(0.1) => (to + 1) % workers,
                            _ => to,
                        };
                        under_way.entry((from, to)).or_default().push(words);
                    });
                    working.retain(|&worker| worker != from || is_more);
                    continue;
                }
                let (from, to) = *under_way.keys().nth(choice - working.len()).unwrap();
                for words in under_way.remove(&(from, to)).unwrap() {
                    match self.mistake {
                        Mistake::Late if random.random_bool(0.1) => {
                            late.entry((from, to)).or_default().push(words);
                        }
                        Mistake::Loses if random.random_bool(0.1) => {}
                        _ => parts[to].receive(&words),
                    }
                }
            }
            under_way = late;
            let reports: Vec<Vec<u64>> = parts.iter_mut().map(|part| part.report()).collect();
            let goes_on: Vec<bool> = parts.iter_mut().map(|part| part.decide(&reports)).collect();
            assert!(goes_on.iter().all(|one| *one == goes_on[0]), "all decide alike");
            if !goes_on[0] {
                return Ok(());
            }
        }
    }
}

fn counts(outcome: &Outcome) -> (&SearchVerdict, u64, u64, u32) {
    (&outcome.verdict, outcome.states, outcome.transitions, outcome.depth)
}

#[test]
fn parts_give_the_result_of_one_search() {
    let mut wrong = 0;
    for exit in [Exit::Correct, Exit::Early] {
        for antichain in [false, true] {
            for past_violations in [false, true] {
                let exploration =
                    Exploration { antichain, past_violations, ..Exploration::default() };
                let instance = bowman(3, [0, 1], exit);
                let whole = exploration.run(&instance, &mut |_| {}).unwrap();
                wrong += u32::from(!matches!(whole.verdict, SearchVerdict::Verified));
                for workers in 1..=4 {
                    let engine = Simulated::new(workers, 22, Mistake::None);
                    let storage = Storage::Workers(&engine);
                    let parts = Exploration { storage, ..exploration.clone() };
                    let outcome = parts.run(&instance, &mut |_| {}).unwrap();
                    assert_eq!(counts(&outcome), counts(&whole), "{workers}, {exploration:?}");
                }
            }
        }
    }
    assert_eq!(wrong, 4, "searches with and without a violation");
}

#[test]
fn parts_agree_with_one_search_on_random_instances() {
    let mut random = ChaCha8Rng::seed_from_u64(2211);
    let mut kinds = [0; 3];
    for number in 0..60 {
        let instance = random::instance(&mut random);
        let exploration = Exploration {
            antichain: number % 2 == 0,
            operations: Some(1 + number % 3),
            ..Exploration::default()
        };
        let whole = exploration.run(&instance, &mut |_| {}).unwrap();
        kinds[match whole.verdict {
            SearchVerdict::Verified => 0,
            SearchVerdict::Violation { .. } => 1,
            SearchVerdict::Fault { .. } => 2,
            SearchVerdict::Unknown { .. } => panic!("it fits"),
        }] += 1;
        let engine = Simulated::new(2 + number as usize % 3, number.into(), Mistake::None);
        let storage = Storage::Workers(&engine);
        let parts = Exploration { storage, ..exploration.clone() };
        let mut traced = false;
        let outcome = parts.run(&instance, &mut |progress| traced |= progress.tracing).unwrap();
        assert_eq!(counts(&outcome), counts(&whole), "instance {number}");
        assert!(!traced, "instance {number}: its levels are kept");
    }
    assert!(kinds.iter().all(|&count| count >= 5), "{kinds:?}");
}

/// Levels that are too large to keep are explored again for the trace.
#[test]
fn trace_is_the_same_without_kept_levels() {
    let instance = bowman(4, [0, 1], Exit::Early);
    let whole = Exploration::default().run(&instance, &mut |_| {}).unwrap();
    assert!(matches!(whole.verdict, SearchVerdict::Violation { .. }));
    let engine = Simulated::new(2, 5, Mistake::None);
    let storage = Storage::Workers(&engine);
    let mut traced = false;
    let parts = Exploration { storage, ..Exploration::default() };
    let outcome = parts.run(&instance, &mut |progress| traced |= progress.tracing).unwrap();
    assert_eq!(counts(&outcome), counts(&whole));
    assert!(traced, "a second search was needed");
}

/// Returns true if the counts of some search reveal an engine's mistake.
fn is_detected(mistake: Mistake) -> bool {
    let instance = bowman(3, [0, 1], Exit::Correct);
    let exploration = Exploration { self_check: None, ..Exploration::default() };
    let whole = exploration.run(&instance, &mut |_| {}).unwrap();
    (0..3).any(|seed| {
        let engine = Simulated::new(3, seed, mistake);
        let storage = Storage::Workers(&engine);
        let outcome = Exploration { storage, ..exploration.clone() }.run(&instance, &mut |_| {});
        counts(&outcome.unwrap()) != counts(&whole)
    })
}

#[test]
fn late_lost_and_misplaced_messages_are_detected() {
    assert!(!is_detected(Mistake::None));
    for mistake in [Mistake::Late, Mistake::Loses, Mistake::Misplaces] {
        assert!(is_detected(mistake), "{mistake:?}");
    }
}

/// If the memory of one process is exhausted, the search ends in all, with the same cause.
#[test]
fn too_little_memory_ends_all_parts() {
    let instance = bowman(4, [0, 1], Exit::Correct);
    let engine = Simulated::new(3, 7, Mistake::None);
    let storage = Storage::Workers(&engine);
    let exploration = Exploration { storage, memory: 1 << 20, ..Exploration::default() };
    let error = exploration.run(&instance, &mut |_| {}).unwrap_err();
    let ExploreError::Memory { least, .. } = error else { panic!("{error}") };
    let exploration = Exploration { memory: least + 4096, ..exploration };
    let outcome = exploration.run(&instance, &mut |_| {}).unwrap();
    let memory = SearchVerdict::Unknown { cause: Unfinished::Memory, found_at: None };
    assert_eq!(outcome.verdict, memory);
    assert!(outcome.peak_bytes <= least + 4096);
}

/// Runs a job whose first report differs.
#[derive(Debug)]
struct Differing;

impl Engine for Differing {
    fn workers(&self) -> usize {
        1
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn run(&self, job: &dyn Job) -> Result<(), Failure> {
        let mut part = job.part(Place { worker: 0, workers: 2, is_first: true });
        let mine = part.report();
        let mut other = mine.clone();
        other[0] ^= 1;
        assert!(!part.decide(&[mine, other]));
        Ok(())
    }
}

#[test]
fn another_search_is_refused() {
    let instance = bowman(3, [0, 1], Exit::Correct);
    let storage = Storage::Workers(&Differing);
    let error = Exploration { storage, ..Exploration::default() }.run(&instance, &mut |_| {});
    assert_eq!(error.unwrap_err(), ExploreError::Cluster(Failure::Differs { worker: 1 }));
}
