//! Logs in EDN that are refused, with their position and remedy.

use crate::commands::imports::{judged, refusal};

#[test]
fn nesting_of_edn_is_bounded() {
    for (open, inner, close) in [
        ("[", "", "]"),
        ("{:a ", "1", "}"),
        ("#{", "1", "}"),
        ("(", "", ")"),
        ("#a ", "1", ""),
        ("#_ ", "1", ""),
    ] {
        let deep = format!("{}{inner}{}", open.repeat(50_000), close.repeat(50_000));
        for log in [
            format!("{{:type :invoke :f :write :value {deep} :process 0}}"),
            format!("{{:type :invoke :f :write :value 1 :process 0 :error {deep}}}"),
            deep.clone(),
            format!("[{deep}"),
        ] {
            let error = refusal("log.edn", &log, "--from edn");
            assert!(error.starts_with("log.edn:1:"), "{}", &error[..300]);
            assert!(
                error.contains("nested more than 64 deep") || open == "#_ ",
                "{}",
                &error[..300]
            );
        }
    }
}

#[test]
fn contradictory_edn_is_refused_at_its_position() {
    let both = |invoked: &str, returned: &str| {
        format!(
            "[{{:type :invoke, :process 0, {invoked}}}\n {{:type :ok, :process 0, {returned}}}]\n"
        )
    };
    for (invoked, returned, options, told) in [
        (
            ":f :write, :value {:x 1}",
            ":f :write, :value {:x 2}",
            "",
            "2:44: :write was invoked with `{:x 1}` and returned `{:x 2}`",
        ),
        (":f :write, :value 1", ":f :write, :value 2", "", "2:44: :write was invoked with `1`"),
        (":f :write, :value [1 2]", ":f :write, :value [2 2]", "--independent", "returned `[2 2]`"),
        (":f :add, :value 1", ":f :add, :value 2", "", "2:42: :add was invoked"),
        (":f :txn, :value [[:w 1 2]]", ":f :txn, :value [[:w 1 3]]", "", ":txn was invoked"),
        (":f :txn, :value [[:r 1 nil]]", ":f :txn, :value [[:r 2 3]]", "", ":txn was invoked"),
        (
            ":f :read, :value [[:r 1 nil] [:r 2 nil]]",
            ":f :read, :value [[:r 1 3]]",
            "",
            ":read was invoked",
        ),
        (
            ":f :read, :value [1 nil]",
            ":f :read, :value [2 3]",
            "--independent",
            ":read was invoked",
        ),
        (":f :read, :value [:x :y]", ":f :read, :value {:z 3}", "", ":read was invoked"),
        (":f :read, :value :x", ":f :read, :value 5", "", ":read was invoked"),
        (":f :inc, :value :x", ":f :inc, :value {:y 1}", "", ":inc was invoked"),
        (
            ":f :write, :value 1, :value 2",
            ":f :write",
            "",
            "1:51: expected the field `:value` at most once",
        ),
        (
            ":f :read, :value nil",
            ":f :read, :value #{1}",
            "--initial 5",
            "expected nothing, since a set is empty",
        ),
        (
            ":f :write, :value {:x 1}",
            ":f :write, :value {:x 1}",
            "--initial 1:2",
            "expected one value in EDN",
        ),
    ] {
        let error = refusal("log.edn", &both(invoked, returned), &format!("--from edn {options}"));
        assert!(error.contains(told), "{told}: {error}");
    }
    for (log, told) in [
        (
            "[{:type :invoke, :f :read, :value nil, :process 1}\n",
            "log.edn:1:1: `[` is never closed",
        ),
        (
            "{:type :invoke :f :read :process \"n1\"}",
            "log.edn:1:34: expected the number of a process",
        ),
        ("{:type :invoke :f :read :process :n1}", "log.edn:1:34: expected the number of a process"),
        ("{:type :invoke :f :write :process 1 :value 99999999999999999999}", "at most 64 bits"),
        (
            "{:type :invoke :f :write :process 1 :value \"\\q\"}",
            "log.edn:1:46: expected EDN: expected one of",
        ),
        (
            "{:type :invoke :f :read :process 1 :value [1)}",
            "log.edn:1:45: expected EDN: expected `]`, found `)`",
        ),
        ("{:type :invoke :f :read :process 1} ]", "log.edn:1:37: expected EDN: expected an event"),
        ("{:type :invoke :f :read :process}", "expected a value behind the last key"),
    ] {
        let error = refusal("log.edn", log, "--from edn");
        assert!(error.contains(told), "{told}: {error}");
    }
}

/// Operations of other objects name the right judge, and observations are not dropped.
#[test]
fn edn_of_other_objects_names_their_judge() {
    let log = |events: &[(&str, &str)]| -> String {
        let event =
            |(kind, rest): &(&str, &str)| format!("{{:type :{kind}, :process 0, {rest}}}\n");
        events.iter().map(event).collect()
    };
    let cas = [("invoke", ":f :cas, :value [0 [1 2]]"), ("fail", ":f :cas, :value [0 [1 2]]")];
    for options in ["", "--independent"] {
        let error = refusal("log.edn", &log(&cas), &format!("--from edn {options}"));
        assert!(error.contains("log.edn:1:32: :cas is not judged yet"), "{error}");
    }
    let counter = [
        ("invoke", ":f :add, :value 1"),
        ("ok", ":f :add, :value 1"),
        ("invoke", ":f :read, :value nil"),
        ("ok", ":f :read, :value 0"),
    ];
    let error = refusal("log.edn", &log(&counter), "--from edn");
    assert!(error.contains("log.edn:1:32: :add is judged as an addition to a set"), "{error}");
    assert!(error.contains("`check --object counter`"), "{error}");
    let mixed = [
        ("invoke", ":f :write, :value {:x 1}"),
        ("ok", ":f :write, :value {:x 1}"),
        ("invoke", ":f :read, :value nil"),
        ("ok", ":f :read, :value [:x]"),
    ];
    assert!(refusal("log.edn", &log(&mixed), "--from edn").contains("a log each"));
    // A read of registers determines nothing about registers that it does not return.
    let empty = [
        ("invoke", ":f :write, :value {:x 1}"),
        ("ok", ":f :write, :value {:x 1}"),
        ("invoke", ":f :read, :value nil"),
        ("ok", ":f :read, :value []"),
    ];
    assert_eq!(judged("log.edn", &log(&empty), "--from edn").1, 0);
    // A symbol is not a string.
    let symbol = [("invoke", ":f :write, :value foo"), ("ok", ":f :write, :value foo")];
    let read = [("invoke", ":f :read, :value nil"), ("ok", ":f :read, :value \"foo\"")];
    assert_eq!(judged("log.edn", &log(&[symbol, read].concat()), "--from edn").1, 1);
}
