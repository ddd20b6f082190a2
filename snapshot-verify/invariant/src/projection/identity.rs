//! Executions that no later view tells apart: a search visits one of them.
//!
//! Versions and, where views are tokens, values count up to their names, times by their order. A vector that
//! a ghost scan has returned is forgotten once one of its values is nowhere.

use snapshot_core::Process;
use snapshot_language::program::SharedId;
use snapshot_semantics::interpret::Data;

use super::execution::{Execution, Returned};

impl Execution<'_> {
    /// Returns the least value that occurs nowhere.
    pub(super) fn new_value(&self) -> u32 {
        let (_, known) = self.state.key_up_to_values();
        (1..).find(|value| !known.contains(value)).unwrap_or_default()
    }

    /// Forgets returned vectors that no view can hold any more, and those that later ones stand for.
    pub(super) fn forget(&mut self) {
        if self.returned.is_empty() {
            return;
        }
        let (_, known) = self.state.key_up_to_values();
        let mut all = std::mem::take(&mut self.returned);
        all.retain(|one| values(&one.vector).iter().all(|value| known.contains(value)));
        all.sort_by_key(|one| std::cmp::Reverse(one.opened));
        for one in all {
            let same = |other: &&Returned| other.vector == one.vector;
            let mut before = self.returned.iter().filter(same).peekable();
            let is_latest = before.peek().is_none();
            let is_mine = self.is_of_open_operation(&one);
            if is_latest || is_mine && before.all(|other| other.by != one.by) {
                self.returned.push(one);
            }
        }
    }

    fn is_of_open_operation(&self, one: &Returned) -> bool {
        let (process, operation) = one.by;
        self.doing.get(process).is_some_and(|doing| doing.operations == operation)
    }

    /// Returns bytes that are equal for executions with the same views now and later.
    pub(super) fn key(&self) -> Vec<u8> {
        let (mut key, known) = match self.has_tokens() {
            true => self.state.key_up_to_values(),
            false => (self.state.key(), Vec::new()),
        };
        let times = self.times();
        let rank = |time: u64| times.partition_point(|one| *one < time) as u8;
        for (process, doing) in self.doing.iter().enumerate() {
            key.extend([doing.operation, u8::from(doing.switched), u8::from(doing.acted)]);
            key.push(rank(doing.latest));
            match &doing.ghost {
                None => key.push(0),
                Some(ghost) => {
                    let bits = ghost.bits.map_or(0, |bits| bits + 1);
                    key.extend([1 + ghost.depth as u8, rank(ghost.opened), bits]);
                }
            }
            if self.is_hidden(process) {
                let now = self.machine.private(&self.state, Process::from_index(process));
                key.push(u8::from(doing.before.1));
                if now != doing.before.0.as_slice() {
                    key.extend(format!("{:?}", doing.before.0).bytes());
                }
                key.push(0);
            }
        }
        key.push(self.signer.map_or(0, |process| 1 + process as u8));
        key.push(self.round.map_or(0, |round| 1 + rank(round)));
        for history in &self.histories {
            key.extend([history.specification, history.round.map_or(0, |bits| 1 + bits)]);
            key.extend(
                [&history.invoked, &history.early]
                    .map(|set| set.iter().fold(0, |bits, process| bits | 1_u8 << (process % 8))),
            );
        }
        self.key_of_links(&mut key);
        let mut returned: Vec<Vec<u8>> = Vec::new();
        for one in &self.returned {
            let name = |value: &u32| known.iter().position(|known| known == value);
            let vector = values(&one.vector);
            let mut bytes: Vec<u8> =
                vector.iter().map(|value| name(value).map_or(0, |at| 1 + at as u8)).collect();
            let by = if self.is_of_open_operation(one) { one.by.0 as u8 } else { u8::MAX };
            bytes.extend([rank(one.opened), by]);
            returned.push(bytes);
        }
        returned.sort_unstable();
        key.extend(returned.concat());
        key
    }

    fn key_of_links(&self, key: &mut Vec<u8>) {
        let mut linked: Vec<(&(usize, SharedId), &Vec<i64>)> = self.linked.iter().collect();
        linked.sort_unstable();
        for ((process, variable), indices) in linked {
            key.extend([*process as u8, variable.0 as u8]);
            key.extend(indices.iter().map(|index| *index as u8));
        }
        key.push(u8::MAX);
        let lost = self.lost.iter();
        key.extend(lost.flat_map(|(process, variable)| [*process as u8, variable.0 as u8]));
        key.push(u8::MAX);
    }

    /// Returns all times of the past that views compare, in order.
    fn times(&self) -> Vec<u64> {
        let ghosts = self.doing.iter().filter_map(|doing| Some(doing.ghost.as_ref()?.opened));
        let latest = self.doing.iter().map(|doing| doing.latest);
        let returned = self.returned.iter().map(|one| one.opened);
        let mut times: Vec<u64> = ghosts.chain(latest).chain(returned).chain(self.round).collect();
        times.sort_unstable();
        times.dedup();
        times
    }
}

/// Returns the values of a vector.
fn values(vector: &Data) -> Vec<u32> {
    match vector {
        Data::Value(value) => vec![*value],
        Data::Parts(parts) => parts.iter().flat_map(values).collect(),
        _ => Vec::new(),
    }
}
