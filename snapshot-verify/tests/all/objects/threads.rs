//! The number of threads changes nothing of a refinement: the objects of the corpus with their bugs,
//! and changes of their texts, some of which are wrong.

use std::num::NonZeroUsize;

use snapshot_verify::interpret::{Client, Values};
use snapshot_verify::program::Program;
use snapshot_verify::refine::{Budget, Refinement, RefinementVerdict, Techniques, refine_object};
use test_support::effort::either;

use super::Case;
use crate::agreement::mutants::mutants;

fn refined(program: &Program, threads: usize) -> Refinement {
    let case = Case::new(program, 3);
    let client = Client::bounded(Values::Full(2), 1);
    let threads = NonZeroUsize::new(threads).unwrap();
    let mut budget = Budget { states: 20_000, memory: usize::MAX, threads, proceed: &mut |_| true };
    let means = Techniques::ALL;
    refine_object(&case.machine, &case.sequential, &client, means, &mut budget).unwrap()
}

#[test]
fn threads_change_no_answer_and_no_number() {
    let (mut large, mut wrong) = (0, 0);
    let mut agree = |program: &Program, text: &str| {
        let one = refined(program, 1);
        assert_eq!(one, refined(program, 2), "{text}");
        large += usize::from(one.states > 5_000);
        let is_right =
            matches!(one.verdict, RefinementVerdict::Verified | RefinementVerdict::Unknown(_));
        wrong += usize::from(!is_right);
    };
    for (number, file) in corpus::object_algorithms().iter().enumerate() {
        let algorithm = super::algorithm(file.text);
        let bugs = algorithm.bugs().iter().map(|bug| Some(&*bug.name.text));
        for bug in [None].into_iter().chain(bugs) {
            agree(&algorithm.program(bug).unwrap(), &format!("{} {bug:?}", file.name));
        }
        let some = mutants(file.name, file.text).into_iter().skip(number % 7);
        for mutant in some.step_by(either(31, 7)) {
            agree(&mutant.program, &mutant.name);
        }
    }
    println!("{large} large, {wrong} wrong");
    assert!(large >= 10 && wrong >= 20, "{large} {wrong}");
}
