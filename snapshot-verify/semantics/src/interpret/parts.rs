//! A state in parts, for searches that hold many: what is shared, and what each
//! process has to itself.
//!
//! A step reads and changes the shared part and that of the process that makes it,
//! and no other. So the parts of many states can be kept apart, each once, and
//! what a step does can be remembered for all states that have both parts.
//!
//! Versions are the exception: their names are given out for the whole state. A
//! search that wants two states with different names to be one renames them
//! ([`SharedPart::versions`], [`SharedPart::renamed`]) in the order in which they
//! occur. As programs only compare versions for equality, such states have the
//! same futures.

use std::fmt::Debug;
use std::hash::Hash;
use std::mem::size_of;
use std::sync::Arc;

use super::data::Data;
use super::heap::Shape;
use super::interned::ALLOCATION;
use super::machine::Machine;
use super::packed::Packed;
use super::state::{Activity, Cell, Frame, Local, State};

/// The contents of all cells, and the processes that are linked to them.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct SharedPart(pub(super) Arc<Vec<Cell>>);

/// What one process has to itself: its variables, and where it stands.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ProcessPart(pub(super) Arc<Local>);

/// A part of a state: its versions, and how it is kept where there are many.
pub trait Part: Clone {
    /// What is kept of it: equal iff parts are equal.
    type Kept: Debug + Eq + Hash;

    /// What is to be kept.
    fn to_kept(&self) -> Self::Kept;

    /// The part that was kept.
    fn from_kept(kept: &Self::Kept) -> Self;

    /// The versions in it but for the first one of all, which programs can name,
    /// each once, in the order in which they occur.
    fn versions(&self) -> Vec<u32>;

    /// The same with other names for versions; `rename` keeps 0, the first.
    #[must_use]
    fn renamed(&self, rename: &mut dyn FnMut(u32) -> u32) -> Self;

    /// About how many bytes it takes as it is kept, besides those of its struct.
    fn size(kept: &Self::Kept) -> usize;
}

impl State {
    /// What is shared.
    pub fn shared_part(&self) -> SharedPart {
        SharedPart(Arc::clone(&self.cells))
    }

    /// What a process has to itself.
    ///
    /// # Panics
    /// If there is no such process.
    pub fn process_part(&self, process: usize) -> ProcessPart {
        ProcessPart(Arc::clone(&self.processes[process]))
    }

    /// The number of versions that have been made, the first one included: the
    /// name of the next.
    pub const fn versions_made(&self) -> u32 {
        self.fresh
    }

    /// A state of these parts, one per process.
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
    /// Bytes that are equal for two states iff the states are, once versions and nodes are renamed
    /// by the order in which they occur: as [`State::key`], of programs with nodes, too.
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
        let order = heap.order(Shape::new(&shape), held.iter().map(|held| &**held));
        let names = heap.names(&order);
        let parts = parts.iter().map(|part| heap.renamed_process(part, &names));
        let shared = heap.renamed_shared(&shared, &names);
        State::of_parts(shared, parts, state.versions_made()).key()
    }
}

impl ProcessPart {
    /// Whether no operation is open.
    pub fn is_idle(&self) -> bool {
        self.0.activity == Activity::Idle
    }

    /// Whether all is done but for the response.
    pub fn is_responding(&self) -> bool {
        matches!(self.0.activity, Activity::Responding(_) | Activity::Returning(..))
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

    fn versions(&self) -> Vec<u32> {
        let mut found = Vec::new();
        self.0.iter().for_each(|cell| versions(&cell.content, &mut found));
        found
    }

    fn renamed(&self, rename: &mut dyn FnMut(u32) -> u32) -> Self {
        let cell = |cell: &Cell| Cell {
            content: renamed(&cell.content, rename),
            links: cell.links.clone(),
        };
        Self(Arc::new(self.0.iter().map(cell).collect()))
    }

    fn size(kept: &Packed) -> usize {
        kept.len() + ALLOCATION
    }
}

impl Part for ProcessPart {
    type Kept = Self;

    fn to_kept(&self) -> Self {
        self.clone()
    }

    fn from_kept(kept: &Self) -> Self {
        kept.clone()
    }

    fn versions(&self) -> Vec<u32> {
        let mut found = Vec::new();
        let frames = self.frames().iter().flat_map(|frame| &frame.locals);
        self.0.private.iter().chain(frames).for_each(|data| versions(data, &mut found));
        found
    }

    fn renamed(&self, rename: &mut dyn FnMut(u32) -> u32) -> Self {
        let mut local = (*self.0).clone();
        let frames = match &mut local.activity {
            Activity::Running(frames) => frames.as_mut_slice(),
            Activity::Idle | Activity::Responding(_) | Activity::Returning(..) => &mut [],
        };
        let frames = frames.iter_mut().flat_map(|frame| &mut frame.locals);
        local.private.iter_mut().chain(frames).for_each(|data| *data = renamed(data, rename));
        Self(Arc::new(local))
    }

    fn size(kept: &Self) -> usize {
        let frame = |frame: &Frame| {
            let data: usize = frame.locals.iter().map(Data::size).sum();
            size_of::<Frame>() + data + frame.excepts.len() * size_of::<Option<i64>>()
        };
        let private: usize = kept.0.private.iter().map(Data::size).sum();
        size_of::<Local>() + private + kept.frames().iter().map(frame).sum::<usize>()
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

fn versions(data: &Data, found: &mut Vec<u32>) {
    match data {
        Data::Version(version) if *version != 0 && !found.contains(version) => {
            found.push(*version);
        }
        Data::Parts(parts) => parts.iter().for_each(|part| versions(part, found)),
        _ => {}
    }
}

fn renamed(data: &Data, rename: &mut dyn FnMut(u32) -> u32) -> Data {
    match data {
        Data::Version(version) if *version != 0 => Data::Version(rename(*version)),
        Data::Parts(parts) => Data::Parts(parts.iter().map(|part| renamed(part, rename)).collect()),
        data => data.clone(),
    }
}

impl Data {
    /// About how many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        let parts: usize = match self {
            Self::Parts(parts) => parts.iter().map(Self::size).sum(),
            _ => 0,
        };
        size_of::<Self>() + parts
    }
}
