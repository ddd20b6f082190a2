//! A proof for every n is shown to the independent check, as far as that is cheap.
//!
//! The prover's mistakes are its own: [`snapshot_invariant`] shares nothing with it. So
//! behind each proof its certificate is made and checked, in memory. Certificates know fewer
//! programs than the prover, and their plain rules take more time; a proof that is not
//! confirmed is not refuted, but rests on the prover alone.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use snapshot_everyn::ladder::Answer;
use snapshot_invariant::check::{self, Accepted, check};
use snapshot_invariant::claim::Claim;
use snapshot_invariant::{Budget, digest, write};

use super::Watch;
use super::every::certificate_parts;
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
    let mut budget = Budget { memory, proceed: &mut proceed };
    let result = confirmed(program, answer, &mut budget);
    Confirmation { result, elapsed: began.elapsed() }
}

/// For how long this thread has computed: whether a proof is confirmed is not to depend on what
/// else the machine does.
#[cfg(unix)]
fn computed() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// As the clock on the wall tells.
#[cfg(not(unix))]
fn computed() -> Duration {
    static FIRST: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    FIRST.elapsed()
}

fn confirmed(
    program: &Program,
    answer: &Answer,
    budget: &mut Budget<'_>,
) -> Result<u64, Unconfirmed> {
    let claim = Claim {
        algorithm: program.name.clone(),
        bug: program.bug.clone(),
        // It is not kept, so there is no text that it could be presented for.
        digest: digest(""),
    };
    let mut certificate = Vec::new();
    write(program, &claim, &certificate_parts(program, answer), &mut certificate, budget)
        .map_err(|error| Unconfirmed { reason: error.to_string(), place: error.span() })?;
    let of = |reason: String| Unconfirmed { reason, place: None };
    match check(program, &claim.digest, &mut certificate.as_slice(), budget) {
        Ok(check::Answer::Accepted(accepted)) => Ok(Accepted::views(&accepted)),
        Ok(check::Answer::Refused(refusal)) => {
            let reason = format!("the certificate is refused: {refusal}");
            Err(Unconfirmed { reason, place: refusal.span() })
        }
        Ok(check::Answer::Unknown(unfinished)) => Err(of(format!("{} ran out", unfinished.name()))),
        Ok(check::Answer::Foreign) => Err(of("the certificate is of no known kind".to_owned())),
        Err(error) => Err(of(error.to_string())),
    }
}
