//! As `std::sync::Condvar`: within an execution the scheduler's, else the real one.

use real::fmt;
use real::panic::Location;
use real::sync as std;
use real::sync::{LockResult, PoisonError};
use real::time::Duration;

use crate::control::{Next, Object, Timed, announce, inside, took, touch, wakes_spuriously};
use crate::mutex::{MutexGuard, Passed};

/// As `std::sync::Condvar`.
pub struct Condvar {
    gate: shuttle::sync::Condvar,
    real: std::Condvar,
}

/// As `std::sync::WaitTimeoutResult`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns true if the time limit passed: never within an execution.
    pub const fn timed_out(&self) -> bool {
        self.0
    }
}

fn guard<'l, T>(
    locked: LockResult<std::MutexGuard<'l, T>>,
    gate: Option<Passed<'l>>,
    lock: &'l crate::mutex::Mutex<T>,
) -> LockResult<MutexGuard<'l, T>> {
    match locked {
        Ok(real) => Ok(MutexGuard { real, gate, lock }),
        Err(poisoned) => {
            Err(PoisonError::new(MutexGuard { real: poisoned.into_inner(), gate, lock }))
        }
    }
}

impl Condvar {
    /// Makes a fresh one.
    pub const fn new() -> Self {
        Self { gate: shuttle::sync::Condvar::new(), real: std::Condvar::new() }
    }

    /// As of the real one. Within an execution it wakes up spuriously in the first wait of an
    /// operation, if at all.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait<'l, T>(&self, guarded: MutexGuard<'l, T>) -> LockResult<MutexGuard<'l, T>> {
        touch(self);
        let MutexGuard { real, gate, lock } = guarded;
        match gate {
            Some(gate) if wakes_spuriously() => {
                drop(real);
                let lock_again = gate.gate;
                drop(gate);
                let gate = lock_again.lock();
                guard(lock.real.lock(), Some(gate), lock)
            }
            Some(gate) => {
                drop(real);
                let locked = gate.gate.object();
                let step = announce(Next::waiting(locked, self.object()));
                let gate = gate.while_released(|gate| {
                    self.gate.wait(gate).unwrap_or_else(PoisonError::into_inner)
                });
                drop(step);
                took(locked, true, Location::caller());
                guard(lock.real.lock(), Some(gate), lock)
            }
            None => guard(self.real.wait(real), None, lock),
        }
    }

    /// As of the real one.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_while<'l, T>(
        &self,
        mut guarded: MutexGuard<'l, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'l, T>> {
        while condition(&mut guarded) {
            guarded = self.wait(guarded)?;
        }
        Ok(guarded)
    }

    /// As of the real one; within an execution the time limit never passes.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout<'l, T>(
        &self,
        guarded: MutexGuard<'l, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'l, T>, WaitTimeoutResult)> {
        if guarded.gate.is_some() {
            let _open = Timed::open();
            return match self.wait(guarded) {
                Ok(guarded) => Ok((guarded, WaitTimeoutResult(false))),
                Err(poisoned) => {
                    Err(PoisonError::new((poisoned.into_inner(), WaitTimeoutResult(false))))
                }
            };
        }
        let MutexGuard { real, gate, lock } = guarded;
        match self.real.wait_timeout(real, time) {
            Ok((real, result)) => {
                Ok((MutexGuard { real, gate, lock }, WaitTimeoutResult(result.timed_out())))
            }
            Err(poisoned) => {
                let (real, result) = poisoned.into_inner();
                let result = WaitTimeoutResult(result.timed_out());
                Err(PoisonError::new((MutexGuard { real, gate, lock }, result)))
            }
        }
    }

    /// As of the real one; within an execution the time limit never passes.
    ///
    /// # Errors
    /// If the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout_while<'l, T>(
        &self,
        mut guarded: MutexGuard<'l, T>,
        time: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'l, T>, WaitTimeoutResult)> {
        let start = real::time::Instant::now();
        loop {
            if !condition(&mut guarded) {
                return Ok((guarded, WaitTimeoutResult(false)));
            }
            let left = if guarded.gate.is_some() {
                time
            } else {
                match time.checked_sub(start.elapsed()) {
                    Some(left) => left,
                    None => return Ok((guarded, WaitTimeoutResult(true))),
                }
            };
            guarded = self.wait_timeout(guarded, left)?.0;
        }
    }

    fn object(&self) -> Object {
        Object::at(&self.gate)
    }

    /// As of the real one.
    #[track_caller]
    pub fn notify_one(&self) {
        if inside() {
            let _step = announce(Next::access(self.object(), true));
            self.gate.notify_one();
        }
        self.real.notify_one();
    }

    /// As of the real one.
    #[track_caller]
    pub fn notify_all(&self) {
        if inside() {
            let _step = announce(Next::access(self.object(), true));
            self.gate.notify_all();
        }
        self.real.notify_all();
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}
