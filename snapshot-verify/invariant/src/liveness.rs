//! Locations at which locals and links are forgotten: a guess that keeps the set of views small.
//! Forgetting is always sound, so the check accepts any such list.

use snapshot_language::program::{
    Access, Expression, ExpressionKind, Place, Projection, Root, Type,
};
use snapshot_semantics::interpret::code::{Code, Instruction};

use crate::layout::Layout;
use crate::names::Use;

/// Fills in, per procedure and instruction, the locals that are not read before they are written.
pub fn forget(layout: &mut Layout<'_>) {
    // A partial guess is never used: every later use of it checks the budget first.
    for procedure in 0..layout.code.len() {
        if layout.asks.go_on(layout.code[procedure].instructions.len()) {
            layout.forgotten[procedure] = dead(layout, procedure);
        }
    }
    layout.unlinked = unlinked(layout);
}

/// Returns, per procedure and instruction, the variables whose link is not tested before the next
/// LL. (A process is usually linked to one of several cells at a time.)
fn unlinked(layout: &Layout<'_>) -> Vec<Vec<Vec<usize>>> {
    let variables = layout.links.len();
    let of = |code: &Code<'_>| vec![vec![false; variables]; code.instructions.len()];
    let mut live: Vec<Vec<Vec<bool>>> = layout.code.iter().map(of).collect();
    // After the calls of a procedure; after an operation links are forgotten.
    let mut behind = vec![vec![false; variables]; layout.code.len()];
    let join = |to: &mut Vec<bool>, from: &[bool]| {
        to.iter_mut().zip(from).for_each(|(to, from)| *to |= from);
    };
    loop {
        let before = (live.clone(), behind.clone());
        for (procedure, code) in layout.code.iter().enumerate() {
            for (at, instruction) in code.instructions.iter().enumerate().rev() {
                if !layout.asks.go_on(variables) {
                    return layout.unlinked.clone();
                }
                let mut now = vec![false; variables];
                for next in successors(instruction, at) {
                    if let Some(after) = live[procedure].get(next) {
                        join(&mut now, after);
                    }
                }
                match instruction {
                    Instruction::Access { access: Access::LoadLinked(cell), .. } => {
                        now[cell.variable.0 as usize] = false;
                    }
                    Instruction::Access {
                        access: Access::StoreConditional(cell, _) | Access::Validate(cell),
                        ..
                    } => now[cell.variable.0 as usize] = true,
                    Instruction::Call { procedure: inner, .. } => {
                        let inner = inner.0 as usize;
                        join(&mut behind[inner], &now);
                        now = live[inner].first().cloned().unwrap_or_default();
                    }
                    Instruction::Return { .. } => now = behind[procedure].clone(),
                    _ => {}
                }
                // A copy is the name while the process is linked to the name's cell.
                if let Some(Use::Through(name)) = &layout.uses[procedure][at] {
                    now[layout.named[*name].variable.0 as usize] = true;
                }
                live[procedure][at] = now;
            }
        }
        if before == (live.clone(), behind.clone()) {
            break;
        }
    }
    let dead = |live: &Vec<bool>| {
        let is_dead = |variable: &usize| layout.links[*variable].is_some() && !live[*variable];
        (0..variables).filter(is_dead).collect()
    };
    live.iter().map(|code| code.iter().map(dead).collect()).collect()
}

fn dead(layout: &Layout<'_>, procedure: usize) -> Vec<Vec<usize>> {
    let code = &layout.code[procedure].instructions;
    let locals = layout.frames[procedure].locals.len();
    let mut live = vec![vec![false; locals]; code.len()];
    loop {
        let mut changes = false;
        for at in (0..code.len()).rev() {
            if !layout.asks.go_on(locals) {
                return layout.forgotten[procedure].clone();
            }
            let mut now = vec![false; locals];
            for next in successors(&code[at], at) {
                if let Some(after) = live.get(next) {
                    now.iter_mut().zip(after).for_each(|(now, after)| *now |= after);
                }
            }
            // The token of a view stays while its elements are replaced.
            let is_token = |local: usize| {
                let locals = &layout.program.procedures[procedure].locals;
                layout.tokens() && locals[local].content == Type::view()
            };
            let filled = filled(code, at).into_iter().filter(|local| !is_token(*local));
            let kills = whole_stored(&code[at]).into_iter().chain(filled);
            kills.for_each(|local| now[local] = false);
            uses(&code[at], &mut |local| now[local] = true);
            changes |= now != live[at];
            live[at] = now;
        }
        if !changes {
            break;
        }
    }
    let may_be = |local: &usize| layout.may_forget(procedure, *local);
    let dead =
        |live: &Vec<bool>| (0..locals).filter(may_be).filter(|local| !live[*local]).collect();
    live.iter().map(dead).collect()
}

fn successors(instruction: &Instruction<'_>, at: usize) -> Vec<usize> {
    match instruction {
        Instruction::Unless { target, .. } => vec![at + 1, *target],
        Instruction::Jump { target } => vec![*target],
        Instruction::BeginFor(this) | Instruction::NextFor(this) => vec![this.body, this.end],
        Instruction::Return { .. } => Vec::new(),
        _ => vec![at + 1],
    }
}

fn whole(place: &Place) -> Option<usize> {
    match place.root {
        Root::Local(id) if place.path.is_empty() => Some(id.0 as usize),
        _ => None,
    }
}

/// Returns the local that an instruction stores as a whole.
fn whole_stored(instruction: &Instruction<'_>) -> Option<usize> {
    match instruction {
        Instruction::Assign { place, .. } => whole(place),
        Instruction::Access { into: Some(place), .. }
        | Instruction::Call { into: Some(place), .. } => whole(place),
        Instruction::BeginFor(this) => Some(this.variable.0 as usize),
        _ => None,
    }
}

/// Returns the arrays of which a loop over all processes, which begins here, first stores the
/// element of each index.
fn filled(code: &[Instruction<'_>], at: usize) -> Vec<usize> {
    let (mut filled, mut used) = (Vec::new(), Vec::new());
    let Instruction::BeginFor(this) = &code[at] else { return filled };
    if !this.over.is_of_names() {
        return filled;
    }
    for instruction in &code[this.body..this.end] {
        let place = match instruction {
            Instruction::Assign { place, .. } => Some(*place),
            Instruction::Access { into, .. } => *into,
            _ => None,
        };
        let is_index = |projection: &Projection| match projection {
            Projection::Index(Expression { kind, .. }) => {
                is_variable(kind, this.variable.0 as usize)
            }
            Projection::Field(_) => false,
        };
        if let Some(Place { root: Root::Local(id), path }) = place
            && path.len() == 1
            && path.iter().all(is_index)
            && !used.contains(&(id.0 as usize))
        {
            let mut reads = false;
            uses_of_value(instruction, &mut |local| reads |= local == id.0 as usize);
            if !reads {
                filled.push(id.0 as usize);
            }
        }
        uses_of_value(instruction, &mut |local| used.push(local));
        let goes_on =
            matches!(instruction, Instruction::Assign { .. } | Instruction::Access { .. });
        if !goes_on {
            break;
        }
    }
    filled
}

fn is_variable(kind: &ExpressionKind, variable: usize) -> bool {
    match kind {
        ExpressionKind::Convert(inner) => is_variable(&inner.kind, variable),
        ExpressionKind::Local(id) => id.0 as usize == variable,
        _ => false,
    }
}

/// Calls `act` on the locals that an instruction reads, including those of which it replaces a
/// part.
fn uses(instruction: &Instruction<'_>, act: &mut dyn FnMut(usize)) {
    uses_of_value(instruction, act);
    let place = match instruction {
        Instruction::Assign { place, .. } => Some(*place),
        Instruction::Access { into, .. } | Instruction::Call { into, .. } => *into,
        _ => None,
    };
    if let Some(Place { root: Root::Local(id), path }) = place
        && !path.is_empty()
    {
        act(id.0 as usize);
    }
}

fn uses_of_value(instruction: &Instruction<'_>, act: &mut dyn FnMut(usize)) {
    let mut of = |expression: &Expression| expression_uses(expression, act);
    let place = match instruction {
        Instruction::Assign { place, value } => {
            of(value);
            Some(*place)
        }
        Instruction::Access { access, into, .. } => {
            let access: &Access = access;
            access.operands().into_iter().for_each(&mut of);
            *into
        }
        Instruction::Call { arguments, into, .. } => {
            arguments.iter().for_each(&mut of);
            *into
        }
        Instruction::Unless { condition, .. } => {
            of(condition);
            None
        }
        Instruction::BeginFor(this) => {
            this.except.into_iter().for_each(&mut of);
            None
        }
        Instruction::NextFor(this) => {
            act(this.variable.0 as usize);
            return;
        }
        Instruction::Return { result } => {
            result.iter().for_each(|result| of(result));
            None
        }
        _ => None,
    };
    for projection in place.iter().flat_map(|place| &place.path) {
        if let Projection::Index(index) = projection {
            expression_uses(index, act);
        }
    }
}

fn expression_uses(expression: &Expression, act: &mut dyn FnMut(usize)) {
    if let ExpressionKind::Local(id) = expression.kind {
        act(id.0 as usize);
    }
    expression.operands().into_iter().for_each(|operand| expression_uses(operand, act));
}

/// Returns calls of one procedure by another that has no live state after them: no result, and no
/// live local. This is a guess, too: returning after any of them is sound.
pub fn alike_calls(layout: &Layout<'_>) -> Vec<(usize, Vec<usize>)> {
    let mut groups: Vec<(usize, usize, Vec<usize>)> = Vec::new();
    for (procedure, code) in layout.code.iter().enumerate() {
        let locals = 0..layout.frames[procedure].locals.len();
        let locals = locals.filter(|local| layout.may_forget(procedure, *local)).count();
        for (at, instruction) in code.instructions.iter().enumerate() {
            let Instruction::Call { procedure: inner, into: None, .. } = instruction else {
                continue;
            };
            let keeps = layout.forgotten[procedure][at + 1].len() < locals;
            let inner = inner.0 as usize;
            if keeps || layout.is_ghost[inner] {
                continue;
            }
            let of =
                |group: &&mut (usize, usize, Vec<usize>)| group.0 == procedure && group.1 == inner;
            match groups.iter_mut().find(of) {
                Some(group) => group.2.push(at),
                None => groups.push((procedure, inner, vec![at])),
            }
        }
    }
    groups.retain(|(_, _, calls)| calls.len() > 1);
    groups.into_iter().map(|(procedure, _, calls)| (procedure, calls)).collect()
}
