//! Refusals of the API: requests of others, and questions about executions that do not exist.

use std::sync::atomic::AtomicBool;

use serde_json::json;
use snapshot_verify::explore::{MOST_MOVES, Question};

use super::{PORT, ask, explorer, post, refused, view};

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn only_the_page_itself_is_answered() {
    let explorer = explorer("bowman", None, 2);
    let page = Question {
        method: "GET",
        path: "/",
        host: Some("127.0.0.1:8080"),
        origin: None,
        content_type: None,
        body: b"",
    };
    let body = br#"{"moves":[],"at":0}"#;
    let json = Some("application/json");
    let asked = Question { method: "POST", path: "/view", content_type: json, body, ..page };
    let status =
        |question: &Question<'_>| explorer.answer(PORT, question, &AtomicBool::new(false)).status;
    let host = |host| Question { host, ..page };
    let origin = |origin| Question { origin: Some(origin), ..asked };
    for (question, expected) in [
        (page, 200),
        (host(Some("localhost:8080")), 200),
        (host(Some("LOCALHOST:8080")), 200),
        (host(None), 403),
        (host(Some("")), 403),
        (host(Some("127.0.0.1")), 403),
        (host(Some("127.0.0.1:8081")), 403),
        (host(Some("rebound.example:8080")), 403),
        (host(Some("127.0.0.1:8080.rebound.example")), 403),
        (asked, 200),
        (origin("http://127.0.0.1:8080"), 200),
        (origin("http://localhost:8080"), 200),
        (origin("null"), 403),
        (origin("https://127.0.0.1:8080"), 403),
        (origin("http://rebound.example:8080"), 403),
        (Question { content_type: None, ..asked }, 415),
        (Question { content_type: Some("text/plain"), ..asked }, 415),
        (Question { content_type: Some("application/x-www-form-urlencoded"), ..asked }, 415),
        (Question { content_type: Some("application/json; charset=utf-8"), ..asked }, 200),
        (Question { method: "GET", ..asked }, 405),
        (Question { method: "DELETE", ..page }, 405),
        (Question { path: "/../etc/passwd", ..page }, 404),
        (Question { path: "/view?x", ..asked }, 404),
        (Question { method: "OPTIONS", ..asked }, 405),
        (Question { path: "", method: "", ..page }, 404),
    ] {
        assert_eq!(status(&question), expected, "{question:?}");
    }
}

#[test]
fn malformed_questions_are_refused() {
    let explorer = explorer("bowman", None, 2);
    for body in [
        "",
        "{",
        "[]",
        "null",
        "{\"moves\":[]}",
        "{\"moves\":[],\"at\":-1}",
        "\u{0}",
        "{\"moves\":[1],\"at\":0}",
        "{\"moves\":[],\"at\":0,\"more\":1}",
        "{\"moves\":[],\"at\":99999999999999999999}",
    ] {
        let reason = refused(&post(&explorer, "/view", body), 400);
        assert!(reason.contains("a question is"), "{body}: {reason}");
    }
    let nested = "[".repeat(100_000);
    refused(&post(&explorer, "/view", &nested), 400);
    let long = json!({ "moves": ["p0 scan".repeat(60_000)], "at": 0 }).to_string();
    refused(&post(&explorer, "/view", &long), 413);
}

#[test]
fn executions_that_do_not_exist_are_refused() {
    let snapshot = explorer("bowman", None, 2);
    let stack = explorer("treiber_stack", None, 2);
    for (explorer, moves, expected) in [
        (&snapshot, &["p0 step"][..], "the process is idle"),
        (&snapshot, &["p0 scan", "p0 scan"], "move 2, `p0 scan`: the process has an operation"),
        (&snapshot, &["p2 scan"], "of p0 to p1"),
        (&snapshot, &["p0 scan", "p0 step 2"], "a move is"),
        (&snapshot, &["p0 scan\np0 step"], "a move is"),
        (&snapshot, &["loop"], "a move is"),
        (&snapshot, &["end"], "a move is"),
        (&snapshot, &["= scan begins"], "a move is"),
        (&snapshot, &["algorithm afek"], "a move is"),
        (&snapshot, &["p0 update 4294967296"], "a move is"),
        (&snapshot, &["p0 begin push 1"], "a move is"),
        (&snapshot, &["p0 scan", "p0 take 1"], "the outcomes 0 to 0"),
        (&snapshot, &[""], "a move is"),
        (&stack, &["p0 scan"], "no such operation"),
        (&stack, &["p0 begin jump 1"], "NAME one of push, pop"),
    ] {
        let reason = refused(&ask(explorer, "/view", &owned(moves), 0), 422);
        assert!(reason.contains(expected), "{moves:?}: {reason}");
        refused(&ask(explorer, "/trace", &owned(moves), moves.len()), 422);
    }
    let scan = owned(&["p0 scan"]);
    let reason = refused(&ask(&snapshot, "/view", &scan, 2), 422);
    assert!(reason.contains("no position 2 in an execution of 1"), "{reason}");
    refused(&ask(&snapshot, "/trace", &scan, 2), 422);
    let many = vec!["p0 step".to_owned(); MOST_MOVES + 1];
    let reason = refused(&ask(&snapshot, "/view", &many, 0), 422);
    assert!(reason.contains("at most 2000 moves"), "{reason}");
}

/// A lock that is not held is not released: the client keeps to `when`.
#[test]
fn the_object_decides_which_operations_may_begin() {
    let lock = explorer("ticket_lock", None, 2);
    let lines = |moves: &[&str], process: usize| -> Vec<String> {
        let shown = view(&lock, &owned(moves), moves.len());
        let choices = shown["turns"][process]["choices"].as_array().unwrap().clone();
        choices.iter().map(|one| one["line"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(lines(&[], 0), ["p0 begin acquire"]);
    let mut held = owned(&["p0 begin acquire"]);
    while view(&lock, &held, held.len())["turns"][0]["position"] != "idle" {
        held.push("p0 step".to_owned());
        assert!(held.len() < 20, "{held:?}");
    }
    let borrowed: Vec<&str> = held.iter().map(String::as_str).collect();
    assert_eq!(lines(&borrowed, 0), ["p0 begin release"]);
    let reason = refused(&ask(&lock, "/view", &owned(&["p0 begin release"]), 0), 422);
    assert!(reason.contains("may not begin"), "{reason}");
}

/// A step that goes wrong is the last one; before it, everything is as in other executions.
#[test]
fn faults_end_an_execution() {
    let text = "algorithm wrong\nshared r[segment]: value or none := none\nupdate(v):\n    r[me] := \
                v\nscan:\n    local c[segment]: value\n    for s in segments: c[s] := r[s]\n    return \
                c\n";
    let wrong = explorer(text, None, 2);
    let moves = owned(&["p0 scan", "p0 step"]);
    let shown = view(&wrong, &moves, 1);
    assert_eq!(shown["standing"]["kind"], "linearizable");
    let choice = shown["turns"][0]["choices"][0]["text"].as_str().unwrap();
    assert!(choice.starts_with("goes wrong: "), "{choice}");
    let shown = view(&wrong, &moves, 2);
    assert_eq!(shown["standing"]["kind"], "faulty");
    assert!(shown["standing"]["reason"].as_str().unwrap().contains(":7:"), "{shown}");
    assert_eq!(shown["steps"][1]["line"], 7);
    for turn in shown["turns"].as_array().unwrap() {
        assert_eq!(turn["choices"].as_array().unwrap().len(), 0, "{turn}");
    }
    let more = [moves.clone(), owned(&["p1 scan"])].concat();
    let reason = refused(&ask(&wrong, "/view", &more, 3), 422);
    assert!(reason.contains("comes after a step that goes wrong"), "{reason}");
    let trace = ask(&wrong, "/trace", &moves, 2);
    assert_eq!(trace.status, 200);
    assert!(
        trace.body.ends_with("p0 step\nend\n") && !trace.body.contains("\nhistory"),
        "{}",
        trace.body
    );
    let found = post(&wrong, "/find", "{}");
    assert!(found.body.contains("A step that goes wrong in 2 steps"), "{}", found.body);
}
