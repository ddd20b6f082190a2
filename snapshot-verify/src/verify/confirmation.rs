//! Confirmation of proofs for every n by the independent check.
//!
//! [`snapshot_invariant`] shares nothing with the prover, and so not its mistakes. After each
//! proof its certificate is written and checked, in memory, immediately and completely, which takes
//! about `TIMES` times as long as the proof. Only the time and the memory of the whole request
//! limit it. If the check finds a gap, there is no answer: either one of the two is wrong, or the
//! check is less precise. Executions of the interpreter are projected into the views that it accepts: one that
//! is in none of them is a fault of this project. Certificates support fewer constructs than the prover; a proof without a
//! certificate is not confirmed, and does not count as a proof.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use snapshot_everyn::ladder;
use snapshot_everyn::prove::{INTERRUPTED, MEMORY, TIME as TIME_SHORT, VIEWS};
use snapshot_invariant::check::{Accepted, Answer, Uncovered, check_projecting};
use snapshot_invariant::projection::{Coverage, Extent};
use snapshot_invariant::write::{Part, Summary, WriteError, write_within};
use snapshot_invariant::{Budget, Unfinished, digest};

use super::Watch;
use super::every::certificate_parts;
use super::subject::Subject;
use crate::deadline::Deadline;
use crate::language::Span;

/// Upper bound on the ratio of confirmation time to proof time, over the corpus.
const TIMES: u32 = 12;

/// Result of the independent check of a proof for every n.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Confirmation {
    /// Number of views in the accepted certificate, or the reason why no certificate was accepted.
    pub result: Result<u64, Unconfirmed>,
    /// Executions that were projected into these views, per obligation.
    pub projected: Vec<Coverage>,
    /// An execution that contradicts an accepted certificate: our fault.
    pub uncovered: Option<Uncovered>,
    /// Time of the check, without the projection.
    pub elapsed: Duration,
}

/// Reason why a proof is not confirmed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unconfirmed {
    /// In words.
    pub reason: String,
    /// Place in the program.
    pub place: Option<Span>,
    /// True if the check finds a gap in the proof: a case that its rules do not exclude. Otherwise
    /// a construct is unsupported, or a budget was exhausted.
    pub is_gap: bool,
    /// If time ran out: the time that would suffice.
    pub needed: Option<Duration>,
}

impl Unconfirmed {
    /// Returns the reason and the remedy, as a sentence.
    pub fn sentence(&self) -> String {
        match self.needed {
            Some(needed) => format!("{}; --time {} would do", self.reason, needed.as_secs()),
            None => self.reason.clone(),
        }
    }
}

impl Confirmation {
    /// Returns true if the check finds a gap in the proof.
    pub fn finds_gap(&self) -> bool {
        self.result.as_ref().is_err_and(|unconfirmed| unconfirmed.is_gap)
    }

    /// Returns the time of the projection.
    pub fn projection(&self) -> Duration {
        self.projected.iter().map(|coverage| coverage.elapsed).sum()
    }

    fn new(found: Result<Accepted, Failed>, elapsed: Duration) -> Self {
        let (result, projected, uncovered) = match found {
            Ok(accepted) => (Ok(accepted.views()), accepted.projected, None),
            Err(Failed::Unconfirmed(unconfirmed)) => (Err(unconfirmed), Vec::new(), None),
            Err(Failed::Uncovered(uncovered)) => {
                let unconfirmed = Unconfirmed {
                    reason: uncovered.to_string(),
                    place: None,
                    is_gap: true,
                    needed: None,
                };
                (Err(unconfirmed), Vec::new(), Some(uncovered))
            }
        };
        let mut confirmation = Self { result, projected, uncovered, elapsed };
        confirmation.elapsed = elapsed.saturating_sub(confirmation.projection());
        confirmation
    }
}

/// Reason for the lack of a confirmation.
enum Failed {
    Unconfirmed(Unconfirmed),
    Uncovered(Uncovered),
}

impl From<Unconfirmed> for Failed {
    fn from(unconfirmed: Unconfirmed) -> Self {
        Self::Unconfirmed(unconfirmed)
    }
}

/// Budget of a confirmation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// In bytes.
    pub memory: u64,
    /// Start and time limit of the whole request.
    pub time: Option<(Instant, Duration)>,
}

/// Writes the certificate of a proof and checks it.
pub(super) fn confirm(
    subject: &Subject<'_>,
    answer: &ladder::Answer,
    limits: Limits,
    watch: &dyn Watch,
) -> Confirmation {
    watch.prove("independent check");
    let began = Instant::now();
    let is_late = |(since, time): (Instant, Duration)| since.elapsed() >= time;
    let mut proceed = || !limits.time.is_some_and(is_late) && !watch.stop().load(Ordering::Relaxed);
    let end = limits.time.and_then(|(since, time)| since.checked_add(time));
    let parts = certificate_parts(&subject.program, answer, Deadline::new(end, Some(watch.stop())));
    let mut budget = Budget { memory: limits.memory, proceed: &mut proceed };
    let mut result = confirmed(subject, &parts, &mut budget);
    if let (Err(Failed::Unconfirmed(unconfirmed)), Some((since, time))) =
        (&mut result, limits.time.filter(|time| is_late(*time)))
        && unconfirmed.reason == TIME
    {
        let proof: Duration = answer
            .rungs
            .iter()
            .filter_map(|rung| rung.finding.as_ref().ok())
            .map(|finding| finding.elapsed)
            .sum();
        let needed = began.saturating_duration_since(since) + proof * TIMES;
        unconfirmed.needed = Some(rounded(needed.max(2 * time)));
    }
    Confirmation::new(result, began.elapsed())
}

/// Rounds up to a number of seconds with one nonzero digit.
fn rounded(time: Duration) -> Duration {
    let seconds = time.as_secs() + 1;
    let unit = 10_u64.pow(seconds.ilog10());
    Duration::from_secs(seconds.div_ceil(unit) * unit)
}

fn confirmed(
    subject: &Subject<'_>,
    parts: &[Part],
    budget: &mut Budget<'_>,
) -> Result<Accepted, Failed> {
    budget.spend(0).map_err(ran_out)?;
    let (certificate, _) =
        made(subject, parts, usize::MAX, budget).map_err(|error| match error {
            WriteError::Unfinished(unfinished) => ran_out(unfinished),
            error => Unconfirmed {
                reason: error.to_string(),
                place: error.span(),
                is_gap: error.is_gap(),
                needed: None,
            },
        })?;
    checked(subject, &certificate, budget)
}

/// The certificate of parts, with no more than so many views.
fn made(
    subject: &Subject<'_>,
    parts: &[Part],
    views: usize,
    budget: &mut Budget<'_>,
) -> Result<(Vec<u8>, Summary), WriteError> {
    // It is not kept, so there is no text that it could be presented for.
    let claim = subject.claim(digest(""));
    let mut certificate = Vec::new();
    let summary = write_within(subject.written, &claim, parts, &mut certificate, budget, views)?;
    Ok((certificate, summary))
}

fn checked(
    subject: &Subject<'_>,
    mut certificate: &[u8],
    budget: &mut Budget<'_>,
) -> Result<Accepted, Failed> {
    let of = |reason: String| Unconfirmed { reason, place: None, is_gap: true, needed: None };
    let extent = Some(Extent::default());
    match check_projecting(subject.written, &digest(""), &mut certificate, budget, extent) {
        Ok(Answer::Accepted(accepted)) => Ok(accepted),
        Ok(Answer::Refused(refusal)) => {
            let reason = format!("the certificate is refused: {refusal}");
            Err(Unconfirmed { place: refusal.span(), ..of(reason) }.into())
        }
        Ok(Answer::Unknown(unfinished)) => Err(ran_out(unfinished).into()),
        Ok(Answer::Uncovered(uncovered)) => Err(Failed::Uncovered(uncovered)),
        Ok(Answer::Foreign) => Err(of("the certificate is of no known kind".to_owned()).into()),
        Err(error) => Err(of(error.to_string()).into()),
    }
}

/// A proof without a prover: sets of views that the rules of certificates close by themselves.
#[derive(Clone, Debug)]
pub struct Closed {
    /// What is kept, part by part.
    pub parts: Vec<Part>,
    /// The obligations, and the number of views of each.
    pub summary: Summary,
    /// How long it took to close them.
    pub elapsed: Duration,
}

/// What came of an attempt to close sets of views.
pub(super) enum Closing {
    /// They are closed, and the check of the certificate says this.
    Closed(Box<Closed>, Confirmation),
    /// They have more views, or the time or the memory is over.
    Short(&'static str),
    /// They cannot be closed: a view goes wrong, or the program is of no form that the rules are
    /// made for.
    Fails,
}

/// Closes the views of these parts, no more than so many, and checks the certificate.
pub(super) fn close(
    subject: &Subject<'_>,
    parts: Vec<Part>,
    views: usize,
    limits: Limits,
    watch: &dyn Watch,
) -> Closing {
    let began = Instant::now();
    let is_late = |(since, time): (Instant, Duration)| since.elapsed() >= time;
    let mut proceed = || !limits.time.is_some_and(is_late) && !watch.stop().load(Ordering::Relaxed);
    let mut budget = Budget { memory: limits.memory, proceed: &mut proceed };
    let (certificate, summary) = match made(subject, &parts, views, &mut budget) {
        Ok(made) => made,
        Err(WriteError::Views) => return Closing::Short(VIEWS),
        Err(WriteError::Unfinished(Unfinished::Memory)) => return Closing::Short(MEMORY),
        Err(WriteError::Unfinished(Unfinished::Ended)) => {
            let is_stopped = watch.stop().load(Ordering::Relaxed);
            return Closing::Short(if is_stopped { INTERRUPTED } else { TIME_SHORT });
        }
        Err(_) => return Closing::Fails,
    };
    let closed = Closed { parts, summary, elapsed: began.elapsed() };
    let began = Instant::now();
    let result = checked(subject, &certificate, &mut budget);
    Closing::Closed(Box::new(closed), Confirmation::new(result, began.elapsed()))
}

/// What is said where the confirmation is ended.
const TIME: &str = "time ran out";

/// Returns the reason that names the exhausted budget.
fn ran_out(unfinished: Unfinished) -> Unconfirmed {
    let reason = match unfinished {
        Unfinished::Ended => TIME,
        Unfinished::Memory => "memory ran out: --memory gives more",
    };
    Unconfirmed { reason: reason.to_owned(), place: None, is_gap: false, needed: None }
}

#[cfg(test)]
mod tests {
    use super::super::Unwatched;
    use super::*;

    #[test]
    fn exhausted_confirmation_estimates_the_needed_time() {
        let text = corpus::algorithm("bowman").expect("an algorithm of the corpus").text;
        let algorithm = crate::language::parse("bowman", text).expect("a text that is right");
        let program = algorithm.program(None).expect("a program that is right");
        let answer = ladder::prove_all(&program, Default::default());
        let watch = Unwatched::default();
        let confirm = |time: Option<Duration>| {
            let limits = Limits { memory: 1 << 30, time: time.map(|time| (Instant::now(), time)) };
            confirm(&Subject::written(&program), &answer, limits, &watch).result
        };
        let unconfirmed = confirm(Some(Duration::ZERO)).expect_err("there is no time");
        let sentence = unconfirmed.sentence();
        assert!(sentence.starts_with("time ran out; --time "), "{sentence}");
        assert!(!unconfirmed.is_gap);
        confirm(None).expect("there is time");
        let memory = Limits { memory: 1 << 10, time: None };
        let result = super::confirm(&Subject::written(&program), &answer, memory, &watch).result;
        assert!(result.is_err_and(|unconfirmed| unconfirmed.reason.contains("--memory")));
    }

    #[test]
    fn uncovered_execution_is_a_fault_of_ours() {
        use snapshot_invariant::claim::{Aim, Ghosts, Obligation};

        let obligation = Obligation { ghosts: Ghosts::Scans, aim: Aim::Observer };
        let uncovered = Uncovered { obligation, state: "no view".to_owned() };
        let failed = Err(Failed::Uncovered(uncovered.clone()));
        let confirmation = Confirmation::new(failed, Duration::ZERO);
        assert!(confirmation.finds_gap());
        let found = confirmation.uncovered.expect("it is told apart from a gap");
        let error = crate::verify::VerifyError::Uncovered(found);
        assert!(error.is_ours() && error.to_string().contains("scans.observer"), "{error}");
    }

    #[test]
    fn seconds_are_rounded_up() {
        for (time, expected) in [(0, 1), (8, 9), (9, 10), (10, 20), (47, 50), (361, 400)] {
            assert_eq!(rounded(Duration::from_secs(time)).as_secs(), expected);
        }
    }
}
