//! Certificates of right programs are accepted.

use std::time::Instant;

use snapshot_invariant::check::Answer;
use snapshot_invariant::claim::Aim;
use snapshot_invariant::step::Planted;
use snapshot_invariant::write::Part;
use snapshot_language::program::Program;

use crate::programs::{by_rounds, certificate, checked, of_corpus, parts, small};

fn accepted(program: &Program, rungs: &[&str], least: u64) {
    accepted_by(program, parts(program, rungs), least);
}

fn accepted_by(program: &Program, mut parts: Vec<Part>, least: u64) {
    let began = Instant::now();
    // One list for all places of t, where that says enough.
    parts.iter_mut().for_each(|part| part.alike = true);
    let (text, summary) = certificate(program, &parts, Planted::default()).unwrap();
    println!(
        "{}: {:?}, {} bytes, made in {:?}",
        program.name,
        summary.obligations,
        text.len(),
        began.elapsed()
    );
    let began = Instant::now();
    let per_view = text.len() / summary.views();
    assert!(per_view <= 24, "{per_view} bytes per view");
    match checked(program, text.as_bytes()) {
        Answer::Accepted(accepted) => {
            println!("checked in {:?}, {} steps", began.elapsed(), accepted.steps);
            assert_eq!(accepted.views(), summary.views() as u64);
            assert!(accepted.views() >= least, "{}", accepted.views());
            assert!(accepted.steps > accepted.views());
        }
        answer => panic!("{answer:?}"),
    }
}

#[test]
fn those_by_the_observer() {
    accepted(&of_corpus("bowman", None), &["scans.observer"], 1000);
    accepted(&small("locked"), &["scans.observer"], 1000);
    accepted(&small("versioned"), &["scans.observer"], 500);
}

#[test]
fn those_of_programs_with_links() {
    accepted(&small("locked_by_links"), &["scans.observer"], 5_000);
    accepted(&small("undisturbed"), &["scans.observer"], 1_000);
    // A number in a range: the program may go wrong.
    let turns = small("turns");
    let mut found = parts(&turns, &["scans.faults+nesting", "scans.observer"]);
    found[0].obligation.aim = Aim::Faults;
    accepted_by(&turns, found, 5_000);
}

#[test]
fn those_by_what_was_in_memory() {
    let rungs = ["scans.memory-t", "scans.memory-i", "scans.memory-j"];
    accepted(&small("versioned"), &rungs, 500);
}

/// Those of calls: afek_unbounded; with `SNAPSHOT_CERTIFICATES=1` afek_bounded, which takes minutes.
#[test]
fn those_by_calls() {
    let is_whole = std::env::var_os("SNAPSHOT_CERTIFICATES").is_some();
    let name = if is_whole { "afek_bounded" } else { "afek_unbounded" };
    let rungs = ["calls.nesting", "calls.memory-t", "calls.memory-i", "calls.memory-j"];
    accepted(&of_corpus(name, None), &rungs, 1_000);
}

/// Those of rounds: each guess that leads to a certificate is right, and one does.
#[test]
fn those_by_rounds() {
    let published = small("published");
    let guesses = by_rounds(&published);
    let is_made = |parts: &Vec<Part>| certificate(&published, parts, Planted::default()).is_ok();
    let (made, others): (Vec<_>, Vec<_>) = guesses.into_iter().partition(is_made);
    assert!(!made.is_empty() && others.len() > 1, "{} {}", made.len(), others.len());
    for parts in made {
        accepted_by(&published, parts, 1_000);
    }
}
