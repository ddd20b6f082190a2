//! Anonymous processes: all run the same program, and no part of it distinguishes them.
//!
//! A renaming of the processes then maps executions to executions. So states that are equal up to
//! the order of processes have the same futures: the full symmetry of Ip and Dill, *Better
//! verification through symmetry*, 1993.

use super::{
    Bound, By, CellKind, Expression, ExpressionKind, IndexSet, Program, Statement, StatementKind,
    Type,
};

/// Returns true if the processes of a program, and of its declared object, are anonymous: there is
/// no `me`, no type or index that is a process or a segment, no link of a process to a cell, and
/// each process may begin every operation.
pub fn is_anonymous(program: &Program) -> bool {
    let object = program.object();
    let begins = object.into_iter().flat_map(|object| &object.operations);
    let has_links = program.shared.iter().any(|variable| variable.cell == CellKind::Linked);
    !has_links
        && begins.into_iter().all(|operation| operation.by == By::All)
        && names_nothing(program)
        && object.is_none_or(|object| names_nothing(&object.specification))
}

/// Returns true if neither a program nor its declared object depends on n: a process then runs
/// alike beside any number of others.
pub fn is_uniform(program: &Program) -> bool {
    let object = program.object();
    is_without_n(program) && object.is_none_or(|object| is_without_n(&object.specification))
}

fn is_without_n(program: &Program) -> bool {
    let by_n = |bound: &Bound| bound.times_n != 0;
    let over_n = |set: &IndexSet| match set {
        IndexSet::Processes | IndexSet::Segments => true,
        IndexSet::Range(low, high) => by_n(low) || by_n(high),
    };
    let of_n = |content: &Type| {
        content.any(&|part| match part {
            Type::Process | Type::Segment => true,
            Type::Integer { low, high } => by_n(low) || by_n(high),
            Type::Array { index, .. } => over_n(index),
            _ => false,
        })
    };
    let mut depends = program.types().any(of_n);
    depends |= program.shared.iter().flat_map(|of| &of.dimensions).any(over_n);
    depends |= program.nodes.iter().any(|node| by_n(&node.bound));
    let mut look = |value: &Expression| {
        value.each(&mut |part| {
            depends |= of_n(&part.content);
            depends |= match &part.kind {
                ExpressionKind::Integer(bound)
                | ExpressionKind::Process(bound)
                | ExpressionKind::Segment(bound)
                | ExpressionKind::Remainder(_, bound)
                | ExpressionKind::Quotient(_, bound) => by_n(bound),
                ExpressionKind::Each { over, .. } | ExpressionKind::Quantified { over, .. } => {
                    over_n(over)
                }
                _ => false,
            };
        });
    };
    program.initial_values().for_each(&mut look);
    let bodies = || program.procedures.iter().flat_map(|procedure| &procedure.body);
    Statement::each(bodies(), &mut |statement| {
        statement.operands().into_iter().for_each(&mut look);
    });
    Statement::each(bodies(), &mut |statement| {
        depends |= match &statement.kind {
            StatementKind::For { over, .. } | StatementKind::Choose { over, .. } => over_n(over),
            _ => false,
        };
    });
    !depends
}

/// Returns true if no variable, index or expression is a process or a segment. The variables of
/// loops and quantifiers are locals, and `me` has a type like any other expression.
fn names_nothing(program: &Program) -> bool {
    let mut has_names = program.types().any(is_of_names);
    has_names |= program.shared.iter().flat_map(|of| &of.dimensions).any(|of| of.is_of_names());
    let mut look = |value: &Expression| {
        value.each(&mut |part| has_names |= is_of_names(&part.content));
    };
    program.initial_values().for_each(&mut look);
    let bodies = program.procedures.iter().flat_map(|procedure| &procedure.body);
    Statement::each(bodies, &mut |statement| {
        statement.operands().into_iter().for_each(&mut look);
    });
    !has_names
}

fn is_of_names(content: &Type) -> bool {
    content.any(&|part| match part {
        Type::Process | Type::Segment => true,
        Type::Array { index, .. } => index.is_of_names(),
        _ => false,
    })
}
