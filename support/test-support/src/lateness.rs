//! Measures how late a program ends after its limit of time, or after Ctrl-C.

use std::fs;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Program;

/// Way to tell a program to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Told {
    /// By its own option, which is among the arguments.
    Limit,
    /// By Ctrl-C, once.
    Interrupt,
}

/// End of a program that was told to end.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Processor time used since it was told to end, in hundredths of a second as the system
    /// counts. Wall time is meaningless on a busy machine.
    pub late: Duration,
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// True if it had to be killed.
    pub killed: bool,
}

/// Longest wait for the end.
const PATIENCE: Duration = Duration::from_secs(20);

/// Interval between checks of a process.
const LOOK: Duration = Duration::from_millis(3);

impl Program {
    /// Runs it, and tells it to end after this time.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn ended(self, arguments: &[&str], after: Duration, told: Told) -> Ended {
        let mut child = Command::new(self.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let began = Instant::now();
        let status = |child: &mut Child| child.try_wait().expect("it is a child");
        let (mut used, mut used_before) = (Duration::ZERO, None);
        loop {
            if let Some(status) = status(&mut child) {
                return ended(Some(status), used, used_before);
            }
            used = processor_time(child.id()).unwrap_or(used);
            let is_to_end = began.elapsed() >= after;
            if is_to_end && used_before.is_none() {
                used_before = Some(used);
                if told == Told::Interrupt {
                    interrupt(child.id());
                }
            }
            if began.elapsed() >= after + PATIENCE {
                let _ = child.kill();
                let _ = child.wait();
                return ended(None, used, used_before);
            }
            thread::sleep(LOOK);
        }
    }
}

fn ended(status: Option<ExitStatus>, used: Duration, before: Option<Duration>) -> Ended {
    let late = before.map_or(Duration::ZERO, |before| used.saturating_sub(before));
    Ended { late, code: status.and_then(|status| status.code()), killed: status.is_none() }
}

/// Sends a process the signal of Ctrl-C.
///
/// # Panics
/// If `kill` is not available.
pub fn interrupt(process: u32) {
    let status = Command::new("kill").args(["-INT", &process.to_string()]).status();
    status.expect("there is `kill`");
}

/// Returns the processor time that a process has used; `None` if it has ended, or the system does
/// not tell.
pub fn processor_time(process: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the name, which may contain any characters, the state is the third field of the line,
    // the times are the 14th and 15th.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}
