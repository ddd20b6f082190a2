//! Facts about local bytes at each instruction that hold on all paths: a forward analysis of the
//! whole program, including calls and returns.
//!
//! Missing facts only cost precision; facts must hold on all paths, so they are intersected where
//! paths meet.

use std::collections::BTreeSet;

use snapshot_language::deadline::Deadline;
use snapshot_language::program::SharedId;

use crate::links;
use crate::liveness::target;
use crate::model::{Act, Cell, Instruction, Model, Step, Target};
use crate::term::Term;

/// A fact about a local byte at an instruction, on all paths.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Fact {
    /// The byte is a copy of this byte of this variable.
    Copy(usize, SharedId, usize),
    /// The byte was the first index of the latest LL on this array, the others were the process
    /// itself.
    Index(usize, SharedId),
    /// The byte has this value.
    Is(usize, u8),
}

impl Fact {
    const fn byte(self) -> usize {
        match self {
            Self::Copy(byte, ..) | Self::Index(byte, _) | Self::Is(byte, _) => byte,
        }
    }
}

/// Origin of a byte of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Source {
    /// This byte of the process.
    Local(usize),
    /// The process itself.
    Me,
    Else,
}

pub(super) type Facts = BTreeSet<Fact>;

/// Returns the facts before each instruction; `None` if it is unreachable.
pub(super) fn facts(model: &Model, deadline: Deadline<'_>) -> Vec<Option<Facts>> {
    let mut facts: Vec<Option<Facts>> = vec![None; model.code.len()];
    facts[0] = Some(Facts::new());
    let mut waiting = vec![0];
    while let Some(at) = waiting.pop().filter(|_| !deadline.is_over()) {
        let Some(before) = facts[at].clone() else { continue };
        let after = behind(model, at, before);
        for next in links::next(model, at) {
            let mut after = after.clone();
            after.extend(decided(model, at, next));
            let met = match &facts[next] {
                None => after,
                Some(known) => known.intersection(&after).copied().collect(),
            };
            if facts[next].as_ref() != Some(&met) {
                facts[next] = Some(met);
                waiting.push(next);
            }
        }
    }
    facts
}

/// Returns the fact that a condition implies on one of its branches.
fn decided(model: &Model, at: usize, next: usize) -> Option<Fact> {
    let Act::Unless(condition, target) = &model.code[at].act else { return None };
    let Term::Equal(negated, left, right) = condition else { return None };
    let holds = next == at + 1;
    // If nothing depends on the condition, both branches are one.
    if *target == at + 1 || holds == *negated {
        return None;
    }
    match (sources(left)?.as_slice(), &**right) {
        ([Source::Local(byte)], Term::Constant(bytes)) => Some(Fact::Is(*byte, *bytes.first()?)),
        _ => None,
    }
}

/// Returns the facts after an instruction.
fn behind(model: &Model, at: usize, before: Facts) -> Facts {
    let one: &Instruction = &model.code[at];
    let mut after = before.clone();
    let mut kill = |begin: usize, size: usize| {
        after.retain(|fact| !(begin..begin + size).contains(&fact.byte()));
    };
    if let Some(into) = target(&one.act) {
        kill(into.room.base, into.room.size);
    }
    match &one.act {
        // Between operations nothing is known, not even of private variables.
        Act::Idle => after.clear(),
        Act::Return(_) => {
            let frame = &model.frames[one.procedure.0 as usize];
            kill(frame.begin, frame.end - frame.begin);
            // The result is stored where its caller says, in a private variable that it may have
            // set.
            for caller in &model.code {
                if let Act::Call(called, _, Some(into)) = &caller.act
                    && *called == one.procedure
                {
                    kill(into.room.base, into.room.size);
                }
            }
        }
        Act::Begin(this) | Act::Next(this) => kill(this.variable, 1),
        Act::Assign(into, value) => {
            if let (Some(to), Some(row)) = (fixed(into), sources(value)) {
                let bytes = (to..to + into.size).zip(row);
                bytes.for_each(|(to, from)| after.extend(moved(&before, to, from)));
            }
        }
        Act::Call(procedure, arguments, _) => {
            let frame = &model.frames[procedure.0 as usize];
            kill(frame.begin, frame.end - frame.begin);
            for (room, argument) in frame.locals.iter().zip(arguments) {
                let row = sources(argument).unwrap_or_default();
                let bytes = (room.base..room.base + room.size).zip(row);
                bytes.for_each(|(to, from)| after.extend(moved(&before, to, from)));
            }
        }
        Act::LoadLinked(cell, into) => {
            after.retain(|fact| match *fact {
                Fact::Copy(_, variable, _) | Fact::Index(_, variable) => variable != cell.variable,
                Fact::Is(..) => true,
            });
            let begin = into.as_ref().and_then(fixed);
            if let (true, Some(begin)) = (cell.indices.is_empty(), begin) {
                let mut offset = 0;
                cell.shape.each(&mut Vec::new(), &mut |_, _| {
                    after.insert(Fact::Copy(begin + offset, cell.variable, offset));
                    offset += 1;
                });
            }
            if let (Some(Source::Local(byte)), None) = (first(cell), into)
                && others_are_own(cell)
            {
                after.insert(Fact::Index(byte, cell.variable));
            }
        }
        _ => {}
    }
    after
}

/// Copies the facts of a byte to the destination of a move, without indices.
fn moved(before: &Facts, to: usize, from: Source) -> Facts {
    let copies = before.iter().filter_map(|fact| match (*fact, from) {
        (Fact::Copy(byte, variable, offset), Source::Local(from)) if byte == from => {
            Some(Fact::Copy(to, variable, offset))
        }
        (Fact::Is(byte, value), Source::Local(from)) if byte == from => Some(Fact::Is(to, value)),
        _ => None,
    });
    copies.collect()
}

/// Returns the first byte of the stored location, if it is constant.
fn fixed(target: &Target) -> Option<usize> {
    let mut at = target.room.base;
    for step in &target.path {
        match step {
            Step::Field(offset) => at += offset,
            Step::Element(..) | Step::Passed(_) => return None,
        }
    }
    (!target.in_token).then_some(at)
}

/// Returns the origins of the bytes of a term.
pub(super) fn sources(term: &Term) -> Option<Vec<Source>> {
    Some(match term {
        Term::Constant(bytes) => vec![Source::Else; bytes.len()],
        Term::Unknown(shape) => vec![Source::Else; shape.size()],
        Term::Me => vec![Source::Me],
        Term::Variable(base, size) => (*base..base + size).map(Source::Local).collect(),
        Term::Part(whole, offset, size) => {
            sources(whole)?.get(*offset..offset + size).map(<[Source]>::to_vec)?
        }
        Term::Row(fields) => {
            let fields: Option<Vec<_>> = fields.iter().map(sources).collect();
            fields?.concat()
        }
        Term::With(whole, parts) => {
            let mut row = sources(whole)?;
            for (offset, part) in parts {
                for (at, source) in (*offset..).zip(sources(part)?) {
                    *row.get_mut(at)? = source;
                }
            }
            row
        }
        Term::Index { element, .. } => vec![Source::Else; element.size()],
        Term::If(_, _, _, shape) => vec![Source::Else; shape.size()],
        Term::Filled(..) | Term::Each { .. } | Term::Also(..) => return None,
        _ => vec![Source::Else],
    })
}

/// Returns the value of a byte of a term, if it is constant.
pub(super) fn constant(term: &Term, offset: usize) -> Option<u8> {
    match term {
        Term::Constant(bytes) => bytes.get(offset).copied(),
        Term::With(whole, parts) => {
            let part = parts.iter().rev().find_map(|(begin, part)| {
                let size = sources(part)?.len();
                (*begin..begin + size).contains(&offset).then(|| (part, offset - begin))
            });
            match part {
                Some((part, offset)) => constant(part, offset),
                None => constant(whole, offset),
            }
        }
        Term::Row(fields) => {
            let mut begin = 0;
            for field in fields {
                let size = sources(field)?.len();
                if (begin..begin + size).contains(&offset) {
                    return constant(field, offset - begin);
                }
                begin += size;
            }
            None
        }
        _ => None,
    }
}

/// Returns the origin of the first index of a cell.
pub(super) fn first(cell: &Cell) -> Option<Source> {
    let (_, index) = cell.indices.first()?;
    sources(index).and_then(|row| row.first().copied())
}

/// Returns true if all indices but the first are the process itself.
pub(super) fn others_are_own(cell: &Cell) -> bool {
    cell.indices.iter().skip(1).all(|(_, index)| matches!(index, Term::Me))
}
