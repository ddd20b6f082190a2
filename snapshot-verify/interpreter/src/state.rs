//! States of a program: the content of every cell and variable, and the location of each process.

use std::sync::Arc;

use super::data::Data;
use crate::program::ProcedureId;

/// A state of all n processes and of shared memory.
///
/// Two states are equal iff all contents are, versions by number included. [`Self::key`] compares
/// states up to the names of versions.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct State {
    /// Cells in the order of their declarations, arrays in row-major order. Like the processes,
    /// shared with the states before and after a step that does not change them: searches hold many
    /// states.
    pub(super) cells: Arc<Vec<Cell>>,
    pub(super) processes: Vec<Arc<Local>>,
    /// Version that `fresh` creates next.
    pub(super) fresh: u32,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Cell {
    pub content: Data,
    /// Processes with an unbroken link; empty unless this is an LL/SC cell.
    pub links: Vec<bool>,
}

/// Private state of one process.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Local {
    /// Private variables in the order of their declarations.
    pub private: Vec<Data>,
    pub activity: Activity,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) enum Activity {
    /// No operation is open.
    Idle,
    /// In an operation, before its next access. The last frame is the innermost call; every other
    /// frame stands at the call that it waits for.
    Running(Vec<Frame>),
    /// Only the response remains: of an update, or of a scan with its result.
    Responding(Option<Vec<u32>>),
    /// Only the response remains, of an object's operation with this procedure and result.
    Returning(ProcedureId, Option<Data>),
}

/// A call of a procedure.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Frame {
    pub procedure: ProcedureId,
    /// Next instruction.
    pub at: usize,
    pub locals: Vec<Data>,
    /// Index that each `for` skips.
    pub excepts: Vec<Option<i64>>,
}

impl State {
    /// Returns true if a process has no open operation.
    pub fn is_idle(&self, process: usize) -> bool {
        self.processes[process].activity == Activity::Idle
    }

    /// Returns bytes that are equal for two states of one program and n iff the states are equal
    /// once versions are renamed in the order of their occurrence. Programs only compare versions
    /// for equality, so such states have the same futures.
    pub fn key(&self) -> Vec<u8> {
        self.key_naming(None).0
    }

    /// As [`Self::key`], with values renamed, too: equal iff the states are, up to the names of
    /// versions and of values other than 0. Also returns the values, in the order of their
    /// occurrence, 0 first.
    pub fn key_up_to_values(&self) -> (Vec<u8>, Vec<u32>) {
        self.key_naming(Some(vec![0]))
    }

    fn key_naming(&self, values: Option<Vec<u32>>) -> (Vec<u8>, Vec<u32>) {
        // Programs can name the initial version, so its name is kept.
        let mut key = Key { bytes: Vec::with_capacity(64), versions: vec![0], values };
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
                    values.iter().for_each(|value| key.value(*value));
                }
                Activity::Returning(procedure, result) => {
                    // A running process has more frames.
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
        (key.bytes, key.values.unwrap_or_default())
    }
}

/// Encoder of a state. The program determines the shape of each variable, so scalars in a fixed
/// order suffice.
struct Key {
    bytes: Vec<u8>,
    /// Versions in the order of their occurrence. They are few.
    versions: Vec<u32>,
    /// Values in the order of their occurrence, if they are renamed.
    values: Option<Vec<u32>>,
}

/// Returns the position of a name, which is added if it is new.
fn position(names: &mut Vec<u32>, name: u32) -> u64 {
    let known = names.iter().position(|known| *known == name);
    let position = known.unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    position as u64
}

impl Key {
    /// Appends a number: seven bits per byte, least significant first; the last byte is below 128.
    fn number(&mut self, mut number: u64) {
        while number >= 128 {
            self.bytes.push(number as u8 | 128);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// Appends data; 0 encodes none.
    fn data(&mut self, data: &Data) {
        match data {
            Data::None => self.number(0),
            Data::Bool(data) => self.number(1 + u64::from(*data)),
            // The sign is the lowest bit.
            Data::Number(data) => self.number(1 + ((data << 1) ^ (data >> 63)) as u64),
            Data::Value(data) => self.value(*data),
            Data::Counter(data) => self.number(1 + data),
            Data::Node { number, .. } => self.number(1 + u64::from(*number)),
            Data::Version(data) => {
                let renamed = position(&mut self.versions, *data);
                self.number(1 + renamed);
            }
            Data::Parts(parts) => parts.iter().for_each(|part| self.data(part)),
        }
    }

    fn value(&mut self, value: u32) {
        let name = match &mut self.values {
            Some(values) => position(values, value),
            None => u64::from(value),
        };
        self.number(1 + name);
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
