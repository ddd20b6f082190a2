//! Histories as a tree: each is one event longer than its parent.

use rustc_hash::FxHashMap;
use snapshot_core::search::{Budget, Outcome, search_plainly};

use crate::interpret::{Event, history};

/// A history, by number. Equal histories have equal numbers.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct HistoryId(u32);

/// All histories that have occurred, each judged once.
#[derive(Clone, Debug)]
pub(super) struct Histories {
    n: usize,
    /// The parent and the last event; the first is the empty history.
    nodes: Vec<Option<(HistoryId, Event)>>,
    children: FxHashMap<(HistoryId, Event), (HistoryId, bool)>,
}

impl Histories {
    pub fn new(n: usize) -> Self {
        Self { n, nodes: vec![None], children: FxHashMap::default() }
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

    fn is_linearizable(&self, id: HistoryId) -> bool {
        let mut events = Vec::new();
        let mut at = id;
        while let Some((before, event)) = &self.nodes[at.0 as usize] {
            events.push(event);
            at = *before;
        }
        let history = history(self.n, events.into_iter().rev());
        let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
        match search_plainly(&history, &mut budget) {
            Outcome::Linearizable(_) => true,
            Outcome::NotLinearizable { .. } => false,
            Outcome::Exhausted { .. } => unreachable!("an unlimited search ends"),
        }
    }
}
