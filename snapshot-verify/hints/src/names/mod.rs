//! Names: shared variables that tell whose row of an array is in use.
//!
//! Algorithms with helpers keep in an LL/SC cell X which process has filled its row of an array V,
//! and all others access `V[x.name]`, with x from an LL of X. A *name* is such a field of X.
//! Besides the rows of V, one more variable has the row that X names, *the named row*: it is not an
//! array over processes, so that all views show it, and a process that is linked to X reads the
//! named row when it reads by its LL's result. So a view needs no copy of a name, and shows of V
//! only the row of the followed process.
//!
//! This module finds the names of this form; `run::named` has the steps, and why they are sound. A
//! *copy* is a local byte that holds, on all paths, the field's value at the latest LL of the
//! process on X. So as long as the link of the process is unbroken, X names the same process as the
//! copy.

mod facts;

use std::collections::BTreeSet;

use snapshot_language::deadline::Deadline;
use snapshot_language::program::{CellKind, IndexSet, Program, SharedId};

use crate::model::{Act, Cell, Model};
use crate::shape::{I, J, Leaf, OTHER, Scalar, Shape};
use facts::{Fact, Facts, Source, constant, facts, first, others_are_own, sources};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Name {
    /// Variable of the field: one LL/SC cell.
    pub variable: SharedId,
    /// Byte of the field within the cell.
    pub offset: usize,
    pub rows: Vec<Row>,
    /// Condition under which the named rows may be read before a process is named again. `None`:
    /// always.
    pub force: Option<Force>,
}

/// Condition under which a name is in force: only then are it and its named row kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Force {
    /// Deciding byte of the cell.
    pub offset: usize,
    /// Its values while the name is in force.
    pub bytes: Vec<u8>,
}

/// An array by process whose rows are named.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Row {
    pub array: SharedId,
    /// Variable that holds the named row.
    pub named: SharedId,
}

/// Use of names by an instruction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Use {
    /// It accesses the named row by a copy: the numbers of the name and of the array.
    Through(usize, usize),
    /// It writes the process's own row.
    Own(usize, usize),
    /// It writes the variable of names: for each name, true if the process names itself; otherwise
    /// the name is unchanged.
    Names(Vec<(usize, bool)>),
}

/// Returns the names of a program.
pub fn find(program: &Program, model: &Model, deadline: Deadline<'_>) -> Vec<Name> {
    let facts = facts(model, deadline);
    let mut names: Vec<Name> = Vec::new();
    let mut named = program.shared.len() as u32;
    for (id, array) in (0..).map(SharedId).zip(&program.shared) {
        if deadline.is_over() {
            break;
        }
        let is_array = array.dimensions.first() == Some(&IndexSet::Processes);
        let holds_values = matches!(
            Shape::new(&array.content, model.goal.mode()),
            Shape::Leaf(Leaf { scalar: Scalar::Value, .. })
        );
        // In rows without columns any process could link to the one cell, and a view does not learn
        // how the naming of another process affects the links of t.
        let has_columns = array.dimensions.len() > 1;
        if !is_array
            || !has_columns
            || !array.dimensions.iter().all(|set| set.is_of_names())
            || !holds_values
        {
            continue;
        }
        let Some((variable, offset)) = field(model, &facts, id) else { continue };
        let leaf = model.slots[model.shared[variable.0 as usize].base + offset].leaf;
        if leaf != (Leaf { scalar: Scalar::Member, optional: false }) {
            continue;
        }
        let is_single = program.shared(variable).dimensions.is_empty();
        let is_linked = program.shared(variable).cell == CellKind::Linked;
        let is_used_so = (0..model.code.len()).all(|at| {
            is_row_access(model, &facts, at, id, (variable, offset))
                && is_naming(model, &facts, at, (variable, offset)).is_some()
        });
        if !is_single || !is_linked || !is_used_so {
            continue;
        }
        let row = Row { array: id, named: SharedId(named) };
        named += 1;
        match names.iter_mut().find(|one| one.variable == variable && one.offset == offset) {
            Some(name) => name.rows.push(row),
            None => names.push(Name { variable, offset, rows: vec![row], force: None }),
        }
    }
    for name in &mut names {
        name.force = force(model, &facts, name);
    }
    names
}

/// Returns the condition of a name's force: a byte of its variable that is known where its rows are
/// accessed by copies, and where the variable is written. Any choice is sound.
fn force(model: &Model, facts: &[Option<Facts>], name: &Name) -> Option<Force> {
    let room = &model.shared[name.variable.0 as usize];
    let slots = model.slots[room.base..room.base + room.size].iter().enumerate();
    let by = |offset: usize, leaf: Leaf| {
        let all = leaf.values()?;
        let is = |at: usize| -> Vec<u8> {
            let known = facts[at].iter().flatten();
            let mut of_copies = known.filter_map(|fact| match *fact {
                Fact::Copy(byte, variable, of) if variable == name.variable && of == offset => {
                    facts[at].iter().flatten().find_map(|fact| match *fact {
                        Fact::Is(of, value) if of == byte => Some(value),
                        _ => None,
                    })
                }
                _ => None,
            });
            of_copies.next().map_or_else(|| all.clone(), |value| vec![value])
        };
        let mut live: BTreeSet<u8> = BTreeSet::new();
        let mut writes = Vec::new();
        for (at, one) in model.code.iter().enumerate().filter(|(at, _)| facts[*at].is_some()) {
            let Some(cell) = one.act.cell() else { continue };
            let is_row = name.rows.iter().any(|row| row.array == cell.variable);
            if is_row && !one.act.may_write() {
                live.extend(is(at));
            }
            if cell.variable == name.variable
                && let Some(value) = one.act.written()
                && is_naming(model, facts, at, (name.variable, name.offset)) != Some(true)
            {
                let to = constant(value, offset).map_or_else(|| all.clone(), |byte| vec![byte]);
                writes.push((is(at), to));
            }
        }
        loop {
            let before = live.len();
            for (from, to) in &writes {
                if to.iter().any(|to| live.contains(to)) {
                    live.extend(from);
                }
            }
            if live.len() == before {
                break;
            }
        }
        let bytes: Vec<u8> = live.into_iter().collect();
        (bytes.len() < all.len()).then_some(Force { offset, bytes })
    };
    slots.into_iter().find_map(|(offset, slot)| by(offset, slot.leaf))
}

/// Records the use of names at each instruction, and redirects accesses to the named row.
pub fn apply(model: &mut Model, names: Vec<Name>, deadline: Deadline<'_>) {
    let facts = facts(model, deadline);
    let mut uses: Vec<Option<Use>> = vec![None; model.code.len()];
    for (at, used) in uses.iter_mut().enumerate().take_while(|_| !deadline.is_over()) {
        let act = &model.code[at].act;
        let Some(cell) = act.cell() else { continue };
        let names_itself =
            |name: &Name| is_naming(model, &facts, at, (name.variable, name.offset)) == Some(true);
        let writes = names
            .iter()
            .enumerate()
            .filter(|(_, name)| act.may_write() && name.variable == cell.variable);
        let writes: Vec<(usize, bool)> =
            writes.map(|(number, name)| (number, names_itself(name))).collect();
        if !writes.is_empty() {
            *used = Some(Use::Names(writes));
        }
        for (number, name) in names.iter().enumerate() {
            if let Some(row) = name.rows.iter().position(|row| row.array == cell.variable) {
                let is_own = matches!(act, Act::Write(..));
                let of = if is_own { Use::Own } else { Use::Through };
                *used = Some(of(number, row));
            }
        }
    }
    for (one, used) in model.code.iter_mut().zip(uses) {
        if let Some(Use::Through(name, row)) = used
            && let Some(cell) = cell_mut(&mut one.act)
        {
            cell.variable = names[name].rows[row].named;
            cell.indices.remove(0);
        }
        one.used = used;
    }
    model.named = names;
}

fn cell_mut(act: &mut Act) -> Option<&mut Cell> {
    match act {
        Act::Read(cell, _)
        | Act::Write(cell, _)
        | Act::Swap(cell, ..)
        | Act::LoadLinked(cell, _)
        | Act::StoreConditional(cell, ..)
        | Act::Validate(cell, _) => Some(cell),
        _ => None,
    }
}

/// Returns the field that the first index of an array is always a copy of, unless it is the process
/// itself.
fn field(model: &Model, facts: &[Option<Facts>], array: SharedId) -> Option<(SharedId, usize)> {
    let mut found = None;
    for (at, one) in model.code.iter().enumerate() {
        let Some(cell) = one.act.cell().filter(|cell| cell.variable == array) else { continue };
        let Some((Source::Local(byte), facts)) = first(cell).zip(facts[at].as_ref()) else {
            continue;
        };
        let copies = facts.iter().filter_map(|fact| match *fact {
            Fact::Copy(of, variable, offset) if of == byte => Some((variable, offset)),
            _ => None,
        });
        let of = copies.collect::<Vec<_>>();
        let [of] = of.as_slice() else { return None };
        if found.is_some_and(|found| found != *of) {
            return None;
        }
        found = Some(*of);
    }
    found
}

/// Returns true if an instruction does not access the array, or does so in a supported way.
fn is_row_access(
    model: &Model,
    facts: &[Option<Facts>],
    at: usize,
    array: SharedId,
    (variable, offset): (SharedId, usize),
) -> bool {
    let one = &model.code[at];
    let Some(cell) = one.act.cell().filter(|cell| cell.variable == array) else { return true };
    let Some(facts) = &facts[at] else { return true };
    let source = first(cell);
    let is_copy = match source {
        Some(Source::Local(byte)) => facts.contains(&Fact::Copy(byte, variable, offset)),
        _ => false,
    };
    let is_latest = match source {
        Some(Source::Local(byte)) => facts.contains(&Fact::Index(byte, array)),
        _ => false,
    };
    let is_within_ghost = model.ghostly[one.procedure.0 as usize];
    match &one.act {
        Act::Read(..) => is_copy,
        Act::LoadLinked(..) => is_copy && others_are_own(cell) && !is_within_ghost,
        Act::StoreConditional(..) => {
            is_copy && is_latest && others_are_own(cell) && !is_within_ghost
        }
        Act::Write(..) => source == Some(Source::Me),
        _ => false,
    }
}

/// Returns true if a write to the variable makes the process name itself, and false if the name is
/// unchanged; `None` if neither is certain. An access that does not write leaves the name
/// unchanged.
fn is_naming(
    model: &Model,
    facts: &[Option<Facts>],
    at: usize,
    (variable, offset): (SharedId, usize),
) -> Option<bool> {
    let act = &model.code[at].act;
    let Some(cell) = act.cell().filter(|cell| cell.variable == variable) else {
        return Some(false);
    };
    if !act.may_write() {
        return Some(false);
    }
    let Some(facts) = &facts[at] else { return Some(false) };
    let value = sources(act.written()?)?;
    match (*value.get(offset)?, act) {
        (Source::Me, Act::Write(..) | Act::StoreConditional(..)) => Some(true),
        (Source::Local(byte), Act::StoreConditional(..)) if cell.indices.is_empty() => {
            // If it succeeds, the link was unbroken.
            facts.contains(&Fact::Copy(byte, variable, offset)).then_some(false)
        }
        _ => None,
    }
}

impl Model {
    /// Returns the byte of a name.
    pub fn name_at(&self, name: usize) -> usize {
        let name = &self.named[name];
        self.shared[name.variable.0 as usize].base + name.offset
    }

    /// Returns the cells of a named row, by number: each with the number of the cell in the row of
    /// a process.
    pub fn named_cells(&self, row: Row, process: u8) -> impl Iterator<Item = (usize, usize)> {
        let room = &self.shared[row.named.0 as usize];
        let next = self.shared.get(row.named.0 as usize + 1).map_or(self.blocks[0], |one| one.base);
        let count = (next - room.base) / room.size.max(1);
        (0..count).map(move |number| (number, usize::from(process) * count + number))
    }
}

/// Returns all rows, in the order of the variables that hold the named ones.
pub fn rows(names: &[Name]) -> Vec<Row> {
    let mut rows: Vec<Row> = names.iter().flat_map(|name| &name.rows).copied().collect();
    rows.sort_by_key(|row| row.named.0);
    rows
}

/// Marks the bytes of the rows of processes, and the row bytes that may be kept: the
/// cells of i and j, and links of i and j to their own.
pub fn mark(model: &mut Model) {
    for row in rows(&model.named) {
        for slot in &mut model.slots {
            let of = slot.cell.as_ref().or(slot.link.as_ref());
            let Some((variable, path)) = of.filter(|(of, _)| *of == row.array || *of == row.named)
            else {
                continue;
            };
            let is_own = *variable == row.array;
            let within = if is_own { &path[1..] } else { &path[..] };
            let is_shown = within.iter().all(|place| matches!(*place, I | J));
            let is_there = !is_own || path[0] != OTHER;
            slot.kept = is_shown && is_there;
            slot.in_row = is_own;
        }
    }
}
