//! Histories in which any process may update any segment.

use snapshot_core::History;

use super::seed;
use crate::Expected;
use crate::generate::{Contradiction, ManyWriters};

/// A member of [`many_writers`].
#[derive(Clone, Debug, PartialEq)]
pub struct Crowded {
    /// Unique in its family.
    pub name: String,
    pub recipe: ManyWriters,
}

impl Crowded {
    /// Returns the verdict that a checker must give.
    pub const fn expected(&self) -> Expected {
        self.recipe.expected()
    }

    /// Makes the history. O(operations × segments).
    pub fn history(&self) -> History<i64> {
        self.recipe.history().expect("the recipes of a family can be followed")
    }
}

/// Numbers of processes, segments and operations, share of gaps, and number of updates of unknown
/// outcome.
const SIZES: [(usize, usize, usize, f64, usize); 5] = [
    (8, 2, 12, 0.0, 0),
    (8, 3, 24, 0.0, 1),
    (9, 4, 24, 0.3, 0),
    (8, 2, 20, 0.5, 1),
    (16, 2, 32, 0.0, 0),
];

/// Number of histories of each size and kind.
const SEEDS: usize = 2;

/// Returns 140 histories, each bad one followed by its linearizable twin, one event away.
///
/// Names: `<contradiction>-<processes>-<segments>-<operations>-<number>`, with `-twin`.
pub fn many_writers() -> impl Iterator<Item = Crowded> {
    let kinds = Contradiction::ALL.into_iter().enumerate();
    kinds.flat_map(|(kind, violation)| {
        SIZES.into_iter().enumerate().flat_map(move |(size, shape)| {
            (0..SEEDS).flat_map(move |number| {
                let (processes, segments, operations, gaps, pending) = shape;
                let seed = seed(processes, operations, 200 + 100 * kind + 10 * size + number);
                let mut recipe = ManyWriters::new(processes, segments, operations, seed);
                recipe.violation = Some(violation);
                (recipe.gaps, recipe.pending) = (gaps, pending);
                let name = violation.name();
                let name = format!("{name}-{processes}-{segments}-{operations}-{size}-{number}");
                let twin = Crowded { name: format!("{name}-twin"), recipe: recipe.twin() };
                [Crowded { name, recipe }, twin]
            })
        })
    })
}
