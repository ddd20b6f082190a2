//! The first bytes of the block of a process, and where it stands.

use snapshot_semantics::interpret::code::Instruction;

use super::Layout;

/// Offsets within a block.
pub mod at {
    /// Operation of the process: one of the constants of [`super::op`].
    pub const OP: usize = 0;
    /// 1 if a ghost scan is open.
    pub const GHOST: usize = 1;
    /// 1 if the process has made its first access to a kept variable.
    pub const BEGUN: usize = 2;
    /// The specification's bits of the process.
    pub const BITS: usize = 3;
    /// Token of the view that the process will return: fresh, or old.
    pub const TOKEN: usize = 4;
    /// 1 if the update to 1 has made its first access.
    pub const INVOKED: usize = 5;
    /// 1 if the process has begun an update to 1.
    pub const SWITCHED: usize = 6;
    pub const END: usize = 7;
}

/// Operations of a process.
pub mod op {
    pub const IDLE: u8 = 0;
    /// An update, other than the first to 1.
    pub const UPDATES: u8 = 1;
    pub const SCANS: u8 = 2;
    /// The first update to 1.
    pub const SWITCHES: u8 = 3;
    /// A ghost scan of an operation that is not shown yet: this constant plus the number of the
    /// procedure.
    pub const GHOSTS: u8 = 4;
}

impl Layout<'_> {
    /// Returns the location of a member: the innermost procedure, and the instruction; `within`:
    /// also in a ghost scan, else at the call of the ghost scan.
    pub fn place(&self, state: &[u8], member: u8, within: bool) -> Option<(usize, usize)> {
        let block = self.blocks[usize::from(member)];
        let operation = state[block + at::OP];
        if operation == op::IDLE {
            return None;
        }
        let within = within || state[block + at::GHOST] == 0;
        let mut procedure = self.root(operation);
        loop {
            let here = usize::from(state[block + self.frames[procedure].at].checked_sub(1)?);
            match self.code[procedure].instructions[here] {
                Instruction::Call { procedure: inner, .. }
                    if state[block + self.frames[inner.0 as usize].at] != 0
                        && (within || !self.ghostly[inner.0 as usize]) =>
                {
                    procedure = inner.0 as usize;
                }
                _ => return Some((procedure, here)),
            }
        }
    }
}
