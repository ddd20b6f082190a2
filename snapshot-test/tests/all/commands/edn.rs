//! `convert --from edn`: each good history has a bad twin, one value or event away.

use std::fs;

use crate::commands::{answer, run};

/// Returns the output of `convert` for a log, the exit code of `check`, and the warnings.
fn judged(log: &str, options: &str) -> (String, i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("log.edn"), folder.path().join("recording"));
    fs::write(&from, log).unwrap();
    let arguments =
        format!("convert --from edn {options} --to text {} -o {}", from.display(), to.display());
    let (code, out, warnings) = answer(run(&arguments));
    assert_eq!((code, out.as_str()), (0, ""), "{warnings}");
    let (code, ..) = answer(run(&format!("check {}", to.display())));
    (fs::read_to_string(to).unwrap(), code, warnings)
}

/// The good log, and the bad one with `from` replaced by `to`.
fn twins(log: &str, options: &str, from: &str, to: &str) -> String {
    let (recording, code, warnings) = judged(log, options);
    assert_eq!((code, warnings.as_str()), (0, ""), "{recording}");
    assert_eq!(log.matches(from).count(), 1, "{from}");
    let (twin, code, _) = judged(&log.replacen(from, to, 1), options);
    assert_eq!(code, 1, "{twin}");
    recording
}

fn refusal(log: &str, options: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("log.edn");
    fs::write(&from, log).unwrap();
    let arguments = format!("convert --from edn {options} --to text {}", from.display());
    let (code, out, error) = answer(run(&arguments));
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    error
}

/// Returns an event of process `process`; `rest` is `f value`.
fn event(kind: &str, process: &str, rest: &str) -> String {
    let (function, value) = rest.split_once(' ').unwrap();
    format!("{{:type :{kind}, :f :{function}, :value {value}, :process {process}}}\n")
}

fn log(events: &[(&str, &str, &str)]) -> String {
    events.iter().map(|(kind, process, rest)| event(kind, process, rest)).collect()
}

#[test]
fn a_register() {
    let good = log(&[
        ("invoke", "0", "write 3"),
        ("ok", "0", "write 3"),
        ("invoke", "1", "read nil"),
        ("ok", "1", "read 3"),
    ]);
    twins(&good, "", ":read, :value 3", ":read, :value nil");
    let initial = log(&[("invoke", "1", "read nil"), ("ok", "1", "read 0")]);
    assert_eq!(judged(&initial, "").1, 1, "nothing wrote 0");
    assert_eq!(judged(&initial, "--initial 0").1, 0);
}

/// Two readers see two writes in different orders: the anomaly that gives the test its name.
#[test]
fn long_fork() {
    let good = log(&[
        ("invoke", "0", "write [[:w 3 1]]"),
        ("invoke", "1", "write [[:w 4 1]]"),
        ("invoke", "2", "read [[:r 3 nil] [:r 4 nil]]"),
        ("invoke", "3", "read [[:r 4 nil] [:r 3 nil]]"),
        ("ok", "2", "read [[:r 3 1] [:r 4 nil]]"),
        ("ok", "3", "read [[:r 4 1] [:r 3 1]]"),
        ("ok", "0", "write [[:w 3 1]]"),
        ("ok", "1", "write [[:w 4 1]]"),
    ]);
    let recording = twins(&good, "", "[[:r 4 1] [:r 3 1]]", "[[:r 4 1] [:r 3 nil]]");
    assert!(recording.contains("segment s0 \"3\"\nsegment s1 \"4\"\n"), "{recording}");
}

/// A later insertion is seen without an earlier one.
#[test]
fn causal_reverse() {
    let good = log(&[
        ("invoke", "0", "write 1"),
        ("ok", "0", "write 1"),
        ("invoke", "1", "write 2"),
        ("invoke", "2", "read nil"),
        ("ok", "2", "read [1 2]"),
        ("ok", "1", "write 2"),
    ]);
    twins(&good, "", "[1 2]", "[2]");
}

#[test]
fn a_set() {
    let good = log(&[
        ("invoke", "0", "add 10"),
        ("info", "0", "add 10"),
        ("invoke", "1", "add 11"),
        ("ok", "1", "add 11"),
        ("invoke", "2", "add 12"),
        ("fail", "2", "add 12"),
        ("invoke", "3", "read nil"),
        ("ok", "3", "read #{11}"),
        ("invoke", "3", "read nil"),
        ("ok", "3", "read #{10 11}"),
    ]);
    twins(&good, "", "#{11}", "#{10 12}");
    twins(&good, "", "#{10 11}", "#{10}");
}

#[test]
fn monotonic() {
    let good = log(&[
        ("invoke", "0", "inc :x"),
        ("ok", "0", "inc {:x 1}"),
        ("invoke", "1", "inc :y"),
        ("ok", "1", "inc {:y 1}"),
        ("invoke", "2", "read [:x :y]"),
        ("ok", "2", "read {:x 1, :y 1}"),
    ]);
    twins(&good, "", "{:x 1, :y 1}", "{:x nil, :y 1}");
    let lost = good.replace(":ok, :f :inc, :value {:y 1}", ":info, :f :inc, :value :y");
    let error = refusal(&lost, "");
    assert!(
        error.contains("log.edn:3:20: :inc whose outcome is unknown is not judged yet"),
        "{error}"
    );
    let silent = good.replace(":ok, :f :inc, :value {:y 1}", ":ok, :f :inc, :value :y");
    assert!(refusal(&silent, "").contains(":inc without the value that it wrote"));
}

#[test]
fn independent_keys() {
    let good = log(&[
        ("invoke", "0", "write [7 1]"),
        ("invoke", "1", "write [8 1]"),
        ("ok", "0", "write [7 1]"),
        ("ok", "1", "write [8 1]"),
        ("invoke", "0", "read [8 nil]"),
        ("ok", "0", "read [8 1]"),
        ("invoke", "1", "read [7 nil]"),
        ("ok", "1", "read [7 1]"),
    ]);
    let recording = twins(&good, "--independent", ":read, :value [7 1]", ":read, :value [7 nil]");
    assert!(recording.contains("segment s1 \"8\"\n"), "{recording}");
    // Tuples with a tag need no option.
    let tagged = good.replace(":value [", ":value #jepsen.independent.Tuple [");
    assert_eq!(judged(&tagged, "").1, 0);
    let error = refusal(&good, "");
    assert!(error.contains("add --independent"), "{error}");
    // Independent sets.
    let sets = log(&[
        ("invoke", "0", "add [1 5]"),
        ("ok", "0", "add [1 5]"),
        ("invoke", "0", "add [2 6]"),
        ("ok", "0", "add [2 6]"),
        ("invoke", "1", "read [1 nil]"),
        ("ok", "1", "read [1 #{5}]"),
    ]);
    twins(&sets, "--independent", "#{5}", "#{}");
}

/// A read that returned a plain `nil` beside maps, or beside keys, does not say what it read.
#[test]
fn plain_nil_beside_names_shows_nothing() {
    let maps = log(&[
        ("invoke", "0", "write {:x 1}"),
        ("ok", "0", "write {:x 1}"),
        ("invoke", "1", "read nil"),
        ("ok", "1", "read nil"),
        ("invoke", "1", "read nil"),
        ("ok", "1", "read {:x 1}"),
    ]);
    let keys = maps.replace("{:x 1}", "#jepsen.independent.Tuple [7 1]");
    let both = maps.replace("{:x 1}", "#jepsen.independent.Tuple [7 {:x 1}]");
    for log in [&maps, &keys, &both] {
        let (recording, code, warnings) = judged(log, "");
        assert_eq!(code, 0, "{recording}");
        assert!(recording.contains("segment s0") && !recording.contains("segment s1"));
        assert!(
            warnings.contains("1 operation, the first in line 4, read and returned nil without")
        );
    }
    // The key of the invocation is that of the response.
    let named =
        keys.replacen(":read, :value nil", ":read, :value #jepsen.independent.Tuple [7 nil]", 1);
    assert_eq!((judged(&named, "").1, judged(&named, "").2.as_str()), (1, ""));
    // Registers without names, and sets, as ever.
    let plain = maps.replace("{:x 1}", "1");
    assert_eq!((judged(&plain, "").1, judged(&plain, "").2.as_str()), (1, ""));
    assert!(judged(&plain.replace(":read, :value 1", ":read, :value [1]"), "").2.contains("a set"));
}

#[test]
fn values_with_and_without_names_are_refused() {
    let maps = log(&[
        ("invoke", "0", "write {:x 1}"),
        ("ok", "0", "write {:x 1}"),
        ("invoke", "1", "read nil"),
        ("ok", "1", "read {:x 1}"),
    ]);
    let error = refusal(&maps.replace(":read, :value {:x 1}", ":read, :value 1"), "");
    assert!(error.contains("log.edn:4:30: expected a value with the name of its reg"), "{error}");
    assert!(error.contains("2:31: the first one\nhelp: name the register"), "{error}");
    // The plain value is refused, also if it comes first.
    let error = refusal(&maps.replace(":write, :value {:x 1}", ":write, :value 1"), "");
    assert!(error.contains("log.edn:2:31: expected a value with the name"), "{error}");
    let tagged = |value: &str| format!("#jepsen.independent.Tuple [7 {value}]");
    let keyed =
        maps.replace(":read, :value {:x 1}", &format!(":read, :value {}", tagged("{:x 1}")));
    let error = refusal(&keyed, "");
    assert!(error.contains("log.edn:2:31: expected a tuple [key value], since other"), "{error}");
    // The values of each key have names, or none.
    let error =
        refusal(&maps.replace("{:x 1}", &tagged("1")).replacen("[7 1]", "[7 {:x 1}]", 2), "");
    assert!(error.contains("log.edn:4:30: expected a value with the name of its reg"), "{error}");
}

/// Clients crash, their processes are used again, a nemesis is present, ops are tagged and all in
/// one vector.
#[test]
fn crashes_nemesis_tags_and_comments_are_read() {
    let good = log(&[
        ("info", ":nemesis", "start-partition nil"),
        ("invoke", "0", "write {:x 1}"),
        ("info", "0", "write {:x 1}"),
        ("invoke", "0", "write {:y 2}"),
        ("ok", "0", "write {:y 2}"),
        ("info", ":nemesis", "stop-partition nil"),
        ("invoke", "5", "read nil"),
        ("ok", "5", "read {:x nil, :y 2}"),
        ("invoke", "5", "read nil"),
        ("ok", "5", "read {:x 1, :y 2}"),
        ("invoke", "5", "read nil"),
    ]);
    let recording = twins(&good, "", "{:x nil, :y 2}", "{:x nil, :y nil}");
    assert!(recording.contains("p0 unknown"), "{recording}");
    let tagged = format!("[{}]", good.replace("{:type", "#jepsen.history.Op{:type"));
    assert_eq!(judged(&tagged, "").0, recording);
    let commented = good.replace("{:type", "; a comment\n#_{:left out} {:type");
    assert_eq!(judged(&commented, "").0, recording);
}

#[test]
fn foreign_operations_are_refused_by_name() {
    let one = |rest: &str| log(&[("invoke", "0", rest), ("ok", "0", rest)]);
    for (rest, told) in [
        ("cas [1 2]", "1:20: :cas is not judged yet as an operation of a snapshot"),
        ("write {:x 1, :y 2}", "1:35: a write of 2 keys is not judged yet"),
        ("txn [[:w 1 2] [:w 3 4]]", "1:33: a write of 2 keys is not judged yet"),
        ("txn [[:r 1 nil] [:w 3 4]]", "it reads and writes at once"),
        ("txn [[:write :x 2] [:write :y 4]]", "1:33: a write of 2 keys is not judged yet"),
        ("txn [[:append 1 2]]", "judged by Elle"),
        ("dequeue nil", "help: queues and stacks are judged by `check --object queue`"),
        ("enqueue 1", "1:20: :enqueue is no operation of a snapshot"),
        ("frobnicate nil", "1:20: :frobnicate is no operation of a snapshot"),
        ("remove 1", "`check --object set`"),
        ("write nil", "expected the field `:value`, found none"),
        ("read [[:r 1 2] [:r 1 3]]", "returned two values"),
    ] {
        let error = refusal(&one(rest), "");
        assert!(error.contains(told), "{rest}: {error}");
    }
}

#[test]
fn malformed_logs_are_refused_with_their_line() {
    let fine = log(&[("invoke", "0", "write 3"), ("ok", "0", "write 3")]);
    for (log, told) in [
        (String::new(), "found nothing"),
        (format!("{fine}{{:type :ok"), "3:1: `{` is never closed"),
        (format!("{fine}\n7"), "4:1: expected a map with :type"),
        (fine.replace(":invoke", ":begin"), "1:8: expected :invoke, :ok, :fail or :info"),
        (fine.replace(":process 0", ":client 0"), "expected the field `:process`"),
        (format!("{fine}{}", event("ok", "0", "write 3")), "ends an operation that has not begun"),
        (
            format!("{}{fine}", event("invoke", "0", "write 4")),
            "2:1: process 0 begins an operation while another one is open",
        ),
        (fine.replace(":ok, :f :write", ":ok, :f :read"), "ends another operation than it began"),
        ("{".repeat(200_000), "nested more than 64 deep"),
    ] {
        let error = refusal(&log, "");
        assert!(error.contains(told), "{told}: {error}");
    }
    let error = refusal(&fine, "--skew 3");
    assert!(error.contains("or with --sort-by-time"), "{error}");
    let error = refusal(&fine, "--sort-by-time");
    assert!(error.contains("expected the field `:time`"), "{error}");
    let (code, _, error) = answer(run("convert --from text --independent --to text x"));
    assert_eq!(code, 2);
    assert!(error.contains("--independent is for --from edn"), "{error}");
}

/// Sorted by their time stamps, events in another order in the log are meaningful; at one instant
/// they overlap.
#[test]
fn time_stamps() {
    let at = |events: &[(u32, &str, &str, &str)]| -> String {
        let one = |(time, kind, process, rest): &(u32, &str, &str, &str)| {
            event(kind, process, rest).replace("{:type", &format!("{{:time {time}, :type"))
        };
        events.iter().map(one).collect()
    };
    let mixed = at(&[
        (30, "invoke", "1", "read nil"),
        (40, "ok", "1", "read 3"),
        (10, "invoke", "0", "write 3"),
        (20, "ok", "0", "write 3"),
    ]);
    let (_, code, warnings) = judged(&mixed, "");
    assert_eq!(code, 1, "the order of the log");
    assert!(
        warnings.contains("warning: `time` runs backwards once, first in line 3 (10 after 40)")
            && warnings.contains("a violation may be a false alarm")
            && warnings.contains("--sort-by-time"),
        "{warnings}"
    );
    let (_, code, warnings) = judged(&mixed, "--sort-by-time");
    assert_eq!((code, warnings.as_str()), (0, ""));
    let stale = mixed.replace(":read, :value 3", ":read, :value nil");
    assert_eq!(judged(&stale, "--sort-by-time").1, 1);
    // The clocks may be off by 5: then the operations overlap.
    assert_eq!(judged(&stale, "--sort-by-time --skew 5").1, 0);
    assert_eq!(judged(&stale, "--sort-by-time --skew 4").1, 1);
    assert_eq!(judged(&stale.replace(":time 30", ":time 20"), "--sort-by-time").1, 0, "they touch");
}
