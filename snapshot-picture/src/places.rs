//! Where on the line of time the ends of operations are drawn.
//!
//! The ends keep their order and lie as far apart as the labels between them need: the
//! picture shows which operations precede which, not how long anything took.

use crate::diagram::Diagram;

/// The measures of a medium, in its own units: characters, pixels.
pub(crate) struct Measure {
    /// Between two ends at least.
    pub gap: usize,
    /// What an interval needs around its label.
    pub frame: usize,
}

/// The place of every end, by its number in [`Diagram::moments`], and last that of the
/// end of the picture. `widths`: of the bars' labels.
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
