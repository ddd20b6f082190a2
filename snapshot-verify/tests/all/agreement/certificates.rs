//! Certificates of random programs: each program that the search verifies has one, each program
//! that it finds wrong has none, and no wrong mutant of a program is accepted with its certificate.

use snapshot_core::Process;
use snapshot_verify::certificate::{
    Answer, Budget, Claim, Coverage, Failure, check, digest, write,
};
use snapshot_verify::language::parse;
use snapshot_verify::program::{Program, independence};
use snapshot_verify::verify::{
    Operations, Pairs, Reductions, Request, Unwatched, VerifyError, verify,
};

use test_support::effort::seeds;

use crate::agreement::mutants::mutants;
use crate::agreement::{request, word};

/// Lists that need more memory than this are abandoned.
const MEMORY: u64 = 16 << 20;

/// Number of mutants tried per program.
const MUTANTS: usize = 5;

#[derive(Debug, Default)]
struct Tally {
    accepted: u32,
    none: u32,
    /// Too large, or with symmetry where processes are distinguished.
    open: u32,
    /// Wrong mutants to which a certificate was presented.
    refused: u32,
}

/// Returns the answer for one pair, if there is one.
fn answer(program: &Program, n: usize, bound: u32, pair: [Process; 2]) -> Option<&'static str> {
    let request = Request {
        operations: Operations::AtMost(bound),
        pairs: Pairs::One(pair[0], pair[1]),
        memory: MEMORY,
        ..request(n, bound, Reductions::standard())
    };
    match verify(program, true, &request, &Unwatched::default()) {
        Ok(outcomes) => word(&outcomes[0].verdict),
        Err(VerifyError::Explore(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

fn budget(proceed: &mut dyn FnMut() -> bool) -> Budget<'_> {
    Budget { memory: MEMORY, proceed }
}

fn attack(seed: u64, text: &str, tally: &mut Tally) {
    let program = parse("generated", text).unwrap().program(None).unwrap();
    let coverage = Coverage::ALL[seed as usize % Coverage::ALL.len()];
    let (n, bound) = [(2, 1), (2, 2), (3, 1)][seed as usize / 4 % 3];
    // The last pair differs from that of processes 0 and 1, if n > 2.
    let pair = [n - 2, n - 1].map(Process::from_index);
    let claim = Claim {
        algorithm: program.name.clone(),
        bug: None,
        digest: digest(text),
        processes: n,
        operations: Some(bound),
        coverage,
        pairs: vec![pair],
    };
    let Some(found) = answer(&program, n, bound, pair) else {
        tally.open += 1;
        return;
    };
    let mut certificate = Vec::new();
    match write(&program, &claim, &mut certificate, &mut budget(&mut || true)) {
        Ok(_) => assert_eq!(found, "right", "{seed}: {claim:?}\n{text}"),
        Err(failure @ (Failure::Violation { .. } | Failure::Fault { .. })) => {
            // With symmetry a state may be unreachable.
            let is_known = found == "wrong" || !failure.contradicts();
            assert!(is_known, "{seed}: {failure}\n{text}");
            *if found == "wrong" { &mut tally.none } else { &mut tally.open } += 1;
            return;
        }
        Err(Failure::Unknown(_)) => {
            tally.open += 1;
            return;
        }
        Err(failure) => panic!("{seed}: {failure}\n{text}"),
    }
    let given = |program: &Program| {
        let (mut certificate, mut proceed) = (certificate.as_slice(), || true);
        check(program, &claim.digest, &mut certificate, &mut budget(&mut proceed)).unwrap()
    };
    let own = given(&program);
    assert!(matches!(own, Answer::Accepted(_)), "{seed}: {own:?}\n{text}");
    tally.accepted += 1;

    let mut mutants = mutants("generated", text);
    mutants.retain(|mutant| independence::check(&mutant.program).is_ok());
    let step = mutants.len().div_ceil(MUTANTS).max(1);
    for mutant in mutants.into_iter().skip(seed as usize % step).step_by(step) {
        if answer(&mutant.program, n, bound, pair) == Some("wrong") {
            let answer = given(&mutant.program);
            assert!(matches!(answer, Answer::Refused(_)), "{seed}: {answer:?}\n{}", mutant.text);
            tally.refused += 1;
        }
    }
}

/// `SNAPSHOT_SEEDS=FROM..TO` chooses the seeds.
#[test]
fn certificates_exist_for_right_programs_only() {
    let seeds = seeds(40, 240);
    let (count, mut tally) = (seeds.end - seeds.start, Tally::default());
    for seed in seeds {
        let text = match seed % 2 {
            0 => corpus::program::text(seed),
            _ => corpus::program::exchanging(seed),
        };
        attack(seed, &text, &mut tally);
    }
    println!("{count} programs: {tally:?}");
    let least = |times: u32| u64::from(times) * 10 > count;
    assert!(least(tally.accepted) && least(tally.none) && least(tally.refused), "{tally:?}");
}
