//! Live locals: the others may be forgotten at a location.
//!
//! Forgetting is always sound (a forgotten byte stands for any value), so this analysis can only
//! cost precision. Arrays use this: a loop that first sets the element of its index forgets the
//! whole array, though an index that it leaves out keeps its element.

use snapshot_language::deadline::Deadline;

use super::model::{Act, For, Instruction, Room, Step, Target};
use super::term::Term;

/// Fills in the live locals before each instruction of a procedure, whose first instruction has
/// this number.
pub fn fill(code: &mut [Instruction], begin: usize, locals: &[Room], deadline: Deadline<'_>) {
    let none = vec![false; locals.len()];
    let all = (0..code.len()).take_while(|_| !deadline.is_over());
    let facts: Vec<(Vec<bool>, Vec<bool>)> =
        all.map(|at| uses_and_kills(code, begin, at, locals)).collect();
    let mut live = vec![none; code.len()];
    let mut changed = true;
    while changed && !deadline.is_over() {
        changed = false;
        for at in (0..code.len()).rev().take_while(|_| !deadline.is_over()) {
            let mut now = vec![false; locals.len()];
            for next in successors(&code[at].act, begin + at) {
                if let Some(after) = live.get(next - begin) {
                    now.iter_mut().zip(after).for_each(|(now, after)| *now |= after);
                }
            }
            let (uses, kills) = &facts[at];
            for local in 0..locals.len() {
                now[local] = uses[local] || (now[local] && !kills[local]);
            }
            changed |= now != live[at];
            live[at] = now;
        }
    }
    for (instruction, live) in code.iter_mut().zip(live) {
        instruction.live = live;
    }
}

/// Returns the successors of an instruction.
pub fn successors(act: &Act, at: usize) -> Vec<usize> {
    match act {
        Act::Unless(_, target) => vec![at + 1, *target],
        Act::Jump(target) => vec![*target],
        Act::Begin(this) | Act::Next(this) => vec![this.body, this.end],
        Act::Return(_) | Act::Idle => Vec::new(),
        _ => vec![at + 1],
    }
}

fn uses_and_kills(
    code: &[Instruction],
    begin: usize,
    at: usize,
    locals: &[Room],
) -> (Vec<bool>, Vec<bool>) {
    let mut uses = vec![false; locals.len()];
    let mut kills = vec![false; locals.len()];
    read(&code[at].act, locals, &mut uses);
    if let Some(Target { local: Some(id), path, .. }) = target(&code[at].act)
        && path.is_empty()
    {
        kills[id.0 as usize] = true;
    }
    if let Act::Begin(this) = &code[at].act {
        mark(this.variable, locals, &mut kills);
        overwritten(code, begin, this, locals, &mut kills);
    }
    (uses, kills)
}

/// Returns the variable that an instruction stores to.
pub fn target(act: &Act) -> Option<&Target> {
    match act {
        Act::Assign(target, _) => Some(target),
        Act::Read(_, into)
        | Act::Swap(_, _, _, into)
        | Act::LoadLinked(_, into)
        | Act::StoreConditional(_, _, into)
        | Act::Validate(_, into)
        | Act::Call(_, _, into) => into.as_ref(),
        _ => None,
    }
}

/// Returns the terms that an instruction evaluates.
pub fn terms(act: &Act) -> Vec<&Term> {
    let mut found = Vec::new();
    if let Some(cell) = act.cell() {
        found.extend(cell.indices.iter().map(|(_, index)| index));
    }
    match act {
        Act::Assign(_, value) => found.push(value),
        Act::Write(_, value) | Act::StoreConditional(_, value, _) => found.push(value),
        Act::Swap(_, old, new, ..) => found.extend([old, new]),
        Act::Call(_, arguments, _) => found.extend(arguments),
        Act::Unless(condition, _) => found.push(condition),
        Act::Begin(this) => found.extend(&this.except),
        Act::Return(result) => found.extend(result),
        _ => {}
    }
    if let Some(target) = target(act) {
        for step in &target.path {
            if let Step::Element(index, ..) | Step::Passed(index) = step {
                found.push(index);
            }
        }
    }
    found
}

fn read(act: &Act, locals: &[Room], uses: &mut [bool]) {
    for term in terms(act) {
        term.visit(&mut |term| {
            if let Term::Variable(base, _) = term {
                mark(*base, locals, uses);
            }
        });
    }
    if let Act::Next(this) = act {
        mark(this.variable, locals, uses);
    }
    if let Some(Target { in_token: true, room, .. }) = target(act) {
        mark(room.base, locals, uses);
    }
}

fn mark(base: usize, locals: &[Room], marks: &mut [bool]) {
    if let Some(local) = locals.iter().position(|room| room.base == base) {
        marks[local] = true;
    }
}

/// Returns the arrays of which each round first sets the element of the index.
fn overwritten(
    code: &[Instruction],
    begin: usize,
    this: &For,
    locals: &[Room],
    kills: &mut [bool],
) {
    let mut used = vec![false; locals.len()];
    for instruction in &code[this.body - begin..] {
        read(&instruction.act, locals, &mut used);
        match &instruction.act {
            Act::Assign(..) | Act::Read(..) | Act::Write(..) | Act::LoadLinked(..) => {}
            _ => return,
        }
        let Some(Target { local: Some(id), path, .. }) = target(&instruction.act) else { continue };
        let [Step::Element(Term::Variable(index, _), ..)] = path.as_slice() else { continue };
        if *index == this.variable && !used[id.0 as usize] {
            kills[id.0 as usize] = true;
        }
    }
}
