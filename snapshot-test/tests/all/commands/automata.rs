//! `snapshot-test automata`.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::commands::{printed, refused};

#[test]
fn the_table_has_sizes_and_their_formulas() {
    let expected = "\
n = 5 (number of processes), 16 n = 80 letters

automaton           states  for any n  transitions  for any n
M1 inversion             4  4                  340  68 n
M2 decrease             14  2 n + 4           1010  32 n² + 42 n
M3 inappropriate        20  2 n + 10          1515  32 n² + 143 n
M  union                38  4 n + 18          2865  64 n² + 253 n

observer: the union, determinised; for any n

bits                     6  invoked_i, invoked_j, needed_i, needed_j, bad01, bad10
bits per open scan       2  must_i, must_j
states                  15  values of the 6 bits that a simple history reaches, of 64
transitions            212  by updates to 1, and by responses of scans with each must
of these                94  lead to a violation
";
    assert_eq!(printed("automata --processes 5"), expected);
    let only = printed("automata --automaton decrease");
    assert_eq!(only.lines().count(), 4, "{only}");
    assert!(only.contains("M2 decrease             10  2 n + 4            414"), "{only}");
    let observer = expected.split_once("\n\nobserver").unwrap().1;
    assert_eq!(printed("automata --automaton observer"), format!("observer{observer}"));
}

#[test]
fn sizes_have_limits_but_the_observer_has_none() {
    for processes in [0, 257] {
        let report = refused(&format!("automata --processes {processes}"));
        let expected = format!("automata over {processes} processes are not built: from 1 to 256");
        assert!(report.starts_with(&expected), "{report}");
    }
    assert!(refused("automata --dot --processes 300").contains("300 processes"));
    let observer = printed("automata --automaton observer");
    assert_eq!(printed("automata --automaton observer --processes 100000"), observer);
}

#[test]
fn graphviz_draws_every_automaton() {
    let mut drawn = 0;
    for automaton in ["inversion", "decrease", "inappropriate", "union", "observer"] {
        let dot = printed(&format!("automata --dot --automaton {automaton} --processes 2"));
        let Some(svg) = draw(&dot) else { continue };
        let nodes = svg.matches("class=\"node\"").count();
        let edges = svg.matches("class=\"edge\"").count();
        assert_eq!((nodes, edges), (declared(&dot, false), declared(&dot, true)), "{automaton}");
        drawn += 1;
    }
    assert!(drawn == 0 || drawn == 5);
    assert_eq!(printed("automata --dot"), printed("automata --dot --automaton union"));
}

/// How many edges, or nodes, the text declares.
fn declared(dot: &str, edges: bool) -> usize {
    let lines = dot.lines().filter(|line| line.starts_with("  q") || line.starts_with("  start"));
    lines.filter(|line| line.contains(" -> ") == edges).count()
}

/// The drawing, if Graphviz is installed.
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

#[test]
fn the_observer_is_drawn_without_its_violations() {
    let dot = printed("automata --dot --automaton observer");
    for line in [
        "start -> q0;",
        "q0 [label=\"nothing yet\"];",
        "q0 -> q0 [label=\"res scan(0, 0)\"];",
        "q0 -> q1 [label=\"inv update_i(1)\"];",
        // invoked i, j; needed i, j; then (0, 1) and (1, 0) exclude each other.
        "q15 -> q47 [label=\"res scan(0, 1)\"];",
        "q31 [label=\"invoked i, j\\nneeded i, j\\nbad (0, 1)\"];",
        "q31 -> q31 [label=\"res scan(0, 0)\\nres scan(1, 0)\\nres scan(1, 1)\"];",
    ] {
        assert!(dot.contains(&format!("  {line}\n")), "{line} in\n{dot}");
    }
    assert!(!dot.contains("q31 -> q47") && !dot.contains("res scan(foreign)"));
}
