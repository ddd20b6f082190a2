//! Hints by names, as the engine takes them.

use snapshot_language::program::{IndexSet, Program, Type};

use crate::decided::Use;
use crate::flips::{Bit, Class};
use crate::model::{Act, Model};
use crate::names::Name;
use crate::shape::{BASE, I, J, Mode, OTHER, PLACES, Scalar, has_codes, number};
use crate::term::Over;

/// Returns the scalars that an obligation keeps: cells as `r[i].seq`, private variables of i as
/// `i:toggle`, the link of i to a cell as `i:link:r[j]`, local number 2 of a procedure as
/// `t:scan.copy#2[j]`; sorted.
pub fn kept(program: &Program, model: &Model) -> Vec<String> {
    let names = names(program, model).into_iter().zip(&model.slots);
    let mut kept: Vec<String> =
        names.filter(|(_, slot)| slot.kept).filter_map(|(name, _)| name).collect();
    kept.sort_unstable();
    kept
}

/// Returns the loops of i and j in which only the round of t is distinguished: the owner, the
/// procedure, and the number of the loop.
pub fn loose(model: &Model) -> Vec<(u8, usize, usize)> {
    let mut loose = Vec::new();
    for (procedure, _) in model.frames.iter().enumerate() {
        let of = model.code.iter().filter(|one| one.procedure.0 as usize == procedure);
        let loops = of.filter_map(|one| one.act.begins());
        for (number, this) in loops.enumerate() {
            for owner in [I, J] {
                let merged = &this.merged[usize::from(owner)];
                if this.over == Over::Members && merged[usize::from(I)] && merged[usize::from(J)] {
                    loose.push((owner, procedure, number));
                }
            }
        }
    }
    loose
}

/// A bit of a class: its name, and, if it belongs to the class in one round of a loop only, the
/// local that is the loop's variable, and the member of that round.
pub type BitName = (String, Option<(usize, u8)>);

/// Returns the classes of bits of which only the relation matters.
pub fn classes(program: &Program, model: &Model) -> Vec<Vec<BitName>> {
    let names = names(program, model);
    let named = |bit: &Bit| {
        let slot = &model.slots[bit.at];
        let round = bit.round.and_then(|(variable, byte)| {
            let frame = &model.frames[slot.frame?.0 as usize];
            let begin = model.blocks[usize::from(slot.owner?)];
            let local = frame.locals.iter().position(|room| begin + room.base == variable);
            Some((local?, byte - BASE))
        });
        // Without its round it would belong to the class always.
        (round.is_some() == bit.round.is_some()).then(|| Some((names[bit.at].clone()?, round)))?
    };
    let of = |class: &Class| class.bits.iter().filter_map(named).collect();
    model.flips.iter().map(of).collect()
}

/// A scalar by name, the procedure and the instruction of the only condition that reads it, and the
/// values of the loop variables for which it does: locals, and members.
pub type DecidedName = (String, (usize, usize), Vec<(usize, u8)>);

/// Returns the scalars that are forgotten where their condition does not need them.
pub fn decided(program: &Program, model: &Model) -> Vec<DecidedName> {
    let names = names(program, model);
    let named = |one: &Use| {
        let procedure = model.code[one.instruction].procedure.0 as usize;
        let locals = &model.frames[procedure].locals;
        let round = |(variable, place): &(usize, u8)| {
            Some((locals.iter().position(|room| room.base == *variable)?, *place))
        };
        let rounds: Option<Vec<_>> = one.bound.iter().map(round).collect();
        let number = one.instruction - model.entries[procedure];
        Some((names[one.at].clone()?, (procedure, number), rounds?))
    };
    model.uses.iter().flatten().filter_map(named).collect()
}

/// Returns the fields that name a process, each with its condition of force and the arrays whose
/// rows it names: `X.helper phase=2,3 A B`.
pub fn named(program: &Program, model: &Model) -> Vec<String> {
    let line = |name: &Name| {
        let variable = program.shared(name.variable);
        let fields = scalars(&variable.content, model.goal.mode());
        let mut line = format!("{}{}", variable.name, fields[name.offset].as_deref()?);
        if let Some(force) = &name.force {
            let at = model.shared[name.variable.0 as usize].base + force.offset;
            let leaf = model.slots[at].leaf;
            let number = |byte: &u8| match leaf.scalar {
                Scalar::Integer { .. } => i64::from(number(*byte)).to_string(),
                _ => (byte - BASE).to_string(),
            };
            let bytes: Vec<String> = force.bytes.iter().map(number).collect();
            let field = fields[force.offset].as_deref()?;
            line.push_str(&format!(" {}={}", field.trim_start_matches('.'), bytes.join(",")));
        }
        for row in &name.rows {
            line.push_str(&format!(" {}", program.shared(row.array).name));
        }
        Some(line)
    };
    model.named.iter().filter_map(line).collect()
}

/// Returns the names of all scalars.
fn names(program: &Program, model: &Model) -> Vec<Option<String>> {
    let mode = model.goal.mode();
    let mut all = vec![None; model.slots.len()];
    let mut add = |begin: usize, names: Vec<Option<String>>| {
        for (at, name) in (begin..).zip(names) {
            all[at] = name;
        }
    };
    for (variable, room) in program.shared.iter().zip(&model.shared) {
        let names = cells(&variable.name, &variable.dimensions);
        let scalars = scalars(&variable.content, mode);
        let of = |name: &Option<String>| -> Vec<Option<String>> {
            scalars.iter().map(|scalar| Some(name.clone()? + scalar.as_deref()?)).collect()
        };
        add(room.base, names.iter().flat_map(of).collect());
    }
    for (owner, block) in ["i", "j", "t"].iter().zip(model.blocks) {
        for (shared, links) in program.shared.iter().zip(&model.links) {
            let names = cells(&format!("{owner}:link:{}", shared.name), &shared.dimensions);
            if let Some(begin) = links {
                add(block + begin, names);
            }
        }
        let mut variable = |name: String, begin: usize, content: &Type| {
            let scalars = scalars(content, mode).into_iter();
            add(begin, scalars.map(|scalar| Some(format!("{owner}:{name}{}", scalar?))).collect());
        };
        for (private, room) in program.private.iter().zip(&model.private) {
            variable(private.name.clone(), block + room.base, &private.content);
        }
        for (procedure, frame) in program.procedures.iter().zip(&model.frames) {
            for (number, (local, room)) in procedure.locals.iter().zip(&frame.locals).enumerate() {
                let name = format!("{}.{}#{number}", procedure.name, local.name);
                variable(name, block + room.base, &local.content);
            }
        }
    }
    all
}

/// Returns the write of the update at which it takes effect: its position among the accesses of the
/// procedure, in the order of the text.
pub fn point(model: &Model) -> Option<usize> {
    let mut accesses =
        model.code.iter().filter(|one| one.procedure == model.update && one.act.cell().is_some());
    accesses.position(|one| one.point)
}

/// Returns the names of the cells of a variable.
fn cells(name: &str, dimensions: &[IndexSet]) -> Vec<Option<String>> {
    let mut names = vec![Some(name.to_owned())];
    for index in dimensions {
        names = names.iter().flat_map(|name| indexed(name.as_deref(), *index)).collect();
    }
    names
}

/// Returns the writes at which rounds begin and end: each a procedure, and an instruction in it.
pub fn round(model: &Model, round: [u16; 2]) -> [(usize, usize); 2] {
    round.map(|at| {
        let at = usize::from(at);
        let procedure = model.code[at].procedure.0 as usize;
        (procedure, at - model.entries[procedure])
    })
}

/// Returns true if no loop distinguishes both t and one of i and j from any other: then the views for
/// all places of t among i and j are alike.
pub fn alike(model: &Model) -> bool {
    !model.code.iter().any(|one| match &one.act {
        Act::Begin(this) if this.over == Over::Members => this.merged.iter().any(|merged| {
            let [at_i, at_j, at_t] = merged;
            let is_j_there = model.goal.mode() == Mode::Direct;
            !at_t && !(*at_i && (*at_j || !is_j_there))
        }),
        _ => false,
    })
}

/// Returns a name with each index; `None` for a place of any other.
fn indexed(name: Option<&str>, index: IndexSet) -> Vec<Option<String>> {
    let with = |index: &dyn std::fmt::Display| name.map(|name| format!("{name}[{index}]"));
    match index {
        IndexSet::Processes | IndexSet::Segments => {
            let mut names: Vec<_> = ["i", "j", "t"].iter().map(|index| with(index)).collect();
            names.resize(PLACES, None);
            debug_assert_eq!(usize::from(OTHER), PLACES - 1);
            names
        }
        IndexSet::Range(low, high) if has_codes(low, high) => {
            (low.plus..=high.plus).map(|index| with(&index)).collect()
        }
        IndexSet::Range(..) => vec![None],
    }
}

/// Returns the suffixes of the names of a type's scalars.
fn scalars(content: &Type, mode: Mode) -> Vec<Option<String>> {
    match content {
        view if *view == Type::view() && mode == Mode::Nested => vec![Some(String::new())],
        Type::Array { index, element } => {
            if matches!(index, IndexSet::Range(low, high) if !has_codes(*low, *high)) {
                return vec![None];
            }
            let inner = scalars(element, mode);
            let of = |name: Option<String>| -> Vec<Option<String>> {
                inner.iter().map(|scalar| Some(name.clone()? + scalar.as_deref()?)).collect()
            };
            indexed(Some(""), *index).into_iter().flat_map(of).collect()
        }
        Type::Record(fields) => {
            let of = |field: &snapshot_language::program::Field| -> Vec<Option<String>> {
                let inner = scalars(&field.content, mode).into_iter();
                inner.map(|scalar| Some(format!(".{}{}", field.name, scalar?))).collect()
            };
            fields.iter().flat_map(of).collect()
        }
        _ => vec![Some(String::new())],
    }
}
