//! No answer depends on speed: answers and their numbers are the same on a machine that is slow at
//! every progress query, with one thread or two, and with a time limit that is never reached.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use snapshot_core::Process;
use snapshot_verify::program::{Program, independence};
use snapshot_verify::search::Progress;
use snapshot_verify::verify::every::{EveryNAnswer, every};
use snapshot_verify::verify::{
    Effort, Operations, Outcome, Request, Verdict, Watch, Way, tried, verify_by,
};
use test_support::effort::{self, either, is_left_out};

/// Sleeps at every call, each time for longer or shorter.
struct Slow {
    stop: AtomicBool,
    unit: Duration,
    calls: std::sync::atomic::AtomicU32,
}

impl Slow {
    fn new(milliseconds: u64) -> Self {
        let (stop, unit) = (AtomicBool::new(false), Duration::from_millis(milliseconds));
        Self { stop, unit, calls: Default::default() }
    }

    fn pause(&self) {
        // At most a second in total.
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        if !self.unit.is_zero() && calls < 40 {
            sleep(self.unit * (calls * 7 % 5));
        }
    }
}

impl Watch for Slow {
    fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    fn begin(&self, _: Option<[Process; 2]>, _: Effort) {
        self.pause();
    }

    fn progress(&self, _: &Progress) {
        self.pause();
    }

    fn prove(&self, _: &str) {
        self.pause();
    }
}

/// Delay, threads, and time limit of machines that must give equal answers.
const MACHINES: [(u64, usize, Option<u64>); 3] =
    [(0, 1, None), (1, 2, Some(100_000)), (10, 1, Some(1_000_000))];

fn request(processes: usize, (_, threads, time): (u64, usize, Option<u64>)) -> Request {
    Request {
        threads: NonZeroUsize::new(threads).unwrap(),
        time: time.map(Duration::from_secs),
        keep_going: true,
        ..Request::new(processes)
    }
}

fn summary(outcomes: &[Outcome]) -> Vec<String> {
    let tell = |outcome: &Outcome| {
        let moves = match &outcome.verdict {
            Verdict::Violation(found) => found.moves().len(),
            Verdict::Fault(fault) => fault.moves.len(),
            _ => 0,
        };
        let proof = outcome.measures.proof.map(|proof| (proof.rung, proof.views));
        let (name, states) = (outcome.verdict.name(), outcome.measures.states);
        format!("{:?} {name} {moves} {:?} {states} {proof:?}", outcome.pair, outcome.scope)
    };
    outcomes.iter().map(tell).collect()
}

fn summary_of_every(every: &EveryNAnswer) -> String {
    let rungs = every.answer.rungs.iter();
    let views = rungs.map(|rung| rung.views());
    let checked = every.proof.as_ref().map(|proof| &proof.obligations);
    let wrong =
        every.wrong.as_ref().map(|(request, outcomes)| (request.processes, summary(outcomes)));
    format!(
        "{} {:?} {checked:?} {:?} {wrong:?}",
        every.verdict(),
        views.collect::<Vec<_>>(),
        every.searched
    )
}

/// Programs of the corpus with fast answers, and their bugs.
fn programs() -> Vec<(String, Program)> {
    let names = ["bowman", "naive_collect", "register", "double_collect", "afek_unbounded"];
    let algorithms =
        names.into_iter().take(either(4, 5)).map(|name| corpus::algorithm(name).unwrap());
    let programs = algorithms.flat_map(|listed| {
        let algorithm = snapshot_verify::language::parse(listed.name, listed.text).unwrap();
        let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.clone()));
        let all: Vec<Option<String>> = std::iter::once(None).chain(bugs).collect();
        all.into_iter().map(move |bug| {
            let program = algorithm.program(bug.as_deref()).unwrap();
            (format!("{} {bug:?}", listed.name), program)
        })
    });
    programs.collect()
}

#[test]
fn answers_do_not_depend_on_speed() {
    let mut compared = 0;
    for (name, program) in programs() {
        let is_data_independent = independence::check(&program).is_ok();
        for processes in [2, 3] {
            let answers = MACHINES.map(|machine| {
                let (watch, request) = (Slow::new(machine.0), request(processes, machine));
                match verify_by(&program, is_data_independent, &request, &Way::Cheaper, &watch) {
                    Ok((outcomes, _)) => summary(&outcomes),
                    Err(error) => vec![error.to_string()],
                }
            });
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{name}: {answers:#?}");
            compared += 1;
        }
        if program.object().is_none() && is_data_independent {
            let answers = MACHINES.map(|machine| {
                let request = request(2, machine);
                let found = every(&program, &request, &Slow::new(machine.0));
                found.map_or_else(|error| error.to_string(), |found| summary_of_every(&found))
            });
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{name}: {answers:#?}");
            compared += 1;
        }
    }
    assert!(compared >= 15, "{compared}");
}

/// Searches cut off by states are cut off at the same place.
#[test]
fn unfinished_searches_do_not_depend_on_speed() {
    let text = corpus::algorithm("double_collect").unwrap().text;
    let algorithm = snapshot_verify::language::parse("double_collect", text).unwrap();
    let program = algorithm.program(None).unwrap();
    let cut = |machine: (u64, usize, Option<u64>)| {
        let watch = Slow::new(machine.0);
        let request = Request { states: Some(30_000), ..request(4, machine) };
        let time = request.time;
        let (_, outcome) = tried(&program, &request, time, &watch).unwrap();
        let grown = Request { operations: Operations::Grow, ..request };
        let way = Way::Search;
        let (outcomes, _) = verify_by(&program, false, &grown, &way, &watch).unwrap();
        (summary(&[outcome]), summary(&outcomes))
    };
    let answers = MACHINES.map(cut);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
}

/// Each process has its own register, and values are compared: two scans in which values recur.
const VALUE_COLLECT: &str = "
algorithm value_collect
shared r[segment]: value
update(v): r[me] := v
scan:
    local a[segment]: value
    local b[segment]: value
    for k in segments: b[k] := r[k]
    repeat
        a := b
        for k in segments: b[k] := r[k]
    until all k in segments: a[k] = b[k]
    return b
";

/// A violation in the trial of a program that looks at values, after four million states.
#[test]
fn trial_finds_a_violation_after_many_states() {
    if is_left_out(effort::Effort::Slow) {
        return;
    }
    let algorithm = snapshot_verify::language::parse("sw", VALUE_COLLECT).unwrap();
    let program = algorithm.program(None).unwrap();
    let request = Request::new(3);
    let (_, outcome) = tried(&program, &request, None, &Slow::new(0)).unwrap();
    assert!(outcome.verdict.is_violation(), "{outcome:?}");
}
