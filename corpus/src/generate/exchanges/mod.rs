//! Executions of an immediate snapshot.
//!
//! An [`Exchanges`] recipe runs the object itself under a random scheduler (`scheduler`): operations
//! are invoked, some of the invoked ones take effect together as a block (first all writes, then
//! all reads), and respond later. So the sequence of these blocks explains the recorded history. No
//! process writes a value twice.
//!
//! A planted violation is a script whose actors are idle when it begins. While it is performed, no
//! other block takes effect, and one operation of the script lies about one segment. The lie breaks
//! the named condition and no other:
//!
//! | violation | script | the lie |
//! | --- | --- | --- |
//! | own value | {A} | A returns for its own segment the previous content |
//! | containment | {A} {B}, overlapping | B returns for A's segment the content before A |
//! | immediacy | {A, B, C} | A returns for C's segment the previous content |
//! | future | {A}, A responds, B is invoked, {B} | A returns the value that B writes later |
//! | never written | {A} | A returns a value that no operation writes |
//! | failed | B is invoked, {A}, B fails, then {B'} | A returns the value of the failed B |
//!
//! In each, all other operations return the vectors that the blocks produced: before the script
//! below the liar's vector, after it above. The honest twin differs only in the response of the
//! liar.

mod script;

use std::fmt;

use snapshot_core::Segment;
use snapshot_core::history::Declaration;
use snapshot_core::immediate::{Action, Event, History};

use self::script::script;
use super::error::RecipeError;
use super::scheduler::{Act, Clients, Plan, Run};
use super::values::Values;
use super::{Draw, share};

/// Violation in an execution of an immediate snapshot.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Flaw {
    /// An operation does not return its own value.
    OwnValue,
    /// Two operations each miss the other one.
    Containment,
    /// An operation sees another one, but not everything that the other one saw.
    Immediacy,
    /// An operation returns a value that is written after its response.
    Future,
    /// An operation returns a value that no operation writes.
    NeverWritten,
    /// An operation returns the value of an operation that failed.
    Failed,
}

impl Flaw {
    pub const ALL: [Self; 6] = [
        Self::OwnValue,
        Self::Containment,
        Self::Immediacy,
        Self::Future,
        Self::NeverWritten,
        Self::Failed,
    ];

    /// Name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OwnValue => "own-value",
            Self::Containment => "containment",
            Self::Immediacy => "immediacy",
            Self::Future => "validity",
            Self::NeverWritten => "validity-never-written",
            Self::Failed => "validity-failed",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flaw| flaw.name() == name)
    }

    /// Returns the only condition that it breaks, as named by
    /// [`Condition::name`](snapshot_core::immediate::Condition::name).
    pub const fn condition(self) -> &'static str {
        match self {
            Self::OwnValue => "own-value",
            Self::Containment => "containment",
            Self::Immediacy => "immediacy",
            Self::Future | Self::NeverWritten | Self::Failed => "validity",
        }
    }

    /// Returns the smallest number of processes that can perform it.
    pub const fn processes(self) -> usize {
        match self {
            Self::OwnValue => 1,
            Self::Containment | Self::Future | Self::NeverWritten | Self::Failed => 2,
            Self::Immediacy => 3,
        }
    }

    /// Returns the number of operations in its script.
    pub const fn operations(self) -> usize {
        match self {
            Self::OwnValue | Self::NeverWritten => 1,
            Self::Containment | Self::Future => 2,
            Self::Immediacy | Self::Failed => 3,
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Recipe of an execution of an immediate snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchanges {
    /// Number of processes, and of segments.
    pub processes: usize,
    /// Number of operations, including the operations of a violation.
    pub operations: usize,
    /// Number of operations without a response: half of them have an unknown outcome, the others
    /// stay open. Each takes effect before that, later, or never, and its process stops. At least
    /// one process and the actors of a violation continue, so the actual number may be smaller.
    pub pending: usize,
    /// Share of operations that certainly have no effect.
    pub failures: f64,
    /// Fixes all random choices.
    pub seed: u64,
    /// Violation to plant, if any.
    pub violation: Option<Flaw>,
    /// Share of the operations before the violation.
    pub after: f64,
    /// Performs the script of the violation without the lie.
    pub honest: bool,
}

impl Exchanges {
    /// Creates a recipe of a set-linearizable execution in which all operations respond.
    pub const fn new(processes: usize, operations: usize, seed: u64) -> Self {
        Self {
            processes,
            operations,
            pending: 0,
            failures: 0.0,
            seed,
            violation: None,
            after: 0.5,
            honest: false,
        }
    }

    /// Returns the recipe of the same run without a lie, one event away.
    #[must_use]
    pub fn twin(&self) -> Self {
        Self { honest: true, ..self.clone() }
    }

    /// Returns the verdict that a checker must give.
    pub const fn expected(&self) -> crate::Expected {
        match self.violation {
            Some(flaw) if !self.honest => {
                crate::Expected::Violation { reason: Some(flaw.condition()) }
            }
            _ => crate::Expected::Linearizable,
        }
    }

    /// Returns sizes and initial values, as a recorder would declare them.
    pub const fn declaration(&self) -> Declaration<i64> {
        Declaration::new(0).with_segments(self.processes)
    }

    /// Returns the events, one by one, in memory that does not grow with their number:
    /// O(processes^2).
    ///
    /// # Errors
    /// If no execution can follow the recipe.
    pub fn events(&self) -> Result<ExchangeEvents, RecipeError> {
        let size = |what, given, limit| match given {
            given if given == 0 || given > limit => {
                Err(RecipeError::BadSize { what, given, limit })
            }
            _ => Ok(()),
        };
        size("processes", self.processes, Segment::LIMIT + 1)?;
        share("the share of failures", self.failures)?;
        share("the share of operations before the violation", self.after)?;
        if let Some(flaw) = self.violation {
            for (what, needed, given) in [
                ("processes", flaw.processes(), self.processes),
                ("operations", flaw.operations(), self.operations),
            ] {
                if given < needed {
                    let rule = flaw.name();
                    return Err(RecipeError::TooSmallForMany { rule, what, needed, given });
                }
            }
        }
        let mut draw = Draw::new(self.seed, 7);
        let mut cast: Vec<usize> = (0..self.processes).collect();
        draw.shuffle(&mut cast);
        let values = Values::Differentiated;
        let script = self.violation.map(|flaw| {
            cast.truncate(flaw.processes());
            script(flaw, cast, values.marker(0, self.operations), self.after, self.honest)
        });
        let plan = Plan {
            clients: Clients::Exchanges,
            values,
            processes: self.processes,
            segments: self.processes,
            ordinary: self.operations - self.violation.map_or(0, Flaw::operations),
            pending: self.pending,
            failures: self.failures,
            gaps: 0.0,
            script,
            switches: false,
        };
        Ok(ExchangeEvents(Run::new(plan, draw)))
    }

    /// Returns the whole execution. O(operations × processes) time and memory.
    ///
    /// # Errors
    /// If no execution can follow the recipe.
    pub fn history(&self) -> Result<History<i64>, RecipeError> {
        let mut history =
            History::builder(self.declaration()).expect("a checked recipe declares its sizes");
        for event in self.events()? {
            history.push(&event.as_event()).expect("the scheduler respects the rules");
        }
        Ok(history.finish())
    }
}

/// A generated event; see [`Event`] for its meaning.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct OwnedExchange {
    /// Process, which is also the number of its segment.
    pub process: usize,
    pub action: OwnedExchangeAction,
}

/// Action of a generated event; see [`Action`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum OwnedExchangeAction {
    /// Invocation of `exchange(value)`.
    Invoke(i64),
    /// Response with one value per segment.
    Respond(Vec<i64>),
    /// The open operation certainly had no effect.
    Fail,
    /// The outcome of the open operation will never be known.
    Unknown,
}

impl OwnedExchange {
    /// Borrows the event, as builders and checkers require.
    pub fn as_event(&self) -> Event<'_, i64> {
        let action = match &self.action {
            OwnedExchangeAction::Invoke(value) => Action::Invoke { value },
            OwnedExchangeAction::Respond(values) => Action::Respond { values },
            OwnedExchangeAction::Fail => Action::Fail,
            OwnedExchangeAction::Unknown => Action::Unknown,
        };
        Event { process: self.process, action }
    }
}

impl From<Event<'_, i64>> for OwnedExchange {
    fn from(event: Event<'_, i64>) -> Self {
        let action = match event.action {
            Action::Invoke { value } => OwnedExchangeAction::Invoke(*value),
            Action::Respond { values } => OwnedExchangeAction::Respond(values.to_vec()),
            Action::Fail => OwnedExchangeAction::Fail,
            Action::Unknown => OwnedExchangeAction::Unknown,
        };
        Self { process: event.process, action }
    }
}

/// Iterator over the events of a recipe.
#[derive(Clone, Debug)]
pub struct ExchangeEvents(Run);

impl Iterator for ExchangeEvents {
    type Item = OwnedExchange;

    fn next(&mut self) -> Option<OwnedExchange> {
        let (process, act) = self.0.next()?;
        let action = match act {
            Act::Invoke(deed) => {
                OwnedExchangeAction::Invoke(deed.write.map_or(0, |(_, value)| value))
            }
            Act::Returned(values) => OwnedExchangeAction::Respond(values),
            Act::Fail => OwnedExchangeAction::Fail,
            Act::Unknown => OwnedExchangeAction::Unknown,
            Act::Done | Act::Some(_) => return None,
        };
        Some(OwnedExchange { process, action })
    }
}
