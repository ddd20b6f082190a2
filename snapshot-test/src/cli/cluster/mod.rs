//! `--cluster`: processes, on one machine or several, each of which judges its own inputs.
//!
//! Process 0 prints all findings, and one summary. Events are not sent between processes: each
//! object belongs to one input, each input to one process, and reading a line costs as much as
//! judging it. So the processes exchange only reports, the keys of objects (an object may not occur
//! in two inputs), and their ends.
//!
//! | module | contents |
//! | --- | --- |
//! | `frame` | messages between processes |
//! | `coordinator` | process 0 |
//! | `worker` | each other process |

mod coordinator;
mod frame;
mod worker;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;
use serde_json::Value as Json;
use snapshot_io::hosts::Members;
use snapshot_io::join::AccessOptions;
use snapshot_test::Value;
use snapshot_test::format::{JsonValue, Location};
use snapshot_test::monitor::owner;

use self::coordinator::Coordinator;
pub(super) use self::frame::Progress;
use self::frame::{Greeting, ToCoordinator};
use self::worker::Worker;
use super::result::Report;
use super::result_printer::ResultPrinter;
use super::{TROUBLE, trouble};

/// Time that processes wait for process 0 to be started.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time that process 0 waits for the others to end.
const FAREWELL: Duration = Duration::from_secs(5);

/// Time that process 0 waits for others before it reports so.
const NOTICE: Duration = Duration::from_secs(2);

/// Interval between two attempts, or two checks for a change.
const PAUSE: Duration = Duration::from_millis(50);

/// The processes of the cluster, and the index of this one.
#[derive(Debug, Args)]
pub(super) struct Processes {
    /// Judge with the processes in this file, one host:port to a line: each judges the inputs on
    /// its own command line, and process 0 prints all findings.
    #[arg(long, value_name = "HOSTS", requires = "process")]
    cluster: Option<PathBuf>,
    /// With --cluster: index of this process, from 0.
    #[arg(long, value_name = "K", requires = "cluster")]
    process: Option<usize>,
    /// With --cluster: all processes name the same files, on a shared disk, and the files are split
    /// by a hash of their names.
    #[arg(long, requires = "cluster")]
    split: bool,
    #[command(flatten)]
    access: AccessOptions,
}

impl Processes {
    /// Returns true if there are several processes.
    pub const fn is_cluster(&self) -> bool {
        self.cluster.is_some()
    }

    /// Returns the name of an input in reports.
    pub fn name(&self, input: String) -> String {
        match self.process {
            Some(process) => format!("process {process}: {input}"),
            None => input,
        }
    }

    /// Connects this process with the others. Returns the destination of its results. `task`
    /// describes the options that all processes must share.
    ///
    /// # Errors
    /// The exit code, if they cannot be connected.
    pub fn post(
        &self,
        task: impl FnOnce() -> String,
        outlet: ResultPrinter,
    ) -> Result<Post, ExitCode> {
        let outlet = Arc::new(outlet);
        let (Some(path), Some(process)) = (&self.cluster, self.process) else {
            return Ok(Post { outlet, role: Role::Alone });
        };
        let members = Members::read(path, process, &self.access).map_err(trouble)?;
        let greeting = Greeting {
            snapshot_cluster: frame::VERSION,
            process,
            processes: members.addresses().len(),
            task: task(),
        };
        let role = match process {
            0 => {
                Coordinator::listen(&members, greeting, Arc::clone(&outlet)).map(Role::Coordinator)
            }
            _ => Worker::join(&members, &greeting, Arc::clone(&outlet)).map(Role::Worker),
        };
        Ok(Post { outlet, role: role.map_err(trouble)? })
    }

    /// Ends all processes, because this one cannot begin, and has reported the reason. Returns the
    /// exit code.
    pub fn give_up(&self, task: impl FnOnce() -> String, outlet: ResultPrinter) -> ExitCode {
        let trouble = ExitCode::from(TROUBLE);
        let (Some(path), Some(process)) = (&self.cluster, self.process) else { return trouble };
        // Errors of the file have been reported; and without process 0 no other process begins.
        if process == 0 || Members::read(path, process, &self.access).is_err() {
            return trouble;
        }
        match self.post(task, outlet) {
            Ok(Post { role: Role::Worker(worker), .. }) => {
                let why = format!("process {process} cannot begin: its standard error says why");
                worker.say(&ToCoordinator::Fail(why));
                worker.conclude(Json::Null)
            }
            _ => trouble,
        }
    }

    /// Returns the names that this process takes. Standard input always belongs to it.
    ///
    /// # Errors
    /// The exit code, if the file of hosts is invalid.
    pub fn taken(&self, names: Vec<PathBuf>) -> Result<Vec<PathBuf>, ExitCode> {
        let (Some(path), Some(process), true) = (&self.cluster, self.process, self.split) else {
            return Ok(names);
        };
        let members = Members::read(path, process, &self.access).map_err(trouble)?;
        let is_taken = |name: &PathBuf| {
            if name == Path::new("-") {
                return true;
            }
            let name = Value::from(name.to_string_lossy().as_ref());
            owner(&name, members.addresses().len()) == process
        };
        Ok(names.into_iter().filter(is_taken).collect())
    }
}

/// The destination of results.
pub(super) struct Post {
    outlet: Arc<ResultPrinter>,
    role: Role,
}

enum Role {
    Alone,
    Coordinator(Coordinator),
    Worker(Worker),
}

impl Post {
    pub fn outlet(&self) -> &ResultPrinter {
        &self.outlet
    }

    /// Prints a report, here or at process 0. Returns true if it was printed, and the process is to
    /// continue.
    pub fn show(&self, report: &Report) -> bool {
        match &self.role {
            Role::Alone => self.outlet.show(report),
            Role::Coordinator(coordinator) => coordinator.show(report),
            Role::Worker(worker) => worker.show(report),
        }
    }

    /// Ends all processes without an answer, for this reason.
    pub fn fail(&self, message: impl Display) {
        let message = message.to_string();
        if self.outlet.fail(&message)
            && let Role::Worker(worker) = &self.role
        {
            worker.say(&ToCoordinator::Fail(message));
        }
    }

    /// Registers the keys of the objects of an input.
    pub fn claim(&self, input: &str, keys: &[Value]) {
        match &self.role {
            Role::Coordinator(coordinator) => coordinator.claim(input, keys),
            Role::Worker(worker) if !keys.is_empty() => {
                let keys = keys.iter().map(JsonValue::from).collect();
                worker.say(&ToCoordinator::Claim { input: input.to_owned(), keys });
            }
            _ => {}
        }
    }

    /// Returns the progress of all processes, given the progress of this one.
    pub fn progress(&self, here: Progress) -> Progress {
        match &self.role {
            Role::Alone => here,
            Role::Coordinator(coordinator) => {
                let others = coordinator.progress();
                Progress {
                    events: here.events + others.events,
                    objects: here.objects + others.objects,
                }
            }
            Role::Worker(worker) => {
                worker.progress(here);
                here
            }
        }
    }

    /// Waits until the inputs of all processes have ended. Then `summed` prints a summary of the
    /// results of this process and each other one, and returns the exit code. Calls `meanwhile`
    /// repeatedly while waiting.
    pub fn conclude(
        &self,
        here: Json,
        meanwhile: impl FnMut(),
        summed: impl FnOnce(Vec<Json>, &ResultPrinter) -> u8,
    ) -> ExitCode {
        let outlet = &self.outlet;
        let summed = |all| outlet.ended().unwrap_or_else(|| summed(all, outlet));
        match &self.role {
            Role::Alone => ExitCode::from(summed(vec![here])),
            Role::Worker(worker) => worker.conclude(here),
            Role::Coordinator(coordinator) => {
                let others = coordinator.wait(meanwhile);
                let code = match others {
                    Some(others) => summed([vec![here], others].concat()),
                    None => outlet.ended().unwrap_or(TROUBLE),
                };
                coordinator.dismiss(code);
                ExitCode::from(code)
            }
        }
    }
}

/// Returns the reason why an object in two inputs cannot be judged.
pub(super) fn clashed(first: &str, second: &str, at: Option<Location>, key: &Value) -> String {
    let place = at.map_or(String::new(), |at| format!(":{at}"));
    format!(
        "{second}{place}: object @{key} is in {first}, too, and in which order the events of two \
         inputs happened is not known\nhelp: write all events of an object to one input, in their \
         order, or give different objects different keys"
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
