//! Labels of edges: moves, packed.

use rustc_hash::FxHashMap;
use snapshot_core::Process;

use crate::interpret::{Call, Move, MoveKind};

/// Most processes of a graph.
pub const MOST_PROCESSES: usize = 1 << PROCESS;

const PROCESS: u32 = 6;
const KIND: u32 = 2;
const ACCESS: u32 = 1;

/// Kind of a move.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Begin,
    Step,
    /// Step with one of the outcomes of a `choose`.
    Choice,
    Response,
}

/// A move: process, kind, whether it accesses shared memory, and the number of the call or of the
/// outcome.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Label(u32);

impl Label {
    pub const fn process(self) -> Process {
        Process::from_index((self.0 & ((1 << PROCESS) - 1)) as usize)
    }

    pub const fn kind(self) -> Kind {
        match (self.0 >> PROCESS) & ((1 << KIND) - 1) {
            0 => Kind::Begin,
            1 => Kind::Step,
            2 => Kind::Choice,
            _ => Kind::Response,
        }
    }

    pub const fn accesses(self) -> bool {
        (self.0 >> (PROCESS + KIND)) & 1 == 1
    }

    /// Returns true for a step within an operation: neither its invocation nor its response.
    pub const fn is_within(self) -> bool {
        matches!(self.kind(), Kind::Step | Kind::Choice)
    }

    /// Returns true for the response of an operation.
    pub const fn returns(self) -> bool {
        matches!(self.kind(), Kind::Response)
    }

    /// Creates the label with this number, which must exist.
    pub const fn of_number(number: u32) -> Self {
        Self(number)
    }

    pub const fn number(self) -> u32 {
        self.0
    }

    const fn payload(self) -> u32 {
        self.0 >> (PROCESS + KIND + ACCESS)
    }
}

/// Interner of the calls in labels.
#[derive(Debug, Default)]
pub struct Labels {
    calls: Vec<Call>,
    numbers: FxHashMap<Call, u32>,
}

impl Labels {
    /// Returns the label of a move.
    ///
    /// # Panics
    /// If there are too many outcomes or calls.
    pub fn label(&mut self, made: Move, kind: Kind, accesses: bool) -> Label {
        let payload = match made.kind {
            MoveKind::Begin(call) => *self.numbers.entry(call).or_insert_with(|| {
                self.calls.push(call);
                self.calls.len() as u32 - 1
            }),
            MoveKind::Step | MoveKind::Take(_) => made.outcome(),
        };
        assert!(payload >> (u32::BITS - PROCESS - KIND - ACCESS) == 0, "too many outcomes");
        let kind = match kind {
            Kind::Begin => 0,
            Kind::Step => 1,
            Kind::Choice => 2,
            Kind::Response => 3,
        };
        let process = made.process.index() as u32;
        let word = (payload << ACCESS) | u32::from(accesses);
        Label((((word << KIND) | kind) << PROCESS) | process)
    }

    /// Returns the move of a label.
    pub fn made(&self, label: Label) -> Move {
        let process = label.process();
        match label.kind() {
            Kind::Begin => {
                Move { process, kind: MoveKind::Begin(self.calls[label.payload() as usize]) }
            }
            Kind::Step | Kind::Choice | Kind::Response => Move::taking(process, label.payload()),
        }
    }
}
