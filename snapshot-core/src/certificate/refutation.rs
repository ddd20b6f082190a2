//! Checking a refutation, line by line.
//!
//! Every line states that one operation takes effect before another one, in any
//! linearization (below a supposition: in any in which it holds). Each rule is
//! checked by looking at the operations that it names and at the lines that it
//! refers to: O(1) per line, no search, and no limit on their number. What the
//! checker has to know of other operations is only which of them could have been
//! read where a named scan saw something, which is one pass over the history.
//!
//! A line about an update that may not have taken effect is true if it did. Such an
//! update is the first operation of no line: it has no response, no scan returned it, and it
//! may not be supposed to be anywhere. So it is in no contradiction. A scan that can
//! have seen nothing but an update that failed later is a violation in itself, and
//! whatever is said to follow from that is true.

use std::collections::HashMap;
use std::hash::Hash;

use rustc_hash::FxBuildHasher;
use thiserror::Error;

use crate::history::{OperationKind, Outcome};
use crate::verdict::{Line, Refutation, Rule};
use crate::{History, OperationId, Segment};

/// Why a refutation proves nothing, with the number of the line that is wrong.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum RefutationError {
    /// An operation that the history does not have, or a scan that never responded.
    #[error(
        "line {line} names operation {operation}, which is none of the history, \
             or is a scan without response"
    )]
    NoSuchOperation {
        /// The line.
        line: usize,
        /// The operation.
        operation: OperationId,
    },
    /// A segment that the history does not have.
    #[error("line {line} names segment {segment}, which the history does not have")]
    NoSuchSegment {
        /// The line.
        line: usize,
        /// The segment.
        segment: Segment,
    },
    /// The rule does not say so.
    #[error("line {line} does not follow by its rule, {rule}")]
    DoesNotFollow {
        /// The line.
        line: usize,
        /// The name of the rule.
        rule: &'static str,
    },
    /// It refers to a line that is not above it, or whose supposition is over.
    #[error("line {line} refers to line {to}, which does not hold there")]
    NoSuchLine {
        /// The line.
        line: usize,
        /// What it refers to.
        to: usize,
    },
    /// After a contradiction the supposition must end.
    #[error("line {line} follows a contradiction, but does not end its supposition")]
    AfterContradiction {
        /// The line.
        line: usize,
    },
    /// No contradiction at the end, or only below a supposition.
    #[error("the lines do not end in a contradiction that holds without supposition")]
    NoContradiction,
}

/// Where an operation stands in a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Block {
    /// The update itself, or a scan that saw it.
    Of(OperationId),
    Initial,
    /// None, or it is not certain which.
    Unclear,
}

/// Checks that a refutation proves a history non-linearizable. O(length of the
/// history + number of lines).
///
/// # Errors
/// What is wrong with the first line that is.
pub fn check<V: Eq + Hash>(
    history: &History<V>,
    refutation: &Refutation,
) -> Result<(), RefutationError> {
    for (number, line) in refutation.lines.iter().enumerate() {
        for operation in [line.before, line.after] {
            let is_good = history
                .operations()
                .get(operation.index())
                .is_some_and(|operation| operation.is_complete() || !operation.is_scan());
            if !is_good {
                return Err(RefutationError::NoSuchOperation { line: number, operation });
            }
        }
        if let Rule::Block { segment, .. } = line.rule
            && segment.index() >= history.segments()
        {
            return Err(RefutationError::NoSuchSegment { line: number, segment });
        }
    }
    let sources = Sources::new(history, refutation);
    Checker { history, sources, lines: &refutation.lines, ended: Vec::new(), open: Vec::new() }
        .run()
}

impl Rule {
    /// A one-word name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Reads => "reads",
            Self::First => "first",
            Self::Chain { .. } => "chain",
            Self::Block { .. } => "block",
            Self::Suppose => "suppose",
            Self::Otherwise => "otherwise",
        }
    }
}

/// Which updates wrote the values that the named scans returned.
struct Sources<'h, V> {
    history: &'h History<V>,
    /// Per segment and value: updates in the order of invocation.
    updates: HashMap<(Segment, &'h V), Vec<OperationId>, FxBuildHasher>,
}

impl<'h, V: Eq + Hash> Sources<'h, V> {
    fn new(history: &'h History<V>, refutation: &Refutation) -> Self {
        let mut updates: HashMap<_, Vec<OperationId>, FxBuildHasher> = HashMap::default();
        let segment_of = |id: OperationId| history.operation(id).segment();
        for line in &refutation.lines {
            let segment = match line.rule {
                Rule::Block { segment, .. } => Some(segment),
                Rule::Reads => segment_of(line.before),
                Rule::First => segment_of(line.after),
                _ => None,
            };
            let Some(segment) = segment else { continue };
            let named = [Some(line.before), Some(line.after)];
            let because = match line.rule {
                Rule::Block { because, .. } => refutation.lines.get(because),
                _ => None,
            };
            let others = because.map_or([None, None], |line| [Some(line.before), Some(line.after)]);
            for id in named.into_iter().chain(others).flatten() {
                let operation = history.operation(id);
                if let Some(value) = history.entry(operation, segment) {
                    updates.entry((segment, value)).or_default();
                }
            }
        }
        for id in history.operation_ids() {
            let operation = history.operation(id);
            if let Some(segment) = operation.segment()
                && let Some(list) = updates.get_mut(&(segment, history.update_value(operation)))
            {
                list.push(id);
            }
        }
        Self { history, updates }
    }

    fn block(&self, id: OperationId, segment: Segment) -> Block {
        let operation = self.history.operation(id);
        if let OperationKind::Update { segment: written } = operation.kind() {
            return if written == segment { Block::Of(id) } else { Block::Unclear };
        }
        let (Some(value), Some(response)) =
            (self.history.entry(operation, segment), operation.response())
        else {
            return Block::Unclear;
        };
        let list = self.updates.get(&(segment, value)).map_or(&[][..], Vec::as_slice);
        let begun = || {
            let update = |id: &&OperationId| self.history.operation(**id);
            let begun = list.iter().take_while(move |id| update(id).invocation() < response);
            begun.map(move |id| (id, update(&id).outcome()))
        };
        let sound = begun().filter(|(_, outcome)| !matches!(outcome, Outcome::Failed { .. }));
        let failed = begun().filter(
            |(_, outcome)| matches!(outcome, Outcome::Failed { event } if *event > response),
        );
        let mut possible = sound.map(|(id, _)| id);
        let is_initial = self.history.initial_value(segment) == value;
        match (possible.next(), possible.next(), is_initial) {
            (Some(update), None, false) => Block::Of(*update),
            (None, None, true) => Block::Initial,
            (None, None, false) => {
                let mut failed = failed.map(|(id, _)| id);
                match (failed.next(), failed.next()) {
                    (Some(update), None) => Block::Of(*update),
                    _ => Block::Unclear,
                }
            }
            _ => Block::Unclear,
        }
    }
}

struct Checker<'h, V> {
    history: &'h History<V>,
    sources: Sources<'h, V>,
    lines: &'h [Line],
    /// For each line so far, whether the supposition below which it stands is over.
    ended: Vec<bool>,
    /// The lines that suppose something, innermost last.
    open: Vec<usize>,
}

impl<V: Eq + Hash> Checker<'_, V> {
    fn run(mut self) -> Result<(), RefutationError> {
        let mut is_contradiction = false;
        for (number, line) in self.lines.iter().enumerate() {
            if is_contradiction && line.rule != Rule::Otherwise {
                return Err(RefutationError::AfterContradiction { line: number });
            }
            let follows = match line.rule {
                Rule::Otherwise => is_contradiction && self.end_supposition(line),
                _ => self.follows(number, line)?,
            };
            if !follows {
                let rule = line.rule.name();
                return Err(RefutationError::DoesNotFollow { line: number, rule });
            }
            self.ended.push(false);
            if line.rule == Rule::Suppose {
                self.open.push(number);
            }
            is_contradiction = line.before == line.after;
        }
        if is_contradiction && self.open.is_empty() {
            Ok(())
        } else {
            Err(RefutationError::NoContradiction)
        }
    }

    fn end_supposition(&mut self, line: &Line) -> bool {
        let Some(supposed) = self.open.pop() else { return false };
        self.ended[supposed..].fill(true);
        let supposed = &self.lines[supposed];
        (supposed.before, supposed.after) == (line.after, line.before)
    }

    /// A line above `line` that holds there.
    fn line(&self, line: usize, to: usize) -> Result<&Line, RefutationError> {
        match self.ended.get(to) {
            Some(false) => Ok(&self.lines[to]),
            _ => Err(RefutationError::NoSuchLine { line, to }),
        }
    }

    fn follows(&self, number: usize, line: &Line) -> Result<bool, RefutationError> {
        let (before, after) =
            (self.history.operation(line.before), self.history.operation(line.after));
        Ok(match line.rule {
            Rule::Time => before.precedes(after),
            Rule::Reads => before.segment().is_some_and(|segment| {
                after.is_scan() && self.sources.block(line.after, segment) == Block::Of(line.before)
            }),
            Rule::First => after.segment().is_some_and(|segment| {
                before.is_scan() && self.sources.block(line.before, segment) == Block::Initial
            }),
            Rule::Chain { first, second } => {
                let (first, second) = (self.line(number, first)?, self.line(number, second)?);
                first.after == second.before
                    && (first.before, second.after) == (line.before, line.after)
            }
            Rule::Block { segment, because } => {
                let because = self.line(number, because)?;
                let block = |id| self.sources.block(id, segment);
                let (earlier, later) = (block(because.before), block(because.after));
                earlier != later
                    && earlier != Block::Unclear
                    && later != Block::Unclear
                    && (block(line.before), block(line.after)) == (earlier, later)
            }
            Rule::Suppose => {
                before.is_complete() && after.is_complete() && line.before != line.after
            }
            Rule::Otherwise => false,
        })
    }
}
