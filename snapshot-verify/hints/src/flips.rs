//! Guesses at bits of which only the relation to others matters: handshakes and toggles.
//!
//! A class is a set of bits that the program only copies, negates and compares with each other:
//! flipping all its bits commutes with every step. One bit of it *leads*, and is 0 in listed views.
//! A class is proposed only if
//!
//! * a bit of shared memory or a private variable is in the centre at all times, and is in the
//!   class: it leads; or
//! * at most one bit of it is ever in the centre, a local that lives within one round of a loop
//!   over the crowd (of i or j, in the round of t): it leads while it is definite, as in the views
//!   in which that is a round of "any other".
//!
//! `snapshot-invariant` drops classes that do not fit, and presumes nothing of the others.

use snapshot_language::deadline::Deadline;

use super::decided::each_binding;
use super::flow::{Flow, Rounds, loops_around};
use super::liveness::terms;
use super::model::{Act, Cell, CentreExclusion, Model, Step, Target};
use super::shape::{BASE, I, J, Leaf, OTHER, PLACES, Scalar, T};
use super::term::{Over, Term};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bit {
    pub at: usize,
    /// If the bit lives within one round of a loop: the byte of the loop's variable, and its value
    /// for which the bit belongs to this class.
    pub round: Option<(usize, u8)>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Class {
    /// Bit that leads in all views, if there is one.
    pub anchor: Option<usize>,
    pub bits: Vec<Bit>,
}

/// Returns the classes of a program.
pub fn classes(model: &Model, deadline: Deadline<'_>) -> Vec<Class> {
    let rounds = Rounds::reset(model, deadline);
    let count = model.slots.len() * (PLACES + 1);
    let mut search = Search { model, parents: (0..count).collect(), pinned: vec![false; count] };
    for me in [I, J, T] {
        for at in 0..model.code.len() {
            each_binding(&loops_around(model, at), &mut Vec::new(), &mut |bound| {
                if !rounds.is_over() {
                    let flow = Flow { model, me, bound: bound.to_vec(), rounds: &rounds };
                    search.instruction(&flow, at);
                }
            });
        }
        search.fresh_locals(me);
    }
    if rounds.is_over() {
        return Vec::new();
    }
    for number in 0..count {
        let at = number % model.slots.len();
        if number == at && rounds.is_local(model, at) {
            // It is unknown in which round it is.
            search.pin(number);
        }
    }
    let mut classes: Vec<Vec<usize>> = vec![Vec::new(); count];
    for number in 0..count {
        let at = number % model.slots.len();
        let is_there = (number == at) != rounds.is_local(model, at);
        if search.is_bit(at) && is_there {
            let root = search.root(number);
            classes[root].push(number);
        }
    }
    let pinned = |root: usize| search.pinned[root];
    let classes = classes.into_iter().enumerate();
    let classes = classes.filter(|(root, numbers)| !numbers.is_empty() && !pinned(*root));
    let classes = classes.take_while(|_| !deadline.is_over());
    let classes = classes.filter_map(|(_, numbers)| class(model, &rounds, &numbers)).collect();
    alike(model, classes, deadline)
}

/// Removes the classes that would flip a bit of the centre in some views of a state only: t's round
/// in one view is a round of any other process in another, so a bit that lives within it must have
/// the same lead in both.
fn alike(model: &Model, mut classes: Vec<Class>, deadline: Deadline<'_>) -> Vec<Class> {
    let may_be_in_centre =
        |at: usize| model.outside(at) != CentreExclusion::Always && is_seen(model, at);
    loop {
        // Lead of a bit in the round of a process: an anchor, or the bit itself.
        let led = |at: usize, variable: usize, place: u8| {
            let round = Some((variable, BASE + place));
            let of = |class: &&Class| class.bits.contains(&Bit { at, round });
            classes.iter().find(of).map(|class| class.anchor)
        };
        let is_led_alike = |bit: &Bit| {
            let Some((variable, byte)) = bit.round else { return true };
            if deadline.is_over() {
                return true;
            }
            let is_either = byte == BASE + T || byte == BASE + OTHER;
            !is_either
                || !may_be_in_centre(bit.at)
                || led(bit.at, variable, T) == led(bit.at, variable, OTHER)
        };
        let keeps: Vec<bool> =
            classes.iter().map(|class| class.bits.iter().all(is_led_alike)).collect();
        if keeps.iter().all(|keeps| *keeps) {
            return classes;
        }
        let mut keeps = keeps.into_iter();
        classes.retain(|_| keeps.next().unwrap_or_default());
    }
}

/// Returns a class that may be flipped, if any.
fn class(model: &Model, rounds: &Rounds<'_>, numbers: &[usize]) -> Option<Class> {
    let count = model.slots.len();
    let bit = |number: &usize| {
        let at = number % count;
        let place = (number / count) as u8;
        let round = rounds.variable(model, at);
        Bit { at, round: round.map(|variable| (variable, BASE + place.saturating_sub(1))) }
    };
    let bits: Vec<Bit> = numbers.iter().map(bit).collect();
    let only_in_ghosts = only_in_ghosts(model);
    let may_be_in_centre = |bit: &&Bit| match (model.outside(bit.at), model.slots[bit.at].frame) {
        (CentreExclusion::Always, _) => false,
        (_, Some(_)) if !is_seen(model, bit.at) => false,
        (CentreExclusion::InGhost, Some(frame)) => !only_in_ghosts[frame.0 as usize],
        _ => true,
    };
    let is_lasting = |bit: &&Bit| {
        let slot = &model.slots[bit.at];
        model.outside(bit.at) == CentreExclusion::Never && slot.frame.is_none()
    };
    let anchor = bits.iter().find(is_lasting).map(|bit| bit.at);
    let mut central: Vec<usize> = bits.iter().filter(may_be_in_centre).map(|bit| bit.at).collect();
    central.dedup();
    let is_static = |bit: &Bit| bit.round.is_none();
    let fits = match anchor {
        Some(_) => true,
        None => {
            central.is_empty()
                || (central.iter().all(|at| *at == central[0])
                    && !bits.iter().filter(may_be_in_centre).any(is_static))
        }
    };
    fits.then_some(Class { anchor, bits })
}

/// Returns true if a local may have a value where a view shows it: where it is live before an
/// access, a call or a jump, or behind a call.
fn is_seen(model: &Model, at: usize) -> bool {
    let slot = &model.slots[at];
    let (Some(procedure), Some(owner)) = (slot.frame, slot.owner) else { return true };
    let offset = at - model.blocks[usize::from(owner)];
    let locals = &model.frames[procedure.0 as usize].locals;
    let local = locals.iter().position(|room| (room.base..room.base + room.size).contains(&offset));
    let Some(local) = local else { return true };
    model.code.iter().enumerate().any(|(number, one)| {
        let stands = match &one.act {
            Act::Atomic | Act::Call(..) | Act::Jump(_) => true,
            act if act.cell().is_some() => true,
            _ => matches!(model.code[number - usize::from(number > 0)].act, Act::Call(..)),
        };
        stands && one.procedure == procedure && one.live.get(local).is_some_and(|live| *live)
    })
}

/// Returns, per procedure, whether it only ever runs within ghost scans.
fn only_in_ghosts(model: &Model) -> Vec<bool> {
    let mut only = model.ghostly.clone();
    loop {
        let before = only.clone();
        for one in &model.code {
            if let Act::Call(procedure, ..) = &one.act {
                let to = procedure.0 as usize;
                only[to] &= model.is_ghost[to] || before[one.procedure.0 as usize];
            }
        }
        if only == before {
            return only;
        }
    }
}

/// Origin of a byte of a row: a copy of one of some bits, negated or not; or (also) a value that no
/// flip changes. Neither: unknown, which no flip changes either.
#[derive(Clone, Debug, Default)]
struct Origin {
    bits: Vec<usize>,
    fixed: bool,
}

impl Origin {
    fn fixed() -> Self {
        Self { bits: Vec::new(), fixed: true }
    }

    fn join(&mut self, other: Self) {
        self.bits.extend(other.bits);
        self.fixed |= other.fixed;
    }
}

/// Union-find of bits; bits of which more than the relation matters are pinned.
struct Search<'m> {
    model: &'m Model,
    parents: Vec<usize>,
    pinned: Vec<bool>,
}

impl Search<'_> {
    fn root(&self, mut number: usize) -> usize {
        while self.parents[number] != number {
            number = self.parents[number];
        }
        number
    }

    fn unite(&mut self, one: usize, two: usize) {
        let (one, two) = (self.root(one), self.root(two));
        let (one, two) = (one.min(two), one.max(two));
        self.parents[two] = one;
        self.pinned[one] |= self.pinned[two];
    }

    fn pin(&mut self, number: usize) {
        let root = self.root(number);
        self.pinned[root] = true;
    }

    fn is_bit(&self, at: usize) -> bool {
        let slot = &self.model.slots[at];
        slot.kept && slot.leaf == Leaf { scalar: Scalar::Bool, optional: false }
    }

    /// Returns the origin of a byte of the state, numbered by round.
    fn origin(&self, number: usize) -> Origin {
        let at = number % self.model.slots.len();
        match self.is_bit(at) {
            true => Origin { bits: vec![number], fixed: false },
            false => Origin { bits: Vec::new(), fixed: self.model.slots[at].kept },
        }
    }

    /// Joins the bits of an origin in one class; pins it if the origin is fixed, too.
    fn same(&mut self, origin: &Origin) {
        for pair in origin.bits.windows(2) {
            self.unite(pair[0], pair[1]);
        }
        if let (Some(first), true) = (origin.bits.first(), origin.fixed) {
            self.pin(*first);
        }
    }

    /// Pins bits of a term whose value must not change with a flip.
    fn invariant(&mut self, flow: &Flow<'_>, term: &Term) {
        for origin in self.row(flow, term) {
            origin.bits.into_iter().for_each(|bit| self.pin(bit));
        }
    }

    /// Returns the origin of each byte of a term.
    fn row(&mut self, flow: &Flow<'_>, term: &Term) -> Vec<Origin> {
        let places = 0..PLACES as u8;
        match term {
            Term::Constant(bytes) => vec![Origin::fixed(); bytes.len()],
            Term::Unknown(shape) => vec![Origin::default(); shape.size()],
            Term::Me => vec![Origin::fixed()],
            Term::Variable(base, size) => {
                (*base..base + size).map(|offset| self.origin(flow.slot(offset))).collect()
            }
            Term::Index { array, element, index, over, .. } => {
                self.invariant(flow, index);
                let size = element.size();
                let possible = flow.places(index, *over, PLACES);
                let mut row = vec![Origin::default(); size];
                for (position, origin) in self.row(flow, array).into_iter().enumerate() {
                    if possible.contains(&(position / size)) {
                        row[position % size].join(origin);
                    }
                }
                row
            }
            Term::Part(whole, offset, size) => {
                self.row(flow, whole)[*offset..offset + size].to_vec()
            }
            Term::Row(fields) => fields.iter().flat_map(|field| self.row(flow, field)).collect(),
            Term::With(whole, parts) => {
                let mut row = self.row(flow, whole);
                for (offset, part) in parts {
                    for (position, origin) in self.row(flow, part).into_iter().enumerate() {
                        row[offset + position] = origin;
                    }
                }
                row
            }
            Term::Filled(element, count) => {
                let row = self.row(flow, element);
                row.iter().cloned().cycle().take(count * row.len()).collect()
            }
            Term::Each { variable, over: Over::Members, body } => {
                // A member that is not present is read as any other.
                let other = self.row(&flow.with(*variable, OTHER), body);
                let of = |place| {
                    let mut row = self.row(&flow.with(*variable, place), body);
                    row.iter_mut().zip(&other).for_each(|(one, other)| one.join(other.clone()));
                    row
                };
                places.flat_map(of).collect()
            }
            Term::Each { over, body, .. } => {
                let count = match over {
                    Over::Range(_, count) => *count,
                    Over::Members | Over::Many => 1,
                };
                let row = self.row(flow, body);
                row.iter().cloned().cycle().take(count * row.len()).collect()
            }
            Term::Quantified { variable, over, except, body, .. } => {
                if let Some(except) = except {
                    self.invariant(flow, except);
                }
                match over {
                    Over::Members => {
                        places.for_each(|place| self.invariant(&flow.with(*variable, place), body));
                    }
                    _ => self.invariant(flow, body),
                }
                vec![Origin::fixed()]
            }
            Term::Not(inner) => self.row(flow, inner),
            Term::Equal(_, left, right) => {
                let (left, right) = (self.row(flow, left), self.row(flow, right));
                for (mut one, two) in left.into_iter().zip(right) {
                    one.join(two);
                    self.same(&one);
                }
                vec![Origin::fixed()]
            }
            Term::If(condition, then, otherwise, _) => {
                self.invariant(flow, condition);
                let mut row = self.row(flow, then);
                let other = self.row(flow, otherwise);
                row.iter_mut().zip(other).for_each(|(one, other)| one.join(other));
                row
            }
            Term::Also(before, value) => {
                before.iter().for_each(|term| self.invariant(flow, term));
                self.row(flow, value)
            }
            Term::Unwrap(_) | Term::Connected(..) | Term::Computed(..) => {
                term.operands().into_iter().for_each(|operand| self.invariant(flow, operand));
                vec![Origin::fixed()]
            }
        }
    }

    /// Records a store: per byte, its possible destinations.
    fn stored(&mut self, row: Vec<Origin>, to: &[super::flow::Slots]) {
        for (mut origin, to) in row.into_iter().zip(to) {
            for number in to {
                let at = number % self.model.slots.len();
                match self.is_bit(*number % self.model.slots.len()) {
                    true => origin.bits.push(*number),
                    false => origin.fixed |= self.model.slots[at].kept,
                }
            }
            self.same(&origin);
        }
    }

    fn assigned(&mut self, flow: &Flow<'_>, target: &Target, row: Vec<Origin>) {
        for step in &target.path {
            if let Step::Element(index, ..) | Step::Passed(index) = step {
                self.invariant(flow, index);
            }
        }
        self.stored(row, &flow.stored_to(target));
    }

    fn read(&mut self, flow: &Flow<'_>, cell: &Cell) -> Vec<Origin> {
        cell.indices.iter().for_each(|(_, index)| self.invariant(flow, index));
        let cells = flow.cells(cell);
        let row = cells.iter().map(|cells| {
            let mut origin = Origin::default();
            cells.iter().for_each(|at| origin.join(self.origin(*at)));
            origin
        });
        row.collect()
    }

    fn instruction(&mut self, flow: &Flow<'_>, at: usize) {
        let model = self.model;
        match &model.code[at].act {
            Act::Assign(target, value) => {
                let row = self.row(flow, value);
                self.assigned(flow, target, row);
            }
            Act::Read(cell, into) | Act::LoadLinked(cell, into) => {
                let row = self.read(flow, cell);
                if let Some(target) = into {
                    self.assigned(flow, target, row);
                }
            }
            Act::Write(cell, value) => {
                self.read(flow, cell);
                let row = self.row(flow, value);
                self.stored(row, &flow.cells(cell));
            }
            Act::StoreConditional(cell, value, into) => {
                self.read(flow, cell);
                let row = self.row(flow, value);
                self.stored(row, &flow.cells(cell));
                if let Some(target) = into {
                    self.assigned(flow, target, vec![Origin::fixed()]);
                }
            }
            Act::Validate(cell, into) => {
                self.read(flow, cell);
                if let Some(target) = into {
                    self.assigned(flow, target, vec![Origin::fixed()]);
                }
            }
            Act::Swap(cell, old, new, into) => {
                self.read(flow, cell);
                for term in [old, new] {
                    let row = self.row(flow, term);
                    self.stored(row, &flow.cells(cell));
                }
                if let Some(target) = into {
                    self.assigned(flow, target, vec![Origin::fixed()]);
                }
            }
            Act::Call(procedure, arguments, into) => {
                let frame = &model.frames[procedure.0 as usize];
                for (room, argument) in frame.locals.iter().zip(arguments) {
                    let row = self.row(flow, argument);
                    let slots = (room.base..room.base + room.size).map(|at| flow.slot(at));
                    let to: Vec<super::flow::Slots> =
                        slots.map(|slot| std::iter::once(slot).collect()).collect();
                    self.stored(row, &to);
                }
                let Some(target) = into else { return };
                for (number, one) in model.code.iter().enumerate() {
                    let Act::Return(Some(term)) = &one.act else { continue };
                    if one.procedure != *procedure {
                        continue;
                    }
                    each_binding(&loops_around(model, number), &mut Vec::new(), &mut |bound| {
                        if flow.rounds.is_over() {
                            return;
                        }
                        let inside = Flow { bound: bound.to_vec(), ..*flow };
                        let row = self.row(&inside, term);
                        self.assigned(flow, target, row);
                    });
                }
            }
            act => terms(act).into_iter().for_each(|term| {
                // Conditions; the result of the operation is judged.
                match act {
                    Act::Return(_) => drop(self.row(flow, term)),
                    _ => self.invariant(flow, term),
                }
            }),
        }
    }

    /// Records the constants that locals begin with.
    fn fresh_locals(&mut self, me: u8) {
        let model = self.model;
        for (procedure, entry) in model.entries.iter().enumerate() {
            let live = &model.code[*entry].live;
            let frame = &model.frames[procedure];
            for (room, live) in frame.locals.iter().zip(live).skip(frame.parameters) {
                if *live {
                    let begin = model.blocks[usize::from(me)] + room.base;
                    for at in begin..begin + room.size {
                        self.pin(at);
                    }
                }
            }
        }
    }
}
