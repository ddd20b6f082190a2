//! The meaning of the segments of a log: registers, or elements of sets.

use clojure_reader::edn::Edn;

use super::super::ImportErrorKind;
use super::super::place::{Spot, Step};
use super::call::Call;
use super::event::Kind;
use super::value::scalar;
use super::workload::{is_tuple, items, micro, pair};

/// The meaning of the segments of a log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sort {
    Registers,
    /// A segment is an element, and reads return the added ones.
    Sets,
}

impl Sort {
    /// Decides by the values added, written and read. A log of both is refused, and so is an `:add`
    /// to anything but a set.
    pub(super) fn new(calls: &[Call], is_independent: bool) -> Step<Self> {
        let (mut sets, mut registers, mut add) = (None, None, None);
        for call in calls {
            let inner = |edn| match pair(edn) {
                Some((_, value)) if is_independent || is_tuple(edn) => value,
                _ => edn,
            };
            let evidence = match &*call.function {
                "add" | "insert" => {
                    add = add.or(Some(call.function_at));
                    continue;
                }
                "txn" => Some(Self::Registers),
                "write" | "w" => of_written(inner(&call.given.edn)),
                "read" | "r" => match &call.end {
                    Some(end) if end.kind == Kind::Ok => {
                        let found = of_read(inner(&end.returned.edn));
                        note(found, end.returned.spot, &mut sets, &mut registers);
                        continue;
                    }
                    _ => None,
                },
                _ => None,
            };
            note(evidence, call.spot, &mut sets, &mut registers);
        }
        match (add, sets, registers) {
            (Some(add), _, Some(registers)) => {
                let kind = ImportErrorKind::Operation {
                    operation: ":add".to_owned(),
                    reason: "is judged as an addition to a set, and here a read returns no set",
                    cure: "counters are judged by `check --object counter`",
                };
                Err(kind.at(add).against(registers))
            }
            (None, Some(sets), Some(registers)) => {
                let kind = ImportErrorKind::Operation {
                    operation: "a collection of values".to_owned(),
                    reason: "is read here, as of a set, and other operations are of registers",
                    cure: "give sets and registers a log each",
                };
                Err(kind.at(sets).against(registers))
            }
            (None, None, _) => Ok(Self::Registers),
            _ => Ok(Self::Sets),
        }
    }
}

fn note(found: Option<Sort>, spot: Spot, sets: &mut Option<Spot>, registers: &mut Option<Spot>) {
    match found {
        Some(Sort::Sets) => *sets = sets.or(Some(spot)),
        Some(Sort::Registers) => *registers = registers.or(Some(spot)),
        None => {}
    }
}

/// A bare value may be a register's, or an element.
fn of_written(value: &Edn<'static>) -> Option<Sort> {
    let is_micro = items(value).is_some_and(|items| items.iter().any(|item| micro(item).is_some()));
    (is_micro || matches!(value, Edn::Map(_))).then_some(Sort::Registers)
}

/// An empty list, and `nil`, may belong to either.
fn of_read(value: &Edn<'static>) -> Option<Sort> {
    match (value, items(value)) {
        (Edn::Nil, _) => None,
        (Edn::Set(_), _) => Some(Sort::Sets),
        (_, Some(items)) if items.is_empty() => None,
        (_, Some(items)) if items.iter().all(|item| scalar(item).is_some()) => Some(Sort::Sets),
        _ => Some(Sort::Registers),
    }
}
