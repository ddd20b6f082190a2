//! Executions of an object under a random scheduler, with known answers.
//!
//! Each operation takes effect at one instant between its invocation and its response, with a
//! result that the specification allows there. So the order of these instants is a linearization
//! ([`Player`]). A planted violation is a [`Scene`](scene::Scene): few operations, one after the
//! other, that the object allows in one order and that are recorded in another one.

mod player;
mod pool;
mod scene;

use corpus::generate::RecipeError;
use snapshot_core::Process;
use thiserror::Error;

pub(super) use self::player::Player;
pub(super) use self::pool::Role;
use super::Object;

/// The recipe of an execution of an object whose operations take effect one at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectRecipe {
    pub object: Object,
    pub processes: usize,
    /// Number of operations besides those of a violation, and those that end others that wait.
    pub operations: usize,
    /// Number of operations without a response.
    pub pending: usize,
    /// Share of operations that certainly have no effect.
    pub failures: f64,
    /// Values are below this number; without, no value is given twice.
    pub values: Option<u32>,
    /// The operations that occur; all, if there are none.
    pub only: Vec<String>,
    /// The rule that is broken, or [`ANY`].
    pub violation: Option<String>,
    /// The operations of the violation are recorded in the right order.
    pub honest: bool,
    /// Fixes all random choices.
    pub seed: u64,
}

/// A violation of any rule.
pub const ANY: &str = "any";

/// A recipe that no execution of an object can follow.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ObjectRecipeError {
    /// A number is out of range.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The operations take effect together.
    #[error(
        "the operations of `{object}` take effect together, and generate makes executions of \
         objects whose operations take effect one at a time\n\
         help: ask for another object, or record this one"
    )]
    Together {
        /// The object.
        object: String,
    },
    /// An operation that the object does not have.
    #[error("`{object}` has no operation `{name}`: expected {known}")]
    NoOperation {
        /// The object.
        object: String,
        /// The name of the operation.
        name: String,
        /// All of them.
        known: String,
    },
    /// An operation whose result is not found.
    #[error(
        "no result of `{operation}` was found that the object allows\n\
         help: leave it out: list the other operations with --only"
    )]
    NoResult {
        /// The operation with its arguments.
        operation: String,
    },
    /// No operations that break the rule.
    #[error(
        "found no few operations of `{object}` that break the rule `{wanted}`\n\
         help: ask for `{ANY}`{}", .found.iter().map(|rule| format!(", `{rule}`")).collect::<String>()
    )]
    NoViolation {
        /// The object.
        object: String,
        /// The rule.
        wanted: String,
        /// The rules that were broken.
        found: Vec<&'static str>,
    },
    /// No state in which the violation can be planted.
    #[error(
        "no state of the object was met in which the operations of the violation are possible\n\
         help: ask for another rule, or for another seed"
    )]
    NoPlace,
}

impl ObjectRecipe {
    /// Creates the recipe of a correct execution in which all operations respond.
    pub const fn new(object: Object, processes: usize, operations: usize, seed: u64) -> Self {
        Self {
            object,
            processes,
            operations,
            pending: 0,
            failures: 0.0,
            values: None,
            only: Vec::new(),
            violation: None,
            honest: false,
            seed,
        }
    }

    /// Returns true if the execution is correct.
    pub const fn is_correct(&self) -> bool {
        self.violation.is_none() || self.honest
    }

    fn check(&self) -> Result<(), ObjectRecipeError> {
        let size = |what, given: usize, limit| match given {
            given if given == 0 || given > limit => {
                Err(RecipeError::BadSize { what, given, limit })
            }
            _ => Ok(()),
        };
        size("processes", self.processes, Process::LIMIT + 1)?;
        if let Some(values) = self.values {
            size("values", values as usize, u32::MAX as usize)?;
        }
        if (0.0..=1.0).contains(&self.failures) {
            return Ok(());
        }
        let (what, given) = ("the share of failures", self.failures);
        Err(RecipeError::BadShare { what, given }.into())
    }

    /// Describes the execution in one sentence.
    pub fn about(&self) -> String {
        let Self { object, processes, operations, pending, .. } = self;
        let values = match self.values {
            None => "no value given twice".to_owned(),
            Some(values) => format!("values below {values}"),
        };
        let pending = match pending {
            0 => String::new(),
            pending => format!(", up to {pending} of them pending"),
        };
        let violation = match &self.violation {
            None => String::new(),
            Some(_) if self.honest => "; the honest twin of a violation".to_owned(),
            Some(rule) if rule == ANY => "; a violation".to_owned(),
            Some(rule) => format!("; a violation of the rule {rule}"),
        };
        let object = object.described(None);
        format!(
            "{operations} operations of the object {object} by {processes} processes{pending}, \
             {values}{violation}."
        )
    }
}
