//! Fair scheduling: a thread that yields lets the others go first.
//!
//! Musuvathi and Qadeer, "Fair Stateless Model Checking", PLDI 2008, Algorithm 1. A thread
//! that yields twice gives way to every thread that, between the two, could always run or
//! was kept from running by it, and did not run. It may run again when these ran or are
//! blocked. So programs that spin until another thread does something end, and no
//! behaviour of a program without yields is lost.

use snapshot_core::observation::Thread;

const THREADS: usize = Thread::LIMIT + 1;

/// Priorities of threads, after the steps so far. Sets of threads are words of bits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Fairness {
    /// `before[t]`: the threads that t gives way to. (The relation P.)
    before: [u16; THREADS],
    /// The threads that could run all the time since t's last yield. (E)
    enabled: [u16; THREADS],
    /// The threads that a step of t kept from running since its last yield. (D)
    disabled: [u16; THREADS],
    /// The threads that ran since t's last yield. (S)
    ran: [u16; THREADS],
}

impl Fairness {
    pub(crate) const fn new() -> Self {
        // Before its first yield a thread has no window: all count as having run.
        Self {
            before: [0; THREADS],
            enabled: [0; THREADS],
            disabled: [u16::MAX; THREADS],
            ran: [u16::MAX; THREADS],
        }
    }

    /// Returns the state as numbers: none if no thread yielded.
    pub(crate) fn words(&self) -> impl Iterator<Item = u16> {
        let all = [&self.before, &self.enabled, &self.disabled, &self.ran];
        let used = *self != Self::new();
        all.into_iter().filter(move |_| used).flatten().copied()
    }

    /// Returns the threads of `enabled` that need not give way. Never empty if `enabled` is not:
    /// giving way has no cycles, since a thread that is given way to has not yielded since.
    pub(crate) fn allowed(&self, enabled: u16) -> u16 {
        let free = |t: &usize| enabled >> t & 1 == 1 && self.before[*t] & enabled == 0;
        (0..THREADS).filter(free).fold(0, |set, t| set | 1 << t)
    }

    /// Records a step of thread `t` from a state where `earlier` could run to one where `now` can;
    /// `yielded`: the step ended in a yield.
    pub(crate) fn step(&mut self, t: usize, earlier: u16, now: u16, yielded: bool) {
        for u in 0..THREADS {
            self.before[u] &= !(1 << t);
            self.enabled[u] &= now;
            self.ran[u] |= 1 << t;
        }
        self.disabled[t] |= earlier & !now;
        if yielded {
            self.before[t] |= (self.enabled[t] | self.disabled[t]) & !self.ran[t];
            self.enabled[t] = now;
            self.disabled[t] = 0;
            self.ran[t] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fairness;

    /// Two threads; 0 spins with yields.
    #[test]
    fn second_yield_gives_way_until_the_other_thread_ran() {
        let mut fairness = Fairness::new();
        fairness.step(0, 0b11, 0b11, true);
        assert_eq!(fairness.allowed(0b11), 0b11, "the first yield opens the window");
        fairness.step(0, 0b11, 0b11, true);
        assert_eq!(fairness.allowed(0b11), 0b10);
        assert_eq!(fairness.allowed(0b01), 0b01, "no other thread can run");
        fairness.step(1, 0b11, 0b11, false);
        assert_eq!(fairness.allowed(0b11), 0b11);
    }

    /// At any time some thread that can run is allowed to; and a thread that always can, while
    /// others yield all the time, runs.
    #[test]
    fn some_thread_may_run_and_none_starves() {
        let mut seed = 7_u32;
        let mut random = move |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % n
        };
        for _ in 0..2_000 {
            let mut fairness = Fairness::new();
            let mut enabled = 0b1111_u16;
            let mut waits = 0;
            for _ in 0..200 {
                let allowed = fairness.allowed(enabled);
                assert!(allowed != 0 && allowed & !enabled == 0);
                // The thread with the smallest number wherever it may: the worst for 3.
                let t = allowed.trailing_zeros() as usize;
                waits = if t == 3 { 0 } else { waits + 1 };
                assert!(waits <= 40, "thread 3 starves");
                let now = 0b1000 | random(8) as u16;
                fairness.step(t, enabled, now, true);
                enabled = now;
            }
        }
    }
}
