//! Ends of the processes of a cluster, without any loss of input.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use test_support::network::hosts;

use crate::commands::cluster::start;
use crate::commands::monitor::{ended, interrupt};
use crate::commands::monitor_all::{rounds, wrong};
use crate::commands::{answer, run};

/// Writes a file with this text. Returns its path.
fn file(folder: &Path, name: impl AsRef<OsStr>, text: &str) -> String {
    let path = folder.join(name.as_ref());
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// An input, or a checkpoint, that cannot be read ends all processes, even before a process has met
/// the others.
#[test]
fn process_that_cannot_begin_ends_all_processes() {
    let folder = tempfile::tempdir().unwrap();
    let kept = file(folder.path(), "kept", "no checkpoint");
    let input = file(folder.path(), "input", &rounds(&["1"], 1..4));
    fs::create_dir(folder.path().join("empty")).unwrap();
    let empty = folder.path().join("empty").display().to_string();
    for (first, second, input) in [
        ("monitor --all", "monitor --all".to_owned(), "nowhere.txt"),
        ("monitor --all", format!("monitor --all --checkpoint {kept}"), &input),
        ("check", "check".to_owned(), &empty),
    ] {
        let hosts = hosts(folder.path(), 2);
        let children = [start(first, &hosts, 0, &[]), start(&second, &hosts, 1, &[input])];
        let [first, _] = children.map(|child| {
            let (code, out, error) = ended(child);
            assert_eq!((code, out.as_str()), (2, ""), "{second} {input}: {error}");
            error
        });
        assert!(first.contains("process 1 cannot begin"), "{first}");
    }
}

/// Piped input belongs to the process that names it, for every hash.
#[test]
fn standard_input_is_not_split() {
    let folder = tempfile::tempdir().unwrap();
    for process in 0..3 {
        let hosts = hosts(folder.path(), 3);
        let inputs = |number| if number == process { &["-"][..] } else { &[] };
        let start = |number| start("check --split", &hosts, number, inputs(number));
        let mut children = [0, 1, 2].map(start);
        let mut input = children[process].stdin.take().unwrap();
        input.write_all((rounds(&["1"], 1..4) + &wrong("1")).as_bytes()).unwrap();
        drop(input);
        let [first, second, third] = children.map(ended);
        assert_eq!((first.0, second.0, third.0), (1, 1, 1), "{process}: {}", first.2);
        assert!(first.1.contains(&format!("process {process}: standard input @1: violation")));
    }
}

/// A violation of any process is the answer, even if later errors follow from the closed output.
#[test]
fn violation_sets_the_exit_code_despite_a_closed_output() {
    let folder = tempfile::tempdir().unwrap();
    let bad = file(folder.path(), "bad", &(rounds(&["1"], 1..4) + &wrong("1")));
    let good = file(folder.path(), "good", &rounds(&["2"], 1..4));
    let hosts = hosts(folder.path(), 2);
    let mut first = start("check --report json", &hosts, 0, &[&bad]);
    let mut output = BufReader::new(first.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    let second = start("check --report json", &hosts, 1, &[&good]);
    assert_eq!((ended(first).0, ended(second).0), (1, 1));
}

#[test]
fn malformed_line_sets_the_exit_code_despite_a_closed_output() {
    let folder = tempfile::tempdir().unwrap();
    let bad = file(folder.path(), "bad", &(rounds(&["1"], 1..4) + "@1 p0 okay\n"));
    let good = file(folder.path(), "good", &rounds(&["2"], 1..4));
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_snapshot-test"));
    command.args(["monitor", "--all", &bad, &good]).stdout(writer).stderr(Stdio::null());
    assert_eq!(command.status().unwrap().code(), Some(2));
}

/// Names that are not text look equal, and an input of `check` may be named twice.
#[test]
fn inputs_with_equal_display_names_are_distinct() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    let text = (rounds(&["1"], 1..4) + &wrong("1")).replace("@1 ", "");
    for name in [&b"a\xfe"[..], b"a\xff"] {
        file(&logs, OsStr::from_bytes(name), &text);
    }
    let logs = logs.display().to_string();
    for (command, inputs) in [
        ("monitor --all --report json", &[logs.as_str()][..]),
        ("check --report json", &[&logs]),
        ("check --report json", &[&logs, &logs]),
    ] {
        let (code, single, _) = answer(run(&format!("{command} {}", inputs.join(" "))));
        let hosts = hosts(folder.path(), 2);
        let [first, second] = [(0, &[][..]), (1, inputs)]
            .map(|(number, inputs)| start(command, &hosts, number, inputs));
        let (found, out, error) = ended(first);
        assert_eq!((found, ended(second).0), (code, code), "{error}");
        assert_eq!(out.lines().count(), single.lines().count(), "{command} {inputs:?}: {out}");
    }
}

/// Without `--all` one alarm is printed, though several arrive together.
#[test]
fn only_one_of_simultaneous_alarms_is_printed() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let keys = ["0", "1", "2", "3"];
        let names = keys.map(|key| file(folder.path(), key, &rounds(&[key], 1..4)));
        let hosts = hosts(folder.path(), 4);
        let start = |number: usize| start("monitor --follow", &hosts, number, &[&names[number]]);
        let children = [0, 1, 2, 3].map(start);
        // All processes have met.
        thread::sleep(Duration::from_millis(300));
        for (key, name) in keys.iter().zip(&names) {
            let mut log = File::options().append(true).open(name).unwrap();
            log.write_all(wrong(key).as_bytes()).unwrap();
        }
        let [first, ..] = children.map(|child| ended(child).1);
        assert_eq!(first.matches(": violation").count(), 1, "{first}");
    }
}

#[test]
fn ctrl_c_ends_a_process_that_waits_for_process_0() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = hosts(folder.path(), 2);
    let child = start("monitor --all", &hosts, 1, &[]);
    thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    interrupt(&child);
    let (code, _, error) = ended(child);
    assert!(code == 2 && error.contains("was not reached"), "{code}: {error}");
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn cluster_process_accepts_connections_as_input() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = hosts(folder.path(), 2);
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let first = start("monitor --all", &hosts, 0, &[]);
    let second = start(&format!("monitor --all --listen {address}"), &hosts, 1, &[]);
    let began = Instant::now();
    let mut input = loop {
        match TcpStream::connect(address) {
            Ok(socket) => break socket,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(60), "{error}"),
        }
        thread::sleep(Duration::from_millis(20));
    };
    input.write_all((rounds(&["1"], 1..4) + &wrong("1")).as_bytes()).unwrap();
    drop(input);
    thread::sleep(Duration::from_millis(500));
    interrupt(&second);
    let (code, out, error) = ended(first);
    assert!(code == 1 && out.contains("@1: violation"), "{code}: {out}{error}");
    assert_eq!(ended(second).0, 1);
}
