//! Messages between processes of a cluster: JSON, one object to a line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use snapshot_io::socket::Within;
use snapshot_test::format::JsonValue;

use crate::cli::result::Report;

/// The version of the messages.
pub(super) const VERSION: u32 = 1;

/// Largest size of a frame in bytes: a report with a long argument.
const MOST: u64 = 1 << 28;

/// Largest size of a greeting in bytes: without a key it may come from any program of this machine.
const GREETING: u64 = 1 << 12;

/// Time limit of a whole greeting, for any arrival of its bytes.
const GREETED: Duration = Duration::from_secs(5);

/// The first message of a process, which process 0 compares with its own.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Greeting {
    /// The version of the messages that follow.
    pub snapshot_cluster: u32,
    /// Index of this process.
    pub process: usize,
    pub processes: usize,
    /// The command, with the options that all processes must share.
    pub task: String,
}

/// Messages to process 0.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum ToCoordinator {
    /// A report to be printed; the sender waits for the receipt.
    Report(Report),
    /// An input has objects with these keys.
    Claim { input: String, keys: Vec<JsonValue> },
    /// The progress of the sender.
    Progress(Progress),
    /// All processes are to end, and to report their results so far.
    Stop,
    /// All processes end without an answer, for this reason.
    Fail(String),
    /// The inputs of the process have ended, with this result.
    Ended(serde_json::Value),
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(in crate::cli) struct Progress {
    /// Number of events read.
    pub events: u64,
    /// Number of distinct objects.
    pub objects: u64,
}

/// Messages from process 0.
#[derive(Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum ToWorker {
    /// The greeting was accepted.
    Welcome,
    /// The greeting was refused; if another process with this number is still connected, only for
    /// now.
    Refused { reason: String, is_final: bool },
    /// The first report without a receipt was printed, or printing has ended.
    Receipt { is_wanted: bool },
    /// All processes are to end, and to report their results so far.
    Stop,
    /// All processes end, with this exit code.
    Exit(u8),
}

pub(super) fn write(socket: &mut impl Write, frame: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(frame)?;
    line.push(b'\n');
    socket.write_all(&line)
}

/// Reads a frame; `None` at the end.
pub(super) fn read<F: DeserializeOwned>(socket: &mut impl BufRead) -> io::Result<Option<F>> {
    read_within(socket, MOST)
}

/// Reads a greeting, or its answer, and no byte behind it.
pub(super) fn read_greeting<F: DeserializeOwned>(socket: &TcpStream) -> io::Result<F> {
    let within = Within::new(socket, Instant::now() + GREETED);
    // Of one byte: what follows is for another reader.
    let greeting = greeting(&mut BufReader::with_capacity(1, within))?;
    socket.set_read_timeout(None)?;
    Ok(greeting)
}

/// A greeting, or the answer to one.
pub(super) fn greeting<F: DeserializeOwned>(input: &mut impl BufRead) -> io::Result<F> {
    read_within(input, GREETING)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

fn read_within<F: DeserializeOwned>(socket: &mut impl BufRead, most: u64) -> io::Result<Option<F>> {
    let mut line = Vec::new();
    socket.by_ref().take(most).read_until(b'\n', &mut line)?;
    match line.last() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(serde_json::from_slice(&line)?)),
        // The frame was cut off, or exceeds the limit.
        Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_round_trip_unless_cut_off() {
        let result = Some("two\nlines \u{1b}\u{2028}\0".to_owned());
        let report = Report { id: "a".to_owned(), result, diagnostic: None, code: 1 };
        let mut bytes = Vec::new();
        write(&mut bytes, &ToCoordinator::Report(report.clone())).unwrap();
        write(&mut bytes, &ToCoordinator::Stop).unwrap();
        let mut input = &bytes[..];
        let first = read(&mut input).unwrap();
        assert!(matches!(first, Some(ToCoordinator::Report(read)) if read == report));
        assert!(matches!(read(&mut input).unwrap(), Some(ToCoordinator::Stop)));
        assert!(read::<ToCoordinator>(&mut input).unwrap().is_none());
        for length in 1..bytes.len() {
            let mut input = &bytes[..length];
            while let Ok(Some(frame)) = read::<ToCoordinator>(&mut input) {
                assert!(matches!(frame, ToCoordinator::Report(_)), "of {length} bytes");
            }
            assert!(input.is_empty());
        }
    }

    #[test]
    fn greetings_are_bounded_and_leave_later_bytes() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let read = |bytes: &[u8]| {
            let mut caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            caller.write_all(bytes).unwrap();
            let (mut socket, _) = listener.accept().unwrap();
            let greeting = read_greeting::<Greeting>(&socket);
            drop(caller);
            let mut rest = String::new();
            // A connection with unread bytes is reset.
            let _ = socket.read_to_string(&mut rest);
            (greeting, rest)
        };
        assert!(read(&[b' '; 2 << 12]).0.is_err());
        assert!(read(b"GET / HTTP/1.1\n").0.is_err());
        let task = "check".to_owned();
        let greeting = Greeting { snapshot_cluster: VERSION, process: 1, processes: 2, task };
        let mut bytes = Vec::new();
        write(&mut bytes, &greeting).unwrap();
        bytes.extend(b"rest");
        let (read, rest) = read(&bytes);
        assert_eq!((read.ok(), rest.as_str()), (Some(greeting), "rest"));
    }
}
