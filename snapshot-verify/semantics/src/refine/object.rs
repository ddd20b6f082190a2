//! An object that the text declares as a specification of sequences of events.
//!
//! A configuration is a state of the object and, per process, its open operation, if any: one that
//! has not taken effect, or one that has, with its result. [`Sequential`] executes the effect of an
//! operation at one instant between its invocation and its response. Operations with `together` may
//! share this instant.
//!
//! **Linearization points.** An operation with linearization points takes effect at one of those
//! that it passes, and nowhere else; which one is open until it returns. So the read by which a
//! `pop` finds a stack empty may be marked beside the CAS that takes a value: the result determines
//! the point.

use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use super::subsets::{Automaton, Pointed, Possibilities, Subsets};
use crate::interpret::{
    Action, Block, Data, Event, Fault, ObjectState, OperationCall, Sequential, is_value,
    value_found, value_renamed,
};
use crate::product::reordered;
use crate::program::OperationId;

/// Subset construction of an object's configurations.
pub type ObjectSpecification<'p> = Subsets<AtomicObject<'p>>;

/// An object whose operations take effect at one instant each, alone or together.
#[derive(Clone, Debug)]
pub struct AtomicObject<'p> {
    sequential: Sequential<'p>,
    /// Per operation, true if it takes effect at points.
    at_points: Box<[bool]>,
    /// Per operation, true if it may change the state.
    changes: Box<[bool]>,
    /// Remembered effects of operations alone: there are few states of the object.
    effects: Arc<Mutex<Effects>>,
}

#[derive(Clone, Debug, Default)]
struct Effects {
    known: FxHashMap<(ObjectState, usize, OperationCall), Effect>,
    bytes: usize,
}

/// State of the object after an operation, and its result; `None` if the operation waits.
type Effect = Option<(ObjectState, Option<Data>)>;

/// A possible state of the object after the events so far.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Configuration {
    pub(super) state: ObjectState,
    pub(super) open: Vec<Open>,
}

/// The open operation of a process.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Open {
    Nothing,
    /// The operation has not taken effect.
    Begun(OperationCall),
    /// The operation has taken effect, with this result.
    Done(Option<Data>),
}

impl<'p> ObjectSpecification<'p> {
    /// Creates the specification of an object in its initial state. Operations take effect
    /// anywhere.
    pub fn new(sequential: Sequential<'p>) -> Self {
        Self::with_points(sequential, Box::default())
    }

    /// Creates the specification in which the operations marked in `at_points` take effect at
    /// linearization points. Operations beyond its length do not.
    pub fn with_points(sequential: Sequential<'p>, at_points: Box<[bool]>) -> Self {
        Self::of(AtomicObject { at_points, ..AtomicObject::new(sequential) })
    }

    /// Returns true if some operations take effect at linearization points.
    pub fn has_points(&self) -> bool {
        self.automaton.at_points.contains(&true)
    }

    /// Reorders the processes of a set; `order[k]` is the old index of process k. They must be
    /// anonymous.
    pub fn reordered(&mut self, before: Possibilities, order: &[u32]) -> Possibilities {
        self.mapped(before, |one| Configuration {
            state: Arc::clone(&one.state),
            open: reordered(&one.open, order),
        })
    }

    /// Returns the object, which executes one operation at a time.
    pub const fn sequential(&self) -> &Sequential<'p> {
        &self.automaton.sequential
    }

    /// Returns true if a process may begin an operation in at least one of the configurations.
    ///
    /// # Errors
    /// If `when` has no meaning in a configuration.
    ///
    /// # Panics
    /// If `before` does not belong to this specification.
    pub fn may_begin(
        &self,
        before: Possibilities,
        process: Process,
        call: OperationCall,
    ) -> Result<bool, Fault> {
        let sequential = self.sequential();
        if !sequential.is_guarded(call) {
            return Ok(sequential.object().operation(call.operation).by.includes(process.index()));
        }
        for one in self.configurations(before) {
            if sequential.may_begin(&one.state, process.index(), call)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl<'p> AtomicObject<'p> {
    /// Creates the object; operations take effect anywhere.
    pub fn new(sequential: Sequential<'p>) -> Self {
        let object = sequential.object();
        let ids = (0..object.operations.len() as u16).map(OperationId);
        let changes = ids.map(|id| object.changes(id)).collect();
        Self { sequential, at_points: Box::default(), changes, effects: Arc::default() }
    }

    fn effects(&self) -> MutexGuard<'_, Effects> {
        self.effects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_at_points(&self, call: OperationCall) -> bool {
        self.at_points.get(call.operation.0 as usize).is_some_and(|has| *has)
    }

    /// Lets an open operation take effect alone, if it can.
    fn alone(
        &self,
        one: &Configuration,
        process: usize,
        call: OperationCall,
    ) -> Result<Option<Configuration>, Fault> {
        let key = (Arc::clone(&one.state), process, call);
        let known = self.effects().known.get(&key).cloned();
        let effect = match known {
            Some(effect) => effect,
            None => {
                let effect = self.sequential.apply(&one.state, process, call)?;
                self.effects().insert(key, effect.clone());
                effect
            }
        };
        Ok(effect.map(|(state, result)| {
            let mut open = one.open.clone();
            open[process] = Open::Done(result);
            Configuration { state, open }
        }))
    }
}

impl Effects {
    fn insert(&mut self, key: (ObjectState, usize, OperationCall), effect: Effect) {
        self.bytes += 2 * size_of::<((ObjectState, usize, OperationCall), Effect)>();
        if let Some((state, result)) = &effect {
            self.bytes += state.iter().chain(result).map(Data::size).sum::<usize>();
        }
        self.known.insert(key, effect);
    }
}

impl Automaton for AtomicObject<'_> {
    type Configuration = Configuration;

    fn processes(&self) -> usize {
        self.sequential.processes()
    }

    fn initial(&self) -> Configuration {
        let open = vec![Open::Nothing; self.sequential.processes()];
        Configuration { state: self.sequential.initial(), open }
    }

    fn after(&self, one: &Configuration, event: &Event) -> Option<Configuration> {
        let Event { process, action } = event;
        let process = process.index();
        let open = match (&one.open[process], action) {
            (Open::Nothing, Action::Begin { call, .. }) => Open::Begun(*call),
            (Open::Done(returns), Action::End { result, .. }) if returns == result => Open::Nothing,
            (Open::Begun(_) | Open::Done(_), Action::End { .. }) => return None,
            (open, action) => {
                panic!("no history of an object has `{action}` where a process is in {open:?}")
            }
        };
        let mut after = one.clone();
        after.open[process] = open;
        Some(after)
    }

    fn take_effect(
        &self,
        one: &Configuration,
        reach: &mut dyn FnMut(Configuration),
    ) -> Result<(), Fault> {
        let mut together = Vec::new();
        for (process, open) in one.open.iter().enumerate() {
            let Open::Begun(call) = *open else { continue };
            if self.is_at_points(call) {
                continue;
            }
            if self.sequential.is_together(call) {
                together.push((process, call));
            } else {
                self.alone(one, process, call)?.into_iter().for_each(&mut *reach);
            }
        }
        for Block { members, state, results } in self.sequential.blocks(&one.state, &together)? {
            let mut open = one.open.clone();
            for (member, result) in members.into_iter().zip(results) {
                open[together[member].0] = Open::Done(result);
            }
            reach(Configuration { state, open });
        }
        Ok(())
    }

    fn may_change(&self, one: &Configuration, process: Process) -> bool {
        match one.open[process.index()] {
            Open::Begun(call) => self.changes[call.operation.0 as usize],
            Open::Nothing | Open::Done(_) => false,
        }
    }

    fn has_taken_effect(&self, one: &Configuration, process: Process) -> bool {
        matches!(one.open[process.index()], Open::Done(_))
    }

    fn values(&self, one: &Configuration, found: &mut Vec<u32>) {
        one.state.iter().for_each(|data| data.names(true, found));
        for open in &one.open {
            match open {
                Open::Begun(call) => {
                    let values = self.sequential.values_of(*call);
                    values.into_iter().for_each(|value| value_found(value, found));
                }
                Open::Done(Some(result)) => result.names(true, found),
                Open::Done(None) | Open::Nothing => {}
            }
        }
        // Versions of the object are its own.
        found.retain(|name| is_value(*name));
    }

    fn renamed(&self, one: &Configuration, rename: &mut dyn FnMut(u32) -> u32) -> Configuration {
        let mut anew = |name: u32| if is_value(name) { rename(name) } else { name };
        let state = one.state.iter().map(|data| data.named_anew(true, &mut anew)).collect();
        let open = one.open.iter().map(|open| match open {
            Open::Begun(call) => {
                let mut value = |value| value_renamed(value, &mut anew);
                Open::Begun(self.sequential.with_values(*call, &mut value))
            }
            Open::Done(Some(result)) => Open::Done(Some(result.named_anew(true, &mut anew))),
            open => open.clone(),
        });
        let open = open.collect();
        Configuration { state: Arc::new(state), open }
    }

    fn bytes(&self) -> usize {
        self.effects().bytes
    }

    fn size(&self, one: &Configuration) -> usize {
        let data = |data: &[Data]| data.iter().map(Data::size).sum::<usize>();
        let open = |open: &Open| match open {
            Open::Done(Some(returns)) => size_of::<Open>() + returns.size(),
            _ => size_of::<Open>(),
        };
        let state = if Arc::strong_count(&one.state) > 1 { 0 } else { data(&one.state) };
        size_of::<[usize; 10]>() + state + one.open.iter().map(open).sum::<usize>()
    }
}

impl Pointed for AtomicObject<'_> {
    fn at_point(
        &self,
        one: &Configuration,
        process: Process,
        reach: &mut dyn FnMut(Configuration),
    ) -> Result<(), Fault> {
        let process = process.index();
        match one.open[process] {
            Open::Begun(call) => {
                reach(one.clone());
                self.alone(one, process, call)?.into_iter().for_each(reach);
            }
            Open::Done(_) => reach(one.clone()),
            Open::Nothing => panic!("process {process} is at a point of no operation"),
        }
        Ok(())
    }

    fn may_be_past(&self, one: &Configuration, process: Process) -> bool {
        match one.open[process.index()] {
            Open::Begun(call) => !self.is_at_points(call),
            Open::Nothing | Open::Done(_) => true,
        }
    }
}
