//! From a checked program to a [`Model`]: every variable gets its bytes, statements become
//! instructions, expressions terms. What is not modelled is refused by name and place.

use snapshot_language::Span;
use snapshot_language::program::{
    Access, Binary, CellKind, CellPlace, Expression, ExpressionKind, IndexSet, LocalId, Place,
    Procedure, ProcedureId, Program, Projection, Root, Statement, StatementKind, Type,
};

use super::model::{
    Act, Cell, For, Frame, Ghosts, Instruction, Model, Obligation, Room, SPECIFICATION, Slot, Step,
    Target, Unsupported, at,
};
use super::shape::{
    BASE, Bytes, Leaf, Mode, NONE, OTHER, OWN, PLACES, Scalar, Shape, T, has_codes, integer,
};
use super::term::{Operand, Other, Over, Term, Wide};

/// Prepares a program.
///
/// # Errors
/// If it has constructs that are not modelled, or no ghost scans of this kind.
pub fn compile(program: &Program, obligation: Obligation) -> Result<Model, Unsupported> {
    let mut layout = Layout::new(obligation);
    let shared = layout.shared(program)?;
    let (private, frames) = layout.blocks(program);
    let mut blocks = [0; 3];
    let size = layout.block.len();
    for (owner, begin) in blocks.iter_mut().enumerate() {
        *begin = layout.slots.len();
        let owner = owner as u8;
        layout.slots.extend(layout.block.iter().map(|slot| Slot {
            owner: Some(owner),
            tracked: slot.tracked || owner == T,
            ..slot.clone()
        }));
    }
    debug_assert_eq!(layout.slots.len(), blocks[0] + 3 * size);
    let (is_ghost, ghostly) = ghosts(program, obligation.ghosts)?;
    let mut model = Model {
        obligation,
        slots: layout.slots,
        code: vec![idle(program.scan)],
        entries: Vec::new(),
        frames,
        ghostly,
        is_ghost,
        blocks,
        update: program.update,
        scan: program.scan,
        shared,
        initial: Vec::new(),
        private: Vec::new(),
        fresh_locals: Vec::new(),
    };
    for (room, variable) in private.into_iter().zip(&program.private) {
        let scope =
            Scope { program, model: &model, procedure: None, nested: true, procedure_code: false };
        let initial = scope.initial(&variable.initial)?;
        model.private.push((room, initial));
    }
    for variable in &program.shared {
        let scope =
            Scope { program, model: &model, procedure: None, nested: true, procedure_code: false };
        let initial = scope.initial(&variable.initial)?;
        let base = model.shared[model.initial.len()].base;
        model.initial.push((base, initial));
    }
    for (id, procedure) in program.procedures.iter().enumerate() {
        let id = ProcedureId(id as u32);
        let scope = Scope {
            program,
            model: &model,
            procedure: Some(id),
            nested: true,
            procedure_code: false,
        };
        let locals = procedure.locals.iter().zip(&model.frames[id.0 as usize].locals);
        let locals = locals.skip(procedure.parameters);
        let initial =
            locals.map(|(local, room)| Ok((room.clone(), scope.initial(&local.initial)?)));
        let initial = initial.collect::<Result<_, Unsupported>>()?;
        model.fresh_locals.push(initial);
    }
    for (id, procedure) in program.procedures.iter().enumerate() {
        let id = ProcedureId(id as u32);
        model.entries.push(model.code.len());
        let begin = model.code.len();
        let nested = has_nested_loops(&procedure.body, false);
        let scope =
            Scope { program, model: &model, procedure: Some(id), nested, procedure_code: true };
        let mut writer = Writer {
            scope,
            procedure: id,
            begin,
            code: Vec::new(),
            loops: Vec::new(),
            atomics: 0,
            fors: 0,
        };
        writer.block(&procedure.body)?;
        writer.push(Act::Return(None), procedure.span);
        let mut code = writer.code;
        super::liveness::fill(&mut code, begin, &model.frames[id.0 as usize].locals);
        mark_points(program, id, &model.frames[id.0 as usize].locals[0], &mut code);
        model.code.extend(code);
    }
    super::relevance::restrict(&mut model);
    Ok(model)
}

fn idle(procedure: ProcedureId) -> Instruction {
    Instruction {
        act: Act::Idle,
        span: Span::default(),
        procedure,
        live: Vec::new(),
        pause: [true; 3],
        point: false,
    }
}

/// Which procedures are ghost scans, and which may run within one.
fn ghosts(program: &Program, ghosts: Ghosts) -> Result<(Vec<bool>, Vec<bool>), Unsupported> {
    let count = program.procedures.len();
    let mut is_ghost = vec![false; count];
    match ghosts {
        Ghosts::Scans => is_ghost[program.scan.0 as usize] = true,
        Ghosts::Calls => {
            for operation in [program.update, program.scan] {
                Statement::each(&program.procedure(operation).body, &mut |statement| {
                    if let StatementKind::Call { procedure, .. } = &statement.kind {
                        let returns = &program.procedure(*procedure).returns;
                        is_ghost[procedure.0 as usize] |= *returns == Some(Type::view());
                    }
                });
            }
        }
    }
    let mut ghostly = vec![false; count];
    for ghost in (0..count).filter(|ghost| is_ghost[*ghost]) {
        let reached = snapshot_language::program::linearization::reached(
            &program.procedures,
            ProcedureId(ghost as u32),
        );
        ghostly.iter_mut().zip(reached).for_each(|(all, one)| *all |= one);
    }
    let outside = match ghosts {
        Ghosts::Scans => vec![program.update],
        Ghosts::Calls => vec![program.update, program.scan],
    };
    for operation in outside {
        if !is_ghost.contains(&true) || ghostly[operation.0 as usize] {
            let span = program.procedure(operation).span;
            return Err(Unsupported {
                span,
                construct: "a program without ghost scans of this kind",
            });
        }
    }
    Ok((is_ghost, ghostly))
}

/// Updates take effect where they first store their value, or where the text says so.
fn mark_points(program: &Program, id: ProcedureId, value: &Room, code: &mut [Instruction]) {
    if id != program.update || code.iter().any(|instruction| instruction.point) {
        return;
    }
    let parameter = code.iter().position(
        |instruction| matches!(&instruction.act, Act::Write(_, term) if mentions(term, value.base)),
    );
    if let Some(first) = parameter {
        code[first].point = true;
    }
}

/// Whether a row contains what lies there.
fn mentions(term: &Term, value: usize) -> bool {
    match term {
        Term::Variable(base, _) => *base == value,
        Term::Row(terms) => terms.iter().any(|term| mentions(term, value)),
        _ => false,
    }
}

fn has_nested_loops(statements: &[Statement], within: bool) -> bool {
    statements.iter().any(|statement| {
        let is_for = matches!(statement.kind, StatementKind::For { .. });
        let parts: Vec<Statement> = statement.parts().cloned().collect();
        (is_for && within) || has_nested_loops(&parts, within || is_for)
    })
}

/// Whether views are in it.
fn holds_view(content: &Type) -> bool {
    match content {
        content if *content == Type::view() => true,
        Type::Array { element, .. } => holds_view(element),
        Type::Record(fields) => fields.iter().any(|field| holds_view(&field.content)),
        _ => false,
    }
}

/// Hands out bytes.
struct Layout {
    obligation: Obligation,
    slots: Vec<Slot>,
    block: Vec<Slot>,
}

impl Layout {
    fn new(obligation: Obligation) -> Self {
        let bookkeeping = Slot {
            leaf: None,
            kept: true,
            tracked: false,
            other: false,
            owner: None,
            frame: None,
            cell: None,
            position: false,
        };
        Self { obligation, slots: vec![bookkeeping; SPECIFICATION + 1], block: Vec::new() }
    }

    fn shared(&mut self, program: &Program) -> Result<Vec<Room>, Unsupported> {
        let mut rooms = Vec::new();
        for (id, variable) in program.shared.iter().enumerate() {
            if variable.cell == CellKind::Linked {
                return Err(Unsupported { span: variable.span, construct: "LL/SC cells" });
            }
            let shape = Shape::of(&variable.content, self.obligation.mode);
            rooms.push(Room { base: self.slots.len(), size: shape.size() });
            let id = snapshot_language::program::SharedId(id as u32);
            let dimensions: Vec<Over> = variable.dimensions.iter().map(|set| over(*set)).collect();
            self.cells(id, &dimensions, &shape, &mut Vec::new());
        }
        Ok(rooms)
    }

    fn cells(
        &mut self,
        id: snapshot_language::program::SharedId,
        dimensions: &[Over],
        shape: &Shape,
        path: &mut Vec<u8>,
    ) {
        let Some((first, rest)) = dimensions.split_first() else {
            let mode = self.obligation.mode;
            shape.each(&mut Vec::new(), &mut |leaf, inner| {
                let has = |member| path.contains(&member) || inner.contains(&member);
                // What only an index of t leads to is not kept: nobody else sees it.
                let only_tracked = path.contains(&T) && !path.iter().any(|place| *place < T);
                let dropped = has(OTHER)
                    || leaf.scalar == Scalar::Lost
                    || (mode == Mode::Direct && (leaf.scalar == Scalar::View || only_tracked));
                self.slots.push(Slot {
                    leaf: Some(leaf),
                    kept: !dropped,
                    tracked: has(T) || has(OTHER) || is_token(leaf, mode),
                    other: has(OTHER),
                    owner: None,
                    frame: None,
                    cell: Some((id, path.clone())),
                    position: false,
                });
            });
            return;
        };
        match *first {
            Over::Members => {
                for place in 0..PLACES as u8 {
                    path.push(place);
                    self.cells(id, rest, shape, path);
                    path.pop();
                }
            }
            Over::Range(_, count) => {
                (0..count).for_each(|_| self.cells(id, rest, shape, path));
            }
            // All of them as one, never kept.
            Over::Many => {
                path.push(OTHER);
                self.cells(id, rest, shape, path);
                path.pop();
            }
        }
    }

    fn blocks(&mut self, program: &Program) -> (Vec<Room>, Vec<Frame>) {
        (0..at::END).for_each(|offset| {
            self.bookkeeping(None, false);
            // Tokens are relative to t.
            self.block[offset].tracked = offset == at::TOKEN;
        });
        let private = program.private.iter();
        let private = private.map(|variable| self.variable(&variable.content, None)).collect();
        let frames = program.procedures.iter().enumerate();
        let frames =
            frames.map(|(id, procedure)| self.frame(ProcedureId(id as u32), procedure)).collect();
        (private, frames)
    }

    fn frame(&mut self, id: ProcedureId, procedure: &Procedure) -> Frame {
        let back = self.bookkeeping(Some(id), false);
        self.bookkeeping(Some(id), false);
        let locals = procedure.locals.iter();
        let locals = locals.map(|local| self.variable(&local.content, Some(id))).collect();
        let mut fors = Vec::new();
        Statement::each(&procedure.body, &mut |statement| {
            if matches!(statement.kind, StatementKind::For { .. }) {
                fors.push(self.bookkeeping(Some(id), true));
                let except = self.bookkeeping(Some(id), false);
                let leaf = Leaf { scalar: Scalar::Member, optional: false };
                self.block[except].leaf = Some(leaf);
            }
        });
        Frame { back, end: self.block.len(), locals, fors }
    }

    fn bookkeeping(&mut self, frame: Option<ProcedureId>, position: bool) -> usize {
        self.block.push(Slot {
            leaf: None,
            kept: true,
            tracked: false,
            other: false,
            owner: None,
            frame,
            cell: None,
            position,
        });
        self.block.len() - 1
    }

    fn variable(&mut self, content: &Type, frame: Option<ProcedureId>) -> Room {
        let mode = self.obligation.mode;
        let shape = Shape::of(content, mode);
        let base = self.block.len();
        shape.each(&mut Vec::new(), &mut |leaf, path| {
            self.block.push(Slot {
                leaf: Some(leaf),
                kept: leaf.scalar != Scalar::Lost,
                tracked: path.contains(&T) || path.contains(&OTHER) || is_token(leaf, mode),
                other: path.contains(&OTHER),
                owner: None,
                frame,
                cell: None,
                position: false,
            });
        });
        Room { base, size: shape.size() }
    }
}

/// Tokens of views are relative to t.
fn is_token(leaf: Leaf, mode: Mode) -> bool {
    leaf.scalar == Scalar::View && mode == Mode::Nested
}

/// The indices of a set.
pub fn over(set: IndexSet) -> Over {
    match set {
        IndexSet::Processes | IndexSet::Segments => Over::Members,
        IndexSet::Range(low, high) => {
            let count = i64::from(high.plus) - i64::from(low.plus) + 1;
            match has_codes(low, high) && count >= 0 {
                true => Over::Range(low.plus, count as usize),
                false => Over::Many,
            }
        }
    }
}

/// What expressions see.
#[derive(Clone, Copy)]
struct Scope<'a> {
    program: &'a Program,
    model: &'a Model,
    procedure: Option<ProcedureId>,
    /// Whether there are loops in loops, so that "any other" may be two at once.
    nested: bool,
    /// Whether it is code, rather than an initial value.
    procedure_code: bool,
}

impl Scope<'_> {
    fn mode(&self) -> Mode {
        self.model.obligation.mode
    }

    fn shape(&self, content: &Type) -> Shape {
        Shape::of(content, self.mode())
    }

    fn room(&self, local: LocalId) -> Room {
        let procedure = self.procedure.expect("only procedures have locals");
        self.model.frames[procedure.0 as usize].locals[local.0 as usize].clone()
    }

    /// An initial value: as any other, but that views are not scanned.
    fn initial(&self, expression: &Expression) -> Result<Term, Unsupported> {
        self.term(expression)
    }

    fn terms(&self, expressions: &[Expression]) -> Result<Vec<Term>, Unsupported> {
        expressions.iter().map(|expression| self.term(expression)).collect()
    }

    fn boxed(&self, expression: &Expression) -> Result<Box<Term>, Unsupported> {
        Ok(Box::new(self.term(expression)?))
    }

    fn term(&self, of: &Expression) -> Result<Term, Unsupported> {
        let byte = |byte: u8| Term::Constant(Bytes::from_slice(&[byte]));
        let span = of.span;
        let shape = self.shape(&of.content);
        Ok(match &of.kind {
            ExpressionKind::Bool(data) => byte(BASE + u8::from(*data)),
            ExpressionKind::Integer(bound) => match shape {
                Shape::Leaf(Leaf { scalar: Scalar::Integer { low, count }, .. })
                    if bound.times_n == 0
                        && (low..low + i32::from(count)).contains(&bound.plus) =>
                {
                    byte(integer(bound.plus))
                }
                shape => Term::Unknown(shape),
            },
            // Which member has this number depends on n, i and j.
            ExpressionKind::Process(_) | ExpressionKind::Segment(_) => Term::Unknown(shape),
            ExpressionKind::None => byte(NONE),
            ExpressionKind::InitialValue => byte(OWN),
            ExpressionKind::FirstVersion => byte(BASE),
            ExpressionKind::Counter(_) | ExpressionKind::Successor(_) => Term::Unknown(shape),
            ExpressionKind::Me => Term::Me,
            ExpressionKind::Convert(inner) => self.term(inner)?,
            ExpressionKind::Some(inner) => match (self.shape(&inner.content), shape) {
                (Shape::Leaf(one), Shape::Leaf(two)) if one.scalar == two.scalar => {
                    self.term(inner)?
                }
                (
                    Shape::Leaf(Leaf { scalar: Scalar::Integer { .. }, .. }),
                    Shape::Leaf(Leaf { scalar: Scalar::Integer { .. }, .. }),
                ) => self.term(inner)?,
                (_, shape) => Term::Unknown(shape),
            },
            ExpressionKind::Checked(inner) => {
                let from = self.shape(&inner.content);
                match (from, shape) {
                    (
                        Shape::Leaf(Leaf { scalar: Scalar::Member, .. }),
                        Shape::Leaf(Leaf { scalar: Scalar::Member, .. }),
                    ) => self.term(inner)?,
                    (
                        Shape::Leaf(Leaf { scalar: Scalar::Integer { low, count: many }, .. }),
                        Shape::Leaf(Leaf { scalar: Scalar::Integer { low: to, count }, .. }),
                    ) => {
                        let from = (low, i32::from(many));
                        self.checked(self.term(inner)?, from, to, count, span)
                    }
                    _ => {
                        return Err(Unsupported {
                            span,
                            construct: "a number that is turned into a process, a segment or a \
                                        range that depends on n",
                        });
                    }
                }
            }
            ExpressionKind::NumberOf(_) | ExpressionKind::ValueOf(_) => {
                return Err(Unsupported { span, construct: "the number of a value" });
            }
            ExpressionKind::Local(id) => {
                let room = self.room(*id);
                Term::Variable(room.base, room.size)
            }
            ExpressionKind::Private(id) => {
                let room = &self.model.private[id.0 as usize].0;
                Term::Variable(room.base, room.size)
            }
            ExpressionKind::Index(array, index) => {
                let Type::Array { index: set, .. } = &array.content else {
                    unreachable!("only arrays have elements")
                };
                if let Shape::Leaf(leaf) = self.shape(&array.content) {
                    return match leaf.scalar {
                        // Its token is looked at when it is evaluated.
                        Scalar::View => Ok(Term::Taken(self.boxed(array)?, span)),
                        _ => Ok(Term::Unknown(shape)),
                    };
                }
                let scratch = self.is_scratch(index);
                Term::Index {
                    array: self.boxed(array)?,
                    element: shape,
                    index: Box::new(self.index(index, over(*set))?),
                    over: over(*set),
                    other: if scratch { Other::Scratch } else { Other::Unknown },
                    span,
                }
            }
            ExpressionKind::Field(record, position) => {
                let record_shape = self.shape(&record.content);
                let (offset, field) = record_shape.field(*position);
                Term::Part(self.boxed(record)?, offset, field.size())
            }
            ExpressionKind::Record(fields) => Term::Row(self.terms(fields)?),
            ExpressionKind::With(record, fields) => {
                let record_shape = self.shape(&record.content);
                let fields = fields.iter().map(|(position, field)| {
                    Ok((record_shape.field(*position).0, self.term(field)?))
                });
                Term::With(self.boxed(record)?, fields.collect::<Result<_, Unsupported>>()?)
            }
            ExpressionKind::Filled(element) | ExpressionKind::Each { body: element, .. }
                if self.procedure_code && holds_view(&element.content) =>
            {
                return Err(Unsupported { span, construct: "an array of views, computed" });
            }
            ExpressionKind::Filled(element) => match shape {
                Shape::Leaf(Leaf { scalar: Scalar::View, .. }) => {
                    // All elements are values, and none of them is of a view.
                    self.term(element)?
                }
                Shape::Leaf(_) => Term::Unknown(shape),
                Shape::Members(_) => Term::Filled(self.boxed(element)?, PLACES),
                Shape::Range(_, count, _) => Term::Filled(self.boxed(element)?, count),
                Shape::Record(_) => unreachable!("only arrays are filled"),
            },
            ExpressionKind::Each { variable, over: set, body } => {
                let variable = self.room(*variable).base;
                match shape {
                    Shape::Leaf(Leaf { scalar: Scalar::View, .. }) => {
                        Term::Made { variable, body: self.boxed(body)? }
                    }
                    Shape::Leaf(_) => Term::Unknown(shape),
                    _ => Term::Each { variable, over: over(*set), body: self.boxed(body)? },
                }
            }
            ExpressionKind::Quantified { all, variable, over: set, except, body } => {
                let except = except.as_deref().map(|except| self.boxed(except)).transpose()?;
                Term::Quantified {
                    all: *all,
                    variable: self.room(*variable).base,
                    over: over(*set),
                    except,
                    body: self.boxed(body)?,
                }
            }
            ExpressionKind::Unwrap(inner) => Term::Unwrap(self.boxed(inner)?, span),
            ExpressionKind::Not(inner) => Term::Not(self.boxed(inner)?),
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, &shape, span)?
            }
            ExpressionKind::If(condition, then, otherwise) => {
                let branches = (self.boxed(then)?, self.boxed(otherwise)?);
                Term::If(self.boxed(condition)?, branches.0, branches.1, shape)
            }
            ExpressionKind::Remainder(..) => Term::Unknown(shape),
            ExpressionKind::Fresh => Term::Fresh,
        })
    }

    /// Whether an index is that of the loop around, and no other loop is around.
    fn is_scratch(&self, index: &Expression) -> bool {
        let mut index = index;
        while let ExpressionKind::Convert(inner) = &index.kind {
            index = inner;
        }
        let ExpressionKind::Local(id) = index.kind else { return false };
        let Some(procedure) = self.procedure else { return false };
        let mut is = false;
        Statement::each(&self.program.procedure(procedure).body, &mut |statement| {
            is |= matches!(statement.kind, StatementKind::For { variable, .. } if variable == id);
        });
        is && !self.nested
    }

    /// An integer that must be in a range.
    fn checked(&self, inner: Term, from: (i32, i32), to: i32, count: u8, span: Span) -> Term {
        if let Term::Constant(bytes) = &inner
            && (to..to + i32::from(count)).any(|number| bytes.as_slice() == [integer(number)])
        {
            return inner;
        }
        let wide = Wide { low: to, count: i32::from(count), span };
        let zero = Term::Constant(Bytes::from_slice(&[integer(0)]));
        let zero = Operand { term: zero, low: 0, count: 1 };
        let inner = Operand { term: inner, low: from.0, count: from.1 };
        Term::Arithmetic(Binary::Add, Box::new(inner), Box::new(zero), wide)
    }

    /// An index: a member, or an integer of the range.
    fn index(&self, index: &Expression, over: Over) -> Result<Term, Unsupported> {
        let term = self.term(index)?;
        match over {
            Over::Members => Ok(term),
            Over::Range(low, count) => match self.low_of(index) {
                Some(from) => Ok(self.checked(term, from, low, count as u8, index.span)),
                None => {
                    Ok(Term::Unknown(Shape::Leaf(Leaf { scalar: Scalar::Lost, optional: false })))
                }
            },
            Over::Many => Ok(term),
        }
    }

    fn low_of(&self, expression: &Expression) -> Option<(i32, i32)> {
        match self.shape(&expression.content) {
            Shape::Leaf(Leaf { scalar: Scalar::Integer { low, count }, optional: false }) => {
                Some((low, i32::from(count)))
            }
            _ => None,
        }
    }

    fn binary(
        &self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
        shape: &Shape,
        span: Span,
    ) -> Result<Term, Unsupported> {
        let terms = (self.boxed(left)?, self.boxed(right)?);
        Ok(match operator {
            Binary::And => Term::Connected(true, terms.0, terms.1),
            Binary::Or => Term::Connected(false, terms.0, terms.1),
            Binary::Equal | Binary::NotEqual => {
                let negated = operator == Binary::NotEqual;
                let leaves = leaves(&self.shape(&left.content));
                if !alike(&leaves, &self.shape(&right.content)) {
                    return Err(Unsupported { span, construct: "this comparison" });
                }
                Term::Equal { negated, left: terms.0, right: terms.1, leaves }
            }
            Binary::Less | Binary::LessOrEqual | Binary::Add | Binary::Subtract => {
                let wide = match shape {
                    Shape::Leaf(Leaf { scalar: Scalar::Integer { low, count }, .. }) => {
                        Wide { low: *low, count: i32::from(*count), span }
                    }
                    _ => Wide { low: 0, count: 0, span },
                };
                match (self.low_of(left), self.low_of(right)) {
                    (Some(one), Some(two)) => Term::Arithmetic(
                        operator,
                        Box::new(Operand { term: *terms.0, low: one.0, count: one.1 }),
                        Box::new(Operand { term: *terms.1, low: two.0, count: two.1 }),
                        wide,
                    ),
                    _ => Term::Unknown(shape.clone()),
                }
            }
        })
    }
}

/// The bytes of a shape, each with the places that lead to it.
fn leaves(shape: &Shape) -> Vec<(Leaf, Bytes)> {
    let mut found = Vec::new();
    shape.each(&mut Vec::new(), &mut |leaf, path| found.push((leaf, Bytes::from_slice(path))));
    found
}

/// Whether a shape has these scalars, so that bytes can be compared.
fn alike(leaves: &[(Leaf, Bytes)], shape: &Shape) -> bool {
    let others = self::leaves(shape);
    let same = |one: Leaf, two: Leaf| match (one.scalar, two.scalar) {
        (Scalar::Integer { .. }, Scalar::Integer { .. }) => true,
        (one, two) => one == two,
    };
    others.len() == leaves.len() && leaves.iter().zip(&others).all(|(one, two)| same(one.0, two.0))
}

/// Writes the instructions of a procedure.
struct Writer<'a> {
    scope: Scope<'a>,
    procedure: ProcedureId,
    /// The number of its first instruction.
    begin: usize,
    code: Vec<Instruction>,
    loops: Vec<(Vec<usize>, usize)>,
    atomics: usize,
    fors: usize,
}

impl Writer<'_> {
    fn here(&self) -> usize {
        self.begin + self.code.len()
    }

    fn push(&mut self, act: Act, span: Span) -> usize {
        let procedure = self.procedure;
        let (live, pause) = (Vec::new(), [true; 3]);
        self.code.push(Instruction { act, span, procedure, live, pause, point: false });
        self.code.len() - 1
    }

    fn leave_atomics(&mut self, outside: usize, span: Span) {
        for _ in outside..self.atomics {
            self.push(Act::EndAtomic, span);
        }
    }

    fn block(&mut self, statements: &[Statement]) -> Result<(), Unsupported> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Unsupported> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign { place, value } => {
                let act = Act::Assign(self.target(place, span)?, self.scope.term(value)?);
                self.push(act, span);
            }
            StatementKind::Access { access, into } => {
                let into = into.as_ref().map(|place| self.target(place, span)).transpose()?;
                let act = match access {
                    Access::Read(place) => Act::Read(self.cell(place)?, into),
                    Access::Write(place, value) => {
                        Act::Write(self.cell(place)?, self.scope.term(value)?)
                    }
                    Access::CompareAndSwap(place, old, new) => {
                        let cell = self.cell(place)?;
                        let leaves = leaves(&cell.shape);
                        Act::Swap(cell, self.scope.term(old)?, self.scope.term(new)?, into, leaves)
                    }
                    Access::LoadLinked(_) | Access::StoreConditional(..) | Access::Validate(_) => {
                        return Err(Unsupported { span, construct: "LL/SC cells" });
                    }
                };
                let position = self.push(act, span);
                self.code[position].point = statement.linearizes;
            }
            StatementKind::Call { procedure, arguments, into } => {
                let into = into.as_ref().map(|place| self.target(place, span)).transpose()?;
                let act = Act::Call(*procedure, self.scope.terms(arguments)?, into);
                self.push(act, span);
            }
            StatementKind::If { condition, then, otherwise } => {
                let condition = self.scope.term(condition)?;
                let branch = self.push(Act::Unless(condition.clone(), 0), span);
                self.block(then)?;
                let mut target = self.here();
                if !otherwise.is_empty() {
                    let skip = self.push(Act::Jump(0), span);
                    target += 1;
                    self.block(otherwise)?;
                    self.code[skip].act = Act::Jump(self.here());
                }
                self.code[branch].act = Act::Unless(condition, target);
            }
            StatementKind::Loop { body } => {
                let begin = self.here();
                self.loops.push((Vec::new(), self.atomics));
                self.block(body)?;
                self.push(Act::Jump(begin), span);
                let target = self.here();
                let (breaks, _) = self.loops.pop().expect("a loop was begun");
                for jump in breaks {
                    self.code[jump].act = Act::Jump(target);
                }
            }
            StatementKind::Break => {
                let outside = self.loops.last().expect("`Break` stands in a loop").1;
                self.leave_atomics(outside, span);
                let jump = self.push(Act::Jump(0), span);
                self.loops.last_mut().expect("`Break` stands in a loop").0.push(jump);
            }
            StatementKind::For { variable, over: set, except, body } => {
                let position = self.scope.model.frames[self.procedure.0 as usize].fors[self.fors];
                self.fors += 1;
                let except = except.as_ref().map(|except| self.scope.term(except)).transpose()?;
                let begin = self.push(Act::EndAtomic, span);
                self.block(body)?;
                let next = self.push(Act::EndAtomic, span);
                let this = For {
                    variable: self.scope.room(*variable).base,
                    position,
                    over: over(*set),
                    except,
                    body: self.begin + begin + 1,
                    end: self.begin + next + 1,
                };
                self.code[begin].act = Act::Begin(this.clone());
                self.code[next].act = Act::Next(this);
            }
            StatementKind::Return(result) => {
                self.leave_atomics(0, span);
                let result = result.as_ref().map(|result| self.scope.term(result)).transpose()?;
                self.push(Act::Return(result), span);
            }
            StatementKind::Atomic(body) => {
                self.push(Act::Atomic, span);
                self.atomics += 1;
                self.block(body)?;
                self.atomics -= 1;
                self.push(Act::EndAtomic, span);
            }
        }
        Ok(())
    }

    fn cell(&self, place: &CellPlace) -> Result<Cell, Unsupported> {
        let variable = self.scope.program.shared(place.variable);
        let sets = variable.dimensions.iter().map(|set| over(*set));
        let indices = sets
            .zip(&place.indices)
            .map(|(over, index)| Ok((over, self.scope.index(index, over)?)));
        let indices = indices.collect::<Result<_, Unsupported>>()?;
        let shape = self.scope.shape(&variable.content);
        Ok(Cell { variable: place.variable, indices, shape })
    }

    fn target(&self, place: &Place, span: Span) -> Result<Target, Unsupported> {
        let scope = &self.scope;
        let (room, mut content, local, private) = match place.root {
            Root::Local(id) => {
                let procedure = scope.program.procedure(self.procedure);
                (scope.room(id), &procedure.local(id).content, Some(id), None)
            }
            Root::Private(id) => {
                let room = scope.model.private[id.0 as usize].0.clone();
                (room, &scope.program.private(id).content, None, Some(id))
            }
        };
        let mut path = Vec::new();
        let mut in_token = false;
        for projection in &place.path {
            if in_token {
                // What is not modelled as a whole has no parts.
                break;
            }
            let shape = scope.shape(content);
            match (projection, content) {
                (Projection::Field(position), Type::Record(fields)) => {
                    path.push(Step::Field(shape.field(*position).0));
                    content = &fields[*position].content;
                }
                (Projection::Index(index), Type::Array { index: set, element }) => {
                    match shape {
                        Shape::Leaf(_) => in_token = true,
                        _ => {
                            let over = over(*set);
                            let other = match scope.is_scratch(index) {
                                true => Other::Scratch,
                                false => Other::Unknown,
                            };
                            let size = scope.shape(element).size();
                            path.push(Step::Element(scope.index(index, over)?, over, size, other));
                        }
                    }
                    content = element;
                }
                _ => unreachable!("a well-typed path leads through arrays and records"),
            }
        }
        let size = if in_token { 1 } else { scope.shape(content).size() };
        Ok(Target { room, path, size, local, private, in_token, span })
    }
}
