//! Layout of states: one byte per scalar, of shared memory and of a block per process.
//!
//! Elements at the index of "any other" process have a place, and are never kept: different
//! processes would share it. Elements reached only through an index of t are kept if they may be
//! read.

use snapshot_language::Span;
use snapshot_language::program::{
    CellKind, IndexSet, Procedure, ProcedureId, Program, SharedId, SharedVariable, Type,
};

use crate::links::LINK;
use crate::model::{Frame, Room, Slot};
use crate::names::Name;
use crate::shape::{Leaf, Mode, OTHER, PLACES, Scalar, Shape, T, has_codes};
use crate::term::Over;

/// Allocator of bytes.
pub(super) struct Layout {
    pub(super) mode: Mode,
    pub(super) slots: Vec<Slot>,
    pub(super) block: Vec<Slot>,
}

impl Layout {
    pub(super) fn new(mode: Mode) -> Self {
        Self { mode, slots: Vec::new(), block: Vec::new() }
    }

    /// Allocates the variables, and behind them the named rows.
    pub(super) fn shared(&mut self, program: &Program, names: &[Name]) -> Vec<Room> {
        let mut rooms = Vec::new();
        for (id, variable, dimensions) in variables(program, names) {
            let shape = Shape::new(&variable.content, self.mode);
            rooms.push(Room { base: self.slots.len(), size: shape.size() });
            self.cells(id, &dimensions, &shape, &mut Vec::new());
        }
        rooms
    }

    pub(super) fn cells(
        &mut self,
        id: SharedId,
        dimensions: &[Over],
        shape: &Shape,
        path: &mut Vec<u8>,
    ) {
        let Some((first, rest)) = dimensions.split_first() else {
            let mode = self.mode;
            shape.each(&mut Vec::new(), &mut |leaf, inner| {
                let has = |member| path.contains(&member) || inner.contains(&member);
                // A cell reached only through an index of t is not kept: no other process sees it.
                let only_tracked = path.contains(&T) && !path.iter().any(|place| *place < T);
                let dropped = has(OTHER)
                    || leaf.scalar == Scalar::Lost
                    || (mode == Mode::Direct && (leaf.scalar == Scalar::View || only_tracked));
                self.slots.push(Slot {
                    kept: !dropped,
                    tracked: has(T) || has(OTHER) || is_token(leaf, mode),
                    other: has(OTHER),
                    cell: Some((id, path.clone())),
                    ..slot(leaf, None)
                });
            });
            return;
        };
        match *first {
            Over::Members => {
                for place in 0..PLACES as u8 {
                    path.push(place);
                    self.cells(id, rest, shape, path);
                    path.pop();
                }
            }
            Over::Range(_, count) => {
                (0..count).for_each(|_| self.cells(id, rest, shape, path));
            }
            // All of them as one, never kept.
            Over::Many => {
                path.push(OTHER);
                self.cells(id, rest, shape, path);
                path.pop();
            }
        }
    }

    /// Allocates private variables, links per shared variable, and frames.
    pub(super) fn blocks(
        &mut self,
        program: &Program,
        names: &[Name],
    ) -> (Vec<Room>, Vec<Option<usize>>, Vec<Frame>) {
        let private = program.private.iter();
        let private = private.map(|variable| self.variable(&variable.content, None)).collect();
        let shared = variables(program, names).into_iter();
        let links = shared.map(|(id, variable, dimensions)| {
            let begin = self.block.len();
            let is_linked = variable.cell == CellKind::Linked;
            is_linked.then(|| {
                self.links(id, &dimensions, &mut Vec::new());
                begin
            })
        });
        let links = links.collect();
        let frames = program.procedures.iter().enumerate();
        let frames =
            frames.map(|(id, procedure)| self.frame(ProcedureId(id as u32), procedure)).collect();
        (private, links, frames)
    }

    /// Allocates the links of a process to the cells of a variable, in the order of
    /// [`Layout::cells`].
    fn links(&mut self, id: SharedId, dimensions: &[Over], path: &mut Vec<u8>) {
        let Some((first, rest)) = dimensions.split_first() else {
            self.block.push(Slot {
                kept: !path.contains(&OTHER),
                tracked: path.contains(&T) || path.contains(&OTHER),
                other: path.contains(&OTHER),
                link: Some((id, path.clone())),
                ..slot(LINK, None)
            });
            return;
        };
        let (places, counts) = match *first {
            Over::Members => (0..PLACES as u8, 1),
            Over::Range(_, count) => (0..0, count),
            // All of them as one, never kept.
            Over::Many => (OTHER..OTHER + 1, 1),
        };
        if places.is_empty() {
            (0..counts).for_each(|_| self.links(id, rest, path));
        }
        for place in places {
            path.push(place);
            self.links(id, rest, path);
            path.pop();
        }
    }

    fn frame(&mut self, id: ProcedureId, procedure: &Procedure) -> Frame {
        let begin = self.block.len();
        let locals = procedure.locals.iter();
        let locals = locals.map(|local| self.variable(&local.content, Some(id))).collect();
        Frame { begin, end: self.block.len(), locals, parameters: procedure.parameters }
    }

    pub(super) fn variable(&mut self, content: &Type, frame: Option<ProcedureId>) -> Room {
        let mode = self.mode;
        let shape = Shape::new(content, mode);
        let base = self.block.len();
        shape.each(&mut Vec::new(), &mut |leaf, path| {
            self.block.push(Slot {
                tracked: path.contains(&T) || path.contains(&OTHER) || is_token(leaf, mode),
                other: path.contains(&OTHER),
                ..slot(leaf, frame)
            });
        });
        Room { base, size: shape.size() }
    }
}

/// Returns a byte of no cell and no link, which is kept if it may be.
fn slot(leaf: Leaf, frame: Option<ProcedureId>) -> Slot {
    Slot {
        leaf,
        kept: leaf.scalar != Scalar::Lost,
        tracked: false,
        other: false,
        owner: None,
        frame,
        cell: None,
        link: None,
        in_row: false,
    }
}

/// Returns the location at which the variables exceed this many scalars, if any: counted before
/// they are laid out.
pub(super) fn beyond(program: &Program, mode: Mode, names: &[Name], most: usize) -> Option<Span> {
    let size = |content: &Type| Shape::new(content, mode).size();
    let shared = variables(program, names).into_iter().map(|(_, variable, dimensions)| {
        let links = 3 * usize::from(variable.cell == CellKind::Linked);
        let each = size(&variable.content).saturating_add(links);
        let cells = dimensions.iter().map(|over| match *over {
            Over::Members => PLACES,
            Over::Range(_, count) => count,
            Over::Many => 1,
        });
        (variable.span, cells.fold(each, usize::saturating_mul))
    });
    let private = program.private.iter().map(|one| (one.span, &one.content));
    let locals = program.procedures.iter().flat_map(|procedure| &procedure.locals);
    let locals = locals.map(|local| (local.span, &local.content));
    let blocks = private.chain(locals);
    let blocks = blocks.map(|(span, content)| (span, size(content).saturating_mul(3)));
    let mut total: usize = 0;
    shared.chain(blocks).find_map(|(span, size)| {
        total = total.saturating_add(size);
        (total > most).then_some(span)
    })
}

/// Returns all shared variables with their dimensions, named rows last.
fn variables<'a>(
    program: &'a Program,
    names: &[Name],
) -> Vec<(SharedId, &'a SharedVariable, Vec<Over>)> {
    let dimensions = |variable: &SharedVariable| -> Vec<Over> {
        variable.dimensions.iter().map(|set| over(*set)).collect()
    };
    let all = (0..).map(SharedId).zip(&program.shared);
    let mut all: Vec<_> = all.map(|(id, variable)| (id, variable, dimensions(variable))).collect();
    for row in crate::names::rows(names) {
        let variable = program.shared(row.array);
        all.push((row.named, variable, dimensions(variable)[1..].to_vec()));
    }
    all
}

/// Returns true for tokens of views, which are relative to t.
pub(super) fn is_token(leaf: Leaf, mode: Mode) -> bool {
    leaf.scalar == Scalar::View && mode == Mode::Nested
}

/// Returns the indices of a set.
pub fn over(set: IndexSet) -> Over {
    match set {
        IndexSet::Processes | IndexSet::Segments => Over::Members,
        IndexSet::Range(low, high) => {
            let count = i64::from(high.plus) - i64::from(low.plus) + 1;
            match has_codes(low, high) && count >= 0 {
                true => Over::Range(low.plus, count as usize),
                false => Over::Many,
            }
        }
    }
}
