//! The random scheduler.
//!
//! It picks a process at random and makes its next step: an invocation, the effect of its
//! operation in one instant, or a response. An operation begins only in a state that allows it, and
//! then waits until the state allows it again. So one of the operations that wait can always take
//! effect, or a process is idle: the one that began last is allowed as long as nothing takes effect.

use corpus::generate::{Draw, Fate};
use snapshot_core::synchronisation::{Bond, Synchronisation};

use super::pool::{Pool, Role};
use super::scene::Scene;
use super::{ObjectRecipe, ObjectRecipeError};
use crate::Value;
use crate::synchronisation::interface::{Interface, Signature};
use crate::synchronisation::reader::Deed;
use crate::synchronisation::token::Token;

/// The state of an object.
pub(super) type StateOf<K> =
    <<K as snapshot_core::object::Specified>::Specification as Synchronisation>::State;

/// An operation with its arguments.
pub(super) struct Call<K: Interface> {
    pub process: usize,
    pub signature: &'static Signature,
    pub arguments: Vec<Token>,
    pub input: K::Input,
    pub roles: Vec<Role>,
}

impl<K: Interface> Call<K> {
    pub fn invocation(&self) -> Deed {
        let (operation, arguments) = (self.signature.name.to_owned(), self.arguments.clone());
        Deed::Invoke { operation, arguments }
    }
}

/// The object with its operations.
pub(super) struct Stage<'k, K: Interface> {
    pub kind: &'k K,
    /// The operations that occur, with the roles of their arguments.
    signatures: Vec<(&'static Signature, Vec<Role>)>,
    initial: Value,
}

impl<'k, K: Interface> Stage<'k, K> {
    fn new(kind: &'k K, recipe: &ObjectRecipe) -> Result<Self, ObjectRecipeError> {
        let all = kind.signatures();
        let known = |name: &String| all.iter().any(|signature| signature.name == name);
        if let Some(name) = recipe.only.iter().find(|name| !known(name)) {
            let names: Vec<&str> = all.iter().map(|signature| signature.name).collect();
            return Err(ObjectRecipeError::NoOperation {
                object: recipe.object.to_string(),
                name: name.clone(),
                known: names.join(", "),
            });
        }
        let is_wanted =
            |name: &str| recipe.only.is_empty() || recipe.only.iter().any(|one| one == name);
        let wanted = all.iter().filter(|signature| is_wanted(signature.name));
        let signatures =
            wanted.map(|signature| (signature, kind.roles(signature, recipe.processes))).collect();
        Ok(Self { kind, signatures, initial: recipe.object.first() })
    }

    /// Chooses an operation of a process that the object allows in a state; `None` if there seems
    /// to be none. Operations that take something out are a little more frequent, so that it stays
    /// small.
    pub fn choose(
        &self,
        state: &StateOf<K>,
        process: usize,
        pool: &mut Pool,
        draw: &mut Draw,
    ) -> Option<Call<K>> {
        const TRIES: usize = 8;
        for _ in 0..TRIES {
            let (signature, roles) = &self.signatures[draw.below(self.signatures.len())];
            if !signature.results.starts_with("a value") && draw.chance(0.2) {
                continue;
            }
            let arguments: Vec<Token> =
                roles.iter().map(|role| pool.argument(*role, process, draw)).collect();
            let Some(input) = self.kind.input_of(process, signature.name, &arguments) else {
                continue;
            };
            let specification = self.kind.specification();
            let group = [(&input, None)];
            let is_allowed = self.kind.may_begin(state, &input)
                && specification.together(&mut state.clone(), &group) == Bond::Yes;
            if is_allowed {
                return Some(Call { process, signature, arguments, input, roles: roles.clone() });
            }
        }
        None
    }

    /// Returns the state after an operation with this result, if the object allows it.
    pub fn after(
        &self,
        state: &StateOf<K>,
        call: &Call<K>,
        results: &[Token],
    ) -> Option<StateOf<K>> {
        let output = self.kind.output(&call.input, results)?;
        let mut after = state.clone();
        let bond = self.kind.specification().together(&mut after, &[(&call.input, Some(&output))]);
        (bond == Bond::Yes).then_some(after)
    }

    /// Lets an operation take effect. Returns its result, `None` if it has to wait.
    pub fn perform(
        &self,
        state: &mut StateOf<K>,
        call: &Call<K>,
        pool: &mut Pool,
        draw: &mut Draw,
    ) -> Result<Option<Vec<Token>>, ObjectRecipeError> {
        let specification = self.kind.specification();
        if specification.together(&mut state.clone(), &[(&call.input, None)]) != Bond::Yes {
            return Ok(None);
        }
        let mut plain =
            vec![vec![], vec![Token::None], vec![Token::Truth(true)], vec![Token::Truth(false)]];
        plain.extend(self.kind.results(state, &call.input));
        if call.signature.results.starts_with("nothing or") && draw.coin() {
            plain.remove(0);
        }
        let tried = plain.into_iter().find_map(|results| {
            let after = self.after(state, call, &results)?;
            Some((results, after))
        });
        let (results, after) = match tried {
            Some(found) => found,
            None => {
                let result = |value: &Value| vec![Token::Value(value.clone())];
                let found = pool.find(&self.initial, |value| {
                    let results = result(value);
                    let after = self.after(state, call, &results)?;
                    Some((results, after))
                });
                let Some((at, (results, after))) = found else {
                    let operation = call.signature.name.to_owned();
                    return Err(ObjectRecipeError::NoResult { operation });
                };
                if self.after(&after, call, &results).is_none() {
                    pool.forget(at);
                }
                (results, after)
            }
        };
        *state = after;
        Ok(Some(results))
    }
}

struct Open<K: Interface> {
    call: Call<K>,
    /// Its result, once it has taken effect.
    results: Option<Vec<Token>>,
    fate: Fate,
}

enum Actor<K: Interface> {
    Idle,
    Busy(Box<Open<K>>),
    /// Its last operation stays open.
    Gone,
}

/// Progress of the scene.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Progress {
    /// It waits until this many operations have been invoked, for a state that allows it.
    From(usize),
    /// This event is next.
    Event(usize),
    Over,
}

/// Iterator over the events of a recipe. Memory does not grow with their number.
pub(in crate::synchronisation) struct Player<'k, K: Interface> {
    stage: Stage<'k, K>,
    draw: Draw,
    pool: Pool,
    state: StateOf<K>,
    actors: Vec<Actor<K>>,
    operations: usize,
    failures: f64,
    invoked: usize,
    to_lose: usize,
    /// Number of processes that are not gone.
    alive: usize,
    /// Number of open operations that will end.
    ending: usize,
    scene: Option<Scene<K>>,
    progress: Progress,
    steps: usize,
    /// Steps since something happened.
    quiet: usize,
    fault: Option<ObjectRecipeError>,
}

/// Keys of the operations outside of the scene.
const KEYS: [&str; 8] = ["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"];

/// Operations beyond the number wanted, for a state that allows the scene.
const MOST_EXTRA: usize = 1 << 16;

impl<'k, K: Interface> Player<'k, K> {
    /// Creates the iterator of a recipe.
    ///
    /// # Errors
    /// If no execution can follow the recipe.
    pub fn new(kind: &'k K, recipe: &ObjectRecipe) -> Result<Self, ObjectRecipeError> {
        recipe.check()?;
        if kind.specification().arities() != (1..=1) {
            let object = recipe.object.to_string();
            return Err(ObjectRecipeError::Together { object });
        }
        kind.expect_processes(recipe.processes);
        let stage = Stage::new(kind, recipe)?;
        let mut draw = Draw::new(recipe.seed, 1);
        let (scene, next) = Scene::of(&stage, recipe, &mut draw)?.unzip();
        let next = next.unwrap_or(1);
        let progress = match &scene {
            None => Progress::Over,
            Some(scene) if scene.is_first => Progress::From(0),
            Some(_) => Progress::From(draw.below(recipe.operations + 1)),
        };
        let state = kind.specification().initial();
        Ok(Self {
            stage,
            draw,
            pool: Pool::new(next, recipe.values, &KEYS),
            state,
            actors: (0..recipe.processes).map(|_| Actor::Idle).collect(),
            operations: recipe.operations,
            failures: recipe.failures,
            invoked: 0,
            to_lose: recipe.pending,
            alive: recipe.processes,
            ending: 0,
            scene,
            progress,
            steps: 0,
            quiet: 0,
            fault: None,
        })
    }

    /// Makes one step, which may be an event.
    fn advance(&mut self) -> Result<Option<(usize, Deed)>, ObjectRecipeError> {
        self.quiet += 1;
        self.steps += 1;
        let progress = self.progress;
        match progress {
            Progress::From(start) if start <= self.invoked && self.begins() => {
                self.progress = Progress::Event(0);
                return Ok(None);
            }
            Progress::From(_) if self.invoked > self.operations + MOST_EXTRA => {
                return Err(ObjectRecipeError::NoPlace);
            }
            Progress::Event(next) if self.is_alone() || self.draw.coin() => {
                return Ok(self.tell(next));
            }
            _ => {}
        }
        let process = self.draw.below(self.actors.len());
        let is_cast = self.scene.as_ref().is_some_and(|scene| scene.cast.contains(&process));
        if matches!(self.progress, Progress::Event(_)) && is_cast {
            return Ok(None);
        }
        match &self.actors[process] {
            Actor::Gone => Ok(None),
            Actor::Idle => Ok(self.invoke(process)),
            Actor::Busy(open) => match open.fate {
                Fate::Fails => Ok(Some(self.end(process, Deed::Fail))),
                Fate::Responds => self.respond(process),
                Fate::Unknown | Fate::StaysOpen => self.lose(process),
            },
        }
    }

    /// True while only the scene is performed.
    fn is_alone(&self) -> bool {
        self.progress != Progress::Over && self.scene.as_ref().is_some_and(|scene| scene.is_first)
    }

    /// Begins the scene, if its processes are idle, no operation of the others is still to take
    /// effect, and the state allows it.
    fn begins(&mut self) -> bool {
        let Some(scene) = &self.scene else { return false };
        let is_idle = |process: &usize| matches!(self.actors[*process], Actor::Idle);
        let is_settled = |actor: &Actor<K>| match actor {
            Actor::Idle | Actor::Gone => true,
            Actor::Busy(open) => open.results.is_some() || open.fate == Fate::Fails,
        };
        if !scene.cast.iter().all(is_idle) || !self.actors.iter().all(is_settled) {
            return false;
        }
        let Some(state) = scene.performed(&self.stage, &self.state) else { return false };
        self.state = state;
        true
    }

    /// The event of the scene by number.
    fn tell(&mut self, event: usize) -> Option<(usize, Deed)> {
        let scene = self.scene.as_ref()?;
        let told = scene.event(event);
        self.progress = match told {
            Some(_) => Progress::Event(event + 1),
            None => {
                for (call, _) in &scene.acts {
                    self.pool.remember(&call.arguments, &call.roles);
                }
                Progress::Over
            }
        };
        self.quiet = 0;
        told
    }

    fn invoke(&mut self, process: usize) -> Option<(usize, Deed)> {
        let is_more = match self.progress {
            Progress::Event(_) => false,
            Progress::From(start) => self.invoked < start || !self.is_gathering(),
            Progress::Over => self.invoked < self.operations || self.is_pressed(),
        };
        if !is_more || self.is_alone() {
            return None;
        }
        let Self { stage, state, pool, draw, .. } = self;
        let call = stage.choose(state, process, pool, draw)?;
        let fate = self.fate();
        self.invoked += 1;
        self.ending += usize::from(fate != Fate::StaysOpen);
        self.quiet = 0;
        let invocation = call.invocation();
        self.actors[process] = Actor::Busy(Box::new(Open { call, results: None, fate }));
        Some((process, invocation))
    }

    /// Selection sampling: each of the remaining operations is equally likely to be lost; none is
    /// before the end of a scene, where it might explain what is wrong.
    fn fate(&mut self) -> Fate {
        let left = self.operations.saturating_sub(self.invoked);
        if self.progress == Progress::Over && left > 0 && self.draw.below(left) < self.to_lose {
            self.to_lose -= 1;
            if self.alive > 1 && self.draw.coin() {
                self.alive -= 1;
                return Fate::StaysOpen;
            }
            return Fate::Unknown;
        }
        if self.draw.chance(self.failures) { Fate::Fails } else { Fate::Responds }
    }

    /// True at times when operations only end, so that the scene can begin.
    const fn is_gathering(&self) -> bool {
        !(self.steps / (8 * (self.actors.len() + 4))).is_multiple_of(2)
    }

    /// True if operations wait, and nothing happens.
    const fn is_pressed(&self) -> bool {
        self.ending > 0 && self.quiet > 16 * (self.actors.len() + 8)
    }

    fn respond(&mut self, process: usize) -> Result<Option<(usize, Deed)>, ObjectRecipeError> {
        let Self { stage, state, pool, draw, .. } = self;
        let Actor::Busy(open) = &mut self.actors[process] else { return Ok(None) };
        if let Some(results) = open.results.take() {
            return Ok(Some(self.end(process, Deed::Ok(results))));
        }
        open.results = stage.perform(state, &open.call, pool, draw)?;
        if open.results.is_some() {
            pool.remember(&open.call.arguments, &open.call.roles);
            self.quiet = 0;
        }
        Ok(None)
    }

    fn end(&mut self, process: usize, deed: Deed) -> (usize, Deed) {
        self.actors[process] = Actor::Idle;
        self.ending -= 1;
        self.quiet = 0;
        (process, deed)
    }

    /// Decides whether an operation without response takes effect, so that not all others wait for
    /// ever; if they would in any case, its process goes on.
    fn lose(&mut self, process: usize) -> Result<Option<(usize, Deed)>, ObjectRecipeError> {
        let Actor::Busy(open) = std::mem::replace(&mut self.actors[process], Actor::Gone) else {
            return Ok(None);
        };
        let is_gone = open.fate == Fate::StaysOpen;
        if !is_gone {
            self.actors[process] = Actor::Idle;
        }
        let (mut after, mut pool) = (self.state.clone(), self.pool.clone());
        let is_possible =
            self.stage.perform(&mut after, &open.call, &mut pool, &mut self.draw)?.is_some();
        pool.remember(&open.call.arguments, &open.call.roles);
        let before = self.state.clone();
        let first = self.draw.coin();
        let mut choice = None;
        for has_effect in [first, !first] {
            let state = if has_effect { &after } else { &before };
            if (is_possible || !has_effect) && choice.is_none() && self.can_go_on(state) {
                choice = Some(has_effect);
            }
        }
        if choice == Some(true) {
            (self.state, self.pool) = (after, pool);
        }
        if is_gone && choice.is_some() {
            self.quiet = 0;
            return Ok(None);
        }
        if is_gone {
            self.alive += 1;
            self.ending += 1;
        }
        Ok(Some(self.end(process, Deed::Unknown)))
    }

    /// True if a process can act in a state.
    fn can_go_on(&mut self, state: &StateOf<K>) -> bool {
        let Self { stage, pool, draw, actors, .. } = self;
        actors.iter().enumerate().any(|(process, actor)| match actor {
            Actor::Gone => false,
            Actor::Busy(open) if open.results.is_none() && open.fate == Fate::Responds => {
                let group = [(&open.call.input, None)];
                let specification = stage.kind.specification();
                specification.together(&mut state.clone(), &group) == Bond::Yes
            }
            Actor::Busy(_) | Actor::Idle => stage.choose(state, process, pool, draw).is_some(),
        })
    }

    /// True if no further event will happen.
    fn is_over(&self) -> bool {
        let is_stuck = self.quiet > 64 * (self.actors.len() + 8);
        let is_done = self.ending == 0 && self.invoked >= self.operations;
        self.fault.is_some() || self.progress == Progress::Over && (is_done || is_stuck)
    }
}

impl<K: Interface> Iterator for Player<'_, K> {
    type Item = Result<(usize, Deed), ObjectRecipeError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over() {
            match self.advance() {
                Ok(None) => {}
                Ok(Some(event)) => return Some(Ok(event)),
                Err(error) => {
                    self.fault = Some(error.clone());
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
