//! Waiting for a future, within an execution or outside.

use real::future::Future;
use real::pin::pin;
use real::sync::{Arc, PoisonError};
use real::task::{Context, Poll, Wake, Waker};

use crate::controlled::{Condvar, Mutex};

/// Waits for a waker.
#[derive(Default)]
struct Bell {
    rang: Mutex<bool>,
    ringing: Condvar,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.rang.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.ringing.notify_one();
    }
}

/// Polls a future until it is ready, and waits for its waker between two polls. Where waits
/// of condition variables wake up spuriously, this is a spurious poll.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        let mut rang = bell.rang.lock().unwrap_or_else(PoisonError::into_inner);
        if !*rang {
            rang = bell.ringing.wait(rang).unwrap_or_else(PoisonError::into_inner);
        }
        *rang = false;
    }
}
