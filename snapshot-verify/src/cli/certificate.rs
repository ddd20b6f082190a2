//! `check --certificate`: the certificate of a proof, as a file.

use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use snapshot_io::output;
use snapshot_verify::certificate::{Budget, Claim, Coverage, Failure, Summary, digest, write};
use snapshot_verify::coverability;
use snapshot_verify::language::{Algorithm, Source};
use snapshot_verify::program::Program;
use snapshot_verify::verify::every::EveryNAnswer;
use snapshot_verify::verify::{Reduction, Reductions, Request};
use tempfile::NamedTempFile;

use super::{BUG, ReportFormat, UNKNOWN, json, trouble};

/// Destination of the certificate of a case, and its budget.
pub struct Output<'a> {
    pub path: &'a Path,
    /// Remaining time.
    pub time: Option<Duration>,
    pub stop: &'a AtomicBool,
    pub report: ReportFormat,
}

/// A written certificate, in JSON.
#[derive(Serialize)]
struct Written<'a> {
    schema: u32,
    certificate: String,
    coverage: &'a str,
    states: usize,
    bytes: u64,
    seconds: f64,
}

/// A written certificate of an object for every n, in JSON.
#[derive(Serialize)]
struct WrittenObject {
    schema: u32,
    certificate: String,
    processes: &'static str,
    minimal_states: usize,
    bytes: usize,
}

/// A written certificate of a proof for every n, in JSON.
#[derive(Serialize)]
struct WrittenEvery {
    schema: u32,
    certificate: String,
    processes: &'static str,
    views: u64,
    bytes: u64,
    seconds: f64,
}

/// Returns the reductions in a list of states: of the chosen reductions, those that a certificate
/// supports. By default only the antichain, because permutations save no time.
fn coverage(reductions: Option<Reductions>) -> Coverage {
    match reductions {
        None => Coverage { symmetry: false, antichain: true },
        Some(chosen) => Coverage {
            symmetry: chosen.contains(Reduction::Symmetry),
            antichain: chosen.contains(Reduction::Antichain),
        },
    }
}

impl Output<'_> {
    /// Writes the certificate of an object that is linearizable for every n; returns the text to
    /// print.
    ///
    /// # Errors
    /// The exit code; the diagnostics have been printed. The file is unchanged.
    pub fn write_object(
        &self,
        program: &Program,
        algorithm: &Algorithm,
        values: u32,
        found: &coverability::Found,
    ) -> Result<String, ExitCode> {
        let began = Instant::now();
        let place = self.path.display();
        let claim = coverability::Claim {
            algorithm: program.name.clone(),
            bug: program.bug.clone(),
            digest: digest(algorithm.source().text()),
            size: algorithm.size(),
            values,
            states: [found.globals, found.locals],
        };
        let text = coverability::written(&claim, found);
        let written = self.whole(began, u64::MAX, |file, _| file.write_all(text.as_bytes()));
        written.map_err(|failure| trouble(format_args!("no certificate {place}: {failure}")))?;
        let (minimal, bytes) = (found.upward.len(), text.len());
        Ok(match self.report {
            ReportFormat::Human => {
                format!("  certificate: {place}: {minimal} minimal states, {bytes} bytes\n")
            }
            ReportFormat::Json => json(&WrittenObject {
                schema: 1,
                certificate: place.to_string(),
                processes: "every",
                minimal_states: minimal,
                bytes,
            }),
        })
    }

    /// Writes the certificate of a verified program; returns the text to print.
    ///
    /// # Errors
    /// The exit code; the diagnostics have been printed. The file is unchanged.
    pub fn write(
        &self,
        program: &Program,
        text: &str,
        request: &Request,
        reductions: Option<Reductions>,
    ) -> Result<String, ExitCode> {
        let began = Instant::now();
        let mut claim = Claim {
            algorithm: program.name.clone(),
            bug: program.bug.clone(),
            digest: digest(text),
            processes: request.processes,
            operations: request.operations.bound(),
            coverage: coverage(reductions),
            pairs: request.pairs.among(request.processes),
        };
        let written = match self.attempt(program, &claim, request.memory, began) {
            Err(failure) if failure.is_asymmetric() => {
                output::report(format_args!(
                    "note: {failure}; the certificate is made without symmetry"
                ));
                claim.coverage.symmetry = false;
                self.attempt(program, &claim, request.memory, began)
            }
            written => written,
        };
        let place = self.path.display();
        let summary = written.map_err(|failure| {
            let code = trouble(format_args!("no certificate {place}: {failure}"));
            match failure {
                Failure::Unknown(_) => ExitCode::from(UNKNOWN),
                // The search has excluded such an execution.
                failure if failure.contradicts() => ExitCode::from(BUG),
                _ => code,
            }
        })?;
        let (states, bytes) = (summary.states(), summary.bytes);
        Ok(match self.report {
            ReportFormat::Human => format!(
                "  certificate: {place}: {states} states of the interpreter ({}), {bytes} bytes, \
                 {:.1} per state, {:.2} s\n",
                claim.coverage.name(),
                bytes as f64 / states.max(1) as f64,
                began.elapsed().as_secs_f64(),
            ),
            ReportFormat::Json => json(&Written {
                schema: 1,
                certificate: place.to_string(),
                coverage: claim.coverage.name(),
                states,
                bytes,
                seconds: began.elapsed().as_secs_f64(),
            }),
        })
    }

    /// Writes the certificate of a proof for every n; returns the text to print.
    ///
    /// # Errors
    /// The exit code; the diagnostics have been printed. The file is unchanged.
    pub fn write_every(
        &self,
        program: &Program,
        source: &Source,
        memory: u64,
        every: &EveryNAnswer,
    ) -> Result<String, ExitCode> {
        let began = Instant::now();
        let place = self.path.display();
        let text = digest(source.text());
        let written =
            self.whole(began, memory, |file, _| every.write_certificate(program, text, file));
        let failed =
            |failure: &dyn Display| trouble(format_args!("no certificate {place}: {failure}"));
        let written = written.map_err(|failure| failed(&failure))?;
        let (Some(bytes), Some(proof)) = (written, &every.proof) else {
            return Err(failed(&"there is no proof"));
        };
        let (views, seconds) = (proof.views(), began.elapsed().as_secs_f64());
        Ok(match self.report {
            ReportFormat::Human => format!(
                "  certificate: {place}: {views} views, {bytes} bytes, {:.1} per view, \
                 {seconds:.2} s\n",
                bytes as f64 / views.max(1) as f64,
            ),
            ReportFormat::Json => json(&WrittenEvery {
                schema: 1,
                certificate: place.to_string(),
                processes: "every",
                views,
                bytes,
                seconds,
            }),
        })
    }

    /// Writes a certificate.
    fn attempt(
        &self,
        program: &Program,
        claim: &Claim,
        memory: u64,
        began: Instant,
    ) -> Result<Summary, Failure> {
        self.whole(began, memory, |file, budget| write(program, claim, file, budget))
    }

    /// Writes a file completely or not at all: first under a temporary name beside its place.
    fn whole<S, E: From<std::io::Error>>(
        &self,
        began: Instant,
        memory: u64,
        write: impl FnOnce(&mut dyn Write, &mut Budget<'_>) -> Result<S, E>,
    ) -> Result<S, E> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        let mut proceed = || {
            let is_late = self.time.is_some_and(|time| began.elapsed() >= time);
            !is_late && !self.stop.load(Ordering::Relaxed)
        };
        let mut budget = Budget { memory, proceed: &mut proceed };
        let summary = write(&mut BufWriter::new(file.as_file()), &mut budget)?;
        file.persist(self.path).map_err(|error| error.error)?;
        Ok(summary)
    }
}
