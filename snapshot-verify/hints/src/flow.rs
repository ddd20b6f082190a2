//! Bytes that a term or an access may read or write.
//!
//! Used only to choose the kept bytes: a missing byte only costs precision.

use rustc_hash::FxHashSet;
use snapshot_language::deadline::Deadline;

use super::liveness::target;
use super::model::{Act, Cell, Model, Step, Target};
use super::shape::{BASE, PLACES};
use super::term::{Over, Term};

/// Bytes of a state. A byte of a variable that lives within one round of a loop is distinct in each
/// round: it is numbered by round, beyond all others.
pub type Slots = FxHashSet<usize>;

/// A variable of a loop, by its offset in the block, and its position.
pub type Bound = (usize, u8);

/// Variables that live within one round: the bytes of a block, and the variable of the loop; with
/// the deadline of an analysis that distinguishes rounds.
pub struct Rounds<'a> {
    of: Vec<(std::ops::Range<usize>, usize)>,
    deadline: Deadline<'a>,
}

impl<'a> Rounds<'a> {
    /// Returns no such variables.
    pub const fn none(deadline: Deadline<'a>) -> Self {
        Self { of: Vec::new(), deadline }
    }

    /// Returns the variables of all procedures.
    pub fn new(model: &Model, deadline: Deadline<'a>) -> Self {
        let mut of = Vec::new();
        for (procedure, frame) in model.frames.iter().enumerate() {
            let code = model.code.iter().enumerate();
            let code: Vec<_> =
                code.filter(|(_, one)| one.procedure.0 as usize == procedure).collect();
            for room in &frame.locals {
                if deadline.is_over() {
                    break;
                }
                let uses = code.iter().filter(|(_, one)| mentions(&one.act, room.base));
                let uses: Vec<usize> = uses.map(|(at, _)| *at).collect();
                let around = code.iter().rev().find_map(|(_, one)| match &one.act {
                    Act::Begin(this)
                        if this.over == Over::Members
                            && this.variable != room.base
                            && uses.iter().all(|at| (this.body..this.end).contains(at)) =>
                    {
                        Some(this.variable)
                    }
                    _ => None,
                });
                if let (Some(variable), false) = (around, uses.is_empty()) {
                    of.push((room.base..room.base + room.size, variable));
                }
            }
        }
        Self { of, deadline }
    }

    /// Returns the variables that begin each round without a value.
    pub fn reset(model: &Model, deadline: Deadline<'a>) -> Self {
        let all = Self::new(model, deadline);
        let is_reset = |bytes: &std::ops::Range<usize>, variable: usize| {
            let mut code = model.code.iter().take_while(|_| !deadline.is_over());
            code.all(|one| match &one.act {
                Act::Begin(this) if this.variable == variable => {
                    let frame = &model.frames[one.procedure.0 as usize];
                    let live = frame.locals.iter().zip(&model.code[this.body].live);
                    !live.into_iter().any(|(room, live)| room.base == bytes.start && *live)
                }
                _ => true,
            })
        };
        let of = all.of.into_iter().filter(|(bytes, variable)| is_reset(bytes, *variable));
        Self { of: of.collect(), deadline }
    }

    /// Returns true if the deadline has passed: partial results are never used.
    pub fn is_over(&self) -> bool {
        self.deadline.is_over()
    }

    /// Returns true if a byte of a state belongs to one of the variables.
    pub fn is_local(&self, model: &Model, at: usize) -> bool {
        self.variable(model, at).is_some()
    }

    /// Returns the byte of the variable of its loop.
    pub fn variable(&self, model: &Model, at: usize) -> Option<usize> {
        let block = model.blocks[usize::from(model.slots[at].owner?)];
        let within = self.of.iter().find(|(bytes, _)| bytes.contains(&(at - block)));
        within.map(|(_, variable)| block + variable)
    }
}

fn mentions(act: &Act, base: usize) -> bool {
    let mut found = target(act).is_some_and(|target| target.room.base == base);
    for term in super::liveness::terms(act) {
        term.visit(&mut |term| found |= matches!(term, Term::Variable(at, _) if *at == base));
    }
    found || matches!(act, Act::Begin(this) | Act::Next(this) if this.variable == base)
}

/// A process, with the known positions of the variables of loops.
pub struct Flow<'m> {
    pub model: &'m Model,
    pub me: u8,
    /// Known positions.
    pub bound: Vec<Bound>,
    /// Variables that live within one round.
    pub rounds: &'m Rounds<'m>,
}

/// Returns the variables of the loops over the crowd around an instruction.
pub fn loops_around(model: &Model, at: usize) -> Vec<usize> {
    let procedure = model.code[at].procedure;
    let of = model.code.iter().filter(|instruction| instruction.procedure == procedure);
    of.filter_map(|instruction| match &instruction.act {
        Act::Begin(this) if this.over == Over::Members && (this.body..this.end).contains(&at) => {
            Some(this.variable)
        }
        _ => None,
    })
    .collect()
}

/// Returns true if a term is an index of the accessed or stored location.
pub fn is_index(act: &Act, term: &Term) -> bool {
    let of_cell = act
        .cell()
        .is_some_and(|cell| cell.indices.iter().any(|(_, index)| std::ptr::eq(index, term)));
    let of_target = target(act).is_some_and(|target| {
        target
            .path
            .iter()
            .any(|step| matches!(step, Step::Element(index, ..) if std::ptr::eq(index, term)))
    });
    of_cell || of_target
}

impl Flow<'_> {
    /// Returns the number of a byte of the process, in this round.
    pub fn slot(&self, offset: usize) -> usize {
        let slot = self.model.blocks[usize::from(self.me)] + offset;
        let within = self.rounds.of.iter().find(|(bytes, _)| bytes.contains(&offset));
        let place = within
            .and_then(|(_, variable)| self.bound.iter().rev().find(|(bound, _)| bound == variable));
        slot + place.map_or(0, |(_, place)| usize::from(place + 1) * self.model.slots.len())
    }

    /// Returns true if such rounds exist: a process that leaves out itself has no round with
    /// itself.
    pub fn is_made(&self) -> bool {
        self.model.code.iter().all(|one| match &one.act {
            Act::Begin(this) => {
                let leaves_out = matches!(this.except, Some(Term::Me));
                !(leaves_out && self.bound.contains(&(this.variable, self.me)))
            }
            _ => true,
        })
    }

    /// Returns the flow with a variable of a loop at a position.
    pub fn with(&self, variable: usize, place: u8) -> Self {
        let mut bound = self.bound.clone();
        bound.push((variable, place));
        Self { bound, ..*self }
    }

    /// Returns the bytes that each byte of a row may come from.
    pub fn sources(&self, term: &Term) -> Vec<Slots> {
        let of = |term: &Term| self.sources(term);
        let all = |term: &Term| -> Slots { of(term).into_iter().flatten().collect() };
        match term {
            Term::Constant(bytes) => vec![Slots::default(); bytes.len()],
            Term::Unknown(shape) => vec![Slots::default(); shape.size()],
            Term::Me => vec![Slots::default()],
            Term::Variable(base, size) => {
                let slots = (*base..base + size).map(|offset| self.slot(offset));
                slots.map(|slot| std::iter::once(slot).collect()).collect()
            }
            Term::Index { array, element, index, over, .. } => {
                let size = element.size();
                let mut row = vec![all(index); size];
                let places = self.places(index, *over, PLACES);
                for (position, slots) in of(array).into_iter().enumerate() {
                    if places.contains(&(position / size)) {
                        row[position % size].extend(slots);
                    }
                }
                row
            }
            Term::Part(whole, offset, size) => of(whole)[*offset..offset + size].to_vec(),
            Term::Row(fields) => fields.iter().flat_map(of).collect(),
            Term::With(whole, parts) => {
                let mut row = of(whole);
                for (offset, part) in parts {
                    for (position, slots) in of(part).into_iter().enumerate() {
                        row[offset + position] = slots;
                    }
                }
                row
            }
            Term::Filled(element, count) => {
                let row = of(element);
                row.iter().cloned().cycle().take(count * row.len()).collect()
            }
            Term::Each { variable, over: Over::Members, body } => (0..PLACES as u8)
                .flat_map(|place| self.with(*variable, place).sources(body))
                .collect(),
            Term::Each { over, body, .. } => {
                let count = match over {
                    Over::Members => PLACES,
                    Over::Range(_, count) => *count,
                    Over::Many => 1,
                };
                let row = of(body);
                row.iter().cloned().cycle().take(count * row.len()).collect()
            }
            Term::Also(_, value) => of(value),
            _ => vec![term.operands().into_iter().flat_map(all).collect(); size_of_term(term)],
        }
    }

    /// Returns, per byte, its possible destinations.
    pub fn stored_to(&self, target: &Target) -> Vec<Slots> {
        let mut begins = vec![target.room.base];
        for step in &target.path {
            match step {
                Step::Field(offset) => begins.iter_mut().for_each(|begin| *begin += offset),
                Step::Passed(_) => {}
                Step::Element(index, over, size) => {
                    let places = self.places(index, *over, PLACES);
                    begins = begins
                        .iter()
                        .flat_map(|begin| places.iter().map(move |place| begin + place * size))
                        .collect();
                }
            }
        }
        let byte = |byte| begins.iter().map(|begin| self.slot(begin + byte)).collect();
        (0..target.size).map(byte).collect()
    }

    /// Returns the places in an array that an index may lead to.
    pub fn places(&self, index: &Term, over: Over, members: usize) -> Vec<usize> {
        match (index, over) {
            (Term::Me, Over::Members) => vec![usize::from(self.me)],
            (Term::Variable(base, 1), Over::Members) => {
                match self.bound.iter().rev().find(|(variable, _)| variable == base) {
                    Some((_, place)) => vec![usize::from(*place)],
                    None => (0..members).collect(),
                }
            }
            (_, Over::Members) => (0..members).collect(),
            (Term::Constant(bytes), Over::Range(..)) if bytes[0] >= BASE => {
                vec![over.place(bytes[0])]
            }
            (_, Over::Range(_, count)) => (0..count).collect(),
            (_, Over::Many) => Vec::new(),
        }
    }

    /// Returns, per byte, the cells that an access may touch.
    pub fn cells(&self, cell: &Cell) -> Vec<Slots> {
        let room = &self.model.shared[cell.variable.0 as usize];
        let numbers = self.numbers(cell);
        let byte = |byte: usize| {
            let slots = numbers.iter().map(|number| room.base + number * room.size + byte);
            slots.collect()
        };
        (0..room.size).map(byte).collect()
    }

    /// Returns the links of a process to the cells that an access may touch.
    pub fn links(&self, cell: &Cell, owner: u8) -> Slots {
        let Some(begin) = self.model.links[cell.variable.0 as usize] else {
            return Slots::default();
        };
        let begin = self.model.blocks[usize::from(owner)] + begin;
        self.numbers(cell).into_iter().map(|number| begin + number).collect()
    }

    /// Returns the numbers of the cells that an access may touch, within the variable.
    fn numbers(&self, cell: &Cell) -> Vec<usize> {
        let mut numbers = vec![0];
        for (over, index) in &cell.indices {
            let count = match over {
                Over::Members => PLACES,
                Over::Range(_, count) => *count,
                Over::Many => 1,
            };
            let places = self.places(index, *over, PLACES - 1);
            numbers = numbers
                .iter()
                .flat_map(|number| places.iter().map(move |place| number * count + place))
                .collect();
        }
        numbers
    }

    /// As [`cells`](Self::cells), without cells that are never kept.
    pub fn kept_cells(&self, cell: &Cell) -> Vec<Slots> {
        let mut rows = self.cells(cell);
        for row in &mut rows {
            row.retain(|slot| self.model.slots[*slot].kept);
        }
        rows
    }
}

/// Returns the size of a choice; all other operators make scalars.
fn size_of_term(term: &Term) -> usize {
    match term {
        Term::If(_, _, _, shape) => shape.size(),
        _ => 1,
    }
}
