//! Compiles a program to an instance: resolves everything that n, i, j and the process determine.
//!
//! Each process gets its own graph. Its two operations are compiled separately; a call is compiled
//! in place, a `for` once per index. Known values (`me`, indices of `for`, constant arguments) are
//! constant terms, and folding resolves conditions that depend only on these. A procedure has one
//! set of slots per process for all its calls: calls are not recursive, so it is active at most
//! once.
//!
//! Terms are evaluated without side effects and as a whole. So expressions that the language
//! evaluates only if needed are always evaluated, and must be total. A fault under a condition
//! becomes a branch on that condition and the fault. An index that the condition keeps in range is
//! replaced by 0 where the condition is false.

mod access;
mod body;
mod expression;
mod label;
mod place;
mod statement;
mod storage;
mod tree;
mod variables;

use std::collections::BTreeSet;

use snapshot_core::Process;

use self::body::Body;
use self::storage::{Size, Slots};
use self::tree::Tree;
use super::{Graph, Instance, InstanceError, Owner, SlotId, Term};
use crate::deadline::Deadline;
use crate::program::{CellKind, IndexSet, Program, SharedVariable};

/// The least number of processes of an instance.
pub const LEAST_PROCESSES: usize = 2;

/// The greatest number of processes of an instance.
pub const MOST_PROCESSES: usize = 64;

/// Shared memory: the slots of each cell.
#[derive(Default)]
struct Memory {
    /// Per shared variable, the numbers of its cells, by their indices.
    variables: Vec<Tree<usize>>,
    cells: Vec<Cell>,
}

struct Cell {
    content: Tree<SlotId>,
    /// One per process; empty if the cell has no links.
    links: Vec<SlotId>,
}

impl Instance {
    /// Compiles the program for n processes and the pair (i, j).
    ///
    /// # Errors
    /// If n or the pair is out of range, or the program is too large for n.
    ///
    /// # Panics
    /// If the program breaks an invariant of [`crate::program`].
    pub fn new(
        program: &Program,
        processes: usize,
        pair: (usize, usize),
    ) -> Result<Self, InstanceError> {
        Self::within(program, processes, pair, Deadline::NEVER)
    }

    /// Compiles the program like [`Self::new`], unless the deadline comes first.
    ///
    /// # Errors
    /// As [`Self::new`]; or [`InstanceError::Stopped`].
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn within(
        program: &Program,
        processes: usize,
        pair: (usize, usize),
        deadline: Deadline<'_>,
    ) -> Result<Self, InstanceError> {
        if processes < LEAST_PROCESSES {
            return Err(InstanceError::TooFewProcesses {
                given: processes,
                least: LEAST_PROCESSES,
            });
        }
        if processes > MOST_PROCESSES {
            return Err(InstanceError::TooManyProcesses { given: processes, most: MOST_PROCESSES });
        }
        if program.object().is_some() {
            return Err(InstanceError::Object);
        }
        let (i, j) = pair;
        if i >= j || j >= processes {
            return Err(InstanceError::PairOutOfRange { i, j, processes });
        }
        program.check_extent(processes)?;
        let pair = [Process::from_index(i), Process::from_index(j)];
        let size = Size(processes);
        let mut slots = Slots { size, all: Vec::new() };
        let memory = shared_memory(program, &mut slots, deadline)?;
        let graphs = (0..processes)
            .map(|me| {
                process(program, Process::from_index(me), pair, &memory, &mut slots, deadline)
            })
            .collect::<Result<_, _>>()?;
        let instance = Self { processes, pair, slots: slots.all, graphs };
        deadline.check()?;
        let unused = instance.unused_links();
        let is_unused = |slot: SlotId| unused.contains(&slot).then_some(Term::FALSE);
        let instance = instance.without(&is_unused, deadline)?;
        instance.is_definitely_assigned(deadline)?;
        debug_assert_eq!(instance.validity(), Ok(()));
        Ok(instance)
    }

    /// Checks that no operation may use a slot before it assigned it: it would read a slot that is
    /// reset between operations (see [`crate::passes::dead_variable_reset`]). Unlike the other
    /// invariants, this one is not checked only in debug builds.
    ///
    /// # Errors
    /// If there is such a slot, or the deadline comes first.
    pub fn is_definitely_assigned(&self, deadline: Deadline<'_>) -> Result<(), InstanceError> {
        for (me, graph) in self.graphs.iter().enumerate() {
            let owner = Owner::Operation(Process::from_index(me));
            let own = |slot| self.slot(slot).owner == owner;
            if let Some(slot) = graph.used_unassigned(&own, deadline)?.first() {
                return Err(InstanceError::Unassigned { name: self.slot(*slot).name.clone() });
            }
        }
        Ok(())
    }

    /// Returns the links that their process never uses: others only break them.
    fn unused_links(&self) -> BTreeSet<SlotId> {
        let links = (0..self.slots.len() as u32)
            .map(SlotId)
            .filter(|slot| matches!(self.slot(*slot).owner, Owner::Link(_)));
        let mut unused: BTreeSet<SlotId> = links.collect();
        for graph in &self.graphs {
            graph.terms(&mut |term| {
                term.slots(&mut |slot| {
                    unused.remove(&slot);
                });
            });
            let assignments = graph.blocks.iter().flat_map(|block| &block.assignments);
            for assignment in assignments.filter(|assignment| assignment.value == Term::TRUE) {
                assignment.target.choices().iter().for_each(|slot| {
                    unused.remove(slot);
                });
            }
        }
        unused
    }
}

fn shared_memory(
    program: &Program,
    slots: &mut Slots,
    deadline: Deadline<'_>,
) -> Result<Memory, InstanceError> {
    let mut memory = Memory::default();
    for variable in &program.shared {
        let tree =
            family(&variable.name, &variable.dimensions, variable, slots, &mut memory.cells)?;
        let empty = Memory::default();
        let initial = Body::new(program, Process::from_index(0), &empty, slots, deadline)
            .constant(&variable.name, &variable.initial)?;
        let place = (variable.name.as_str(), variable.initial.span);
        for cell in tree.leaves() {
            slots.initialise(&memory.cells[*cell].content, &initial, place)?;
        }
        memory.variables.push(tree);
    }
    for (variable, cells) in program.shared.iter().zip(&memory.variables) {
        if variable.cell != CellKind::Linked {
            continue;
        }
        for number in cells.leaves() {
            let cell = &mut memory.cells[*number];
            let Some(first) = cell.content.leaves().first().copied().copied() else { continue };
            let name = cell_name(&slots.all[first.index()].name, variable).to_owned();
            for process in 0..slots.size.0 {
                let owner = Owner::Link(Process::from_index(process));
                let name = format!("link {name} of p{process}");
                cell.links.push(slots.scalar(name, owner, super::Domain::BIT, variable.span)?);
            }
        }
    }
    Ok(memory)
}

/// Returns the name of a cell, given the name of its first scalar.
fn cell_name<'a>(first: &'a str, variable: &SharedVariable) -> &'a str {
    let brackets = variable.dimensions.len();
    let end = match brackets {
        0 => Some(variable.name.len()),
        _ => first.match_indices(']').nth(brackets - 1).map(|(at, _)| at + 1),
    };
    &first[..end.unwrap_or(first.len())]
}

/// Creates the cells of a shared variable, for the remaining dimensions.
fn family(
    name: &str,
    dimensions: &[IndexSet],
    variable: &SharedVariable,
    slots: &mut Slots,
    cells: &mut Vec<Cell>,
) -> Result<Tree<usize>, InstanceError> {
    match dimensions.split_first() {
        None => {
            let content = slots.variable(name, Owner::Shared, &variable.content, variable.span)?;
            cells.push(Cell { content, links: Vec::new() });
            Ok(Tree::Leaf(cells.len() - 1))
        }
        Some((index, rest)) => {
            let (low, high) = slots.size.bounds(*index)?;
            let parts = (low..=high)
                .map(|index| family(&format!("{name}[{index}]"), rest, variable, slots, cells));
            Ok(Tree::Node(parts.collect::<Result<_, _>>()?))
        }
    }
}

/// Compiles the graph of one process.
fn process(
    program: &Program,
    me: Process,
    pair: [Process; 2],
    memory: &Memory,
    slots: &mut Slots,
    deadline: Deadline<'_>,
) -> Result<Graph, InstanceError> {
    let mut private = Vec::with_capacity(program.private.len());
    for variable in &program.private {
        let name = format!("p{}.{}", me.index(), variable.name);
        let owner = Owner::Process(me);
        let tree = slots.variable(&name, owner, &variable.content, variable.span)?;
        let initial = Body::new(program, me, memory, slots, deadline)
            .constant(&variable.name, &variable.initial)?;
        slots.initialise(&tree, &initial, (&variable.name, variable.initial.span))?;
        private.push(tree);
    }
    let mut body = Body::new(program, me, memory, slots, deadline);
    body.private = private;
    let (update, argument) = body.update(pair.contains(&me))?;
    let scan = body.scan(pair)?;
    Ok(body.finish(super::Invocations { update, scan }, argument))
}
