//! A package and its crates under control, from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::Error;

/// The stand-ins.
pub const STAND_INS: [&str; 2] = ["lineup-std", "lineup-core"];

/// Selects a package of a workspace.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The `Cargo.toml`, unless it is the current directory's.
    pub manifest: Option<PathBuf>,
    /// The package of a workspace.
    pub package: Option<String>,
}

impl Selection {
    /// Returns the options of cargo for the selection.
    pub fn options(&self) -> Vec<String> {
        let mut options = Vec::new();
        if let Some(manifest) = &self.manifest {
            options.extend(["--manifest-path".to_owned(), manifest.display().to_string()]);
        }
        if let Some(package) = &self.package {
            options.extend(["-p".to_owned(), package.clone()]);
        }
        options
    }
}

/// A package that has crates under control.
#[derive(Clone, Debug)]
pub struct Package {
    /// Name of the package.
    pub name: String,
    /// Names and versions of the crates under control.
    pub controlled: Vec<(String, String)>,
    /// Crates whose bare `thread_local!` is accepted.
    pub accepted: Vec<String>,
    /// Names of all its dependencies, and its own.
    pub dependencies: Vec<String>,
    /// The target directory of the workspace.
    pub target: PathBuf,
    /// Its `Cargo.toml`.
    pub manifest: PathBuf,
    /// Its program, if its `Cargo.toml` chooses one of several (`default-run`).
    pub default_run: Option<String>,
}

/// Runs `cargo metadata`.
fn metadata(selection: &Selection) -> Result<Value, Error> {
    let here = std::env::current_dir().unwrap_or_default();
    if selection.manifest.is_none() && !here.ancestors().any(|at| at.join("Cargo.toml").is_file()) {
        return Err(Error::Outside(here));
    }
    let mut command = Command::new(cargo());
    command.args(["metadata", "--format-version", "1"]);
    if let Some(manifest) = &selection.manifest {
        command.arg("--manifest-path").arg(manifest);
    }
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|error| Error::Start { program: "cargo".to_owned(), error })?;
    if !output.status.success() {
        return Err(Error::Cargo { command: "metadata".to_owned() });
    }
    serde_json::from_slice(&output.stdout).map_err(|error| Error::Metadata(error.to_string()))
}

/// Returns the program cargo: the one that called this program, if any.
pub fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), Into::into)
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or("")
}

fn list(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

impl Package {
    /// Finds the package.
    ///
    /// # Errors
    /// If there is no package, or its configuration is invalid.
    pub fn find(selection: &Selection) -> Result<Self, Error> {
        Self::new(&metadata(selection)?, selection)
    }

    /// Parses the output of `cargo metadata`.
    ///
    /// # Errors
    /// As [`Package::find`].
    pub fn new(metadata: &Value, selection: &Selection) -> Result<Self, Error> {
        let packages: BTreeMap<&str, &Value> = metadata["packages"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|package| (text(package, "id"), package))
            .collect();
        let nodes: BTreeMap<&str, &Value> = metadata["resolve"]["nodes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|node| (text(node, "id"), node))
            .collect();
        let here = || selection.manifest.clone().unwrap_or_else(|| PathBuf::from("."));
        let members = list(&metadata["workspace_members"]);
        let root = match &selection.package {
            Some(name) => members.iter().find(|id| {
                packages.get(id.as_str()).is_some_and(|package| text(package, "name") == name)
            }),
            None => None,
        };
        let root = root.map(String::as_str).or_else(|| {
            let root = metadata["resolve"]["root"].as_str();
            root.filter(|_| selection.package.is_none())
        });
        let root = root.ok_or_else(|| Error::NoPackage(here()))?;
        let package = packages.get(root).ok_or_else(|| Error::NoPackage(here()))?;
        let name = text(package, "name").to_owned();
        let configuration = &package["metadata"]["lineup"];
        let named = list(&configuration["controlled"]);
        if named.is_empty() {
            return Err(Error::NotConfigured(text(package, "manifest_path").into()));
        }

        let reachable = closure(root, &nodes);
        let id_of = |wanted: &str| {
            reachable.iter().copied().find(|id| text(packages[id], "name") == wanted)
        };
        let mut basis = BTreeSet::new();
        for stand_in in STAND_INS {
            let missing = || Error::NoStandIn { package: name.clone(), name: stand_in };
            let id = id_of(stand_in).ok_or_else(missing)?;
            basis.extend(closure(id, &nodes));
        }
        let mut controlled = Vec::new();
        for wanted in named {
            let Some(id) = id_of(&wanted) else {
                let names = reachable.iter().filter(|id| !basis.contains(*id));
                let names: BTreeSet<_> = names.map(|id| text(packages[id], "name")).collect();
                let known = names.into_iter().collect::<Vec<_>>().join(", ");
                return Err(Error::Unknown { name: wanted, package: name, known });
            };
            if basis.contains(id) {
                return Err(Error::Needed { name: wanted });
            }
            controlled.push((wanted, text(packages[id], "version").to_owned()));
        }
        let names = reachable.iter().map(|id| text(packages[id], "name").to_owned());
        let dependencies = names.collect();
        Ok(Self {
            name,
            controlled,
            accepted: list(&configuration["thread-locals-argued"]),
            dependencies,
            target: text(metadata, "target_directory").into(),
            manifest: text(package, "manifest_path").into(),
            default_run: package["default_run"].as_str().map(str::to_owned),
        })
    }
}

/// Returns a package and all its dependencies, except dependencies of build scripts and tests.
fn closure<'v>(root: &'v str, nodes: &BTreeMap<&'v str, &'v Value>) -> BTreeSet<&'v str> {
    let mut found = BTreeSet::new();
    let mut left = vec![root];
    while let Some(id) = left.pop() {
        let Some(node) = nodes.get(id) else { continue };
        if !found.insert(id) {
            continue;
        }
        for dependency in node["deps"].as_array().into_iter().flatten() {
            let kinds = dependency["dep_kinds"].as_array();
            if kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind["kind"].is_null())) {
                left.push(text(dependency, "pkg"));
            }
        }
    }
    found
}

/// Returns the crates that a new package controls to check a crate: that crate, its dependencies,
/// and the package itself, without procedural macros and dependencies of these alone, and without
/// the dependencies of the stand-ins.
pub(crate) fn controllable(metadata: &Value, krate: &str) -> Vec<String> {
    let items = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let packages = items(&metadata["packages"]);
    let nodes = items(&metadata["resolve"]["nodes"]);
    let nodes: BTreeMap<&str, &Value> = nodes.iter().map(|node| (text(node, "id"), node)).collect();
    let procedural = |package: &&Value| {
        let targets = items(&package["targets"]);
        targets.iter().any(|target| list(&target["kind"]).contains(&"proc-macro".to_owned()))
    };
    let macros: BTreeSet<&str> =
        packages.iter().filter(procedural).map(|package| text(package, "id")).collect();
    // Procedural macros run in the compiler, and so do their dependencies.
    let programs: BTreeMap<&str, &Value> = nodes
        .iter()
        .filter(|(id, _)| !macros.contains(*id))
        .map(|(id, node)| (*id, *node))
        .collect();
    let mut basis = BTreeSet::new();
    let mut wanted = BTreeSet::new();
    for package in &packages {
        let name = text(package, "name");
        if STAND_INS.contains(&name) {
            basis.extend(closure(text(package, "id"), &nodes));
        }
        if name == krate {
            wanted.extend(closure(text(package, "id"), &programs));
        }
    }
    let chosen = packages.iter().filter(|package| {
        let id = text(package, "id");
        wanted.contains(id) && !basis.contains(id)
    });
    let mut names: BTreeSet<String> = chosen.map(|p| text(p, "name").to_owned()).collect();
    names.extend(metadata["resolve"]["root"].as_str().and_then(|root| {
        let root = packages.iter().find(|package| text(package, "id") == root)?;
        Some(text(root, "name").to_owned())
    }));
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::controllable;

    /// `krate` depends on `queue`, on `macros`, which depends on `syn`, and on a dependency of the
    /// stand-ins.
    fn metadata() -> Value {
        let package = |name: &str, kind: &str| json!({ "name": name, "id": name, "targets": [{ "kind": [kind] }] });
        let node = |name: &str, deps: &[&str]| {
            let deps =
                deps.iter().map(|name| json!({ "pkg": name, "dep_kinds": [{ "kind": null }] }));
            json!({ "id": name, "deps": deps.collect::<Vec<_>>() })
        };
        let libraries = ["checks", "krate", "queue", "syn", "cell", "lineup-std", "lineup-core"];
        let mut packages: Vec<Value> = libraries.map(|name| package(name, "lib")).into();
        packages.push(package("macros", "proc-macro"));
        json!({
            "packages": packages,
            "resolve": { "root": "checks", "nodes": [
                node("checks", &["krate", "lineup-std", "lineup-core"]),
                node("krate", &["queue", "macros", "cell"]), node("queue", &[]),
                node("macros", &["syn"]), node("syn", &[]), node("cell", &[]),
                node("lineup-std", &["cell"]), node("lineup-core", &["lineup-std"]),
            ] },
        })
    }

    #[test]
    fn compile_time_crates_are_not_controllable() {
        assert_eq!(controllable(&metadata(), "krate"), ["checks", "krate", "queue"]);
    }
}
