//! A judgement for people: the verdict in one line; for a violation, the
//! operations that prove it with their places, and the argument.

use std::fmt::Write;

use snapshot_core::explanation::{Deed, Ending, Exhibit, Explanation};
use snapshot_core::verdict::{Cause, Method};

use super::{cause, exhausted, verdict};
use crate::format::Location;
use crate::judge::{Counts, Finding, Judgement, Obstacle, Proof, ViolationFinding, accepting_run};
use crate::value::Value;

/// The report on one input. Several lines, each ended.
pub fn human(name: &str, judgement: &Judgement) -> String {
    let mut text = String::new();
    write(&mut text, name, judgement).expect("writing to a string cannot fail");
    text
}

fn write(out: &mut String, name: &str, judgement: &Judgement) -> std::fmt::Result {
    let verdict = verdict(&judgement.finding);
    match &judgement.finding {
        Finding::Linearizable { method, .. } => {
            writeln!(out, "{name}: {verdict} ({}; {})", size(&judgement.counts), by(*method))
        }
        Finding::Violation(violation) => {
            let ViolationFinding { method, decided_at: (event, location), .. } = violation.as_ref();
            let size = size(&judgement.counts);
            writeln!(out, "{name}: {verdict} ({size}; {})", by(*method))?;
            writeln!(out, "  not linearizable from {location} (event {event}) on")?;
            match &violation.proof {
                Some(proof) => write_proof(out, proof)?,
                None => writeln!(
                    out,
                    "  the proof is not at hand: the input was not kept, or is too large"
                )?,
            }
            match &violation.malformed {
                Some(error) => writeln!(out, "  note: the input is malformed later on: {error}"),
                None => Ok(()),
            }
        }
        Finding::Unknown { method, unknown } => {
            let is_saturated = *method == Method::Saturation;
            let searched = match method {
                Method::Generic => "generic search",
                Method::Saturation => "by the saturated relation",
                _ => "exact search",
            };
            writeln!(out, "{name}: {verdict} ({}; {searched})", size(&judgement.counts))?;
            writeln!(
                out,
                "  the {} budget ran out after {} states; the first {} events are linearizable",
                exhausted(unknown.exhausted),
                unknown.states,
                unknown.linearizable_events
            )?;
            writeln!(out, "  it was searched because {}", cause(&unknown.cause))?;
            let instead = match unknown.cause {
                Cause::Requested => "leave out --method",
                Cause::AmbiguousValue { .. } => "record values that do not repeat",
                Cause::OverlappingUpdates { .. } if is_saturated => {
                    "check shorter recordings (values need not be changed)"
                }
                Cause::OverlappingUpdates { .. } => "record values that do not repeat",
            };
            writeln!(
                out,
                "  help: give it more with --budget-seconds and --budget-memory, or {instead}"
            )
        }
        Finding::Unsearched { undecided, obstacle } => {
            writeln!(out, "{name}: {verdict} ({})", size(&judgement.counts))?;
            writeln!(
                out,
                "  the first {} events are linearizable; to go on takes an exact search, \
                 because {}",
                undecided.event,
                cause(&undecided.cause)
            )?;
            match obstacle {
                Obstacle::Forgotten => writeln!(out, "  help: let the input be kept (no --forget)"),
                Obstacle::Unwanted => {
                    writeln!(out, "  help: let it be searched (no --method linear)")
                }
                Obstacle::TooLarge => writeln!(
                    out,
                    "  the history does not fit in the memory budget\n  help: raise \
                     --budget-memory, or record values that do not repeat"
                ),
            }
        }
        // What is wrong, and how to mend it, is a diagnostic, not a result.
        Finding::Malformed(_) => writeln!(out, "{name}: {verdict}"),
    }
}

fn by(method: Method) -> &'static str {
    match method {
        Method::Simple => "simple history, by the observer",
        Method::Linear => "by the linear-time conditions",
        Method::Saturation => "by the saturated relation",
        Method::Search => "by exact search",
        Method::Generic => "by generic search",
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn size(counts: &Counts) -> String {
    let mut size = format!(
        "{}, {}, {}",
        counted(counts.operations, "operation"),
        counted(counts.processes as u64, "process").replace("processs", "processes"),
        counted(counts.segments as u64, "segment")
    );
    for (count, what) in [(counts.pending, "pending"), (counts.failed, "failed")] {
        if count > 0 {
            size += &format!(", {count} {what}");
        }
    }
    size
}

/// A short name for each exhibit: S1, S2, ... for scans, U1, U2, ... for updates.
fn labels(explanation: &Explanation<Value>) -> Vec<String> {
    let (mut scans, mut updates) = (0, 0);
    let label = |exhibit: &Exhibit<Value>| match exhibit.deed {
        Deed::Scan { .. } => {
            scans += 1;
            format!("S{scans}")
        }
        Deed::Update { .. } => {
            updates += 1;
            format!("U{updates}")
        }
    };
    explanation.exhibits.iter().map(label).collect()
}

fn write_proof(out: &mut String, proof: &Proof) -> std::fmt::Result {
    let explanation = &proof.explanation;
    let labels = labels(explanation);
    for (exhibit, label) in explanation.exhibits.iter().zip(&labels) {
        writeln!(out, "  {label} = {}", describe(exhibit, proof))?;
    }
    let name = |exhibit: &Exhibit<Value>| {
        let at = explanation.exhibits.iter().position(|other| other.id == exhibit.id);
        at.map_or_else(String::new, |at| labels[at].clone())
    };
    writeln!(out)?;
    for paragraph in explanation.argument(name).lines() {
        for line in wrap(paragraph, 76) {
            writeln!(out, "  {line}")?;
        }
    }
    if let Some(renaming) = explanation.witness.renaming {
        writeln!(out)?;
        writeln!(out, "  rule: {}; renaming {renaming}", explanation.witness.reason.name())?;
    }
    if let Some(run) = accepting_run(explanation) {
        writeln!(out, "  automaton {} accepts the renamed operations:", run.automaton)?;
        if let Some(processes) = &run.processes {
            let names: Vec<String> = processes
                .iter()
                .enumerate()
                .map(|(p, process)| format!("p{p} = process {process}"))
                .collect();
            writeln!(out, "    {}", names.join(", "))?;
        }
        writeln!(out, "    {:28} {}", "", run.from)?;
        for (letter, state) in &run.steps {
            writeln!(out, "    {:28} {state}", letter.to_string())?;
        }
    }
    Ok(())
}

fn place(location: Option<Location>) -> String {
    location.map_or_else(|| "?".to_owned(), |location| location.to_string())
}

/// `scan by process 1, returned 0 for segment 0, 5 for segment 1 [3:1 to 9:1]`.
fn describe(exhibit: &Exhibit<Value>, proof: &Proof) -> String {
    let mut text = match &exhibit.deed {
        Deed::Update { segment, value } => {
            format!("update({value}) of segment {segment} by process {}", exhibit.process)
        }
        Deed::Scan { entries } => {
            let entries: Vec<String> =
                entries.iter().map(|(k, value)| format!("{value} for segment {k}")).collect();
            format!("scan by process {}, returned {}", exhibit.process, entries.join(", "))
        }
    };
    let begin = place(proof.location(exhibit.invocation));
    let end = exhibit.ending.event().map(|event| place(proof.location(event)));
    let end = match (exhibit.ending, end) {
        (Ending::Response(_), Some(end)) => format!("to {end}"),
        (Ending::Failure(_), Some(end)) => format!("failed at {end}"),
        (Ending::Unknown(_), Some(end)) => format!("outcome lost at {end}"),
        _ => "still open".to_owned(),
    };
    text += &format!(" [{begin} {end}]");
    text
}

/// Breaks a text between words.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
