//! Any bytes as an algorithm: the front end never panics, an accepted text can be printed and read
//! again, and an error can be reported.

use std::iter;

use snapshot_verify::language::{Algorithm, Diagnostics, parse};
use snapshot_verify::program::independence;

/// Reads a text, and makes a program of it and of each of its bug variants.
///
/// # Panics
/// If a tree changes when it is printed and read again.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let algorithm = match parse("input", &text) {
        Ok(algorithm) => algorithm,
        Err(diagnostics) => return reported(&diagnostics),
    };
    let bugs = algorithm.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
    for variant in iter::once(None).chain(bugs) {
        printed(&algorithm, variant);
        let is_right = algorithm.program_with_points(variant).is_ok();
        assert_eq!(algorithm.program(variant).is_ok(), is_right, "marks are checked in any case");
        match algorithm.program(variant) {
            Err(diagnostics) => reported(&diagnostics),
            Ok(program) => {
                assert!(!program.to_string().is_empty(), "a program can be shown");
                if let Err(dependences) = independence::check(&program) {
                    reported(&algorithm.refusal(&dependences));
                }
            }
        }
    }
}

fn reported(diagnostics: &Diagnostics) {
    for colour in [false, true] {
        assert!(!diagnostics.render(colour).is_empty(), "a refusal has a message");
    }
}

/// Checks that the text of a variant, read again, has the same text.
fn printed(algorithm: &Algorithm, variant: Option<&str>) {
    let once = algorithm.text(variant).expect("variants are read with the text");
    match parse("printed", &once).and_then(|algorithm| algorithm.text(None)) {
        Ok(text) => assert_eq!(once, text, "a text changes when it is read again"),
        Err(diagnostics) => panic!("a text cannot be read again:\n{once}\n{diagnostics}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::tests::noise;

    #[test]
    fn the_corpus_passes() {
        for algorithm in corpus::algorithms() {
            check(algorithm.text.as_bytes());
        }
    }

    #[test]
    fn damaged_algorithms_are_refused_or_round_trip() {
        for bytes in noise(60, 8) {
            for algorithm in corpus::algorithms() {
                let mut spoilt = algorithm.text.as_bytes().to_vec();
                for pair in bytes.chunks_exact(2) {
                    let length = spoilt.len();
                    spoilt[usize::from(pair[0]) * 16 % length] = pair[1];
                }
                check(&spoilt);
            }
        }
    }

    #[test]
    #[should_panic(expected = "variants are read with the text")]
    fn missing_variant_panics() {
        let bowman = corpus::algorithm("bowman").expect("it ships");
        printed(&parse("bowman", bowman.text).expect("it is right"), Some("late_exit"));
    }
}
