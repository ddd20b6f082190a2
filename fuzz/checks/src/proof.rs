//! Any bytes as a certificate: a proof of a wrong claim is never accepted.
//!
//! The end mark of a certificate of an algorithm, a hash of all lines before it, is recomputed,
//! because no fuzzer finds one: it protects from damage, and these alterations are deliberate.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{iter, ptr};

use snapshot_core::History;
use snapshot_test::certificate::Certificate;
use snapshot_test::synchronisation::{self, Object};
use snapshot_test::{Value, read_history};
use snapshot_verify::certificate::{self, Budget, Claim, digest};
use snapshot_verify::invariant;
use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::verify::{Operations, Pairs, Request, Unwatched, Verdict, verify};

/// Recordings that certificates are checked against; true if linearizable.
const RECORDINGS: [(&str, bool); 4] = [
    ("segments 2\np0 update 5\np1 scan\np0 ok\np1 ok 5 0\n", true),
    ("segments 2\np0 update 5\np0 ok\np1 scan\np1 ok 0 0\n", false),
    ("segments 2\np2 scan\np0 update 5\np1 update 7\np0 ok\np1 ok\np2 ok 5 0\n", true),
    (
        "segments 2\nwriters many\np0 update s0 1\np1 update s0 2\np0 ok\np1 ok\np2 scan\n\
         p2 ok 1 0\np2 scan\np2 ok 2 0\np2 scan\np2 ok 1 0\n",
        false,
    ),
];

/// Checks a certificate of a recording.
///
/// # Panics
/// If it is accepted, and wrong.
pub fn check_recording(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let certificate = match Certificate::from_text(&text) {
        Ok(Certificate::Recorded(object, certificate)) => {
            return together(&text, &object, &certificate);
        }
        Ok(certificate) => certificate,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error has a message");
            return;
        }
    };
    for (recording, is_right) in RECORDINGS {
        let says_so = certificate.verdict() == "linearizable";
        match certificate.check(&history(recording)) {
            Ok(()) => assert_eq!(says_so, is_right, "{text} is accepted of\n{recording}"),
            Err(refused) => assert!(!refused.to_string().is_empty(), "an error has a message"),
        }
    }
    let again = Certificate::from_text(&certificate.to_text()).expect("it was read before");
    assert_eq!(again.to_text(), certificate.to_text(), "a certificate changes");
}

fn history(text: &str) -> History<Value> {
    let reader = snapshot_test::format::Reader::text(text.as_bytes()).expect("it is well-formed");
    read_history(reader).expect("it is well-formed").0
}

/// Recordings of a channel; true if linearizable.
const EXCHANGES: [(&str, bool); 2] = [
    ("p0 send 5\np1 receive\np0 ok\np1 ok 5\n", true),
    ("p0 send 5\np0 ok\np1 receive\np1 ok 5\n", false),
];

fn together(text: &str, object: &Object, certificate: &synchronisation::Certificate) {
    let channel: Object = "channel".parse().expect("a known object");
    if *object != channel {
        return;
    }
    for (recording, is_right) in EXCHANGES {
        let checked =
            synchronisation::certify(object, certificate, recording.as_bytes(), None, None);
        let is_accepted = checked.expect("it is well-formed").is_ok();
        let says_so = certificate.is_order();
        assert!(!is_accepted || says_so == is_right, "{text} is accepted of\n{recording}");
    }
}

/// An algorithm that is right for every n, and two that are not, under the same name.
pub(crate) struct Programs {
    pub(crate) digest: String,
    pub(crate) right: Program,
    /// Wrong from n = 3 on, and from n = 2 on.
    wrong: [Program; 2],
}

/// Text of the certified algorithm.
const BOWMAN: &str = include_str!("../../../corpus/algorithms/bowman.snapshot");

pub(crate) fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let algorithm = parse("bowman", BOWMAN).expect("a right text");
        let early = algorithm.text(Some("early_exit")).expect("it has this bug");
        let blind = BOWMAN.replace("copy[s] := a[s]", "copy[s] := initial");
        let program = |text: &str| {
            let algorithm = parse("bowman", text).expect("it is an algorithm");
            algorithm.program(None).expect("a program")
        };
        Programs {
            digest: digest(BOWMAN),
            right: program(BOWMAN),
            wrong: [program(&early), program(&blind)],
        }
    })
}

/// Returns the lines with their end mark.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let body = match bytes.windows(5).rposition(|window| window == b"\nend ") {
        Some(at) => &bytes[..=at],
        None => bytes,
    };
    let seal = digest(&String::from_utf8_lossy(body));
    let mut sealed = body.to_vec();
    sealed.extend_from_slice(format!("end {seal}\n").as_bytes());
    sealed
}

/// Runs a check with limits on memory and on calls of the budget.
pub(crate) fn within<T>(check: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    let mut asked = 0;
    let mut proceed = || {
        asked += 1;
        asked < 2000
    };
    check(&mut Budget { memory: 64 << 20, proceed: &mut proceed })
}

/// Checks a certificate of an algorithm for one n.
///
/// # Panics
/// If it is accepted, and exploration finds that its claim is wrong.
pub fn check_one_n(bytes: &[u8]) {
    let Programs { digest, right, wrong: [early, blind] } = programs();
    let sealed = sealed(bytes);
    for program in [right, early, blind] {
        let answer =
            within(|budget| certificate::check(program, digest, &mut sealed.as_slice(), budget))
                .expect("memory can be read");
        if let certificate::Answer::Accepted(accepted) = answer {
            assert!(holds(program, &accepted.claim), "accepted: {}\n{program}", accepted.claim);
        }
    }
}

/// Returns true if a claim holds for a program, by exploration.
fn holds(program: &Program, claim: &Claim) -> bool {
    static KNOWN: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());
    let key = format!("{program}{claim}");
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    known.unwrap_or_else(|| {
        let operations = claim.operations.map_or(Operations::Unbounded, Operations::AtMost);
        let holds = claim.pairs.iter().all(|[i, j]| {
            let pairs = Pairs::One(*i, *j);
            let request = Request { pairs, operations, ..Request::new(claim.processes) };
            let outcomes = verify(program, true, &request, &Unwatched::default());
            outcomes
                .expect("it can be explored")
                .iter()
                .all(|outcome| matches!(outcome.verdict, Verdict::Verified))
        });
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(key, holds);
        holds
    })
}

/// Checks a certificate of an algorithm for every n.
///
/// # Panics
/// If a certificate of a wrong algorithm is accepted.
pub fn check_every_n(bytes: &[u8]) {
    let Programs { digest, right, wrong } = programs();
    let sealed = sealed(bytes);
    for program in iter::once(right).chain(wrong) {
        let answer =
            within(|budget| invariant::check(program, digest, &mut sealed.as_slice(), budget))
                .expect("memory can be read");
        if let invariant::check::Answer::Accepted(_) = answer {
            assert!(ptr::eq(program, right), "accepted of a wrong algorithm\n{program}");
        }
    }
}

#[cfg(test)]
mod tests {
    use snapshot_core::Process;

    use super::*;
    use crate::seeds;

    #[test]
    fn recordings_have_their_stated_verdicts() {
        for (recording, is_right) in RECORDINGS {
            let mut budget =
                snapshot_core::search::Budget { memory: 1 << 20, proceed: &mut || true };
            let decided = snapshot_core::check::decide(&history(recording), &mut budget);
            assert_eq!(decided, Some(is_right), "{recording}");
        }
    }

    #[test]
    fn seeds_are_accepted_certificates() {
        let Programs { digest, right, wrong: [_, blind] } = programs();
        let one = seeds::one_n();
        let answer =
            within(|budget| certificate::check(right, digest, &mut one.as_slice(), budget));
        let answer = answer.expect("memory can be read");
        assert!(matches!(answer, certificate::Answer::Accepted(_)), "{answer:?}");
        let answer =
            within(|budget| certificate::check(blind, digest, &mut one.as_slice(), budget));
        let answer = answer.expect("memory can be read");
        assert!(matches!(answer, certificate::Answer::Refused(_)), "{answer:?}");
        let every = seeds::every_n();
        let answer =
            within(|budget| invariant::check(right, digest, &mut every.as_slice(), budget));
        let answer = answer.expect("memory can be read");
        assert!(matches!(answer, invariant::check::Answer::Accepted(_)), "{answer:?}");
    }

    #[test]
    fn claims_hold_exactly_for_right_instances() {
        let Programs { right, wrong: [early, blind], digest } = programs();
        let claim = |processes| Claim {
            processes,
            pairs: vec![[Process::from_index(0), Process::from_index(1)]],
            algorithm: "bowman".to_owned(),
            bug: None,
            digest: digest.clone(),
            operations: None,
            coverage: certificate::Coverage::default(),
        };
        assert!(holds(right, &claim(2)) && holds(early, &claim(2)));
        assert!(!holds(early, &claim(3)) && !holds(blind, &claim(2)));
    }
}
