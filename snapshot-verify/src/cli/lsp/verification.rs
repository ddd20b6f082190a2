//! Verification for a code lens, within a budget, on a separate thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use lsp_server::RequestId;
use lsp_types::DiagnosticSeverity;
use snapshot_core::Process;
use snapshot_verify::language::{Algorithm, Expectation, parse};
use snapshot_verify::program::Program;
use snapshot_verify::program::independence;
use snapshot_verify::refine::Techniques;
use snapshot_verify::report::{Case, TextPosition, human, human_conclusion};
use snapshot_verify::search::Progress;
use snapshot_verify::verify::{
    Conformance, Effort, Method, Outcome, Request, Verdict, Watch, conformance, exercised, verify,
};

use super::Lsp;
use crate::cli::WIDTH;
use crate::cli::memory::allocated;

/// Command of a lens, with the argument `[{"uri": ..., "bug": null | NAME}]`.
pub const COMMAND: &str = "snapshot-verify.check";

/// A verification that a lens requests.
#[derive(Clone, Debug)]
pub struct Question {
    /// The request to respond to.
    pub id: RequestId,
    pub uri: String,
    /// Name of the file.
    pub name: String,
    pub text: String,
    /// The bug variant, if any.
    pub bug: Option<String>,
}

/// Result of a verification.
#[derive(Debug)]
pub struct Answered {
    pub question: Question,
    /// The answer, or an error.
    pub answer: Result<Answer, String>,
}

#[derive(Clone, Debug)]
pub struct Answer {
    /// `verified`, `violation`, `fault`, `refused` or `unknown`.
    pub verdict: &'static str,
    /// In one line.
    pub conclusion: String,
    /// Output of `check` without the conclusion.
    pub details: String,
    pub severity: DiagnosticSeverity,
}

/// Forwards the stop flag, and shows nothing.
struct Quiet(Arc<AtomicBool>);

impl Watch for Quiet {
    fn stop(&self) -> &AtomicBool {
        &self.0
    }

    fn begin(&self, _: Option<[Process; 2]>, _: Effort) {}

    fn progress(&self, _: &Progress) {}

    fn allocated(&self) -> Option<fn() -> u64> {
        Some(allocated)
    }
}

/// Answers a question; ends soon after `stop` is set.
pub fn answer(question: Question, options: &Lsp, stop: Arc<AtomicBool>) -> Answered {
    // A fault of ours must not end the editor's server.
    let found = catch_unwind(AssertUnwindSafe(|| found(&question, options, stop)));
    let broken = || Err("the verifier failed; `snapshot-verify check` says where".to_owned());
    Answered { answer: found.unwrap_or_else(|_| broken()), question }
}

fn found(question: &Question, options: &Lsp, stop: Arc<AtomicBool>) -> Result<Answer, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let algorithm = parse(&question.name, &question.text).map_err(|error| text(&error))?;
    let bug = question.bug.as_deref();
    let program = algorithm.program(bug).map_err(|error| text(&error))?;
    let dependences = independence::check(&program).err().unwrap_or_default();
    let request = request(&program, options);
    let watch = Quiet(stop);
    let began = Instant::now();
    let outcomes = verify(&program, dependences.is_empty(), &request, &watch);
    let outcomes = outcomes.map_err(|error| text(&error))?;
    let is_proof = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Verified);
    let exercise = match outcomes.iter().all(is_proof) {
        true => {
            let left = request.time.map(|time| time.saturating_sub(began.elapsed()));
            Some(exercised(&program, &request, left, &watch).map_err(|error| text(&error))?)
        }
        false => None,
    };
    if watch.0.load(Ordering::Relaxed) {
        return Err("stopped, for the text has changed or something else is verified".to_owned());
    }
    let source = algorithm.source();
    let places = match dependences.is_empty() {
        true => Vec::new(),
        false => {
            let refusal = algorithm.refusal(&dependences);
            refusal.iter().map(|one| TextPosition::new(source, one.span, one)).collect()
        }
    };
    let case = Case {
        input: &question.name,
        algorithm: &program.name,
        bug,
        object: program.object(),
        source,
        request: &request,
        outcomes: &outcomes,
        exercise: exercise.as_ref(),
        looks_at_values: &places,
    };
    let conclusion = human_conclusion(&case);
    let (conclusion, notes) = conclusion.split_once('\n').unwrap_or((&conclusion, ""));
    let wrong = outcomes.iter().find(|outcome| outcome.verdict.is_wrong());
    let details = wrong.map_or_else(String::new, |wrong| human(&case, wrong, None, WIDTH));
    let is_met = |expected: &Expectation| conformance(expected.verdict, &outcomes);
    let expected: Vec<_> = expectations(&algorithm, bug, &request).map(is_met).collect();
    let verdict = wrong.or_else(|| outcomes.iter().find(|outcome| !is_proof(outcome)));
    let severity = match (wrong, verdict) {
        _ if expected.contains(&Conformance::Contradicted) => DiagnosticSeverity::ERROR,
        (Some(_), _) if bug.is_none() && expected.is_empty() => DiagnosticSeverity::ERROR,
        (None, Some(_)) => DiagnosticSeverity::WARNING,
        _ => DiagnosticSeverity::INFORMATION,
    };
    let against = match expected.contains(&Conformance::Contradicted) {
        true => "; the text expects something else",
        false => "",
    };
    Ok(Answer {
        verdict: verdict.map_or("verified", |outcome| outcome.verdict.name()),
        conclusion: format!("{conclusion}{against}"),
        details: format!("{notes}{details}").trim_end().to_owned(),
        severity,
    })
}

/// Returns the request for a program.
fn request(program: &Program, options: &Lsp) -> Request {
    let threads = options.threads.or_else(|| std::thread::available_parallelism().ok());
    let mut request = Request {
        memory: options.memory,
        time: Some(options.time),
        threads: threads.unwrap_or(std::num::NonZeroUsize::MIN),
        ..Request::new(options.processes)
    };
    if program.object().is_some() {
        request.method = Method::Refinement(Techniques::ALL);
        request.values = Some(Request::VALUES);
    }
    request
}

/// Returns the `expect` lines that apply to the verification.
fn expectations<'a>(
    algorithm: &'a Algorithm,
    bug: Option<&'a str>,
    request: &'a Request,
) -> impl Iterator<Item = &'a Expectation> {
    algorithm.expectations().iter().filter(move |expected| {
        expected.bug.as_ref().map(|bug| bug.text.as_str()) == bug
            && !expected.every
            && !expected.verdict.is_property()
            && expected.processes as usize == request.processes
            && expected.pair.is_none()
            && expected.operations.is_none()
            && expected.updater.is_none()
            && (expected.values == request.values
                || (expected.values.is_none() && request.values.is_some()))
    })
}
