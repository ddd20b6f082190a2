//! Answers for every n about a declared object, as text and as JSON.

use serde_json::json;

use super::Case;
use super::exercised::Exercised;
use super::json::SCHEMA;
use super::quantity::{count, seconds};
use crate::verify::every_object::EveryObject;

/// Returns an answer as text. The counterexample, if there is one, is reported as one for its n.
pub fn human_every_object(title: &str, case: &Case<'_>, every: &EveryObject) -> String {
    let n = every.wrong.as_ref().map_or(0, |(request, _)| request.processes);
    let verdict = match every.verdict() {
        "verified" => "verified for every n, any number of operations".to_owned(),
        "refused" => "no proof".to_owned(),
        "misplaced" => format!(
            "unknown: with n = {n} the statements marked with `linearizes` are no linearization \
             points"
        ),
        "unknown" => "unknown".to_owned(),
        verdict => format!("{verdict} with n = {n}"),
    };
    let mut text = format!("{title}, every n: {verdict} ({})\n", seconds(every.elapsed));
    match &every.found {
        Err(reason) => text.push_str(&format!("  {reason}\n")),
        Ok(found) => {
            let values = match case.values() {
                Some(1) => "value 0; ".to_owned(),
                Some(values) => format!("values 0..{}; ", values - 1),
                None => String::new(),
            };
            text.push_str(&format!(
                "  {values}by backward coverability at the linearization points: {} minimal states \
                 lead to an error ({} states of memory and object, {} of a process, {} steps)\n",
                count(found.upward.len() as u64),
                count(found.globals as u64),
                count(found.locals as u64),
                count(found.transitions as u64),
            ));
        }
    }
    text
}

/// Returns an answer as one line of JSON. The case has a definite n, with the coverage of its
/// executions.
pub fn json_every_object(case: &Case<'_>, every: &EveryObject) -> String {
    let mut line = json!({
        "schema": SCHEMA,
        "input": case.input,
        "bug": case.bug,
        "object": case.object.map(|object| &object.name),
        "processes": "every",
        "verdict": every.verdict(),
        "violated_with": every.wrong.as_ref().map(|(request, _)| request.processes),
        "values": case.values(),
        "seconds": every.elapsed.as_secs_f64(),
    });
    match &every.found {
        Err(reason) => line["reason"] = reason.to_string().into(),
        Ok(found) => {
            line["coverability"] = json!({
                "minimal_states": found.upward.len(),
                "global_states": found.globals,
                "local_states": found.locals,
                "steps": found.transitions,
            });
        }
    }
    if let Some(exercise) = case.exercise {
        line["exercised"] = json!(Exercised::new(case, exercise));
        line["exercised"]["processes"] = case.request.processes.into();
    }
    line.to_string() + "\n"
}
