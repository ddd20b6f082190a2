//! Reports as text: the verdict in a line, and the proof of a violation.

use std::fmt::{self, Display};

use super::Report;
use crate::Names;
use crate::verdict::{Cause, Dispute, Exhausted, Method, Size, Unknown, Verdict};

impl Method {
    /// Returns the phrase of reports for the method: `by the linear-time conditions`.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Simple => "simple history, by the observer",
            Self::Linear => "by the linear-time conditions",
            Self::Saturation => "by the saturated relation",
            Self::Search => "by exact search",
            Self::Generic => "by generic search",
            Self::Automata => "by the automata, on all renamings",
        }
    }

    /// Returns the name of the judge in a dispute.
    pub(super) const fn judge(self) -> &'static str {
        match self {
            Self::Simple => Dispute::OBSERVER,
            Self::Linear => Dispute::PASS,
            Self::Saturation => "the saturated relation",
            Self::Search => "the exact search",
            Self::Generic => "the generic search",
            Self::Automata => Dispute::AUTOMATA,
        }
    }
}

/// Writes `time` or `memory`.
impl Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "time",
            Self::Memory => "memory",
        })
    }
}

impl Cause {
    /// Returns the end of a sentence that begins with "it was searched because"; segments have
    /// these names.
    pub fn told(&self, names: &Names) -> String {
        match self {
            Self::AmbiguousValue { scan, segment } => format!(
                "operation {scan}, a scan, returned a value for {} that more than one update may \
                 have written",
                names.segment(*segment)
            ),
            Self::OverlappingUpdates { first, second } => {
                format!("operations {first} and {second} are updates of one segment that overlap")
            }
            Self::PartialScan { scan } => {
                format!("operation {scan}, a scan, returned some of the segments only")
            }
            Self::Unrenamable(error) => error.to_string(),
            Self::Requested => "it was asked for".to_owned(),
        }
    }
}

/// Writes the end of a sentence that begins with "it was searched because", with numbers.
impl Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(&Names::default()))
    }
}

/// Returns a line, indented and ended, with the event that completes a violation:
/// `not linearizable from 12:1 (event 12) on`, or that the violation is complete not after it.
pub fn told_completion(place: &str, event: usize, is_first: bool) -> String {
    if is_first {
        format!("  not linearizable from {place} (event {event}) on\n")
    } else {
        format!(
            "  the violation is complete not after {place} (event {event}): the search for its \
             first event was cut short\n"
        )
    }
}

impl<V: Clone + Display + Eq> Report<V> {
    /// Renders `violation (3 operations, 2 processes, 2 segments; by the linear-time conditions)`,
    /// then the proof. `place` renders the position of an event, for example in a file: `12:1`.
    /// Several lines, each ended.
    pub fn render(&self, size: &Size, place: impl Fn(usize) -> String) -> String {
        let by = self.method.description();
        let mut text = format!("{} ({size}; {by})\n", self.verdict.name());
        match &self.verdict {
            Verdict::Linearizable(_) => {}
            Verdict::Violation(_) => {
                if let Some(event) = self.decided_at {
                    text += &told_completion(&place(event), event, self.is_first);
                }
                if let Some(explanation) = &self.explanation {
                    text += &explanation.render(place);
                }
            }
            Verdict::Unknown(Unknown { cause, exhausted, states, linearizable_events }) => {
                let states = counted(*states, "state", "states");
                let known = told_linearizable(*linearizable_events);
                text += &format!("  the {exhausted} budget ran out after {states}; {known}\n");
                text += &format!("  it was searched because {cause}\n");
            }
            Verdict::Disputed(dispute) => text += &format!("  {dispute}\n"),
        }
        text
    }
}

/// Writes the verdict, the method, and the proof; places are numbers of events, counted from 0.
impl<V: Clone + Display + Eq> Display for Report<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = self.method.description();
        write!(f, "{} ({by})", self.verdict.name())?;
        match &self.explanation {
            None => Ok(()),
            Some(explanation) => {
                let text = explanation.render(|event| format!("event {event}"));
                write!(f, "\n{}", text.trim_end())
            }
        }
    }
}

/// Returns the length of the prefix known to be linearizable:
/// `the first 12 events are linearizable`.
pub fn told_linearizable(events: usize) -> String {
    match events {
        0 => "nothing is known to be linearizable".to_owned(),
        1 => "the first event is linearizable".to_owned(),
        _ => format!("the first {events} events are linearizable"),
    }
}

/// Returns a number with its noun: `1 state`, `2 states`.
pub fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// Writes `5 operations, 3 processes, 2 segments`, and the numbers of pending and failed ones.
impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            counted(self.operations, "operation", "operations"),
            counted(self.processes as u64, "process", "processes"),
            counted(self.segments as u64, "segment", "segments"),
        ];
        f.write_str(&counts.join(", "))?;
        for (count, what) in [(self.pending, "pending"), (self.failed, "failed")] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}
