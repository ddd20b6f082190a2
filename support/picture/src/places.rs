//! Horizontal positions of the ends of operations in drawings.
//!
//! The ends keep their order and are as far apart as the labels between them need: the picture
//! shows which operations precede which, not durations.

use crate::diagram::Diagram;

/// Measures of a medium, in its own units: characters, pixels.
pub(crate) struct Measure {
    /// Minimum distance of two ends.
    pub gap: usize,
    /// Space around the label of an interval.
    pub frame: usize,
}

/// Returns the position of every end, by its number in [`Diagram::moments`], and last the position
/// of the end of the picture. `widths` are those of the bars' labels.
pub(crate) fn places(diagram: &Diagram, widths: &[usize], measure: &Measure) -> Vec<usize> {
    let moments = diagram.moments();
    let at = |moment: usize| moments.partition_point(|other| *other < moment);
    let mut ending: Vec<Vec<usize>> = vec![Vec::new(); moments.len() + 1];
    for (bar, interval) in diagram.bars.iter().enumerate() {
        ending[interval.end.map_or(moments.len(), at)].push(bar);
    }
    let mut places: Vec<usize> = Vec::with_capacity(moments.len() + 1);
    for ends in &ending {
        let after_last = places.last().map_or(0, |last| last + measure.gap);
        let needed = ends
            .iter()
            .map(|&bar| places[at(diagram.bars[bar].begin)] + widths[bar] + measure.frame)
            .max();
        places.push(needed.unwrap_or(0).max(after_last));
    }
    places
}
