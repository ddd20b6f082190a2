//! A program, prepared for an obligation: the location of each scalar in a state of the crowd,
//! and the instructions.
//!
//! A state is a row of bytes: the specification's, shared memory's, then a block for each of i, j
//! and t. A block holds the location of the process, its private variables, and room for one frame
//! of each procedure: procedures do not call each other in a circle, so no more is ever needed.

use snapshot_language::Span;
use snapshot_language::program::{LocalId, PrivateId, ProcedureId, SharedId};

use super::shape::{EXEMPT, Leaf, Mode, OLD, Scalar};
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

/// Which scans the specification is checked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ghosts {
    /// The scans of the program (G0).
    Scans,
    /// Calls of procedures that return a view, by scans and updates (G1).
    Calls,
    /// Rounds of all processes together (G2): from a write to a shared variable to a write of a
    /// view to one, which scans return. Both are numbers of instructions.
    Rounds {
        /// Write that begins a round; an open round is dropped.
        begin: u16,
        end: u16,
    },
}

/// Role of an instruction for rounds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Round {
    Begin,
    End,
}

/// Judge of the vectors of ghost scans.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Specification {
    /// By the observer of simple histories.
    Observer,
    /// The vector must have been in memory during the ghost scan, updates taking effect where they
    /// first store their value (s1).
    Local,
}

/// Part of a claim: each part needs fewer kept scalars than the whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    Whole,
    /// For nesting: the program does not go wrong.
    Faults,
    /// For nesting: views belong to ghost scans within, if nothing else goes wrong before.
    Tokens,
    /// For vectors, judged by memory: the vectors of the ghost scans of this member of the crowd.
    /// Ghost scans do not affect the judgement of others.
    By(u8),
}

/// A property of a program, and the abstraction in which it is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Obligation {
    pub mode: Mode,
    pub ghosts: Ghosts,
    /// Judge of vectors; unused for nesting.
    pub specification: Specification,
    pub part: Part,
}

impl Obligation {
    /// Returns true for the vectors of rounds: no result of an operation is judged.
    pub fn is_of_round_vectors(&self) -> bool {
        matches!(self.ghosts, Ghosts::Rounds { .. }) && self.mode == Mode::Direct
    }
}

/// Offsets within a block.
pub mod at {
    /// Location of the process: two bytes, low first; 0: it is idle.
    pub const PC: usize = 0;
    /// Operation of the process: one of the constants below.
    pub const OPERATION: usize = 2;
    /// 1 if a ghost scan is open.
    pub const GHOST: usize = 3;
    /// 1 if the ghost scan has made its first access.
    pub const BEGUN: usize = 4;
    /// The specification's bits of the ghost scan.
    pub const BITS: usize = 5;
    /// Token of the ghost scan, relative to t.
    pub const TOKEN: usize = 6;
    /// 1 if the update has made its first access.
    pub const INVOKED: usize = 7;
    /// 1 if the process has begun to write 1.
    pub const SWITCHED: usize = 8;
    /// Number of bytes before the private variables.
    pub const END: usize = 9;
}

/// Operation of an idle process.
pub const IDLE: u8 = 0;
/// An update that does not switch its segment.
pub const UPDATES: u8 = 1;
pub const SCANS: u8 = 2;
/// The first update to 1.
pub const SWITCHES: u8 = 3;

/// A byte of a state.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Type of the scalar; `None` for bookkeeping.
    pub leaf: Option<Leaf>,
    /// True if the byte is kept; if not, it never changes.
    pub kept: bool,
    /// True if t, or an untracked process, is among the indices or is the owner.
    pub tracked: bool,
    /// True if an untracked process is among the indices.
    pub other: bool,
    /// True if t is among the indices within a variable or a cell.
    pub within_tracked: bool,
    /// True if some process is among the indices within a variable or a cell.
    pub within_member: bool,
    /// Owner, unless the byte is shared.
    pub owner: Option<u8>,
    /// Procedure of its frame.
    pub frame: Option<ProcedureId>,
    /// Shared variable, and the indices of its cell over processes or segments.
    pub cell: Option<(SharedId, Vec<u8>)>,
    /// True for the position of a `for`.
    pub position: bool,
    /// For a link of the owner to a cell: the shared variable, and the indices of the cell over
    /// processes or segments.
    pub link: Option<(SharedId, Vec<u8>)>,
    /// True for a name, whose byte tells only whether the name is the followed process.
    pub names: bool,
    /// Process whose row of an array has the byte, or whose row it links to: only views that follow
    /// this process show it.
    pub row: Option<u8>,
}

impl Slot {
    /// Returns the byte that is stored here. Only at the place of any other process is a view
    /// exempt from judgement as such: at the place of a tracked process it may come from another
    /// one.
    pub fn stored(&self, byte: u8) -> u8 {
        let is_view = self.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
        match is_view && self.within_member && byte == EXEMPT {
            true => OLD,
            false => byte,
        }
    }

    /// Returns true for a byte at t's index within a cell that is not indexed by t: there the
    /// process that writes the cell sees its own element, or none.
    pub fn is_within_cell_of_tracked(&self) -> bool {
        let is_of_others =
            self.cell.as_ref().is_some_and(|(_, path)| !path.contains(&super::shape::T));
        is_of_others && self.within_tracked
    }
}

/// Condition under which a byte is outside the centre: it is relative to the tracked process, or
/// within an open ghost scan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outside {
    Always,
    /// While a ghost scan of this process is open.
    InGhost(u8),
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
    /// First of the two bytes of the return location.
    pub back: usize,
    /// One past its last byte.
    pub end: usize,
    pub locals: Vec<Room>,
    /// Per `for` statement, the byte of the position; the next byte is the index left out.
    pub fors: Vec<usize>,
}

/// A prepared program.
#[derive(Clone, Debug)]
pub struct Model {
    pub obligation: Obligation,
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
    /// Initial contents: shared bytes, and of locals per procedure.
    pub initial: Vec<(usize, Term)>,
    /// Private variables: the bytes, and the initial value.
    pub private: Vec<(Room, Term)>,
    /// Bytes of kept versions.
    pub versions: Vec<usize>,
    /// Per byte, the condition under which it is outside the centre.
    pub outside: Vec<Outside>,
    /// Kept bytes that may be in the centre, except bookkeeping.
    pub in_centre: Vec<usize>,
    /// Positions of loops, and the members that count as any other there.
    pub positions: Vec<(usize, [bool; 3])>,
    /// Bytes that may name a process, and may be in the centre.
    pub names: Vec<usize>,
    /// True if an operation is shown only from its first access to a kept variable, outside of its
    /// ghost scans: until then, its process counts as idle.
    pub delays: bool,
    /// Bits that may be flipped together.
    pub flips: Vec<super::flips::Class>,
    /// Per process, the bytes that only one condition reads.
    pub uses: [Vec<super::decided::Use>; 3],
    /// Per procedure, the initial values of the locals, after the parameters.
    pub fresh_locals: Vec<Vec<(Room, Term)>>,
    /// Bytes of rows of processes, and of links to them, each with the process.
    pub in_rows: Vec<(usize, u8)>,
    /// Fields that name a process.
    pub named: Vec<super::names::Name>,
}

/// Byte of the specification.
pub const SPECIFICATION: usize = 0;

/// Byte of the round: the specification's bits of it plus 1, 0 if none is open; for nesting, its
/// token.
pub const ROUND: usize = 1;

#[derive(Clone, Debug)]
pub struct Instruction {
    pub act: Act,
    pub span: Span,
    pub procedure: ProcedureId,
    /// Per local, true if it is read later without being written before: the bytes of all others
    /// may be forgotten.
    pub live: Vec<bool>,
    /// Per shared variable, true if an SC or VL may precede the next LL: otherwise links to its
    /// cells may be forgotten.
    pub live_links: Vec<bool>,
    /// Processes for which it is a pause: it accesses a kept variable.
    pub pause: [bool; 3],
    /// Indices of the cell that it accesses.
    pub places: Vec<Place>,
    /// True if an update takes effect there.
    pub point: bool,
    /// Role for rounds, if rounds are the ghost scans.
    pub round: Option<Round>,
    /// Use of names.
    pub used: Option<super::names::Use>,
}

impl Instruction {
    /// Returns true if a step that begins with it may leave something to others.
    pub const fn leaves(&self) -> bool {
        let is_marked = self.point || self.round.is_some();
        is_marked || self.act.may_write() || matches!(self.act, Act::Atomic)
    }
}

/// Index of a cell, as far as it decides before which accesses there is a pause.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    Me,
    /// Variable of an enclosing loop over the crowd.
    Round(usize),
    /// A process or a segment.
    Any,
    Integer,
}

#[derive(Clone, Debug)]
pub enum Act {
    /// No action: the process is idle.
    Idle,
    Assign(Target, Term),
    Read(Cell, Option<Target>),
    Write(Cell, Term),
    Swap(Cell, Term, Term, Option<Target>, Vec<(Leaf, super::shape::Bytes)>),
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

    /// Returns true if it links the process to a cell, or tests a link.
    pub const fn uses_link(&self) -> bool {
        matches!(self, Self::LoadLinked(..) | Self::StoreConditional(..) | Self::Validate(..))
    }
}

#[derive(Clone, Debug)]
pub struct For {
    /// Byte of the index.
    pub variable: usize,
    /// Byte of the position; the next byte is the index left out.
    pub position: usize,
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
    pub span: Span,
}

/// A step from a variable to a part of it.
#[derive(Clone, Debug)]
pub enum Step {
    /// This many bytes further.
    Field(usize),
    /// An element of an array, whose elements have this size.
    Element(Term, Over, usize, super::term::Other),
    /// An index into a single token, or an unsupported value: evaluated only for its faults.
    Passed(Term),
}

impl Model {
    /// Caches the bytes of versions, and the bytes outside the centre.
    pub fn index(&mut self) {
        let is_version = |slot: &Slot| slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Version);
        let slots = self.slots.iter().enumerate();
        self.versions =
            slots.filter(|(_, slot)| is_version(slot) && slot.kept).map(|(at, _)| at).collect();
        let slots = self.slots.iter().enumerate();
        let is_nested = self.obligation.mode == Mode::Nested;
        let outside = slots.map(|(at, slot)| match (slot.owner, slot.frame) {
            _ if at == ROUND && is_nested => Outside::Always,
            _ if slot.tracked || slot.row.is_some() => Outside::Always,
            (Some(owner), None) if slot.link.is_some() => Outside::InGhost(owner),
            (Some(owner), Some(frame)) if self.ghostly[frame.0 as usize] => Outside::InGhost(owner),
            (Some(owner), None) => match at - self.blocks[usize::from(owner)] {
                at::BEGUN | at::BITS | at::TOKEN => Outside::Always,
                _ => Outside::Never,
            },
            _ => Outside::Never,
        });
        self.outside = outside.collect();
        let of = |chosen: &dyn Fn(usize, &Slot) -> bool| -> Vec<usize> {
            let slots = self.slots.iter().enumerate();
            slots.filter(|(at, slot)| chosen(*at, slot)).map(|(at, _)| at).collect()
        };
        let may_be_inside = |at: usize| self.outside[at] != Outside::Always;
        let in_centre = of(&|at, slot| may_be_inside(at) && slot.kept && slot.leaf.is_some());
        let positions = of(&|at, slot| may_be_inside(at) && slot.position);
        let merged = |at: usize| {
            let owner = usize::from(self.slots[at].owner.unwrap_or_default());
            let offset = at - self.blocks[owner];
            let this = self.code.iter().find_map(|one| match &one.act {
                Act::Begin(this) if this.position == offset => Some(this.merged[owner]),
                _ => None,
            });
            (at, this.unwrap_or_default())
        };
        let positions = positions.into_iter().map(merged).collect();
        let names = of(&|at, slot| {
            may_be_inside(at) && slot.leaf.is_some_and(|leaf| leaf.scalar == Scalar::Member)
        });
        (self.in_centre, self.positions, self.names) = (in_centre, positions, names);
        let slots = self.slots.iter().enumerate().filter(|(_, slot)| slot.kept);
        self.in_rows = slots.filter_map(|(at, slot)| Some((at, slot.row?))).collect();
    }
    /// Returns true if a byte is not in the centre: it is relative to the tracked process, or
    /// within an open ghost scan.
    pub fn is_outside(&self, state: &[u8], at: usize) -> bool {
        match self.outside[at] {
            Outside::Always => true,
            Outside::InGhost(owner) => state[self.blocks[usize::from(owner)] + at::GHOST] != 0,
            Outside::Never => false,
        }
    }
}
