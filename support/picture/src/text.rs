//! A diagram in characters, for a terminal.

use std::fmt::Write;

use crate::diagram::{Bar, Diagram};
use crate::places::{Measure, places};

/// Least width of the space before the line of a process.
const GUTTER: usize = 8;

/// An interval has its ends, a dash and a space on each side of the label.
const MEASURE: Measure = Measure { gap: 2, frame: 5 };

/// Draws one line per process; a bar with a position in the order has its number behind `#`.
/// Returns `None` if a line would have more than `width` characters.
pub fn text(diagram: &Diagram, width: usize) -> Option<String> {
    let labels: Vec<String> = diagram.bars.iter().map(label).collect();
    let widths: Vec<usize> = labels.iter().map(|label| label.chars().count()).collect();
    let places = places(diagram, &widths, &MEASURE);
    let last = *places.last()?;
    let margin = |process| format!("  {}", diagram.row_label(process));
    let margins = diagram.processes().into_iter().map(|one| margin(one).chars().count() + 2);
    let gutter = margins.max().unwrap_or(0).max(GUTTER);
    if gutter + last > width {
        return None;
    }
    let moments = diagram.moments();
    let at = |moment: usize| places[moments.partition_point(|other| *other < moment)];
    let mut text = String::new();
    for process in diagram.processes() {
        let mut line = format!("{:gutter$}", margin(process));
        for (bar, label) in diagram.bars.iter().zip(&labels) {
            if bar.process == process {
                let begin = at(bar.begin);
                line = format!("{line:width$}", width = gutter + begin);
                line.push_str(&interval(label, bar.end.map_or(last, at) - begin + 1, bar));
            }
        }
        writeln!(text, "{line}").expect("writing to a string cannot fail");
    }
    Some(text)
}

fn label(bar: &Bar) -> String {
    let failed = if bar.is_failed { " failed" } else { "" };
    let rank = bar.rank.map_or_else(String::new, |rank| format!(" #{}", rank + 1));
    let label = bar.label();
    let shown = label.chars().flat_map(|c| {
        let escaped = c.is_control().then(|| c.escape_unicode());
        let plain = (!c.is_control()).then_some(c);
        escaped.into_iter().flatten().chain(plain)
    });
    shown.chain(failed.chars()).chain(rank.chars()).collect()
}

/// Draws `|-- E1: exchange(1) --|`, or `|-- E1: exchange(1) ...` if it does not end.
fn interval(label: &str, length: usize, bar: &Bar) -> String {
    let dashes = length.saturating_sub(label.chars().count() + 4);
    let (left, right) = (dashes / 2, dashes - dashes / 2);
    if bar.end.is_some() {
        format!("|{} {label} {}|", "-".repeat(left), "-".repeat(right))
    } else {
        format!("|{} {label} {}", "-".repeat(left), ".".repeat(right + 1))
    }
}
