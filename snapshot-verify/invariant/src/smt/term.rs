//! Values of variables as SMT-LIB terms.
//!
//! A variable is one function per scalar: of its process, if it is not shared, and of the indices
//! of its arrays. A step redefines the functions that it changes, under new names.

use std::rc::Rc;

use snapshot_language::program::Type;

use crate::layout::Unsupported;

/// Sort of processes, and of segments.
pub const PROCESS: &str = "Process";
pub const VERSION: &str = "Version";

#[derive(Clone)]
pub enum Value {
    /// A scalar; the first term holds if it is none, for an optional scalar.
    Scalar(Option<String>, String),
    /// An element for each process.
    Array(Rc<dyn Fn(&str) -> Value>),
    /// Fields, in order.
    Record(Vec<Value>),
}

/// A function that holds scalars of a variable.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    /// Number of processes that it is applied to.
    pub arity: usize,
    /// Sort of its results.
    pub sort: &'static str,
}

/// Applies a function.
pub fn apply(function: &str, arguments: &[String]) -> String {
    match arguments {
        [] => function.to_owned(),
        arguments => format!("({function} {})", arguments.join(" ")),
    }
}

pub fn and(parts: &[String]) -> String {
    join("and", "true", parts)
}

pub fn or(parts: &[String]) -> String {
    join("or", "false", parts)
}

fn join(operator: &str, empty: &str, parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| *part != empty).collect();
    match parts.as_slice() {
        [] => empty.to_owned(),
        [part] => (*part).to_owned(),
        parts => format!("({operator} {})", parts.join(" ")),
    }
}

pub fn not(part: &str) -> String {
    match part {
        "true" => "false".to_owned(),
        "false" => "true".to_owned(),
        part => format!("(not {part})"),
    }
}

fn ite(condition: &str, then: &str, otherwise: &str) -> String {
    match condition {
        _ if then == otherwise => then.to_owned(),
        "true" => then.to_owned(),
        "false" => otherwise.to_owned(),
        condition => format!("(ite {condition} {then} {otherwise})"),
    }
}

/// Returns a function of truth values, as decisions on them in this order.
pub fn table(variables: &[String], holds: &dyn Fn(usize) -> bool) -> String {
    fn decide(
        variables: &[String],
        at: usize,
        bits: usize,
        holds: &dyn Fn(usize) -> bool,
    ) -> String {
        let Some(variable) = variables.get(at) else {
            return if holds(bits) { "true" } else { "false" }.to_owned();
        };
        let [no, yes] = [bits, bits | 1 << at].map(|bits| decide(variables, at + 1, bits, holds));
        ite(variable, &yes, &no)
    }
    decide(variables, 0, 0, holds)
}

/// Returns the functions of a variable, with `arity` arguments before its own indices.
///
/// # Errors
/// If its type is not modelled.
pub fn functions(name: &str, content: &Type, arity: usize) -> Result<Vec<Function>, Unsupported> {
    let one = |sort| Ok(vec![Function { name: name.to_owned(), arity, sort }]);
    match content {
        Type::Value | Type::Bool => one("Bool"),
        Type::Process | Type::Segment => one(PROCESS),
        Type::Version => one(VERSION),
        Type::Optional(inner) => {
            let mut all = functions(name, inner, arity)?;
            all.push(Function { name: none(name), arity, sort: "Bool" });
            Ok(all)
        }
        Type::Array { index, element } if index.is_of_names() => {
            functions(name, element, arity + 1)
        }
        Type::Record(fields) => {
            let of = |field: &snapshot_language::program::Field| {
                functions(&format!("{name}.{}", field.name), &field.content, arity)
            };
            let all: Vec<Vec<Function>> = fields.iter().map(of).collect::<Result<_, _>>()?;
            Ok(all.concat())
        }
        _ => Err(Unsupported("numbers, counters and lists")),
    }
}

fn none(name: &str) -> String {
    format!("{name}.none")
}

/// Returns the value of a variable: its functions applied. [`functions`] must support the type.
pub fn held(name: &str, content: &Type, arguments: &[String]) -> Value {
    match content {
        Type::Optional(_) => {
            Value::Scalar(Some(apply(&none(name), arguments)), apply(name, arguments))
        }
        Type::Array { element, .. } => {
            let (name, element) = (name.to_owned(), (**element).clone());
            let arguments = arguments.to_vec();
            Value::Array(Rc::new(move |index| {
                held(&name, &element, &[arguments.as_slice(), &[index.to_owned()]].concat())
            }))
        }
        Type::Record(fields) => {
            let of = |field: &snapshot_language::program::Field| {
                held(&format!("{name}.{}", field.name), &field.content, arguments)
            };
            Value::Record(fields.iter().map(of).collect())
        }
        _ => Value::Scalar(None, apply(name, arguments)),
    }
}

/// Definition of a function after a step: the function, and a term.
pub type Definition = (Function, String);

/// Returns the definitions that make a variable hold a value. `owner`: the owner of the variable;
/// variables of other processes are unchanged. [`parameter`] names the arguments.
pub fn define(name: &str, content: &Type, value: &Value, owner: Option<&str>) -> Vec<Definition> {
    let mut all = Vec::new();
    let parameters: Vec<String> = owner.iter().map(|_| parameter(0)).collect();
    down(name, content, value, &parameters, &mut all);
    if let Some(owner) = owner {
        for (function, term) in &mut all {
            let arguments: Vec<String> = (0..function.arity).map(parameter).collect();
            let is_owner = format!("(= {} {owner})", parameter(0));
            *term = ite(&is_owner, term, &apply(&function.name, &arguments));
        }
    }
    all
}

/// Returns the name of an argument of a definition.
pub fn parameter(number: usize) -> String {
    format!("x{number}")
}

fn down(name: &str, content: &Type, value: &Value, with: &[String], all: &mut Vec<Definition>) {
    let mut one = |name: &str, sort, term: &str| {
        let function = Function { name: name.to_owned(), arity: with.len(), sort };
        all.push((function, term.to_owned()));
    };
    match (content, value) {
        (Type::Optional(inner), Value::Scalar(is_none, term)) => {
            one(&none(name), "Bool", is_none.as_deref().unwrap_or("false"));
            one(name, sort(inner), term);
        }
        (Type::Array { element, .. }, Value::Array(of)) => {
            let index = parameter(with.len());
            let with = [with, std::slice::from_ref(&index)].concat();
            down(name, element, &of(&index), &with, all);
        }
        (Type::Record(fields), Value::Record(values)) => {
            for (field, value) in fields.iter().zip(values) {
                down(&format!("{name}.{}", field.name), &field.content, value, with, all);
            }
        }
        (scalar, Value::Scalar(_, term)) => one(name, sort(scalar), term),
        _ => debug_assert!(false, "a value has the type of its variable"),
    }
}

fn sort(scalar: &Type) -> &'static str {
    match scalar {
        Type::Process | Type::Segment => PROCESS,
        Type::Version => VERSION,
        _ => "Bool",
    }
}

impl Value {
    /// Returns a scalar that is not optional.
    pub fn scalar(term: impl Into<String>) -> Self {
        Self::Scalar(None, term.into())
    }

    pub fn term(&self) -> String {
        match self {
            Self::Scalar(_, term) => term.clone(),
            Self::Array(_) | Self::Record(_) => "false".to_owned(),
        }
    }

    pub fn element(&self, index: &str) -> Self {
        match self {
            Self::Array(of) => of(index),
            other => other.clone(),
        }
    }

    /// Returns `then` if the condition holds, and `otherwise` if not.
    pub fn either(condition: &str, then: &Self, otherwise: &Self) -> Self {
        match (then, otherwise) {
            (Self::Scalar(a, x), Self::Scalar(b, y)) => {
                let is_none = match (a, b) {
                    (None, None) => None,
                    (a, b) => {
                        let of = |one: &Option<String>| one.clone().unwrap_or("false".to_owned());
                        Some(ite(condition, &of(a), &of(b)))
                    }
                };
                Self::Scalar(is_none, ite(condition, x, y))
            }
            (Self::Array(a), Self::Array(b)) => {
                let (a, b, condition) = (Rc::clone(a), Rc::clone(b), condition.to_owned());
                Self::Array(Rc::new(move |index| Self::either(&condition, &a(index), &b(index))))
            }
            (Self::Record(a), Self::Record(b)) => {
                let both = a.iter().zip(b);
                Self::Record(both.map(|(a, b)| Self::either(condition, a, b)).collect())
            }
            (then, _) => then.clone(),
        }
    }

    /// Returns the array with one element replaced.
    pub fn with_element(&self, index: &str, element: Self) -> Self {
        let (old, place) = (self.clone(), index.to_owned());
        Self::Array(Rc::new(move |index| {
            Self::either(&format!("(= {index} {place})"), &element, &old.element(index))
        }))
    }

    /// Returns the value with a term in place of another.
    pub fn replaced(&self, hole: &str, term: &str) -> Self {
        match self {
            Self::Scalar(is_none, scalar) => Self::Scalar(
                is_none.as_ref().map(|is_none| is_none.replace(hole, term)),
                scalar.replace(hole, term),
            ),
            Self::Array(of) => {
                let (of, hole, term) = (Rc::clone(of), hole.to_owned(), term.to_owned());
                Self::Array(Rc::new(move |index| of(index).replaced(&hole, &term)))
            }
            Self::Record(fields) => {
                Self::Record(fields.iter().map(|field| field.replaced(hole, term)).collect())
            }
        }
    }
}
