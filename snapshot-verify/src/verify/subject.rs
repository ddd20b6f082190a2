//! The programs of which a proof for every n is tried: the one of the text, and the one that it is
//! rewritten to.

use std::borrow::Cow;

use snapshot_invariant::claim::Claim;

use crate::program::Program;
use crate::program::rewrite::{Change, rewrite};

/// A program of which a proof is tried.
#[derive(Clone, Debug)]
pub struct Subject<'p> {
    /// The program of the text.
    pub written: &'p Program,
    /// What is proved: the same, or what it is rewritten to.
    pub program: Cow<'p, Program>,
    /// The variables that are rewritten, and how.
    pub changes: Vec<Change>,
}

impl<'p> Subject<'p> {
    /// The program as it is written.
    pub const fn written(program: &'p Program) -> Self {
        Self { written: program, program: Cow::Borrowed(program), changes: Vec::new() }
    }

    /// All of a program, in the order in which they are tried: rewritten, if it can be, and as it is
    /// written.
    pub fn all(program: &'p Program) -> Vec<Self> {
        let rewritten = rewrite(program).map(|rewritten| Self {
            written: program,
            program: Cow::Owned(rewritten.program),
            changes: rewritten.changes,
        });
        rewritten.into_iter().chain([Self::written(program)]).collect()
    }

    /// What a certificate of it claims first, of the text with this digest.
    pub fn claim(&self, digest: String) -> Claim {
        claim(self.written, &self.changes, digest)
    }
}

/// What a certificate of a program with these rewritings claims first.
pub fn claim(written: &Program, changes: &[Change], digest: String) -> Claim {
    Claim {
        algorithm: written.name.clone(),
        bug: written.bug.clone(),
        digest,
        rewritten: changes.iter().map(ToString::to_string).collect(),
    }
}
