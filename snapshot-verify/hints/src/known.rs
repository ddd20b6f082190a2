//! Bytes of t that are never definite: elements at its own index that are only ever copied from
//! unkept bytes.
//!
//! Dropping them costs nothing, except a case distinction that would be remembered. It merges t's
//! own round in its loops with "any other", so that the place of t among i and j does not matter.

use snapshot_language::deadline::Deadline;

use super::decided::each_binding;
use super::flow::{Flow, Rounds, Slots, loops_around};
use super::model::{Act, Model};
use super::shape::{I, Mode, OTHER, PLACES, T};
use super::term::{Over, Term};

/// Drops these bytes.
pub fn drop_never_definite(model: &mut Model, deadline: Deadline<'_>) {
    if model.goal.mode() != Mode::Direct {
        return;
    }
    let known = known(model, deadline);
    let size = model.blocks[1] - model.blocks[0];
    for offset in 0..size {
        let template = &model.slots[model.blocks[usize::from(I)] + offset];
        let is_own = template.tracked && !template.other && template.frame.is_some();
        let at = model.blocks[usize::from(T)] + offset;
        let is_known = known.iter().skip(at).step_by(model.slots.len()).any(|known| *known);
        if is_own && !is_known {
            model.slots[at].kept = false;
        }
    }
}

/// Returns the bytes that may ever be definite; bytes that live within one round of a loop are
/// distinguished by round.
fn known(model: &Model, deadline: Deadline<'_>) -> Vec<bool> {
    let count = model.slots.len();
    let slots = model.slots.iter();
    let mut known: Vec<bool> = slots.map(|slot| slot.kept && slot.frame.is_none()).collect();
    known.resize(count * (PLACES + 1), false);
    let block = model.blocks[usize::from(T)];
    let mut set = |begin: usize, size: usize| {
        for at in block + begin..block + begin + size {
            known.iter_mut().skip(at).step_by(count).for_each(|known| *known = true);
        }
    };
    let rounds = &Rounds::reset(model, deadline);
    for (procedure, entry) in model.entries.iter().enumerate() {
        let live = &model.code[*entry].live;
        let frame = &model.frames[procedure];
        for (room, live) in frame.locals.iter().zip(live).skip(frame.parameters) {
            if *live {
                set(room.base, room.size);
            }
        }
    }
    // Arguments of operations.
    for room in &model.frames[model.update.0 as usize].locals {
        set(room.base, room.size);
    }
    for one in &model.code {
        if let Act::Begin(this) = &one.act {
            set(this.variable, 1);
        }
    }
    loop {
        let before = known.clone();
        for at in 0..model.code.len() {
            each_binding(&loops_around(model, at), &mut Vec::new(), &mut |bound| {
                if rounds.is_over() {
                    return;
                }
                let flow = Flow { model, me: T, bound: bound.to_vec(), rounds };
                instruction(&flow, at, &mut known);
            });
        }
        if known == before || rounds.is_over() {
            return known;
        }
    }
}

fn instruction(flow: &Flow<'_>, at: usize, known: &mut [bool]) {
    let model = flow.model;
    let store = |row: Vec<bool>, to: &[Slots], known: &mut [bool]| {
        for (is_known, to) in row.into_iter().zip(to) {
            let count = model.slots.len();
            to.iter().for_each(|at| known[*at] |= is_known && model.slots[*at % count].kept);
        }
    };
    match &model.code[at].act {
        Act::Assign(target, value) => {
            store(row(flow, value, known), &flow.stored_to(target), known);
        }
        Act::Read(cell, Some(target)) | Act::LoadLinked(cell, Some(target)) => {
            let cells = flow.cells(cell);
            let row = cells.iter().map(|cells| cells.iter().any(|at| known[*at]));
            store(row.collect(), &flow.stored_to(target), known);
        }
        Act::Swap(_, _, _, Some(target))
        | Act::StoreConditional(_, _, Some(target))
        | Act::Validate(_, Some(target)) => {
            store(vec![true], &flow.stored_to(target), known);
        }
        Act::Call(procedure, arguments, into) => {
            let frame = &model.frames[procedure.0 as usize];
            for (room, argument) in frame.locals.iter().zip(arguments) {
                let slots = (room.base..room.base + room.size).map(|at| flow.slot(at));
                let to: Vec<Slots> = slots.map(|at| std::iter::once(at).collect()).collect();
                store(row(flow, argument, known), &to, known);
            }
            if let Some(target) = into {
                store(vec![true; target.size], &flow.stored_to(target), known);
            }
        }
        _ => {}
    }
}

/// Returns, per byte, whether it may be definite.
fn row(flow: &Flow<'_>, term: &Term, known: &[bool]) -> Vec<bool> {
    let of = |term: &Term| row(flow, term, known);
    let scalar = |term: &Term| of(term).first().is_some_and(|is_known| *is_known);
    match term {
        Term::Constant(bytes) => vec![true; bytes.len()],
        Term::Unknown(shape) => vec![false; shape.size()],
        Term::Variable(base, size) => {
            (*base..base + size).map(|offset| known[flow.slot(offset)]).collect()
        }
        Term::Index { array, element, index, over, .. } => {
            let size = element.size();
            let mut row = vec![false; size];
            let places = flow.places(index, *over, PLACES);
            for (position, is_known) in of(array).into_iter().enumerate() {
                row[position % size] |= is_known && places.contains(&(position / size));
            }
            row
        }
        Term::Part(whole, offset, size) => of(whole)[*offset..offset + size].to_vec(),
        Term::Row(fields) => fields.iter().flat_map(of).collect(),
        Term::With(whole, parts) => {
            let mut row = of(whole);
            for (offset, part) in parts {
                for (position, is_known) in of(part).into_iter().enumerate() {
                    row[offset + position] = is_known;
                }
            }
            row
        }
        Term::Filled(element, count) => {
            let row = of(element);
            row.iter().copied().cycle().take(count * row.len()).collect()
        }
        Term::Each { variable, over: Over::Members, body } => (0..PLACES as u8)
            .flat_map(|place| row(&flow.with(*variable, place), body, known))
            .collect(),
        Term::Each { over, body, .. } => {
            let count = match over {
                Over::Range(_, count) => *count,
                Over::Members | Over::Many => 1,
            };
            vec![true; count * of(body).len()]
        }
        Term::Quantified { variable, over: Over::Members, body, .. } => {
            let mut places = 0..OTHER;
            vec![places.any(|place| row(&flow.with(*variable, place), body, known) == [true])]
        }
        Term::Not(inner) | Term::Unwrap(inner) => of(inner),
        Term::Equal(_, left, right) => {
            vec![of(left).into_iter().zip(of(right)).any(|(one, two)| one && two)]
        }
        Term::Also(_, value) => of(value),
        Term::Connected(left, right) => vec![scalar(left) || scalar(right)],
        Term::If(_, then, otherwise, _) => {
            of(then).into_iter().zip(of(otherwise)).map(|(one, two)| one || two).collect()
        }
        _ => vec![true],
    }
}
