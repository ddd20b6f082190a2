//! Empties nodes that a process will only compare, unsuccessfully.
//!
//! Suppose that a process has read `t := top` and is late: other processes have removed the node
//! from the stack. The fields of this node are useless to the process, since its `CAS(top, t, ...)`
//! fails. But the node keeps its successors alive, in as many shapes as there were stacks. If only
//! such comparands reach a node, its fields are emptied, and so are the locals that matter only if
//! the CAS succeeds. This preserves the futures of the state, and leaves few distinct states.
//!
//! **Assumption.** For a local x that holds a node, *until x is overwritten completely*, every
//! `CAS(c, x, ...)` fails, and reads through x do not matter. Under the assumption, a local is live
//! if some continuation reads it (see [`super::Forgetting`]), except that
//!
//! * a CAS that expects x reads neither x nor its new value, and the test of its outcome takes the
//!   branch of failure;
//! * a read of a field of the node at x, into a local that is dead afterwards, does not read x;
//! * a store of x in a field of the node at q does not read x if the node is private and the field
//!   is dead. A private node is a new one with q as its only pointer. A dead field is written
//!   before it is read, and before q is read for anything but access to fields.
//!
//! If x itself is dead in this sense, x is a *comparand*, and the locals that are not live are
//! dead.
//!
//! **Why the assumption holds.** Take comparands of one process or several, and let no other path
//! lead to their nodes: not from shared variables, private variables, or live locals, nor from
//! fields, except dead fields of nodes with a single local as their only pointer. This remains true
//! until the comparands are overwritten: a process stores values from live places, and stores a
//! comparand only in such a dead field. So no compared cell holds the node, and the CAS fails. Its
//! fields are only read through the comparands, into dead locals.
//!
//! **Dead fields.** A field may be dead without the assumption, too: it is written before it is
//! read, and before the local that points to the node is read for anything but access to fields. If
//! that local is the only pointer to the node, the field is emptied. An example is the `next` of a
//! node that a `push` failed to insert, which points to the former top.
//!
//! The analysis excludes programs that free nodes: a freed node may be allocated again, elsewhere.

mod analysis;

use std::sync::Arc;

use super::data::Data;
use super::heap::Heap;
use super::machine::Machine;
use super::parts::{ProcessPart, SharedPart};
use super::state::{Activity, Frame, Local};
use crate::program::{Procedure, SharedId};
use analysis::Analysis;

/// Comparand locals, per procedure and instruction.
#[derive(Clone, Debug)]
pub struct Comparands {
    procedures: Vec<Vec<Here>>,
}

/// Nodes of a process with fields that may be emptied.
#[derive(Clone, Debug, Default)]
pub struct Emptiable {
    /// Nodes of its comparands.
    pub compared: Box<[u32]>,
    /// Nodes with dead fields, independent of comparands, if nothing else points to them.
    pub rewritten: Box<[u32]>,
}

/// Dead locals and fields before some instruction.
#[derive(Clone, Debug, Default)]
struct Here {
    comparands: Vec<Comparand>,
    /// Dead fields, independent of comparands: of the node that a local points to, if nothing else
    /// does.
    dead_fields: Vec<(usize, Field)>,
}

/// A comparand before some instruction.
#[derive(Clone, Debug)]
struct Comparand {
    local: usize,
    /// Locals that are dead if this one is a comparand.
    dead: Vec<usize>,
    /// Dead fields: of the node that a local points to.
    dead_fields: Vec<(usize, Field)>,
}

/// A field of a kind of nodes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Field {
    pub kind: usize,
    pub number: usize,
}

/// A comparand of a state.
struct Found<'c> {
    process: usize,
    node: u32,
    comparand: &'c Comparand,
}

impl Comparands {
    /// Analyses a program; finds nothing if it frees nodes.
    pub fn new(machine: &Machine<'_>) -> Self {
        let program = machine.program;
        if program.nodes.is_empty() || program.frees() {
            return Self { procedures: Vec::new() };
        }
        let field = |variable: SharedId| {
            program.nodes.iter().enumerate().find_map(|(kind, node)| {
                let number = node.fields.iter().position(|field| *field == variable)?;
                Some(Field { kind, number })
            })
        };
        let procedures = program.procedures.iter().zip(&machine.code);
        let of_procedure = |(procedure, code): (&Procedure, _)| {
            Analysis::new(code, procedure.locals.len(), &field).all()
        };
        Self { procedures: procedures.map(of_procedure).collect() }
    }

    /// Returns the nodes of a process with fields that may be emptied at its location.
    pub fn emptiable(&self, heap: &Heap, part: &ProcessPart) -> Emptiable {
        let Some((frame, here)) = self.here(part) else { return Emptiable::default() };
        let dead = here.dead_fields.iter();
        Emptiable {
            compared: self.of(0, part, heap).into_iter().map(|found| found.node).collect(),
            rewritten: dead
                .filter_map(|(local, field)| field.of(heap, &frame.locals[*local]))
                .collect(),
        }
    }

    /// Empties the fields and locals of a state that only comparands reach; `None` if there are
    /// none.
    pub fn emptied(
        &self,
        heap: &Heap,
        shared: &SharedPart,
        processes: &[ProcessPart],
    ) -> Option<(SharedPart, Vec<ProcessPart>)> {
        let parts = processes.iter().enumerate();
        let mut found: Vec<Found<'_>> =
            parts.flat_map(|(process, part)| self.of(process, part, heap)).collect();
        let private = loop {
            let private = self.dead_fields(heap, shared, processes, &found);
            let reached = reached(heap, shared, processes, &found, &private);
            let before = found.len();
            found.retain(|one| !reached[one.node as usize]);
            if found.len() == before {
                break private;
            }
        };
        if found.is_empty() && private.is_empty() {
            return None;
        }
        let mut cells = (*shared.0).clone();
        for one in &found {
            heap.empty(&mut cells, one.node);
        }
        for (node, field) in private {
            heap.empty_field(&mut cells, node, field);
        }
        let without = |(process, part): (usize, &ProcessPart)| {
            let mut local = (*part.0).clone();
            if let Some(frame) = local.innermost_mut() {
                for dead in found.iter().filter(|one| one.process == process) {
                    let dead = dead.comparand.dead.iter().filter(|dead| {
                        !is_comparand(&found, process, **dead) && frame.locals[**dead].has_nodes()
                    });
                    for dead in dead.copied().collect::<Vec<_>>() {
                        frame.locals[dead] = Data::None;
                    }
                }
            }
            ProcessPart(Arc::new(local))
        };
        let processes = processes.iter().enumerate().map(without).collect();
        Some((SharedPart(Arc::new(cells)), processes))
    }

    fn of<'c>(&'c self, process: usize, part: &ProcessPart, heap: &Heap) -> Vec<Found<'c>> {
        let Some((frame, here)) = self.here(part) else { return Vec::new() };
        let found = here.comparands.iter().filter_map(|comparand| {
            let Data::Node { id, number } = frame.locals[comparand.local] else { return None };
            Some(Found { process, node: heap.number(id, number), comparand })
        });
        found.collect()
    }

    /// Returns the innermost call of a process, and the dead data at its location.
    fn here<'p>(&self, part: &'p ProcessPart) -> Option<(&'p Frame, &Here)> {
        let frame = part.0.innermost()?;
        Some((frame, &self.procedures.get(frame.procedure.0 as usize)?[frame.at]))
    }

    /// Returns the dead fields of nodes with a single local as their only pointer.
    fn dead_fields(
        &self,
        heap: &Heap,
        shared: &SharedPart,
        processes: &[ProcessPart],
        found: &[Found<'_>],
    ) -> Vec<(u32, Field)> {
        let mut cut = Vec::new();
        for (process, part) in processes.iter().enumerate() {
            let Some((frame, here)) = self.here(part) else { continue };
            let found = found.iter().filter(|one| one.process == process);
            let assumed = found.flat_map(|one| &one.comparand.dead_fields);
            for (local, field) in here.dead_fields.iter().chain(assumed) {
                let Some(node) = field.of(heap, &frame.locals[*local]) else { continue };
                let all = processes.iter().map(|part| part.0.mentions(heap, node)).sum::<usize>();
                if all + heap.mentions(shared, node) == 1 && !cut.contains(&(node, *field)) {
                    cut.push((node, *field));
                }
            }
        }
        cut
    }
}

impl Field {
    /// Returns the node that a local points to, if it has this field.
    fn of(self, heap: &Heap, local: &Data) -> Option<u32> {
        match *local {
            Data::Node { id, number } if id.0 as usize == self.kind => {
                Some(heap.number(id, number))
            }
            _ => None,
        }
    }
}

fn is_comparand(found: &[Found<'_>], process: usize, local: usize) -> bool {
    found.iter().any(|one| one.process == process && one.comparand.local == local)
}

/// Returns, per node, true if a path other than through comparands and dead fields reaches it.
fn reached(
    heap: &Heap,
    shared: &SharedPart,
    processes: &[ProcessPart],
    found: &[Found<'_>],
    cut: &[(u32, Field)],
) -> Vec<bool> {
    let mut waiting = Vec::new();
    heap.roots(shared, &mut waiting);
    for (process, part) in processes.iter().enumerate() {
        let is_dead = |local: usize| {
            let mine = found.iter().filter(|one| one.process == process);
            let mut mine = mine.map(|one| one.comparand);
            mine.any(|one| one.local == local || one.dead.contains(&local))
        };
        part.0.private.iter().for_each(|data| heap.pointers(data, &mut waiting));
        let Activity::Running(frames) = &part.0.activity else { continue };
        for (depth, frame) in frames.iter().enumerate() {
            let is_innermost = depth + 1 == frames.len();
            for (local, data) in frame.locals.iter().enumerate() {
                if !(is_innermost && is_dead(local)) {
                    heap.pointers(data, &mut waiting);
                }
            }
        }
    }
    let mut reached = vec![false; heap.len()];
    while let Some(node) = waiting.pop() {
        if !std::mem::replace(&mut reached[node as usize], true) {
            heap.followed(shared, node, |field| !cut.contains(&(node, field)), &mut waiting);
        }
    }
    reached
}

impl Local {
    fn innermost(&self) -> Option<&Frame> {
        match &self.activity {
            Activity::Running(frames) => frames.last(),
            Activity::Idle | Activity::Responding(_) | Activity::Returning(..) => None,
        }
    }

    fn innermost_mut(&mut self) -> Option<&mut Frame> {
        match &mut self.activity {
            Activity::Running(frames) => frames.last_mut(),
            Activity::Idle | Activity::Responding(_) | Activity::Returning(..) => None,
        }
    }
}
