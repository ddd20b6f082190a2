//! Scalars that are forgotten because the condition that reads them is decided without them.
//!
//! `a or b` holds where a does, for any b. A certificate may list scalars with a condition each. If
//! the condition has the same value with the scalar unknown, the scalar is forgotten at the end of
//! a step. Forgetting a scalar outside the centre is always sound: it may then have any value. So
//! other readers of the scalar do not matter, nor whether the condition is ever computed; a list
//! that forgets too much only proves less.

use snapshot_language::program::Expression;
use snapshot_semantics::interpret::code::Instruction;

use crate::byte::{ANY, BASE, LOOSE};
use crate::centre::is_central;
use crate::flips::MEMBERS;
use crate::layout::{Layout, Scalar};
use crate::step::{Outcome, Run};

/// A scalar that may be forgotten where a condition does not need it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decided {
    pub at: usize,
    /// Procedure and instruction that compute the condition.
    pub instruction: (usize, usize),
    /// Values of the loop variables for which this applies: locals, and members.
    pub rounds: Vec<(usize, u8)>,
}

/// Returns the condition that an instruction computes.
fn condition<'p>(instruction: &Instruction<'p>) -> Option<&'p Expression> {
    match instruction {
        Instruction::Assign { value: condition, .. } | Instruction::Unless { condition, .. } => {
            Some(condition)
        }
        _ => None,
    }
}

impl Layout<'_> {
    /// Returns the entry if it is meaningful: a kept scalar of a process, an instruction that
    /// computes a condition, variables that name a process.
    pub fn decided(
        &self,
        name: &str,
        instruction: (usize, usize),
        rounds: &[(usize, u8)],
    ) -> Option<Decided> {
        self.asks.go_on(self.slots.len()).then_some(())?;
        let at = self.slots.iter().position(|slot| slot.is_called(name))?;
        let slot = &self.slots[at];
        let (procedure, number) = instruction;
        condition(self.code.get(procedure)?.instructions.get(number)?)?;
        let block = self.blocks[usize::from(slot.owner?)];
        let is_variable = |(local, member): &(usize, u8)| {
            let room = self.frames[procedure].locals.get(*local);
            let leaf = room.and_then(|room| self.slots[block + room.base].leaf);
            let is_member = leaf.is_some_and(|leaf| leaf.scalar == Scalar::Member);
            is_member && room.is_some_and(|room| room.size == 1) && *member <= LOOSE
        };
        let fits = slot.kept && rounds.iter().all(is_variable);
        fits.then(|| Decided { at, instruction, rounds: rounds.to_vec() })
    }

    /// Parses a line: the name, the procedure, the instruction, and `4=i` where local 4 is i.
    pub fn decided_of_line(&self, line: &str) -> Option<Decided> {
        let mut words = line.split(' ');
        let name = words.next()?;
        let instruction = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let round = |word: &str| {
            let (local, member) = word.split_once('=')?;
            let member = MEMBERS.iter().position(|name| *name == member)?;
            Some((local.parse().ok()?, member as u8))
        };
        let rounds: Option<Vec<(usize, u8)>> = words.map(round).collect();
        self.decided(name, instruction, &rounds?)
    }

    /// Returns the line of an entry.
    pub fn decided_line(&self, one: &Decided) -> String {
        let (procedure, number) = one.instruction;
        let mut line = format!("{} {procedure} {number}", self.slots[one.at].word());
        for (local, member) in &one.rounds {
            line.push_str(&format!(" {local}={}", MEMBERS[usize::from(*member)]));
        }
        line
    }
}

impl Run<'_, '_> {
    /// Forgets, at the end of a step, scalars that conditions do not need.
    pub(crate) fn forget_decided(&self, branch: &mut Outcome) {
        let layout = self.layout;
        for one in &layout.decided {
            let is_mine = layout.slots[one.at].owner == Some(self.me);
            let kept = branch.state[one.at];
            if !is_mine || kept == ANY || is_central(layout, &branch.state, one.at) {
                continue;
            }
            let (procedure, number) = one.instruction;
            let frame = &layout.frames[procedure];
            let code = &layout.code[procedure].instructions[number];
            let Some(condition) = condition(code) else { continue };
            let (state, fresh) = (branch.state.clone(), branch.fresh);
            for (local, member) in &one.rounds {
                branch.state[self.block() + frame.locals[*local].base] = BASE + member;
            }
            let with = self.scope(branch, procedure).holds(condition);
            branch.state[one.at] = ANY;
            let without = self.scope(branch, procedure).holds(condition);
            let is_decided = matches!(with, Ok(Some(_))) && with == without;
            (branch.state, branch.fresh) = (state, fresh);
            if is_decided {
                branch.state[one.at] = ANY;
            }
        }
    }
}
