//! `snapshot-test check --object` and `certify` of what it wrote.

use std::fs;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use snapshot_io::ci::{self, CheckReport};
use snapshot_io::limited::read_text;
use snapshot_io::output::{self, Printed};
use snapshot_io::{escape, replacement};
use snapshot_test::format::{Format, Location};
use snapshot_test::input::Input;
use snapshot_test::report::Tally;
use snapshot_test::synchronisation::{
    Certificate, Finding, Judgement, Object, Options, ReadError, ReadErrorKind, Violation, certify,
    human, json, judge, malformed, verdict,
};

use super::check::{CertificateNames, PROGRAM};
use super::{FAULT, print, print_data, times, trouble};

/// Bytes of the longest certificate that is read.
const MOST_BYTES: usize = 1 << 30;

/// What `check` is asked.
pub struct Check<'a> {
    pub object: Object,
    pub format: Option<Format>,
    pub report: CheckReport,
    pub certificate: Option<&'a Path>,
    pub options: Options,
    pub inputs: &'a [PathBuf],
}

impl Check<'_> {
    pub fn run(&self) -> ExitCode {
        if let Some(directory) = self.certificate
            && let Err(error) = fs::create_dir_all(directory)
        {
            return trouble(format_args!("cannot create {}: {error}", directory.display()));
        }
        let mut tally = Tally::default();
        let mut names = CertificateNames::default();
        let mut answers = Vec::new();
        for path in self.inputs {
            let name = Input::from_argument(path).name();
            let judged =
                open(path).and_then(|input| judge(self.object, input, self.format, &self.options));
            let written = match self.write(path, &judged, &mut names) {
                Ok(written) => written.map(|place| place.display().to_string()),
                Err((place, error)) => {
                    return trouble(format_args!("cannot write {}: {error}", place.display()));
                }
            };
            match code(&judged) {
                0 => tally.right += 1,
                1 => tally.violations += 1,
                3 => tally.unknown += 1,
                FAULT => tally.disputed += 1,
                _ if judged.as_ref().is_err_and(|error| error.unopened().is_some()) => {
                    tally.unreadable += 1;
                }
                _ => tally.malformed += 1,
            }
            if let Ok(judgement) = &judged
                && let Some(backwards) = &judgement.backwards
            {
                times::warn_only(&escape::name(&name), backwards, judgement.doubt());
            }
            let printed = if self.report.is_collected() {
                answers.push(answer(path, &name, &judged));
                Ok(Printed::Whole)
            } else {
                self.print(&name, &judged, written.as_deref())
            };
            match printed {
                Ok(Printed::Whole) => {}
                Ok(Printed::Closed) => break,
                Err(error) => {
                    return trouble(format_args!("cannot write to standard output: {error}"));
                }
            }
        }
        if self.report == CheckReport::Human && tally.inputs() > 1 {
            let printed = print(&tally.human_of(self.object.criterion()));
            if printed != ExitCode::SUCCESS {
                return printed;
            }
        }
        if let Some(text) = self.report.collected(PROGRAM, env!("CARGO_PKG_VERSION"), &answers) {
            let printed = print_data(&text);
            if printed != ExitCode::SUCCESS {
                return printed;
            }
        }
        ExitCode::from(tally.code())
    }

    fn print(
        &self,
        name: &str,
        judged: &Result<Judgement, ReadError>,
        written: Option<&str>,
    ) -> io::Result<Printed> {
        if self.report == CheckReport::Json {
            let line = match judged {
                Ok(judgement) => json(name, judgement, written),
                Err(error) => malformed(name, error),
            };
            return output::print_data(&(line + "\n"));
        }
        let name = escape::name(name);
        match judged {
            Err(error) => {
                let reason = error.unopened().map_or_else(String::new, |why| format!(" ({why})"));
                let line = format!("{name}: {}{reason}\n", error.verdict());
                let printed = output::print_text(&line)?;
                output::report(error.report(&name));
                Ok(printed)
            }
            Ok(judgement) => {
                let mut text = human(&name, judgement);
                match written {
                    Some(place) => text += &format!("  certificate: {}\n", escape::name(place)),
                    None if self.certificate.is_some() => text += uncertified(&judgement.finding),
                    None => {}
                }
                output::print_text(&text)
            }
        }
    }

    /// Writes the certificate of a decided input; where it was written.
    fn write(
        &self,
        path: &Path,
        judged: &Result<Judgement, ReadError>,
        names: &mut CertificateNames,
    ) -> Result<Option<PathBuf>, (PathBuf, io::Error)> {
        let Some(directory) = self.certificate else { return Ok(None) };
        let place = directory.join(names.next(path, None));
        let Some(certificate) = judged.as_ref().ok().and_then(Certificate::of) else {
            // One that was written before is not about what was found now.
            return replacement::clear(&place).map(|()| None).map_err(|error| (place, error));
        };
        match replacement::write(&place, certificate.to_text(self.object).as_bytes()) {
            Ok(()) => Ok(Some(place)),
            Err(error) => Err((place, error)),
        }
    }
}

/// Why there is no certificate.
const fn uncertified(finding: &Finding) -> &'static str {
    match finding {
        Finding::Violation(Violation::Searched(_) | Violation::Part(_)) => {
            "  note: no certificate: what a search has refuted can only be searched again\n"
        }
        Finding::Violation(Violation::Missed(_) | Violation::Unreturned) => {
            "  note: no certificate: there is none of a failure of progress\n"
        }
        Finding::Violation(Violation::Unmatched(..) | Violation::Rule(_)) => {
            "  note: no certificate: the proof is too large\n"
        }
        Finding::SetLinearizable(_) | Finding::Unknown { .. } | Finding::Disputed(_) => "",
    }
}

fn open(path: &Path) -> Result<Box<dyn Read>, ReadError> {
    let fail = |error: io::Error| ReadError {
        location: Location::START,
        kind: ReadErrorKind::Io(error),
        line: None,
    };
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(fail)?;
    if file.metadata().map_err(fail)?.is_dir() {
        return Err(fail(io::Error::new(
            io::ErrorKind::IsADirectory,
            "it is a directory; name a file",
        )));
    }
    Ok(Box::new(file))
}

const fn code(judged: &Result<Judgement, ReadError>) -> u8 {
    match judged {
        Err(_) => 2,
        Ok(judgement) => match judgement.finding {
            Finding::SetLinearizable(_) => 0,
            Finding::Violation(_) => 1,
            Finding::Unknown { .. } => 3,
            Finding::Disputed(_) => FAULT,
        },
    }
}

/// What JUnit and SARIF say of an input.
fn answer(path: &Path, name: &str, judged: &Result<Judgement, ReadError>) -> ci::Answer {
    let kind = match code(judged) {
        0 => ci::Kind::Right,
        1 => ci::Kind::Wrong,
        _ => ci::Kind::Open,
    };
    let (text, verdict, place) = match judged {
        Err(error) => (error.report(name), error.verdict(), None),
        Ok(judgement) => {
            let first = match &judgement.finding {
                Finding::Violation(Violation::Unmatched(operation, _)) => Some(*operation),
                Finding::Violation(Violation::Searched(furthest)) => furthest.due,
                Finding::Violation(Violation::Missed(missed)) => missed.first().copied(),
                Finding::Violation(Violation::Rule(proof)) => proof.operations().into_iter().max(),
                Finding::Violation(Violation::Part(part)) => part.operations.first().copied(),
                _ => None,
            };
            let place = first.map(|id| (judgement.texts[id.index()].invoked as usize, 1));
            (human(name, judgement), verdict(judgement), place)
        }
    };
    ci::Answer {
        name: name.to_owned(),
        kind,
        verdict,
        text,
        file: (path != Path::new("-")).then(|| path.display().to_string()),
        place,
        elapsed: None,
    }
}

/// Checks a certificate, if it is one of an object whose operations take effect together;
/// else `None`.
pub fn check_certificate(history: &Path, format: Option<Format>, place: &Path) -> Option<ExitCode> {
    // A pipe can be read only once.
    if !fs::metadata(place).is_ok_and(|metadata| metadata.is_file()) {
        return None;
    }
    let text = read_text(place, MOST_BYTES, MOST_BYTES).ok()?;
    if !Certificate::is_one(&text) {
        return None;
    }
    let input = Input::from_argument(history).name();
    let place = place.display().to_string();
    let (name, shown) = (escape::name(&input), escape::name(&place));
    let (object, certificate) = match Certificate::from_text(&text) {
        Ok(read) => read,
        Err(error) => return Some(trouble(format_args!("{shown}: {error}"))),
    };
    let checked = open(history).and_then(|input| certify(object, &certificate, input, format));
    let (answer, code) = match checked {
        Err(error) => return Some(trouble(error.report(&name))),
        Ok(Ok(())) => {
            let adjective = match certificate {
                Certificate::SetLinearizable(_) => "",
                Certificate::Violation(_) | Certificate::Rule(_) => "not ",
            };
            let criterion = object.criterion();
            (format!("proves that {name} is {adjective}{criterion} ({object})"), 0)
        }
        Ok(Err(refuted)) => {
            let verdict = match certificate {
                Certificate::SetLinearizable(_) => object.criterion(),
                Certificate::Violation(_) | Certificate::Rule(_) => certificate.verdict(),
            };
            (format!("does not prove the verdict `{verdict}` of {name}: {refuted}"), 1)
        }
    };
    let printed = print(&format!("{shown}: {answer}\n"));
    Some(if printed == ExitCode::SUCCESS { ExitCode::from(code) } else { printed })
}
