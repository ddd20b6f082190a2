//! What a proof keeps, by names: so that it can be done again by code that shares nothing
//! with this crate.

use snapshot_language::program::{IndexSet, Program, Type};

use crate::model::{Act, Model};
use crate::shape::{Mode, OTHER, PLACES, has_codes};

/// The scalars that an obligation keeps: cells as `r[i].seq`, private variables of i as
/// `i:toggle`, local number 2 of a procedure as `t:scan.copy#2[j]`; sorted.
pub fn kept(program: &Program, model: &Model) -> Vec<String> {
    let mode = model.obligation.mode;
    let mut kept = Vec::new();
    let mut add = |begin: usize, names: Vec<Option<String>>| {
        for (at, name) in (begin..).zip(names) {
            if let (Some(name), true) = (name, model.slots[at].kept) {
                kept.push(name);
            }
        }
    };
    for (variable, room) in program.shared.iter().zip(&model.shared) {
        let mut names = vec![Some(variable.name.clone())];
        for index in &variable.dimensions {
            names = names.iter().flat_map(|name| indexed(name.as_deref(), *index)).collect();
        }
        let scalars = scalars(&variable.content, mode);
        let of = |name: &Option<String>| -> Vec<Option<String>> {
            scalars.iter().map(|scalar| Some(name.clone()? + scalar.as_deref()?)).collect()
        };
        add(room.base, names.iter().flat_map(of).collect());
    }
    for (owner, block) in ["i", "j", "t"].iter().zip(model.blocks) {
        let mut variable = |name: String, begin: usize, content: &Type| {
            let scalars = scalars(content, mode).into_iter();
            add(begin, scalars.map(|scalar| Some(format!("{owner}:{name}{}", scalar?))).collect());
        };
        for (private, (room, _)) in program.private.iter().zip(&model.private) {
            variable(private.name.clone(), block + room.base, &private.content);
        }
        for (procedure, frame) in program.procedures.iter().zip(&model.frames) {
            for (number, (local, room)) in procedure.locals.iter().zip(&frame.locals).enumerate() {
                let name = format!("{}.{}#{number}", procedure.name, local.name);
                variable(name, block + room.base, &local.content);
            }
        }
    }
    kept.sort_unstable();
    kept
}

/// Which write of the update is where it takes effect: its position among the accesses of
/// the procedure, in the order of the text.
pub fn point(model: &Model) -> Option<usize> {
    let is_access = |act: &Act| matches!(act, Act::Read(..) | Act::Write(..) | Act::Swap(..));
    let mut accesses =
        model.code.iter().filter(|one| one.procedure == model.update && is_access(&one.act));
    accesses.position(|one| one.point)
}

/// A name with each index, none for a place of any other.
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

/// The names of a type's scalars behind that of the variable.
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
