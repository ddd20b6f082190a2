//! The scheduler given to shuttle.
//!
//! By default, the running thread continues until it waits, ends, or yields. The next one is the
//! next runnable thread by number, from the first one again after the last. A switch is an
//! exception: this thread at this step. So a few numbers describe an execution, and omitting one of
//! them gives another execution.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

use super::trial::{Switch, Trial};

/// In a random schedule, one step in this many is a switch; drawn for each schedule.
const RARITIES: [u32; 4] = [2, 4, 8, 16];

/// One execution, and the choices in it. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Directed(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    choice: Choice,
    /// Steps so far.
    step: usize,
    most: usize,
    has_begun: bool,
    /// The last chosen task.
    current: usize,
    /// Switches so far.
    switches: Vec<Switch>,
}

#[derive(Debug)]
enum Choice {
    Random {
        random: Box<ChaCha8Rng>,
        rarity: u32,
    },
    /// Ascending by step.
    Along(Vec<Switch>),
}

impl Directed {
    /// A random schedule of at most this many steps.
    pub(super) fn random(random: &mut ChaCha8Rng, steps: usize) -> Self {
        let rarity = RARITIES[random.random_range(0..RARITIES.len())];
        let random = Box::new(ChaCha8Rng::seed_from_u64(random.random()));
        Self::new(Choice::Random { random, rarity }, steps)
    }

    /// The schedule of a trial.
    pub(super) fn along(trial: &Trial, steps: usize) -> Self {
        Self::new(Choice::Along(trial.switches.clone()), steps)
    }

    fn new(choice: Choice, most: usize) -> Self {
        let (step, current, switches) = (0, 0, Vec::new());
        let state = State { choice, step, most, has_begun: false, current, switches };
        Self(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn steps(&self) -> usize {
        self.state().step
    }

    /// Returns the last chosen task.
    pub(super) fn current(&self) -> usize {
        self.state().current
    }

    pub(super) fn switches(&self) -> Vec<Switch> {
        self.state().switches.clone()
    }
}

impl Scheduler for Directed {
    fn new_execution(&mut self) -> Option<Schedule> {
        let mut state = self.state();
        (!std::mem::replace(&mut state.has_begun, true)).then(|| Schedule::new(0))
    }

    fn next_task(
        &mut self,
        tasks: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let mut state = self.state();
        let runnable: Vec<usize> =
            tasks.iter().filter(|task| task.runnable()).map(|task| task.id().into()).collect();
        let step = state.step;
        state.step += 1;
        if step >= state.most {
            return None;
        }
        let current: Option<usize> = current.map(Into::into);
        let usual = usual(&runnable, current, is_yielding)?;
        let chosen = state.choice.at(step, &runnable, usual);
        state.current = chosen;
        if chosen != usual {
            state.switches.push(Switch { step, task: chosen });
        }
        Some(TaskId::from(chosen))
    }

    /// Random numbers for the object; the same in every execution (SplitMix64).
    fn next_u64(&mut self) -> u64 {
        let mut state = self.state();
        state.step += 1;
        let number = (state.step as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ (mixed >> 27)
    }
}

/// Returns the task that runs unless there is a switch.
fn usual(runnable: &[usize], current: Option<usize>, is_yielding: bool) -> Option<usize> {
    let current = match current {
        Some(current) if !is_yielding && runnable.contains(&current) => return Some(current),
        current => current.unwrap_or(0),
    };
    let after = runnable.iter().copied().filter(|task| *task > current).min();
    after.or_else(|| runnable.iter().copied().min())
}

impl Choice {
    fn at(&mut self, step: usize, runnable: &[usize], usual: usize) -> usize {
        match self {
            Self::Random { random, rarity } => {
                if random.random_ratio(1, *rarity) {
                    runnable[random.random_range(0..runnable.len())]
                } else {
                    usual
                }
            }
            Self::Along(switches) => {
                let at = switches.binary_search_by_key(&step, |switch| switch.step);
                let task = at.ok().map(|at| switches[at].task);
                task.filter(|task| runnable.contains(task)).unwrap_or(usual)
            }
        }
    }
}
