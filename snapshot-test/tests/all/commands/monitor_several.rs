//! End-to-end tests of `monitor` with several inputs: files, folders and connections concurrently.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::commands::monitor::{ended, monitor};
use crate::commands::monitor_all::{Lines, records, rounds, wrong};
use crate::commands::monitor_workers::{alarm, killed_fifty_times, many};
use crate::commands::{answer, run};

/// Returns a recording without keys, whose last scan may be wrong.
fn bare(rounds: u32, is_wrong: bool) -> String {
    let mut text = String::from("segments 1\n");
    for v in 1..=rounds {
        let read = if is_wrong && v == rounds { v - 1 } else { v };
        text += &format!("p0 update {v}\np0 ok\np1 scan\np1 ok {read}\n");
    }
    text
}

/// Writes files into a folder. Returns their paths.
fn files(folder: &Path, texts: &[(&str, String)]) -> Vec<String> {
    let write = |(name, text): &(&str, String)| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    texts.iter().map(write).collect()
}

#[test]
fn alarms_name_their_input_and_one_summary_follows() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        ("a.txt", rounds(&["1", "2"], 1..4) + &wrong("2")),
        ("b.txt", bare(4, true)),
        ("below/c.txt", bare(3, false)),
        ("d.txt", String::from("@9 p0 update 1\n@9 p0 okay\n")),
    ];
    let names = files(folder.path(), &texts);
    let whole = folder.path().display().to_string();
    for workers in ["1", "3"] {
        let (code, out, error) = ended(monitor(&["--all", "--workers", workers, &whole]));
        assert_eq!(code, 1, "{out}{error}");
        for head in [format!("{} @2: violation (", names[0]), format!("{}: violation (", names[1])]
        {
            assert_eq!(out.lines().filter(|line| line.starts_with(&head)).count(), 1, "{out}");
        }
        let summary = format!(
            "4 inputs: violation (2 of 5 objects wrong; 55 events, 1 operation open)\n  {} @2: not \
             linearizable from 26:1 on (event 13 of the object)\n  {}: not linearizable from 17:1 on \
             (event 15 of the object)\n",
            names[0], names[1]
        );
        assert!(out.ends_with(&summary), "{out}");
        assert!(error.starts_with(&format!("{}:2:7: ", names[3])), "{error}");
    }
    let (_, out, _) = ended(monitor(&["--all", "--report", "json", &whole]));
    let records = records(&out);
    assert_eq!(records.len(), 3, "{out}");
    let summary = &records[2];
    assert_eq!(summary["inputs"].as_array().unwrap().len(), 4, "{out}");
    assert_eq!(summary["violations"][0]["input"], names[0], "{out}");
    assert_eq!(summary["violations"][1]["key"], Value::Null, "{out}");
    assert_eq!(summary["violations"][1]["input"], names[1], "{out}");

    // Without --all, the first alarm ends the program, and so does a malformed event.
    let (code, out, error) = ended(monitor(&[&names[1], &names[2]]));
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    assert!(out.starts_with(&format!("{}: violation (", names[1])), "{out}");
    assert!(!out.contains("inputs"), "{out}");
    let (code, out, error) = ended(monitor(&[&names[2], &names[3]]));
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    let (code, out, _) = ended(monitor(&[&names[2], "-"]));
    assert_eq!(code, 2, "an empty input is no recording: {out}");
}

#[test]
fn object_in_two_inputs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        ("a.txt", rounds(&["1", "\"x\""], 1..4)),
        ("b.txt", bare(2, false)),
        ("c.txt", rounds(&["3", "\"x\""], 1..2)),
    ];
    let names = files(folder.path(), &texts);
    for workers in ["1", "2", "5"] {
        let arguments = ["--all", "--workers", workers, &names[0], &names[1], &names[2]];
        let (code, out, error) = ended(monitor(&arguments));
        assert_eq!((code, out.as_str()), (2, ""), "{error}");
        let (one, other) = (&names[0], &names[2]);
        let is_named = error.starts_with(&format!("{one}:2:1: object @\"x\" is in {other}, too"))
            || error.starts_with(&format!("{other}:2:1: object @\"x\" is in {one}, too"));
        assert!(
            is_named && error.contains("help: write all events of an object to one"),
            "{error}"
        );
    }
}

#[test]
fn incompatible_inputs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let names = files(folder.path(), &[("a.txt", bare(2, false)), ("b.txt", bare(2, false))]);
    let again = folder.path().join(".").join("a.txt").display().to_string();
    for (arguments, why) in [
        (vec![names[0].as_str(), again.as_str()], "is named twice: name it once"),
        (vec!["-", "-"], "standard input is named twice"),
        (vec![&names[0], "nowhere.txt"], "cannot read nowhere.txt: "),
        (vec![&names[0], "tcp://here"], "tcp://here: expected an address of this machine"),
        (vec![&names[0], "tcp://0.0.0.0:0"], "only addresses such as 127.0.0.1"),
        (vec!["--listen", "127.0.0.1:0", &names[0]], "tcp://127.0.0.1:PORT beside them"),
    ] {
        let (code, out, error) = ended(monitor(&arguments));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {error}");
        assert!(error.contains(why), "{arguments:?}: {error}");
    }
}

/// A checkpoint identifies an input by its name: it would be refused when it is read again.
#[test]
fn inputs_with_equal_display_names_have_no_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    for name in [&b"a\xfe"[..], b"a\xff"] {
        fs::write(logs.join(OsStr::from_bytes(name)), bare(2, false)).unwrap();
    }
    let logs = logs.display().to_string();
    let kept = folder.path().join("kept").display().to_string();
    let (code, out, error) = ended(monitor(&[&logs, "--checkpoint", &kept]));
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    assert!(error.contains("give one of them another name"), "{error}");
    assert!(!Path::new(&kept).exists());
    assert_eq!(ended(monitor(&[&logs])).0, 0);
}

/// Connections to two addresses, a growing file, and a pipe: an alarm of one does not wait for the
/// others, and Ctrl-C ends all.
#[test]
fn endless_inputs_do_not_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let names = files(folder.path(), &[("a.txt", rounds(&["1", "2"], 1..3))]);
    let arguments = ["--all", "--follow", "tcp://127.0.0.1:0", &names[0], "tcp://127.0.0.1:0", "-"];
    let mut child = monitor(&arguments);
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut address = || {
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        let address = line.strip_prefix("connections to ").unwrap();
        address.strip_suffix(": waiting\n").unwrap().to_owned()
    };
    let (first, second) = (address(), address());
    let output = Lines::new(child.stdout.take().unwrap());
    let mut one = TcpStream::connect(&first).unwrap();
    let mut other = TcpStream::connect(&second).unwrap();
    one.write_all((rounds(&["3"], 1..3) + &wrong("3")).as_bytes()).unwrap();
    output.until(&format!("connections to {first} @3: violation"));
    let mut log = File::options().append(true).open(&names[0]).unwrap();
    log.write_all(wrong("2").as_bytes()).unwrap();
    output.until(&format!("{} @2: violation", names[0]));
    other.write_all((rounds(&["4", "5"], 1..3) + &wrong("5")).as_bytes()).unwrap();
    output.until(&format!("connections to {second} @5: violation"));
    let mut input = child.stdin.take().unwrap();
    input.write_all(bare(3, true).as_bytes()).unwrap();
    output.until("standard input: violation");
    #[cfg(unix)]
    {
        crate::commands::monitor::interrupt(&child);
        let rest = output.rest();
        assert!(rest.contains("4 inputs: violation (4 of 6 objects wrong; 58 events"), "{rest}");
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
    let _ = child.kill();
}

/// More files than are read at a time.
#[test]
fn a_folder_of_many_files_is_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..400 {
        let text = bare(3, number % 10 == 0);
        fs::write(folder.path().join(format!("{number}.txt")), text).unwrap();
    }
    let whole = folder.path().display().to_string();
    let (code, out, error) = ended(monitor(&["--all", "--workers", "2", &whole]));
    assert_eq!((code, error.as_str()), (1, ""));
    assert!(out.contains("400 inputs: violation (40 of 400 objects wrong; 4800 events"), "{out}");
    assert_eq!(out.matches(": violation (").count(), 41);
}

/// While one input is idle, the checkpoint of the others is kept; and the file names its inputs.
#[test]
fn idle_input_does_not_delay_the_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let names =
        files(folder.path(), &[("quiet.txt", rounds(&["1"], 1..3)), ("b.txt", String::new())]);
    let saved = folder.path().join("kept").display().to_string();
    let arguments = ["--all", "--follow", "--every", "0.1", "--checkpoint", &saved];
    let arguments = [&arguments[..], &[&names[0], &names[1]]].concat();
    let mut child = monitor(&arguments);
    let mut log = File::options().append(true).open(&names[1]).unwrap();
    let (mut value, began) = (1, Instant::now());
    let is_kept = |text: String| text.contains("\"key\":2") && text.contains("\"ended\"");
    while !fs::read_to_string(&saved).is_ok_and(is_kept) {
        log.write_all(rounds(&["2", "3"], value..value + 50).as_bytes()).unwrap();
        log.write_all(wrong("3").as_bytes()).unwrap();
        value += 50;
        thread::sleep(Duration::from_millis(20));
        assert!(began.elapsed().as_secs() < 120, "there is no checkpoint");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    for (arguments, why) in [
        (vec![names[1].as_str()], "covers several inputs: name all of them"),
        (vec![&names[1], "-"], "quiet.txt, which is not named"),
    ] {
        let options = ["--all", "--checkpoint", &saved];
        let (code, _, error) = ended(monitor(&[&options[..], &arguments].concat()));
        assert!(code == 2 && error.contains(why), "{error}");
    }
    // A further input is read from its beginning.
    let more = files(folder.path(), &[("c.txt", bare(2, true))]);
    let options = ["--all", "--checkpoint", &saved, &names[0], &names[1], &more[0]];
    let (code, out, error) = ended(monitor(&options));
    assert_eq!(code, 1, "{out}{error}");
    assert!(error.contains(&format!("{}: going on at line ", names[1])), "{error}");
    assert!(out.starts_with(&format!("{}: violation (", more[0])), "{out}");
    assert!(out.contains("3 inputs: violation (2 of 4 objects wrong; "), "{out}");
}

/// Killed at random points, again and again, each time with another number of workers: no alarm of
/// any input is missed, and none is raised that `check` does not find.
#[test]
fn fifty_kills_lose_no_alarm_of_any_input() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let folder = tempfile::tempdir().unwrap();
    let named = |name| many(60, 300).replace("user", name);
    let texts = [
        ("logs/a.txt", named("north")),
        ("logs/b.txt", named("south")),
        ("logs/c.txt", bare(3000, true)),
        ("d.txt", named("west")),
    ];
    let names = files(folder.path(), &texts);
    let logs = folder.path().join("logs").display().to_string();
    let saved = folder.path().join("kept").display().to_string();
    // With the input, since keys alone do not distinguish recordings.
    let place = |record: &Value| match record["key"].is_null() {
        true => (String::new(), record["violation"]["decided_at"]["line"].as_u64().unwrap()),
        false => alarm(record),
    };
    let mut expected = BTreeSet::new();
    for name in &names {
        let (code, out, _) = answer(run(&format!("check --report json {name}")));
        assert_eq!(code, 1);
        let record = &records(&out)[0];
        match record["parts"].as_array() {
            Some(parts) => expected.extend(parts.iter().map(|part| (name.clone(), place(part)))),
            None => drop(expected.insert((name.clone(), place(record)))),
        }
    }
    assert!(expected.len() > 10, "{expected:?}");
    let found = killed_fifty_times(&[&logs, &names[3]], &saved, &mut random, |record| {
        (record["input"].as_str().unwrap().to_owned(), place(record))
    });
    assert_eq!(found, expected);
}
