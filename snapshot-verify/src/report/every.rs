//! Answers for every n, as text and as JSON.

use serde_json::{Value, json};
use snapshot_hints::ladder::{Attempt, Rung};
use snapshot_hints::report;
use snapshot_invariant::claim::{Ghosts, Obligation};
use snapshot_invariant::step::Kind;
use snapshot_invariant::trace::Event;

use super::Case;
use super::exercised::{Exercised, human_exercised};
use super::json::SCHEMA;
use super::projection::{projected, projection};
use super::quantity::{count, seconds};
use crate::language::Source;
use crate::program::rewrite::{Change, Form};
use crate::verify::Unfinished;
use crate::verify::every::EveryNAnswer;
use crate::verify::proof::Proof;
use crate::verify::unmodelled::Unmodelled;

/// Returns an answer as text: the conclusion, and below it the obligations that were tried. `title`
/// names the algorithm. The counterexample, if there is one, is reported as one for its n, and the
/// coverage of a proof by [`human_every_exercised`].
pub fn human_every(title: &str, source: &Source, every: &EveryNAnswer) -> String {
    let verdict = match every.verdict() {
        "verified" => "verified for every n >= 2, all pairs, any number of operations".to_owned(),
        "violation" | "fault" => {
            let n = every.wrong.as_ref().map_or(0, |(request, _)| request.processes);
            format!("{} with n = {n}", every.verdict())
        }
        "refused" => "no proof: the program looks at values".to_owned(),
        _ => match every.short() {
            Unfinished::Unproved => "unknown".to_owned(),
            Unfinished::Interrupted => "unknown, interrupted".to_owned(),
            short => format!("unknown, {} was short", short.name()),
        },
    };
    let mut text = format!("{title}, every n: {verdict} ({})\n", seconds(every.elapsed));
    for change in &every.rewritten {
        text.push_str(&format!("  rewritten: {}\n", rewritten(change, source)));
    }
    for one in every.unmodelled.iter().filter(|_| every.verdict() == "unknown") {
        let cure = one.cure.map_or_else(String::new, |cure| format!("; what helps: {cure}"));
        let place = source.place(one.span);
        text.push_str(&format!("  not modelled: {place}: {}{cure}\n", one.construct));
    }
    // A proof is for the reader of JSON; an attempt says how far it went.
    let is_verified = every.verdict() == "verified";
    for rung in every.answer.rungs.iter().filter(|rung| !is_verified && report::is_told(rung)) {
        let (name, what) = (rung.obligation.name(), report::property(rung.obligation));
        let hints = if rung.is_hinted { "" } else { ", without hints" };
        text.push_str(&format!("  {name}, {what}{hints}: {}", report::outcome(rung, source)));
        text.push_str(&format!(
            " ({} views, {} centres, {})\n",
            count(rung.views() as u64),
            count(rung.centres as u64),
            seconds(rung.elapsed)
        ));
    }
    if let Some(proof) = &every.proof {
        for (obligation, views) in proof.obligations.iter().filter(|_| !proof.is_hinted) {
            let (name, views) = (obligation.name(), count(*views));
            text.push_str(&format!("  {name}: holds without hints ({views} views)\n"));
        }
        text.push_str(&format!("  check: {}\n", checked(proof)));
        text.push_str(&format!("  projected: {}\n", projected(&proof.projected)));
    }
    if every.verdict() == "unknown" {
        let steps = every.answer.rungs.iter().rev().find_map(steps);
        if let Some(events) = steps.filter(|_| every.short() == Unfinished::Unproved) {
            text.push_str("  The steps that could not be excluded:\n");
            for line in report::events(events, source) {
                text.push_str(&format!("    {line}\n"));
            }
        }
        let searched: Vec<String> = every.searched.iter().map(usize::to_string).collect();
        if !searched.is_empty() {
            text.push_str(&format!("  No violation with n = {}.\n", searched.join(", ")));
        }
    }
    text
}

/// A rewriting in words.
fn rewritten(change: &Change, source: &Source) -> String {
    let what = match change.form {
        Form::Owner => "names the process that took it",
        Form::Stamp => "is a version, for it is only compared by `=`",
    };
    format!("{} {what} ({})", change.variable, source.place(change.span))
}

/// What the check of the certificate says.
fn checked(proof: &Proof) -> String {
    let (views, elapsed) = (count(proof.views()), seconds(proof.elapsed));
    format!("accepts the certificate ({views} views, {elapsed})")
}

/// Returns the coverage of a proof for every n: that of the executions of one n, which is the n of
/// the case.
pub fn human_every_exercised(case: &Case<'_>) -> String {
    let with = format!(" with n = {}", case.request.processes);
    case.exercise.map_or_else(String::new, |exercise| human_exercised(case, exercise, &with))
}

fn steps(rung: &Rung) -> Option<&[Event]> {
    match &rung.attempt {
        Attempt::Fails(_, events) if !events.is_empty() => Some(events),
        _ => None,
    }
}

/// Returns an answer as one line of JSON. The case has a definite n, with the coverage of its
/// executions.
pub fn json_every(case: &Case<'_>, every: &EveryNAnswer) -> String {
    let (source, exercise) = (case.source, case.exercise);
    let exercised = exercise.map(|exercise| Exercised::new(case, exercise));
    let rungs: Vec<Value> = every.answer.rungs.iter().map(|rung| rung_of(rung, source)).collect();
    let n = every.wrong.as_ref().map(|(request, _)| request.processes);
    let mut line = json!({
        "schema": SCHEMA,
        "input": case.input,
        "bug": case.bug,
        "processes": "every",
        "verdict": every.verdict(),
        "violated_with": n,
        "searched": every.searched,
        "rung": match every.answer.parts.last() {
            Some(part) => Some(part.obligation.name()),
            None => every.answer.rungs.last().map(|rung| rung.obligation.name()),
        },
        "obligations": rungs,
        "seconds": every.elapsed.as_secs_f64(),
    });
    if let Some(proof) = &every.proof {
        let of = |(obligation, views): &(Obligation, u64)| json!({"obligation": obligation.name(), "views": views});
        let obligations: Vec<Value> = proof.obligations.iter().map(of).collect();
        line["check"] = json!({
            "accepted": true,
            "views": proof.views(),
            "obligations": obligations,
            "seconds": proof.elapsed.as_secs_f64(),
        });
        let projected: Vec<Value> = proof.projected.iter().map(projection).collect();
        line["projection"] = json!({
            "seconds": proof.projection().as_secs_f64(),
            "obligations": projected,
        });
    }
    if !every.rewritten.is_empty() {
        let of = |change: &Change| {
            json!({
                "form": change.form.name(),
                "variable": change.variable,
                "place": source.place(change.span).to_string(),
            })
        };
        line["rewritten"] = every.rewritten.iter().map(of).collect();
    }
    if every.verdict() == "unknown" {
        line["cause"] = json!(every.short().name());
        let of = |one: &Unmodelled| {
            json!({
                "construct": one.construct,
                "cure": one.cure,
                "place": source.place(one.span).to_string(),
            })
        };
        line["unmodelled"] = every.unmodelled.iter().map(of).collect();
    }
    if let Some(exercised) = exercised {
        line["exercised"] = json!(exercised);
        line["exercised"]["processes"] = case.request.processes.into();
    }
    line.to_string() + "\n"
}

fn rung_of(rung: &Rung, source: &Source) -> Value {
    let list = |(kinds, views): &(Vec<Kind>, usize)| {
        let kinds: Vec<String> = kinds.iter().map(report::kind).collect();
        json!({"tracked": kinds.join(", "), "level": 1, "views": views})
    };
    let kinds: Vec<Value> = rung.lists.iter().map(list).collect();
    json!({
        "rung": rung.obligation.name(),
        "ghosts": match rung.obligation.ghosts {
            Ghosts::Scans => "scans",
            Ghosts::Calls => "calls",
            Ghosts::Rounds => "rounds",
        },
        "obligation": report::property(rung.obligation),
        "hints": rung.is_hinted,
        "holds": rung.holds(),
        "outcome": report::outcome(rung, source),
        "kinds": kinds,
        "centres": rung.centres,
        "seconds": rung.elapsed.as_secs_f64(),
    })
}
