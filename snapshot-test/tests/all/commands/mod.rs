//! End-to-end tests of the commands `check --method`, `generate`, `rename`, `automata` and
//! `corpus`.

mod automata;
mod check;
mod ci;
#[cfg(unix)]
mod cluster;
#[cfg(unix)]
mod cluster_ends;
#[cfg(unix)]
mod cluster_keys;
#[cfg(unix)]
mod cluster_kills;
mod corpus;
mod edn;
mod explain;
mod generate;
mod imports;
mod intervals;
pub mod monitor;
mod monitor_all;
mod monitor_several;
mod monitor_workers;
mod outputs;
mod refused_edn;
mod rename;
mod seeds;
mod synchronisation;

use std::ops::{Deref, DerefMut};
use std::process::{Child, Command, Output, Stdio};

/// Runs the program with arguments in one line, separated by blanks.
pub fn run(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_snapshot-test"))
        .args(arguments.split_whitespace())
        .output()
        .expect("the program starts")
}

/// Returns exit code, standard output, standard error.
pub fn answer(output: Output) -> (i32, String, String) {
    let text = |bytes| String::from_utf8(bytes).expect("the output is text");
    let code = output.status.code().expect("the program ends by itself");
    (code, text(output.stdout), text(output.stderr))
}

/// Returns the output of a successful run.
pub fn printed(arguments: &str) -> String {
    let (code, out, error) = answer(run(arguments));
    assert_eq!((code, error.as_str()), (0, ""), "{arguments}");
    out
}

/// Returns the report of a refusal.
pub fn refused(arguments: &str) -> String {
    let (code, out, error) = answer(run(arguments));
    assert_eq!((code, out.as_str()), (2, ""), "{arguments}");
    error
}

/// A program that runs beside the test, and is killed at the end of the test.
pub struct Running(Option<Child>);

impl Running {
    /// Starts the program with pipes for its inputs and outputs.
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(Some(command.spawn().expect("the program starts")))
    }

    fn output(mut self) -> Output {
        let child = self.0.take().expect("it is there until it has ended");
        child.wait_with_output().expect("the program ends")
    }
}

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().expect("it is there until it has ended")
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().expect("it is there until it has ended")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
