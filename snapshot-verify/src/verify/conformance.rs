//! `expect` lines as tests.

use snapshot_core::Process;

use super::outcome::{Outcome, Verdict};
use super::request::{Method, Operations, Pairs, Request};
use crate::language::{Expectation, ExpectedVerdict};
use crate::refine::Means;

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
        (Some(_), Method::Exploration) => Method::Refinement(Means::default()),
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
        Method::Exploration => Method::Refinement(Means::ALL),
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
    let is_open = |verdict: &Verdict| {
        matches!(verdict, Verdict::Unknown(_) | Verdict::Misplaced(_) | Verdict::Unconfirmed(_))
    };
    let unknown = any(is_open);
    let refused = any(|verdict| matches!(verdict, Verdict::Refused));
    let met = match expected {
        ExpectedVerdict::Violation => violated,
        ExpectedVerdict::Fault => faulty && !violated,
        ExpectedVerdict::Linearizable => !violated && !faulty && !refused,
        ExpectedVerdict::NoProof => !violated && !faulty && refused,
    };
    let is_wrong = matches!(expected, ExpectedVerdict::Violation | ExpectedVerdict::Fault);
    match (met, unknown) {
        (true, true) if !is_wrong => Conformance::Undecided,
        (true, _) => Conformance::Met,
        (false, true) if !violated && !faulty => Conformance::Undecided,
        (false, _) => Conformance::Contradicted,
    }
}

#[cfg(test)]
mod tests {
    use super::super::confirmation::Unconfirmed;
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
    fn only_answers_meet_or_contradict() {
        use ExpectedVerdict::Fault as Faulty;
        use ExpectedVerdict::{Linearizable, NoProof, Violation};
        let fault = Fault { span: Span::default(), kind: FaultKind::NoneUnwrapped };
        let faulty =
            Verdict::Fault(Box::new(ProgramFault { moves: Vec::new(), fault, before: None }));
        let unknown = Verdict::Unknown(Unfinished::Time);
        let unconfirmed = Verdict::Unconfirmed(Box::new(Unconfirmed {
            reason: "time ran out".to_owned(),
            place: None,
            is_gap: false,
            needed: None,
        }));
        let cases: [(ExpectedVerdict, &[Verdict], Conformance); 19] = [
            (Linearizable, &[Verdict::Verified, unconfirmed.clone()], Conformance::Undecided),
            (Violation, std::slice::from_ref(&unconfirmed), Conformance::Undecided),
            (NoProof, std::slice::from_ref(&unconfirmed), Conformance::Undecided),
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
