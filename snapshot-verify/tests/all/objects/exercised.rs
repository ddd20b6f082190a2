//! Reports of `check` on the proof of an object: events that never occur, and their consequences.

use serde_json::json;

use super::user_errors::{answer, refused};

const NEVER: &str = "algorithm never
object lock:
    state owner: process or none
    acquire when owner != me await owner = none:
        owner := me
    release when owner = me:
        owner := none
shared flag: bool
acquire:
    while not flag: skip
release:
    flag := false
";

#[test]
fn vacuous_proof_of_an_object_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("never.snapshot"), NEVER).unwrap();
    let check = "check never.snapshot -n 2";
    let (code, out, error) = answer(folder.path(), check);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    let end = "never, n = 2: verified (any number of operations, by refinement of `lock`; for n = 2 \
               only, not for every n)\n  exercised: 1 of 2 statements; not all operations return; an \
               operation can hang\n  note: never executed: never.snapshot:12:5: `flag := false`\n  \
               note: no acquire by p0, p1 ever returns\n  note: no release by p0, p1 ever returns\n  \
               note: deadlock: after p0 begin acquire, no operation ever ends, \
               whatever is done; the acquire by p0 spins, at never.snapshot:10:15\n";
    assert!(out.ends_with(end), "{out}");
    let (code, out, _) = answer(folder.path(), &format!("{check} --strict"));
    assert!(code == 3 && out.ends_with(end), "{out}");
    let (code, out, _) = answer(folder.path(), &format!("{check} --strict --report json"));
    assert_eq!(code, 3);
    let line: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((&line["values"], &line["object"]), (&json!(null), &json!("lock")));
    let exercised = &line["exercised"];
    let acquire = json!({"process": 0, "operation": "acquire", "returns": "never"});
    assert_eq!((&exercised["vacuous"], &exercised["returns"][0]), (&json!(true), &acquire));
    let moves = json!(["p0 begin acquire"]);
    assert_eq!(exercised["stuck"]["moves"], moves);
    let (code, out, _) = answer(folder.path(), &format!("{check} --strict --report junit"));
    assert!(code == 3 && out.contains("errors=\"1\"") && out.contains("vacuous"), "{out}");
    assert!(out.contains("no acquire by p0, p1 ever returns"), "{out}");
    let (code, out, _) = answer(folder.path(), &format!("{check} --report junit"));
    assert!(code == 0 && out.contains("errors=\"0\""), "{out}");
    let (code, out, _) = answer(folder.path(), &format!("{check} --strict --report sarif"));
    assert!(code == 3 && out.contains("\"vacuous\""), "{out}");
}

/// A lock blocks, which is not a fault; a counter by fetch-and-add does not block.
#[test]
fn proof_of_a_blocking_object_is_not_vacuous() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, _) = answer(folder.path(), "check tas_lock -n 2 --strict");
    assert_eq!(code, 0, "{out}");
    let said = "  exercised: all 4 statements; all operations return; no operation can hang; one can \
                wait for another process (blocking)\n  note: after p0 begin acquire";
    assert!(out.contains(said), "{out}");
    assert!(out.contains("never ends unless another process goes on, at "), "{out}");
    let (code, out, _) = answer(folder.path(), "check faa_counter -n 2 --operations 2 --strict");
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("each returns if it runs alone (obstruction-free)\n"), "{out}");
}

#[test]
fn strict_is_refused_if_meaningless() {
    let folder = tempfile::tempdir().unwrap();
    let error = refused(folder.path(), "check bowman --barriers 1 --strict");
    assert_eq!(
        error,
        "--strict cannot be used with --barriers, for what executions with few barriers exercise is not \
         known: leave one of them out\n"
    );
}
