//! The pairs of a global and a local state that can occur together, with the steps between them.
//!
//! An over-approximation: if a process in one local state can make a step, every other local state
//! of the global state may stand beside it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Unsuitable;
use super::system::{GlobalId, LocalId, Mistake, Step, System};
use crate::certificate::Budget;

/// A step: the process, in this local state unless it is watched, changes the global state and
/// has the next local state unless it is watched then.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Transition {
    pub from: GlobalId,
    pub uses: Option<LocalId>,
    pub to: GlobalId,
    pub gives: Option<LocalId>,
}

/// Pairs that can occur together, closed under steps.
#[derive(Debug)]
pub struct Pairs {
    beside: FxHashSet<(GlobalId, LocalId)>,
    transitions: Vec<Transition>,
    /// Global and local states with a step that is an error.
    mistakes: Vec<(GlobalId, Option<LocalId>, Mistake)>,
}

/// Bytes per pair and step, roughly.
const BYTES: usize = 200;

impl Pairs {
    /// Closes the initial pair under steps.
    ///
    /// # Errors
    /// If the object is faulty, or the budget runs out.
    pub fn new(system: &mut System<'_>, budget: &mut Budget<'_>) -> Result<Self, Unsuitable> {
        let mut pairs =
            Self { beside: FxHashSet::default(), transitions: Vec::new(), mistakes: Vec::new() };
        let (global, local) = system.initial();
        let mut locals: FxHashMap<GlobalId, Vec<LocalId>> = FxHashMap::default();
        // In the order of discovery: the numbers of states do not depend on a hash.
        let mut successors: FxHashMap<GlobalId, Vec<GlobalId>> = FxHashMap::default();
        let mut watched: FxHashSet<GlobalId> = FxHashSet::default();
        let mut work = vec![(global, local)];
        pairs.beside.insert((global, local));
        while let Some((from, local)) = work.pop() {
            let size = pairs.beside.len() + pairs.transitions.len();
            budget.spend(size * BYTES)?;
            locals.entry(from).or_default().push(local);
            let mut made = vec![(Some(local), system.steps(from, local)?)];
            if watched.insert(from) {
                made.push((None, system.watched_steps(from)?));
            }
            let mut add = |pair| {
                if pairs.beside.insert(pair) {
                    work.push(pair);
                }
            };
            for to in successors.entry(from).or_default().iter() {
                add((*to, local));
            }
            for (uses, steps) in made {
                for step in steps {
                    match step {
                        Step::Wrong(mistake) => pairs.mistakes.push((from, uses, mistake)),
                        Step::To(to, gives) => {
                            pairs.transitions.push(Transition { from, uses, to, gives });
                            gives.into_iter().for_each(|local| add((to, local)));
                            let known = successors.entry(from).or_default();
                            if !known.contains(&to) {
                                known.push(to);
                                for local in &locals[&from] {
                                    add((to, *local));
                                }
                            }
                        }
                    }
                }
            }
        }
        Ok(pairs)
    }

    pub(super) fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Returns the errors: each with the global state, and the local state of the process that makes
    /// it, unless it is watched.
    pub fn mistakes(&self) -> &[(GlobalId, Option<LocalId>, Mistake)] {
        &self.mistakes
    }

    /// Returns true if processes in these local states may be beside each other in a global state.
    pub(super) fn may_be(&self, global: GlobalId, locals: &[LocalId]) -> bool {
        locals.iter().all(|local| self.beside.contains(&(global, *local)))
    }
}
