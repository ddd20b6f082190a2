//! A test kit for atomic snapshot objects.
//!
//! An *atomic snapshot* has n segments; `update(v)` writes a segment, `scan()` returns all of them
//! at one instant. This crate runs threads on your object, records their operations, and decides
//! whether some order of the operations explains the results. If none does, it shows which
//! operations prove that, in words and as a picture.
//!
//! | module | contents |
//! | --- | --- |
//! | [`stress()`](stress()) | threads that use an object in rounds, each of which is judged |
//! | [`assert_linearizable!`] | judgement of a history, for a test |
//! | [`noise`] | places that disturb threads inside operations |
//! | [`record`] | recording of an object that threads use, or async tasks |
//! | `controlled` | feature `shuttle`: schedules that are chosen, shrunk, and replayed |
//! | [`value`] | values in recordings |
//! | [`Subject`] | objects with partial scans, or several writers |
//!
//! A test that could not have found anything fails: no scan overlapped an update, no schedule
//! ended, or the scheduler saw no step inside the operations.
//!
//! The crate knows threads, clocks and the file of a failure; it knows no format except the one
//! that it writes, no command line and no corpus.

#![warn(missing_docs)]

mod clock;
#[cfg(feature = "shuttle")]
pub mod controlled;
mod judge;
pub mod noise;
mod overlap;
pub mod record;
mod save;
pub mod stress;
pub mod value;
mod watchdog;
mod workload;

pub use clock::Clock;
pub use judge::{Failure, assert_linearizable, judge};
pub use noise::Noise;
pub use overlap::Overlap;
pub use record::{Handle, RecordError, Recorder, Reply};
pub use save::save;
pub use stress::{Stress, Summary, stress};
pub use value::{Recorded, Value};
pub use workload::{Operation, Subject};

/// Fails, as [`assert!`] does, unless a history is linearizable: with the report, a picture, and
/// the recording in `target/snapshot`. Takes a [`snapshot_core::History`].
///
/// ```
/// use snapshot_core::history::Declaration;
/// use snapshot_kit::{Recorder, assert_linearizable};
///
/// let recorder = Recorder::new(Declaration::new(0).with_segments(2));
/// recorder.process(0)?.update(0, 7, || ());
/// recorder.process(1)?.scan(|| [7, 0]);
/// assert_linearizable!(recorder.history()?);
/// # Ok::<(), snapshot_kit::RecordError>(())
/// ```
#[macro_export]
macro_rules! assert_linearizable {
    ($history:expr $(,)?) => {
        $crate::assert_linearizable(&$history)
    };
}

/// Histories, for declarations and custom checks.
pub use snapshot_core::{
    History,
    history::{Declaration, Writers},
};
