//! `snapshot-test corpus`.

use std::collections::BTreeSet;
use std::fs;

use corpus::{Case, Expected, exchange_twins, twins};
use snapshot_core::check::check;
use snapshot_core::search::Budget;
use snapshot_core::verdict::Verdict;
use snapshot_test::format::Reader;
use snapshot_test::read_history;

use crate::commands::{printed, refused};

/// Generated immediate snapshots: profiles, and six violations in six sizes, twice, with twins.
const EXCHANGED: u64 = 19 + 6 * 6 * 2 * 2;

#[test]
fn every_case_of_every_family_is_right() {
    let report = printed("corpus --report json");
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["right"], true, "{report}");
    let families = report["families"].as_array().unwrap();
    let cases: Vec<_> = families
        .iter()
        .map(|family| {
            assert_eq!(family["right"], family["cases"], "{family}");
            assert_eq!(family["certificates"], family["cases"], "{family}");
            let searched = family.get("searched");
            assert_eq!(searched.is_none(), family["family"] == "hard", "{family}");
            assert!(searched.is_none_or(|searched| *searched == family["cases"]), "{family}");
            (family["family"].as_str().unwrap(), family["cases"].as_u64().unwrap())
        })
        .collect();
    let twins = twins().len() as u64;
    assert_eq!(
        cases,
        [
            ("twins", twins),
            ("published", 900),
            ("cases", 450),
            ("hard", 212),
            ("many-writers", 140),
            ("immediate", EXCHANGED + exchange_twins().len() as u64)
        ]
    );
}

#[test]
fn table_has_a_header_and_a_row_per_family() {
    let table = printed("corpus --family twins");
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    let columns = "family cases right wrong certificates searched events seconds";
    assert_eq!(lines[0].join(" "), columns);
    let cases = twins().len().to_string();
    assert_eq!(lines[1][..6], ["twins", &cases, &cases, "0", &cases, &cases]);
    assert_eq!(lines.len(), 2);
}

#[test]
fn list_names_every_case_once() {
    let list = printed("corpus --list");
    let lines: BTreeSet<&str> = list.lines().collect();
    let cases = 1702 + twins().len() + EXCHANGED as usize + exchange_twins().len();
    assert_eq!((lines.len(), list.lines().count()), (cases, lines.len()));
    for line in [
        "twins/condition-b-stale-bad: violation stale",
        "twins/empty: linearizable",
        "published/linearizable-20-500-24: linearizable",
        "published/non_linearizable-3-25-0: violation",
        "cases/inversion-3-25-0: violation inversion",
        "hard/simple-3c-64-1000-twin: linearizable",
        "many-writers/ring-8-2-12-0-0: violation",
        "many-writers/ring-8-2-12-0-0-twin: linearizable",
        "immediate/profile-111-111-111: set-linearizable",
        "immediate/profile-111-010-110: set-linearizable",
        "immediate/profile-011-111-111: violation immediacy",
        "immediate/containment-16-200-1: violation containment",
        "immediate/validity-failed-32-400-0-twin: set-linearizable",
        "immediate/immediacy-repeated-bad: violation immediacy",
    ] {
        assert!(lines.contains(line), "{line}");
    }
    let only = printed("corpus --list --family cases");
    assert!(only.lines().count() == 450 && only.lines().all(|line| line.starts_with("cases/")));
}

#[test]
fn written_cases_are_recordings_with_expectations() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a/b");
    let place = place.to_str().unwrap();
    for (family, count) in [("twins", twins().len()), ("cases", 450), ("published", 900)] {
        let report = printed(&format!("corpus --family {family} --write {place}"));
        assert_eq!(report, format!("{count} cases written to {place}\n"));
        let files: Vec<_> =
            fs::read_dir(format!("{place}/{family}")).unwrap().map(|file| file.unwrap()).collect();
        assert_eq!(files.len(), count);
        let list = printed(&format!("corpus --list --family {family}"));
        for file in files {
            let source: &'static str = fs::read_to_string(file.path()).unwrap().leak();
            let name = file.file_name().into_string().unwrap();
            let case = Case::parse(name.strip_suffix(".txt").unwrap().to_owned().leak(), source);
            let case = case.unwrap();
            let line = format!("{family}/{}: {}\n", case.name, case.expected);
            assert!(list.contains(&line), "{line}");
            let (history, _) = read_history(Reader::text(source.as_bytes()).unwrap()).unwrap();
            let mut budget = Budget { memory: 1 << 24, proceed: &mut || true };
            match (check(&history, &mut budget).verdict, case.expected) {
                (Verdict::Linearizable(_), Expected::Linearizable) => {}
                (Verdict::Violation(found), Expected::Violation { reason }) => {
                    assert_eq!(found.reason.name(), reason.unwrap_or(found.reason.name()));
                }
                (found, expected) => panic!("{line}: {expected}, found {}", found.name()),
            }
        }
    }
    for case in twins() {
        let written = fs::read_to_string(format!("{place}/twins/{}.txt", case.name)).unwrap();
        assert_eq!(written, case.source);
    }
}

#[test]
fn impossible_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "precious").unwrap();
    let report = refused(&format!("corpus --family twins --write {}", file.display()));
    assert!(report.starts_with("cannot write "), "{report}");
    assert_eq!(fs::read_to_string(file).unwrap(), "precious");
    refused("corpus --list --write x");
    refused("corpus --list --report json");
    refused("corpus --family others");
}
