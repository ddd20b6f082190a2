//! The crate `lincheck` on the planted bugs: the objects with the locks and atomics of loom; its
//! sequential specification is the same objects with `std`'s, used by one thread.
//! `cargo run --release --bin with-lincheck [BUG]..`; `LOOM_MAX_PREEMPTIONS=2` bounds it.
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

pub(crate) use beside::subject;
use beside::{Bug, Object, Said, Test, each_bug, line};
use lincheck::scenario::{Scenario, check_scenario_with_loom};
use lincheck::{ConcurrentSpec, SequentialSpec};

/// The objects' `crate::sync`.
pub mod sync {
    pub use loom::sync::*;
    pub use std::sync::{PoisonError, TryLockError};
}

#[path = "../../../../src/subjects/bags.rs"]
mod bags;
#[path = "../../../../src/subjects/collections.rs"]
mod collections;
#[path = "../../../../src/subjects/counters.rs"]
mod counters;
#[path = "../../../../src/subjects/events.rs"]
mod events;
#[path = "../../../../src/subjects/lists.rs"]
mod lists;
#[path = "../../../../src/subjects/queues.rs"]
mod queues;
#[path = "../../../../src/subjects/tasks.rs"]
mod tasks;

static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

struct Sequential<O>(O);

impl<O: Object> Default for Sequential<O> {
    fn default() -> Self {
        Self(O::new())
    }
}

impl<O: Object> SequentialSpec for Sequential<O> {
    type Op = String;
    type Ret = String;

    fn exec(&mut self, operation: String) -> String {
        self.0.call(&operation)
    }
}

struct Concurrent<O, S>(O, std::marker::PhantomData<fn() -> S>);

impl<O: Object, S: Object> Default for Concurrent<O, S> {
    fn default() -> Self {
        EXECUTIONS.fetch_add(1, SeqCst);
        Self(O::new(), std::marker::PhantomData)
    }
}

impl<O: Object, S: Object> ConcurrentSpec for Concurrent<O, S> {
    type Seq = Sequential<S>;

    fn exec(&self, operation: String) -> String {
        self.0.call(&operation)
    }
}

fn said<O: Object, S: Object>(bug: Bug) -> Said {
    let Test { initial, columns } = Test::parse(bug.test);
    let scenario = Scenario { init_part: initial, parallel_part: columns, post_part: Vec::new() };
    EXECUTIONS.store(0, SeqCst);
    let result = catch_unwind(AssertUnwindSafe(|| {
        check_scenario_with_loom::<Concurrent<O, S>>(scenario).is_ok()
    }));
    let word = match result {
        Ok(true) => "passes",
        Ok(false) => "not linearizable",
        // Loom reports a deadlock as a panic; the checker does not recognise it.
        Err(_) => "panics",
    };
    Said { word, executions: EXECUTIONS.load(SeqCst) }
}

macro_rules! ask {
    ($name:literal, $wrong:ident :: $w:ident, $right:ident :: $r:ident, $test:literal, $waits:literal) => {
        line("lincheck", Bug { name: $name, test: $test, waits: $waits }, |bug, right| {
            if right {
                said::<$right::$r, beside::$right::$r>(bug)
            } else {
                said::<$wrong::$w, beside::$wrong::$w>(bug)
            }
        })
    };
}

fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    each_bug!(ask);
}
