//! The program `lineup-rustc`, which cargo calls instead of `rustc`.
//!
//! For a library under control it adds `--extern std=..` and `--extern core=..`; all other
//! arguments are passed on unchanged. After such a crate is compiled, its sources are searched for
//! items that the stand-in cannot replace; if compilation fails, the compiler's message is followed
//! by a likely reason.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::rewritten::Copy;
use crate::source::bare_thread_locals;

/// Crates under control, by package name, between commas.
pub const CONTROLLED: &str = "LINEUP_CONTROLLED";
/// Path of the compiled stand-in for `std`.
pub const STD: &str = "LINEUP_STD";
/// Path of the compiled stand-in for `core`.
pub const CORE: &str = "LINEUP_CORE";
/// Directory for notes on sources, a file per crate.
pub const NOTES: &str = "LINEUP_NOTES";
/// Directory for copies of packages; without it, a bare `thread_local!` stays.
pub const SOURCES: &str = "LINEUP_SOURCES";

/// Arguments of one call of the compiler.
#[derive(Debug, Default)]
struct Call {
    /// The name of the crate.
    name: String,
    library: bool,
    procedural: bool,
    /// `--out-dir` and `-C extra-filename`: where the list of sources is written to.
    directory: Option<PathBuf>,
    extra: String,
    /// The crates that it uses (`--extern`).
    used: Vec<String>,
}

fn call(arguments: &[OsString]) -> Call {
    let mut call = Call::default();
    let texts: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    for (index, text) in texts.iter().enumerate() {
        let next = texts.get(index + 1).copied().unwrap_or("");
        match *text {
            "--crate-name" => call.name = next.to_owned(),
            "--crate-type" => {
                call.procedural |= next == "proc-macro";
                call.library |= next != "bin";
            }
            "--extern" => {
                let name = next.split('=').next().unwrap_or("");
                call.used.push(name.rsplit(':').next().unwrap_or("").to_owned());
            }
            "--out-dir" => call.directory = Some(next.into()),
            "-C" => {
                if let Some(extra) = next.strip_prefix("extra-filename=") {
                    call.extra = extra.to_owned();
                }
            }
            _ => {}
        }
    }
    call
}

/// Returns true if a package is among the named ones.
fn is_controlled(named: &str, package: &str) -> bool {
    named.split(',').any(|name| name.trim() == package)
}

/// Runs the compiler: `arguments` are its path and its arguments.
pub fn main(arguments: &[OsString]) -> ExitCode {
    let Some((compiler, rest)) = arguments.split_first() else {
        complain("lineup-rustc is for cargo, as RUSTC_WRAPPER; `cargo lineup` sets it");
        return ExitCode::from(2);
    };
    let text = |name: &str| std::env::var(name).ok();
    let call = call(rest);
    let package = text("CARGO_PKG_NAME").unwrap_or_default();
    let named = text(CONTROLLED).unwrap_or_default();
    // Build scripts and procedural macros run during compilation, outside control.
    let build_script = call.name.starts_with("build_script_");
    let controlled = is_controlled(&named, &package) && !build_script && !call.procedural;
    let copy = if controlled { copied(&package, &call, rest) } else { None };
    let mut command = Command::new(compiler);
    match &copy {
        Some(copy) => command.args(copy.arguments(rest)),
        None => command.args(rest),
    };
    if controlled
        && !call.name.is_empty()
        && let (Some(std), Some(core)) = (text(STD), text(CORE))
    {
        command.arg("--extern").arg(format!("std={std}"));
        command.arg("--extern").arg(format!("core={core}"));
        for stand_in in [&std, &core] {
            if let Some(directory) = Path::new(stand_in).parent() {
                command.arg("-L").arg(format!("dependency={}", directory.display()));
            }
        }
    }
    let code = match command.status() {
        Ok(status) => status.code().unwrap_or(1),
        Err(error) => {
            complain(&format!("cannot run {}: {error}", compiler.display()));
            return ExitCode::from(2);
        }
    };
    if controlled && code == 0 && call.library {
        note(&package, &call, copy.as_ref());
    } else if controlled && code != 0 {
        complain(&format!(
            "`{package}` is compiled with Line-Up's stand-in for `std`. An item that is not found \
             above, or has another type than that of `std`, is one that it lacks: use fewer of the \
             features `cells`, `locks`, `park`, `thread_local` of `lineup-std`, or remove `{package}` from \
             `package.metadata.lineup.controlled`. If it is `lineup_std` or `lineup_core` that is \
             not found, this target directory was made with other stand-ins: remove it"
        ));
    }
    if !controlled && code != 0 && !build_script {
        let is_used = |name: &&str| call.used.contains(&name.trim().replace('-', "_"));
        if let Some(used) = named.split(',').find(is_used) {
            complain(&format!(
                "`{package}` is compiled without Line-Up's stand-in for `std`, and uses `{used}`, \
                 which is compiled with it: if the types that do not fit above are those of \
                 `std::sync`, add `{package}` to `package.metadata.lineup.controlled`"
            ));
        }
    }
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn complain(message: &str) {
    drop(writeln!(io::stderr(), "lineup: {message}"));
}

/// Copies the package of a call, if its `thread_local!` must be replaced.
fn copied(package: &str, call: &Call, arguments: &[OsString]) -> Option<Copy> {
    let directory = std::env::var_os("CARGO_MANIFEST_DIR")?;
    let copies = std::env::var_os(SOURCES)?;
    let place = Path::new(&copies).join(format!("{package}{}", call.extra));
    match Copy::of(Path::new(&directory), arguments, place) {
        Ok(copy) => copy,
        Err(error) => {
            complain(&format!("cannot copy the sources of `{package}`: {error}"));
            None
        }
    }
}

/// Records the uses of bare `thread_local!` in the sources of the crate that the compiler read.
fn note(package: &str, call: &Call, copy: Option<&Copy>) {
    let (Some(notes), Some(directory)) = (std::env::var_os(NOTES), &call.directory) else { return };
    let list = directory.join(format!("{}{}.d", call.name, call.extra));
    let Ok(text) = fs::read_to_string(&list) else { return };
    if let Some(copy) = copy
        && let Err(error) = copy.restore_names(&list)
    {
        complain(&format!("cannot write {}: {error}", list.display()));
    }
    let mut found = String::new();
    for path in sources(&text) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for line in bare_thread_locals(&text) {
            let name = path.file_name().unwrap_or(OsStr::new("")).display();
            found.push_str(&format!("{name}:{line}\n"));
        }
    }
    let file = Path::new(&notes).join(package);
    if found.is_empty() {
        drop(fs::remove_file(file));
    } else {
        drop(fs::create_dir_all(&notes));
        drop(fs::write(file, found));
    }
}

/// Returns the source files in a list of dependencies: each has a separate line, `path:`.
fn sources(list: &str) -> Vec<PathBuf> {
    let files = list.lines().filter_map(|line| line.strip_suffix(':'));
    files.filter(|file| file.ends_with(".rs")).map(|file| file.replace("\\ ", " ").into()).collect()
}

#[cfg(test)]
mod tests {
    use super::{call, is_controlled, sources};

    #[test]
    fn parses_a_rustc_call() {
        let line = "--crate-name arc_swap --edition=2018 src/lib.rs --crate-type lib -C \
                    extra-filename=-0a1b --out-dir /t/deps";
        let call = call(&line.split_whitespace().map(Into::into).collect::<Vec<_>>());
        assert_eq!((&*call.name, &*call.extra, call.library), ("arc_swap", "-0a1b", true));
        assert!(!call.procedural);
    }

    #[test]
    fn controlled_names_match_as_a_whole() {
        assert!(is_controlled("flume,spin", "spin") && !is_controlled("flume,spin", "spi"));
        assert!(!is_controlled("", "spin"));
    }

    #[test]
    fn dep_info_lists_the_source_files() {
        let list = "/t/a.d: src/lib.rs src/b.rs\n\nsrc/lib.rs:\nsrc/b.rs:\n# env-dep:X\n";
        assert_eq!(sources(list), ["src/lib.rs", "src/b.rs"].map(std::path::PathBuf::from));
    }
}
