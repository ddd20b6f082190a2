//! The prover and the independent check agree: for each proved program the check accepts the
//! certificate, or names a case that its rules do not exclude. It never refuses a certificate that
//! we have written.

use std::time::Duration;

use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::verify::every::{Rungs, every_by};
use snapshot_verify::verify::{Request, Unwatched};
use trial::effort::{by_effort, seeds};

use super::mutants::mutants;

/// Number of programs by result.
#[derive(Debug, Default)]
struct Counts {
    tried: usize,
    proved: usize,
    confirmed: usize,
    /// The rules of the check do not exclude a case: the check is less precise there.
    gaps: usize,
}

impl Counts {
    fn add(&mut self, name: &str, text: &str) {
        let Ok(program) = parse("generated", text).and_then(|one| one.program(None)) else {
            return;
        };
        self.tried += 1;
        let Some(confirmation) = confirmation(&program) else { return };
        if matches!(&confirmation, Err((reason, _)) if reason == "time ran out") {
            // On a busy machine it comes to nothing.
            return;
        }
        self.proved += 1;
        match confirmation {
            Ok(_) => self.confirmed += 1,
            Err((reason, is_gap)) => {
                let is_ours = reason.contains("refused") || reason.contains("lack");
                assert!(!is_ours, "{name}: {reason}\n{text}");
                if is_gap {
                    println!("{name}: {reason}");
                    self.gaps += 1;
                }
            }
        }
    }
}

/// Returns the result of the check of the proof, if there is a proof.
fn confirmation(program: &Program) -> Option<Result<u64, (String, bool)>> {
    // Most take a hundredth of a second.
    let time = Some(Duration::from_secs(4));
    let request = Request { memory: 1 << 28, time, ..Request::new(2) };
    let every = every_by(program, &request, &Rungs::default(), false, &Unwatched::default());
    let found = every.unwrap().confirmation?;
    Some(found.result.map_err(|unconfirmed| (unconfirmed.reason, unconfirmed.is_gap)))
}

/// Returns the program with the results of accesses in locals without names.
fn with_hidden_locals(text: &str) -> String {
    ["CAS(", "SC(", "VL(", "TAS("].iter().fold(text.to_owned(), |text, access| {
        let named = format!(":= {access}");
        let asked = [format!("until {access}"), format!("if {access}")];
        let text = text.replace(&named, &format!(":= not not {access}"));
        asked.iter().fold(text, |text, asked| {
            text.replace(asked, &asked.replace(access, &format!("not not {access}")))
        })
    })
}

/// Random programs.
#[test]
fn random_programs() {
    let mut counts = Counts::default();
    for seed in seeds(3, 30) {
        let texts = [
            corpus::program::text(seed),
            corpus::program::exchanging(seed),
            corpus::program::keeping(seed),
            corpus::program::helping(seed),
        ];
        for text in texts {
            counts.add(&format!("seed {seed}"), &with_hidden_locals(&text));
        }
    }
    println!("{counts:?}");
    assert!(counts.confirmed > 0, "{counts:?}");
}

/// Correct programs with locks and links, and their mutants: most accesses return a truth value.
#[test]
fn mutants_of_programs_with_locks_and_links() {
    let mut counts = Counts::default();
    let step = by_effort(18, 3, 1);
    for name in ["locked", "locked_by_links", "undisturbed", "turns", "published"] {
        let text = with_hidden_locals(corpus::small(name));
        counts.add(name, &text);
        for mutant in mutants(name, &text).into_iter().step_by(step) {
            counts.add(&mutant.name, &mutant.text);
        }
    }
    println!("{counts:?}");
    assert!(counts.confirmed >= 3 && counts.confirmed * 2 > counts.proved, "{counts:?}");
}

/// The prover and the check both know where no process is linked. (The answer says that the scan
/// never returns.)
#[test]
fn program_in_which_no_process_is_linked() {
    let mut counts = Counts::default();
    counts.add(
        "never linked",
        "algorithm waits\nshared X: llsc bool\nshared a[segment]: value\nupdate(v):\n    X := \
         true\nscan:\n    local c[segment]: value\n    loop:\n        skip\n        if VL(X): return c\n",
    );
    assert_eq!((counts.proved, counts.confirmed), (1, 1), "{counts:?}");
}
