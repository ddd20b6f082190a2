//! Answers for continuous integration: JUnit XML, and SARIF.
//!
//! JUnit's schema comes from the Jenkins plugin, which GitLab and the actions for GitHub read;
//! SARIF is version 2.1.0 (OASIS), which GitHub shows at lines of files.

use std::time::Duration;

use clap::ValueEnum;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::json;

/// Report format of `check`, as an option of both programs.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum CheckReport {
    /// Text.
    Human,
    /// One JSON object per line.
    Json,
    /// JUnit XML for continuous integration, at the end.
    Junit,
    /// SARIF for continuous integration, with places in files, at the end.
    Sarif,
}

impl CheckReport {
    /// Returns true if the answers are reported together, at the end.
    pub const fn is_collected(self) -> bool {
        matches!(self, Self::Junit | Self::Sarif)
    }

    /// Returns the report at the end, if this format has one.
    pub fn collected(self, program: &str, version: &str, answers: &[Answer]) -> Option<String> {
        match self {
            Self::Human | Self::Json => None,
            Self::Junit => Some(junit(program, answers)),
            Self::Sarif => Some(sarif(program, version, answers)),
        }
    }
}

/// Evaluation of an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Right,
    Wrong,
    /// Nothing was established: neither right nor wrong, and so not a success.
    Open,
}

#[derive(Clone, Debug)]
pub struct Answer {
    /// Name of the checked input.
    pub name: String,
    pub kind: Kind,
    /// The answer in a word, such as `violation`.
    pub verdict: &'static str,
    /// The report as text.
    pub text: String,
    /// The file that the answer concerns.
    pub file: Option<String>,
    /// Line and column in the file, from 1.
    pub place: Option<(usize, usize)>,
    /// Time of the check, if known.
    pub elapsed: Option<Duration>,
}

/// Returns the answers as JUnit XML. Open answers are errors, wrong ones failures. Characters that
/// XML does not permit are omitted.
fn junit(program: &str, answers: &[Answer]) -> String {
    let mut suite = TestSuite::new(program);
    for answer in answers {
        let mut status = match answer.kind {
            Kind::Right => TestCaseStatus::success(),
            Kind::Wrong => TestCaseStatus::non_success(NonSuccessKind::Failure),
            Kind::Open => TestCaseStatus::non_success(NonSuccessKind::Error),
        };
        if answer.kind != Kind::Right {
            status.set_type(answer.verdict);
            status.set_message(first_line(&answer.text));
            status.set_description(answer.text.as_str());
        }
        let mut case = TestCase::new(answer.name.as_str(), status);
        case.set_classname(program);
        if let Some(elapsed) = answer.elapsed {
            case.set_time(elapsed);
        }
        if answer.kind == Kind::Right {
            case.set_system_out(answer.text.as_str());
        }
        suite.add_test_case(case);
    }
    let mut report = Report::new(program);
    report.add_test_suite(suite);
    let text = report.to_string().expect("texts become XML");
    if text.ends_with('\n') { text } else { text + "\n" }
}

/// Returns the answers that are not right, as SARIF: `error` if wrong, `warning` if open.
fn sarif(program: &str, version: &str, answers: &[Answer]) -> String {
    let mut rules: Vec<&str> = Vec::new();
    let mut results = Vec::new();
    for answer in answers.iter().filter(|answer| answer.kind != Kind::Right) {
        if !rules.contains(&answer.verdict) {
            rules.push(answer.verdict);
        }
        let (line, column) = answer.place.unwrap_or((1, 1));
        let locations: Vec<_> = answer
            .file
            .iter()
            .map(|file| {
                json!({ "physicalLocation": {
                    "artifactLocation": { "uri": uri(file) },
                    "region": { "startLine": line, "startColumn": column },
                } })
            })
            .collect();
        results.push(json!({
            "ruleId": answer.verdict,
            "level": if answer.kind == Kind::Wrong { "error" } else { "warning" },
            "message": { "text": paragraphs(&answer.text) },
            "locations": locations,
        }));
    }
    let rules: Vec<_> = rules.iter().map(|rule| json!({ "id": rule, "name": rule })).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": program, "version": version, "rules": rules } },
            "results": results,
        }],
    });
    log.to_string() + "\n"
}

/// Makes the first line a separate paragraph: viewers with little space show only the first
/// sentence of a message in SARIF.
fn paragraphs(text: &str) -> String {
    text.replacen('\n', "\n\n", 1)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Converts a path to a relative reference (RFC 3986), with forbidden characters encoded.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char);
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers() -> Vec<Answer> {
        let answer = |name: &str, kind, verdict, text: &str| Answer {
            name: name.to_owned(),
            kind,
            verdict,
            text: text.to_owned(),
            file: Some("a folder/run.txt".to_owned()),
            place: Some((11, 3)),
            elapsed: Some(Duration::from_millis(1500)),
        };
        vec![
            answer("good", Kind::Right, "linearizable", "good: linearizable"),
            answer(
                "bad",
                Kind::Wrong,
                "violation",
                "bad: <violation> & \"more\"\n]]> \u{1b}\u{0}x",
            ),
            answer("slow", Kind::Open, "unknown", "slow: unknown"),
        ]
    }

    #[test]
    fn junit_counts_and_escapes() {
        let xml = junit("snapshot-test", &answers());
        for part in [
            "tests=\"3\"",
            "failures=\"1\"",
            "errors=\"1\"",
            "<failure message=\"bad: &lt;violation&gt; &amp; &quot;more&quot;\" type=\"violation\">",
            "<error message=\"slow: unknown\" type=\"unknown\">",
            "time=\"1.500\"",
        ] {
            assert!(xml.contains(part), "{part}: {xml}");
        }
        assert!(!xml.contains(['\u{1b}', '\u{0}']), "{xml}");
    }

    #[test]
    fn sarif_results_have_positions() {
        let log: serde_json::Value =
            serde_json::from_str(&sarif("snapshot-test", "0.1.0", &answers())).expect("JSON");
        let results = log["runs"][0]["results"].as_array().expect("a list");
        assert_eq!(results.len(), 2);
        assert_eq!(results[0]["level"], "error");
        assert_eq!(results[1]["level"], "warning");
        let message = &results[0]["message"]["text"];
        assert_eq!(message, "bad: <violation> & \"more\"\n\n]]> \u{1b}\u{0}x", "each line once");
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20folder/run.txt");
        assert_eq!(place["region"]["startLine"], 11);
        assert_eq!(log["runs"][0]["tool"]["driver"]["rules"].as_array().map(Vec::len), Some(2));
    }
}
