//! Random executions, each state of which has its views.

use snapshot_core::Process;
use snapshot_semantics::interpret::{Client, Machine, Move, MoveKind, Scheduler, Values};

use super::cover::{Counts, Covers, Views};
use super::execution::{Ended, Execution};
use super::tuple::{Tuple, pairs, tuples};
use crate::claim::Property;

/// Called with each state of an execution, the process that has moved, and the views.
pub type Visit<'v, 'a> =
    dyn FnMut(&Execution<'_>, &[Tuple], usize, Vec<Covers<'a>>) -> Result<(), String> + 'v;

/// Makes one random execution of n processes of very different speed.
///
/// # Errors
/// A state without a view, described for a human reader; or that of `visit`.
pub fn walk<'a>(
    views: &Views<'a>,
    machine: &Machine<'_>,
    seed: u64,
    moves: usize,
    visit: &mut Visit<'_, 'a>,
) -> Result<Counts, String> {
    let (layout, n) = (views.layout, machine.processes());
    let pairs = pairs(n, layout.tokens());
    let pair = pairs[(seed / 3) as usize % pairs.len()];
    let mut execution = Execution::new(machine, layout, pair);
    // Views report the end of an operation without further pauses to the observer earlier.
    execution.fine = seed % 8 >= 4 && layout.obligation.property != Property::Observer;
    let tuples = tuples(n, pair, layout.tokens());
    let mut counts = Counts::default();
    let mut compare = |execution: &mut Execution<'_>, process: usize| -> Result<(), String> {
        let (found, all) = views.cover(execution, &tuples)?;
        counts.add(found);
        let histories: Vec<_> = all.iter().map(|covers| covers.history.clone()).collect();
        visit(execution, &tuples, process, all)?;
        // Choices for other processes do not happen.
        if !pair.iter().any(|process| execution.may_be_lost(*process)) {
            execution.histories = histories;
        }
        Ok(())
    };
    compare(&mut execution, 0)?;
    let [i, j] = [pair[0].min(pair[1]), pair[0].max(pair[1])].map(Process::from_index);
    let client = Client::unbounded(Values::Simple(i, j));
    let mut scheduler = Scheduler::new(client, n, seed);
    for _ in 0..moves {
        let current = &execution;
        let calls = |process: Process| current.calls(process.index());
        let next = scheduler.next_by(&current.state, |_, _, process| calls(process));
        let Some(Move { process, kind }) = next else { break };
        let process = process.index();
        let call = match kind {
            MoveKind::Begin(call) => Some(call),
            MoveKind::Step | MoveKind::Take(_) => None,
        };
        if execution.approach(process) {
            compare(&mut execution, process)?;
        }
        match execution.go(process, call) {
            Ended::Well => compare(&mut execution, process)?,
            Ended::Violation => {
                counts.violations += 1;
                break;
            }
            Ended::Fault => {
                counts.faults += 1;
                break;
            }
            Ended::Never => break,
        }
    }
    Ok(counts)
}
