//! What is proved for every n against the search for small n: no mutant that the search
//! finds wrong is proved.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use snapshot_everyn::ladder::{Budget, prove_all};
use snapshot_verify::verify::{Operations, Pairs, Reductions, Request, Unwatched, verify};

use super::mutants::mutants;
use super::request;

const VERSIONED: &str = "
algorithm versioned
type register = record (val: value, seq: version)
shared r[segment]: register
update(v):
    r[me] := (v, fresh)
scan:
    local a[segment]: register
    local b[segment]: register
    loop
        for s in segments:
            a[s] := r[s]
        for s in segments:
            b[s] := r[s]
        if all s in segments: a[s].seq = b[s].seq:
            return [b[s].val for s in segments]
";

const LOCKED: &str = "
algorithm locked
shared owner: cas process or none := none
shared a[segment]: value
update(v):
    repeat
        got := CAS(owner, none, me)
    until got
    a[me] := v
    owner := none
scan:
    local copy[segment]: value
    repeat
        got := CAS(owner, none, me)
    until got
    for s in segments:
        copy[s] := a[s]
    owner := none
    return copy
";

#[test]
fn no_mutant_that_is_wrong_for_small_n_is_proved() {
    let bowman = corpus::algorithm("bowman").unwrap().text;
    let naive = corpus::algorithm("naive_collect").unwrap().text;
    let texts =
        [("bowman", bowman), ("naive", naive), ("versioned", VERSIONED), ("locked", LOCKED)];
    let (mut tried, mut proved, mut wrong) = (0, 0, 0);
    for mutant in texts.into_iter().flat_map(|(name, text)| mutants(name, text)) {
        let until = Instant::now().checked_add(Duration::from_millis(1_500));
        let budget = Budget { bytes: 1 << 28, until };
        let is_proved = prove_all(&mutant.program, budget, &mut |_| true).proved;
        // What is not proved need not be searched for long.
        let milliseconds = if is_proved { 1_000 } else { 300 };
        let is_wrong = [2, 3].into_iter().any(|processes| {
            let request = Request {
                operations: Operations::AtMost(2),
                keep_going: false,
                self_check: None,
                threads: NonZeroUsize::MIN,
                pairs: Pairs::All,
                time: Some(Duration::from_millis(milliseconds)),
                ..request(processes, 2, Reductions::standard())
            };
            let outcomes = verify(&mutant.program, true, &request, &Unwatched::default());
            outcomes.is_ok_and(|outcomes| outcomes.iter().any(|one| one.verdict.is_wrong()))
        });
        assert!(!(is_proved && is_wrong), "{} is proved, and wrong", mutant.name);
        tried += 1;
        proved += usize::from(is_proved);
        wrong += usize::from(is_wrong);
    }
    println!("{tried} mutants, {proved} proved, {wrong} wrong");
    assert!(tried >= 50 && proved >= 15 && wrong >= 15, "{tried} {proved} {wrong}");
}
