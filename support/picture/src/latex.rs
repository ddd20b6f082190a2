//! A diagram for a paper in LaTeX: a TikZ picture that needs `\usepackage{tikz}` only.

use std::fmt::Write;

use crate::diagram::{Bar, Diagram};
use crate::forced::Cause;
use crate::places::{Measure, places};

const MEASURE: Measure = Measure { gap: 3, frame: 4 };

/// Returns a `tikzpicture`; one unit is the width of a character.
pub fn text(diagram: &Diagram) -> String {
    let widths: Vec<usize> = diagram.bars.iter().map(|bar| bar.label().chars().count()).collect();
    let places = places(diagram, &widths, &MEASURE);
    let moments = diagram.moments();
    let at = |moment: usize| places[moments.partition_point(|other| *other < moment)];
    let last = places.last().copied().unwrap_or(0);
    let processes = diagram.processes();
    let row = |bar: &Bar| processes.partition_point(|process| *process < bar.process);
    let mut text = String::from("\\begin{tikzpicture}[x=1.15ex, y=-3.2em, font=\\small]\n");
    let mut put = |part: std::fmt::Arguments<'_>| {
        text.write_fmt(part).expect("writing to a string cannot fail");
    };
    for (row, process) in processes.iter().enumerate() {
        let label = match diagram.names.processes() {
            [] => format!("$p_{{{process}}}$"),
            _ => escaped(&diagram.row_label(*process)),
        };
        put(format_args!("  \\node[left] at (-1, {row}) {{{label}}};\n"));
    }
    for bar in &diagram.bars {
        let (row, begin, id) = (row(bar), at(bar.begin), bar.operation.index());
        let (end, ends) = (bar.end.map_or(last, at), if bar.end.is_some() { "|-|" } else { "|->" });
        let dashed = if bar.is_failed { ", dashed" } else { "" };
        put(format_args!("  \\draw[{ends}{dashed}] ({begin}, {row}) -- ({end}, {row});\n"));
        put(format_args!(
            "  \\node[above] (o{id}) at ({}, {row}) {{{}}};\n",
            begin.midpoint(end),
            escaped(&bar.label())
        ));
        if let Some(rank) = bar.rank {
            put(format_args!(
                "  \\node[below, font=\\tiny] at ({}, {row}) {{{}}};\n",
                begin.midpoint(end),
                rank + 1
            ));
        }
    }
    let mut ranked: Vec<&Bar> = diagram.bars.iter().filter(|bar| bar.rank.is_some()).collect();
    ranked.sort_by_key(|bar| bar.rank);
    // Operations of one block are joined.
    for pair in ranked.windows(2).filter(|pair| pair[0].rank == pair[1].rank) {
        put(format_args!(
            "  \\draw[densely dotted] (o{}) -- (o{});\n",
            pair[0].operation.index(),
            pair[1].operation.index()
        ));
    }
    for arrow in &diagram.arrows {
        let style = match arrow.cause {
            Cause::Time => "gray",
            Cause::Values => "red!75!black, thick",
            Cause::Supposed => "violet, dashed",
        };
        put(format_args!(
            "  \\draw[->, {style}, bend right=18] (o{}) to (o{}); % {}\n",
            diagram.bars[arrow.before].operation.index(),
            diagram.bars[arrow.after].operation.index(),
            arrow.why.replace(|c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}', " ")
        ));
    }
    text + "\\end{tikzpicture}\n"
}

/// Escapes text so that it contains no commands.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => safe.push_str("\\textbackslash{}"),
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                safe.push('\\');
                safe.push(character);
            }
            _ if character.is_control() => safe.push('?'),
            _ => safe.push(character),
        }
    }
    safe
}
