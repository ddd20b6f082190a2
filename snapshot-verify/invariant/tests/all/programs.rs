//! Programs, and their certificates.

use snapshot_hints::rounds;
use snapshot_hints::ways::Step;
use snapshot_invariant::check::{Answer, Refusal};
use snapshot_invariant::claim::{Claim, Ghosts, Obligation, Property};
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::write::{Part, Summary, WriteError, write_planted};
use snapshot_invariant::{Budget, check};
use snapshot_language::deadline::Deadline;
use snapshot_language::program::{Program, Type};
use snapshot_semantics::interpret::code::{Instruction, compile};

pub fn parsed(text: &str, bug: Option<&str>) -> Program {
    snapshot_language::parse("test", text).unwrap().program(bug).unwrap()
}

pub fn of_corpus(name: &str, bug: Option<&str>) -> Program {
    parsed(corpus::algorithm(name).unwrap().text, bug)
}

pub fn small(name: &str) -> Program {
    parsed(corpus::small(name), None)
}

pub fn small_bug(name: &str, bug: &str) -> Program {
    parsed(corpus::small_with_bugs(name), Some(bug))
}

/// Returns all rungs, except those of rounds.
pub fn rungs() -> Vec<Obligation> {
    let mut all = Obligation::all();
    all.retain(|rung| rung.ghosts != Ghosts::Rounds);
    all
}

/// Returns the hints for the rungs of these names; `whole` in a name: all scalars that matter to
/// faults or nesting are kept.
pub fn parts(program: &Program, names: &[&str]) -> Vec<Part> {
    let part = |name: &&str| {
        let (name, is_whole) =
            name.strip_suffix(" whole").map_or((*name, false), |name| (name, true));
        hinted(program, Step::new(Obligation::from_name(name).unwrap(), None, is_whole)).unwrap()
    };
    names.iter().map(part).collect()
}

/// Returns the part of one rung; `None` if the analyses do not support the program.
pub fn part(program: &Program, rung: Obligation) -> Option<Part> {
    hinted(program, Step::new(rung, None, false))
}

fn hinted(program: &Program, step: Step) -> Option<Part> {
    Some(Part { alike: false, ..step.part(program, Deadline::NEVER).ok()? })
}

/// Returns, per guess at rounds, the parts for nesting and for vectors.
pub fn by_rounds(program: &Program) -> Vec<Vec<Part>> {
    let of = |round| {
        let part = |property| {
            let obligation = Obligation { ghosts: Ghosts::Rounds, property };
            hinted(program, Step::new(obligation, Some(round), false)).unwrap()
        };
        [Property::Nesting, Property::Observer].into_iter().map(part).collect()
    };
    rounds::candidates(program, Deadline::NEVER).unwrap().into_iter().map(of).collect()
}

/// Returns the claim of a program's certificate.
pub fn claim(program: &Program) -> Claim {
    Claim {
        algorithm: program.name.clone(),
        bug: program.bug.clone(),
        digest: "digest".to_owned(),
        rewritten: Vec::new(),
    }
}

/// Returns the certificate that a search with injected faults makes.
pub fn certificate(
    program: &Program,
    parts: &[Part],
    planted: InjectedFault,
) -> Result<(String, Summary), WriteError> {
    certificate_of(program, &claim(program), parts, planted)
}

/// The same with another claim: the program is that of the text, and the parts are about what the claim
/// rewrites it to.
pub fn certificate_of(
    program: &Program,
    claim: &Claim,
    parts: &[Part],
    planted: InjectedFault,
) -> Result<(String, Summary), WriteError> {
    let mut text = Vec::new();
    let mut proceed = || true;
    let mut budget = Budget { memory: 6 << 30, proceed: &mut proceed };
    let summary = write_planted(program, claim, parts, &mut text, &mut budget, planted)?;
    assert_eq!(summary.bytes, text.len() as u64);
    Ok((String::from_utf8(text).unwrap(), summary))
}

pub fn checked(program: &Program, certificate: &[u8]) -> Answer {
    let mut proceed = || true;
    let mut budget = Budget { memory: 6 << 30, proceed: &mut proceed };
    check(program, "digest", &mut &*certificate, &mut budget).unwrap()
}

pub fn refused(program: &Program, certificate: &[u8]) -> Refusal {
    match checked(program, certificate) {
        Answer::Refused(refusal) => refusal,
        answer => panic!("{answer:?}"),
    }
}

/// Returns the instructions that compute a possible condition: procedures and numbers.
pub fn conditions(program: &Program) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    for (procedure, code) in compile(program).iter().enumerate() {
        for (number, one) in code.instructions.iter().enumerate() {
            let is_bool = match one {
                Instruction::Unless { .. } => true,
                Instruction::Assign { value, .. } => value.content == Type::Bool,
                _ => false,
            };
            if is_bool {
                all.push((procedure, number));
            }
        }
    }
    all
}
