//! Number of barriers that the planted bugs of the corpus need: the table of `docs/barriers.md`.
//!
//! `SNAPSHOT_EFFORT=night` tries all of them, and all pairs.

use snapshot_core::history::History;
use snapshot_verify::language::parse;
use snapshot_verify::verify::{Pairs, Reductions, Verdict};

use super::{explored, is_wrong};

/// An algorithm, its bug, n, the least number of barriers, and whether the case is fast.
const PLANTED: [(&str, Option<&str>, usize, u32, bool); 10] = [
    ("naive_collect", None, 3, 1, true),
    ("naive_collect", None, 4, 0, true),
    ("bowman", Some("early_exit"), 3, 1, true),
    ("bowman", Some("early_exit"), 4, 0, true),
    ("afek_unbounded", Some("no_increment"), 3, 1, true),
    ("attiya_welch", Some("stale_view"), 2, 2, true),
    ("jayanti", Some("plain_ss"), 2, 1, true),
    ("afek_bounded", Some("no_negation"), 3, 1, false),
    ("attiya_welch", Some("no_negation"), 3, 1, false),
    ("riany", Some("early_count"), 2, 1, false),
];

/// Counts the invocations that directly follow a response.
fn barriers(history: &History<u32>) -> usize {
    let operations = history.operations();
    let mut events: Vec<(usize, bool)> = operations
        .iter()
        .flat_map(|operation| {
            let response = operation.response().map(|response| (response, true));
            [Some((operation.invocation(), false)), response].into_iter().flatten()
        })
        .collect();
    events.sort_unstable();
    events.windows(2).filter(|pair| pair[0].1 && !pair[1].1).count()
}

/// With one barrier less no violation exists, and the found execution has no more barriers than
/// needed.
#[test]
fn planted_bugs_need_exactly_the_listed_barriers() {
    let is_night = test_support::effort::is_night();
    let wanted = PLANTED.iter().filter(|(.., is_short)| is_night || *is_short);
    for &(name, bug, processes, least, _) in wanted {
        let text = corpus::algorithm(name).unwrap().text;
        let program = parse(name, text).unwrap().program(bug).unwrap();
        let all = if is_night { Pairs::All.among(processes) } else { Vec::new() };
        let pairs = all.iter().map(|pair| pair.map(|process| process.index()));
        let pairs = if is_night { pairs.collect() } else { vec![[0, 1]] };
        let about = format!("{name} {bug:?}, n = {processes}");
        let mut needed = Vec::new();
        for pair in pairs {
            for most in 0..=least {
                let found =
                    explored(&program, processes, pair, most, Reductions::standard()).unwrap();
                assert!(is_wrong(&found).is_some(), "{about}: not explored to the end");
                if let Verdict::Violation(counterexample) = &found.verdict {
                    let history = counterexample.history();
                    assert!(barriers(history) <= most as usize, "{about}: {history:?}");
                    needed.push(most);
                    break;
                }
            }
        }
        assert_eq!(needed.iter().min(), Some(&least), "{about}");
    }
}
