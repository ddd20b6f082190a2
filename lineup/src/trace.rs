//! The steps of an execution, up to the order of neighbouring steps that do not depend on each other
//! (Mazurkiewicz, "Trace Theory", 1987).
//!
//! Two executions with equal traces lead to equal states, so one of them suffices. Steps of
//! different threads depend on each other if
//!
//! * both access an object, and one of them may change it;
//! * one returns from an operation and the other one calls one: the order of returns before calls is
//!   what a witness must keep, while two calls, or two returns, may be exchanged;
//! * one of them is not a step of the stand-in for `std`, whose accesses are unknown, or it draws
//!   random numbers.
//!
//! Each step has a digest of its outcome, of its thread's earlier steps, and of steps of others before
//! it: of two steps that depend on each other, one has the other one in its digest if and only if it
//! came later. A trace has the last digest of each thread. So equal digests are equal happens-before
//! graphs (Musuvathi and Qadeer, "Partial-Order Reduction for Context-Bounded State Exploration",
//! MSR-TR-2007-12).

use lineup_std::control::{Access, Object};
use rustc_hash::FxHashMap;
use snapshot_core::observation::Thread;

const THREADS: usize = Thread::LIMIT + 1;

/// A digest of 128 bits. Different contents have equal ones with negligible probability.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Digest(u128);

impl Digest {
    /// Returns the digest of a value after these ones.
    pub(crate) const fn with(self, value: u128) -> Self {
        const FACTOR: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        // Multiplied first: a digest after itself must not cancel out.
        let mixed = (self.0.wrapping_mul(FACTOR) ^ value).wrapping_mul(FACTOR);
        let mixed = (mixed ^ (mixed >> 61)).wrapping_mul(FACTOR);
        Self((mixed ^ (mixed >> 67)).wrapping_add(FACTOR))
    }

    const fn after(self, other: Self) -> Self {
        self.with(other.0)
    }

    /// Returns the digest of a set with one element more.
    const fn and(self, element: Self) -> Self {
        Self(self.0.wrapping_add(element.with(0).0))
    }
}

/// A finished step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) thread: Thread,
    /// True if it accessed no more than the recorded objects.
    pub(crate) known: bool,
    pub(crate) called: bool,
    /// Digest of the answer, if it returned from an operation.
    pub(crate) answer: Option<u64>,
    /// Address of the line of the thread's next step, or 0.
    pub(crate) next: usize,
}

/// The trace of an execution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    last: [Digest; THREADS],
    /// The last step that changed each object.
    changes: FxHashMap<Object, Digest>,
    /// The steps that called an operation, in any order.
    calls: Digest,
    /// The last step with unknown accesses.
    unknown: Digest,
    /// Accesses of the running step.
    running: Vec<Access>,
}

impl Trace {
    /// Forgets all steps.
    pub(crate) fn clear(&mut self) {
        self.changes.clear();
        self.running.clear();
        self.last = [Digest::default(); THREADS];
        (self.calls, self.unknown) = Default::default();
    }

    /// Records an access of the running step.
    pub(crate) fn access(&mut self, access: Access) {
        self.running.push(access);
    }

    /// Forgets the accesses of a step that belongs to no thread of the test.
    pub(crate) fn skip(&mut self) {
        self.running.clear();
    }

    /// Ends the running step.
    pub(crate) fn step(&mut self, step: &Step) {
        let thread = step.thread.index();
        let outcome = [
            thread as u128,
            u128::from(step.known),
            u128::from(step.called),
            step.answer.map_or(0, |answer| 1 + u128::from(answer)),
            step.next as u128,
        ];
        let mut digest = self.last[thread].after(self.unknown);
        digest = outcome.into_iter().fold(digest, Digest::with);
        if step.answer.is_some() {
            digest = digest.after(self.calls);
        }
        for access in &self.running {
            let change = self.changes.get(&access.object).copied().unwrap_or_default();
            digest = digest.with(u128::from(access.changes)).after(change);
        }
        for access in self.running.drain(..).filter(|access| access.changes) {
            self.changes.insert(access.object, digest);
        }
        if step.called {
            self.calls = self.calls.and(digest);
        }
        if !step.known {
            self.unknown = digest;
        }
        self.last[thread] = digest;
    }

    /// Returns the digest of the trace.
    pub(crate) fn digest(&self) -> Digest {
        self.last.into_iter().fold(Digest::default(), Digest::after)
    }
}
