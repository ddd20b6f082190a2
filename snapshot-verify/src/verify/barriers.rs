//! Barriers in executions of the interpreter.

use super::error::VerifyError;
use crate::interpret::{Action, Event, Machine, Move};

/// Returns true for an invocation, false for a response.
const fn is_invocation(event: &Event) -> bool {
    matches!(event.action, Action::InvokeUpdate(_) | Action::InvokeScan | Action::Begin { .. })
}

/// Counts the barriers in a sequence of events: invocations that directly follow a response.
pub fn barriers<'e>(events: impl IntoIterator<Item = &'e Event>) -> u32 {
    let mut after_response = false;
    let mut barriers = 0;
    for event in events {
        let is_invocation = is_invocation(event);
        barriers += u32::from(is_invocation && after_response);
        after_response = !is_invocation;
    }
    barriers
}

/// Checks that an execution has at most this many barriers, if they are bounded.
///
/// # Errors
/// If it has more: the search is wrong.
pub fn require_within(
    machine: &Machine<'_>,
    most: Option<u32>,
    moves: &[Move],
) -> Result<(), VerifyError> {
    let (Some(most), Ok(execution)) = (most, machine.run(moves)) else { return Ok(()) };
    let found = barriers(execution.events());
    if found > most { Err(VerifyError::TooManyBarriers { found, most }) } else { Ok(()) }
}

/// Returns the longest prefix of the events with at most this many barriers.
pub fn within(events: Vec<&Event>, most: u32) -> Vec<&Event> {
    let mut length = events.len();
    while barriers(events[..length].iter().copied()) > most {
        length -= 1;
    }
    let mut events = events;
    events.truncate(length);
    events
}
