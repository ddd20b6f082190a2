//! The answer of a monitor for one object: an alarm, or an undecided part.

use std::fmt::Write;

use serde::Serialize;
use snapshot_core::check::counted;

use super::State;
use crate::Value;
use crate::format::{JsonValue, Location, Object};
use crate::judge::{Finding, Judgement, immediate};
use crate::report;

/// The answer for one object.
#[derive(Debug)]
pub struct Answer {
    pub(super) key: Option<Value>,
    pub(super) object: Object,
    /// The final state of its judge.
    pub(super) state: State,
    /// For a violation, true if the judge knew that everything before was correct.
    pub(super) is_certain: bool,
    /// Position of the event of the object that was read last.
    pub(super) last: Location,
    /// Number of events since its past was cut off.
    pub(super) events: usize,
    /// Number of events before the cut.
    pub(super) before: u64,
    /// Position of the cut.
    pub(super) cut: Location,
    pub(super) most_kept: usize,
    /// The exact judgement of the events since the cut; `None` if they were too many to keep.
    pub(super) judgement: Option<Judgement>,
}

impl Answer {
    pub const fn key(&self) -> Option<&Value> {
        self.key.as_ref()
    }

    /// Returns the exit code for this object alone: 4 if two judges contradict each other, 1 for a
    /// violation, 3 if it is undecided, else 0.
    pub fn code(&self) -> u8 {
        match (&self.judgement, self.state) {
            (Some(judgement), _) if judgement.finding.disputed().is_some() => 4,
            // The state of the judge is certain, even if an exact search gives up.
            (_, State::Violation) => 1,
            (Some(judgement), _) => report::exit_code([&judgement.finding]),
            (None, State::Undecided) => 3,
            (None, State::Fine) => 0,
        }
    }

    /// Returns the event that completes the violation: its number among those of the object, from
    /// 0, and its position.
    pub fn decided_at(&self) -> (u64, Location) {
        let last = (self.events.saturating_sub(1), self.last);
        let (event, place) = match self.judgement.as_ref().map(|judgement| &judgement.finding) {
            Some(Finding::Violation(violation)) => violation.decided_at,
            Some(Finding::Immediate(immediate::Finding::Violation(violation))) => {
                (violation.alarm.event, violation.decided_at)
            }
            _ => last,
        };
        (self.before + event as u64, place)
    }

    /// Returns true if everything before that event is known to be correct.
    pub fn is_first(&self) -> bool {
        match self.judgement.as_ref().map(|judgement| &judgement.finding) {
            Some(Finding::Violation(violation)) => violation.is_first,
            Some(Finding::Immediate(_)) => true,
            _ => self.is_certain,
        }
    }

    /// Returns a report for human readers, in several lines; `name` is the input's.
    pub fn human(&self, name: &str) -> String {
        let name = match &self.key {
            Some(key) => format!("{name} @{key}"),
            None => name.to_owned(),
        };
        let fine = self.object.criterion();
        let Some(judgement) = self.shown() else {
            let (word, from) = match self.state {
                State::Violation if self.is_first() => {
                    ("violation", format!("  not {fine} from {} on\n", self.last))
                }
                State::Violation => {
                    ("violation", format!("  the violation is complete not after {}\n", self.last))
                }
                _ => ("unknown", String::new()),
            };
            let reason = match &self.judgement {
                Some(_) => "the budget of an exact search ran out".to_owned(),
                None => {
                    let most = counted(self.most_kept as u64, "event", "events");
                    format!("operations were open for more than {most}")
                }
            };
            return format!(
                "{name}: {word} ({})\n{from}  the argument is not at hand: {reason}\n",
                counted(self.before + self.events as u64, "event", "events")
            );
        };
        let mut text = report::human(&name, judgement);
        if self.before > 0 {
            let _ = writeln!(
                text,
                "  of the {} events from {} on; the {} before are {fine}, and over",
                self.events, self.cut, self.before
            );
        }
        text
    }

    /// Returns a report for programs, in one line: the record of `check --report json` for one of
    /// several objects, whose events and operations are numbered from the last cut on, and the
    /// number of events before it.
    pub fn json(&self, name: &str) -> String {
        let mut line = match self.shown() {
            Some(judgement) => report::json_of(name, self.key.as_ref(), judgement, self.before),
            None => {
                let (event, place) = self.decided_at();
                let decided_at = Place::new(event - self.before, place);
                let is_violated = self.state == State::Violation;
                report::text(&Bare {
                    schema: report::SCHEMA,
                    input: name,
                    key: self.key.as_ref().map(JsonValue::from),
                    verdict: if is_violated { "violation" } else { "unknown" },
                    before: self.before,
                    violation: is_violated
                        .then_some(BareViolation { decided_at, not_after: !self.is_first() }),
                })
            }
        };
        line.push('\n');
        line
    }

    /// Returns the judgement, unless it falls short of the certain facts.
    fn shown(&self) -> Option<&Judgement> {
        let judgement = self.judgement.as_ref()?;
        let code = report::exit_code([&judgement.finding]);
        (code == self.code()).then_some(judgement)
    }
}

/// An object whose events were not kept.
#[derive(Serialize)]
struct Bare<'a> {
    schema: u32,
    input: &'a str,
    key: Option<JsonValue>,
    verdict: &'static str,
    before: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<BareViolation>,
}

#[derive(Serialize)]
struct BareViolation {
    decided_at: Place,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    not_after: bool,
}

#[derive(Serialize)]
pub(super) struct Place {
    event: u64,
    line: u64,
    column: u64,
}

impl Place {
    pub const fn new(event: u64, place: Location) -> Self {
        Self { event, line: place.line, column: place.column }
    }
}
