//! Requirements of `cargo publish` for the crates that users depend on, without a registry.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The published crates. The rest is for the workspace itself: tests, measurements; and `lineup`
/// with its parts, which `cargo lineup` compiles from a clone.
const PUBLISHED: [&str; 14] = [
    "snapshot-cluster",
    "snapshot-core",
    "snapshot-corpus",
    "snapshot-explorer",
    "snapshot-hints",
    "snapshot-interpreter",
    "snapshot-invariant",
    "snapshot-io",
    "snapshot-kit",
    "snapshot-language",
    "snapshot-picture",
    "snapshot-semantics",
    "snapshot-test",
    "snapshot-verify",
];

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("cargo prints text")
}

/// The crates of the workspace, by name.
fn members() -> BTreeMap<String, Value> {
    let text = cargo(&["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let metadata: Value = serde_json::from_str(&text).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages").clone();
    packages.into_iter().map(|package| (text_of(&package["name"]), package)).collect()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
fn published_crates_have_the_required_metadata() {
    let members = members();
    // `publish = false` is an empty list of registries.
    let published: Vec<&str> = members
        .iter()
        .filter(|(_, package)| package["publish"].is_null())
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(published, PUBLISHED);
    for name in published {
        let package = &members[name];
        for field in ["description", "license", "repository", "rust_version", "readme"] {
            assert!(!text_of(&package[field]).is_empty(), "{name} has no {field}");
        }
        let folder = PathBuf::from(text_of(&package["manifest_path"]));
        let folder = folder.parent().expect("a manifest lies in a folder");
        assert!(folder.join(text_of(&package["readme"])).exists(), "{name}: no such readme");
        let keywords = package["keywords"].as_array().expect("a list");
        // The rules of crates.io.
        assert!((1..=5).contains(&keywords.len()), "{name}: {keywords:?}");
        assert!(keywords.iter().all(|keyword| text_of(keyword).len() <= 20), "{name}");
        assert!(!package["categories"].as_array().expect("a list").is_empty(), "{name}");
        for dependency in package["dependencies"].as_array().expect("a list") {
            let needed = text_of(&dependency["name"]);
            let is_dev = dependency["kind"] == "dev";
            let is_free = dependency["req"] == "*";
            // Publishing removes a path, and a dev-dependency that has only a path is removed with
            // it.
            if is_free {
                assert!(is_dev && !dependency["path"].is_null(), "{name}: {needed} has no version");
            } else if !dependency["path"].is_null() {
                assert!(PUBLISHED.contains(&needed.as_str()), "{name}: {needed} is not published");
                assert_eq!(
                    text_of(&dependency["req"]),
                    format!("^{}", text_of(&members[&needed]["version"])),
                    "{name}: the version of {needed}"
                );
            }
        }
    }
}

#[test]
fn packages_contain_sources_and_no_tests() {
    for name in PUBLISHED {
        let list = cargo(&["package", "--list", "--offline", "--allow-dirty", "-p", name]);
        let files: Vec<&str> = list.lines().collect();
        assert!(files.contains(&"Cargo.toml") && files.contains(&"src/lib.rs"), "{name}");
        assert!(files.iter().all(|file| !file.starts_with("tests/")), "{name}: {files:?}");
        // The algorithms of the corpus are texts, and there may be any number of them.
        let others = files.iter().filter(|file| !file.ends_with(".snapshot")).count();
        assert!(others < 250, "{name}: {others} files");
    }
    let corpus =
        cargo(&["package", "--list", "--offline", "--allow-dirty", "-p", "snapshot-corpus"]);
    let is_algorithm = |file: &&str| file.ends_with(".snapshot");
    assert!(corpus.lines().filter(is_algorithm).count() > 20, "{corpus}");
    let page =
        cargo(&["package", "--list", "--offline", "--allow-dirty", "-p", "snapshot-picture"]);
    assert!(page.lines().any(|file| file == "assets/page.js"), "{page}");
}

/// `doctest = false` saves a run of rustdoc, and hides no example.
#[test]
fn crates_without_documentation_tests_have_no_examples() {
    let is_untested = |target: &&Value| target["doctest"] == false && target["kind"][0] == "lib";
    let (mut crates, mut files) = (0, 0);
    for (name, package) in members() {
        let targets = package["targets"].as_array().expect("a list");
        let Some(library) = targets.iter().find(is_untested) else { continue };
        crates += 1;
        let library = PathBuf::from(text_of(&library["src_path"]));
        let mut folders = vec![library.parent().expect("a file lies in a folder").to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder of sources") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).expect("a source");
                let is_fence = |line: &str| {
                    let comment = line.trim_start();
                    let text = comment.strip_prefix("///").or(comment.strip_prefix("//!"));
                    text.is_some_and(|text| text.trim_start().starts_with("```"))
                };
                assert!(!text.lines().any(is_fence), "{name}: {}", path.display());
                files += 1;
            }
        }
    }
    assert!(crates >= 10 && files > 300, "{crates} crates, {files} files");
}

/// Returns the packages of a lock file without a source, each with the names of its dependencies.
fn local_packages(lock: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut packages = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let field = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(name))?;
            line.split('"').nth(1).map(str::to_owned)
        };
        if field("source = ").is_none() {
            let listed = package.split("dependencies = [").nth(1).unwrap_or_default();
            let names = listed.split('"').skip(1).step_by(2);
            let names = names.filter_map(|name| name.split(' ').next()).map(str::to_owned);
            packages.insert(field("name = ").expect("a package has a name"), names.collect());
        }
    }
    packages
}

/// The lock files of the packages under Line-Up, which are not built with the workspace, follow its
/// manifests.
#[test]
fn lock_files_of_subjects_have_the_dependencies_of_the_workspace() {
    let members = members();
    let subjects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lineup/subjects");
    let mut compared = 0;
    for folder in [".", "beside", "ends", "statics"] {
        let path = subjects.join(folder).join("Cargo.lock");
        let lock = std::fs::read_to_string(&path).expect("a lock file");
        for (name, locked) in local_packages(&lock) {
            let Some(package) = members.get(&name) else { continue };
            let dependencies = package["dependencies"].as_array().expect("a list");
            let of = |is: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
                dependencies.iter().filter(|one| is(one)).map(|one| text_of(&one["name"])).collect()
            };
            let any = of(&|one| one["kind"] != "dev");
            let needed = of(&|one| one["kind"].is_null() && one["optional"] == false);
            let place = format!("{}: {name}", path.display());
            assert!(needed.is_subset(&locked), "{place} lacks {:?}", &needed - &locked);
            assert!(locked.is_subset(&any), "{place} has {:?}", &locked - &any);
            compared += 1;
        }
    }
    assert!(compared >= 4 * 4, "{compared}");
}
