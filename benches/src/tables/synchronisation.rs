//! Figures 14 to 16 of Lawrence and Lowe, "Synchronisation: Specification and Testing": how long
//! it takes to find mistakes in objects whose operations take effect together.
//!
//! As in the paper each observation is a process of its own, with schedules of its own.

use std::ffi::OsString;
use std::time::Instant;

use lineup::together::Fault;
use serde::{Deserialize, Serialize};

use super::{Measuring, Question, TableError, Told};
use crate::meeting::{GROWING, MEETINGS, Meeting};
use crate::process::Ended;
use crate::record::Outcome;

/// The name of its records.
pub const TABLE: &str = "synchronisation";

/// Seconds that an observation may take.
pub const PATIENCE: f64 = 60.0;

/// Observations of each object, as in the paper.
pub const OBSERVATIONS: u64 = 100;

/// What is to show: Figures 14 and 15, and Figure 16.
pub const METHODS: [(&str, Fault); 2] =
    [("linearization", Fault::NotSetLinearizable), ("progress", Fault::NoProgress)];

/// What an observation prints.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Observation {
    /// Until the mistake showed, if it did.
    executions: Option<u64>,
    seconds: f64,
}

/// Makes an observation in this process, and returns it as a line of JSON.
///
/// # Errors
/// If there is no such object, or no such method.
pub fn meet(object: &str, method: &str, seed: u64) -> Result<String, TableError> {
    let fault = METHODS.iter().find(|(name, _)| *name == method);
    let (Some(meeting), Some((_, fault))) = (Meeting::named(object), fault) else {
        return Err(TableError::Meeting(object.to_owned(), method.to_owned()));
    };
    let start = Instant::now();
    let executions = meeting.find(*fault, seed);
    let seconds = start.elapsed().as_secs_f64();
    let observation = Observation { executions, seconds };
    Ok(serde_json::to_string(&observation).expect("numbers are JSON"))
}

/// Makes all observations; quick: two of each method of the first object.
///
/// # Errors
/// If something cannot be run or recorded.
pub fn measure(measuring: &mut Measuring, quick: bool) -> Result<(), TableError> {
    let (objects, observations) = if quick { (1, 2) } else { (usize::MAX, OBSERVATIONS) };
    for meeting in MEETINGS.iter().take(objects) {
        for (method, fault) in METHODS {
            if fault == Fault::NotSetLinearizable || meeting.stuck.is_some() {
                observe(measuring, meeting, method, observations)?;
            }
        }
    }
    if !quick {
        for (_, meeting) in GROWING {
            observe(measuring, meeting, METHODS[0].0, observations)?;
        }
    }
    Ok(())
}

fn observe(
    measuring: &mut Measuring,
    meeting: &Meeting,
    method: &str,
    observations: u64,
) -> Result<(), TableError> {
    let program = std::env::current_exe()?.into_os_string();
    for seed in 0..observations {
        let question = Question {
            case: format!("{}, {seed}", meeting.object),
            group: meeting.object.to_owned(),
            x: Some(seed as f64),
            expected: Some(Outcome::Violation),
        };
        let arguments = ["meet", meeting.object, method, &seed.to_string()].map(OsString::from);
        measuring.ask(&question, method, (&program, &arguments), read)?;
    }
    Ok(())
}

fn read(ended: &Ended) -> Option<Told> {
    let observation: Observation = serde_json::from_str(ended.output.trim()).ok()?;
    let outcome = observation.executions.map_or(Outcome::None, |_| Outcome::Violation);
    let (seconds, states) = (Some(observation.seconds), observation.executions);
    Some(Told { outcome, seconds, states, transitions: None, by: None })
}
