//! A program, prepared for an obligation: where each scalar lies in a state of the crowd,
//! and the instructions.
//!
//! A state is a row of bytes: the specification's, those of shared memory, then a block
//! for each of i, j and t. A block holds where the process stands, its private variables,
//! and room for one frame of each procedure: procedures do not call each other in a
//! circle, so no more is ever needed.

use snapshot_language::Span;
use snapshot_language::program::{LocalId, PrivateId, ProcedureId, SharedId};

use super::shape::{EXEMPT, Leaf, Mode, OLD, Scalar};
use super::term::{Over, Term};

/// A construct that is not modelled: the answer is unknown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unsupported {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub construct: &'static str,
}

/// What is said of a rung that is of no meaning to a program.
pub(crate) const NO_GHOSTS: &str = "a program without ghost scans of this kind";

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
    /// Rounds of all processes together (G2): from a write to a shared variable to a write of
    /// a view to one, which scans return. Both by the numbers of instructions.
    Rounds {
        /// The write that begins a round; a round that is not over is dropped.
        begin: u16,
        /// The write that ends it.
        end: u16,
    },
}

/// What an instruction is to rounds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Round {
    /// Its write begins one.
    Begin,
    /// Its write ends one.
    End,
}

/// How the vector of a ghost scan is judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Specification {
    /// By the observer of simple histories.
    Observer,
    /// It must have been in memory during the ghost scan, updates taking effect where
    /// they first store their value (s1).
    Local,
}

/// Which part of a claim is to be shown: each needs less to be kept than all of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// All of it.
    Whole,
    /// Of nesting: that the program does not go wrong.
    Faults,
    /// Of nesting: that views are of ghost scans within, whatever else goes wrong.
    Tokens,
    /// Of vectors, by what was in memory: those of the ghost scans of this member of the
    /// crowd. No ghost scan changes what another one is judged by.
    By(u8),
}

/// What is to be shown of a program, and in which abstraction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Obligation {
    /// What.
    pub mode: Mode,
    /// Of which scans.
    pub ghosts: Ghosts,
    /// Judged how; nothing to judge if nested.
    pub specification: Specification,
    /// Which part of it.
    pub part: Part,
}

impl Obligation {
    /// Whether it is about the vectors of rounds: nothing that an operation returns is judged.
    pub fn is_of_round_vectors(&self) -> bool {
        matches!(self.ghosts, Ghosts::Rounds { .. }) && self.mode == Mode::Direct
    }
}

/// Offsets within a block.
pub mod at {
    /// Where the process stands: two bytes, low first; 0: it is idle.
    pub const PC: usize = 0;
    /// What it does: one of the constants below.
    pub const OPERATION: usize = 2;
    /// Whether a ghost scan is open.
    pub const GHOST: usize = 3;
    /// Whether the ghost scan has made its first access.
    pub const BEGUN: usize = 4;
    /// What the specification keeps of the ghost scan.
    pub const BITS: usize = 5;
    /// The token of the ghost scan, relative to t.
    pub const TOKEN: usize = 6;
    /// Whether the update has made its first access.
    pub const INVOKED: usize = 7;
    /// Whether the process has begun to write 1.
    pub const SWITCHED: usize = 8;
    /// The number of bytes before the private variables.
    pub const END: usize = 9;
}

/// What a process does.
pub const IDLE: u8 = 0;
/// An update that does not switch its segment.
pub const UPDATES: u8 = 1;
/// A scan.
pub const SCANS: u8 = 2;
/// The first update to 1.
pub const SWITCHES: u8 = 3;

/// A byte of a state.
#[derive(Clone, Debug)]
pub struct Slot {
    /// What it stands for; bookkeeping stands for nothing.
    pub leaf: Option<Leaf>,
    /// Whether it is kept; if not, it never changes.
    pub kept: bool,
    /// Whether t, or an untracked process, is among the indices or is the owner.
    pub tracked: bool,
    /// Whether an untracked process is among the indices.
    pub other: bool,
    /// Whether t is among the indices within a variable or a cell.
    pub within_tracked: bool,
    /// Whether some process is among the indices within a variable or a cell.
    pub within_member: bool,
    /// Whose it is, unless it is shared.
    pub owner: Option<u8>,
    /// The procedure whose frame it belongs to.
    pub frame: Option<ProcedureId>,
    /// The shared variable, and the indices of its cell over processes or segments.
    pub cell: Option<(SharedId, Vec<u8>)>,
    /// Whether it is where a `for` stands.
    pub position: bool,
    /// If it tells whether its owner is linked to a cell: the shared variable, and the indices
    /// of the cell over processes or segments.
    pub link: Option<(SharedId, Vec<u8>)>,
    /// Whether it is a name, and tells only whether that is the process that is followed.
    pub names: bool,
    /// The process whose row of an array it is in, or a link to a cell of that: only views that
    /// follow this one show it.
    pub row: Option<u8>,
}

impl Slot {
    /// The byte that is stored here. That a view need not be judged as one from the place of any other
    /// process is said of that place: in the place of a process it is that of another, maybe.
    pub fn stored(&self, byte: u8) -> u8 {
        let is_view = self.leaf.is_some_and(|leaf| leaf.scalar == Scalar::View);
        match is_view && self.within_member && byte == EXEMPT {
            true => OLD,
            false => byte,
        }
    }

    /// Whether it is in a cell that t is no index of, at t's index within: the process that writes
    /// the cell sees its own there, or none.
    pub fn is_within_cell_of_tracked(&self) -> bool {
        let is_of_others =
            self.cell.as_ref().is_some_and(|(_, path)| !path.contains(&super::shape::T));
        is_of_others && self.within_tracked
    }
}

/// When a byte is outside of the centre: relative to the tracked process, or within an open
/// ghost scan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outside {
    /// At all times.
    Always,
    /// While a ghost scan of this process is open.
    InGhost(u8),
    /// At no time.
    Never,
}

/// Where a variable lies.
#[derive(Clone, Debug)]
pub struct Room {
    /// Its first byte, in the state if shared, else in the block.
    pub base: usize,
    /// Its bytes, of one cell if shared.
    pub size: usize,
}

/// Where the frame of a procedure lies in a block.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The begin of the two bytes that tell where to go on.
    pub back: usize,
    /// Past its last byte.
    pub end: usize,
    /// Its locals.
    pub locals: Vec<Room>,
    /// Its `for` statements: the byte of the position; the next is what is left out.
    pub fors: Vec<usize>,
}

/// A prepared program.
#[derive(Clone, Debug)]
pub struct Model {
    /// What it was prepared for.
    pub obligation: Obligation,
    /// All bytes of a state.
    pub slots: Vec<Slot>,
    /// All instructions; the first stands for an idle process.
    pub code: Vec<Instruction>,
    /// Per procedure, its first instruction.
    pub entries: Vec<usize>,
    /// Per procedure, its frame.
    pub frames: Vec<Frame>,
    /// Per procedure, whether it is called, directly or not, by a ghost scan, or is one.
    pub ghostly: Vec<bool>,
    /// Per procedure, whether its calls are ghost scans.
    pub is_ghost: Vec<bool>,
    /// Where the blocks of i, j, t begin.
    pub blocks: [usize; 3],
    /// The procedure that updates.
    pub update: ProcedureId,
    /// The procedure that scans.
    pub scan: ProcedureId,
    /// Per shared variable, where its cells begin.
    pub shared: Vec<Room>,
    /// Per shared variable, where the links of a process to its cells begin in a block, one
    /// byte per cell; none if it has no links.
    pub links: Vec<Option<usize>>,
    /// Initial contents: shared bytes, and of locals per procedure.
    pub initial: Vec<(usize, Term)>,
    /// Private variables: where, and what they hold at first.
    pub private: Vec<(Room, Term)>,
    /// The bytes of versions that are kept.
    pub versions: Vec<usize>,
    /// Per byte, whether it is outside of the centre.
    pub outside: Vec<Outside>,
    /// The bytes that are kept and may be in the centre, but for bookkeeping.
    pub in_centre: Vec<usize>,
    /// Where loops stand, and the members that count as any other there.
    pub positions: Vec<(usize, [bool; 3])>,
    /// The bytes that may name a process, and may be in the centre.
    pub names: Vec<usize>,
    /// Per process, whether its ghost scans are passed over: they are not judged, and neither
    /// access what is kept nor leave anything.
    pub passes: [bool; 3],
    /// Whether an operation is shown from its first access to something that is kept,
    /// outside of its ghost scans: until then, its process counts as idle.
    pub delays: bool,
    /// Bits that may be flipped together.
    pub flips: Vec<super::flips::Class>,
    /// Per process, the bytes that only one condition reads.
    pub uses: [Vec<super::decided::Use>; 3],
    /// What ghost scans that are judged do not need, where.
    pub faint: Vec<super::faint::Faint>,
    /// Per procedure, what the locals hold at first, after the parameters.
    pub fresh_locals: Vec<Vec<(Room, Term)>>,
    /// Where processes are lost whose links are broken.
    pub lost: Vec<super::lost::Lost>,
    /// The bytes of rows of processes, and of links to them, each with the process.
    pub in_rows: Vec<(usize, u8)>,
    /// Per instruction, where a process may go on that returns there; the first stands for all.
    pub returns: Vec<Vec<usize>>,
    /// Fields that name a process.
    pub named: Vec<super::names::Name>,
}

/// The byte of the specification.
pub const SPECIFICATION: usize = 0;

/// The byte of the round: what the specification keeps of it and 1 more, 0 if none is open; or,
/// nested, its token.
pub const ROUND: usize = 1;

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// What it does.
    pub act: Act,
    /// Where it stands.
    pub span: Span,
    /// Whose it is.
    pub procedure: ProcedureId,
    /// Locals that are read later without being written before: the bytes of all others
    /// may be forgotten. Per local.
    pub live: Vec<bool>,
    /// Per shared variable, whether an SC or VL may come before the next LL: otherwise links
    /// to its cells may be forgotten.
    pub live_links: Vec<bool>,
    /// The processes for which it is a pause: it accesses something that is kept.
    pub pause: [bool; 3],
    /// What the indices of the cell are that it accesses.
    pub places: Vec<Place>,
    /// Whether it is where an update takes effect.
    pub point: bool,
    /// What it is to rounds, if those are the ghost scans.
    pub round: Option<Round>,
    /// What it has to do with names.
    pub used: Option<super::names::Use>,
}

impl Instruction {
    /// Whether a step that begins with it may leave something to others.
    pub const fn leaves(&self) -> bool {
        let is_marked = self.point || self.round.is_some();
        is_marked || self.act.may_write() || matches!(self.act, Act::Atomic)
    }
}

/// What an index of a cell is, as far as it tells before which accesses there is a pause.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// The process itself.
    Me,
    /// The variable of a loop over the crowd around it.
    Round(usize),
    /// A process or a segment.
    Any,
    /// An integer.
    Integer,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub enum Act {
    /// Nothing: the process is idle.
    Idle,
    /// Stores.
    Assign(Target, Term),
    /// Reads a cell.
    Read(Cell, Option<Target>),
    /// Writes a cell.
    Write(Cell, Term),
    /// Compares and swaps.
    Swap(Cell, Term, Term, Option<Target>, Vec<(Leaf, super::shape::Bytes)>),
    /// Reads a cell and links the process to it.
    LoadLinked(Cell, Option<Target>),
    /// Writes a cell if the process is linked to it.
    StoreConditional(Cell, Term, Option<Target>),
    /// Whether the process is linked to a cell.
    Validate(Cell, Option<Target>),
    /// Calls.
    Call(ProcedureId, Vec<Term>, Option<Target>),
    /// Jumps unless the condition holds.
    Unless(Term, usize),
    /// Jumps.
    Jump(usize),
    /// Begins a `for`.
    Begin(For),
    /// Goes to its next index.
    Next(For),
    /// Returns.
    Return(Option<Term>),
    /// From here on all accesses are one step.
    Atomic,
    /// Up to here.
    EndAtomic,
}

impl Act {
    /// The loop that is begun.
    pub const fn begins(&self) -> Option<&For> {
        match self {
            Self::Begin(this) => Some(this),
            _ => None,
        }
    }

    /// The cell that is accessed.
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

    /// Whether it may write a cell, and break the links to it.
    pub const fn may_write(&self) -> bool {
        matches!(self, Self::Write(..) | Self::Swap(..) | Self::StoreConditional(..))
    }

    /// What may be written.
    pub const fn written(&self) -> Option<&Term> {
        match self {
            Self::Write(_, value)
            | Self::Swap(_, _, value, ..)
            | Self::StoreConditional(_, value, _) => Some(value),
            _ => None,
        }
    }

    /// Whether it links the process to a cell, or asks whether it is linked.
    pub const fn uses_link(&self) -> bool {
        matches!(self, Self::LoadLinked(..) | Self::StoreConditional(..) | Self::Validate(..))
    }
}

/// A `for`.
#[derive(Clone, Debug)]
pub struct For {
    /// Where the index is kept.
    pub variable: usize,
    /// Where the position is kept; what is left out is kept behind it.
    pub position: usize,
    /// The indices.
    pub over: Over,
    /// Which one is left out.
    pub except: Option<Term>,
    /// Per process, the members that count as any other: nothing that is kept has their
    /// index in a round, which uses it for no more.
    pub merged: [[bool; 3]; 3],
    /// The first instruction of the body.
    pub body: usize,
    /// The first instruction behind.
    pub end: usize,
}

/// A cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The variable.
    pub variable: SharedId,
    /// One index per dimension.
    pub indices: Vec<(Over, Term)>,
    /// What it holds.
    pub shape: super::shape::Shape,
}

/// A part of a variable of the process.
#[derive(Clone, Debug)]
pub struct Target {
    /// The variable.
    pub room: Room,
    /// From it to the part.
    pub path: Vec<Step>,
    /// The bytes of the part.
    pub size: usize,
    /// The local, if it is one.
    pub local: Option<LocalId>,
    /// The private variable, if it is one.
    pub private: Option<PrivateId>,
    /// Whether an element of a view is set that is but a token.
    pub in_token: bool,
    /// Where it stands.
    pub span: Span,
}

/// A step from a variable to a part of it.
#[derive(Clone, Debug)]
pub enum Step {
    /// This many bytes further.
    Field(usize),
    /// An element of an array, whose elements have this size.
    Element(Term, Over, usize, super::term::Other),
    /// An index of what is one token, or not modelled: evaluated for what may go wrong.
    Passed(Term),
}

impl Model {
    /// Notes what is asked for often: which bytes are versions, and which are outside of
    /// the centre.
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
}
