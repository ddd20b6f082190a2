//! The scripts of the release workflow and of the GitHub action.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn script(name: &str) -> Command {
    let mut command = Command::new("bash");
    command.arg(root().join(".github").join(name)).env_remove("GITHUB_REF_TYPE");
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// The target whose archives install.sh takes here.
const fn target() -> Option<&'static str> {
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        Some("x86_64-unknown-linux-musl")
    } else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
        Some("aarch64-unknown-linux-musl")
    } else {
        None
    }
}

#[test]
fn installed_programs_are_those_packed() {
    let Some(target) = target() else { return };
    let folder = TempDir::new().unwrap();
    let place = |name: &str| folder.path().join(name);
    let version = env!("CARGO_PKG_VERSION");
    std::fs::create_dir(place("programs")).unwrap();
    for name in ["snapshot-test", "snapshot-verify"] {
        std::fs::write(place("programs").join(name), format!("#!/bin/sh\necho {name}\n")).unwrap();
    }
    let archives = place("releases").join(format!("v{version}"));
    let pack = |tag: &str| {
        let mut pack = script("package.sh");
        pack.arg(place("programs")).arg(target).arg(&archives);
        pack.envs([("GITHUB_REF_TYPE", "tag"), ("GITHUB_REF_NAME", tag)]).output().unwrap()
    };
    let refused = pack("v99.0.0");
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused));
    let packed = pack(&format!("v{version}"));
    assert!(packed.status.success(), "{}", text(&packed));
    // `cargo binstall` finds them by the manifests.
    for name in ["snapshot-test", "snapshot-verify"] {
        let manifest = std::fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        let url = manifest.lines().find_map(|line| line.strip_prefix("pkg-url = ")).unwrap();
        let file = url.trim_matches('"').rsplit('/').next().unwrap();
        let file = file
            .replace("{ name }", name)
            .replace("{ version }", version)
            .replace("{ target }", target)
            .replace("{ archive-suffix }", ".tar.gz");
        assert!(archives.join(&file).exists(), "{file}: {}", text(&packed));
    }
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("curl is not installed: nothing was installed");
        return;
    }
    let install = || {
        let releases = format!("file://{}", place("releases").display());
        let mut install = script("install.sh");
        install.arg(version).arg(place("bin")).env("SNAPSHOT_RELEASES", releases);
        install.output().unwrap()
    };
    let installed = install();
    assert!(installed.status.success(), "{}", text(&installed));
    let read = |folder: &str| std::fs::read(place(folder).join("snapshot-test")).unwrap();
    assert_eq!(read("bin"), read("programs"));
    // An archive that is not the one that was packed.
    let archive = archives.join(format!("snapshot-test-v{version}-{target}.tar.gz"));
    std::fs::copy(archives.join(format!("snapshot-verify-v{version}-{target}.tar.gz")), archive)
        .unwrap();
    let spoilt = install();
    assert_eq!(spoilt.status.code(), Some(1), "{}", text(&spoilt));
    assert!(text(&spoilt).contains("the digest is wrong"), "{}", text(&spoilt));
}

#[test]
fn the_action_installs_this_version() {
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let version = format!("    default: \"{}\"\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(action.matches(&version).count(), 1, "{version}");
}

/// Runs the action's check on these recordings: what it printed, its output and its report.
fn checked(recordings: &str, options: &str) -> (String, String, Option<String>) {
    let folder = TempDir::new().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("good.txt"), "p0 update 5\np0 ok\np1 scan\np1 ok 5 0\n").unwrap();
    std::fs::write(place("bad.txt"), "p0 update 5\np0 ok\np1 scan\np1 ok 0 0\n").unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_snapshot-test")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = script("check.sh")
        .current_dir(folder.path())
        .env("PATH", format!("{}:{path}", program.display()))
        .envs([("RECORDINGS", recordings), ("OPTIONS", options)])
        .env("SARIF", place("report.sarif"))
        .env("GITHUB_OUTPUT", place("output"))
        .env("GITHUB_STEP_SUMMARY", place("summary"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let read = |name: &str| std::fs::read_to_string(place(name)).ok();
    let summary = read("summary").unwrap();
    assert!(summary.starts_with("```\n") && summary.ends_with("```\n"), "{summary}");
    let report = read("report.sarif").filter(|report| !report.is_empty());
    (text(&output), read("output").unwrap(), report)
}

#[test]
fn the_action_reports_and_then_fails() {
    let (shown, output, report) = checked("good.txt", "");
    assert_eq!((shown.as_str(), output.as_str()), ("linearizable\n", "code=0\nreport=true\n"));
    assert!(report.unwrap().contains("\"results\":[]"));
    let (shown, output, report) = checked("*.txt", "--budget-seconds 60");
    assert!(shown.contains("bad.txt: violation") && shown.contains("good.txt: lin"), "{shown}");
    assert_eq!(output, "code=1\nreport=true\n");
    assert!(report.unwrap().contains("\"ruleId\":\"violation\""));
    let (_, output, report) = checked("none.txt", "");
    assert_eq!(output, "code=2\nreport=true\n");
    assert!(report.unwrap().contains("\"ruleId\":\"unreadable\""));
    let (shown, output, report) = checked("good.txt", "--nonsense");
    assert!(shown.contains("unexpected argument"), "{shown}");
    assert_eq!((output.as_str(), report), ("code=2\nreport=false\n", None));
}
