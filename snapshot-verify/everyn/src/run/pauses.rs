//! Pauses of a process: before an access to a kept variable.
//!
//! Whether an access pauses depends on the indices. If only one view shows the step (t; a followed
//! ghost scan), they are exact: a read of an unkept cell is not a pause; a write of one is, if the
//! view of the process that the cell belongs to keeps it. For i and j outside of their ghost scans
//! the indices are the centre's, which does not distinguish t from any other: all views of a state
//! show i and j at the same location.

use super::Run;
use crate::model::{Act, Instruction, Model, Place};
use crate::shape::{BASE, I, J, OTHER, PLACES, T};
use crate::term::{Over, Term};

const LAST: u8 = BASE + OTHER;

/// Value of an index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Index {
    /// This member, or any other.
    At(u8),
    Any,
}

impl Run<'_> {
    /// Returns true if the process pauses before an instruction.
    pub fn pauses_before(&self, state: &[u8], instruction: &Instruction) -> bool {
        let is_followed = self.me == T || (self.me == self.crowd.tracked && self.in_ghost(state));
        let block = self.block();
        pauses(self.model, instruction, self.me, is_followed, &|term| match state[block + term] {
            byte @ BASE..=LAST => Index::At(byte - BASE),
            _ => Index::Any,
        })
    }
}

/// Returns true if a process pauses before an instruction: `loops` returns the positions of the
/// variables of the enclosing loops.
pub fn pauses(
    model: &Model,
    instruction: &Instruction,
    me: u8,
    is_followed: bool,
    loops: &dyn Fn(usize) -> Index,
) -> bool {
    let act = &instruction.act;
    if matches!(act, Act::Idle | Act::Atomic) {
        return true;
    }
    if instruction.round.is_some() {
        return true;
    }
    let Some(cell) = act.cell() else { return false };
    let writes = act.may_write();
    if !instruction.pause[usize::from(me)] {
        return false;
    }
    let places = indices(instruction, me, loops);
    let has_tracked = places.contains(&Some(Index::At(T)));
    let candidates = |index: &Option<Index>, over: &Over| -> smallvec::SmallVec<[usize; 8]> {
        match (index, over) {
            (Some(Index::Any), _) => (0..PLACES - 1).collect(),
            // Any other may be the t of another view.
            (Some(Index::At(OTHER)), _) if !is_followed || (writes && !has_tracked) => {
                smallvec::smallvec![usize::from(T)]
            }
            (Some(Index::At(place)), _) => smallvec::smallvec![usize::from(*place)],
            (None, Over::Range(_, count)) => (0..*count).collect(),
            (None, _) => smallvec::smallvec![0],
        }
    };
    let mut numbers = smallvec::SmallVec::<[usize; 8]>::from_slice(&[0]);
    for (index, (over, _)) in places.iter().zip(&cell.indices) {
        let count = match over {
            Over::Members => PLACES,
            Over::Range(_, count) => *count,
            Over::Many => 1,
        };
        let places = candidates(index, over);
        numbers = numbers
            .iter()
            .flat_map(|number| places.iter().map(move |place| number * count + place))
            .collect();
    }
    let room = &model.shared[cell.variable.0 as usize];
    let is_link_kept = |owner: u8, number: usize| {
        let mut links = model.links_of(owner, cell.variable);
        links.nth(number).is_some_and(|at| model.slots[at].kept)
    };
    numbers.iter().any(|&number| {
        let begin = room.base + number * room.size;
        let is_kept = model.slots[begin..begin + room.size].iter().any(|slot| slot.kept);
        (is_kept && !matches!(act, Act::Validate(..)))
            || (act.uses_link() && is_link_kept(me, number))
            || (writes && [I, J, T].iter().any(|owner| is_link_kept(*owner, number)))
    })
}

/// Returns the indices of a cell.
fn indices(
    instruction: &Instruction,
    me: u8,
    loops: &dyn Fn(usize) -> Index,
) -> smallvec::SmallVec<[Option<Index>; 4]> {
    let place = |place: &Place| match place {
        Place::Me => Some(Index::At(me)),
        Place::Round(variable) => Some(loops(*variable)),
        Place::Any => Some(Index::Any),
        Place::Integer => None,
    };
    instruction.places.iter().map(place).collect()
}

/// Fills in the indices of the cells that instructions access, for [`pauses`].
pub fn fill_places(model: &mut Model) {
    let mut variables = Vec::new();
    for one in &model.code {
        if let Act::Begin(this) = &one.act
            && this.over == Over::Members
        {
            variables.push((one.procedure, this.variable));
        }
    }
    for one in &mut model.code {
        let Some(cell) = one.act.cell() else { continue };
        let procedure = one.procedure;
        let place = |(over, index): &(Over, Term)| match (over, index) {
            (Over::Members, Term::Me) => Place::Me,
            (Over::Members, Term::Variable(base, 1)) if variables.contains(&(procedure, *base)) => {
                Place::Round(*base)
            }
            (Over::Members, _) => Place::Any,
            _ => Place::Integer,
        };
        one.places = cell.indices.iter().map(place).collect();
    }
}
