//! Of which cell of the root each counter is a copy, and whether only copies of one are compared.
//!
//! Numbers of two cells may be equal where their versions are not. So each place of a class has one
//! answer to "a copy of which cell?" ([`Domain`]): found from store to store, and refused where two
//! stores disagree.

use std::collections::{BTreeMap, BTreeSet};

use super::root::{Root, RootKind};
use crate::program::counters::flows::Flows;
use crate::program::counters::origin::{Base, Index, Location, Origin, Spot};
use crate::program::{LocalId, Program, Statement, StatementKind};

/// Of which cell the counters of a place are copies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Domain {
    /// That of the executing process.
    Mine,
    /// That of this index of the place.
    At(usize),
    /// That of the variable of a loop, outside of which the place is not used.
    Round(LocalId),
}

impl Domain {
    /// The cell, for a counter at definite indices.
    fn cell(self, spot: &Spot) -> Option<Index> {
        match self {
            Self::Mine => Some(Index::Me),
            Self::At(at) => spot.indices.get(at).copied(),
            Self::Round(variable) => Some(Index::Variable(variable)),
        }
    }
}

/// Whether only copies of one cell of the root are compared.
pub fn holds(program: &Program, flows: &Flows, class: &BTreeSet<Location>, root: &Root) -> bool {
    let domain = match root.kind {
        RootKind::Single => return true,
        RootKind::Private => Domain::Mine,
        RootKind::Owned => Domain::At(0),
    };
    let mut domains = BTreeMap::from([(root.location.clone(), domain)]);
    let stores = || flows.flows.iter().filter(|flow| class.contains(&flow.to.location));
    loop {
        let before = domains.len();
        for flow in stores() {
            let (Origin::Copy(from) | Origin::Successor(from)) = &flow.from else { continue };
            let Some(known) = domains.get(&from.location) else { continue };
            let Some(cell) = known.cell(from) else { return false };
            match domains.get(&flow.to.location) {
                Some(known) if known.cell(&flow.to) == Some(cell) && cell != Index::Unknown => {}
                Some(_) => return false,
                None => match of(program, &flow.to, cell) {
                    Some(found) => _ = domains.insert(flow.to.location.clone(), found),
                    None => return false,
                },
            }
        }
        if domains.len() == before {
            break;
        }
    }
    let cell = |origin: &Origin| match origin {
        Origin::Copy(spot) => domains.get(&spot.location).map(|known| known.cell(spot)),
        _ => None,
    };
    let is_of_class =
        |origin: &Origin| matches!(origin, Origin::Copy(spot) if class.contains(&spot.location));
    let compared = flows.comparisons.iter().filter(|one| one.sides.iter().any(is_of_class));
    compared.map(|one| one.sides.each_ref().map(cell)).all(|sides| match sides {
        // One that nothing was ever stored in is 0.
        [None, _] | [_, None] => true,
        [left, right] => left == right && left != Some(Some(Index::Unknown)),
    })
}

/// The domain of a place in which a copy of this cell is stored.
fn of(program: &Program, to: &Spot, cell: Index) -> Option<Domain> {
    if cell == Index::Unknown {
        return None;
    }
    if let Some(at) = to.indices.iter().position(|index| *index == cell) {
        return Some(Domain::At(at));
    }
    match (cell, to.location.base) {
        (Index::Me, base) if base.is_of_process() => Some(Domain::Mine),
        (Index::Variable(variable), Base::Local(procedure, local)) if to.indices.is_empty() => {
            let body = &program.procedure(procedure).body;
            is_of_round(body, variable, local).then_some(Domain::Round(variable))
        }
        _ => None,
    }
}

/// Whether a local is used in one loop over this variable only, and in each round not before it is
/// stored in.
fn is_of_round(body: &[Statement], variable: LocalId, local: LocalId) -> bool {
    let mut loops: Vec<&[Statement]> = Vec::new();
    let (mut uses, mut within) = (0, 0);
    Statement::each(body, &mut |statement| {
        uses += usize::from(mentions(statement, local));
        match &statement.kind {
            StatementKind::For { variable: one, body, .. } if *one == variable => loops.push(body),
            _ => {}
        }
    });
    let [round] = loops.as_slice() else { return false };
    Statement::each(*round, &mut |statement| {
        within += usize::from(mentions(statement, local));
    });
    let is_stable = !stores_in(body, variable);
    is_stable && uses == within && is_stored_first(round, local, false).is_ok()
}

/// Whether a statement itself has to do with a local.
fn mentions(statement: &Statement, local: LocalId) -> bool {
    reads(statement, local) || target(statement).is_some_and(|(one, _)| one == local)
}

/// Whether a statement itself reads a local.
fn reads(statement: &Statement, local: LocalId) -> bool {
    let mut found = false;
    for operand in statement.operands() {
        operand.each(&mut |part| {
            found |=
                matches!(part.kind, crate::program::ExpressionKind::Local(one) if one == local);
        });
    }
    found
}

/// The local in which a statement stores, and whether it stores the whole of it.
fn target(statement: &Statement) -> Option<(LocalId, bool)> {
    let place = match &statement.kind {
        StatementKind::Assign { place, .. } => Some(place),
        StatementKind::Access { into, .. } | StatementKind::Call { into, .. } => into.as_ref(),
        StatementKind::New { into, .. } | StatementKind::Choose { into, .. } => Some(into),
        _ => None,
    }?;
    match place.root {
        crate::program::Root::Local(local) => Some((local, place.path.is_empty())),
        crate::program::Root::Private(_) => None,
    }
}

/// Whether any statement stores in a local.
fn stores_in(body: &[Statement], local: LocalId) -> bool {
    let mut found = false;
    Statement::each(body, &mut |statement| {
        found |= target(statement).is_some_and(|(one, _)| one == local);
    });
    found
}

/// Whether a local is stored in before it is used, on all ways through a block; `Err`: it may be used before.
/// `Ok(true)`: behind the block it has been.
fn is_stored_first(block: &[Statement], local: LocalId, mut stored: bool) -> Result<bool, ()> {
    for statement in block {
        if reads(statement, local) && !stored {
            return Err(());
        }
        match target(statement) {
            Some((one, is_whole)) if one == local => {
                if !is_whole && !stored {
                    return Err(());
                }
                stored = true;
            }
            _ => {}
        }
        match &statement.kind {
            StatementKind::If { then, otherwise, .. } => {
                let then = is_stored_first(then, local, stored)?;
                stored = is_stored_first(otherwise, local, stored)? && then;
            }
            // It may be left at any time, or never be entered.
            StatementKind::Loop { body } | StatementKind::For { body, .. } => {
                is_stored_first(body, local, stored)?;
            }
            StatementKind::Atomic(body) => stored = is_stored_first(body, local, stored)?,
            _ => {}
        }
    }
    Ok(stored)
}
