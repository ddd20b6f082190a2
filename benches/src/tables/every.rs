//! The published algorithms for every n: the proof, its certificate, and the check of that.

use std::cell::RefCell;
use std::ffi::OsString;

use serde::Deserialize;

use super::{Measuring, Question, TableError, Told, program};
use crate::process::Ended;
use crate::published::disc2022_table2;
use crate::record::Outcome;

/// The name of its records.
pub const TABLE: &str = "every-n";

/// Seconds that a proof, or what is done with its certificate, may take.
pub const PATIENCE: f64 = 900.0;

/// What is run of each algorithm. A part of a proof is recorded by the name of its rung.
pub const METHODS: [(&str, &str); 3] = [
    ("proof", "`check ALGORITHM -n every`"),
    ("certificate", "`check ALGORITHM -n every --certificate FILE`, without the proof itself"),
    ("certify", "`certify ALGORITHM FILE`"),
];

/// The algorithms, in the order of the paper; and one that is not in it.
pub fn algorithms() -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for cell in disc2022_table2() {
        if !names.contains(&cell.algorithm) {
            names.push(cell.algorithm);
        }
    }
    let other = "attiya_welch".to_owned();
    if !names.contains(&other) {
        names.push(other);
    }
    names
}

/// Measures all of them; quick: bowman.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn measure(measuring: &mut Measuring, quick: bool) -> Result<(), TableError> {
    let verifier = program("snapshot-verify")?;
    let directory = tempfile::tempdir()?;
    let all = algorithms();
    for algorithm in all.iter().filter(|name| !quick || *name == "bowman") {
        let question = Question {
            case: format!("{algorithm}, every n"),
            group: algorithm.clone(),
            x: None,
            expected: Some(Outcome::Linearizable),
        };
        let file = directory.path().join(algorithm);
        let command = |arguments: &[&str]| -> Vec<OsString> {
            arguments.iter().map(OsString::from).collect()
        };
        let check = command(&["check", algorithm, "-n", "every", "--report", "json"]);
        let parts = RefCell::new(Vec::new());
        let read = |ended: &Ended| {
            let proof: Proof = first(ended)?;
            let told = proof.told();
            *parts.borrow_mut() = proof.obligations;
            Some(told)
        };
        let outcome = measuring.ask(&question, METHODS[0].0, (&verifier, &check), read)?;
        // Of several guesses at rounds the first.
        let mut parts: Vec<Part> = parts.take().into_iter().filter(|part| part.holds).collect();
        parts.dedup_by(|one, two| one.rung == two.rung);
        for part in parts {
            measuring.part(&question, &part.rung, part.told())?;
        }
        if outcome != Some(Outcome::Linearizable) {
            continue;
        }
        let mut write = check.clone();
        write.extend(["--certificate".into(), file.clone().into()]);
        measuring.ask(&question, METHODS[1].0, (&verifier, &write), read_written)?;
        if file.exists() {
            let mut certify = command(&["certify", algorithm, "--report", "json"]);
            certify.push(file.into());
            measuring.ask(&question, METHODS[2].0, (&verifier, &certify), read_certified)?;
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct Proof {
    verdict: String,
    seconds: f64,
    obligations: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    rung: String,
    holds: bool,
    /// None if something is not modelled.
    seconds: Option<f64>,
    kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    views: u64,
}

impl Part {
    fn told(&self) -> Told {
        Told {
            outcome: Outcome::Linearizable,
            seconds: self.seconds,
            states: Some(self.kinds.iter().map(|kind| kind.views).sum()),
            transitions: None,
            by: None,
        }
    }
}

impl Proof {
    fn told(&self) -> Told {
        let outcome = match self.verdict.as_str() {
            "verified" => Outcome::Linearizable,
            "violation" | "fault" => Outcome::Violation,
            _ => Outcome::None,
        };
        let views = self.obligations.iter().filter_map(|part| part.told().states).sum();
        Told {
            outcome,
            seconds: Some(self.seconds),
            states: Some(views),
            transitions: None,
            by: None,
        }
    }
}

#[derive(Deserialize)]
struct Written {
    views: u64,
    bytes: u64,
    seconds: f64,
}

#[derive(Deserialize)]
struct Certified {
    answer: String,
    seconds: f64,
    proved: Option<Proved>,
}

#[derive(Deserialize)]
struct Proved {
    views: u64,
}

fn first<'e, T: Deserialize<'e>>(ended: &'e Ended) -> Option<T> {
    serde_json::from_str(ended.output.lines().next()?).ok()
}

/// A certificate; none if it could not be made.
fn read_written(ended: &Ended) -> Option<Told> {
    let lines = ended.output.lines();
    let mut written = lines.filter_map(|line| serde_json::from_str::<Written>(line).ok());
    Some(match written.next() {
        Some(written) => Told {
            outcome: Outcome::Linearizable,
            seconds: Some(written.seconds),
            states: Some(written.views),
            transitions: Some(written.bytes),
            by: None,
        },
        None => Told::nothing(Outcome::None),
    })
}

fn read_certified(ended: &Ended) -> Option<Told> {
    let certified: Certified = first(ended)?;
    let outcome = match certified.answer.as_str() {
        "accepted" => Outcome::Linearizable,
        "refused" => Outcome::Violation,
        _ => Outcome::None,
    };
    let states = certified.proved.map(|proved| proved.views);
    Some(Told { outcome, seconds: Some(certified.seconds), states, transitions: None, by: None })
}
