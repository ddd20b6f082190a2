//! The argument against strong linearizability: a tree of executions.
//!
//! A case is a common execution that ends with a response; for each way to order the operations so
//! far, one continuation follows that refutes it, until a response has no order at all.

use snapshot_core::Process;

use super::configurations::{Configurations, Order};
use super::lost::Choices;
use crate::graph::{Edge, Environment, Graph, LOST};
use crate::interpret::{Fault, Move};
use crate::refine::Automaton;

/// A case: moves up to a response, and the ways to order it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Case {
    /// Moves since the response before; the last is a response.
    pub moves: Vec<Move>,
    /// Ways to order the operations, each with its refutation; none: no order is left.
    pub branches: Vec<Branch>,
}

/// Orders with the same effect, and the case that refutes them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Branch {
    /// Operations that are appended, by their processes, in blocks; the last block has the one that
    /// responds, unless it was appended before.
    pub orders: Vec<Vec<Vec<Process>>>,
    pub case: Case,
}

impl Case {
    /// Returns the number of cases without a branch.
    pub fn leaves(&self) -> usize {
        match self.branches.len() {
            0 => 1,
            _ => self.branches.iter().map(|branch| branch.case.leaves()).sum(),
        }
    }

    /// Returns the number of moves in all cases.
    pub fn size(&self) -> usize {
        self.moves.len() + self.branches.iter().map(|branch| branch.case.size()).sum::<usize>()
    }
}

/// A graph with the choices that lose its positions.
pub struct Growing<'g, 'm, 'p, 'e, A: Automaton> {
    pub graph: &'g mut Graph<'m, 'p>,
    pub environment: &'g Environment<'e>,
    pub player: &'g mut Configurations<A>,
    pub choices: &'g Choices,
    /// True if values are names: then calls write values that are all different.
    pub names_values: bool,
}

impl<A: Automaton> Growing<'_, '_, '_, '_, A> {
    /// Returns the case of a lost position that the steps lead to.
    ///
    /// # Errors
    /// If the object is faulty.
    pub fn case(&mut self, position: u32, before: &[(u32, Edge)]) -> Result<Case, Fault> {
        let mut steps = before.to_vec();
        let mut at = position;
        loop {
            let choice = self.choices.of(at).expect("the position is lost");
            let edge = self.graph.edge(at, choice);
            steps.push((at, edge));
            if edge.label.returns() {
                break;
            }
            at = edge.to;
        }
        let mut case =
            Case { moves: self.moves(&steps).split_off(before.len()), branches: Vec::new() };
        let (_, first) = steps[steps.len() - 1];
        if first.to == LOST {
            return Ok(case);
        }
        let id = self.graph.event(at, first.label).expect("a response is an event");
        let event = self.graph.states().event(id).clone();
        let orders = self.player.orders(self.graph.answer(at), (id, &event))?;
        let answers = self.graph.from(at).filter(|edge| edge.label == first.label);
        let answers: Vec<Edge> = answers.collect();
        for (edge, orders) in answers.into_iter().zip(orders) {
            *steps.last_mut().expect("the response") = (at, edge);
            let case_after = self.case(edge.to, &steps)?;
            case.branches.push(Branch { orders: sorted(orders), case: case_after });
        }
        Ok(case)
    }

    fn moves(&mut self, steps: &[(u32, Edge)]) -> Vec<Move> {
        let (environment, mut next) = (self.environment, 1);
        let names_values = self.names_values;
        self.graph.along(steps, &mut |call| {
            if !names_values {
                return call;
            }
            let fresh = environment.with_fresh(call, next);
            next += environment.values_in(call);
            fresh
        })
    }
}

fn sorted(orders: Vec<Order>) -> Vec<Order> {
    let mut orders = orders;
    orders.sort();
    orders
}
