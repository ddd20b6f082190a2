//! `expect` lines as tests.

use snapshot_core::Process;

use super::outcome::{Outcome, Verdict};
use super::request::{Method, Operations, Pairs, Request};
use crate::language::{Expectation, ExpectedVerdict, Freedom};
use crate::progress::{OperationProgress, Progress, Standing};
use crate::refine::Techniques;
use crate::strong::StrongVerdict;

/// Whether an expectation is met.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Conformance {
    /// The answer is the expected one.
    Met,
    /// The answer is another one.
    Contradicted,
    /// There is no answer.
    Undecided,
}

/// Returns the request that decides an expectation, within the budgets and the method of `means`.
/// If a violation is expected and any number of operations is allowed, bounds grow: that finds it
/// sooner, and answers the same question.
#[must_use]
pub fn request(expectation: &Expectation, means: &Request) -> Request {
    let unbounded = match (expectation.verdict, expectation.values) {
        (ExpectedVerdict::Violation | ExpectedVerdict::Fault, None) => Operations::Grow,
        _ => Operations::Unbounded,
    };
    // Only refinement supports all executions over some values.
    let method = match (expectation.values, means.method) {
        (Some(_), Method::Exploration) => Method::Refinement(Techniques::default()),
        (_, method) => method,
    };
    let process = |number: u32| Process::from_index(number as usize);
    Request {
        processes: expectation.processes as usize,
        pairs: expectation.pair.map_or(Pairs::All, |(i, j)| Pairs::One(process(i), process(j))),
        method,
        values: expectation.values,
        updater: expectation.updater.map(process),
        operations: expectation.operations.map_or(unbounded, Operations::AtMost),
        ..means.clone()
    }
}

/// Returns the request for a declared object. Its executions are explored by refinement, over two
/// values unless the expectation says how many.
#[must_use]
pub fn object_request(expectation: &Expectation, means: &Request) -> Request {
    let method = match means.method {
        Method::Exploration => Method::Refinement(Techniques::ALL),
        method => method,
    };
    let unbounded = match expectation.verdict {
        ExpectedVerdict::Violation | ExpectedVerdict::Fault => Operations::Grow,
        _ => Operations::Unbounded,
    };
    Request {
        processes: expectation.processes as usize,
        method,
        values: Some(expectation.values.unwrap_or(Request::VALUES)),
        operations: expectation.operations.map_or(unbounded, Operations::AtMost),
        ..means.clone()
    }
}

/// Compares the outcomes of all requested pairs with the expected verdict.
pub fn conformance(expected: ExpectedVerdict, outcomes: &[Outcome]) -> Conformance {
    let any = |test: fn(&Verdict) -> bool| outcomes.iter().any(|outcome| test(&outcome.verdict));
    let violated = any(Verdict::is_violation);
    let faulty = any(|verdict| matches!(verdict, Verdict::Fault(_)));
    let is_open =
        |verdict: &Verdict| matches!(verdict, Verdict::Unknown(_) | Verdict::Misplaced(_));
    let unknown = any(is_open);
    let refused = any(|verdict| matches!(verdict, Verdict::Refused));
    let met = match expected {
        ExpectedVerdict::Violation => violated,
        ExpectedVerdict::Fault => faulty && !violated,
        ExpectedVerdict::Linearizable => !violated && !faulty && !refused,
        ExpectedVerdict::NoProof => !violated && !faulty && refused,
        ExpectedVerdict::Strong(_)
        | ExpectedVerdict::NotStrong(_)
        | ExpectedVerdict::Free(_)
        | ExpectedVerdict::NotFree(_) => return Conformance::Undecided,
    };
    let is_wrong = matches!(expected, ExpectedVerdict::Violation | ExpectedVerdict::Fault);
    match (met, unknown) {
        (true, true) if !is_wrong => Conformance::Undecided,
        (true, _) => Conformance::Met,
        (false, true) if !violated && !faulty => Conformance::Undecided,
        (false, _) => Conformance::Contradicted,
    }
}

/// Compares an answer on strong linearizability with the expected verdict.
#[must_use]
pub const fn strong_conformance(expected: ExpectedVerdict, found: &StrongVerdict) -> Conformance {
    match (expected, found) {
        (ExpectedVerdict::Strong(_), StrongVerdict::Strong)
        | (ExpectedVerdict::NotStrong(_), StrongVerdict::NotStrong(_)) => Conformance::Met,
        (_, StrongVerdict::Unknown | StrongVerdict::Faulty { .. }) => Conformance::Undecided,
        _ => Conformance::Contradicted,
    }
}

/// Compares the progress of an operation, or of all, with the expected level and the expected most
/// accesses of an operation; `None`: there is no such operation.
#[must_use]
pub fn progress_conformance(
    expected: ExpectedVerdict,
    accesses: Option<u32>,
    operation: Option<&str>,
    found: &Progress,
) -> Option<Conformance> {
    let (ExpectedVerdict::Free(freedom) | ExpectedVerdict::NotFree(freedom)) = expected else {
        return None;
    };
    let standings = standings(found, freedom, operation);
    let fails = |one: &&&Standing| one.lasso().is_some();
    let holds = |one: &&Standing| **one == Standing::Holds;
    let is_refuted = standings.iter().any(|one| fails(&one));
    let is_free = matches!(expected, ExpectedVerdict::Free(_));
    match (is_refuted, standings.iter().all(holds)) {
        _ if standings.is_empty() => None,
        (true, _) if is_free => Some(Conformance::Contradicted),
        (true, _) => Some(Conformance::Met),
        (false, true) if is_free => {
            let is_it = |one: &&OperationProgress| Some(found.name_of(one.operation)) == operation;
            let counted = found.operations.iter().filter(is_it).find_map(|one| one.accesses);
            match accesses.is_some() && accesses != counted {
                true => Some(Conformance::Contradicted),
                false => Some(Conformance::Met),
            }
        }
        (false, true) => Some(Conformance::Contradicted),
        (false, false) => Some(Conformance::Undecided),
    }
}

/// Returns the standings that decide a level: of an operation, or of all. Freedom from locks and
/// from deadlock is of all operations together.
#[must_use]
pub fn standings<'a>(
    found: &'a Progress,
    freedom: Freedom,
    operation: Option<&str>,
) -> Vec<&'a Standing> {
    let operations = || {
        let is_it = |one: &&OperationProgress| {
            operation.is_none_or(|name| found.name_of(one.operation) == name)
        };
        found.operations.iter().filter(is_it)
    };
    match freedom {
        Freedom::Wait => operations().map(|one| &one.wait_free).collect(),
        Freedom::Obstruction => operations().map(|one| &one.obstruction_free).collect(),
        Freedom::Starvation => operations().map(|one| &one.starvation_free).collect(),
        Freedom::Lock if operation.is_none() => vec![&found.lock_free],
        Freedom::Deadlock if operation.is_none() => vec![&found.deadlock_free],
        Freedom::Lock | Freedom::Deadlock => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Measures, ProgramFault, Unfinished};
    use super::*;
    use crate::interpret::{Fault, FaultKind};
    use crate::language::Span;

    fn outcomes(verdicts: &[Verdict]) -> Vec<Outcome> {
        let outcome = |verdict: &Verdict| Outcome {
            pair: None,
            verdict: verdict.clone(),
            scope: Vec::new(),
            measures: Measures::default(),
        };
        verdicts.iter().map(outcome).collect()
    }

    #[test]
    fn only_decided_verdicts_meet_or_contradict() {
        use ExpectedVerdict::Fault as Faulty;
        use ExpectedVerdict::{Linearizable, NoProof, Violation};
        let fault = Fault { span: Span::default(), kind: FaultKind::NoneUnwrapped };
        let faulty =
            Verdict::Fault(Box::new(ProgramFault { moves: Vec::new(), fault, before: None }));
        let unknown = Verdict::Unknown(Unfinished::Time);
        let cases: [(ExpectedVerdict, &[Verdict], Conformance); 16] = [
            (Faulty, &[unknown.clone(), faulty.clone()], Conformance::Met),
            (Faulty, &[Verdict::Verified], Conformance::Contradicted),
            (Faulty, std::slice::from_ref(&unknown), Conformance::Undecided),
            (Linearizable, &[Verdict::Verified, Verdict::Verified], Conformance::Met),
            (Linearizable, &[Verdict::Verified, unknown.clone()], Conformance::Undecided),
            (Linearizable, &[unknown.clone(), faulty.clone()], Conformance::Contradicted),
            (Linearizable, &[Verdict::Refused], Conformance::Contradicted),
            (Violation, &[Verdict::Verified], Conformance::Contradicted),
            (Violation, &[Verdict::Refused], Conformance::Contradicted),
            (Violation, &[Verdict::Verified, unknown.clone()], Conformance::Undecided),
            (Violation, std::slice::from_ref(&faulty), Conformance::Contradicted),
            (NoProof, &[Verdict::Refused], Conformance::Met),
            (NoProof, &[Verdict::Refused, unknown.clone()], Conformance::Undecided),
            (NoProof, std::slice::from_ref(&unknown), Conformance::Undecided),
            (NoProof, &[Verdict::Verified], Conformance::Contradicted),
            (NoProof, &[Verdict::Refused, faulty.clone()], Conformance::Contradicted),
        ];
        for (expected, verdicts, conforms) in cases {
            assert_eq!(conformance(expected, &outcomes(verdicts)), conforms, "{verdicts:?}");
        }
    }
}
