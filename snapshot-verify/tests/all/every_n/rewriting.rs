//! Rewritten programs against the ones that they are made of: in lockstep in random executions, and
//! by the search.

use snapshot_verify::program::Program;
use snapshot_verify::search::SelfCheck;
use snapshot_verify::verify::simulation::{check, compare, rewritten};
use snapshot_verify::verify::{Operations, Request, Unwatched, verify};
use test_support::effort::either;

use super::{TABLE, algorithm};
use crate::agreement::mutants::mutants;

/// The texts with a rewriting, their bugs, and mutants that still have one.
fn programs(each: usize) -> Vec<(String, Program)> {
    let mut all = Vec::new();
    for (name, text, ..) in TABLE {
        let algorithm = algorithm(name, text);
        all.push(((*name).to_owned(), algorithm.program(None).unwrap()));
        for bug in algorithm.bugs() {
            let bug = bug.name.text.as_str();
            all.push((format!("{name} {bug}"), algorithm.program(Some(bug)).unwrap()));
        }
        let changed = mutants(name, text).into_iter().step_by(each);
        all.extend(changed.map(|mutant| (mutant.name, mutant.program)));
    }
    all
}

#[test]
fn a_rewritten_program_makes_the_same_steps() {
    let (mut walked, mut moves, mut faults) = (0, 0, 0);
    let seeds = either(1, 40);
    for (name, program) in programs(either(6, 1)) {
        let Some(subject) = rewritten(&program) else { continue };
        walked += 1;
        for processes in 2..=4 {
            for seed in 0..seeds {
                let found = compare(&subject, processes, seed, 80).unwrap();
                let compared = found.unwrap_or_else(|one| panic!("{name}: {one:?}"));
                moves += compared.moves;
                faults += compared.faults;
            }
        }
    }
    println!("{walked} programs, {moves} moves, {faults} faults");
    assert!(walked >= either(50, 250) && moves > 10_000, "{walked} {moves}");
}

/// That the comparison finds what is not the same: a lock that names its owner, and a counter that is a version
/// though it is compared across cells, each as if it were what the other program is rewritten to.
#[test]
fn comparison_finds_a_difference() {
    let text = TABLE.iter().find(|(name, ..)| *name == "collect_again").unwrap().1;
    let right = algorithm("right", text).program(None).unwrap();
    let other = algorithm("other", text).program(Some("one_side")).unwrap();
    let mut subject = rewritten(&right).unwrap();
    assert!(check(&subject, SelfCheck::DEFAULT).unwrap().unwrap().moves > 1_000);
    subject.program = std::borrow::Cow::Owned(other);
    let difference = check(&subject, SelfCheck::DEFAULT).unwrap().unwrap_err();
    assert!(!difference.moves.is_empty(), "{difference:?}");
}

/// Per pair, whether it is right; nothing if the search does not end.
fn searched(program: &Program, processes: usize, operations: u32) -> Option<Vec<bool>> {
    let operations = Operations::AtMost(operations);
    let request = Request { operations, memory: 64 << 20, ..Request::new(processes) };
    let outcomes = verify(program, true, &request, &Unwatched::default()).unwrap();
    let is_right = |name: &str| match name {
        "verified" => Some(true),
        "violation" | "fault" => Some(false),
        _ => None,
    };
    outcomes.iter().map(|outcome| is_right(outcome.verdict.name())).collect()
}

#[test]
fn search_agrees_on_rewritten_programs() {
    let (mut compared, mut wrong) = (0, 0);
    let chosen = programs(either(8, 1)).into_iter().enumerate();
    for (number, (name, program)) in chosen.filter(|(number, _)| number % either(3, 1) == 0) {
        let Some(subject) = rewritten(&program) else { continue };
        for processes in 2..=either(2, 3) {
            if processes == 3 && number % 4 != 0 {
                continue;
            }
            let both = [&program, &*subject.program].map(|one| searched(one, processes, 2));
            let [Some(before), Some(after)] = both else { continue };
            assert_eq!(before, after, "{name} {processes}");
            compared += 1;
            wrong += usize::from(before.contains(&false));
        }
    }
    println!("{compared} compared, {wrong} of them wrong");
    assert!(compared >= 10 && wrong >= 2, "{compared} {wrong}");
}
