//! `check -n every` for a declared object.

use std::process::ExitCode;
use std::time::Instant;

use snapshot_io::output;
use snapshot_verify::exercise::Exercise;
use snapshot_verify::refine::Techniques;
use snapshot_verify::report::{Case, human_every_exercised, human_every_object, json_every_object};
use snapshot_verify::verify::every_object::{EveryObject, every_object};
use snapshot_verify::verify::{Method, Request, Unfinished, Verdict, exercised};

use super::session::Session;
use crate::cli::certificate::Output as Certificate;
use crate::cli::input::{Input, Variant};
use crate::cli::progress::ProgressWatch;
use crate::cli::{ReportFormat, refused};

/// The n whose executions show the coverage of a proof.
const EXERCISED: usize = 2;

impl Session<'_> {
    /// Answers for every n.
    pub(super) fn every_object(
        &mut self,
        input: &Input,
        variant: &Variant,
    ) -> Result<(), ExitCode> {
        let source = input.algorithm.source();
        let bug = variant.bug.as_deref();
        let with = bug.map_or_else(String::new, |bug| format!(" with {bug}"));
        let title = format!("{}{with}", variant.title);
        let time = self.share();
        let method = Method::Refinement(Techniques::ALL);
        let mut request = self.command.request(EXERCISED, method);
        (request.time, request.values) = (time, request.values.or(Some(Request::VALUES)));
        let watch = ProgressWatch::new(title.clone(), self.ticker);
        let began = Instant::now();
        let every = every_object(&variant.program, &request, &watch);
        self.ticker.clear();
        let every = every.map_err(|error| refused(&title, source, &error))?;
        let left = time.map(|time| time.saturating_sub(began.elapsed()));
        let exercise = match every.is_proved() {
            true => {
                let exercise = exercised(&variant.program, &request, left, &watch);
                Some(exercise.map_err(|error| refused(&title, source, &error))?)
            }
            false => None,
        };
        let is_vacuous = exercise.as_ref().is_some_and(Exercise::is_vacuous);
        self.tally.vacuous += usize::from(is_vacuous);
        let looks_at_values = input.looks_at_values(variant);
        let proof = Case {
            input: &input.name,
            algorithm: &variant.title,
            bug,
            object: variant.program.object(),
            source,
            request: &request,
            outcomes: &[],
            exercise: exercise.as_ref(),
            looks_at_values: &looks_at_values,
        };
        let text = human_every_object(&title, &proof, &every);
        match &every.wrong {
            Some((request, outcomes)) => {
                let case = Case { request, outcomes, exercise: None, ..proof };
                for outcome in outcomes {
                    self.outcome(input, variant, &case, outcome)?;
                }
            }
            None => {
                let verdict = match every.verdict() {
                    "verified" => Verdict::Verified,
                    "refused" => Verdict::Refused,
                    _ => Verdict::Unknown(Unfinished::Unproved),
                };
                self.count_every(&title, &proof, &verdict, &text, every.elapsed);
            }
        }
        self.print(&match self.format {
            ReportFormat::Human => text + &human_every_exercised(&proof),
            ReportFormat::Json => json_every_object(&proof, &every),
        })?;
        self.certificate_of_object(input, variant, &request, &every)
    }

    /// Writes the certificate of a proof, if one is requested.
    fn certificate_of_object(
        &self,
        input: &Input,
        variant: &Variant,
        request: &Request,
        every: &EveryObject,
    ) -> Result<(), ExitCode> {
        let Some(path) = self.command.certificate.as_deref() else { return Ok(()) };
        let (Ok(found), true) = (&every.found, every.is_proved()) else {
            output::report(format_args!("no certificate {}: there is no proof", path.display()));
            return Ok(());
        };
        let output = Certificate { path, time: request.time, stop: self.stop, report: self.format };
        self.print(&output.write_object(&variant.program, &input.algorithm, every.values, found)?)
    }
}
