//! `snapshot-test certify`: does a certificate prove its verdict?

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use snapshot_core::{History, immediate};
use snapshot_io::escape;
use snapshot_io::limited::{TextError, read_text};
use snapshot_test::certificate::{Certificate, CertificateError};
use snapshot_test::format::{Doubt, Object};
use snapshot_test::input::Input;
use snapshot_test::{InputError, Value, read_exchanges, read_history};
use thiserror::Error;

use super::format::InputFormat;
use super::{print, times, trouble};

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

/// The recording of either object.
enum Read {
    Snapshot(History<Value>),
    Immediate(immediate::History<Value>),
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

    pub fn run(self) -> ExitCode {
        let format = self.format.format();
        if let Some(answer) =
            super::synchronisation::check_certificate(&self.history, format, &self.certificate)
        {
            return answer;
        }
        let input = Input::from_argument(&self.history);
        let name = input.name();
        let place = self.certificate.display().to_string();
        let (name, place) = (escape::name(&name), escape::name(&place));
        let mut reader = match input.open(self.format.format()) {
            Ok(reader) => reader,
            Err(error) => return trouble(error.report(&name)),
        };
        let keyed = match (reader.is_keyed(), &self.key) {
            (false, None) => Ok(None),
            (_, key) => self.key(key.as_ref()),
        };
        let key = match keyed {
            Ok(key) => key,
            Err(error) => return trouble(format_args!("{place}: {error}")),
        };
        if let Some(key) = &key
            && let Err(error) = reader.select(key)
        {
            return trouble(InputError::from(error).report(&name));
        }
        let noticed = reader.noticed();
        let history = match reader.object() {
            Object::Snapshot => read_history(reader).map(|(history, _)| Read::Snapshot(history)),
            Object::Immediate => {
                read_exchanges(reader, usize::MAX).map(|(history, _)| Read::Immediate(history))
            }
        };
        let history = match history {
            Ok(history) => history,
            Err(error) => return trouble(error.report(&name)),
        };
        if let Some(backwards) = noticed.backwards() {
            times::warn(&name, &backwards, Doubt::Either);
        }
        let limit = match &history {
            Read::Snapshot(history) => {
                Certificate::most_bytes(history.operations().len(), history.segments())
            }
            Read::Immediate(history) => {
                Certificate::most_bytes(history.operations().len(), history.segments())
            }
        };
        let certificate = match read_text(&self.certificate, limit, limit) {
            Ok(text) => Certificate::from_text(&text),
            Err(error) => return trouble(format_args!("cannot read {place}: {error}")),
        };
        let certificate = match certificate {
            Ok(certificate) => certificate,
            Err(error) => return trouble(format_args!("{place}: {error}")),
        };
        let verdict = certificate.verdict();
        let checked = match &history {
            Read::Snapshot(history) => certificate.check(history),
            Read::Immediate(history) => certificate.check_exchanges(history),
        };
        let (answer, code) = match checked {
            Ok(()) => (format!("proves that {name} is {}", adjective(&certificate)), 0),
            Err(refuted) if refuted.is_undecided() => {
                (format!("may or may not prove the verdict `{verdict}` of {name}: {refuted}"), 3)
            }
            Err(refuted) => {
                (format!("does not prove the verdict `{verdict}` of {name}: {refuted}"), 1)
            }
        };
        let printed = print(&format!("{place}: {answer}\n"));
        if printed == ExitCode::SUCCESS { ExitCode::from(code) } else { printed }
    }
}

const fn adjective(certificate: &Certificate) -> &'static str {
    match certificate {
        Certificate::Linearizable(_) => "linearizable",
        Certificate::SetLinearizable(_) => "set-linearizable",
        Certificate::Violation(_) | Certificate::Refutation(_) => "not linearizable",
        Certificate::Exchanges(_) => "not set-linearizable",
    }
}
