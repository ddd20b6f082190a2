//! Compiles terms to operands: constants get registers, results get temporaries.

use super::compile::{CodeError, Compiler, Jumps};
use super::{Operand, Operation, Table};
use crate::instance::{Operator, Scalar, Term};

impl Compiler {
    /// Returns an operand that holds the term's value. Emits operations to compute it unless the
    /// term is a slot or a constant.
    pub(super) fn operand(&mut self, term: &Term) -> Result<Operand, CodeError> {
        match term {
            Term::Constant(scalar) | Term::Process(scalar) => self.constant(*scalar),
            Term::Slot(slot) => Ok(slot.index() as Operand),
            Term::Element { index, of } => {
                let index = self.operand(index)?;
                let of = of.iter().map(|term| self.operand(term)).collect::<Result<Vec<_>, _>>()?;
                let table = self.table(&of)?;
                let to = self.temporary()?;
                self.emit(Operation::Select { to, index, table })?;
                Ok(to)
            }
            Term::Apply(Operator::If, arguments) => {
                let [bit, then, otherwise] = arguments.as_slice() else {
                    return Err(CodeError::Arguments);
                };
                let bit = self.operand(bit)?;
                let then = self.operand(then)?;
                let otherwise = self.operand(otherwise)?;
                let to = self.temporary()?;
                self.emit(Operation::Choose { to, bit, then, otherwise })?;
                Ok(to)
            }
            Term::Apply(Operator::NumberOf | Operator::NameOf, arguments) => {
                let [converted] = arguments.as_slice() else { return Err(CodeError::Arguments) };
                self.operand(converted)
            }
            Term::Apply(operator, arguments) => self.apply(*operator, arguments),
            Term::Fresh => {
                let to = self.temporary()?;
                self.emit(Operation::Fresh { to })?;
                Ok(to)
            }
            Term::Successor(slot) => {
                let to = self.temporary()?;
                self.emit(Operation::Successor { to, of: slot.index() as Operand })?;
                Ok(to)
            }
        }
    }

    fn apply(&mut self, operator: Operator, arguments: &[Term]) -> Result<Operand, CodeError> {
        let neutral = match operator {
            Operator::And => Some(1),
            Operator::Or => Some(0),
            _ => None,
        };
        match (operator, arguments, neutral) {
            (Operator::Not, [argument], _) => {
                let left = self.operand(argument)?;
                self.combine(operator, left, left)
            }
            (Operator::Not | Operator::If, _, _) => Err(CodeError::Arguments),
            (_, [left, right], _) => {
                let left = self.operand(left)?;
                let right = self.operand(right)?;
                self.combine(operator, left, right)
            }
            (_, arguments, Some(neutral)) => {
                let mut result = self.constant(neutral)?;
                for argument in arguments {
                    let argument = self.operand(argument)?;
                    result = self.combine(operator, result, argument)?;
                }
                Ok(result)
            }
            (_, _, None) => Err(CodeError::Arguments),
        }
    }

    fn combine(
        &mut self,
        operator: Operator,
        left: Operand,
        right: Operand,
    ) -> Result<Operand, CodeError> {
        let to = self.temporary()?;
        self.emit(Operation::Let { operator, to, left, right })?;
        Ok(to)
    }

    fn constant(&mut self, scalar: Scalar) -> Result<Operand, CodeError> {
        let known = self.constants.iter().position(|&constant| constant == scalar);
        let index = known.unwrap_or_else(|| {
            self.constants.push(scalar);
            self.constants.len() - 1
        });
        self.register(self.variables + self.temporaries + index)
    }

    pub(super) fn table(&mut self, of: &[Operand]) -> Result<Table, CodeError> {
        let begin = u32::try_from(self.tables.len()).map_err(|_| CodeError::TooLarge)?;
        let length = u16::try_from(of.len()).map_err(|_| CodeError::TooLarge)?;
        self.tables.extend_from_slice(of);
        Ok(Table { begin, length })
    }

    fn temporary(&mut self) -> Result<Operand, CodeError> {
        let index = self.temporaries_in_use;
        debug_assert!(index < self.temporaries, "weights bound the temporaries in use");
        self.temporaries_in_use += 1;
        self.register(self.variables + index)
    }

    fn register(&self, index: usize) -> Result<Operand, CodeError> {
        Operand::try_from(index).map_err(|_| CodeError::TooLarge)
    }

    /// Emits code that falls through if the condition is `wanted` and jumps otherwise. Returns the
    /// jumps; their address is still to be set.
    pub(super) fn condition(&mut self, term: &Term, wanted: bool) -> Result<Jumps, CodeError> {
        let jump = match term {
            Term::Apply(Operator::Not, arguments) if arguments.len() == 1 => {
                return self.condition(&arguments[0], !wanted);
            }
            Term::Apply(Operator::And, arguments) if wanted => {
                return self.conditions(arguments, wanted);
            }
            Term::Apply(Operator::Or, arguments) if !wanted => {
                return self.conditions(arguments, wanted);
            }
            Term::Apply(Operator::Equal, arguments) if arguments.len() == 2 => {
                let left = self.operand(&arguments[0])?;
                let right = self.operand(&arguments[1])?;
                match wanted {
                    true => Operation::JumpIfDifferent { left, right, to: 0 },
                    false => Operation::JumpIfEqual { left, right, to: 0 },
                }
            }
            _ => {
                let bit = self.operand(term)?;
                match wanted {
                    true => Operation::JumpIfZero { bit, to: 0 },
                    false => Operation::JumpIfOne { bit, to: 0 },
                }
            }
        };
        Ok(vec![self.emit(jump)?])
    }

    fn conditions(&mut self, terms: &[Term], wanted: bool) -> Result<Jumps, CodeError> {
        let mut jumps = Vec::new();
        for term in terms {
            jumps.extend(self.condition(term, wanted)?);
        }
        Ok(jumps)
    }
}

/// Returns a bound on the temporaries needed to compute a term.
pub(super) fn weight(term: &Term) -> usize {
    match term {
        Term::Constant(_) | Term::Process(_) | Term::Slot(_) => 0,
        Term::Fresh | Term::Successor(_) => 1,
        Term::Element { index, of } => 1 + weight(index) + of.iter().map(weight).sum::<usize>(),
        Term::Apply(_, arguments) => {
            arguments.len().max(1) + arguments.iter().map(weight).sum::<usize>()
        }
    }
}
