//! Programs that are deep, long or large: an answer or an error, never the end of the
//! stack, and no later than asked for.

use std::path::PathBuf;

use super::{answer_in, refused};

const SCAN: &str = "scan:\n    local copy[segment]: value\n    for s in segments: copy[s] := \
                    r[s]\n    return copy\n";

/// A folder with one text in it.
struct Text {
    folder: tempfile::TempDir,
}

impl Text {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.snapshot"), text).unwrap();
        Self { folder }
    }

    /// Whose operations are made of this update and a collecting scan.
    fn of(declarations: &str, update: &str) -> Self {
        Self::new(&format!(
            "algorithm mine\nshared r[segment]: value\n{declarations}update(v):\n{update}    \
             r[me] := v\n{SCAN}"
        ))
    }

    fn check(&self, arguments: &str) -> (i32, String, String) {
        answer_in(self.folder.path(), &format!("check mine.snapshot {arguments}"))
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("mine.snapshot")
    }
}

#[test]
fn what_is_nested_too_deep_is_refused() {
    let deep = 40_000;
    let (parentheses, nots) = ("(".repeat(deep), "not ".repeat(deep));
    let texts = [
        Text::of("", &format!("    x := {parentheses}1{}\n", ")".repeat(deep))),
        Text::of("", &format!("    if {nots}true: skip\n")),
        Text::of("", &format!("    {}skip\n", "if me = 0: ".repeat(20_000))),
        Text::of("", &format!("    x := 1{}\n", " + 1".repeat(deep))),
        Text::of(
            "",
            &format!("    if me = 0: skip\n{}", "    else if me = 1: skip\n".repeat(5_000)),
        ),
        Text::of(&format!("shared z: {}bool\n", "array [0..0] of ".repeat(10_000)), ""),
        Text::of(&chain(|k, next| format!("procedure p{k}:\n    p{next}()\n")), "    p0()\n"),
        Text::of(&chain(|k, next| format!("type t{k} = record (f: t{next})\n")), ""),
    ];
    for text in texts {
        let error = refused(&format!("check {}", text.path().display()));
        let said = ["nested deeper than", "more than 256 symbols", "the type is too large"];
        assert!(said.iter().any(|said| error.contains(said)), "{error}");
    }
}

/// 5,000 declarations, each of which uses the next one.
fn chain(declaration: impl Fn(usize, usize) -> String) -> String {
    let declarations: String = (0..5_000).map(|k| declaration(k, k + 1)).collect();
    format!("{declarations}type t5000 = bool\nprocedure p5000:\n    skip\n")
}

#[test]
fn what_is_long_is_verified() {
    let aliases = chain(|k, next| format!("type t{k} = t{next}\n"));
    let texts = [
        Text::of("shared z: bool\n", &"    z := true\n".repeat(10_000)),
        Text::of(
            "shared z: bool\n",
            &format!("    atomic: {}z := true\n", "z := not z; ".repeat(10_000)),
        ),
        // A chain of branches in one step, each with the same condition.
        Text::of(
            "shared z: bool\n",
            "    x := z\n    y := z\n    for k in 0..5000: if x: y := not y\n    if y: r[me] := v\n",
        ),
        Text::of(&format!("{aliases}shared z: t0\n"), ""),
    ];
    for text in texts {
        let (code, out, error) = text.check("-n 2");
        assert_eq!((code, error.as_str()), (0, ""), "{out}");
    }
}

/// Of an algorithm with toggles: to decide one fact made another open again.
#[test]
fn facts_that_decide_each_other_come_to_an_end() {
    let text = Text::new(
        "algorithm toggles\n\
         shared r[process]: record (val: value, p: array [process] of bool)\n\
         shared q[process][process]: bool\n\
         update(v):\n    local f[process]: bool\n    for k in processes: f[k] := not q[k][me]\n    \
         r[me] := (v, f)\n\
         scan:\n    local mine[process]: bool\n    local w[segment]: value\n    local c[process]: \
         bool\n    local m[process]: bool\n    loop\n        for k in processes:\n            t := \
         r[k]\n            mine[k] := t.p[me]\n        for k in processes:\n            t := r[k]\n\
         \x20           w[k] := t.val\n            c[k] := t.p[me]\n        for k in processes: m[k] \
         := mine[k] or c[k] != mine[k]\n        if all k in processes: not m[k]: return w\n        \
         for k in processes:\n            if m[k]: return w\n",
    );
    let (code, out, _) = text.check("-n 3");
    assert_eq!(code, 1, "{out}");
}
