//! Where a process may be linked to a cell at all.
//!
//! Only an LL links a process. An SC, or a write, to the one cell of a variable leaves the process
//! without a link to it: either it writes, which breaks all links, or its link was broken before.
//! So a process is linked at an instruction only if some path leads there from an LL on the
//! variable, through any calls and operations, without such an access between; elsewhere SC and VL
//! fail. In particular no process is linked before its first LL.

use snapshot_language::program::{Access, Program, SharedId};
use snapshot_semantics::interpret::code::{Code, Instruction};

use super::Layout;

/// Per procedure, instruction and shared variable: true if a process at the instruction may be
/// linked to a cell of the variable.
pub type Linkable = Vec<Vec<Vec<bool>>>;

impl Layout<'_> {
    /// Returns true if a process at an instruction may be linked to a cell of a variable.
    pub fn may_be_linked(&self, (procedure, at): (usize, usize), variable: SharedId) -> bool {
        self.linkable[procedure][at][variable.0 as usize]
    }
}

/// Returns the least solution, forwards from idle processes without a link.
pub(super) fn linkable(program: &Program, code: &[Code<'_>]) -> Linkable {
    let none = vec![false; program.shared.len()];
    let mut before: Vec<Vec<Option<Vec<bool>>>> =
        code.iter().map(|code| vec![None; code.instructions.len()]).collect();
    let roots = [program.update(), program.scan()].map(|root| root.0 as usize);
    let mut waiting = Vec::new();
    for root in roots {
        before[root][0] = Some(none.clone());
        waiting.push((root, 0));
    }
    while let Some((procedure, at)) = waiting.pop() {
        let Some(now) = before[procedure][at].clone() else { continue };
        let after = behind(program, &code[procedure].instructions[at], now);
        for (to, here) in successors(code, &roots, procedure, at) {
            let Some(known) = before[to].get_mut(here) else { continue };
            let joined = match known {
                Some(known) => known.iter().zip(&after).map(|(one, two)| *one || *two).collect(),
                None => after.clone(),
            };
            if known.as_ref() != Some(&joined) {
                *known = Some(joined);
                waiting.push((to, here));
            }
        }
    }
    // No process is linked at unreachable instructions.
    let all =
        before.into_iter().map(|of| of.into_iter().map(|one| one.unwrap_or_else(|| none.clone())));
    all.map(Iterator::collect).collect()
}

/// Returns the variables to which a process may be linked after an instruction, in this frame.
fn behind(program: &Program, instruction: &Instruction<'_>, mut linked: Vec<bool>) -> Vec<bool> {
    if let Instruction::Access { access, .. } = instruction {
        let variable = access.place().variable;
        let known = &mut linked[variable.0 as usize];
        match access {
            Access::LoadLinked(_) => *known = true,
            // With several cells, links to the others stay.
            Access::StoreConditional(..) | Access::Write(..)
                if program.shared(variable).dimensions.is_empty() =>
            {
                *known = false;
            }
            _ => {}
        }
    }
    linked
}

/// Returns the possible next locations: of a call, the begin of the procedure; of a return, behind
/// all calls of the procedure; of the end of an operation, the begins of operations.
fn successors(
    code: &[Code<'_>],
    roots: &[usize],
    procedure: usize,
    at: usize,
) -> Vec<(usize, usize)> {
    let here = |at: usize| (procedure, at);
    match &code[procedure].instructions[at] {
        Instruction::Call { procedure: inner, .. } => vec![(inner.0 as usize, 0)],
        Instruction::Return { .. } => {
            let mut next = Vec::new();
            for (caller, code) in code.iter().enumerate() {
                let calls = code.instructions.iter().enumerate().filter(|(_, one)| {
                    matches!(one, Instruction::Call { procedure: inner, .. }
                        if inner.0 as usize == procedure)
                });
                next.extend(calls.map(|(at, _)| (caller, at + 1)));
            }
            if roots.contains(&procedure) {
                next.extend(roots.iter().map(|root| (*root, 0)));
            }
            next
        }
        Instruction::Unless { target, .. } => vec![here(at + 1), here(*target)],
        Instruction::Jump { target } => vec![here(*target)],
        Instruction::BeginFor(this) | Instruction::NextFor(this) => {
            vec![here(this.body), here(this.end)]
        }
        _ => vec![here(at + 1)],
    }
}
