//! Any bytes as a log of another program: an importer never panics, an imported recording survives
//! every format, and an error can be reported.

use snapshot_test::format::{Format, write_history};
use snapshot_test::import::{EdnOptions, Imported, IntervalOptions, edn, intervals};

use crate::parse;

/// Imports a history in EDN.
///
/// # Panics
/// If the import is not a recording.
pub fn check_edn(bytes: &[u8]) {
    for independent in [false, true] {
        for sort_by_time in [false, true] {
            let options = EdnOptions { independent, sort_by_time, ..EdnOptions::default() };
            imported(edn(bytes, &options));
        }
    }
}

/// Imports a log of intervals, in CSV or JSON Lines.
///
/// # Panics
/// If the import is not a recording.
pub fn check_intervals(bytes: &[u8]) {
    for skew in ["0", "0.5"] {
        let skew = skew.parse().expect("it is a stamp");
        imported(intervals(bytes, &IntervalOptions { skew, ..IntervalOptions::default() }));
    }
}

fn imported(read: Result<Imported, snapshot_test::InputError>) {
    let Imported { history, warnings, .. } = match read {
        Ok(imported) => imported,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error has a message");
            return;
        }
    };
    assert!(warnings.iter().all(|warning| !warning.to_string().is_empty()));
    history.validate();
    let written = write_history(Format::Text, Vec::new(), &history).expect("there is room");
    parse::check(Format::Text, &written);
}
