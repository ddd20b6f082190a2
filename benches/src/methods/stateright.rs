//! `stateright`'s tester: a search for an order, without memory of where it was.
//!
//! A thread per process. An operation whose outcome was lost stays in flight for
//! ever, which keeps its thread busy: what the process does after it is given to
//! another thread. That loses no precedence, since a thread's operations are ordered by
//! their times like all others.

use std::thread;

use snapshot_core::History;
use snapshot_core::history::{OperationKind, Outcome};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use super::{Answer, timed};

/// The snapshot: its segments.
#[derive(Clone, Debug)]
struct Segments(Vec<i64>);

#[derive(Clone, Debug)]
enum Call {
    Update { segment: usize, value: i64 },
    Scan,
}

#[derive(Clone, Debug, PartialEq)]
enum Return {
    Updated,
    Scanned(Vec<i64>),
}

impl SequentialSpec for Segments {
    type Op = Call;
    type Ret = Return;

    fn invoke(&mut self, call: &Call) -> Return {
        match *call {
            Call::Update { segment, value } => {
                self.0[segment] = value;
                Return::Updated
            }
            Call::Scan => Return::Scanned(self.0.clone()),
        }
    }

    /// As [`Self::invoke`], without the copy.
    fn is_valid_step(&mut self, call: &Call, returned: &Return) -> bool {
        match (call, returned) {
            (Call::Scan, Return::Scanned(values)) => *values == self.0,
            (Call::Update { .. }, Return::Updated) => self.invoke(call) == Return::Updated,
            _ => false,
        }
    }
}

/// It calls itself once per operation.
const STACK: usize = 1 << 28;

pub(super) fn judge(history: &History<i64>) -> Answer {
    let tester = tester(history);
    let work = || timed(|| &tester, |tester| Some(tester.is_consistent()));
    let answer = thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        worker.map(|worker| worker.join().expect("the tester does not panic"))
    });
    answer.expect("there is memory for a stack")
}

/// A process, and how many of its operations have lost their outcome.
type Thread = (usize, usize);

fn tester(history: &History<i64>) -> LinearizabilityTester<Thread, Segments> {
    let mut tester = LinearizabilityTester::new(Segments(vec![0; history.segments()]));
    let mut lost = vec![0; history.processes()];
    for step in history.steps() {
        let operation = history.operation(step.operation);
        let process = operation.process().index();
        let thread = (process, lost[process]);
        let told = match (operation.outcome(), step.is_end) {
            (Outcome::Failed { .. }, _) => continue,
            (Outcome::Unknown { .. }, true) => {
                lost[process] += 1;
                continue;
            }
            (_, false) => {
                let call = match operation.kind() {
                    OperationKind::Scan => Call::Scan,
                    OperationKind::Update { segment } => Call::Update {
                        segment: segment.index(),
                        value: *history.update_value(operation),
                    },
                };
                tester.on_invoke(thread, call)
            }
            (_, true) => {
                let returned = match operation.kind() {
                    OperationKind::Update { .. } => Return::Updated,
                    OperationKind::Scan => Return::Scanned(history.scan_values(operation).to_vec()),
                };
                tester.on_return(thread, returned)
            }
        };
        told.map(drop).expect("a history is well-formed");
    }
    tester
}
