//! Objects by their names on the command line and in headers.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use snapshot_core::generic::objects::{
    Counter, Lock, Map, PriorityQueue, Queue, Register, Semaphore, Set, Stack, SwapRegister,
};
use snapshot_core::object::{ByKeys, BySearch, Criterion};
use snapshot_core::synchronisation::Single;
use snapshot_core::synchronisation::objects::{
    Abc, AtomicBroadcast, Barrier, Channel, CloseableChannel, CounterChannel, EnrollableBarrier,
    Exchanger, FilterChannel, LeaderBarrier, MenAndWomen, OneFamily, TerminatingQueue,
    TimeoutChannel, TimeoutExchanger, TwoFamilies,
};
use thiserror::Error;

use super::declared::{Declaration, Machine};
use super::interface::TEXT;
use super::kind::Kind;
use crate::Value;
use crate::format::{Format, nearest};
use crate::import::NIL_TEXT;
use crate::report::Shown;

/// The most threads of an object.
const MOST: usize = 1 << 16;

/// An object whose recordings have named operations.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its place in [`OBJECTS`].
    place: usize,
    /// Number of threads, of values or of permits; 0 where the object has none.
    threads: usize,
    /// The value before the first operation, unless it is the usual one.
    initial: Option<Value>,
    /// The text that declares it, unless it is one of [`OBJECTS`].
    declaration: Option<Arc<Declaration>>,
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        let path = |object: &Self| object.declaration.as_ref().map(|one| one.path.clone());
        (self.place, self.threads, &self.initial) == (other.place, other.threads, &other.initial)
            && path(self) == path(other)
    }
}

impl Eq for Object {}

/// A kind of object by its name.
struct Entry {
    name: &'static str,
    has_threads: bool,
    /// The values that it may have before the first operation.
    initial: Initial,
    make: fn(&Object) -> Box<dyn Kind>,
}

impl Entry {
    /// Returns the name on the command line.
    fn usage(&self) -> String {
        if self.has_threads { format!("{}:N", self.name) } else { self.name.to_owned() }
    }
}

/// The values that an object may have before the first operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Initial {
    /// Only the usual one.
    Fixed,
    /// Any.
    Any,
    /// Any integer.
    Integer,
}

const fn object(name: &'static str, make: fn(&Object) -> Box<dyn Kind>) -> Entry {
    Entry { name, has_threads: false, initial: Initial::Fixed, make }
}

const fn cell(name: &'static str, make: fn(&Object) -> Box<dyn Kind>) -> Entry {
    Entry { name, has_threads: false, initial: Initial::Any, make }
}

const fn threads(name: &'static str, make: fn(&Object) -> Box<dyn Kind>) -> Entry {
    Entry { name, has_threads: true, initial: Initial::Fixed, make }
}

/// The entry of objects that a text declares; it makes none.
static DECLARED: Entry = object("declared", |object| object.kind());

/// All objects.
static OBJECTS: [Entry; 27] = [
    object("channel", |_| Box::new(ByKeys(Channel::default()))),
    object("filter-channel", |_| Box::new(ByKeys(FilterChannel::default()))),
    object("timeout-channel", |_| Box::new(ByKeys(TimeoutChannel::default()))),
    object("counter-channel", |_| Box::new(BySearch(CounterChannel::default()))),
    object("closeable-channel", |_| Box::new(BySearch(CloseableChannel::default()))),
    object("exchanger", |_| Box::new(ByKeys(Exchanger::default()))),
    object("timeout-exchanger", |_| Box::new(ByKeys(TimeoutExchanger::default()))),
    object("men-and-women", |_| Box::new(ByKeys(MenAndWomen::default()))),
    object("two-families", |_| Box::new(BySearch(TwoFamilies::default()))),
    object("one-family", |_| Box::new(BySearch(OneFamily::default()))),
    object("abc", |_| Box::new(BySearch(Abc::default()))),
    threads("barrier", |object| Box::new(BySearch(Barrier { threads: object.threads }))),
    threads("leader-barrier", |object| {
        Box::new(BySearch(LeaderBarrier { threads: object.threads }))
    }),
    object("enrollable-barrier", |_| Box::new(BySearch(EnrollableBarrier::default()))),
    threads("terminating-queue", |object| {
        Box::new(BySearch(TerminatingQueue::new(object.threads)))
    }),
    threads("atomic-broadcast", |object| Box::new(BySearch(AtomicBroadcast::new(object.threads)))),
    object("queue", |_| Box::new(Single(Queue::default()))),
    threads("bounded-queue", |object| Box::new(Single(Queue::bounded(object.threads)))),
    object("stack", |_| Box::new(Single(Stack::default()))),
    object("priority-queue", |_| Box::new(Single(PriorityQueue::default()))),
    cell("register", |object| Box::new(Single(Register { initial: object.first() }))),
    cell("cas-register", |object| Box::new(Single(SwapRegister { initial: object.first() }))),
    cell("map", |object| Box::new(Single(Map::growing(object.initial.clone(), TEXT)))),
    object("lock", |_| Box::new(Single(Lock::default()))),
    object("set", |_| Box::new(Single(Set::default()))),
    Entry {
        name: "counter",
        has_threads: false,
        initial: Initial::Integer,
        make: |object| Box::new(Single(Counter { initial: object.first_number() })),
    },
    threads("semaphore", |object| Box::new(Single(Semaphore { permits: object.threads as u64 }))),
];

/// A text that names no object.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ObjectError {
    /// A file does not declare an object.
    #[error("{report}")]
    Declaration {
        /// Several lines, the last without a newline.
        report: String,
    },
    /// No such name.
    #[error("expected {}{}", names(), hint(*.nearest))]
    Unknown {
        /// The name most like it.
        nearest: Option<&'static str>,
    },
    /// The number of threads, of values or of permits is missing or invalid.
    #[error("expected a number from 1 to {MOST}, as in `{name}:3`")]
    Threads {
        /// The object.
        name: &'static str,
    },
    /// A number where none belongs.
    #[error("`{name}` has no number: leave out what is behind the colon")]
    NoThreads {
        /// The object.
        name: &'static str,
    },
}

/// A value that an object cannot have before the first operation.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum InitialError {
    /// The object always begins the same way.
    #[error("`{name}` has no initial value to choose: leave out --initial")]
    Fixed {
        /// The object.
        name: &'static str,
    },
    /// The object needs a number.
    #[error("the initial value of `{name}` is an integer, found {found}")]
    Integer {
        /// The object.
        name: &'static str,
        /// The value.
        found: Value,
    },
}

fn names() -> String {
    let names: Vec<String> = OBJECTS.iter().map(Entry::usage).collect();
    format!("one of {}", names.join(", "))
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"))
}

impl Object {
    fn entry(&self) -> &'static Entry {
        if self.declaration.is_some() { &DECLARED } else { &OBJECTS[self.place] }
    }

    /// Returns the kind of the object, with its judge.
    pub(crate) fn kind(&self) -> Box<dyn Kind> {
        match &self.declaration {
            Some(declaration) => Box::new(Single(Machine::new(declaration.clone()))),
            None => (self.entry().make)(self),
        }
    }

    /// Returns the names of the objects that have an operation of this name; those whose operations
    /// take effect one at a time come first.
    pub(crate) fn with_operation(operation: &str) -> Vec<String> {
        let object = |place: usize| {
            let threads = usize::from(OBJECTS[place].has_threads);
            Self { place, threads, initial: None, declaration: None }
        };
        let has = |object: &Self| {
            object.kind().signatures().iter().any(|signature| signature.name == operation)
        };
        let mut objects: Vec<Self> = (0..OBJECTS.len()).map(object).filter(has).collect();
        objects.sort_by_key(|object| !object.is_single());
        objects.iter().map(|object| object.entry().usage()).collect()
    }

    /// Returns the object with another value before the first operation.
    ///
    /// # Errors
    /// If the object cannot have it.
    pub fn with_initial(mut self, value: Value) -> Result<Self, InitialError> {
        let Entry { name, initial, .. } = self.entry();
        match (initial, value) {
            (Initial::Fixed, _) => Err(InitialError::Fixed { name }),
            (Initial::Integer, found @ Value::Text(_)) => {
                Err(InitialError::Integer { name, found })
            }
            (_, value) => {
                self.initial = Some(value);
                Ok(self)
            }
        }
    }

    /// Returns the object of a command line, with its initial value if one is given.
    ///
    /// # Errors
    /// If the object cannot have it.
    pub fn chosen(
        object: Option<Self>,
        initial: Option<Value>,
    ) -> Result<Option<Self>, InitialError> {
        match (object, initial) {
            (Some(object), Some(initial)) => object.with_initial(initial).map(Some),
            (object, _) => Ok(object),
        }
    }

    /// Returns the value before the first operation, unless it is the usual one.
    pub(super) const fn initial(&self) -> Option<&Value> {
        self.initial.as_ref()
    }

    /// Returns the name, with the value before the first operation, as an input of this format has
    /// it, unless it is the usual one.
    pub fn described(&self, format: Option<Format>) -> String {
        match &self.initial {
            Some(value) => format!("{self}, initially {}", Shown::new(value, format)),
            None => self.to_string(),
        }
    }

    /// Returns the object of a recording in this format: registers of other tools hold nil at first.
    pub(super) fn of(&self, format: Option<Format>) -> Self {
        let is_register = matches!(self.entry().name, "register" | "cas-register");
        let is_foreign = format.is_some_and(Format::is_foreign);
        if is_register && is_foreign && self.initial.is_none() {
            return Self { initial: Some(Value::from(NIL_TEXT)), ..self.clone() };
        }
        self.clone()
    }

    /// Returns the value before the first operation, where the object has one.
    pub(super) fn first(&self) -> Value {
        self.initial.clone().unwrap_or(Value::ZERO)
    }

    fn first_number(&self) -> i64 {
        match self.initial {
            Some(Value::Integer(number)) => number,
            _ => 0,
        }
    }

    /// Returns the name in headers.
    pub(super) fn header(&self) -> String {
        match &self.declaration {
            Some(declaration) => declaration.name().to_owned(),
            None => self.to_string(),
        }
    }

    /// Returns true if a header names this object.
    pub(super) fn is_named(&self, name: &str) -> bool {
        if let Some(declaration) = &self.declaration {
            return name == declaration.path || name == declaration.name();
        }
        let named = name.parse::<Self>();
        named.is_ok_and(|named| (named.place, named.threads) == (self.place, self.threads))
    }

    /// Returns true if its operations take effect one at a time.
    pub fn is_single(&self) -> bool {
        self.kind().criterion() == Criterion::Linearizable
    }

    /// Returns the criterion of a correct recording: `linearizable` or `set-linearizable`.
    pub fn criterion(&self) -> &'static str {
        self.kind().criterion().name()
    }
}

impl FromStr for Object {
    type Err = ObjectError;

    /// The name of an object, or the file that declares one: `NAME.snapshot`.
    fn from_str(text: &str) -> Result<Self, ObjectError> {
        if text.ends_with(".snapshot") {
            let read = Declaration::read(text);
            let declaration = read.map_err(|report| ObjectError::Declaration { report })?;
            let (place, threads, initial) = (usize::MAX, 0, None);
            return Ok(Self { place, threads, initial, declaration: Some(declaration) });
        }
        let (name, threads) =
            text.split_once(':').map_or((text, None), |(name, threads)| (name, Some(threads)));
        let Some(place) = OBJECTS.iter().position(|entry| entry.name == name) else {
            let names: Vec<&'static str> = OBJECTS.iter().map(|entry| entry.name).collect();
            return Err(ObjectError::Unknown { nearest: nearest(name, &names) });
        };
        let Entry { name, has_threads, .. } = &OBJECTS[place];
        match (has_threads, threads) {
            (false, None) => Ok(Self { place, threads: 0, initial: None, declaration: None }),
            (false, Some(_)) => Err(ObjectError::NoThreads { name }),
            (true, threads) => {
                let is_digits = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
                let threads = threads.filter(is_digits).and_then(|text| text.parse().ok());
                match threads {
                    Some(threads) if (1..=MOST).contains(&threads) => {
                        Ok(Self { place, threads, initial: None, declaration: None })
                    }
                    _ => Err(ObjectError::Threads { name }),
                }
            }
        }
    }
}

/// As it is read.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(declaration) = &self.declaration {
            return f.write_str(&declaration.path);
        }
        f.write_str(self.entry().name)?;
        if self.threads > 0 { write!(f, ":{}", self.threads) } else { Ok(()) }
    }
}
