//! Parts of a proof without any hint: all is kept, and what is optional is tried.
//!
//! To keep more is always right, and to show operations late or loops loosely is tried where it
//! fits. What an analysis of the program would leave out is in the views, so there are more of them; a
//! proof needs no more than that they are few enough.

use snapshot_invariant::byte::{I, J};
use snapshot_invariant::claim::{Ghosts, Obligation, Property};
use snapshot_invariant::clock::{self, Clock};
use snapshot_invariant::layout::{Layout, each_expression, may_fail};
use snapshot_invariant::write::Part;
use snapshot_language::program::{ExpressionKind, Program, SharedId, Statement, Type};

use crate::cursors::windows;
use crate::ways::has_views;

/// The ways to a proof, each with all of its parts, in the order in which they are tried.
pub fn guesses(program: &Program) -> Vec<Vec<Part>> {
    let faults = may_fail(program).then_some(Property::Faults);
    let of = |ghosts, properties: &[Property], is_loose| -> Option<Vec<Part>> {
        let all = faults.iter().chain(properties);
        all.map(|property| part(program, Obligation { ghosts, property: *property }, is_loose))
            .collect()
    };
    let mut ways: Vec<Vec<Part>> = Vec::new();
    for is_loose in [true, false] {
        ways.extend(of(Ghosts::Scans, &[Property::Observer], is_loose));
        if has_views(program) {
            ways.extend(of(Ghosts::Calls, &[Property::Nesting, Property::Observer], is_loose));
        }
    }
    for clock in clocks(program) {
        let mut way = of(Ghosts::Scans, &[Property::Observer], false).unwrap_or_default();
        for part in &mut way {
            part.clock = Some(clock);
            // Which element is that of t hardly matters: the vectors that are judged are of i and j.
            part.kept.retain(|name| !name.contains("[t]"));
        }
        ways.extend(Some(way).filter(|way| !way.is_empty()));
    }
    for way in &mut ways {
        let nested = way.iter().any(|part| part.obligation.property == Property::Nesting);
        let direct = way.iter_mut().filter(|part| part.obligation.property == Property::Observer);
        direct.for_each(|part| part.nested = nested);
    }
    ways.dedup();
    ways
}

/// The cells that counters may be compared with; first without a signer.
fn clocks(program: &Program) -> Vec<Clock> {
    let mut divisors = vec![1];
    for procedure in &program.procedures {
        Statement::each(&procedure.body, &mut |statement| {
            each_expression(statement, &mut |expression| {
                if let ExpressionKind::Remainder(of, by) = &expression.kind
                    && of.content == Type::Counter
                    && by.times_n == 0
                {
                    divisors = vec![i64::from(by.plus)];
                }
            });
        });
    }
    let variables = (0..program.shared.len() as u32).map(SharedId);
    let variables = variables.filter(|variable| clock::may_be(program, *variable));
    let of = |variable| {
        divisors.iter().flat_map(move |divisor| {
            [false, true].map(|is_signed| Clock { variable, divisor: *divisor, is_signed })
        })
    };
    variables.flat_map(of).filter(clock::is_supported).collect()
}

/// A part that keeps all; `None`: the program has no such ghost scans, or a construct that no list is made for.
fn part(program: &Program, obligation: Obligation, is_loose: bool) -> Option<Part> {
    let layout = Layout::new(program, obligation).ok()?;
    let loops = |owner: u8| {
        let code = layout.code.iter().enumerate();
        code.flat_map(move |(procedure, code)| {
            (0..code.fors).map(move |number| (owner, procedure, number))
        })
    };
    let loose = if is_loose { loops(I).chain(loops(J)).collect() } else { Vec::new() };
    Some(Part {
        obligation,
        kept: layout.names().map(str::to_owned).collect(),
        point: None,
        round: None,
        late: true,
        loose,
        decided: Vec::new(),
        alike: true,
        names: Vec::new(),
        clock: None,
        windows: windows(program, obligation),
        nested: false,
        classes: Vec::new(),
    })
}
