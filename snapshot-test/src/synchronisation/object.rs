//! Objects by their names on the command line and in headers.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The most threads of an object.
const MOST: usize = 1 << 16;

/// An object whose operations take effect together, or one whose operations take effect one at
/// a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Object {
    pub(super) kind: Kind,
    /// Number of threads; 0 where the object has none.
    pub(super) threads: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Channel,
    FilterChannel,
    TimeoutChannel,
    CounterChannel,
    CloseableChannel,
    Exchanger,
    TimeoutExchanger,
    MenAndWomen,
    TwoFamilies,
    OneFamily,
    Abc,
    Barrier,
    LeaderBarrier,
    EnrollableBarrier,
    TerminatingQueue,
    AtomicBroadcast,
    Queue,
    Stack,
    PriorityQueue,
    Register,
    CasRegister,
    Map,
    Lock,
    Set,
    Counter,
}

/// Each kind with its name, and whether a number of threads belongs to it.
const NAMES: [(Kind, &str, bool); 25] = [
    (Kind::Channel, "channel", false),
    (Kind::FilterChannel, "filter-channel", false),
    (Kind::TimeoutChannel, "timeout-channel", false),
    (Kind::CounterChannel, "counter-channel", false),
    (Kind::CloseableChannel, "closeable-channel", false),
    (Kind::Exchanger, "exchanger", false),
    (Kind::TimeoutExchanger, "timeout-exchanger", false),
    (Kind::MenAndWomen, "men-and-women", false),
    (Kind::TwoFamilies, "two-families", false),
    (Kind::OneFamily, "one-family", false),
    (Kind::Abc, "abc", false),
    (Kind::Barrier, "barrier", true),
    (Kind::LeaderBarrier, "leader-barrier", true),
    (Kind::EnrollableBarrier, "enrollable-barrier", false),
    (Kind::TerminatingQueue, "terminating-queue", true),
    (Kind::AtomicBroadcast, "atomic-broadcast", true),
    (Kind::Queue, "queue", false),
    (Kind::Stack, "stack", false),
    (Kind::PriorityQueue, "priority-queue", false),
    (Kind::Register, "register", false),
    (Kind::CasRegister, "cas-register", false),
    (Kind::Map, "map", false),
    (Kind::Lock, "lock", false),
    (Kind::Set, "set", false),
    (Kind::Counter, "counter", false),
];

/// A text that names no object.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum ObjectError {
    /// No such name.
    #[error("expected {}{}", names(), hint(*.nearest))]
    Unknown {
        /// The name most like it.
        nearest: Option<&'static str>,
    },
    /// The number of threads is missing, or is none.
    #[error("expected a number of threads from 1 to {MOST}, as in `{name}:3`")]
    Threads {
        /// The object.
        name: &'static str,
    },
    /// A number of threads where none belongs.
    #[error("`{name}` has no number of threads: leave out what is behind the colon")]
    NoThreads {
        /// The object.
        name: &'static str,
    },
}

fn names() -> String {
    let name = |&(_, name, has_threads): &(_, &str, bool)| {
        if has_threads { format!("{name}:N") } else { name.to_owned() }
    };
    let names: Vec<String> = NAMES.iter().map(name).collect();
    format!("one of {}", names.join(", "))
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"))
}

impl Object {
    /// Whether its operations take effect one at a time.
    pub const fn is_single(self) -> bool {
        matches!(
            self.kind,
            Kind::Queue
                | Kind::Stack
                | Kind::PriorityQueue
                | Kind::Register
                | Kind::CasRegister
                | Kind::Map
                | Kind::Lock
                | Kind::Set
                | Kind::Counter
        )
    }

    /// What a correct recording of it is: `linearizable` or `set-linearizable`.
    pub const fn criterion(self) -> &'static str {
        if self.is_single() { "linearizable" } else { "set-linearizable" }
    }
}

impl FromStr for Object {
    type Err = ObjectError;

    fn from_str(text: &str) -> Result<Self, ObjectError> {
        let (name, threads) =
            text.split_once(':').map_or((text, None), |(name, threads)| (name, Some(threads)));
        let Some(&(kind, name, has_threads)) = NAMES.iter().find(|(_, other, _)| *other == name)
        else {
            let nearest = nearest(name, &NAMES.map(|(_, name, _)| name));
            return Err(ObjectError::Unknown { nearest });
        };
        match (has_threads, threads) {
            (false, None) => Ok(Self { kind, threads: 0 }),
            (false, Some(_)) => Err(ObjectError::NoThreads { name }),
            (true, threads) => {
                let is_digits = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
                let threads = threads.filter(is_digits).and_then(|text| text.parse().ok());
                match threads {
                    Some(threads) if (1..=MOST).contains(&threads) => Ok(Self { kind, threads }),
                    _ => Err(ObjectError::Threads { name }),
                }
            }
        }
    }
}

/// As it is read.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = NAMES.iter().find(|(kind, ..)| *kind == self.kind);
        f.write_str(named.map_or("", |(_, name, _)| name))?;
        if self.threads > 0 { write!(f, ":{}", self.threads) } else { Ok(()) }
    }
}

/// The name within two edits of `word`, if any: the closest.
pub(super) fn nearest(word: &str, names: &[&'static str]) -> Option<&'static str> {
    const LONGEST: usize = 32;
    if word.len() > LONGEST {
        return None;
    }
    let distance = |name: &&'static str| (strsim::osa_distance(word, name), *name);
    let (distance, name) = names.iter().map(distance).min_by_key(|(distance, _)| *distance)?;
    (distance <= if name.len() < 4 { 1 } else { 2 }).then_some(name)
}
