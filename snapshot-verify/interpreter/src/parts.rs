//! A state in parts, for searches that hold many states: the shared part, and a part per process.
//!
//! A step reads and changes only the shared part and the part of its process. So parts are
//! interned, and the effect of a step is cached for all states that agree on both parts.
//!
//! Versions are the exception: their names are assigned for the whole state. A search that
//! identifies states with different names renames versions ([`Part::names`], [`Part::renamed`]) in
//! the order of their occurrence. Programs only compare versions for
//! equality, so such states have the same futures.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use super::data::Data;
use super::heap::Shape;
use super::interned::ALLOCATION;
use super::machine::Machine;
use super::names::{value_found, value_renamed};
use super::packed::Packed;
use super::reached::Reached;
use super::state::{Activity, Cell, Frame, Local, State};

/// Contents of all cells, and the processes that are linked to them.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct SharedPart(pub(super) Arc<Vec<Cell>>);

/// Private part of one process: its variables and its location.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ProcessPart(pub(super) Arc<Local>);

/// A part of a state: its versions, and its packed form.
pub trait Part: Clone {
    /// Packed form; equal iff parts are equal.
    type Kept: Debug + Eq + Hash;

    fn to_kept(&self) -> Self::Kept;

    fn from_kept(kept: &Self::Kept) -> Self;

    /// Returns the names in the part, each once, in the order of their occurrence: versions, and
    /// values if `values`. The initial version and the initial value, which programs can name, are
    /// left out.
    fn names(&self, values: bool) -> Vec<u32>;

    /// Renames the names.
    #[must_use]
    fn renamed(&self, values: bool, rename: &mut dyn FnMut(u32) -> u32) -> Self;

    /// Approximate heap memory of the packed form, in bytes.
    fn size(kept: &Self::Kept) -> usize;
}

impl State {
    pub fn shared_part(&self) -> SharedPart {
        SharedPart(Arc::clone(&self.cells))
    }

    /// Returns the part of a process.
    ///
    /// # Panics
    /// If the process does not exist.
    pub fn process_part(&self, process: usize) -> ProcessPart {
        ProcessPart(Arc::clone(&self.processes[process]))
    }

    /// Returns the number of created versions, the initial one included: the name of the next.
    pub const fn versions_made(&self) -> u32 {
        self.fresh
    }

    /// Creates a state from its parts, one per process.
    pub fn of_parts(
        shared: SharedPart,
        processes: impl IntoIterator<Item = ProcessPart>,
        versions_made: u32,
    ) -> Self {
        let processes = processes.into_iter().map(|part| part.0).collect();
        Self { cells: shared.0, processes, fresh: versions_made }
    }
}

impl Machine<'_> {
    /// Returns bytes that are equal for two states iff the states are, up to the names of versions
    /// and nodes in the order of their occurrence. Extends [`State::key`] to programs with nodes.
    pub fn key(&self, state: &State) -> Vec<u8> {
        let heap = self.heap();
        if heap.is_empty() {
            return state.key();
        }
        let shared = state.shared_part();
        let parts = (0..self.processes()).map(|process| state.process_part(process));
        let parts: Vec<ProcessPart> = parts.collect();
        let (shape, held) = (heap.shape(&shared), parts.iter().map(|part| heap.held(part)));
        let held: Vec<_> = held.collect();
        let mut walk = Reached::default();
        heap.walk(&mut walk, Shape::new(&shape), held.iter().map(|held| &**held));
        heap.name(&mut walk);
        let parts = parts.iter().map(|part| heap.renamed_process(part, &walk.names));
        let shared = heap.renamed_shared(&shared, &walk.names);
        State::of_parts(shared, parts, state.versions_made()).key()
    }
}

impl ProcessPart {
    /// Returns true if no operation is open.
    pub fn is_idle(&self) -> bool {
        self.0.activity == Activity::Idle
    }
}

impl SharedPart {
    /// Returns true if it is the same allocation: then the parts are equal.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Part for SharedPart {
    type Kept = Packed;

    fn to_kept(&self) -> Packed {
        Packed::new(&self.0)
    }

    fn from_kept(kept: &Packed) -> Self {
        Self(Arc::new(kept.cells()))
    }

    fn names(&self, values: bool) -> Vec<u32> {
        let mut found = Vec::new();
        self.0.iter().for_each(|cell| cell.content.names(values, &mut found));
        found
    }

    fn renamed(&self, values: bool, rename: &mut dyn FnMut(u32) -> u32) -> Self {
        let cell = |cell: &Cell| Cell {
            content: cell.content.named_anew(values, rename),
            links: cell.links.clone(),
        };
        Self(Arc::new(self.0.iter().map(cell).collect()))
    }

    fn size(kept: &Packed) -> usize {
        kept.len() + ALLOCATION
    }
}

impl Part for ProcessPart {
    type Kept = Packed;

    fn to_kept(&self) -> Packed {
        Packed::of_process(&self.0)
    }

    fn from_kept(kept: &Packed) -> Self {
        Self(Arc::new(kept.process()))
    }

    fn names(&self, values: bool) -> Vec<u32> {
        let mut found = Vec::new();
        let frames = self.frames().iter().flat_map(|frame| &frame.locals);
        self.0.private.iter().chain(frames).for_each(|data| data.names(values, &mut found));
        match &self.0.activity {
            Activity::Responding(Some(result)) if values => {
                result.iter().for_each(|value| value_found(*value, &mut found));
            }
            Activity::Returning(_, Some(result)) if values => result.names(values, &mut found),
            _ => {}
        }
        found
    }

    fn renamed(&self, values: bool, rename: &mut dyn FnMut(u32) -> u32) -> Self {
        let mut local = (*self.0).clone();
        let anew = |data: &mut Data| *data = data.named_anew(values, rename);
        let frames = match &mut local.activity {
            Activity::Running(frames) => frames.as_mut_slice(),
            Activity::Idle | Activity::Responding(_) | Activity::Returning(..) => &mut [],
        };
        let frames = frames.iter_mut().flat_map(|frame| &mut frame.locals);
        local.private.iter_mut().chain(frames).for_each(anew);
        match &mut local.activity {
            Activity::Responding(Some(result)) if values => {
                result.iter_mut().for_each(|value| *value = value_renamed(*value, rename));
            }
            Activity::Returning(_, Some(result)) if values => {
                *result = result.named_anew(values, rename);
            }
            _ => {}
        }
        Self(Arc::new(local))
    }

    fn size(kept: &Packed) -> usize {
        kept.len() + ALLOCATION
    }
}

impl ProcessPart {
    fn frames(&self) -> &[Frame] {
        match &self.0.activity {
            Activity::Running(frames) => frames,
            Activity::Idle | Activity::Responding(_) | Activity::Returning(..) => &[],
        }
    }
}

impl Data {
    /// Approximate memory use in bytes.
    pub fn size(&self) -> usize {
        let parts: usize = match self {
            Self::Parts(parts) => parts.iter().map(Self::size).sum(),
            _ => 0,
        };
        size_of::<Self>() + parts
    }
}
