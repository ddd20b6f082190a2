//! A diagram for Graphviz: operations as nodes, the forced order as arrows.

use std::fmt::Write;

use crate::diagram::Diagram;
use crate::forced::Cause;

/// Returns the text of a drawing, for `dot -Tsvg`.
pub fn text(diagram: &Diagram, title: &str) -> String {
    let mut text = String::from("digraph history {\n  rankdir=LR;\n");
    let mut put = |part: std::fmt::Arguments<'_>| {
        text.write_fmt(part).expect("writing to a string cannot fail");
    };
    put(format_args!("  label=\"{}\";\n  node [shape=box, fontname=monospace];\n", quoted(title)));
    for process in diagram.processes() {
        let label = quoted(&diagram.row_label(process));
        put(format_args!("  subgraph cluster_p{process} {{\n    label=\"{label}\";\n"));
        for bar in diagram.bars.iter().filter(|bar| bar.process == process) {
            let place = bar.rank.map_or_else(String::new, |rank| format!("\\n#{}", rank + 1));
            let style = if bar.is_pending || bar.is_failed { ", style=dashed" } else { "" };
            put(format_args!(
                "    o{} [label=\"{}{place}\"{style}];\n",
                bar.operation.index(),
                quoted(&bar.label())
            ));
        }
        put(format_args!("  }}\n"));
    }
    for arrow in &diagram.arrows {
        let (colour, style) = match arrow.cause {
            Cause::Time => ("gray40", "solid"),
            Cause::Values => ("red3", "solid"),
            Cause::Supposed => ("purple", "dashed"),
        };
        put(format_args!(
            "  o{} -> o{} [color={colour}, style={style}, tooltip=\"{}\"];\n",
            diagram.bars[arrow.before].operation.index(),
            diagram.bars[arrow.after].operation.index(),
            quoted(&arrow.why)
        ));
    }
    let mut ranked: Vec<_> = diagram.bars.iter().filter(|bar| bar.rank.is_some()).collect();
    ranked.sort_unstable_by_key(|bar| bar.rank);
    for pair in ranked.windows(2) {
        // Operations of one block are joined, and not ordered.
        let joined = if pair[0].rank == pair[1].rank { ", dir=none, style=bold" } else { "" };
        put(format_args!(
            "  o{} -> o{} [color=green4{joined}];\n",
            pair[0].operation.index(),
            pair[1].operation.index()
        ));
    }
    text + "}\n"
}

/// Escapes the inside of a quoted string.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            _ if character.is_control() => {
                quoted.push('\\');
                quoted.extend(character.escape_unicode());
            }
            _ => quoted.push(character),
        }
    }
    quoted
}
