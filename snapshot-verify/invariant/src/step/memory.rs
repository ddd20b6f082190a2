//! Accesses to shared memory: the cell, the value read from it, and the writes that others see.

use smallvec::SmallVec;
use snapshot_language::program::{
    Access, CellPlace, Expression, ExpressionKind, IndexSet, Place, Projection, Root, SharedId,
    Type,
};
use snapshot_semantics::interpret::code::Instruction;

use super::named::Cell;
use super::{Failure, Outcome, Run, Write, definite_indices};
use crate::byte::{ANY, BASE, LOOSE, OTHER, PLACES, Row, T, number, truth};
use crate::centre::is_central;
use crate::clock;
use crate::evaluate::{Stop, patched_token, plain, stored_token};
use crate::layout::{Index, Room, Scalar, fixed, is_view, size};
use crate::names::Use;

impl<'p> Run<'_, 'p> {
    /// Stores in a variable of the process; an unknown place makes its whole variable unknown.
    pub fn store(&self, branch: &mut Outcome, procedure: usize, place: &Place, row: &[u8]) {
        let block = self.block();
        let program = self.layout.program;
        let (room, mut content) = match place.root {
            Root::Local(id) => (
                self.layout.frames[procedure].locals[id.0 as usize],
                &program.procedures[procedure].local(id).content,
            ),
            Root::Private(id) => {
                let write = Write::Private(id.0 as usize);
                if !branch.writes.contains(&write) {
                    branch.writes.push(write);
                }
                (self.layout.private[id.0 as usize], &program.private(id).content)
            }
        };
        let tokens = self.layout.tokens();
        // All indices may go wrong, also where the view has no byte for the element.
        let mut indices: SmallVec<[u8; 4]> = SmallVec::new();
        for projection in &place.path {
            if let Projection::Index(index) = projection {
                indices.push(self.scope(branch, procedure).scalar(index).unwrap_or_else(|stop| {
                    branch.failure = branch.failure.or(self.unknown(stop, &branch.state));
                    ANY
                }));
            }
        }
        let mut indices = indices.into_iter();
        let mut begin = block + room.base;
        for (number, projection) in place.path.iter().enumerate() {
            match (projection, content) {
                (Projection::Index(_), Type::Array { index: over, element }) => {
                    if tokens && is_view(content) {
                        // The store changes one element of a view.
                        let token = patched_token(branch.state[begin]);
                        self.put(&mut branch.state, begin, &[token]);
                        return;
                    }
                    let byte = indices.next().unwrap_or(ANY);
                    let size = size(element, tokens);
                    match self.offset(*over, byte) {
                        Some(offset) => begin += offset * size,
                        // The place of a process that is not present holds nothing.
                        None if over.is_of_names() && byte == BASE + OTHER => return,
                        // One of two places, or a place that is not present: either the stored or
                        // the previous value.
                        None if over.is_of_names() && byte == BASE + LOOSE => {
                            let end = begin + usize::from(T) * size;
                            let is_all = number + 1 == place.path.len();
                            for (at, byte) in branch.state[begin..end].iter_mut().enumerate() {
                                if !is_all || *byte != row[at % size] {
                                    *byte = ANY;
                                }
                            }
                            return;
                        }
                        None => {
                            self.lose(&mut branch.state, block, room);
                            return;
                        }
                    }
                    content = element;
                }
                (Projection::Field(position), Type::Record(fields)) => {
                    let before = fields[..*position].iter();
                    begin += before.map(|field| size(&field.content, tokens)).sum::<usize>();
                    content = &fields[*position].content;
                }
                _ => return,
            }
        }
        self.put(&mut branch.state, begin, row);
    }

    /// Returns the offset of an index, in elements, if its place is present.
    pub(super) fn offset(&self, over: IndexSet, byte: u8) -> Option<usize> {
        if byte == ANY {
            return None;
        }
        match over {
            IndexSet::Range(low, high) => {
                let (low, high) = fixed(low, high)?;
                (low..=high).contains(&number(byte)).then(|| (number(byte) - low) as usize)
            }
            _ => {
                let member = byte - BASE;
                self.kind.members.contains(&member).then_some(usize::from(member))
            }
        }
    }

    pub(super) fn lose(&self, state: &mut [u8], block: usize, room: Room) {
        state[block + room.base..block + room.base + room.size].fill(ANY);
    }

    /// Evaluates the indices of a cell.
    pub(super) fn indices(
        &self,
        branch: &mut Outcome,
        procedure: usize,
        place: &CellPlace,
    ) -> Result<Vec<Index>, Stop> {
        let dimensions = &self.layout.program.shared(place.variable).dimensions;
        let mut indices = Vec::new();
        let here = self.place(&branch.state).map(|(_, here)| here);
        let used = here.and_then(|here| self.used(procedure, here));
        let is_through = matches!(used, Some(Use::Through(_)));
        for (number, (index, over)) in place.indices.iter().zip(dimensions).enumerate() {
            if number == 0 && is_through {
                indices.push(Index::Named);
                continue;
            }
            let byte = self.scope(branch, procedure).scalar(index)?;
            indices.push(match (byte, over.is_of_names()) {
                (ANY, true) => Index::Anyone,
                (byte, true) => Index::Member(byte - BASE),
                (byte, false) => match self.offset(*over, byte) {
                    Some(place) => Index::Place(place),
                    None if byte == ANY => Index::Anywhere,
                    None => return Err(Stop::Fault(index.span)),
                },
            });
        }
        Ok(indices)
    }

    /// Returns true if an access belongs to the step before it: it touches no kept variable, in
    /// this view if it reads, in any view if it writes. For i and j outside of their scans every
    /// view must give the same answer: there all cells of a variable count as one.
    pub(super) fn is_silent(
        &self,
        branch: &mut Outcome,
        procedure: usize,
        access: &Access,
        into: Option<&Place>,
    ) -> bool {
        let writes = access.writes();
        let variable = access.place().variable;
        let place = self.place(&branch.state);
        let is_round = |(procedure, here)| self.layout.round_at(procedure, here).is_some();
        let is_load = matches!(access, Access::LoadLinked(_));
        if place.is_some_and(is_round) || is_load && self.layout.keeps_links(self.me, variable) {
            return false;
        }
        if !writes && !self.keeps(procedure, into) {
            return true;
        }
        // A plain read, or an LL whose link is not kept, depends on the content alone.
        let links = writes || matches!(access, Access::Validate(_));
        let exact = self.me == T || (self.is_followed() && self.is_inside(&branch.state));
        if !exact {
            let indices = self.central_indices(branch, procedure, access.place());
            return !self.touches(variable, &indices, (true, links));
        }
        let fresh = branch.fresh;
        let indices = self.indices(branch, procedure, access.place());
        branch.fresh = fresh;
        let Ok(indices) = indices else { return false };
        let is_mine = |one: &Index| *one == Index::Member(T);
        let others_are_t = writes && !indices.iter().any(is_mine);
        !self.touches(variable, &indices, (others_are_t, links))
    }

    /// Returns the indices of a cell as far as the centre determines them, where all views of a
    /// state must agree: t counts as any other, and any other may be t.
    fn central_indices(&self, branch: &Outcome, procedure: usize, place: &CellPlace) -> Vec<Index> {
        let block = self.block();
        let is_loose = |at: usize| self.layout.loose_bytes.iter().any(|(_, one)| *one == at);
        let dimensions = &self.layout.program.shared(place.variable).dimensions;
        let index = |(index, over): (&Expression, &IndexSet)| {
            if !over.is_of_names() {
                return Index::Anywhere;
            }
            let room = match plain(index) {
                ExpressionKind::Me => return Index::Member(self.me),
                ExpressionKind::Local(id) => self.layout.frames[procedure].locals[id.0 as usize],
                _ => return Index::Anyone,
            };
            let at = block + room.base;
            let is_central = room.size == 1 && is_central(self.layout, &branch.state, at);
            match branch.state[at].checked_sub(BASE) {
                Some(T | OTHER) if is_central && !is_loose(at) => Index::Member(OTHER),
                Some(member) if is_central && member < T => Index::Member(member),
                _ => Index::Anyone,
            }
        };
        let mut indices: Vec<Index> = place.indices.iter().zip(dimensions).map(index).collect();
        let here = self.place(&branch.state).map(|(_, here)| here);
        let used = here.and_then(|here| self.used(procedure, here));
        if matches!(used, Some(Use::Through(_))) {
            indices[0] = Index::Named;
        }
        indices
    }

    /// Returns true if cells with these indices are kept. The flags say whether another process may
    /// be t, and whether links to the cells count.
    pub(super) fn touches(
        &self,
        variable: SharedId,
        indices: &[Index],
        (others_are_t, links): (bool, bool),
    ) -> bool {
        if self.layout.is_clock(variable) {
            return true;
        }
        let is_linked = |number: usize| {
            let mut members = 0..PLACES as u8;
            members.any(|member| self.layout.link(member, variable, number).is_some())
        };
        let mut cells = self.layout.cells[variable.0 as usize].iter().enumerate();
        cells.any(|(number, (path, room))| {
            let hit = indices.iter().zip(path).all(|(index, place)| match (index, place) {
                (Index::Member(OTHER | LOOSE), Index::Member(T)) => others_are_t,
                (Index::Member(LOOSE), _) => true,
                (Index::Anyone | Index::Anywhere, _) => true,
                // The process's own row may be the named one, and a row accessed by a copy may be
                // any.
                (Index::Member(_), Index::Named) | (Index::Named, _) => true,
                (index, place) => index == place,
            });
            let mut slots = self.layout.slots[room.base..room.base + room.size].iter();
            hit && (slots.any(|slot| slot.kept) || links && is_linked(number))
        })
    }

    /// Returns true if a place is part of a kept variable.
    pub(super) fn keeps(&self, procedure: usize, into: Option<&Place>) -> bool {
        let Some(place) = into else { return false };
        let room = match place.root {
            Root::Local(id) => self.layout.frames[procedure].locals[id.0 as usize],
            Root::Private(id) => self.layout.private[id.0 as usize],
        };
        let begin = self.block() + room.base;
        self.layout.slots[begin..begin + room.size].iter().any(|slot| slot.kept)
    }

    pub(super) fn access(&self, mut branch: Outcome, procedure: usize, out: &mut Vec<Outcome>) {
        let Some((_, here)) = self.place(&branch.state) else { return };
        let instruction = self.layout.code[procedure].instructions[here];
        let Instruction::Access { access, into, .. } = instruction else { return };
        let indices = match self.indices(&mut branch, procedure, access.place()) {
            Ok(indices) => indices,
            Err(stop) => match self.unknown(stop, &branch.state) {
                Some(failure) => {
                    branch.failure = Some(failure);
                    out.push(branch);
                    return;
                }
                None => vec![Index::Anyone; access.place().indices.len()],
            },
        };
        // An unknown cell may be each cell of the members present, or a cell without a place.
        let variable = access.place().variable;
        let mut all = definite_indices(self.layout, self.kind, variable, &indices);
        let last = all.pop();
        for indices in all {
            self.access_at(branch.clone(), procedure, here, access, into, indices, out);
        }
        if let Some(indices) = last {
            self.access_at(branch, procedure, here, access, into, indices, out);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what an access is made of")]
    pub(super) fn access_at(
        &self,
        mut branch: Outcome,
        procedure: usize,
        here: usize,
        access: &Access,
        into: Option<&Place>,
        indices: Vec<Index>,
        out: &mut Vec<Outcome>,
    ) {
        let variable = access.place().variable;
        let declared = self.layout.program.shared(variable);
        let cells = &self.layout.cells[variable.0 as usize];
        let is_there = indices.iter().all(|index| match index {
            Index::Member(member) => self.kind.members.contains(member),
            _ => true,
        });
        // Number of the cell, if it has a place.
        let cell = cells.iter().position(|(path, _)| is_there && *path == indices);
        let content = match cell.map(|number| cells[number].1) {
            Some(room) => {
                let view = self.layout.read_view(false);
                let mut row = self.layout.unknown(&declared.content, view);
                let state = &branch.state[room.base..room.base + room.size];
                for (byte, kept) in row.iter_mut().zip(state) {
                    *byte = if *kept == ANY { *byte } else { *kept };
                }
                row
            }
            None => {
                let exempt = indices == [Index::Member(OTHER)];
                let view = self.layout.read_view(exempt);
                self.layout.unknown(&declared.content, view)
            }
        };
        let place = (procedure, here);
        let used = self.used(procedure, here);
        let content = match self.is_read(&branch.state, used) {
            true => content,
            false => self.layout.unknown(&declared.content, self.layout.read_view(false)),
        };
        let mut content = self.layout.without_names(variable, content);
        if self.layout.is_clock(variable) {
            content[0] = clock::NOW;
        }
        let finish = |mut branch: Outcome, row: &[u8]| {
            if let Some(into) = into {
                self.store(&mut branch, procedure, into, row);
            }
            self.arrive(&mut branch.state, procedure, here + 1);
            branch
        };
        // A write that succeeds, or fails.
        let attempt = |mut branch: Outcome, value: &Expression, success, out: &mut Vec<Outcome>| {
            if success {
                let Some(row) = self.evaluated(&mut branch, procedure, value) else {
                    out.push(branch);
                    return;
                };
                self.write_as(&mut branch, variable, &indices, cell, row, place);
            }
            out.push(finish(branch, &[truth(success)]));
        };
        match access {
            Access::Read(_) => out.push(finish(branch, &content)),
            Access::Write(_, value) => {
                let mut scope = self.scope(&mut branch, procedure);
                let row = scope.row(value);
                let unknown = scope.unknown;
                match row {
                    Ok(row) => {
                        if let Some(Use::Own(name)) = used {
                            let cell = Cell { variable, indices, number: cell };
                            let ways = self.write_own(branch, *name, (&cell, &row), place);
                            out.extend(ways.into_iter().map(|branch| finish(branch, &[])));
                            return;
                        }
                        self.write_as(&mut branch, variable, &indices, cell, row, place);
                        out.push(finish(branch, &[]));
                    }
                    Err(stop) => {
                        let mut after = Vec::new();
                        if used.is_some() {
                            let failure =
                                Failure::Unsupported("a name or a row that is written wrongly");
                            branch.failure = Some(failure);
                            out.push(branch);
                            return;
                        }
                        self.stopped(branch, stop, unknown, &mut after, |branch| {
                            let row = self.layout.unknown(&value.content, self.lost_view());
                            self.write(branch, variable, &indices, cell, row, place);
                            *branch = finish(branch.clone(), &[]);
                        });
                        for branch in after {
                            let done = self.place(&branch.state) != Some((procedure, here));
                            match branch.failure.is_some() || done {
                                true => out.push(branch),
                                false => self.access(branch, procedure, out),
                            }
                        }
                    }
                }
            }
            Access::CompareAndSwap(_, old, new) => {
                let old = self.scope(&mut branch, procedure).row(old);
                let equal = match &old {
                    Ok(old) => {
                        self.scope(&mut branch, procedure).equal(&declared.content, &content, old)
                    }
                    Err(_) => None,
                };
                if let Err(stop) = old
                    && let Some(failure) = self.unknown(stop, &branch.state)
                {
                    branch.failure = Some(failure);
                    out.push(branch);
                    return;
                }
                for success in [true, false] {
                    if equal != Some(!success) {
                        attempt(branch.clone(), new, success, out);
                    }
                }
            }
            Access::LoadLinked(_) => {
                match used {
                    Some(Use::Through(name)) => self.link_by_copy(&mut branch, *name, variable),
                    _ => self.link(&mut branch, variable, cell),
                }
                out.push(finish(branch, &content));
            }
            Access::Validate(_) => {
                for (is_linked, branch) in self.by_link(branch, place, variable, cell) {
                    out.push(finish(branch, &[truth(is_linked)]));
                }
            }
            Access::StoreConditional(_, value) if matches!(used, Some(Use::Through(_))) => {
                let Some(Use::Through(name)) = used else { return };
                let Some(row) = self.evaluated(&mut branch, procedure, value) else {
                    out.push(branch);
                    return;
                };
                let cell = Cell { variable, indices, number: cell };
                for (result, branch) in self.store_by_copy(branch, *name, (&cell, &row), place) {
                    out.push(finish(branch, &[result]));
                }
            }
            Access::StoreConditional(_, value) => {
                for (is_linked, branch) in self.by_link(branch, place, variable, cell) {
                    attempt(branch, value, is_linked, out);
                }
            }
        }
    }

    pub(super) fn write(
        &self,
        branch: &mut Outcome,
        variable: SharedId,
        indices: &[Index],
        cell: Option<usize>,
        mut row: Row,
        (procedure, here): (usize, usize),
    ) {
        let base = self.layout.shared[variable.0 as usize].base;
        for (at, byte) in (base..).zip(&mut row) {
            *byte = self.layout.tight(at, *byte);
        }
        if let Some(number) = cell {
            let room = self.layout.cells[variable.0 as usize][number].1;
            for (at, byte) in (room.base..).zip(&row) {
                let slot = &self.layout.slots[at];
                if !slot.kept || self.layout.is_clock(variable) {
                    continue;
                }
                let is_token = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View)
                    && self.layout.tokens();
                branch.state[at] = match (self.is_there(at), is_token) {
                    (false, _) => ANY,
                    (true, true) => stored_token(*byte, self.me == T),
                    (true, false) => *byte,
                };
            }
            self.layout.break_links(&mut branch.state, variable, number);
        }
        let is_clock = self.layout.is_clock(variable);
        if is_clock {
            self.layout.pass_clock(&mut branch.state, row[0], self.me);
        }
        // A write to an unkept cell affects no view.
        let is_mine = |one: &Index| *one == Index::Member(T);
        let others_are_t = self.me != T || !indices.iter().any(is_mine);
        let round = self.layout.round_at(procedure, here);
        if round.is_some() || self.touches(variable, indices, (others_are_t, true)) {
            // Two equal writes, to any other processes, have the effect of one; two ticks do not.
            let write = Write::Cell(variable, indices.to_vec(), row.clone(), round);
            if is_clock || branch.writes.last() != Some(&write) {
                branch.writes.push(write);
            }
        }
        if self.is_point(procedure, here) {
            self.pass_point(&mut branch.state);
        }
        if let Some(round) = round {
            let failure = self.pass_round(&mut branch.state, round, variable, &row);
            branch.failure = branch.failure.or(failure);
        }
    }
}
