//! Reports for continuous integration, completions, manual pages.

use std::fs;

use crate::commands::{answer, run};

#[test]
fn junit_and_sarif_report_the_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let good = file("good.txt", "p0 update 5\np0 ok\np1 scan\np1 ok 5 0\n");
    let bad = file("bad <1>.txt", "p0 update 5\np0 ok\np1 scan\np1 ok 0 0\n").replace(' ', "\\ ");
    let bad = bad.replace("\\ ", " ");
    let torn = file("torn.txt", "p0 upd");
    let check = |report: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_snapshot-test"))
            .args(["check", "--report", report, &good, &bad, &torn])
            .output()
            .unwrap();
        answer(output)
    };
    let (code, xml, error) = check("junit");
    assert_eq!((code, error.as_str()), (1, ""));
    let parts =
        ["tests=\"3\"", "failures=\"1\"", "errors=\"1\"", "type=\"violation\"", "&lt;1&gt;"];
    for part in parts {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    assert!(xml.contains("S1 returned 0 for segment 0, the initial value."), "{xml}");
    let (code, log, error) = check("sarif");
    assert_eq!((code, error.as_str()), (1, ""));
    let log: serde_json::Value = serde_json::from_str(&log).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let rules: Vec<&str> = results.iter().map(|one| one["ruleId"].as_str().unwrap()).collect();
    assert_eq!(rules, ["violation", "malformed"]);
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], 4);
    assert!(place["artifactLocation"]["uri"].as_str().unwrap().ends_with("bad%20%3C1%3E.txt"));
}

#[test]
fn completions_and_manual_pages_are_generated() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, script, _) = answer(run(&format!("completions {shell}")));
        assert_eq!(code, 0);
        assert!(script.contains("snapshot-test") && script.contains("explain"), "{shell}");
    }
    let folder = tempfile::tempdir().unwrap();
    let (code, told, _) = answer(run(&format!("man {}", folder.path().display())));
    assert_eq!(code, 0, "{told}");
    let page = fs::read_to_string(folder.path().join("snapshot-test-check.1")).unwrap();
    assert!(page.contains("budget\\-seconds") && page.contains(".SH OPTIONS"), "{page}");
    assert!(folder.path().join("snapshot-test.1").exists());
}
