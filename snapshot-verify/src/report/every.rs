//! Answers for every n, as text and as JSON.

use serde_json::{Value, json};
use snapshot_everyn::ladder::Rung;
use snapshot_everyn::prove::Attempt;
use snapshot_everyn::tell;
use snapshot_invariant::claim::Obligation;

use super::case::UNCONFIRMED;
use super::exercised::{Exercised, human_exercised};
use super::json::SCHEMA;
use super::projection::{projected, projection};
use super::quantity::{count, seconds};
use super::{Case, placed};
use crate::language::Source;
use crate::program::rewrite::{Change, Form};
use crate::verify::Unfinished;
use crate::verify::confirmation::{Confirmation, Unconfirmed};
use crate::verify::every::Every;
use crate::verify::unmodelled::Unmodelled;

/// Returns an answer as text: the conclusion, and below it the obligations that were tried. `title`
/// names the algorithm. The counterexample, if there is one, is reported as one for its n, and the
/// coverage of a proof by [`human_every_exercised`].
pub fn human_every(title: &str, source: &Source, every: &Every) -> String {
    let verdict = match every.verdict() {
        "verified" => "verified for every n >= 2, all pairs, any number of operations".to_owned(),
        "violation" | "fault" => {
            let n = every.wrong.as_ref().map_or(0, |(request, _)| request.processes);
            format!("{} with n = {n}", every.verdict())
        }
        "refused" => "no proof: the program looks at values".to_owned(),
        "unconfirmed" => format!("{UNCONFIRMED}, for every n >= 2"),
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
    for rung in every.answer.rungs.iter().filter(|rung| !is_verified && is_told(rung)) {
        let (name, what) = (rung.obligation.name(), rung.obligation);
        text.push_str(&format!("  {name}, {what}: {}", tell::outcome(rung, source)));
        if let Ok(finding) = &rung.finding {
            text.push_str(&format!(
                " ({} views, {} centres, {})",
                count(finding.views() as u64),
                count(finding.centres as u64),
                seconds(finding.elapsed)
            ));
        }
        text.push('\n');
    }
    if let Some(closed) = &every.closed {
        for (obligation, views) in &closed.summary.obligations {
            let views = count(*views as u64);
            let name = obligation.name();
            text.push_str(&format!("  {name}: holds without hints ({views} views)\n"));
        }
    }
    if let Some(confirmation) = &every.confirmation {
        // The rules that close the views check them, too.
        let check = if every.closed.is_some() { "check" } else { "independent check" };
        text.push_str(&format!("  {check}: {}\n", confirmed(confirmation, source)));
        if !confirmation.projected.is_empty() {
            text.push_str(&format!("  projected: {}\n", projected(&confirmation.projected)));
        }
    }
    if every.verdict() == "unknown" {
        let steps = every.answer.rungs.iter().rev().find_map(steps);
        if let Some(events) = steps.filter(|_| every.short() == Unfinished::Unproved) {
            text.push_str("  The steps that could not be excluded:\n");
            for line in tell::events(events, source) {
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

/// Whether a rung matters to a reader: not one that is of no meaning to the program, as it has no ghost
/// scans of its kind.
fn is_told(rung: &Rung) -> bool {
    match &rung.finding {
        Err(unsupported) => !unsupported.is_of_ghosts(),
        Ok(_) => true,
    }
}

/// A rewriting in words.
fn rewritten(change: &Change, source: &Source) -> String {
    let what = match change.form {
        Form::Owner => "names the process that took it",
        Form::Stamp => "is a version, for it is only compared by `=`",
    };
    format!("{} {what} ({})", change.variable, source.place(change.span))
}

/// What the independent check says.
fn confirmed(confirmation: &Confirmation, source: &Source) -> String {
    let elapsed = seconds(confirmation.elapsed);
    match &confirmation.result {
        Ok(views) => format!("accepts the certificate ({} views, {elapsed})", count(*views)),
        Err(unconfirmed) => {
            let reason = reason(unconfirmed, source);
            let so = match unconfirmed.is_gap {
                true => "finds a gap in the proof, which does not count",
                false => "not confirmed",
            };
            format!("{so}: {reason} ({elapsed})")
        }
    }
}

/// Returns why a proof is not confirmed, and the remedy.
pub(super) fn reason(unconfirmed: &Unconfirmed, source: &Source) -> String {
    format!("{}{}", placed(source, unconfirmed.place), unconfirmed.sentence())
}

/// Returns the coverage of a proof for every n: that of the executions of one n, which is the n of
/// the case.
pub fn human_every_exercised(case: &Case<'_>) -> String {
    let with = format!(" with n = {}", case.request.processes);
    case.exercise.map_or_else(String::new, |exercise| human_exercised(case, exercise, &with))
}

fn steps(rung: &Rung) -> Option<&[snapshot_everyn::prove::Event]> {
    match &rung.finding.as_ref().ok()?.attempt {
        Attempt::Fails(_, events) => Some(events),
        _ => None,
    }
}

/// Returns an answer as one line of JSON. The case has a definite n, with the coverage of its
/// executions.
pub fn json_every(case: &Case<'_>, every: &Every) -> String {
    let (source, exercise) = (case.source, case.exercise);
    let exercised = exercise.map(|exercise| Exercised::of(case, exercise));
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
        "rung": match (every.closed.as_ref(), every.answer.way.last()) {
            (Some(closed), _) => closed.parts.last().map(|part| part.obligation.name()),
            (None, Some(rung)) => Some(rung.name()),
            (None, None) => every.answer.rungs.last().map(|rung| rung.obligation.name()),
        },
        "obligations": rungs,
        "seconds": every.elapsed.as_secs_f64(),
    });
    if let Some(confirmation) = &every.confirmation {
        line["independent_check"] = match &confirmation.result {
            Ok(views) => json!({"accepted": true, "views": views}),
            Err(unconfirmed) => json!({
                "accepted": false,
                "gap": unconfirmed.is_gap,
                "reason": reason(unconfirmed, source),
            }),
        };
        line["independent_check"]["seconds"] = json!(confirmation.elapsed.as_secs_f64());
        let projected: Vec<Value> = confirmation.projected.iter().map(projection).collect();
        line["projection"] = json!({
            "seconds": confirmation.projection().as_secs_f64(),
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
    if let Some(closed) = &every.closed {
        let of = |(obligation, views): &(Obligation, usize)| json!({"obligation": obligation.name(), "views": views});
        line["closed"] = closed.summary.obligations.iter().map(of).collect();
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
    let finding = rung.finding.as_ref().ok();
    let kinds: Vec<Value> = finding
        .iter()
        .flat_map(|finding| &finding.kinds)
        .map(|kind| json!({"tracked": tell::kind(&kind.crowd), "level": 1, "views": kind.views}))
        .collect();
    json!({
        "rung": rung.obligation.name(),
        "ghosts": rung.obligation.ghosts.name(),
        "obligation": rung.obligation.to_string(),
        "holds": finding.is_some_and(snapshot_everyn::prove::Finding::holds),
        "outcome": tell::outcome(rung, source),
        "kinds": kinds,
        "centres": finding.map(|finding| finding.centres),
        "seconds": finding.map(|finding| finding.elapsed.as_secs_f64()),
    })
}
