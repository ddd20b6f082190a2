//! Any bytes as a recording: a reader never panics, an accepted recording returns unchanged from
//! the writer, also through every other format that can express it, and an error can be reported.

use snapshot_core::History;
use snapshot_core::history::Action;
use snapshot_test::format::{Format, ReadError, Reader, WriteError, disc22, write_history};
use snapshot_test::{InputError, Value, read_history};

/// Reads, writes, reads again.
///
/// # Panics
/// If anything is lost on the way.
pub fn check(format: Format, bytes: &[u8]) {
    let history = match parse(format, bytes) {
        Ok(history) => history,
        Err(error) => {
            assert!(!error.report("input").to_string().is_empty(), "an error has a message");
            return;
        }
    };
    history.validate();
    for through in Format::ALL {
        let written = match write_history(through, Vec::new(), &history) {
            Ok(written) => written,
            // Only disc22 cannot express everything; it can express all recordings read from it.
            Err(WriteError::Inexpressible(reason)) => {
                let may_refuse = through == Format::Disc22 && format != Format::Disc22;
                assert!(may_refuse, "{through} refuses what {format} has read: {reason}");
                continue;
            }
            Err(error) => panic!("{through} cannot be written: {error}"),
        };
        let shown = String::from_utf8_lossy(&written);
        match parse(through, &written) {
            Ok(read) => compare(&history, &read, through, &shown),
            Err(error) => panic!("{}\n{shown}", error.report("written")),
        }
    }
}

fn parse(format: Format, bytes: &[u8]) -> Result<History<Value>, InputError> {
    Ok(read_history(reader(format, bytes)?)?.0)
}

fn reader(format: Format, bytes: &[u8]) -> Result<Reader<&[u8]>, ReadError> {
    match format {
        Format::Text => Reader::text(bytes),
        Format::Jsonl => Reader::jsonl(bytes),
        Format::Disc22 => disc22::segments(bytes).map(|segments| Reader::disc22(bytes, segments)),
        Format::Edn | Format::Intervals => unreachable!("{format} has no reader of events"),
    }
}

fn compare(history: &History<Value>, read: &History<Value>, through: Format, shown: &str) {
    // In disc22, an unknown outcome at the end of a process is a pending operation.
    let drops_unknown = through == Format::Disc22;
    let kept = history.events().filter(|event| !(drops_unknown && event.action == Action::Unknown));
    assert!(read.events().eq(kept), "events change through {through}:\n{shown}");
    let (segments, processes) = (history.segments(), history.processes());
    assert_eq!(read.segments(), segments, "through {through}:\n{shown}");
    assert_eq!(read.processes(), processes, "through {through}:\n{shown}");
    if through != Format::Disc22 {
        let (initial, other) = (initial(history), initial(read));
        assert_eq!(initial, other, "initial values change through {through}:\n{shown}");
        assert_eq!(history.writers(), read.writers(), "through {through}:\n{shown}");
    }
}

fn initial(history: &History<Value>) -> Vec<Value> {
    let declaration = history.declaration();
    (0..history.segments()).map(|segment| declaration.initial_value(segment).clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::tests::noise;

    const TEXT: &str = "segments 2\nprocesses 3\np0 update 5\np2 scan\np0 ok\np2 ok 5 0\n";

    const DISC22: &str = "startUpdate!0,5;startScan!1;endUpdate!0,5;endScan!1,5,0;";

    /// A recording with all features of the formats.
    const RICH: &str = "initial 1 \"a\\n\"\nwriters many\np0 update s1 5\np1 update s1 \"5\"\n\
                        p2 scan\np0 fail\np1 unknown\np2 ok -1 5\n";

    #[test]
    fn well_formed_recordings_pass_the_check() {
        let rich = parse(Format::Text, RICH.as_bytes()).expect("it is well-formed");
        assert_eq!((rich.len(), rich.segments(), rich.processes()), (6, 2, 3));
        check(Format::Text, RICH.as_bytes());
        let history = parse(Format::Text, TEXT.as_bytes()).expect("it is well-formed");
        assert_eq!(history.len(), 4);
        check(Format::Text, TEXT.as_bytes());
    }

    #[test]
    fn damaged_recordings_are_refused_or_round_trip() {
        for bytes in noise(2000, 8) {
            for recording in [TEXT, RICH, DISC22] {
                let mut spoilt = recording.as_bytes().to_vec();
                for pair in bytes.chunks_exact(2) {
                    let length = spoilt.len();
                    spoilt[usize::from(pair[0]) % length] = pair[1];
                }
                for format in Format::ALL {
                    check(format, &spoilt);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "events change")]
    fn lost_event_fails_the_comparison() {
        let history = parse(Format::Text, TEXT.as_bytes()).expect("it is well-formed");
        compare(&history, &history.prefix(3), Format::Text, TEXT);
    }
}
