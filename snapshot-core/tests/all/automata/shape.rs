//! Size and drawing of the automata.

use snapshot_core::automata::{Alphabet, Nfa, decrease, inappropriate, inversion, violation};

#[test]
fn sizes_follow_their_formulas() {
    type Automaton = fn(Alphabet) -> Nfa;
    type Size = fn(usize) -> usize;
    let automata: [(Automaton, Size, Size); 4] = [
        (inversion, |_| 4, |n| 68 * n),
        (decrease, |n| 2 * n + 4, |n| 32 * n * n + 42 * n),
        (inappropriate, |n| 2 * n + 10, |n| 32 * n * n + 143 * n),
        (violation, |n| 4 * n + 18, |n| 64 * n * n + 253 * n),
    ];
    for (automaton, states, transitions) in automata {
        for n in 2..=20 {
            let nfa = automaton(Alphabet::new(n).unwrap());
            nfa.validate();
            assert_eq!(
                (nfa.states().len(), nfa.transitions().len()),
                (states(n), transitions(n)),
                "{nfa}"
            );
        }
    }
}

/// Propositions 12, 13 and 15: doubling n at most doubles linear sizes and quadruples quadratic
/// ones.
#[test]
fn sizes_grow_as_the_paper_says() {
    let size = |automaton: fn(Alphabet) -> Nfa, n| {
        let nfa = automaton(Alphabet::new(n).unwrap());
        (nfa.states().len(), nfa.transitions().len())
    };
    for n in 2..=20 {
        let (one, two) = (size(inversion, n), size(inversion, 2 * n));
        assert!(two.0 == one.0 && two.1 <= 2 * one.1);
        for automaton in [decrease, inappropriate, violation] {
            let (one, two) = (size(automaton, n), size(automaton, 2 * n));
            assert!(two.0 <= 2 * one.0 && two.1 <= 4 * one.1);
        }
    }
}

#[test]
fn an_alphabet_has_a_limit() {
    assert!(Alphabet::new(0).is_err());
    assert!(Alphabet::new(Alphabet::LIMIT).is_ok());
    let error = Alphabet::new(Alphabet::LIMIT + 1).unwrap_err();
    assert!(error.to_string().contains("257 processes"));
}

#[test]
fn inversion_is_drawn_as_in_the_paper() {
    let dot = inversion(Alphabet::new(2).unwrap()).to_dot();
    let expected = r#"digraph "M1" {
  rankdir=LR;
  node [shape=box, style=rounded];
  q0 [label="start"];
  start0 [shape=point];
  start0 -> q0;
  q1 [label="inversion", peripheries=2];
  q2 [label="scan returned 01"];
  q3 [label="scan returned 10"];
  q0 -> q0 [label="Σ"];
  q0 -> q2 [label="res scan(0, 1)"];
  q0 -> q3 [label="res scan(1, 0)"];
  q1 -> q1 [label="Σ"];
  q2 -> q1 [label="res scan(1, 0)"];
  q2 -> q2 [label="Σ"];
  q3 -> q1 [label="res scan(0, 1)"];
  q3 -> q3 [label="Σ"];
}
"#;
    assert_eq!(dot, expected);
}

#[test]
fn drawings_use_the_shortest_letter_labels() {
    let nfa = inappropriate(Alphabet::new(3).unwrap());
    let dot = nfa.to_dot();
    assert_eq!(dot, inappropriate(Alphabet::new(3).unwrap()).to_dot());
    for label in [
        "\"Σ\"",
        "\"Σ \\\\ Σ_p1\"",
        "\"Σ \\\\ inv update_j(1)\"",
        "\"p2: res scan(0, 0)\\np2: res scan(0, 1)\"",
        "\"F_j complete,\\nF_i not invoked\"",
    ] {
        assert!(dot.contains(&format!("[label={label}]")), "{label} in\n{dot}");
    }
    assert_eq!((dot.matches("peripheries").count(), dot.matches("=point").count()), (1, 3));
    assert_eq!(dot.matches("[label=\"").count(), nfa.states().len() + edges(&nfa));
}

fn edges(nfa: &Nfa) -> usize {
    let pairs: std::collections::BTreeSet<_> =
        nfa.transitions().iter().map(|t| (t.from, t.to)).collect();
    pairs.len()
}
