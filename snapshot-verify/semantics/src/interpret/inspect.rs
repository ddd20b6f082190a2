//! What a state holds, by the names of the program.

use std::fmt;

use snapshot_core::Process;

use super::data::{Data, indexed};
use super::machine::Machine;
use super::state::{Activity, State};
use crate::language::Span;
use crate::program::{IndexSet, NodeType, SharedId};

/// A cell or a variable with what it holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Holding {
    /// The processes that see it.
    pub owner: Owner,
    /// Its name, of a cell with its indices.
    pub name: String,
    /// What it holds, as people read it.
    pub held: String,
    /// The processes linked to it, of an LL/SC cell.
    pub links: Vec<Process>,
}

/// The processes that see a cell or a variable.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Owner {
    /// All processes.
    Shared,
    /// One process, between operations too.
    Private(Process),
    /// One call of a procedure.
    Local {
        /// The process of the call.
        process: Process,
        /// How deep it is: 0 for the operation itself.
        depth: usize,
        /// The name of the procedure.
        procedure: String,
    },
}

/// `shared`, `p1`, `p1 in scan`.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared => f.write_str("shared"),
            Self::Private(process) => write!(f, "p{process}"),
            Self::Local { process, procedure, .. } => write!(f, "p{process} in {procedure}"),
        }
    }
}

/// `[1, 0], linked: p1`.
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
    /// All cells, and all variables of all processes, in the order of their
    /// declarations. Locals exist only while their procedure runs.
    pub fn holdings(&self, state: &State) -> Vec<Holding> {
        let mut holdings = self.shared_cells(state);
        for process in 0..self.n {
            holdings.extend(self.variables(state, Process::from_index(process)));
        }
        holdings
    }

    /// All shared cells.
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

    /// How many shared variables there are, those that nodes are made of not counted.
    fn variables_but_nodes(&self) -> usize {
        let first = |node: &NodeType| node.fields.iter().chain([&node.state]).min().copied();
        let first = self.program.nodes.first().and_then(first);
        first.map_or(self.program.shared.len(), |first| first.0 as usize)
    }

    /// The fields of all nodes that there are; of one that was freed, also that it was.
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

    /// The private and the local variables of a process, but for those that the
    /// text has no name for.
    ///
    /// # Panics
    /// If there is no such process.
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
                holdings.extend(locals.map(|(variable, data)| {
                    held(owner.clone(), &variable.name, data, &variable.content)
                }));
            }
        }
        holdings
    }

    /// The text of the access or the `atomic` block that a process stands before;
    /// `None` if it is idle or only has to respond.
    ///
    /// # Panics
    /// If there is no such process.
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

/// All index combinations, the last index running fastest.
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
