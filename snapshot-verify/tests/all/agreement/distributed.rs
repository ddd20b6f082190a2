//! The search by workers gives the answers of the search by threads: verdict, states, transitions,
//! depth, and a counterexample of the same moves, for any number of workers.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use snapshot_cluster::Cluster;
use snapshot_core::Process;
use snapshot_verify::program::Program;
use snapshot_verify::search::distributed::Engine;
use snapshot_verify::search::{Progress, Storage};
use snapshot_verify::verify::{
    Effort, Operations, Outcome, Reductions, Request, Unfinished, Unwatched, Verdict, Watch, verify,
};
use test_support::effort::{is_night, is_slow};

use super::{PLAIN, programs, request, sample};

/// Runs searches on workers.
struct ByWorkers<'a> {
    cluster: &'a Cluster,
    stop: AtomicBool,
}

impl Watch for ByWorkers<'_> {
    fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    fn begin(&self, _: Option<[Process; 2]>, _: Effort) {}

    fn progress(&self, _: &Progress) {}

    fn storage(&self) -> Storage<'_> {
        Storage::Workers(self.cluster)
    }
}

/// Clusters of 1 to 4 workers, each for any number of searches.
fn clusters() -> Vec<Cluster> {
    let workers = (1..=4).map(|workers| NonZeroUsize::new(workers).unwrap());
    workers.map(|workers| Cluster::of_threads(workers).unwrap()).collect()
}

/// Returns the parts of outcomes that must be equal.
fn summary(outcomes: &[Outcome]) -> Vec<String> {
    let tell = |outcome: &Outcome| {
        let measures = &outcome.measures;
        let moves = match &outcome.verdict {
            Verdict::Violation(counterexample) => format!("{:?}", counterexample.moves()),
            Verdict::Fault(fault) => format!("{:?}", fault.moves),
            Verdict::Verified => "verified".to_owned(),
            Verdict::Unknown(Unfinished::Answered) => "answered by another pair".to_owned(),
            other => panic!("{other:?}"),
        };
        let (states, transitions, depth) = (measures.states, measures.transitions, measures.depth);
        format!("{states} {transitions} {depth} {moves}")
    };
    outcomes.iter().map(tell).collect()
}

fn agree(name: &str, program: &Program, request: &Request, clusters: &[Cluster]) -> Vec<String> {
    let expected = summary(&verify(program, true, request, &Unwatched::default()).unwrap());
    for cluster in clusters {
        let watch = ByWorkers { cluster, stop: AtomicBool::new(false) };
        let found = summary(&verify(program, true, request, &watch).unwrap());
        assert_eq!(found, expected, "{name}, {} workers", cluster.workers());
    }
    expected
}

/// The algorithms with the most states.
const LARGE: [&str; 3] = ["jayanti", "riany", "attiya_welch"];

/// Selects one of the clusters, in turn.
fn few(clusters: &[Cluster], number: usize) -> &[Cluster] {
    let number = number % clusters.len();
    &clusters[number..=number]
}

/// Returns true if all pairs are verified.
fn is_right(told: &[String]) -> bool {
    told.iter().all(|told| told.ends_with("verified"))
}

/// With all reductions, and one in three with none. At night, also correct
/// programs that take seconds, and all programs with none.
#[test]
fn workers_agree_with_threads_on_corpus_and_bugs() {
    let clusters = clusters();
    let [mut right, mut wrong] = [0; 2];
    let is_large = |name: &str| LARGE.contains(&name);
    let programs = programs().into_iter().filter(|(name, _)| is_night() || !is_large(name));
    for (number, (name, program)) in programs.enumerate() {
        let all = request(2, 2, Reductions::standard());
        let some = if is_night() { &clusters[..] } else { few(&clusters, number) };
        let found = agree(&name, &program, &all, some);
        if is_right(&found) {
            right += 1
        } else {
            wrong += 1
        }
        if is_night() || number % 3 == 0 && !name.starts_with("riany") {
            agree(&name, &program, &request(2, 1, PLAIN), few(&clusters, number + 1));
        }
    }
    // Most bugs take more processes or operations.
    println!("{right} right, {wrong} wrong");
    assert!(right >= 5 && wrong >= 2, "{right} right, {wrong} wrong");
}

/// In the slow suite.
#[test]
fn workers_agree_with_threads_on_mutants() {
    if !is_slow() {
        return;
    }
    let clusters = clusters();
    let step = if is_night() { 2 } else { 83 };
    let [mut right, mut wrong] = [0; 2];
    for (number, mutant) in sample(step).into_iter().enumerate() {
        let request = request(2, 1, Reductions::standard());
        let found = agree(&mutant.name, &mutant.program, &request, few(&clusters, number));
        if is_right(&found) { right += 1 } else { wrong += 1 }
    }
    assert!(right.min(wrong) * 4 > right + wrong, "{right} right, {wrong} wrong");
}

/// Searches with more than one level per worker, of several pairs and of growing bounds, one after
/// the other on the same workers. At night each program has both a bound and
/// growing ones, else they alternate.
#[test]
fn workers_agree_with_threads_on_three_processes() {
    let clusters = clusters();
    let is_small = |name: &str| {
        ["bowman", "naive_collect", "double_collect"].contains(&name.split(' ').next().unwrap())
    };
    let programs = programs().into_iter().filter(|(name, _)| is_small(name));
    for (number, (name, program)) in programs.enumerate() {
        if is_night() || number % 2 == 0 {
            let some = if is_night() { &clusters[1..3] } else { &clusters[1..2] };
            agree(&name, &program, &request(3, 2, Reductions::standard()), some);
        }
        if is_night() || number % 2 == 1 {
            let mut grow = request(3, 1, Reductions::standard());
            (grow.operations, grow.keep_going) = (Operations::Grow, false);
            agree(&name, &program, &grow, few(&clusters, if is_night() { 3 } else { 2 }));
        }
    }
}
