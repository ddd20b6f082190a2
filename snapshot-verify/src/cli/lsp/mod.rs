//! `snapshot-verify lsp`: a language server for editors, on standard input and output.
//!
//! | file | topic |
//! | --- | --- |
//! | [`transport`] | messages on a stream, malformed ones included |
//! | [`server`] | requests and notifications |
//! | [`document`] | diagnostics, symbols, lenses and layout of a text |
//! | [`position`] | places in UTF-16 |
//! | [`verification`] | verifications for code lenses, on a separate thread |
//!
//! One thread reads, one answers, and one runs the verification of a lens. Texts are checked when
//! no message waits, so that a burst of changes costs one check.

mod document;
mod position;
mod server;
mod transport;
mod verification;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::mpsc::{self, SyncSender, TryRecvError};
use std::thread;
use std::time::Duration;

use clap::Args;
use snapshot_io::quantity;

use self::server::{Flow, Server};
use self::transport::{Received, receive};
use self::verification::Answered;
use super::{TROUBLE, WRONG, bounds, trouble};

/// A language server for editors (docs/editors.md), on standard input and output.
///
/// Diagnostics with fixes, types and declarations of names, symbols, formatting, and a lens that
/// verifies within a budget. Exit code: 0 after a shutdown, 1 if the input ends without one, as the
/// protocol requires.
#[derive(Clone, Debug, Args)]
pub struct Lsp {
    /// Processes, and segments, of verifications.
    #[arg(short = 'n', long = "processes", value_name = "N", default_value = "3",
          value_parser = bounds::size)]
    processes: usize,
    /// Seconds that a verification may take.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = quantity::seconds)]
    time: Duration,
    /// Bytes that a verification may take: 500M, 1.5GiB; units go by 1024.
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = quantity::bytes::<u64>)]
    memory: u64,
    /// Threads that verify (default: one per processor).
    #[arg(long, value_name = "T")]
    threads: Option<NonZeroUsize>,
    /// Use standard input and output, as is the default: editors may add this option.
    #[arg(long)]
    stdio: bool,
}

/// Input of the server loop.
#[derive(Debug)]
enum Event {
    Received(Received),
    /// The input has ended, or cannot be read.
    Ended,
    /// A verification has ended.
    Answered(Box<Answered>),
}

/// Maximum number of waiting messages; reading stops beyond it.
const WAITING: usize = 64;

impl Lsp {
    pub fn run(self) -> ExitCode {
        let (sender, events) = mpsc::sync_channel(WAITING);
        let reader = sender.clone();
        // The thread ends with the input, or with the program.
        thread::spawn(move || read(&reader));
        let mut server = Server::new(self, sender);
        loop {
            let event = match events.try_recv() {
                Ok(event) => event,
                Err(TryRecvError::Disconnected) => return ExitCode::from(WRONG),
                Err(TryRecvError::Empty) => {
                    server.check();
                    if let Err(code) = write(&mut server) {
                        return code;
                    }
                    match events.recv() {
                        Ok(event) => event,
                        Err(_) => return ExitCode::from(WRONG),
                    }
                }
            };
            let flow = match event {
                Event::Received(received) => server.receive(received),
                Event::Answered(answered) => server.answered(*answered),
                Event::Ended => Flow::End { orderly: false },
            };
            if let Err(code) = write(&mut server) {
                return code;
            }
            if let Flow::End { orderly } = flow {
                return if orderly { ExitCode::SUCCESS } else { ExitCode::from(WRONG) };
            }
        }
    }
}

fn read(events: &SyncSender<Event>) {
    let mut input = io::stdin().lock();
    while let Ok(Some(received)) = receive(&mut input) {
        if events.send(Event::Received(received)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::Ended);
}

/// Writes the outgoing messages. A closed output ends the server.
fn write(server: &mut Server) -> Result<(), ExitCode> {
    let mut out = io::stdout().lock();
    let written = server
        .outgoing()
        .try_for_each(|body| write!(out, "Content-Length: {}\r\n\r\n{body}", body.len()));
    match written.and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(ExitCode::from(TROUBLE)),
        Err(error) => Err(trouble(format_args!("cannot write to standard output: {error}"))),
    }
}
