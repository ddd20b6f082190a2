//! The corpus of Amram, Hayoun, Mizrahi and Weiss (DISC 2022, section 7.4), regenerated: (0,
//! 1)-simple histories in which process k writes segment k.
//!
//! The paper counts events, two per operation. It made a non-linearizable history from a
//! linearizable one by random replacement of the values in scan responses among the last 20 events,
//! until the result was non-linearizable. To detect this requires a judge; this crate has no
//! checker, so the caller supplies one.

use snapshot_core::History;

use super::{Member, record, seed};
use crate::Expected;
use crate::generate::{Draw, OwnedAction, OwnedEvent, Recipe, Style, Violation};

const PER_CONFIGURATION: usize = 25;
const LINEARIZABLE: ([usize; 6], [usize; 3]) = ([5, 8, 11, 14, 17, 20], [100, 250, 500]);
const NON_LINEARIZABLE: ([usize; 6], [usize; 3]) = ([3, 4, 5, 6, 8, 10], [25, 50, 100]);

/// Number of last events with which the published recipe tampers.
const SUFFIX: usize = 20;

/// Number of failed attempts before the judge is blamed; nearly every attempt succeeds.
const ATTEMPTS: usize = 10_000;

/// A history of the published corpus.
#[derive(Clone, Debug)]
pub struct Published {
    /// Name in the style of the paper's files:
    /// `[non_]linearizable-<processes>-<operations>-<index>`.
    pub name: String,
    /// Verdict that a checker must give.
    pub expected: Expected,
    pub history: History<i64>,
}

/// Returns the 900 histories of the published corpus, made one by one on demand.
///
/// `judge` returns true if a (0, 1)-simple history is linearizable; it is called only for the
/// non-linearizable half.
///
/// # Panics
/// While iterating, if the judge accepts every history.
pub fn published<J>(mut judge: J) -> impl Iterator<Item = Published>
where
    J: FnMut(&History<i64>) -> bool,
{
    let good = configurations(LINEARIZABLE).map(|(processes, operations, index)| Published {
        name: format!("linearizable-{processes}-{operations}-{index}"),
        expected: Expected::Linearizable,
        history: simple(processes, operations, seed(processes, operations, index))
            .history()
            .expect("a simple recipe without a violation can be followed"),
    });
    let bad = configurations(NON_LINEARIZABLE).map(move |(processes, operations, index)| {
        let seed = seed(processes, operations, index);
        Published {
            name: format!("non_linearizable-{processes}-{operations}-{index}"),
            expected: Expected::Violation { reason: None },
            history: published_non_linearizable(processes, operations, seed, &mut judge),
        }
    });
    good.chain(bad)
}

/// Makes a non-linearizable history by the published recipe.
///
/// # Panics
/// If there are fewer than two processes, or if the judge accepts 10,000 (0, 1)-simple histories.
pub fn published_non_linearizable(
    processes: usize,
    operations: usize,
    seed: u64,
    mut judge: impl FnMut(&History<i64>) -> bool,
) -> History<i64> {
    let mut draw = Draw::new(seed, 1);
    for _ in 0..ATTEMPTS {
        let recipe = simple(processes, operations, draw.word());
        let events = recipe.events().expect("a (0, 1)-simple history needs two processes");
        let mut events: Vec<OwnedEvent> = events.collect();
        let suffix = events.len().saturating_sub(SUFFIX);
        for event in &mut events[suffix..] {
            if let OwnedAction::RespondScan { values } = &mut event.action {
                values[0] = draw.coin().into();
                values[1] = draw.coin().into();
            }
        }
        let history = record(recipe.declaration(), events);
        if !judge(&history) {
            return history;
        }
    }
    panic!("the judge must call some history non-linearizable; it called {ATTEMPTS} linearizable")
}

/// Returns 450 non-linearizable histories in the sizes of the published ones, with every case of
/// [`Violation::simple_cases`] in turn, anywhere in the second half.
///
/// Names: `<case>-<processes>-<operations>-<index>`.
pub fn cases_in_turn() -> impl Iterator<Item = Member> {
    let cases = Violation::simple_cases(0, 1);
    configurations(NON_LINEARIZABLE).enumerate().map(move |(turn, configuration)| {
        let (processes, operations, index) = configuration;
        let (case, violation) = cases[turn % cases.len()];
        Member {
            name: format!("{case}-{processes}-{operations}-{index}"),
            recipe: simple(processes, operations, seed(processes, operations, index))
                .with_violation(violation.after(0.5)),
        }
    })
}

fn configurations(
    (processes, operations): ([usize; 6], [usize; 3]),
) -> impl Iterator<Item = (usize, usize, usize)> {
    processes.into_iter().flat_map(move |processes| {
        operations.into_iter().flat_map(move |operations| {
            (0..PER_CONFIGURATION).map(move |index| (processes, operations, index))
        })
    })
}

const fn simple(processes: usize, operations: usize, seed: u64) -> Recipe {
    Recipe::new(processes, processes, operations, Style::Simple { i: 0, j: 1 }, seed)
}
