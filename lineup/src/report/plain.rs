//! Unordered accesses of plain memory, as text.

use super::WIDTH;
use crate::replay::line;
use crate::unordered::Line;
use crate::verdict::ConcurrentPhase;

/// Returns a paragraph that names the accesses, if there are any.
pub(super) fn unordered(phase: &ConcurrentPhase) -> String {
    if phase.unordered.is_empty() {
        return String::new();
    }
    let named = |place: Line| {
        let (file, number) = line(place);
        format!("{file}:{number}")
    };
    let pairs = phase.unordered.iter().map(|(first, second)| match first == second {
        true => format!("{} and itself", named(first)),
        false => format!("{} and {}", named(first), named(second)),
    });
    let text = format!(
        "plain memory: threads are switched before these accesses, which nothing that is seen \
         orders, a data race if one of them writes: {}",
        pairs.collect::<Vec<_>>().join("; ")
    );
    format!("\n{}\n", textwrap::fill(&text, WIDTH))
}
