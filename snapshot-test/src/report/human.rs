//! Judgements for human readers: the verdict in one line; for a violation, the operations that
//! prove it with their positions, and the argument.

use std::fmt::Write;

use snapshot_core::check::{counted, told_completion, told_linearizable};
use snapshot_core::monitor::Undecided;
use snapshot_core::verdict::{Cause, Method, Size, Unknown};

use super::{shown, verdict};
use crate::judge::objects::Part;
use crate::judge::{Counts, Finding, Judgement, Obstacle, ViolationFinding};
use crate::synchronisation;

/// Returns the report on one input. Several lines, each ended.
pub fn human(name: &str, judgement: &Judgement) -> String {
    let mut text = String::new();
    write(&mut text, name, judgement, false).expect("writing to a string cannot fail");
    text
}

/// As [`human`], with the run of the automaton that accepts a violation.
pub fn explained(name: &str, judgement: &Judgement) -> String {
    let mut text = String::new();
    write(&mut text, name, judgement, true).expect("writing to a string cannot fail");
    text
}

/// Returns the size of an input, and the method of the decision.
pub fn summary(judgement: &Judgement) -> String {
    let size = size(&judgement.counts);
    match &judgement.finding {
        Finding::Linearizable { method, .. } => format!("{size}; {}", method.description()),
        Finding::Violation(violation) => format!("{size}; {}", violation.method.description()),
        _ => size.to_string(),
    }
}

fn write(
    out: &mut String,
    name: &str,
    judgement: &Judgement,
    with_automata: bool,
) -> std::fmt::Result {
    let verdict = verdict(&judgement.finding);
    match &judgement.finding {
        Finding::Linearizable { method, .. } => {
            writeln!(
                out,
                "{name}: {verdict} ({}; {})",
                size(&judgement.counts),
                method.description()
            )
        }
        Finding::Violation(violation) => {
            let method = violation.method.description();
            writeln!(out, "{name}: {verdict} ({}; {method})", size(&judgement.counts))?;
            write_violation(out, judgement, violation, with_automata)
        }
        Finding::Unknown { method, unknown } => {
            let searched = match method {
                Method::Generic => "generic search",
                Method::Saturation | Method::Automata => method.description(),
                _ => "exact search",
            };
            writeln!(out, "{name}: {verdict} ({}; {searched})", size(&judgement.counts))?;
            write_unknown(out, judgement, *method, unknown)
        }
        Finding::Unsearched { undecided, obstacle } => {
            writeln!(out, "{name}: {verdict} ({})", size(&judgement.counts))?;
            write_unsearched(out, judgement, undecided, *obstacle)
        }
        Finding::Immediate(finding) => {
            writeln!(
                out,
                "{name}: {verdict} ({}; immediate snapshot, by four conditions)",
                size(&judgement.counts)
            )?;
            super::exchanges::human(out, finding, &judgement.names)
        }
        Finding::Recorded(judgement) => synchronisation::write(out, name, judgement),
        Finding::Objects(found) => {
            let is_recorded = |part: &Part| matches!(part.judgement.finding, Finding::Recorded(_));
            let size = match found.parts.first() {
                Some(part) if is_recorded(part) => synchronisation::sized(&judgement.counts),
                _ => size(&judgement.counts).to_string(),
            };
            super::objects::human(out, name, &size, found)?;
            for part in super::objects::shown(found) {
                write(out, &format!("{name} @{}", part.key), &part.judgement, with_automata)?;
                if let Some(place) = &part.certificate {
                    writeln!(out, "  certificate: {place}")?;
                }
            }
            Ok(())
        }
        Finding::Disputed(disputed) => {
            writeln!(out, "{name}: {verdict} ({})", size(&judgement.counts))?;
            if let Some(key) = &disputed.key {
                writeln!(out, "  of the object {key}:")?;
            }
            writeln!(out, "  {}", disputed.dispute)?;
            writeln!(out, "  {}", disputed.evidence())
        }
        // The error, with its remedy, is a diagnostic, not a result.
        Finding::Malformed(error) => match error.unopened() {
            Some(reason) => writeln!(out, "{name}: {verdict} ({reason})"),
            None => writeln!(out, "{name}: {verdict}"),
        },
    }
}

/// Writes the place of a violation, and its proof.
fn write_violation(
    out: &mut String,
    judgement: &Judgement,
    violation: &ViolationFinding,
    with_automata: bool,
) -> std::fmt::Result {
    let (event, location) = violation.decided_at;
    out.push_str(&told_completion(&location.to_string(), event, violation.is_first));
    match &violation.proof {
        Some(proof) => {
            let place = |event| {
                let location = proof.location(event);
                location.map_or_else(|| "?".to_owned(), |location| location.to_string())
            };
            out.push_str(&shown(&proof.explanation, judgement.format).render(place));
            if with_automata {
                out.push_str(&proof.explanation.tell_run());
            }
        }
        None => {
            writeln!(out, "  the proof is not at hand: the input was not kept, or is too large")?;
        }
    }
    match &violation.malformed {
        Some(error) => writeln!(out, "  note: the input is malformed later on: {error}"),
        None => Ok(()),
    }
}

/// Writes the partial result of a search that ran out of its budget, and a remedy.
fn write_unknown(
    out: &mut String,
    judgement: &Judgement,
    method: Method,
    unknown: &Unknown,
) -> std::fmt::Result {
    let is_saturated = method == Method::Saturation;
    let exhausted = unknown.exhausted;
    let known = told_linearizable(unknown.linearizable_events);
    let cause = unknown.cause.told(&judgement.names);
    if method == Method::Automata {
        writeln!(out, "  the {exhausted} budget ran out before all renamings were judged")?;
    } else if is_saturated {
        writeln!(out, "  the {exhausted} budget ran out; {known}")?;
        let repeat = match unknown.cause {
            Cause::OverlappingUpdates { .. } => "values did not repeat; but ",
            _ => "",
        };
        writeln!(out, "  it was not decided in linear time: {repeat}{cause}")?;
    } else {
        let states = counted(unknown.states, "state", "states");
        writeln!(out, "  the {exhausted} budget ran out after {states}; {known}")?;
        writeln!(out, "  it was searched because {cause}")?;
    }
    let instead = match unknown.cause {
        Cause::Requested | Cause::Unrenamable(_) => "leave out --method",
        Cause::AmbiguousValue { .. } => "record values that do not repeat",
        Cause::OverlappingUpdates { .. } if is_saturated => {
            "check shorter recordings, or let one process write each segment"
        }
        Cause::OverlappingUpdates { .. } => {
            "let one process write each segment, or record values that do not repeat"
        }
        Cause::PartialScan { .. } => "check shorter recordings, or record scans of all segments",
    };
    writeln!(out, "  help: give it more with --budget-seconds and --budget-memory, or {instead}")
}

/// Writes the reason why an input was not searched, and a remedy.
fn write_unsearched(
    out: &mut String,
    judgement: &Judgement,
    undecided: &Undecided,
    obstacle: Obstacle,
) -> std::fmt::Result {
    match undecided.cause {
        Cause::Unrenamable(cause) => {
            writeln!(out, "  the automata judge simple histories, and {cause}")?;
        }
        cause => writeln!(
            out,
            "  {}; to go on takes an exact search, because {}",
            told_linearizable(undecided.event),
            cause.told(&judgement.names)
        )?,
    }
    let help = match (obstacle, undecided.cause) {
        (Obstacle::Forgotten, Cause::PartialScan { .. }) => {
            "let the input be kept (no --forget); or declare `writers many` and add --live, which \
             finds cycles as they come"
        }
        (Obstacle::Forgotten, _) => "let the input be kept (no --forget)",
        (Obstacle::Unwanted, Cause::Unrenamable(_)) => "leave out --method",
        (Obstacle::Unwanted, _) => "let it be searched (no --method linear)",
        (Obstacle::TooLarge, cause) => {
            writeln!(out, "  the history does not fit in the memory budget")?;
            match cause {
                Cause::AmbiguousValue { .. } => {
                    "raise --budget-memory, or record values that do not repeat"
                }
                _ => "raise --budget-memory, or check shorter recordings",
            }
        }
    };
    writeln!(out, "  help: {help}")
}

const fn size(counts: &Counts) -> Size {
    Size {
        operations: counts.operations,
        processes: counts.processes,
        segments: counts.segments,
        pending: counts.pending,
        failed: counts.failed,
    }
}
