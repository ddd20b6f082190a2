//! Attempts at a proof for every n of one program, as far as they went.

use snapshot_hints::ladder::{Answer, Budget, Climb, Ladder, Limit, VIEWS};
use snapshot_hints::rungs::Rungs;

use super::proof::{Checked, Proof, check};
use super::subject::Subject;
use super::{VerifyError, Watch};

/// The attempts at a proof of one program.
pub(super) struct Attempt<'m> {
    pub subject: &'m Subject<'m>,
    ladder: Ladder<'m>,
    limit: Limit<'m>,
    /// Whether the ladder has ways left.
    climbs: bool,
    /// The proof, once it is checked.
    pub proof: Option<Proof>,
    /// The budget of the check that was short.
    short: Option<&'static str>,
}

/// What an attempt may take.
#[derive(Clone, Copy)]
pub(super) struct Allowance {
    pub views: usize,
    pub memory: u64,
}

impl<'m> Attempt<'m> {
    /// Of a program, by some rungs.
    pub fn new(subject: &'m Subject<'m>, rungs: &Rungs, limit: Limit<'m>) -> Self {
        let ladder = Ladder::new(&subject.program, rungs, limit);
        Self { subject, ladder, limit, climbs: true, proof: None, short: None }
    }

    /// What was tried.
    pub fn answer(&self) -> Answer {
        let answer = self.ladder.answer();
        Answer { short: answer.short.or(self.short), ..answer }
    }

    /// Whether a proof keeps everything, or is of a program that is not the one of the text.
    pub fn stands_alone(&self) -> bool {
        let is_hinted = self.proof.as_ref().is_some_and(|proof| proof.is_hinted);
        !is_hinted || !self.subject.changes.is_empty()
    }

    /// Whether something is left to try.
    pub const fn is_open(&self) -> bool {
        self.climbs
    }

    /// Goes on; whether there is a proof, and the check accepts it.
    ///
    /// # Errors
    /// If this program turns out to be wrong.
    pub fn go_on(&mut self, may: Allowance, watch: &dyn Watch) -> Result<bool, VerifyError> {
        let bytes = usize::try_from(may.memory).unwrap_or(usize::MAX);
        let budget = Budget { bytes, views: may.views };
        let climb = self.ladder.climb(budget, &mut |rung| watch.prove(&rung.name()));
        self.climbs = climb == Climb::Short(VIEWS);
        if climb == Climb::Proved {
            match check(self.subject, &mut self.ladder, may.memory, self.limit, watch) {
                Checked::Accepted(proof) => self.proof = Some(proof),
                Checked::Short(which) => self.short = Some(which),
                Checked::Unsupported => {}
                Checked::Wrong(error) => return Err(error),
            }
        }
        Ok(self.proof.is_some())
    }
}
