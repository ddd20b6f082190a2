//! A history before all judges.

use std::fmt::Debug;

use snapshot_core::generic::{
    Ending, History, HistoryBuilder, Outcome, Reason, Specification, check, check_proof,
    check_whole, replay, search,
};
use snapshot_core::search::Budget;

use crate::objects::oracle::{self, Machine};

/// Returns true if a history is linearizable, after the checker, with and without parts, has
/// decided and proved it.
///
/// # Panics
/// If one of them errs.
pub fn agreed_verdict<S, M>(specification: &S, history: &History<M::Input, M::Output>) -> bool
where
    S: Specification<Input = M::Input, Output = M::Output>,
    M: Machine<Input: Clone + Debug, Output: Clone + Debug>,
{
    let expected = oracle::decide::<M>(history);
    let mut budget = Budget { memory: usize::MAX, proceed: &mut || true };
    for (outcome, is_whole) in [
        (check(specification, history, &mut budget), false),
        (search(specification, history, &mut budget), false),
        (check_whole(specification, history, &mut budget), true),
    ] {
        match outcome {
            Outcome::Linearizable { linearization, .. } => {
                assert!(expected, "not linearizable: {history:#?}");
                if let Err(error) = replay(specification, history, &linearization) {
                    panic!("{error}: {linearization:?} of {history:#?}");
                }
            }
            Outcome::NotLinearizable { reason: Reason::Rule(proof), .. } => {
                assert!(!expected, "linearizable: {history:#?}");
                check_proof(specification, history, &proof).unwrap();
            }
            Outcome::NotLinearizable { reason: Reason::Searched(furthest), .. } => {
                assert!(!expected, "linearizable: {history:#?}");
                let due = &history.operations()[furthest.due.index()];
                assert_eq!(due.response(), Some(furthest.events), "{furthest:?} of {history:#?}");
                let part = specification.part(&due.input);
                let concerns = |input: &_| is_whole || specification.part(input) == part;
                let prefix = prefix(history, furthest.events, concerns);
                if let Err(error) = replay(specification, &prefix, &furthest.order) {
                    panic!("{error}: {furthest:?} of {history:#?}");
                }
            }
            Outcome::Exhausted { .. } => panic!("there is no limit"),
        }
    }
    expected
}

/// Returns the operations invoked before `end`, in their state at that time. Other operations count
/// as failed, so that numbers are kept.
fn prefix<I: Clone, O: Clone>(
    history: &History<I, O>,
    end: usize,
    concerns: impl Fn(&I) -> bool,
) -> History<I, O> {
    let mut builder = HistoryBuilder::default();
    for event in 0..end {
        for operation in history.operations() {
            let process = operation.process.index();
            let has_failed = matches!(operation.ending, Ending::Failed { .. });
            if operation.invocation == event {
                builder.invoke(process, operation.input.clone()).expect("the process is idle");
                if has_failed || !concerns(&operation.input) {
                    builder.fail(process).expect("an operation is open");
                } else if operation.response().is_none_or(|response| response >= end) {
                    builder.unknown(process).expect("an operation is open");
                }
            } else if let Ending::Complete { response, output } = &operation.ending
                && *response == event
                && concerns(&operation.input)
            {
                builder.respond(process, output.clone()).expect("an operation is open");
            }
        }
    }
    builder.finish()
}
