//! A new package that checks a crate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Error;
use crate::package::cargo;

/// A crate whose threads wait in a futex, invisible to the scheduler; it is replaced.
const PARKING_LOT: &str = "parking_lot_core";

/// Crates whose bare `thread_local!` does not matter: `parking_lot` numbers threads in it, for its
/// `ReentrantMutex` alone.
const ARGUED: [&str; 1] = ["parking_lot"];

/// Arguments of [`init`].
#[derive(Clone, Debug)]
pub struct Request {
    /// Crate: `NAME`, or `NAME@VERSION` for this version and no later one.
    pub krate: String,
    /// The directory to make.
    pub directory: PathBuf,
    /// The directory of the crate `lineup`.
    pub lineup: PathBuf,
}

/// Makes the package, and returns the next steps.
///
/// # Errors
/// If the directory is there already, or cargo fails (no such crate).
pub fn init(request: &Request) -> Result<String, Error> {
    let directory = &request.directory;
    if directory.exists() {
        return Err(Error::Exists(directory.clone()));
    }
    let lineup = fs::canonicalize(&request.lineup)
        .ok()
        .filter(|path| path.join("std").join("Cargo.toml").is_file())
        .ok_or_else(|| Error::NoLineup(request.lineup.clone()))?;
    let name = split(&request.krate).0.to_owned();
    write(&directory.join("Cargo.toml"), &manifest(&name, &[], &lineup))?;
    write(&directory.join("src").join("main.rs"), &program(&name))?;
    let done = dependencies(request, &name).and_then(|controlled| {
        let path = directory.join("Cargo.toml");
        let (parks, controlled): (Vec<String>, Vec<String>) =
            controlled.into_iter().partition(|name| name == PARKING_LOT);
        let argued: Vec<String> =
            controlled.iter().filter(|name| ARGUED.contains(&name.as_str())).cloned().collect();
        let mut lines = list("controlled", &controlled);
        if !argued.is_empty() {
            lines = lines + "\n" + &list("thread-locals-argued", &argued);
        }
        let mut manifest = read(&path)?.replace("controlled = []", &lines);
        if !parks.is_empty() {
            manifest.push_str(&parking_lot(&lineup));
        }
        write(&path, &manifest)?;
        Ok(controlled)
    });
    let controlled = match done {
        Ok(controlled) => controlled,
        Err(error) => {
            // Only the new directory.
            drop(fs::remove_dir_all(directory));
            return Err(error);
        }
    };
    Ok(format!(
        "{} checks {name}, with {} under control.\n\
         1. Name the object and its operations in {}.\n\
         2. cd {}\n\
         3. cargo lineup random --shape 2x2 --samples 30\n",
        directory.display(),
        controlled.join(", "),
        directory.join("src").join("main.rs").display(),
        directory.display(),
    ))
}

fn start(error: std::io::Error) -> Error {
    Error::Start { program: "cargo".to_owned(), error }
}

/// Returns the crate's name, and the version if a full one is given.
fn split(krate: &str) -> (&str, Option<&str>) {
    match krate.split_once('@') {
        Some((name, version)) => {
            let full = version.starts_with(|c: char| c.is_ascii_digit())
                && version.split(['-', '+']).next().is_some_and(|v| v.split('.').count() == 3);
            (name, full.then_some(version))
        }
        None => (krate, None),
    }
}

/// Adds the dependency; a full version is pinned. `cargo add` does not find a version that was
/// yanked: then a compatible one is added first, and exchanged in the lock file.
fn add(request: &Request, manifest: &Path) -> Result<(), Error> {
    let add = |krate: &str, errors: Stdio| {
        let mut add = Command::new(cargo());
        add.args(["add", "--quiet", "--manifest-path"]).arg(manifest).arg(krate);
        add.stderr(errors).status().map(|status| status.success()).map_err(start)
    };
    let failed = |command| Error::Cargo { command };
    let (name, Some(version)) = split(&request.krate) else {
        return match add(&request.krate, Stdio::inherit())? {
            true => Ok(()),
            false => Err(failed(format!("add {}", request.krate))),
        };
    };
    if add(&format!("{name}@={version}"), Stdio::null())? {
        return Ok(());
    }
    if !add(&request.krate, Stdio::inherit())? {
        return Err(failed(format!("add {}", request.krate)));
    }
    let exchanged = Command::new(cargo())
        .args(["update", "--quiet", "--manifest-path"])
        .arg(manifest)
        .args([name, "--precise", version])
        .status()
        .map_err(start)?;
    if !exchanged.success() {
        return Err(failed(format!("update {name} --precise {version}")));
    }
    write(manifest, &pinned(&read(manifest)?, name, version))
}

/// Replaces the requirement of a dependency by this version alone.
fn pinned(manifest: &str, name: &str, version: &str) -> String {
    let line = |line: &str| match line.split_once('=') {
        Some((key, value)) if key.trim() == name => {
            let mut parts: Vec<&str> = value.split('"').collect();
            let exact = format!("={version}");
            if let Some(requirement) = parts.get_mut(1) {
                *requirement = &exact;
            }
            format!("{key}={}\n", parts.join("\""))
        }
        _ => format!("{line}\n"),
    };
    manifest.lines().map(line).collect()
}

/// Adds the dependency; returns the crates to control: it and its own dependencies.
fn dependencies(request: &Request, name: &str) -> Result<Vec<String>, Error> {
    let manifest = request.directory.join("Cargo.toml");
    add(request, &manifest)?;
    let mut metadata = Command::new(cargo());
    metadata.arg("metadata");
    if let Some(platform) = platform() {
        // Crates for other platforms are not compiled.
        metadata.args(["--filter-platform", &platform]);
    }
    let output = metadata
        .args(["--format-version", "1", "--manifest-path"])
        .arg(&manifest)
        .stderr(Stdio::inherit())
        .output()
        .map_err(start)?;
    if !output.status.success() {
        return Err(Error::Cargo { command: "metadata".to_owned() });
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| Error::Metadata(error.to_string()))?;
    Ok(crate::package::controllable(&metadata, name))
}

/// Returns the target platform that `rustc` reports, if any.
fn platform() -> Option<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned)
}

fn list(key: &str, names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    format!("{key} = [{}]", names.join(", "))
}

fn at(lineup: &Path, part: &str) -> String {
    lineup.join(part).components().collect::<PathBuf>().display().to_string()
}

/// Returns the section that replaces `parking_lot_core`, so that the scheduler sees its waiting
/// threads.
fn parking_lot(lineup: &Path) -> String {
    format!(
        "\n# Locks of `parking_lot` wait in a futex, which no scheduler sees; with this they wait where\n\
         # it does.\n\
         [patch.crates-io]\n{PARKING_LOT} = {{ path = {:?} }}\n",
        at(lineup, PARKING_LOT)
    )
}

fn manifest(name: &str, controlled: &[String], lineup: &Path) -> String {
    let at = |part| at(lineup, part);
    format!(
        "# Run by `cargo lineup`, which compiles the crates under control with stand-ins for\n\
         # `std` and `core`.\n\
         [package]\nname = \"lineup-{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         publish = false\n\n\
         [workspace]\n\n\
         [package.metadata.lineup]\n{}\n\n\
         [dependencies]\n\
         lineup = {{ path = {:?} }}\n\
         lineup-core = {{ path = {:?} }}\n\
         # A feature whose part of `std` the crate does not need can be left out.\n\
         lineup-std = {{ path = {:?}, features = [\"cells\", \"locks\", \"park\", \"thread_local\"] }}\n\n\
         [profile.dev]\nopt-level = 1\ndebug = \"line-tables-only\"\n",
        list("controlled", controlled),
        at(""),
        at("core"),
        at("std"),
    )
}

fn program(name: &str) -> String {
    let krate = name.replace('-', "_");
    format!(
        "//! Checks objects of `{name}` under every schedule of small tests (Line-Up).\n\
         //!\n\
         //! `cargo lineup random --shape 2x2 --samples 30`, `cargo lineup auto --up-to 2`,\n\
         //! `cargo lineup list`.\n\n\
         // To fill in: the object and its operations. What stands here is an example that\n\
         // passes. With a queue of `{krate}` it may look like this:\n\
         //\n\
         // lineup::subject! {{\n\
         //     Object(queue: {krate}::Queue<u32>) = {krate}::Queue::new();\n\
         //     push(value: u32) in [10, 20] => queue.push(value);\n\
         //     pop() => queue.pop();\n\
         // }}\n\
         use {krate} as _;\n\n\
         lineup::subject! {{\n\
         \x20   /// The object under test.\n\
         \x20   Object(count: std::sync::Mutex<u32>) = Default::default();\n\
         \x20   add(n: u32) in [1, 2] => *count.lock().unwrap() += n;\n\
         \x20   get() => *count.lock().unwrap();\n\
         }}\n\n\
         lineup::main!(Object);\n"
    )
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let file = |error| Error::File { path: path.to_owned(), error };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(file)?;
    }
    fs::write(path, text).map_err(file)
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::File { path: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_versions_are_pinned() {
        assert_eq!(split("spin"), ("spin", None));
        assert_eq!(split("spin@0.9"), ("spin", None));
        assert_eq!(split("spin@^0.9.2"), ("spin", None));
        assert_eq!(split("spin@0.9.2"), ("spin", Some("0.9.2")));
        assert_eq!(split("a-b@1.0.0-rc.1"), ("a-b", Some("1.0.0-rc.1")));
        let manifest = "[dependencies]\nspinning = \"1\"\nspin = \"0.9.9\"\n";
        let expected = "[dependencies]\nspinning = \"1\"\nspin = \"=0.9.2\"\n";
        assert_eq!(pinned(manifest, "spin", "0.9.2"), expected);
        let manifest = "spin = { version = \"0.9.9\", features = [\"std\"] }\n";
        let expected = "spin = { version = \"=0.9.2\", features = [\"std\"] }\n";
        assert_eq!(pinned(manifest, "spin", "0.9.2"), expected);
    }
}
