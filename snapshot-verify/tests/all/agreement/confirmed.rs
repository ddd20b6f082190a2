//! The check accepts each proof: it never refuses a certificate that we have written.

use std::time::Duration;

use snapshot_verify::language::parse;
use snapshot_verify::verify::every::{Rungs, every_by};
use snapshot_verify::verify::{Request, Unwatched};
use test_support::effort::{by_effort, seeds};

use super::mutants::mutants;

/// Number of programs by result.
#[derive(Debug, Default)]
struct Counts {
    tried: usize,
    /// Proved, with a certificate that is accepted.
    proved: usize,
}

impl Counts {
    fn add(&mut self, name: &str, text: &str) {
        let Ok(program) = parse("generated", text).and_then(|one| one.program(None)) else {
            return;
        };
        self.tried += 1;
        // Most take a hundredth of a second. On a busy machine it comes to nothing.
        let time = Some(Duration::from_secs(4));
        let request = Request { memory: 1 << 28, time, ..Request::new(2) };
        match every_by(&program, &request, &Rungs::default(), false, &Unwatched::default()) {
            Ok(every) => self.proved += usize::from(every.is_proved()),
            Err(error) => panic!("{name}: {error}\n{text}"),
        }
    }
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
    for seed in seeds(1, 30) {
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
    assert!(counts.proved > 0, "{counts:?}");
}

/// Correct programs with locks and links, and their mutants: most accesses return a truth value.
#[test]
fn mutants_of_programs_with_locks_and_links() {
    let mut counts = Counts::default();
    let step = by_effort(36, 3, 1);
    for name in ["locked", "locked_by_links", "undisturbed", "turns", "published"] {
        let text = with_hidden_locals(corpus::small(name));
        counts.add(name, &text);
        for mutant in mutants(name, &text).into_iter().step_by(step) {
            counts.add(&mutant.name, &mutant.text);
        }
    }
    println!("{counts:?}");
    assert!(counts.proved >= 3, "{counts:?}");
}

/// Writer and check both know where no process is linked. (The answer says that the scan
/// never returns.)
#[test]
fn program_in_which_no_process_is_linked() {
    let mut counts = Counts::default();
    counts.add(
        "never linked",
        "algorithm waits\nshared X: llsc bool\nshared a[segment]: value\nupdate(v):\n    X := \
         true\nscan:\n    local c[segment]: value\n    loop:\n        skip\n        if VL(X): return c\n",
    );
    assert_eq!((counts.tried, counts.proved), (1, 1), "{counts:?}");
}
