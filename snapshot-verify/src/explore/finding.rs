//! A counterexample to walk along, by the search that `check` makes.

use std::sync::atomic::AtomicBool;

use serde::Serialize;
use snapshot_core::Process;

use super::{ExploreError, Explorer};
use crate::program::independence;
use crate::refine::Techniques;
use crate::search::Progress;
use crate::verify::{Effort, Method, Outcome, Request, Verdict, Watch, verify};

/// Most states of the search: some seconds.
const MOST_STATES: u64 = 1_000_000;

/// Result of a search for a counterexample.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// The moves as lines of a trace, if there is one.
    pub moves: Option<Vec<String>>,
    /// The result in a sentence.
    pub told: String,
}

struct Stoppable<'s>(&'s AtomicBool);

impl Watch for Stoppable<'_> {
    fn stop(&self) -> &AtomicBool {
        self.0
    }

    fn begin(&self, _: Option<[Process; 2]>, _: Effort) {}

    fn progress(&self, _: &Progress) {}
}

impl Explorer {
    /// Searches a shortest counterexample, or an execution that goes wrong, as `check` does, among
    /// at most a million states. `stop` ends the search.
    ///
    /// # Errors
    /// If the algorithm cannot be searched for this many processes.
    pub fn find(&self, stop: &AtomicBool) -> Result<Found, ExploreError> {
        let is_object = self.program.object().is_some();
        let is_independent = independence::check(&self.program).is_ok();
        let request = Request {
            method: match is_object {
                true => Method::Refinement(Techniques::ALL),
                false => Method::Exploration,
            },
            values: is_object.then_some(Request::VALUES),
            states: Some(MOST_STATES),
            threads: self.threads,
            ..Request::new(self.processes())
        };
        let outcomes = verify(&self.program, is_independent, &request, &Stoppable(stop))?;
        let found = outcomes.iter().find_map(|outcome| match &outcome.verdict {
            Verdict::Violation(found) => Some(("A violation", found.moves())),
            Verdict::ObjectViolation(found) => Some(("A violation", found.moves())),
            Verdict::Fault(fault) => Some(("A step that goes wrong", &*fault.moves)),
            _ => None,
        });
        let Some((what, moves)) = found else {
            return Ok(Found { moves: None, told: self.told(&outcomes) });
        };
        let operations = &self.recorded.operations;
        let lines = moves.iter().map(|made| made.named(operations).to_string()).collect();
        let told = format!(
            "{what} in {} steps. Choose another step anywhere to leave this execution.",
            moves.len()
        );
        Ok(Found { moves: Some(lines), told })
    }

    /// Tells what a search without a counterexample established.
    fn told(&self, outcomes: &[Outcome]) -> String {
        let all = |is: fn(&Verdict) -> bool| outcomes.iter().all(|one| is(&one.verdict));
        let n = self.processes();
        if all(|verdict| matches!(verdict, Verdict::Verified)) {
            let values = match self.program.object() {
                Some(_) => format!(" over {} values", Request::VALUES),
                None => String::new(),
            };
            format!("There is none: every execution of {n} processes{values} is linearizable.")
        } else if all(|verdict| matches!(verdict, Verdict::Verified | Verdict::Refused)) {
            "There is none among the simple executions. The program looks at values, so others may \
             be wrong: `snapshot-verify check --values 2 --operations grow` searches them."
                .to_owned()
        } else {
            format!(
                "None was found within {MOST_STATES} states. `snapshot-verify check` searches \
                 further, and its --trace writes a file for `explore --trace`."
            )
        }
    }
}
