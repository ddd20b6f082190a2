//! `--cluster` listens at the loopback, or requires a key; a process with another key does not
//! join.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use test_support::network::hosts;

use crate::commands::cluster::start;
use crate::commands::monitor::ended;
use crate::commands::monitor_all::{rounds, wrong};
use crate::commands::{Running, answer, run};

fn key(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, format!("the key {name}, long enough\n")).unwrap();
    path.display().to_string()
}

/// Writes two recordings, the second one, of process 1, wrong. Returns their paths.
fn recordings(folder: &Path) -> [String; 2] {
    [(0, rounds(&["0"], 1..4)), (1, rounds(&["1"], 1..4) + &wrong("1"))].map(|(number, text)| {
        let path = folder.join(format!("{number}.txt"));
        fs::write(&path, text).unwrap();
        path.display().to_string()
    })
}

/// Process 0 waits until the right process connects, and reports once for each other one why it may
/// not join.
#[test]
fn process_with_another_key_is_refused_and_others_continue() {
    let folder = tempfile::tempdir().unwrap();
    let (hosts, [good, bad]) = (hosts(folder.path(), 2), recordings(folder.path()));
    let [right, other] = ["right", "other"].map(|name| key(folder.path(), name));
    for command in ["check", "monitor --all"] {
        let first = start(&format!("{command} --key-file {right}"), &hosts, 0, &[&good]);
        for (options, why) in [
            (format!(" --key-file {other}"), "the keys differ"),
            (String::new(), "it has a key, and this process has none"),
        ] {
            let began = Instant::now();
            let second = start(&format!("{command}{options}"), &hosts, 1, &[&bad]);
            let (code, out, error) = ended(second);
            assert_eq!((code, out.as_str(), error.lines().count()), (2, "", 1), "{error}");
            assert!(error.starts_with("process 0 (127.0.0.1:") && error.contains(why), "{error}");
            assert!(began.elapsed() < Duration::from_secs(30), "it tries again");
        }
        let second = start(&format!("{command} --key-file {right}"), &hosts, 1, &[&bad]);
        let (code, out, error) = ended(first);
        assert_eq!(code, 1, "{error}");
        assert!(out.contains("@1: violation"), "{out}");
        assert_eq!(error.matches("may not join: ").count(), 2, "{error}");
        assert!(!error.contains("long enough"), "{error}");
        assert_eq!(ended(second).0, 1);
    }
}

/// Neither an invalid greeting nor an unfinished one keeps another process from joining.
#[test]
fn garbage_and_silence_do_not_block_joining() {
    let folder = tempfile::tempdir().unwrap();
    let (hosts, [good, bad]) = (hosts(folder.path(), 2), recordings(folder.path()));
    let address = fs::read_to_string(&hosts).unwrap().lines().next().unwrap().to_owned();
    let first = start("check", &hosts, 0, &[&good]);
    let began = Instant::now();
    let connected = || loop {
        match TcpStream::connect(&address) {
            Ok(socket) => return socket,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(30), "{error}"),
        }
    };
    let mut open: Vec<TcpStream> = (0..30).map(|_| connected()).collect();
    let garbage = [&b"GET / HTTP/1.1\r\n\r\n"[..], b"{\"snapshot_cluster\":1}\n", &[0xff; 4096]];
    for (number, socket) in open.iter_mut().enumerate() {
        // Every fourth one sends nothing.
        if let Some(bytes) = garbage.get(number % 4) {
            let _ = socket.write_all(bytes);
        }
    }
    let second = start("check", &hosts, 1, &[&bad]);
    let (code, out, error) = ended(first);
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    assert_eq!(ended(second).0, 1);
    drop(open);
}

#[test]
fn key_is_required_for_remote_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let [right, short] = ["right", "short"].map(|name| key(folder.path(), name));
    fs::write(&short, "too short\n").unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let here = hosts(folder.path(), 2).display().to_string();
    let any = file("any", "0.0.0.0:2201\n127.0.0.1:2202\n");
    let far = file("far", "192.0.2.1:2201\n127.0.0.1:2202\n");
    for (arguments, why) in [
        (format!("--cluster {any} --process 0"), "add --network, and a key"),
        (format!("--cluster {any} --process 0 --key-file {right}"), "add --network, and a key"),
        (format!("--cluster {any} --process 0 --network"), "--network lets other machines connect"),
        (format!("--cluster {far} --process 1"), "it is not at the loopback of this machine"),
        (format!("--cluster {here} --process 0 --key-file {short}"), "needs at least 16"),
        (format!("--cluster {here} --process 1 --key-file {short}.no"), "--key-file"),
        ("--network".to_owned(), "--cluster"),
        (format!("--key-file {right}"), "--cluster"),
    ] {
        for command in ["check", "monitor"] {
            let (code, out, error) = answer(run(&format!("{command} {arguments} -")));
            assert_eq!((code, out.as_str()), (2, ""), "{arguments}: {error}");
            assert!(error.contains(why), "{arguments}: {error}");
        }
    }
}

/// The key of the environment, an address of all networks, and otherwise equal processes.
#[test]
fn key_allows_listening_at_all_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let (hosts, [good, bad]) = (hosts(folder.path(), 2), recordings(folder.path()));
    let (any, text) = (folder.path().join("any"), fs::read_to_string(&hosts).unwrap());
    fs::write(&any, text.replacen("127.0.0.1", "0.0.0.0", 1)).unwrap();
    let start = |hosts: &PathBuf, process: &str, input: &str, key: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_snapshot-test"));
        command.args(["check", "--network", "--process", process, "--cluster"]).arg(hosts);
        Running::start(command.arg(input).env("SNAPSHOT_CLUSTER_KEY", key))
    };
    let first = start(&any, "0", &good, "a key of the environment");
    let (code, _, error) = ended(start(&hosts, "1", &bad, "a key of something else"));
    assert!(code == 2 && error.contains("the keys differ"), "{error}");
    let (code, _, error) = ended(start(&hosts, "1", &bad, ""));
    assert!(code == 2 && error.contains("SNAPSHOT_CLUSTER_KEY: the key has 0 bytes"), "{error}");
    let second = start(&hosts, "1", &bad, "a key of the environment");
    assert_eq!((ended(first).0, ended(second).0), (1, 1));
}
