//! Budgets of searches: an answer is *unknown* where a budget ends the search. Includes sizes at
//! which a search that tries all subsets would never end.

use snapshot_core::generic::History;
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::objects::{
    Barrier, EnrollableBarrier, EnrollableInput, OneFamily,
};
use snapshot_core::synchronisation::progress::{self, Progress};
use snapshot_core::synchronisation::{Verdict, by_search};
use snapshot_core::verdict::Exhausted;

/// The largest number of polls of these searches for time; one every 256 configurations.
const PATIENCE: u64 = 1_000;

/// Threads enrol, then all but the last synchronise, and the first returns.
fn enrolled(threads: u32, missing: u32) -> History<EnrollableInput<u32>, ()> {
    let mut history = History::builder();
    for me in 0..threads {
        history.invoke(me as usize, EnrollableInput::Enrol(me)).unwrap();
        history.respond(me as usize, ()).unwrap();
    }
    for me in 0..threads - missing {
        history.invoke(me as usize, EnrollableInput::Sync(me)).unwrap();
    }
    history.respond(0, ()).unwrap();
    history.finish()
}

#[test]
fn large_barriers_are_decided_within_the_budget() {
    let mut asked = 0;
    let mut proceed = || {
        asked += 1;
        asked < PATIENCE
    };
    let mut budget = Budget { memory: 1 << 26, proceed: &mut proceed };
    for threads in [3, 40, 300] {
        let object = EnrollableBarrier::default();
        let right = by_search(&object, &enrolled(threads, 0), &mut budget);
        assert!(matches!(right, Verdict::SetLinearizable(_)), "{threads}");
        let wrong = by_search(&object, &enrolled(threads, 1), &mut budget);
        assert!(matches!(wrong, Verdict::Violation(_)), "{threads}");
        let mut history = History::builder();
        for process in 0..threads as usize {
            history.invoke(process, ()).unwrap();
        }
        let history = history.finish();
        let barrier = |threads: u32| Barrier { threads: threads as usize };
        let found = progress::by_search(&barrier(threads), &history, &mut budget);
        assert!(matches!(found, Progress::Missed(missed) if missed.len() == threads as usize));
        let found = progress::by_search(&barrier(threads + 1), &history, &mut budget);
        assert!(matches!(found, Progress::Holds(_)));
    }
}

/// Threads that all meet concurrently, each pair once, and one of them once too often: refuting
/// that takes long.
fn family(threads: u8) -> History<u8, u8> {
    let mut history = History::builder();
    let mut process = 0;
    let mut open = Vec::new();
    for me in 0..threads {
        for other in (0..threads).filter(|&other| other != me) {
            history.invoke(process, me).unwrap();
            open.push((process, other));
            process += 1;
        }
    }
    history.invoke(process, 0).unwrap();
    open.push((process, 1));
    for (process, other) in open {
        history.respond(process, other).unwrap();
    }
    history.finish()
}

#[test]
fn budgets_end_in_unknown() {
    let history = family(9);
    let mut asked = 0;
    let mut proceed = || {
        asked += 1;
        asked < 3
    };
    let mut budget = Budget { memory: usize::MAX, proceed: &mut proceed };
    let verdict = by_search(&OneFamily::default(), &history, &mut budget);
    assert!(matches!(verdict, Verdict::Unknown { exhausted: Exhausted::Time, .. }), "{verdict:?}");
    let found = progress::by_search(&OneFamily::default(), &history, &mut budget);
    assert_eq!(found, Progress::Unknown(Exhausted::Time));
    assert_eq!(asked, 4, "once it is over, it is over");
    let mut budget = Budget { memory: 10_000, proceed: &mut || true };
    let verdict = by_search(&OneFamily::default(), &history, &mut budget);
    assert!(matches!(verdict, Verdict::Unknown { exhausted: Exhausted::Memory, .. }));
    let history = family(3);
    let verdict = by_search(&OneFamily::default(), &history, &mut budget);
    assert!(matches!(verdict, Verdict::Violation(_)), "a small one is decided: {verdict:?}");
}
