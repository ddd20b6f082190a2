//! Programs, and their certificates.

use snapshot_hints::compile::compile;
use snapshot_hints::shape::Mode;
use snapshot_hints::ways::{direct, nested};
use snapshot_hints::{export, model, rounds};
use snapshot_invariant::check::{Answer, Refusal};
use snapshot_invariant::claim::{Aim, Claim, Ghosts, Obligation};
use snapshot_invariant::step::Planted;
use snapshot_invariant::write::{Part, Summary, WriteError, write_planted};
use snapshot_invariant::{Budget, byte, check};
use snapshot_language::program::Program;

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

/// Returns all rungs, by their guesses at ghost scans; those of rounds stand for any rounds.
pub fn rungs() -> Vec<model::Obligation> {
    let of = |ghosts| [nested(ghosts).to_vec(), direct(ghosts)].concat().concat();
    let mut rounds = of(model::Ghosts::Rounds { begin: 0, end: 0 });
    rounds.retain(|rung| rung.mode == Mode::Direct || rung.part == model::Part::Tokens);
    [of(model::Ghosts::Scans), of(model::Ghosts::Calls), rounds].concat()
}

/// Returns the hints for the rungs of these names.
pub fn parts(program: &Program, names: &[&str]) -> Vec<Part> {
    let chosen = rungs().into_iter().filter(|rung| names.contains(&rung.name().as_str()));
    let part = |rung: model::Obligation| part(program, rung).unwrap();
    let parts: Vec<Part> = chosen.map(part).collect();
    assert_eq!(parts.len(), names.len());
    parts
}

/// Returns the part of one rung; `None` if the analyses do not support the program.
pub fn part(program: &Program, rung: model::Obligation) -> Option<Part> {
    let ghosts = match rung.ghosts {
        model::Ghosts::Scans => Ghosts::Scans,
        model::Ghosts::Calls => Ghosts::Calls,
        model::Ghosts::Rounds { .. } => Ghosts::Rounds,
    };
    let name = rung.name();
    let aim = match name.split_once('.').unwrap().1 {
        "faults" => Aim::Faults,
        "nesting" | "faults+nesting" => Aim::Nesting,
        "memory-t" => Aim::Memory(byte::T),
        "memory-i" => Aim::Memory(byte::I),
        "memory-j" => Aim::Memory(byte::J),
        _ => Aim::Observer,
    };
    let model = compile(program, rung).ok()?;
    Some(Part {
        obligation: Obligation { ghosts, aim },
        kept: export::kept(program, &model),
        point: export::point(&model),
        nested: false,
        round: export::round(&model, rung.ghosts),
        late: model.delays,
        loose: export::loose(&model),
        decided: export::decided(program, &model),
        alike: false,
        names: export::named(program, &model),
        clock: None,
        classes: export::classes(program, &model),
    })
}

/// Returns, per guess at rounds, the parts for nesting and for vectors.
pub fn by_rounds(program: &Program) -> Vec<Vec<Part>> {
    let of = |ghosts| {
        let specification = model::Specification::Observer;
        let rungs = [(Mode::Nested, model::Part::Tokens), (Mode::Direct, model::Part::Whole)];
        let rungs =
            rungs.map(|(mode, part)| model::Obligation { mode, ghosts, specification, part });
        rungs.into_iter().map(|rung| part(program, rung).unwrap()).collect()
    };
    rounds::candidates(program).unwrap().into_iter().map(of).collect()
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
    planted: Planted,
) -> Result<(String, Summary), WriteError> {
    certificate_of(program, &claim(program), parts, planted)
}

/// The same with another claim: the program is that of the text, and the parts are about what the claim
/// rewrites it to.
pub fn certificate_of(
    program: &Program,
    claim: &Claim,
    parts: &[Part],
    planted: Planted,
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
