//! `snapshot-test certify`: does a certificate prove its verdict?

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use snapshot_core::Names;
use snapshot_io::escape;
use snapshot_io::limited::{TextError, read_text};
use snapshot_test::Value;
use snapshot_test::certificate::{Certificate, CertificateError, Refuted};
use snapshot_test::input::{Gauge, Input, OpenError};
use snapshot_test::judge::imported_log;
use snapshot_test::synchronisation::{self, certify};
use thiserror::Error;

use super::format::InputFormat;
use super::recorded::{self, Either};
use super::{print, trouble};

/// Checks a certificate against its recording, sharing no code with the search: a linearization is
/// replayed; the lines of a violation are checked one by one or, without lines, its operations
/// tried in all orders.
///
/// Exit code: 0 if the certificate proves its verdict, 1 if it does not, 2 if a file is
/// bad, 3 if the operations of a violation without lines are too many to try all orders.
#[derive(Debug, Args)]
pub struct Certify {
    /// The format of the recording.
    #[arg(long, value_enum, default_value = "auto")]
    format: InputFormat,
    /// In a recording of several objects, take the one with this key, if the certificate contains
    /// none.
    #[arg(long, value_name = "KEY", value_parser = super::format::key, allow_negative_numbers = true)]
    key: Option<Value>,
    /// The recording; `-` is standard input.
    history: PathBuf,
    /// The certificate, as `check --certificate` wrote it.
    certificate: PathBuf,
}

/// The reason why a certificate is not for the chosen object.
#[derive(Debug, Error)]
enum KeyError {
    #[error("cannot be read: {0}")]
    Text(#[from] TextError),
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    #[error("the certificate is for the object {found}, and --key names {wanted}")]
    Other { found: Value, wanted: Value },
}

/// Limit for reading a certificate before the size of its object is known.
const MOST_BYTES: usize = 1 << 30;

impl Certify {
    /// Returns the key of the certificate, or else `--key`.
    fn key(&self, wanted: Option<&Value>) -> Result<Option<Value>, KeyError> {
        let text = read_text(&self.certificate, MOST_BYTES, MOST_BYTES)?;
        match (Certificate::key_of(&text)?, wanted) {
            (Some(found), Some(wanted)) if found != *wanted => {
                Err(KeyError::Other { found, wanted: wanted.clone() })
            }
            (found, wanted) => Ok(found.or_else(|| wanted.cloned())),
        }
    }

    /// Returns the text of the certificate, if it is one for an object with named operations. A pipe
    /// can be read only once, after the recording.
    fn recorded(&self) -> Option<String> {
        if !fs::metadata(&self.certificate).is_ok_and(|metadata| metadata.is_file()) {
            return None;
        }
        let text = read_text(&self.certificate, MOST_BYTES, MOST_BYTES).ok()?;
        synchronisation::Certificate::is_one(&text).then_some(text)
    }

    pub fn run(self) -> ExitCode {
        let place = self.certificate.display().to_string();
        let input = Input::from_argument(&self.history);
        let name = input.name();
        let (name, place) = (escape::name(&name), escape::name(&place));
        let checked = match self.recorded() {
            Some(text) => self.check_recorded(&input, &text),
            None => self.check(&input),
        };
        let Checked { certificate, checked, names } = match checked {
            Ok(checked) => checked,
            Err(Trouble::Recording(error)) => return trouble(error.report(&name)),
            Err(Trouble::Certificate(error)) => return trouble(format_args!("{place}: {error}")),
        };
        let verdict = certificate.verdict();
        let (answer, code) = match checked {
            Ok(()) => (format!("proves that {name} is {}", adjective(&certificate)), 0),
            Err(refuted) => {
                let (proves, code) = match refuted.is_undecided() {
                    true => ("may or may not prove", 3),
                    false => ("does not prove", 1),
                };
                let reason = refuted.told(&names);
                (format!("{proves} the verdict `{verdict}` of {name}: {reason}"), code)
            }
        };
        let printed = print(&format!("{place}: {answer}\n"));
        if printed == ExitCode::SUCCESS { ExitCode::from(code) } else { printed }
    }

    /// Checks a certificate for an object with named operations.
    fn check_recorded(&self, input: &Input, text: &str) -> Result<Checked, Trouble> {
        let certificate = Certificate::from_text(text).map_err(KeyError::from)?;
        let key = self.key(self.key.as_ref())?;
        let Certificate::Recorded(object, proof) = &certificate else {
            return Ok(Checked { certificate, checked: Ok(()), names: Names::default() });
        };
        let bytes = input.bytes(&Gauge::default())?;
        let checked = certify(object, proof, bytes, self.format.format(), key.as_ref());
        let checked = checked.map_err(OpenError::from)?.map_err(Refuted::from);
        Ok(Checked { certificate, checked, names: Names::default() })
    }

    /// Checks a certificate for a snapshot or an immediate snapshot.
    fn check(&self, input: &Input) -> Result<Checked, Trouble> {
        let choose = |is_keyed: bool| match (is_keyed, &self.key) {
            (false, None) => Ok(None),
            (_, key) => self.key(key.as_ref()).map_err(Trouble::from),
        };
        let (history, names) = match imported_log(input, self.format.format())? {
            Some((_, imported)) => (Either::Snapshot(imported.history), imported.names),
            None => {
                let (history, _, names) = recorded::open(input, self.format, choose)?;
                (history, names)
            }
        };
        let limit = match &history {
            Either::Snapshot(history) => {
                Certificate::most_bytes(history.operations().len(), history.segments())
            }
            Either::Immediate(history) => {
                Certificate::most_bytes(history.operations().len(), history.segments())
            }
        };
        let text = read_text(&self.certificate, limit, limit).map_err(KeyError::from)?;
        let certificate = Certificate::from_text(&text).map_err(KeyError::from)?;
        let checked = match &history {
            Either::Snapshot(history) => certificate.check(history),
            Either::Immediate(history) => certificate.check_exchanges(history),
        };
        Ok(Checked { certificate, checked, names })
    }
}

/// A certificate with the answer of its check.
struct Checked {
    certificate: Certificate,
    checked: Result<(), Refuted>,
    /// The names of the recording.
    names: Names,
}

/// The reason why a certificate cannot be checked.
enum Trouble {
    Recording(OpenError),
    Certificate(KeyError),
}

impl From<OpenError> for Trouble {
    fn from(error: OpenError) -> Self {
        Self::Recording(error)
    }
}

impl From<KeyError> for Trouble {
    fn from(error: KeyError) -> Self {
        Self::Certificate(error)
    }
}

fn adjective(certificate: &Certificate) -> String {
    match certificate {
        Certificate::Linearizable(_) => "linearizable".to_owned(),
        Certificate::SetLinearizable(_) => "set-linearizable".to_owned(),
        Certificate::Violation(_) | Certificate::Refutation(_) => "not linearizable".to_owned(),
        Certificate::Exchanges(_) => "not set-linearizable".to_owned(),
        Certificate::Recorded(object, proof) => {
            let not = if proof.is_order() { "" } else { "not " };
            format!("{not}{} ({})", object.criterion(), object.described(None))
        }
    }
}
