//! Renames the processes in parts of states.
//!
//! A permutation of the processes acts on processes and segments according to the types: on names,
//! and on the indices of arrays by process or segment, links included. This module does not decide
//! whether the program respects the permutation: a number that a program computed from a name stays
//! unchanged.
//!
//! The inverse permutation undoes the renaming, even on unreachable parts: it is a bijection of the
//! well-typed parts.

use std::sync::Arc;

use super::code::Instruction;
use super::data::Data;
use super::machine::Machine;
use super::parts::{ProcessPart, SharedPart};
use super::state::{Activity, Cell, Frame, Local};
use crate::program::{IndexSet, Type};

impl Machine<'_> {
    /// Renames process and segment k to `to[k]` in the shared part.
    ///
    /// # Panics
    /// If `to` is not a permutation of the processes.
    pub fn permuted_shared(&self, part: &SharedPart, to: &[usize]) -> SharedPart {
        let mut cells: Vec<Cell> = part.0.to_vec();
        for (index, variable) in self.program.shared.iter().enumerate() {
            let first = self.first_cells[index];
            for offset in 0..self.cell_count(index) {
                let target = first + self.moved(&variable.dimensions, offset, to);
                let Cell { content, links } = &part.0[first + offset];
                let content = permuted(content, &variable.content, to);
                let links = match links.is_empty() {
                    true => Vec::new(),
                    false => moved(links, to, bool::clone),
                };
                cells[target] = Cell { content, links };
            }
        }
        SharedPart(Arc::new(cells))
    }

    /// Renames process and segment k to `to[k]` in a process's part. The result belongs to another
    /// process.
    ///
    /// # Panics
    /// If `to` is not a permutation of the processes.
    pub fn permuted_process(&self, part: &ProcessPart, to: &[usize]) -> ProcessPart {
        let variables = self.program.private.iter();
        let private = part.0.private.iter().zip(variables);
        let private = private.map(|(data, variable)| permuted(data, &variable.content, to));
        let activity = match &part.0.activity {
            Activity::Idle => Activity::Idle,
            Activity::Responding(None) => Activity::Responding(None),
            Activity::Responding(Some(values)) => {
                Activity::Responding(Some(moved(values, to, u32::clone)))
            }
            Activity::Returning(..) => unreachable!("processes of snapshots only are renamed"),
            Activity::Running(frames) => Activity::Running(
                frames.iter().map(|frame| self.permuted_frame(frame, to)).collect(),
            ),
        };
        ProcessPart(Arc::new(Local { private: private.collect(), activity }))
    }

    fn permuted_frame(&self, frame: &Frame, to: &[usize]) -> Frame {
        let locals = &self.program.procedure(frame.procedure).locals;
        let locals = frame.locals.iter().zip(locals);
        let mut excepts = frame.excepts.clone();
        for instruction in &self.code[frame.procedure.0 as usize].instructions {
            if let Instruction::BeginFor(this) = instruction
                && this.over.is_of_names()
            {
                let except = &mut excepts[this.number];
                *except = except.map(|index| renamed(index, to));
            }
        }
        Frame {
            procedure: frame.procedure,
            at: frame.at,
            locals: locals.map(|(data, local)| permuted(data, &local.content, to)).collect(),
            excepts,
        }
    }

    /// Returns the target of the cell with this offset in its array.
    fn moved(&self, dimensions: &[IndexSet], offset: usize, to: &[usize]) -> usize {
        let (mut rest, mut target, mut weight) = (offset, 0, 1);
        for dimension in dimensions.iter().rev() {
            let (low, high) = dimension.bounds(self.n);
            let length = (i64::from(high) - i64::from(low) + 1).max(1) as usize;
            let index = rest % length;
            target += weight * if dimension.is_of_names() { to[index] } else { index };
            rest /= length;
            weight *= length;
        }
        target
    }
}

/// Moves each element to the image of its index.
fn moved<T: Clone>(elements: &[T], to: &[usize], renamed: impl Fn(&T) -> T) -> Vec<T> {
    let mut moved = elements.to_vec();
    for (index, element) in elements.iter().enumerate() {
        moved[to[index]] = renamed(element);
    }
    moved
}

/// Renames a name; other numbers stay unchanged.
fn renamed(number: i64, to: &[usize]) -> i64 {
    let renamed = usize::try_from(number).ok().and_then(|index| to.get(index));
    renamed.map_or(number, |renamed| *renamed as i64)
}

fn permuted(data: &Data, content: &Type, to: &[usize]) -> Data {
    match (data, content) {
        (Data::None, _) => Data::None,
        (data, Type::Optional(content)) => permuted(data, content, to),
        (Data::Number(number), Type::Process | Type::Segment) => Data::Number(renamed(*number, to)),
        (Data::Parts(parts), Type::Array { index, element }) if index.is_of_names() => {
            Data::Parts(moved(parts, to, |part| permuted(part, element, to)))
        }
        (Data::Parts(parts), Type::Array { element, .. }) => {
            Data::Parts(parts.iter().map(|part| permuted(part, element, to)).collect())
        }
        (Data::Parts(parts), Type::Record(fields)) => {
            let pairs = parts.iter().zip(fields);
            Data::Parts(pairs.map(|(part, field)| permuted(part, &field.content, to)).collect())
        }
        (data, _) => data.clone(),
    }
}
