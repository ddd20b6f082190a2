//! Names: fields of an LL/SC cell that hold a process, and tell whose row of an array is in use.
//!
//! An algorithm with helpers keeps in an LL/SC cell X which process has filled its row of an array
//! V, and all others access `V[x.name]`, with x from an LL of X. So besides the rows of processes a
//! view has one more, the *named row*: `V[X.name]`, which all views show. Of the other rows of V, a
//! view shows only the row of the process that it follows, and whether that is the named row.
//!
//! A certificate lists the fields that are names, each with its arrays. This module confirms, in
//! the program's instructions, that they have the form that the rules require (`form`);
//! [`crate::step`] has the steps.

mod form;
mod rows;

use snapshot_language::program::{CellKind, IndexSet, Program, SharedId, Type};

use crate::byte::{number, truth};
use crate::layout::{Leaf, Scalar, leaves, size};

pub use form::{Use, Uses, uses};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Name {
    /// Variable of the field: one LL/SC cell.
    pub variable: SharedId,
    /// Byte of the field within the cell.
    pub offset: usize,
    /// Condition under which the name is in force: a byte of the cell, and its values. Otherwise it
    /// refers to no process. `None`: always.
    pub force: Option<(usize, Vec<u8>)>,
    pub arrays: Vec<SharedId>,
}

/// Returns the first byte of a field of a record, and its type.
fn field<'p>(record: &'p Type, name: &str, tokens: bool) -> Option<(usize, &'p Type)> {
    let Type::Record(fields) = record else { return None };
    let position = fields.iter().position(|field| field.name == name)?;
    let before = fields[..position].iter().map(|field| size(&field.content, tokens)).sum();
    Some((before, &fields[position].content))
}

/// Returns the number of an integer or a truth value.
fn said(leaf: Leaf, byte: u8) -> i64 {
    match leaf.scalar {
        Scalar::Integer(..) => number(byte),
        _ => i64::from(byte == truth(true)),
    }
}

/// Parses a line: `X.helper phase=2,3 A B`.
pub fn of_line(program: &Program, tokens: bool, line: &str) -> Option<Name> {
    let shared = |name: &str| {
        let number = program.shared.iter().position(|one| one.name == name)?;
        Some(SharedId(number as u32))
    };
    let mut words = line.split(' ').peekable();
    let word = words.next()?;
    let (variable, name) = word.split_once('.').unwrap_or((word, ""));
    let variable = shared(variable)?;
    let content = &program.shared(variable).content;
    let (offset, of) = match name {
        "" => (0, content),
        name => field(content, name, tokens)?,
    };
    let declared = program.shared(variable);
    let is_one = declared.dimensions.is_empty() && declared.cell == CellKind::Linked;
    if !is_one || *of != Type::Process {
        return None;
    }
    let mut force = None;
    if let Some((name, bytes)) = words.peek().and_then(|word| word.split_once('=')) {
        let (at, of) = field(content, name, tokens)?;
        let [(leaf, ..)] = leaves(of, tokens).try_into().ok()?;
        let leaf: Leaf = leaf;
        let is_finite = matches!(leaf.scalar, Scalar::Integer(..) | Scalar::Bool);
        let values = leaf.values(&[]).filter(|_| is_finite)?;
        let is = |byte: u8, word: &str| said(leaf, byte).to_string() == word;
        let byte = |word: &str| values.iter().copied().find(|byte| is(*byte, word));
        let bytes: Option<Vec<u8>> = bytes.split(',').map(byte).collect();
        force = Some((at, bytes?));
        words.next();
    }
    let arrays: Option<Vec<SharedId>> = words.map(shared).collect();
    let arrays = arrays.filter(|arrays| !arrays.is_empty())?;
    let may_be_rows = |array: &SharedId| {
        let declared = program.shared(*array);
        let by_names = declared.dimensions.iter().all(|over| over.is_of_names());
        let content = leaves(&declared.content, tokens);
        declared.dimensions.first() == Some(&IndexSet::Processes)
            && declared.dimensions.len() > 1
            && by_names
            && matches!(content.as_slice(), [(leaf, ..)] if leaf.scalar == Scalar::Value)
    };
    let name = Name { variable, offset, force, arrays };
    name.arrays.iter().all(may_be_rows).then_some(name)
}

/// Returns the line of a name.
pub fn line(program: &Program, tokens: bool, name: &Name) -> String {
    let declared = program.shared(name.variable);
    let leaves = leaves(&declared.content, tokens);
    let at = |offset: usize| leaves[offset].2.as_str();
    let mut line = format!("{}{}", declared.name, at(name.offset));
    if let Some((offset, bytes)) = &name.force {
        let bytes: Vec<String> =
            bytes.iter().map(|byte| said(leaves[*offset].0, *byte).to_string()).collect();
        line.push_str(&format!(" {}={}", at(*offset).trim_start_matches('.'), bytes.join(",")));
    }
    for array in &name.arrays {
        line.push_str(&format!(" {}", program.shared(*array).name));
    }
    line
}
