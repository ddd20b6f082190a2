//! Correct programs have certificates, which are accepted; the second method agrees.

use std::num::NonZeroUsize;

use snapshot_core::Process;
use snapshot_language::program::independence;
use snapshot_semantics::certificate::{Answer, Coverage, Failure};
use snapshot_semantics::interpret::{Client, Machine, Values};
use snapshot_semantics::refine::{Budget, RefinementVerdict, Techniques, refine};

use crate::certificate::programs::Subject;

/// A program that treats all processes equally: one cell holds the view.
const ALIKE: &str = "algorithm alike
shared last: process or none := none
shared whole: view

update(v):
    local w: view
    atomic:
        last := me
        w := whole
        w[me] := v
        whole := w

scan:
    return whole
";

/// Returns the number of states of an accepted certificate.
fn accepted(subject: &Subject, n: usize, operations: Option<u32>, coverage: Coverage) -> usize {
    let claim = subject.claim(n, operations, coverage);
    let (text, states) = subject.prove(&claim).unwrap();
    match subject.check(&text) {
        Answer::Accepted(accepted) => {
            assert_eq!(accepted.claim, claim);
            assert_eq!(accepted.states, states as u64);
            assert!(accepted.moves >= accepted.states, "{accepted:?}");
        }
        answer => panic!("{answer:?}"),
    }
    states
}

#[test]
fn small_instances_are_accepted_with_every_coverage() {
    for (name, bug, operations) in [
        ("bowman", None, None),
        ("bowman", Some("early_exit"), None),
        ("afek_unbounded", None, Some(1)),
        ("jayanti", None, Some(1)),
    ] {
        let subject = Subject::corpus(name, bug);
        let states = Coverage::ALL.map(|coverage| accepted(&subject, 2, operations, coverage));
        // Two processes have no others to permute.
        assert_eq!([states[0], states[2]], [states[1], states[3]], "{name}");
        assert!(states[2] < states[0], "{name}: {states:?}");
    }
}

#[test]
fn permutations_spare_states() {
    let subject = Subject::new(ALIKE, None);
    let states = Coverage::ALL.map(|coverage| accepted(&subject, 4, Some(1), coverage));
    assert!(states[1] * 10 < states[0] * 7, "{states:?}");
    assert!(states[3] * 10 < states[2] * 7, "{states:?}");
    assert!(states[2] < states[0], "{states:?}");
}

/// All algorithms of the corpus and their bugs, for two and three processes.
#[test]
fn certificates_exist_where_refinement_finds_no_violation() {
    let pair = [0, 1].map(Process::from_index);
    let (mut proofs, mut violations) = (0, 0);
    for algorithm in corpus::algorithms() {
        let parsed = snapshot_language::parse(algorithm.name, algorithm.text).unwrap();
        let bugs = parsed.bugs().iter().map(|bug| Some(bug.name.text.clone()));
        let bugs = [None].into_iter().chain(bugs);
        for (bug, n) in bugs.flat_map(|bug| [(bug.clone(), 2), (bug, 3)]) {
            let subject = Subject::corpus(algorithm.name, bug.as_deref());
            if independence::check(&subject.program).is_err() {
                continue;
            }
            let machine = Machine::new(&subject.program, n).unwrap();
            let client = Client::bounded(Values::Simple(pair[0], pair[1]), 1);
            let mut proceed = |_: &_| true;
            let (states, threads) = (20_000, NonZeroUsize::MIN);
            let mut budget = Budget { states, memory: 1 << 28, threads, proceed: &mut proceed };
            let oracle = refine(&machine, &client, Techniques::default(), &mut budget).unwrap();
            let antichain = Coverage { antichain: true, symmetry: false };
            let mut claim = subject.claim(n, Some(1), antichain);
            claim.pairs.truncate(1);
            match oracle.verdict {
                RefinementVerdict::Verified => {
                    let (text, _) = subject.prove(&claim).unwrap();
                    assert!(
                        matches!(subject.check(&text), Answer::Accepted(_)),
                        "{}",
                        algorithm.name
                    );
                    proofs += 1;
                }
                RefinementVerdict::Violation(_) => {
                    let failure = subject.prove(&claim).unwrap_err();
                    assert!(matches!(failure, Failure::Violation { .. }), "{failure}");
                    violations += 1;
                }
                _ => {}
            }
        }
    }
    assert!(proofs >= 10 && violations >= 1, "{proofs} proofs, {violations} violations");
}
