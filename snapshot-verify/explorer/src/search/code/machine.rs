//! Runs code.

use snapshot_core::Process;

use super::{Address, Code, Operand, Operation, Table};
use crate::instance::{Location, NONE, Operator, Scalar};
use crate::search::layout::Register;

/// The registers of a running step, and what it has done.
#[derive(Clone, Debug)]
pub struct RegisterMachine {
    /// Of the state, then temporaries, then constants.
    registers: Vec<Scalar>,
    variables: usize,
    /// The state registers that were written since [`Self::begin`], some more
    /// than once, some to what they were before.
    written: Vec<u16>,
    /// How many shared accesses of the text were passed since [`Self::begin`].
    accesses: u32,
    /// What was passed before the reaction that is running.
    accesses_before: u32,
    /// The reactions that ran since [`Self::begin`], with what they passed.
    reactions: Vec<(Process, u32)>,
    /// How many fresh versions were made since [`Self::begin`].
    fresh: Scalar,
    /// Whether a successor was taken since [`Self::begin`].
    succeeded: bool,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// The process stands there now.
    Paused(Location),
    /// An update of this value responds.
    UpdateResponds {
        /// 0 or 1.
        value: Scalar,
    },
    /// A scan responds.
    ScanResponds {
        /// At i and at j, 0 or 1.
        at: [Scalar; 2],
        /// Whether something else was returned elsewhere, 0 or 1.
        foreign: Scalar,
    },
    /// The program goes wrong.
    Faulted(u32),
    /// It was a reaction whose condition does not hold.
    Declined,
}

impl RegisterMachine {
    pub(super) fn new(registers: Vec<Scalar>, variables: usize) -> Self {
        Self {
            registers,
            variables,
            written: Vec::new(),
            accesses: 0,
            accesses_before: 0,
            reactions: Vec::new(),
            fresh: 0,
            succeeded: false,
        }
    }

    /// The registers of the state.
    #[inline]
    pub fn state(&self) -> &[Scalar] {
        &self.registers[..self.variables]
    }

    /// The registers of the state, for a caller that changes all of it; it is
    /// not noted what.
    pub fn state_mut(&mut self) -> &mut [Scalar] {
        &mut self.registers[..self.variables]
    }

    /// One register.
    #[inline]
    pub fn get(&self, register: Register) -> Scalar {
        self.registers[register]
    }

    /// Writes a register of the state.
    #[inline]
    pub fn set(&mut self, register: Register, scalar: Scalar) {
        self.registers[register] = scalar;
        self.written.push(register as u16);
    }

    /// A new step begins: nothing was written yet.
    #[inline]
    pub fn begin(&mut self) {
        self.written.clear();
        self.reactions.clear();
        self.accesses = 0;
        self.fresh = 0;
        self.succeeded = false;
    }

    /// Whether the step has taken the successor of a counter.
    pub const fn has_succeeded(&self) -> bool {
        self.succeeded
    }

    /// The state registers written since [`Self::begin`], some more than once.
    #[inline]
    pub fn written(&self) -> &[u16] {
        &self.written
    }

    /// Makes what was written what it is in `before`, and begins a new step.
    #[inline]
    pub fn undo(&mut self, before: &[Scalar]) {
        for &register in &self.written {
            self.registers[usize::from(register)] = before[usize::from(register)];
        }
        self.begin();
    }

    /// How many shared accesses the step passed since [`Self::begin`], those of
    /// reactions aside.
    #[inline]
    pub const fn accesses(&self) -> u32 {
        self.accesses
    }

    /// What comes now is a reaction.
    pub const fn begin_reaction(&mut self) {
        self.accesses_before = self.accesses;
    }

    /// A reaction of this process has run.
    pub fn end_reaction(&mut self, process: Process) {
        self.reactions.push((process, self.accesses - self.accesses_before));
        self.accesses = self.accesses_before;
    }

    /// The reactions since [`Self::begin`], in order: whose, and how many shared
    /// accesses they passed.
    pub fn reactions(&self) -> &[(Process, u32)] {
        &self.reactions
    }

    #[inline]
    fn at(&self, operand: Operand) -> Scalar {
        self.registers[usize::from(operand)]
    }

    #[inline]
    fn assign(&mut self, to: Operand, scalar: Scalar) {
        self.registers[usize::from(to)] = scalar;
        self.written.push(to);
    }

    /// The operand that an index chooses. A term that does not matter in the end
    /// may ask for one that is not there.
    #[inline]
    fn choose(&self, code: &Code, table: Table, index: Operand) -> Option<Operand> {
        let index = usize::try_from(self.at(index)).ok()?;
        code.elements(table).get(index).copied()
    }

    /// Runs code from an address until a step ends.
    #[inline]
    pub(super) fn run(&mut self, code: &Code, mut address: Address) -> Ending {
        loop {
            let operation = code.operations[address as usize];
            address += 1;
            match operation {
                Operation::Assign { to, from } => self.assign(to, self.at(from)),
                Operation::JumpIfEqual { left, right, to } => {
                    if self.at(left) == self.at(right) {
                        address = to;
                    }
                }
                Operation::JumpIfDifferent { left, right, to } => {
                    if self.at(left) != self.at(right) {
                        address = to;
                    }
                }
                Operation::JumpIfZero { bit, to } => {
                    if self.at(bit) == 0 {
                        address = to;
                    }
                }
                Operation::JumpIfOne { bit, to } => {
                    if self.at(bit) != 0 {
                        address = to;
                    }
                }
                Operation::Jump { to } => address = to,
                Operation::Let { operator, to, left, right } => {
                    self.registers[usize::from(to)] =
                        apply(operator, self.at(left), self.at(right));
                }
                Operation::Choose { to, bit, then, otherwise } => {
                    let from = if self.at(bit) == 0 { otherwise } else { then };
                    self.registers[usize::from(to)] = self.at(from);
                }
                Operation::Select { to, index, table } => {
                    let from = self.choose(code, table, index);
                    self.registers[usize::from(to)] = from.map_or(0, |from| self.at(from));
                }
                Operation::AssignElement { index, table, from } => {
                    let Some(to) = self.choose(code, table, index) else {
                        panic!("the index of an assigned element is in range: {}", self.at(index));
                    };
                    self.assign(to, self.at(from));
                }
                Operation::Fresh { to } => {
                    self.registers[usize::from(to)] = code.first_fresh + self.fresh;
                    self.fresh += 1;
                }
                Operation::Successor { to, of } => {
                    self.registers[usize::from(to)] = self.at(of).wrapping_add(1);
                    self.succeeded = true;
                }
                Operation::Accesses { count } => self.accesses += count,
                Operation::Pause { at } => return Ending::Paused(at),
                Operation::RespondUpdate { value } => {
                    return Ending::UpdateResponds { value: self.at(value) };
                }
                Operation::RespondScan { at, foreign } => {
                    return Ending::ScanResponds {
                        at: at.map(|operand| self.at(operand)),
                        foreign: self.at(foreign),
                    };
                }
                Operation::Fault { index } => return Ending::Faulted(index),
                Operation::Decline => return Ending::Declined,
            }
        }
    }
}

/// Two operands suffice: And and Or of more are chains, Not ignores the second.
/// Terms that do not matter in the end may be of none, so nothing here panics.
fn apply(operator: Operator, left: Scalar, right: Scalar) -> Scalar {
    match operator {
        Operator::NumberOf | Operator::NameOf => left,
        Operator::Not => left ^ 1,
        Operator::And => left & right,
        Operator::Or => left | right,
        Operator::Equal => Scalar::from(left == right),
        Operator::Less => Scalar::from(left < right),
        Operator::LessOrEqual => Scalar::from(left <= right),
        Operator::Add => left.wrapping_add(right),
        Operator::Subtract => left.wrapping_sub(right),
        Operator::Remainder => left.checked_rem_euclid(right).unwrap_or(NONE),
        Operator::Quotient => left.checked_div_euclid(right).unwrap_or(NONE),
        Operator::If => unreachable!("a choice is compiled to an operation of its own"),
    }
}
