//! An answer for every n about a declared object: by backward coverability, and where it finds an
//! error, by the search for a violation with the smallest n that has one.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Method, Outcome, Request, Verdict, VerifyError, Watch, verify};
use crate::certificate::Budget;
use crate::coverability::{Found, Unsuitable, coverability};
use crate::program::Program;
use crate::refine::Techniques;

/// An answer for every n about a declared object.
#[derive(Clone, Debug)]
pub struct EveryObject {
    /// The states that lead to an error, or the reason why they are not known.
    pub found: Result<Found, Unsuitable>,
    /// Number of values.
    pub values: u32,
    /// For the smallest n with an error: the search there. Its outcome is a violation, a fault,
    /// misplaced linearization points, or unknown.
    pub wrong: Option<(Request, Vec<Outcome>)>,
    pub elapsed: Duration,
}

impl EveryObject {
    /// Returns the machine-readable name of the answer.
    pub fn verdict(&self) -> &'static str {
        match (&self.found, &self.wrong) {
            (Err(Unsuitable::Unfinished(_)), _) => "unknown",
            (Err(_), _) => "refused",
            (Ok(found), None) if found.wrong.is_none() => "verified",
            (Ok(_), wrong) => {
                let outcomes = wrong.iter().flat_map(|(_, outcomes)| outcomes);
                outcomes.map(|one| one.verdict.name()).next().unwrap_or("unknown")
            }
        }
    }

    /// Returns true if the object is linearizable for every n.
    pub fn is_proved(&self) -> bool {
        self.verdict() == "verified"
    }
}

/// Answers for every n, with the values and budgets of a request.
///
/// # Errors
/// If the search with the smallest n cannot be made.
pub fn every_object(
    program: &Program,
    request: &Request,
    watch: &dyn Watch,
) -> Result<EveryObject, VerifyError> {
    let began = Instant::now();
    let values = request.values.unwrap_or(Request::VALUES);
    let mut proceed = || {
        let is_in_time = request.time.is_none_or(|time| began.elapsed() < time);
        is_in_time && !watch.stop().load(Ordering::Relaxed)
    };
    let mut budget = Budget { memory: request.memory, proceed: &mut proceed };
    let found = coverability(program, values, &mut budget);
    let mut answer = EveryObject { found, values, wrong: None, elapsed: Duration::ZERO };
    let least = answer.found.as_ref().ok().and_then(|found| found.wrong);
    if let Some(processes) = least {
        // An error with one process is one with two.
        let processes = processes.max(2);
        for points in [false, true] {
            let method = Method::Refinement(Techniques { points, ..Techniques::ALL });
            let time = request.time.map(|time| time.saturating_sub(began.elapsed()));
            let request =
                Request { processes, method, values: Some(values), time, ..request.clone() };
            let outcomes = verify(program, true, &request, watch)?;
            let is_right = outcomes.iter().all(|one| matches!(one.verdict, Verdict::Verified));
            if !is_right {
                answer.wrong = Some((request, outcomes));
                break;
            }
        }
    }
    answer.elapsed = began.elapsed();
    Ok(answer)
}
