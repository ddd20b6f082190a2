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
    let last = trace.steps.len().saturating_sub(1);
    for (position, step) in trace.steps.iter().enumerate() {
        let process = step.process;
        match step.choice {
            Choice::Update(value) => moves.push(Move::update(process, value.unsigned_abs())),
            Choice::Scan => moves.push(Move::scan(process)),
            Choice::Step => {}
        }
        accesses(&mut moves, process, step.accesses);
        if position == last {
            // What goes wrong is the response, or what the program does after
            // the accesses counted; the state is that before it.
            if ending == Ending::Violation {
                moves.push(Move::step(process));
            }
            break;
        }
        if is_idle(&step.state, process) {
            moves.push(Move::step(process));
        }
        for &(other, passed) in &step.reactions {
            accesses(&mut moves, other, passed);
            if is_idle(&step.state, other) {
                moves.push(Move::step(other));
            }
        }
    }
    moves
}

fn accesses(moves: &mut Vec<Move>, process: Process, count: u32) {
    moves.extend((0..count).map(|_| Move::step(process)));
}
