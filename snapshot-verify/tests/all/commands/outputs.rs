//! Files that `check` and `replay` write: for every answer that has one, and never an older one.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::{answer, json, printed, refused};

/// A counter that leaves its range in the third update of a process.
const FAULTY: &str = "algorithm faulty\nshared a[segment]: value\nprivate c: 0..2\nupdate(v):\n    c \
                      := c + 1\n    a[me] := v\nscan:\n    local copy[segment]: value\n    for s in \
                      segments: copy[s] := a[s]\n    return copy\n";

/// An object with such a counter, which leaves its range in the second `put` of a process.
const FAULTY_OBJECT: &str = "algorithm faulty\nobject cell:\n    state held: value\n    put(v: value): \
                             held := v\n    get: value: return held\nshared cell: value\nprivate c: \
                             0..1\nput(v):\n    cell := v\n    c := c + 1\nget:\n    x := cell\n    \
                             return x\n";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name).display().to_string()
    }
}

#[test]
fn the_trace_of_a_fault_is_written_and_replayed() {
    let folder = Folder::new();
    let trace = folder.file("trace", "an older one\n");
    for (name, text, options) in [
        ("faulty.snapshot", FAULTY, "-n 2"),
        ("refined.snapshot", FAULTY, "-n 2 --method refinement"),
        ("full.snapshot", FAULTY, "-n 2 --values 2"),
        ("object.snapshot", FAULTY_OBJECT, "-n 2"),
    ] {
        let algorithm = folder.file(name, text);
        let check = format!("check {algorithm} {options} --trace {trace}");
        let out = printed(1, &check);
        assert!(out.contains(&format!("  trace: {trace}\n")), "{check}: {out}");
        let written = fs::read_to_string(&trace).unwrap();
        assert!(!written.contains("history "), "its history is not reported: {written}");
        let moves = written.lines().filter(|line| line.starts_with('p') && !line.starts_with("pr"));
        let moves = moves.filter(|line| !line.starts_with("pair")).count();
        let replayed = printed(1, &format!("replay {trace}"));
        assert!(replayed.contains("  the program goes wrong at "), "{replayed}");
        assert!(replayed.contains(" leaves the range") || replayed.contains("range"), "{replayed}");
        let line = json(1, &check).remove(0);
        assert_eq!(line["fault"]["trace"], trace, "{line}");
        assert_eq!(line["fault"]["moves"], moves, "{line}");
        // The faulty step is the last.
        let last = replayed.lines().find(|line| line.contains("the program goes wrong")).unwrap();
        assert!(last.trim_start().starts_with(&format!("{moves} ")), "{last}");
    }
}

/// For any answer, the file afterwards was written by this run.
#[test]
fn older_outputs_are_replaced_or_removed() {
    let folder = Folder::new();
    let old = "an older file\n";
    let [trace, certificate, page] =
        ["trace", "certificate", "page"].map(|name| folder.file(name, old));
    let clear = |code: i32, arguments: String, path: &str, is_written: bool| {
        fs::write(path, old).unwrap();
        let (found, out, error) = answer(&arguments);
        assert_eq!(found, code, "{arguments}: {out}{error}");
        match is_written {
            true => assert_ne!(fs::read_to_string(path).unwrap(), old, "{arguments}"),
            false => assert!(!fs::exists(path).unwrap(), "{arguments}"),
        }
    };
    // A proof has no trace, a violation no certificate, and an unknown answer neither.
    clear(0, format!("check bowman -n 2 --trace {trace}"), &trace, false);
    clear(1, format!("check naive_collect --trace {trace}"), &trace, true);
    clear(3, format!("check jayanti -n 3 --time 0 --trace {trace}"), &trace, false);
    clear(0, format!("check bowman -n every --trace {trace}"), &trace, false);
    clear(1, format!("check naive_collect --certificate {certificate}"), &certificate, false);
    clear(0, format!("check bowman -n 2 --certificate {certificate}"), &certificate, true);
    let unknown = "check jayanti -n 3 --time 0 --certificate";
    clear(3, format!("{unknown} {certificate}"), &certificate, false);
    clear(
        1,
        format!("check naive_collect -n every --certificate {certificate}"),
        &certificate,
        false,
    );
    printed(1, &format!("check naive_collect --trace {trace}"));
    clear(1, format!("replay {trace} --html {page}"), &page, true);
    clear(3, format!("replay {trace} --time 0 --html {page}"), &page, false);

    // A command that is refused before any search leaves files untouched.
    fs::write(&trace, old).unwrap();
    refused(&format!("check bowmann --trace {trace}"));
    refused(&format!("check bowman --pairs 0,9 --trace {trace}"));
    assert_eq!(fs::read_to_string(&trace).unwrap(), old);
}

#[test]
fn inputs_are_not_overwritten() {
    let folder = Folder::new();
    let algorithm = folder.file("mine.snapshot", FAULTY);
    let same = folder.path("./mine.snapshot").display().to_string();
    for option in ["--trace", "--html", "--certificate"] {
        let error = refused(&format!("check {algorithm} -n 2 {option} {same}"));
        assert_eq!(error, format!("{same} would be written over: name another file\n"));
    }
    let [one, again] = ["one", "./one"].map(|name| folder.path(name).display().to_string());
    let error = refused(&format!("check {algorithm} -n 2 --trace {one} --html {again}"));
    assert_eq!(error, format!("{again} would be written over: name another file\n"));
    assert_eq!(fs::read_to_string(&algorithm).unwrap(), FAULTY);
    printed(1, &format!("check {algorithm} -n 2 --trace {one}"));
    let error = refused(&format!("replay {one} --html {again}"));
    assert_eq!(error, format!("{again} would be written over: name another file\n"));
    let error = refused(&format!("replay {one} --html {algorithm}"));
    assert!(error.contains("would be written over"), "{error}");
}

#[test]
fn missing_bugs_are_reported() {
    let folder = Folder::new();
    let algorithm = folder.file("mine.snapshot", FAULTY);
    let error = refused(&format!("check {algorithm} --all-bugs"));
    assert_eq!(
        error,
        format!(
            "note: {algorithm} has no bugs\n--all-bugs checks the bugs of a text, and there are \
             none: leave it out to check the algorithm itself\n"
        )
    );
    let (code, out, error) = answer(&format!("check bowman {algorithm} --all-bugs -n 3"));
    assert_eq!((code, error), (1, format!("note: {algorithm} has no bugs\n")));
    assert!(out.contains("bowman with early_exit, n = 3: not linearizable"), "{out}");
}
