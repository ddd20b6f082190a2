//! Answers and their proofs.
//!
//! A verdict is never a bare yes or no. *Linearizable* comes with a linearization, *violation* with
//! the few operations that no order can satisfy, *unknown* with the budget that ran out.
//! [`crate::certificate`] can check each certificate, and shares no code with the search for it.

use std::fmt;

use thiserror::Error;

use crate::renaming::{Renaming, Unrenamable};
use crate::{History, OperationId, Segment};

/// The method that reached a verdict.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Method {
    /// The history is simple: the observer of its three automata decided.
    Simple,
    /// Every value read has one candidate: the linear-time conditions decided.
    Linear,
    /// Updates of one segment overlap: the saturated relation decided.
    Saturation,
    /// Values are ambiguous: exact search decided.
    Search,
    /// The search that knows an object only by its specification decided, on the caller's request.
    Generic,
    /// The three automata on all renamings decided, on the caller's request.
    Automata,
}

impl Method {
    /// Returns a one-word name: `simple`, `linear`, `saturation`, `search`, `generic` or
    /// `automata`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Linear => "linear",
            Self::Saturation => "saturation",
            Self::Search => "search",
            Self::Generic => "generic",
            Self::Automata => "automata",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The verdict on a history, with its proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// The history is linearizable, and this order shows it.
    Linearizable(Linearization),
    /// The history is not linearizable, and these operations show it.
    Violation(Witness),
    /// A budget ran out first.
    Unknown(Unknown),
    /// Two judges contradict each other, so neither is believed.
    Disputed(Dispute),
}

/// A fault of this crate: two judges that must agree on every history disagree. There is no answer
/// then; please report the history.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
#[error(
    "BUG in this program, please report it: {accepting} accepts the recording, and {refusing} \
         does not"
)]
pub struct Dispute {
    /// The judge that accepts the history.
    pub accepting: &'static str,
    /// The judge that finds a violation.
    pub refusing: &'static str,
}

impl Dispute {
    /// The observer of the three automata.
    pub const OBSERVER: &'static str = "the observer";
    /// The three automata on all renamings.
    pub const AUTOMATA: &'static str = "the union of the automata, on all renamings";
    /// The linear-time check of whole histories.
    pub const PASS: &'static str = "the linear-time check";
    /// The linear-time check event by event.
    pub const MONITOR: &'static str = "the monitor";
}

impl Verdict {
    /// Returns a one-word name: `linearizable`, `violation`, `unknown` or `disputed`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Linearizable(_) => "linearizable",
            Self::Violation(_) => "violation",
            Self::Unknown(_) => "unknown",
            Self::Disputed(_) => "disputed",
        }
    }
}

/// A sequential order of operations that explains a history.
///
/// It contains every complete operation and those pending updates that took
/// effect; it extends real-time precedence, and in it every scan returns, for
/// each segment, the value of the last update before it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Linearization {
    /// The operations, first to last.
    pub order: Vec<OperationId>,
}

/// A few operations of a history that have no linearization, for any choice of the other
/// operations.
///
/// Restricting a history to some of its segments, dropping scans, and dropping updates that none of
/// the remaining scans can have read turn linearizable histories into linearizable ones. So a
/// history is non-linearizable if its remainder after such steps is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Witness {
    /// The reason for a missing order.
    pub reason: Reason,
    /// The segments that matter, ascending. The other entries of the scans are
    /// not needed for the contradiction.
    pub segments: Vec<Segment>,
    /// The operations that matter, ascending: scans, and updates of `segments`.
    pub operations: Vec<OperationId>,
    /// The renaming that turns the history into a simple one that one of the
    /// three automata accepts; absent when the reason is [`Reason::NoOrder`].
    pub renaming: Option<Renaming>,
}

/// The reason why some operations have no linearization. "Update number b" counts a segment's
/// updates from 1; number 0 is its initial value.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Reason {
    /// Condition A: no update of `segment` ever wrote the value that `scan` returned.
    NeverWritten {
        /// The scan.
        scan: OperationId,
        /// The entry.
        segment: Segment,
    },
    /// Condition A: the only update that wrote the value that `scan` returned failed.
    FailedUpdateSeen {
        /// The scan.
        scan: OperationId,
        /// The failed update.
        update: OperationId,
    },
    /// Condition A: `update`, which wrote the value that `scan` returned, was invoked only after
    /// `scan` had responded.
    Future {
        /// The scan.
        scan: OperationId,
        /// The update.
        update: OperationId,
    },
    /// Condition B: `overwriting` had overwritten the value that `scan` returned for its segment
    /// before `scan` was invoked.
    Stale {
        /// The scan.
        scan: OperationId,
        /// The completed update whose value, or a later one, `scan` had to return.
        overwriting: OperationId,
    },
    /// Condition C: `earlier` responded before `later` was invoked, and saw a
    /// later update of `segment`.
    Decrease {
        /// The scan that saw more.
        earlier: OperationId,
        /// The scan that saw less.
        later: OperationId,
        /// The entry.
        segment: Segment,
    },
    /// Condition D: `first` saw more of segment `i`, `second` saw more of `j`.
    Inversion {
        /// The scan that is ahead at `i`.
        first: OperationId,
        /// The scan that is ahead at `j`.
        second: OperationId,
        /// The segment where `first` is ahead.
        i: Segment,
        /// The segment where `second` is ahead.
        j: Segment,
    },
    /// Condition E: `scan` saw `seen` but not `missing`, which had responded
    /// before `seen` was invoked.
    Missing {
        /// The scan.
        scan: OperationId,
        /// The update that it saw.
        seen: OperationId,
        /// The update that it should therefore have seen.
        missing: OperationId,
    },
    /// Each of the operations would have to come before itself, by a [`Refutation`].
    Cycle,
    /// Either order of two operations leads to a contradiction, by a [`Refutation`].
    Ordering,
    /// No order of these operations exists; established by exhaustive search.
    NoOrder,
}

impl Reason {
    /// Returns a short name, the same in reports, generated cases and tests.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NeverWritten { .. } => "never-written",
            Self::FailedUpdateSeen { .. } => "failed-update-seen",
            Self::Future { .. } => "future",
            Self::Stale { .. } => "stale",
            Self::Decrease { .. } => "decrease",
            Self::Inversion { .. } => "inversion",
            Self::Missing { .. } => "missing",
            Self::Cycle => "cycle",
            Self::Ordering => "ordering",
            Self::NoOrder => "no-order",
        }
    }
}

/// A derivation of a contradiction, line by line: if the history had a
/// linearization, the statement of each line would be true in it.
///
/// The *block* of an update consists of it and all scans that saw it; the block of an initial
/// value, of the scans that returned it. An entry determines its source only if no other update
/// could have been read there: by time, or because the others are excluded line by line.
/// [`crate::certificate::refutation`] checks each line in O(1).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Refutation {
    /// The lines. The last one states that an operation comes before itself, outside every
    /// supposition.
    pub lines: Vec<Line>,
}

/// `before` takes effect before `after`, because of `rule`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Line {
    /// The earlier operation.
    pub before: OperationId,
    /// The later operation.
    pub after: OperationId,
    /// The rule that justifies the line.
    pub rule: Rule,
}

/// The reason why one operation takes effect before another one. Lines are numbered from 0.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Rule {
    /// The first responded before the second was invoked.
    Time,
    /// The second, a scan, saw the first, an update.
    Reads,
    /// The first, a scan, returned the initial value of the segment that the
    /// second updates.
    First,
    /// From two lines: x before y, and y before z.
    Chain {
        /// The line that has `before`.
        first: usize,
        /// The line that has `after`.
        second: usize,
    },
    /// In `segment`, `before` is in the block of line `because`'s first operation, and `after` in
    /// the block of its second one, a different block. All of a block comes before all of the
    /// other, since a segment's values do not return.
    Block {
        /// The segment.
        segment: Segment,
        /// A line about one operation of each block.
        because: usize,
    },
    /// A supposition about two complete operations. It holds until a line states that an operation
    /// comes before itself; suppositions may be nested.
    Suppose,
    /// The supposition that has just led to a contradiction was the converse.
    Otherwise,
    /// A supposition about the second operation, a scan: it read its entry of the segment from the
    /// first operation, or found the initial value there if the first is the scan itself. It holds
    /// until a line states that an operation comes before itself.
    Source {
        /// The segment.
        segment: Segment,
    },
    /// That source has just led to a contradiction: the scan did not read it.
    Excluded {
        /// The segment.
        segment: Segment,
    },
    /// The scan, which is both operations, has no source in the segment: by time and the excluded
    /// sources, no update of its value was in the segment.
    Unreadable {
        /// The segment.
        segment: Segment,
    },
}

impl Line {
    /// Returns true if the line states that an operation comes before itself, which is impossible.
    pub const fn is_contradiction(&self) -> bool {
        self.before.index() == self.after.index() && self.is_order()
    }

    /// Returns the rule with other numbers for the lines that it refers to.
    pub(crate) fn renumbered(self, place: impl Fn(usize) -> usize) -> Self {
        let rule = match self.rule {
            Rule::Chain { first, second } => {
                Rule::Chain { first: place(first), second: place(second) }
            }
            Rule::Block { segment, because } => Rule::Block { segment, because: place(because) },
            other => other,
        };
        Self { rule, ..self }
    }

    /// Returns true if the line states the order of two operations.
    pub const fn is_order(&self) -> bool {
        !matches!(self.rule, Rule::Source { .. } | Rule::Excluded { .. })
    }
}

/// The reason for a missing answer, and the partial result.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unknown {
    /// The reason why a search was necessary.
    pub cause: Cause,
    /// The budget that ran out.
    pub exhausted: Exhausted,
    /// Number of states that the search visited.
    pub states: u64,
    /// The longest prefix, in events, known to be linearizable.
    pub linearizable_events: usize,
}

/// The property of a history that rules out the linear-time conditions, or a request of the caller.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Cause {
    /// A scan returned a value that more than one update may have written.
    AmbiguousValue {
        /// The scan.
        scan: OperationId,
        /// The entry.
        segment: Segment,
    },
    /// Two updates of one segment overlap: the history is multi-writer.
    OverlappingUpdates {
        /// The update invoked first.
        first: OperationId,
        /// The update invoked before `first` was over.
        second: OperationId,
    },
    /// A scan returned only some of the segments, and updates overlap or other scans returned its
    /// segments together with others.
    PartialScan {
        /// The scan.
        scan: OperationId,
    },
    /// The history cannot be renamed, and the caller asked for the automata.
    Unrenamable(Unrenamable),
    /// The caller asked for a search.
    Requested,
}

/// The exhausted budget of an exact search.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Exhausted {
    /// Time.
    Time,
    /// Memory for visited states.
    Memory,
}

/// The size of a history for reports.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Size {
    /// Number of operations.
    pub operations: u64,
    /// Number of processes.
    pub processes: usize,
    /// Number of segments.
    pub segments: usize,
    /// Number of operations that neither responded nor failed.
    pub pending: u64,
    /// Number of operations that certainly had no effect.
    pub failed: u64,
}

impl Size {
    /// Counts the size of a history. O(operations).
    pub fn new<V>(history: &History<V>) -> Self {
        let failed = history.operations().iter().filter(|operation| operation.is_failed());
        Self {
            operations: history.operations().len() as u64,
            processes: history.processes(),
            segments: history.segments(),
            pending: history.pending() as u64,
            failed: failed.count() as u64,
        }
    }
}
