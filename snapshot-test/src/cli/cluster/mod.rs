//! `--cluster`: processes, on one machine or several, each of which judges what it reads.
//!
//! Process 0 prints what all find, and one summary. Events do not go from one process to another:
//! an object is of one input, an input of one process, and to read a line costs as much as to
//! judge it. So what processes have in common are reports, the keys of objects - of two inputs
//! no object may be - and how they end.
//!
//! | module | what it is |
//! | --- | --- |
//! | `frame` | what processes say to each other |
//! | `head` | process 0 |
//! | `branch` | each other one |

mod branch;
mod frame;
mod head;

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
use snapshot_test::format::Location;
use snapshot_test::monitor::{Held, owner};

use self::branch::Branch;
pub(super) use self::frame::Progress;
use self::frame::{Greeting, ToHead};
use self::head::Head;
use super::outlet::{Outlet, Report};
use super::{TROUBLE, trouble};

/// How long processes wait for process 0 to be started.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long process 0 waits for the others to end.
const FAREWELL: Duration = Duration::from_secs(5);

/// How long process 0 waits for others before it says so.
const NOTICE: Duration = Duration::from_secs(2);

/// Between two attempts, or two looks at what may have changed.
const PAUSE: Duration = Duration::from_millis(50);

/// The processes, and which of them this one is.
#[derive(Debug, Args)]
pub(super) struct Processes {
    /// Judge with the processes that this file names, one host:port to a line: each judges the
    /// inputs that it names itself, and process 0 prints what all find.
    #[arg(long, value_name = "HOSTS", requires = "process")]
    cluster: Option<PathBuf>,
    /// With --cluster: which of them this process is, from 0.
    #[arg(long, value_name = "K", requires = "cluster")]
    process: Option<usize>,
    /// With --cluster: all processes name the same files, on a disk that they share, and each takes
    /// those whose names a hash gives to it.
    #[arg(long, requires = "cluster")]
    split: bool,
    #[command(flatten)]
    access: AccessOptions,
}

impl Processes {
    /// Whether there are several processes.
    pub const fn is_cluster(&self) -> bool {
        self.cluster.is_some()
    }

    /// How an input is named in reports.
    pub fn name(&self, input: String) -> String {
        match self.process {
            Some(process) => format!("process {process}: {input}"),
            None => input,
        }
    }

    /// Where results of this process go, connected with the others. `task` is what all have to do
    /// alike.
    ///
    /// # Errors
    /// The exit code, if they cannot be connected.
    pub fn post(&self, task: impl FnOnce() -> String, outlet: Outlet) -> Result<Post, ExitCode> {
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
            0 => Head::listen(&members, greeting, Arc::clone(&outlet)).map(Role::Head),
            _ => Branch::join(&members, &greeting, Arc::clone(&outlet)).map(Role::Branch),
        };
        Ok(Post { outlet, role: role.map_err(trouble)? })
    }

    /// This process cannot begin, and has said why: all end. The exit code.
    pub fn give_up(&self, task: impl FnOnce() -> String, outlet: Outlet) -> ExitCode {
        let trouble = ExitCode::from(TROUBLE);
        let (Some(path), Some(process)) = (&self.cluster, self.process) else { return trouble };
        // What is wrong with the file has been said; and without process 0 no other one begins.
        if process == 0 || Members::read(path, process, &self.access).is_err() {
            return trouble;
        }
        match self.post(task, outlet) {
            Ok(Post { role: Role::Branch(branch), .. }) => {
                let why = format!("process {process} cannot begin: its standard error says why");
                branch.say(&ToHead::Fail(why));
                branch.conclude(Json::Null)
            }
            _ => trouble,
        }
    }

    /// Of these names, those that this process takes. Standard input is its own.
    ///
    /// # Errors
    /// The exit code, if the file of hosts is none.
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

/// Where results go.
pub(super) struct Post {
    outlet: Arc<Outlet>,
    role: Role,
}

enum Role {
    Alone,
    Head(Head),
    Branch(Branch),
}

impl Post {
    /// The outputs of this process.
    pub fn outlet(&self) -> &Outlet {
        &self.outlet
    }

    /// Prints a report, here or where process 0 is. Whether that is done, and to go on.
    pub fn show(&self, report: &Report) -> bool {
        match &self.role {
            Role::Alone => self.outlet.show(report),
            Role::Head(head) => head.show(report),
            Role::Branch(branch) => branch.show(report),
        }
    }

    /// Ends all: there is no answer, and this is why.
    pub fn fail(&self, message: impl Display) {
        let message = message.to_string();
        if self.outlet.fail(&message)
            && let Role::Branch(branch) = &self.role
        {
            branch.say(&ToHead::Fail(message));
        }
    }

    /// An input has objects with these keys.
    pub fn claim(&self, input: &str, keys: &[Value]) {
        match &self.role {
            Role::Head(head) => head.claim(input, keys),
            Role::Branch(branch) if !keys.is_empty() => {
                let keys = keys.iter().map(Held::from).collect();
                branch.say(&ToHead::Claim { input: input.to_owned(), keys });
            }
            _ => {}
        }
    }

    /// How far all processes are, of which this one is that far.
    pub fn progress(&self, here: Progress) -> Progress {
        match &self.role {
            Role::Alone => here,
            Role::Head(head) => {
                let others = head.progress();
                Progress {
                    events: here.events + others.events,
                    objects: here.objects + others.objects,
                }
            }
            Role::Branch(branch) => {
                branch.progress(here);
                here
            }
        }
    }

    /// Ends, when the inputs of all processes have ended: with what became of those of this one and of each other
    /// one `summed` prints a summary, and says the exit code. While others are waited for, `meanwhile` is
    /// called every now and then.
    pub fn conclude(
        &self,
        here: Json,
        meanwhile: impl FnMut(),
        summed: impl FnOnce(Vec<Json>, &Outlet) -> u8,
    ) -> ExitCode {
        let outlet = &self.outlet;
        let summed = |all| outlet.ended().unwrap_or_else(|| summed(all, outlet));
        match &self.role {
            Role::Alone => ExitCode::from(summed(vec![here])),
            Role::Branch(branch) => branch.conclude(here),
            Role::Head(head) => {
                let others = head.wait(meanwhile);
                let code = match others {
                    Some(others) => summed([vec![here], others].concat()),
                    None => outlet.ended().unwrap_or(TROUBLE),
                };
                head.dismiss(code);
                ExitCode::from(code)
            }
        }
    }
}

/// Why an object that is in two inputs cannot be judged.
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
