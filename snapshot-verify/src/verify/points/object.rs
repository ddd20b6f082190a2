//! Statements at which the operations of an object take effect.
//!
//! An operation takes effect at one of the marked statements that it passes, so a set holds if one
//! of its subsets does. If the set of all accesses of an operation does not hold, no set does. The
//! smallest sets are found for one operation at a time, while the others take effect anywhere. Then
//! they are combined, because points that are right for each operation need not be right for all of
//! them together.

use std::time::Instant;

use super::{
    MOST_TOGETHER, Trial, Trials, VerifyError, Watch, accesses, attempt, is_over, subsets,
};
use crate::language::Span;
use crate::program::{Program, Statement, StatementKind};

/// Maximum number of combinations of the sets of all operations.
const MOST_COMBINATIONS: usize = 64;

/// Result for an object.
#[derive(Clone, Debug, Default)]
pub struct ObjectPoints {
    /// In the order of the text.
    pub operations: Vec<OperationPoints>,
    /// Combinations of the smallest sets of all operations that have some. If one holds, it is the
    /// last.
    pub together: Vec<Trial>,
}

/// Sets tried for one operation, while all others take effect anywhere.
#[derive(Clone, Debug)]
pub struct OperationPoints {
    pub operation: String,
    /// True if others may take effect together with the operation: it has no point of its own.
    pub is_together: bool,
    /// In the order tried; empty if the operation has no access of its own, or may take effect
    /// together with others.
    pub trials: Vec<Trial>,
}

impl OperationPoints {
    /// Returns the sets that hold, of the smallest size.
    pub fn smallest(&self) -> Vec<&Trial> {
        let holding = || self.trials.iter().filter(|trial| trial.holds());
        let size = holding().map(|trial| trial.statements.len()).min();
        holding().filter(|trial| Some(trial.statements.len()) == size).collect()
    }
}

impl ObjectPoints {
    /// Returns all sets that were tried.
    pub fn trials(&self) -> impl Iterator<Item = &Trial> {
        let single = self.operations.iter().flat_map(|operation| &operation.trials);
        single.chain(&self.together)
    }

    /// Returns a combination that holds.
    pub fn found(&self) -> Option<&Trial> {
        self.together.last().filter(|trial| trial.holds())
    }

    /// Returns true if every operation has points, and they hold together.
    pub fn is_complete(&self) -> bool {
        let has_some = |operation: &OperationPoints| !operation.smallest().is_empty();
        self.found().is_some() && self.operations.iter().all(has_some)
    }
}

/// Tries sets of accesses, operation by operation, and then combinations.
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

    /// Returns true if the last trial is open for lack of time, as all others would be.
    fn is_last(&self, tried: &[Trial]) -> bool {
        tried.last().is_some_and(Trial::is_open) && is_over(self.end, self.watch)
    }

    /// Tries all accesses together; if they hold, finds the smallest sets that do.
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
        // Statements are removed as long as the rest holds.
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

/// Returns the combinations of one set per operation, the first sets first.
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
