//! Threads of a stress test, and their synchronisation between rounds.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Stress;
use super::plan::plan;
use crate::judge::Failure;
use crate::noise::Noise;
use crate::record::{Handle, Recorder};
use crate::value::Value;
use crate::watchdog::{Watchdog, unfinished};
use crate::workload::{Operation, Subject, number, perform};

/// Pause between two interruptions by one thread; the system adds some 50 microseconds.
const INTERVAL: Duration = Duration::from_micros(20);

/// Duration of an interruption.
const INTERRUPTION: Duration = Duration::from_micros(50);

/// Stands for the time between rounds, for the watchdog.
const NO_ROUND: usize = usize::MAX;

/// State shared by the threads.
pub(super) struct Team<'a, S: Subject> {
    pub(super) stress: &'a Stress<S::Value>,
    pub(super) seed: u64,
    pub(super) recorder: &'a Recorder<Value>,
    pub(super) subject: &'a S,
}

/// Synchronisation of the threads.
struct Meeting {
    barrier: Barrier,
    is_over: AtomicBool,
    ready: AtomicUsize,
    /// The current round, or [`NO_ROUND`].
    round: AtomicUsize,
    /// A panic of the object, which must not leave the others waiting forever.
    panicked: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<S: Subject + Sync> Team<'_, S> {
    /// Works in rounds as long as `goes_on` returns true, which is called before each. `judge` is
    /// called after each, when no operation is open.
    ///
    /// # Errors
    /// The first error of `judge`; or a panic of an operation.
    pub(super) fn work(
        &self,
        mut goes_on: impl FnMut(usize) -> bool,
        mut judge: impl FnMut(usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let threads = self.stress.workload.threads;
        let meeting = Meeting {
            barrier: Barrier::new(threads + 1),
            is_over: AtomicBool::new(false),
            ready: AtomicUsize::new(0),
            round: AtomicUsize::new(NO_ROUND),
            panicked: Mutex::new(None),
        };
        let Meeting { barrier, is_over, round: current, panicked, .. } = &meeting;
        let handles: Vec<Handle<Value>> =
            (0..threads).map(|thread| self.recorder.process(thread)).collect::<Result<_, _>>()?;
        let watchdog = Watchdog::default();
        std::thread::scope(|scope| {
            let _watched = watchdog.watched();
            for (thread, handle) in handles.into_iter().enumerate() {
                let meeting = &meeting;
                scope.spawn(move || self.act(thread, handle, meeting));
            }
            if self.stress.noise != Noise::Off {
                for _ in 0..interrupters() {
                    scope.spawn(|| interrupt(is_over));
                }
            }
            scope.spawn(|| self.watch(&watchdog, current));
            let mut outcome = Ok(());
            for round in 0.. {
                let end = outcome.is_err() || !goes_on(round);
                is_over.store(end, Ordering::Release);
                if !end {
                    current.store(round, Ordering::Release);
                }
                barrier.wait();
                if end {
                    break;
                }
                barrier.wait();
                barrier.wait();
                current.store(NO_ROUND, Ordering::Release);
                let panic = panicked.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(panic) = panic {
                    is_over.store(true, Ordering::Release);
                    barrier.wait();
                    eprintln!("an operation panicked in round {round}, seed {}", self.seed);
                    resume_unwind(panic);
                }
                outcome = judge(round);
            }
            outcome
        })
    }

    /// Runs one thread, in all rounds.
    fn act(&self, thread: usize, mut handle: Handle<Value>, meeting: &Meeting) {
        let Meeting { barrier, is_over, ready, panicked, .. } = meeting;
        let workload = &self.stress.workload;
        let (threads, writers) = (workload.threads, workload.writers);
        let mut updates = 0;
        let mut work = |operations: &[Operation]| {
            let work = AssertUnwindSafe(|| {
                for operation in operations {
                    let value = || {
                        let number = number((thread, threads), writers, updates);
                        updates += 1;
                        workload.value(number)
                    };
                    perform(self.subject, &mut handle, thread, operation, value);
                }
            });
            if let Err(panic) = catch_unwind(work) {
                let mut first = panicked.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(panic);
            }
        };
        for round in 0.. {
            let plan = plan(workload, self.seed, (round, thread));
            barrier.wait();
            if is_over.load(Ordering::Acquire) {
                break;
            }
            start_together(ready, threads * (round + 1));
            work(&plan);
            barrier.wait();
            if thread == 0 {
                // Alone, it reads the values that the updates have left. So a lost update is seen
                // even if no scan followed it, and with several writers the next round knows its
                // initial values.
                work(&[Operation::Scan]);
            }
            barrier.wait();
        }
    }

    /// Ends the process if a round does not end.
    fn watch(&self, watchdog: &Watchdog, round: &AtomicUsize) {
        let mut events = None;
        let beat = || Some(round.load(Ordering::Acquire)).filter(|round| *round != NO_ROUND);
        let stuck = || {
            let history = self.recorder.history().ok()?;
            let now = (round.load(Ordering::Acquire), history.len());
            // A long round, or a slow object.
            if events.replace(now) != Some(now) {
                return None;
            }
            Some(format!(
                "stress: no operation has begun or returned for {} s, in round {} (seed {}). Those \
                 that have not returned:\n  {}\nThe process ends: a thread that is blocked cannot \
                 be stopped. `.patience(...)` sets the limit.",
                self.stress.patience.as_secs_f32(),
                now.0,
                self.seed,
                unfinished(&history)
            ))
        };
        watchdog.watch(self.stress.patience, beat, stuck);
    }
}

/// Waits, spinning, until `all` threads have arrived. Threads woken by a barrier run one after the
/// other: a round may be over in the first before the last has begun.
fn start_together(ready: &AtomicUsize, all: usize) {
    ready.fetch_add(1, Ordering::AcqRel);
    let mut waited = 0_u32;
    while ready.load(Ordering::Acquire) < all {
        waited += 1;
        // There may be more threads than processors.
        if waited.is_multiple_of(256) { std::thread::yield_now() } else { std::hint::spin_loop() }
    }
}

/// Returns the number of interrupting threads: one per processor.
fn interrupters() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Sleeps and wakes up repeatedly. Each time the system stops the running thread at any place, far
/// more often than at the end of its turn. Then works for a while, so that another thread's turn
/// may be next.
fn interrupt(is_over: &AtomicBool) {
    while !is_over.load(Ordering::Acquire) {
        std::thread::sleep(INTERVAL);
        let began = Instant::now();
        while began.elapsed() < INTERRUPTION {
            std::hint::spin_loop();
        }
    }
}
