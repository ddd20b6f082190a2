//! Statements at which the operations of an object take effect.
//!
//! An operation takes effect at one of the marked statements that it passes, so that a set with
//! more statements holds wherever one with fewer does: if all accesses of an operation together do
//! not hold, nothing does. The smallest sets are found for one operation at a time, while the
//! others take effect anywhere; then they are put together, for points that are right for each
//! operation need not be right for all at once.

use std::time::Instant;

use super::{
    MOST_TOGETHER, Trial, Trials, VerifyError, Watch, accesses, attempt, is_over, subsets,
};
use crate::language::Span;
use crate::program::{Program, Statement, StatementKind};

/// The most ways to put together what was found for each operation.
const MOST_COMBINATIONS: usize = 64;

/// What was found for an object.
#[derive(Clone, Debug, Default)]
pub struct ObjectPoints {
    /// In the order of the text.
    pub operations: Vec<OperationPoints>,
    /// Smallest sets of all operations that have some, put together; the last one holds, if
    /// one does.
    pub together: Vec<Trial>,
}

/// What was tried for one operation, while all others take effect anywhere.
#[derive(Clone, Debug)]
pub struct OperationPoints {
    /// Its name.
    pub operation: String,
    /// Whether others may take effect together with it: it has no point of its own.
    pub is_together: bool,
    /// Its sets, in the order in which they were tried; none if it has no access of its own, or may
    /// take effect together with others.
    pub trials: Vec<Trial>,
}

impl OperationPoints {
    /// The sets that hold, of the size of the smallest of them.
    pub fn smallest(&self) -> Vec<&Trial> {
        let holding = || self.trials.iter().filter(|trial| trial.holds());
        let size = holding().map(|trial| trial.statements.len()).min();
        holding().filter(|trial| Some(trial.statements.len()) == size).collect()
    }
}

impl ObjectPoints {
    /// All that was tried.
    pub fn trials(&self) -> impl Iterator<Item = &Trial> {
        let single = self.operations.iter().flat_map(|operation| &operation.trials);
        single.chain(&self.together)
    }

    /// Sets that hold together.
    pub fn found(&self) -> Option<&Trial> {
        self.together.last().filter(|trial| trial.holds())
    }

    /// Whether every operation has points, and they hold together.
    pub fn is_complete(&self) -> bool {
        let has_some = |operation: &OperationPoints| !operation.smallest().is_empty();
        self.found().is_some() && self.operations.iter().all(has_some)
    }
}

/// Tries sets of accesses, operation by operation, and then together.
///
/// # Errors
/// As [`super::find_points`].
///
/// # Panics
/// If the program declares no object.
pub fn find_object_points(
    program: &Program,
    trials: &Trials,
    watch: &dyn Watch,
) -> Result<ObjectPoints, VerifyError> {
    let object = program.object().expect("the text declares an object");
    let end = trials.end();
    let search = Search { program, trials, end, watch };
    let mut found = ObjectPoints::default();
    for operation in &object.operations {
        let candidates = match operation.together {
            true => Vec::new(),
            false => accesses(program, operation.procedure, is_access),
        };
        let trials = search.of_operation(candidates)?;
        let name = program.procedure(operation.procedure).name.clone();
        let is_wrong = trials.iter().any(Trial::is_wrong);
        let is_together = operation.together;
        found.operations.push(OperationPoints { operation: name, is_together, trials });
        if is_wrong {
            return Ok(found);
        }
    }
    let smallest = found.operations.iter().map(OperationPoints::smallest);
    let smallest: Vec<Vec<&Trial>> = smallest.filter(|sets| !sets.is_empty()).collect();
    if !smallest.is_empty() {
        let mut together = Vec::new();
        for statements in combinations(&smallest) {
            together.push(search.attempt(statements)?);
            if together.last().is_some_and(Trial::holds) || search.is_last(&together) {
                break;
            }
        }
        found.together = together;
    }
    Ok(found)
}

struct Search<'a> {
    program: &'a Program,
    trials: &'a Trials,
    end: Option<Instant>,
    watch: &'a dyn Watch,
}

impl Search<'_> {
    fn attempt(&self, statements: Vec<Span>) -> Result<Trial, VerifyError> {
        attempt(self.program, statements, is_access, self.trials, self.end, self.watch)
    }

    /// Whether the last trial is open for lack of time, as all others would be.
    fn is_last(&self, tried: &[Trial]) -> bool {
        tried.last().is_some_and(Trial::is_open) && is_over(self.end, self.watch)
    }

    /// All accesses together; if they hold, the smallest sets that do.
    fn of_operation(&self, candidates: Vec<Span>) -> Result<Vec<Trial>, VerifyError> {
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let mut tried = vec![self.attempt(candidates.clone())?];
        if !tried[0].holds() {
            return Ok(tried);
        }
        for size in 1..candidates.len().min(MOST_TOGETHER + 1) {
            for statements in subsets(&candidates, size) {
                tried.push(self.attempt(statements)?);
                if self.is_last(&tried) {
                    return Ok(tried);
                }
            }
            if tried[1..].iter().any(Trial::holds) {
                return Ok(tried);
            }
        }
        // What is left if statements are taken out as long as the rest holds.
        let mut rest = candidates;
        let mut next = 0;
        while rest.len() > MOST_TOGETHER + 1 && next < rest.len() && !self.is_last(&tried) {
            let mut fewer = rest.clone();
            fewer.remove(next);
            let trial = self.attempt(fewer.clone())?;
            if trial.holds() {
                rest = fewer;
            } else {
                next += 1;
            }
            tried.push(trial);
        }
        Ok(tried)
    }
}

const fn is_access(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::Access { .. })
}

/// One set of each operation, in all ways, the first ones first.
fn combinations(sets: &[Vec<&Trial>]) -> Vec<Vec<Span>> {
    let mut combined: Vec<Vec<Span>> = vec![Vec::new()];
    for sets in sets {
        let with = |before: &Vec<Span>| {
            let with = |trial: &&Trial| [&**before, &*trial.statements].concat();
            sets.iter().map(with).collect::<Vec<_>>()
        };
        combined = combined.iter().flat_map(with).take(MOST_COMBINATIONS).collect();
    }
    combined
}
