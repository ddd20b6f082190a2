//! `snapshot-test rename`, and `automata --run` on its output.

use std::fs;

use corpus::Expected;
use snapshot_core::observer::Observer;
use snapshot_core::renaming::{Decision, Judge, Numbering, Renaming};
use snapshot_core::search::Budget;
use snapshot_core::simple::SimpleHistory;
use snapshot_core::{History, Segment};
use snapshot_test::conformance::{Family, Recorded};
use snapshot_test::format::Reader;
use snapshot_test::rename::renamed;
use snapshot_test::{Value, read_history};

use super::{answer, printed, refused, run};

/// The scan in line 11 returns the second value of segment 0, and misses the update of segment 1.
const STALE: &str = "segments 2\np0 update 5\np1 update 8\np0 ok\np1 ok\np2 scan\np2 ok 5 8\n\
                     p0 update 6\np2 scan\np0 ok\np2 ok 6 0\n";

/// Writes a file with a text. Returns its folder, which must be kept, and its name.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("run.txt");
    fs::write(&path, text).expect("it can be written to");
    let name = path.display().to_string();
    (folder, name)
}

#[test]
fn renaming_is_a_recording_for_the_automata() {
    let (folder, name) = file(STALE);
    let simple = printed(&format!("rename {name} --pair 0,1 --from 2,1"));
    let (about, rest) = simple.split_once('\n').expect("several lines");
    assert_eq!(about, format!("# {name} after the renaming (i, j, r_i, r_j) = (0, 1, 2, 1)"));
    let expected = STALE.replace("segments 2\n", "segments 2\nprocesses 3\n");
    let expected = expected.replace("update 5", "update 0").replace("ok 5 8", "ok 0 1");
    let expected = expected.replace("update 8", "update 1").replace("update 6", "update 1");
    assert_eq!(rest, expected.replace("ok 6 0", "ok 1 0"));
    let renamed = folder.path().join("simple.txt");
    fs::write(&renamed, &simple).expect("it can be written to");
    let renamed = renamed.display();
    let (code, told, error) = answer(run(&format!("automata --run {renamed}")));
    assert_eq!((code, &*error), (1, ""));
    for shown in [
        "i = segment 0, j = segment 1\n",
        "  9:1     p2: res scan(0, 1)\n          inversion: + scan returned 01\n",
        "          inversion accepts\n          decrease accepts\n          inappropriate accepts\n",
    ] {
        assert!(told.contains(shown), "{shown}: {told}");
    }
    assert!(told.ends_with("a violation\n"), "{told}");
    let (code, told, _) = answer(run(&format!("automata --run {renamed} --automaton decrease")));
    assert_eq!(code, 1);
    assert!(!told.contains("inversion") && told.contains("decrease accepts"), "{told}");
    // The first update of each: the last scan returns both.
    let harmless = printed(&format!("rename {name} --pair 0,1 --from 1,2"));
    fs::write(folder.path().join("simple.txt"), harmless).expect("it can be written to");
    assert!(printed(&format!("automata --run {renamed}")).ends_with("no automaton accepts\n"));
}

#[test]
fn wrong_renaming_is_refused_with_a_remedy() {
    let (_folder, name) = file(STALE);
    let refused = |options: &str| refused(&format!("rename {name} {options}"));
    assert!(refused("--pair 0,2 --from 1,1").contains("segment 2, and the last segment is 1"));
    assert!(refused("--pair 1,1 --from 1,1").contains("segment 1 twice"));
    assert!(refused("--pair 0,1 --from 0,1").contains("--from must be at least 1"));
    assert!(refused("--pair 0 --from 1").contains("such as `--pair 0,1 --from 2,1`"));
    let not_simple = super::refused(&format!("automata --run {name}"));
    assert!(not_simple.contains("snapshot-test rename"), "{not_simple}");
    let (_folder, name) = file("p0 update 5\np0 ok\np0 update 6\np0 ok\np0 update 5\np0 ok\n");
    let again = super::refused(&format!("rename {name} --pair 0 --from 1"));
    assert!(again.contains("a value that it had before") && again.contains("[5:1]"), "{again}");
    assert!(
        super::refused(&format!("rename {name} --pair 0,1 --from 1,1")).contains("one segment")
    );
}

#[test]
fn backward_times_are_a_warning() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("run.jsonl");
    let text = "{\"process\":0,\"event\":\"invoke\",\"operation\":\"update\",\"value\":5,\"time\":100}\n\
                {\"process\":0,\"event\":\"ok\",\"time\":50}\n";
    fs::write(&path, text).expect("it can be written to");
    let name = path.display();
    for command in [format!("rename {name} --pair 0 --from 1"), format!("automata --run {name}")] {
        let (code, _, error) = answer(run(&command));
        assert_eq!(code, 0, "{command}: {error}");
        assert!(error.contains("`time` runs backwards once"), "{command}: {error}");
    }
}

/// All renamings of a recording, with updates that failed or were lost, and a scan without
/// a response.
#[test]
fn each_renaming_has_the_verdict_of_its_letters() {
    let text = "segments 3\np0 update 1\np1 update 2\np0 ok\np3 scan\np2 update 3\np2 fail\n\
                p1 unknown\np0 update 4\np3 ok 1 2 0\np2 update 5\np3 scan\np0 ok\np4 scan\n\
                p3 ok 4 0 0\np2 ok\np3 scan\np3 ok 1 2 5\np4 unknown\n";
    let reader = Reader::text(text.as_bytes()).expect("text");
    let (history, _): (History<Value>, _) = read_history(reader).expect("a history");
    let numbering = Numbering::new(&history).expect("no value repeats");
    let segment = Segment::from_index;
    let (mut violations, mut renamings) = (0, 0);
    for (i, j) in [(0, 1), (0, 2), (1, 2), (2, 0)] {
        for from_i in 1..=numbering.updates(segment(i)) + 1 {
            for from_j in 1..=numbering.updates(segment(j)) + 1 {
                let renaming = Renaming { i: segment(i), j: Some(segment(j)), from_i, from_j };
                let recording = renamed(&history, renaming).expect("it can be renamed");
                let simple = SimpleHistory::recognise(&recording).expect("it is simple");
                let there = Observer::first_violation(&simple).is_some();
                let here = Observer::first_violation(&numbering.rename(renaming)).is_some();
                assert_eq!(here, there, "{renaming}");
                violations += usize::from(here);
                renamings += 1;
            }
        }
    }
    assert!(violations > 0 && violations < renamings, "{violations} of {renamings}");
    let mut judge = Judge::new(history.processes()).expect("few processes");
    let mut budget = Budget { memory: 0, proceed: &mut || true };
    let decision = judge.decide(&numbering, &mut budget);
    assert!(matches!(decision, Decision::Violation { .. }), "{decision:?}");
    let mut none = Budget { memory: 0, proceed: &mut || false };
    assert_eq!(judge.decide(&numbering, &mut none), Decision::Exhausted);
}

/// For each history of the corpus that can be renamed, up to a number of updates, the automata give
/// the corpus's answer.
#[test]
fn the_automata_judge_the_corpus() {
    let most = test_support::effort::either(60, 600);
    let (mut judged, mut violations) = (0, 0);
    let mut budget = Budget { memory: 0, proceed: &mut || true };
    for case in Family::ALL.iter().flat_map(|family| family.cases()) {
        let Recorded::Snapshot(history) = &case.history else { continue };
        let updates = history.operations().iter().filter(|operation| !operation.is_scan()).count();
        let Ok(numbering) = Numbering::new(history) else { continue };
        if updates > most {
            continue;
        }
        let mut judge = Judge::new(history.processes()).expect("few processes");
        let is_violation =
            matches!(judge.decide(&numbering, &mut budget), Decision::Violation { .. });
        assert_eq!(is_violation, case.expected != Expected::Linearizable, "{}", case.name);
        judged += 1;
        violations += usize::from(is_violation);
    }
    assert!(judged > 1_000 && violations > 500, "{violations} of {judged}");
}
