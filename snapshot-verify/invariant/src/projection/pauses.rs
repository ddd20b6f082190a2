//! Pauses of processes: before accesses to kept variables, as docs/certificates.md defines them.
//! They are computed from the actual indices, not from the indices known in a view.

use snapshot_core::Process;
use snapshot_language::program::{Access, Expression, ExpressionKind, IndexSet, Root};
use snapshot_semantics::interpret::code::Instruction;
use snapshot_semantics::interpret::{Next, OpenCall};

use super::execution::Execution;
use crate::byte::{I, J, LOOSE, OTHER, T};
use crate::layout::{Index, fixed, op};
use crate::names::Use;

impl Execution<'_> {
    /// Returns true in a scan or in a ghost scan, which only the views of the process show.
    fn is_inside(&self, process: usize) -> bool {
        let doing = &self.doing[process];
        doing.operation == op::SCANS || doing.ghost.is_some()
    }

    pub fn is_at_pause(&self, process: usize) -> bool {
        let calls = self.open_calls(process);
        let Some(call) = calls.last() else { return false };
        let (access, into) = match self.instruction(call) {
            Instruction::Access { access, into, .. } => (access, into),
            // A process stands before accesses and atomic blocks only.
            _ => return true,
        };
        if self.layout.round_at(call.procedure.0 as usize, call.at).is_some() {
            return true;
        }
        let place = self.place(process);
        let block = self.layout.blocks[usize::from(place)];
        let is_kept =
            |at: usize, size: usize| self.layout.slots[at..at + size].iter().any(|slot| slot.kept);
        let variable = access.place().variable;
        if matches!(access, Access::LoadLinked(_)) && self.layout.keeps_links(place, variable) {
            return true;
        }
        if !access.writes() {
            let room = match into.map(|into| into.root) {
                None => return false,
                Some(Root::Local(id)) => {
                    self.layout.frames[call.procedure.0 as usize].locals[id.0 as usize]
                }
                Some(Root::Private(id)) => self.layout.private[id.0 as usize],
            };
            if !is_kept(block + room.base, room.size) {
                return false;
            }
        }
        if self.layout.is_clock(variable) {
            return true;
        }
        let links = access.writes() || matches!(access, Access::Validate(_));
        let has_link = |number: usize| {
            let mut members = [I, J, T].into_iter();
            links && members.any(|member| self.layout.link(member, variable, number).is_some())
        };
        let cells = &self.layout.cells[variable.0 as usize];
        if place != T && !self.is_inside(process) {
            let Some(indices) = self.central_indices(process, call, access) else { return true };
            let hits = |index: &Index, at: &Index| match (index, at) {
                (Index::Anyone | Index::Anywhere, _) => true,
                // A process's own row may be the named one, and a row accessed by a copy may be
                // any.
                (Index::Member(_), Index::Named) | (Index::Named, _) => true,
                // The centre does not show which process t is.
                (Index::Member(OTHER | T), at) => *at == Index::Member(T),
                (index, at) => index == at,
            };
            return cells.iter().enumerate().any(|(number, (path, room))| {
                indices.iter().zip(path).all(|(index, at)| hits(index, at))
                    && (is_kept(room.base, room.size) || has_link(number))
            });
        }
        let Some(indices) = self.indices(process, call, access) else { return true };
        // Any other may be the t of another view, unless the cell belongs to t itself.
        let is_mine = indices.contains(&Index::Member(T));
        let may_be_t = access.writes() && !is_mine;
        let hits = |index: &Index, at: &Index| match (index, at) {
            (Index::Member(_), Index::Named) | (Index::Named, _) => true,
            (Index::Member(OTHER | LOOSE), Index::Member(T)) => may_be_t,
            (Index::Member(LOOSE), _) => true,
            (index, at) => index == at,
        };
        cells.iter().enumerate().any(|(number, (path, room))| {
            indices.iter().zip(path).all(|(index, at)| hits(index, at))
                && (is_kept(room.base, room.size) || has_link(number))
        })
    }

    /// Returns the indices of the cell that a process is about to access; `None` if they have no
    /// meaning.
    fn indices(&self, process: usize, call: &OpenCall<'_>, access: &Access) -> Option<Vec<Index>> {
        let me = Process::from_index(process);
        let Next::Access { variable, indices, .. } = self.machine.next(&self.state, me) else {
            return None;
        };
        let dimensions = &self.machine.program().shared(variable).dimensions;
        let loose = self.loose_variables(process, call);
        let place = |((index, over), text): ((&i64, &_), &Expression)| match *over {
            _ if variable_of(text).is_some_and(|one| loose.contains(&one)) => {
                Some(Index::Member(LOOSE))
            }
            over if over.is_of_names() => {
                Some(Index::Member(self.seen_by(process, usize::try_from(*index).ok()?)))
            }
            IndexSet::Range(low, high) => {
                let (low, high) = fixed(low, high)?;
                (low..=high).contains(index).then(|| Index::Place((index - low) as usize))
            }
            _ => None,
        };
        let texts = indices.iter().zip(dimensions).zip(&access.place().indices);
        let mut places: Vec<Index> = texts.map(place).collect::<Option<_>>()?;
        let used = self.layout.uses[call.procedure.0 as usize][call.at].as_ref();
        if matches!(used, Some(Use::Through(_))) {
            places[0] = Index::Named;
        }
        Some(places)
    }

    /// Returns these indices as the centre has them: only the process itself, and its kept local
    /// variables, are known, except variables of loose loops.
    fn central_indices(
        &self,
        process: usize,
        call: &OpenCall<'_>,
        access: &Access,
    ) -> Option<Vec<Index>> {
        let (place, procedure) = (self.place(process), call.procedure.0 as usize);
        let loose = self.loose_variables(process, call);
        let is_known = |text: &Expression| match variable_of(text) {
            Some(local) => {
                let room = self.layout.frames[procedure].locals[local];
                let at = self.layout.blocks[usize::from(place)] + room.base;
                let slot = &self.layout.slots[at];
                room.size == 1 && slot.kept && !slot.tracked && !loose.contains(&local)
            }
            None => is_me(text),
        };
        let found = self.indices(process, call, access)?.into_iter();
        let dimensions = &self.machine.program().shared(access.place().variable).dimensions;
        let indices = found.zip(&access.place().indices).zip(dimensions);
        let index =
            |((index, text), over): ((Index, &Expression), &IndexSet)| match over.is_of_names() {
                false => Index::Anywhere,
                true if is_known(text) || index == Index::Named => index,
                true => Index::Anyone,
            };
        Some(indices.map(index).collect())
    }

    /// Returns the variables of the running loose loops of a call: they stand for any process but
    /// t.
    fn loose_variables(&self, process: usize, call: &OpenCall<'_>) -> Vec<usize> {
        let (place, procedure) = (self.place(process), call.procedure.0 as usize);
        let of = self.layout.code[procedure].instructions.iter().filter_map(|one| match one {
            Instruction::BeginFor(this) if (this.body..this.end).contains(&call.at) => Some(this),
            _ => None,
        });
        let of = of.filter(|this| self.layout.loose.contains(&(place, procedure, this.number)));
        of.map(|this| this.variable.0 as usize).collect()
    }
}

/// Returns the local variable of an index, if it is one.
fn variable_of(expression: &Expression) -> Option<usize> {
    match &expression.kind {
        ExpressionKind::Convert(inner) => variable_of(inner),
        ExpressionKind::Local(id) => Some(id.0 as usize),
        _ => None,
    }
}

/// Returns true if an index is the process itself.
fn is_me(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Convert(inner) => is_me(inner),
        kind => matches!(kind, ExpressionKind::Me),
    }
}
