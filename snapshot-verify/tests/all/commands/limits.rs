//! Programs that are deep, long or large: the result is an answer or an error within the time
//! limit, never a stack overflow.

use std::path::PathBuf;
use std::time::Instant;

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

    /// A text whose operations are this update and a collecting scan.
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
fn too_deep_nesting_is_refused() {
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
fn long_programs_are_verified() {
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

/// An algorithm with toggles: deciding one fact reopened another.
#[test]
fn mutually_deciding_facts_terminate() {
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

/// Runs for at most two seconds more than the limit: other programs may be running.
fn within(text: &Text, arguments: &str, seconds: f64) -> (i32, String, String) {
    let began = Instant::now();
    let found = text.check(&format!("{arguments} --time {seconds}"));
    let taken = began.elapsed().as_secs_f64();
    assert!(taken < seconds + 2.0, "{arguments}: {taken} s; {found:?}");
    found
}

#[test]
fn too_large_programs_are_refused_in_time() {
    let million = "array [0..999999] of";
    let texts = [
        (Text::of(&format!("shared z: {million} {million} value\n"), ""), "with `z`"),
        (Text::of("shared z[0..999999][0..999999]: 0..1\n", ""), "with `z`"),
        (Text::of(&format!("private z: {million} {million} bool\n"), ""), "with `z`"),
        (Text::of("", &format!("    local z: {million} {million} bool\n")), "with `z`"),
        (
            Text::of("", "    if all x in 0..999999: all y in 0..999999: x = y: skip\n"),
            "the computation is too long",
        ),
        (
            Text::of("", "    x := true\n    for k in 0..999999: for l in 0..999999: x := not x\n"),
            "the computation is too long",
        ),
        // A procedure that is not too long by itself.
        (
            Text::of(
                "procedure p:\n    x := true\n    for k in 0..999999: x := not x\n",
                "    for k in 0..999999: p()\n",
            ),
            "the computation is too long",
        ),
    ];
    for (text, said) in texts {
        for method in ["exploration", "refinement --operations 1"] {
            let (code, out, error) = within(&text, &format!("-n 2 --method {method}"), 5.0);
            assert_eq!((code, out.as_str()), (2, ""), "{error}");
            assert!(error.contains(said) && error.contains("at most"), "{error}");
        }
    }
}

#[test]
fn preparation_ends_in_time() {
    // Compiled, and reduced, for much longer.
    let compiled = Text::of("", "    if all x in 0..199999: all y in 0..1: x = x: skip\n");
    let reduced = Text::new(
        "algorithm handshakes\nshared a[segment]: value\nshared e[process]: bool\nshared g[process]: \
         bool\nupdate(v):\n    local b[process]: bool\n    local c[process]: bool\n    for i in \
         processes: b[i] := e[i]\n    for i in processes: c[i] := g[i]\n    a[me] := v\n    for i in \
         processes: if b[i] != c[i] or b[me] = c[i]: e[i] := c[i]\n    g[me] := not c[me]\n\
         scan:\n    local b[process]: bool\n    local c[process]: bool\n    local w[segment]: \
         value\n    loop\n        for i in processes: b[i] := e[i]\n        for i in processes: c[i] \
         := g[i]\n        for s in segments: w[s] := a[s]\n        if all i in processes: b[i] = \
         c[i]: return w\n        for i in processes: if b[i] != c[i]: e[i] := c[i]\n        if any i \
         in processes: any j in processes except i: b[i] != c[j]: return w\n",
    );
    for text in [compiled, reduced] {
        let (code, _, error) = within(&text, "-n 5", 0.25);
        assert_eq!((code, error.as_str()), (3, ""));
    }
}

#[test]
fn refinement_ends_in_time() {
    // Each update nearly has the maximum length, and 4,096 of them differ.
    let long = Text::of(
        "private c: 0..4095\n",
        "    c := (c + 1) mod 4096\n    for k in 0..399999: if c = 4095: c := 4095\n",
    );
    let (code, out, error) = within(&long, "-n 2 --method refinement", 1.0);
    assert_eq!((code, error.as_str()), (3, ""), "{out}");
    // Copies that take as long, in updates that differ.
    let copies = "    z[c] := not z[c]\n    y := z\n    z := y\n".repeat(30);
    let large = Text::of(
        "private c: 0..4095\nprivate z: array [0..199999] of bool\n",
        &format!("    local y: array [0..199999] of bool\n    c := (c + 1) mod 4096\n{copies}"),
    );
    let (code, out, error) = within(&large, "-n 2 --method refinement", 1.0);
    assert_eq!((code, error.as_str()), (3, ""), "{out}");
}

/// The facts about each variable at each place take a hundred times the memory limit.
#[test]
fn preparation_keeps_to_the_memory() {
    let text = Text::of(
        "shared z[0..1500]: bool\n",
        "    local x[0..1500]: bool\n    for i in 0..1500: x[i] := z[i]\n    for i in 0..1500: \
         z[i] := not x[i]\n",
    );
    let (code, out, error) = text.check("-n 2 --memory 8M --time 60");
    assert_eq!((code, error.as_str()), (3, ""), "{out}");
    assert!(out.contains("out of memory"), "{out}");
    let path = text.path().display().to_string();
    let emitted = format!("emit {path} --stage steps -n 2 --memory 24M");
    let (code, out, error) = answer_in(text.folder.path(), &emitted);
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(error.contains("the memory is used up"), "{error}");
}

#[test]
fn emit_and_replay_end_in_time() {
    let text = Text::of("", "    x := true\n    for k in 0..60000: x := not x\n");
    let path = text.path().display().to_string();
    let emitted = format!("emit {path} --stage instance -n 8 --time 0");
    let (code, out, error) = answer_in(text.folder.path(), &emitted);
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(error.contains("the time is used up"), "{error}");

    let updates = "p0 update 1\np0 step\np0 step\n".repeat(20);
    let trace = format!("snapshot-trace 2\nalgorithm mine.snapshot\nprocesses 2\n\n{updates}end\n");
    std::fs::write(text.folder.path().join("trace"), trace).unwrap();
    let (code, out, _) = answer_in(text.folder.path(), "replay trace");
    assert_eq!(code, 0, "{out}");
    let (code, out, error) = answer_in(text.folder.path(), "replay trace --time 0");
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(error.contains("the time is used up"), "{error}");
}

/// A limit that a technique reaches is reported, as text and in JSON; no other is.
#[test]
fn limits_are_reported() {
    let lines = |count: usize, line: &dyn Fn(usize) -> String| -> String {
        (0..count).map(line).collect::<String>()
    };
    let cells = |count| lines(count, &|k| format!("shared z{k}: bool\n")) + "shared w: bool\n";
    let reads =
        |count| lines(count, &|k| format!("        x{k} := z{k}\n        z{k} := not x{k}\n"));
    let tested = |count| {
        let tests = lines(count, &|k| format!("    if x{k}: w := false\n"));
        Text::of(&cells(count), &format!("    atomic:\n{}    w := true\n{tests}", reads(count)))
    };
    let joined = |count: usize| {
        let last = count - 1;
        Text::of(
            &format!("shared z[0..{count}]: bool\nshared w: bool\n"),
            &format!(
                "    local x[0..{last}]: bool\n    local y[0..{last}]: bool\n    atomic:\n        \
                 for k in 0..{last}: y[k] := z[k + 1]\n        for k in 0..{last}: x[k] := \
                 z[k]\n        for k in 0..{last}: z[k] := not x[k]\n    w := true\n    \
                 if all k in 0..{last}: x[k] = y[k]: w := false\n"
            ),
        )
    };
    let counted = |most: usize| {
        let update = format!("    x := z\n    if x < {most}: x := x + 1\n    z := x\n");
        Text::of(&format!("shared z: 0..{most}\n"), &update)
    };
    let repeated =
        |count| Text::of("shared w: bool\n", &format!("    for k in 0..{count}: x := w\n"));
    let asked = "-n 2 --pairs 0,1 --operations 1 --reductions";
    let reached = [
        (tested(80), "all", "conditions", "a block has more than 64 conditions"),
        (joined(70), "all", "condition-size", "a condition has more than 200 "),
        (counted(80), "all", "cell-domain", "a cell is written from a variable of more than 64 "),
        (repeated(300), "ample", "steps-at-once", "after 256 steps taken at once, "),
    ];
    for (text, reductions, name, note) in reached {
        let (_, out, _) = text.check(&format!("{asked} {reductions}"));
        assert_eq!(out.matches(&format!("note: {note}")).count(), 1, "{name}: {out}");
        let (_, out, _) = text.check(&format!("{asked} {reductions} --report json"));
        assert!(out.contains(&format!("\"limits\":[\"{name}\"]")), "{out}");
    }
    let smaller =
        [(tested(10), "all"), (joined(30), "all"), (counted(40), "all"), (repeated(200), "ample")];
    for (text, reductions) in smaller {
        let (_, out, _) = text.check(&format!("{asked} {reductions} --report json"));
        assert!(!out.contains("limits"), "{out}");
    }
}

/// 2^24 paths through one step.
#[test]
fn tests_unrelated_to_cells_do_not_multiply_paths() {
    let names = |line: &dyn Fn(usize) -> String| (0..24).map(line).collect::<String>();
    let reads = names(&|k| format!("    x{k} := z{k}\n"));
    let tests = names(&|k| format!("    if x{k}: y := not y\n"));
    let cells = names(&|k| format!("shared z{k}: bool\n"));
    let text = Text::of(
        &format!("{cells}shared w: bool\n"),
        &format!("{reads}    y := false\n{tests}    w := y\n"),
    );
    let (code, out, error) =
        within(&text, "-n 2 --pairs 0,1 --operations 2 --reductions all", 60.0);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
}

/// A process that spins forever is not stepped repeatedly.
#[test]
fn ample_slows_spinning_at_most_tenfold() {
    let text = Text::new(
        "algorithm spin\nshared lock: cas bool\nshared r[segment]: value\nupdate(v):\n    loop: if \
         CAS(lock, false, true): exit\n    r[me] := v\nscan:\n    local copy[segment]: value\n    \
         loop: if CAS(lock, false, true): exit\n    for s in segments: copy[s] := r[s]\n    return \
         copy\n",
    );
    let seconds = |reductions: &str| {
        let began = Instant::now();
        let (code, out, _) = text.check(&format!(
            "-n 6 --pairs 0,1 --operations 1 --threads 1 --reductions {reductions}"
        ));
        assert_eq!(code, 0, "{out}");
        began.elapsed().as_secs_f64()
    };
    let (ample, without) = (seconds("all"), seconds("no-ample"));
    assert!(ample < 10.0 * without + 0.5, "{ample} s and {without} s");
}
