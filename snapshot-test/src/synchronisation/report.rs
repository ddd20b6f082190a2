//! Judgements for people.

use std::fmt::Write;

use snapshot_core::OperationId;
use snapshot_core::check::counted;
use snapshot_core::explanation::wrap;
use snapshot_core::generic::{Beyond, Refuted};
use snapshot_core::history::Outcome;
use snapshot_core::object::Completion;
use snapshot_core::synchronisation::{Deficiency, Violation as Found};
use snapshot_core::verdict::Exhausted;

use super::judge::{Finding, Judgement, Violation};
use super::recording::{Watched, joined};
use super::sentence::sentence;
use crate::judge::Counts;

/// The most operations that a report for people describes.
const MOST: usize = 12;

/// The one-word verdict: `set-linearizable` or `linearizable`, `violation`, `unknown`, `disputed`.
pub fn verdict(judgement: &Judgement) -> &'static str {
    match judgement.finding {
        Finding::SetLinearizable(_) => judgement.object.criterion(),
        Finding::Violation(_) => "violation",
        Finding::Unknown { .. } => "unknown",
        Finding::Disputed(_) => "disputed",
    }
}

/// The report on one input. Several lines, each ended.
pub fn human(name: &str, judgement: &Judgement) -> String {
    let mut text = String::new();
    write(&mut text, name, judgement).expect("writing to a string cannot fail");
    text
}

/// Returns the size of an input, its object, and the method of the decision.
pub fn summary(judgement: &Judgement) -> String {
    let Judgement { counts, object, method, format, .. } = judgement;
    let when = match &judgement.watched {
        _ if judgement.is_late => ", judged at the end".to_owned(),
        None => String::new(),
        Some(Watched { is_online: false, .. }) => ", judged again as it grew".to_owned(),
        Some(Watched { forgotten: 0, .. }) => ", judged at each event".to_owned(),
        Some(Watched { most, .. }) => {
            let kept = counted(*most as u64, "operation", "operations");
            format!(", judged at each event, at most {kept} kept")
        }
    };
    format!("{}; {}, by {method}{when}", sized(counts), object.described(*format))
}

/// Returns the size of an input.
pub(crate) fn sized(counts: &Counts) -> String {
    let mut text = format!(
        "{}, {}",
        counted(counts.operations, "operation", "operations"),
        counted(counts.processes as u64, "process", "processes")
    );
    for (count, what) in [(counts.pending, "pending"), (counts.failed, "failed")] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    text
}

/// Writes the report on one input: several lines, each ended.
pub(crate) fn write(out: &mut String, name: &str, judgement: &Judgement) -> std::fmt::Result {
    let Judgement { object, finding, .. } = judgement;
    writeln!(out, "{name}: {} ({})", verdict(judgement), summary(judgement))?;
    match finding {
        Finding::SetLinearizable(_) => Ok(()),
        Finding::Disputed(dispute) => {
            writeln!(out, "  {dispute}")?;
            writeln!(out, "  help: keep the recording, for the report")
        }
        Finding::Unknown { exhausted, is_set_linearizable, beyond } => {
            let budget = exhausted_name(*exhausted);
            if *is_set_linearizable {
                writeln!(
                    out,
                    "  it is {}; the {budget} budget ran out before progress was judged",
                    object.criterion()
                )?;
            } else {
                writeln!(out, "  the {budget} budget ran out")?;
            }
            for line in wrap(&hardness(judgement, beyond.as_ref()), 76) {
                writeln!(out, "  {line}")?;
            }
            writeln!(out, "  help: give it more with --budget-seconds and --budget-memory")
        }
        Finding::Violation(violation) => {
            out.push_str(&completed(judgement));
            let named = violation.operations();
            for (index, id) in named.iter().take(MOST).enumerate() {
                writeln!(out, "  X{} = {}", index + 1, describe(judgement, *id))?;
            }
            if named.len() > MOST {
                writeln!(out, "  and {} more", named.len() - MOST)?;
            }
            if !named.is_empty() {
                writeln!(out)?;
            }
            for line in wrap(&argument(judgement, violation), 76) {
                writeln!(out, "  {line}")?;
            }
            match judgement.watched {
                Some(Watched { forgotten: 1.., .. }) => writeln!(
                    out,
                    "  (of the operations that are kept; without --live, `check` judges all)"
                ),
                _ => Ok(()),
            }
        }
    }
}

/// Returns the line on the event that completes a violation, if it is known.
fn completed(judgement: &Judgement) -> String {
    let Some(Completion { event, is_first }) = judgement.completion else { return String::new() };
    let Some(line) = judgement.line(event) else { return String::new() };
    let criterion = judgement.object.criterion();
    if is_first {
        format!("  not {criterion} from line {line} (event {event}) on\n")
    } else {
        format!("  not {criterion} at the end; complete not after line {line} (event {event})\n")
    }
}

/// Some of the operations that rules do not decide.
pub(super) fn hard(beyond: Option<&Beyond>) -> &[OperationId] {
    match beyond {
        Some(Beyond::Repeated(ids) | Beyond::Unanswered(ids)) => ids,
        Some(Beyond::Operation(id)) => std::slice::from_ref(id),
        _ => &[],
    }
}

/// Which operations make it hard, in words.
fn hardness(judgement: &Judgement, beyond: Option<&Beyond>) -> String {
    let Some(first) = hard(beyond).first() else { return String::new() };
    let why = match beyond {
        Some(Beyond::Repeated(_)) => "values that come again while they are there, as in",
        Some(Beyond::Unanswered(_)) => "removals without response, as",
        _ => "operations that rules do not decide, the first of which is",
    };
    format!("what makes it hard: {why} {}", describe(judgement, *first))
}

pub(super) const fn exhausted_name(exhausted: Exhausted) -> &'static str {
    match exhausted {
        Exhausted::Time => "time",
        Exhausted::Memory => "memory",
    }
}

impl Judgement {
    /// Returns the line of an event.
    pub(super) fn line(&self, event: usize) -> Option<u64> {
        let begun = self.texts.partition_point(|text| text.begin <= event);
        self.texts[..begun].iter().rev().find_map(|text| match text.outcome {
            _ if text.begin == event => Some(text.invoked),
            Outcome::Complete { response: end }
            | Outcome::Failed { event: end }
            | Outcome::Unknown { event: end }
                if end == event =>
            {
                text.ended
            }
            _ => None,
        })
    }

    /// Returns the line of the event that completes a violation; of one of progress, the line of
    /// an operation that waits.
    pub fn decided_at(&self) -> Option<u64> {
        if let Some(completion) = self.completion {
            return self.line(completion.event);
        }
        let Finding::Violation(violation) = &self.finding else { return None };
        let first = violation.operations().first().copied()?;
        Some(self.texts[first.index()].invoked)
    }
}

/// Returns the reason why a finding has no certificate, if it has none.
pub const fn uncertified(finding: &Finding) -> Option<&'static str> {
    match finding {
        Finding::Violation(
            Violation::Found(Found::Searched(_) | Found::Few(_)) | Violation::Part(_),
        ) => Some("what a search has refuted can only be searched again"),
        Finding::Violation(Violation::Missed(_) | Violation::Unreturned) => {
            Some("there is none of a failure of progress")
        }
        Finding::Violation(Violation::Found(Found::Unmatched { deficiency: None, .. })) => {
            Some("the proof is too large")
        }
        _ => None,
    }
}

/// Returns the reason for a violation, in words, whose operations are named X1, X2, ... in the
/// order of [`Violation::operations`].
pub fn argument(judgement: &Judgement, violation: &Violation) -> String {
    let criterion = judgement.object.criterion();
    match violation {
        Violation::Found(Found::Unmatched { deficiency: Some(sets), .. }) => unmatched(sets),
        Violation::Found(Found::Unmatched { deficiency: None, .. }) => {
            "X1 has no partner when all that respond before it have theirs. The proof is too large \
             to be shown."
                .to_owned()
        }
        Violation::Found(Found::Rule(proof)) => sentence(judgement, proof),
        Violation::Found(Found::Few(operations)) if operations.len() == 1 => {
            "X1 cannot return what it returned, whatever the other operations did.".to_owned()
        }
        Violation::Found(Found::Few(operations)) => format!(
            "No order of {} explains what they returned, whatever the other operations did: every \
             one was tried.",
            list(0, operations.len())
        ),
        Violation::Found(Found::Searched(_)) => {
            "No sequence of groups fits. Up to the response of X1 the operations have sequences, \
             but after none of them can X1 take effect and return what it returned."
                .to_owned()
        }
        Violation::Part(part) => refuted(part),
        Violation::Missed(missed) if missed.len() == 1 => {
            format!(
                "The recording is {criterion}, but at its end X1 waits, though it could take effect."
            )
        }
        Violation::Missed(missed) => format!(
            "The recording is {criterion}, but at its end {} wait, though they could take \
             effect together.",
            list(0, missed.len())
        ),
        Violation::Unreturned => {
            format!(
                "The recording is {criterion} only if an operation has taken effect that did not \
                 return: without the pending operations, the others are not {criterion}."
            )
        }
    }
}

/// Returns the names of so many operations in succession, the first of them behind `from` others.
fn list(from: usize, count: usize) -> String {
    let names: Vec<String> = (from..from + count).map(|index| format!("X{}", index + 1)).collect();
    match names.as_slice() {
        [all @ .., last] if !all.is_empty() && names.len() <= MOST => {
            format!("{} and {last}", all.join(", "))
        }
        [one] => one.clone(),
        _ => format!("X{} to X{}", from + 1, from + count),
    }
}

/// Returns the argument of operations that cannot all have partners.
fn unmatched(Deficiency { partners, components }: &Deficiency) -> String {
    match (components.as_slice(), partners.len()) {
        ([one], 0) if one.len() == 1 => {
            return "X1 can take effect with none of the operations that overlap it, and not alone."
                .to_owned();
        }
        ([one], 0) => {
            return format!(
                "{} can take effect in pairs with each other only, and they are an odd number.",
                list(0, one.len())
            );
        }
        _ => {}
    }
    let total: usize = components.iter().map(Vec::len).sum();
    let few = match partners.len() {
        1 => format!("{}, which takes effect once", list(total, 1)),
        count => format!("one of {}, and these are fewer", list(total, count)),
    };
    if total == components.len() {
        return format!("Each of {} can take effect only together with {few}.", list(0, total));
    }
    let mut at = 0;
    let mut sets = Vec::new();
    for set in components.iter().take(MOST) {
        sets.push(list(at, set.len()));
        at += set.len();
    }
    let more = if components.len() > MOST { "; and so on" } else { "" };
    format!(
        "Each of these {} sets has an odd number of operations, which can take effect in pairs with \
         each other, but for one that needs {few}: {}{more}.",
        components.len(),
        sets.join("; ")
    )
}

/// Returns the argument of some of the operations without an order of their own.
fn refuted(Refuted { operations, cuts }: &Refuted) -> String {
    let behind = match cuts.as_deref() {
        None => String::new(),
        Some([]) => ", even if all of them overlapped".to_owned(),
        Some(cuts) => {
            let place = |id: &OperationId| operations.iter().position(|one| one == id);
            let names: Vec<String> =
                cuts.iter().filter_map(place).map(|at| format!("X{}", at + 1)).collect();
            format!(
                ", even if all order of time is forgotten but that of what had ended before {} \
                 began and what began then or later",
                names.join(", or ")
            )
        }
    };
    format!(
        "The exact search ran out of its budget. But these operations, which are all on some \
         values, would have an order of their own if all had one. They have none{behind}."
    )
}

fn describe(judgement: &Judgement, id: OperationId) -> String {
    let text = &judgement.texts[id.index()];
    let process = judgement.names.process(text.process);
    let mut out =
        format!("{}({}) by {process}", text.operation, joined(&text.arguments, judgement.format));
    if let Some(results) = text.results.as_ref().filter(|results| !results.is_empty()) {
        out += &format!(", returned {}", joined(results, judgement.format));
    }
    out += &match (text.ended, &text.results) {
        (Some(line), Some(_)) => format!(" [line {} to line {line}]", text.invoked),
        (Some(line), None) => format!(" [line {}, outcome lost in line {line}]", text.invoked),
        (None, _) => format!(" [line {}, still open]", text.invoked),
    };
    out
}
