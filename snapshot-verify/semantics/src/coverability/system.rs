//! Global and local states, and the steps of one process.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use super::{Unsuitable, require_suitable};
use crate::interpret::{
    Action, Call, Data, Machine, ObjectState, OperationCall, ProcessPart, Sequential, SharedPart,
    State,
};
use crate::program::Program;
use crate::program::linearization::at_points;

/// Number of a global state.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct GlobalId(pub u32);

/// Number of a local state.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct LocalId(pub u32);

/// Shared memory, the object, and the watched operation.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Global {
    pub shared: SharedPart,
    pub object: ObjectState,
    pub watched: Option<Watched>,
}

/// An operation without linearization points that is watched.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Watched {
    pub part: ProcessPart,
    pub call: OperationCall,
    /// Results that were right at some instant since it began.
    pub right: BTreeSet<Option<Data>>,
}

/// State of a process that is not watched.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Local {
    pub part: ProcessPart,
    pub standing: Standing,
}

/// What is known of the open operation of a process.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Standing {
    Idle,
    /// It has no linearization points, and its result is not watched.
    Free,
    /// It has not taken effect.
    Begun(OperationCall),
    /// It has taken effect, with this result.
    Done(Option<Data>),
}

/// An error of a step.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Mistake {
    /// The program goes wrong.
    Fault,
    /// An operation returns a result that is not its own.
    Result,
    /// An operation passes a linearization point where `await` forbids that it takes effect.
    Await,
    /// An operation passes a second linearization point.
    Twice,
    /// An operation ends without a linearization point.
    Never,
}

/// Effect of a step of a process in a global state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// The next global state, and the next local state unless the process is watched now.
    To(GlobalId, Option<LocalId>),
    Wrong(Mistake),
}

/// Interned states.
#[derive(Debug)]
struct Table<T> {
    numbers: FxHashMap<T, u32>,
    all: Vec<T>,
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn new() -> Self {
        Self { numbers: FxHashMap::default(), all: Vec::new() }
    }

    fn intern(&mut self, one: T) -> u32 {
        let next = self.all.len() as u32;
        *self.numbers.entry(one.clone()).or_insert_with(|| {
            self.all.push(one);
            next
        })
    }
}

/// A program and its object with any number of processes. The interpreter runs one of them.
#[derive(Debug)]
pub struct System<'p> {
    machine: Machine<'p>,
    sequential: Sequential<'p>,
    calls: Vec<OperationCall>,
    at_points: Box<[bool]>,
    globals: Table<Global>,
    locals: Table<Local>,
}

/// The process that the interpreter runs.
const ONE: Process = Process::from_index(0);

impl<'p> System<'p> {
    /// Creates the system with its initial states. Operations have this many values.
    ///
    /// # Errors
    /// If the program does not suit the method.
    pub fn new(program: &'p Program, values: u32) -> Result<Self, Unsuitable> {
        require_suitable(program)?;
        let object = program.object().ok_or(Unsuitable::NoObject)?;
        let machine = Machine::at_points(program, 1)?;
        let sequential = Sequential::new(object, 1)?;
        let calls = sequential.calls(0, values);
        let mut system = Self {
            calls,
            at_points: at_points(program),
            globals: Table::new(),
            locals: Table::new(),
            sequential,
            machine,
        };
        let first = system.machine.initial();
        let (shared, part) = (first.shared_part(), first.process_part(0));
        let object = system.sequential.initial();
        system.globals.intern(Global { shared, object, watched: None });
        system.locals.intern(Local { part, standing: Standing::Idle });
        Ok(system)
    }

    /// Returns the initial global state, and the initial local state of every process.
    pub const fn initial(&self) -> (GlobalId, LocalId) {
        (GlobalId(0), LocalId(0))
    }

    /// Returns the number of a global state, if it was reached.
    pub fn find_global(&self, global: &Global) -> Option<GlobalId> {
        self.globals.numbers.get(global).copied().map(GlobalId)
    }

    /// Returns the number of a local state, if it was reached.
    pub fn find_local(&self, local: &Local) -> Option<LocalId> {
        self.locals.numbers.get(local).copied().map(LocalId)
    }

    /// Returns the number of global states reached.
    pub fn globals(&self) -> usize {
        self.globals.all.len()
    }

    /// Returns the number of local states reached.
    pub fn locals(&self) -> usize {
        self.locals.all.len()
    }

    /// Makes all steps of a process in this local state.
    ///
    /// # Errors
    /// If the object is faulty.
    pub(super) fn steps(
        &mut self,
        global: GlobalId,
        local: LocalId,
    ) -> Result<Vec<Step>, Unsuitable> {
        let before = self.globals.all[global.0 as usize].clone();
        let Local { part, standing } = self.locals.all[local.0 as usize].clone();
        match standing {
            Standing::Idle => self.begin(&before, &part),
            standing => self.go_on(&before, &part, &standing),
        }
    }

    /// Makes all steps of the watched operation. Once it has returned a right result, the execution
    /// is of no further interest.
    ///
    /// # Errors
    /// If the object is faulty.
    pub(super) fn watched_steps(&mut self, global: GlobalId) -> Result<Vec<Step>, Unsuitable> {
        let before = self.globals.all[global.0 as usize].clone();
        let Some(watched) = before.watched.clone() else { return Ok(Vec::new()) };
        let mut steps = Vec::new();
        for (made, action, points) in self.advances(&before.shared, &watched.part) {
            let Some(state) = made else {
                steps.push(Step::Wrong(Mistake::Fault));
                continue;
            };
            debug_assert_eq!(points, 0, "a watched operation has no linearization points");
            match action {
                Some(Action::End { result, .. }) => {
                    let is_right = watched.right.contains(&result);
                    steps.extend((!is_right).then_some(Step::Wrong(Mistake::Result)));
                }
                _ => {
                    let watched = Watched { part: state.process_part(0), ..watched.clone() };
                    let shared = state.shared_part();
                    let next = Global { shared, watched: Some(watched), ..before.clone() };
                    steps.push(Step::To(GlobalId(self.globals.intern(next)), None));
                }
            }
        }
        Ok(steps)
    }

    fn begin(&mut self, before: &Global, part: &ProcessPart) -> Result<Vec<Step>, Unsuitable> {
        let mut steps = Vec::new();
        for call in self.calls.clone() {
            let may_begin = self.sequential.may_begin(&before.object, 0, call);
            if !may_begin.map_err(Unsuitable::Object)? {
                continue;
            }
            let mut state = State::of_parts(before.shared.clone(), [part.clone()], 1);
            let begun = self.machine.begin_in_parts(&mut state, ONE, Call::Operation(call), None);
            if begun.is_err() {
                steps.push(Step::Wrong(Mistake::Fault));
                continue;
            }
            let (shared, part) = (state.shared_part(), state.process_part(0));
            let next = Global { shared, ..before.clone() };
            let is_free = !self.at_points[call.operation.0 as usize];
            let standing = if is_free { Standing::Free } else { Standing::Begun(call) };
            if is_free && before.watched.is_none() {
                let right = self.right(&before.object, call)?.into_iter().collect();
                let watched = Some(Watched { part: part.clone(), call, right });
                let next = Global { watched, ..next.clone() };
                steps.push(Step::To(GlobalId(self.globals.intern(next)), None));
            }
            steps.push(self.to(next, part, standing));
        }
        Ok(steps)
    }

    fn go_on(
        &mut self,
        before: &Global,
        part: &ProcessPart,
        standing: &Standing,
    ) -> Result<Vec<Step>, Unsuitable> {
        let mut steps = Vec::new();
        for (made, action, points) in self.advances(&before.shared, part) {
            let Some(state) = made else {
                steps.push(Step::Wrong(Mistake::Fault));
                continue;
            };
            let mut next = Global { shared: state.shared_part(), ..before.clone() };
            let part = state.process_part(0);
            let after = match (standing, action, points) {
                (Standing::Idle, ..) => unreachable!("an idle process begins an operation"),
                (Standing::Begun(_), Some(_), _) => Err(Mistake::Never),
                (Standing::Done(right), Some(Action::End { result, .. }), _)
                    if *right != result =>
                {
                    Err(Mistake::Result)
                }
                (Standing::Free | Standing::Done(_), Some(_), _) => Ok(Standing::Idle),
                (standing, None, 0) => Ok(standing.clone()),
                (Standing::Begun(call), None, 1) => {
                    let effect = self.sequential.apply(&before.object, 0, *call);
                    match effect.map_err(Unsuitable::Object)? {
                        None => Err(Mistake::Await),
                        Some((object, result)) => {
                            next.object = object;
                            self.seen(&mut next)?;
                            Ok(Standing::Done(result))
                        }
                    }
                }
                (_, None, _) => Err(Mistake::Twice),
            };
            steps.push(match after {
                Ok(standing) => self.to(next, part, standing),
                Err(mistake) => Step::Wrong(mistake),
            });
        }
        Ok(steps)
    }

    /// Adds the result that is right for the watched operation now.
    fn seen(&self, global: &mut Global) -> Result<(), Unsuitable> {
        if let Some(watched) = &mut global.watched {
            watched.right.extend(self.right(&global.object, watched.call)?);
        }
        Ok(())
    }

    /// Returns the result of an operation that changes nothing, unless it waits.
    fn right(
        &self,
        object: &ObjectState,
        call: OperationCall,
    ) -> Result<Option<Option<Data>>, Unsuitable> {
        let effect = self.sequential.apply(object, 0, call).map_err(Unsuitable::Object)?;
        Ok(effect.map(|(after, result)| {
            debug_assert!(Arc::ptr_eq(&after, object) || *after == **object);
            result
        }))
    }

    /// Makes the next step of a process, with each of its outcomes: the state unless the program
    /// goes wrong, the response if it is one, and the number of linearization points.
    fn advances(
        &self,
        shared: &SharedPart,
        part: &ProcessPart,
    ) -> Vec<(Option<State>, Option<Action>, u32)> {
        let state = State::of_parts(shared.clone(), [part.clone()], 1);
        let advance = |outcome| {
            let mut state = state.clone();
            match self.machine.advance_in_parts(&mut state, ONE, outcome, None) {
                Ok(advance) => (Some(state), advance.action, advance.points),
                Err(_) => (None, None, 0),
            }
        };
        (0..self.machine.outcomes(&state, ONE)).map(advance).collect()
    }

    fn to(&mut self, global: Global, part: ProcessPart, standing: Standing) -> Step {
        let local = LocalId(self.locals.intern(Local { part, standing }));
        Step::To(GlobalId(self.globals.intern(global)), Some(local))
    }
}
