//! `snapshot-test certify`: does a certificate prove its verdict?

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use snapshot_test::certificate::Certificate;
use snapshot_test::input::Input;
use snapshot_test::read_history;

use super::format::InputFormat;
use super::trouble;

/// Checks a certificate against the recording it was made for, sharing no code
/// with the search for it: a linearization is replayed, the operations of a
/// violation are tried in all orders.
///
/// Exit code: 0 if the certificate proves its verdict, 1 if it does not.
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

impl Certify {
    pub fn run(self) -> ExitCode {
        let input = Input::from_argument(&self.history);
        let name = input.name();
        let place = self.certificate.display();
        let certificate = match fs::read_to_string(&self.certificate) {
            Ok(text) => Certificate::from_text(&text),
            Err(error) => return trouble(format_args!("cannot read {place}: {error}")),
        };
        let certificate = match certificate {
            Ok(certificate) => certificate,
            Err(error) => return trouble(format_args!("{place}: {error}")),
        };
        let reader = match input.open(self.format.format()) {
            Ok(reader) => reader,
            Err(error) => return trouble(error.report(&name)),
        };
        let history = match read_history(reader) {
            Ok((history, _)) => history,
            Err(error) => return trouble(error.report(&name)),
        };
        let verdict = certificate.verdict();
        match certificate.check(&history) {
            Ok(()) => {
                println!("{place}: proves that {name} is {}", adjective(&certificate));
                ExitCode::SUCCESS
            }
            Err(refuted) => {
                println!("{place}: does not prove the verdict `{verdict}` of {name}: {refuted}");
                ExitCode::from(1)
            }
        }
    }
}

const fn adjective(certificate: &Certificate) -> &'static str {
    match certificate {
        Certificate::Linearizable(_) => "linearizable",
        Certificate::Violation(_) => "not linearizable",
    }
}
