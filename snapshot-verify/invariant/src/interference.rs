//! Interference: the effect of one process's step on the views of others.
//!
//! Two views may belong to one state only if their centres are equal, and no name refers to the
//! tracked processes of both. The effect of a step that one of them shows on the other is its
//! writes, with the names of processes and versions translated.

use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};
use snapshot_language::program::SharedId;

use crate::byte::{ANY, BASE, FRESH, I, NONE, OLD, OTHER, Row, T};
use crate::centre::{central_versions, definite, is_central};
use crate::cursor;
use crate::flips::{class, in_centre, is_odd, is_symbol, load, negated, symbol};
use crate::layout::{Index, Layout, ROUND, Round, RowOf, SPECIFICATION, Scalar, at, op};
use crate::step::{
    Failure, InjectedFault, Kind, Outcome, Run, Write, are_too_many, definite_indices, versions,
};
use crate::views::listed;

/// Interference of a step.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Effect {
    /// Process that makes the step: i, j, or another one.
    pub actor: u8,
    /// Bytes of the centre that name the actor, and, of a window, the place.
    pub named: Vec<(usize, usize)>,
    /// New byte of the specification.
    pub specification: Option<u8>,
    /// Bytes of the centre of which written bits are copies, or negations: symbols refer to them by
    /// number.
    pub copied: Vec<usize>,
    /// Cells that the step writes, in order, with members as the actor sees them; and the begin or
    /// end of a round.
    pub cells: Vec<(SharedId, Vec<Index>, Row, Option<Round>)>,
    /// New byte of the round, for vectors.
    pub round: Option<u8>,
    /// Bytes of the actor's block that the step sets: i and j only.
    pub sets: Vec<(usize, u8)>,
    /// True if a ghost scan of an update by i or j ends.
    pub ends: bool,
    /// Least number of a version that is in no centre, and least number of a new version.
    pub numbers: (u8, u8),
}

/// Returns the interference of a step with these views before and after it, if any.
///
/// # Errors
/// If the interference cannot be expressed: see [`Failure`].
pub fn effect(
    layout: &Layout<'_>,
    kind: &Kind,
    before: &[u8],
    after: &[u8],
    writes: &[Write],
) -> Result<Option<Effect>, Failure> {
    let actor = kind.followed;
    let block = layout.blocks[usize::from(actor)];
    let specification =
        (before[SPECIFICATION] != after[SPECIFICATION]).then_some(after[SPECIFICATION]);
    let is_open = !layout.tokens() && before[ROUND] != after[ROUND];
    let round = is_open.then_some(after[ROUND]);
    let (mut cells, mut sets) = (Vec::new(), Vec::new());
    let in_update = actor != T && matches!(before[block + at::OP], op::UPDATES | op::SWITCHES);
    for write in writes {
        match write {
            // A cell at t's own index belongs to any other process in other views, and none of them
            // shows it.
            Write::Cell(_, indices, ..) if actor == T && indices.contains(&Index::Member(T)) => {}
            // Only the views of a process show its row.
            Write::Cell(variable, indices, ..)
                if layout.name_of(*variable).is_some()
                    && matches!(indices.first(), Some(Index::Member(_))) => {}
            Write::Named(name) => {
                let is_it = |at: &&usize| layout.slots[**at].row == Some(RowOf::Named(*name));
                sets.extend(layout.row_bytes.iter().filter(is_it).map(|at| (*at, after[*at])));
            }
            Write::Cell(variable, indices, row, round) => {
                cells.push((*variable, indices.clone(), row.clone(), *round));
            }
            Write::Private(_) | Write::Link(_) if actor == T => {}
            Write::Link(variable) => {
                for at in layout.links_of(actor, *variable).filter(|_| in_update) {
                    // Views of t do not see which cell of another process was accessed.
                    let slot = &layout.slots[at];
                    if slot.kept && (slot.tracked || is_central(layout, before, at)) {
                        sets.push((at, if slot.tracked { ANY } else { after[at] }));
                    }
                }
            }
            Write::Private(number) => {
                let room = layout.private[*number];
                let begin = block + room.base;
                let bytes = after[begin..begin + room.size].iter();
                for (at, byte) in (begin..).zip(bytes) {
                    let slot = &layout.slots[at];
                    if slot.kept {
                        sets.push((at, if slot.tracked { ANY } else { *byte }));
                    }
                }
            }
        }
    }
    let ends = in_update && before[block + at::GHOST] != 0 && after[block + at::GHOST] == 0;
    if ends {
        for at in block + at::END..block + block_size(layout) {
            let changes = before[at] != after[at] && is_central(layout, after, at);
            if changes && layout.slots[at].frame.is_some_and(|frame| !layout.ghostly[frame]) {
                sets.push((at, after[at]));
            }
        }
        // Links may have been outside all centres: the actor's view after the step says whether
        // they hold.
        let is_link = |at: &usize| layout.slots[*at].linked().is_some();
        let links = (block + at::END..block + block_size(layout)).filter(is_link);
        let links = links.filter(|at| layout.slots[*at].kept && is_central(layout, after, *at));
        sets.extend(links.map(|at| (at, after[at])));
    }
    if specification.is_none() && cells.is_empty() && sets.is_empty() && !ends && round.is_none() {
        return Ok(None);
    }
    let numbers = (central_versions(layout, before), versions(layout, before));
    let mut written = Vec::new();
    for (variable, _, row, _) in &cells {
        let base = layout.shared[variable.0 as usize].base;
        written.extend((base..).zip(row).map(|(at, byte)| (at, *byte)));
    }
    written.extend(&sets);
    for (at, byte) in written {
        let slot = &layout.slots[at];
        let is_version = slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Version);
        let old = (BASE + numbers.0..BASE + numbers.1).contains(&byte);
        if is_version && slot.kept && old {
            return Err(Failure::Unsupported("a version that was read before and is stored again"));
        }
    }
    let named = layout.naming(before, actor);
    let copied = copied(layout, before, &mut cells, &mut sets);
    Ok(Some(Effect { actor, named, specification, copied, cells, round, sets, ends, numbers }))
}

/// Expresses written bits by bytes of the centre, which all views of the state share; bits that are
/// not in it become unknown.
fn copied(
    layout: &Layout<'_>,
    before: &[u8],
    cells: &mut [(SharedId, Vec<Index>, Row, Option<Round>)],
    sets: &mut [(usize, u8)],
) -> Vec<usize> {
    let mut copied = Vec::new();
    if layout.classes.is_empty() {
        return copied;
    }
    let mut say = |at: usize, byte: &mut u8| {
        let leaf = layout.slots[at].leaf;
        if !leaf.is_some_and(|leaf| leaf.scalar == Scalar::Bool) || !is_symbol(*byte) {
            return;
        }
        *byte = in_centre(layout, before, class(*byte)).map_or(ANY, |central| {
            let known = copied.iter().position(|one| *one == central);
            let number = known.unwrap_or_else(|| {
                copied.push(central);
                copied.len() - 1
            });
            symbol(number, is_odd(*byte) != is_odd(before[central]))
        });
    };
    for (variable, _, row, _) in cells {
        let base = layout.shared[variable.0 as usize].base;
        (base..).zip(row).for_each(|(at, byte)| say(at, byte));
    }
    sets.iter_mut().for_each(|(at, byte)| say(*at, byte));
    copied
}

fn block_size(layout: &Layout<'_>) -> usize {
    layout.blocks[1] - layout.blocks[0]
}

/// Cells of a view that each write of an effect may be to; `None`: a cell without a place.
pub struct Targets(Vec<SmallVec<[Option<usize>; 2]>>);

impl Effect {
    /// Returns the cells, in views of a kind, that the writes may be to. They depend on the members
    /// that are present, and not on their order.
    pub fn targets(&self, layout: &Layout<'_>, kind: &Kind) -> Targets {
        let of = |(variable, indices, ..): &(SharedId, Vec<Index>, Row, Option<Round>)| {
            targets(layout, kind, *variable, indices)
        };
        Targets(self.cells.iter().map(of).collect())
    }

    /// Returns the successors of a view with the same centre.
    ///
    /// # Errors
    /// If a name is not known to be in force, or there are too many ways.
    pub fn apply(
        &self,
        layout: &Layout<'_>,
        kind: &Kind,
        view: &[u8],
        planted: InjectedFault,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        self.apply_to(layout, kind, &self.targets(layout, kind), view, planted)
    }

    /// As [`Effect::apply`], with the targets in views of this kind.
    ///
    /// # Errors
    /// As [`Effect::apply`].
    pub fn apply_to(
        &self,
        layout: &Layout<'_>,
        kind: &Kind,
        targets: &Targets,
        view: &[u8],
        planted: InjectedFault,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let follows_actor = self.actor != T && self.actor == kind.followed;
        // A name says only whether it is the followed process.
        let one = |at: usize| if layout.slots[at].tracked { kind.followed } else { T };
        let names_both =
            |(at, place): &(usize, usize)| layout.name_in(view, *at, *place) == BASE + one(*at);
        let is_named = self.named.iter().any(names_both) && !planted.two_named;
        if follows_actor || is_named {
            return Ok(Vec::new());
        }
        let view = load(layout, view);
        let fresh = versions(layout, &view);
        let joined = Joined { effect: self, layout, kind, fresh, view: &view };
        let mut states = vec![view.clone()];
        if let Some(byte) = self.specification {
            states.iter_mut().for_each(|state| state[SPECIFICATION] = byte);
        }
        if let Some(byte) = self.round {
            states.iter_mut().for_each(|state| state[ROUND] = byte);
        }
        for ((variable, _, row, round), targets) in self.cells.iter().zip(&targets.0) {
            states = joined.write(states, *variable, targets, row)?;
            if let Some(round) = round.filter(|_| layout.tokens()) {
                states.iter_mut().for_each(|state| layout.pass_nested(state, round, *variable));
            }
            joined.bounded(states.len())?;
        }
        if self.ends {
            // The result is stored where private variables say, after the step.
            let is_private = |at: usize| {
                let slot = &layout.slots[at];
                slot.owner == Some(self.actor) && slot.frame.is_none() && slot.leaf.is_some()
            };
            for &(at, byte) in self.sets.iter().filter(|(at, _)| is_private(*at)) {
                states = joined.set(states, at, byte);
                joined.bounded(states.len())?;
            }
            let run = Run { layout, kind, me: self.actor, planted };
            states.iter_mut().for_each(|state| run.end_ghost(state));
        }
        for &(at, byte) in &self.sets {
            states = joined.set(states, at, byte);
            joined.bounded(states.len())?;
        }
        let mut all = Vec::new();
        for state in states {
            joined.bounded(1)?;
            for state in definite(layout, kind, state)? {
                listed(layout, kind, planted, state, &mut all)?;
            }
        }
        Ok(all)
    }
}

/// Returns the cells of a view that a write by another process may be to, each once.
fn targets(
    layout: &Layout<'_>,
    kind: &Kind,
    variable: SharedId,
    indices: &[Index],
) -> SmallVec<[Option<usize>; 2]> {
    // The actor is any other here; any other there may be t.
    let mut ways = vec![Vec::new()];
    for index in indices {
        let here: SmallVec<[Index; 2]> = match index {
            Index::Member(T) => smallvec![Index::Member(OTHER)],
            Index::Member(OTHER) if kind.members.contains(&T) => {
                smallvec![Index::Member(OTHER), Index::Member(T)]
            }
            index => smallvec![*index],
        };
        ways = ways
            .iter()
            .flat_map(|way: &Vec<Index>| here.iter().map(move |one| [way, &[*one][..]].concat()))
            .collect();
    }
    let cells = &layout.cells[variable.0 as usize];
    let is_there = |index: &Index| match index {
        Index::Member(member) => kind.members.contains(member),
        _ => true,
    };
    let mut targets = SmallVec::new();
    for way in ways.iter().flat_map(|way| definite_indices(layout, kind, variable, way)) {
        let is_there = way.iter().all(is_there);
        let number = cells.iter().position(|(path, _)| is_there && *path == way);
        if !targets.contains(&number) {
            targets.push(number);
        }
    }
    targets
}

/// Interference, and the view that it meets.
struct Joined<'a, 'p> {
    effect: &'a Effect,
    layout: &'a Layout<'p>,
    kind: &'a Kind,
    /// Number of a version that is new to the view.
    fresh: u8,
    /// The view before the step, its bits as symbols.
    view: &'a [u8],
}

impl Joined<'_, '_> {
    /// Fails if there are too many ways, or the budget is exhausted.
    fn bounded(&self, ways: usize) -> Result<(), Failure> {
        match self.layout.asks.go_on(self.view.len()) {
            false => Err(Failure::Ended),
            true if are_too_many(ways, self.view.len()) => Err(Failure::TooMany),
            true => Ok(()),
        }
    }

    /// Returns the values in this view of a byte of the actor's view.
    fn translate(&self, at: usize, byte: u8) -> SmallVec<[u8; 4]> {
        let slot = &self.layout.slots[at];
        let Some(leaf) = slot.leaf else { return smallvec![byte] };
        match leaf.scalar {
            Scalar::View if self.layout.tokens() => smallvec![OLD],
            // Within a cell, t stands for the actor's own element.
            _ if slot.within_tracked && self.effect.actor == T => smallvec![ANY],
            // The actor itself is neither i nor j, nor t.
            Scalar::Member if byte == BASE + T => smallvec![BASE + OTHER],
            Scalar::Member if byte == BASE + OTHER && self.kind.members.contains(&T) => {
                smallvec![BASE + OTHER, BASE + T]
            }
            Scalar::Counter if cursor::is_window(byte) => {
                let has_tracked = self.kind.members.contains(&T);
                SmallVec::from_vec(cursor::seen_by_others(byte, has_tracked))
            }
            Scalar::Version if byte >= BASE + self.effect.numbers.1 => {
                let number = u16::from(byte - self.effect.numbers.1) + u16::from(self.fresh);
                smallvec![u8::try_from(number).unwrap_or(ANY)]
            }
            Scalar::Bool if is_symbol(byte) => {
                let known = self.view[self.effect.copied[class(byte)]];
                smallvec![if is_odd(byte) && known != ANY { negated(known) } else { known }]
            }
            _ => smallvec![byte],
        }
    }

    fn set(&self, states: Vec<Vec<u8>>, at: usize, byte: u8) -> Vec<Vec<u8>> {
        if !self.layout.slots[at].kept {
            return states;
        }
        let values = self.translate(at, byte);
        let with = |state: &Vec<u8>, value: u8| {
            let mut state = state.clone();
            state[at] = value;
            state
        };
        match values.as_slice() {
            [value] => {
                let mut states = states;
                states.iter_mut().for_each(|state| state[at] = *value);
                states
            }
            values => states
                .iter()
                .flat_map(|state| {
                    values.iter().map(|value| with(state, *value)).collect::<Vec<_>>()
                })
                .collect(),
        }
    }

    fn write(
        &self,
        mut states: Vec<Vec<u8>>,
        variable: SharedId,
        targets: &[Option<usize>],
        row: &Row,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        if let ([number], [_]) = (targets, states.as_slice()) {
            return self.written(states.remove(0), variable, *number, row);
        }
        let (mut all, mut known) = (Vec::new(), FxHashSet::default());
        for number in targets {
            for before in &states {
                let after = self.written(before.clone(), variable, *number, row)?;
                self.bounded(all.len() + after.len())?;
                all.extend(after.into_iter().filter(|state| known.insert(state.clone())));
            }
        }
        Ok(all)
    }

    /// Writes to a cell of a view.
    fn written(
        &self,
        before: Vec<u8>,
        variable: SharedId,
        number: Option<usize>,
        row: &Row,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let Some(number) = number else { return Ok(vec![before]) };
        let layout = self.layout;
        let names = (!layout.named.is_empty()).then(|| before.clone());
        let base = layout.cells[variable.0 as usize][number].1.base;
        let mut after = vec![before];
        for (at, byte) in (base..).zip(row) {
            if !layout.is_name(variable, at - base) && !layout.is_clock(variable) {
                after = self.set(after, at, *byte);
            }
            self.bounded(after.len())?;
        }
        for state in &mut after {
            layout.break_links(state, variable, number);
            self.pass_clock(state, variable, row);
            if let Some(before) = &names {
                self.pass_names(before, state, variable, row)?;
            }
        }
        Ok(after)
    }

    /// Applies a write to the clock.
    fn pass_clock(&self, state: &mut [u8], variable: SharedId, row: &Row) {
        if self.layout.is_clock(variable) {
            // The actor is any other here.
            let by = if self.effect.actor == T { OTHER } else { self.effect.actor };
            self.layout.pass_clock(state, row[0], by);
        }
    }

    /// Applies a write to a cell of names.
    fn pass_names(
        &self,
        before: &[u8],
        state: &mut [u8],
        variable: SharedId,
        row: &Row,
    ) -> Result<(), Failure> {
        let layout = self.layout;
        for (number, name) in layout.named.iter().enumerate() {
            if name.variable == variable {
                let was = (before[layout.name_at(number)], layout.is_in_force(before, number)?);
                let itself = row[name.offset] != NONE;
                // The actor is any other here.
                let actor = if self.effect.actor == T { OTHER } else { self.effect.actor };
                layout.pass_name(self.kind, state, (number, actor, itself), was)?;
            }
        }
        Ok(())
    }
}

impl Run<'_, '_> {
    /// Ends a ghost scan within an update, of a process whose scans the view does not follow: the
    /// token of the result goes to its variable. Everything else is in the centre.
    fn end_ghost(&self, state: &mut [u8]) {
        let block = self.block();
        let Some((procedure, here)) = self.place(state) else { return };
        let token = state[block + at::TOKEN];
        let fresh = versions(self.layout, state);
        let operation = state[block + at::OP];
        let mut branch =
            Outcome { state: state.to_vec(), writes: Vec::new(), failure: None, fresh, operation };
        let instruction = self.layout.code[procedure].instructions[here];
        let view = match (self.layout.tokens(), token) {
            (false, _) => ANY,
            (true, FRESH) => FRESH,
            (true, _) => OLD,
        };
        let size = if self.layout.tokens() { 1 } else { crate::byte::PLACES };
        let is_call =
            matches!(instruction, snapshot_semantics::interpret::code::Instruction::Call { .. });
        if !is_call {
            return;
        }
        for offset in [at::GHOST, at::BEGUN, at::BITS, at::TOKEN] {
            branch.state[block + offset] = 0;
        }
        self.resume(&mut branch, procedure, here, &vec![view; size]);
        state.copy_from_slice(&branch.state);
        debug_assert!(self.me == I || self.me == crate::byte::J);
    }
}
