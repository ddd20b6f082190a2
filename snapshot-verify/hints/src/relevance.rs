//! Choice of the scalars that are kept for an obligation.
//!
//! Any choice is sound: an unkept scalar is unknown when it is read. The choice decides whether the
//! proof succeeds, and how large it gets. For vectors, the kept scalars are their sources, and the
//! conditions that control these; but not conditions that only decide whether a view is borrowed,
//! because that ends a ghost scan without a check. For nesting, they are the sources of tokens, for
//! faults the possible causes; for both together, all.

use rustc_hash::FxHashSet;
use snapshot_invariant::claim::Property;
use snapshot_language::deadline::Deadline;

use super::decided::each_binding;
use super::flow::{Flow, Rounds, Slots, loops_around};
use super::liveness::terms;
use super::model::{Act, Cell, Instruction, Model, Round, Target};
use super::names::Use;
use super::shape::{I, J, Mode, Scalar, T};
use super::term::Term;

/// Chooses the kept scalars.
pub fn restrict(model: &mut Model, deadline: Deadline<'_>) {
    if !model.goal.is_whole {
        let count = model.slots.len();
        let relevant: Slots =
            relevant(model, deadline).into_iter().map(|slot| slot % count).collect();
        for (at, slot) in model.slots.iter_mut().enumerate() {
            slot.kept &= relevant.contains(&at);
        }
    }
    if model.goal.mode() == Mode::Nested {
        // All values are equal: nothing is lost.
        for slot in &mut model.slots {
            slot.kept &= !slot.leaf.is_plain_value();
        }
    }
    super::known::drop_never_definite(model, deadline);
    super::merge::merge(model, deadline);
}

/// Returns the members whose ghost scans or faults are judged.
fn judged(model: &Model) -> &'static [u8] {
    match model.goal.obligation.property {
        Property::Faults | Property::Nesting | Property::Memory(T) => &[T],
        Property::Memory(I) => &[I],
        Property::Memory(_) => &[J],
        Property::Observer => &[I, J, T],
    }
}

fn relevant(model: &Model, deadline: Deadline<'_>) -> Slots {
    let mut relevant = Slots::default();
    let rounds = &Rounds::new(model, deadline);
    if model.goal.is_of_faults() && !model.code.iter().any(may_fail) {
        return relevant;
    }
    for &me in judged(model) {
        for (at, instruction) in model.code.iter().enumerate() {
            each_binding(&loops_around(model, at), &mut Vec::new(), &mut |bound| {
                let flow = Flow { model, me, bound: bound.to_vec(), rounds };
                if !rounds.is_over() && flow.is_made() {
                    seed(&flow, instruction, &mut relevant);
                }
            });
        }
    }
    for me in [I, J, T] {
        let flow = Flow { model, me, bound: Vec::new(), rounds };
        for instruction in &model.code {
            if let Act::Begin(this) = &instruction.act {
                let block = model.blocks[usize::from(me)];
                relevant.insert(block + this.variable);
                let except = this.except.iter().flat_map(|except| flow.sources(except));
                except.for_each(|row| relevant.extend(row));
            }
        }
    }
    loop {
        let before = relevant.len();
        for at in 0..model.code.len() {
            for me in [I, J, T] {
                let around = loops_around(model, at);
                each_binding(&around, &mut Vec::new(), &mut |bound| {
                    let flow = Flow { model, me, bound: bound.to_vec(), rounds };
                    if !rounds.is_over() && flow.is_made() {
                        step(&flow, at, &mut relevant);
                    }
                });
            }
        }
        if relevant.len() == before || rounds.is_over() {
            return relevant;
        }
    }
}

/// Adds the bytes that a part of the claim judges.
fn seed(flow: &Flow<'_>, instruction: &Instruction, relevant: &mut Slots) {
    if flow.model.goal.is_of_faults() {
        for term in terms(&instruction.act) {
            term.visit(&mut |term| {
                if let Term::Unwrap(_) | Term::Computed(_, true) = term {
                    flow.sources(term).into_iter().for_each(|row| relevant.extend(row));
                }
            });
        }
    } else if let (Some(Round::End), Some(cell)) = (instruction.round, instruction.act.cell()) {
        // The entries at i and j; a token is the round's.
        let is_direct = flow.model.goal.mode() == Mode::Direct;
        let views = crate::rounds::views(&cell.shape);
        let value = instruction.act.written().map(|value| flow.sources(value)).unwrap_or_default();
        for (at, row) in value.into_iter().enumerate() {
            if is_direct && views.contains(&at) {
                relevant.extend(row);
            }
        }
    } else if let Act::Return(Some(term)) = &instruction.act
        && is_judged_return(flow.model, instruction)
    {
        // The entries at i and j, or the token.
        let rows = flow.sources(term).into_iter().take(2);
        rows.for_each(|row| relevant.extend(row));
    }
}

fn is_judged_return(model: &Model, instruction: &Instruction) -> bool {
    let is_ghost = model.is_ghost[instruction.procedure.0 as usize];
    if model.goal.is_of_round_vectors() {
        // Scans return the view of a round.
        return false;
    }
    is_ghost || (model.goal.mode() == Mode::Nested && instruction.procedure == model.scan)
}

/// Returns true if an instruction may go wrong.
fn may_fail(instruction: &Instruction) -> bool {
    terms(&instruction.act).into_iter().any(Term::may_fail)
}

/// Adds the bytes that an instruction makes relevant, from the relevant ones after it.
fn step(flow: &Flow<'_>, at: usize, relevant: &mut Slots) {
    let model = flow.model;
    let act = &model.code[at].act;
    let pass = |from: Vec<Slots>, to: &[Slots], relevant: &mut Slots| {
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
            acts = pass(flow.sources(value), &flow.stored_to(into), relevant);
        }
        Act::Read(cell, Some(into)) => {
            acts = pass(flow.cells(cell), &flow.stored_to(into), relevant);
        }
        Act::LoadLinked(cell, into) => {
            let to = into.as_ref().map(|into| flow.stored_to(into)).unwrap_or_default();
            acts = pass(flow.cells(cell), &to, relevant);
            acts |= flow.links(cell, flow.me).iter().any(|slot| relevant.contains(slot));
        }
        Act::Write(cell, value) => {
            acts = pass(written(flow, at, cell, value), &flow.kept_cells(cell), relevant);
            acts |= breaks(flow, cell, relevant);
        }
        Act::StoreConditional(cell, value, into) => {
            acts = pass(written(flow, at, cell, value), &flow.kept_cells(cell), relevant);
            acts |= breaks(flow, cell, relevant) || tells(flow, into.as_ref(), relevant);
            if acts {
                relevant.extend(flow.links(cell, flow.me));
            }
        }
        Act::Validate(cell, into) => {
            acts = tells(flow, into.as_ref(), relevant);
            if acts {
                relevant.extend(flow.links(cell, flow.me));
            }
        }
        Act::Swap(cell, old, new, into) => {
            let writes = pass(flow.sources(new), &flow.kept_cells(cell), relevant);
            acts = writes || tells(flow, into.as_ref(), relevant);
            if acts {
                flow.cells(cell).into_iter().for_each(|row| relevant.extend(row));
                flow.sources(old).into_iter().for_each(|row| relevant.extend(row));
            }
        }
        Act::Call(procedure, arguments, into) => {
            let frame = &model.frames[procedure.0 as usize];
            for (room, argument) in frame.locals.iter().zip(arguments) {
                let begin = model.blocks[usize::from(flow.me)] + room.base;
                let to: Vec<Slots> = (begin..begin + room.size)
                    .map(|slot| std::iter::once(slot).collect())
                    .collect();
                pass(flow.sources(argument), &to, relevant);
            }
            if let (Some(into), false) = (into, model.is_ghost[procedure.0 as usize]) {
                let to = flow.stored_to(into);
                let inside = Flow { bound: Vec::new(), ..*flow };
                for instruction in model.code.iter().take_while(|_| !flow.rounds.is_over()) {
                    if let (Act::Return(Some(term)), true) =
                        (&instruction.act, instruction.procedure == *procedure)
                    {
                        pass(inside.sources(term), &to, relevant);
                    }
                }
            }
        }
        Act::Unless(condition, to) if decides(flow, at, *to, relevant) => {
            let reads: Slots = flow.sources(condition).into_iter().flatten().collect();
            // A guard of a faulty expression usually reads the same bytes.
            let is_guard = !model.goal.is_of_faults();
            if is_guard || reads.iter().any(|slot| relevant.contains(slot)) {
                relevant.extend(reads);
            }
        }
        _ => {}
    }
    let makes_names = matches!(&model.code[at].used, Some(Use::Names(_)));
    if makes_names && names(flow, at, relevant) {
        acts = true;
        if let Act::StoreConditional(cell, ..) = act {
            relevant.extend(flow.links(cell, flow.me));
        }
    }
    acts |= may_be_named(flow, at, relevant);
    if let (Some(Use::Through(name, row)), true) = (&model.code[at].used, acts) {
        let name = &model.named[*name];
        relevant.extend(model.links_of(flow.me, name.variable));
        if matches!(act, Act::StoreConditional(..)) {
            relevant.extend(model.links_of(flow.me, name.rows[*row].array));
        }
    }
    if model.code[at].round.is_some() {
        acts = true;
        if let Act::StoreConditional(cell, ..) = act {
            relevant.extend(flow.links(cell, flow.me));
        }
    }
    if acts {
        // So are the indices of accesses.
        let indices = terms(act).into_iter().filter(|term| !matches!(term, Term::Row(_)));
        for term in indices {
            if super::flow::is_index(act, term) {
                flow.sources(term).into_iter().for_each(|row| relevant.extend(row));
            }
        }
    }
}

/// Makes relevant, where a process names itself, the cells of its own row that are relevant in the
/// named row, and the name; returns true if there are any.
fn names(flow: &Flow<'_>, at: usize, relevant: &mut Slots) -> bool {
    let model = flow.model;
    let Some(Use::Names(names)) = &model.code[at].used else { return false };
    let mut any = false;
    for (name, _) in names.iter().filter(|(_, itself)| *itself) {
        for row in &model.named[*name].rows {
            let [own, named] = [row.array, row.named].map(|of| &model.shared[of.0 as usize]);
            for (number, in_row) in model.named_cells(*row, flow.me) {
                let bytes = (0..named.size).map(|offset| {
                    let number = named.base + number * named.size + offset;
                    (number, own.base + in_row * own.size + offset)
                });
                let links = [I, J, T].into_iter().filter_map(|owner| {
                    let links = [row.named, row.array].map(|of| model.links_of(owner, of));
                    let [mut of_named, mut of_own] = links;
                    of_named.nth(number).zip(of_own.nth(in_row))
                });
                for (at, from) in bytes.chain(links).collect::<Vec<_>>() {
                    if relevant.contains(&at) {
                        any = true;
                        relevant.extend([from, model.name_at(*name)]);
                    }
                }
            }
        }
    }
    any
}

/// Makes relevant, where a process writes its own row, which may be the named one, the cells that
/// are relevant in the named row, and the name; returns true if there are any.
fn may_be_named(flow: &Flow<'_>, at: usize, relevant: &mut Slots) -> bool {
    let model = flow.model;
    let one = &model.code[at];
    let (Some(Use::Own(name, row)), Some(own)) = (&one.used, one.act.cell()) else { return false };
    let named = Cell {
        variable: model.named[*name].rows[*row].named,
        indices: own.indices[1..].to_vec(),
        ..own.clone()
    };
    let is_shown = flow.cells(&named).iter().flatten().any(|slot| relevant.contains(slot))
        || breaks(flow, &named, relevant);
    if is_shown {
        flow.cells(own).into_iter().for_each(|slots| relevant.extend(slots));
        relevant.insert(model.name_at(*name));
    }
    is_shown
}

/// Returns the sources of each written byte; the token of a round has the round as its source, and
/// a name the process itself or its old value.
fn written(flow: &Flow<'_>, at: usize, cell: &Cell, value: &Term) -> Vec<Slots> {
    let mut rows = flow.sources(value);
    let is_nested = flow.model.goal.mode() == Mode::Nested;
    if is_nested && flow.model.code[at].round == Some(Round::End) {
        for view in crate::rounds::views(&cell.shape) {
            rows[view].clear();
        }
    }
    if let Some(Use::Names(names)) = &flow.model.code[at].used {
        for (name, _) in names {
            rows[flow.model.named[*name].offset].clear();
        }
    }
    rows
}

/// Returns true if a relevant byte is stored.
fn tells(flow: &Flow<'_>, into: Option<&Target>, relevant: &Slots) -> bool {
    into.is_some_and(|into| {
        flow.stored_to(into).iter().flatten().any(|slot| relevant.contains(slot))
    })
}

/// Returns true if a write to a cell breaks links that are relevant.
fn breaks(flow: &Flow<'_>, cell: &Cell, relevant: &Slots) -> bool {
    [I, J, T]
        .iter()
        .any(|owner| flow.links(cell, *owner).iter().any(|slot| relevant.contains(slot)))
}

/// Returns true if a condition controls an instruction that is relevant.
fn decides(flow: &Flow<'_>, at: usize, to: usize, relevant: &FxHashSet<usize>) -> bool {
    let model = flow.model;
    let mut end = to;
    if let Some(Instruction { act: Act::Jump(behind), .. }) = model.code.get(to - 1)
        && *behind > to
    {
        end = *behind;
    }
    let is_direct = model.goal.mode() == Mode::Direct;
    // The path of an unjudged ghost scan matters only by its stores.
    let is_judged = judged(model).contains(&flow.me);
    let ends = is_judged || !model.ghostly[model.code[at].procedure.0 as usize];
    let touches = |slots: &[Slots]| slots.iter().flatten().any(|slot| relevant.contains(slot));
    let matters = |flow: &Flow<'_>, instruction: &Instruction| match &instruction.act {
        _ if instruction.round.is_some() => true,
        Act::Assign(into, _) => touches(&flow.stored_to(into)),
        // Any view that is read as a whole counts as borrowed.
        Act::LoadLinked(cell, _)
            if flow.links(cell, flow.me).iter().any(|slot| relevant.contains(slot)) =>
        {
            true
        }
        Act::Read(cell, Some(into)) | Act::LoadLinked(cell, Some(into)) => {
            let base = model.shared[cell.variable.0 as usize].base;
            let is_borrowed = |position: usize| {
                is_direct && model.slots[base + position].leaf.scalar == Scalar::View
            };
            let stored = flow.stored_to(into).into_iter().enumerate();
            let stored: Vec<Slots> =
                stored.filter(|(position, _)| !is_borrowed(*position)).map(|(_, to)| to).collect();
            touches(&stored)
        }
        Act::Write(cell, _) | Act::Swap(cell, ..) | Act::StoreConditional(cell, ..) => {
            touches(&flow.kept_cells(cell)) || breaks(flow, cell, relevant)
        }
        Act::Call(..) => true,
        Act::Jump(behind) => ends && (*behind < at || *behind > end),
        // A part of another value was borrowed.
        Act::Return(Some(Term::Part(..))) if is_direct => {
            !model.is_ghost[instruction.procedure.0 as usize]
        }
        Act::Return(_) => ends,
        _ => false,
    };
    (at + 1..end).take_while(|_| !flow.rounds.is_over()).any(|inner| {
        let mut inside = loops_around(model, inner);
        inside.retain(|variable| flow.bound.iter().all(|(bound, _)| bound != variable));
        let mut any = false;
        each_binding(&inside, &mut flow.bound.clone(), &mut |bound| {
            let flow = Flow { bound: bound.to_vec(), ..*flow };
            any |= !flow.rounds.is_over() && matters(&flow, &model.code[inner]);
        });
        any
    })
}
