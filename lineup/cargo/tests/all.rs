//! The wrapper with small stand-ins, and the messages of `cargo lineup` about packages.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use cargo_lineup::package::{Package, Selection};
use cargo_lineup::{Error, wrapper};
use serde_json::{Value, json};
use tempfile::TempDir;

const STAND_IN: &str = "#![no_std]
extern crate std as real;
pub use real::*;
#[macro_export]
macro_rules! thread_local { ($($text:tt)*) => { pub const REPLACED: u32 = 1; } }
pub mod sync {
    pub use real::sync::*;
    pub mod atomic { pub struct Marker; }
}";

fn rustc() -> String {
    std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned())
}

/// Returns a directory with stand-ins for `std` and `core`.
fn directory() -> TempDir {
    let directory = TempDir::new().unwrap();
    for (name, text) in [
        ("lineup_std", STAND_IN),
        ("lineup_core", "#![no_std]\npub use core::*;\npub mod sync { pub struct CoreMarker; }"),
    ] {
        let source = directory.path().join(format!("{name}.rs"));
        fs::write(&source, text).unwrap();
        let status = Command::new(rustc())
            .args(["--edition", "2024", "--crate-type", "rlib", "--crate-name", name, "--out-dir"])
            .arg(directory.path())
            .arg(&source)
            .status();
        assert!(status.unwrap().success());
    }
    directory
}

/// Compiles a source as the package `subject`, under control of `controlled`.
fn compile(directory: &Path, name: &str, text: &str, controlled: &str) -> Output {
    let source = directory.join("subject.rs");
    fs::write(&source, text).unwrap();
    command(directory, name, &source, controlled).output().unwrap()
}

/// Returns the call of the compiler for a source.
fn command(directory: &Path, name: &str, source: &Path, controlled: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lineup-rustc"));
    command
        .arg(rustc())
        .args(["--crate-name", name, "--edition", "2021"])
        .arg(source)
        .args(["--crate-type", "lib", "--emit", "metadata,dep-info"])
        .args(["-C", "extra-filename=-1", "--out-dir"])
        .arg(directory)
        .env("CARGO_PKG_NAME", "subject")
        .env(wrapper::CONTROLLED, controlled)
        .env(wrapper::STD, directory.join("liblineup_std.rlib"))
        .env(wrapper::CORE, directory.join("liblineup_core.rlib"))
        .env(wrapper::NOTES, directory.join("notes"));
    command
}

#[test]
fn bare_thread_locals_are_replaced_in_a_copy() {
    let directory = directory();
    let package = directory.path().join("package");
    for folder in ["src", "target/debug", ".git"] {
        fs::create_dir_all(package.join(folder)).unwrap();
    }
    fs::write(package.join("target/CACHEDIR.TAG"), "").unwrap();
    let (source, module) = (package.join("src/lib.rs"), package.join("src/a.rs"));
    fs::write(&source, "mod a;\nconst TEXT: &str = include_str!(\"a.rs\");").unwrap();
    let compile = |text: &str| {
        fs::write(&module, text).unwrap();
        let copies = directory.path().join("copies");
        let mut command = command(directory.path(), "subject", &source, "subject");
        command.env("CARGO_MANIFEST_DIR", &package).env(wrapper::SOURCES, &copies);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap(), copies)
    };
    let good = "thread_local! { static A: u8 = 1; }\npub fn f() -> u32 { REPLACED }\n";
    let (is_compiled, text, copies) = compile(good);
    assert!(is_compiled, "{text}");
    let copy = copies.join("subject-1");
    assert!(copy.join("src/a.rs").is_file() && !copy.join("target").exists());
    assert!(!copy.join(".git").exists());
    assert!(!directory.path().join("notes/subject").exists(), "nothing is left to note");
    let list = fs::read_to_string(directory.path().join("subject-1.d")).unwrap();
    assert!(list.contains(&module.display().to_string()), "{list}");
    assert!(!list.contains("copies"), "{list}");
    // Messages name the original.
    let (is_compiled, text, _) = compile(&format!("{good}fn g() -> u8 {{ missing }}"));
    assert!(!is_compiled && text.contains(&format!("{}:3:", module.display())), "{text}");
    // Without one, the package is not copied.
    fs::remove_dir_all(&copies).unwrap();
    assert!(compile("std::thread_local! { }").0 && !copies.exists());
}

#[test]
fn crates_under_control_are_compiled_with_the_stand_ins() {
    let directory = directory();
    let compile =
        |name, text, controlled| compile(directory.path(), name, text, controlled).status.success();
    let std = "pub use std::sync::atomic::Marker; pub fn f() -> Vec<u8> { vec![1] }";
    assert!(compile("subject", std, "other,subject"));
    assert!(!compile("subject", std, "other"), "not named");
    assert!(!compile("subject", std, ""), "none is named");
    assert!(!compile("build_script_build", std, "subject"), "a build script");
    let core = "#![no_std] pub use core::sync::CoreMarker;";
    assert!(compile("subject", core, "subject"));
    let named = "#![no_std] extern crate std; pub use std::sync::atomic::Marker;";
    assert!(compile("subject", named, "subject"));
}

#[test]
fn item_missing_from_a_stand_in_is_explained() {
    let directory = directory();
    let text = "use std::sync::atomic::AtomicU32;";
    let output = compile(directory.path(), "subject", text, "subject");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("AtomicU32"), "{message}");
    assert!(message.contains("lineup: `subject` is compiled with Line-Up's stand-in"), "{message}");
    // Other crates are left alone.
    let output = compile(directory.path(), "subject", "use std::nothing;", "");
    assert!(!String::from_utf8(output.stderr).unwrap().contains("lineup:"));
}

/// A crate outside control that needs a type of a crate under control.
#[test]
fn mismatched_crate_outside_control_is_explained() {
    let directory = directory();
    let text = "pub fn marker(_: std::sync::atomic::Marker) {}";
    assert!(compile(directory.path(), "subject", text, "subject").status.success());
    let source = directory.path().join("user.rs");
    fs::write(&source, "pub fn f(a: std::sync::atomic::AtomicU32) { subject::marker(a) }").unwrap();
    let user = |controlled: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_lineup-rustc"))
            .args([&rustc(), "--crate-name", "user", "--edition", "2021"])
            .arg(&source)
            .args(["--crate-type", "lib", "--emit", "metadata", "--out-dir"])
            .arg(directory.path())
            .arg("-L")
            .arg(directory.path())
            .arg("--extern")
            .arg(format!("subject={}", directory.path().join("libsubject-1.rmeta").display()))
            .env("CARGO_PKG_NAME", "user")
            .env(wrapper::CONTROLLED, controlled)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let message = user("other,subject");
    assert!(message.contains("`user` is compiled without Line-Up's stand-in"), "{message}");
    assert!(message.contains("and uses `subject`"), "{message}");
    assert!(!user("other").contains("lineup:"), "none of its crates is under control");
}

#[test]
fn bare_thread_locals_are_noted() {
    let directory = directory();
    let note = directory.path().join("notes").join("subject");
    let bare = "thread_local! { static A: u8 = const { 1 }; } pub fn f() -> u8 { A.with(|a| *a) }";
    assert!(compile(directory.path(), "subject", bare, "subject").status.success());
    assert_eq!(fs::read_to_string(&note).unwrap(), "subject.rs:1\n");
    // The note is removed with its cause.
    assert!(compile(directory.path(), "subject", "pub fn f() {}", "subject").status.success());
    assert!(!note.exists());
}

/// Returns the output of `cargo metadata` for a package that checks `queue`, whose dependency the
/// scheduler has, too.
fn metadata(configuration: &Value) -> Value {
    let package = |name: &str, configuration: Value| {
        json!({ "id": name, "name": name, "version": "1.0.0", "manifest_path": "/p/Cargo.toml",
            "metadata": configuration, "targets": [] })
    };
    let node = |name: &str, deps: &[&str]| {
        let deps: Vec<Value> =
            deps.iter().map(|dep| json!({ "pkg": dep, "dep_kinds": [{ "kind": null }] })).collect();
        json!({ "id": name, "deps": deps, "features": [] })
    };
    json!({
        "packages": [
            package("checks", json!({ "lineup": configuration })),
            package("queue", Value::Null), package("utils", Value::Null),
            package("cell", Value::Null), package("lineup-std", Value::Null),
            package("lineup-core", Value::Null),
        ],
        "resolve": { "root": "checks", "nodes": [
            node("checks", &["queue", "lineup-std", "lineup-core"]),
            node("queue", &["utils", "cell"]), node("utils", &[]), node("cell", &[]),
            node("lineup-std", &["cell"]), node("lineup-core", &["lineup-std"]),
        ] },
        "workspace_members": ["checks"],
        "target_directory": "/t",
    })
}

fn find(configuration: &Value) -> Result<Package, Error> {
    Package::new(&metadata(configuration), &Selection::default())
}

#[test]
fn package_configuration_is_read_or_explained() {
    let package = find(&json!({ "controlled": ["queue", "utils"] })).unwrap();
    assert_eq!(package.name, "checks");
    let controlled: Vec<&str> = package.controlled.iter().map(|(name, _)| &**name).collect();
    assert_eq!(controlled, ["queue", "utils"]);

    let wrong = |configuration| find(&configuration).unwrap_err().to_string();
    assert!(wrong(json!({})).contains("no crate is named in `package.metadata.lineup.controlled`"));
    let unknown = wrong(json!({ "controlled": ["quue"] }));
    assert!(unknown.contains("`quue`") && unknown.contains("there are: checks, queue, utils"));
    let needed = wrong(json!({ "controlled": ["cell"] }));
    assert!(needed.contains("`cell` cannot be under control"), "{needed}");

    let mut alone = metadata(&json!({ "controlled": ["queue"] }));
    alone["resolve"]["nodes"][0]["deps"] = json!([]);
    let missing = Package::new(&alone, &Selection::default()).unwrap_err().to_string();
    assert!(missing.contains("does not depend on `lineup-std`"), "{missing}");
    let other = Selection { package: Some("other".to_owned()), ..Selection::default() };
    assert!(matches!(
        Package::new(&metadata(&json!({ "controlled": ["queue"] })), &other),
        Err(Error::NoPackage(_))
    ));
}

fn cargo_lineup(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-lineup")).args(arguments).output().unwrap()
}

#[test]
fn wrong_commands_end_with_exit_code_2() {
    let directory = TempDir::new().unwrap();
    let here = directory.path().display().to_string();
    let code = |arguments: &[&str]| cargo_lineup(arguments).status.code();
    assert_eq!(code(&["lineup", "check"]), Some(2));
    assert_eq!(code(&["lineup", "init", "any", "--path", &here]), Some(2), "it is there already");
    let new = directory.path().join("new").display().to_string();
    let output = cargo_lineup(&["lineup", "init", "any", "--path", &new, "--lineup", &here]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("is not the directory of the crate `lineup`"), "{message}");
    assert!(!Path::new(&new).exists());
    let manifest = directory.path().join("Cargo.toml").display().to_string();
    assert_eq!(code(&["lineup", "list", "--manifest-path", &manifest]), Some(2));
    // Without a package, the message names the command that makes one.
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-lineup"))
        .args(["lineup", "random"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("`cargo lineup init CRATE` makes one"), "{message}");
}

/// The whole way, from the registry: with `LINEUP_END_TO_END=1`, since everything is compiled.
#[test]
fn published_crate_is_checked_unchanged() {
    if std::env::var_os("LINEUP_END_TO_END").is_none() {
        return;
    }
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("checks").display().to_string();
    let output = cargo_lineup(&["lineup", "init", "crossbeam-queue@0.3.14", "--path", &path]);
    assert!(output.status.success(), "{output:?}");
    let run = |test: &str| {
        let manifest = format!("{path}/Cargo.toml");
        let output = cargo_lineup(&[
            "lineup",
            "run",
            "--manifest-path",
            &manifest,
            "Object",
            "--test",
            test,
        ]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = run("add(1) get | add(2)");
    assert_eq!(code, Some(0), "{text}");
    let source = fs::read_to_string(format!("{path}/src/main.rs")).unwrap();
    let subject = &source[source.find("lineup::subject! {\n    ///").unwrap()..];
    let queue = "lineup::subject! {
        Object(queue: crossbeam_queue::ArrayQueue<u32>) = crossbeam_queue::ArrayQueue::new(1);
        force_push(v: u32) in [10] => queue.force_push(v);
        len() => queue.len();
    }\nlineup::main!(Object);";
    fs::write(format!("{path}/src/main.rs"), source.replace(subject, queue)).unwrap();
    let (code, text) = run("force_push(10) len | force_push(10)");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("array_queue.rs:"), "{text}");
}
