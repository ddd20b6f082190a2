//! Random executions of an object.

use snapshot_core::Process;

use super::{Admission, ObjectJudgeError};
use crate::interpret::{
    Call, Client, Execution, Fault, Machine, Move, MoveErrorKind, Scheduler, Sequential,
};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ObjectWalk {
    pub moves: Vec<Move>,
    pub execution: Execution,
    /// Last attempted move and its fault, if a fault ended the walk.
    pub faulty: Option<(Move, Fault)>,
}

/// Makes up to this many random moves, drawn by a [`Scheduler`]. The walk ends early when no
/// process can move, and after an event that no order of the operations explains: it is unknown
/// which operations may begin after it. The client must suit the object
/// ([`Client::validate_object`]).
///
/// # Errors
/// If the object is faulty.
pub fn walk_object(
    machine: &Machine<'_>,
    sequential: &Sequential<'_>,
    client: &Client,
    seed: u64,
    moves: usize,
) -> Result<ObjectWalk, ObjectJudgeError> {
    let n = machine.processes();
    let mut scheduler = Scheduler::new(*client, n, seed);
    let mut admission = Admission::new(sequential.clone());
    let mut state = machine.initial().clone();
    let (mut made, mut reports, mut faulty) = (Vec::new(), Vec::new(), None);
    while made.len() < moves {
        let mut fault = None;
        let outcomes = |process| machine.outcomes(&state, process);
        let next = scheduler.next_taking(&state, outcomes, |client, progress, process: Process| {
            let calls = client.calls_of_object(sequential, progress, process);
            let mut may_begin = |call: &Call| match call {
                Call::Operation(call) => match admission.refusal(process, *call) {
                    Ok(refusal) => refusal.is_none(),
                    Err(found) => {
                        fault = Some(found);
                        false
                    }
                },
                Call::Update(_) | Call::Scan => false,
            };
            calls.into_iter().filter(|call| may_begin(call)).collect()
        });
        if let Some(fault) = fault {
            return Err(ObjectJudgeError::Object(fault));
        }
        let Some(next) = next else { break };
        let report = match machine.make(&mut state, next) {
            Ok(report) => report,
            Err(MoveErrorKind::Fault(fault)) => {
                faulty = Some((next, fault));
                break;
            }
            Err(refused) => unreachable!("only possible moves are made, but: {refused}"),
        };
        made.push(next);
        let explained = report.event.as_ref().map_or(Ok(true), |event| admission.happens(event));
        reports.push(report);
        if !explained.map_err(ObjectJudgeError::Object)? {
            break;
        }
    }
    let execution = Execution { processes: n, reports, last: state };
    Ok(ObjectWalk { moves: made, execution, faulty })
}
