//! The reports on the pages for users are those of the program.

use std::fs;

use super::answer_in;

const README: &str = include_str!("../../../../README.md");

/// Removes times and bytes, which follow the depth or stand at the end of a line.
fn without_measures(report: &str) -> String {
    let line = |line: &str| match line.split_once(", depth ") {
        Some((counts, rest)) => {
            let depth: String = rest.chars().take_while(char::is_ascii_digit).collect();
            format!("{counts}, depth {depth}")
        }
        None => {
            let renamed = " with processes renamed, ";
            let counted = [" centres, ", " views, ", " positions, ", ": progress ("];
            let mut marks = [renamed, " any number of operations ("].into_iter().chain(counted);
            let cut = marks.find_map(|mark| line.split_once(mark));
            cut.map_or(line, |(answer, _)| answer).to_owned()
        }
    };
    report.lines().map(|shown| line(shown) + "\n").collect()
}

/// Abbreviated reports end with `...`.
#[test]
fn pages_show_the_actual_answers() {
    assert_eq!(answered_as_shown(README), 3);
    let counterexample = include_str!("../../../../docs/how-to/counterexample.md");
    assert_eq!(answered_as_shown(counterexample), 2);
}

/// Runs the commands whose reports a page shows; returns their number.
fn answered_as_shown(page: &str) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let blocks = page.split("```").skip(1).step_by(2);
    let asked = blocks.filter_map(|block| block.strip_prefix("\n$ snapshot-verify "));
    let reports = asked.filter_map(|block| {
        let (arguments, report) = block.split_once('\n')?;
        (!report.is_empty()).then_some((arguments, report))
    });
    let mut shown = 0;
    for (arguments, report) in reports {
        let (_, told, _) = answer_in(folder.path(), arguments);
        let told = without_measures(&told);
        match report.strip_suffix("...\n") {
            Some(begin) => {
                assert!(told.starts_with(&without_measures(begin)), "{arguments}: {told}")
            }
            None => assert_eq!(told, without_measures(report), "{arguments}"),
        }
        shown += 1;
    }
    shown
}

#[test]
fn points_of_objects_are_as_shown() {
    let docs = include_str!("../../../../docs/verification.md");
    let (_, below) = docs.split_once("$ snapshot-verify points linked_stack\n").unwrap();
    let (shown, _) = below.split_once("```").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (code, answer, _) = answer_in(folder.path(), "points linked_stack");
    assert_eq!((code, &*answer), (0, shown));
    let (code, answer, _) = answer_in(folder.path(), "points linked_stack --bug lost_push");
    assert!(answer.contains("check linked_stack --bug lost_push shows"), "{answer}");
    assert_eq!(code, 1);
    let (code, answer, _) = answer_in(folder.path(), "points immediate_snapshot");
    assert!(answer.contains("none of its own: others take effect together with it"), "{answer}");
    assert_eq!(code, 3);
    let (code, _, error) = answer_in(folder.path(), "points bowman --values 2");
    assert!(error.contains("--values is of objects"), "{error}");
    assert_eq!(code, 2);
}

#[test]
fn the_algorithm_of_the_readme_is_right_for_two_processes_only() {
    let folder = tempfile::tempdir().unwrap();
    let (_, below) = README.split_once("```\nalgorithm mine\n").expect("the text is shown");
    let (text, _) = below.split_once("```").expect("it ends");
    fs::write(folder.path().join("mine.snapshot"), format!("algorithm mine\n{text}")).unwrap();
    let (code, told, _) = answer_in(folder.path(), "check mine.snapshot -n 2..4");
    assert_eq!(code, 1, "{told}");
    assert!(told.contains("mine, n = 2: verified ("), "{told}");
    assert!(told.contains("mine, n = 3: not linearizable"), "{told}");
}
