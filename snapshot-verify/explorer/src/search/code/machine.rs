//! Runs code.

use snapshot_core::Process;

use super::{Address, Code, Operand, Operation, Table};
use crate::instance::{Location, NONE, Operator, Scalar};
use crate::search::layout::Register;

/// The registers of a running step, with a record of its effects.
#[derive(Clone, Debug)]
pub struct RegisterMachine {
    /// The registers of the state, then temporaries, then constants.
    registers: Vec<Scalar>,
    variables: usize,
    /// The state registers written since [`Self::begin`]. A register may occur more than once, and
    /// may have kept its value.
    written: Vec<u16>,
    /// The number of shared accesses of the text passed since [`Self::begin`].
    accesses: u32,
    /// The number of accesses before the running reaction.
    accesses_before: u32,
    /// The reactions since [`Self::begin`], with the number of accesses of each.
    reactions: Vec<(Process, u32)>,
    /// The number of fresh versions made since [`Self::begin`].
    fresh: Scalar,
    /// Whether a successor was taken since [`Self::begin`].
    succeeded: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ending {
    /// The process is now at this location.
    Paused(Location),
    UpdateResponds {
        /// 0 or 1.
        value: Scalar,
    },
    ScanResponds {
        /// The values returned at i and at j, 0 or 1.
        at: [Scalar; 2],
        /// Whether another value was returned at another component, 0 or 1.
        foreign: Scalar,
    },
    /// The program faults, with this index.
    Faulted(u32),
    /// The condition of the reaction does not hold.
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

    /// Returns the registers of the state.
    #[inline]
    pub fn state(&self) -> &[Scalar] {
        &self.registers[..self.variables]
    }

    /// Returns the registers of the state, for a caller that replaces the whole state. These writes
    /// are not recorded.
    pub fn state_mut(&mut self) -> &mut [Scalar] {
        &mut self.registers[..self.variables]
    }

    /// Returns the value of one register.
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

    /// Begins a new step: clears the record of writes.
    #[inline]
    pub fn begin(&mut self) {
        self.written.clear();
        self.reactions.clear();
        self.accesses = 0;
        self.fresh = 0;
        self.succeeded = false;
    }

    /// Returns true if the step has taken the successor of a counter.
    pub const fn has_succeeded(&self) -> bool {
        self.succeeded
    }

    /// Returns the state registers written since [`Self::begin`], possibly with repetitions.
    #[inline]
    pub fn written(&self) -> &[u16] {
        &self.written
    }

    /// Restores the written registers from `before`, and begins a new step.
    #[inline]
    pub fn undo(&mut self, before: &[Scalar]) {
        for &register in &self.written {
            self.registers[usize::from(register)] = before[usize::from(register)];
        }
        self.begin();
    }

    /// Returns the number of shared accesses since [`Self::begin`], without reactions.
    #[inline]
    pub const fn accesses(&self) -> u32 {
        self.accesses
    }

    /// Marks the start of a reaction.
    pub const fn begin_reaction(&mut self) {
        self.accesses_before = self.accesses;
    }

    /// Marks the end of a reaction of this process.
    pub fn end_reaction(&mut self, process: Process) {
        self.reactions.push((process, self.accesses - self.accesses_before));
        self.accesses = self.accesses_before;
    }

    /// Returns the reactions since [`Self::begin`], in order: the process, and its number of shared
    /// accesses.
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

    /// Returns the operand at an index. A term whose result is discarded may use an index that is
    /// out of range.
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

/// Two operands suffice: `And` and `Or` of more are chains, `Not` ignores the second. Terms whose
/// results are discarded may have invalid operands, so nothing here panics.
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
