//! A program as a list of instructions per procedure.
//!
//! A process in the middle of an operation stands somewhere in nested statements. To name that
//! place by one number, the statements of each procedure are written one after the other and
//! control becomes jumps; the expressions are shared with the program.
//!
//! Every exit of an `atomic` block, whether its end, a `Break` or a `Return`, passes an
//! [`Instruction::EndAtomic`] per block that it leaves.

use crate::language::Span;
use crate::program::{
    Access, Expression, IndexSet, LocalId, NodeId, Place, Procedure, ProcedureId, Program,
    Statement, StatementKind,
};

#[derive(Clone, Copy, Debug)]
pub enum Instruction<'p> {
    /// Evaluates an expression and stores the value.
    Assign { place: &'p Place, value: &'p Expression },
    /// Makes one access to shared memory.
    Access { statement: &'p Statement, access: &'p Access, into: Option<&'p Place> },
    /// Calls a procedure; the result is stored in the place.
    Call { procedure: ProcedureId, arguments: &'p [Expression], into: Option<&'p Place> },
    /// Allocates a node, as a step of its own or as local computation.
    New {
        statement: &'p Statement,
        node: NodeId,
        fields: &'p [Expression],
        into: &'p Place,
        is_step: bool,
    },
    /// Takes any element of a set: a step of its own, with an outcome per element.
    Choose { statement: &'p Statement, over: IndexSet, into: &'p Place },
    /// Waits for the operations that take effect together with this one.
    Together { statement: &'p Statement },
    /// Frees a node, as a step of its own.
    Free { statement: &'p Statement, pointer: &'p Expression },
    /// Jumps to the target unless the condition holds.
    Unless { condition: &'p Expression, target: usize },
    /// Jumps to the target.
    Jump { target: usize },
    /// Begins a `for`: evaluates the index to skip, and takes the first index.
    BeginFor(For<'p>),
    /// Takes the next index of a `for`, if any.
    NextFor(For<'p>),
    /// Ends the procedure.
    Return { result: Option<&'p Expression> },
    /// Decides whether accesses that were marked on condition are linearization points.
    Point { condition: &'p Expression },
    /// Begins a step that contains all accesses up to [`Self::EndAtomic`].
    BeginAtomic { statement: &'p Statement },
    /// Ends a step of several accesses.
    EndAtomic,
}

/// A `for` statement of a procedure.
#[derive(Clone, Copy, Debug)]
pub struct For<'p> {
    /// Local that holds the index.
    pub variable: LocalId,
    /// Indices to visit.
    pub over: IndexSet,
    /// Index to skip.
    pub except: Option<&'p Expression>,
    /// Number of the `for` within its procedure.
    pub number: usize,
    /// First instruction of the body.
    pub body: usize,
    /// First instruction after the loop.
    pub end: usize,
}

/// Instructions of a procedure; the last is a `Return`.
#[derive(Clone, Debug)]
pub struct Code<'p> {
    pub instructions: Vec<Instruction<'p>>,
    /// Statement of the text per instruction; `None` for control flow, whose effect shows in the
    /// other statements.
    pub statements: Vec<Option<Span>>,
    pub fors: usize,
}

/// Compiles all procedures, without linearization points.
pub fn compile(program: &Program) -> Vec<Code<'_>> {
    compile_with(program, false)
}

/// Compiles all procedures, with or without linearization points.
pub(super) fn compile_with(program: &Program, points: bool) -> Vec<Code<'_>> {
    let frees = program.frees();
    program.procedures.iter().map(|procedure| of_procedure(procedure, frees, points)).collect()
}

fn of_procedure(procedure: &Procedure, frees: bool, points: bool) -> Code<'_> {
    let mut writer = Writer { frees, points, ..Writer::default() };
    writer.block(&procedure.body);
    writer.push(Instruction::Return { result: None });
    let Writer { instructions, statements, fors, .. } = writer;
    Code { instructions, statements, fors }
}

impl<'p> Instruction<'p> {
    /// Returns true if a process stops before this instruction.
    pub const fn is_access(&self) -> bool {
        matches!(
            self,
            Self::Access { .. }
                | Self::BeginAtomic { .. }
                | Self::New { is_step: true, .. }
                | Self::Free { .. }
                | Self::Choose { .. }
                | Self::Together { .. }
        )
    }

    /// Returns the place of the result.
    pub const fn into(&self) -> Option<&'p Place> {
        match *self {
            Self::Assign { place, .. } => Some(place),
            Self::Access { into, .. } | Self::Call { into, .. } => into,
            Self::New { into, .. } | Self::Choose { into, .. } => Some(into),
            _ => None,
        }
    }

    /// Returns the evaluated expressions, except the indices within the place of the result.
    pub fn operands(&self) -> Vec<&'p Expression> {
        match *self {
            Self::Assign { value: one, .. }
            | Self::Point { condition: one }
            | Self::Free { pointer: one, .. }
            | Self::Unless { condition: one, .. } => vec![one],
            Self::Access { access, .. } => access.operands(),
            Self::Call { arguments: all, .. } | Self::New { fields: all, .. } => {
                all.iter().collect()
            }
            Self::BeginFor(For { except, .. }) => except.into_iter().collect(),
            Self::Return { result } => result.into_iter().collect(),
            Self::Choose { .. }
            | Self::Together { .. }
            | Self::Jump { .. }
            | Self::NextFor(_)
            | Self::BeginAtomic { .. }
            | Self::EndAtomic => Vec::new(),
        }
    }

    /// Returns the text of an access.
    pub const fn span(&self) -> Option<Span> {
        match self {
            Self::Access { statement, .. }
            | Self::BeginAtomic { statement }
            | Self::New { statement, .. }
            | Self::Choose { statement, .. }
            | Self::Together { statement }
            | Self::Free { statement, .. } => Some(statement.span),
            _ => None,
        }
    }
}

/// An enclosing `Loop`.
#[derive(Debug)]
struct Enclosing {
    /// Jumps that leave the loop.
    breaks: Vec<usize>,
    /// Number of `atomic` blocks around the loop.
    atomics: usize,
}

#[derive(Debug, Default)]
struct Writer<'p> {
    instructions: Vec<Instruction<'p>>,
    statements: Vec<Option<Span>>,
    /// Span of the enclosing `if`: a `Break` with the same span is a loop's condition.
    tested: Option<Span>,
    loops: Vec<Enclosing>,
    atomics: usize,
    fors: usize,
    frees: bool,
    /// True if linearization points are decided.
    points: bool,
}

impl<'p> Writer<'p> {
    fn push(&mut self, instruction: Instruction<'p>) -> usize {
        self.instructions.push(instruction);
        self.statements.push(None);
        self.instructions.len() - 1
    }

    /// Appends the instruction that executes a statement.
    fn push_statement(&mut self, statement: &Statement, instruction: Instruction<'p>) -> usize {
        let number = self.push(instruction);
        self.statements[number] = Some(statement.span);
        number
    }

    fn leave_atomics(&mut self, outside: usize) {
        for _ in outside..self.atomics {
            self.push(Instruction::EndAtomic);
        }
    }

    fn block(&mut self, statements: &'p [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'p Statement) {
        match &statement.kind {
            StatementKind::Assign { place, value } => {
                self.push_statement(statement, Instruction::Assign { place, value });
            }
            StatementKind::Access { access, into } => {
                let into = into.as_ref();
                self.push_statement(statement, Instruction::Access { statement, access, into });
            }
            StatementKind::Call { procedure, arguments, into } => {
                let (procedure, into) = (*procedure, into.as_ref());
                self.push_statement(statement, Instruction::Call { procedure, arguments, into });
            }
            StatementKind::New { node, fields, into } => {
                let (node, is_step) = (*node, self.frees);
                let new = Instruction::New { statement, node, fields, into, is_step };
                self.push_statement(statement, new);
            }
            StatementKind::Choose { over, into } => {
                let choose = Instruction::Choose { statement, over: *over, into };
                self.push_statement(statement, choose);
            }
            StatementKind::Together => {
                self.push_statement(statement, Instruction::Together { statement });
            }
            StatementKind::Point(condition) if self.points => {
                self.push(Instruction::Point { condition });
            }
            StatementKind::Point(_) => {}
            StatementKind::Free(pointer) => {
                self.push_statement(statement, Instruction::Free { statement, pointer });
            }
            StatementKind::If { condition, then, otherwise } => {
                self.branch(condition, then, otherwise, statement.span);
            }
            StatementKind::Loop { body } => self.repeat(body),
            StatementKind::Break => {
                let outside = self.loops.last().map(|enclosing| enclosing.atomics);
                self.leave_atomics(outside.expect("`Break` stands in a loop"));
                let jump = match self.tested == Some(statement.span) {
                    true => self.push(Instruction::Jump { target: 0 }),
                    false => self.push_statement(statement, Instruction::Jump { target: 0 }),
                };
                self.loops.last_mut().expect("`Break` stands in a loop").breaks.push(jump);
            }
            StatementKind::For { variable, over, except, body } => {
                let (variable, except) = (*variable, except.as_ref());
                let number = self.fors;
                self.fors += 1;
                let new = For { variable, over: *over, except, number, body: 0, end: 0 };
                self.each(new, body);
            }
            StatementKind::Return(result) => {
                self.leave_atomics(0);
                self.push_statement(statement, Instruction::Return { result: result.as_ref() });
            }
            StatementKind::Atomic(body) => {
                self.push(Instruction::BeginAtomic { statement });
                self.atomics += 1;
                self.block(body);
                self.atomics -= 1;
                self.push(Instruction::EndAtomic);
            }
        }
    }

    fn branch(
        &mut self,
        condition: &'p Expression,
        then: &'p [Statement],
        otherwise: &'p [Statement],
        span: Span,
    ) {
        let branch = self.push(Instruction::Unless { condition, target: 0 });
        let outside = self.tested.replace(span);
        self.block(then);
        self.tested = outside;
        let mut target = self.instructions.len();
        if !otherwise.is_empty() {
            let skip = self.push(Instruction::Jump { target: 0 });
            target += 1;
            self.block(otherwise);
            self.instructions[skip] = Instruction::Jump { target: self.instructions.len() };
        }
        self.instructions[branch] = Instruction::Unless { condition, target };
    }

    fn repeat(&mut self, body: &'p [Statement]) {
        let begin = self.instructions.len();
        self.loops.push(Enclosing { breaks: Vec::new(), atomics: self.atomics });
        self.block(body);
        self.push(Instruction::Jump { target: begin });
        let target = self.instructions.len();
        let breaks = self.loops.pop().map_or_else(Vec::new, |enclosing| enclosing.breaks);
        for jump in breaks {
            self.instructions[jump] = Instruction::Jump { target };
        }
    }

    /// Compiles a `for`, whose targets are not known yet.
    fn each(&mut self, this: For<'p>, body: &'p [Statement]) {
        let begin = self.push(Instruction::EndAtomic);
        self.block(body);
        let next = self.push(Instruction::EndAtomic);
        let this = For { body: begin + 1, end: next + 1, ..this };
        self.instructions[begin] = Instruction::BeginFor(this);
        self.instructions[next] = Instruction::NextFor(this);
    }
}
