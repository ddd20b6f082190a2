//! A program, prepared for an obligation: the location of each scalar in a state of the crowd,
//! and the instructions.
//!
//! A state is a row of bytes: those of shared memory, then a block for each of i, j and t. A block
//! holds the private variables of the process, its links, and the locals of each procedure: no
//! procedure calls itself, so no more is ever needed.

use snapshot_invariant::claim::{Ghosts, Obligation, Property};
use snapshot_language::Span;
use snapshot_language::program::{LocalId, PrivateId, ProcedureId, SharedId};

use super::shape::{Leaf, Mode};
use super::term::{Over, Term};

/// An unsupported construct: the answer is unknown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unsupported {
    pub span: Span,
    pub construct: &'static str,
}

/// What is said of a rung that is of no meaning to a program.
pub const NO_GHOSTS: &str = "a program without ghost scans of this kind";

impl Unsupported {
    /// Whether the program only has no ghost scans of the rung's kind.
    pub fn is_of_ghosts(&self) -> bool {
        self.construct == NO_GHOSTS
    }
}

/// Role of an instruction for rounds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Round {
    Begin,
    End,
}

/// An obligation, and how much its views keep.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Goal {
    pub obligation: Obligation,
    /// True to keep, for faults and for nesting, what matters to either.
    pub is_whole: bool,
    /// If rounds are the ghost scans, the writes that begin and end them: numbers of instructions.
    /// An open round is dropped where another begins.
    pub round: Option<[u16; 2]>,
}

impl Goal {
    /// Returns the goal of an obligation that does not depend on rounds.
    pub const fn new(obligation: Obligation) -> Self {
        Self { obligation, is_whole: false, round: None }
    }

    /// Returns the property of ghost scans.
    pub const fn mode(self) -> Mode {
        if self.obligation.has_tokens() { Mode::Nested } else { Mode::Direct }
    }

    /// Returns true if views keep only what matters to faults.
    pub fn is_of_faults(self) -> bool {
        self.obligation.property == Property::Faults && !self.is_whole
    }

    /// Returns true if faults are excluded.
    pub fn excludes_faults(self) -> bool {
        self.obligation.property == Property::Faults || self.is_whole
    }

    /// Returns true for the vectors of rounds: no result of an operation is judged.
    pub fn is_of_round_vectors(self) -> bool {
        self.obligation.ghosts == Ghosts::Rounds && self.mode() == Mode::Direct
    }
}

/// A byte of a state.
#[derive(Clone, Debug)]
pub struct Slot {
    pub leaf: Leaf,
    /// True if the byte is kept.
    pub kept: bool,
    /// True if t, or an untracked process, is among the indices or is the owner, or the byte is a
    /// token, which is relative to t.
    pub tracked: bool,
    /// True if an untracked process is among the indices.
    pub other: bool,
    /// Owner, unless the byte is shared.
    pub owner: Option<u8>,
    /// Procedure of its frame.
    pub frame: Option<ProcedureId>,
    /// Shared variable of a cell, and its indices over processes or segments.
    pub cell: Option<(SharedId, Vec<u8>)>,
    /// The same, for a link of the owner to a cell.
    pub link: Option<(SharedId, Vec<u8>)>,
    /// True if the byte is in a row of an array, or a link to one: only views that follow the process
    /// of the row show it.
    pub in_row: bool,
}

/// Condition under which a byte is outside the centre: it is relative to the tracked process, or
/// within an open ghost scan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CentreExclusion {
    Always,
    /// While a ghost scan of its owner is open.
    InGhost,
    Never,
}

/// Bytes of a variable.
#[derive(Clone, Debug)]
pub struct Room {
    /// First byte, in the state if shared, else in the block.
    pub base: usize,
    /// Number of bytes, of one cell if shared.
    pub size: usize,
}

/// Bytes of the frame of a procedure in a block.
#[derive(Clone, Debug)]
pub struct Frame {
    pub begin: usize,
    /// One past its last byte.
    pub end: usize,
    /// The parameters come first.
    pub locals: Vec<Room>,
    /// Number of parameters.
    pub parameters: usize,
}

/// A prepared program.
#[derive(Clone, Debug)]
pub struct Model {
    pub goal: Goal,
    /// Bytes of a state.
    pub slots: Vec<Slot>,
    /// Instructions; the first stands for an idle process.
    pub code: Vec<Instruction>,
    /// Per procedure, its first instruction.
    pub entries: Vec<usize>,
    /// Per procedure, its frame.
    pub frames: Vec<Frame>,
    /// Per procedure, true if it is a ghost scan, or a ghost scan calls it, directly or not.
    pub ghostly: Vec<bool>,
    /// Per procedure, true if its calls are ghost scans.
    pub is_ghost: Vec<bool>,
    /// First bytes of the blocks of i, j, t.
    pub blocks: [usize; 3],
    pub update: ProcedureId,
    pub scan: ProcedureId,
    /// Per shared variable, its first cell.
    pub shared: Vec<Room>,
    /// Per shared variable, the offset of the links of a process to its cells in a block, one byte
    /// per cell; `None` without links.
    pub links: Vec<Option<usize>>,
    pub private: Vec<Room>,
    /// True if an operation is shown only from its first access to a kept variable, outside of its
    /// ghost scans: until then, its process counts as idle.
    pub delays: bool,
    /// Bits that may be flipped together.
    pub flips: Vec<super::flips::Class>,
    /// Per process, the bytes that only one condition reads.
    pub uses: [Vec<super::decided::Use>; 3],
    /// Fields that name a process.
    pub named: Vec<super::names::Name>,
}

#[derive(Clone, Debug)]
pub struct Instruction {
    pub act: Act,
    pub span: Span,
    pub procedure: ProcedureId,
    /// Per local, true if it is read later without being written before: the bytes of all others
    /// may be forgotten.
    pub live: Vec<bool>,
    /// True if an update takes effect there.
    pub point: bool,
    /// Role for rounds, if rounds are the ghost scans.
    pub round: Option<Round>,
    /// Use of names.
    pub used: Option<super::names::Use>,
}

#[derive(Clone, Debug)]
pub enum Act {
    /// No action: the process is idle.
    Idle,
    Assign(Target, Term),
    Read(Cell, Option<Target>),
    Write(Cell, Term),
    Swap(Cell, Term, Term, Option<Target>),
    /// Reads a cell and links the process to it.
    LoadLinked(Cell, Option<Target>),
    /// Writes a cell if the process is linked to it.
    StoreConditional(Cell, Term, Option<Target>),
    /// Tests whether the process is linked to a cell.
    Validate(Cell, Option<Target>),
    Call(ProcedureId, Vec<Term>, Option<Target>),
    /// Jumps unless the condition holds.
    Unless(Term, usize),
    Jump(usize),
    Begin(For),
    /// Advances to the next index.
    Next(For),
    Return(Option<Term>),
    /// Begins an atomic block: all accesses are one step.
    Atomic,
    /// Ends an atomic block.
    EndAtomic,
}

impl Act {
    /// Returns the loop that is begun.
    pub const fn begins(&self) -> Option<&For> {
        match self {
            Self::Begin(this) => Some(this),
            _ => None,
        }
    }

    /// Returns the cell that is accessed.
    pub const fn cell(&self) -> Option<&Cell> {
        match self {
            Self::Read(cell, _)
            | Self::Write(cell, _)
            | Self::Swap(cell, ..)
            | Self::LoadLinked(cell, _)
            | Self::StoreConditional(cell, ..)
            | Self::Validate(cell, _) => Some(cell),
            _ => None,
        }
    }

    /// Returns true if it may write a cell, and break the links to it.
    pub const fn may_write(&self) -> bool {
        matches!(self, Self::Write(..) | Self::Swap(..) | Self::StoreConditional(..))
    }

    /// Returns the value that may be written.
    pub const fn written(&self) -> Option<&Term> {
        match self {
            Self::Write(_, value)
            | Self::Swap(_, _, value, ..)
            | Self::StoreConditional(_, value, _) => Some(value),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct For {
    /// Byte of the index.
    pub variable: usize,
    pub over: Over,
    /// Index that is left out.
    pub except: Option<Term>,
    /// Per process, the members that count as any other: their rounds use the index for no kept
    /// byte.
    pub merged: [[bool; 3]; 3],
    /// First instruction of the body.
    pub body: usize,
    /// First instruction behind the loop.
    pub end: usize,
}

#[derive(Clone, Debug)]
pub struct Cell {
    pub variable: SharedId,
    /// One index per dimension.
    pub indices: Vec<(Over, Term)>,
    /// Type of its content.
    pub shape: super::shape::Shape,
}

/// A part of a variable of the process.
#[derive(Clone, Debug)]
pub struct Target {
    pub room: Room,
    /// Path from the variable to the part.
    pub path: Vec<Step>,
    /// Number of bytes of the part.
    pub size: usize,
    /// Local, if it is one.
    pub local: Option<LocalId>,
    /// Private variable, if it is one.
    pub private: Option<PrivateId>,
    /// True if the store sets an element of a view that is only a token.
    pub in_token: bool,
}

/// A step from a variable to a part of it.
#[derive(Clone, Debug)]
pub enum Step {
    /// This many bytes further.
    Field(usize),
    /// An element of an array, whose elements have this size.
    Element(Term, Over, usize),
    /// An index into a single token, or an unsupported value: evaluated only for its faults.
    Passed(Term),
}

impl Model {
    /// Returns the condition under which a byte is outside the centre.
    pub fn outside(&self, at: usize) -> CentreExclusion {
        let slot = &self.slots[at];
        let is_of_ghosts = match slot.frame {
            Some(frame) => self.ghostly[frame.0 as usize],
            None => slot.link.is_some(),
        };
        match slot.tracked || slot.in_row {
            true => CentreExclusion::Always,
            false if is_of_ghosts => CentreExclusion::InGhost,
            false => CentreExclusion::Never,
        }
    }
}
