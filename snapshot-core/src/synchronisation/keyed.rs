//! Matching in O(n log n), where outputs name the partner's argument.
//!
//! A send of 5 on a channel can only have met a receive that returned 5: the output of a complete
//! operation fixes the *key* that its partner must have, and two operations can form a group iff
//! they have the same key, are on opposite sides, and overlap. Operations that never respond may
//! take effect or not, and the output of a pending receive is open; they form *pools*, and a
//! complete operation can meet any member of one pool that was invoked before it responded. An
//! object with this property implements [`Keyed`].
//!
//! The rule: pass the responses in the order of time. When a responds and is not yet matched, match
//! it with the complete operation b of its key, on the other side, invoked before and not yet
//! matched, that responds first. If b does not exist, match a with any pending operation of its
//! pool that was invoked. If that does not exist either, there is no set linearization.
//!
//! *Proof.* By induction some perfect matching M of the complete operations (each with a complete
//! one or with one of its pool) contains all pairs chosen before. Let a be the next, and let b
//! exist; all operations that are left respond after a, so they respond after every event so far.
//! If M has a-b, the claim holds. Else a and b have other partners in M:
//!
//! * a-b' and b-a', all complete: a' is on the side of a, b' on the side of b. Replace them by a-b
//!   and a'-b': a' was invoked before b responded, and b responds no later than b' (else b' would
//!   have been chosen); b' was invoked before a responded, and a responds before a'. So they
//!   overlap.
//! * a-w and b-a', w pending: a' has the pool of a, and w was invoked before a responded, so
//!   before a' responds: a-b and a'-w. The same with b-w and a-b', and b-w': b responds before
//!   b' does.
//! * a-w and b-w', both pending: a-b, and w and w' are free.
//!
//! If b does not exist, M matches a with a member of its pool that was invoked before a responded.
//! All operations left respond later, so these members are interchangeable for them. QED. The proof
//! does not use that there are two sides: a may be on the same side as b, as in an exchanger, if
//! that holds for all operations of the key ([`Side::Either`]).
//!
//! Lawrence and Lowe ("Synchronisation: Specification and Testing", sections 7.3 and 7.4) give
//! O(n^2) for two sides and O(n^4) for one, by matchings in general graphs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use super::general::{self, Deficiency, Matched};
use super::specification::Synchronisation;
use crate::OperationId;
use crate::generic::{Ending, History};
use crate::immediate::SetLinearization;
use crate::search::Budget;
use crate::seeded::{SeededMap, SeededSet};

/// The side of an operation in a group.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// The operation can meet operations of the same key on side B.
    A,
    /// The operation can meet operations of the same key on side A.
    B,
    /// The operation can meet any operation of the same key.
    Either,
}

/// The groups that a complete operation can form.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Role<K, P> {
    /// The operation is a group by itself, and in no other.
    Alone,
    /// The operation is in a group of two.
    Pair {
        /// The side of the operation.
        side: Side,
        /// Equal for complete operations that can meet.
        key: K,
        /// The pool of the pending operations that it can meet.
        partners: P,
    },
    /// No group explains the output of the operation.
    Never,
}

/// A stateless object in which the output of an operation determines its partner.
///
/// Contract, for operations that overlap: two complete ones can form a group iff both are
/// [`Role::Pair`] with the same key and opposite sides. A complete one, whose role is a pair, and a
/// pending one can form a group iff the pool of the pending one is `partners` of the complete one.
/// For each key, either all sides are [`Side::Either`] or none is. `partners` follows from key and
/// side.
pub trait Keyed: Synchronisation<State = ()> {
    /// The common key of complete operations that can meet.
    type Key: Eq + Hash;
    /// Names a set of interchangeable pending operations.
    type Pool: Eq + Hash;

    /// The role of a complete operation.
    fn role(&self, input: &Self::Input, output: &Self::Output) -> Role<Self::Key, Self::Pool>;

    /// The pool of a pending operation; `None` if it can meet operations of several pools, so that
    /// the rule does not decide if such an operation is needed.
    fn pool(&self, input: &Self::Input) -> Option<Self::Pool>;
}

/// The result of the rule for a history.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Matching {
    /// Each complete operation has a partner, or is alone.
    Perfect(SetLinearization),
    /// No set linearization exists; the operation is the first without a partner.
    None(OperationId),
    /// The first operation without a partner responds after the invocation of a pending operation
    /// of several pools.
    Undecided(OperationId),
}

/// Matches the operations of a history. O(n log n), with hashing of keys and pools.
///
/// With `with_pending` false, pending operations are left out.
pub fn matching<S: Keyed>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    with_pending: bool,
) -> Matching {
    let operations = history.operations();
    let mut at = vec![FREE; history.len()];
    let mut roles = Vec::with_capacity(operations.len());
    let mut keys = Numbers::default();
    let mut pools = Numbers::default();
    for (id, operation) in operations.iter().enumerate() {
        roles.push(match &operation.ending {
            Ending::Failed { .. } => Place::Absent,
            Ending::Pending => match specification.pool(&operation.input) {
                Some(pool) => Place::Pending { pool: pools.number(pool) },
                None => Place::Wild,
            },
            Ending::Complete { output, response } => {
                at[*response] = id as u32;
                match specification.role(&operation.input, output) {
                    Role::Alone => Place::Alone,
                    Role::Never => Place::Never,
                    Role::Pair { side, key, partners } => Place::Pair {
                        side,
                        key: keys.number(key),
                        partners: pools.number(partners),
                    },
                }
            }
        });
        at[operation.invocation] = id as u32;
    }
    let mut sweep = Sweep {
        history,
        roles,
        partner: vec![FREE; operations.len()],
        waiting: (0..2 * keys.len()).map(|_| BinaryHeap::new()).collect(),
        pools: vec![Vec::new(); pools.len()],
        has_wild: false,
        with_pending,
    };
    for (event, &id) in at.iter().enumerate() {
        if id == FREE {
            continue;
        }
        let is_invocation = operations[id as usize].invocation == event;
        if is_invocation {
            sweep.invoke(id);
        } else if let Err(stopped) = sweep.respond(id) {
            return stopped;
        }
    }
    Matching::Perfect(sweep.groups())
}

/// Numbers things, equal ones equally.
struct Numbers<T>(SeededMap<T, u32>);

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self(SeededMap::default())
    }
}

impl<T: Eq + Hash> Numbers<T> {
    fn number(&mut self, thing: T) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(thing).or_insert(next)
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// The role of an operation under the rule.
#[derive(Clone, Copy)]
enum Place {
    /// Failed.
    Absent,
    Alone,
    Never,
    Pair {
        side: Side,
        key: u32,
        partners: u32,
    },
    Pending {
        pool: u32,
    },
    /// Pending, and of several pools.
    Wild,
}

struct Sweep<'h, I, O> {
    history: &'h History<I, O>,
    roles: Vec<Place>,
    /// The partner of each operation; itself if it is alone.
    partner: Vec<u32>,
    /// For each key and side, complete operations by their responses; may contain matched ones.
    waiting: Vec<BinaryHeap<Reverse<(usize, u32)>>>,
    /// For each pool, the pending operations that were invoked and are free.
    pools: Vec<Vec<u32>>,
    has_wild: bool,
    with_pending: bool,
}

const FREE: u32 = u32::MAX;

impl<I, O> Sweep<'_, I, O> {
    fn invoke(&mut self, id: u32) {
        match self.roles[id as usize] {
            Place::Pair { side, key, .. } => {
                let response = self.history.operations()[id as usize].response();
                let queue = 2 * key as usize + usize::from(side == Side::B);
                self.waiting[queue].push(Reverse((response.unwrap_or(usize::MAX), id)));
            }
            Place::Pending { pool } if self.with_pending => self.pools[pool as usize].push(id),
            Place::Wild => self.has_wild |= self.with_pending,
            _ => {}
        }
    }

    fn respond(&mut self, id: u32) -> Result<(), Matching> {
        if self.partner[id as usize] != FREE {
            return Ok(());
        }
        let operation = OperationId::from_index(id as usize);
        match self.roles[id as usize] {
            Place::Alone => {
                self.partner[id as usize] = id;
                Ok(())
            }
            Place::Pair { side, key, partners } => {
                let partner = self.candidate(id, side, key);
                let Some(partner) = partner.or_else(|| self.pools[partners as usize].pop()) else {
                    return Err(if self.has_wild {
                        Matching::Undecided(operation)
                    } else {
                        Matching::None(operation)
                    });
                };
                self.partner[id as usize] = partner;
                self.partner[partner as usize] = id;
                Ok(())
            }
            _ => Err(Matching::None(operation)),
        }
    }

    /// Returns the free complete operation that `id` can meet and that responds first.
    fn candidate(&mut self, id: u32, side: Side, key: u32) -> Option<u32> {
        let queue = &mut self.waiting[2 * key as usize + usize::from(side == Side::A)];
        while let Some(Reverse((_, other))) = queue.pop() {
            if other != id && self.partner[other as usize] == FREE {
                return Some(other);
            }
        }
        None
    }

    /// Returns the groups in the order of their instants, the latest invocations of their
    /// operations.
    fn groups(&self) -> SetLinearization {
        let operations = self.history.operations();
        let mut groups: Vec<(usize, u32, u32)> = Vec::with_capacity(operations.len());
        for (id, &partner) in self.partner.iter().enumerate() {
            if partner == FREE || (partner as usize) < id {
                continue;
            }
            let instant = operations[id].invocation.max(operations[partner as usize].invocation);
            groups.push((instant, id as u32, partner));
        }
        groups.sort_unstable();
        let id = |index: u32| OperationId::from_index(index as usize);
        SetLinearization::new(groups.into_iter().map(|(_, one, other)| {
            let both = [id(one), id(other)];
            both.into_iter().take(if one == other { 1 } else { 2 })
        }))
    }
}

/// The largest number of polls by the search for a proof: about a second.
const PATIENCE: u64 = 1 << 14;

/// The largest number of bytes of pairs in the search for a proof.
const MOST_MEMORY: usize = 1 << 27;

/// Returns the proof that a history in which `stranded` has no partner is not set-linearizable;
/// `None` if finding it takes too long. Considers the operations that are connected with `stranded`
/// by keys and pools, and by overlapping.
pub(super) fn deficiency<S: Keyed>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    stranded: OperationId,
    budget: &mut Budget<'_>,
) -> Option<Deficiency> {
    let operations = history.operations();
    let is_wanted = connected(specification, history, stranded);
    if !is_wanted[stranded.index()] {
        // No group explains it.
        return Some(Deficiency { partners: Vec::new(), components: vec![vec![stranded]] });
    }
    let (mut first, mut end, mut last, mut is_past) = (0, 0, operations.len(), false);
    for id in (0..operations.len()).filter(|&id| is_wanted[id]) {
        let operation = &operations[id];
        if operation.invocation > end {
            if is_past {
                last = id;
                break;
            }
            first = id;
        }
        end = end.max(operation.response().unwrap_or(usize::MAX));
        is_past |= id == stranded.index();
    }
    let is_part = |id: usize| is_wanted[id] && (first..last).contains(&id);
    let mut asked = 0;
    let mut proceed = || {
        asked += 1;
        asked < PATIENCE && (budget.proceed)()
    };
    let mut budget = Budget { memory: MOST_MEMORY, proceed: &mut proceed };
    match general::matching(specification, history, &is_part, &mut budget) {
        Ok(Matched::Not(deficiency)) => Some(deficiency),
        Ok(Matched::Perfect(_)) => {
            debug_assert!(false, "the rule found no partner where there is one");
            None
        }
        Err(_) => None,
    }
}

/// Marks the operations connected with one by keys, and by pools that have members.
fn connected<S: Keyed>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    stranded: OperationId,
) -> Vec<bool> {
    let operations = history.operations();
    let mut keys = Numbers::default();
    let mut pools = Numbers::default();
    // Keys and pools by number; pairs for the operations that name both.
    let mut links = Vec::new();
    let mut places = Vec::with_capacity(operations.len());
    let mut has_members = SeededSet::default();
    for operation in operations {
        places.push(match &operation.ending {
            Ending::Failed { .. } => Place::Absent,
            Ending::Pending => match specification.pool(&operation.input) {
                Some(pool) => {
                    let pool = pools.number(pool);
                    has_members.insert(pool);
                    Place::Pending { pool }
                }
                None => Place::Wild,
            },
            Ending::Complete { output, .. } => match specification.role(&operation.input, output) {
                Role::Pair { side, key, partners } => {
                    let (key, partners) = (keys.number(key), pools.number(partners));
                    links.push((key, partners));
                    Place::Pair { side, key, partners }
                }
                Role::Alone => Place::Alone,
                Role::Never => Place::Never,
            },
        });
    }
    let has_wild = places.iter().any(|place| matches!(place, Place::Wild));
    links.retain(|(_, pool)| has_members.contains(pool));
    links.sort_unstable();
    links.dedup();
    let mut is_key = vec![has_wild; keys.len()];
    let mut is_pool = vec![has_wild; pools.len()];
    let mut open = Vec::new();
    if let Place::Pair { key, .. } = places[stranded.index()] {
        is_key[key as usize] = true;
        open.push(key);
    }
    let mut of_pool: SeededMap<u32, Vec<u32>> = SeededMap::default();
    for &(key, pool) in &links {
        of_pool.entry(pool).or_default().push(key);
    }
    while let Some(key) = open.pop() {
        let from = links.partition_point(|&(other, _)| other < key);
        for &(_, pool) in links[from..].iter().take_while(|(other, _)| *other == key) {
            if std::mem::replace(&mut is_pool[pool as usize], true) {
                continue;
            }
            for &next in of_pool.get(&pool).into_iter().flatten() {
                if !std::mem::replace(&mut is_key[next as usize], true) {
                    open.push(next);
                }
            }
        }
    }
    let is_wanted = |place: &Place| match *place {
        Place::Pair { key, .. } => is_key[key as usize],
        Place::Pending { pool } => is_pool[pool as usize],
        Place::Wild => true,
        Place::Absent | Place::Alone | Place::Never => false,
    };
    places.iter().map(is_wanted).collect()
}
