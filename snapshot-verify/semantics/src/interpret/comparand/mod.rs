//! Nodes that a process will only compare, and find to be elsewhere.
//!
//! A process that has read `t := top`, and is late, holds a node that others have taken out. What
//! it reads from there is of no use: its `CAS(top, t, ...)` fails. But the node keeps all others alive
//! that it points to, in as many shapes as there were stacks. Where nothing but such comparands
//! reaches a node, its fields are emptied, and so are the locals that matter only if the CAS
//! succeeds: the state has the same futures, and is one of few.
//!
//! **Assumption.** Of a local x that holds a node, *before it is written whole*, every
//! `CAS(c, x, ...)` fails, and what is read by way of x does not matter. Under it, a local is live
//! where some way on reads it (see [`super::Forgetting`]), except that
//!
//! * a CAS that expects x reads neither x nor its new value, and a test of its outcome goes one way;
//! * to read a field of the node at x, into a local that is dead after that, does not read x;
//! * to store x in a field of the node at q does not read x where the node is private, a new one that q
//!   alone points to, and the field is dead: it is written before it is read, and before q is read for
//!   anything but to access fields.
//!
//! Where x itself is dead in this sense, x is a *comparand*, and makes dead what is not live.
//!
//! **Why the assumption holds.** Of some comparands, of one process or several, let no other way
//! lead to their nodes: not from shared variables, private ones, locals that are live, nor from fields,
//! but for dead ones of nodes that a single local points to and nothing else. While the comparands are not
//! written, nothing changes that: a process stores what it reads from live places, and a
//! comparand only in such a dead field. So no cell that is compared holds the node, and the CAS
//! fails; and nothing but reads by way of the comparands, into dead locals, sees its fields.
//!
//! **Dead fields.** Without the assumption, too, a field may be dead: written before it is read, and before
//! the local that points to the node is read for anything but to access fields. Where that local alone
//! points to the node, the field is emptied: the `next` of a node that a `push` could not put in place,
//! and which points to what was the top then.
//!
//! Not in programs that free nodes: a node that is freed may be allocated again, elsewhere.

mod analysis;

use std::sync::Arc;

use super::data::Data;
use super::heap::Heap;
use super::machine::Machine;
use super::parts::{ProcessPart, SharedPart};
use super::state::{Activity, Frame, Local};
use crate::program::{Procedure, SharedId};
use analysis::Analysis;

/// Where locals are comparands, per procedure and instruction.
#[derive(Clone, Debug)]
pub struct Comparands {
    procedures: Vec<Vec<Here>>,
}

/// Nodes of a process of which something may be emptied.
#[derive(Clone, Debug, Default)]
pub struct Emptiable {
    /// Those of its comparands.
    pub compared: Box<[u32]>,
    /// Those that have dead fields, whatever is a comparand, if nothing else points to them.
    pub rewritten: Box<[u32]>,
}

/// What does not matter before some instruction.
#[derive(Clone, Debug, Default)]
struct Here {
    comparands: Vec<Comparand>,
    /// Fields that do not, whatever is a comparand: of the node that a local points to, if nothing
    /// else does.
    dead_fields: Vec<(usize, Field)>,
}

/// A local that is one before some instruction.
#[derive(Clone, Debug)]
struct Comparand {
    local: usize,
    /// The locals that do not matter then.
    dead: Vec<usize>,
    /// The fields that do not: of the node that a local points to.
    dead_fields: Vec<(usize, Field)>,
}

/// A field: of which kind of nodes, and which of its fields.
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
    /// Those of a program; none if it frees nodes.
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

    /// The nodes of a process, where it stands, of which something may be emptied.
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

    /// A state without what is seen by way of comparands only; `None` if there is nothing.
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

    /// The innermost call of a process, and what does not matter where it stands.
    fn here<'p>(&self, part: &'p ProcessPart) -> Option<(&'p Frame, &Here)> {
        let frame = part.0.innermost()?;
        Some((frame, &self.procedures.get(frame.procedure.0 as usize)?[frame.at]))
    }

    /// The fields that do not matter, of nodes to which a single local points and nothing else.
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
    /// The node that a local points to, if it has this field.
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

/// Per node, whether it is reached other than by way of comparands and dead fields.
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
