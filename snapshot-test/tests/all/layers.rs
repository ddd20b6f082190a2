//! Forbidden dependencies of the crates of the workspace on each other and on the world. Most of an
//! architecture is absences; these tests enforce them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns cargo's metadata of the workspace.
fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(workspace())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

/// Returns the direct dependencies of each crate of the workspace, as its manifest declares them:
/// `normal`, `dev` or `build`, by name.
fn declared() -> BTreeMap<String, BTreeMap<&'static str, BTreeSet<String>>> {
    let metadata = metadata();
    let text = |value: &Value| value.as_str().expect("a name").to_owned();
    let mut declared = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("a list of packages") {
        let mut kinds = BTreeMap::from(["normal", "dev", "build"].map(|k| (k, BTreeSet::new())));
        for dependency in package["dependencies"].as_array().expect("a list of dependencies") {
            let kind = match dependency["kind"].as_str() {
                None => "normal",
                Some("dev") => "dev",
                Some(_) => "build",
            };
            kinds.entry(kind).or_default().insert(text(&dependency["name"]));
        }
        declared.insert(text(&package["name"]), kinds);
    }
    declared
}

/// Returns all dependencies that a crate needs to run, in the versions of `Cargo.lock`.
fn closure(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal,no-proc-macro", "--prefix", "none"])
        .args(["--format", "{p}", "--package", package])
        .current_dir(workspace())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).expect("cargo prints text");
    let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    tree.lines().map(name).filter(|name| !name.is_empty() && name != package).collect()
}

/// The crates of the workspace that each of them may depend on, tests included.
const MAY_KNOW: [(&str, &[&str]); 22] = [
    ("snapshot-core", &["test-support"]),
    ("snapshot-io", &[]),
    ("snapshot-picture", &["snapshot-core", "snapshot-corpus"]),
    ("snapshot-corpus", &["snapshot-core"]),
    ("test-support", &[]),
    ("snapshot-kit", &["snapshot-core", "snapshot-kit", "test-support"]),
    (
        "snapshot-test",
        &[
            "snapshot-core",
            "snapshot-interpreter",
            "snapshot-io",
            "snapshot-kit",
            "snapshot-language",
            "snapshot-picture",
            "snapshot-corpus",
            "test-support",
        ],
    ),
    ("snapshot-language", &[]),
    ("snapshot-interpreter", &["snapshot-core", "snapshot-language"]),
    (
        "snapshot-semantics",
        &[
            "snapshot-core",
            "snapshot-language",
            "snapshot-interpreter",
            "snapshot-corpus",
            "test-support",
        ],
    ),
    (
        "snapshot-explorer",
        &[
            "snapshot-core",
            "snapshot-language",
            "snapshot-corpus",
            "snapshot-semantics",
            "test-support",
        ],
    ),
    ("snapshot-cluster", &["snapshot-explorer", "snapshot-io"]),
    (
        "snapshot-hints",
        &[
            "snapshot-language",
            "snapshot-semantics",
            "snapshot-invariant",
            "snapshot-corpus",
            "test-support",
        ],
    ),
    (
        "snapshot-invariant",
        &[
            "snapshot-core",
            "snapshot-language",
            "snapshot-semantics",
            "snapshot-corpus",
            "snapshot-hints",
            "test-support",
        ],
    ),
    (
        "snapshot-verify",
        &[
            "snapshot-core",
            "snapshot-io",
            "snapshot-picture",
            "snapshot-corpus",
            "snapshot-language",
            "snapshot-semantics",
            "snapshot-explorer",
            "snapshot-cluster",
            "snapshot-hints",
            "snapshot-invariant",
            "test-support",
        ],
    ),
    ("lineup", &["lineup-std", "snapshot-core", "snapshot-io", "test-support"]),
    ("lineup-std", &[]),
    ("lineup-core", &["lineup-std"]),
    ("cargo-lineup", &[]),
    (
        "benches",
        &["snapshot-core", "snapshot-test", "snapshot-verify", "snapshot-corpus", "lineup"],
    ),
    ("snapshot-fuzz", &["fuzz-checks", "snapshot-test"]),
    (
        "fuzz-checks",
        &[
            "snapshot-core",
            "snapshot-io",
            "snapshot-test",
            "snapshot-verify",
            "snapshot-corpus",
            "test-support",
        ],
    ),
];

#[test]
fn crates_know_only_those_below_them() {
    let declared = declared();
    let may_know = BTreeMap::from(MAY_KNOW);
    let members: BTreeSet<&str> = declared.keys().map(String::as_str).collect();
    assert_eq!(members, may_know.keys().copied().collect(), "every member has a layer");
    for (member, kinds) in &declared {
        for (kind, dependencies) in kinds {
            for dependency in dependencies.iter().filter(|name| members.contains(name.as_str())) {
                assert!(
                    may_know[member.as_str()].contains(&dependency.as_str()),
                    "{member} must not know {dependency} ({kind})"
                );
                assert!(
                    dependency != "test-support" || *kind == "dev",
                    "{member}: test-support is for tests"
                );
            }
        }
    }
}

/// The interpreter and refinement confirm or deny the findings of the search: they must not share a
/// mistake. Only tests of the search compare the two.
#[test]
fn search_and_its_judges_share_only_the_language() {
    let declared = declared();
    let needs = |member: &str, other: &str| declared[member]["normal"].contains(other);
    assert!(!needs("snapshot-explorer", "snapshot-semantics"));
    assert!(!needs("snapshot-explorer", "snapshot-interpreter"));
    assert!(!needs("snapshot-interpreter", "snapshot-explorer"));
    assert!(!needs("snapshot-semantics", "snapshot-explorer"));
    // Hints need no trust: the rules of proofs do not know them.
    assert!(!needs("snapshot-invariant", "snapshot-hints"));
    assert!(!needs("snapshot-invariant", "snapshot-explorer"));
    for member in [
        "snapshot-language",
        "snapshot-interpreter",
        "snapshot-semantics",
        "snapshot-explorer",
        "snapshot-hints",
        "snapshot-invariant",
    ] {
        assert!(
            !needs(member, "snapshot-corpus"),
            "{member}: no stage can be made for an algorithm"
        );
    }
}

/// The engine can be replaced: only this crate depends on it.
#[test]
fn only_the_cluster_knows_timely() {
    for (member, declared) in declared() {
        let needs = declared.values().any(|names| names.contains("timely"));
        assert_eq!(needs, member == "snapshot-cluster", "{member}");
    }
}

#[test]
fn core_and_corpus_have_few_dependencies() {
    let declared = declared();
    let may_need: [(&str, &[&str]); 2] = [
        ("snapshot-core", &["bitvec", "foldhash", "smallvec", "thiserror"]),
        ("snapshot-corpus", &["rand", "rand_chacha", "snapshot-core", "thiserror"]),
    ];
    for (member, allowed) in may_need {
        for dependency in declared[member]["normal"].iter().chain(&declared[member]["build"]) {
            assert!(allowed.contains(&dependency.as_str()), "{member} must not need {dependency}");
        }
    }
}

/// Known crates for files, threads, clocks, terminals and formats.
const WORLDLY: [&str; 20] = [
    "async-std",
    "chrono",
    "clap",
    "crossbeam",
    "crossbeam-channel",
    "crossterm",
    "env_logger",
    "indicatif",
    "libc",
    "log",
    "mio",
    "parking_lot",
    "rayon",
    "serde_json",
    "smol",
    "tempfile",
    "time",
    "tokio",
    "tracing",
    "windows-sys",
];

#[test]
fn dependencies_of_core_and_corpus_do_no_io() {
    for package in ["snapshot-core", "snapshot-corpus"] {
        let closure = closure(package);
        assert!(closure.contains("thiserror"), "{package}: {closure:?}");
        let found: Vec<_> = WORLDLY.iter().filter(|name| closure.contains(**name)).collect();
        assert!(found.is_empty(), "{package} reaches {found:?}");
    }
    // The list would find them.
    assert!(closure("snapshot-test").contains("clap"));
}

/// A test that depends on the kit waits for it to be built.
#[test]
fn the_test_kit_is_small() {
    let closure = closure("snapshot-kit");
    for package in ["clap", "snapshot-corpus", "serde_json", "snapshot-test"] {
        assert!(!closure.contains(package), "snapshot-kit reaches {package}");
    }
    assert!(closure.len() < 30, "{closure:?}");
}

/// Other checkers, which serve only for comparison, never for an answer.
const PEERS: [&str; 5] = ["lincheck", "porcupine", "stateright", "todc-mem", "todc-utils"];

#[test]
fn only_benches_depend_on_peers() {
    for (member, kinds) in declared().iter().filter(|(member, _)| *member != "benches") {
        for dependency in kinds.values().flatten() {
            assert!(!PEERS.contains(&dependency.as_str()), "{member} must not need {dependency}");
        }
    }
}

/// All Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn core_and_corpus_use_no_file_thread_clock_or_terminal() {
    // `std::{` could hide any of them.
    const FORBIDDEN: [&str; 13] = [
        "std::{",
        "std::fs",
        "std::thread",
        "std::time",
        "std::net",
        "std::io",
        "std::env",
        "std::process",
        "println!",
        "eprintln!",
        "print!(",
        "eprint!(",
        "dbg!(",
    ];
    for package in ["snapshot-core", "corpus"] {
        let files = sources(&workspace().join(package).join("src"));
        assert!(files.len() > 10, "{package}: {files:?}");
        for file in files {
            let source = fs::read_to_string(&file).expect("a source can be read");
            let found: Vec<_> = FORBIDDEN.iter().filter(|word| source.contains(**word)).collect();
            assert!(found.is_empty(), "{} uses {found:?}", file.display());
        }
    }
}

#[test]
fn testing_tool_and_verifier_do_not_mention_each_other() {
    let words = [("snapshot-test", "snapshot_verify"), ("snapshot-verify", "snapshot_test")];
    for (package, word) in words {
        for file in sources(&workspace().join(package).join("src")) {
            let source = fs::read_to_string(&file).expect("a source can be read");
            assert!(!source.contains(word), "{} mentions {word}", file.display());
        }
    }
}

/// A crate without unit tests is not compiled once more for them (`test = false`): then it must
/// have none, since they would not run.
#[test]
fn crates_without_test_target_have_no_unit_tests() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let mut untested = 0;
    for target in packages.iter().filter_map(|package| package["targets"].as_array()).flatten() {
        if target["test"] != Value::Bool(false) {
            continue;
        }
        let root = Path::new(target["src_path"].as_str().expect("a path"));
        let is_library = target["kind"].as_array().is_some_and(|of| of.contains(&"lib".into()));
        let files = match root.parent() {
            Some(folder) if is_library => sources(folder),
            _ => vec![root.to_owned()],
        };
        for file in files {
            let source = fs::read_to_string(&file).expect("a source can be read");
            assert!(!source.contains("#[test]"), "{} has tests", file.display());
        }
        untested += usize::from(is_library);
    }
    assert!(untested > 3, "libraries without unit tests: {untested}");
}
