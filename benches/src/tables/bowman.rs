//! Bowman's algorithm, the pair (0, 1), any number of operations: ours against Spin
//! and stateright, in turns.
//!
//! All but `reduced` explore the same states (see [`crate::model`]), with one
//! thread; a round runs each once, so a slow phase of the machine slows all.

use std::ffi::OsString;

use super::verification::{self, group};
use super::{Measuring, Question, TableError, Told, program};
use crate::model::spin::{self, Printed, Storage};
use crate::model::{Counts, THREADS, expected};
use crate::process::Ended;
use crate::record::{Outcome, Record};

/// The name of its records.
pub const TABLE: &str = "bowman";

/// Seconds that an exploration may take.
pub const PATIENCE: f64 = 600.0;

/// The explorers and their descriptions, in the order of the table.
pub const METHODS: [(&str, &str); 5] = [
    ("ours", "`snapshot-verify check bowman --pairs 0,1 --reductions dead,constant --threads 1`"),
    (
        "spin",
        "Spin 6.5, depth-first, exact states, `-DNOREDUCE`; it prints eight digits of a count",
    ),
    ("spin-collapse", "the same with `-DCOLLAPSE`"),
    ("stateright", "stateright 0.31, breadth-first, 64-bit hashes for states"),
    ("reduced", "ours with all reductions, one thread"),
];

/// Those of [`METHODS`] that are given the same states and must count them.
pub const SAME_STATES: [&str; 4] = ["ours", "spin", "spin-collapse", "stateright"];

/// Measures for these n, in this many rounds.
///
/// # Errors
/// If something cannot be run or recorded, or if states are counted otherwise.
pub fn measure(measuring: &mut Measuring, sizes: &[usize], rounds: u32) -> Result<(), TableError> {
    let verifier = program("snapshot-verify")?;
    let directory = tempfile::tempdir()?;
    for &processes in sizes {
        let at = |name: &str| directory.path().join(format!("{name}-{processes}"));
        let plain = spin::verifier(processes, Storage::Plain, &at("plain"))?;
        let collapse = spin::verifier(processes, Storage::Collapse, &at("collapse"))?;
        for round in 1..=rounds {
            let question = Question {
                case: format!("{}, round {round}", group("bowman", processes)),
                group: group("bowman", processes),
                x: Some(processes as f64),
                expected: Some(Outcome::Linearizable),
            };
            for (method, _) in METHODS {
                match method {
                    "ours" => ours(measuring, &question, method, &verifier, processes, false)?,
                    "reduced" => ours(measuring, &question, method, &verifier, processes, true)?,
                    "stateright" => stateright(measuring, &question, method, processes)?,
                    "spin" => {
                        let (program, arguments) = &plain;
                        measuring.ask(&question, method, (program, arguments), read_spin)?;
                    }
                    _ => {
                        let (program, arguments) = &collapse;
                        measuring.ask(&question, method, (program, arguments), read_spin)?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn ours(
    measuring: &mut Measuring,
    question: &Question,
    method: &str,
    verifier: &OsString,
    processes: usize,
    reduced: bool,
) -> Result<(), TableError> {
    let (processes, threads) = (processes.to_string(), THREADS.to_string());
    let reductions = if reduced { "all" } else { "dead,constant" };
    let arguments = ["check", "bowman", "-n", &processes, "--pairs", "0,1", "--threads", &threads];
    let arguments = [&arguments[..], &["--reductions", reductions]].concat();
    verification::ask(measuring, question, method, verifier, &arguments)?;
    Ok(())
}

fn stateright(
    measuring: &mut Measuring,
    question: &Question,
    method: &str,
    processes: usize,
) -> Result<(), TableError> {
    let program = std::env::current_exe()?.into_os_string();
    let arguments = ["explore".into(), processes.to_string().into()];
    measuring.ask(question, method, (&program, &arguments), |ended: &Ended| {
        let counts = match ended.output.trim() {
            "violation" => None,
            text => {
                let (states, transitions) = text.split_once(' ')?;
                let counts = (states.parse().ok()?, transitions.parse().ok()?);
                Some(Counts { states: counts.0, transitions: counts.1 })
            }
        };
        Some(told(counts))
    })?;
    Ok(())
}

fn told(counts: Option<Counts>) -> Told {
    Told {
        outcome: Outcome::of(counts.is_some()),
        seconds: None,
        states: counts.map(|counts| counts.states),
        transitions: counts.map(|counts| counts.transitions),
        by: None,
    }
}

fn read_spin(ended: &Ended) -> Option<Told> {
    let out_of_memory = ended.output.contains("memory") && ended.output.contains("out of");
    match spin::read(&ended.output) {
        Printed::Verified(counts) => Some(told(Some(counts))),
        Printed::Violation => Some(told(None)),
        Printed::Unfinished if out_of_memory => {
            Some(Told { outcome: Outcome::Memory, ..told(None) })
        }
        Printed::Unfinished => None,
    }
}

/// Those with other counts than all must have: (method, case, states, transitions).
pub fn miscounted(measuring: &Measuring) -> Vec<String> {
    let records = measuring.store.records().iter();
    let same = records.filter(|record| SAME_STATES.contains(&record.method.as_str()));
    let counted = same.filter(|record| record.outcome == Outcome::Linearizable);
    let wrong = counted.filter(|record| is_miscounted(record));
    let told = |record: &Record| {
        let (states, transitions) = (record.states, record.transitions);
        format!(
            "{} on {}: {states:?} states, {transitions:?} transitions",
            record.method, record.case
        )
    };
    wrong.map(told).collect()
}

/// Whether these are not the counts that its method must print.
fn is_miscounted(record: &Record) -> bool {
    let known = record.x.and_then(|processes| expected(processes as usize));
    let must = match record.method.as_str() {
        "spin" | "spin-collapse" => known.map(spin::printed),
        _ => known,
    };
    let found = record.states.zip(record.transitions);
    must.is_some_and(|must| found != Some((must.states, must.transitions)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::solved;

    fn counted(method: &str, transitions: u64) -> Record {
        let record = solved("bowman, n = 5", "bowman, n = 5, round 1", method, 1.0);
        let states = expected(5).map(|counts| counts.states);
        Record { x: Some(5.0), states, transitions: Some(transitions), ..record }
    }

    #[test]
    fn only_spin_may_round() {
        let exact = 331_569_418;
        let rounded = 331_569_420;
        for (method, transitions, wrong) in [
            ("ours", exact, false),
            ("ours", rounded, true),
            ("stateright", rounded, true),
            ("spin", rounded, false),
            ("spin-collapse", rounded, false),
            ("spin", rounded + 10, true),
            ("spin-collapse", rounded - 10, true),
        ] {
            let record = counted(method, transitions);
            assert_eq!(is_miscounted(&record), wrong, "{method}: {transitions}");
        }
        let fewer = Record { states: Some(62_055_311), ..counted("spin", rounded) };
        assert!(is_miscounted(&fewer));
    }
}
