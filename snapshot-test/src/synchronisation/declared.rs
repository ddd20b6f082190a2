//! Objects that a text in the language of the verifier declares (docs/language.md).
//!
//! The interpreter executes their operations; an exact search judges. `by` and `when` bind the
//! clients of an object, and are assumed to hold.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::sync::Arc;

use snapshot_core::generic::{ByValues, RelevantValues, Specification};
use snapshot_core::synchronisation::Single;
use snapshot_interpreter::{
    Answer, Argument, Data, Declared, ObjectState, OperationCall, Question, Sequential,
};
use snapshot_language::parse;
use snapshot_language::program::{self, Bound, OperationId, Program, Type};

use super::generate::Role;
use super::interface::{Beyond, Fit, Interface, Signature};
use super::token::Token;
use crate::Value;

/// Numbers below this stand for themselves where they are values; other values are numbered.
const FIRST_NAMED: u32 = 1 << 30;

/// The most processes of a declared object.
const MOST_PROCESSES: usize = 1024;

/// The declaration of an object. It is kept to the end of the program.
#[derive(Debug)]
pub(super) struct Declaration {
    /// The file with the text.
    pub path: String,
    object: &'static program::Object,
    signatures: &'static [Signature],
}

impl Declaration {
    /// Reads the declaration in a file.
    ///
    /// # Errors
    /// The report, if there is none.
    pub(super) fn read(path: &str) -> Result<Arc<Self>, String> {
        let text = fs::read_to_string(path)
            .map_err(|error| format!("cannot read the declaration in {path}: {error}"))?;
        let algorithm = parse(path, &text).map_err(|error| error.to_string())?;
        let program = algorithm.program(None).map_err(|error| error.to_string())?;
        let program: &'static Program = Box::leak(Box::new(program));
        let object = program.object().ok_or_else(|| {
            format!("{path} declares no `object`: expected the states and the operations of one")
        })?;
        if object.has_blocks() {
            return Err(format!(
                "{path}: operations that take effect together are not judged by a declaration yet; \
                 `check --object` knows channels, exchangers and barriers by name"
            ));
        }
        let ids = (0..object.operations.len() as u16).map(OperationId);
        let signatures: Vec<Signature> = ids.map(|id| signature(object, id)).collect();
        let signatures = Box::leak(signatures.into_boxed_slice());
        Ok(Arc::new(Self { path: path.to_owned(), object, signatures }))
    }

    /// Returns the name in the text.
    pub(super) fn name(&self) -> &str {
        &self.object.name
    }
}

fn make(declaration: &Declaration, processes: usize) -> Made {
    let sequential = Sequential::new(declaration.object, processes);
    sequential.map(Declared::new).map_err(|error| error.to_string())
}

/// Returns the range of a type of numbers.
fn range(content: &Type) -> Option<(Bound, Bound)> {
    match content {
        Type::Optional(content) => range(content),
        Type::Integer { low, high } => Some((*low, *high)),
        Type::Process | Type::Segment => Some((Bound::constant(0), Bound { times_n: 1, plus: -1 })),
        _ => None,
    }
}

fn signature(object: &'static program::Object, id: OperationId) -> Signature {
    let procedure = object.specification.procedure(object.operation(id).effect);
    let parameters = procedure.locals[..procedure.parameters].iter();
    let usage = parameters.fold(procedure.name.clone(), |usage, parameter| {
        format!("{usage} {}", parameter.name.to_uppercase())
    });
    let results = match &procedure.returns {
        None => "nothing",
        Some(Type::Bool) => "true or false",
        Some(Type::Optional(_)) => "a value or none",
        Some(Type::Array { .. } | Type::List(_)) => "values",
        Some(_) => "a value",
    };
    Signature { name: &procedure.name, usage: Box::leak(usage.into_boxed_str()), results }
}

/// A declared object for a number of processes; the reason, if there is none.
type Made = Result<Declared<'static, Sequential<'static>>, String>;

/// A declared object, for as many processes as its recording has.
pub(super) struct Machine {
    declaration: Arc<Declaration>,
    /// The numbers of the values of the recording.
    values: RefCell<HashMap<Value, u32>>,
    /// Number of processes so far.
    processes: Cell<usize>,
    /// The object that was made last, and its number of processes.
    made: RefCell<(usize, Made)>,
    /// The first operation that was faulty in the object that was made last.
    faulty: Cell<Option<Question>>,
}

impl Machine {
    pub(super) fn new(declaration: Arc<Declaration>) -> Self {
        let made = RefCell::new((1, make(&declaration, 1)));
        let (values, processes, faulty) = (RefCell::default(), Cell::new(1), Cell::new(None));
        Self { declaration, values, processes, made, faulty }
    }

    /// Uses the object for the processes so far.
    fn with<T>(&self, run: impl FnOnce(&Made) -> T) -> T {
        let processes = self.processes.get();
        if self.made.borrow().0 != processes {
            *self.made.borrow_mut() = (processes, make(&self.declaration, processes));
            self.faulty.set(None);
        }
        run(&self.made.borrow().1)
    }

    /// Allows for another number of processes, if it is larger.
    fn grow(&self, processes: usize) {
        self.processes.set(self.processes.get().max(processes));
    }

    /// Returns the number of a value.
    fn number(&self, value: &Value) -> u32 {
        if let Value::Integer(number) = value
            && let Ok(number) = u32::try_from(*number)
            && number < FIRST_NAMED
        {
            return number;
        }
        let mut values = self.values.borrow_mut();
        let next = FIRST_NAMED + values.len() as u32;
        *values.entry(value.clone()).or_insert(next)
    }

    fn argument(&self, content: &Type, token: &Token) -> Option<Argument> {
        match (content, token) {
            (Type::Optional(_), Token::None) => Some(Argument::NONE),
            (Type::Optional(content), token) => self.argument(content, token),
            (Type::Value, Token::Value(value)) => {
                i32::try_from(self.number(value)).ok().map(Argument)
            }
            (Type::Bool, Token::Truth(truth)) => Some(Argument(i32::from(*truth))),
            (
                Type::Integer { .. } | Type::Process | Type::Segment,
                Token::Value(Value::Integer(number)),
            ) => i32::try_from(*number).ok().map(Argument),
            _ => None,
        }
    }

    /// Returns the types of the arguments of a call.
    fn parameters(&self, call: OperationCall) -> impl Iterator<Item = &'static Type> {
        let object = self.declaration.object;
        let effect = object.specification.procedure(object.operation(call.operation).effect);
        effect.locals[..effect.parameters].iter().map(|parameter| &parameter.content)
    }

    fn data(&self, content: &Type, token: &Token) -> Option<Data> {
        match (content, token) {
            (Type::Optional(_), Token::None) => Some(Data::None),
            (Type::Optional(content), token) => self.data(content, token),
            (Type::Value, Token::Value(value)) => Some(Data::Value(self.number(value))),
            (Type::Bool, Token::Truth(truth)) => Some(Data::Bool(*truth)),
            (Type::Counter, token) => token.number().map(Data::Counter),
            (
                Type::Process | Type::Segment | Type::Integer { .. },
                Token::Value(Value::Integer(number)),
            ) => Some(Data::Number(*number)),
            _ => None,
        }
    }
}

impl Specification for Machine {
    type State = ObjectState;
    type Input = Question;
    type Output = Answer;
    type Part = ();

    fn initial(&self) -> ObjectState {
        self.with(|made| made.as_ref().map(Specification::initial).unwrap_or_default())
    }

    fn apply(&self, state: &mut ObjectState, input: &Question, output: Option<&Answer>) -> bool {
        self.with(|made| {
            let Ok(one) = made else { return false };
            let is_applied = one.apply(state, input, output);
            if !is_applied && self.faulty.get().is_none() && one.fault().is_some() {
                self.faulty.set(Some(*input));
            }
            is_applied
        })
    }

    fn part(&self, _: &Question) {}

    fn bytes(&self, state: &ObjectState) -> usize {
        self.with(|made| made.as_ref().map_or(0, |one| Specification::bytes(one, state)))
    }
}

/// The operations of a declared object may all depend on each other.
impl ByValues for Machine {
    type Value = ();

    fn concern(&self, _: &Question, _: Option<&Answer>) -> RelevantValues<()> {
        RelevantValues::All
    }
}

impl Interface for Single<Machine> {
    type Input = Question;
    type Output = Answer;

    const SIGNATURES: &'static [Signature] = &[];

    fn signatures(&self) -> &'static [Signature] {
        self.0.declaration.signatures
    }

    fn input(&self, name: &str, arguments: &[Token]) -> Option<Question> {
        self.input_of(0, name, arguments)
    }

    fn input_of(&self, process: usize, name: &str, arguments: &[Token]) -> Option<Question> {
        let machine = &self.0;
        let object = machine.declaration.object;
        let operation = object.find(name)?;
        let effect = object.specification.procedure(object.operation(operation).effect);
        let parameters = &effect.locals[..effect.parameters];
        if parameters.len() != arguments.len() {
            return None;
        }
        let mut call = OperationCall::new(operation);
        for ((slot, parameter), token) in call.arguments.iter_mut().zip(parameters).zip(arguments) {
            *slot = machine.argument(&parameter.content, token)?;
        }
        machine.grow(process + 1);
        Some(Question::Operation(process, call))
    }

    fn output(&self, input: &Question, results: &[Token]) -> Option<Answer> {
        let (Question::Operation(_, call) | Question::MayBegin(_, call)) = input;
        let object = self.0.declaration.object;
        let effect = object.specification.procedure(object.operation(call.operation).effect);
        match (&effect.returns, results) {
            (None, []) => Some(None),
            (Some(Type::Array { element, .. } | Type::List(element)), results) => {
                let parts = results.iter().map(|token| self.0.data(element, token));
                parts.collect::<Option<_>>().map(|parts| Some(Data::Parts(parts)))
            }
            (Some(content), [token]) => self.0.data(content, token).map(Some),
            _ => None,
        }
    }

    fn expect_processes(&self, processes: usize) {
        self.0.grow(processes);
    }

    fn may_begin(&self, state: &ObjectState, input: &Question) -> bool {
        let (Question::Operation(process, call) | Question::MayBegin(process, call)) = *input;
        self.0.apply(&mut state.clone(), &Question::MayBegin(process, call), None)
    }

    fn roles(&self, signature: &Signature, processes: usize) -> Vec<Role> {
        let object = self.0.declaration.object;
        let Some(operation) = object.find(signature.name) else { return Vec::new() };
        let effect = object.specification.procedure(object.operation(operation).effect);
        let role = |content: &Type| match content {
            Type::Process | Type::Segment => Role::Within(0, processes as i64 - 1),
            Type::Integer { low, high } => {
                Role::Within(low.at(processes).into(), high.at(processes).into())
            }
            Type::Bool => Role::Truth,
            _ => Role::Fresh,
        };
        let parameters = effect.locals[..effect.parameters].iter();
        parameters.map(|parameter| role(&parameter.content)).collect()
    }

    fn fault(&self) -> Option<(String, Option<Question>)> {
        self.0.with(|made| match made {
            Ok(declared) => declared.fault().map(|fault| (fault.to_string(), self.0.faulty.get())),
            Err(error) => Some((error.clone(), None)),
        })
    }

    fn fit(&self, input: &Question, has_ended: bool) -> Fit {
        let (Question::Operation(_, call) | Question::MayBegin(_, call)) = input;
        let processes = self.0.processes.get();
        let last = if has_ended { processes } else { MOST_PROCESSES.max(processes) };
        let mut fit = Fit::Always;
        let arguments = self.0.parameters(*call).zip(call.arguments).enumerate();
        for (argument, (content, given)) in arguments.filter(|(_, (_, one))| *one != Argument::NONE)
        {
            let Some((low, high)) = range(content) else { continue };
            let is_within = |n: usize| (low.at(n)..=high.at(n)).contains(&given.0);
            // Bounds are linear in n.
            if is_within(processes) && is_within(last) {
                continue;
            }
            let is_open = (processes..=last).any(is_within);
            let by_n = low.times_n != 0 || high.times_n != 0;
            let (low, high) = (low.at(processes).into(), high.at(processes).into());
            let processes = by_n.then_some(processes);
            let beyond = Beyond { argument, given: given.0.into(), low, high, processes };
            if !is_open {
                return Fit::Never(beyond);
            }
            fit = Fit::Open(beyond);
        }
        fit
    }

    fn is_same(&self, one: &Question, other: &Question) -> bool {
        one == other
    }
}
