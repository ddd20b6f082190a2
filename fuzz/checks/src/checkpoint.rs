//! Any bytes as a checkpoint of a monitor: it is refused, or the monitor resumes from it, and saves
//! its state again.

use snapshot_core::Process;
use snapshot_core::history::{Action, Event};
use snapshot_test::Value;
use snapshot_test::format::{Location, Object};
use snapshot_test::judge::Options;
use snapshot_test::monitor::{Checkpoint, Checkpoints, Live, Snapshots};

/// Reads, resumes, continues, and saves.
///
/// # Panics
/// If a saved checkpoint cannot be read.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(error) = Checkpoints::parse(&text) {
        assert!(!error.to_string().is_empty(), "an error has a message");
    }
    let checkpoint = match Checkpoint::parse(&text) {
        Ok(checkpoint) => checkpoint,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error has a message");
            return;
        }
    };
    let written = checkpoint.text();
    match Checkpoint::parse(&written) {
        Ok(again) => assert_eq!(again.text(), written, "a checkpoint changes"),
        Err(error) => panic!("{error}\n{written}"),
    }
    if checkpoint.input_object() == Some(Object::Snapshot) {
        let Ok(mut live) = Live::<Snapshots>::resume(&checkpoint, Options::default()) else {
            return;
        };
        let scan = Event { process: Process::from_index(0), action: Action::<Value>::InvokeScan };
        let at = Location::START;
        // Of several objects, an event without a key may be one too many.
        let _ = live.observe(None, at, &scan);
        let saved = live.checkpoint(at).expect("admitted events contradict nothing");
        assert!(Checkpoint::parse(&saved.text()).is_ok(), "{}", saved.text());
        assert!(!live.report("input").0.is_empty(), "a report has a message");
    }
}
