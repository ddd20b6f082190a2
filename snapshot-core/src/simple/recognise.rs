//! From a recording to its simple history, if it is one.
//!
//! Three passes, each linear: the updates decide which segments switch and to
//! which value; if fewer than two do, the scans may name others (a segment that
//! never changed but was seen changed is the best choice for j: then Lemma 14
//! (2) has a segment to name); then every event becomes a letter.

use thiserror::Error;

use super::{Letter, SimpleHistory, Switching, Symbol};
use crate::history::{History, OperationKind, Outcome, Step};
use crate::{OperationId, Segment};

/// The reason why a history is not simple.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum NotSimple {
    /// Some scan returned only some of the segments.
    #[error("a scan returned some of the segments only; in a simple history all scans are full")]
    PartialScan,
    /// A segment receives a third value, or its initial value again.
    #[error(
        "update {update} gives segment {segment} a value other than its last; \
             in a simple history a segment changes once at most"
    )]
    SecondChange {
        /// The segment.
        segment: Segment,
        /// The first update that changes it again.
        update: OperationId,
    },
    /// A third segment changes.
    #[error(
        "update {update} changes segment {segment} after two others have changed; \
             in a simple history two segments change at most"
    )]
    ThirdSegment {
        /// The segment.
        segment: Segment,
        /// The first update that changes it.
        update: OperationId,
    },
    /// Two updates of one segment are not ordered: either both were open at the same time, or the
    /// outcome of `first` was lost, it may take effect after `second` and they write different
    /// values.
    #[error("updates {first} and {second} of segment {segment} overlap")]
    Overlapping {
        /// The segment.
        segment: Segment,
        /// The update invoked first.
        first: OperationId,
        /// The update invoked later.
        second: OperationId,
    },
}

/// The updates of one segment so far.
struct Track<'a, V> {
    /// The value other than the initial one that it received, if any.
    one: Option<&'a V>,
    /// The last update. All earlier ones ended before it was invoked.
    last: Option<OperationId>,
    /// An update to the initial value whose outcome was lost.
    lost_zero: Option<OperationId>,
}

/// The two segments, and the value that counts as 1 at each.
struct Choice<'a, V> {
    segments: Vec<(Segment, Option<&'a V>)>,
}

impl<'a, V: Eq> Choice<'a, V> {
    /// The segments that switch.
    fn of_updates(history: &'a History<V>) -> Result<Self, NotSimple> {
        let mut segments: Vec<(Segment, Option<&V>)> = Vec::new();
        let mut tracks: Vec<Track<'_, V>> = (0..history.segments())
            .map(|_| Track { one: None, last: None, lost_zero: None })
            .collect();
        for (id, update) in history.operation_ids().zip(history.operations()) {
            let OperationKind::Update { segment } = update.kind() else { continue };
            if update.is_failed() {
                continue;
            }
            let track = &mut tracks[segment.index()];
            let overlap = |first| NotSimple::Overlapping { segment, first, second: id };
            if let Some(last) = track.last.replace(id) {
                let ended = match history.operation(last).outcome() {
                    Outcome::Complete { response } => Some(response),
                    Outcome::Failed { event } | Outcome::Unknown { event } => Some(event),
                    Outcome::Pending => None,
                };
                if ended.is_none_or(|event| event > update.invocation()) {
                    return Err(overlap(last));
                }
            }
            let value = history.update_value(update);
            let is_zero = value == history.initial_value(segment);
            match track.one {
                None if is_zero => {
                    if matches!(update.outcome(), Outcome::Unknown { .. }) {
                        track.lost_zero.get_or_insert(id);
                    }
                }
                None => {
                    if let Some(lost) = track.lost_zero {
                        return Err(overlap(lost));
                    }
                    if segments.len() == 2 {
                        return Err(NotSimple::ThirdSegment { segment, update: id });
                    }
                    track.one = Some(value);
                    segments.push((segment, Some(value)));
                }
                Some(one) if one == value => {}
                Some(_) => return Err(NotSimple::SecondChange { segment, update: id }),
            }
        }
        Ok(Self { segments })
    }

    fn contains(&self, segment: Segment) -> bool {
        self.segments.iter().any(|(chosen, _)| *chosen == segment)
    }

    /// Adds, while fewer than two are chosen, segments that a scan saw changed though they never
    /// did.
    fn add_seen(&mut self, history: &'a History<V>) {
        for scan in history.operations().iter().filter(|o| o.is_scan() && o.is_complete()) {
            for (segment, value) in history.entries(scan) {
                if self.segments.len() == 2 {
                    return;
                }
                if value != history.initial_value(segment) && !self.contains(segment) {
                    self.segments.push((segment, Some(value)));
                }
            }
        }
    }

    /// Fills up to two with the lowest other segments.
    fn fill(&mut self, history: &History<V>) {
        for segment in (0..history.segments()).map(Segment::from_index) {
            if self.segments.len() < 2 && !self.contains(segment) {
                self.segments.push((segment, None));
            }
        }
        self.segments.sort_unstable_by_key(|(segment, _)| *segment);
    }

    fn switching(&self, segment: Segment) -> Option<Switching> {
        let index = self.segments.iter().position(|(chosen, _)| *chosen == segment)?;
        Some(Switching::BOTH[index])
    }

    /// The symbol of a scan's response.
    fn response(&self, history: &History<V>, entries: &[V]) -> Symbol {
        let mut at = [false; 2];
        for (index, value) in entries.iter().enumerate() {
            let segment = Segment::from_index(index);
            if value == history.initial_value(segment) {
                continue;
            }
            match self.switching(segment) {
                Some(l) if self.segments[l.index()].1 == Some(value) => at[l.index()] = true,
                _ => return Symbol::RespondForeign,
            }
        }
        Symbol::RespondScan { at_i: at[0], at_j: at[1] }
    }

    /// The symbol of an event; `None` if it has no letter.
    fn symbol(&self, history: &History<V>, step: Step) -> Option<Symbol> {
        let operation = history.operation(step.operation);
        if operation.is_failed() || (step.is_end && !operation.is_complete()) {
            return None;
        }
        let OperationKind::Update { segment } = operation.kind() else {
            return match (operation.is_complete(), step.is_end) {
                (false, _) => None,
                (true, false) => Some(Symbol::InvokeScan),
                (true, true) => Some(self.response(history, history.scan_values(operation))),
            };
        };
        let value = history.update_value(operation) != history.initial_value(segment);
        Some(match (self.switching(segment), step.is_end) {
            (None, false) => Symbol::InvokeOther,
            (None, true) => Symbol::RespondOther,
            (Some(segment), false) => Symbol::InvokeUpdate { segment, value },
            (Some(segment), true) => Symbol::RespondUpdate { segment, value },
        })
    }
}

impl SimpleHistory {
    /// Returns the simple history of a recording. O(size of the recording).
    ///
    /// If fewer than two segments switch, i and j are chosen first among the segments that a scan
    /// nevertheless saw changed, then from the lowest.
    ///
    /// An update whose outcome was lost stays pending forever. As long as all later updates of its
    /// segment write the same value, that is harmless: the segment switches at the first of them to
    /// take effect, at any time from the first invocation to the first response, exactly as if they
    /// were one operation. Else the updates are not ordered, and the history is refused.
    ///
    /// # Errors
    /// If the history is not (i, j)-simple for any i and j, or if updates of
    /// one segment are not ordered: see [`NotSimple`].
    pub fn recognise<V: Eq>(history: &History<V>) -> Result<Self, NotSimple> {
        if history.has_partial_scans() {
            return Err(NotSimple::PartialScan);
        }
        let mut choice = Choice::of_updates(history)?;
        choice.add_seen(history);
        choice.fill(history);
        let mut letters = Vec::with_capacity(history.len());
        let mut events = Vec::with_capacity(history.len());
        for (event, step) in history.steps().enumerate() {
            if let Some(symbol) = choice.symbol(history, step) {
                let process = history.operation(step.operation).process();
                letters.push(Letter::new(process, symbol));
                events.push(event as u32);
            }
        }
        let i = choice.segments[0].0;
        let j = choice.segments.get(1).map(|(segment, _)| *segment);
        Ok(Self::from_parts(history.processes(), (i, j), letters, events))
    }
}
