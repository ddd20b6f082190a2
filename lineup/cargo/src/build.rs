//! The stand-ins first, then the rest.
//!
//! Cargo does not know that crates under control depend on the stand-ins: after a change of
//! these their libraries would be stale. So a file in the target directory (of its own) says
//! with which stand-ins each was compiled, and cargo removes those compiled with others.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Error;
use crate::package::{Package, STAND_INS, Selection, cargo};
use crate::wrapper::{CONTROLLED, CORE, NOTES, STD};

/// The places of bare `thread_local!` in crates under control, for the program that checks:
/// they make its answers *unknown*.
pub const THREAD_LOCALS: &str = "LINEUP_BARE_THREAD_LOCALS";

/// With which stand-ins crates were compiled: a hash of the stand-ins per crate.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Stamp(BTreeMap<String, String>);

impl Stamp {
    /// Reads it; a file that is none has no crate.
    pub fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(|line| line.split_once(' ')).map(own).collect())
    }

    /// Its text.
    pub fn text(&self) -> String {
        self.0.iter().map(|(name, hash)| format!("{name} {hash}\n")).collect()
    }

    /// Takes note that `controlled` are compiled with the stand-ins of this hash, and nothing
    /// else with any, as far as cargo knows it (`known`): the crates that are stale.
    pub fn update(&mut self, hash: &str, controlled: &[&str], known: &[String]) -> Vec<String> {
        let is_known = |name: &str| known.iter().any(|other| other == name);
        let mut stale: Vec<String> = controlled
            .iter()
            .filter(|name| self.0.get(**name).is_none_or(|old| old != hash))
            .map(|name| (*name).to_owned())
            .collect();
        let free = |name: &&String| !controlled.contains(&name.as_str()) && is_known(name);
        stale.extend(self.0.keys().filter(free).cloned());
        self.0.retain(|name, _| !is_known(name));
        self.0.extend(controlled.iter().map(|name| ((*name).to_owned(), hash.to_owned())));
        stale
    }
}

fn own((name, hash): (&str, &str)) -> (String, String) {
    (name.to_owned(), hash.to_owned())
}

/// A hash of the compiled stand-ins.
fn hash(libraries: &[&Path]) -> Result<String, Error> {
    let mut hasher = DefaultHasher::new();
    for path in libraries {
        let file = |error| Error::File { path: (*path).to_owned(), error };
        (path, fs::read(path).map_err(file)?).hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// The program `lineup-rustc`, beside this one.
fn wrapper() -> Result<PathBuf, Error> {
    let path = std::env::current_exe()
        .map_err(|error| Error::File { path: "cargo-lineup".into(), error })?
        .with_file_name(format!("lineup-rustc{}", std::env::consts::EXE_SUFFIX));
    if path.is_file() { Ok(path) } else { Err(Error::NoWrapper(path)) }
}

/// A command of cargo, in the environment of the package, after its stand-ins are built:
/// its exit code.
///
/// # Errors
/// If something cannot be started, or the stand-ins cannot be built.
pub fn run(
    selection: &Selection,
    release: bool,
    subcommand: &str,
    arguments: &[String],
) -> Result<u8, Error> {
    let package = Package::find(selection)?;
    let target = package.target.join("lineup");
    let notes = target.join("lineup-notes");
    let wrapper = wrapper()?;
    let named: Vec<&str> = package.controlled.iter().map(|(name, _)| name.as_str()).collect();
    let command = |subcommand: &str| {
        let mut command = Command::new(cargo());
        command.arg(subcommand);
        if let Some(manifest) = &selection.manifest {
            command.arg("--manifest-path").arg(manifest);
        }
        if release {
            command.arg("--release");
        }
        command
            .env("CARGO_TARGET_DIR", &target)
            .env("RUSTC_WRAPPER", &wrapper)
            .env(CONTROLLED, named.join(","))
            .env(NOTES, &notes);
        command
    };

    let mut first = command("build");
    first.args(["--message-format", "json-render-diagnostics"]);
    for stand_in in STAND_INS {
        first.args(["-p", stand_in]);
    }
    let output = first.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| Error::Start { program: "cargo".to_owned(), error })?;
    if !output.status.success() {
        return Err(Error::Cargo { command: "build -p lineup-std".to_owned() });
    }
    let built = String::from_utf8_lossy(&output.stdout).into_owned();
    let library = |name| library(&built, name).ok_or_else(|| missing(name));
    let (std, core) = (library("lineup_std")?, library("lineup_core")?);

    let profile = if release { "release" } else { "dev" };
    let path = target.join(format!("lineup-stand-ins-{profile}"));
    let mut stamp = Stamp::parse(&fs::read_to_string(&path).unwrap_or_default());
    let stale = stamp.update(&hash(&[&std, &core])?, &named, &package.dependencies);
    if !stale.is_empty() {
        let mut clean = command("clean");
        clean.arg("--quiet").args(stale.iter().flat_map(|name| ["-p", name]));
        let status = clean.status();
        let status = status.map_err(|error| Error::Start { program: "cargo".to_owned(), error })?;
        if !status.success() {
            return Err(Error::Cargo { command: "clean".to_owned() });
        }
    }
    fs::write(&path, stamp.text()).map_err(|error| Error::File { path, error })?;

    let mut second = command("build");
    second.args(&selection.options()[selection.manifest.as_ref().map_or(0, |_| 2)..]);
    if subcommand == "test" {
        second.arg("--tests");
    }
    let status = second.env(STD, &std).env(CORE, &core).status();
    let status = status.map_err(|error| Error::Start { program: "cargo".to_owned(), error })?;
    if !status.success() {
        return Ok(2);
    }
    let found = bare(&package, &notes);
    if let Some(found) = &found {
        eprintln!(
            "lineup: bare `thread_local!`, which all threads of a test share: {found}. Answers \
             are unknown, unless the crate is named in `package.metadata.lineup.\
             thread-locals-argued`"
        );
    }
    let mut third = command(subcommand);
    third.arg("--quiet").args(&selection.options()[selection.manifest.as_ref().map_or(0, |_| 2)..]);
    third.env(STD, &std).env(CORE, &core);
    if let Some(found) = found {
        third.env(THREAD_LOCALS, found);
    }
    if subcommand == "run" {
        third.arg("--");
    }
    let status = third.args(arguments).status();
    let status = status.map_err(|error| Error::Start { program: "cargo".to_owned(), error })?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

fn missing(name: &str) -> Error {
    Error::Metadata(format!("cargo has not said where the library `{name}` is"))
}

/// The compiled library of a crate, from cargo's messages.
fn library(messages: &str, crate_name: &str) -> Option<PathBuf> {
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let files = artifacts
        .filter(|message| message["target"]["name"] == crate_name)
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default());
    let mut paths = files.filter_map(|file| file.as_str().map(PathBuf::from));
    paths.find(|path| path.extension().is_some_and(|end| end == "rlib"))
}

/// Where crates under control use a bare `thread_local!`, unless that is accepted.
fn bare(package: &Package, notes: &Path) -> Option<String> {
    let mut all = Vec::new();
    for (name, version) in &package.controlled {
        if package.accepted.contains(name) {
            continue;
        }
        if let Ok(lines) = fs::read_to_string(notes.join(name)) {
            let lines = lines.lines().collect::<Vec<_>>().join(", ");
            all.push(format!("{name} {version} ({lines})"));
        }
    }
    (!all.is_empty()).then(|| all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::Stamp;

    #[test]
    fn what_was_compiled_with_other_stand_ins_is_stale() {
        let known = ["a", "b", "c"].map(str::to_owned);
        let mut stamp = Stamp::default();
        assert_eq!(stamp.update("1", &["a", "b"], &known), ["a", "b"], "compiled without any");
        assert!(stamp.update("1", &["a", "b"], &known).is_empty());
        stamp = Stamp::parse(&stamp.text());
        assert!(stamp.update("1", &["a", "b"], &known).is_empty());
        assert_eq!(stamp.update("2", &["a", "b"], &known), ["a", "b"], "the stand-ins changed");
        assert_eq!(stamp.update("2", &["b", "c"], &known), ["c", "a"], "the crates changed");
        // A crate that is no dependency at present is still known when it is one again.
        assert_eq!(stamp.update("2", &["c"], &known[2..]), Vec::<String>::new());
        assert_eq!(stamp.update("2", &["c"], &known), ["b"]);
    }
}
