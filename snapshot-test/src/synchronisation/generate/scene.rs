//! Planted violations.
//!
//! A scene is a few operations that an object allows from its initial state, one after the other.
//! It is recorded in another order, which the object does not allow. A specification is
//! deterministic, so these operations alone have no linearization.
//!
//! That is a violation of the whole execution in two cases.
//! * The operations of the object, but for queries, concern one value each, no value is given
//!   twice: of a linearization of the whole, the operations on the values of the scene would be a
//!   linearization of their own (`ByValues`). All others on these values begin behind the scene,
//!   since operations that overlap it have taken effect before; and so do those whose outcome is
//!   unknown.
//! * The scene is the beginning of the execution, and nothing overlaps it.
//!
//! The honest twin is the same execution with the operations of the scene in the right order.

use corpus::generate::Draw;
use snapshot_core::generic::History;
use snapshot_core::object::Answer;
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::Synchronisation;

use super::player::{Call, Stage, StateOf};
use super::pool::Pool;
use super::{ANY, ObjectRecipe, ObjectRecipeError};
use crate::synchronisation::interface::Interface;
use crate::synchronisation::reader::Deed;
use crate::synchronisation::record::rule;
use crate::synchronisation::token::Token;

/// Keys of the scene.
const KEYS: [&str; 2] = ["y0", "y1"];

/// Scenes that are tried.
const TRIES: usize = 1 << 14;

/// The most operations of a scene, and those by which it is found out whether operations concern
/// one value each.
const LONGEST: usize = 7;
const PROBE: usize = 64;

/// States of which one has to allow a scene that does not begin the execution.
const PROBES: usize = 16;

/// Bytes with which a scene is judged.
const MEMORY: usize = 1 << 24;

/// An operation with its result.
type Act<K> = (Call<K>, Vec<Token>);

/// A planted violation.
pub(super) struct Scene<K: Interface> {
    /// The operations in the order in which the object allows them.
    pub acts: Vec<Act<K>>,
    /// Their recorded order.
    told: Vec<usize>,
    /// The processes.
    pub cast: Vec<usize>,
    /// True if it is the beginning of the execution.
    pub is_first: bool,
}

impl<K: Interface> Scene<K> {
    /// Looks for the violation of a recipe. Returns it with the least value that is left.
    pub fn of(
        stage: &Stage<'_, K>,
        recipe: &ObjectRecipe,
        draw: &mut Draw,
    ) -> Result<Option<(Self, i64)>, ObjectRecipeError> {
        let Some(wanted) = &recipe.violation else { return Ok(None) };
        let is_first = recipe.values.is_some() || !has_parts(stage, recipe, draw)?;
        // Values outside of those of the other operations.
        let first = recipe.values.map_or(1, i64::from);
        let mut states = Vec::new();
        for length in (1..=PROBES).filter(|_| !is_first) {
            let pool = Pool::new(1, None, &KEYS);
            states.push(perform(stage, recipe.processes, PROBES + length, pool, draw)?.state);
        }
        let (mut found, mut early) = (Vec::new(), None);
        for attempt in 0..TRIES {
            let length = 2 + attempt % (LONGEST - 1);
            let pool = Pool::new(first, None, &KEYS);
            let Performed { acts, next, .. } =
                perform(stage, recipe.processes, length, pool, draw)?;
            if acts.len() < 2 {
                continue;
            }
            let mut told: Vec<usize> = (0..acts.len()).collect();
            let moved = told.remove(draw.below(acts.len()));
            told.insert(draw.below(acts.len()), moved);
            let Some(broken) = broken(stage, &acts, &told) else { continue };
            if wanted != ANY && wanted != broken {
                if !found.contains(&broken) {
                    found.push(broken);
                }
                continue;
            }
            if recipe.honest {
                told.sort_unstable();
            }
            let mut cast: Vec<usize> = acts.iter().map(|(call, _)| call.process).collect();
            cast.sort_unstable();
            cast.dedup();
            let scene = Self { acts, told, cast, is_first };
            if is_first || states.iter().any(|state| scene.performed(stage, state).is_some()) {
                return Ok(Some((scene, next)));
            }
            early.get_or_insert((Self { is_first: true, ..scene }, next));
        }
        if early.is_some() {
            return Ok(early);
        }
        let (object, wanted) = (recipe.object.to_string(), wanted.clone());
        Err(ObjectRecipeError::NoViolation { object, wanted, found })
    }

    /// Returns the state after the scene, if the object allows it in this state.
    pub fn performed(&self, stage: &Stage<'_, K>, state: &StateOf<K>) -> Option<StateOf<K>> {
        let mut acts = self.acts.iter();
        acts.try_fold(state.clone(), |state, (call, results)| stage.after(&state, call, results))
    }

    /// Returns an event of the scene by number; operations follow each other.
    pub fn event(&self, number: usize) -> Option<(usize, Deed)> {
        let (call, results) = &self.acts[*self.told.get(number / 2)?];
        let is_invocation = number.is_multiple_of(2);
        let deed = if is_invocation { call.invocation() } else { Deed::Ok(results.clone()) };
        Some((call.process, deed))
    }
}

/// Returns true if the operations of an object, but for queries, concern one value each.
fn has_parts<K: Interface>(
    stage: &Stage<'_, K>,
    recipe: &ObjectRecipe,
    draw: &mut Draw,
) -> Result<bool, ObjectRecipeError> {
    let acts = perform(stage, recipe.processes, PROBE, Pool::new(1, None, &KEYS), draw)?.acts;
    let order: Vec<usize> = (0..acts.len()).collect();
    let shared = history(stage, &acts, &order).and_then(|history| stage.kind.shared(&history));
    Ok(shared.is_some_and(|shared| shared.is_empty()))
}

/// Operations that were performed one after the other.
struct Performed<K: Interface> {
    acts: Vec<Act<K>>,
    state: StateOf<K>,
    /// The least value that is left.
    next: i64,
}

/// Performs random operations one after the other.
fn perform<K: Interface>(
    stage: &Stage<'_, K>,
    processes: usize,
    length: usize,
    mut pool: Pool,
    draw: &mut Draw,
) -> Result<Performed<K>, ObjectRecipeError> {
    const MOST_CAST: usize = 3;
    let mut cast: Vec<usize> = Vec::new();
    for _ in 0..MOST_CAST {
        cast.push(draw.below(processes));
    }
    let mut state = stage.kind.specification().initial();
    let mut acts = Vec::new();
    for _ in 0..2 * length {
        let process = cast[draw.below(MOST_CAST)];
        let Some(call) = stage.choose(&state, process, &mut pool, draw) else { continue };
        if let Some(results) = stage.perform(&mut state, &call, &mut pool, draw)? {
            pool.remember(&call.arguments, &call.roles);
            acts.push((call, results));
        }
        if acts.len() == length {
            break;
        }
    }
    Ok(Performed { acts, state, next: pool.next })
}

/// The history of operations that follow each other in an order.
fn history<K: Interface>(
    stage: &Stage<'_, K>,
    acts: &[Act<K>],
    order: &[usize],
) -> Option<History<K::Input, K::Output>> {
    let mut history = History::builder();
    for act in order {
        let (call, results) = &acts[*act];
        let output = stage.kind.output(&call.input, results)?;
        history.invoke(call.process, call.input.clone()).ok()?;
        history.respond(call.process, output).ok()?;
    }
    Some(history.finish())
}

/// Returns the rule that an order breaks, unless the object allows the order.
fn broken<K: Interface>(
    stage: &Stage<'_, K>,
    acts: &[Act<K>],
    order: &[usize],
) -> Option<&'static str> {
    let initial = stage.kind.specification().initial();
    let mut told = order.iter().map(|act| &acts[*act]);
    let last = told.try_fold(initial, |state, (call, results)| stage.after(&state, call, results));
    if last.is_some() {
        return None;
    }
    let history = history(stage, acts, order)?;
    let mut budget = Budget { memory: MEMORY, proceed: &mut || true };
    match stage.kind.judge(&history, &mut budget).answer {
        Answer::Violation(violation) => Some(rule(&violation)),
        _ => None,
    }
}
