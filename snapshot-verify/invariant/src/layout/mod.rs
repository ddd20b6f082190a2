//! Where the scalars of a view lie, by names that a certificate can say.
//!
//! A view is a row of bytes: the state of the specification, the shared cells whose indices
//! are among i, j and t, and a block for each of the three: where it stands, its private
//! variables, and a frame per procedure (no procedure calls itself, so one is enough).

mod calls;
mod guesses;
mod head;
mod kept;
mod linkable;
mod links;
mod program;
mod rounds;
mod rows;
mod scalars;
mod slot;
mod stored;

pub use guesses::add_name;
pub use head::{at, op};
pub use linkable::Linkable;
use program::may_begin_wrong;
pub use program::{each_expression, may_be_outside, may_fail, numbers_processes};
pub use rounds::Round;
pub use rows::RowOf;
pub use scalars::{Leaf, Scalar, cells, each_leaf, fixed, is_view, leaves, size};
pub use slot::Slot;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use snapshot_language::program::{IndexSet, Program, SharedId, Type};
use snapshot_semantics::interpret::code::{self, Code, For, Instruction};

use self::program::{Runs, bound, runs};
use self::slot::{bookkeeping, round, signer};
use crate::asks::Asks;
use crate::byte::{PLACES, T};
use crate::centre::{Central, Mask, Standing};
use crate::claim::Obligation;
use crate::clock::Clock;
use crate::decided::Decided;
use crate::flips::Bit;
use crate::names::{self, Name, Uses};
use crate::step::lost::{Ends, Key};

/// Index of a cell: a member, or, over integers, its place.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Index {
    Member(u8),
    Anyone,
    Place(usize),
    Anywhere,
    /// The process that a name refers to.
    Named,
}

/// Byte of the specification.
pub const SPECIFICATION: usize = 0;

/// Maximum number of scalars of shared memory and of the blocks of i, j and t.
const MOST_SCALARS: u64 = 1 << 16;

/// Byte of the open round, if ghost scans are rounds. For vectors: the observer's bits plus 1, or 0
/// if no round is open. For nesting: the round's token.
pub const ROUND: usize = 1;

/// Byte of the process that made the latest write to the clock.
pub const SIGNER: usize = 2;

/// Bytes of a variable.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// First byte, within the view if shared, else within the block.
    pub base: usize,
    /// Number of bytes; for a shared variable, of one cell.
    pub size: usize,
}

/// Bytes of a procedure in a block.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Byte of the location: the number of the instruction plus 1, or 0 if the procedure is not
    /// called.
    pub at: usize,
    /// One past the last byte.
    pub end: usize,
    pub locals: Vec<Room>,
    /// Per `for`, its position; the index that it leaves out follows.
    pub fors: Vec<usize>,
}

/// Classes of a byte, and the rounds in which it is in each.
pub type ByRound = SmallVec<[(usize, Option<(usize, u8)>); 4]>;

/// A program, with a byte for each scalar that an obligation keeps.
pub struct Layout<'p> {
    pub program: &'p Program,
    pub obligation: Obligation,
    /// Instructions, per procedure.
    pub code: Vec<Code<'p>>,
    pub slots: Vec<Slot>,
    /// First byte of each block.
    pub blocks: [usize; PLACES],
    /// Per shared variable.
    pub shared: Vec<Room>,
    /// Per shared variable, the cells that have a place, by their indices.
    pub cells: Vec<Vec<(Vec<Index>, Room)>>,
    /// Per private variable, within a block.
    pub private: Vec<Room>,
    /// Per shared variable, the links of a process to its cells, within a block; `None` without
    /// links.
    pub links: Vec<Option<Room>>,
    /// Per procedure, within a block.
    pub frames: Vec<Frame>,
    /// Per procedure, true if its calls from outside are ghost scans.
    pub is_ghost: Vec<bool>,
    /// Per procedure, true if it may run within a ghost scan.
    pub ghostly: Vec<bool>,
    /// Per procedure, true if it may run outside of ghost scans.
    pub outside: Vec<bool>,
    /// Per procedure and instruction, the locals that are forgotten on arrival.
    pub forgotten: Vec<Vec<Vec<usize>>>,
    /// Per procedure and instruction, the shared variables to which links are forgotten on arrival.
    pub unlinked: Vec<Vec<Vec<usize>>>,
    /// Instruction of `update` at which an update takes effect.
    pub point: Option<usize>,
    /// Instructions at which rounds begin and end, if rounds are the ghost scans: each a procedure,
    /// and an instruction in it.
    pub round: Option<[(usize, usize); 2]>,
    /// Locations at which a process may be linked to each variable.
    pub linkable: Linkable,
    /// Per procedure and `for`, true if it leaves out an index.
    pub leaves_out: Vec<Vec<bool>>,
    /// Bytes of kept versions.
    pub versions: Vec<usize>,
    /// Bytes that may name a process.
    pub names: Vec<usize>,
    /// Kept bytes that may be in the centre, except bookkeeping.
    pub central: Vec<usize>,
    /// Per byte, the condition under which it is in the centre.
    pub in_centre: Vec<Central>,
    /// Known bytes of the centre that are definite, by where i and j stand.
    pub told: RefCell<FxHashMap<Standing, Rc<[usize]>>>,
    /// The bytes in the centre, by the scans of i and j.
    pub masks: Vec<Mask>,
    /// Bytes of loops' positions.
    pub positions: Vec<usize>,
    /// True if an operation is shown only from its first access to a kept variable outside of its
    /// ghost scans.
    pub late: bool,
    /// Per process, true if its ghost scans are passed over.
    pub passes: [bool; 3],
    /// Loops of i and j over the crowd in which only the round of t is distinguished: the owner,
    /// the procedure, and the `for` in it. All other rounds are gap rounds, with an index that is
    /// [`crate::byte::LOOSE`].
    pub loose: Vec<(u8, usize, usize)>,
    /// Bytes of the positions and variables of `loose`.
    pub loose_bytes: Vec<(usize, usize)>,
    /// True if one list covers all places of t among i and j.
    pub alike: bool,
    /// Scalars that are forgotten where a condition does not need them.
    pub decided: Vec<Decided>,
    /// Classes of bits that are listed relative to each other.
    pub classes: Vec<Vec<Bit>>,
    /// Inverse of `classes`: per byte, the number of the class, and the round.
    pub class_bits: BTreeMap<usize, ByRound>,
    /// Bytes of kept truth values, if there are classes.
    pub truths: Vec<usize>,
    /// Classes of each byte of `truths`.
    pub truth_classes: Vec<ByRound>,
    /// True if each access is a separate step, even to unkept variables.
    pub stops_always: bool,
    /// Cell that counters are compared with.
    pub clock: Option<Clock>,
    /// Bytes of kept counters.
    pub counters: Vec<usize>,
    /// Those that hold windows.
    pub cursors: Vec<usize>,
    /// Fields that name the process whose row of an array is in use.
    pub named: Vec<Name>,
    /// Per instruction, its use of these names.
    pub uses: Uses,
    /// Variables without a link to which processes may be lost.
    pub lost: Vec<SharedId>,
    /// Known ends of the paths of lost processes.
    pub ends: RefCell<FxHashMap<Key, Option<Rc<Ends>>>>,
    /// Groups of merged calls: the calling procedure, and the call instructions.
    pub calls: Vec<(usize, Vec<usize>)>,
    /// Bytes of kept rows, and of links to them.
    pub row_bytes: Vec<usize>,
    /// Budget of steps.
    pub asks: Asks<'p>,
    /// True if another obligation shows nesting. An obligation of scans does not always require it.
    pub nested: bool,
}

/// Reason why a program has no certificate for every n.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unsupported(pub &'static str);

impl<'p> Layout<'p> {
    /// Lays out a program for an obligation. Only bookkeeping is kept yet.
    ///
    /// # Errors
    /// If the program is unsupported.
    pub fn new(program: &'p Program, obligation: Obligation) -> Result<Self, Unsupported> {
        Self::with_names(program, obligation, Vec::new())
    }

    /// As [`Layout::new`], with names.
    ///
    /// # Errors
    /// If the program is unsupported, or the names do not have the form that the rules require.
    pub fn with_names(
        program: &'p Program,
        obligation: Obligation,
        named: Vec<Name>,
    ) -> Result<Self, Unsupported> {
        // A view has i, j, t, and any other.
        if program.check_extent(PLACES + 1).is_err() {
            return Err(Unsupported("programs that are too large for 4 processes"));
        }
        let code = code::compile(program);
        if code.iter().any(|code| code.instructions.len() > 250) {
            return Err(Unsupported("a procedure of more than 250 instructions"));
        }
        if scalars::count(program, obligation.has_tokens()) > MOST_SCALARS {
            return Err(Unsupported("variables of more than 65,536 scalars"));
        }
        if may_begin_wrong(program) {
            return Err(Unsupported("first values that may be out of range"));
        }
        let Runs { is_ghost, ghostly, outside } = runs(program, obligation.ghosts)?;
        let tokens = obligation.has_tokens();
        let uses = names::uses(program, &code, (tokens, &ghostly), &named)
            .ok_or(Unsupported("names of this form"))?;
        let linkable = linkable::linkable(program, &code);
        let mut layout = Self {
            program,
            obligation,
            code,
            linkable,
            slots: vec![bookkeeping(), round(obligation), signer()],
            blocks: [0; PLACES],
            shared: Vec::new(),
            cells: Vec::new(),
            private: Vec::new(),
            links: Vec::new(),
            frames: Vec::new(),
            is_ghost,
            ghostly,
            outside,
            forgotten: Vec::new(),
            unlinked: Vec::new(),
            point: None,
            round: None,
            leaves_out: Vec::new(),
            versions: Vec::new(),
            names: Vec::new(),
            central: Vec::new(),
            in_centre: Vec::new(),
            masks: Vec::new(),
            told: RefCell::default(),
            positions: Vec::new(),
            late: false,
            passes: [false; 3],
            loose: Vec::new(),
            loose_bytes: Vec::new(),
            alike: false,
            decided: Vec::new(),
            classes: Vec::new(),
            class_bits: BTreeMap::new(),
            truths: Vec::new(),
            truth_classes: Vec::new(),
            stops_always: false,
            clock: None,
            counters: Vec::new(),
            cursors: Vec::new(),
            named,
            uses,
            row_bytes: Vec::new(),
            lost: Vec::new(),
            ends: RefCell::default(),
            calls: Vec::new(),
            asks: Asks::default(),
            nested: false,
        };
        for code in &layout.code {
            layout.forgotten.push(vec![Vec::new(); code.instructions.len()]);
            layout.unlinked.push(vec![Vec::new(); code.instructions.len()]);
            let mut leaves_out = vec![false; code.fors];
            for this in begins(code) {
                leaves_out[this.number] = this.except.is_some();
            }
            layout.leaves_out.push(leaves_out);
        }
        layout.shared();
        layout.blocks();
        Ok(layout)
    }

    /// Returns true if whole views are tokens.
    pub fn tokens(&self) -> bool {
        self.obligation.has_tokens()
    }

    fn shared(&mut self) {
        for (id, variable) in (0..).map(SharedId).zip(&self.program.shared) {
            let room =
                Room { base: self.slots.len(), size: size(&variable.content, self.tokens()) };
            self.shared.push(room);
            self.cells.push(self.located_cells(id, room));
            for (place, name, row) in self.places(id) {
                let leaves = leaves(&variable.content, self.tokens());
                for (offset, (leaf, path, rest)) in leaves.into_iter().enumerate() {
                    let tracked = place.contains(&T) || path.contains(&T) || self.is_token(leaf);
                    let tracked = tracked
                        || matches!(row, Some(RowOf::Member(..)))
                        || self.is_name(id, offset);
                    self.slots.push(Slot {
                        name: format!("{}{name}{rest}", variable.name),
                        leaf: Some(leaf),
                        tracked,
                        kept: false,
                        path: [place.as_slice(), &path].concat(),
                        within_tracked: path.contains(&T),
                        row,
                        ..bookkeeping()
                    });
                }
            }
        }
    }

    fn is_token(&self, leaf: Leaf) -> bool {
        leaf.scalar == Scalar::View && self.tokens()
    }

    fn blocks(&mut self) {
        let mut block: Vec<(Slot, Vec<u8>)> = Vec::new();
        for offset in 0..at::END {
            let tracked = matches!(offset, at::BEGUN | at::BITS | at::TOKEN);
            block.push((Slot { tracked, ..bookkeeping() }, Vec::new()));
        }
        for variable in &self.program.private {
            let room = self.variable(&mut block, &variable.name, &variable.content, None);
            self.private.push(room);
        }
        self.links = self.add_links(&mut block);
        for (number, procedure) in self.program.procedures.iter().enumerate() {
            let frame = Some(number);
            let begin = block.len();
            block.push((Slot { frame, ..bookkeeping() }, Vec::new()));
            let mut fors = Vec::new();
            for _ in 0..self.code[number].fors {
                fors.push(block.len());
                block.push((Slot { frame, position: true, ..bookkeeping() }, Vec::new()));
                block.push((Slot { frame, ..bookkeeping() }, Vec::new()));
            }
            for this in begins(&self.code[number]) {
                block[fors[this.number] + 1].0.leaf = Some(leaf_of_left_out(this.over));
            }
            let indices = bound(procedure.body.iter());
            let mut locals = Vec::new();
            for (local, declared) in procedure.locals.iter().enumerate() {
                let name = format!("{}.{}", procedure.name, declared.name);
                // The name may occur twice: the number distinguishes the locals.
                let name = format!("{name}#{local}");
                let room = self.variable(&mut block, &name, &declared.content, frame);
                if indices.contains(&local) {
                    for (slot, _) in &mut block[room.base..room.base + room.size] {
                        slot.kept = slot.leaf.is_some_and(|leaf| !leaf.is_unbounded());
                        slot.name.clear();
                    }
                }
                locals.push(room);
            }
            self.frames.push(Frame { at: begin, end: block.len(), locals, fors });
        }
        for (owner, letter) in ["i", "j", "t"].iter().enumerate() {
            self.blocks[owner] = self.slots.len();
            for (slot, path) in &block {
                let mut slot = slot.clone();
                slot.owner = Some(owner as u8);
                slot.tracked |= owner as u8 == T || path.contains(&T);
                slot.path.clone_from(path);
                slot.within_tracked = path.contains(&T);
                if !slot.name.is_empty() {
                    slot.name = format!("{letter}:{}", slot.name);
                }
                self.slots.push(slot);
            }
        }
    }

    fn variable(
        &self,
        block: &mut Vec<(Slot, Vec<u8>)>,
        name: &str,
        content: &Type,
        frame: Option<usize>,
    ) -> Room {
        let base = block.len();
        for (leaf, path, rest) in leaves(content, self.tokens()) {
            let slot = Slot {
                name: format!("{name}{rest}"),
                leaf: Some(leaf),
                kept: false,
                tracked: self.is_token(leaf),
                frame,
                ..bookkeeping()
            };
            block.push((slot, path));
        }
        Room { base, size: block.len() - base }
    }

    /// Builds the indices by byte, once the kept scalars are known.
    pub fn index(&mut self) {
        let of = |chosen: &dyn Fn(&Slot) -> bool| -> Vec<usize> {
            (0..self.slots.len()).filter(|at| chosen(&self.slots[*at])).collect()
        };
        let is = |slot: &Slot, scalar| slot.leaf.is_some_and(|leaf| leaf.scalar == scalar);
        let versions = of(&|slot| slot.kept && is(slot, Scalar::Version));
        let names = of(&|slot| slot.kept && is(slot, Scalar::Member));
        let central = of(&|slot| slot.kept && !slot.tracked && slot.leaf.is_some());
        let positions = of(&|slot| slot.position && !slot.tracked);
        self.counters = of(&|slot| slot.kept && is(slot, Scalar::Counter));
        self.cursors = of(&|slot| slot.kept && slot.window > 0);
        let row_bytes = of(&|slot| slot.kept && slot.row.is_some());
        (self.versions, self.names) = (versions, names);
        (self.central, self.positions, self.row_bytes) = (central, positions, row_bytes);
        self.in_centre = (0..self.slots.len()).map(|at| Central::new(self, at)).collect();
        self.masks = Mask::all(self);
        // No centre is taken before the layout is complete.
        debug_assert!(self.told.borrow().is_empty());
        self.loose_bytes = self.loose.iter().filter_map(|one| self.bytes_of_loose(*one)).collect();
        self.index_classes();
    }

    /// Returns the bytes of the position and the variable of a loop over the crowd; `None` if there
    /// is no such loop.
    pub fn bytes_of_loose(&self, loose: (u8, usize, usize)) -> Option<(usize, usize)> {
        let (owner, procedure, number) = loose;
        let block = *self.blocks.get(usize::from(owner)).filter(|_| owner != T)?;
        let frame = self.frames.get(procedure)?;
        let begins = self.code[procedure].instructions.iter().find_map(|one| match one {
            Instruction::BeginFor(this) if this.number == number && this.over.is_of_names() => {
                Some(this.variable.0 as usize)
            }
            _ => None,
        });
        Some((block + frame.fors.get(number)?, block + frame.locals.get(begins?)?.base))
    }

    /// Returns true if a local may be forgotten: all except the variables of loops and quantifiers.
    pub fn may_forget(&self, procedure: usize, local: usize) -> bool {
        let frame = &self.frames[procedure];
        let room = frame.locals[local];
        let begin = self.blocks[0] + room.base;
        self.slots[begin..begin + room.size].iter().all(|slot| !slot.name.is_empty())
    }

    /// Returns the procedure of an operation.
    pub fn root(&self, operation: u8) -> usize {
        match operation {
            op::SCANS => self.program.scan().0 as usize,
            op::IDLE | op::UPDATES | op::SWITCHES => self.program.update().0 as usize,
            ghost => usize::from(ghost - op::GHOSTS),
        }
    }
}

/// Returns the loops that begin in a procedure.
fn begins<'c, 'p>(code: &'c Code<'p>) -> impl Iterator<Item = &'c For<'p>> {
    code.instructions.iter().filter_map(|one| match one {
        Instruction::BeginFor(this) => Some(this),
        _ => None,
    })
}

/// Returns the type of the index that a loop leaves out: one of its indices, or, over numbers,
/// possibly none of them.
fn leaf_of_left_out(over: IndexSet) -> Leaf {
    let (low, high) = match over {
        IndexSet::Range(low, high) => fixed(low, high).unwrap_or((0, -1)),
        _ => return Leaf { scalar: Scalar::Member, optional: false },
    };
    Leaf { scalar: Scalar::Integer(low, high), optional: true }
}
