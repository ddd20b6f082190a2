//! From the steps of a search to the moves of the interpreter.
//!
//! A step of the search may stand for several of the program: an invocation fused
//! with the first access, accesses that nobody can tell apart, a response; and
//! other processes may have passed over accesses at once after it. The interpreter
//! makes each of them as a move of its own. It is told as many accesses as the
//! text makes, and which operations are over; what happens then is its own
//! business.

use snapshot_core::Process;

use crate::explore::{Choice, Trace};
use crate::instance::{Instance, Location, Scalar};
use crate::interpret::Move;
use crate::layout::Registers;

/// How a trace ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// With a response that cannot be linearized.
    Violation,
    /// With a step that has no meaning.
    Fault,
}

/// The moves of the execution that a trace of the instance tells.
pub fn expand(instance: &Instance, trace: &Trace, ending: Ending) -> Vec<Move> {
    let registers = Registers::of(instance);
    let is_idle = |state: &[Scalar], process: Process| {
        state[registers.location(process)] == Location::IDLE.index() as Scalar
    };
    let mut moves = Vec::new();
    for (position, step) in trace.steps.iter().enumerate() {
        match step.choice {
            Choice::Update(value) => {
                moves.push(Move::update(step.process, value.unsigned_abs()));
            }
            Choice::Scan => moves.push(Move::scan(step.process)),
            Choice::Step => {}
        }
        let mut acting = vec![(step.process, step.accesses)];
        acting.extend(&step.reactions);
        for (number, &(process, accesses)) in acting.iter().enumerate() {
            moves.extend((0..accesses).map(|_| Move::step(process)));
            let later = &acting[number + 1..];
            let responds = if later.is_empty() && position + 1 == trace.steps.len() {
                // What goes wrong is the response, or what the program does after
                // the accesses counted.
                ending == Ending::Violation
            } else {
                let acts_later = later.iter().any(|(other, _)| *other == process);
                !acts_later && is_idle(&step.state, process)
            };
            if responds {
                moves.push(Move::step(process));
            }
        }
    }
    moves
}
