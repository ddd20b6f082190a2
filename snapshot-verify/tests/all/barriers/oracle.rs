//! All executions with few barriers, move by move: the interpreter runs the program as written, and
//! the configurations of the atomic snapshot decide linearizability. There is no observer, no
//! instance and no reduction, and barriers are counted by their definition.

use std::collections::{BTreeSet, VecDeque};

use snapshot_core::Process;
use snapshot_verify::interpret::{Action, Call, Client, Event, Machine, Progress, State, Values};
use snapshot_verify::program::Program;
use snapshot_verify::refine::{Possibilities, SnapshotSpecification};

#[derive(Clone)]
struct Point {
    state: State,
    progress: Progress,
    /// Possible configurations of the snapshot.
    possibilities: Possibilities,
    barriers: u32,
    /// True if the last invocation or response was a response.
    after_response: bool,
}

/// Returns the least number of barriers, up to `most`, with which an execution of a pair is not
/// linearizable or the program has a fault; `Err` if there are more than `limit` points.
pub fn least(
    program: &Program,
    processes: usize,
    [i, j]: [usize; 2],
    most: u32,
    limit: usize,
) -> Result<Option<u32>, ()> {
    let machine = Machine::new(program, processes).unwrap();
    let values = Values::Simple(Process::from_index(i), Process::from_index(j));
    let client = Client::bounded(values, most + 1);
    let mut specification = SnapshotSpecification::new(processes);
    let mut seen = BTreeSet::new();
    let mut waiting = VecDeque::from([Point {
        state: machine.initial().clone(),
        progress: client.start(processes),
        possibilities: specification.initial(),
        barriers: 0,
        after_response: false,
    }]);
    let mut least: Option<u32> = None;
    while let Some(point) = waiting.pop_front() {
        for process in (0..processes).map(Process::from_index) {
            let calls: Vec<Option<Call>> = match point.state.is_idle(process.index()) {
                false => vec![None],
                true => client
                    .calls(&point.progress, process, processes)
                    .into_iter()
                    .map(Some)
                    .collect(),
            };
            for call in calls {
                let mut next = point.clone();
                let action = match call {
                    None => machine.advance(&mut next.state, process),
                    Some(call) => {
                        next.barriers += u32::from(next.after_response);
                        next.after_response = false;
                        client.begin(&mut next.progress, process, call);
                        machine.begin(&mut next.state, process, call).map(Some)
                    }
                };
                // Executions with more barriers are irrelevant.
                if next.barriers > most || least.is_some_and(|least| next.barriers >= least) {
                    continue;
                }
                let Ok(action) = action else {
                    least = Some(next.barriers);
                    continue;
                };
                if let Some(action) = action {
                    next.after_response |=
                        matches!(action, Action::RespondUpdate | Action::RespondScan(_));
                    let event = Event { process, action };
                    let Some(after) = specification.after(next.possibilities, &event) else {
                        least = Some(next.barriers);
                        continue;
                    };
                    next.possibilities = after;
                }
                let mut key = next.state.key();
                key.extend(next.progress.key());
                key.extend(next.possibilities.number().to_le_bytes());
                key.extend(next.barriers.to_le_bytes());
                key.push(u8::from(next.after_response));
                if seen.insert(key) {
                    waiting.push_back(next);
                }
            }
        }
        if seen.len() > limit {
            return Err(());
        }
    }
    Ok(least)
}
