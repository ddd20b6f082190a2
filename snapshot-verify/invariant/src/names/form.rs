//! Form of names that the rules require, found in the program's instructions.
//!
//! A *copy* of a name is a scalar of a local that holds, on all paths to an instruction, the name's
//! value at the latest LL of the process on X. So while the process is linked to X, the copy is the
//! name.

use std::collections::BTreeSet;

use snapshot_language::program::{
    Access, CellPlace, Expression, ExpressionKind, LocalId, Place, Program, Projection, Root,
    SharedId, Type,
};
use snapshot_semantics::interpret::code::{Code, Instruction};

use super::Name;
use crate::layout::size;

/// Use of names by an instruction.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Use {
    /// The instruction accesses the row that a copy of this name refers to.
    Through(usize),
    /// It writes the process's own row, of an array whose rows this name refers to.
    Own(usize),
    /// It writes the cell of names: for each name, true if it becomes the process itself; otherwise
    /// it is unchanged.
    Writes(Vec<(usize, bool)>),
}

/// Per procedure and instruction.
pub type Uses = Vec<Vec<Option<Use>>>;

/// A scalar of a local: the procedure, the local, and the number of the scalar.
type Byte = (usize, usize, usize);

/// Facts that hold on all paths to an instruction.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Facts {
    /// Copies of the name.
    copies: BTreeSet<Byte>,
    /// Scalars equal to the first index of the process's latest LL on the array in this operation.
    latest: BTreeSet<Byte>,
}

impl Facts {
    fn retain(&mut self, stays: impl Fn(&Byte) -> bool) {
        self.copies.retain(&stays);
        self.latest.retain(&stays);
    }

    fn meet(&self, other: &Self) -> Self {
        let meet = |one: &BTreeSet<Byte>, two: &BTreeSet<Byte>| one & two;
        Self {
            copies: meet(&self.copies, &other.copies),
            latest: meet(&self.latest, &other.latest),
        }
    }
}

/// Origin of a scalar.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Source {
    Me,
    Local(Byte),
    Else,
}

/// A program, and one name of one array.
struct Form<'a, 'p> {
    program: &'p Program,
    code: &'a [Code<'p>],
    tokens: bool,
    ghostly: &'a [bool],
    name: &'a Name,
    array: SharedId,
}

/// Returns the use of names by each instruction; `None` if the names do not have the required form.
pub fn uses<'p>(
    program: &'p Program,
    code: &[Code<'p>],
    (tokens, ghostly): (bool, &[bool]),
    names: &[Name],
) -> Option<Uses> {
    let is_atomic = |one: &Instruction<'_>| matches!(one, Instruction::BeginAtomic { .. });
    if !names.is_empty() && code.iter().any(|code| code.instructions.iter().any(is_atomic)) {
        return None;
    }
    let mut uses: Uses = code.iter().map(|code| vec![None; code.instructions.len()]).collect();
    let mut known = BTreeSet::new();
    for (number, name) in names.iter().enumerate() {
        let is_new = |array: &SharedId| known.insert(array.0);
        let is_twice =
            |other: &Name| (other.variable, other.offset) == (name.variable, name.offset);
        if !name.arrays.iter().all(is_new) || names[..number].iter().any(is_twice) {
            return None;
        }
        for &array in &name.arrays {
            let form = Form { program, code, tokens, ghostly, name, array };
            form.find(number, &mut uses)?;
        }
    }
    // The cell of a name must not be a row.
    let is_row = |name: &Name| known.contains(&name.variable.0);
    (!names.iter().any(is_row)).then_some(uses)
}

impl Form<'_, '_> {
    fn find(&self, number: usize, uses: &mut Uses) -> Option<()> {
        let facts = self.facts();
        for (procedure, code) in self.code.iter().enumerate() {
            for (at, instruction) in code.instructions.iter().enumerate() {
                let Instruction::Access { access, .. } = instruction else { continue };
                // Unreachable instructions need no use.
                let Some(facts) = &facts[procedure][at] else { continue };
                let used = &mut uses[procedure][at];
                if access.place().variable == self.array {
                    *used = Some(match self.is_own(procedure, access, facts)? {
                        true => Use::Own(number),
                        false => Use::Through(number),
                    });
                }
                if access.place().variable == self.name.variable && access.writes() {
                    let names_itself = self.names_itself(procedure, access, facts)?;
                    match used {
                        Some(Use::Writes(names)) if names.contains(&(number, names_itself)) => {}
                        Some(Use::Writes(names)) => names.push((number, names_itself)),
                        _ => *used = Some(Use::Writes(vec![(number, names_itself)])),
                    }
                }
            }
        }
        Some(())
    }

    /// Returns true if an access to the array is a write to the process's own row, and false if it
    /// is an access by a copy; `None` if it is neither.
    fn is_own(&self, procedure: usize, access: &Access, facts: &Facts) -> Option<bool> {
        let (first, rest) = access.place().indices.split_first()?;
        let source = self.source(procedure, first, 0);
        let is_me = |index: &Expression| self.source(procedure, index, 0) == Source::Me;
        let is =
            |set: &BTreeSet<Byte>| matches!(source, Source::Local(byte) if set.contains(&byte));
        let in_own_column = rest.iter().all(is_me) && !self.ghostly[procedure];
        match access {
            Access::Write(..) => (source == Source::Me).then_some(true),
            Access::Read(_) => is(&facts.copies).then_some(false),
            Access::LoadLinked(_) => (is(&facts.copies) && in_own_column).then_some(false),
            Access::StoreConditional(..) => {
                let is_latest = is(&facts.copies) && is(&facts.latest);
                (is_latest && in_own_column).then_some(false)
            }
            Access::Validate(_) | Access::CompareAndSwap(..) => None,
        }
    }

    /// Returns true if a write to the cell of the name makes it the process itself, and false if it
    /// leaves the name unchanged; `None` if neither is certain.
    fn names_itself(&self, procedure: usize, access: &Access, facts: &Facts) -> Option<bool> {
        match access {
            Access::Write(_, value) | Access::StoreConditional(_, value)
                if self.source(procedure, value, self.name.offset) == Source::Me =>
            {
                Some(true)
            }
            // If the SC succeeds, the process was linked, and the copy is the name.
            Access::StoreConditional(_, value) => {
                match self.source(procedure, value, self.name.offset) {
                    Source::Local(byte) => facts.copies.contains(&byte).then_some(false),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the facts before each instruction; `None` if it is unreachable.
    fn facts(&self) -> Vec<Vec<Option<Facts>>> {
        let mut all: Vec<Vec<Option<Facts>>> =
            self.code.iter().map(|code| vec![None; code.instructions.len()]).collect();
        let mut waiting = Vec::new();
        for root in [self.program.update(), self.program.scan()] {
            all[root.0 as usize][0] = Some(Facts::default());
            waiting.push((root.0 as usize, 0));
        }
        while let Some((procedure, at)) = waiting.pop() {
            let Some(before) = all[procedure][at].clone() else { continue };
            for (to, after) in self.behind(procedure, at, &before) {
                let known = &mut all[to.0][to.1];
                let met = known.as_ref().map_or_else(|| after.clone(), |one| one.meet(&after));
                if known.as_ref() != Some(&met) {
                    *known = Some(met);
                    waiting.push(to);
                }
            }
        }
        all
    }

    /// Returns the facts after an instruction, on each branch.
    fn behind(&self, procedure: usize, at: usize, before: &Facts) -> Vec<((usize, usize), Facts)> {
        let mut after = before.clone();
        let on = |to: usize, after: Facts| ((procedure, to), after);
        match self.code[procedure].instructions[at] {
            Instruction::Assign { place, value } => {
                self.forget(procedure, Some(place), &mut after);
                if let Some((local, begin, size, true)) = self.target(procedure, place) {
                    for offset in 0..size {
                        let source = self.source(procedure, value, offset);
                        moved(before, &mut after, (procedure, local, begin + offset), source);
                    }
                }
            }
            Instruction::Access { access, into, .. } => {
                self.accessed(procedure, access, into, &mut after);
            }
            Instruction::Call { procedure: inner, arguments, .. } => {
                let inner = inner.0 as usize;
                after.retain(|byte| byte.0 != inner);
                for (local, argument) in arguments.iter().enumerate() {
                    for offset in 0..size(&argument.content, self.tokens) {
                        let source = self.source(procedure, argument, offset);
                        moved(before, &mut after, (inner, local, offset), source);
                    }
                }
                return vec![((inner, 0), after)];
            }
            Instruction::Return { .. } => {
                let mut ways = Vec::new();
                for (caller, code) in self.code.iter().enumerate() {
                    for (at, one) in code.instructions.iter().enumerate() {
                        if let Instruction::Call { procedure: inner, into, .. } = one
                            && inner.0 as usize == procedure
                        {
                            let mut after = after.clone();
                            after.retain(|byte| byte.0 != procedure);
                            self.forget(caller, *into, &mut after);
                            ways.push(((caller, at + 1), after));
                        }
                    }
                }
                return ways;
            }
            Instruction::Unless { target, .. } => {
                return vec![on(at + 1, after.clone()), on(target, after)];
            }
            Instruction::Jump { target } => return vec![on(target, after)],
            Instruction::BeginFor(this) | Instruction::NextFor(this) => {
                let variable = this.variable.0 as usize;
                let is_it = |byte: &Byte| (byte.0, byte.1) == (procedure, variable);
                after.retain(|byte| !is_it(byte));
                return vec![on(this.body, after.clone()), on(this.end, after)];
            }
            // Belongs to objects other than the snapshot, or is refused.
            _ => {}
        }
        vec![on(at + 1, after)]
    }

    fn accessed(&self, procedure: usize, access: &Access, into: Option<&Place>, after: &mut Facts) {
        let cell: &CellPlace = access.place();
        let first = cell.indices.first().map(|index| self.source(procedure, index, 0));
        let is_load = matches!(access, Access::LoadLinked(_));
        if is_load && cell.variable == self.array {
            after.latest.clear();
            if let Some(Source::Local(byte)) = first {
                after.latest.insert(byte);
            }
        }
        if is_load && cell.variable == self.name.variable {
            after.copies.clear();
        }
        self.forget(procedure, into, after);
        if is_load
            && cell.variable == self.name.variable
            && let Some((local, begin, _, true)) =
                into.and_then(|into| self.target(procedure, into))
        {
            after.copies.insert((procedure, local, begin + self.name.offset));
        }
    }

    /// Removes the facts about a variable that is stored to.
    fn forget(&self, procedure: usize, place: Option<&Place>, after: &mut Facts) {
        let Some((local, begin, size, _)) = place.and_then(|one| self.target(procedure, one))
        else {
            return;
        };
        let is_it = |byte: &Byte| {
            (byte.0, byte.1) == (procedure, local) && (begin..begin + size).contains(&byte.2)
        };
        after.retain(|byte| !is_it(byte));
    }

    /// Returns the local that is stored to: its first scalar, the number of scalars, and true if
    /// exactly these are stored; the whole local, if that depends on an index.
    fn target(&self, procedure: usize, place: &Place) -> Option<(usize, usize, usize, bool)> {
        let Root::Local(LocalId(local)) = place.root else { return None };
        let declared = &self.program.procedures[procedure].locals[local as usize].content;
        let (mut content, mut begin) = (declared, 0);
        for projection in &place.path {
            match (projection, content) {
                (Projection::Field(position), Type::Record(fields)) => {
                    let before = fields[..*position].iter();
                    begin += before.map(|one| size(&one.content, self.tokens)).sum::<usize>();
                    content = &fields[*position].content;
                }
                _ => return Some((local as usize, 0, size(declared, self.tokens), false)),
            }
        }
        Some((local as usize, begin, size(content, self.tokens), true))
    }

    /// Returns the origin of a scalar of an expression.
    fn source(&self, procedure: usize, expression: &Expression, offset: usize) -> Source {
        match &expression.kind {
            ExpressionKind::Me => Source::Me,
            ExpressionKind::Local(id) => Source::Local((procedure, id.0 as usize, offset)),
            ExpressionKind::Convert(inner) => self.source(procedure, inner, offset),
            ExpressionKind::Field(record, position) => {
                let Type::Record(fields) = &record.content else { return Source::Else };
                let before = fields[..*position].iter();
                let begin: usize = before.map(|one| size(&one.content, self.tokens)).sum();
                self.source(procedure, record, begin + offset)
            }
            ExpressionKind::Record(parts) => {
                let mut begin = 0;
                for part in parts {
                    let size = size(&part.content, self.tokens);
                    if (begin..begin + size).contains(&offset) {
                        return self.source(procedure, part, offset - begin);
                    }
                    begin += size;
                }
                Source::Else
            }
            ExpressionKind::With(record, parts) => {
                let Type::Record(fields) = &record.content else { return Source::Else };
                for (position, part) in parts {
                    let before = fields[..*position].iter();
                    let begin: usize = before.map(|one| size(&one.content, self.tokens)).sum();
                    let size = size(&fields[*position].content, self.tokens);
                    if (begin..begin + size).contains(&offset) {
                        return self.source(procedure, part, offset - begin);
                    }
                }
                self.source(procedure, record, offset)
            }
            _ => Source::Else,
        }
    }
}

/// Copies the facts of one scalar to another.
fn moved(before: &Facts, after: &mut Facts, to: Byte, from: Source) {
    let Source::Local(from) = from else { return };
    if before.copies.contains(&from) {
        after.copies.insert(to);
    }
    if before.latest.contains(&from) {
        after.latest.insert(to);
    }
}
