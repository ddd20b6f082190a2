//! Tree of histories: each is one event longer than its parent.

use rustc_hash::FxHashMap;
use snapshot_core::Process;
use snapshot_core::search::{Budget, Outcome, search_plainly};

use crate::interpret::{Event, OperationCall, Sequential, history};
use crate::object::{Judge, ObjectJudgeError};

/// Number of a history. Equal histories have equal numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct HistoryId(u32);

/// Interner of histories; each is judged once.
#[derive(Clone, Debug)]
pub(super) struct Histories<'s, 'p> {
    n: usize,
    /// Judge of the declared object; `None`: snapshots.
    object: Option<Judge<'s, 'p>>,
    /// Parent and last event of each history; the first is the empty history.
    nodes: Vec<Option<(HistoryId, Event)>>,
    children: FxHashMap<(HistoryId, Event), (HistoryId, bool)>,
    may_begin: FxHashMap<(HistoryId, Process, OperationCall), bool>,
    /// The first reason why a history of an object was not judged.
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

    /// Appends an event; also returns true if the longer history is linearizable.
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

    /// Returns the number as bytes.
    pub const fn key(id: HistoryId) -> [u8; 4] {
        id.0.to_le_bytes()
    }

    /// Returns the first reason why a history was not judged.
    pub const fn fault(&self) -> Option<&ObjectJudgeError> {
        self.fault.as_ref()
    }

    /// Returns true if a process may begin this operation of the object.
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

    /// Returns the events of a history.
    pub fn events(&self, mut at: HistoryId) -> Vec<&Event> {
        let mut events = Vec::new();
        while let Some((before, event)) = &self.nodes[at.0 as usize] {
            events.push(event);
            at = *before;
        }
        events.reverse();
        events
    }

    /// Returns the answer, or true if it is unknown; the reason is kept in [`Self::fault`].
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
