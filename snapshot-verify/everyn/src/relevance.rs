//! Which scalars are kept for an obligation, and which accesses are pauses.
//!
//! Any choice is sound: what is not kept is unknown when it is read. The choice decides
//! whether the proof succeeds, and how large it gets. For vectors, what is kept is what
//! they are made of, and the conditions of what decides on that; but not conditions that
//! only decide on whether a view is borrowed, for that ends a ghost scan without a check.
//! For nesting and faults all is kept.

use rustc_hash::FxHashSet;

use super::liveness::{target, terms};
use super::model::{Act, Cell, Instruction, Model, Step, Target};
use super::shape::{BASE, Mode, PLACES};
use super::term::{Over, Term};

type Slots = FxHashSet<usize>;

/// Decides what is kept; fills in the pauses.
pub fn restrict(model: &mut Model) {
    if model.obligation.mode == Mode::Direct {
        let relevant = relevant(model);
        for (at, slot) in model.slots.iter_mut().enumerate() {
            slot.kept &= slot.leaf.is_none() || relevant.contains(&at);
        }
    }
    for at in 0..model.code.len() {
        let pause = [0, 1, 2].map(|me| is_pause(model, &model.code[at].act, me));
        model.code[at].pause = pause;
    }
}

fn is_pause(model: &Model, act: &Act, me: u8) -> bool {
    let any_kept = |slots: &[Slots]| slots.iter().flatten().any(|at| model.slots[*at].kept);
    match act {
        Act::Read(cell, into) => {
            let stored = into.as_ref().is_some_and(|into| any_kept(&stored_to(model, into, me)));
            stored && any_kept(&cells(model, cell, me))
        }
        Act::Write(cell, _) | Act::Swap(cell, ..) => any_kept(&cells(model, cell, me)),
        _ => true,
    }
}

fn relevant(model: &Model) -> Slots {
    let mut relevant = Slots::default();
    for instruction in &model.code {
        for me in 0..3 {
            match &instruction.act {
                Act::Return(Some(term)) if model.is_ghost[instruction.procedure.0 as usize] => {
                    // The entries at i and j.
                    let rows = sources(model, term, me).into_iter().take(2);
                    rows.for_each(|row| relevant.extend(row));
                }
                Act::Begin(this) => {
                    relevant.insert(model.blocks[usize::from(me)] + this.variable);
                    let except = this.except.iter().flat_map(|except| sources(model, except, me));
                    except.for_each(|row| relevant.extend(row));
                }
                _ => {}
            }
        }
    }
    loop {
        let before = relevant.len();
        for at in 0..model.code.len() {
            for me in 0..3 {
                step(model, at, me, &mut relevant);
            }
        }
        if relevant.len() == before {
            return relevant;
        }
    }
}

/// What an instruction makes relevant, given what is.
fn step(model: &Model, at: usize, me: u8, relevant: &mut Slots) {
    let act = &model.code[at].act;
    let flow = |from: Vec<Slots>, to: &[Slots], relevant: &mut Slots| {
        let mut any = false;
        for (position, to) in to.iter().enumerate() {
            if to.iter().any(|slot| relevant.contains(slot)) {
                any = true;
                if let Some(from) = from.get(position) {
                    relevant.extend(from);
                }
            }
        }
        any
    };
    let mut acts = false;
    match act {
        Act::Assign(into, value) => {
            acts = flow(sources(model, value, me), &stored_to(model, into, me), relevant);
        }
        Act::Read(cell, Some(into)) => {
            acts = flow(cells(model, cell, me), &stored_to(model, into, me), relevant);
        }
        Act::Write(cell, value) => {
            acts = flow(sources(model, value, me), &kept_cells(model, cell, me), relevant);
        }
        Act::Swap(cell, old, new, into, _) => {
            let writes = flow(sources(model, new, me), &kept_cells(model, cell, me), relevant);
            let tells = into.as_ref().is_some_and(|into| {
                stored_to(model, into, me).iter().flatten().any(|slot| relevant.contains(slot))
            });
            acts = writes || tells;
            if acts {
                cells(model, cell, me).into_iter().for_each(|row| relevant.extend(row));
                sources(model, old, me).into_iter().for_each(|row| relevant.extend(row));
            }
        }
        Act::Call(procedure, arguments, into) => {
            let frame = &model.frames[procedure.0 as usize];
            for (room, argument) in frame.locals.iter().zip(arguments) {
                let begin = model.blocks[usize::from(me)] + room.base;
                let to: Vec<Slots> = (begin..begin + room.size)
                    .map(|slot| std::iter::once(slot).collect())
                    .collect();
                flow(sources(model, argument, me), &to, relevant);
            }
            if let (Some(into), false) = (into, model.is_ghost[procedure.0 as usize]) {
                let to = stored_to(model, into, me);
                for instruction in &model.code {
                    if let (Act::Return(Some(term)), true) =
                        (&instruction.act, instruction.procedure == *procedure)
                    {
                        flow(sources(model, term, me), &to, relevant);
                    }
                }
            }
        }
        Act::Unless(condition, to) if decides(model, at, *to, relevant) => {
            sources(model, condition, me).into_iter().for_each(|row| relevant.extend(row));
        }
        _ => {}
    }
    if acts {
        // So are the indices of what is accessed.
        let indices = terms(act).into_iter().filter(|term| !matches!(term, Term::Row(_)));
        for term in indices {
            if is_index(act, term) {
                sources(model, term, me).into_iter().for_each(|row| relevant.extend(row));
            }
        }
    }
}

fn is_index(act: &Act, term: &Term) -> bool {
    let of_cell = match act {
        Act::Read(cell, _) | Act::Write(cell, _) | Act::Swap(cell, ..) => {
            cell.indices.iter().any(|(_, index)| std::ptr::eq(index, term))
        }
        _ => false,
    };
    let of_target = target(act).is_some_and(|target| {
        target
            .path
            .iter()
            .any(|step| matches!(step, Step::Element(index, ..) if std::ptr::eq(index, term)))
    });
    of_cell || of_target
}

/// Whether a condition decides on anything that is relevant.
fn decides(model: &Model, at: usize, to: usize, relevant: &Slots) -> bool {
    let mut end = to;
    if let Some(Instruction { act: Act::Jump(behind), .. }) = model.code.get(to - 1)
        && *behind > to
    {
        end = *behind;
    }
    (at + 1..end).any(|inner| {
        let instruction = &model.code[inner];
        let touches = |slots: &[Slots]| slots.iter().flatten().any(|slot| relevant.contains(slot));
        (0..3).any(|me| match &instruction.act {
            Act::Assign(into, _) | Act::Read(_, Some(into)) => touches(&stored_to(model, into, me)),
            Act::Write(cell, _) => touches(&kept_cells(model, cell, me)),
            Act::Swap(cell, ..) => touches(&kept_cells(model, cell, me)),
            Act::Call(..) => true,
            Act::Jump(behind) => *behind < at || *behind > end,
            // What is a part of something else was borrowed.
            Act::Return(Some(Term::Part(..))) => !model.is_ghost[instruction.procedure.0 as usize],
            Act::Return(_) => true,
            _ => false,
        })
    })
}

/// The bytes that each byte of a row may come from.
fn sources(model: &Model, term: &Term, me: u8) -> Vec<Slots> {
    let of = |term: &Term| sources(model, term, me);
    let all = |term: &Term| -> Slots { of(term).into_iter().flatten().collect() };
    match term {
        Term::Constant(bytes) => vec![Slots::default(); bytes.len()],
        Term::Unknown(shape) => vec![Slots::default(); shape.size()],
        Term::Me | Term::Fresh => vec![Slots::default()],
        Term::Variable(base, size) => {
            let begin = model.blocks[usize::from(me)] + base;
            (begin..begin + size).map(|slot| std::iter::once(slot).collect()).collect()
        }
        Term::Index { array, element, index, .. } => {
            let size = element.size();
            let mut row = vec![all(index); size];
            for (position, slots) in of(array).into_iter().enumerate() {
                row[position % size].extend(slots);
            }
            row
        }
        Term::Part(whole, offset, size) => of(whole)[*offset..offset + size].to_vec(),
        Term::Row(fields) => fields.iter().flat_map(of).collect(),
        Term::With(whole, parts) => {
            let mut row = of(whole);
            for (offset, part) in parts {
                for (position, slots) in of(part).into_iter().enumerate() {
                    row[offset + position] = slots;
                }
            }
            row
        }
        Term::Filled(element, count) => {
            let row = of(element);
            row.iter().cloned().cycle().take(count * row.len()).collect()
        }
        Term::Each { over, body, .. } => {
            let count = match over {
                Over::Members => PLACES,
                Over::Range(_, count) => *count,
                Over::Many => 1,
            };
            let row = of(body);
            row.iter().cloned().cycle().take(count * row.len()).collect()
        }
        _ => vec![term.operands().into_iter().flat_map(all).collect(); size_of_term(term)],
    }
}

/// The bytes of a choice; all other operators make scalars.
fn size_of_term(term: &Term) -> usize {
    match term {
        Term::If(_, _, _, shape) => shape.size(),
        _ => 1,
    }
}

/// Per byte, where it may be stored.
fn stored_to(model: &Model, target: &Target, me: u8) -> Vec<Slots> {
    let mut begins = vec![model.blocks[usize::from(me)] + target.room.base];
    for step in &target.path {
        match step {
            Step::Field(offset) => begins.iter_mut().for_each(|begin| *begin += offset),
            Step::Element(index, over, size, _) => {
                let places = places(index, *over, me, PLACES);
                begins = begins
                    .iter()
                    .flat_map(|begin| places.iter().map(move |place| begin + place * size))
                    .collect();
            }
        }
    }
    (0..target.size).map(|byte| begins.iter().map(|begin| begin + byte).collect()).collect()
}

fn places(index: &Term, over: Over, me: u8, members: usize) -> Vec<usize> {
    match (index, over) {
        (Term::Me, Over::Members) => vec![usize::from(me)],
        (_, Over::Members) => (0..members).collect(),
        (Term::Constant(bytes), Over::Range(..)) if bytes[0] >= BASE => {
            vec![over.place(bytes[0])]
        }
        (_, Over::Range(_, count)) => (0..count).collect(),
        (_, Over::Many) => Vec::new(),
    }
}

/// Per byte, the cells that an access may be to.
fn cells(model: &Model, cell: &Cell, me: u8) -> Vec<Slots> {
    let room = &model.shared[cell.variable.0 as usize];
    let mut numbers = vec![0];
    for (over, index) in &cell.indices {
        let count = match over {
            Over::Members => PLACES,
            Over::Range(_, count) => *count,
            Over::Many => 1,
        };
        let places = places(index, *over, me, PLACES - 1);
        numbers = numbers
            .iter()
            .flat_map(|number| places.iter().map(move |place| number * count + place))
            .collect();
    }
    let byte = |byte: usize| {
        let slots = numbers.iter().map(|number| room.base + number * room.size + byte);
        slots.collect()
    };
    (0..room.size).map(byte).collect()
}

/// As [`cells`], but for what is not kept anyway.
fn kept_cells(model: &Model, cell: &Cell, me: u8) -> Vec<Slots> {
    let mut rows = cells(model, cell, me);
    for row in &mut rows {
        row.retain(|slot| model.slots[*slot].kept);
    }
    rows
}
