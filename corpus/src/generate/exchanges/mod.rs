//! Executions of an immediate snapshot.
//!
//! An [`Exchanges`] recipe is followed by running the object itself under a random scheduler
//! (`play.rs`): operations are invoked, some of the invoked ones take effect together as a
//! block (first all writes, then all reads), and respond later. So the sequence of these
//! blocks explains what was recorded. No process writes a value twice.
//!
//! A planted violation is a script whose actors are idle when it begins. While it is
//! performed, no other block takes effect, and one operation of the script lies about one
//! segment. The lie breaks the named condition and no other:
//!
//! | violation | script | the lie |
//! | --- | --- | --- |
//! | own value | {A} | A returns for its own segment what was there before |
//! | containment | {A} {B}, overlapping | B returns for A's segment what was there before A |
//! | immediacy | {A, B, C} | A returns for C's segment what was there before |
//! | future | {A}, A responds, B is invoked, {B} | A returns what B writes |
//! | never written | {A} | A returns what nothing writes |
//! | failed | B is invoked, {A}, B fails, then {B'} | A returns what B would have written |
//!
//! In each, all other operations have vectors as the blocks made them, those before the script
//! below that of the liar, those after it above. The honest twin differs in the response of
//! the liar only.

mod play;

use std::fmt;

use snapshot_core::Segment;
use snapshot_core::history::Declaration;
use snapshot_core::immediate::{Action, Event, History};

use self::play::Play;
use super::error::RecipeError;
use super::share;

/// What is wrong with an execution of an immediate snapshot.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Flaw {
    /// An operation does not return what it wrote.
    OwnValue,
    /// Two operations each miss the other one.
    Containment,
    /// An operation sees another one, but not all that this saw.
    Immediacy,
    /// An operation returns what is written after it has responded.
    Future,
    /// An operation returns what no operation writes.
    NeverWritten,
    /// An operation returns what an operation that failed would have written.
    Failed,
}

impl Flaw {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::OwnValue,
        Self::Containment,
        Self::Immediacy,
        Self::Future,
        Self::NeverWritten,
        Self::Failed,
    ];

    /// Its name in options.
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

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flaw| flaw.name() == name)
    }

    /// The only condition that it breaks, as
    /// [`Condition::name`](snapshot_core::immediate::Condition::name) calls it.
    pub const fn condition(self) -> &'static str {
        match self {
            Self::OwnValue => "own-value",
            Self::Containment => "containment",
            Self::Immediacy => "immediacy",
            Self::Future | Self::NeverWritten | Self::Failed => "validity",
        }
    }

    /// The fewest processes that can perform it.
    pub const fn processes(self) -> usize {
        match self {
            Self::OwnValue => 1,
            Self::Containment | Self::Future | Self::NeverWritten | Self::Failed => 2,
            Self::Immediacy => 3,
        }
    }

    /// Operations that it takes.
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

/// What to generate.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchanges {
    /// Number of processes, and of segments.
    pub processes: usize,
    /// Number of operations, those of a violation included.
    pub operations: usize,
    /// How many operations get no response: half of them have an unknown outcome, the others
    /// stay open. Each takes effect before that, later, or never, and its process stops. At
    /// least one process goes on, and those that a violation takes, so it may be fewer.
    pub pending: usize,
    /// The share of operations that certainly have no effect.
    pub failures: f64,
    /// Fixes all random choices.
    pub seed: u64,
    /// The violation to plant, if any.
    pub violation: Option<Flaw>,
    /// The share of the operations before the violation.
    pub after: f64,
    /// Perform the script of the violation, but without the lie.
    pub honest: bool,
}

impl Exchanges {
    /// A set-linearizable execution, in which everything responds.
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

    /// The same run with no operation lying, one event away.
    #[must_use]
    pub fn twin(&self) -> Self {
        Self { honest: true, ..self.clone() }
    }

    /// The answer that a checker must give.
    pub const fn expected(&self) -> crate::Expected {
        match self.violation {
            Some(flaw) if !self.honest => {
                crate::Expected::Violation { reason: Some(flaw.condition()) }
            }
            _ => crate::Expected::Linearizable,
        }
    }

    /// Sizes and initial values, as a recorder would declare them.
    pub const fn declaration(&self) -> Declaration<i64> {
        Declaration::new(0).with_segments(self.processes)
    }

    /// The events, one by one, in memory that does not grow with their number:
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
        Ok(ExchangeEvents(Play::new(self)))
    }

    /// The whole execution. O(operations × processes) time and memory.
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

/// One generated event; see [`Event`] for its meaning.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct OwnedExchange {
    /// The process, which is also the number of its segment.
    pub process: usize,
    /// What it does.
    pub action: OwnedExchangeAction,
}

/// What happens at a generated event; see [`Action`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum OwnedExchangeAction {
    /// `exchange(value)` is invoked.
    Invoke(i64),
    /// The open operation returns these values, one per segment.
    Respond(Vec<i64>),
    /// The open operation certainly had no effect.
    Fail,
    /// The outcome of the open operation will never be known.
    Unknown,
}

impl OwnedExchange {
    /// The same event, borrowed: what builders and checkers take.
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

/// The events of a recipe, one by one.
#[derive(Clone, Debug)]
pub struct ExchangeEvents(Play);

impl Iterator for ExchangeEvents {
    type Item = OwnedExchange;

    fn next(&mut self) -> Option<OwnedExchange> {
        self.0.next_event()
    }
}
