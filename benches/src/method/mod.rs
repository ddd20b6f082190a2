//! The methods that judge histories: ours, and the peers.
//!
//! A method is one line of [`METHODS`], and all measurements of histories know it by
//! its name. It runs in a process of its own, which reads a recording and writes
//! an [`Answer`]; so neither its memory nor its crash is another's.

mod ours;
mod stateright;
mod subject;
mod todc;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use snapshot_core::History;
pub use subject::{SubjectError, read};

/// Whose it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// What the project is for: it knows what a snapshot is.
    Ours,
    /// The project's own rendering of what others do: knows no more than they.
    Baseline,
    /// A program of another project.
    Peer,
}

/// A way to judge a history.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// Its name in records and tables.
    pub name: &'static str,
    /// Whose it is.
    pub origin: Origin,
    /// What it is, for the legend of a table.
    pub what: &'static str,
    judge: fn(&History<i64>) -> Answer,
}

/// All of them, in the order of the tables. The first is the project's own.
pub const METHODS: &[Method] = &[
    Method {
        name: "linear",
        origin: Origin::Ours,
        what: "the linear-time conditions (`snapshot_core::check::decide`)",
        judge: ours::linear,
    },
    Method {
        name: "monitor",
        origin: Origin::Ours,
        what: "the same online (`snapshot_core::monitor`); its events one by one",
        judge: ours::monitor,
    },
    Method {
        name: "search",
        origin: Origin::Ours,
        what: "exact search with narrowing (`snapshot_core::search::search`)",
        judge: ours::search,
    },
    Method {
        name: "plain-search",
        origin: Origin::Baseline,
        what: "exact search without narrowing (`snapshot_core::search::search_plainly`)",
        judge: ours::search_plainly,
    },
    Method {
        name: "generic",
        origin: Origin::Baseline,
        what: "the generic checker on its specification of snapshots (`snapshot_core::generic`)",
        judge: ours::generic,
    },
    Method {
        name: "todc-utils",
        origin: Origin::Peer,
        what: "todc-utils 0.1, `WGLChecker` with its own specification of snapshots",
        judge: todc::judge,
    },
    Method {
        name: "stateright",
        origin: Origin::Peer,
        what: "stateright 0.31, `LinearizabilityTester`",
        judge: stateright::judge,
    },
];

impl Method {
    /// The method of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.name == name)
    }

    /// Judges.
    ///
    /// # Panics
    /// If the method does: some panic on what they do not support.
    pub fn judge(&self, history: &History<i64>) -> Answer {
        (self.judge)(history)
    }
}

/// What a process tells of its work, as one line of JSON.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Answer {
    /// Whether the history is linearizable; absent if a budget of the method's own
    /// ran out.
    pub is_linearizable: Option<bool>,
    /// Seconds of the work alone, without reading or preparing the history.
    pub seconds: f64,
    /// Number of events judged.
    pub events: u64,
}

/// Work is repeated this often, and the least time counts: all else that a machine
/// does can only make it slower.
const TURNS: u32 = 5;

/// After so long altogether it is not repeated any more.
const LONG: Duration = Duration::from_millis(200);

/// Times `work` on what `prepare` makes.
fn timed<I>(
    events: usize,
    mut prepare: impl FnMut() -> I,
    mut work: impl FnMut(I) -> Option<bool>,
) -> Answer {
    let (mut least, mut spent) = (Duration::MAX, Duration::ZERO);
    let mut is_linearizable = None;
    for _ in 0..TURNS {
        let input = std::hint::black_box(prepare());
        let start = Instant::now();
        is_linearizable = work(input);
        let time = start.elapsed();
        least = least.min(time);
        spent += time;
        if spent > LONG {
            break;
        }
    }
    Answer { is_linearizable, seconds: least.as_secs_f64(), events: events as u64 }
}

#[cfg(test)]
mod tests {
    use corpus::generate::{Recipe, Rule, Style, Violation};

    use super::*;

    fn judge(method: &Method, recipe: &Recipe) -> Option<bool> {
        method.judge(&recipe.history().unwrap()).is_linearizable
    }

    #[test]
    fn all_agree_with_the_construction() {
        for (seed, rule) in (0..).zip(Rule::ALL.into_iter().cycle().take(14)) {
            let recipe = Recipe::new(4, 3, 24, Style::Differentiated, seed)
                .with_violation(Violation::new(rule));
            for method in METHODS {
                assert_eq!(judge(method, &recipe), Some(false), "{}: {recipe:?}", method.name);
                let twin = recipe.twin();
                assert_eq!(judge(method, &twin), Some(true), "{}: {twin:?}", method.name);
            }
        }
    }

    #[test]
    fn pending_operations_are_judged_or_refused_but_never_misjudged() {
        // Short ones: a search without memory takes exponential time.
        for seed in 0..40 {
            let recipe = Recipe::new(3, 2, 10, Style::Differentiated, seed).with_pending(2);
            let bad = recipe.clone().with_violation(Violation::new(Rule::Stale));
            for method in METHODS.iter().filter(|method| method.name != "todc-utils") {
                assert_eq!(judge(method, &recipe), Some(true), "{}: {recipe:?}", method.name);
                assert_eq!(judge(method, &bad), Some(false), "{}: {bad:?}", method.name);
            }
        }
    }

    #[test]
    fn names_are_unique() {
        for method in METHODS {
            assert_eq!(METHODS.iter().filter(|other| other.name == method.name).count(), 1);
            assert_eq!(Method::named(method.name).map(|found| found.name), Some(method.name));
        }
    }
}
