//! Which counters hold windows: those of which processes are computed, and their copies.

use snapshot_invariant::byte::PLACES;
use snapshot_invariant::claim::Obligation;
use snapshot_invariant::cursor::MOST;
use snapshot_invariant::layout::{Layout, Room, leaves};
use snapshot_language::program::counters::origin::{Base, Location, Step};
use snapshot_language::program::counters::places;
use snapshot_language::program::{Program, Type};

/// Returns the counters that hold windows, by name, each with the number of places.
pub fn windows(program: &Program, obligation: Obligation) -> Vec<(String, usize)> {
    let places = places(program);
    if places.is_empty() {
        return Vec::new();
    }
    let Ok(layout) = Layout::new(program, obligation) else { return Vec::new() };
    let of = |(location, width): (Location, usize)| {
        let named = |at: usize| (layout.slots[at].name.clone(), width.min(MOST));
        slots(&layout, &location).into_iter().map(named).collect::<Vec<_>>()
    };
    places.into_iter().flat_map(of).collect()
}

/// Returns the bytes of the counters at a location; of a shared variable, in all cells.
fn slots(layout: &Layout<'_>, location: &Location) -> Vec<usize> {
    let program = layout.program;
    let of_process = |room: Room, content: &Type| {
        let within = offsets(layout, content, &location.path);
        let blocks = layout.blocks[..PLACES].iter();
        blocks
            .flat_map(|block| within.iter().map(|at| block + room.base + at).collect::<Vec<_>>())
            .collect()
    };
    match location.base {
        Base::Shared(id) => {
            let declared = program.shared(id);
            let path = location.path.get(declared.dimensions.len()..).unwrap_or_default();
            let within = offsets(layout, &declared.content, path);
            let cells = layout.cells[id.0 as usize].iter();
            cells.flat_map(|(_, room)| within.iter().map(|at| room.base + at)).collect()
        }
        Base::Private(id) => {
            of_process(layout.private[id.0 as usize], &program.private(id).content)
        }
        Base::Local(procedure, id) => {
            let room = layout.frames[procedure.0 as usize].locals[id.0 as usize];
            of_process(room, &program.procedure(procedure).local(id).content)
        }
        Base::Result(_) => Vec::new(),
    }
}

/// Returns the scalars of a type at a path.
fn offsets(layout: &Layout<'_>, content: &Type, path: &[Step]) -> Vec<usize> {
    let leaves = leaves(content, layout.tokens());
    let mut numbers = 0..leaves.len();
    let mut all = Vec::new();
    down(content, Some(path), layout.tokens(), &mut numbers, &mut all);
    all
}

/// Passes the scalars of a type; `path`: to those that are wanted, if they are here.
fn down(
    content: &Type,
    path: Option<&[Step]>,
    tokens: bool,
    numbers: &mut std::ops::Range<usize>,
    all: &mut Vec<usize>,
) {
    let count = leaves(content, tokens).len();
    match (content, path) {
        (Type::Optional(inner), _) => down(inner, path, tokens, numbers, all),
        (Type::Record(fields), Some([Step::Field(wanted), rest @ ..])) => {
            for (number, field) in fields.iter().enumerate() {
                let rest = Some(rest).filter(|_| number == *wanted);
                down(&field.content, rest, tokens, numbers, all);
            }
        }
        (Type::Array { element, .. }, Some([Step::Index, rest @ ..])) => {
            let each = leaves(element, tokens).len().max(1);
            (0..count / each).for_each(|_| down(element, Some(rest), tokens, numbers, all));
        }
        (_, path) => {
            let is_it = path.is_some_and(<[Step]>::is_empty);
            all.extend(numbers.take(count).filter(|_| is_it));
        }
    }
}
