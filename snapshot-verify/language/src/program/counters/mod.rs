//! Where counters lie, what flows from one to another, and which number processes.

pub mod flows;
pub mod origin;

use std::collections::BTreeMap;

use super::{Bound, Expression, ExpressionKind, ProcedureId, Program, Statement, Type};

use self::flows::Flows;
use self::origin::{Location, Origin, origins};

/// Returns the counters c of which processes are computed, `process((c + a) mod n)` with a number a,
/// and those that flow into them: each with the number of places, from 0 on, that a may be, at most
/// the largest a of the program plus 1.
pub fn places(program: &Program) -> BTreeMap<Location, usize> {
    let mut places: BTreeMap<Location, usize> = BTreeMap::new();
    for (number, procedure) in (0..).map(ProcedureId).zip(&program.procedures) {
        Statement::each(&procedure.body, &mut |statement| {
            for operand in statement.operands() {
                operand.each(&mut |part| {
                    if let Some((location, added)) = use_of(number, part) {
                        let known = places.entry(location).or_default();
                        *known = (added + 1).max(*known);
                    }
                });
            }
        });
    }
    let Some(most) = places.values().max().copied() else { return places };
    let (flows, _) = Flows::within(program);
    loop {
        let before = places.clone();
        for flow in &flows.flows {
            let Some(of) = places.get(&flow.to.location) else { continue };
            let (spot, of) = match &flow.from {
                Origin::Copy(spot) => (spot, *of),
                Origin::Successor(spot) => (spot, (of + 1).min(most)),
                Origin::Zero | Origin::Foreign => continue,
            };
            let known = places.entry(spot.location.clone()).or_default();
            *known = of.max(*known);
        }
        if before == places {
            return places;
        }
    }
}

/// Returns the counter in a remainder by n, and how often 1 is added to it.
fn use_of(procedure: ProcedureId, part: &Expression) -> Option<(Location, usize)> {
    const N: Bound = Bound { times_n: 1, plus: 0 };
    let ExpressionKind::Remainder(of, by) = &part.kind else { return None };
    if of.content != Type::Counter || *by != N {
        return None;
    }
    let (mut counter, mut added) = (&**of, 0);
    while let ExpressionKind::Successor(before) = &counter.kind {
        (counter, added) = (before, added + 1);
    }
    match origins(procedure, counter, &[], &[]).pop()? {
        Origin::Copy(spot) => Some((spot.location, added)),
        _ => None,
    }
}
