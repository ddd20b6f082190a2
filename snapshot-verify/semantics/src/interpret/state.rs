//! States of a program: what every cell and variable holds, and where each
//! process stands.

use std::sync::Arc;

use super::data::Data;
use crate::program::ProcedureId;

/// A state of all n processes and of shared memory.
///
/// Two states are equal iff they hold the same, versions by number included.
/// [`Self::key`] can tell them apart up to the names of versions.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct State {
    /// The cells, in the order of their declarations, of an array in row-major order.
    /// Shared with the states before and after, like the processes, where a step
    /// does not change them: searches hold many states.
    pub(super) cells: Arc<Vec<Cell>>,
    /// One per process.
    pub(super) processes: Vec<Arc<Local>>,
    /// The version that `fresh` makes next.
    pub(super) fresh: u32,
}

/// A shared cell.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Cell {
    pub content: Data,
    /// The processes with an unbroken link; empty but for LL/SC cells.
    pub links: Vec<bool>,
}

/// What one process has to itself.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Local {
    /// In the order of their declarations.
    pub private: Vec<Data>,
    pub activity: Activity,
}

/// What a process is doing.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Activity {
    /// No operation is open.
    Idle,
    /// In an operation, before its next access. The last frame is the innermost
    /// call; every other stands at the call that it waits for.
    Running(Vec<Frame>),
    /// All is done but for the response: an update's, or a scan's with what it
    /// returns.
    Responding(Option<Vec<u32>>),
    /// The same, of an object's operation with this procedure, and what it returns.
    Returning(ProcedureId, Option<Data>),
}

/// A call of a procedure.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Frame {
    pub procedure: ProcedureId,
    /// The next instruction.
    pub at: usize,
    pub locals: Vec<Data>,
    /// The index that each `for` leaves out.
    pub excepts: Vec<Option<i64>>,
}

impl State {
    /// Whether a process has no operation open.
    pub fn is_idle(&self, process: usize) -> bool {
        self.processes[process].activity == Activity::Idle
    }

    /// Bytes that are equal for two states of one program and n iff the states
    /// are, once versions are renamed by the order in which they occur. As
    /// programs only compare versions for equality, such states have the same
    /// futures.
    pub fn key(&self) -> Vec<u8> {
        // The first version can be named by the program, so its name is kept.
        let mut key = Key { bytes: Vec::with_capacity(64), versions: vec![0] };
        for cell in &*self.cells {
            key.data(&cell.content);
            for links in cell.links.chunks(8) {
                let bits = links.iter().enumerate().map(|(bit, link)| u8::from(*link) << bit);
                key.bytes.push(bits.sum());
            }
        }
        for process in &self.processes {
            process.private.iter().for_each(|data| key.data(data));
            match &process.activity {
                Activity::Idle => key.number(0),
                Activity::Responding(None) => key.number(1),
                Activity::Responding(Some(values)) => {
                    key.number(2);
                    values.iter().for_each(|value| key.number(u64::from(*value)));
                }
                Activity::Returning(procedure, result) => {
                    // Fewer frames than a running process has.
                    key.number(2);
                    key.number(u64::from(procedure.0));
                    key.data(result.as_ref().unwrap_or(&Data::None));
                }
                Activity::Running(frames) => {
                    key.number(2 + frames.len() as u64);
                    frames.iter().for_each(|frame| key.frame(frame));
                }
            }
        }
        key.bytes
    }
}

/// A state being written down. The shape of each variable is fixed by the
/// program, so scalars in a fixed order suffice.
struct Key {
    bytes: Vec<u8>,
    /// The versions that have occurred, in this order. They are few.
    versions: Vec<u32>,
}

impl Key {
    /// Seven bits per byte, the least first; the last byte is below 128.
    fn number(&mut self, mut number: u64) {
        while number >= 128 {
            self.bytes.push(number as u8 | 128);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// 0 is none.
    fn data(&mut self, data: &Data) {
        match data {
            Data::None => self.number(0),
            Data::Bool(data) => self.number(1 + u64::from(*data)),
            // Signs go to the lowest bit.
            Data::Number(data) => self.number(1 + ((data << 1) ^ (data >> 63)) as u64),
            Data::Value(data) => self.number(1 + u64::from(*data)),
            Data::Counter(data) => self.number(1 + data),
            Data::Node { number, .. } => self.number(1 + u64::from(*number)),
            Data::Version(data) => {
                let known = self.versions.iter().position(|version| version == data);
                let renamed = known.unwrap_or_else(|| {
                    self.versions.push(*data);
                    self.versions.len() - 1
                });
                self.number(1 + renamed as u64);
            }
            Data::Parts(parts) => parts.iter().for_each(|part| self.data(part)),
        }
    }

    fn frame(&mut self, frame: &Frame) {
        self.number(u64::from(frame.procedure.0));
        self.number(frame.at as u64);
        frame.locals.iter().for_each(|data| self.data(data));
        for except in &frame.excepts {
            self.data(&except.map_or(Data::None, Data::Number));
        }
    }
}
