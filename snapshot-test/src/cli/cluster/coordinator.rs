//! Process 0 of a cluster: it prints all findings, and knows the input of each object.

use std::collections::{HashMap, HashSet};
use std::io::BufReader;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use serde_json::Value as Json;
use snapshot_io::hosts::Members;
use snapshot_io::output;
use snapshot_io::socket::keep_close_watch;
use snapshot_test::Value;

use super::frame::{self, Greeting, Progress, ToCoordinator, ToWorker, VERSION};
use super::{FAREWELL, NOTICE, PAUSE, lock};
use crate::cli::result::Report;
use crate::cli::result_printer::ResultPrinter;

pub(super) struct Coordinator {
    hall: Arc<Hall>,
}

/// State shared by all threads of process 0.
struct Hall {
    members: Members,
    greeting: Greeting,
    outlet: Arc<ResultPrinter>,
    state: Mutex<State>,
    /// Notified when a process has connected, ended or been lost.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// One seat per process; the first belongs to this process.
    seats: Vec<Seat>,
    /// The inputs that have objects, each with its process.
    inputs: Vec<(usize, String)>,
    /// For each of these inputs, its index in `inputs`.
    numbers: HashMap<(usize, String), usize>,
    /// For each object, the index of its input.
    homes: HashMap<Value, usize>,
    /// Ids of the reports printed for each process: a process that was killed, and resumes from a
    /// checkpoint, may repeat reports.
    shown: HashSet<(usize, String)>,
}

#[derive(Default)]
struct Seat {
    /// The connection for sending to the process.
    writer: Option<TcpStream>,
    has_come: bool,
    progress: Progress,
    /// The results of its inputs, once they have ended.
    ended: Option<Json>,
}

impl Coordinator {
    /// Starts listening.
    ///
    /// # Errors
    /// The message, if the address cannot be used.
    pub fn listen(
        members: &Members,
        greeting: Greeting,
        outlet: Arc<ResultPrinter>,
    ) -> Result<Self, String> {
        let address = &members.addresses()[0];
        let cannot = |error| format!("process 0 cannot listen at {address}: {error}");
        let mut listener = members.listen().map_err(cannot)?;
        let seats = members.addresses().iter().map(|_| Seat::default()).collect();
        let hall = Arc::new(Hall {
            members: members.clone(),
            greeting,
            outlet,
            state: Mutex::new(State { seats, ..State::default() }),
            changed: Condvar::new(),
        });
        let shared = Arc::clone(&hall);
        let thread = thread::Builder::new().name("cluster".to_owned());
        let accept = move || {
            while let Some(socket) = listener.accept(None) {
                welcome(socket, &shared);
            }
        };
        thread.spawn(accept).map_err(|error| cannot(error.to_string()))?;
        Ok(Self { hall })
    }

    /// Prints a report of this process. Returns true if the process is to continue.
    pub fn show(&self, report: &Report) -> bool {
        self.hall.outlet.show(report)
    }

    /// Registers the keys of the objects of an input of this process.
    pub fn claim(&self, input: &str, keys: &[Value]) {
        self.hall.claim(0, input, keys.iter().cloned());
    }

    /// Returns the total progress of the other processes.
    pub fn progress(&self) -> Progress {
        let state = lock(&self.hall.state);
        state.seats.iter().fold(Progress::default(), |sum, seat| Progress {
            events: sum.events + seat.progress.events,
            objects: sum.objects + seat.progress.objects,
        })
    }

    /// Waits until the inputs of all processes have ended. Returns the results of the other
    /// processes, or `None` if everything ended before. Calls `meanwhile` at least every second.
    pub fn wait(&self, mut meanwhile: impl FnMut()) -> Option<Vec<Json>> {
        let Hall { outlet, state, changed, members, .. } = &*self.hall;
        let mut state = lock(state);
        let (mut is_stopped, mut is_waited_for) = (false, false);
        let began = Instant::now();
        loop {
            if outlet.ended().is_some() {
                return None;
            }
            let others = || state.seats.iter().enumerate().skip(1);
            let open = || others().filter(|(_, seat)| seat.ended.is_none());
            let missing: Vec<usize> = open()
                .filter(|(_, seat)| seat.writer.is_none())
                .map(|(number, _)| number)
                .collect();
            if open().count() == 0 {
                return Some(state.seats.iter_mut().filter_map(|seat| seat.ended.take()).collect());
            }
            if outlet.stop().load(Ordering::Relaxed) {
                if open().count() == missing.len() {
                    let named = named(&missing, members);
                    outlet.fail(format_args!(
                        "{named} not there, so there is no answer for the inputs as a whole\nhelp: with --checkpoint, \
                         all go on where they were"
                    ));
                    return None;
                }
                if !std::mem::replace(&mut is_stopped, true) {
                    state.seats.iter_mut().for_each(|seat| seat.say(&ToWorker::Stop));
                }
            } else if !missing.is_empty() && !is_waited_for && began.elapsed() >= NOTICE {
                is_waited_for = true;
                let named = named(&missing, members);
                output::report(format_args!("waiting: {named} not there"));
            }
            let waited = changed.wait_timeout(state, PAUSE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            drop(state);
            meanwhile();
            state = lock(&self.hall.state);
        }
    }

    /// Ends all processes, with this exit code.
    pub fn dismiss(&self, code: u8) {
        let mut state = lock(&self.hall.state);
        self.hall.outlet.end(code);
        for seat in &mut state.seats {
            seat.say(&ToWorker::Exit(code));
            seat.writer.as_ref().map(|writer| writer.shutdown(Shutdown::Write));
        }
        // The last message arrives only if no sent byte is left unread.
        let end = Instant::now() + FAREWELL;
        while state.seats.iter().any(|seat| seat.writer.is_some()) && Instant::now() < end {
            let waited = self.hall.changed.wait_timeout(state, PAUSE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Returns "process 1 (a:2101) and process 2 (b:2101) are".
fn named(processes: &[usize], members: &Members) -> String {
    let name = |process: &usize| format!("process {process} ({})", members.addresses()[*process]);
    let names: Vec<String> = processes.iter().map(name).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", names.join(" and "))
}

impl Seat {
    /// Sends a frame to the process, if connected. The reading thread notices a lost connection.
    fn say(&mut self, frame: &ToWorker) {
        if let Some(writer) = &mut self.writer {
            let _ = frame::write(writer, frame);
        }
    }
}

impl Hall {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn name(&self, process: usize) -> String {
        format!("process {process} ({})", self.members.addresses()[process])
    }

    /// Handles the messages of a process, to the end of its connection.
    fn serve(&self, socket: TcpStream) {
        // A connection without a valid greeting does not belong to the cluster.
        let Ok((process, mut reader)) = self.greeted(socket) else { return };
        let reason = loop {
            match frame::read(&mut reader) {
                Ok(Some(frame)) => self.take(process, frame),
                Ok(None) => break "it closed the connection".to_owned(),
                Err(error) => break error.to_string(),
            }
        };
        let mut state = self.state();
        let seat = &mut state.seats[process];
        seat.writer = None;
        if seat.ended.is_none() && self.outlet.ended().is_none() {
            output::report(format_args!(
                "{} is lost: {reason}\nnote: the others go on; start it again with its checkpoint, or \
                 end all with Ctrl-C",
                self.name(process)
            ));
        }
        drop(state);
        self.changed.notify_all();
    }

    fn take(&self, process: usize, frame: ToCoordinator) {
        match frame {
            ToCoordinator::Report(report) => {
                let is_new = self.state().shown.insert((process, report.id.clone()));
                let is_wanted =
                    if is_new { self.outlet.show(&report) } else { self.outlet.ended().is_none() };
                self.state().seats[process].say(&ToWorker::Receipt { is_wanted });
            }
            ToCoordinator::Claim { input, keys } => {
                self.claim(process, &input, keys.iter().map(Value::from));
            }
            ToCoordinator::Progress(progress) => self.state().seats[process].progress = progress,
            ToCoordinator::Stop => self.outlet.stop().store(true, Ordering::Relaxed),
            ToCoordinator::Fail(message) => drop(self.outlet.fail(message)),
            ToCoordinator::Ended(ended) => {
                self.state().seats[process].ended = Some(ended);
                self.changed.notify_all();
            }
        }
    }

    /// Registers the keys of the objects of an input; no other input may have them.
    fn claim(&self, process: usize, input: &str, keys: impl Iterator<Item = Value>) {
        let mut state = self.state();
        let State { inputs, numbers, homes, .. } = &mut *state;
        let named = (process, input.to_owned());
        let number = *numbers.entry(named).or_insert_with_key(|named| {
            inputs.push(named.clone());
            inputs.len() - 1
        });
        for key in keys {
            let home = *homes.entry(key.clone()).or_insert(number);
            if home != number {
                self.outlet.fail(super::clashed(&inputs[home].1, input, None, &key));
                return;
            }
        }
    }

    fn greeted(&self, mut socket: TcpStream) -> std::io::Result<(usize, BufReader<TcpStream>)> {
        // Few bytes are sent to a process: receipts that it waits for.
        keep_close_watch(&socket)?;
        let theirs: Greeting = frame::read_greeting(&socket)?;
        let reader = BufReader::new(socket.try_clone()?);
        let process = theirs.process;
        let refused = |reason, is_final| ToWorker::Refused { reason, is_final };
        if let Some(reason) = self.differs(&theirs) {
            frame::write(&mut socket, &refused(reason, true))?;
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        let mut state = self.state();
        let seat = &mut state.seats[process];
        if seat.writer.is_some() {
            let reason = format!("another process {process} is there");
            drop(state);
            frame::write(&mut socket, &refused(reason, false))?;
            return Err(std::io::ErrorKind::AddrInUse.into());
        }
        frame::write(&mut socket, &ToWorker::Welcome)?;
        if self.outlet.stop().load(Ordering::Relaxed) {
            frame::write(&mut socket, &ToWorker::Stop)?;
        }
        // The last message to all processes was sent before this one was there.
        if let Some(code) = self.outlet.ended() {
            frame::write(&mut socket, &ToWorker::Exit(code))?;
        }
        seat.writer = Some(socket);
        seat.ended = None;
        if std::mem::replace(&mut seat.has_come, true) {
            output::report(format_args!("{} is back", self.name(process)));
        }
        drop(state);
        self.changed.notify_all();
        Ok((process, reader))
    }

    /// Returns the reason why a process does not belong to this cluster, if any.
    fn differs(&self, theirs: &Greeting) -> Option<String> {
        let ours = &self.greeting;
        if theirs.snapshot_cluster != VERSION {
            return Some("it is of another version: use the same program everywhere".to_owned());
        }
        if theirs.processes != ours.processes || !(1..ours.processes).contains(&theirs.process) {
            let (their, our) = (theirs.processes, ours.processes);
            return Some(format!(
                "process {} knows of {their} processes and process 0 of {our}: give all the same \
                 file of hosts",
                theirs.process
            ));
        }
        (theirs.task != ours.task).then(|| {
            format!("it runs `{}`, and process 0 `{}`: start all alike", theirs.task, ours.task)
        })
    }
}

/// Serves a connection, in a separate thread.
fn welcome(socket: TcpStream, hall: &Arc<Hall>) {
    let hall = Arc::clone(hall);
    let thread = thread::Builder::new().name("process".to_owned());
    // Without a thread the connection is closed, and retried by the other side.
    let _ = thread.spawn(move || hall.serve(socket));
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use super::super::worker::greeted;
    use super::*;
    use crate::cli::check::ReportFormat;

    /// A process that connects between the last message to all processes and the end of process 0
    /// receives the exit code.
    #[test]
    fn late_process_receives_the_exit_code() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let addresses = vec![free, "127.0.0.1:1".to_owned()];
        let [coordinator, worker] =
            [0, 1].map(|process| Members::new(addresses.clone(), process).unwrap());
        let greeting = |process| Greeting {
            snapshot_cluster: VERSION,
            process,
            processes: 2,
            task: "".into(),
        };
        let outlet = Arc::new(ResultPrinter::new(ReportFormat::Human, false, &STOP));
        let coordinator =
            Coordinator::listen(&coordinator, greeting(0), Arc::clone(&outlet)).unwrap();
        coordinator.dismiss(1);
        let (socket, mut reader, answer) = greeted(&worker, &greeting(1)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        assert!(matches!(answer, ToWorker::Welcome));
        assert!(matches!(frame::read(&mut reader), Ok(Some(ToWorker::Stop))));
        assert!(matches!(frame::read(&mut reader), Ok(Some(ToWorker::Exit(1)))));
    }
}
