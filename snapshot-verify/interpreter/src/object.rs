//! Objects that a text declares: their operations as calls of a machine, and the effects of these
//! operations, one at a time.

use std::sync::Arc;

use super::data::{Data, range};
use super::event::{Action, Argument, Call, OperationCall};
use super::fault::Fault;
use super::machine::{Machine, MachineError};
use super::run::Run;
use super::state::{Activity, Local};
use crate::program::{Object, Operation, OperationId, Procedure, ProcedureId, Type};

/// Content of the `state` variables of an object, in their order.
pub type ObjectState = Arc<Vec<Data>>;

/// An operation that has reached its `together`, or has ended without it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Begun {
    activity: Activity,
}

/// An object, executed one operation at a time, or block by block (`blocks`).
#[derive(Clone, Debug)]
pub struct Sequential<'p> {
    object: &'p Object,
    /// Machine of the specification. Its processes execute the operations; the private variables of
    /// the executing process hold the state.
    machine: Machine<'p>,
}

impl<'p> Sequential<'p> {
    /// Creates the object for n processes.
    ///
    /// # Errors
    /// If the object is too large for n, or its initial state has no meaning for n.
    pub fn new(object: &'p Object, n: usize) -> Result<Self, MachineError> {
        Ok(Self { object, machine: Machine::new(&object.specification, n)? })
    }

    pub const fn object(&self) -> &'p Object {
        self.object
    }

    pub const fn processes(&self) -> usize {
        self.machine.processes()
    }

    /// Returns the state before any operation.
    pub fn initial(&self) -> ObjectState {
        // The initial state is the same for all processes.
        Arc::new(self.machine.initial().processes[0].private.clone())
    }

    /// Returns the state after an operation, and its result; `None` if the operation waits for
    /// another state (`await`).
    ///
    /// # Errors
    /// If the specification is faulty there: for example, a number out of range.
    ///
    /// # Panics
    /// If the process or operation does not exist.
    pub fn apply(
        &self,
        state: &ObjectState,
        process: usize,
        call: OperationCall,
    ) -> Result<Option<(ObjectState, Option<Data>)>, Fault> {
        let Some((state, begun)) = self.begin(state, process, call)? else { return Ok(None) };
        let result = self.finish(&state, process, call, begun)?;
        Ok(Some((state, result)))
    }

    /// Executes as [`Self::apply`], up to `together`, if the operation has one.
    pub(super) fn begin(
        &self,
        state: &ObjectState,
        process: usize,
        call: OperationCall,
    ) -> Result<Option<(ObjectState, Begun)>, Fault> {
        let operation = self.operation(call);
        let waits = match operation.awaits {
            None => false,
            Some(awaits) => !self.holds(state, process, awaits, call)?,
        };
        if waits { Ok(None) } else { self.run(state, process, operation.effect, call).map(Some) }
    }

    /// Finishes an operation and returns its result; `state` is the common result of the operations
    /// that take effect together.
    pub(super) fn finish(
        &self,
        state: &ObjectState,
        process: usize,
        call: OperationCall,
        begun: Begun,
    ) -> Result<Option<Data>, Fault> {
        let ended = match begun.activity {
            Activity::Returning(..) => begun,
            activity => {
                let (after, ended) = self.go_on(state, process, activity, |run| {
                    run.access()?;
                    run.until_access()
                })?;
                debug_assert!(after == *state, "{call:?} changes the state after `together`");
                ended
            }
        };
        Ok(ended.result())
    }

    /// Returns true if `by` and `when` allow a process to begin an operation in a state.
    ///
    /// # Errors
    /// As [`Self::apply`].
    ///
    /// # Panics
    /// As [`Self::apply`].
    pub fn may_begin(
        &self,
        state: &ObjectState,
        process: usize,
        call: OperationCall,
    ) -> Result<bool, Fault> {
        let operation = self.operation(call);
        match operation.when {
            _ if !operation.by.includes(process) => Ok(false),
            None => Ok(true),
            Some(when) => self.holds(state, process, when, call),
        }
    }

    /// Returns true if an operation has a `when`.
    ///
    /// # Panics
    /// If the operation does not exist.
    pub fn is_guarded(&self, call: OperationCall) -> bool {
        self.operation(call).when.is_some()
    }

    /// Returns all operations that a process may begin in some state, with values below `values`.
    pub fn calls(&self, process: usize, values: u32) -> Vec<OperationCall> {
        let mut calls = Vec::new();
        let operations = (0..).map(OperationId).zip(&self.object.operations);
        for (id, operation) in operations.filter(|(_, operation)| operation.by.includes(process)) {
            let mut made = vec![OperationCall::new(id)];
            for (position, content) in parameters(self.procedure(operation)).enumerate() {
                let arguments = arguments(content, self.processes(), values);
                let with = |call: OperationCall| {
                    arguments.iter().map(move |argument| {
                        let mut call = call;
                        call.arguments[position] = *argument;
                        call
                    })
                };
                made = made.into_iter().flat_map(with).collect();
            }
            calls.extend(made);
        }
        calls
    }

    /// Replaces the values in the arguments of a call.
    pub fn with_values(
        &self,
        call: OperationCall,
        replace: &mut dyn FnMut(u32) -> u32,
    ) -> OperationCall {
        let mut call = call;
        let procedure = self.procedure(self.operation(call));
        for (content, argument) in parameters(procedure).zip(&mut call.arguments) {
            let is_value = match content {
                Type::Optional(content) => **content == Type::Value && *argument != Argument::NONE,
                content => *content == Type::Value,
            };
            if is_value {
                *argument = Argument(replace(argument.0.unsigned_abs()) as i32);
            }
        }
        call
    }

    /// Returns the values in the arguments of a call.
    pub fn values_of(&self, call: OperationCall) -> Vec<u32> {
        let mut values = Vec::new();
        self.with_values(call, &mut |value| {
            values.push(value);
            value
        });
        values
    }

    /// Returns the number of distinct operations, arguments counted; saturates.
    pub fn count_calls(&self, values: u32) -> u64 {
        let operations = self.object.operations.iter();
        operations.fold(0, |sum: u64, operation| sum.saturating_add(self.count(operation, values)))
    }

    /// Returns the name of an operation that no process can begin.
    pub(super) fn never_begun(&self, values: u32) -> Option<String> {
        let n = self.processes();
        let mut operations = self.object.operations.iter();
        let never = operations.find(|operation| {
            !(0..n).any(|process| operation.by.includes(process))
                || self.count(operation, values) == 0
        })?;
        Some(self.procedure(never).name.clone())
    }

    fn count(&self, operation: &Operation, values: u32) -> u64 {
        let counts = parameters(self.procedure(operation))
            .map(|content| count(content, self.processes(), values));
        counts.fold(1, u64::saturating_mul)
    }

    fn operation(&self, call: OperationCall) -> &'p Operation {
        self.object.operation(call.operation)
    }

    fn procedure(&self, operation: &Operation) -> &'p Procedure {
        self.object.specification.procedure(operation.effect)
    }

    fn holds(
        &self,
        state: &ObjectState,
        process: usize,
        condition: ProcedureId,
        call: OperationCall,
    ) -> Result<bool, Fault> {
        let (_, ended) = self.run(state, process, condition, call)?;
        Ok(ended.result() == Some(Data::Bool(true)))
    }

    fn run(
        &self,
        state: &ObjectState,
        process: usize,
        procedure: ProcedureId,
        call: OperationCall,
    ) -> Result<(ObjectState, Begun), Fault> {
        let given = data_of(call, self.object.specification.procedure(procedure));
        self.go_on(state, process, Activity::Idle, |run| {
            run.call(procedure, given)?;
            run.until_access()
        })
    }

    /// Runs a process in the given activity from a state.
    fn go_on(
        &self,
        state: &ObjectState,
        process: usize,
        activity: Activity,
        act: impl FnOnce(&mut Run<'_, 'p, '_>) -> Result<(), Fault>,
    ) -> Result<(ObjectState, Begun), Fault> {
        let mut whole = self.machine.initial().clone();
        whole.processes[process] = Arc::new(Local { private: state.to_vec(), activity });
        act(&mut Run::new(&self.machine, &mut whole, process, None))?;
        let local = Arc::make_mut(&mut whole.processes[process]);
        let activity = std::mem::replace(&mut local.activity, Activity::Idle);
        let private = std::mem::take(&mut local.private);
        let state = if private == **state { Arc::clone(state) } else { Arc::new(private) };
        Ok((state, Begun { activity }))
    }
}

impl Begun {
    fn result(self) -> Option<Data> {
        match self.activity {
            Activity::Returning(_, result) => result,
            _ => unreachable!("an operation of an object accesses nothing, so it runs to its end"),
        }
    }
}

impl Machine<'_> {
    /// Returns true if the program has this operation, with arguments of these types.
    pub fn has(&self, call: Call) -> bool {
        match (call, self.program.object()) {
            (Call::Update(_) | Call::Scan, object) => object.is_none(),
            (Call::Operation(_), None) => false,
            (Call::Operation(call), Some(object)) => {
                let Some(operation) = object.operations.get(call.operation.0 as usize) else {
                    return false;
                };
                let procedure = object.specification.procedure(operation.effect);
                let given = procedure.parameters;
                let mut pairs = parameters(procedure).zip(call.arguments);
                pairs.all(|(content, argument)| self.fits(argument, content))
                    && call.arguments[given..].iter().all(|rest| *rest == Argument::NONE)
            }
        }
    }

    /// Returns the text of an operation: `push(1)`, `pop`.
    ///
    /// # Panics
    /// If the operation does not exist.
    pub fn call_text(&self, call: Call) -> String {
        let call = match call {
            Call::Update(value) => return format!("update({value})"),
            Call::Scan => return "scan".to_owned(),
            Call::Operation(call) => call,
        };
        let (object, procedure) = self.declared(call.operation);
        let name = object.name_of(call.operation);
        let shown: Vec<String> = parameters(procedure)
            .zip(call.arguments)
            .map(|(content, argument)| data(argument, content).shown(content))
            .collect();
        if shown.is_empty() { name.to_owned() } else { format!("{name}({})", shown.join(", ")) }
    }

    fn declared(&self, operation: OperationId) -> (&Object, &Procedure) {
        let object = self.program.object().expect("the program declares an object");
        (object, object.specification.procedure(object.operation(operation).effect))
    }

    fn fits(&self, argument: Argument, content: &Type) -> bool {
        match content {
            Type::Optional(_) if argument == Argument::NONE => true,
            Type::Optional(content) => self.fits(argument, content),
            Type::Value => argument.0 >= 0,
            Type::Bool => matches!(argument.0, 0 | 1),
            content => range(content, self.n)
                .is_some_and(|(low, high)| (low..=high).contains(&i64::from(argument.0))),
        }
    }

    /// Returns the procedure of an operation, its arguments, and the event of its invocation.
    pub(super) fn operation_begun(&self, call: OperationCall) -> (ProcedureId, Vec<Data>, Action) {
        let (object, declared) = self.declared(call.operation);
        let text = self.call_text(Call::Operation(call)).into();
        let procedure = object.operation(call.operation).procedure;
        (procedure, data_of(call, declared), Action::Begin { call, text })
    }

    /// Returns the event that the operation with this procedure ends.
    pub(super) fn operation_ended(&self, procedure: ProcedureId, result: Option<Data>) -> Action {
        let procedure = self.program.procedure(procedure);
        let shown = result.as_ref().zip(procedure.returns.as_ref());
        let text = shown.map_or_else(String::new, |(result, content)| result.shown(content));
        Action::End { result, operation: procedure.name.as_str().into(), text: text.into() }
    }
}

fn parameters(procedure: &Procedure) -> impl Iterator<Item = &Type> {
    procedure.locals[..procedure.parameters].iter().map(|local| &local.content)
}

fn data_of(call: OperationCall, procedure: &Procedure) -> Vec<Data> {
    let pairs = parameters(procedure).zip(call.arguments);
    pairs.map(|(content, argument)| data(argument, content)).collect()
}

fn data(argument: Argument, content: &Type) -> Data {
    match content {
        Type::Optional(_) if argument == Argument::NONE => Data::None,
        Type::Optional(content) => data(argument, content),
        Type::Value => Data::Value(argument.0.unsigned_abs()),
        Type::Bool => Data::Bool(argument.0 != 0),
        _ => Data::Number(i64::from(argument.0)),
    }
}

/// Returns the number of elements of a type, with values below `values`.
fn count(content: &Type, n: usize, values: u32) -> u64 {
    match content {
        Type::Optional(content) => 1 + count(content, n, values),
        Type::Value => u64::from(values),
        Type::Bool => 2,
        content => {
            let (low, high) = range(content, n).unwrap_or((0, -1));
            (high - low + 1).max(0).unsigned_abs()
        }
    }
}

/// Returns all elements of a type, with values below `values`.
fn arguments(content: &Type, n: usize, values: u32) -> Vec<Argument> {
    match content {
        Type::Optional(content) => {
            let some = arguments(content, n, values);
            std::iter::once(Argument::NONE).chain(some).collect()
        }
        Type::Value => (0..values as i32).map(Argument).collect(),
        Type::Bool => vec![Argument(0), Argument(1)],
        content => {
            let (low, high) = range(content, n).unwrap_or((0, -1));
            (low..=high).map(|number| Argument(number as i32)).collect()
        }
    }
}
