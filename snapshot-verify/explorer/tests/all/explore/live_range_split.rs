//! Splitting of variables by their uses.

use std::mem::discriminant;

use snapshot_explorer::deadline::Deadline;
use snapshot_explorer::instance::Instance;
use snapshot_explorer::passes::live_range_split;
use snapshot_explorer::quotient::canonical_renaming::classes::{Class, Classes};
use snapshot_explorer::reduction::{Reduction, Reductions};
use snapshot_explorer::search::Exploration;

use crate::explore::published::prepared;
use crate::passes::dead;

fn instance(algorithm: &str, bug: Option<&str>, processes: usize) -> Instance {
    let text = corpus::algorithm(algorithm).unwrap().text;
    prepared(text, bug, processes, Reductions::standard().without(Reduction::Counters)).instance
}

fn split(instance: &Instance) -> Instance {
    live_range_split::split_live_ranges(instance, Deadline::NEVER).unwrap()
}

/// Returns true if some class has slots with both names.
fn are_one(instance: &Instance, names: [&str; 2]) -> bool {
    let has = |class: &Class, name: &str| {
        class.slots.iter().any(|slot| instance.slot(*slot).name == name)
    };
    Classes::new(instance).iter().any(|class| names.iter().all(|name| has(class, name)))
}

#[test]
fn handshakes_of_different_pairs_are_split() {
    let whole = instance("attiya_welch", None, 3);
    let split_once = split(&whole);
    for others in [["h_j[1][0]", "h_j[2][0]"], ["h_j[1][0]", "h_i[1][0]"]] {
        assert!(are_one(&whole, others));
        assert!(!are_one(&split_once, others));
    }
    assert!(are_one(&split_once, ["h_j[1][0]", "h_i[0][1]"]), "compared slots stay together");
    let added = split_once.slots.len() - whole.slots.len();
    assert!(added < whole.slots.len() / 4, "related webs share a slot: {added} were added");
    assert_eq!(split(&split_once), split_once, "splitting is idempotent");
}

/// Where dead slots are blank, splitting only renames: the number of states stays the same.
#[test]
fn splitting_keeps_the_number_of_states() {
    for (algorithm, bug) in [
        ("afek_bounded", None),
        ("afek_bounded", Some("no_negation")),
        ("attiya_welch", None),
        ("attiya_welch", Some("stale_view")),
    ] {
        let whole = instance(algorithm, bug, 2);
        let apart = live_range_split::split_webs(&whole, Deadline::NEVER).unwrap();
        assert!(apart.slots.len() > whole.slots.len());
        let exploration =
            Exploration { operations: Some(1), past_violations: true, ..Exploration::default() };
        let counts = [&whole, &split(&whole), &apart].map(|instance| {
            let outcome = exploration.run(&dead(instance), &mut |_| ()).unwrap();
            (discriminant(&outcome.verdict), outcome.states, outcome.transitions, outcome.depth)
        });
        assert_eq!(counts[0], counts[1], "{algorithm} {bug:?}");
        assert_eq!(counts[0], counts[2], "{algorithm} {bug:?}, each web apart");
    }
}
