//! Where the scalars of a view lie, by names that a certificate can say.
//!
//! A view is a row of bytes: the state of the specification, the shared cells whose indices
//! are among i, j and t, and a block for each of the three: where it stands, its private
//! variables, and a frame per procedure (no procedure calls itself, so one is enough).

use rustc_hash::FxHashSet;
use snapshot_language::program::{
    Bound, CellKind, Expression, ExpressionKind, IndexSet, ProcedureId, Program, Statement,
    StatementKind, Type,
};
use snapshot_semantics::interpret::code::{self, Code, Instruction};

use crate::byte::{ANY, BASE, BORROWED, GREATEST, J, NONE, OTHER, PLACES, Row, T, integer};
use crate::claim::{Ghosts, Obligation};

/// What a scalar is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool,
    /// An integer of a range that does not depend on n.
    Integer(i64, i64),
    /// A process or a segment.
    Member,
    /// Data.
    Value,
    /// Data within a view; of nesting, the token of a whole view.
    View,
    /// A version.
    Version,
    /// What is never kept: counters, and integers whose range depends on n.
    Lost,
}

/// A scalar's type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Leaf {
    /// What it is.
    pub scalar: Scalar,
    /// Whether it may be none.
    pub optional: bool,
}

impl Leaf {
    /// All definite bytes; `None` if they are not finitely many.
    pub fn values(self, members: &[u8]) -> Option<Vec<u8>> {
        let mut values: Vec<u8> = match self.scalar {
            Scalar::Bool | Scalar::Value => vec![BASE, BASE + 1],
            Scalar::Integer(low, high) => (low..=high).map(integer).collect(),
            Scalar::Member => members.iter().chain(&[OTHER]).map(|one| BASE + one).collect(),
            Scalar::View | Scalar::Version | Scalar::Lost => return None,
        };
        if self.optional {
            values.push(NONE);
        }
        Some(values)
    }
}

/// A byte of a view.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its name; empty if it is bookkeeping, which is always kept.
    pub name: String,
    /// What it holds, unless it is bookkeeping.
    pub leaf: Option<Leaf>,
    /// Whether it is kept; if not, it is [`ANY`] for ever.
    pub kept: bool,
    /// Whether t is among its indices, or it is a token, which is relative to t.
    pub tracked: bool,
    /// Whose block it is in.
    pub owner: Option<u8>,
    /// In whose frame.
    pub frame: Option<usize>,
    /// Whether it is the position of a loop.
    pub position: bool,
    /// The members among its indices.
    pub path: Vec<u8>,
}

impl Slot {
    /// The members without which it is nothing.
    pub fn members(&self) -> impl Iterator<Item = u8> {
        self.path.iter().copied().chain(self.owner)
    }
}

/// Offsets within a block.
pub mod at {
    /// What the process does: one of the constants of [`super::op`].
    pub const OP: usize = 0;
    /// Whether a ghost scan is open.
    pub const GHOST: usize = 1;
    /// Whether it has made its first access to something that is kept.
    pub const BEGUN: usize = 2;
    /// What the specification knows of it.
    pub const BITS: usize = 3;
    /// The token of what it will return: fresh, or old.
    pub const TOKEN: usize = 4;
    /// Whether the update to 1 has made its first access.
    pub const INVOKED: usize = 5;
    /// Whether the process has begun an update to 1.
    pub const SWITCHED: usize = 6;
    /// The number of these.
    pub const END: usize = 7;
}

/// What a process does.
pub mod op {
    /// Nothing.
    pub const IDLE: u8 = 0;
    /// An update, but for the first to 1.
    pub const UPDATES: u8 = 1;
    /// A scan.
    pub const SCANS: u8 = 2;
    /// The first update to 1.
    pub const SWITCHES: u8 = 3;
}

/// An index of a cell: a member, or, over integers, its place.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Index {
    /// This member.
    Member(u8),
    /// Any member.
    Anyone,
    /// This place in the order of the integers.
    Place(usize),
    /// Any integer.
    Anywhere,
}

/// The byte of the specification.
pub const SPECIFICATION: usize = 0;

/// A variable's bytes.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The first, in the view if shared, else in the block.
    pub base: usize,
    /// How many; of a shared variable, of one cell.
    pub size: usize,
}

/// A procedure's bytes in a block.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Where it stands: one more than the number of the instruction, 0 if it is not called.
    pub at: usize,
    /// Past its last byte.
    pub end: usize,
    /// Its locals.
    pub locals: Vec<Room>,
    /// Per `for`, its position; what it leaves out is behind.
    pub fors: Vec<usize>,
}

/// A program, with a place for everything that an obligation keeps.
pub struct Layout<'p> {
    /// The program.
    pub program: &'p Program,
    /// What is shown of it.
    pub obligation: Obligation,
    /// Its instructions, per procedure.
    pub code: Vec<Code<'p>>,
    /// All bytes.
    pub slots: Vec<Slot>,
    /// Where the blocks begin.
    pub blocks: [usize; PLACES],
    /// Per shared variable.
    pub shared: Vec<Room>,
    /// Per shared variable, its cells that have a place, by their indices.
    pub cells: Vec<Vec<(Vec<Index>, Room)>>,
    /// Per private variable, within a block.
    pub private: Vec<Room>,
    /// Per procedure, within a block.
    pub frames: Vec<Frame>,
    /// Per procedure, whether its calls from outside are ghost scans.
    pub is_ghost: Vec<bool>,
    /// Per procedure, whether it may run within a ghost scan.
    pub ghostly: Vec<bool>,
    /// Per procedure and instruction, the locals that are forgotten on arrival.
    pub forgotten: Vec<Vec<Vec<usize>>>,
    /// The instruction of `update` where an update takes effect.
    pub point: Option<usize>,
    /// Per procedure and `for`, whether it leaves out an index.
    pub leaves_out: Vec<Vec<bool>>,
    /// The bytes of versions that are kept.
    pub versions: Vec<usize>,
    /// The bytes that may name a process.
    pub names: Vec<usize>,
    /// The bytes that are kept, may be in the centre and are no bookkeeping.
    pub central: Vec<usize>,
    /// The bytes of loops' positions.
    pub positions: Vec<usize>,
    /// Whether each access is a step of its own, whatever it touches.
    pub stops_always: bool,
}

/// Why a program has no certificate for every n.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unfit(pub &'static str);

/// The bounds of a range that does not depend on n and whose integers have bytes.
pub fn fixed(low: Bound, high: Bound) -> Option<(i64, i64)> {
    let (from, to) = (i64::from(low.plus), i64::from(high.plus));
    let is_fixed = low.times_n == 0 && high.times_n == 0;
    (is_fixed && -GREATEST <= from && from <= to && to <= GREATEST).then_some((from, to))
}

/// Whether it is an array by process or segment.
pub const fn by_members(set: IndexSet) -> bool {
    matches!(set, IndexSet::Processes | IndexSet::Segments)
}

/// The scalars of a type, in order: each with its type, the members among the indices, and
/// its name behind that of the variable.
pub fn leaves(content: &Type, tokens: bool) -> Vec<(Leaf, Vec<u8>, String)> {
    let leaf = |scalar| vec![(Leaf { scalar, optional: false }, Vec::new(), String::new())];
    match content {
        Type::Optional(inner) => {
            let mut inner = leaves(inner, tokens);
            inner.iter_mut().for_each(|(leaf, ..)| leaf.optional = true);
            inner
        }
        view if *view == Type::view() && tokens => leaf(Scalar::View),
        Type::Array { index, element } => {
            let mut inner = leaves(element, tokens);
            if *content == Type::view() {
                inner[0].0.scalar = Scalar::View;
            }
            let names: Vec<(Option<u8>, String)> = match index {
                IndexSet::Processes | IndexSet::Segments => ["i", "j", "t"]
                    .iter()
                    .zip(0..)
                    .map(|(name, at)| (Some(at), name.to_string()))
                    .collect(),
                IndexSet::Range(low, high) => match fixed(*low, *high) {
                    Some((low, high)) => (low..=high).map(|at| (None, at.to_string())).collect(),
                    None => return leaf(Scalar::Lost),
                },
            };
            let mut all = Vec::new();
            for (member, name) in names {
                for (leaf, path, rest) in &inner {
                    let path = member.into_iter().chain(path.iter().copied()).collect();
                    all.push((*leaf, path, format!("[{name}]{rest}")));
                }
            }
            all
        }
        Type::Record(fields) => {
            let of = |field: &snapshot_language::program::Field| {
                let name = field.name.clone();
                let inner = leaves(&field.content, tokens).into_iter();
                inner.map(move |(leaf, path, rest)| (leaf, path, format!(".{name}{rest}")))
            };
            fields.iter().flat_map(of).collect()
        }
        scalar => leaf(scalar_of(scalar)),
    }
}

/// The number of scalars of a type.
pub fn size(content: &Type, tokens: bool) -> usize {
    let mut size = 0;
    each_leaf(content, tokens, 0, &mut |_, _| size += 1);
    size
}

/// Does something with each scalar of a type, in order: its type, and how many members are
/// among its indices.
pub fn each_leaf(content: &Type, tokens: bool, members: usize, act: &mut dyn FnMut(Leaf, usize)) {
    let leaf = |scalar| Leaf { scalar, optional: false };
    match content {
        Type::Optional(inner) => each_leaf(inner, tokens, members, &mut |leaf, members| {
            act(Leaf { optional: true, ..leaf }, members);
        }),
        view if tokens && *view == Type::view() => act(leaf(Scalar::View), members),
        view if *view == Type::view() => {
            (0..PLACES).for_each(|_| act(leaf(Scalar::View), members + 1));
        }
        Type::Array { index, element } => {
            let (count, inner) = match index {
                IndexSet::Processes | IndexSet::Segments => (PLACES, members + 1),
                IndexSet::Range(low, high) => match fixed(*low, *high) {
                    Some((low, high)) => ((high - low + 1) as usize, members),
                    None => return act(leaf(Scalar::Lost), members),
                },
            };
            (0..count).for_each(|_| each_leaf(element, tokens, inner, act));
        }
        Type::Record(fields) => {
            fields.iter().for_each(|field| each_leaf(&field.content, tokens, members, act));
        }
        scalar => act(leaf(scalar_of(scalar)), members),
    }
}

/// What a type that is neither an array nor a record is.
fn scalar_of(content: &Type) -> Scalar {
    match content {
        Type::Value => Scalar::Value,
        Type::Bool => Scalar::Bool,
        Type::Process | Type::Segment => Scalar::Member,
        Type::Version => Scalar::Version,
        Type::Integer { low, high } => match fixed(*low, *high) {
            Some((low, high)) => Scalar::Integer(low, high),
            None => Scalar::Lost,
        },
        _ => Scalar::Lost,
    }
}

/// The cells of a shared variable, in row-major order: the members among the indices of
/// each, and its name behind that of the variable.
pub fn cells(dimensions: &[IndexSet]) -> Vec<(Vec<u8>, String)> {
    let Some((first, rest)) = dimensions.split_first() else {
        return vec![(Vec::new(), String::new())];
    };
    let inner = cells(rest);
    let firsts: Vec<(Option<u8>, String)> = match first {
        IndexSet::Processes | IndexSet::Segments => ["i", "j", "t"]
            .iter()
            .zip(0..)
            .map(|(name, at)| (Some(at), (*name).to_owned()))
            .collect(),
        IndexSet::Range(low, high) => match fixed(*low, *high) {
            Some((low, high)) => (low..=high).map(|at| (None, at.to_string())).collect(),
            // Their number depends on n: none of them is kept.
            None => Vec::new(),
        },
    };
    let mut all = Vec::new();
    for (member, name) in firsts {
        for (path, rest) in &inner {
            let path = member.into_iter().chain(path.iter().copied()).collect();
            all.push((path, format!("[{name}]{rest}")));
        }
    }
    all
}

/// The same with the place of each, the first of which is given.
fn located(dimensions: &[IndexSet], first: Room) -> Vec<(Vec<Index>, Room)> {
    let mut all = vec![Vec::new()];
    for over in dimensions {
        let places: Vec<Index> = match over {
            IndexSet::Range(low, high) => {
                let count = fixed(*low, *high).map_or(0, |(low, high)| (high - low + 1) as usize);
                (0..count).map(Index::Place).collect()
            }
            _ => (0..PLACES as u8).map(Index::Member).collect(),
        };
        let longer = |path: &Vec<Index>| {
            let with = |place: &Index| [path.as_slice(), &[*place]].concat();
            places.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    let room = |number: usize| Room { base: first.base + number * first.size, size: first.size };
    all.into_iter().enumerate().map(|(number, path)| (path, room(number))).collect()
}

impl<'p> Layout<'p> {
    /// Lays out a program for an obligation. Nothing is kept yet but bookkeeping.
    pub fn new(program: &'p Program, obligation: Obligation) -> Result<Self, Unfit> {
        let code = code::compile(program);
        if code.iter().any(|code| code.instructions.len() > 250) {
            return Err(Unfit("a procedure of more than 250 instructions"));
        }
        let (is_ghost, ghostly) = ghosts(program, obligation.ghosts)?;
        let mut layout = Self {
            program,
            obligation,
            code,
            slots: vec![bookkeeping()],
            blocks: [0; PLACES],
            shared: Vec::new(),
            cells: Vec::new(),
            private: Vec::new(),
            frames: Vec::new(),
            is_ghost,
            ghostly,
            forgotten: Vec::new(),
            point: None,
            leaves_out: Vec::new(),
            versions: Vec::new(),
            names: Vec::new(),
            central: Vec::new(),
            positions: Vec::new(),
            stops_always: false,
        };
        for code in &layout.code {
            layout.forgotten.push(vec![Vec::new(); code.instructions.len()]);
            let mut leaves_out = vec![false; code.fors];
            for instruction in &code.instructions {
                if let Instruction::BeginFor(this) = instruction {
                    leaves_out[this.number] = this.except.is_some();
                }
            }
            layout.leaves_out.push(leaves_out);
        }
        layout.shared()?;
        layout.blocks();
        Ok(layout)
    }

    /// Whether whole views are tokens.
    pub fn tokens(&self) -> bool {
        self.obligation.has_tokens()
    }

    fn shared(&mut self) -> Result<(), Unfit> {
        for variable in &self.program.shared {
            if variable.cell == CellKind::Linked {
                return Err(Unfit("LL/SC cells"));
            }
            let room =
                Room { base: self.slots.len(), size: size(&variable.content, self.tokens()) };
            self.shared.push(room);
            self.cells.push(located(&variable.dimensions, room));
            for (place, name) in cells(&variable.dimensions) {
                for (leaf, path, rest) in leaves(&variable.content, self.tokens()) {
                    let tracked = place.contains(&T) || path.contains(&T) || self.is_token(leaf);
                    self.slots.push(Slot {
                        name: format!("{}{name}{rest}", variable.name),
                        leaf: Some(leaf),
                        tracked,
                        kept: false,
                        path: [place.as_slice(), &path].concat(),
                        ..bookkeeping()
                    });
                }
            }
        }
        Ok(())
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
        for (number, procedure) in self.program.procedures.iter().enumerate() {
            let frame = Some(number);
            let begin = block.len();
            block.push((Slot { frame, ..bookkeeping() }, Vec::new()));
            let mut fors = Vec::new();
            for _ in 0..self.code[number].fors {
                fors.push(block.len());
                block.push((Slot { frame, position: true, ..bookkeeping() }, Vec::new()));
                let leaf = Some(Leaf { scalar: Scalar::Member, optional: false });
                block.push((Slot { frame, leaf, ..bookkeeping() }, Vec::new()));
            }
            let indices = bound(procedure.body.iter());
            let mut locals = Vec::new();
            for (local, declared) in procedure.locals.iter().enumerate() {
                let name = format!("{}.{}", procedure.name, declared.name);
                // The name may occur twice: the number tells locals apart.
                let name = format!("{name}#{local}");
                let room = self.variable(&mut block, &name, &declared.content, frame);
                if indices.contains(&local) {
                    for (slot, _) in &mut block[room.base..room.base + room.size] {
                        slot.kept = slot.leaf.is_some_and(|leaf| leaf.scalar != Scalar::Lost);
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

    /// The names of all scalars that may be kept.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| slot.name.as_str()).filter(|name| !name.is_empty())
    }

    /// Keeps the scalars with these names; `Err`: there is none of this name.
    pub fn keep(&mut self, names: &FxHashSet<String>) -> Result<(), String> {
        let mut found = 0;
        let borrowed = self.obligation.borrows();
        for slot in &mut self.slots {
            let Some(leaf) = slot.leaf else { continue };
            if slot.name.is_empty() || !names.contains(&slot.name) {
                continue;
            }
            found += 1;
            // Of nesting there is no j.
            let is_there = !self.obligation.has_tokens() || !slot.members().any(|one| one == J);
            // Views in shared memory are only ever borrowed, and counters never known.
            let is_view = leaf.scalar == Scalar::View && slot.owner.is_none() && borrowed;
            slot.kept = leaf.scalar != Scalar::Lost && !is_view && is_there;
        }
        if found != names.len() {
            let known: FxHashSet<&String> = self.slots.iter().map(|slot| &slot.name).collect();
            let missing = names.iter().find(|name| !known.contains(name));
            return Err(missing
                .cloned()
                .unwrap_or_else(|| "a name that stands for two".to_owned()));
        }
        Ok(())
    }

    /// Notes which bytes are which, once it is known what is kept.
    pub fn index(&mut self) {
        let of = |chosen: &dyn Fn(&Slot) -> bool| -> Vec<usize> {
            (0..self.slots.len()).filter(|at| chosen(&self.slots[*at])).collect()
        };
        let is = |slot: &Slot, scalar| slot.leaf.is_some_and(|leaf| leaf.scalar == scalar);
        let versions = of(&|slot| slot.kept && is(slot, Scalar::Version));
        let names = of(&|slot| slot.kept && is(slot, Scalar::Member));
        let central = of(&|slot| slot.kept && !slot.tracked && slot.leaf.is_some());
        let positions = of(&|slot| slot.position && !slot.tracked);
        (self.versions, self.names) = (versions, names);
        (self.central, self.positions) = (central, positions);
    }

    /// What is known of something of this type that is not kept: of views, `view`.
    pub fn unknown(&self, content: &Type, view: u8) -> Row {
        let mut row = Row::new();
        each_leaf(content, self.tokens(), 0, &mut |leaf, _| {
            row.push(if leaf.scalar == Scalar::View { view } else { ANY });
        });
        row
    }

    /// What is known of a view that is read whole from shared memory and not kept.
    pub fn read_view(&self, exempt: bool) -> u8 {
        match (self.tokens(), exempt) {
            (true, true) => crate::byte::EXEMPT,
            (true, false) => crate::byte::OLD,
            (false, _) if self.obligation.borrows() => BORROWED,
            (false, _) => ANY,
        }
    }

    /// Whether a local may be forgotten: all but the variables of loops and quantifiers.
    pub fn may_forget(&self, procedure: usize, local: usize) -> bool {
        let frame = &self.frames[procedure];
        let room = frame.locals[local];
        let begin = self.blocks[0] + room.base;
        self.slots[begin..begin + room.size].iter().all(|slot| !slot.name.is_empty())
    }

    /// The procedure of an operation.
    pub fn root(&self, operation: u8) -> usize {
        let id = if operation == op::SCANS { self.program.scan() } else { self.program.update() };
        id.0 as usize
    }
}

/// Whether a program has operations that may go wrong.
pub fn may_fail(program: &Program) -> bool {
    let mut may = false;
    for procedure in &program.procedures {
        Statement::each(&procedure.body, &mut |statement| {
            each_expression(statement, &mut |expression| {
                may |= matches!(
                    expression.kind,
                    ExpressionKind::Unwrap(_)
                        | ExpressionKind::Checked(_)
                        | ExpressionKind::List(..)
                );
                may |= may_be_outside(expression);
            });
        });
    }
    may
}

/// Whether a number of the text may be out of the range of its type for some n.
pub fn may_be_outside(expression: &Expression) -> bool {
    match (&expression.kind, &expression.content) {
        (ExpressionKind::Integer(bound), Type::Integer { low, high }) => {
            let (fits, number) = (fixed(*low, *high), fixed(*bound, *bound));
            let within = |((low, high), (number, _))| (low..=high).contains(&number);
            !fits.zip(number).is_some_and(within)
        }
        (ExpressionKind::Integer(_), _) => true,
        // There are two processes at least.
        (ExpressionKind::Process(bound) | ExpressionKind::Segment(bound), _) => {
            !fixed(*bound, *bound).is_some_and(|(number, _)| (0..2).contains(&number))
        }
        (ExpressionKind::Remainder(_, modulus), _) => {
            fixed(*modulus, *modulus).is_none_or(|(modulus, _)| modulus <= 0)
        }
        _ => false,
    }
}

fn bookkeeping() -> Slot {
    Slot {
        name: String::new(),
        leaf: None,
        kept: true,
        tracked: false,
        owner: None,
        frame: None,
        position: false,
        path: Vec::new(),
    }
}

/// Does something with each expression of a statement, not of those in its blocks.
pub fn each_expression<'a>(statement: &'a Statement, act: &mut dyn FnMut(&'a Expression)) {
    fn down<'a>(of: &'a Expression, act: &mut dyn FnMut(&'a Expression)) {
        act(of);
        of.operands().into_iter().for_each(|operand| down(operand, act));
    }
    let place = |place: &'a snapshot_language::program::Place,
                 act: &mut dyn FnMut(&'a Expression)| {
        for projection in &place.path {
            if let snapshot_language::program::Projection::Index(index) = projection {
                down(index, act);
            }
        }
    };
    match &statement.kind {
        StatementKind::Assign { place: into, value } => {
            place(into, act);
            down(value, act);
        }
        StatementKind::Access { access, into } => {
            access.operands().into_iter().for_each(|operand| down(operand, act));
            into.iter().for_each(|into| place(into, act));
        }
        StatementKind::Call { arguments, into, .. } => {
            arguments.iter().for_each(|argument| down(argument, act));
            into.iter().for_each(|into| place(into, act));
        }
        StatementKind::If { condition, .. } => down(condition, act),
        StatementKind::For { except, .. } => except.iter().for_each(|except| down(except, act)),
        StatementKind::Return(result) => result.iter().for_each(|result| down(result, act)),
        StatementKind::Loop { .. } | StatementKind::Break | StatementKind::Atomic(_) => {}
    }
}

/// The locals that are variables of loops, arrays or quantifiers: they are always kept.
fn bound<'a>(statements: impl Iterator<Item = &'a Statement>) -> FxHashSet<usize> {
    let mut indices = FxHashSet::default();
    Statement::each(statements, &mut |statement| {
        if let StatementKind::For { variable, .. } = &statement.kind {
            indices.insert(variable.0 as usize);
        }
        each_expression(statement, &mut |expression| {
            if let ExpressionKind::Each { variable, .. }
            | ExpressionKind::Quantified { variable, .. } = &expression.kind
            {
                indices.insert(variable.0 as usize);
            }
        });
    });
    indices
}

/// Per procedure, whether its calls are ghost scans, and whether it may run in one.
fn ghosts(program: &Program, ghosts: Ghosts) -> Result<(Vec<bool>, Vec<bool>), Unfit> {
    let count = program.procedures.len();
    let (mut is_ghost, mut ghostly) = (vec![false; count], vec![false; count]);
    match ghosts {
        Ghosts::Scans => is_ghost[program.scan().0 as usize] = true,
        Ghosts::Calls => {
            let calls = code::compile(program);
            for operation in [program.update(), program.scan()] {
                for instruction in &calls[operation.0 as usize].instructions {
                    if let Instruction::Call { procedure, .. } = instruction {
                        let view = Some(Type::view());
                        is_ghost[procedure.0 as usize] |=
                            program.procedure(*procedure).returns == view;
                    }
                }
            }
        }
    }
    let reached = |from: usize| {
        snapshot_language::program::linearization::reached(
            &program.procedures,
            ProcedureId(from as u32),
        )
    };
    for ghost in (0..count).filter(|ghost| is_ghost[*ghost]) {
        ghostly.iter_mut().zip(reached(ghost)).for_each(|(all, one)| *all |= one);
    }
    // What runs outside of ghost scans never runs within one.
    let mut outside = vec![false; count];
    let mut waiting = match ghosts {
        Ghosts::Scans => vec![program.update().0 as usize],
        Ghosts::Calls => vec![program.update().0 as usize, program.scan().0 as usize],
    };
    while let Some(procedure) = waiting.pop() {
        if std::mem::replace(&mut outside[procedure], true) {
            continue;
        }
        Statement::each(&program.procedures[procedure].body, &mut |statement| {
            if let StatementKind::Call { procedure, .. } = statement.kind
                && !is_ghost[procedure.0 as usize]
            {
                waiting.push(procedure.0 as usize);
            }
        });
    }
    let is_mixed = (0..count).any(|one| outside[one] && ghostly[one]);
    if !is_ghost.contains(&true) || is_mixed {
        return Err(Unfit("no ghost scans of this kind"));
    }
    Ok((is_ghost, ghostly))
}
