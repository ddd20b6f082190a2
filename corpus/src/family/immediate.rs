//! Executions of immediate snapshots.

use snapshot_core::history::Declaration;
use snapshot_core::immediate::History;

use super::seed;
use crate::Expected;
use crate::generate::{Exchanges, Flaw};

/// A member of [`immediate`].
#[derive(Clone, Debug)]
pub struct Exchanged {
    /// Unique in its family.
    pub name: String,
    /// Verdict that a checker must give.
    pub expected: Expected,
    /// Recipe of the execution; `None`: a profile.
    pub recipe: Option<Exchanges>,
    pub history: History<i64>,
}

/// Numbers of processes, operations and pending operations, and share of failures.
const SIZES: [(usize, usize, usize, f64); 6] = [
    (3, 8, 0, 0.0),
    (3, 24, 1, 0.1),
    (4, 40, 2, 0.0),
    (6, 60, 0, 0.1),
    (16, 200, 4, 0.05),
    (32, 400, 8, 0.0),
];

/// Number of executions of each size and kind.
const SEEDS: usize = 2;

/// Returns the [profiles](profiles), and 144 executions by recipe, each bad one followed by its
/// set-linearizable twin, one event away.
///
/// Names: `profile-<vectors>`, `<flaw>-<processes>-<operations>-<number>`, with `-twin`.
pub fn immediate() -> impl Iterator<Item = Exchanged> {
    profiles().chain(random())
}

/// Returns the 19 profiles of three processes that run one operation each, all concurrent. Every
/// operation returns its own value, and of two operations one returns all values that the other
/// returns: the outputs of an atomic snapshot. Thirteen of them, the ordered partitions of three
/// processes, are outputs of an immediate snapshot (Borowsky and Gafni, PODC 1993); the other six
/// break immediacy.
pub fn profiles() -> impl Iterator<Item = Exchanged> {
    let subsets = |process: usize| (0..8_u32).filter(move |seen| seen & (1 << process) != 0);
    let all = subsets(0)
        .flat_map(move |a| subsets(1).flat_map(move |b| subsets(2).map(move |c| [a, b, c])));
    all.filter(is_chain).map(profile)
}

/// Returns true if of any two sets one contains the other.
fn is_chain(sets: &[u32; 3]) -> bool {
    let contains = |a: u32, b: u32| a & b == b;
    sets.iter().all(|a| sets.iter().all(|b| contains(*a, *b) || contains(*b, *a)))
}

/// Returns true if each process that sees another one also sees its whole set.
fn is_immediate(sets: &[u32; 3]) -> bool {
    (0..3).all(|viewer| {
        let mut seen = (0..3).filter(|seen| sets[viewer] & (1 << seen) != 0);
        seen.all(|seen| sets[seen] & !sets[viewer] == 0)
    })
}

fn profile(seen: [u32; 3]) -> Exchanged {
    let mut history = History::builder(Declaration::new(0).with_segments(3))
        .expect("three segments can be declared");
    for process in 0..3 {
        history.invoke(process, process as i64 + 1).expect("each process is idle");
    }
    for (process, seen) in seen.iter().enumerate() {
        let entry = |segment: i64| if seen & (1 << segment) == 0 { 0 } else { segment + 1 };
        history.respond(process, &[0, 1, 2].map(entry)).expect("each operation is open");
    }
    let expected = match is_immediate(&seen) {
        true => Expected::Linearizable,
        false => Expected::Violation { reason: Some("immediacy") },
    };
    let name = format!("profile-{:03b}-{:03b}-{:03b}", seen[0], seen[1], seen[2]);
    Exchanged { name, expected, recipe: None, history: history.finish() }
}

fn random() -> impl Iterator<Item = Exchanged> {
    Flaw::ALL.into_iter().enumerate().flat_map(|(kind, flaw)| {
        SIZES.into_iter().flat_map(move |(processes, operations, pending, failures)| {
            (0..SEEDS).flat_map(move |number| {
                let seed = seed(processes, operations, 1000 + 10 * kind + number);
                let mut recipe = Exchanges::new(processes, operations, seed);
                recipe.violation = Some(flaw);
                (recipe.pending, recipe.failures) = (pending, failures);
                let name = format!("{flaw}-{processes}-{operations}-{number}");
                let twin = (format!("{name}-twin"), recipe.twin());
                [(name, recipe), twin].map(|(name, recipe)| {
                    let history = recipe.history().expect("these recipes can be followed");
                    let expected = recipe.expected();
                    Exchanged { name, expected, recipe: Some(recipe), history }
                })
            })
        })
    })
}
