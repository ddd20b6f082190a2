//! Answers, with what proves them.
//!
//! A verdict is never a bare yes or no. *Linearizable* comes with a
//! linearization, *violation* with the few operations that no order can
//! satisfy, *unknown* with what ran out. Each certificate can be checked by
//! [`crate::certificate`], which shares no code with the search for it.

use std::fmt;

use thiserror::Error;

use crate::renaming::{Renaming, Unrenamable};
use crate::{History, OperationId, Segment};

/// How a verdict was reached.
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
    /// The search that knows of no object but by its specification decided, since
    /// the caller asked for it.
    Generic,
    /// The three automata on all renamings decided, since the caller asked for them.
    Automata,
}

impl Method {
    /// A one-word name: `simple`, `linear`, `saturation`, `search`, `generic` or `automata`.
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

/// Whether a history is linearizable, with the proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// It is, and this order shows it.
    Linearizable(Linearization),
    /// It is not, and these operations show it.
    Violation(Witness),
    /// A budget ran out first.
    Unknown(Unknown),
    /// Two judges contradict each other, so neither is believed.
    Disputed(Dispute),
}

/// A fault of this crate: two judges that must agree on every history do not. There is no
/// answer then, and the history is worth a report.
#[derive(Clone, Copy, Debug, Eq, Error, Hash, PartialEq)]
#[error(
    "BUG in this program, please report it: {accepting} accepts the recording, and {refusing} \
         does not"
)]
pub struct Dispute {
    /// The judge that calls the history right.
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
    /// A one-word name: `linearizable`, `violation`, `unknown` or `disputed`.
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

/// A few operations of a history that have no linearization, whatever the
/// other operations did.
///
/// Restricting a history to some of its segments, dropping scans, and dropping
/// updates that none of the remaining scans can have read turn linearizable
/// histories into linearizable ones. So a history is non-linearizable if what
/// remains after such steps is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Witness {
    /// Why there is no order.
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

/// Why some operations have no linearization. "Update number b" counts a
/// segment's updates from 1; number 0 is its initial value.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Reason {
    /// Condition A: no update of `segment` ever wrote what `scan` returned.
    NeverWritten {
        /// The scan.
        scan: OperationId,
        /// The entry.
        segment: Segment,
    },
    /// Condition A: the only update that wrote what `scan` returned failed.
    FailedUpdateSeen {
        /// The scan.
        scan: OperationId,
        /// The failed update.
        update: OperationId,
    },
    /// Condition A: `update`, which wrote what `scan` returned, was invoked
    /// only after `scan` had responded.
    Future {
        /// The scan.
        scan: OperationId,
        /// The update.
        update: OperationId,
    },
    /// Condition B: what `scan` returned for the segment of `overwriting` had
    /// been overwritten by it before `scan` was invoked.
    Stale {
        /// The scan.
        scan: OperationId,
        /// The completed update whose value, or a later one, was due.
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
        /// Where `first` is ahead.
        i: Segment,
        /// Where `second` is ahead.
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
    /// The operations would have to come before themselves, by a [`Refutation`].
    Cycle,
    /// Either order of two operations leads to a contradiction, by a [`Refutation`].
    Ordering,
    /// No order of these operations exists; established by trying all.
    NoOrder,
}

impl Reason {
    /// A short name, the same in reports, generated cases and tests.
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
/// The *block* of an update consists of it and all scans that saw it; the block
/// of an initial value, of the scans that returned it. An entry tells which update it was
/// read from only if no other one could have been read there: by time, or because the
/// others are excluded line by line.
/// [`crate::certificate::refutation`] checks each line in O(1).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Refutation {
    /// The lines. The last one says that an operation comes before itself,
    /// outside all supposition.
    pub lines: Vec<Line>,
}

/// `before` takes effect before `after`, because of `rule`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Line {
    /// The earlier operation.
    pub before: OperationId,
    /// The later operation.
    pub after: OperationId,
    /// Why.
    pub rule: Rule,
}

/// Why one operation takes effect before another one. Lines are numbered from 0.
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
    /// In `segment`, `before` is in the block of line `because`'s first operation,
    /// and `after` in that of its second one, which is another block: all of a
    /// block comes before all of the other, since a segment's values do not return.
    Block {
        /// The segment.
        segment: Segment,
        /// A line about one operation of each block.
        because: usize,
    },
    /// Supposed of two complete operations, until a line says that an operation
    /// comes before itself; suppositions may be nested.
    Suppose,
    /// The supposition that has just led to a contradiction was the converse.
    Otherwise,
    /// Supposed of the second, a scan: that it read its entry of the segment from the
    /// first, or found the initial value there if the first is the scan itself; until a
    /// line says that an operation comes before itself.
    Source {
        /// The segment.
        segment: Segment,
    },
    /// That source has just led to a contradiction: the scan did not read it.
    Excluded {
        /// The segment.
        segment: Segment,
    },
    /// There is nothing that the scan, which is both operations, can have read in the
    /// segment: no update of the value that was there by time and is not excluded.
    Unreadable {
        /// The segment.
        segment: Segment,
    },
}

impl Line {
    /// Whether it says of an operation that it comes before itself, which none does.
    pub const fn is_contradiction(&self) -> bool {
        self.before.index() == self.after.index() && self.is_order()
    }

    /// The same, where the lines that it refers to have other numbers.
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

    /// Whether it says of two operations which comes first.
    pub const fn is_order(&self) -> bool {
        !matches!(self.rule, Rule::Source { .. } | Rule::Excluded { .. })
    }
}

/// Why there is no answer, and what is known all the same.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unknown {
    /// What made a search necessary.
    pub cause: Cause,
    /// The budget that ran out.
    pub exhausted: Exhausted,
    /// Number of states that the search visited.
    pub states: u64,
    /// The longest prefix, in events, known to be linearizable.
    pub linearizable_events: usize,
}

/// What the linear-time conditions cannot decide, or are not asked.
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
    /// A scan returned some of the segments only, and updates overlap or other scans
    /// returned its segments together with others.
    PartialScan {
        /// The scan.
        scan: OperationId,
    },
    /// The history cannot be renamed, and the caller asked for the automata.
    Unrenamable(Unrenamable),
    /// The caller asked for a search.
    Requested,
}

/// Which budget of an exact search ran out.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Exhausted {
    /// Time.
    Time,
    /// Memory for visited states.
    Memory,
}

/// How large a history is, as a report says it.
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
    /// The size of a history. O(operations).
    pub fn of<V>(history: &History<V>) -> Self {
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
