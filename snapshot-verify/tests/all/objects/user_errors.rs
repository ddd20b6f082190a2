//! User errors are reported with the place and the correction, and exit code 2.

use std::path::Path;
use std::process::Command;

use super::{Case, bounded, program};

/// Returns exit code, standard output and standard error, in the test's folder.
pub(super) fn answer(folder: &Path, arguments: &str) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_snapshot-verify"))
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

pub(super) fn refused(folder: &Path, arguments: &str) -> String {
    let (code, out, error) = answer(folder, arguments);
    assert_eq!((code, out.as_str()), (2, ""), "{arguments}: {error}");
    error
}

#[test]
fn options_of_snapshots_are_refused_for_objects() {
    let folder = tempfile::tempdir().unwrap();
    let mut refusals = 0;
    for option in [
        "--pairs 0,1",
        "--method exploration",
        "--executions simple",
        "--updater 0",
        "--reductions none",
        "--self-check",
        "--keep-going",
        "--certificate proof",
    ] {
        let error = refused(folder.path(), &format!("check cas_counter {option}"));
        let name = option.split(' ').next().unwrap();
        assert!(error.starts_with(name), "{option}: {error}");
        assert!(error.contains("declares the object `counter`"), "{option}: {error}");
        refusals += 1;
    }
    assert_eq!(refusals, 8);
    let (code, _, error) =
        answer(folder.path(), "check naive_collect -n 2 --pairs 0,1 --certificate proof");
    assert_eq!(code, 0, "{error}");
    for arguments in [
        "simulate cas_counter --pair 0,1",
        "simulate cas_counter --updater 0",
        "emit cas_counter --stage instance",
        "certify cas_counter proof",
    ] {
        let error = refused(folder.path(), arguments);
        assert!(error.contains("declares the object `counter`"), "{arguments}: {error}");
    }
}

#[test]
fn answer_states_the_proved_scope() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, error) = answer(folder.path(), "check cas_counter -n 2 --operations 2");
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    let said = "verified (at most 2 operations by each process, by refinement of \
                `counter`; for n = 2 only, not for every n)";
    assert!(out.contains(said), "{out}");
}

const OVERFLOWING: &str = "algorithm overflowing
object counter:
    state count: 0..1
    increment: count := count + 1
shared cell: cas 0..9
increment:
    loop:
        x := cell
        if CAS(cell, x, x + 1): return
";

/// Guards apply to invocations: two processes that both may begin can violate them together.
#[test]
fn faulty_object_is_bad_input_at_its_position() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.snapshot"), OVERFLOWING).unwrap();
    let error = refused(folder.path(), "check a.snapshot -n 2 --operations 2");
    assert!(error.contains("a.snapshot:4:25: the object goes wrong"), "{error}");
    assert!(error.contains("2 is out of range: from 0 to 1"), "{error}");
    let error = refused(folder.path(), "simulate a.snapshot -n 2");
    assert!(error.contains("the object is faulty: 2 is out of range"), "{error}");
}

const COUNTING: &str = "algorithm counting
object counter:
    state count: counter
    increment: counter:
        count := count + 1
        return count
shared cell: cas counter
increment:
    loop:
        x := cell
        if CAS(cell, x, x + 1): return x + 1
";

#[test]
fn counting_object_needs_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.snapshot"), COUNTING).unwrap();
    let error = refused(folder.path(), "check a.snapshot -n 2");
    assert!(error.contains("bound the operations (--operations 2"), "{error}");
    let (code, out, _) = answer(folder.path(), "check a.snapshot -n 2 --operations 2");
    assert_eq!(code, 0, "{out}");
    let program = program(COUNTING);
    assert_eq!(Case::new(&program, 2).enumerate(&bounded(2)).violations, 0);
}

#[test]
fn traces_of_objects_are_replayed_and_others_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let check = "check cas_counter --bug lost_update -n 2 --trace t";
    let (code, out, error) = answer(folder, check);
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    let (code, out, error) = answer(folder, "replay t");
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    assert!(out.ends_with("The history is not linearizable.\n"), "{out}");
    let text = std::fs::read_to_string(folder.join("t")).unwrap();
    assert!(text.contains("\noperations increment read\n"), "{text}");
    let altered = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        std::fs::write(folder.join("u"), text.replacen(from, to, 1)).unwrap();
        refused(folder, "replay u")
    };
    let error = altered("operations increment read", "operations read increment");
    assert!(error.contains("are not those of the trace"), "{error}");
    let error = altered("\noperations increment read", "");
    assert!(error.contains("`p0 begin increment` is neither a move"), "{error}");
    let error = altered("p0 begin increment", "p0 begin nothing");
    assert!(error.contains("`p0 begin nothing` is neither a move"), "{error}");
    let error = altered("p0 begin increment", "p0 begin increment 3");
    assert!(error.contains("the algorithm has no such operation"), "{error}");
    let error = altered("p0 begin increment", "p0 step");
    assert!(error.contains("it can only begin an operation of the object"), "{error}");
    let error = altered("p0 begin increment", "p0 scan");
    assert!(error.contains("the algorithm has no such operation"), "{error}");
    let error = altered("p0 begin increment", "p0 begin increment 1 2 3 4");
    assert!(error.contains("is neither a move"), "{error}");
}

/// A check that would be vacuous, or that has too many operations to begin, is refused.
#[test]
fn impossible_and_too_many_operations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "algorithm a\nobject o:\n    state x: 0..1\n    set(v: value, k: 0..n-1) by process \
                2: x := 1\n    ask(v: value): x := 1\nshared cell: bool\nset(v, k): cell := \
                true\nask(v): cell := true\n";
    std::fs::write(folder.join("a.snapshot"), text).unwrap();
    for command in ["check", "simulate"] {
        let error = refused(folder, &format!("{command} a.snapshot -n 2"));
        assert!(error.contains("with 2 processes, none begins `set`"), "{error}");
        let (code, out, error) = answer(folder, &format!("{command} a.snapshot -n 3"));
        assert_eq!(code, 0, "{out}{error}");
        for values in ["4294967295", "2147483648", "4096"] {
            let error = refused(folder, &format!("{command} a.snapshot -n 3 --values {values}"));
            assert!(error.contains("different operations, arguments counted"), "{error}");
        }
    }
}

/// More nodes than the text allows: there is no answer, and a trace shows which node was reused.
#[test]
fn too_few_nodes_give_unknown_and_traces_name_reused_ones() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = corpus::algorithm("linked_stack").unwrap().text;
    std::fs::write(folder.join("a.snapshot"), text.replace("up to size + 2 * n", "up to 2"))
        .unwrap();
    let (code, out, error) = answer(folder, "check a.snapshot -n 2");
    assert_eq!((code, error.as_str()), (3, ""), "{out}");
    assert!(out.contains("unknown: more nodes are needed than `up to` allows"), "{out}");
    let (code, out, error) = answer(folder, "simulate a.snapshot -n 2");
    assert_eq!((code, error.as_str()), (3, ""), "{out}");
    assert!(out.contains("more than 2 nodes are needed at a time"), "{out}");
    let (code, out, _) = answer(folder, "check tagged_stack --bug unmapped -n 2");
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("Node 0 was freed: nothing may access it any more"), "{out}");
    assert!(out.contains("  The next step of p"), "{out}");
    let (code, out, error) = answer(folder, "check linked_stack --bug aba -n 2 --trace t");
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    let trace = std::fs::read_to_string(folder.join("t")).unwrap();
    assert_eq!(trace.matches("p0 take 1\n").count() + trace.matches("p1 take 1\n").count(), 1);
    let (code, out, error) = answer(folder, "replay t");
    assert_eq!((code, error.as_str()), (1, ""), "{out}");
    assert!(out.ends_with("The history is not linearizable.\n"), "{out}");
    std::fs::write(folder.join("t"), trace.replace(" take 1\n", " take 2\n")).unwrap();
    let (code, _, error) = answer(folder, "replay t");
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("the step has the outcomes 0 to 1 only"), "{error}");
}
