//! Which executions there are: all serial ones, or all with few preemptions.
//!
//! Depth-first, without memory of what was seen: the choices of the last execution are
//! kept, and the last one that has an alternative is changed (stateless model checking;
//! Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of
//! Multithreaded Programs", PLDI 2007). The thread that runs goes on first; to switch away
//! from a thread that could go on is a *preemption*.

use snapshot_core::observation::Thread;

use crate::control::{Choice, Situation};
use crate::fairness::Fairness;
use crate::spin::Spin;

/// Steps that a thread makes in a row in one operation before it counts as yielding: real
/// code also spins without telling.
const PATIENCE: u32 = 60;

/// A place with alternatives.
#[derive(Clone, Debug)]
struct Node {
    enabled: u16,
    /// The threads to choose, each with whether that is a preemption.
    options: Vec<(Thread, bool)>,
    taken: usize,
}

/// Which executions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// No thread is switched away from inside an operation.
    Serial,
    /// All with at most this many preemptions.
    Concurrent {
        /// The largest number.
        preemptions: u32,
        /// To switch where the running thread is between two operations is no preemption.
        free_boundaries: bool,
    },
}

/// A depth-first search.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    kind: Kind,
    path: Vec<Node>,
    started: bool,
    /// Whether an alternative was left out for its preemptions.
    pub(crate) cut: bool,
    // The execution that goes on.
    depth: usize,
    preemptions: u32,
    fairness: Fairness,
    /// Where the last choice was made: what could run, and which was chosen.
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

    /// Preemptions of the execution that goes on, or of the last one.
    pub(crate) const fn preemptions(&self) -> u32 {
        self.preemptions
    }

    /// Whether the execution that is over came to all choices that it was to repeat. If not,
    /// the same choices led elsewhere than before.
    pub(crate) const fn is_repeated(&self) -> bool {
        self.depth == self.path.len()
    }

    /// Goes to the next execution, if there is one.
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

    /// The thread that runs next.
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
            Kind::Concurrent { preemptions, free_boundaries } => {
                if let Some((earlier, t)) = self.last {
                    self.fairness.step(t, earlier, situation.enabled, yielding);
                }
                if self.spin.is_stuck(situation.enabled) {
                    return Choice::Spinning;
                }
                // Of the threads that spin the fair one is as good as any.
                let resting = self.spin.resting(situation.enabled);
                let still = resting == situation.enabled;
                let allowed = match situation.enabled & !resting {
                    0 => self.fairness.allowed(situation.enabled),
                    working => self.fairness.allowed(working),
                };
                let choice = self.branch(situation.enabled, |used| {
                    let free = yielding || free_boundaries && !situation.inside;
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

    /// Takes the alternative of this place; if it is a new one, `options` has the
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
