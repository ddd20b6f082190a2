//! End-to-end tests of `monitor`: piped in, followed, connected to, killed and resumed.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::commands::{Running, answer, run};

pub fn monitor(arguments: &[&str]) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snapshot-test"));
    Running::start(command.arg("monitor").args(arguments))
}

pub fn ended(child: Running) -> (i32, String, String) {
    answer(child.output())
}

/// Returns rounds in which process 0 updates and process 1 scans.
fn rounds(values: std::ops::Range<u32>) -> String {
    values.map(|v| format!("p0 update {v}\np0 ok\np1 scan\np1 ok {v}\n")).collect()
}

const WRONG: &str = "p1 scan\np1 ok 3\n";

#[test]
fn piped_input_is_judged() {
    for (text, expected) in [(rounds(1..20), 0), (rounds(1..20) + WRONG, 1)] {
        let mut child = monitor(&[]);
        // A violation ends the program, which may leave the rest unread.
        let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        let (code, out, error) = ended(child);
        assert_eq!((code, error.as_str()), (expected, ""), "{out}");
        match expected {
            0 => {
                assert!(out.contains("linearizable so far (76 events, 0 operations open)"), "{out}")
            }
            _ => assert!(out.contains("not linearizable from 78:1"), "{out}"),
        }
    }
    let mut child = monitor(&[]);
    child.stdin.take().unwrap().write_all(b"p0 update 5\np0 up").unwrap();
    let (code, _, error) = ended(child);
    assert_eq!(code, 2, "{error}");
}

/// The program ends at the violation, while the input is still open.
#[test]
fn alarm_ends_the_program_while_input_is_open() {
    let mut child = monitor(&[]);
    let mut input = child.stdin.take().unwrap();
    input.write_all((rounds(1..5) + WRONG).as_bytes()).unwrap();
    input.flush().unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(out.contains("S1 returned 3 for segment 0"), "{out}");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    drop(input);
}

/// Sends the signal of Ctrl-C on its terminal.
#[cfg(unix)]
pub fn interrupt(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};

    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

/// The writer continues, in the middle of a line: the events so far are judged immediately.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_pipe_with_the_answer_so_far() {
    let mut child = monitor(&[]);
    let mut input = child.stdin.take().unwrap();
    // More than a pipe holds, so the program has begun to read.
    let text = rounds(1..20_000) + "p0 upd";
    input.write_all(text.as_bytes()).unwrap();
    interrupt(&child);
    let (code, out, error) = ended(child);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    let (_, counted) = out.split_once("linearizable so far (").unwrap();
    let events: usize = counted.split(' ').next().unwrap().parse().unwrap();
    assert!(events > 0 && events <= 4 * 20_000, "{out}");
    drop(input);
}

#[cfg(unix)]
#[test]
fn interrupt_ends_followed_files_and_connections() {
    let folder = tempfile::tempdir().unwrap();
    let (log, saved) = (folder.path().join("run.txt"), folder.path().join("run.checkpoint"));
    let names = [log.display().to_string(), saved.display().to_string()];
    let mut file = File::create(&log).unwrap();
    let child = monitor(&["--follow", &names[0], "--checkpoint", &names[1]]);
    write_until_saved(&mut file, 1, &saved);
    file.write_all(b"p1 sc").unwrap();
    interrupt(&child);
    let (code, out, error) = ended(child);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.contains("linearizable so far ("), "{out}");

    let (child, _) = listening(&[]);
    interrupt(&child);
    let (code, out, error) = ended(child);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.ends_with(": nothing new\n"), "{out}");
}

/// Writes rounds to a followed file, from this value on, until there is a checkpoint: a checkpoint
/// that is due is noticed only at further events.
fn write_until_saved(file: &mut File, mut value: u32, saved: &Path) {
    let began = Instant::now();
    while !saved.exists() {
        file.write_all(rounds(value..value + 200).as_bytes()).unwrap();
        value += 200;
        std::thread::sleep(Duration::from_millis(20));
        assert!(began.elapsed() < Duration::from_secs(120), "there is no checkpoint");
    }
}

pub fn wait_for(path: &Path, wanted: impl Fn(&str) -> bool) {
    let began = Instant::now();
    while !fs::read_to_string(path).is_ok_and(|text| wanted(&text)) {
        assert!(began.elapsed() < Duration::from_secs(120), "{} is not written", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Killed while it follows a file, and resumed: the answer of the whole, found from the middle.
#[test]
fn killed_and_resumed_monitor_gives_the_same_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (log, saved) = (folder.path().join("run.txt"), folder.path().join("run.checkpoint"));
    let names = [log.display().to_string(), saved.display().to_string()];
    let arguments = ["--follow", &names[0], "--checkpoint", &names[1]];
    let mut file = File::create(&log).unwrap();
    file.write_all((String::from("segments 1\n") + &rounds(1..5_000)).as_bytes()).unwrap();
    let mut child = monitor(&arguments);
    write_until_saved(&mut file, 5_000, &saved);
    wait_for(&saved, |text| !text.contains("\"lines\":0,"));
    child.kill().unwrap();
    child.wait().unwrap();
    // Half a line, of a writer that was killed, too; then the rest of it.
    file.write_all(b"p1 sc").unwrap();
    file.write_all(b"an\np1 ok 3\n").unwrap();
    let (code, out, error) = ended(monitor(&arguments));
    assert_eq!(code, 1, "{out}{error}");
    assert!(error.contains("going on at line ") && !error.contains("at line 1 "), "{error}");
    let (_, whole, _) = answer(run(&format!("check {}", names[0])));
    let place = |text: &str| {
        let (_, rest) = text.split_once("not linearizable from ").unwrap();
        rest.split(' ').next().unwrap().to_owned()
    };
    assert_eq!(place(&out), place(&whole), "{out}{whole}");
    assert!(out.contains("before are linearizable, and over"), "{out}");
    // A file that is shorter than the checkpoint is a different one.
    fs::write(&log, "segments 1\n").unwrap();
    let (code, _, error) = ended(monitor(&arguments));
    assert!(code == 2 && error.contains("another recording"), "{error}");
}

/// Starts a monitor that waits for connections. Returns it with its address.
pub fn listening(more: &[&str]) -> (Running, String) {
    let mut child = monitor(&[more, &["--listen", "127.0.0.1:0"]].concat());
    let mut line = String::new();
    let mut error = BufReader::new(child.stderr.take().unwrap());
    error.read_line(&mut line).unwrap();
    let address = line.strip_prefix("connections to ").unwrap();
    let address = address.strip_suffix(": waiting\n").unwrap().to_owned();
    // Standard error must be read.
    child.stderr = Some(error.into_inner());
    (child, address)
}

#[test]
fn connections_are_one_recording() {
    let (child, address) = listening(&[]);
    let mut first = TcpStream::connect(&address).unwrap();
    first.write_all(rounds(1..5).as_bytes()).unwrap();
    drop(first);
    let mut second = TcpStream::connect(&address).unwrap();
    second.write_all(WRONG.as_bytes()).unwrap();
    let (code, out, _) = ended(child);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("not linearizable from 18:1"), "{out}");
    // Half a line may have another meaning than the whole.
    let (child, address) = listening(&[]);
    let mut torn = TcpStream::connect(&address).unwrap();
    torn.write_all(b"p0 update 5\np0 ok\np1 scan\np1 ok 1").unwrap();
    drop(torn);
    let (code, _, error) = ended(child);
    assert!(code == 2 && error.contains("closed within a line"), "{error}");
    let (code, _, error) = ended(monitor(&["--listen", "0.0.0.0:0"]));
    assert!(code == 2 && error.contains("127.0.0.1"), "{error}");
}

#[test]
fn objects_are_judged_separately() {
    let mut child = monitor(&[]);
    let text = "@1 p0 update 5\n@2 p0 update 6\n@1 p0 ok\n@2 p1 scan\n@2 p1 ok 0\n@1 p1 scan\n@1 p1 \
                ok 0\n";
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    let (code, out, _) = ended(child);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("standard input @1: violation"), "{out}");
}
