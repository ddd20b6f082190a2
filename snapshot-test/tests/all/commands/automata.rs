//! `snapshot-test automata`.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::commands::{printed, refused};

#[test]
fn table_lists_states_and_transitions() {
    let expected = "\
n = 5 (number of processes), 16 n = 80 letters

automaton           states  transitions
M1 inversion             4          340
M2 decrease             14         1010
M3 inappropriate        20         1515
M  union                38         2865
";
    assert_eq!(printed("automata --processes 5"), expected);
    let only = printed("automata --automaton decrease");
    assert_eq!(only.lines().count(), 4, "{only}");
    assert!(only.contains("M2 decrease             10          414"), "{only}");
}

#[test]
fn sizes_have_limits() {
    for processes in [0, 257] {
        let report = refused(&format!("automata --processes {processes}"));
        let expected = format!("automata over {processes} processes are not built: from 1 to 256");
        assert!(report.starts_with(&expected), "{report}");
    }
    assert!(refused("automata --dot --processes 300").contains("300 processes"));
}

#[test]
fn graphviz_draws_every_automaton() {
    let mut drawn = 0;
    for automaton in ["inversion", "decrease", "inappropriate", "union"] {
        let dot = printed(&format!("automata --dot --automaton {automaton} --processes 2"));
        let Some(svg) = draw(&dot) else { continue };
        let nodes = svg.matches("class=\"node\"").count();
        let edges = svg.matches("class=\"edge\"").count();
        assert_eq!((nodes, edges), (declared(&dot, false), declared(&dot, true)), "{automaton}");
        drawn += 1;
    }
    assert!(drawn == 0 || drawn == 4);
    assert_eq!(printed("automata --dot"), printed("automata --dot --automaton union"));
}

/// Returns the number of edges, or nodes, that the text declares.
fn declared(dot: &str, edges: bool) -> usize {
    let lines = dot.lines().filter(|line| line.starts_with("  q") || line.starts_with("  start"));
    lines.filter(|line| line.contains(" -> ") == edges).count()
}

/// Draws the text, if Graphviz is installed.
fn draw(dot: &str) -> Option<String> {
    let mut child = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().expect("standard input is piped");
    input.write_all(dot.as_bytes()).expect("Graphviz reads its input");
    drop(input);
    let output = child.wait_with_output().expect("Graphviz ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !errors.contains("syntax"), "{errors}\n{dot}");
    Some(String::from_utf8(output.stdout).expect("a drawing is text"))
}
