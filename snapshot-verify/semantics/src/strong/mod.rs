//! Strong linearizability: is there a function from executions to orders of their operations, such
//! that longer executions have longer orders? (Golab, Higham and Woelfel, STOC 2011.)
//!
//! A game on a finite graph decides it (`docs/strong.md`). The scheduler moves; at each response the
//! player appends open operations to the order, up to the one that responds. A response without an
//! order is lost, and so is a position from which the scheduler can force one.
//!
//! If neither the program nor the object looks at values, values are all different, and positions
//! are identified up to their names. So the graph is finite without a bound on the operations
//! wherever it is for one value.
//!
//! *Write* strong linearizability ([`Strength::Writes`]) is the same game on sets of configurations.
//!
//! | file | content |
//! | --- | --- |
//! | `configurations` | the player's states and answers |
//! | `updates` | configurations for orders of the updates alone |
//! | `lost` | lost positions, and the choices that lose them |
//! | `tree` | the argument for an answer *no* |
//! | `judge` | confirms it, by code that shares nothing with the game |
//! | `certificate` | the strategy of an answer *yes* |

mod certificate;
mod configurations;
mod judge;
mod lost;
mod tree;
mod updates;

use crate::certificate::{Budget, Unfinished};
use crate::graph::{Environment, Graph, Limits, Techniques};
use crate::interpret::{Client, ClientError, Fault, Machine, Move, Sequential};
pub use crate::language::Strength;
use crate::program::linearization::Points;
use crate::program::{Program, independence};
use crate::refine::{AtomicObject, AtomicSnapshot, Automaton};
use crate::strategy::{Claim, Refusal, object_of, written};
use configurations::Configurations;
pub use configurations::Order;
pub use judge::{Confirmed, JudgeError, confirm};
use lost::{Choices, Lost};
use tree::Growing;
pub use tree::{Branch, Case};
use updates::UpdateOrders;

/// Positions until lost positions are looked for; the number doubles each time.
const FIRST_LOOK: usize = 1 << 12;

/// Answer whether an algorithm is strongly linearizable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StrongVerdict {
    /// The player has a strategy for all explored executions.
    Strong,
    /// No function exists: final, whatever the scope.
    NotStrong(Case),
    /// The limits ended the exploration.
    Unknown,
    /// After these moves the program or the object is faulty: the continuations are unknown.
    Faulty { moves: Vec<Move>, fault: Fault },
}

/// Values that operations are given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StrongValues {
    /// All different; the answer holds for all values.
    Different,
    /// Few; the answer *yes* holds for these only.
    Few(u32),
    /// The operations take no values.
    None,
}

/// Answer with its scope.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Strong {
    pub verdict: StrongVerdict,
    /// Operations whose order was asked for.
    pub strength: Strength,
    pub values: StrongValues,
    /// True if the operations of processes are bounded.
    pub is_bounded: bool,
    pub positions: usize,
    pub edges: usize,
    /// Number of positions from which the scheduler wins, where the graph was searched for them.
    pub lost: usize,
    pub bytes: usize,
}

/// Decides strong linearizability of a snapshot, or of the object that the program declares. The
/// client's values count only if the program looks at values.
///
/// # Errors
/// If the client does not suit the number of processes or the object.
///
/// # Panics
/// If the machine and the object differ in the number of processes, or if operations of the object
/// take effect together and only writes are to be ordered.
pub fn strong(
    machine: &Machine<'_>,
    object: Option<&Sequential<'_>>,
    strength: Strength,
    client: &Client,
    limits: &mut Limits<'_>,
) -> Result<Strong, ClientError> {
    client.validate(machine.processes())?;
    let is_independent = independence::check(machine.program()).is_ok();
    match object {
        None => {
            let environment = Environment::of_snapshot(*client, machine.processes());
            let automaton = AtomicSnapshot::new(machine.processes(), Points::NONE);
            let values = (is_independent, true);
            Ok(decided(machine, environment, automaton, values, client, strength, limits))
        }
        Some(object) => {
            assert_eq!(machine.processes(), object.processes(), "one n for both");
            client.validate_object(object)?;
            let environment = Environment::of_object(*client, object);
            let is_independent = is_independent
                && independence::check(&object.object().specification).is_ok()
                && !environment.is_followed();
            let automaton = AtomicObject::new(object.clone());
            let values = (is_independent, object.object().takes_values());
            let has_blocks = object.object().has_blocks();
            assert!(strength == Strength::All || !has_blocks, "updates take effect one by one");
            Ok(decided(machine, environment, automaton, values, client, strength, limits))
        }
    }
}

fn decided<A: Automaton>(
    machine: &Machine<'_>,
    environment: Environment<'_>,
    automaton: A,
    values: (bool, bool),
    client: &Client,
    strength: Strength,
    limits: &mut Limits<'_>,
) -> Strong {
    match strength {
        Strength::All => {
            Game::new(machine, environment, automaton, values, client).play(strength, limits)
        }
        Strength::Writes => {
            let automaton = UpdateOrders::new(automaton);
            Game::new(machine, environment, automaton, values, client).play(strength, limits)
        }
    }
}

struct Game<'m, 'p, 'e, A: Automaton> {
    graph: Graph<'m, 'p>,
    environment: Environment<'e>,
    player: Configurations<A>,
    names_values: bool,
    values: StrongValues,
    is_bounded: bool,
}

impl<'m, 'p, 'e, A: Automaton> Game<'m, 'p, 'e, A> {
    fn new(
        machine: &'m Machine<'p>,
        environment: Environment<'e>,
        automaton: A,
        (is_independent, takes_values): (bool, bool),
        client: &Client,
    ) -> Self {
        let values = match (takes_values, is_independent) {
            (false, _) => StrongValues::None,
            (true, true) => StrongValues::Different,
            (true, false) => StrongValues::Few(client.values_of_object()),
        };
        let few = (values != StrongValues::Different).then(|| client.values_of_object());
        let game = Self::with(machine, environment, automaton, few, client, true);
        Self { values, ..game }
    }

    /// Creates the game with this many values, or all different ones; `partial_order`: without
    /// moves that need not be explored.
    fn with(
        machine: &'m Machine<'p>,
        environment: Environment<'e>,
        automaton: A,
        values: Option<u32>,
        client: &Client,
        partial_order: bool,
    ) -> Self {
        let names_values = values.is_none();
        let means = Techniques { values: names_values, forgetting: true, partial_order };
        let mut player = Configurations::new(automaton, names_values);
        let states = Graph::states_of(machine, means);
        let graph =
            Graph::new(states, means, (machine.initial(), environment.first()), &mut player);
        let values = values.map_or(StrongValues::Different, StrongValues::Few);
        let is_bounded = client.is_bounded();
        Self { graph, environment, player, names_values, values, is_bounded }
    }

    /// Returns the certificate of a won game.
    fn certified(
        mut self,
        object: Option<&Sequential<'_>>,
        claim: &Claim,
        limits: &mut Limits<'_>,
    ) -> Result<String, Refusal> {
        self.graph.grow(&mut self.environment, &mut self.player, usize::MAX, limits);
        if self.graph.is_cut_off() {
            return Err(Refusal::Unknown(Unfinished::Memory));
        }
        let memory = limits.memory as u64;
        let mut budget = Budget { memory, proceed: &mut *limits.proceed };
        let (graph, player) = (&mut self.graph, &mut self.player);
        let answers = certificate::answers(graph, player, object, claim, &mut budget)?;
        Ok(written(claim, &answers))
    }

    fn play(mut self, strength: Strength, limits: &mut Limits<'_>) -> Strong {
        let mut until = FIRST_LOOK;
        let mut lost = Lost::default();
        let verdict = loop {
            self.graph.grow(&mut self.environment, &mut self.player, until, limits);
            let is_done = self.graph.expanded() == self.graph.len() || self.graph.is_cut_off();
            if self.graph.has_lost() {
                lost.find(&self.graph);
                if lost.contains(0) {
                    break self.refuted(&lost.choices(&self.graph));
                }
            }
            if is_done {
                break self.clean();
            }
            until *= 2;
        };
        Strong {
            verdict,
            strength,
            values: self.values,
            is_bounded: self.is_bounded,
            positions: self.graph.len(),
            edges: self.graph.edges(),
            lost: lost.count(),
            bytes: self.graph.bytes()
                + self.environment.bytes()
                + self.player_bytes()
                + lost.bytes(),
        }
    }

    fn player_bytes(&self) -> usize {
        use crate::graph::Player as _;
        self.player.bytes()
    }

    fn refuted(&mut self, choices: &Choices) -> StrongVerdict {
        let mut growing = Growing {
            graph: &mut self.graph,
            environment: &self.environment,
            player: &mut self.player,
            choices,
            names_values: self.names_values,
        };
        match growing.case(0, &[]) {
            Ok(case) => StrongVerdict::NotStrong(case),
            Err(fault) => StrongVerdict::Faulty { moves: Vec::new(), fault },
        }
    }

    /// Returns the verdict if the first position is not lost.
    fn clean(&mut self) -> StrongVerdict {
        match self.graph.fault().cloned() {
            Some((number, made, fault)) => {
                let mut moves = self.graph.path(number);
                moves.extend(made);
                StrongVerdict::Faulty { moves, fault }
            }
            None if self.graph.is_exhaustive() => StrongVerdict::Strong,
            None => StrongVerdict::Unknown,
        }
    }
}

/// Returns the certificate of a strongly linearizable algorithm as text: decides again, on a graph
/// without omitted moves, and writes the strategy.
///
/// # Errors
/// If there is no strategy, or no certificate for such algorithms.
pub fn certified(
    program: &Program,
    claim: &Claim,
    limits: &mut Limits<'_>,
) -> Result<String, Refusal> {
    let machine = Machine::new(program, claim.processes)?;
    let object = object_of(program, claim)?;
    if program.frees() {
        return Err(Refusal::Move("nodes that are freed have other numbers".to_owned()));
    }
    let client = claim.executions();
    match &object {
        None => {
            let environment = Environment::of_snapshot(client, machine.processes());
            let automaton = AtomicSnapshot::new(machine.processes(), Points::NONE);
            let game = Game::with(&machine, environment, automaton, claim.values, &client, false);
            game.certified(None, claim, limits)
        }
        Some(object) => {
            let environment = Environment::of_object(client, object);
            let automaton = AtomicObject::new(object.clone());
            let game = Game::with(&machine, environment, automaton, claim.values, &client, false);
            game.certified(Some(object), claim, limits)
        }
    }
}
