//! Objects whose operations take effect together: every method against the definition.

mod budgets;
mod certificates;
mod domain;
mod exhaustive;
mod figures;
mod groups;
mod oracle;
mod random;
mod relations;

use std::fmt::Debug;

use snapshot_core::certificate::{deficiency, groups as replay};
use snapshot_core::search::Budget;
use snapshot_core::synchronisation::progress::{self, Progress};
use snapshot_core::synchronisation::{
    Keyed, Synchronisation, Verdict, Violation, by_keys, by_matching, by_search,
};

use self::domain::Recording;
use self::oracle::Truth;

/// Counts of judged histories and proofs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    pub histories: u64,
    pub set_linearizable: u64,
    /// Set-linearizable histories with progress.
    pub progress: u64,
    /// Proofs, checked, that operations have no partners.
    pub deficiencies: u64,
    /// Deficiencies with more than one component.
    pub of_several: u64,
}

impl Tally {
    fn count(&mut self, truth: Truth) {
        self.histories += 1;
        self.set_linearizable += u64::from(truth.is_set_linearizable);
        self.progress += u64::from(truth.has_progress);
    }
}

/// Returns true if a verdict is that a history is set-linearizable; its proof is checked.
fn confirmed<S: Synchronisation>(object: &S, history: &Recording<S>, verdict: &Verdict) -> bool
where
    S::Input: Debug,
    S::Output: Debug,
{
    match verdict {
        Verdict::SetLinearizable(groups) => {
            if let Err(error) = replay::check(object, history, groups) {
                panic!("{error}: {groups:?} of {history:#?}");
            }
            true
        }
        Verdict::Violation(_) => false,
        Verdict::Unknown { .. } => panic!("there is no limit"),
    }
}

fn has_progress<S: Synchronisation>(object: &S, history: &Recording<S>, found: &Progress) -> bool {
    match found {
        Progress::Holds(groups) => {
            replay::check(object, history, groups).expect("a set linearization");
            true
        }
        Progress::Missed(_) | Progress::Unreturned => false,
        Progress::Unknown(_) => panic!("there is no limit"),
    }
}

fn searched<S: Synchronisation>(object: &S, history: &Recording<S>, tally: &mut Tally) -> Truth
where
    S::Input: Debug,
    S::Output: Debug,
{
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    let verdict = by_search(object, history, &mut budget);
    let found = progress::by_search(object, history, &mut budget);
    let truth = Truth {
        is_set_linearizable: confirmed(object, history, &verdict),
        has_progress: has_progress(object, history, &found),
    };
    tally.count(truth);
    truth
}

fn matched<S: Synchronisation<State = ()>>(
    object: &S,
    history: &Recording<S>,
    tally: &mut Tally,
) -> Truth
where
    S::Input: Debug,
    S::Output: Debug,
{
    let truth = searched(object, history, tally);
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    let verdict = by_matching(object, history, &mut budget);
    prove(object, history, &verdict, tally);
    assert_eq!(confirmed(object, history, &verdict), truth.is_set_linearizable, "{history:#?}");
    let found = progress::by_matching(object, history, &mut budget);
    assert_eq!(has_progress(object, history, &found), truth.has_progress, "{history:#?}");
    truth
}

fn keyed<S: Keyed>(object: &S, history: &Recording<S>, tally: &mut Tally) -> Truth
where
    S::Input: Debug,
    S::Output: Debug,
{
    let truth = matched(object, history, tally);
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    let verdict = by_keys(object, history, &mut budget);
    prove(object, history, &verdict, tally);
    assert_eq!(confirmed(object, history, &verdict), truth.is_set_linearizable, "{history:#?}");
    let found = progress::by_keys(object, history, &mut budget);
    assert_eq!(has_progress(object, history, &found), truth.has_progress, "{history:#?}");
    truth
}

/// Every violation has a proof, which is checked.
fn prove<S: Synchronisation<State = ()>>(
    object: &S,
    history: &Recording<S>,
    verdict: &Verdict,
    tally: &mut Tally,
) where
    S::Input: Debug,
    S::Output: Debug,
{
    let Verdict::Violation(violation) = verdict else { return };
    let Violation::Unmatched { deficiency: Some(found), .. } = violation else {
        panic!("no proof of {violation:?} in {history:#?}");
    };
    if let Err(error) = deficiency::check(object, history, found) {
        panic!("{error}: {found:?} of {history:#?}");
    }
    tally.deficiencies += 1;
    tally.of_several += u64::from(found.components.len() > 1);
}
