//! Describes the content of a state by the names of the program.

use std::fmt;

use snapshot_core::Process;

use super::data::{Data, indexed};
use super::machine::Machine;
use super::state::{Activity, State};
use crate::language::Span;
use crate::program::{IndexSet, NodeType, SharedId};

/// A cell or a variable with its content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Holding {
    /// Processes that see it.
    pub owner: Owner,
    /// Name, with the indices of a cell.
    pub name: String,
    /// Content as text.
    pub held: String,
    /// Processes linked to an LL/SC cell.
    pub links: Vec<Process>,
}

/// Processes that see a cell or a variable.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Owner {
    Shared,
    /// One process, between operations too.
    Private(Process),
    /// One call of a procedure.
    Local {
        /// Process of the call.
        process: Process,
        /// Depth of the call: 0 for the operation itself.
        depth: usize,
        /// Name of the procedure.
        procedure: String,
    },
}

/// Formats as `shared`, `p1`, `p1 in scan`.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared => f.write_str("shared"),
            Self::Private(process) => write!(f, "p{process}"),
            Self::Local { process, procedure, .. } => write!(f, "p{process} in {procedure}"),
        }
    }
}

/// Formats as `[1, 0]; linked: p1`.
impl fmt::Display for Holding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.held)?;
        for (position, process) in self.links.iter().enumerate() {
            write!(f, "{} p{process}", if position == 0 { "; linked:" } else { "," })?;
        }
        Ok(())
    }
}

impl Machine<'_> {
    /// Returns all cells, and all variables of all processes, in the order of their declarations.
    /// Locals exist only while their procedure runs.
    pub fn holdings(&self, state: &State) -> Vec<Holding> {
        let mut holdings = self.shared_cells(state);
        for process in 0..self.n {
            holdings.extend(self.variables(state, Process::from_index(process)));
        }
        holdings
    }

    pub fn shared_cells(&self, state: &State) -> Vec<Holding> {
        let mut holdings = Vec::new();
        let mut cells = state.cells.iter();
        for variable in &self.program.shared[..self.variables_but_nodes()] {
            for (indices, cell) in
                combinations(&variable.dimensions, self.n).into_iter().zip(&mut cells)
            {
                let linked = cell.links.iter().enumerate().filter(|(_, link)| **link);
                holdings.push(Holding {
                    owner: Owner::Shared,
                    name: indexed(&variable.name, indices),
                    held: cell.content.shown(&variable.content),
                    links: linked.map(|(process, _)| Process::from_index(process)).collect(),
                });
            }
        }
        holdings.extend(self.node_cells(state));
        holdings
    }

    /// Returns the number of shared variables, without the variables that implement nodes.
    fn variables_but_nodes(&self) -> usize {
        let first = |node: &NodeType| node.fields.iter().chain([&node.state]).min().copied();
        let first = self.program.nodes.first().and_then(first);
        first.map_or(self.program.shared.len(), |first| first.0 as usize)
    }

    /// Returns the fields of all present nodes; a freed node is marked as freed.
    fn node_cells(&self, state: &State) -> Vec<Holding> {
        let mut holdings = Vec::new();
        let cell =
            |shared: SharedId, node| &state.cells[self.first_cells[shared.0 as usize] + node];
        for node in &self.program.nodes {
            for number in 0..node.bound.at(self.n).max(0) as usize {
                let is = |state| cell(node.state, number).content == Data::Number(state);
                if is(NodeType::ABSENT) {
                    continue;
                }
                let name = format!("{} {number}", node.name);
                if is(NodeType::FREED) {
                    let (name, held) = (name.clone(), "freed".to_owned());
                    holdings.push(Holding { owner: Owner::Shared, name, held, links: Vec::new() });
                    if !node.is_stable {
                        continue;
                    }
                }
                for field in &node.fields {
                    let (variable, cell) = (self.program.shared(*field), cell(*field, number));
                    let linked = cell.links.iter().enumerate().filter(|(_, link)| **link);
                    holdings.push(Holding {
                        owner: Owner::Shared,
                        name: format!("{name}{}", &variable.name[node.name.len()..]),
                        held: cell.content.shown(&variable.content),
                        links: linked.map(|(process, _)| Process::from_index(process)).collect(),
                    });
                }
            }
        }
        holdings
    }

    /// Returns the private and the local variables of a process, except variables without a name in
    /// the text.
    ///
    /// # Panics
    /// If the process does not exist.
    pub fn variables(&self, state: &State, process: Process) -> Vec<Holding> {
        let local = &state.processes[process.index()];
        let held = |owner, name: &str, data: &Data, content| Holding {
            owner,
            name: name.to_owned(),
            held: data.shown(content),
            links: Vec::new(),
        };
        let private = self.program.private.iter().zip(&local.private);
        let mut holdings: Vec<Holding> = private
            .map(|(variable, data)| {
                held(Owner::Private(process), &variable.name, data, &variable.content)
            })
            .collect();
        if let Activity::Running(frames) = &local.activity {
            for (depth, frame) in frames.iter().enumerate() {
                let procedure = self.program.procedure(frame.procedure);
                let name = procedure.name.clone();
                let owner = Owner::Local { process, depth, procedure: name };
                let locals = procedure.locals.iter().zip(&frame.locals);
                let locals = locals.filter(|(variable, _)| !variable.hidden);
                let mut names: Vec<String> = Vec::new();
                for (variable, data) in locals {
                    names.push(distinct(&variable.name, &names));
                    let name = &names[names.len() - 1];
                    holdings.push(held(owner.clone(), name, data, &variable.content));
                }
            }
        }
        holdings
    }

    /// Returns the text of the access or the `atomic` block before which a process stands; `None`
    /// if it is idle or only has to respond.
    ///
    /// # Panics
    /// If the process does not exist.
    pub fn next_text(&self, state: &State, process: Process) -> Option<Span> {
        match &state.processes[process.index()].activity {
            Activity::Running(frames) => {
                let frame = frames.last()?;
                self.code[frame.procedure.0 as usize].instructions[frame.at].span()
            }
            Activity::Idle | Activity::Responding(_) | Activity::Returning(..) => None,
        }
    }
}

/// Returns a name that none of the others has: a procedure may have several loops over `k`, each
/// with an index of its own, which are named `k`, `k'`, ...
fn distinct(name: &str, others: &[String]) -> String {
    let mut name = name.to_owned();
    while others.contains(&name) {
        name.push('\'');
    }
    name
}

/// Returns all combinations of indices, the last index running fastest.
fn combinations(dimensions: &[IndexSet], n: usize) -> Vec<Vec<i64>> {
    dimensions.iter().fold(vec![Vec::new()], |combinations, over| {
        let extended = |indices: Vec<i64>| {
            super::evaluate::indices(*over, n).map(move |index| {
                let mut indices = indices.clone();
                indices.push(index);
                indices
            })
        };
        combinations.into_iter().flat_map(extended).collect()
    })
}
