//! The one variable of a class that is ever increased.

use std::collections::BTreeSet;

use crate::program::counters::flows::{Flow, Flows};
use crate::program::counters::origin::{Base, Index, Location, Origin};
use crate::program::{IndexSet, Program};

/// The root of a class.
#[derive(Debug)]
pub struct Root {
    /// Location of the counters.
    pub location: Location,
    /// Which of its cells may differ, and who stores in them.
    pub kind: RootKind,
    /// Locals that hold a successor until it is stored in the root, and are used for nothing else.
    pub pending: BTreeSet<Location>,
}

/// Processes that store in a root.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RootKind {
    /// A private variable: its process.
    Private,
    /// An array by process or segment: in each cell its owner.
    Owned,
    /// A single cell: all.
    Single,
}

/// The root of a class. `Some(None)`: its counters are never increased, so each is 0. `None`: the
/// class is outside of the form.
pub fn of(program: &Program, flows: &Flows, class: &BTreeSet<Location>) -> Option<Option<Root>> {
    let stores = || flows.flows.iter().filter(|flow| class.contains(&flow.to.location));
    let increases = stores().filter(|flow| matches!(flow.from, Origin::Successor(_)));
    let mut roots: BTreeSet<&Location> = BTreeSet::new();
    let mut pending: BTreeSet<Location> = BTreeSet::new();
    for Flow { to, .. } in increases {
        match to.location.base {
            Base::Shared(_) | Base::Private(_) => _ = roots.insert(&to.location),
            Base::Local(..) if to.location.indices() == 0 => {
                pending.insert(to.location.clone());
            }
            Base::Local(..) | Base::Result(_) => return None,
        }
    }
    if roots.is_empty() && pending.is_empty() {
        return Some(None);
    }
    // A local that holds successors is stored in the root.
    let stored = stores().filter(|flow| flow.comes_from(&pending)).map(|flow| &flow.to.location);
    roots.extend(stored);
    let mut roots = roots.into_iter();
    let (Some(location), None) = (roots.next(), roots.next()) else { return None };
    let root = Root { location: location.clone(), kind: kind(program, location)?, pending };
    let fits = stores().all(|flow| fits(&root, flow));
    let is_pending = |origin: &Origin| match origin {
        Origin::Copy(spot) | Origin::Successor(spot) => root.pending.contains(&spot.location),
        Origin::Zero | Origin::Foreign => false,
    };
    let is_compared = flows.comparisons.iter().any(|one| one.sides.iter().any(is_pending));
    (fits && !is_compared).then_some(Some(root))
}

/// Who stores in a root, by what it is.
fn kind(program: &Program, location: &Location) -> Option<RootKind> {
    match (location.base, location.indices()) {
        (Base::Private(_), 0) => Some(RootKind::Private),
        (Base::Shared(_), 0) => Some(RootKind::Single),
        (Base::Shared(id), 1) => match program.shared(id).dimensions.as_slice() {
            [IndexSet::Processes | IndexSet::Segments] => Some(RootKind::Owned),
            _ => None,
        },
        _ => None,
    }
}

impl Flow {
    /// Whether it stores what one of these locals holds, or the successor.
    fn comes_from(&self, pending: &BTreeSet<Location>) -> bool {
        match &self.from {
            Origin::Copy(spot) | Origin::Successor(spot) => pending.contains(&spot.location),
            Origin::Zero | Origin::Foreign => false,
        }
    }
}

/// Whether a store is one of those that a class may have: in the root by its owner, in a local
/// that holds successors nothing else, and what that holds nowhere but in the root.
fn fits(root: &Root, flow: &Flow) -> bool {
    let is_to_root = flow.to.location == root.location;
    if flow.comes_from(&root.pending) && !is_to_root {
        return false;
    }
    if root.pending.contains(&flow.to.location) {
        return matches!(flow.from, Origin::Successor(_));
    }
    if !is_to_root {
        return matches!(flow.from, Origin::Zero | Origin::Copy(_));
    }
    match (root.kind, &flow.from) {
        // It is increased where it is.
        (RootKind::Private, Origin::Successor(spot)) => *spot == flow.to,
        (RootKind::Private, _) | (_, Origin::Zero | Origin::Foreign) => false,
        (RootKind::Owned, _) => flow.to.indices == [Index::Me],
        (RootKind::Single, _) => true,
    }
}
