//! Matching for any stateless object whose groups have at most two operations.
//!
//! Vertices are operations; edges join operations that overlap and can form a group. Then a history
//! is set-linearizable iff a matching covers every complete operation that cannot be a group by
//! itself (Lawrence and Lowe, "Synchronisation: Specification and Testing", section 7.3). Other
//! operations need no partner. The history is cut at instants without open operations.

use super::graph::{Graph, Shortage};
use super::specification::{Bond, Member, Synchronisation};
use crate::OperationId;
use crate::generic::{History, Operation};
use crate::immediate::SetLinearization;
use crate::search::Budget;
use crate::verdict::Exhausted;

/// Operations that cannot all have partners, for any choice of the other operations: the proof that
/// a history of a stateless object with groups of at most two has no set linearization (Tutte, "The
/// Factorization of Linear Graphs", 1947; Berge 1958). Checked by
/// [`crate::certificate::deficiency`].
///
/// The operations of a component are complete, cannot be alone, and can meet only each other and
/// operations in `partners`. Each component has an odd number of operations, so one of each must
/// meet an operation of `partners`; but there are more components than partners.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Deficiency {
    /// The operations outside the components that their members can meet.
    pub partners: Vec<OperationId>,
    /// Sets of operations.
    pub components: Vec<Vec<OperationId>>,
}

/// The result of matching a history.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Matched {
    Perfect(Vec<Vec<OperationId>>),
    Not(Deficiency),
}

/// Matches the operations that satisfy `is_wanted`. O(vertices^3) per component at worst.
pub(super) fn matching<S: Synchronisation<State = ()>>(
    specification: &S,
    history: &History<S::Input, S::Output>,
    is_wanted: &dyn Fn(usize) -> bool,
    budget: &mut Budget<'_>,
) -> Result<Matched, Exhausted> {
    let operations = history.operations();
    let mut at = vec![None; history.len()];
    for (id, operation) in operations.iter().enumerate() {
        if operation.is_failed() || !is_wanted(id) {
            continue;
        }
        at[operation.invocation] = Some((id, true));
        if let Some(response) = operation.response() {
            at[response] = Some((id, false));
        }
    }
    let mut all = Vec::new();
    let mut component = Component::new(specification, operations);
    for (id, is_invocation) in at.into_iter().flatten() {
        if is_invocation {
            component.invoke(id, budget)?;
        } else {
            component.open.retain(|&vertex| component.ids[vertex as usize] != id);
        }
        if component.open.is_empty()
            && let Err(deficiency) = component.solve(&mut all, budget)?
        {
            return Ok(Matched::Not(deficiency));
        }
    }
    Ok(match component.solve(&mut all, budget)? {
        Ok(()) => Matched::Perfect(in_order(all)),
        Err(deficiency) => Matched::Not(deficiency),
    })
}

/// Returns the sequence of these groups.
pub(super) fn linearization(groups: Vec<Vec<OperationId>>) -> SetLinearization {
    SetLinearization::new(groups)
}

/// Operations connected by overlapping.
struct Component<'a, S: Synchronisation> {
    specification: &'a S,
    operations: &'a [Operation<S::Input, S::Output>],
    ids: Vec<usize>,
    adjacent: Vec<Vec<u32>>,
    /// Vertices that are open.
    open: Vec<u32>,
    edges: usize,
    tried: u64,
}

/// A group, with the instant at which all its operations are invoked.
type Placed = (usize, Vec<OperationId>);

/// Sorts groups by their instants.
fn in_order(mut groups: Vec<Placed>) -> Vec<Vec<OperationId>> {
    groups.sort_by_key(|(instant, _)| *instant);
    groups.into_iter().map(|(_, group)| group).collect()
}

impl<'a, S: Synchronisation<State = ()>> Component<'a, S> {
    const fn new(specification: &'a S, operations: &'a [Operation<S::Input, S::Output>]) -> Self {
        Self {
            specification,
            operations,
            ids: Vec::new(),
            adjacent: Vec::new(),
            open: Vec::new(),
            edges: 0,
            tried: 0,
        }
    }

    fn member(&self, id: usize) -> Member<'a, S::Input, S::Output> {
        let operation = &self.operations[id];
        (&operation.input, operation.output())
    }

    fn invoke(&mut self, id: usize, budget: &mut Budget<'_>) -> Result<(), Exhausted> {
        let vertex = self.ids.len() as u32;
        let mut adjacent = Vec::new();
        for &other in &self.open {
            let group = [self.member(self.ids[other as usize]), self.member(id)];
            if self.specification.together(&mut (), &group) == Bond::Yes {
                adjacent.push(other);
                self.adjacent[other as usize].push(vertex);
            }
        }
        self.tried += self.open.len() as u64 + 1;
        self.edges += adjacent.len();
        self.ids.push(id);
        self.adjacent.push(adjacent);
        self.open.push(vertex);
        if self.edges > budget.memory / (2 * size_of::<u32>()) {
            return Err(Exhausted::Memory);
        }
        if self.tried > 1 << 12 {
            self.tried = 0;
            if !(budget.proceed)() {
                return Err(Exhausted::Time);
            }
        }
        Ok(())
    }

    /// Matches the operations of the component, and begins another one.
    fn solve(
        &mut self,
        all: &mut Vec<Placed>,
        budget: &mut Budget<'_>,
    ) -> Result<Result<(), Deficiency>, Exhausted> {
        let ids = std::mem::take(&mut self.ids);
        let adjacent = std::mem::take(&mut self.adjacent);
        self.open.clear();
        self.edges = 0;
        let operations = self.operations;
        let response = |&id: &usize| operations[id].response().unwrap_or(usize::MAX);
        let responses: Vec<usize> = ids.iter().map(response).collect();
        let alone =
            |id: usize| self.specification.together(&mut (), &[self.member(id)]) == Bond::Yes;
        let both = ids.iter().zip(&responses);
        let is_optional = both.map(|(&id, &at)| at == usize::MAX || alone(id)).collect();
        let mut graph = Graph::new(adjacent, is_optional);
        graph.sort_neighbours(&responses);
        let name = |vertex: u32| OperationId::from_index(ids[vertex as usize]);
        let Some(covered) = graph.cover(budget.proceed) else { return Err(Exhausted::Time) };
        if let Err(Shortage { removed, components }) = covered {
            let names = |set: &Vec<u32>| {
                let mut names: Vec<_> = set.iter().map(|&vertex| name(vertex)).collect();
                names.sort_unstable();
                names
            };
            let components = components.iter().map(names).collect();
            return Ok(Err(Deficiency { partners: names(&removed), components }));
        }
        for vertex in 0..ids.len() as u32 {
            let id = ids[vertex as usize];
            match graph.mate(vertex) {
                Some(mate) if mate > vertex => {
                    // Vertices are in the order of invocations.
                    let instant = operations[ids[mate as usize]].invocation;
                    all.push((instant, vec![name(vertex), name(mate)]));
                }
                None if responses[vertex as usize] != usize::MAX => {
                    all.push((operations[id].invocation, vec![name(vertex)]));
                }
                _ => {}
            }
        }
        Ok(Ok(()))
    }
}
