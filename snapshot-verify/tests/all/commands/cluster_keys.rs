//! `check --cluster` listens at the loopback, or requires a key; a process with another key cannot
//! join.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::cluster::{CASE, counts, ended, hosts, start};
use super::{json, refused};

fn key(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, format!("the key {name}, long enough\n")).unwrap();
    path.display().to_string()
}

/// Process 0 waits until the right process joins, and reports once for each other one why it may
/// not join.
#[test]
fn process_with_another_key_is_refused_and_others_continue() {
    let (folder, hosts) = hosts(2);
    let [right, other] = ["right", "other"].map(|name| key(folder.path(), name));
    let case = format!("{CASE} --report json --key-file {right}");
    let first = start(&case, &hosts, 0);
    // Neither garbage nor silence keeps others from joining.
    let address = fs::read_to_string(&hosts).unwrap().lines().next().unwrap().to_owned();
    let began = Instant::now();
    let connected = |bytes: &[u8]| loop {
        match TcpStream::connect(&address) {
            Ok(mut socket) => {
                let _ = socket.write_all(bytes);
                return socket;
            }
            Err(error) => assert!(began.elapsed() < Duration::from_secs(30), "{error}"),
        }
    };
    let open = [&b""[..], b"GET / HTTP/1.1\r\n\r\n", b"snapshot", &[0xff; 4096]].map(connected);
    for (options, why) in [
        (format!(" --key-file {other}"), "the keys differ"),
        (String::new(), "it has a key, and this process has none"),
    ] {
        let (code, out, error) =
            ended(vec![start(&format!("{CASE}{options}"), &hosts, 1)]).remove(0);
        assert_eq!((code, out.as_str(), error.lines().count()), (Some(2), "", 1), "{error}");
        assert!(error.starts_with("process 0 (127.0.0.1:") && error.contains(why), "{error}");
    }
    let both = ended(vec![first, start(&case, &hosts, 1)]);
    assert_eq!((both[0].0, both[1].0), (Some(0), Some(0)), "{both:?}");
    assert_eq!(both[0].2.matches("may not join: ").count(), 2, "{both:?}");
    let lines = both[0].1.lines().map(|line| serde_json::from_str(line).unwrap());
    assert_eq!(counts(&lines.collect::<Vec<_>>()), counts(&json(0, CASE)));
    drop(open);
}

#[test]
fn key_is_required_for_remote_addresses() {
    let (folder, hosts) = hosts(2);
    let (here, right) = (hosts.display(), key(folder.path(), "right"));
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let short = file("short", "too short");
    let any = file("any", "0.0.0.0:2201\n127.0.0.1:2202\n");
    let far = file("far", &format!("192.0.2.1:2201\n{}", fs::read_to_string(&hosts).unwrap()));
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
        let error = refused(&format!("{CASE} {arguments}"));
        assert!(error.contains(why), "{arguments}: {error}");
    }
}

/// With a key in the environment, process 0 listens at all addresses.
#[test]
fn key_allows_listening_at_all_addresses() {
    let (folder, hosts) = hosts(2);
    let (any, text) = (folder.path().join("any"), fs::read_to_string(&hosts).unwrap());
    fs::write(&any, text.replacen("127.0.0.1", "0.0.0.0", 1)).unwrap();
    let start = |hosts: &Path, process: &str| {
        Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
            .args(CASE.split_whitespace())
            .args(["--network", "--process", process, "--cluster"])
            .arg(hosts)
            .env("SNAPSHOT_CLUSTER_KEY", "a key of the environment")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let both = ended(vec![start(&any, "0"), start(&hosts, "1")]);
    assert_eq!((both[0].0, both[1].0), (Some(0), Some(0)), "{both:?}");
}
