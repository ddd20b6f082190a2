//! The run of an automaton, drawn: states in a row, letters between them.

use std::fmt::Write;

use maud::{Markup, PreEscaped};

use crate::svg::escaped;

/// An accepting run of an automaton.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Run {
    /// Name of the automaton: `M1`.
    pub automaton: String,
    /// Nouns for the processes represented by p0, p1, ..., unless these are themselves.
    pub processes: Option<Vec<String>>,
    /// State before the first letter.
    pub from: String,
    /// Each letter, with the state after it.
    pub steps: Vec<(String, String)>,
}

const CHARACTER: usize = 8;
const ROW: usize = 58;
const HEIGHT: usize = 30;

/// Draws a run from top to bottom, because letters and names of states have any length. A state
/// that is not left is drawn once, with the letters at its side.
pub fn element(run: &Run) -> Markup {
    let mut states: Vec<(&str, Vec<&str>)> = vec![(&run.from, Vec::new())];
    let mut arrows: Vec<&str> = Vec::new();
    for (letter, state) in &run.steps {
        let last = states.last_mut().expect("there is the first state");
        if last.0 == state {
            last.1.push(letter);
        } else {
            arrows.push(letter);
            states.push((state, Vec::new()));
        }
    }
    let longest = states.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(1);
    let box_width = longest * CHARACTER + 28;
    let beside = |text: &str| text.chars().count() * CHARACTER;
    let loops = |letters: &[&str]| letters.join("; ");
    let widest = states
        .iter()
        .map(|(_, letters)| beside(&loops(letters)) + 70)
        .chain(arrows.iter().map(|letter| beside(letter) + 20))
        .max()
        .unwrap_or(0);
    let (width, height) = (box_width + widest + 24, states.len() * ROW);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" \
         aria-label=\"the accepting run of automaton {}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\"><defs><marker id=\"run-head\" viewBox=\"0 0 10 10\" \
         refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
         <path class=\"head time\" d=\"M0 0L10 5L0 10z\"/></marker></defs>",
        escaped(&run.automaton)
    );
    let middle = 4 + box_width / 2;
    for (at, (name, letters)) in states.iter().enumerate() {
        let top = 4 + at * ROW;
        let accepting = if at + 1 == states.len() { " accepting" } else { "" };
        write!(
            svg,
            "<rect class=\"state{accepting}\" x=\"4\" y=\"{top}\" width=\"{box_width}\" \
             height=\"{HEIGHT}\" rx=\"15\"/><text x=\"{middle}\" y=\"{}\" \
             text-anchor=\"middle\">{}</text>",
            top + 20,
            escaped(name)
        )
        .expect("writing to a string cannot fail");
        if !letters.is_empty() {
            let right = 4 + box_width;
            write!(
                svg,
                "<path class=\"arrow time\" marker-end=\"url(#run-head)\" \
                 d=\"M{right} {}C{far} {} {far} {} {right} {}\"/><text x=\"{}\" y=\"{}\">{}</text>",
                top + 8,
                top + 2,
                top + 28,
                top + 22,
                right + 40,
                top + 20,
                escaped(&loops(letters)),
                far = right + 42,
            )
            .expect("writing to a string cannot fail");
        }
        if let Some(letter) = arrows.get(at) {
            write!(
                svg,
                "<path class=\"arrow time\" marker-end=\"url(#run-head)\" d=\"M{middle} {}V{}\"/>\
                 <text x=\"{}\" y=\"{}\">{}</text>",
                top + HEIGHT,
                top + ROW - 1,
                middle + 10,
                top + HEIGHT + 18,
                escaped(letter)
            )
            .expect("writing to a string cannot fail");
        }
    }
    svg.push_str("</svg>");
    PreEscaped(svg)
}
