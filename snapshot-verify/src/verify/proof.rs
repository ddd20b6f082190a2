//! The check of a proof for every n.
//!
//! After each proof its certificate is written and checked, in memory and completely, and executions of the
//! interpreter are projected into the views that it accepts: one that is in none of them is a fault of
//! this project, as is a certificate that is refused. Only the time and the memory of the whole
//! request limit it; a proof that is not checked to the end does not count.

use std::time::{Duration, Instant};

use snapshot_hints::ladder::{INTERRUPTED, Ladder, Limit, MEMORY, TIME};
use snapshot_invariant::check::{Accepted, Answer, check_projecting};
use snapshot_invariant::claim::Obligation;
use snapshot_invariant::projection::{Coverage, Extent};
use snapshot_invariant::write::{Part, WriteError};
use snapshot_invariant::{Budget, Unfinished, digest};

use super::subject::Subject;
use super::{VerifyError, Watch};
use crate::deadline::{Deadline, Stopped};

/// A proof for every n whose certificate is accepted.
#[derive(Clone, Debug)]
pub struct Proof {
    /// What is kept, part by part.
    pub parts: Vec<Part>,
    /// The certificate that was checked, for the empty text.
    pub certificate: Vec<u8>,
    /// The obligations, and the number of views of each.
    pub obligations: Vec<(Obligation, u64)>,
    /// True if some part keeps what analyses found, false if all keep everything.
    pub is_hinted: bool,
    /// Executions that were projected into these views, per obligation.
    pub projected: Vec<Coverage>,
    /// Time of the check, without the projection.
    pub elapsed: Duration,
}

impl Proof {
    /// Returns the number of views of all obligations.
    pub fn views(&self) -> u64 {
        self.obligations.iter().map(|(_, views)| views).sum()
    }

    /// Returns the time of the projection.
    pub fn projection(&self) -> Duration {
        self.projected.iter().map(|coverage| coverage.elapsed).sum()
    }
}

/// Result of a check.
pub(super) enum Checked {
    Accepted(Proof),
    /// The budget was short.
    Short(&'static str),
    /// There is no certificate of this size.
    Unsupported,
    /// A fault of ours.
    Wrong(VerifyError),
}

/// Writes the certificate of the proof that a ladder has found, and checks it.
pub(super) fn check(
    subject: &Subject<'_>,
    ladder: &mut Ladder<'_>,
    memory: u64,
    limit: Limit<'_>,
    watch: &dyn Watch,
) -> Checked {
    watch.prove("check");
    let began = Instant::now();
    let answer = ladder.answer();
    // It is presented for a text only when it is written.
    let claim = subject.claim(digest(""));
    let mut certificate = Vec::new();
    match ladder.certificate(&claim, &mut certificate) {
        Some(Ok(_)) => {}
        Some(Err(WriteError::Unfinished(unfinished))) => return short(unfinished, limit),
        Some(Err(_)) | None => return Checked::Unsupported,
    }
    let mut proceed = limit.proceed;
    let mut budget = Budget { memory, proceed: &mut proceed };
    let (mut input, extent) = (certificate.as_slice(), Some(Extent::default()));
    let text = digest("");
    let found = check_projecting(subject.written, &text, &mut input, &mut budget, extent);
    match found {
        Ok(Answer::Accepted(Accepted { obligations, projected, .. })) => {
            let elapsed = Duration::ZERO;
            let (parts, is_hinted) = (answer.parts, answer.is_hinted);
            let mut proof =
                Proof { parts, certificate, obligations, is_hinted, projected, elapsed };
            proof.elapsed = began.elapsed().saturating_sub(proof.projection());
            Checked::Accepted(proof)
        }
        Ok(Answer::Unknown(unfinished)) => short(unfinished, limit),
        Ok(Answer::Uncovered(uncovered)) => Checked::Wrong(VerifyError::Uncovered(uncovered)),
        Ok(Answer::Refused(refusal)) => Checked::Wrong(VerifyError::Refused(refusal.to_string())),
        Ok(Answer::Foreign) => Checked::Wrong(VerifyError::Refused("its first line".to_owned())),
        Err(error) => Checked::Wrong(VerifyError::Refused(error.to_string())),
    }
}

fn short(unfinished: Unfinished, limit: Limit<'_>) -> Checked {
    Checked::Short(match unfinished {
        Unfinished::Memory => MEMORY,
        Unfinished::Ended => ended(limit.deadline),
    })
}

/// Returns the budget that has ended the work.
fn ended(deadline: Deadline<'_>) -> &'static str {
    match deadline.check() {
        Err(Stopped::Time) => TIME,
        Err(Stopped::Memory) => MEMORY,
        Err(Stopped::Interrupted) | Ok(()) => INTERRUPTED,
    }
}

#[cfg(test)]
mod tests {
    use snapshot_hints::ladder::{Budget as Views, Climb};
    use snapshot_hints::rungs::Rungs;

    use super::super::Unwatched;
    use super::*;

    #[test]
    fn a_check_that_is_ended_says_which_budget_was_short() {
        let text = corpus::algorithm("bowman").expect("an algorithm of the corpus").text;
        let algorithm = crate::language::parse("bowman", text).expect("a text that is right");
        let program = algorithm.program(None).expect("a program that is right");
        let (subject, watch) = (Subject::written(&program), Unwatched::default());
        let checked = |until: Option<Instant>, memory| {
            let proceed = || true;
            let limit = Limit::never(&proceed);
            let mut ladder = Ladder::new(&program, &Rungs::default(), limit);
            assert_eq!(ladder.climb(Views::default(), &mut |_| {}), Climb::Proved);
            let deadline = Deadline::new(until, None);
            let proceed = || !deadline.is_over();
            check(&subject, &mut ladder, memory, Limit { deadline, proceed: &proceed }, &watch)
        };
        assert!(matches!(checked(Some(Instant::now()), 1 << 30), Checked::Short(TIME)));
        assert!(matches!(checked(None, 1 << 10), Checked::Short(MEMORY)));
        let Checked::Accepted(proof) = checked(None, 1 << 30) else { panic!("not accepted") };
        assert!(proof.is_hinted && proof.views() > 1_000 && !proof.projected.is_empty());
    }
}
