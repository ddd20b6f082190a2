//! The algorithms are complete: named as their files, cited, and each with expectations. Their
//! meaning is tested where they are parsed.

use std::path::Path;

use corpus::{
    Algorithm, algorithm, algorithms, all_algorithms, object_algorithms, strong_algorithms,
};

/// Returns the rest of each line that begins with a word.
fn lines<'a>(algorithm: &'a Algorithm, word: &str) -> Vec<&'a str> {
    algorithm.text.lines().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' ')).collect()
}

#[test]
fn lists_match_their_directories() {
    for (name, list) in [
        ("algorithms", algorithms()),
        ("objects", object_algorithms()),
        ("strong", strong_algorithms()),
    ] {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let mut files: Vec<String> = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let listed: Vec<String> =
            list.iter().map(|algorithm| format!("{}.snapshot", algorithm.name)).collect();
        assert_eq!(files, listed);
    }
}

#[test]
fn algorithms_have_their_name_in_the_text_and_are_cited() {
    for listed in all_algorithms() {
        assert_eq!(lines(listed, "algorithm"), [listed.name]);
        assert_eq!(algorithm(listed.name), Some(*listed));
        // The counters, a stack in one cell, and the double collect are from no paper.
        let uncited = [
            "cas_counter",
            "faa_counter",
            "multi_writer_double_collect",
            "packed_stack",
            "wrapping_counter",
        ];
        let cited = usize::from(!uncited.contains(&listed.name));
        assert_eq!(lines(listed, "source").len(), cited, "{} is cited", listed.name);
    }
    assert_eq!(algorithm("nobody"), None);
}

#[test]
fn the_algorithm_and_each_of_its_bugs_have_expectations() {
    for listed in all_algorithms() {
        let expectations = lines(listed, "expect");
        assert!(expectations.iter().any(|line| line.starts_with("n = ")), "{}", listed.name);
        for bug in lines(listed, "bug") {
            let (name, _) = bug.split_once(' ').unwrap();
            let wrong = expectations.iter().any(|line| {
                line.starts_with(&format!("{name}, n = "))
                    && (line.ends_with(": violation") || line.ends_with(": fault"))
            });
            assert!(wrong, "{} with {name} is expected to be wrong somewhere", listed.name);
        }
    }
}
