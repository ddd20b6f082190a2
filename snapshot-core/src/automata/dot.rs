//! Drawing an automaton for Graphviz.
//!
//! Transitions between the same two states become one edge. Its label is "Σ" for the whole
//! alphabet, omits the process if all processes have the letter, and names the missing letters if
//! that is shorter: "Σ \ Σ_p0". Long labels have a line for each of their parts: Graphviz makes a
//! drawing as wide as its widest label.

use std::fmt::Write;

use super::nfa::{Alphabet, Nfa};
use crate::simple::{Letter, Symbol};

impl Nfa {
    /// Returns the automaton in the DOT language; the same text for equal automata.
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut dot = format!("digraph \"{}\" {{\n  rankdir=LR;\n  {NODES}\n", self.name());
        for (index, state) in self.states().iter().enumerate() {
            let name = state.name.replace(", ", ",\\n");
            let accepting = if state.accepting { ", peripheries=2" } else { "" };
            write_line(&mut dot, format_args!("  q{index} [label=\"{name}\"{accepting}];"));
            if state.initial {
                write_line(&mut dot, format_args!("  start{index} [shape=point];"));
                write_line(&mut dot, format_args!("  start{index} -> q{index};"));
            }
        }
        let edges = self.transitions().chunk_by(|a, b| (a.from, a.to) == (b.from, b.to));
        for edge in edges {
            let letters: Vec<Letter> = edge.iter().map(|transition| transition.letter).collect();
            let (from, to) = (edge[0].from.index(), edge[0].to.index());
            let label = describe(self.alphabet(), &letters);
            write_line(&mut dot, format_args!("  q{from} -> q{to} [label=\"{label}\"];"));
        }
        dot.push_str("}\n");
        dot
    }
}

/// Default style of states.
const NODES: &str = "node [shape=box, style=rounded];";

fn write_line(dot: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(dot, "{line}").expect("writing to a string never fails");
}

/// Returns a short text for a sorted set of letters, as the content of a DOT string.
fn describe(alphabet: Alphabet, letters: &[Letter]) -> String {
    if letters.len() == alphabet.size() {
        return "Σ".to_owned();
    }
    if letters.len() * 2 <= alphabet.size() {
        return enumerate(alphabet, letters).join("\\n");
    }
    let missing: Vec<Letter> =
        alphabet.letters().filter(|letter| letters.binary_search(letter).is_err()).collect();
    format!("Σ \\\\ {}", enumerate(alphabet, &missing).join(", "))
}

/// Lists all letters, by symbol; a process that has all symbols as Σ_p.
fn enumerate(alphabet: Alphabet, letters: &[Letter]) -> Vec<String> {
    let mut items = Vec::new();
    let mut rest = letters.to_vec();
    for process in alphabet.all_processes() {
        if rest.iter().filter(|letter| letter.process() == process).count() == Symbol::COUNT {
            items.push(format!("Σ_p{process}"));
            rest.retain(|letter| letter.process() != process);
        }
    }
    for symbol in Symbol::all() {
        let by: Vec<Letter> = rest.iter().copied().filter(|l| l.symbol() == symbol).collect();
        if by.len() == alphabet.processes() {
            items.push(symbol.to_string());
        } else {
            items.extend(by.iter().map(Letter::to_string));
        }
    }
    items
}
