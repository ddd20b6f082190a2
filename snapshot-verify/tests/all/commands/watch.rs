//! `check --watch`, while files are edited.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// Maximum time of an answer, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(120);

struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
            .arg("check")
            .args(arguments)
            .arg("--watch")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let outputs: [Box<dyn BufRead + Send>; 2] = [
            Box::new(BufReader::new(child.stdout.take().unwrap())),
            Box::new(BufReader::new(child.stderr.take().unwrap())),
        ];
        for output in outputs {
            let sender = sender.clone();
            thread::spawn(move || {
                output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
            });
        }
        Self { child, lines }
    }

    /// Waits for a line with these words.
    fn says(&self, words: &str) {
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{words}"));
            assert!(!line.contains('\u{1b}'), "no terminal is cleared: {line}");
            if line.contains(words) {
                return;
            }
        }
    }

    /// Ends it as Ctrl-C does; returns its exit code.
    fn interrupt(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn change_is_checked_and_stops_the_running_check() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.snapshot");
    let path = file.to_str().unwrap();
    let bowman = corpus::algorithm("bowman").unwrap().text;
    let wrong = bowman.split("bug ").next().unwrap().replace("until active = me", "until true");
    fs::write(&file, bowman).unwrap();
    let watching = Watching::start(&[path]);
    watching.says("bowman, n = 3: verified");
    watching.says("press Ctrl-C to stop");
    fs::write(&file, &wrong).unwrap();
    watching.says("bowman, n = 3: not linearizable");
    watching.says("press Ctrl-C to stop");
    // Replaced rather than written, and not an algorithm.
    let other = folder.path().join("other");
    fs::write(&other, "nonsense").unwrap();
    fs::rename(&other, &file).unwrap();
    watching.says("help");
    watching.says("press Ctrl-C to stop");
    fs::write(&file, &wrong).unwrap();
    watching.says("bowman, n = 3: not linearizable");
    watching.says("press Ctrl-C to stop");
    assert_eq!(watching.interrupt(), Some(1));

    // A search that would take forever.
    let long = corpus::algorithm("afek_bounded").unwrap().text;
    fs::write(&file, long).unwrap();
    let endless = ["-n", "3,4", "--reductions", "none", "--threads", "1", "--status"];
    let watching = Watching::start(&[&[path], &endless[..]].concat());
    watching.says("states");
    fs::write(&file, &wrong).unwrap();
    watching.says("bowman, n = 4: not linearizable");
    watching.says("press Ctrl-C to stop");
    assert_eq!(watching.interrupt(), Some(1));
}

#[test]
fn watch_needs_a_file() {
    let report = super::refused("check bowman --watch");
    assert!(report.contains("--watch waits for changes of files"), "{report}");
}
