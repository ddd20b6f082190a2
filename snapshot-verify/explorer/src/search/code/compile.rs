//! Compiles graphs to code.

use std::collections::HashMap;

use thiserror::Error;

use super::terms::weight;
use super::{Address, Code, Entries, Fault, Operand, Operation};
use crate::instance::{
    Assignment, Block, BlockId, End, Graph, Instance, Response, Scalar, Standing, Target,
};
use crate::search::layout::Registers;

/// Why an instance cannot be compiled.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum CodeError {
    /// The instance has more registers or operations than an operand or address can number.
    #[error(
        "the instance is too large: more than 65536 registers and constants, or 2^32 operations"
    )]
    TooLarge,
    /// An operator has a wrong number of arguments.
    #[error("an operator has a wrong number of arguments")]
    Arguments,
}

/// The indices of jumps whose address is not known yet.
pub(super) type Jumps = Vec<usize>;

pub(super) struct Compiler {
    operations: Vec<Operation>,
    pub(super) tables: Vec<Operand>,
    pub(super) constants: Vec<Scalar>,
    pub(super) variables: usize,
    pub(super) temporaries: usize,
    /// The number of temporaries in use by the current operation.
    pub(super) temporaries_in_use: usize,
    faults: Vec<Fault>,
}

impl Code {
    /// Compiles all graphs of an instance. `first_fresh` is the first version
    /// that no canonical state contains.
    ///
    /// # Errors
    /// If the instance breaks a rule for terms, or is too large.
    pub fn new(instance: &Instance, first_fresh: Scalar) -> Result<Self, CodeError> {
        let mut compiler = Compiler {
            operations: Vec::new(),
            tables: Vec::new(),
            constants: Vec::new(),
            variables: Registers::new(instance).count(),
            temporaries: instance.graphs.iter().map(graph_weight).max().unwrap_or(0),
            temporaries_in_use: 0,
            faults: Vec::new(),
        };
        if compiler.variables > usize::from(Operand::MAX) {
            return Err(CodeError::TooLarge);
        }
        let graphs = instance.graphs.iter().map(|graph| compiler.graph(graph));
        let graphs = graphs.collect::<Result<_, _>>()?;
        Ok(Self {
            operations: compiler.operations,
            tables: compiler.tables,
            variables: compiler.variables,
            temporaries: compiler.temporaries,
            constants: compiler.constants,
            first_fresh,
            faults: compiler.faults,
            graphs,
        })
    }
}

/// Returns the greatest number of temporaries in use at a time.
fn graph_weight(graph: &Graph) -> usize {
    let assignment = |assignment: &Assignment| {
        let target = match &assignment.target {
            Target::Slot(_) => 0,
            Target::Element { index, .. } => weight(index),
        };
        target + weight(&assignment.value)
    };
    let end = |end: &End| match end {
        End::Jump(_) | End::Pause(_) | End::Fault { .. } => 0,
        End::Branch { condition, .. } => weight(condition),
        End::Respond(Response::Update { value }) => weight(value),
        End::Respond(Response::Scan { at: [at_i, at_j], foreign }) => {
            weight(at_i) + weight(at_j) + weight(foreign)
        }
    };
    let block = |block: &Block| {
        let assignments = block.assignments.iter().map(assignment).max();
        assignments.unwrap_or(0).max(end(&block.end))
    };
    let reactions = graph.locations.iter().flat_map(|standing| &standing.reactions);
    let reactions = reactions.map(|reaction| weight(&reaction.when));
    graph.blocks.iter().map(block).chain(reactions).max().unwrap_or(0)
}

impl Compiler {
    /// Appends an operation and returns its index.
    pub(super) fn emit(&mut self, operation: Operation) -> Result<usize, CodeError> {
        let index = self.operations.len();
        Address::try_from(index).map_err(|_| CodeError::TooLarge)?;
        self.operations.push(operation);
        Ok(index)
    }

    fn here(&self) -> Address {
        self.operations.len() as Address
    }

    fn graph(&mut self, graph: &Graph) -> Result<Entries, CodeError> {
        let mut compiled = HashMap::new();
        let update = self.blocks(graph, graph.invocations.update, &mut compiled)?;
        let scan = self.blocks(graph, graph.invocations.scan, &mut compiled)?;
        let mut steps = Vec::new();
        let mut reactions = Vec::new();
        for standing in &graph.locations {
            let step = standing.step.map(|block| self.blocks(graph, block, &mut compiled));
            steps.push(step.transpose()?);
            reactions.push(self.reactions(graph, standing, &mut compiled)?);
        }
        Ok(Entries { update, scan, steps, reactions })
    }

    fn reactions(
        &mut self,
        graph: &Graph,
        standing: &Standing,
        compiled: &mut HashMap<BlockId, Address>,
    ) -> Result<Vec<Address>, CodeError> {
        let mut addresses = Vec::new();
        for reaction in &standing.reactions {
            let then = self.blocks(graph, reaction.then, compiled)?;
            addresses.push(self.here());
            self.temporaries_in_use = 0;
            let jumps = self.condition(&reaction.when, true)?;
            self.emit(Operation::Jump { to: then })?;
            self.patch(jumps, self.here());
            self.emit(Operation::Decline)?;
        }
        Ok(addresses)
    }

    /// Returns the address of a block's code. Compiles the block and its successors unless that was
    /// done before. Where possible a block follows its predecessor, so that straight-line code does
    /// not jump.
    fn blocks(
        &mut self,
        graph: &Graph,
        entry: BlockId,
        compiled: &mut HashMap<BlockId, Address>,
    ) -> Result<Address, CodeError> {
        let mut unfinished: Vec<(Jumps, BlockId)> = vec![(Vec::new(), entry)];
        while let Some((jumps, mut block)) = unfinished.pop() {
            if let Some(&address) = compiled.get(&block) {
                self.patch(jumps, address);
                continue;
            }
            self.patch(jumps, self.here());
            loop {
                if let Some(&to) = compiled.get(&block) {
                    self.emit(Operation::Jump { to })?;
                    break;
                }
                compiled.insert(block, self.here());
                let Block { accesses, assignments, end } = graph.block(block);
                if *accesses > 0 {
                    self.emit(Operation::Accesses { count: *accesses })?;
                }
                for assignment in assignments {
                    self.assignment(assignment)?;
                }
                self.temporaries_in_use = 0;
                match end {
                    End::Jump(next) => block = *next,
                    End::Branch { condition, then, otherwise } => {
                        let jumps = self.condition(condition, true)?;
                        unfinished.push((jumps, *otherwise));
                        block = *then;
                    }
                    last => {
                        self.last(last)?;
                        break;
                    }
                }
            }
        }
        Ok(compiled[&entry])
    }

    fn assignment(&mut self, assignment: &Assignment) -> Result<(), CodeError> {
        self.temporaries_in_use = 0;
        let Assignment { target, value } = assignment;
        let operation = match (target, value) {
            (Target::Slot(to), value) => {
                let from = self.operand(value)?;
                Operation::Assign { to: to.index() as Operand, from }
            }
            (Target::Element { index, of }, value) => {
                let index = self.operand(index)?;
                let from = self.operand(value)?;
                let of: Vec<Operand> = of.iter().map(|slot| slot.index() as Operand).collect();
                Operation::AssignElement { index, table: self.table(&of)?, from }
            }
        };
        self.emit(operation)?;
        Ok(())
    }

    /// Emits the end of a block that ends a step.
    fn last(&mut self, end: &End) -> Result<(), CodeError> {
        let operation = match end {
            End::Pause(at) => Operation::Pause { at: *at },
            End::Respond(Response::Update { value }) => {
                Operation::RespondUpdate { value: self.operand(value)? }
            }
            End::Respond(Response::Scan { at, foreign }) => {
                let at = [self.operand(&at[0])?, self.operand(&at[1])?];
                Operation::RespondScan { at, foreign: self.operand(foreign)? }
            }
            End::Fault { span, what } => {
                self.faults.push(Fault { span: *span, what });
                Operation::Fault { index: self.faults.len() as u32 - 1 }
            }
            End::Jump(_) | End::Branch { .. } => unreachable!("the step goes on"),
        };
        self.emit(operation)?;
        Ok(())
    }

    fn patch(&mut self, jumps: Jumps, address: Address) {
        for jump in jumps {
            match &mut self.operations[jump] {
                Operation::JumpIfZero { to, .. }
                | Operation::JumpIfOne { to, .. }
                | Operation::JumpIfEqual { to, .. }
                | Operation::JumpIfDifferent { to, .. } => *to = address,
                other => unreachable!("not a conditional jump: {other:?}"),
            }
        }
    }
}
