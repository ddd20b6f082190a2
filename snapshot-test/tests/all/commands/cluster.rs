//! `monitor --cluster` and `check --cluster`: several processes, each with its inputs, have the
//! findings of one process that reads all inputs, even if processes are killed, cut off or slow.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use test_support::network::hosts;

use crate::commands::cluster_kills::has_ended;
use crate::commands::monitor::{ended, interrupt};
use crate::commands::monitor_all::{Lines, records, rounds, wrong};
use crate::commands::monitor_workers::{blocked_writer, many};
use crate::commands::{Running, answer, run};

/// Starts a process of a cluster, with a command line.
pub fn start(command_line: &str, hosts: &Path, process: usize, inputs: &[&str]) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_snapshot-test"));
    command.args(command_line.split_whitespace()).arg("--cluster").arg(hosts);
    Running::start(command.args(["--process", &process.to_string()]).args(inputs))
}

/// Writes recordings of many objects with different keys to files. Returns their paths.
pub fn logs(folder: &Path, names: &[&str], rounds: usize) -> Vec<String> {
    let write = |name: &&str| {
        let path = folder.join(format!("{name}.txt"));
        fs::write(&path, many(40, rounds).replace("user", name)).unwrap();
        path.display().to_string()
    };
    names.iter().map(write).collect()
}

/// Removes the names of processes.
pub fn plain(text: &str) -> String {
    let text = text.replace("process 0: ", "").replace("process 1: ", "");
    text.replace("process 2: ", "").replace("process 3: ", "")
}

/// Returns the lines on inputs and objects, sorted, and the final line, if it is a summary.
fn sorted(out: &str, has_summary: bool) -> (Vec<String>, Option<String>) {
    let mut lines: Vec<String> = plain(out).lines().map(str::to_owned).collect();
    let last = if has_summary { lines.pop() } else { None };
    lines.sort_unstable();
    (lines, last)
}

#[test]
fn any_number_of_processes_gives_the_same_findings() {
    let folder = tempfile::tempdir().unwrap();
    let names = logs(folder.path(), &["a", "b", "c", "d"], 30);
    // One input is malformed from some position on.
    fs::write(&names[3], "@1 p0 update 1\n@1 p0 okay\n").unwrap();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for command in ["monitor --all --report json", "check --report json", "check"] {
        let single = run(&format!("{command} {}", names.join(" ")));
        let (code, single, errors) = answer(single);
        let has_summary = command != "check --report json";
        let expected = sorted(&single, has_summary);
        assert!(code == 1 && expected.0.len() >= 3, "{errors}");
        for processes in 1..=4 {
            let hosts = hosts(folder.path(), processes);
            let inputs = |process| -> Vec<&str> {
                // The last process reads the inputs that the others leave.
                let last = if process + 1 == processes { names.len() } else { process + 1 };
                names[process..last].to_vec()
            };
            let start = |process| start(command, &hosts, process, &inputs(process));
            let children: Vec<Running> = (0..processes).map(start).collect();
            for (process, child) in children.into_iter().enumerate() {
                let (found, out, error) = ended(child);
                assert_eq!(found, code, "process {process} of {processes}: {error}");
                if process == 0 {
                    let is_same = sorted(&out, has_summary) == expected;
                    assert!(is_same, "{processes} processes: {command}: {out:.2000}");
                    assert_eq!(plain(&error).contains("okay"), errors.contains("okay"), "{error}");
                } else {
                    assert_eq!(out, "", "process {process}");
                }
            }
        }
    }
}

/// All processes name the same folder, and each file is judged by one of them.
#[test]
fn shared_files_are_split_among_processes() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..24).map(|number| format!("log {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    logs(&folder.path().join("."), &names, 3);
    let whole = folder.path().display().to_string();
    let place = tempfile::tempdir().unwrap();
    let hosts = hosts(place.path(), 3);
    let start = |process| start("check --split --report json", &hosts, process, &[&whole]);
    let mut children = (0..3).map(start).collect::<Vec<Running>>().into_iter();
    let (_, out, error) = ended(children.next().unwrap());
    let mut of = BTreeMap::new();
    let mut read = BTreeSet::new();
    for record in records(&out) {
        let input = record["input"].as_str().unwrap();
        let (process, name) = input.split_once(": ").unwrap();
        assert!(read.insert(name.to_owned()), "{name} was judged twice");
        *of.entry(process.to_owned()).or_insert(0) += 1;
    }
    assert_eq!(read.len(), 24, "{error}");
    assert!(of.len() == 3 && of.values().all(|count| *count > 2), "{of:?}");
    children.for_each(|child| drop(ended(child)));
}

#[test]
fn object_in_inputs_of_two_processes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a.txt", "b.txt"].map(|name| folder.path().join(name).display().to_string());
    fs::write(&names[0], rounds(&["1", "\"x\""], 1..4)).unwrap();
    fs::write(&names[1], rounds(&["\"x\"", "2"], 1..4)).unwrap();
    let hosts = hosts(folder.path(), 2);
    let start = |process| start("monitor --all", &hosts, process, &[&names[process]]);
    let [first, second] = [0, 1].map(start);
    let (code, out, error) = ended(first);
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    let [a, b] = [0, 1].map(|process| format!("process {process}: {}", names[process]));
    let is_named = error.starts_with(&format!("{a}: object @\"x\" is in {b}, too"))
        || error.starts_with(&format!("{b}: object @\"x\" is in {a}, too"));
    assert!(is_named && error.contains("help: write all events of an object to one"), "{error}");
    assert_eq!(ended(second).0, 2);
}

/// A checkpoint has keys, too, whose objects may have no further events.
#[test]
fn object_of_a_checkpoint_belongs_to_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = hosts(folder.path(), 2);
    let names = ["a", "b", "kept"].map(|name| folder.path().join(name).display().to_string());
    fs::write(&names[0], rounds(&["1", "2"], 1..4)).unwrap();
    fs::write(&names[1], rounds(&["3"], 1..4)).unwrap();
    let kept = format!("monitor --all --checkpoint {}", names[2]);
    let ends = |key: &str| {
        let first = start("monitor --all", &hosts, 0, &[&names[1]]);
        let second = start(&kept, &hosts, 1, &[&names[0]]);
        let (first, second) = (ended(first), ended(second));
        assert_eq!(first.0, second.0, "{key}");
        first
    };
    assert_eq!(ends("3").0, 0);
    fs::write(&names[1], rounds(&["1"], 1..4)).unwrap();
    let (code, out, error) = ends("1");
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    assert!(error.contains("object @1 is in process "), "{error}");
}

/// A malformed event at one process determines the exit code of all, unless an object is wrong.
#[test]
fn malformed_input_sets_the_exit_code_of_all_processes() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = hosts(folder.path(), 2);
    let names = ["a", "b"].map(|name| folder.path().join(name).display().to_string());
    fs::write(&names[0], rounds(&["1"], 1..4)).unwrap();
    fs::write(&names[1], rounds(&["2"], 1..4) + "@2 p0 okay\n").unwrap();
    for command in ["monitor --all", "check"] {
        let children = [0, 1].map(|process| start(command, &hosts, process, &[&names[process]]));
        for (process, child) in children.into_iter().enumerate() {
            let (code, out, error) = ended(child);
            assert_eq!(code, 2, "process {process}: {out}{error}");
        }
    }
}

/// An alarm of one process ends endless inputs of others; with --all, it does not.
#[test]
fn alarm_ends_all_processes_unless_all_is_given() {
    for (all, process) in [("", 0), ("", 1), (" --all", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let names = ["0", "1", "2"].map(|name| folder.path().join(name).display().to_string());
        for (key, name) in names.iter().enumerate() {
            fs::write(name, rounds(&[&key.to_string()], 1..4)).unwrap();
        }
        let hosts = hosts(folder.path(), 3);
        let command = format!("monitor --follow{all}");
        let start = |process: usize| start(&command, &hosts, process, &[&names[process]]);
        let mut children = [0, 1, 2].map(start);
        let output = Lines::new(children[0].stdout.take().unwrap());
        let mut log = File::options().append(true).open(&names[process]).unwrap();
        log.write_all(wrong(&process.to_string()).as_bytes()).unwrap();
        output.until(&format!("process {process}: {} @{process}: violation", names[process]));
        if all.is_empty() {
            assert!(!output.rest().contains("inputs"));
        } else {
            let mut log = File::options().append(true).open(&names[2]).unwrap();
            log.write_all(wrong("2").as_bytes()).unwrap();
            output.until("@2: violation");
            // Ctrl-C in any of them ends all, with the summary.
            interrupt(&children[2]);
            let rest = output.rest();
            assert!(
                rest.contains("3 inputs: violation (2 of 3 objects wrong; 40 events"),
                "{rest}"
            );
        }
        for child in children {
            let (code, out, error) = ended(child);
            // All processes may have ended before it connected.
            let is_late = all.is_empty() && error.contains("cannot be reached");
            assert!(
                out.is_empty() && (code == 1 && error.is_empty() || is_late),
                "{code}: {error}"
            );
        }
    }
}

/// A process that had ended, and is started again, is waited for again: there may be more to read.
#[test]
fn restarted_process_is_waited_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = hosts(folder.path(), 2);
    let names = ["0", "1"].map(|name| folder.path().join(name).display().to_string());
    fs::write(&names[0], rounds(&["0"], 1..4)).unwrap();
    fs::write(&names[1], rounds(&["1"], 1..4)).unwrap();
    let mut first = start("monitor --all --follow --status 0.05", &hosts, 0, &[&names[0]]);
    let errors = Lines::new(first.stderr.take().unwrap());
    let mut second = start("monitor --all", &hosts, 1, &[&names[1]]);
    // Its file has been read, and it waits for process 0.
    errors.until("24 events read, 2 objects");
    thread::sleep(Duration::from_millis(300));
    second.kill().unwrap();
    second.wait().unwrap();
    let mut log = File::options().append(true).open(&names[1]).unwrap();
    log.write_all(wrong("1").as_bytes()).unwrap();
    let second = start("monitor --all --follow", &hosts, 1, &[&names[1]]);
    let output = Lines::new(first.stdout.take().unwrap());
    output.until("@1: violation");
    interrupt(&first);
    let rest = output.rest();
    assert!(rest.contains("2 inputs: violation (1 of 2 objects wrong; 26 events"), "{rest}");
    assert_eq!((ended(first).0, ended(second).0), (1, 1));
}

/// A stopped process does not answer: a second Ctrl-C ends process 0 without it.
#[test]
fn second_ctrl_c_ends_process_0_at_once() {
    use rustix::process::{Pid, Signal, kill_process};

    let folder = tempfile::tempdir().unwrap();
    let hosts = hosts(folder.path(), 2);
    let mut first = start("monitor --all", &hosts, 0, &[]);
    let mut second = start("monitor --all", &hosts, 1, &["-"]);
    let output = Lines::new(first.stdout.take().unwrap());
    let mut input = second.stdin.take().unwrap();
    input.write_all((rounds(&["1"], 1..4) + &wrong("1")).as_bytes()).unwrap();
    output.until("@1: violation");
    kill_process(Pid::from_child(&second), Signal::STOP).unwrap();
    interrupt(&first);
    assert!(!has_ended(&mut first, 1), "it does not wait");
    interrupt(&first);
    assert!(has_ended(&mut first, 30), "it waits");
    assert!(!output.rest().contains("objects wrong"));
    assert_eq!(ended(first).0, 2);
    kill_process(Pid::from_child(&second), Signal::CONT).unwrap();
    let (code, _, error) = ended(second);
    assert!(code == 2 && error.contains("is lost: "), "{code}: {error}");
}

/// Alarms that are not read at process 0 hold up the reading of another process.
#[test]
fn unread_output_blocks_other_processes() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = hosts(folder.path(), 2);
    let mut first = start("monitor --all", &hosts, 0, &[]);
    let mut second = start("monitor --all", &hosts, 1, &["-"]);
    let writer = blocked_writer(second.stdin.take().unwrap(), 5_000);
    let output = Lines::new(first.stdout.take().unwrap());
    let rest = output.rest();
    assert!(rest.contains("5000 of 5000 objects wrong; 20000 events"), "{:.300}", rest);
    writer.join().unwrap();
    assert_eq!((ended(first).0, ended(second).0), (1, 1));
}

#[test]
fn invalid_cluster_options_and_inputs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = hosts(folder.path(), 2);
    let shown = hosts.display();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = folder.path().join("busy");
    fs::write(&busy, format!("{}\n", taken.local_addr().unwrap())).unwrap();
    for (arguments, why) in [
        (format!("monitor --cluster {shown} --process 2"), "there is no process 2: 2 are named"),
        (format!("check --cluster {shown} --process 2 a"), "there is no process 2: 2 are named"),
        (format!("monitor --cluster {shown}.no --process 0"), "cannot read --cluster"),
        (format!("monitor --cluster {} --process 0", busy.display()), "process 0 cannot listen at"),
        (format!("monitor --cluster {shown}"), "--process"),
        ("monitor --process 1".to_owned(), "--cluster"),
        ("check --split a".to_owned(), "--cluster"),
        (
            format!("check --cluster {shown} --process 0 --report junit a"),
            "each process of --cluster reports its own",
        ),
    ] {
        let (code, out, error) = answer(run(&arguments));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments}: {error}");
        assert!(error.contains(why), "{arguments}: {error}");
    }

    // Processes with different commands.
    for (first, second, why) in [
        ("monitor --all", "monitor", "it runs `monitor --report human`"),
        ("monitor --all", "check", "it runs `check --report human`"),
        ("check --object queue", "check --object stack", "check --report human --object stack`"),
    ] {
        let mut first = start(first, &hosts, 0, &[]);
        let (code, _, error) = ended(start(second, &hosts, 1, &[]));
        assert_eq!(code, 2, "{error}");
        assert!(error.contains("refuses: ") && error.contains(why), "{error}");
        first.kill().unwrap();
        first.wait().unwrap();
    }

    // An input that cannot be read ends all processes, and all report the reason.
    let first = start("monitor --all --follow", &hosts, 0, &["nowhere.txt"]);
    let (code, _, error) = ended(first);
    assert!(code == 2 && error.contains("nowhere.txt"), "{error}");
}
