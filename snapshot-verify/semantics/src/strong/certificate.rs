//! Writes the strategy of a won game: plays it, and follows the game's graph at the same time.

use super::configurations::Configurations;
use super::lost::Lost;
use crate::certificate::Budget;
use crate::graph::{Edge, Graph, LOST};
use crate::interpret::Sequential;
use crate::refine::Automaton;
use crate::strategy::{Claim, Order, Refusal, Strategy, play};

/// A strategy of the game, with the position of the game at each position of the player.
struct Following<'g, 'm, 'p, A: Automaton> {
    graph: &'g mut Graph<'m, 'p>,
    player: &'g mut Configurations<A>,
    lost: &'g Lost,
    /// Positions of the game.
    positions: Vec<u32>,
    /// Edge taken at the last response that was answered.
    answered: Option<(usize, usize, u32)>,
    answers: Vec<Order>,
}

/// Returns the answers of the strategy, in the order of play. The graph must have all moves.
///
/// # Errors
/// If the play does not follow the graph.
pub fn answers<A: Automaton>(
    graph: &mut Graph<'_, '_>,
    player: &mut Configurations<A>,
    object: Option<&Sequential<'_>>,
    claim: &Claim,
    budget: &mut Budget<'_>,
) -> Result<Vec<Order>, Refusal> {
    let mut lost = Lost::default();
    lost.find(graph);
    let machine = graph.machine();
    let mut following = Following {
        graph,
        player,
        lost: &lost,
        positions: vec![0],
        answered: None,
        answers: Vec::new(),
    };
    play(machine, object, claim, &mut following, budget)?;
    Ok(following.answers)
}

impl<A: Automaton> Following<'_, '_, '_, A> {
    /// Returns the answers to a move, by its number: an edge for a move that is no response.
    fn edges(&self, position: usize, made: usize) -> Vec<Edge> {
        let edges: Vec<Edge> = self.graph.from(self.positions[position]).collect();
        let mut moves =
            edges.chunk_by(|one, other| one.label == other.label && one.label.returns());
        moves.nth(made).unwrap_or_default().to_vec()
    }

    fn is_won(&self, edge: &Edge) -> bool {
        edge.to != LOST && !self.lost.contains(edge.to)
    }
}

impl<A: Automaton> Strategy for Following<'_, '_, '_, A> {
    fn order(&mut self, position: usize, made: usize) -> Option<Order> {
        let edges = self.edges(position, made);
        let place = edges.iter().position(|edge| self.is_won(edge))?;
        let node = self.positions[position];
        let id = self.graph.event(node, edges[place].label)?;
        let event = self.graph.states().event(id).clone();
        let orders = self.player.orders(self.graph.answer(node), (id, &event)).ok()?;
        let order = orders.get(place)?.first()?;
        let order: Order = order
            .iter()
            .map(|block| block.iter().map(|process| process.index()).collect())
            .collect();
        self.answered = Some((position, made, edges[place].to));
        self.answers.push(order.clone());
        Some(order)
    }

    fn moved(&mut self, position: usize, made: usize, to: usize) {
        let chosen = self.answered.take().filter(|(at, one, _)| (*at, *one) == (position, made));
        let node = match chosen {
            Some((_, _, node)) => Some(node),
            None => self.edges(position, made).first().map(|edge| edge.to),
        };
        if to == self.positions.len() {
            // A position without an edge ends the play at its next response.
            self.positions.push(node.unwrap_or(LOST));
        }
    }
}
