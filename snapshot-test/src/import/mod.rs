//! Foreign logs with clocks, imported as histories.
//!
//! A recording is a sequence of events; a foreign log has intervals on clocks. The import must
//! define the meaning of the clocks, or it raises false alarms:
//!
//! * Intervals are closed, and operations of two clients that touch overlap: two equal times do not
//!   determine which came first.
//! * A client has one operation at a time, for any times of its clock: its operations that touch
//!   keep their order.
//! * With a skew s each clock may be off by s: every interval is widened by s at both ends.
//!
//! So the import never adds an order that the log does not vouch for, and never raises a false
//! alarm. It can lose order, and then warns: `timeline` has the argument.
//!
//! `docs/formats.md` describes the logs for users.

mod edn;
mod error;
mod intervals;
mod meaning;
mod place;
mod recording;
mod timeline;
mod warning;

use std::collections::HashSet;
use std::iter;

use snapshot_core::history::Declaration;
use snapshot_core::{History, Names};

pub(crate) use self::edn::{
    Events, Kind, LogEvent, NIL_TEXT, Placed, is_tuple, items, pair, scalar, short, written,
};
pub use self::edn::{Options as EdnOptions, edn};
pub use self::error::ImportErrorKind;
pub use self::intervals::{Options as IntervalOptions, intervals};
pub(crate) use self::place::{Fault, Spot, Step};
pub use self::recording::by_time;
pub use self::warning::Warning;
use crate::Value;
use crate::format::{BYTE_ORDER_MARK, Location};
pub use crate::stamp::{Stamp, StampError};

#[derive(Debug)]
pub struct Imported {
    /// The history in the log.
    pub history: History<Value>,
    /// The place in the log of each event; in a log of intervals, that of its operation.
    pub places: Vec<Location>,
    /// The unused parts of the log.
    pub warnings: Vec<Warning>,
    /// The names of segments and processes in the log, if they are not their numbers.
    pub names: Names,
}

/// The reason why a compare-and-set is refused, and the remedy.
const COMPARE_AND_SET: (&str, &str) = (
    "is not judged yet as an operation of a snapshot: it writes, or fails, depending on the value \
     that is there, and so shows it",
    "a register with compare-and-set is judged by `check --object cas-register`, a key-value store \
     by `check --object map`",
);

/// The reason why an operation of a queue is refused, and the remedy.
const QUEUE: (&str, &str) = (
    "is no operation of a snapshot",
    "queues and stacks are judged by `check --object queue` and `--object stack`",
);

/// Returns the byte at which a log begins: behind the byte order mark, if it has one.
fn without_mark(log: &[u8]) -> usize {
    if log.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

/// Returns the declaration of a history with these segments.
fn declaration(segments: usize, initial: Value) -> Declaration<Value> {
    let declaration = Declaration::new(Value::ZERO).with_segments(segments.max(1));
    if initial == Value::ZERO {
        return declaration;
    }
    declaration.with_initial(vec![initial; segments])
}

fn text(log: &[u8]) -> Step<&str> {
    std::str::from_utf8(log).map_err(|error| {
        let at = error.valid_up_to();
        ImportErrorKind::NotUtf8.at(Spot::new(at, at + 1))
    })
}

/// Returns the names of processes, by the names of their clients; none if these are the numbers of
/// the processes.
fn process_names(clients: &[String]) -> Vec<Box<str>> {
    let is_number = |(process, client): (usize, &String)| process.to_string() == *client;
    if clients.iter().enumerate().all(is_number) {
        return Vec::new();
    }
    distinct(clients.iter().map(String::as_str))
}

/// Returns names with a number behind each that occurred before.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Box<str>> {
    let mut taken: HashSet<Box<str>> = HashSet::new();
    let mut distinct = |name: &str| {
        let numbered = (2..).map(|number: u64| format!("{name}#{number}"));
        let mut candidates = iter::once(name.to_owned()).chain(numbered).map(String::into);
        candidates.find(|name| taken.insert(Box::clone(name))).unwrap_or_default()
    };
    names.map(&mut distinct).collect()
}

#[cfg(test)]
mod tests {
    use super::distinct;

    #[test]
    fn equal_names_get_numbers() {
        let names = distinct(["a", "a", "a#2", "a", "b"].into_iter());
        assert_eq!(
            names.iter().map(|name| &**name).collect::<Vec<_>>(),
            ["a", "a#2", "a#2#2", "a#3", "b"]
        );
    }
}
