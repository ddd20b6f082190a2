//! *Lost* processes: their link to an LL/SC cell is broken, and until they link to it again, call
//! or return, they write nothing that others see.
//!
//! While a process is lost, each SC and VL on the cell fails. A lost process counts as if it stood
//! at the end of its path already, as soon as its link is broken. All paths are taken together,
//! with shared memory unknown: so they include every value that it may read, at any time. A process
//! is lost only if no path writes a byte that any view keeps, or leaves a link that is shown after
//! the path. Its own rows are an exception: they become unknown, if it is not the named process. It
//! cannot become the named process, since this takes a write to the name.
//!
//! The results of a lost process are not judged: this reduction applies only to vectors of rounds.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use snapshot_language::program::{Access, CellKind, SharedId};
use snapshot_semantics::interpret::code::Instruction;

use super::{Failure, InjectedFault, Kind, Outcome, Run, Write, are_too_many};
use crate::byte::{ANY, BASE, BROKEN, I, J, LINKED, OTHER, T};
use crate::centre::definite;
use crate::claim::{Ghosts, Obligation, Property};
use crate::flips::{load, normal};
use crate::layout::{Layout, SPECIFICATION, Scalar, at, op};
use crate::names::Use;
use crate::views::lists;

/// Maximum number of distinct ends of paths.
const MOST_ENDS: usize = 64;

/// Ends of the paths of a process: its block, and the names whose rows it may have written at its
/// own index.
#[derive(Debug, Default)]
pub struct Ends {
    blocks: Vec<Vec<u8>>,
    unnamed: Vec<usize>,
}

impl Ends {
    /// Returns the union.
    fn and(mut self, other: Self) -> Self {
        self.blocks.extend(other.blocks);
        self.blocks.sort_unstable();
        self.blocks.dedup();
        self.unnamed.extend(other.unnamed);
        self
    }
}

/// The process, whether only its own views show it, and the members that are present; and its
/// block.
pub type Key = (Vec<u8>, Vec<u8>);

/// Returns true if an obligation supports lost processes.
pub fn may_be(obligation: Obligation) -> bool {
    obligation.ghosts == Ghosts::Rounds && obligation.property == Property::Observer
}

impl Layout<'_> {
    /// Returns true if processes without a link to a variable may be lost: it must be one cell with
    /// LL and SC.
    pub fn may_lose(&self, variable: SharedId) -> bool {
        let declared = self.program.shared(variable);
        declared.dimensions.is_empty() && declared.cell == CellKind::Linked
    }

    /// Returns the kinds that the list of a view stands for, with t at each place.
    fn orders(&self, kind: &Kind) -> Vec<Kind> {
        let list = lists(self).into_iter().find(|kinds| kinds.contains(kind));
        list.unwrap_or_else(|| vec![kind.clone()])
    }
}

/// Returns true if a state may have other views than itself: there may be lost processes, or links
/// to rows.
pub(crate) fn may_move(layout: &Layout<'_>) -> bool {
    !layout.lost.is_empty() || !layout.named.is_empty()
}

/// Returns the views of a state with its lost processes at the ends of their paths.
///
/// # Errors
/// If there are too many such views, or a name is not known to be in force.
pub fn found(
    layout: &Layout<'_>,
    kind: &Kind,
    planted: InjectedFault,
    state: Vec<u8>,
) -> Result<Vec<Vec<u8>>, Failure> {
    if !may_move(layout) {
        return Ok(vec![state]);
    }
    let mut state = state;
    layout.forget_row_links(&mut state);
    // A bit in no class may be a symbol in the views of one process, and a value in those of
    // others: whether i and j are lost must not depend on that.
    let mut waiting = definite(layout, kind, state)?;
    if !layout.classes.is_empty() {
        let split = waiting.into_iter().flat_map(|state| normal(layout, state));
        waiting = split.map(|state| load(layout, &state)).collect();
    }
    let mut all = Vec::new();
    while let Some(state) = waiting.pop() {
        let runs = kind.members.iter().map(|me| Run { layout, kind, me: *me, planted });
        let lost = runs.into_iter().find_map(|run| Some((run.ends(&state)?, run)));
        match lost {
            Some((ends, run)) => waiting.extend(run.end_ways(&state, &ends)?),
            None => all.push(state),
        }
        if are_too_many(waiting.len() + all.len(), layout.slots.len()) {
            return Err(Failure::TooMany);
        }
        // An unfinished result is not conclusive.
        if !layout.asks.go_on(layout.slots.len()) {
            return Err(Failure::Ended);
        }
    }
    Ok(all)
}

impl<'p> Run<'_, 'p> {
    /// Returns true if only the views that follow the process show its block.
    pub(super) fn is_alone(&self, state: &[u8]) -> bool {
        self.me == T || self.me == self.kind.followed && self.is_inside(state)
    }

    fn block_range(&self) -> std::ops::Range<usize> {
        let block = self.block();
        block..block + self.layout.blocks[1] - self.layout.blocks[0]
    }

    /// Returns the ends of all paths of the process, if it is lost.
    fn ends(&self, state: &[u8]) -> Option<Rc<Ends>> {
        let layout = self.layout;
        let is_alone = self.is_alone(state);
        if !is_alone && self.is_inside(state) {
            return None;
        }
        let broken = layout.lost.iter().copied().find(|variable| {
            layout.link(self.me, *variable, 0).is_some_and(|at| state[at] == BROKEN)
        })?;
        let mut seen = state[self.block_range()].to_vec();
        if !is_alone {
            // Forgets bytes that are outside the centre, or refer to processes other than i and j.
            for (at, byte) in self.block_range().zip(&mut seen) {
                let slot = &layout.slots[at];
                if slot.position && *byte != ANY {
                    return None;
                }
                // A bit of a class is known in some views only.
                let is_relative = layout.class_bits.contains_key(&at);
                if slot.tracked || is_relative {
                    *byte = ANY;
                }
            }
            self.forget_others(&mut seen);
        }
        let members = [&[self.me, u8::from(is_alone)], self.kind.members.as_slice()].concat();
        let key = (members, seen.clone());
        let known = layout.ends.borrow().get(&key).cloned();
        let ends = known.unwrap_or_else(|| {
            // For i and j outside of scans, the ends must not depend on the other members.
            let kinds = match is_alone {
                true => layout.orders(self.kind),
                false => vec![Kind { members: vec![I, J], followed: self.me }],
            };
            let mut all = Some(Ends::default());
            for kind in &kinds {
                let run = Run { layout, kind, me: self.me, planted: self.planted };
                all = all.zip(run.go(broken, &seen, is_alone)).map(|(one, two)| one.and(two));
            }
            let ends = all.filter(|ends| ends.blocks.iter().any(|one| *one != seen)).map(Rc::new);
            layout.ends.borrow_mut().insert(key, ends.clone());
            ends
        })?;
        let is_other = |name: &usize| {
            let byte = state[layout.name_at(*name)];
            byte == BASE + OTHER
        };
        ends.unnamed.iter().all(is_other).then_some(ends)
    }

    /// Returns the ends of all paths of a process whose link to a variable is broken, if they leave
    /// nothing.
    fn go(&self, broken: SharedId, block: &[u8], is_alone: bool) -> Option<Ends> {
        let layout = self.layout;
        let mut state = vec![ANY; layout.slots.len()];
        state[self.block_range()].copy_from_slice(block);
        let mut ends = Ends::default();
        let operation = state[self.block() + at::OP];
        let begin =
            Outcome { state, writes: Vec::new(), failure: None, fresh: u8::MAX - BASE, operation };
        let mut seen: FxHashSet<Outcome> = FxHashSet::default();
        let mut waiting = vec![begin.clone()];
        while let Some(mut branch) = waiting.pop() {
            self.doubt_links(&mut branch.state);
            let is_bare = branch.writes.iter().all(|one| matches!(one, Write::Link(_)));
            let size = branch.state.len();
            let is_end = are_too_many(seen.len(), size) || !layout.asks.go_on(size);
            if branch.failure.is_some() || !is_bare || is_end {
                return None;
            }
            if !seen.insert(branch.clone()) {
                continue;
            }
            let (procedure, here) = self.place(&branch.state)?;
            match layout.code[procedure].instructions[here] {
                Instruction::Access { access: Access::LoadLinked(cell), .. }
                    if cell.variable == broken =>
                {
                    self.end_way(&branch, is_alone, &mut ends)?;
                }
                Instruction::Return { .. } | Instruction::Call { .. } => {
                    self.end_way(&branch, is_alone, &mut ends)?;
                }
                Instruction::Access { access, .. } if access.writes() => {
                    let variable = access.place().variable;
                    let marked = layout.round_at(procedure, here).is_some()
                        || self.is_point(procedure, here);
                    match self.used(procedure, here) {
                        _ if marked => return None,
                        Some(Use::Own(name)) if is_alone => {
                            if !ends.unnamed.contains(name) {
                                ends.unnamed.push(*name);
                            }
                            self.arrive(&mut branch.state, procedure, here + 1);
                            waiting.push(branch);
                        }
                        // The SC fails.
                        _ if variable == broken
                            && matches!(access, Access::StoreConditional(..)) =>
                        {
                            self.local(branch, procedure, here, &mut waiting, &mut Vec::new());
                        }
                        _ if self.is_shown(variable) => return None,
                        _ => self.local(branch, procedure, here, &mut waiting, &mut Vec::new()),
                    }
                }
                Instruction::BeginAtomic { .. } | Instruction::EndAtomic => return None,
                _ => {
                    let mut failed = Vec::new();
                    self.local(branch, procedure, here, &mut waiting, &mut failed);
                    if !failed.is_empty() {
                        return None;
                    }
                }
            }
        }
        (!ends.blocks.is_empty()).then_some(ends)
    }

    /// Forgets the links of the process: others may break a link at any time on the path, so only
    /// the broken one is known.
    fn doubt_links(&self, state: &mut [u8]) {
        for at in self.block_range() {
            if self.layout.slots[at].linked().is_some() && state[at] == LINKED {
                state[at] = ANY;
            }
        }
    }

    /// Returns true if any view keeps a byte of a variable, or links to it.
    fn is_shown(&self, variable: SharedId) -> bool {
        let layout = self.layout;
        let cells = &layout.cells[variable.0 as usize];
        let is_kept = cells.iter().any(|(_, room)| {
            layout.slots[room.base..room.base + room.size].iter().any(|slot| slot.kept)
        });
        is_kept
            || layout.is_clock(variable)
            || [I, J, T].iter().any(|member| layout.keeps_links(*member, variable))
    }

    /// Forgets members other than i and j: any other process may be t in views that show it.
    fn forget_others(&self, block: &mut [u8]) {
        for (at, byte) in self.block_range().zip(block) {
            let slot = &self.layout.slots[at];
            let is_member = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Member);
            if is_member && *byte > BASE + J {
                *byte = ANY;
            }
        }
    }

    /// Ends a path at the present location, unless a link or a loop remains in use there.
    fn end_way(&self, branch: &Outcome, is_alone: bool, ends: &mut Ends) -> Option<()> {
        let layout = self.layout;
        let (procedure, here) = self.place(&branch.state)?;
        let unlinked = &layout.unlinked[procedure][here];
        let linked = branch.writes.iter().filter_map(|write| match write {
            Write::Link(variable) => Some(*variable),
            _ => None,
        });
        let mut linked = linked.chain(layout.lost.iter().copied());
        let is_forgotten = linked.all(|variable| unlinked.contains(&(variable.0 as usize)));
        let runs =
            self.block_range().any(|at| layout.slots[at].position && branch.state[at] != ANY);
        if !is_forgotten || runs {
            return None;
        }
        let mut block = branch.state[self.block_range()].to_vec();
        if !is_alone {
            self.forget_others(&mut block);
        }
        if !ends.blocks.contains(&block) {
            ends.blocks.push(block);
        }
        (ends.blocks.len() <= MOST_ENDS).then_some(())
    }

    /// Returns the views in which the process stands at the ends of its paths.
    fn end_ways(&self, state: &[u8], ends: &Ends) -> Result<Vec<Vec<u8>>, Failure> {
        let layout = self.layout;
        let mut out = Vec::new();
        for block in &ends.blocks {
            let mut state = state.to_vec();
            state[self.block_range()].copy_from_slice(block);
            for &name in &ends.unnamed {
                layout.forget_row(&mut state, name, self.me);
            }
            let operation = state[self.block() + at::OP];
            let fresh = super::versions(layout, &state);
            let before = state.clone();
            let branch = Outcome { state, writes: Vec::new(), failure: None, fresh, operation };
            let mut after = Vec::new();
            for kind in &layout.orders(self.kind) {
                let run = Run { layout, kind, me: self.me, planted: self.planted };
                run.run_local(branch.clone(), true, &mut after);
            }
            for outcome in after {
                if let Some(failure) = outcome.failure {
                    return Err(failure);
                }
                let is_told = !self.is_alone(&before);
                let is_same = before[SPECIFICATION] == outcome.state[SPECIFICATION];
                // The views of others do not show the end of a ghost scan of an update in this way.
                // Scans end as an idle process does, and others see them as idle.
                let is_update = matches!(self.head(&before, at::OP), op::UPDATES | op::SWITCHES);
                let is_open = |state: &[u8]| self.head(state, at::GHOST) != 0;
                let is_end = self.me != T && is_update && is_open(&before);
                let is_end = is_end && !is_open(&outcome.state);
                if !outcome.writes.is_empty() || is_end || !is_told && !is_same {
                    return Err(Failure::Unsupported(
                        "a process that is late and leaves something",
                    ));
                }
                if !out.contains(&outcome.state) {
                    out.push(outcome.state);
                }
            }
        }
        Ok(out)
    }
}
