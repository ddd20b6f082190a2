//! Any bytes as frames of a cluster: they are read or refused, in bounded memory, and a frame that
//! was read is written unchanged.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use self::frame::{Greeting, ToCoordinator, ToWorker, greeting, read, write};

#[allow(dead_code, reason = "the program uses all of it")]
#[path = "../../../../snapshot-test/src/cli/cluster/frame.rs"]
mod frame;

/// Reads a greeting, and then frames in both directions.
///
/// # Panics
/// If a frame changes when it is written and read again.
pub fn check(bytes: &[u8]) {
    let mut input = bytes;
    if let Ok(said) = greeting::<Greeting>(&mut input) {
        let mut written = Vec::new();
        write(&mut written, &said).expect("there is room");
        let again: Greeting = greeting(&mut written.as_slice()).expect("it was read before");
        assert_eq!(again, said);
    }
    frames::<ToCoordinator>(bytes);
    frames::<ToWorker>(bytes);
}

fn frames<F: Debug + DeserializeOwned + Serialize>(bytes: &[u8]) {
    let mut input = bytes;
    while let Ok(Some(frame)) = read::<F>(&mut input) {
        let mut written = Vec::new();
        write(&mut written, &frame).expect("there is room");
        let again: F =
            read(&mut written.as_slice()).expect("it was read before").expect("it was read before");
        assert_eq!(format!("{again:?}"), format!("{frame:?}"));
    }
}
