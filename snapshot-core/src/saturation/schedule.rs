//! From the saturated relation of partial scans to a linearization, by search.
//!
//! **Lemma.** Let the saturated relation be acyclic, and order any two blocks of one
//! segment of which one has a complete scan. Then any order that extends it is a
//! linearization: let scan S be in the block of w, and u another update of the segment.
//! Either w's block comes before u's, so S before u, or u before w. So w is the last
//! update before S. It does not matter whether scans are full.
//!
//! So the search decides pairs of blocks of one segment, and only conflicting ones: operations are
//! *scheduled* one after the other, each as soon as all its predecessors have been, an update only
//! when all readers of the value that it replaces have been. If nothing can be scheduled, some
//! update u waits for a reader R of another block, and their order is undetermined: suppose that R
//! comes first ([`super::trail`]). The supposition may contradict the schedule, which is then taken
//! back as far as necessary. With full scans, with one writer per segment, and with reads of one
//! segment each, no supposition ever fails (the theorem of `docs/many-writers.md`); else the
//! problem is NP-complete, so there is a budget.
//!
//! A scheduled operation's predecessors are scheduled before it, so the scheduled operations of a
//! chain are a prefix of it, and an operation can be scheduled if its clock permits it for each
//! chain.

use super::relation::{Kind, NONE, Relation};
use super::trail::{Effort, Step, Trail};
use super::{PERIOD, id};
use crate::search::Budget;
use crate::verdict::{Exhausted, Linearization, Refutation};

/// The reason for a missing linearization.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// The history is not linearizable, by this proof.
    Refuted(Refutation),
    /// A budget ran out.
    Exhausted(Exhausted),
}

/// Orders all operations that took effect. The relation is saturated and acyclic; only suppositions
/// are added to it.
pub(super) fn linearize(
    relation: &mut Relation,
    budget: &mut Budget<'_>,
) -> (Result<Linearization, Failure>, Effort) {
    relation.is_thorough = true;
    let mut trail = Trail::default();
    let result = Schedule::new(relation).run(relation, &mut trail, budget);
    (result, trail.effort)
}

/// The place of an operation that is not scheduled.
const NOT_YET: u32 = u32::MAX;

/// The readiness of an operation to be scheduled.
#[derive(Clone, Copy, Debug)]
enum Readiness {
    Unknown,
    Ready,
    /// The operation of this chain with this number comes first.
    Waits(u32, u32),
}

struct Schedule {
    /// The operations that took effect, per chain, with their numbers.
    chains: Vec<Vec<(u32, u32)>>,
    /// For each chain, the number of scheduled operations.
    next: Vec<usize>,
    readiness: Vec<Readiness>,
    order: Vec<u32>,
    /// For each update in `order`, the block that it replaced; [`NONE`] for a scan.
    replaced: Vec<u32>,
    place: Vec<u32>,
    /// The current block of each segment.
    held: Vec<u32>,
    /// Blocks with their complete scans, ascending.
    readers: Vec<(u32, u32)>,
    /// For each block, of its complete scans: the number not scheduled yet, and the earliest
    /// response.
    unread: Vec<u32>,
    due: Vec<u32>,
    count: usize,
}

impl Schedule {
    fn new(relation: &Relation) -> Self {
        let mut schedule = Self {
            chains: vec![Vec::new(); relation.chains().len()],
            next: vec![0; relation.chains().len()],
            readiness: vec![Readiness::Unknown; relation.chains().len()],
            order: Vec::new(),
            replaced: Vec::new(),
            place: vec![NOT_YET; relation.operations().len()],
            held: relation.initial_blocks().to_vec(),
            readers: Vec::new(),
            unread: vec![0; relation.blocks()],
            due: vec![NONE; relation.blocks()],
            count: 0,
        };
        for (number, operation) in (0..).zip(relation.operations()) {
            let is_complete = operation.response != NONE;
            let has_effect = match operation.kind {
                Kind::Update { block } => is_complete || relation.block(block).seen_by != NONE,
                Kind::Scan { .. } => is_complete,
            };
            if !has_effect {
                continue;
            }
            schedule.count += 1;
            if operation.chain != NONE {
                schedule.chains[operation.chain as usize].push((number, operation.number));
            }
            for &block in relation.entries(operation).iter().filter(|block| **block != NONE) {
                schedule.readers.push((block, number));
                schedule.unread[block as usize] += 1;
                let due = &mut schedule.due[block as usize];
                *due = (*due).min(operation.response);
            }
        }
        schedule.readers.sort_unstable();
        schedule
    }

    fn run(
        mut self,
        relation: &mut Relation,
        trail: &mut Trail,
        budget: &mut Budget<'_>,
    ) -> Result<Linearization, Failure> {
        let mut steps = 0_usize;
        while self.order.len() < self.count {
            steps += 1;
            if steps.is_multiple_of(PERIOD) {
                if !(budget.proceed)() {
                    return Err(Failure::Exhausted(Exhausted::Time));
                }
                if relation.bytes() + trail.bytes > budget.memory {
                    return Err(Failure::Exhausted(Exhausted::Memory));
                }
            }
            let blocked = match self.choose(relation) {
                Ok(operation) => {
                    self.schedule(relation, operation);
                    continue;
                }
                Err(blocked) => blocked,
            };
            let Some((reader, update)) = blocked else {
                debug_assert!(false, "an acyclic relation has a minimal operation");
                return Err(Failure::Exhausted(Exhausted::Memory));
            };
            let scheduled = self.order.len();
            match trail.suppose(relation, reader, update) {
                Step::Holds => self.take_back(relation, &trail.risen),
                Step::Learned => {
                    let all = self.order.clone();
                    self.readiness.fill(Readiness::Unknown);
                    self.take_back(relation, &all);
                }
                Step::Refuted => {
                    let proof = trail.refutation();
                    return Err(proof.map_or(Failure::Exhausted(Exhausted::Memory), |proof| {
                        Failure::Refuted(proof)
                    }));
                }
            }
            trail.effort.taken_back += (scheduled - self.order.len()) as u64;
        }
        Ok(Linearization { order: self.order.into_iter().map(id).collect() })
    }

    /// Returns the operation to be scheduled next. If there is none, returns a scan that has to
    /// wait and the operation that must follow it (`pair`), if any.
    fn choose(&mut self, relation: &Relation) -> Result<u32, Option<(u32, u32)>> {
        let mut best: Option<(u32, u32)> = None;
        let mut blocked: Option<(u32, u32)> = None;
        for chain in 0..self.chains.len() {
            let Some(&(operation, _)) = self.chains[chain].get(self.next[chain]) else { continue };
            if !self.is_ready(relation, chain, operation) {
                continue;
            }
            let off_chain = self.unscheduled_source(relation, operation);
            let operation = match (relation.operation(operation).kind, off_chain) {
                (Kind::Scan { .. }, None) => return Ok(operation),
                (Kind::Scan { .. }, Some(update)) => update,
                (Kind::Update { .. }, _) => operation,
            };
            let Kind::Update { block } = relation.operation(operation).kind else { continue };
            let segment = relation.block(block).segment;
            // A value with waiting readers comes first, the one with the earliest response.
            let key = self.due[block as usize];
            let list = match self.unread[self.held[segment as usize] as usize] {
                // A value that no unscheduled scan needs is replaced immediately by one without
                // readers.
                0 if self.unread[block as usize] == 0 => return Ok(operation),
                0 => &mut best,
                _ => &mut blocked,
            };
            if list.is_none_or(|(least, _)| key < least) {
                *list = Some((key, operation));
            }
        }
        match (best, blocked) {
            (Some((_, operation)), _) => Ok(operation),
            (None, None) => Err(None),
            (None, Some((_, update))) => Err(self.pair(relation, update)),
        }
    }

    /// Returns a scan that has to see the value that an update would replace, and a complete
    /// operation of the update's block.
    fn pair(&self, relation: &Relation, update: u32) -> Option<(u32, u32)> {
        let Kind::Update { block } = relation.operation(update).kind else { return None };
        let segment = relation.block(block).segment;
        let held = self.held[segment as usize];
        let first = self.readers.partition_point(|(of, _)| *of < held);
        let readers = self.readers[first..].iter().take_while(|(of, _)| *of == held);
        let (_, reader) =
            *readers.into_iter().find(|(_, scan)| self.place[*scan as usize] == NOT_YET)?;
        let is_complete = relation.operation(update).response != NONE;
        let of_block = if is_complete { update } else { relation.block(block).seen_by };
        Some((reader, of_block))
    }

    /// Returns an unscheduled update on no chain that a scan saw.
    fn unscheduled_source(&self, relation: &Relation, scan: u32) -> Option<u32> {
        let entries = relation.entries(relation.operation(scan)).iter();
        let updates = entries.filter(|block| **block != NONE).map(|b| relation.block(*b).update);
        let mut off_chain = updates.filter(|update| {
            *update != NONE
                && relation.operation(*update).chain == NONE
                && self.place[*update as usize] == NOT_YET
        });
        off_chain.next()
    }

    fn is_ready(&mut self, relation: &Relation, chain: usize, operation: u32) -> bool {
        let next_number = |chain: u32| {
            let chain = chain as usize;
            self.chains[chain].get(self.next[chain]).map_or(NONE, |(_, number)| *number)
        };
        match self.readiness[chain] {
            Readiness::Ready => return true,
            Readiness::Waits(other, number) if next_number(other) <= number => return false,
            _ => {}
        }
        let clock = (0..).zip(relation.clock(operation));
        let first = clock.into_iter().find(|(other, number)| next_number(*other) <= **number);
        self.readiness[chain] =
            first.map_or(Readiness::Ready, |(other, number)| Readiness::Waits(other, *number));
        first.is_none()
    }

    fn schedule(&mut self, relation: &Relation, number: u32) {
        let operation = relation.operation(number);
        self.place[number as usize] = self.order.len() as u32;
        self.order.push(number);
        self.replaced.push(match operation.kind {
            Kind::Update { block } => {
                let segment = relation.block(block).segment as usize;
                std::mem::replace(&mut self.held[segment], block)
            }
            Kind::Scan { .. } => NONE,
        });
        for (segment, &block) in relation.entries(operation).iter().enumerate() {
            if block != NONE {
                debug_assert_eq!(self.held[segment], block, "it is replaced by none before");
                self.unread[block as usize] -= 1;
            }
        }
        if operation.chain != NONE {
            self.next[operation.chain as usize] += 1;
            self.readiness[operation.chain as usize] = Readiness::Unknown;
        }
    }

    /// Takes back the schedule from the first operation that now has a predecessor scheduled after
    /// it, or not at all. Only `risen` can be such operations.
    fn take_back(&mut self, relation: &Relation, risen: &[u32]) {
        let mut length = self.order.len();
        for &operation in risen {
            let place = self.place[operation as usize];
            let chain = relation.operation(operation).chain;
            if place == NOT_YET {
                if chain != NONE {
                    self.readiness[chain as usize] = Readiness::Unknown;
                }
                continue;
            }
            let is_early = (place as usize) < length
                && (0..).zip(relation.clock(operation)).any(|(chain, number)| {
                    let before = &self.chains[chain as usize];
                    let end = before.partition_point(|(_, other)| other <= number);
                    let last = before[..end].last();
                    last.is_some_and(|(other, _)| self.place[*other as usize] >= place)
                });
            if is_early {
                length = place as usize;
            }
        }
        if length < self.order.len() {
            self.readiness.fill(Readiness::Unknown);
        }
        for at in (length..self.order.len()).rev() {
            let number = self.order[at];
            self.place[number as usize] = NOT_YET;
            let operation = relation.operation(number);
            if let Kind::Update { block } = operation.kind {
                self.held[relation.block(block).segment as usize] = self.replaced[at];
            }
            for &block in relation.entries(operation).iter().filter(|block| **block != NONE) {
                self.unread[block as usize] += 1;
            }
            if operation.chain != NONE {
                self.next[operation.chain as usize] -= 1;
            }
        }
        self.order.truncate(length);
        self.replaced.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::History;
    use crate::certificate::linearization;
    use crate::history::{Declaration, Writers};
    use crate::saturation::Saturation;
    use crate::search;

    /// Updates 1 and 2 of each of 3 segments and these scans, all concurrent.
    fn concurrent(scans: &[Vec<(usize, i64)>]) -> History<i64> {
        let declaration = Declaration::new(0).with_segments(3).with_writers(Writers::Many);
        let mut history = History::builder(declaration).unwrap();
        for process in 0..6 {
            history.invoke_update(process, process % 3, 1 + process as i64 / 3).unwrap();
        }
        (0..scans.len()).for_each(|scan| history.invoke_scan(6 + scan).unwrap());
        for (scan, entries) in scans.iter().enumerate() {
            history.respond_partial_scan(6 + scan, entries).unwrap();
        }
        (0..6).for_each(|process| history.respond_update(process).unwrap());
        history.finish()
    }

    /// Returns whether the history is linearizable, and the effort; the linearization must be one.
    fn linearized(history: &History<i64>) -> (bool, Effort) {
        let mut saturation = Saturation::of_prefix(history, history.len());
        if saturation.conflict.is_some() {
            return (false, Effort::default());
        }
        let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
        let (result, effort) = linearize(&mut saturation.relation, &mut budget);
        match result {
            Ok(order) => linearization::check(history, &order).unwrap(),
            Err(Failure::Refuted(_)) => return (false, effort),
            Err(failure) => panic!("{failure:?}"),
        }
        (true, effort)
    }

    /// The smallest case known in which a choice has to be taken back.
    fn least() -> Vec<Vec<(usize, i64)>> {
        let scans = [
            [(1, 1), (2, 1)],
            [(0, 1), (2, 2)],
            [(0, 2), (1, 2)],
            [(0, 2), (1, 1)],
            [(1, 2), (2, 1)],
        ];
        scans.map(Vec::from).to_vec()
    }

    #[test]
    fn a_choice_is_taken_back() {
        let (found, effort) = linearized(&concurrent(&least()));
        assert!(found && effort.failed > 0 && effort.taken_back > 0, "{found} {effort:?}");
    }

    /// The smallest case with further scans, against the exact search.
    #[test]
    fn choices_are_taken_back_in_linearizable_histories() {
        let mut runner = TestRunner::deterministic();
        let scan = prop::collection::vec((0..3_usize, 1..3_i64), 1..4);
        let strategy = prop::collection::vec(scan, 0..5);
        let (mut linearizable, mut after_failure, mut taken_back) = (0, 0, 0);
        for _ in 0..1_000 {
            let mut scans = strategy.new_tree(&mut runner).expect("no rejection").current();
            for scan in &mut scans {
                scan.sort_unstable();
                scan.dedup_by_key(|entry| entry.0);
            }
            let history = concurrent(&[least(), scans].concat());
            let (found, effort) = linearized(&history);
            let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
            let searched = search::search(&history, &mut budget);
            assert_eq!(found, matches!(searched, search::Outcome::Linearizable(_)));
            linearizable += u64::from(found);
            after_failure += u64::from(found && effort.failed > 0);
            taken_back += u64::from(found && effort.taken_back > 0);
        }
        assert!(linearizable >= 800, "{linearizable}");
        assert!(after_failure >= 500 && taken_back >= 700, "{after_failure} {taken_back}");
    }
}
