//! Histories as a tree: each is one event longer than its parent.

use rustc_hash::FxHashMap;
use snapshot_core::Process;
use snapshot_core::search::{Budget, Outcome, search_plainly};

use crate::interpret::{Event, OperationCall, Sequential, history};
use crate::object::{Judge, ObjectJudgeError};

/// A history, by number. Equal histories have equal numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct HistoryId(u32);

/// All histories that have occurred, each judged once.
#[derive(Clone, Debug)]
pub(super) struct Histories<'s, 'p> {
    n: usize,
    /// Of the object that the text declares; of snapshots if there is none.
    object: Option<Judge<'s, 'p>>,
    /// The parent and the last event; the first is the empty history.
    nodes: Vec<Option<(HistoryId, Event)>>,
    children: FxHashMap<(HistoryId, Event), (HistoryId, bool)>,
    may_begin: FxHashMap<(HistoryId, Process, OperationCall), bool>,
    /// Why a history of an object was not judged.
    fault: Option<ObjectJudgeError>,
}

impl<'s, 'p> Histories<'s, 'p> {
    pub fn new(n: usize, object: Option<&'s Sequential<'p>>) -> Self {
        let object = object.map(Judge::new);
        Self {
            n,
            object,
            nodes: vec![None],
            children: FxHashMap::default(),
            may_begin: FxHashMap::default(),
            fault: None,
        }
    }

    pub const fn empty() -> HistoryId {
        HistoryId(0)
    }

    pub const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// One event more, and whether that is linearizable.
    pub fn after(&mut self, before: HistoryId, event: Event) -> (HistoryId, bool) {
        if let Some(known) = self.children.get(&(before, event.clone())) {
            return *known;
        }
        let id = HistoryId(self.nodes.len() as u32);
        self.nodes.push(Some((before, event.clone())));
        let judged = (id, self.is_linearizable(id));
        self.children.insert((before, event), judged);
        judged
    }

    /// The number, as bytes.
    pub const fn key(id: HistoryId) -> [u8; 4] {
        id.0.to_le_bytes()
    }

    /// Why a history was not judged, if one was not.
    pub const fn fault(&self) -> Option<&ObjectJudgeError> {
        self.fault.as_ref()
    }

    /// Whether a process may begin an operation of the object.
    pub fn may_begin(&mut self, at: HistoryId, process: Process, call: OperationCall) -> bool {
        if let Some(known) = self.may_begin.get(&(at, process, call)) {
            return *known;
        }
        let events = self.events(at);
        let may = self.object.as_ref().map(|judge| judge.may_begin(&events, process, call));
        let may = self.decided(may.unwrap_or(Ok(false)));
        self.may_begin.insert((at, process, call), may);
        may
    }

    fn events(&self, mut at: HistoryId) -> Vec<&Event> {
        let mut events = Vec::new();
        while let Some((before, event)) = &self.nodes[at.0 as usize] {
            events.push(event);
            at = *before;
        }
        events.reverse();
        events
    }

    /// True where it is not known: what is wrong is in [`Self::fault`].
    fn decided(&mut self, answer: Result<bool, ObjectJudgeError>) -> bool {
        answer.unwrap_or_else(|fault| {
            self.fault.get_or_insert(fault);
            true
        })
    }

    fn is_linearizable(&mut self, id: HistoryId) -> bool {
        let events = self.events(id);
        if let Some(judge) = &self.object {
            let answer = judge.is_linearizable(&events);
            return self.decided(answer);
        }
        let history = history(self.n, events);
        let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
        match search_plainly(&history, &mut budget) {
            Outcome::Linearizable(_) => true,
            Outcome::NotLinearizable { .. } => false,
            Outcome::Exhausted { .. } => unreachable!("an unlimited search ends"),
        }
    }
}
