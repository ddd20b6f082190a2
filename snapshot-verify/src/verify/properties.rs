//! Strong linearizability and progress, on the interpreter's graph. Violations are confirmed by code
//! that shares nothing with the search.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::error::VerifyError;
use super::progress::Watch;
use crate::interpret::{Client, Machine, Sequential, Values};
use crate::program::{Object, Program, independence};
use crate::progress::{Limits, Progress, progress, progress_object};
use crate::strategy::{Claim, Refusal};
use crate::strong::{
    Confirmed, Strength, Strong, StrongValues, StrongVerdict, certified, confirm, strong,
};

/// Executions that a property is decided for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Scope {
    pub processes: usize,
    /// Bound on the operations of each process.
    pub operations: Option<u32>,
    /// Bound of each process; empty: `operations` is the bound.
    pub each: Vec<u32>,
    /// Number of values, where they count: the program or the object looks at values.
    pub values: Option<u32>,
    /// In bytes.
    pub memory: u64,
    pub time: Option<Duration>,
    /// Most states.
    pub states: Option<u64>,
}

/// A decided property.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decided<T> {
    pub answer: T,
    pub elapsed: Duration,
}

/// Strong linearizability, with the confirmation of an answer *no*.
pub type StrongAnswer = Decided<(Strong, Option<Confirmed>)>;

impl Scope {
    /// Number of values without a request.
    const VALUES: u32 = 2;

    fn client(&self, values: Values) -> Client {
        Client { operations: self.operations, ..Client::unbounded(values) }.with_each(&self.each)
    }

    fn check(&self, program: &Program) -> Result<(), VerifyError> {
        let counts = program.has_counters() && self.operations.is_none();
        if counts { Err(VerifyError::ObjectCounters) } else { Ok(()) }
    }

    /// Calls `decide` with the limits.
    fn within<T>(
        &self,
        watch: &dyn Watch,
        decide: impl FnOnce(&mut Limits<'_>) -> T,
    ) -> Decided<T> {
        let began = Instant::now();
        let mut proceed = || {
            let is_in_time = self.time.is_none_or(|time| began.elapsed() < time);
            is_in_time && !watch.stop().load(Ordering::Relaxed)
        };
        let states = self.states.and_then(|states| usize::try_from(states).ok());
        let mut limits = Limits {
            states: states.unwrap_or(usize::MAX),
            memory: usize::try_from(self.memory).unwrap_or(usize::MAX),
            proceed: &mut proceed,
        };
        let answer = decide(&mut limits);
        Decided { answer, elapsed: began.elapsed() }
    }
}

/// Decides strong linearizability, of all operations or of writes.
///
/// # Errors
/// If the program cannot run, has infinitely many states, or an answer is not confirmed.
pub fn strongly(
    program: &Program,
    strength: Strength,
    scope: &Scope,
    watch: &dyn Watch,
) -> Result<StrongAnswer, VerifyError> {
    scope.check(program)?;
    if strength == Strength::Writes && program.object().is_some_and(Object::has_blocks) {
        return Err(VerifyError::Together);
    }
    let machine = Machine::new(program, scope.processes)?;
    let object = program.object().map(|object| Sequential::new(object, scope.processes));
    let object = object.transpose()?;
    let values = Values::Full(scope.values.unwrap_or(Scope::VALUES));
    let client = scope.client(values);
    let decided = scope.within(watch, |limits| {
        let found = strong(&machine, object.as_ref(), strength, &client, limits)?;
        let confirmed = match &found.verdict {
            StrongVerdict::NotStrong(case) => {
                let confirmed = confirm(&machine, object.as_ref(), strength, case);
                Some(confirmed.map_err(|error| VerifyError::Unjudged(error.to_string()))?)
            }
            _ => None,
        };
        Ok::<_, VerifyError>((found, confirmed))
    });
    Ok(Decided { answer: decided.answer?, elapsed: decided.elapsed })
}

/// Returns the certificate of a strongly linearizable algorithm, whose text has this digest.
///
/// # Errors
/// If there is none.
pub fn strategy(
    program: &Program,
    scope: &Scope,
    values: StrongValues,
    digest: String,
    watch: &dyn Watch,
) -> Result<String, Refusal> {
    let claim = Claim {
        algorithm: program.name.clone(),
        bug: program.bug.clone(),
        digest,
        processes: scope.processes,
        operations: scope.operations,
        each: scope.each.clone(),
        values: match values {
            StrongValues::Different => None,
            StrongValues::Few(values) => Some(values),
            StrongValues::None => Some(1),
        },
    };
    scope.within(watch, |limits| certified(program, &claim, limits)).answer
}

/// Decides the progress of all operations. One value suffices unless the program looks at values.
///
/// # Errors
/// If the program cannot run, has infinitely many states, or an infinite execution is not
/// confirmed.
pub fn progressing(
    program: &Program,
    scope: &Scope,
    watch: &dyn Watch,
) -> Result<Decided<Progress>, VerifyError> {
    scope.check(program)?;
    let machine = Machine::new(program, scope.processes)?;
    let object = program.object().map(|object| Sequential::new(object, scope.processes));
    let object = object.transpose()?;
    let looks = independence::check(program).is_err()
        || program
            .object()
            .is_some_and(|object| independence::check(&object.specification).is_err());
    let values = if looks { Scope::VALUES } else { 1 };
    let values = Values::Full(scope.values.unwrap_or(values));
    let client = scope.client(values);
    let decided = scope.within(watch, |limits| match &object {
        None => progress(&machine, &client, limits),
        Some(object) => progress_object(&machine, object, &client, limits),
    });
    let found = decided.answer?;
    let lassos = found.standings().filter_map(|standing| standing.lasso());
    let waits = found.operations.iter().filter_map(|one| one.waits.as_ref());
    for lasso in lassos.chain(waits) {
        let is_confirmed = lasso.is_confirmed(&machine).map_err(VerifyError::NotRepeated)?;
        if !is_confirmed {
            return Err(VerifyError::Unjudged("a loop does not return to its state".to_owned()));
        }
    }
    Ok(Decided { answer: found, elapsed: decided.elapsed })
}
