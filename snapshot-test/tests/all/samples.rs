//! Sample recordings, if available: in the folder of `SNAPSHOT_SAMPLES`, or `shared/histories`
//! beside the workspace. They are not part of the project, so without them the tests are empty.
//!
//! Each is named `[non_]linearizable-...`, in the disc22 format.

use std::path::{Path, PathBuf};
use std::{env, fs};

use snapshot_core::History;
use snapshot_core::certificate::{linearization, witness};
use snapshot_core::check::check;
use snapshot_core::monitor::{Judgement, Monitor};
use snapshot_core::search::Budget;
use snapshot_core::verdict::{Method, Verdict};
use snapshot_test::format::Format;
use snapshot_test::input::Input;
use snapshot_test::{Value, read_history};

/// Returns the recordings in a folder, each with its expected verdict.
fn samples(folder: &str) -> Vec<(PathBuf, bool)> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/histories");
    let named = env::var_os("SNAPSHOT_SAMPLES").map(PathBuf::from);
    let folder = named.as_ref().unwrap_or(&beside).join(folder);
    let files = match fs::read_dir(&folder) {
        Ok(files) => files,
        Err(error) if named.is_some() => panic!("{}: {error}", folder.display()),
        Err(_) => return Vec::new(),
    };
    let files = files.map(|file| file.expect("a folder can be listed").path());
    files
        .map(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_linearizable = name.starts_with("linearizable-");
            assert!(is_linearizable || name.starts_with("non_linearizable-"), "{name}");
            (path, is_linearizable)
        })
        .collect()
}

fn read(path: &Path) -> History<Value> {
    let reader = Input::File(path.to_owned()).open(None);
    let reader = reader.unwrap_or_else(|error| panic!("{}", error.report(&path.to_string_lossy())));
    assert_eq!(reader.format(), Format::Disc22);
    read_history(reader).unwrap_or_else(|error| panic!("{}: {error}", path.display())).0
}

/// The checker's verdict, its certificate and the monitor's alarm must all agree with the name.
/// Returns the method of the checker.
fn try_out(path: &Path, is_linearizable: bool) -> Method {
    let name = path.display();
    let history = read(path);
    let mut budget = Budget { memory: 1 << 28, proceed: &mut || true };
    let report = check(&history, &mut budget);
    match &report.verdict {
        Verdict::Linearizable(order) => {
            assert!(is_linearizable, "{name}");
            assert_eq!(linearization::check(&history, order), Ok(()), "{name}");
        }
        Verdict::Violation(found) => {
            assert!(!is_linearizable, "{name}");
            assert_eq!(witness::check(&history, found), Ok(()), "{name}");
        }
        other => panic!("{name}: {other:?}"),
    }
    let mut monitor = Monitor::new(history.declaration()).expect("a declaration is valid");
    for event in history.events() {
        monitor.observe(&event).expect("events of a history are admissible");
    }
    let alarm = match monitor.judgement() {
        Judgement::Linearizable => None,
        Judgement::Violation(alarm) => Some(alarm.event),
        Judgement::Undecided(undecided) => panic!("{name}: {undecided:?}"),
    };
    assert_eq!(alarm, report.decided_at, "{name}");
    report.method
}

#[test]
fn published_recordings_have_the_verdict_of_their_name() {
    for (path, is_linearizable) in samples("disc22") {
        assert_eq!(try_out(&path, is_linearizable), Method::Simple, "{}", path.display());
    }
}

#[test]
fn random_recordings_have_the_verdict_of_their_name() {
    for (path, is_linearizable) in samples("random") {
        assert_ne!(try_out(&path, is_linearizable), Method::Search, "{}", path.display());
    }
}
