//! Answers.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use snapshot_core::observation::{
    ConcurrentHistory, Explanation, Judgement, Nondeterminism, Observations, SerialHistory,
};

use crate::apart::Crash;
use crate::matrix::Test;
use crate::schedule::Schedule;
use crate::subject::Answer;
use crate::unordered::Line;

/// Verdict on a test.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Every execution that was tried has its serial witnesses.
    Pass {
        /// True if all executions were tried, with any number of preemptions.
        complete: bool,
    },
    /// Two serial executions with the same calls get different answers: no deterministic
    /// specification allows both.
    Nondeterministic(Box<Nondeterminism<Answer>>),
    /// A serial execution gets stuck, and the check counts this as a failure.
    NotTotal(SerialHistory<Answer>),
    /// A concurrent execution without serial witness: linearizable with respect to no
    /// deterministic specification, or not to the one given.
    Violation(Box<Violation>),
    /// An execution ends the process. Only checks that are executed in a process of their own have
    /// this answer: those of [`assert!`](crate::assert) and of a [program](crate::main).
    Crash(Box<Crash>),
    /// No certain answer.
    Unknown(Unknown),
}

/// A concurrent execution that refutes linearizability.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The execution.
    pub history: ConcurrentHistory<Answer>,
    /// Kind of the violation.
    pub judgement: Judgement,
    /// Explanation why no serial execution matches; `None` if the judge was a specification.
    pub explanation: Option<Explanation<Answer>>,
    /// Schedule that reproduces it.
    pub schedule: Schedule,
    /// Number of its preemptions.
    pub preemptions: u32,
    /// True if it, or a serial execution that it was compared with, is stuck only if spinning
    /// threads spin for ever ([`Diverging::Stuck`](crate::Diverging::Stuck)).
    pub spins: bool,
}

/// Reason for an unknown answer.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Unknown {
    /// The time limit passed.
    Time,
    /// Ctrl-C ended the check.
    Interrupted,
    /// An execution makes this many steps without call or return.
    Diverging {
        /// The number of steps.
        steps: u32,
        /// True if the execution is serial.
        serial: bool,
    },
    /// A failure rests on threads that spin for ever, and one of them gave up after more steps.
    Spinning {
        /// Steps tried in the repetition.
        steps: u32,
    },
    /// The subject spawned threads.
    Threads,
    /// A panic released locks that a deadlocked thread held, or blocked while it unwound.
    Unwinding,
    /// The same schedule led to different executions: time, random numbers, addresses, or
    /// state that outlives an execution.
    Uncontrolled {
        /// The first difference and the two executions, as far as they are known.
        executions: Vec<String>,
    },
    /// A call blocks where the scheduler cannot see it.
    Silent {
        /// The operation, if it is known.
        operation: Option<String>,
    },
    /// An execution is stuck while a wait with a time limit is open.
    TimedWait,
    /// The subject's thread-locals are shared by all threads of a test.
    ThreadLocals {
        /// Crates, files and lines.
        places: String,
    },
    /// The object could not be made or dropped.
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// The initial sequence gets stuck or panics, so that no test takes place.
    Initial {
        /// The serial history, as text.
        history: String,
    },
    /// The process of a check ended, and executing its tests again did not end it.
    Crash {
        /// Signal, or exit status.
        ended: String,
        /// Tests that were being executed.
        tests: Vec<String>,
    },
    /// More executions got stuck or were abandoned than fit into memory
    /// ([`crate::Check::unwinding`]).
    Memory,
}

impl Unknown {
    /// Makes the answer for two executions that differ although their schedules are equal.
    pub(crate) fn differing<E: fmt::Debug + PartialEq>(first: &[E], second: &[E]) -> Self {
        let same = first.iter().zip(second).take_while(|(a, b)| a == b).count();
        let event = |events: &[E]| match events.get(same) {
            Some(event) => format!("{event:?}"),
            None => "the end".to_owned(),
        };
        let difference =
            format!("first difference, event {}: {} and {}", same + 1, event(first), event(second));
        let executions = vec![difference, format!("{first:?}"), format!("{second:?}")];
        Self::Uncontrolled { executions }
    }
}

/// Returns the quoted names of crates in text such as `a 0.1.0 (lib.rs:5, b.rs:7); b 0.2.0 (c.rs:9)`.
fn crates(places: &str) -> String {
    let names = places.split("; ").filter_map(|one| one.split(' ').next());
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => write!(f, "the time was up"),
            Self::Interrupted => write!(f, "interrupted"),
            Self::Diverging { steps, serial } => {
                let kind = if *serial { "a serial" } else { "an" };
                write!(
                    f,
                    "{kind} execution makes {steps} steps without call or return: it may spin for \
                     ever, or need more patience (--patience). If operations of this object that \
                     spin never give up by themselves, --diverging stuck has an answer, as far as \
                     they spin on atomics of the stand-in for std and change none"
                )
            }
            Self::Spinning { steps } => write!(
                f,
                "an operation that spun while nothing changed, and so counted as stuck \
                 (--diverging stuck), went on within {steps} steps: it gives up by itself. With \
                 more patience (--patience) there is an answer"
            ),
            Self::Threads => write!(
                f,
                "the subject spawns threads of its own, of which serial executions know nothing"
            ),
            Self::Unwinding => write!(
                f,
                "a panic unwinds through locks, so that it is not known which executions there are"
            ),
            Self::Uncontrolled { executions } => {
                write!(
                    f,
                    "the same schedule led to different executions: the subject depends on time, \
                     random numbers, addresses or state that outlives an execution (a static)"
                )?;
                executions.iter().try_for_each(|text| write!(f, "\n  {text}"))
            }
            Self::Silent { operation } => {
                let operation = operation.as_deref().unwrap_or("an operation");
                write!(
                    f,
                    "{operation} blocks where the scheduler cannot see it: it waits by other means \
                     than shuttle's, or computes for ever"
                )
            }
            Self::TimedWait => write!(
                f,
                "an execution gets stuck while a wait with a time limit is open: under control \
                 time does not pass, in truth the wait would end"
            ),
            Self::ThreadLocals { places } => write!(
                f,
                "all threads of a test share the values of a bare `thread_local!`, which the \
                 stand-in for `std` cannot replace: {places}. If they do not matter: \
                 `thread-locals-argued = [{}]` in `[package.metadata.lineup]`",
                crates(places)
            ),
            Self::Panicked { message } => {
                write!(f, "the object could not be made or dropped: {message}")
            }
            Self::Initial { history } => {
                write!(f, "the initial sequence gets stuck: {history}")
            }
            Self::Crash { ended, tests } => {
                let tests = match tests.len() {
                    0 => "between two tests".to_owned(),
                    _ => format!("during {}", tests.join(", or ")),
                };
                write!(
                    f,
                    "the process of the check ended ({ended}) {tests}; executed once more, each \
                     alone, and with stacks of 2 MiB, no execution ends it again: it may need more \
                     memory or stack, or rests on addresses or on earlier executions"
                )
            }
            Self::Memory => {
                write!(
                    f,
                    "too many executions got stuck, and their threads keep what they own; --unwind, or \
                     Check::unwinding, gives it back"
                )
            }
        }
    }
}

/// The serial executions of a test.
#[derive(Clone, Debug)]
pub struct SerialPhase {
    /// The serial histories.
    pub observations: Observations<Answer>,
    /// Number of executions.
    pub executions: u64,
    /// Time taken.
    pub time: Duration,
    /// True if these are all serial executions.
    pub complete: bool,
    /// Number of executions that count as stuck because an operation spins.
    pub spinning: u64,
}

/// The concurrent executions of a test that were tried.
#[derive(Clone, Debug, Default)]
pub struct ConcurrentPhase {
    /// Number of executions, at all bounds together.
    pub executions: u64,
    /// Number of steps.
    pub steps: u64,
    /// Number of different histories.
    pub histories: u64,
    /// Number of stuck ones among them.
    pub stuck: u64,
    /// Number of executions that count as stuck because threads spin.
    pub spinning: u64,
    /// The largest number of preemptions for which all executions were tried.
    pub bound: Option<u32>,
    /// True if these are all executions.
    pub complete: bool,
    /// True if the limit on the number of executions was reached.
    pub limited: bool,
    /// Pairs of lines that access plain memory in no order that is seen.
    pub unordered: Vec<(&'static Location<'static>, &'static Location<'static>)>,
    /// Time taken.
    pub time: Duration,
}

impl ConcurrentPhase {
    /// Adds pairs of lines, each once.
    pub(crate) fn note_unordered(&mut self, pairs: &[(Line, Line)]) {
        for (first, second) in pairs {
            let pair = if first <= second { (*first, *second) } else { (*second, *first) };
            if !self.unordered.contains(&pair) {
                self.unordered.push(pair);
            }
        }
    }
}

/// The answer to one test.
#[derive(Clone)]
pub struct Report {
    /// The test.
    pub test: Test,
    /// The verdict.
    pub verdict: Verdict,
    /// Phase 1.
    pub serial: SerialPhase,
    /// Phase 2.
    pub concurrent: ConcurrentPhase,
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report")
            .field("test", &self.test)
            .field("verdict", &self.verdict)
            .field("serial", &self.serial.observations.len())
            .field("concurrent", &self.concurrent)
            .finish()
    }
}

impl Verdict {
    /// Returns true for a failure, which is certain.
    pub const fn fails(&self) -> bool {
        !matches!(self, Self::Pass { .. } | Self::Unknown(_))
    }

    /// Returns 0 for passed, 1 for failed, 3 for unknown.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Pass { .. } => 0,
            Self::Unknown(_) => 3,
            _ => 1,
        }
    }

    /// Returns `PASS`, `FAIL` or `unknown`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Pass { .. } => "PASS",
            Self::Unknown(_) => "unknown",
            _ => "FAIL",
        }
    }
}
