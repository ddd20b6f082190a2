//! The threads of a stress test, and how they wait for each other between rounds.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::plan::plan;
use super::{Noise, Stress};
use crate::judge::Failure;
use crate::noise::{self, Noisy};
use crate::record::{Handle, Recorder};

/// Between two interruptions by one thread; the system adds some 50 microseconds.
const INTERVAL: Duration = Duration::from_micros(20);

/// How long an interruption takes.
const INTERRUPTION: Duration = Duration::from_micros(50);

/// What the threads have in common.
pub(super) struct Team<'a> {
    pub(super) stress: &'a Stress,
    pub(super) seed: u64,
    pub(super) recorder: &'a Recorder<u64>,
}

impl Team<'_> {
    /// Works in rounds as long as `goes_on`, which is asked before each; `judge` comes
    /// after each, when no operation is open.
    ///
    /// # Errors
    /// The first of `judge`; or that an operation panicked.
    pub(super) fn work<O: Sync, S: AsRef<[u64]>>(
        &self,
        object: &O,
        update: &(impl Fn(&O, usize, u64) + Sync),
        scan: &(impl Fn(&O, usize) -> S + Sync),
        mut goes_on: impl FnMut(usize) -> bool,
        mut judge: impl FnMut(usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let threads = self.stress.threads;
        let barrier = Barrier::new(threads + 1);
        let is_over = AtomicBool::new(false);
        let ready = AtomicUsize::new(0);
        // A panic of the object must not leave the others waiting for ever.
        let panicked = Mutex::new(None);
        let handles: Vec<Handle<u64>> =
            (0..threads).map(|thread| self.recorder.process(thread)).collect::<Result<_, _>>()?;
        std::thread::scope(|scope| {
            for (thread, mut handle) in handles.into_iter().enumerate() {
                let (barrier, is_over, panicked) = (&barrier, &is_over, &panicked);
                let ready = &ready;
                scope.spawn(move || {
                    let noisy = (self.stress.noise != Noise::Off)
                        .then(|| Noisy::new(self.seed.rotate_left(thread as u32) ^ thread as u64));
                    let mut last = 0;
                    for round in 0.. {
                        let Stress { operations, segments, noise, .. } = *self.stress;
                        let plan =
                            plan(self.seed, (round, thread), operations, thread < segments, noise);
                        barrier.wait();
                        if is_over.load(Ordering::Acquire) {
                            break;
                        }
                        start_together(ready, threads * (round + 1));
                        let work = AssertUnwindSafe(|| {
                            for choice in &plan {
                                if choice.is_update {
                                    last += 1;
                                    let value = last;
                                    handle.update(thread, value, || update(object, thread, value));
                                } else {
                                    handle.scan(|| scan(object, thread));
                                }
                                if choice.pause != 0 {
                                    noise::pause(u64::from(choice.pause));
                                }
                            }
                        });
                        if let Err(panic) = catch_unwind(work) {
                            let mut first = panicked.lock().unwrap_or_else(PoisonError::into_inner);
                            first.get_or_insert(panic);
                        }
                        barrier.wait();
                    }
                    drop(noisy);
                });
            }
            if self.stress.noise != Noise::Off {
                for _ in 0..interrupters() {
                    scope.spawn(|| interrupt(&is_over));
                }
            }
            let mut outcome = Ok(());
            for round in 0.. {
                let end = outcome.is_err() || !goes_on(round);
                is_over.store(end, Ordering::Release);
                barrier.wait();
                if end {
                    break;
                }
                barrier.wait();
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
}

/// The threads that a barrier wakes up run one after the other: a round may be over in
/// the first before the last has begun. So they meet once more, running, until `all` came.
fn start_together(ready: &AtomicUsize, all: usize) {
    ready.fetch_add(1, Ordering::AcqRel);
    let mut waited = 0_u32;
    while ready.load(Ordering::Acquire) < all {
        waited += 1;
        // There may be more threads than processors.
        if waited.is_multiple_of(256) { std::thread::yield_now() } else { std::hint::spin_loop() }
    }
}

/// As many as there are processors.
fn interrupters() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Sleeps and wakes up: on that, the system stops whichever thread runs, wherever it is,
/// far more often than at the end of its turn. Then works for a while, so that another
/// thread's turn may come next.
fn interrupt(is_over: &AtomicBool) {
    while !is_over.load(Ordering::Acquire) {
        std::thread::sleep(INTERVAL);
        let began = Instant::now();
        while began.elapsed() < INTERRUPTION {
            std::hint::spin_loop();
        }
    }
}
