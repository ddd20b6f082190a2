//! A lock with owners.

use std::hash::Hash;
use std::marker::PhantomData;

use crate::OperationId;
use crate::generic::certificate::{Facts, Kind, ProofError};
use crate::generic::effect::Effect;
use crate::generic::monitors::{self, Decision, part::Part};
use crate::generic::online::{self, OnlineOf};
use crate::generic::{ByValues, History, Operation, Proof, RelevantValues, Specification};
use crate::seeded::SeededMap;

/// A lock, free at first, that one owner has at a time.
#[derive(Clone, Copy, Debug)]
pub struct Lock<V>(PhantomData<V>);

impl<V> Default for Lock<V> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// An operation of a lock, by the owner.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum LockInput<V> {
    /// Takes the lock, which must be free.
    Acquire(V),
    /// Gives the lock back, which the owner must have.
    Release(V),
}

impl<V> LockInput<V> {
    /// The owner.
    pub const fn owner(&self) -> &V {
        let (Self::Acquire(owner) | Self::Release(owner)) = self;
        owner
    }
}

/// The output of an operation of a lock: none.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct LockOutput;

impl<V: Clone + Eq + Hash> Specification for Lock<V> {
    /// The owner, if it is taken.
    type State = Option<V>;
    type Input = LockInput<V>;
    type Output = LockOutput;
    type Part = ();

    fn initial(&self) -> Option<V> {
        None
    }

    fn apply(&self, state: &mut Option<V>, input: &LockInput<V>, _: Option<&LockOutput>) -> bool {
        match input {
            LockInput::Acquire(owner) => state.replace(owner.clone()).is_none(),
            LockInput::Release(owner) => state.take().as_ref() == Some(owner),
        }
    }

    fn part(&self, _: &LockInput<V>) {}

    fn has_rules(&self) -> bool {
        true
    }

    fn online(&self) -> Option<Box<OnlineOf<'_, Self>>> {
        let effect = |input: &LockInput<V>, _: Option<&LockOutput>| match input {
            LockInput::Acquire(owner) => Effect::Write(owner.clone()),
            LockInput::Release(owner) => Effect::Read(owner.clone()),
        };
        Some(online::by_parts(self, |()| online::Lock::default(), effect, |_, _| None))
    }

    fn decide_part(
        &self,
        history: &History<LockInput<V>, LockOutput>,
        part: &[OperationId],
    ) -> Decision {
        monitors::cell(&Part::new(history, part, sections(history, part)), None)
    }

    fn check_proof(
        &self,
        history: &History<LockInput<V>, LockOutput>,
        part: &[OperationId],
        proof: &Proof,
    ) -> Result<(), ProofError> {
        Facts::new(Kind::Cell(None), history, part, sections(history, part)).check(proof)
    }
}

/// A lock has no parts.
impl<V: Clone + Eq + Hash> ByValues for Lock<V> {
    type Value = ();

    fn concern(&self, _: &LockInput<V>, _: Option<&LockOutput>) -> RelevantValues<()> {
        RelevantValues::All
    }
}

/// A time for which an owner has the lock: the owner and the section by number.
type Section = (u32, u32);

/// The sections of owners as values of a cell: an acquisition writes the section, and the release
/// reads it, so that no other section stands in between. A section without release is
/// kept: no other comes after it.
///
/// Owners whose operations overlap, or do not alternate, are left to the search.
fn sections<V: Eq + Hash>(
    history: &History<LockInput<V>, LockOutput>,
    part: &[OperationId],
) -> Vec<Effect<Section>> {
    let operation = |place: u32| &history.operations()[part[place as usize].index()];
    let mut numbers: SeededMap<&V, usize> = SeededMap::default();
    let mut owners: Vec<Vec<u32>> = Vec::new();
    for place in 0..part.len() as u32 {
        let number = *numbers.entry(operation(place).input.owner()).or_insert_with(|| {
            owners.push(Vec::new());
            owners.len() - 1
        });
        owners[number].push(place);
    }
    let mut effects = vec![Effect::Other; part.len()];
    for (number, places) in owners.into_iter().enumerate() {
        let mut count = 0;
        let mut holds: Option<Section> = None;
        for (index, &place) in places.iter().enumerate() {
            let this = operation(place);
            let next = places.get(index + 1).map(|place| operation(*place));
            let is_over = |one: &Operation<_, _>| {
                next.is_none_or(|next| one.response().is_none() || one.precedes(next))
            };
            if !is_over(this) {
                break;
            }
            let is_complete = this.response().is_some();
            effects[place as usize] = match (&this.input, holds) {
                (LockInput::Acquire(_), None) => {
                    let release = next.filter(|next| matches!(next.input, LockInput::Release(_)));
                    let is_taken =
                        is_complete || release.is_some_and(|release| release.response().is_some());
                    count += 1;
                    let section = (number as u32, count);
                    holds = is_taken.then_some(section);
                    match (is_taken, release) {
                        (true, Some(_)) => Effect::Write(section),
                        (true, None) => Effect::Keep(section),
                        (false, None) => Effect::Nothing,
                        // Neither responded.
                        (false, Some(_)) => Effect::Other,
                    }
                }
                (LockInput::Release(_), Some(section)) => {
                    holds = None;
                    Effect::Read(section)
                }
                _ => break,
            };
        }
    }
    effects
}
