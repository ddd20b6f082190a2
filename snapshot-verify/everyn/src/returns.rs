//! Merged calls: calls of one procedure by a procedure that has no live state at any of them.
//!
//! A process that returns from such a call may continue behind any of them. This only adds
//! behaviour, so it is sound where only writes are judged: where rounds are ghost scans. A scan
//! that pushes twice becomes one that pushes, and may then end, or push again.

use snapshot_language::deadline::Deadline;

use super::model::{Act, Model};

/// Returns, for each instruction behind a call, the possible return locations there. The first of
/// them represents all.
pub fn returns(model: &Model, deadline: Deadline<'_>) -> Vec<Vec<usize>> {
    let mut returns: Vec<Vec<usize>> = (0..=model.code.len()).map(|at| vec![at]).collect();
    if !model.obligation.is_of_round_vectors() {
        return returns;
    }
    let all = (0..model.code.len()).take_while(|_| !deadline.is_over());
    let calls: Vec<usize> = all.filter(|at| is_plain(model, *at)).collect();
    let callee = |at: usize| match &model.code[at].act {
        Act::Call(procedure, ..) => Some((*procedure, model.code[at].procedure)),
        _ => None,
    };
    for &call in &calls {
        let alike = calls.iter().filter(|other| callee(**other) == callee(call));
        returns[call + 1] = alike.map(|other| other + 1).collect();
    }
    returns
}

/// Returns true if the calling procedure has no live state at a call: no result, no live local, no
/// loop.
fn is_plain(model: &Model, at: usize) -> bool {
    let one = &model.code[at];
    let Act::Call(procedure, _, None) = &one.act else { return false };
    let keeps = model.code[at + 1].live.contains(&true);
    let mut depth = 0;
    let mut loops = false;
    for (number, other) in model.code.iter().enumerate() {
        if other.procedure == one.procedure {
            match &other.act {
                Act::Begin(this) => loops |= (this.body..this.end).contains(&at),
                Act::Atomic if number < at => depth += 1,
                Act::EndAtomic if number < at => depth -= 1,
                _ => {}
            }
        }
    }
    !keeps && !loops && depth == 0 && !model.is_ghost[procedure.0 as usize]
}
