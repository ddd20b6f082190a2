//! Semantics of instructions: one step of one process.

use std::sync::Arc;

use super::code::{For, Instruction};
use super::coverage::Coverage;
use super::data::{Data, range};
use super::evaluate::{Scope, Selector};
use super::fault::{Fault, FaultKind};
use super::machine::Machine;
use super::points::PointsPassed;
use super::report::AccessReport;
use super::state::{Activity, Cell, Frame, State};
use super::structure::Passage;
use crate::language::Span;
use crate::program::{Interface, MOST_WORK, Place, ProcedureId, Projection, Root, Type};

/// Number of consecutive local operations that counts as an endless loop. No step of a program that
/// is small enough to be run has this many: evaluations are at most twice [`MOST_WORK`], and each
/// belongs to at most two operations.
const PATIENCE: u32 = 8 * MOST_WORK as u32;

/// A process that is making a step.
pub(super) struct Run<'m, 'p, 's> {
    pub(super) machine: &'m Machine<'p>,
    pub(super) me: usize,
    pub(super) cells: &'s mut Arc<Vec<Cell>>,
    private: &'s mut Vec<Data>,
    activity: &'s mut Activity,
    fresh: &'s mut u32,
    /// Receives accesses, if they are reported.
    pub(super) accesses: Option<&'s mut Vec<AccessReport>>,
    /// Receives executed statements, if they are recorded.
    pub(super) coverage: Option<&'s mut Coverage>,
    /// Receives calls and returns, if they are reported.
    pub(super) passages: Option<&'s mut Vec<Passage>>,
    pub(super) points: PointsPassed,
    /// Chosen outcome of the step.
    pub(super) choice: u32,
    patience: u32,
}

impl<'m, 'p, 's> Run<'m, 'p, 's> {
    pub fn new(
        machine: &'m Machine<'p>,
        state: &'s mut State,
        me: usize,
        accesses: Option<&'s mut Vec<AccessReport>>,
    ) -> Self {
        let local = Arc::make_mut(&mut state.processes[me]);
        Self {
            machine,
            me,
            cells: &mut state.cells,
            private: &mut local.private,
            activity: &mut local.activity,
            fresh: &mut state.fresh,
            accesses,
            coverage: None,
            passages: None,
            points: PointsPassed::default(),
            choice: 0,
            patience: PATIENCE,
        }
    }

    /// Enters a procedure.
    pub fn call(&mut self, procedure: ProcedureId, arguments: Vec<Data>) -> Result<(), Fault> {
        if let Some(passages) = &mut self.passages {
            passages.push(Passage::In(procedure));
        }
        let declared = self.machine.program.procedure(procedure);
        let mut locals = arguments;
        for local in &declared.locals[declared.parameters..] {
            let (n, me, private) = (self.machine.n, self.me, &**self.private);
            if range(&local.content, n).is_some_and(|(low, high)| low > high) {
                // The index of a `for` over an empty range is never read.
                locals.push(Data::Number(0));
                continue;
            }
            let mut scope = Scope { n, me, locals: &mut Vec::new(), private, fresh: self.fresh };
            locals.push(scope.evaluate(&local.initial)?);
        }
        let excepts = vec![None; self.machine.code[procedure.0 as usize].fors];
        let frame = Frame { procedure, at: 0, locals, excepts };
        if let Activity::Running(frames) = self.activity {
            frames.push(frame);
        } else {
            *self.activity = Activity::Running(vec![frame]);
        }
        Ok(())
    }

    /// Makes the access before which the process stands, or all accesses of the `atomic` block.
    pub fn access(&mut self) -> Result<(), Fault> {
        let mut atomics = 0_usize;
        loop {
            self.cover();
            match self.instruction() {
                Some(Instruction::BeginAtomic { .. }) => {
                    atomics += 1;
                    self.frame().at += 1;
                }
                Some(Instruction::EndAtomic) => {
                    atomics -= 1;
                    self.frame().at += 1;
                }
                Some(Instruction::Access { statement, access, into }) => {
                    self.perform(access, statement, into)?;
                    self.frame().at += 1;
                }
                Some(Instruction::New { statement, node, fields, into, .. }) => {
                    self.allocate(statement, node, fields, into)?;
                    self.frame().at += 1;
                }
                Some(Instruction::Choose { statement, over, into }) => {
                    self.choose(statement, over, into)?;
                    self.frame().at += 1;
                }
                Some(Instruction::Together { .. }) => self.frame().at += 1,
                Some(Instruction::Free { statement, pointer }) => {
                    self.free(statement, pointer)?;
                    self.frame().at += 1;
                }
                Some(instruction) => self.local(instruction)?,
                None => return Ok(()),
            }
            if atomics == 0 {
                return Ok(());
            }
        }
    }

    /// Runs local code up to the next access, or to the end of the operation.
    pub fn until_access(&mut self) -> Result<(), Fault> {
        while let Some(instruction) = self.instruction() {
            if instruction.is_access() {
                break;
            }
            self.cover();
            self.local(instruction)?;
        }
        Ok(())
    }

    /// Records the execution of the next instruction.
    fn cover(&mut self) {
        if let (Some(coverage), Activity::Running(frames)) = (&mut self.coverage, &*self.activity)
            && let Some(frame) = frames.last()
        {
            coverage.add(frame.procedure, frame.at);
        }
    }

    /// Returns the next instruction; `None` once the operation has returned.
    fn instruction(&self) -> Option<Instruction<'p>> {
        match &*self.activity {
            Activity::Running(frames) => {
                let frame = frames.last()?;
                Some(self.machine.code[frame.procedure.0 as usize].instructions[frame.at])
            }
            Activity::Idle | Activity::Responding(_) | Activity::Returning(..) => None,
        }
    }

    fn frame(&mut self) -> &mut Frame {
        match self.activity {
            Activity::Running(frames) => frames.last_mut().expect("a running process has a frame"),
            _ => unreachable!("only a running process executes instructions"),
        }
    }

    /// Returns the scope of expressions in the innermost call.
    pub fn scope(&mut self) -> Scope<'_> {
        let frame = match self.activity {
            Activity::Running(frames) => frames.last_mut().expect("a running process has a frame"),
            _ => unreachable!("only a running process evaluates expressions"),
        };
        Scope {
            n: self.machine.n,
            me: self.me,
            locals: &mut frame.locals,
            private: self.private,
            fresh: self.fresh,
        }
    }

    /// Executes an instruction without access to shared memory.
    fn local(&mut self, instruction: Instruction<'p>) -> Result<(), Fault> {
        match instruction {
            Instruction::Assign { place, value } => {
                let data = self.scope().evaluate(value)?;
                self.store(place, data)?;
                self.frame().at += 1;
            }
            Instruction::Call { procedure, arguments, .. } => {
                let mut scope = self.scope();
                let arguments = arguments.iter().map(|argument| scope.evaluate(argument));
                let arguments = arguments.collect::<Result<_, _>>()?;
                self.call(procedure, arguments)?;
            }
            Instruction::Point { condition } => {
                self.decide_points(condition)?;
                self.frame().at += 1;
            }
            Instruction::Unless { condition, target } => {
                let holds = self.scope().holds(condition)?;
                self.be_patient(condition.span)?;
                let frame = self.frame();
                frame.at = if holds { frame.at + 1 } else { target };
            }
            Instruction::Jump { target } => {
                self.be_patient(Span::default())?;
                self.frame().at = target;
            }
            Instruction::BeginFor(this) => {
                let except = this.except.map(|except| self.scope().number(except)).transpose()?;
                self.frame().excepts[this.number] = except;
                self.next_index(this, i64::MIN);
            }
            Instruction::NextFor(this) => {
                let Data::Number(last) = self.frame().locals[this.variable.0 as usize] else {
                    unreachable!("an index is a number")
                };
                self.next_index(this, last + 1);
            }
            Instruction::Return { result } => {
                let result = result.map(|result| self.scope().evaluate(result)).transpose()?;
                self.leave(result)?;
            }
            Instruction::New { statement, node, fields, into, .. } => {
                self.allocate(statement, node, fields, into)?;
                self.frame().at += 1;
            }
            Instruction::Access { .. }
            | Instruction::Free { .. }
            | Instruction::Choose { .. }
            | Instruction::Together { .. }
            | Instruction::BeginAtomic { .. }
            | Instruction::EndAtomic => {
                unreachable!("accesses and atomic blocks are not local")
            }
        }
        Ok(())
    }

    /// Counts an iteration that may belong to a loop without access.
    fn be_patient(&mut self, span: Span) -> Result<(), Fault> {
        self.patience -= 1;
        if self.patience == 0 {
            return Err(FaultKind::Endless { limit: PATIENCE }.at(span));
        }
        Ok(())
    }

    /// Enters the body of a `for` with the first remaining index, or leaves the loop if there is
    /// none.
    fn next_index(&mut self, this: For<'p>, from: i64) {
        let (low, high) = this.over.bounds(self.machine.n);
        let frame = self.frame();
        let except = frame.excepts[this.number];
        let mut left = from.max(i64::from(low))..=i64::from(high);
        let next = left.find(|index| Some(*index) != except);
        let variable = &mut frame.locals[this.variable.0 as usize];
        if let Some(index) = next {
            *variable = Data::Number(index);
            frame.at = this.body;
        } else {
            // A finished loop leaves no trace in the state.
            *variable = Data::Number(0);
            frame.excepts[this.number] = None;
            frame.at = this.end;
        }
    }

    fn leave(&mut self, result: Option<Data>) -> Result<(), Fault> {
        let Activity::Running(frames) = &mut *self.activity else {
            unreachable!("only a running process returns")
        };
        let left = frames.pop().map(|frame| frame.procedure);
        if let (Some(left), Some(passages)) = (left, &mut self.passages) {
            passages.push(Passage::Out(left, result.clone()));
        }
        if frames.is_empty() {
            *self.activity = match (&self.machine.program.interface, left) {
                (Interface::Snapshot { .. }, _) | (_, None) => {
                    Activity::Responding(result.map(view))
                }
                (_, Some(operation)) => Activity::Returning(operation, result),
            };
            return Ok(());
        }
        let Some(Instruction::Call { into, .. }) = self.instruction() else {
            unreachable!("a caller stands at its call")
        };
        if let (Some(place), Some(data)) = (into, result) {
            self.store(place, data)?;
        }
        self.frame().at += 1;
        Ok(())
    }

    /// Stores data in a variable or a part of it.
    pub(super) fn store(&mut self, place: &Place, data: Data) -> Result<(), Fault> {
        let program = self.machine.program;
        let n = self.machine.n;
        let mut content = match place.root {
            Root::Local(id) => &program.procedure(self.frame().procedure).local(id).content,
            Root::Private(id) => &program.private(id).content,
        };
        let mut path = Vec::with_capacity(place.path.len());
        for projection in &place.path {
            let (part, inner) = match (projection, content) {
                (Projection::Index(index), Type::Array { index: over, element }) => {
                    let at = self.scope().number(index)?;
                    (Selector::element(at, *over, n, index.span)?, &**element)
                }
                (Projection::Field(position), Type::Record(fields)) => {
                    (Selector::field(*position), &fields[*position].content)
                }
                _ => unreachable!("a well-typed path leads through arrays and records"),
            };
            path.push(part);
            content = inner;
        }
        debug_assert!(data.fits(content, n), "the front end checks what is stored");
        let root = match place.root {
            Root::Local(id) => &mut self.frame().locals[id.0 as usize],
            Root::Private(id) => &mut self.private[id.0 as usize],
        };
        *path.iter().fold(root, |whole, part| part.of_mut(whole)) = data;
        Ok(())
    }
}

/// Returns the values that a scan returns.
fn view(data: Data) -> Vec<u32> {
    let Data::Parts(parts) = data else { unreachable!("a view is an array") };
    let value = |part| match part {
        Data::Value(value) => value,
        _ => unreachable!("a view holds values"),
    };
    parts.into_iter().map(value).collect()
}
