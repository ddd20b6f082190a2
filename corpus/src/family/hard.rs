//! Histories that defeat memoised search.
//!
//! Checkers in the manner of Wing and Gong and of Lowe are fast on published corpora: linearizable
//! histories need no backtracking, and in short ones a failed search is small. They fail on
//! incorrect histories of many processes: before an answer, they must visit every state that the
//! prefix up to the violation allows. So each bad member here has 17 processes or more and breaks
//! its rule near its end. Values never repeat, and pending operations, which stay candidates for
//! ever, multiply the states further.

use super::{Member, seed};
use crate::generate::{Recipe, Rule, Style, Violation};

const SEGMENTS: [usize; 4] = [17, 20, 32, 64];

/// Numbers of operations, of processes that only scan, and of pending operations.
const SIZES: [(usize, usize, usize); 3] = [(500, 0, 0), (1000, 3, 12), (5000, 0, 4)];

/// Share of operations before the violation.
const AFTER: f64 = 0.97;

/// Returns 212 histories, each bad one followed by its linearizable twin: every rule with values
/// that never repeat, and every case of a simple violation.
///
/// Names: `<rule>-<segments>-<operations>-pending-<pending>` and
/// `simple-<case>-<segments>-<operations>`, with `-twin` for the twins.
pub fn hard() -> impl Iterator<Item = Member> {
    differentiated().chain(simple()).flat_map(|bad| {
        let twin = Member { name: format!("{}-twin", bad.name), recipe: bad.recipe.twin() };
        [bad, twin]
    })
}

fn differentiated() -> impl Iterator<Item = Member> {
    SEGMENTS.into_iter().flat_map(|segments| {
        SIZES.into_iter().flat_map(move |(operations, scanners, pending)| {
            Rule::ALL.into_iter().enumerate().map(move |(index, rule)| {
                let processes = segments + scanners;
                let seed = seed(segments, operations, index);
                Member {
                    name: format!("{rule}-{segments}-{operations}-pending-{pending}"),
                    recipe: Recipe::new(
                        processes,
                        segments,
                        operations,
                        Style::Differentiated,
                        seed,
                    )
                    .with_pending(pending)
                    .with_violation(Violation::new(rule).after(AFTER)),
                }
            })
        })
    })
}

fn simple() -> impl Iterator<Item = Member> {
    [(17, 2000), (64, 1000)].into_iter().flat_map(|(segments, operations)| {
        // A checker that knows only segments 0 and 1 must fail here.
        let (i, j) = (segments / 2, segments - 1);
        Violation::simple_cases(i, j).into_iter().enumerate().map(
            move |(index, (case, violation))| {
                let seed = seed(segments, operations, 100 + index);
                let style = Style::Simple { i, j };
                Member {
                    name: format!("simple-{case}-{segments}-{operations}"),
                    recipe: Recipe::new(segments, segments, operations, style, seed)
                        .with_violation(violation.after(AFTER)),
                }
            },
        )
    })
}
