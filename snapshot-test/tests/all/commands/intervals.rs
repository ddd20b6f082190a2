//! `convert --from intervals`: each good log has a bad twin, one field away.

use std::fs;

use crate::commands::{answer, run};

/// Returns the output of `convert` for a log, and the answer of `check` to it.
fn judged(log: &str, options: &str) -> (String, i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("log"), folder.path().join("recording"));
    fs::write(&from, log).unwrap();
    let arguments = format!(
        "convert --from intervals {options} --to text {} -o {}",
        from.display(),
        to.display()
    );
    let (code, out, warnings) = answer(run(&arguments));
    assert_eq!((code, out.as_str()), (0, ""), "{warnings}");
    let (code, _, _) = answer(run(&format!("check {}", to.display())));
    (fs::read_to_string(to).unwrap(), code, warnings)
}

fn refusal(log: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("log");
    fs::write(&from, log).unwrap();
    let (code, out, error) =
        answer(run(&format!("convert --from intervals --to text {}", from.display())));
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    error
}

const HEADER: &str = "client,operation,segment,value,call,return,outcome\n";

fn table(rows: &[&str]) -> String {
    format!("{HEADER}{}\n", rows.join("\n"))
}

#[test]
fn rows_may_come_in_any_order() {
    let log = table(&["b,scan,,5 0,30,40,", "a,update,0,5,10,20,"]);
    assert_eq!(judged(&log, "").1, 0);
    let stale = table(&["b,scan,,0 0,30,40,", "a,update,0,5,10,20,"]);
    assert_eq!(judged(&stale, "").1, 1);
}

#[test]
fn touching_operations_overlap() {
    let touching = table(&["a,update,0,5,10,20,", "b,scan,,0 0,20,30,"]);
    assert_eq!(judged(&touching, "").1, 0);
    let apart = table(&["a,update,0,5,10,20,", "b,scan,,0 0,20.000000001,30,"]);
    assert_eq!(judged(&apart, "").1, 1);
}

#[test]
fn touching_operations_of_one_client_are_ordered() {
    let own = table(&["a,update,0,5,10,20,", "a,scan,,5 0,20,30,"]);
    assert_eq!(judged(&own, "").1, 0);
    let stale = table(&["a,update,0,5,10,20,", "a,scan,,0 0,20,30,"]);
    assert_eq!(judged(&stale, "").1, 1);
}

#[test]
fn skew_widens_intervals() {
    let log = table(&["a,update,0,5,10,20,", "b,scan,,0 0,25,30,"]);
    assert_eq!(judged(&log, "").1, 1);
    assert_eq!(judged(&log, "--skew 2.4").1, 1);
    assert_eq!(judged(&log, "--skew 2.5").1, 0);
}

#[test]
fn order_lost_to_a_skew_is_reported() {
    let log = table(&["a,update,0,5,10,20,", "a,scan,,0 0,21,30,"]);
    let (_, code, warnings) = judged(&log, "");
    assert_eq!((code, warnings.as_str()), (1, ""));
    let (_, code, warnings) = judged(&log, "--skew 1");
    assert_eq!(code, 0);
    assert!(warnings.contains("client a: the order of 1 operation is not known"), "{warnings}");
}

#[test]
fn lost_and_failed_outcomes_are_judged_as_such() {
    // It may take effect after the second scan, which did not see it.
    let rows =
        ["a,update,0,5,10,,", "a,scan,,0 0,30,40,", "b,scan,,0 0,50,60,", "b,scan,,5 0,70,80,"];
    assert_eq!(judged(&table(&rows), "").1, 0);
    let known = ["a,update,0,5,10,20,", rows[1], rows[2], rows[3]];
    assert_eq!(judged(&table(&known), "").1, 1);
    let failed = ["a,update,0,5,10,20,fail", rows[1], rows[2]];
    assert_eq!(judged(&table(&failed), "").1, 0);
    let seen = ["a,update,0,5,10,20,fail", rows[1], rows[3]];
    assert_eq!(judged(&table(&seen), "").1, 1);
}

#[test]
fn porcupines_lists_and_json_lines_are_read() {
    let list = |seen: u32| {
        format!(
            r#"[{{"ClientId":0,"Input":{{"op":"write","segment":1,"value":5}},"Call":0,"Output":null,"Return":10}},
             {{"ClientId":1,"Input":{{"op":"read"}},"Call":11,"Output":[0,{seen}],"Return":20}}]"#
        )
    };
    let (recording, code, _) = judged(&list(5), "");
    assert_eq!(recording, "segments 2\nprocesses 2\np0 update s1 5\np0 ok\np1 scan\np1 ok 0 5\n");
    assert_eq!(code, 0);
    assert_eq!(judged(&list(0), "").1, 1);
    let lines = |end: u32| {
        format!(
            "{{\"client\":0,\"operation\":\"update\",\"value\":\"x\",\"call\":1,\"return\":{end}}}\n\
             {{\"client\":7,\"operation\":\"scan\",\"values\":[0],\"call\":4,\"return\":5}}\n"
        )
    };
    assert_eq!((judged(&lines(4), "").1, judged(&lines(3), "").1), (0, 1));
}

#[test]
fn foreign_operations_are_refused_by_name() {
    let cases = [
        (
            "a,inc,0,,10,20,",
            "2:3: `inc` is not judged yet as an operation of a snapshot: it does not say",
        ),
        (
            "a,txn,,5 6,10,20,",
            "2:3: `txn` is not judged yet as an operation of a snapshot: it changes several",
        ),
        ("a,update,0,5 6,10,20,", "2:12: an update to 2 values is not judged yet"),
        ("a,cas,0,5,10,20,", "depending on the value that is there"),
        ("a,update,0,5,20,10,", "are the two fields exchanged"),
        ("a,update,,5,10,20,", "expected the field `segment`, found none"),
        ("a,update,0,5,1e9,20,", "expected a decimal number as `call`, found `1e9`"),
        ("a,scan,,,10,20,", "expected the field `value`, found none"),
        ("a,update,0,5,10,20,maybe", "expected ok, fail, unknown or nothing as `outcome`"),
    ];
    for (row, expected) in cases {
        let told = refusal(&table(&[row]));
        assert!(told.contains(expected), "{row}: {told}");
    }
    let two = table(&["a,update,0,5,10,20,", "a,scan,,5,15,25,"]);
    assert!(refusal(&two).contains("3:1: client a is called at 15"), "{}", refusal(&two));
    assert!(refusal("client,when\na,5\n").contains("the field `when` is not known"));
    assert!(refusal("").contains("found nothing"));
    assert!(refusal("[{]").contains("expected JSON"));
    let uneven = format!("{HEADER}a,scan\n");
    assert!(refusal(&uneven).contains("expected CSV"), "{}", refusal(&uneven));
}
