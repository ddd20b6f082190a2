//! Messages about types and values that several places give.

use std::fmt::Display;

use super::{Message, message};
use crate::program::Type;

/// A type, or the only number that it holds.
pub(crate) fn described(found: &Type) -> String {
    match found {
        Type::Integer { low, high } if low == high => format!("the number {low}"),
        found => format!("`{found}`"),
    }
}

pub(crate) fn mismatch(expected: &Type, found: &Type) -> Message {
    let message = message!("mismatch", "expected `{expected}`, found {}", described(found))
        .label(format!("expected `{expected}`"));
    match mismatch_cure(expected, found) {
        Some(cure) => message.help(cure),
        None => message,
    }
}

fn mismatch_cure(expected: &Type, found: &Type) -> Option<String> {
    if let (Type::Process | Type::Segment, Type::Integer { low, high }) = (expected, found)
        && low == high
    {
        return Some(format!("turn the number into a {expected}: `{expected}({low})`"));
    }
    let cure = match (expected, found) {
        (Type::Process, Type::Integer { .. }) => {
            "turn the number into a process: `process(...)`; the process itself is `me`"
        }
        (Type::Segment, Type::Integer { .. }) => {
            "turn the number into a segment: `segment(...)`; the process's own is `me`: `r[me]`"
        }
        (Type::Process | Type::Segment, Type::Counter) => {
            "a counter names no process and no segment; the process's own is `me`: `r[me]`"
        }
        (Type::Bool, Type::Integer { .. }) => "a bit is no truth value: compare it, `... = 1`",
        (Type::Integer { .. }, Type::Bool) => "choose a number: `if ... then 1 else 0`",
        (Type::Version, _) => "a new version is made by `fresh`",
        (Type::Counter, Type::Integer { .. }) => {
            "only numbers as they are written may become counters: count with `+ 1`"
        }
        (Type::Value, _) => {
            "a value is what `update` is given, or `initial`; `value(...)` makes one of a number, but \
             then simple executions prove nothing"
        }
        _ => return None,
    };
    Some(cure.to_owned())
}

pub(crate) fn empty_range(range: impl Display) -> Message {
    message!("empty-range", "the range {range} is empty")
        .help("the bounds must be in order for every n >= 2")
}

pub(crate) fn never_in_range(number: impl Display, content: &Type) -> Message {
    message!("never-in-range", "the number {number} is never in `{content}`").help(match content {
        Type::Process | Type::Segment => "processes and segments are numbered from 0 to n-1",
        _ => "widen the range where the type is declared",
    })
}

pub(crate) fn unknown_shape(what: &str) -> Message {
    let message = message!("unknown-shape", "the type of {what} is not known here").tentative();
    message.help(match what {
        "none" => {
            "declare the variable at the top of the procedure: `local x: process or none`, say"
        }
        _ => "declare a `type` for it, and a variable of this type at the top of the procedure",
    })
}

pub(crate) fn unknown_field(name: &str, of: &Type, nearest: Option<String>) -> Message {
    message!("unknown-field", "`{of}` has no field `{name}`").nearest(nearest)
}

pub(crate) fn no_fields(found: &Type) -> Message {
    message!("no-fields", "`{found}` has no fields").label(format!("this is {}", described(found)))
}

pub(crate) fn no_elements(found: &Type) -> Message {
    let message = message!("no-elements", "`{found}` has no elements")
        .label(format!("this is {}", described(found)));
    match found {
        Type::Optional(_) => message.help("assign it to a local first, if it is not none"),
        _ => message,
    }
}

pub(crate) fn not_defined(operator: &str, found: &Type) -> Message {
    message!("operand", "`{operator}` is not defined for `{found}`")
        .label(format!("this is {}", described(found)))
}

pub(crate) fn counter_arithmetic() -> Message {
    message!("counter-arithmetic", "a counter can only be increased by 1").help(
        "write `a + 1 + 1` for `a + 2`, and compare with a successor: `a + 1 = b` for `a = b - 1`",
    )
}

pub(crate) fn product() -> Message {
    message!("product", "multiplication of two unknown numbers")
        .help("one factor must be a number, at most 16; the other a variable or number")
}

pub(crate) fn not_constant() -> Message {
    message!("not-constant", "not a constant")
        .help("only literals, n and arithmetic are constant; and `me`, where it is not shared")
}

pub(crate) fn call_within() -> Message {
    message!("call-within", "a call within an expression")
        .help("assign the result to a local first: `x := ...(...)`")
}

pub(crate) fn new_within() -> Message {
    message!("new-within", "a `new` within an expression")
        .help("assign it to a local first: `p := new NODE(...)`")
}

pub(crate) fn initial_node_outside(name: &str) -> Message {
    message!("initial-node-outside", "`{name}` is a node that there is at first, not a variable")
        .help(
            "let it be the first content of a shared or private variable: \
             `shared head: NODE := NAME`, and read that",
        )
}

pub(crate) fn list_outside_object() -> Message {
    message!("list-outside-object", "a list outside of an object")
        .help("shared memory has cells of fixed size: only the state of an `object` may be a list")
}
