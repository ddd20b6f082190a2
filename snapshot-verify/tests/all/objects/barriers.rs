//! Executions of objects with few barriers: refinement counts them in the progress of the client,
//! the enumeration by their definition, in each history. `docs/barriers.md` has the table.

use snapshot_verify::enumerate::{EnumerationError, enumerate_object};
use snapshot_verify::interpret::{Client, Move, Values};
use snapshot_verify::program::Program;
use snapshot_verify::refine::{RefinementVerdict, Techniques};
use test_support::effort::{either, is_slow};

use super::{Case, algorithm, program};

/// Texts with few histories.
const SHORT: [&str; 6] =
    ["cas_counter", "faa_counter", "tas_lock", "ticket_lock", "linked_stack", "two_lock_queue"];

/// All operations with one or two values and at most this many barriers.
fn client(values: u32, barriers: u32) -> Client {
    Client { barriers: Some(barriers), ..Client::unbounded(Values::Full(values)) }
}

/// Counts the invocations that directly follow a response.
fn barriers(case: &Case<'_>, moves: &[Move]) -> usize {
    let execution = match case.machine.run(moves) {
        Ok(execution) => execution,
        // The last move is a fault.
        Err(_) => case.machine.run(&moves[..moves.len() - 1]).unwrap(),
    };
    let events: Vec<bool> = execution.events().map(|event| event.action.is_response()).collect();
    events.windows(2).filter(|pair| pair[0] && !pair[1]).count()
}

/// Returns true if an execution of at most this many barriers is wrong.
fn is_wrong(case: &Case<'_>, client: &Client, means: Techniques, about: &str) -> bool {
    match case.refine_by(client, means).verdict {
        RefinementVerdict::Verified => false,
        RefinementVerdict::Violation(moves) | RefinementVerdict::Faulty { moves, .. } => {
            let found = barriers(case, &moves);
            assert!(found <= client.barriers.unwrap() as usize, "{about}: {found} barriers");
            true
        }
        other => panic!("{about}: {other:?}"),
    }
}

#[test]
fn refinement_and_enumeration_agree_on_few_barriers() {
    // Cases by the least number of barriers, up to 2, and right ones.
    let mut least = [0; 4];
    let is_wanted = |name: &str| is_slow() || SHORT.contains(&name);
    for file in corpus::object_algorithms().iter().filter(|file| is_wanted(file.name)) {
        let algorithm = algorithm(file.text);
        let bugs = algorithm.bugs().iter().map(|bug| Some(&*bug.name.text));
        for bug in std::iter::once(None).chain(bugs) {
            let program = algorithm.program(bug).unwrap();
            let case = Case::new(&program, 2);
            let mut first = None;
            for most in 0..=either(1, 2) {
                let client = client(1, most);
                let about = format!("{} {bug:?}, {most} barriers", file.name);
                let limit = either(20_000, 400_000);
                let found = enumerate_object(&case.machine, &case.sequential, &client, limit);
                let expected = match found {
                    Ok(found) => found.violations > 0 || found.faulty.is_some(),
                    Err(EnumerationError::TooMany { .. }) => break,
                    Err(error) => panic!("{about}: {error}"),
                };
                for means in [Techniques::NONE, Techniques::default(), Techniques::ALL] {
                    let found = is_wrong(&case, &client, means, &about);
                    assert_eq!(found, expected, "{about}, {means:?}");
                }
                if expected {
                    first.get_or_insert(most as usize);
                }
            }
            least[first.unwrap_or(3)] += 1;
        }
    }
    println!("least 0, 1, 2 barriers, or more: {least:?}");
    assert!(least[0] >= 3 && least[1] >= 3 && least[3] >= 6, "{least:?}");
}

/// An increment that returns nothing: a lost one shows only to a later read.
const COUNTER: &str = "algorithm lossy
object counter:
    state count: counter
    increment: count := count + 1
    read: counter: return count
shared cell: counter
increment:
    local seen: counter
    seen := cell
    cell := seen + 1
read:
    local seen: counter
    seen := cell
    return seen
";

/// Returns Treiber's stack, with a pop that takes an element without a CAS.
fn improper() -> String {
    let text = corpus::algorithm("linked_stack").unwrap().text;
    let pop = text.find("\npop:").unwrap();
    let (push, pop) = text.split_at(pop);
    let changed =
        pop.replacen("done := CAS(top, t, below) linearizes", "done := true; top := below", 1);
    let changed = changed.replacen("if CAS(top, t, below):", "top := below\n        if true:", 1);
    assert_ne!(changed, pop);
    let text = format!("{push}{changed}");
    let end = text.find("\nbug ").unwrap();
    text[..end].to_owned()
}

/// A text, with its bug, the numbers of processes and values, the least number of barriers, and
/// whether the case is fast.
fn planted() -> Vec<(Program, String, usize, u32, u32, bool)> {
    let corpus = [
        ("linked_stack", "aba", 2, 2, 2, true),
        ("linked_stack", "aba", 3, 2, 1, false),
        ("treiber_stack", "aba", 2, 2, 2, true),
        ("treiber_stack", "lost_push", 2, 1, 1, true),
        ("two_lock_queue", "unlocked_dequeue", 2, 1, 1, true),
        ("two_lock_queue", "unlocked_dequeue", 3, 1, 0, true),
        ("two_lock_queue", "early_unlock", 2, 1, 1, true),
        ("lock_coupling_set", "no_coupling", 2, 1, 0, true),
        ("lock_coupling_set", "one_lock", 2, 1, 1, true),
        ("lock_coupling_set", "one_lock", 3, 1, 0, true),
        ("cas_counter", "lost_update", 2, 1, 0, true),
    ];
    let corpus = corpus.map(|(name, bug, n, values, least, is_fast)| {
        let text = algorithm(corpus::algorithm(name).unwrap().text);
        (text.program(Some(bug)).unwrap(), format!("{name} {bug}"), n, values, least, is_fast)
    });
    let own = [
        (program(COUNTER), "lost update".to_owned(), 2, 1, 1, true),
        (program(&improper()), "improper stack".to_owned(), 3, 1, 0, true),
    ];
    corpus.into_iter().chain(own).collect()
}

/// With one barrier less no execution is wrong.
#[test]
fn planted_bugs_of_objects_need_so_many_barriers() {
    for (program, name, n, values, least, is_fast) in planted() {
        if !is_fast && !is_slow() {
            continue;
        }
        let case = Case::new(&program, n);
        for most in 0..=least {
            let about = format!("{name}, n = {n}, {most} barriers");
            let found = is_wrong(&case, &client(values, most), Techniques::ALL, &about);
            assert_eq!(found, most == least, "{about}");
        }
    }
}
