//! No refutation is accepted of a linearizable history, whatever it was made
//! for, and whatever one of its lines is changed to.

use std::collections::HashSet;

use snapshot_core::OperationId;
use snapshot_core::certificate::refutation;
use snapshot_core::saturation::{self, Outcome};
use snapshot_core::search::Budget;
use snapshot_core::verdict::{Line, Refutation, Rule};

use crate::judge::enumeration::Space;

fn outcome(history: &snapshot_core::History<i64>) -> Outcome {
    saturation::check(history, &mut Budget { memory: usize::MAX, proceed: &mut || true })
}

#[test]
fn refutations_are_refused_where_there_is_an_order() {
    let space = Space::many_writers(2, 2, 2, 4);
    let (mut texts, mut refutations) = (HashSet::new(), Vec::new());
    let mut rules = HashSet::new();
    space.explore(&mut |history| {
        if let Outcome::Violation { refutation: Some(lines), .. } = outcome(history) {
            assert_eq!(refutation::check(history, &lines), Ok(()));
            if texts.insert(format!("{lines:?}")) {
                rules.extend(lines.lines.iter().map(|line| line.rule.name()));
                refutations.push(lines);
            }
        }
    });
    for rule in ["time", "reads", "first", "chain", "block"] {
        assert!(rules.contains(rule), "{rule}");
    }
    let mutants: Vec<Refutation> = refutations.iter().step_by(7).flat_map(mutants).collect();
    assert!(
        refutations.len() >= 40 && mutants.len() > 500,
        "{} {}",
        refutations.len(),
        mutants.len()
    );
    let mut refused = 0_u64;
    let mut turn = 0;
    space.explore(&mut |history| {
        if matches!(outcome(history), Outcome::Linearizable(_)) {
            turn += 1;
            let some = mutants.iter().skip(turn % 97).step_by(97);
            for lines in refutations.iter().chain(some) {
                assert!(refutation::check(history, lines).is_err(), "{lines:?} of {history:?}");
                refused += 1;
            }
        }
    });
    assert!(refused > 500_000, "{refused}");
}

/// With one line left out, or saying something else.
fn mutants(refutation: &Refutation) -> Vec<Refutation> {
    let mut mutants = Vec::new();
    for at in 0..refutation.lines.len() {
        let mut shorter = refutation.clone();
        shorter.lines.remove(at);
        mutants.push(shorter);
        let line = refutation.lines[at];
        for id in (0..4).map(OperationId::from_index) {
            for other in [
                Line { before: id, ..line },
                Line { after: id, ..line },
                Line { rule: Rule::Time, ..line },
                Line { before: line.after, after: line.before, ..line },
                Line { rule: Rule::Suppose, ..line },
            ] {
                let mut mutant = refutation.clone();
                mutant.lines[at] = other;
                mutants.push(mutant);
            }
        }
    }
    mutants
}
