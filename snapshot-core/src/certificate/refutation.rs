//! Checking a refutation, line by line.
//!
//! Every line states that one operation takes effect before another one, in any linearization
//! (below a supposition: in any in which it holds). Each rule is checked against the operations
//! that it names and the lines that it refers to: O(1) per line, no search, and no limit on the
//! number of lines. Of all other operations the checker needs only the possible sources of the
//! entries that the lines name (module `readable`), which take one pass over the history.
//!
//! A line about an update that may not have taken effect is true if it did. Such an update is the
//! first operation of no line: it has no response, no scan returned it, and no supposition may
//! place it. So it is part of no contradiction, except below the supposition that a scan read it. A
//! scan whose only possible source failed later, or was replaced before, is a violation in itself,
//! and every consequence drawn from it is true.

use std::hash::Hash;

use thiserror::Error;

use super::readable::{self, Entry, Readable, Source};
use crate::history::OperationKind;
use crate::seeded::SeededMap;
use crate::verdict::{Line, Refutation, Rule};
use crate::{History, OperationId, Segment};

/// The reason why a refutation proves nothing, with the number of the wrong line.
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
    /// The line does not follow by its rule.
    #[error("line {line} does not follow by its rule, {rule}")]
    DoesNotFollow {
        /// The line.
        line: usize,
        /// The name of the rule.
        rule: &'static str,
    },
    /// The line refers to a line that is not above it, or whose supposition has ended.
    #[error("line {line} refers to line {to}, which does not hold there")]
    NoSuchLine {
        /// The line.
        line: usize,
        /// The line referred to.
        to: usize,
    },
    /// After a contradiction the supposition must end.
    #[error("line {line} follows a contradiction, but does not end its supposition")]
    AfterContradiction {
        /// The line.
        line: usize,
    },
    /// The last line does not state a contradiction, or is below a supposition.
    #[error("the lines do not end in a contradiction that holds without supposition")]
    NoContradiction,
}

/// The block of an operation in a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Block {
    /// The block of an update or of the initial value, that the operation wrote or read.
    Of(Source),
    /// No block, or an uncertain one.
    Unclear,
}

/// Checks that a refutation proves a history non-linearizable. O(number of lines), and the cost of
/// the possible sources of the named scans: O(n log n) for n operations, and for each entry the
/// number of updates of its value.
///
/// # Errors
/// The fault of the first wrong line.
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
        if let Rule::Block { segment, .. }
        | Rule::Source { segment }
        | Rule::Excluded { segment }
        | Rule::Unreadable { segment } = line.rule
            && segment.index() >= history.segments()
        {
            return Err(RefutationError::NoSuchSegment { line: number, segment });
        }
    }
    let entries = readable::readable(history, entries(history, refutation));
    let (lines, ended, open) = (&refutation.lines, Vec::new(), Vec::new());
    Checker { history, entries, supposed: SeededMap::default(), lines, ended, open }.run()
}

/// Returns the entries that lines may rest on.
fn entries<V>(history: &History<V>, refutation: &Refutation) -> impl Iterator<Item = Entry> {
    let segment_of = |id: OperationId| history.operation(id).segment();
    refutation.lines.iter().flat_map(move |line| {
        let (segment, because) = match line.rule {
            Rule::Block { segment, because } => (Some(segment), refutation.lines.get(because)),
            Rule::Source { segment }
            | Rule::Excluded { segment }
            | Rule::Unreadable { segment } => (Some(segment), None),
            Rule::Reads => (segment_of(line.before), None),
            Rule::First => (segment_of(line.after), None),
            _ => (None, None),
        };
        let named = [Some(line), because].into_iter().flatten();
        let named = named.flat_map(|line| [line.before, line.after]);
        segment.into_iter().flat_map(move |segment| named.clone().map(move |id| (id, segment)))
    })
}

impl Rule {
    /// Returns a one-word name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Reads => "reads",
            Self::First => "first",
            Self::Chain { .. } => "chain",
            Self::Block { .. } => "block",
            Self::Suppose => "suppose",
            Self::Otherwise => "otherwise",
            Self::Source { .. } => "source",
            Self::Excluded { .. } => "excluded",
            Self::Unreadable { .. } => "unreadable",
        }
    }
}

/// A supposition in force.
struct Open {
    line: usize,
    /// Sources excluded below the supposition.
    excluded: Vec<(Entry, Source)>,
}

struct Checker<'h, V> {
    history: &'h History<V>,
    /// Possible sources of entries, except the excluded ones.
    entries: SeededMap<Entry, Readable>,
    /// Supposed sources of entries.
    supposed: SeededMap<Entry, Source>,
    lines: &'h [Line],
    /// For each line so far, true if its innermost supposition has ended.
    ended: Vec<bool>,
    /// The suppositions, innermost last.
    open: Vec<Open>,
}

impl<V: Eq + Hash> Checker<'_, V> {
    fn run(mut self) -> Result<(), RefutationError> {
        let mut is_contradiction = false;
        for (number, line) in self.lines.iter().enumerate() {
            let is_end = matches!(line.rule, Rule::Otherwise | Rule::Excluded { .. });
            if is_contradiction && !is_end {
                return Err(RefutationError::AfterContradiction { line: number });
            }
            let follows = match line.rule {
                Rule::Otherwise | Rule::Excluded { .. } => is_contradiction && self.end(line),
                Rule::Source { segment } => self.suppose_source(line, segment),
                _ => self.follows(number, line)?,
            };
            if !follows {
                let rule = line.rule.name();
                return Err(RefutationError::DoesNotFollow { line: number, rule });
            }
            self.ended.push(false);
            if matches!(line.rule, Rule::Suppose | Rule::Source { .. }) {
                self.open.push(Open { line: number, excluded: Vec::new() });
            }
            is_contradiction = line.is_contradiction();
        }
        if is_contradiction && self.open.is_empty() {
            Ok(())
        } else {
            Err(RefutationError::NoContradiction)
        }
    }

    /// Ends the innermost supposition, if the line states its contrary.
    fn end(&mut self, line: &Line) -> bool {
        let Some(Open { line: number, excluded }) = self.open.pop() else { return false };
        self.ended[number..].fill(true);
        for (entry, source) in excluded {
            self.entries.entry(entry).or_default().sources.push(source);
        }
        let begin = &self.lines[number];
        match (begin.rule, line.rule) {
            (Rule::Suppose, Rule::Otherwise) => {
                (begin.before, begin.after) == (line.after, line.before)
            }
            (Rule::Source { segment }, Rule::Excluded { segment: same }) => {
                let entry = (line.after, segment);
                let Some(source) = self.supposed.remove(&entry) else { return false };
                self.entries.entry(entry).or_default().sources.retain(|other| *other != source);
                if let Some(outer) = self.open.last_mut() {
                    outer.excluded.push((entry, source));
                }
                segment == same && (begin.before, begin.after) == (line.before, line.after)
            }
            _ => false,
        }
    }

    /// Supposes a source of an entry. Returns false if the entry has no such source.
    fn suppose_source(&mut self, line: &Line, segment: Segment) -> bool {
        let entry = (line.after, segment);
        let is_initial = line.before == line.after;
        let source = if is_initial { Source::Initial } else { Source::Update(line.before) };
        let is_source =
            self.entries.get(&entry).is_some_and(|readable| readable.sources.contains(&source));
        is_source && self.supposed.insert(entry, source).is_none()
    }

    /// Returns a line above `line` that holds there and states the order of two operations.
    fn line(&self, line: usize, to: usize) -> Result<&Line, RefutationError> {
        match self.ended.get(to) {
            Some(false) if self.lines[to].is_order() => Ok(&self.lines[to]),
            _ => Err(RefutationError::NoSuchLine { line, to }),
        }
    }

    fn block(&self, id: OperationId, segment: Segment) -> Block {
        if let OperationKind::Update { segment: written } = self.history.operation(id).kind() {
            let is_there = written == segment;
            return if is_there { Block::Of(Source::Update(id)) } else { Block::Unclear };
        }
        if let Some(source) = self.supposed.get(&(id, segment)) {
            return Block::Of(*source);
        }
        let Some(readable) = self.entries.get(&(id, segment)) else { return Block::Unclear };
        match (&readable.sources[..], &readable.gone) {
            ([source], _) | ([], Some(source)) => Block::Of(*source),
            _ => Block::Unclear,
        }
    }

    fn follows(&self, number: usize, line: &Line) -> Result<bool, RefutationError> {
        let (before, after) =
            (self.history.operation(line.before), self.history.operation(line.after));
        Ok(match line.rule {
            Rule::Time => before.precedes(after),
            Rule::Reads => before.segment().is_some_and(|segment| {
                let source = Block::Of(Source::Update(line.before));
                after.is_scan() && self.block(line.after, segment) == source
            }),
            Rule::First => after.segment().is_some_and(|segment| {
                before.is_scan() && self.block(line.before, segment) == Block::Of(Source::Initial)
            }),
            Rule::Chain { first, second } => {
                let (first, second) = (self.line(number, first)?, self.line(number, second)?);
                first.after == second.before
                    && (first.before, second.after) == (line.before, line.after)
            }
            Rule::Block { segment, because } => {
                let because = self.line(number, because)?;
                let block = |id| self.block(id, segment);
                let (earlier, later) = (block(because.before), block(because.after));
                earlier != later
                    && earlier != Block::Unclear
                    && later != Block::Unclear
                    && (block(line.before), block(line.after)) == (earlier, later)
            }
            Rule::Suppose => {
                before.is_complete() && after.is_complete() && line.before != line.after
            }
            Rule::Unreadable { segment } => {
                let entry = (line.after, segment);
                let is_read = self.supposed.contains_key(&entry);
                let is_none = |readable: &Readable| readable.sources.is_empty();
                line.before == line.after
                    && !is_read
                    && self.entries.get(&entry).is_some_and(is_none)
            }
            Rule::Otherwise | Rule::Source { .. } | Rule::Excluded { .. } => false,
        })
    }
}
