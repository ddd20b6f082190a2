//! An object that the text declares as a specification: which events may follow which.
//!
//! A configuration is a state of the object and, per process, nothing, an operation that has
//! not taken effect, or one that has, with what it returns. What an operation does is
//! executed by [`Sequential`], at one instant between its invocation and its response; at the
//! same instant as others, if they have `together`.

use std::mem::size_of;
use std::sync::Arc;

use snapshot_core::Process;

use super::subsets::{Automaton, Letter, Possibilities, Subsets};
use crate::interpret::{Action, Block, Data, Event, Fault, ObjectState, OperationCall, Sequential};

/// An object, as the set of all its configurations.
pub type ObjectSpecification<'p> = Subsets<AtomicObject<'p>>;

/// An object whose operations take effect at one instant each, alone or together.
#[derive(Clone, Debug)]
pub struct AtomicObject<'p> {
    sequential: Sequential<'p>,
}

/// One of the ways in which the events so far may have come about.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Configuration {
    state: ObjectState,
    open: Vec<Open>,
}

/// The open operation of a process.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Open {
    Nothing,
    /// It has not taken effect.
    Begun(OperationCall),
    /// It has, and returns this.
    Done(Option<Data>),
}

impl<'p> ObjectSpecification<'p> {
    /// Of an object in its first state.
    pub fn new(sequential: Sequential<'p>) -> Self {
        Self::of(AtomicObject { sequential })
    }

    /// What the object does, one operation at a time.
    pub const fn sequential(&self) -> &Sequential<'p> {
        &self.automaton.sequential
    }

    /// Whether a process may begin an operation: in one of the configurations, at least.
    ///
    /// # Errors
    /// If `when` has no meaning in one of them.
    ///
    /// # Panics
    /// If `before` is no set of this specification.
    pub fn may_begin(
        &self,
        before: Possibilities,
        process: Process,
        call: OperationCall,
    ) -> Result<bool, Fault> {
        let sequential = self.sequential();
        if !sequential.is_guarded(call) {
            return Ok(true);
        }
        for one in self.configurations(before) {
            if sequential.may_begin(&one.state, process.index(), call)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Automaton for AtomicObject<'_> {
    type Configuration = Configuration;

    fn initial(&self) -> Configuration {
        let open = vec![Open::Nothing; self.sequential.processes()];
        Configuration { state: self.sequential.initial(), open }
    }

    fn after(&self, one: &Configuration, letter: &Letter) -> Option<Configuration> {
        let Letter::Event(Event { process, action }) = letter else {
            panic!("linearization points are of snapshots")
        };
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
            if self.sequential.is_together(call) {
                together.push((process, call));
            } else if let Some((state, result)) =
                self.sequential.apply(&one.state, process, call)?
            {
                let mut open = one.open.clone();
                open[process] = Open::Done(result);
                reach(Configuration { state, open });
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
