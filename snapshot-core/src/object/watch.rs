//! An execution that is judged while it is being made.

use super::first::alarm;
use super::{Answer, Cost, ObjectKind};
use crate::OperationId;
use crate::generic::{History, HistoryBuilder, HistoryError, Online};
use crate::search::Budget;
use crate::synchronisation::Violation;

/// Events after which an execution is judged each time, where its object is judged again, and the
/// part of longer ones.
const OFTEN: usize = 64;
const PART: usize = 8;

/// Bytes with which an alarm is confirmed.
const CONFIRM: usize = 1 << 28;

/// The way of judging.
enum Way<'k, I, O, K> {
    /// By the judge of the kind, event by event.
    Online(Box<dyn Online<History<I, O>, K> + 'k>),
    /// As a whole, when it has this number of events.
    Again(usize),
    /// Not at all.
    Never,
}

/// An execution that is judged while it is being made, event by event if the kind has a judge for
/// that ([`ObjectKind::online`]), else again each time it has grown by an eighth; also where that
/// judge is partial. Kinds that only a search decides are not judged.
///
/// Operations that no later violation needs are forgotten; the others have their events and
/// order, and numbers without gaps. They have an order, from [`Self::object`] on, iff all have.
pub struct Watch<'k, K, I, O> {
    kind: &'k K,
    object: Option<K>,
    history: HistoryBuilder<I, O>,
    way: Way<'k, I, O, K>,
    /// The number of events at which an execution with a partial judge is judged again.
    due: usize,
    /// Settled operations that are kept, by their invocations.
    settled: Vec<usize>,
    /// The most of them that are kept, unless there are fewer than others.
    most_settled: usize,
    /// The most operations that were kept.
    most: usize,
    forgotten: u64,
    /// Per operation whether it was kept, the last time that some were forgotten.
    kept: Option<Vec<bool>>,
}

impl<'k, K, I, O> Watch<'k, K, I, O>
where
    K: ObjectKind<History = History<I, O>, Violation = Violation>,
{
    /// Creates the watch of an execution that is not judged, and kept as a whole.
    pub fn off(kind: &'k K) -> Self {
        Self {
            kind,
            object: None,
            history: History::builder(),
            way: Way::Never,
            due: 0,
            settled: Vec::new(),
            most_settled: usize::MAX,
            most: 0,
            forgotten: 0,
            kept: None,
        }
    }

    /// Creates the watch of an execution that is judged; up to `most_settled` operations are kept
    /// though they are settled, and as many as there are others.
    pub fn new(kind: &'k K, most_settled: usize) -> Self {
        let way = match kind.online() {
            Some(judge) => Way::Online(judge),
            None if K::COST == Cost::Search => Way::Never,
            None => Way::Again(0),
        };
        Self { way, most_settled, ..Self::off(kind) }
    }

    /// The execution so far, but for what was forgotten.
    pub const fn history(&self) -> &History<I, O> {
        self.history.so_far()
    }

    /// The object before the first operation that was not forgotten.
    pub fn object(&self) -> &K {
        self.object.as_ref().unwrap_or(self.kind)
    }

    /// The open operation of a process.
    pub fn open(&self, process: usize) -> Option<OperationId> {
        self.history.open(process)
    }

    /// Returns the execution, with the object if it is not as at first.
    pub fn finish(self) -> (History<I, O>, Option<K>) {
        (self.history.finish(), self.object)
    }

    /// Number of operations that were forgotten.
    pub const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// The most operations that were kept at once.
    pub fn most(&self) -> usize {
        self.most.max(self.history().operations().len())
    }

    /// True if it is judged event by event.
    pub fn is_online(&self) -> bool {
        matches!(&self.way, Way::Online(judge) if !judge.is_partial())
    }

    /// True if operations may be forgotten.
    pub const fn is_forgetting(&self) -> bool {
        matches!(self.way, Way::Online(_))
    }

    /// Returns, if operations were forgotten since the last call, which of them were kept.
    pub fn take_kept(&mut self) -> Option<Vec<bool>> {
        self.kept.take()
    }

    /// A process invokes an operation.
    ///
    /// # Errors
    /// As [`HistoryBuilder::invoke`].
    pub fn invoke(&mut self, process: usize, input: I) -> Result<OperationId, HistoryError> {
        let operation = self.history.invoke(process, input)?;
        if let Way::Online(judge) = &mut self.way {
            judge.invoked(self.history.so_far(), operation);
        }
        Ok(operation)
    }

    /// The open operation of a process responds.
    ///
    /// # Errors
    /// As [`HistoryBuilder::respond`].
    pub fn respond(&mut self, process: usize, output: O) -> Result<OperationId, HistoryError> {
        let operation = self.history.respond(process, output)?;
        self.ended(operation);
        Ok(operation)
    }

    /// The open operation of a process had no effect.
    ///
    /// # Errors
    /// As [`HistoryBuilder::fail`].
    pub fn fail(&mut self, process: usize) -> Result<OperationId, HistoryError> {
        let operation = self.history.fail(process)?;
        self.ended(operation);
        Ok(operation)
    }

    /// The outcome of the open operation of a process will never be known.
    ///
    /// # Errors
    /// As [`HistoryBuilder::unknown`].
    pub fn unknown(&mut self, process: usize) -> Result<OperationId, HistoryError> {
        let operation = self.history.unknown(process)?;
        self.ended(operation);
        Ok(operation)
    }

    fn ended(&mut self, operation: OperationId) {
        if let Way::Online(judge) = &mut self.way {
            judge.ended(self.history.so_far(), operation);
        }
    }

    /// Judges the execution after an event. Returns true at a violation: the whole judgement of what
    /// is kept finds it, too. Operations may be forgotten; then [`Self::take_kept`] returns which
    /// were not.
    pub fn is_violation(&mut self, proceed: &mut dyn FnMut() -> bool) -> bool {
        match &mut self.way {
            Way::Never => false,
            Way::Again(due) if self.history.so_far().len() < *due => false,
            Way::Again(due) => {
                *due = next_due(self.history.so_far());
                alarm(self.object(), self.history()).is_some()
            }
            Way::Online(judge) => {
                judge.take_settled(&mut self.settled);
                let is_violation = judge.is_violation();
                let is_lost = judge.beyond(self.history.so_far()).is_some();
                let operations = self.history.so_far().operations().len();
                let is_full =
                    self.settled.len() > self.most_settled && 2 * self.settled.len() > operations;
                let is_over = is_violation || is_lost;
                if judge.is_partial() {
                    let history = self.history.so_far();
                    if is_over || is_full || history.len() >= self.due {
                        self.due = next_due(history);
                        if alarm(self.object(), self.history()).is_some() {
                            return true;
                        }
                    }
                }
                // As long as nothing was forgotten, the whole is judged from now on.
                let is_due = if is_over { self.forgotten > 0 } else { is_full };
                if is_due {
                    self.forget();
                }
                if !is_over {
                    return false;
                }
                self.way = Way::Again(0);
                is_violation && self.is_confirmed(proceed)
            }
        }
    }

    fn is_confirmed(&self, proceed: &mut dyn FnMut() -> bool) -> bool {
        let mut budget = Budget { memory: CONFIRM, proceed };
        let judged = self.object().judge(self.history(), &mut budget);
        matches!(judged.answer, Answer::Violation(_))
    }

    /// Forgets the operations of an execution that is not judged, but for open ones. Returns which
    /// were kept.
    pub fn forget_ended(&mut self) -> Vec<bool> {
        self.history.retain(|_| false)
    }

    /// Ends the execution: if operations were forgotten, so are all others that are settled.
    pub fn end(&mut self) {
        if self.forgotten > 0 && self.is_online() {
            self.forget();
        }
    }

    /// Forgets all operations that are settled and have ended.
    fn forget(&mut self) {
        let Way::Online(judge) = &mut self.way else { return };
        judge.take_settled(&mut self.settled);
        self.most = self.most.max(self.history.so_far().operations().len());
        self.settled.sort_unstable();
        self.settled.dedup();
        let settled = &self.settled;
        let kept = self.history.retain(|invocation| settled.binary_search(&invocation).is_err());
        self.forgotten += kept.iter().filter(|is_kept| !**is_kept).count() as u64;
        let history = self.history.so_far();
        let is_left = |time: &usize| {
            history.operations().binary_search_by_key(time, |one| one.invocation).is_ok()
        };
        self.settled.retain(is_left);
        self.object = judge.object();
        self.kept = Some(kept);
    }
}

/// Returns the number of events at which an execution is judged again.
fn next_due<I, O>(history: &History<I, O>) -> usize {
    let events = 2 * history.operations().len();
    if events < OFTEN { 0 } else { history.len() + events / PART }
}
