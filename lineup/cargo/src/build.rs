//! Builds the stand-ins first, then the rest.
//!
//! Cargo does not know that crates under control depend on the stand-ins: after a change of the
//! stand-ins the libraries of these crates would be stale. So a file in a separate target directory
//! records the stand-ins that each crate was compiled with, and cargo removes those compiled with
//! others.
//!
//! Several commands may run over one target directory at a time: from the stand-ins to the finished
//! program one of them holds it alone ([`Target`]), and the executed program is a separate link to
//! it, which no later build replaces.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Error;
use crate::package::{Package, STAND_INS, Selection, cargo};
use crate::target::{Aside, Target};
use crate::wrapper::{CONTROLLED, CORE, NOTES, SOURCES, STD};

/// Locations of bare `thread_local!` in crates under control, for the program that checks: they
/// make its answers *unknown*.
pub const THREAD_LOCALS: &str = "LINEUP_BARE_THREAD_LOCALS";

/// Crates under control with their versions, for the program that checks: its answers name them.
pub const VERSIONS: &str = "LINEUP_VERSIONS";

/// Hash of the stand-ins that each crate was compiled with.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Stamp(BTreeMap<String, String>);

impl Stamp {
    /// Parses the file; an invalid file has no crates.
    pub fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(|line| line.split_once(' ')).map(own).collect())
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        self.0.iter().map(|(name, hash)| format!("{name} {hash}\n")).collect()
    }

    /// Records that `controlled` are compiled with the stand-ins of this hash, and no other crates
    /// with any, among the crates that cargo knows (`known`); returns the stale crates.
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

/// Returns a hash of the compiled stand-ins.
fn hash(libraries: &[&Path]) -> Result<String, Error> {
    let mut hasher = DefaultHasher::new();
    for path in libraries {
        let file = |error| Error::File { path: (*path).to_owned(), error };
        (path, fs::read(path).map_err(file)?).hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// Returns the program `lineup-rustc`, beside this one.
fn wrapper() -> Result<PathBuf, Error> {
    let path = std::env::current_exe()
        .map_err(|error| Error::File { path: "cargo-lineup".into(), error })?
        .with_file_name(format!("lineup-rustc{}", std::env::consts::EXE_SUFFIX));
    if path.is_file() { Ok(path) } else { Err(Error::NoWrapper(path)) }
}

/// Builds the package after its stand-ins, and runs its program (`run`) or its tests (`test`);
/// returns the exit code. A program that a signal ended has no answer: 3.
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
    let target = Target::take(package.target.join("lineup"))?;
    let build = Build { selection, release, package, wrapper: wrapper()? };
    let stand_ins = build.stand_ins(&target)?;
    let is_test = subcommand == "test";
    let Some(output) = build.package(&target, &stand_ins, is_test)? else { return Ok(2) };
    let found = bare(&build.package, &build.notes(&target));
    if let Some(found) = &found {
        eprintln!(
            "lineup: bare `thread_local!`, which all threads of a test share: {found}. Answers \
             are unknown, unless the crate is named in `package.metadata.lineup.\
             thread-locals-argued`"
        );
    }
    // The tests of one package at a time: cargo looks once more whether they are built.
    let (mut command, aside) = if is_test {
        let mut test = build.command(&target, "test");
        test.arg("--quiet").args(build.chosen());
        stand_ins.name(&mut test);
        (test, None)
    } else {
        let program = program(&artifacts(&output), &build.package)?;
        let aside = Aside::new(target, &program)?;
        let mut run = Command::new(aside.program());
        if let Some(directory) = build.package.manifest.parent() {
            run.env("CARGO_MANIFEST_DIR", directory);
        }
        (run, Some(aside))
    };
    command.env(VERSIONS, versions(&build.package.name, &build.package.controlled));
    if let Some(found) = found {
        command.env(THREAD_LOCALS, found);
    }
    if aside.is_some() {
        // Ctrl-C reaches the program, which ends with its answer.
        drop(ctrlc::set_handler(|| ()));
    }
    let status = command.args(arguments).status();
    let program = || aside.as_ref().map_or_else(|| "cargo".into(), Aside::program);
    let status =
        status.map_err(|error| Error::Start { program: program().display().to_string(), error })?;
    match status.code() {
        Some(code) => Ok(u8::try_from(code).unwrap_or(2)),
        None => {
            eprintln!("lineup: {} ended without an answer: {status}", program().display());
            Ok(UNKNOWN)
        }
    }
}

fn start(error: std::io::Error) -> Error {
    Error::Start { program: "cargo".to_owned(), error }
}

/// Libraries of the stand-ins.
struct StandIns {
    std: PathBuf,
    core: PathBuf,
}

impl StandIns {
    /// Names them to the wrapper of the compiler.
    fn name(&self, command: &mut Command) {
        command.env(STD, &self.std).env(CORE, &self.core);
    }
}

/// A package that is built.
struct Build<'s> {
    selection: &'s Selection,
    release: bool,
    package: Package,
    /// The program `lineup-rustc`.
    wrapper: PathBuf,
}

impl Build<'_> {
    /// Returns the folder of notes on crates under control.
    fn notes(&self, target: &Target) -> PathBuf {
        target.path().join("lineup-notes")
    }

    /// Returns the names of the crates under control.
    fn controlled(&self) -> Vec<&str> {
        self.package.controlled.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the options that choose the package and its features.
    fn chosen(&self) -> Vec<String> {
        let manifest = self.selection.manifest.as_ref().map_or(0, |_| 2);
        self.selection.options()[manifest..].to_vec()
    }

    /// Returns a command of cargo that compiles by the wrapper.
    fn command(&self, target: &Target, subcommand: &str) -> Command {
        let mut command = Command::new(cargo());
        command.arg(subcommand);
        if let Some(manifest) = &self.selection.manifest {
            command.arg("--manifest-path").arg(manifest);
        }
        if self.release {
            command.arg("--release");
        }
        command
            .env("CARGO_TARGET_DIR", target.path())
            .env("RUSTC_WRAPPER", &self.wrapper)
            .env(CONTROLLED, self.controlled().join(","))
            .env(NOTES, self.notes(target))
            .env(SOURCES, target.path().join("lineup-sources"));
        command
    }

    /// Builds the stand-ins, and removes crates that were compiled with others.
    fn stand_ins(&self, target: &Target) -> Result<StandIns, Error> {
        let mut build = self.command(target, "build");
        build.args(MESSAGES).args(STAND_INS.iter().flat_map(|stand_in| ["-p", stand_in]));
        let output = build.stderr(Stdio::inherit()).output().map_err(start)?;
        if !output.status.success() {
            return Err(Error::Cargo { command: "build -p lineup-std".to_owned() });
        }
        let built = artifacts(&output.stdout);
        let library = |name| library(&built, name).ok_or_else(|| missing(name));
        let libraries = StandIns { std: library("lineup_std")?, core: library("lineup_core")? };

        let profile = if self.release { "release" } else { "dev" };
        let path = target.path().join(format!("lineup-stand-ins-{profile}"));
        let mut stamp = Stamp::parse(&fs::read_to_string(&path).unwrap_or_default());
        let hash = hash(&[&libraries.std, &libraries.core])?;
        let stale = stamp.update(&hash, &self.controlled(), &self.package.dependencies);
        if !stale.is_empty() {
            let mut clean = self.command(target, "clean");
            clean.arg("--quiet").args(stale.iter().flat_map(|name| ["-p", name]));
            if !clean.status().map_err(start)?.success() {
                return Err(Error::Cargo { command: "clean".to_owned() });
            }
        }
        fs::write(&path, stamp.text()).map_err(|error| Error::File { path, error })?;
        Ok(libraries)
    }

    /// Builds the package; returns the messages of cargo, or `None` if it does not compile.
    fn package(
        &self,
        target: &Target,
        stand_ins: &StandIns,
        is_test: bool,
    ) -> Result<Option<Vec<u8>>, Error> {
        let mut build = self.command(target, "build");
        build.args(self.chosen()).args(MESSAGES);
        if is_test {
            build.arg("--tests");
        }
        stand_ins.name(&mut build);
        let output = build.stderr(Stdio::inherit()).output().map_err(start)?;
        Ok(output.status.success().then_some(output.stdout))
    }
}

/// Exit code of a program without an answer.
const UNKNOWN: u8 = 3;

/// Makes cargo list its artifacts on standard output, as JSON.
const MESSAGES: [&str; 2] = ["--message-format", "json-render-diagnostics"];

/// Parses the artifacts that cargo lists.
fn artifacts(messages: &[u8]) -> Vec<Value> {
    let lines = String::from_utf8_lossy(messages);
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns the package's only built program, or its `default-run`.
fn program(built: &[Value], package: &Package) -> Result<PathBuf, Error> {
    let own = built.iter().filter(|message| {
        message["manifest_path"].as_str().map(Path::new) == Some(package.manifest.as_path())
            && message["target"]["kind"].as_array().is_some_and(|k| k.contains(&"bin".into()))
    });
    let mut programs: BTreeMap<&str, &str> = own
        .filter_map(|message| {
            Some((message["target"]["name"].as_str()?, message["executable"].as_str()?))
        })
        .collect();
    if let Some(chosen) = &package.default_run {
        programs.retain(|name, _| name == chosen);
    }
    let known: Vec<&str> = programs.keys().copied().collect();
    match known[..] {
        [only] => Ok(programs[only].into()),
        _ => Err(Error::Programs {
            package: package.name.clone(),
            known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
        }),
    }
}

fn missing(name: &str) -> Error {
    Error::Metadata(format!("cargo has not said where the library `{name}` is"))
}

/// Returns the compiled library of a crate.
fn library(built: &[Value], crate_name: &str) -> Option<PathBuf> {
    let files = built
        .iter()
        .filter(|message| message["target"]["name"] == crate_name)
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default());
    let mut paths = files.filter_map(|file| file.as_str().map(PathBuf::from));
    paths.find(|path| path.extension().is_some_and(|end| end == "rlib"))
}

/// Returns the crates under control with their versions, without the package itself.
fn versions(package: &str, controlled: &[(String, String)]) -> String {
    let crates = controlled.iter().filter(|(name, _)| name != package);
    crates.map(|(name, version)| format!("{name} {version}")).collect::<Vec<_>>().join(", ")
}

/// Returns the locations of bare `thread_local!` in crates under control, except accepted ones.
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
    fn crates_built_with_other_stand_ins_are_stale() {
        let known = ["a", "b", "c"].map(str::to_owned);
        let mut stamp = Stamp::default();
        assert_eq!(stamp.update("1", &["a", "b"], &known), ["a", "b"], "compiled without any");
        assert!(stamp.update("1", &["a", "b"], &known).is_empty());
        stamp = Stamp::parse(&stamp.text());
        assert!(stamp.update("1", &["a", "b"], &known).is_empty());
        assert_eq!(stamp.update("2", &["a", "b"], &known), ["a", "b"], "the stand-ins changed");
        assert_eq!(stamp.update("2", &["b", "c"], &known), ["c", "a"], "the crates changed");
        // A former dependency is still known when it is added again.
        assert_eq!(stamp.update("2", &["c"], &known[2..]), Vec::<String>::new());
        assert_eq!(stamp.update("2", &["c"], &known), ["b"]);
    }
}
