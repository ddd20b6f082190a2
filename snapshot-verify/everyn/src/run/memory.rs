//! Cells and parts of variables: their location, reads, and the effects of writes.
//!
//! Invariant: a known byte is true of the state. So a write to an unknown cell makes all possible
//! cells unknown, here and (by [`Branch::elsewhere`], [`Branch::others`] and [`Branch::tokens`]) in
//! the views of others.

use super::{Branch, Failure, Run, failed, note, pc, set_pc};
use crate::evaluate::{Stop, same};
use crate::liveness::target;
use crate::model::{Act, Cell, Instruction, Slot, Step, Target, Unsupported};
use crate::shape::{
    BASE, BORROWED, Bytes, DEAD, EXEMPT, FRESH, MIXED, Mode, OLD, OTHER, OWN, PLACES, SOME, Scalar,
    T, UNKNOWN,
};
use crate::term::{Other, Over};

/// Location of a cell.
pub(super) enum Located {
    /// The first byte of the cell; and its number among the cells of the variable.
    At(usize, usize),
    /// A cell that is not kept; true if its views are shown elsewhere, and its indices.
    Gone(bool, Vec<Option<u8>>),
}

impl Run<'_> {
    /// Locates a part of a variable, and stores there.
    pub(super) fn store(
        &self,
        mut branch: Branch,
        target: &Target,
        bytes: Bytes,
        out: &mut Vec<Branch>,
    ) {
        let block = self.block();
        let mut at = block + target.room.base;
        let mut gone = false;
        let mut anywhere = false;
        for step in &target.path {
            match step {
                Step::Field(offset) => at += offset,
                Step::Passed(index) => {
                    if let Err(stop) = self.scope(&mut branch.state).bytes(index) {
                        branch.failure = Some(failed(stop));
                        out.push(branch);
                        return;
                    }
                }
                Step::Element(index, over, size, other) => {
                    let index = match self.scope(&mut branch.state).scalar(index) {
                        Ok(index) => index,
                        Err(stop) => {
                            branch.failure = Some(failed(stop));
                            out.push(branch);
                            return;
                        }
                    };
                    let is_other = *over == Over::Members && index == BASE + OTHER;
                    match index {
                        DEAD..BASE => anywhere = true,
                        _ if is_other => {
                            gone |= *other == Other::Unknown || gone;
                            at += usize::from(OTHER) * size;
                        }
                        index => at += over.place(index) * size,
                    }
                }
            }
        }
        if target.private.is_some() && self.me != T {
            // An index of any other may be t of another view.
            let room = block + target.room.base..block + target.room.base + target.room.size;
            let is_known = !anywhere && !self.model.slots[at].other;
            let stored = if is_known { at..at + target.size } else { room };
            let is_hidden = |at: &usize| {
                let slot = &self.model.slots[*at];
                slot.kept && slot.tracked && !slot.other
            };
            stored.filter(is_hidden).for_each(|at| note(&mut branch.hidden, at));
        }
        let state = &mut branch.state;
        if anywhere {
            // Any part may be stored: the whole variable becomes unknown.
            let begin = block + target.room.base;
            let end = begin + target.room.size;
            for (byte, slot) in state[begin..end].iter_mut().zip(&self.model.slots[begin..end]) {
                if slot.kept {
                    let is_token = self.mode() == Mode::Nested
                        && slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
                    *byte = match slot.other {
                        true => DEAD,
                        false if is_token => OLD,
                        false => UNKNOWN,
                    };
                }
            }
            if target.private.is_some() {
                for (at, slot) in (begin..end).zip(&self.model.slots[begin..end]) {
                    note_other(&mut branch.others, slot, at, UNKNOWN);
                }
            }
            let has_view = self.has_view(at, 0, &bytes)
                || self.model.slots[begin..begin + target.room.size]
                    .iter()
                    .any(|slot| slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View));
            if has_view && target.path.len() > 1 {
                branch.failure = self.is_judged().then_some(Failure::Mixed(target.span));
            }
            out.push(branch);
            return;
        }
        if target.in_token {
            // An element of a view that is only a token.
            let byte = state[at];
            let is_own = byte == OWN && bytes.as_slice() == [OWN];
            if self.model.slots[at].kept {
                state[at] = if is_own { OWN } else { MIXED };
            }
            out.push(branch);
            return;
        }
        for (offset, &byte) in bytes.iter().enumerate() {
            let slot = &self.model.slots[at + offset];
            if slot.other {
                // Views have no place there: they count as borrowed, and are shown to be right with
                // that process tracked.
                let is_view = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
                if is_view && self.is_lost_view(target, at + offset, byte) {
                    branch.failure = self.is_judged().then_some(Failure::Mixed(target.span));
                } else if slot.kept && !is_view && !gone && bytes.len() < target.room.size {
                    state[at + offset] = byte;
                } else {
                    state[at + offset] = DEAD;
                }
            } else if slot.kept {
                state[at + offset] = slot.stored(byte);
                if target.private.is_some() {
                    note_other(&mut branch.others, slot, at + offset, byte);
                }
            }
        }
        out.push(branch);
    }

    fn has_view(&self, begin: usize, from: usize, bytes: &[u8]) -> bool {
        (from..bytes.len()).any(|offset| {
            let leaf = self.model.slots.get(begin + offset).and_then(|slot| slot.leaf);
            leaf.is_some_and(|leaf| leaf.scalar == Scalar::View)
        })
    }

    /// Returns true if a view stored at the place of an untracked process is not shown to be right
    /// elsewhere.
    fn is_lost_view(&self, target: &Target, at: usize, byte: u8) -> bool {
        // A value stored whole has no separate element at "any other".
        let stored_whole = target.path.iter().all(|step| !matches!(step, Step::Element(..)));
        if stored_whole {
            return false;
        }
        match self.mode() {
            Mode::Nested => byte != EXEMPT,
            Mode::Direct => {
                // An element of the view itself is read as unknown again.
                let is_element = target.size == 1;
                let _ = at;
                !is_element && !matches!(byte, BORROWED | DEAD)
            }
        }
    }

    pub(super) fn locate(&self, state: &mut [u8], cell: &Cell) -> Result<Located, Stop> {
        let mut number = 0;
        let mut gone = false;
        let mut indices = Vec::new();
        let mut members = 0;
        let mut others = 0;
        for (over, index) in &cell.indices {
            let index = self.scope(state).scalar(index)?;
            match over {
                Over::Members => {
                    members += 1;
                    match index {
                        DEAD..BASE => {
                            gone = true;
                            indices.push(None);
                        }
                        index => {
                            others += usize::from(index == BASE + OTHER);
                            gone |= index == BASE + OTHER;
                            indices.push(Some(index - BASE));
                        }
                    }
                    number = number * PLACES + usize::from(index.saturating_sub(BASE));
                }
                Over::Range(_, count) => match index {
                    DEAD..BASE => gone = true,
                    index => number = number * count + over.place(index),
                },
                Over::Many => {
                    gone = true;
                    indices.push(None);
                }
            }
        }
        let room = &self.model.shared[cell.variable.0 as usize];
        Ok(match gone {
            true => {
                let exempt = members == 1 && others == 1 && cell.indices.len() == 1;
                Located::Gone(exempt, indices)
            }
            false => Located::At(room.base + number * room.size, number),
        })
    }

    /// Makes an access, and moves the process past it.
    pub(super) fn access(
        &self,
        mut branch: Branch,
        instruction: &Instruction,
    ) -> Result<Vec<Branch>, Unsupported> {
        let block = self.block();
        let here = pc(&branch.state, block);
        let cell = instruction.act.cell();
        let cell = cell.unwrap_or_else(|| unreachable!("only accesses are made here"));
        let into = target(&instruction.act);
        if self.is_linked_out_of_force(&branch.state, instruction) {
            let construct = "a name that is used while it is not in force";
            return Err(Unsupported { span: instruction.span, construct });
        }
        let located = self
            .locate(&mut branch.state, cell)
            .and_then(|located| self.through(&mut branch.state, instruction, cell, located));
        let located = match located {
            Ok(located) => located,
            Err(stop) => {
                branch.failure = Some(failed(stop));
                return Ok(vec![branch]);
            }
        };
        let mut out = Vec::new();
        match &instruction.act {
            Act::Read(..) => {
                let bytes = self.content(&branch.state, cell, &located);
                set_pc(&mut branch.state, block, here + 1);
                match into {
                    Some(target) => self.store(branch, target, bytes, &mut out),
                    None => out.push(branch),
                }
            }
            Act::Write(_, value) => {
                let mut scope = self.scope(&mut branch.state);
                let value = scope.bytes(value);
                let unknown = scope.unknown;
                match value {
                    Ok(bytes) => {
                        self.write_named(&mut branch, instruction, &located, &bytes)?;
                        self.written(&mut branch, instruction, &located, &bytes);
                        set_pc(&mut branch.state, block, here + 1);
                        out.push(branch);
                    }
                    Err(stop) => {
                        let mut split = Vec::new();
                        self.stopped(branch, stop, unknown, &mut split);
                        for branch in split {
                            match branch.failure {
                                Some(_) => out.push(branch),
                                None => out.extend(self.access(branch, instruction)?),
                            }
                        }
                    }
                }
            }
            Act::Swap(_, old, new, _, leaves) => {
                let content = self.content(&branch.state, cell, &located);
                let mut scope = self.scope(&mut branch.state);
                let (old, new) = match (scope.bytes(old), scope.bytes(new)) {
                    (Ok(old), Ok(new)) => (old, new),
                    (Err(stop), _) | (_, Err(stop)) => {
                        branch.failure = Some(failed(stop));
                        return Ok(vec![branch]);
                    }
                };
                let mut equal = Some(true);
                for ((leaf, path), (one, two)) in leaves.iter().zip(content.iter().zip(&old)) {
                    let there = path.iter().all(|place| self.crowd.members.contains(place));
                    let truth = if there { same(*leaf, *one, *two) } else { None };
                    if !there && !path.contains(&OTHER) {
                        continue;
                    }
                    equal = match (equal, truth) {
                        (Some(false), _) | (_, Some(false)) => Some(false),
                        (Some(true), Some(true)) => Some(true),
                        _ => None,
                    };
                }
                for success in [true, false] {
                    if equal == Some(!success) {
                        continue;
                    }
                    let mut branch = branch.clone();
                    if success {
                        self.write(&mut branch, cell, &located, &new);
                        self.written(&mut branch, instruction, &located, &new);
                    }
                    set_pc(&mut branch.state, block, here + 1);
                    let result = Bytes::from_slice(&[BASE + u8::from(success)]);
                    match into {
                        Some(target) => self.store(branch, target, result, &mut out),
                        None => out.push(branch),
                    }
                }
            }
            Act::LoadLinked(..) => {
                self.link_rows(&mut branch, instruction);
                self.load_linked(branch, cell, &located, into, &mut out);
            }
            Act::Validate(..) => self.validate(branch, cell, &located, into, &mut out),
            Act::StoreConditional(_, value, _) => {
                let mut stopped = Vec::new();
                let tried = (&located, value, into);
                self.store_conditional(branch, instruction, tried, &mut stopped, &mut out)?;
                for branch in stopped {
                    match branch.failure {
                        Some(_) => out.push(branch),
                        None => out.extend(self.access(branch, instruction)?),
                    }
                }
            }
            _ => unreachable!("only accesses are made here"),
        }
        Ok(out)
    }

    pub(super) fn content(&self, state: &[u8], cell: &Cell, located: &Located) -> Bytes {
        match *located {
            Located::Gone(exempt, _) => cell.shape.unknown(self.mode(), true, exempt),
            Located::At(begin, _) => {
                let mut bytes = cell.shape.unknown(self.mode(), true, false);
                for (offset, byte) in bytes.iter_mut().enumerate() {
                    let slot = &self.model.slots[begin + offset];
                    if slot.kept && state[begin + offset] != DEAD {
                        *byte = state[begin + offset];
                    }
                    if slot.names && *byte == BASE + OTHER {
                        *byte = UNKNOWN;
                    }
                }
                bytes
            }
        }
    }

    pub(super) fn write(&self, branch: &mut Branch, cell: &Cell, located: &Located, bytes: &[u8]) {
        let is_token = |at: usize| {
            let leaf = self.model.slots[at].leaf;
            let is_view = leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
            is_view && self.mode() == Mode::Nested
        };
        self.break_links(branch, cell, located);
        match located {
            Located::At(begin, _) => {
                for (offset, &byte) in bytes.iter().enumerate() {
                    let at = begin + offset;
                    let slot = &self.model.slots[at];
                    if !slot.kept {
                        continue;
                    }
                    let byte = if slot.names { self.as_name(byte) } else { byte };
                    note_other(&mut branch.others, slot, at, byte);
                    branch.state[at] = byte;
                    if slot.is_within_cell_of_tracked() {
                        note(&mut branch.hidden, at);
                    }
                    if is_token(at) {
                        note(&mut branch.tokens, at);
                        branch.of_round.retain(|one| *one != at);
                        // A ghost scan's view is fresh only if it is known to be within t's.
                        let is_fresh = self.me != T && byte == FRESH;
                        branch.state[at] = if is_fresh { FRESH } else { OLD };
                    }
                }
            }
            Located::Gone(_, indices) => {
                for (at, slot) in self.model.slots.iter().enumerate() {
                    let Some((variable, path)) = &slot.cell else { continue };
                    let hit = indices.iter().zip(path).all(|(index, place)| match index {
                        None => true,
                        Some(index) => index == place,
                    });
                    let is_there = path.iter().all(|place| self.crowd.members.contains(place));
                    if *variable == cell.variable && hit && is_there && slot.kept {
                        note_other(&mut branch.others, slot, at, UNKNOWN);
                        if slot.is_within_cell_of_tracked() {
                            note(&mut branch.hidden, at);
                        }
                        let is_token = is_token(at);
                        branch.state[at] = if is_token { OLD } else { UNKNOWN };
                        if is_token {
                            branch.of_round.retain(|one| *one != at);
                            note(&mut branch.tokens, at);
                        }
                    }
                }
                note(&mut branch.elsewhere, (cell.variable, indices.clone()));
            }
        }
    }
}

/// Records a byte that may now name "any other" process.
fn note_other(others: &mut Vec<usize>, slot: &Slot, at: usize, byte: u8) {
    let is_member = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Member);
    let may_be_other = byte == BASE + OTHER || matches!(byte, DEAD | UNKNOWN | SOME);
    if is_member && slot.kept && may_be_other {
        note(others, at);
    }
}
