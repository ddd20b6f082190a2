//! `snapshot-test certify`: does a certificate prove its verdict?

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use snapshot_core::{History, immediate};
use snapshot_io::escape;
use snapshot_io::limited::read_text;
use snapshot_test::certificate::Certificate;
use snapshot_test::format::Object;
use snapshot_test::input::Input;
use snapshot_test::{Value, read_exchanges, read_history};

use super::format::InputFormat;
use super::{print, trouble};

/// Checks a certificate against the recording it was made for, sharing no code
/// with the search for it: a linearization is replayed, the operations of a
/// violation are tried in all orders.
///
/// Exit code: 0 if the certificate proves its verdict, 1 if it does not, 2 if a file is
/// bad, 3 if the operations of a violation are too many to try all orders.
#[derive(Debug, Args)]
pub struct Certify {
    /// The format of the recording.
    #[arg(long, value_enum, default_value = "auto")]
    format: InputFormat,
    /// The recording; `-` is standard input.
    history: PathBuf,
    /// The certificate, as `check --certificate` wrote it.
    certificate: PathBuf,
}

/// The recording, by its object.
enum Read {
    Snapshot(History<Value>),
    Immediate(immediate::History<Value>),
}

impl Certify {
    pub fn run(self) -> ExitCode {
        let input = Input::from_argument(&self.history);
        let name = input.name();
        let place = self.certificate.display().to_string();
        let (name, place) = (escape::name(&name), escape::name(&place));
        let reader = match input.open(self.format.format()) {
            Ok(reader) => reader,
            Err(error) => return trouble(error.report(&name)),
        };
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
