//! A proof for every n is shown to the independent check, as far as that is cheap.
//!
//! The prover's mistakes are its own: [`snapshot_invariant`] shares nothing with it. So
//! behind each proof its certificate is made and checked, in memory. Where the check finds a gap,
//! there is no answer: one of the two is wrong, or the check less precise. Certificates know fewer
//! constructs than the prover, and their plain rules take more time; a proof without a certificate
//! for one of these reasons rests on the prover alone.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use snapshot_everyn::ladder::Answer;
use snapshot_invariant::check::{self, Accepted, check};
use snapshot_invariant::claim::Claim;
use snapshot_invariant::write::{Part, WriteError};
use snapshot_invariant::{Budget, Unfinished, digest, write};

use super::Watch;
use super::every::certificate_parts;
use crate::deadline::Deadline;
use crate::language::Span;
use crate::program::Program;

/// How long it may compute, and for each second of the proof a quarter more.
const SHORT: Duration = Duration::from_secs(2);

/// What the independent check says of a proof for every n.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Confirmation {
    /// How many views the certificate lists, which was accepted; or why none was.
    pub result: Result<u64, Unconfirmed>,
    /// How long it took.
    pub elapsed: Duration,
}

/// Why a proof is not confirmed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unconfirmed {
    /// In words.
    pub reason: String,
    /// Where in the program.
    pub place: Option<Span>,
    /// Whether the check finds a gap in the proof: something that its rules do not exclude. Else it
    /// does not know a construct, or has run out of a budget.
    pub is_gap: bool,
}

impl Confirmation {
    /// Whether the check finds a gap in the proof.
    pub fn finds_gap(&self) -> bool {
        self.result.as_ref().is_err_and(|unconfirmed| unconfirmed.is_gap)
    }
}

/// Makes the certificate of a proof and checks it; `left`: what is left of the time.
pub(super) fn confirm(
    program: &Program,
    answer: &Answer,
    proof: Duration,
    memory: u64,
    left: Option<Duration>,
    watch: &dyn Watch,
) -> Confirmation {
    watch.prove("independent check");
    let began = Instant::now();
    let (most, before) = (SHORT + proof / 4, computed());
    let mut proceed = || {
        let is_in_time = left.is_none_or(|left| began.elapsed() < left);
        is_in_time && computed() - before < most && !watch.stop().load(Ordering::Relaxed)
    };
    let deadline = Deadline::new(left.and_then(|left| began.checked_add(left)), Some(watch.stop()));
    let parts = certificate_parts(program, answer, deadline);
    let mut budget = Budget { memory, proceed: &mut proceed };
    let result = confirmed(program, &parts, &mut budget);
    Confirmation { result, elapsed: began.elapsed() }
}

/// For how long this thread has computed: whether a proof is confirmed, or what it exercised, is
/// not to depend on what else the machine does.
#[cfg(unix)]
pub(super) fn computed() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// As the clock on the wall tells.
#[cfg(not(unix))]
pub(super) fn computed() -> Duration {
    static FIRST: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    FIRST.elapsed()
}

fn confirmed(
    program: &Program,
    parts: &[Part],
    budget: &mut Budget<'_>,
) -> Result<u64, Unconfirmed> {
    budget.spend(0).map_err(ran_out)?;
    let claim = Claim {
        algorithm: program.name.clone(),
        bug: program.bug.clone(),
        // It is not kept, so there is no text that it could be presented for.
        digest: digest(""),
    };
    let mut certificate = Vec::new();
    write(program, &claim, parts, &mut certificate, budget).map_err(|error| match error {
        WriteError::Unfinished(unfinished) => ran_out(unfinished),
        error => {
            Unconfirmed { reason: error.to_string(), place: error.span(), is_gap: error.is_gap() }
        }
    })?;
    let of = |reason: String| Unconfirmed { reason, place: None, is_gap: true };
    match check(program, &claim.digest, &mut certificate.as_slice(), budget) {
        Ok(check::Answer::Accepted(accepted)) => Ok(Accepted::views(&accepted)),
        Ok(check::Answer::Refused(refusal)) => {
            let reason = format!("the certificate is refused: {refusal}");
            Err(Unconfirmed { reason, place: refusal.span(), is_gap: true })
        }
        Ok(check::Answer::Unknown(unfinished)) => Err(ran_out(unfinished)),
        Ok(check::Answer::Foreign) => Err(of("the certificate is of no known kind".to_owned())),
        Err(error) => Err(of(error.to_string())),
    }
}

/// Of which budget there was too little, and how there is more of it.
fn ran_out(unfinished: Unfinished) -> Unconfirmed {
    let next = match unfinished {
        Unfinished::Ended => "; `--certificate FILE` makes the certificate without this limit",
        _ => "",
    };
    let reason = format!("{} ran out{next}", unfinished.name());
    Unconfirmed { reason, place: None, is_gap: false }
}

#[cfg(test)]
mod tests {
    use super::super::Unwatched;
    use super::*;

    #[test]
    fn where_time_runs_out_the_next_step_is_named() {
        let text = corpus::algorithm("bowman").expect("an algorithm of the corpus").text;
        let algorithm = crate::language::parse("bowman", text).expect("a text that is right");
        let program = algorithm.program(None).expect("a program that is right");
        let answer =
            snapshot_everyn::ladder::prove_all(&program, Default::default(), &mut |_| true);
        let watch = Unwatched::default();
        let confirm =
            |left| confirm(&program, &answer, Duration::ZERO, 1 << 30, Some(left), &watch).result;
        let reason = confirm(Duration::ZERO).expect_err("there is no time").reason;
        assert!(reason.starts_with("time ran out; `--certificate FILE`"), "{reason}");
        confirm(Duration::from_secs(600)).expect("there is time");
    }
}
