//! A process of a cluster other than process 0: it sends its findings to process 0 for printing.

use std::collections::VecDeque;
use std::io::BufReader;
use std::net::{Shutdown, TcpStream};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use snapshot_io::hosts::Members;
use snapshot_io::join::{HANDSHAKE, JoinError};
use snapshot_io::output;

use super::frame::{self, Greeting, Progress, ToCoordinator, ToWorker};
use super::{FAREWELL, PATIENCE, PAUSE, lock};
use crate::cli::TROUBLE;
use crate::cli::result::Report;
use crate::cli::result_printer::ResultPrinter;

struct Line {
    socket: TcpStream,
    /// Senders of receipts for reports, in the order in which the reports were sent.
    waiting: VecDeque<SyncSender<bool>>,
    /// The exit code, once process 0 has sent it, or is lost.
    exit: Option<u8>,
}

/// State shared by the reading thread and all others.
struct Shared {
    line: Mutex<Line>,
    /// Notified when there is an exit code.
    ended: Condvar,
}

/// A process that reports to process 0.
pub(super) struct Worker {
    outlet: Arc<ResultPrinter>,
    shared: Arc<Shared>,
}

impl Worker {
    /// Connects with process 0, which may not have been started yet.
    ///
    /// # Errors
    /// The message, if process 0 cannot be reached, or refuses.
    pub fn join(
        members: &Members,
        greeting: &Greeting,
        outlet: Arc<ResultPrinter>,
    ) -> Result<Self, String> {
        let address = members.addresses()[0].clone();
        let (socket, reader) = reached(members, greeting, outlet.stop())?;
        let line = Line { socket, waiting: VecDeque::new(), exit: None };
        let shared = Arc::new(Shared { line: Mutex::new(line), ended: Condvar::new() });
        let worker = Self { outlet: Arc::clone(&outlet), shared: Arc::clone(&shared) };
        let thread = thread::Builder::new().name("cluster".to_owned());
        let listen = move || {
            let code = listened(reader, &shared, &outlet, &address);
            let mut line = lock(&shared.line);
            line.exit = Some(code);
            // No more receipts will arrive.
            line.waiting.clear();
            drop(line);
            shared.ended.notify_all();
            // Unfinished judgements are useless.
            thread::sleep(FAREWELL);
            std::process::exit(i32::from(code));
        };
        thread
            .spawn(listen)
            .map_err(|error| format!("process 0 cannot be listened to: {error}"))?;
        Ok(worker)
    }

    /// Sends a frame. The reading thread notices a lost connection.
    pub fn say(&self, frame: &ToCoordinator) {
        let _ = frame::write(&mut lock(&self.shared.line).socket, frame);
    }

    /// Has a report printed. Returns true if it was printed, and the process is to continue.
    pub fn show(&self, report: &Report) -> bool {
        if let Some(diagnostic) = &report.diagnostic {
            output::report(diagnostic);
        }
        let (sender, receipt) = sync_channel(1);
        let mut line = lock(&self.shared.line);
        if line.exit.is_some() {
            return false;
        }
        line.waiting.push_back(sender);
        // The reading thread notices a lost connection, and drops the sender.
        let _ = frame::write(&mut line.socket, &ToCoordinator::Report(report.clone()));
        drop(line);
        receipt.recv().unwrap_or(false)
    }

    /// Waits until all processes have ended. Returns the exit code of all.
    pub fn conclude(&self, ended: serde_json::Value) -> ExitCode {
        self.say(&ToCoordinator::Ended(ended));
        let mut has_stopped = false;
        let mut line = lock(&self.shared.line);
        loop {
            if let Some(code) = line.exit {
                return ExitCode::from(code);
            }
            if !has_stopped && self.outlet.stop().load(Ordering::Relaxed) {
                has_stopped = true;
                let _ = frame::write(&mut line.socket, &ToCoordinator::Stop);
            }
            let waited = self.shared.ended.wait_timeout(line, PAUSE);
            line = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Reports the progress of this process.
    pub fn progress(&self, progress: Progress) {
        self.say(&ToCoordinator::Progress(progress));
    }
}

/// A dropped worker closes its side, so that process 0 does not assume that it was killed.
impl Drop for Worker {
    fn drop(&mut self) {
        let _ = lock(&self.shared.line).socket.shutdown(Shutdown::Write);
    }
}

/// Receives frames from process 0, until it sends the exit code, or is lost. Returns the exit code.
fn listened(
    mut reader: BufReader<TcpStream>,
    shared: &Shared,
    outlet: &ResultPrinter,
    address: &str,
) -> u8 {
    let reason = loop {
        match frame::read(&mut reader) {
            Ok(Some(ToWorker::Receipt { is_wanted })) => {
                let first = lock(&shared.line).waiting.pop_front();
                first.map(|waiting| waiting.send(is_wanted));
            }
            Ok(Some(ToWorker::Stop)) => outlet.stop().store(true, Ordering::Relaxed),
            Ok(Some(ToWorker::Exit(code))) => {
                outlet.end(code);
                return code;
            }
            Ok(Some(ToWorker::Welcome | ToWorker::Refused { .. })) => {}
            Ok(None) => break "it closed the connection".to_owned(),
            Err(error) => break error.to_string(),
        }
    };
    outlet.fail(format_args!(
        "process 0 ({address}) is lost: {reason}\nhelp: start all again; with --checkpoint, they go on"
    ));
    TROUBLE
}

/// Connects with process 0 and exchanges greetings.
fn reached(
    members: &Members,
    greeting: &Greeting,
    stop: &AtomicBool,
) -> Result<(TcpStream, BufReader<TcpStream>), String> {
    let address = &members.addresses()[0];
    let end = Instant::now() + PATIENCE;
    loop {
        let reason = match greeted(members, greeting) {
            Ok((socket, reader, ToWorker::Welcome)) => return Ok((socket, reader)),
            Ok((.., ToWorker::Refused { reason, is_final: true })) => {
                return Err(format!("process 0 ({address}) refuses: {reason}"));
            }
            Ok((.., ToWorker::Refused { reason, .. })) => reason,
            Ok(_) => JoinError::Foreign.to_string(),
            Err(error) if error.is_final() => {
                return Err(format!("process 0 ({address}) cannot be joined: {error}"));
            }
            Err(error) => error.to_string(),
        };
        if stop.load(Ordering::Relaxed) {
            return Err(format!("process 0 ({address}) was not reached yet: {reason}"));
        }
        if Instant::now() >= end {
            return Err(format!(
                "process 0 ({address}) cannot be reached within {} seconds: {reason}. Start it, with \
                 the same file of hosts",
                PATIENCE.as_secs()
            ));
        }
        thread::sleep(PAUSE);
    }
}

pub(super) type Greeted = (TcpStream, BufReader<TcpStream>, ToWorker);

pub(super) fn greeted(members: &Members, greeting: &Greeting) -> Result<Greeted, JoinError> {
    let mut socket = members.call(0, HANDSHAKE)?;
    frame::write(&mut socket, greeting)?;
    let answer = frame::read_greeting(&socket)?;
    let reader = BufReader::new(socket.try_clone()?);
    Ok((socket, reader, answer))
}
