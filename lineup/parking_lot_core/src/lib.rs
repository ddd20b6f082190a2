//! A parking lot for crates under control: threads wait in it where the scheduler sees it.
//!
//! It implements the documentation of `parking_lot_core` 0.9, with a queue of waiting threads that
//! belongs to the execution, behind one lock. Two events never occur here, so that some executions
//! are not tried: a time limit never passes (an execution that is stuck while one is open is
//! *unknown*), and no unlocking asks to be fair. Outside an execution a waiting thread lets others
//! run first, and checks again, as after a spurious wake-up.
//!
//! The functions that are `unsafe` in the published crate are not: keys are compared only.
#![forbid(unsafe_code)]

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use lineup_std::control::inside;
use lineup_std::controlled::{Condvar, Mutex, MutexGuard};

mod results;
mod spin_wait;

pub use results::{
    DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, FilterOp, ParkResult, ParkToken, RequeueOp,
    UnparkResult, UnparkToken,
};
pub use spin_wait::SpinWait;

/// Stubs of the deadlock detection; the scheduler does it.
pub mod deadlock {
    /// Does nothing.
    pub fn acquire_resource(_key: usize) {}

    /// Does nothing.
    pub fn release_resource(_key: usize) {}
}

struct Waiter {
    key: usize,
    token: ParkToken,
    place: Arc<Place>,
}

/// The answer that a waiting thread waits for.
#[derive(Default)]
struct Place {
    answer: std::sync::Mutex<Option<UnparkToken>>,
    woken: Condvar,
}

impl Place {
    fn answer(&self) -> Option<UnparkToken> {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, token: UnparkToken) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(token);
        self.woken.notify_all();
    }
}

type Queue = Vec<Waiter>;

shuttle::lazy_static! {
    /// Waiting threads of this execution, in the order of their arrival.
    static ref QUEUE: Mutex<Queue> = Mutex::new(Vec::new());
}

fn queue() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for an unparking of the key, if `validate` returns true while no other thread can unpark.
pub fn park(
    key: usize,
    validate: impl FnOnce() -> bool,
    before_sleep: impl FnOnce(),
    _timed_out: impl FnOnce(usize, bool),
    token: ParkToken,
    timeout: Option<Instant>,
) -> ParkResult {
    if !inside() {
        if !validate() {
            return ParkResult::Invalid;
        }
        before_sleep();
        std::thread::yield_now();
        return ParkResult::Unparked(DEFAULT_UNPARK_TOKEN);
    }
    let mut waiting = queue();
    if !validate() {
        return ParkResult::Invalid;
    }
    let place = Arc::new(Place::default());
    waiting.push(Waiter { key, token, place: Arc::clone(&place) });
    drop(waiting);
    before_sleep();
    let mut waiting = queue();
    loop {
        if let Some(token) = place.answer() {
            return ParkResult::Unparked(token);
        }
        waiting = match timeout {
            None => place.woken.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            // The limit never passes.
            Some(_) => {
                let woken = place.woken.wait_timeout(waiting, Duration::from_secs(1));
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        };
    }
}

/// Wakes the thread that has waited longest for the key.
pub fn unpark_one(key: usize, callback: impl FnOnce(UnparkResult) -> UnparkToken) -> UnparkResult {
    let mut first = true;
    let filter = |_| if std::mem::take(&mut first) { FilterOp::Unpark } else { FilterOp::Stop };
    unpark_filter(key, filter, callback)
}

/// Wakes all threads that wait for the key; returns their number.
pub fn unpark_all(key: usize, token: UnparkToken) -> usize {
    unpark_filter(key, |_| FilterOp::Unpark, |_| token).unparked_threads
}

/// Wakes the threads waiting for the key that `filter` chooses.
pub fn unpark_filter(
    key: usize,
    mut filter: impl FnMut(ParkToken) -> FilterOp,
    callback: impl FnOnce(UnparkResult) -> UnparkToken,
) -> UnparkResult {
    let mut result = UnparkResult::default();
    if !inside() {
        callback(result);
        return result;
    }
    let mut waiting = queue();
    let mut chosen = Vec::new();
    let mut index = 0;
    while index < waiting.len() {
        if waiting[index].key == key {
            match filter(waiting[index].token) {
                FilterOp::Unpark => {
                    chosen.push(waiting.remove(index));
                    continue;
                }
                FilterOp::Skip => result.have_more_threads = true,
                FilterOp::Stop => {
                    result.have_more_threads = true;
                    break;
                }
            }
        }
        index += 1;
    }
    result.unparked_threads = chosen.len();
    let token = callback(result);
    chosen.iter().for_each(|waiter| waiter.place.wake(token));
    result
}

/// Wakes a thread that waits for the key, or moves some to another key, as `validate` decides.
pub fn unpark_requeue(
    from: usize,
    to: usize,
    validate: impl FnOnce() -> RequeueOp,
    callback: impl FnOnce(RequeueOp, UnparkResult) -> UnparkToken,
) -> UnparkResult {
    let mut result = UnparkResult::default();
    let mut waiting = if inside() { Some(queue()) } else { None };
    let operation = validate();
    if operation == RequeueOp::Abort {
        return result;
    }
    let mut chosen = None;
    if let Some(waiting) = &mut waiting {
        let (mut matching, others): (Queue, Queue) =
            std::mem::take(&mut **waiting).into_iter().partition(|waiter| waiter.key == from);
        let wakes = matches!(operation, RequeueOp::UnparkOne | RequeueOp::UnparkOneRequeueRest);
        if wakes && !matching.is_empty() {
            chosen = Some(matching.remove(0));
            result.unparked_threads = 1;
        }
        let moved = match operation {
            RequeueOp::Abort | RequeueOp::UnparkOne => 0,
            RequeueOp::RequeueOne => matching.len().min(1),
            RequeueOp::RequeueAll | RequeueOp::UnparkOneRequeueRest => matching.len(),
        };
        result.requeued_threads = moved;
        result.have_more_threads = moved < matching.len();
        // The order among different keys does not matter: keys are independent of each other.
        let rest = matching.split_off(moved);
        **waiting = others;
        waiting.extend(rest);
        waiting.extend(matching.into_iter().map(|waiter| Waiter { key: to, ..waiter }));
    }
    let token = callback(operation, result);
    if let Some(waiter) = chosen {
        waiter.place.wake(token);
    }
    result
}
