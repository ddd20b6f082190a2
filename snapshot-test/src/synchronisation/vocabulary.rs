//! The operations of the logs of Jepsen, Knossos and Porcupine as operations of an object.
//!
//! | workload | operations in the log | object |
//! | --- | --- | --- |
//! | register | `:read`, `:write` | `register` |
//! | compare-and-set register | and `:cas [old new]` | `cas-register` |
//! | key-value store, lin-kv | the same with `[key value]` or `:key`; `:get`, `:put`, `:append`, `:delete` | `map` |
//! | queue, stack | `:enqueue`, `:dequeue`; `:push`, `:pop` | `queue`, `stack` |
//! | lock, mutex | `:acquire`, `:release` | `lock` |
//! | counter | `:inc`, `:dec`, `:add 1`, `:add -1`, `:read` | `counter` |
//! | set | `:add`, `:remove`, `:contains` that return whether the element was there | `set` |
//!
//! Values `[key value]` of `jepsen.independent`, and a field `:key`, are the keys of several objects;
//! of a map, those of its values. Any other object is read by the names of its own operations. An `:ok` that repeats the value of
//! the invocation returns nothing; an operation that failed had no effect, except that a
//! compare-and-set that failed in a console log saw another value.

use clojure_reader::edn::Edn;

use super::interface::Signature;
use super::object::Object;
use super::token::Token;
use crate::Value;
use crate::import::{
    Fault, ImportErrorKind, LogEvent, NIL_TEXT, Placed, Spot, Step, is_tuple, items, pair, scalar,
    short,
};

/// The operations of one object.
#[derive(Clone, Debug)]
pub(super) struct Vocabulary {
    object: Kind,
    signatures: &'static [Signature],
    /// True if `nil` is the initial value of a register; else a read that returned it shows
    /// nothing.
    is_nil_initial: bool,
}

/// The objects whose operations have other names, or other values, in logs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Register,
    CasRegister,
    Map,
    Queue,
    Lock,
    Set,
    Counter,
    Other,
}

/// An invocation.
#[derive(Debug)]
pub(super) struct Invoked {
    /// The key of the object, of several.
    pub key: Option<Value>,
    pub operation: &'static str,
    pub arguments: Vec<Token>,
}

/// The result of an operation that is known to have taken effect.
#[derive(Debug)]
pub(super) enum Returned {
    Tokens(Vec<Token>),
    /// The value is unknown.
    Nothing,
}

type Fields<'a> = (Option<Value>, &'a Edn<'static>);

static NIL: Edn<'static> = Edn::Nil;

impl Vocabulary {
    pub(super) fn new(object: &Object, signatures: &'static [Signature]) -> Self {
        let kind = match object.to_string().as_str() {
            "register" => Kind::Register,
            "cas-register" => Kind::CasRegister,
            "map" => Kind::Map,
            "queue" => Kind::Queue,
            "lock" => Kind::Lock,
            "set" => Kind::Set,
            "counter" => Kind::Counter,
            _ => Kind::Other,
        };
        let is_nil_initial = object.initial() == Some(&Value::from(NIL_TEXT));
        Self { object: kind, signatures, is_nil_initial }
    }

    /// Reads an invocation.
    pub(super) fn invocation(&self, event: &LogEvent) -> Step<Invoked> {
        let signature = self.signature(event)?;
        let mut operation = signature.name;
        let (key, value) = self.fields(event)?;
        let at = &event.value;
        let mut arguments = Vec::new();
        let key = if self.object == Kind::Map {
            arguments.extend(key.map(Token::Value));
            None
        } else {
            key
        };
        match (self.object, operation) {
            (Kind::Counter, _) => {}
            (Kind::Lock, _) => arguments.push(self.value(value, at.spot)?.unwrap_or_else(nil)),
            (_, "cas") => arguments.extend(self.swap(value, at)?),
            (Kind::Map, "put") => match self.value(value, at.spot)? {
                Some(value) => arguments.push(value),
                None => operation = "delete",
            },
            _ => match (signature.arguments(), items(value)) {
                (Some(count), _) if count <= arguments.len() => {}
                (Some(1 | 2), _) => arguments.push(self.argument(value, at)?),
                (_, Some(items)) => {
                    for item in items {
                        arguments.push(self.argument(item, at)?);
                    }
                }
                (_, None) if *value == Edn::Nil => {}
                (_, None) => arguments.push(self.argument(value, at)?),
            },
        }
        Ok(Invoked { key, operation, arguments })
    }

    /// Reads the result of an operation that was invoked by this event.
    pub(super) fn result(&self, invoked: &LogEvent, event: &LogEvent) -> Step<Returned> {
        let signature = self.signature(event)?;
        let spot = event.value.spot;
        let (given_key, given) = self.fields(invoked)?;
        let (key, value) = match &event.value.edn {
            Edn::Nil if event.key.is_none() => (given_key.clone(), &NIL),
            _ => self.fields(event)?,
        };
        if key != given_key {
            return Err(other_value(invoked, event));
        }
        let is_same = *value == Edn::Nil || value == given;
        let token = match (self.object, signature.name) {
            (_, "cas") => match value {
                Edn::Bool(is_swapped) => Token::Truth(*is_swapped),
                _ if is_same => Token::Truth(true),
                _ => return Err(other_value(invoked, event)),
            },
            (Kind::Counter, "increment" | "decrement") => return Ok(Returned::Tokens(Vec::new())),
            _ if signature.results == "nothing" => {
                return if is_same {
                    Ok(Returned::Tokens(Vec::new()))
                } else {
                    Err(other_value(invoked, event))
                };
            }
            (Kind::Register | Kind::CasRegister, _) if *value == Edn::Nil => {
                if !self.is_nil_initial {
                    return Ok(Returned::Nothing);
                }
                nil()
            }
            _ if signature.results.starts_with("true") => match value {
                Edn::Bool(truth) => Token::Truth(*truth),
                _ => return Err(self.untold(event)),
            },
            (Kind::Map, _) => self.value(value, spot)?.unwrap_or(Token::None),
            _ => self.value(value, spot)?.unwrap_or(Token::None),
        };
        Ok(Returned::Tokens(vec![token]))
    }

    /// Returns the operation of an event.
    fn signature(&self, event: &LogEvent) -> Step<&'static Signature> {
        let function = &*event.function;
        let known = |name: &str| self.signatures.iter().find(|signature| signature.name == name);
        let name = match (self.object, function) {
            (Kind::Register | Kind::CasRegister | Kind::Counter, "r") => "read",
            (Kind::Register | Kind::CasRegister, "w") => "write",
            (Kind::CasRegister | Kind::Map, "compare-and-set") => "cas",
            (Kind::Map, "read" | "r") => "get",
            (Kind::Map, "write" | "w") => "put",
            (Kind::Counter, "inc") => "increment",
            (Kind::Counter, "dec") => "decrement",
            (Kind::Counter, "add") => match event.value.edn {
                Edn::Int(1) => "increment",
                Edn::Int(-1) => "decrement",
                _ => return Err(self.refused(event)),
            },
            (Kind::Set, "read") => return Err(self.refused(event)),
            (_, name) => name,
        };
        known(name).ok_or_else(|| self.refused(event))
    }

    /// Returns the key and the rest of the value of an event.
    fn fields<'a>(&self, event: &'a LogEvent) -> Step<Fields<'a>> {
        let Placed { edn, spot } = &event.value;
        let key_of = |key: &Edn<'static>, spot| {
            let placed = Placed { edn: key.clone(), spot };
            scalar(key).ok_or_else(|| no_value(&placed, "one value as a key"))
        };
        if let Some(key) = &event.key {
            return Ok((Some(key_of(&key.edn, key.spot)?), edn));
        }
        // The values of a compare-and-set are a pair, too.
        let is_swap = |value: &Edn<'static>| pair(value).is_some();
        let is_keyed = match pair(edn) {
            Some((_, value)) if is_cas(&event.function) => is_tuple(edn) || is_swap(value),
            Some(_) => self.signature(event)?.arguments().is_some(),
            None => false,
        };
        match pair(edn) {
            Some((key, value)) if is_keyed => Ok((Some(key_of(key, *spot)?), value)),
            _ if self.object == Kind::Map => Err(ImportErrorKind::Field {
                field: ":value",
                expected: "a tuple [key value], or a field :key,",
                found: short(edn),
                cure: "a single register is judged by `check --object cas-register`",
            }
            .at(*spot)),
            _ => Ok((None, edn)),
        }
    }

    fn swap(&self, value: &Edn<'static>, at: &Placed) -> Step<[Token; 2]> {
        let Some((old, new)) = pair(value) else {
            return Err(no_value(at, "[old new], the values of a compare-and-set,"));
        };
        let (old, new) = (self.value(old, at.spot)?, self.value(new, at.spot)?);
        match (old, new) {
            (Some(old), Some(new)) => Ok([old, new]),
            (old, new) if self.object != Kind::Map => {
                Ok([old.unwrap_or_else(nil), new.unwrap_or_else(nil)])
            }
            _ => Err(ImportErrorKind::Operation {
                operation: "a compare-and-set from or to nil".to_owned(),
                reason: "is not an operation of a map: it replaces one value by another",
                cure: "create a key by :write, remove it by :delete; or use --object cas-register, \
                       which judges each key by itself",
            }
            .at(at.spot)),
        }
    }

    fn argument(&self, value: &Edn<'static>, at: &Placed) -> Step<Token> {
        match self.value(value, at.spot)? {
            Some(token) => Ok(token),
            None if matches!(self.object, Kind::Register | Kind::CasRegister) => Ok(nil()),
            None => Err(ImportErrorKind::Missing {
                field: ":value",
                cure: "it is the argument of the operation",
            }
            .at(at.spot)),
        }
    }

    /// Returns the token of a value; `None` for `nil`, and for the empty text of a key-value store,
    /// which is the value of a key that has none.
    fn value(&self, edn: &Edn<'static>, spot: Spot) -> Step<Option<Token>> {
        match edn {
            Edn::Nil => Ok(None),
            Edn::Str(text) if self.object == Kind::Map && text.is_empty() => Ok(None),
            _ => {
                let placed = || Placed { edn: edn.clone(), spot };
                let value = scalar(edn).ok_or_else(|| no_value(&placed(), "one value"))?;
                Ok(Some(Token::Value(value)))
            }
        }
    }

    /// Returns the fault of an operation that does not say whether the element was there.
    fn untold(&self, event: &LogEvent) -> Box<Fault> {
        ImportErrorKind::Operation {
            operation: format!(":{}", event.function),
            reason: "does not say whether the element was there: expected true or false as :value",
            cure: "a set to which elements are added, and that is read as a whole, is judged without \
                   --object",
        }
        .at(event.value.spot)
    }

    /// Returns the refusal of an operation by its name.
    fn refused(&self, event: &LogEvent) -> Box<Fault> {
        let function = &*event.function;
        let operation = format!(":{function}");
        let (reason, cure) = match (self.object, function) {
            (Kind::Set, "read") => (
                "returns the whole set at once, and --object set judges each element by itself",
                "leave out --object: without it, the elements are segments of a snapshot, and a read \
                 is a scan",
            ),
            (Kind::Queue, "drain") => (
                "returns several elements at once, which no operation of a queue does",
                "record each element as a :dequeue",
            ),
            (Kind::Counter, "add") => (
                "adds another number than 1 or -1, and --object counter judges :inc and :dec",
                "record each step as :add 1 or :add -1",
            ),
            (Kind::Register, "cas" | "compare-and-set") => (
                "is not an operation of a register without compare-and-set",
                "use --object cas-register",
            ),
            (_, "txn") => (
                "reads or writes several registers at once, and --object judges one object",
                "leave out --object: without it, the registers are segments of a snapshot",
            ),
            (_, "append") => (
                "is not an operation of this object",
                "texts that are appended to are values of --object map; lists are judged by Elle",
            ),
            (_, "enqueue" | "dequeue") => {
                ("is not an operation of this object", "use --object queue")
            }
            (_, "push" | "pop") => ("is not an operation of this object", "use --object stack"),
            (_, "acquire" | "release") => {
                ("is not an operation of this object", "use --object lock")
            }
            (_, "cas") => ("is not an operation of this object", "use --object cas-register"),
            _ => (
                "is not an operation of this object",
                "docs/synchronisation.md lists the operations of each object",
            ),
        };
        ImportErrorKind::Operation { operation, reason, cure }.at(event.function_at)
    }
}

fn nil() -> Token {
    Token::Value(Value::from(NIL_TEXT))
}

fn no_value(placed: &Placed, expected: &'static str) -> Box<Fault> {
    let found = short(&placed.edn);
    ImportErrorKind::Field { field: ":value", expected, found, cure: "" }.at(placed.spot)
}

fn is_cas(function: &str) -> bool {
    matches!(function, "cas" | "compare-and-set")
}

fn other_value(invoked: &LogEvent, event: &LogEvent) -> Box<Fault> {
    ImportErrorKind::OtherValue {
        operation: format!(":{}", event.function),
        given: short(&invoked.value.edn),
        returned: short(&event.value.edn),
    }
    .at(event.value.spot)
}
