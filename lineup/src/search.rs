//! Enumeration of executions: all serial ones, or all with few preemptions.
//!
//! Depth-first, without memory of earlier states: the choices of the last execution are kept, and
//! the last one that has an alternative is changed (stateless model checking; Musuvathi and Qadeer,
//! "Iterative Context Bounding for Systematic Testing of Multithreaded Programs", PLDI 2007). The
//! running thread is chosen first; a switch away from a thread that can run, inside an operation, is a
//! *preemption*. Between two operations of a thread a switch is free.

use snapshot_core::observation::Thread;

use crate::control::{Choice, Situation};
use crate::fairness::Fairness;
use crate::spin::Spin;

/// Steps that a thread makes in a row in one operation before it counts as yielding: real code also
/// spins without a hint.
const PATIENCE: u32 = 60;

/// A choice with alternatives.
#[derive(Clone, Debug)]
struct Node {
    enabled: u16,
    /// Threads to choose from, each with true if it is a preemption.
    options: Vec<(Thread, bool)>,
    taken: usize,
}

/// Executions to enumerate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// No thread is switched away from inside an operation.
    Serial,
    /// All with at most this many preemptions.
    Concurrent {
        /// Maximum number of preemptions.
        preemptions: u32,
    },
}

/// A depth-first search.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    kind: Kind,
    path: Vec<Node>,
    started: bool,
    /// True if an alternative was left out for its preemptions.
    pub(crate) cut: bool,
    // State of the present execution.
    depth: usize,
    preemptions: u32,
    fairness: Fairness,
    /// Situation of the last choice: the threads that could run, and the chosen one.
    last: Option<(u16, usize)>,
    row: u32,
    spin: Spin,
}

impl Search {
    pub(crate) const fn new(kind: Kind, spin: Spin) -> Self {
        Self {
            kind,
            spin,
            path: Vec::new(),
            started: false,
            cut: false,
            depth: 0,
            preemptions: 0,
            fairness: Fairness::new(),
            last: None,
            row: 0,
        }
    }

    /// Returns the preemptions of the present, or the last, execution.
    pub(crate) const fn preemptions(&self) -> u32 {
        self.preemptions
    }

    /// Returns true if the finished execution reached all choices that it had to repeat. If not,
    /// the same choices led to another situation than before.
    pub(crate) const fn is_repeated(&self) -> bool {
        self.depth == self.path.len()
    }

    /// Advances to the next execution, if there is one.
    pub(crate) fn next(&mut self) -> bool {
        if self.started {
            while self.path.last().is_some_and(|node| node.taken + 1 == node.options.len()) {
                self.path.pop();
            }
            let Some(node) = self.path.last_mut() else { return false };
            node.taken += 1;
        }
        self.again();
        true
    }

    /// Starts the same execution again, or the first one.
    pub(crate) const fn again(&mut self) {
        self.started = true;
        self.depth = 0;
        self.preemptions = 0;
        self.fairness = Fairness::new();
        self.last = None;
        self.row = 0;
        self.spin.begin();
    }

    /// Returns the thread that runs next.
    pub(crate) fn choose(&mut self, situation: &Situation) -> Choice {
        let current = situation.current;
        let can = |thread: Thread| situation.enabled >> thread.index() & 1 == 1;
        if situation.unwinding
            && let Some(thread) = current.filter(|thread| can(*thread))
        {
            return Choice::Run(thread);
        }
        self.row = if situation.inside { self.row + 1 } else { 0 };
        let yielding = situation.yielding || self.row >= PATIENCE;
        if yielding {
            self.row = 0;
        }
        self.spin.step(situation, yielding);
        match self.kind {
            Kind::Serial => {
                if let Some(thread) = current.filter(|_| situation.inside) {
                    return match can(thread) {
                        true if self.spin.is_stuck(1 << thread.index()) => Choice::Spinning,
                        true => Choice::Run(thread),
                        false => Choice::Stuck,
                    };
                }
                self.branch(situation.enabled, |_| {
                    let all = (0..=Thread::LIMIT).filter(|t| situation.enabled >> t & 1 == 1);
                    (all.map(|t| (Thread::from_index(t), false)).collect(), false)
                })
            }
            Kind::Concurrent { preemptions } => {
                if let Some((earlier, t)) = self.last {
                    self.fairness.step(t, earlier, situation.enabled, yielding);
                }
                if self.spin.is_stuck(situation.enabled) {
                    return Choice::Spinning;
                }
                // If all threads spin, the fair choice is as good as any.
                let resting = self.spin.resting(situation.enabled);
                let still = resting == situation.enabled;
                let allowed = match situation.enabled & !resting {
                    0 => self.fairness.allowed(situation.enabled),
                    working => self.fairness.allowed(working),
                };
                let choice = self.branch(situation.enabled, |used| {
                    let free = yielding || !situation.inside;
                    let goes_on = current.filter(|t| allowed >> t.index() & 1 == 1);
                    let costs = goes_on.is_some() && !free;
                    let others = (0..=Thread::LIMIT).map(Thread::from_index);
                    let others =
                        others.filter(|t| allowed >> t.index() & 1 == 1 && Some(*t) != current);
                    let cut =
                        costs && !still && used >= preemptions && others.clone().next().is_some();
                    let mut options: Vec<(Thread, bool)> =
                        goes_on.map(|thread| (thread, false)).into_iter().collect();
                    if !cut {
                        options.extend(others.map(|thread| (thread, costs)));
                    }
                    if still {
                        options.truncate(1);
                    }
                    (options, cut)
                });
                if let Choice::Run(thread) = choice {
                    if current != Some(thread) {
                        self.row = 0;
                    }
                    self.last = Some((situation.enabled, thread.index()));
                }
                choice
            }
        }
    }

    /// Takes the present alternative of this choice; for a new one, `options` returns the
    /// alternatives, given the preemptions so far, and whether some were left out.
    fn branch(
        &mut self,
        enabled: u16,
        options: impl FnOnce(u32) -> (Vec<(Thread, bool)>, bool),
    ) -> Choice {
        if self.depth == self.path.len() {
            let (options, cut) = options(self.preemptions);
            self.cut |= cut;
            self.path.push(Node { enabled, options, taken: 0 });
        }
        let node = &self.path[self.depth];
        self.depth += 1;
        let chosen = node.options.get(node.taken).filter(|_| node.enabled == enabled);
        let Some((thread, preempts)) = chosen else {
            self.path.truncate(self.depth);
            return Choice::Diverged;
        };
        self.preemptions += u32::from(*preempts);
        Choice::Run(*thread)
    }
}
