//! Conversion of the steps of a search into moves of the interpreter.
//!
//! A step of the search may stand for several steps of the program: an invocation fused with the
//! first access, indistinguishable accesses, a response; and other processes may have skipped
//! accesses immediately after it. The interpreter makes each of them as a separate move. It is
//! given the number of accesses and the operations that are over; their effects are its own
//! computation.

use snapshot_core::Process;

use crate::instance::{Instance, Location, Scalar};
use crate::interpret::Move;
use crate::search::layout::Registers;
use crate::search::{Choice, SearchPath};

/// Returns the moves of the execution that a trace of the instance describes. If the program has a
/// fault, it occurs on the way.
///
/// `counts_barriers`: responses wait for the next barrier of the trace, or for its end, so that the
/// execution has no more barriers than the search has counted.
pub fn expand(instance: &Instance, trace: &SearchPath, counts_barriers: bool) -> Vec<Move> {
    let registers = Registers::new(instance);
    let is_idle = |state: &[Scalar], process: Process| {
        state[registers.location(process)] == Location::IDLE.index() as Scalar
    };
    let mut moves = Vec::new();
    let mut waiting: Vec<Process> = Vec::new();
    for step in &trace.steps {
        if step.choice.is_behind_barrier() {
            moves.extend(waiting.drain(..).map(Move::step));
        }
        match step.choice.invocation() {
            Choice::Update(value) => {
                moves.push(Move::update(step.process, value.unsigned_abs()));
            }
            Choice::Scan => moves.push(Move::scan(step.process)),
            _ => {}
        }
        let mut acting = vec![(step.process, step.accesses)];
        acting.extend(&step.reactions);
        for (number, &(process, accesses)) in acting.iter().enumerate() {
            moves.extend((0..accesses).map(|_| Move::step(process)));
            let acts_later = acting[number + 1..].iter().any(|(other, _)| *other == process);
            if !acts_later && is_idle(&step.state, process) {
                match counts_barriers {
                    true => waiting.push(process),
                    false => moves.push(Move::step(process)),
                }
            }
        }
    }
    moves.extend(waiting.into_iter().map(Move::step));
    moves
}
