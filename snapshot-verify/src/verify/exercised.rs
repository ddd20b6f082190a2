//! Coverage of the executions that an answer is about.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::error::VerifyError;
use super::progress::Watch;
use super::request::Request;
use crate::exercise::{Budget, Exercise, exercise, exercise_object};
use crate::interpret::{Client, Machine, Sequential, Values};
use crate::program::Program;

/// Maximum number of states per graph. They take tenths of a second, and suffice for small
/// programs: waiting and locks, two processes with versions, bowman for three.
const STATES: usize = 25_000;

/// Maximum number of bytes per graph.
const MEMORY: usize = 64 << 20;

/// Maximum number of moves of random executions.
const MOVES: usize = 50_000;

/// Maximum computing time, in case steps are expensive.
const TIME: Duration = Duration::from_secs(2);

/// Returns the coverage of the requested executions, as far as a small budget can tell. `time` is
/// the time left for the request.
///
/// For simple executions of a data-independent program, the executions that write one value are
/// explored: the others take the same paths.
///
/// For an object, the values are those of the request.
///
/// # Errors
/// If the program cannot run with this many processes.
pub fn exercised(
    program: &Program,
    request: &Request,
    time: Option<Duration>,
    watch: &dyn Watch,
) -> Result<Exercise, VerifyError> {
    let machine = Machine::new(program, request.processes)?;
    let object = program.object().map(|object| Sequential::new(object, request.processes));
    let object = object.transpose()?;
    let values = if object.is_some() { Request::VALUES } else { 1 };
    let client = Client {
        operations: request.operations.bound(),
        updater: request.updater,
        ..Client::unbounded(Values::Full(request.values.unwrap_or(values)))
    };
    let (began, before) = (Instant::now(), computed());
    let mut proceed = || {
        let is_in_time = time.is_none_or(|time| began.elapsed() < time);
        is_in_time && computed() - before < TIME && !watch.stop().load(Ordering::Relaxed)
    };
    let memory = usize::try_from(request.memory).unwrap_or(usize::MAX).min(MEMORY);
    let mut budget = Budget { states: STATES, memory, moves: MOVES, proceed: &mut proceed };
    Ok(match &object {
        None => exercise(&machine, &client, &mut budget),
        Some(object) => exercise_object(&machine, object, &client, &mut budget),
    })
}

/// Returns the computing time of this thread: results must not depend on the machine's other work.
#[cfg(unix)]
fn computed() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the wall-clock time.
#[cfg(not(unix))]
fn computed() -> Duration {
    static FIRST: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    FIRST.elapsed()
}
