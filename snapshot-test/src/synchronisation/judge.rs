//! Judging a recording.

use std::io::Read;
use std::time::{Duration, Instant};

use snapshot_core::OperationId;
use snapshot_core::certificate::groups;
use snapshot_core::generic::objects::{
    Counter, Lock, Map, PriorityQueue, Queue, Register, Set, Stack, SwapRegister,
};
use snapshot_core::generic::{Beyond, Ending, PartsOutcome, Proof, Refuted};
use snapshot_core::immediate::SetLinearization;
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::objects::{
    Abc, AtomicBroadcast, Barrier, Channel, CloseableChannel, CounterChannel, EnrollableBarrier,
    Exchanger, FilterChannel, LeaderBarrier, MenAndWomen, OneFamily, TerminatingQueue,
    TimeoutChannel, TimeoutExchanger, TwoFamilies,
};
use snapshot_core::synchronisation::progress::Progress;
use snapshot_core::synchronisation::{Deficiency, Furthest, Single, Verdict};
use snapshot_core::verdict::{Dispute, Exhausted};

use super::error::ReadError;
use super::interface::Interface;
use super::object::{Kind, Object};
use super::recording::{Recording, Text, read};
use crate::Value;
use crate::format::{Backwards, Doubt, Format};

/// What is wanted, and what it may take.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Time that a decision may take.
    pub time: Option<Duration>,
    /// Bytes that a search may take.
    pub memory: usize,
    /// Whether nothing can run any more at the end, and progress is judged.
    pub progress: bool,
    /// Where a search ran out of its budget: whether to look for a part that is a violation, with
    /// the budget once more, and how many cuts may show it (docs/barriers.md). Only for objects whose operations take
    /// effect one at a time.
    pub barriers: Option<usize>,
}

impl Judgement {
    /// What times that run backwards mean for it.
    pub const fn doubt(&self) -> Doubt {
        match self.finding {
            Finding::SetLinearizable(_) => Doubt::Missed,
            Finding::Violation(_) => Doubt::FalseAlarm,
            Finding::Unknown { .. } | Finding::Disputed(_) => Doubt::Either,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { time: None, memory: 1 << 30, progress: false, barriers: None }
    }
}

/// What is known of a recording's size.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Number of processes.
    pub processes: usize,
    /// Number of events.
    pub events: usize,
    /// Number of operations.
    pub operations: usize,
    /// Number of operations that neither responded nor failed.
    pub pending: usize,
    /// Number of operations that certainly had no effect.
    pub failed: usize,
}

/// The judgement of one recording.
#[derive(Debug)]
pub struct Judgement {
    /// The object.
    pub object: Object,
    /// The format, unless there was no event.
    pub format: Option<Format>,
    /// How it was decided: `keys`, `matching`, `rules` or `search`.
    pub method: &'static str,
    /// Its size.
    pub counts: Counts,
    /// Times that contradict the order of its lines, if there are any.
    pub backwards: Option<Backwards>,
    /// The answer.
    pub finding: Finding,
    /// The operations by number, as the recording has them.
    pub texts: Vec<Text>,
    /// The process of each operation.
    pub processes: Vec<usize>,
}

/// The answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Finding {
    /// It is set-linearizable, by these groups; progress holds, if that was wanted.
    SetLinearizable(SetLinearization),
    /// It is not, or progress fails.
    Violation(Violation),
    /// A budget ran out.
    Unknown {
        /// Which.
        exhausted: Exhausted,
        /// Whether it is set-linearizable, and only progress is open.
        is_set_linearizable: bool,
        /// Why rules did not decide it, where there are some.
        beyond: Option<Beyond>,
    },
    /// The check of proofs contradicts what was found: a fault of this program, and no answer.
    Disputed(Dispute),
}

/// What is wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Violation {
    /// An operation can have no partner; with the proof, unless it is too large.
    Unmatched(OperationId, Option<Deficiency>),
    /// A search tried everything.
    Searched(Furthest),
    /// These operations break a rule.
    Rule(Proof),
    /// Some of the operations have no linearization of their own.
    Part(Refuted),
    /// These operations could take effect at the end.
    Missed(Vec<OperationId>),
    /// An operation has taken effect and did not return.
    Unreturned,
}

/// What is done with the object of a recording.
pub(super) trait Task {
    type Answer;
    fn run<S: Interface>(self, interface: &S) -> Self::Answer;
}

impl Object {
    /// Does something with the object, whatever its type.
    pub(super) fn with<T: Task>(self, task: T) -> T::Answer {
        let threads = self.threads;
        match self.kind {
            Kind::Channel => task.run(&Channel::default()),
            Kind::FilterChannel => task.run(&FilterChannel::default()),
            Kind::TimeoutChannel => task.run(&TimeoutChannel::default()),
            Kind::CounterChannel => task.run(&CounterChannel::default()),
            Kind::CloseableChannel => task.run(&CloseableChannel::default()),
            Kind::Exchanger => task.run(&Exchanger::default()),
            Kind::TimeoutExchanger => task.run(&TimeoutExchanger::default()),
            Kind::MenAndWomen => task.run(&MenAndWomen::default()),
            Kind::TwoFamilies => task.run(&TwoFamilies::default()),
            Kind::OneFamily => task.run(&OneFamily::default()),
            Kind::Abc => task.run(&Abc::default()),
            Kind::Barrier => task.run(&Barrier { threads }),
            Kind::LeaderBarrier => task.run(&LeaderBarrier { threads }),
            Kind::EnrollableBarrier => task.run(&EnrollableBarrier::default()),
            Kind::TerminatingQueue => task.run(&TerminatingQueue::new(threads)),
            Kind::AtomicBroadcast => task.run(&AtomicBroadcast::new(threads)),
            Kind::Queue => task.run(&Single(Queue::default())),
            Kind::Stack => task.run(&Single(Stack::default())),
            Kind::PriorityQueue => task.run(&Single(PriorityQueue::default())),
            Kind::CasRegister => task.run(&Single(SwapRegister { initial: Value::ZERO })),
            Kind::Map => task.run(&Single(Map::default())),
            Kind::Lock => task.run(&Single(Lock::default())),
            Kind::Register => task.run(&Single(Register { initial: Value::ZERO })),
            Kind::Set => task.run(&Single(Set::default())),
            Kind::Counter => task.run(&Single(Counter)),
        }
    }
}

/// Judges a recording of an object; `format`: `None` takes it from the first line.
///
/// # Errors
/// If it is no recording of the object.
pub fn judge(
    object: Object,
    input: impl Read,
    format: Option<Format>,
    options: &Options,
) -> Result<Judgement, ReadError> {
    object.with(Judge { object, input, format, options })
}

struct Judge<'a, R> {
    object: Object,
    input: R,
    format: Option<Format>,
    options: &'a Options,
}

impl<R: Read> Task for Judge<'_, R> {
    type Answer = Result<Judgement, ReadError>;

    fn run<S: Interface>(self, interface: &S) -> Self::Answer {
        let Self { object, input, format, options } = self;
        let recording = read(interface, object, input, format)?;
        let (finding, method) = find(interface, &recording, options);
        let operations = recording.history.operations();
        let processes: Vec<usize> =
            operations.iter().map(|operation| operation.process.index()).collect();
        let count = |is_counted: &dyn Fn(&Ending<S::Output>) -> bool| {
            operations.iter().filter(|operation| is_counted(&operation.ending)).count()
        };
        let counts = Counts {
            processes: processes.iter().max().map_or(0, |last| last + 1),
            events: recording.history.len(),
            operations: operations.len(),
            pending: count(&|ending| matches!(ending, Ending::Pending)),
            failed: count(&|ending| matches!(ending, Ending::Failed)),
        };
        let Recording { format, texts, backwards, .. } = recording;
        Ok(Judgement { object, format, method, counts, backwards, finding, texts, processes })
    }
}

/// Does something within the time and memory of the options.
fn within<T>(options: &Options, run: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    let end = options.time.and_then(|time| Instant::now().checked_add(time));
    let mut proceed = || end.is_none_or(|end| Instant::now() < end);
    run(&mut Budget { memory: options.memory, proceed: &mut proceed })
}

fn find<S: Interface>(
    interface: &S,
    recording: &Recording<S>,
    options: &Options,
) -> (Finding, &'static str) {
    let (found, method) = within(options, |budget| decide(interface, recording, options, budget));
    let (Finding::Unknown { is_set_linearizable: false, .. }, Some(most)) =
        (&found, options.barriers)
    else {
        return (found, method);
    };
    let history = &recording.history;
    let found = match within(options, |budget| interface.refute_parts(history, most, budget)) {
        Some(PartsOutcome::Refuted(part)) => Finding::Violation(Violation::Part(part)),
        _ => found,
    };
    (found, method)
}

fn decide<S: Interface>(
    interface: &S,
    recording: &Recording<S>,
    options: &Options,
    budget: &mut Budget<'_>,
) -> (Finding, &'static str) {
    let history = &recording.history;
    let (decision, proof) = ("the way of deciding", "the check of its proof");
    let verified = |found: SetLinearization| match groups::check(interface, history, &found) {
        Ok(()) => Finding::SetLinearizable(found),
        Err(_) => Finding::Disputed(Dispute { accepting: decision, refusing: proof }),
    };
    let (verdict, method) = interface.decide(history, budget);
    let found = match verdict {
        Verdict::SetLinearizable(found) => found,
        Verdict::Violation(violation) => {
            let finding = refuted(interface, recording, violation).map_or(
                Finding::Disputed(Dispute { accepting: proof, refusing: decision }),
                Finding::Violation,
            );
            return (finding, method);
        }
        Verdict::Unknown { exhausted, beyond, .. } => {
            return (Finding::Unknown { exhausted, is_set_linearizable: false, beyond }, method);
        }
    };
    let found = verified(found);
    if !options.progress || matches!(found, Finding::Disputed(_)) {
        return (found, method);
    }
    let found = match interface.progress(history, budget) {
        Progress::Holds(found) => verified(found),
        Progress::Missed(missed) => Finding::Violation(Violation::Missed(missed)),
        Progress::Unreturned => Finding::Violation(Violation::Unreturned),
        Progress::Unknown(exhausted) => {
            Finding::Unknown { exhausted, is_set_linearizable: true, beyond: None }
        }
    };
    (found, method)
}

fn refuted<S: Interface>(
    interface: &S,
    recording: &Recording<S>,
    violation: snapshot_core::synchronisation::Violation,
) -> Option<Violation> {
    use snapshot_core::synchronisation::Violation as Found;
    Some(match violation {
        Found::Unmatched { operation, deficiency } => {
            if let Some(deficiency) = &deficiency {
                interface.refute(&recording.history, deficiency).ok()?;
            }
            Violation::Unmatched(operation, deficiency)
        }
        Found::Searched(furthest) => Violation::Searched(furthest),
        Found::Rule(proof) => {
            interface.check_proof(&recording.history, &proof).ok()?;
            Violation::Rule(proof)
        }
    })
}
