//! From a saturated relation to a linearization.
//!
//! **Lemma.** If the saturated relation is acyclic and orders any two complete scans, the history
//! is linearizable: take the scans in order; before each, take its predecessors that have not been
//! taken, in any order that respects the relation; at the end, the complete updates left over. Let
//! scan R be in the block of update w, which has been taken then, and suppose that another update u
//! of the segment was taken after w and before R. Then u < B for some scan B that is R or comes
//! before R; so u < R, so by the rule *block* u < w, a contradiction.
//!
//! **Ordering the scans.** A scan that can come first among the remaining ones is put before each
//! other one that can come next, and the relation is saturated again; if that makes a cycle, the
//! order must be the converse. Where scans are full this needs no backtracking
//! (`docs/many-writers.md`).
//!
//! Clocks give the rest: the predecessors of a scan are the operations in its clock, and the sum of
//! a clock's entries grows strictly along the relation (except from an update that is on no chain
//! to the scan that carries it, where the update goes first).

use super::relation::{Kind, NONE, Relation};
use super::{PERIOD, id};
use crate::history::History;
use crate::search::Budget;
use crate::verdict::{Exhausted, Linearization};

/// The reason for a missing linearization.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// Two scans can be ordered in neither way.
    NoOrder,
    Exhausted(Exhausted),
}

/// Orders all scans and then all operations.
pub(super) fn linearize<V>(
    history: &History<V>,
    relation: &mut Relation,
    budget: &mut Budget<'_>,
) -> Result<Linearization, Failure> {
    let scans = order_scans(relation, budget)?;
    Ok(Linearization { order: Emission::new(history, relation).run(&scans) })
}

/// Returns true if an order of all scans exists, as far as the budget allows to decide; changes
/// nothing.
pub(super) fn has_order(relation: &mut Relation, budget: &mut Budget<'_>) -> Option<bool> {
    relation.begin_trial();
    let order = order_scans(relation, budget);
    relation.undo_trial();
    match order {
        Ok(_) => Some(true),
        Err(Failure::NoOrder) => Some(false),
        Err(Failure::Exhausted(_)) => None,
    }
}

fn order_scans(relation: &mut Relation, budget: &mut Budget<'_>) -> Result<Vec<u32>, Failure> {
    let chains = relation.chains().len() as u32;
    let mut next = vec![0; chains as usize];
    let mut order = Vec::new();
    loop {
        let front = |chain: u32| relation.chains().scans(chain).get(next[chain as usize]);
        let fronts: Vec<(u32, u32)> =
            (0..chains).filter_map(|chain| Some((front(chain)?.1, chain))).collect();
        // A predecessor of a scan has a smaller clock.
        let weight = |scan: u32| relation.clock(scan).iter().map(|n| u64::from(*n)).sum::<u64>();
        let Some(&first) = fronts.iter().min_by_key(|(scan, _)| weight(*scan)) else {
            return Ok(order);
        };
        let first = put_first(relation, &fronts, first)?;
        order.push(first.0);
        next[first.1 as usize] += 1;
        if order.len() % PERIOD == 0 {
            if !(budget.proceed)() {
                return Err(Failure::Exhausted(Exhausted::Time));
            }
            if relation.bytes() > budget.memory {
                return Err(Failure::Exhausted(Exhausted::Memory));
            }
        }
    }
}

/// Puts a scan before all other fronts, or another one that turns out to be first.
///
/// One pass is enough: a front that replaces the first one comes before it, so before all fronts
/// that the first one was put before.
fn put_first(
    relation: &mut Relation,
    fronts: &[(u32, u32)],
    mut first: (u32, u32),
) -> Result<(u32, u32), Failure> {
    for &other in fronts {
        if other == first
            || relation.is_before(first.0, other.0)
            || relation.try_order(first.0, other.0)
        {
            continue;
        }
        if relation.order(other.0, first.0).is_err() {
            return Err(Failure::NoOrder);
        }
        first = other;
    }
    debug_assert!(
        fronts.iter().all(|other| *other == first || relation.is_before(first.0, other.0)),
        "the first comes before all others"
    );
    Ok(first)
}

struct Emission<'r> {
    relation: &'r Relation,
    /// For each operation, true if it has no place in the order.
    is_out: Vec<bool>,
    /// The operations of each chain, and the number of them taken.
    chains: Vec<(Vec<u32>, usize)>,
    weights: Vec<u64>,
    order: Vec<u32>,
}

impl<'r> Emission<'r> {
    fn new<V>(history: &History<V>, relation: &'r Relation) -> Self {
        let count = relation.operations().len();
        let mut chains = vec![(Vec::new(), 0); relation.chains().len()];
        let mut is_out = vec![false; count];
        let mut weights = vec![0; count];
        for (number, operation) in (0..).zip(relation.operations()) {
            let is_complete = history.operation(id(number)).is_complete();
            let has_effect = match operation.kind {
                Kind::Update { block } => is_complete || relation.block(block).seen_by != NONE,
                Kind::Scan { .. } => is_complete,
            };
            is_out[number as usize] = !has_effect;
            weights[number as usize] = relation.clock(number).iter().map(|n| u64::from(*n)).sum();
            if has_effect && operation.chain != NONE {
                chains[operation.chain as usize].0.push(number);
            }
        }
        Self { relation, is_out, chains, weights, order: Vec::new() }
    }

    fn run(mut self, scans: &[u32]) -> Vec<crate::OperationId> {
        let mut ready = Vec::new();
        for &scan in scans {
            let relation = self.relation;
            for ((operations, taken), &number) in self.chains.iter_mut().zip(relation.clock(scan)) {
                while let Some(&next) = operations.get(*taken)
                    && relation.operation(next).number <= number
                {
                    ready.push(next);
                    *taken += 1;
                }
            }
            for &block in relation.entries(relation.operation(scan)) {
                let update = if block == NONE { NONE } else { relation.block(block).update };
                if update != NONE && relation.operation(update).chain == NONE {
                    ready.push(update);
                }
            }
            self.emit(&mut ready);
            self.take(scan);
        }
        for (operations, taken) in &self.chains {
            ready.extend(&operations[*taken..]);
        }
        self.emit(&mut ready);
        self.order.into_iter().map(id).collect()
    }

    fn emit(&mut self, ready: &mut Vec<u32>) {
        ready.sort_unstable_by_key(|operation| self.weights[*operation as usize]);
        for operation in ready.drain(..) {
            self.take(operation);
        }
    }

    fn take(&mut self, operation: u32) {
        if !std::mem::replace(&mut self.is_out[operation as usize], true) {
            self.order.push(operation);
        }
    }
}
