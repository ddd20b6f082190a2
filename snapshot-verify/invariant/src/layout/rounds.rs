//! Rounds: where they begin and end.

use snapshot_language::program::{Access, Type};
use snapshot_semantics::interpret::code::Instruction;

use super::{Layout, Scalar, leaves};
use crate::byte::{I, J};

/// Role of an instruction for rounds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Round {
    /// A round begins there; an open round before it is abandoned.
    Begin,
    /// The open round ends there, with the view that is written.
    End,
}

impl Layout<'_> {
    /// Returns the role of an instruction for rounds, if rounds are the ghost scans.
    pub fn round_at(&self, procedure: usize, instruction: usize) -> Option<Round> {
        let [begin, end] = self.round?;
        match (procedure, instruction) {
            at if at == begin => Some(Round::Begin),
            at if at == end => Some(Round::End),
            _ => None,
        }
    }

    /// Returns true if rounds may begin at the first of two instructions and end at the second:
    /// both write a shared variable that is not an array, the second one a view.
    pub fn may_be_round(&self, [begin, end]: [(usize, usize); 2]) -> bool {
        let written = |(procedure, number): (usize, usize)| {
            let code = self.code.get(procedure)?;
            match code.instructions.get(number)? {
                Instruction::Access { access, .. } if access.writes() => Some(*access),
                _ => None,
            }
        };
        let content = |access: &Access| -> Option<&Type> {
            let variable = self.program.shared(access.place().variable);
            variable.dimensions.is_empty().then_some(&variable.content)
        };
        let (Some(first), Some(last)) = (written(begin), written(end)) else { return false };
        let has_view = |content: &Type| self.views_of(content).is_some();
        begin != end && content(first).is_some() && content(last).is_some_and(has_view)
    }

    /// Returns the bytes of the only view of a type: its token, or its entries at i and j.
    pub fn views_of(&self, content: &Type) -> Option<Vec<usize>> {
        let is_shown = |path: &[u8]| path.last().is_none_or(|member| matches!(*member, I | J));
        let leaves = leaves(content, self.tokens());
        let views = leaves.iter().enumerate().filter(|(_, (leaf, ..))| leaf.scalar == Scalar::View);
        let views: Vec<usize> =
            views.filter(|(_, (_, path, _))| is_shown(path)).map(|(at, _)| at).collect();
        (views.len() == if self.tokens() { 1 } else { 2 }).then_some(views)
    }
}
