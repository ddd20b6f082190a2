//! Anonymous processes are sorted without changing an answer: the objects of the corpus with their
//! bugs, and random stacks, with and without symmetry. `SNAPSHOT_SEEDS=FROM..TO` chooses the
//! seeds of the stacks.

use snapshot_verify::interpret::{Client, Roles, Values};
use snapshot_verify::object::Judge;
use snapshot_verify::program::anonymity::is_anonymous;
use snapshot_verify::program::linearization::has_points;
use snapshot_verify::refine::{Misplacement, RefinementVerdict, Techniques};
use test_support::effort::{either, seeds};

use super::points::refine;
use super::{Case, algorithm, comparands, program};

/// Answer of a search: the verdict, with the length of a counterexample.
type Said = (&'static str, usize);

/// Answers and numbers of states, without and with a reduction.
#[derive(Debug)]
pub struct Both {
    pub said: [Said; 2],
    pub states: [usize; 2],
}

impl Both {
    /// Counterexamples are executions of this program itself, for any exchange of processes.
    pub fn of(case: &Case<'_>, client: &Client, means: [Techniques; 2]) -> Self {
        let both = means.map(|means| {
            let found = refine(case, client, means);
            let said = match &found.verdict {
                RefinementVerdict::Verified => ("verified", 0),
                RefinementVerdict::Violation(moves) => {
                    let execution = case.machine.run(moves).unwrap();
                    let events: Vec<_> = execution.events().collect();
                    let judgement = Judge::new(&case.sequential).judge(&events).unwrap();
                    assert!(!judgement.is_linearizable(), "{moves:?}");
                    ("violation", moves.len())
                }
                RefinementVerdict::Faulty { moves, fault } => {
                    let error = case.machine.run(moves).unwrap_err();
                    assert!(error.to_string().contains(&fault.to_string()), "{error}: {fault}");
                    ("faulty", moves.len())
                }
                RefinementVerdict::Misplaced { moves, misplacement } => {
                    case.machine.run(moves).unwrap();
                    let last = moves.last().unwrap().process;
                    assert_eq!(*misplacement, Misplacement::Elsewhere(last));
                    ("misplaced", moves.len())
                }
                RefinementVerdict::Unknown(_) => ("unknown", 0),
                other => panic!("{other:?}"),
            };
            (said, found.states)
        });
        Self { said: both.map(|(said, _)| said), states: both.map(|(_, states)| states) }
    }

    /// Returns true if symmetry saved states, and asserts that the answer is the same. Without
    /// partial order reduction counterexamples are shortest ones.
    fn agree(&self, is_shortest: bool, n: usize, text: &str) -> bool {
        let [plain, reduced] = self.said;
        if plain.0 == "unknown" {
            return false;
        }
        assert_eq!(plain.0, reduced.0, "{text}");
        assert!(!is_shortest || plain.1 == reduced.1, "{plain:?} {reduced:?}: {text}");
        if plain.0 == "verified" {
            // A sorted state represents at most n! states.
            let [all, few] = self.states;
            let orders: usize = (1..=n).product();
            assert!(few <= all && all <= few * orders, "{all} {few}: {text}");
            return few < all;
        }
        false
    }
}

/// Without and with symmetry.
fn both(means: Techniques) -> [Techniques; 2] {
    [false, true].map(|symmetry| Techniques { symmetry, ..means })
}

/// With partial order reduction and dead locals, and without.
fn all_means(points: bool) -> [(Techniques, bool); 2] {
    let plain = Techniques { points, ..Techniques::NONE };
    [(plain, true), (Techniques { partial_order: true, forgetting: true, ..plain }, false)]
}

fn client(n: usize) -> Client {
    if n == 2 { Client::bounded(Values::Full(2), 2) } else { Client::bounded(Values::Full(1), 1) }
}

#[test]
fn symmetry_changes_no_answer_on_the_corpus() {
    let mut fewer = Vec::new();
    let mut wrong = 0;
    for file in corpus::object_algorithms() {
        let algorithm = algorithm(file.text);
        let bugs = algorithm.bugs().iter().map(|bug| Some(&*bug.name.text));
        // In the quick suite every third bug.
        for bug in std::iter::once(None).chain(bugs.step_by(either(3, 1))) {
            let Ok(program) = algorithm.program_with_points(bug) else { continue };
            for n in [2, 3] {
                for points in [false, true] {
                    if points && !has_points(&program) {
                        continue;
                    }
                    let case = Case::new(&program, n);
                    for (means, is_shortest) in all_means(points) {
                        let both = Both::of(&case, &client(n), both(means));
                        let text = format!("{} {bug:?}, n = {n}, {points}", file.name);
                        if both.agree(is_shortest, n, &text) {
                            assert!(is_anonymous(&program), "{text}");
                            fewer.push((file.name, n, points));
                        }
                        wrong += usize::from(both.said[1].1 > 0 && is_anonymous(&program));
                    }
                }
            }
        }
    }
    println!("{wrong} wrong; fewer states: {fewer:?}");
    for expected in [
        ("linked_stack", 2, false),
        ("linked_stack", 3, true),
        ("linked_queue", 3, false),
        ("cas_counter", 3, true),
        ("faa_counter", 2, false),
    ] {
        assert!(fewer.contains(&expected), "{expected:?}: {fewer:?}");
    }
    assert!(wrong >= either(20, 60), "{wrong}");
}

#[test]
fn symmetry_changes_no_answer_on_random_stacks() {
    let seeds = seeds(10, 48);
    let count = seeds.end - seeds.start;
    let [mut right, mut wrong, mut fewer] = [0; 3];
    for seed in seeds {
        let text = comparands::text(seed);
        let program = program(&text);
        for n in [2, 3] {
            let case = Case::new(&program, n);
            for (means, is_shortest) in all_means(false) {
                let both = Both::of(&case, &client(n), both(means));
                fewer += u64::from(both.agree(is_shortest, n, &text));
                match both.said[0].0 {
                    "verified" => right += 1,
                    "unknown" => {}
                    _ => wrong += 1,
                }
            }
        }
    }
    println!("{right} right, {wrong} wrong, of {fewer} fewer states");
    assert!(right.min(wrong) * 10 > count && fewer * 10 > right * 9, "{right} {wrong} {fewer}");
}

#[test]
fn idle_processes_are_not_exchanged() {
    let text = corpus::algorithm("cas_counter").unwrap().text;
    let program = program(text);
    let case = Case::new(&program, 3);
    let first = [0, 2].map(snapshot_core::Process::from_index);
    let few = Client { roles: Roles::Few { first, others: 0 }, ..client(2) };
    for (client, is_fewer) in [(few, false), (client(2), true)] {
        let [(means, is_shortest), _] = all_means(false);
        let both = Both::of(&case, &client, both(means));
        assert_eq!(both.agree(is_shortest, 3, text), is_fewer);
    }
}

/// Steps assign names of versions and of freed nodes, for any process that makes them.
#[test]
fn processes_are_not_exchanged_where_names_are_assigned() {
    for name in ["tagged_stack", "tagged_queue"] {
        let text = corpus::algorithm(name).unwrap().text;
        let program = program(text);
        assert!(is_anonymous(&program));
        let [(means, _), _] = all_means(false);
        let both = Both::of(&Case::new(&program, 2), &client(3), both(means));
        assert_eq!(both.states[0], both.states[1], "{name}");
    }
}
