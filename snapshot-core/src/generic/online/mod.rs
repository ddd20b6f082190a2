//! Judges of executions that are being made: parts by rules, event by event, in memory bounded by
//! the operations that are open and the values that are there.
//!
//! | judge | object | alarm |
//! | --- | --- | --- |
//! | [`queue`] | first in, first out | at the first prefix that has no order; of a removal that found nothing, when the removals open at its response have ended, at the latest |
//! | [`cell`] | registers | at the first prefix that has no order |
//! | [`lock`] | locks | the same |
//! | [`sweep`] | priority queues | when the removals open at the response of a wrong removal have ended, at the latest |
//! | [`sweep`] | stacks | they are judged again as they grow; the judge only settles operations |
//! | [`waiting`] | an element of a set, a counter without decrements | when the operations open at such a prefix have ended, at the latest |
//!
//! The others are judged again as they grow ([`Watch`](crate::object::Watch)).
//!
//! A judge sees effects and the numbers of events, which are times. An operation is named by the
//! event of its invocation. *Settled* are the operations that no later violation needs: without them
//! the rest of the execution, from the object as it is then ([`Online::object`]), has an order iff
//! the whole has one.

mod cell;
mod empty;
mod lock;
mod queue;
mod sweep;
mod waiting;

use std::collections::hash_map::Entry;

use super::effect::Effect;
use super::history::{Ending, History};
use super::monitors::Beyond;
use super::specification::Specification;
use crate::OperationId;
use crate::seeded::SeededMap;

pub(super) use self::cell::Cell;
pub(super) use self::lock::Lock;
pub(super) use self::queue::Queue;
pub(super) use self::sweep::Sweep;
pub(super) use self::waiting::Waiting;

/// The number of an event, of an operation that of its invocation.
type Time = usize;

/// A judge of an execution that is being made, which is an `H`, of an object `K`.
pub trait Online<H, K> {
    /// Takes the last event, which invokes an operation.
    fn invoked(&mut self, history: &H, operation: OperationId);

    /// Takes the last event, at which an operation responded, failed, or was given up.
    fn ended(&mut self, history: &H, operation: OperationId);

    /// Returns true if the execution is a violation.
    fn is_violation(&self) -> bool;

    /// Returns true if it settles operations, once they were found to have an order, but may find
    /// no violation: the execution must be judged as it grows.
    fn is_partial(&self) -> bool {
        false
    }

    /// Returns the reason why later violations may be missed, if there is one.
    fn beyond(&self, history: &H) -> Option<Beyond>;

    /// Adds the operations that are settled since the last call, by the events of their
    /// invocations.
    fn take_settled(&mut self, settled: &mut Vec<usize>);

    /// Returns the object as it is for the operations that are not settled; `None` if it is as at
    /// first.
    fn object(&self) -> Option<K> {
        None
    }
}

/// [`Online`] of a specification.
pub type OnlineOf<'s, S> =
    dyn Online<History<<S as Specification>::Input, <S as Specification>::Output>, S> + 's;

/// The end of an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
    Response,
    Failure,
    /// It may take effect at any time.
    Unknown,
}

/// The reason why a judge may miss violations, with an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Lost {
    /// It puts a value that is there.
    Repeated(Time),
    /// Its effect is not known to the judge.
    Operation(Time),
}

/// The findings of a judge.
#[derive(Debug, Default)]
pub(super) struct Notes {
    is_violation: bool,
    lost: Option<Lost>,
    settled: Vec<Time>,
}

impl Notes {
    fn lose(&mut self, lost: Lost) {
        self.lost.get_or_insert(lost);
    }
}

/// A judge of one part.
pub(super) trait Steps<V> {
    /// As [`Online::is_partial`].
    const IS_PARTIAL: bool = false;

    fn invoke(&mut self, operation: Time, effect: Effect<V>, notes: &mut Notes);

    /// Ends an operation at an event; without response it has the effect of its invocation.
    fn end(&mut self, operation: Time, at: (Time, End), effect: Effect<V>, notes: &mut Notes);

    /// Returns true if it differs in nothing from a new one.
    fn is_new(&self) -> bool;
}

/// Makes the judge of a part.
type Make<'s, S, M> = Box<dyn Fn(&<S as Specification>::Part) -> M + 's>;

/// Returns the effect of an operation.
type EffectOf<'s, S, V> = Box<
    dyn Fn(&<S as Specification>::Input, Option<&<S as Specification>::Output>) -> Effect<V> + 's,
>;

/// The judge of all parts, each with effects on values of type `V`.
struct ByParts<'s, S: Specification, V, M> {
    specification: &'s S,
    parts: SeededMap<S::Part, M>,
    make: Make<'s, S, M>,
    effect: EffectOf<'s, S, V>,
    object: fn(&S, &SeededMap<S::Part, M>) -> Option<S>,
    notes: Notes,
}

/// Returns the judge of an object that makes a judge of each part, by the effects of operations;
/// `object` makes the object as it is from the judges of its parts.
pub(super) fn by_parts<'s, S, V, M>(
    specification: &'s S,
    make: impl Fn(&S::Part) -> M + 's,
    effect: impl Fn(&S::Input, Option<&S::Output>) -> Effect<V> + 's,
    object: fn(&S, &SeededMap<S::Part, M>) -> Option<S>,
) -> Box<OnlineOf<'s, S>>
where
    S: Specification,
    V: 's,
    M: Steps<V> + 's,
{
    Box::new(ByParts {
        specification,
        parts: SeededMap::default(),
        make: Box::new(make),
        effect: Box::new(effect),
        object,
        notes: Notes::default(),
    })
}

impl<S: Specification, V, M: Steps<V>> Online<History<S::Input, S::Output>, S>
    for ByParts<'_, S, V, M>
{
    fn invoked(&mut self, history: &History<S::Input, S::Output>, operation: OperationId) {
        let operation = &history.operations()[operation.index()];
        let part = self.specification.part(&operation.input);
        let effect = (self.effect)(&operation.input, None);
        let judge = match self.parts.entry(part) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let judge = (self.make)(entry.key());
                entry.insert(judge)
            }
        };
        judge.invoke(operation.invocation, effect, &mut self.notes);
    }

    fn ended(&mut self, history: &History<S::Input, S::Output>, operation: OperationId) {
        let operation = &history.operations()[operation.index()];
        let part = self.specification.part(&operation.input);
        let end = match operation.ending {
            Ending::Complete { .. } => End::Response,
            Ending::Failed { .. } => End::Failure,
            Ending::Pending => End::Unknown,
        };
        let effect = (self.effect)(&operation.input, operation.output());
        self.notes.is_violation |= matches!(effect, Effect::Impossible);
        let at = (history.len() - 1, end);
        if let Entry::Occupied(mut judge) = self.parts.entry(part) {
            judge.get_mut().end(operation.invocation, at, effect, &mut self.notes);
            if judge.get().is_new() {
                judge.remove();
            }
        }
    }

    fn is_violation(&self) -> bool {
        self.notes.is_violation
    }

    fn is_partial(&self) -> bool {
        M::IS_PARTIAL
    }

    fn beyond(&self, history: &History<S::Input, S::Output>) -> Option<Beyond> {
        let named = |time: Time| {
            let at = history.operations().binary_search_by_key(&time, |one| one.invocation);
            at.ok().map(OperationId::from_index)
        };
        self.notes.lost.map(|lost| match lost {
            Lost::Repeated(time) => Beyond::Repeated(named(time).into_iter().collect()),
            Lost::Operation(time) => named(time).map_or(Beyond::Object, Beyond::Operation),
        })
    }

    fn take_settled(&mut self, settled: &mut Vec<usize>) {
        settled.append(&mut self.notes.settled);
    }

    fn object(&self) -> Option<S> {
        (self.object)(self.specification, &self.parts)
    }
}
