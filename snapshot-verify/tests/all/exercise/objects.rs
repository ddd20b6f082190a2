//! Coverage of proofs of declared objects: hangs, and waiting that the object itself requires.

use snapshot_verify::exercise::{Ending, Exercise, Occurrence};

use super::{exercised, never, program};

/// A lock, implemented by `flag`.
const LOCK: &str = "object lock:
    state owner: process or none
    acquire when owner != me await owner = none:
        owner := me
    release when owner = me:
        owner := none
";

/// A queue of at most two.
const QUEUE: &str = "object queue:
    state items: list of value
    put(v: value) when len(items) < 2:
        items := append(items, v)
    take: value await items != []:
        local v: value
        v := first(items)
        items := rest(items)
        return v
";

/// Taken once, and never given back: at most one `take` may return.
const ONCE: &str = "object once:
    state left: 0..1 := 1
    take await left > 0:
        left := left - 1
";

/// Returns the names of the operations that never return, each once.
fn lost(found: &Exercise) -> Vec<&str> {
    let never = found.returns.iter().filter(|(.., standing)| *standing == Occurrence::Never);
    let mut names: Vec<&str> = never.map(|(_, operation, _)| found.name_of(*operation)).collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    names
}

fn moves(found: &Exercise, ending: &Ending) -> Vec<String> {
    let Ending::Impossible(stuck) = ending else { panic!("{ending:?}") };
    stuck.moves.iter().map(|made| made.named(&found.names).to_string()).collect()
}

/// `acquire` waits for a flag that is never set, which refinement accepts.
#[test]
fn an_operation_that_never_returns_is_noted() {
    let text = format!(
        "algorithm never\n{LOCK}shared flag: bool\nacquire:\n    while not flag: skip\nrelease:\n    \
         flag := false\n"
    );
    for n in [2, 3] {
        let found = exercised(&program(&text), n, None, 25_000);
        assert!(found.is_vacuous());
        assert_eq!(never(&text, &found), ["flag := false"]);
        assert_eq!(lost(&found), ["acquire", "release"]);
        assert_eq!(moves(&found, &found.ending), ["p0 begin acquire"]);
        let Ending::Impossible(stuck) = &found.ending else { unreachable!() };
        assert!(stuck.is_deadlock);
        assert_eq!(found.waiting, None);
    }
}

/// A correct lock: each process waits for the other, and neither forever.
#[test]
fn a_lock_blocks_and_does_not_hang() {
    for (name, n) in [("tas_lock", 2), ("tas_lock", 3), ("ticket_lock", 2)] {
        let text = corpus::algorithm(name).unwrap().text;
        let found = exercised(&program(text), n, None, 25_000);
        assert_eq!(never(text, &found), [""; 0], "{name}");
        assert_eq!((&found.ending, lost(&found)), (&Ending::Possible, vec![]), "{name}");
        assert!(!found.is_vacuous() && found.waiting.is_none(), "{name}");
        let Ending::Impossible(stuck) = &found.alone else { panic!("{:?}", found.alone) };
        assert_eq!(found.name_of(stuck.operation), "acquire", "{name}");
    }
}

/// Two processes both take from an empty queue: in no implementation does either return. A queue
/// that loses its elements differs.
#[test]
fn waiting_required_by_the_object_is_no_hang() {
    let right = "shared items[0..1]: value or none
put(v):
    local stored: bool
    repeat
        atomic:
            stored := items[1] = none
            if items[0] = none: items[0] := v
            else: if stored: items[1] := v
    until stored
take:
    local v: value or none
    loop:
        atomic:
            v := items[0]
            items[0] := items[1]
            items[1] := none
        if v != none: return v
";
    let text = format!("algorithm queue\n{QUEUE}{right}");
    let found = exercised(&program(&text), 2, None, 25_000);
    assert_eq!((&found.ending, found.is_vacuous()), (&Ending::Possible, false));
    let waiting = found.waiting.as_ref().expect("both may take");
    let both = ["p0 begin take", "p1 begin take"];
    let shown = waiting.moves.iter().map(|made| made.named(&found.names).to_string());
    assert_eq!(
        (shown.collect::<Vec<_>>(), waiting.is_deadlock),
        (both.map(str::to_owned).to_vec(), true)
    );

    // Permitted calls depend on possible effects: a `put` that does not wait for the `take` that
    // made room (in the object, that may have taken effect) overwrites the second element.
    let early = text.replace("    until stored\n", "    until true\n");
    let found = exercised(&program(&early), 2, None, 25_000);
    assert!(matches!(found.ending, Ending::Impossible(_)), "{:?}", found.ending);
    // It never returns the second element.
    let lossy = text.replace(
        "            items[0] := items[1]\n            items[1] := none\n",
        "            items[0] := none\n",
    );
    assert_ne!(lossy, text);
    let found = exercised(&program(&lossy), 2, None, 25_000);
    assert!(matches!(found.ending, Ending::Impossible(_)), "{:?}", found.ending);
}

/// Of two processes that take the only element, one waits forever, and either may; but not both.
#[test]
fn one_configuration_must_explain_all_hanging_processes() {
    let right = "shared left: cas bool := true\ntake:\n    local done: bool\n    repeat\n        done := \
                 CAS(left, true, false)\n    until done\n";
    let text = format!("algorithm once\n{ONCE}{right}");
    for n in [2, 3] {
        let found = exercised(&program(&text), n, None, 25_000);
        assert_eq!((&found.ending, found.is_vacuous()), (&Ending::Possible, false), "n = {n}");
        assert!(found.waiting.is_some(), "n = {n}");
    }
    // The element is taken, and no process has it: in each configuration one of them may return, or
    // has returned.
    let lossy = right.replace("    until done\n", "    until false\n");
    let text = format!("algorithm once\n{ONCE}{lossy}");
    let found = exercised(&program(&text), 2, None, 25_000);
    assert_eq!(lost(&found), ["take"]);
    let Ending::Impossible(stuck) = &found.ending else { panic!("{:?}", found.ending) };
    assert!(stuck.is_deadlock);
    // Each of two that see the other leaves it to the other: alone, either may wait.
    let shy = "shared here[process]: bool\nshared left: cas bool := true\nshared never: bool\n\
               take:\n    local seen: bool\n    here[me] := true\n    for k in processes except me:\n        \
               if here[k]: seen := true\n    if seen:\n        repeat\n            skip\n        until \
               never\n    repeat\n        done := CAS(left, true, false)\n    until done\n";
    let found = exercised(&program(&format!("algorithm shy\n{ONCE}{shy}")), 2, None, 25_000);
    assert_eq!((lost(&found), found.waiting.is_some()), (vec![], true));
    let Ending::Impossible(stuck) = &found.ending else { panic!("{:?}", found.ending) };
    assert!(stuck.is_deadlock);
}

/// The woken waiter may be one that waits for the same event.
#[test]
fn notification_of_the_wrong_waiter_is_found() {
    let text = "algorithm blocking_queue
object buffer:
    state k: 0..1
    put by process 0 await k < 1:
        k := k + 1
    take by others await k > 0:
        k := k - 1
shared count: 0..1
shared waiting[process]: bool
put:
    local done: bool
    local stored: bool
    loop:
        atomic:
            done := false
            stored := false
            if count < 1:
                count := count + 1
                stored := true
                for q in processes except me:
                    if not done:
                        if waiting[q]:
                            waiting[q] := false
                            done := true
            else:
                waiting[me] := true
        if stored: return
        while waiting[me]: skip
take:
    local done: bool
    local taken: bool
    loop:
        atomic:
            done := false
            taken := false
            if count > 0:
                count := count - 1
                taken := true
                for q in 0..n-1:
                    if not done:
                        if waiting[process(n - 1 - q)]:
                            waiting[process(n - 1 - q)] := false
                            done := true
            else:
                waiting[me] := true
        if taken: return
        while waiting[me]: skip
";
    // With a single taker, the other is always the right one.
    let found = exercised(&program(text), 2, None, 25_000);
    assert_eq!((&found.ending, &found.waiting), (&Ending::Possible, &None));
    let found = exercised(&program(text), 3, None, 25_000);
    let Ending::Impossible(stuck) = &found.ending else { panic!("{:?}", found.ending) };
    assert!(stuck.is_deadlock && found.is_vacuous());
}

/// A stack that forgot its first contents: it is always empty.
#[test]
fn a_branch_that_returns_nothing_is_noted() {
    let text = "algorithm slots
object stack:
    state items: list of (0..2)
    state has[process]: 0..2 or none
    take: 0..2 or none when has[me] = none:
        local x: 0..2
        if items = []: return none
        x := first(items)
        items := rest(items)
        has[me] := x
        return x
    give when has[me] != none:
        items := prepend(has[me], items)
        has[me] := none
shared head: cas 0..2 or none
shared next[0..2]: 0..2 or none
private held: 0..2 or none
take:
    local done: bool
    loop:
        h := head
        if h = none: return none
        x := next[h]
        done := CAS(head, h, x)
        if done:
            held := h
            return h
give:
    local done: bool
    repeat
        h := head
        next[held] := h
        done := CAS(head, h, held)
    until done
    held := none
";
    let found = exercised(&program(text), 2, None, 25_000);
    let dead = never(text, &found);
    assert!(dead.contains(&"return h") && !dead.contains(&"return none"), "{dead:?}");
    assert_eq!(lost(&found), ["give"]);
    assert!(found.is_vacuous());
    assert_eq!((&found.ending, &found.alone), (&Ending::Possible, &Ending::Possible));
}

/// A step with several outcomes: all of them are followed, and if one of them may continue forever
/// alone, there is no obstruction-freedom.
#[test]
fn all_outcomes_of_a_choice_are_followed() {
    let text = "algorithm chooser
object pick:
    state one: bool
    pick: one := one
shared a: bool
pick:
    local k: 0..1
    loop:
        k := choose 0..1
        if k = 1: exit
    a := true
";
    let found = exercised(&program(text), 2, None, 25_000);
    assert_eq!((never(text, &found), lost(&found)), (vec![], vec![]));
    assert_eq!(found.ending, Ending::Possible);
    assert!(matches!(found.alone, Ending::Impossible(_)), "{:?}", found.alone);
    let found = exercised(&program(&text.replace("k = 1", "k < 2")), 2, None, 25_000);
    assert_eq!((found.ending, found.alone), (Ending::Possible, Ending::Possible));
}

/// More nodes than permitted: later states are unknown.
#[test]
fn no_hang_is_reported_beyond_a_limit() {
    for algorithm in corpus::object_algorithms() {
        let program = program(algorithm.text);
        let found = exercised(&program, 2, None, 3_000);
        let name = algorithm.name;
        assert!(!matches!(found.ending, Ending::Impossible(_)), "{name}: {:?}", found.ending);
        assert_eq!(lost(&found), [""; 0], "{name}");
    }
    let leaky = "algorithm leaky\nobject ticket:\n    state taken: bool\n    take: taken := true\n\
                 node Node up to 3:\n    next: Node or none\nshared top: Node or none\ntake:\n    \
                 t := top\n    one := new Node(t)\n    top := one\n";
    let found = exercised(&program(leaky), 2, None, 25_000);
    assert_eq!((found.ending, found.waiting), (Ending::Open, None));
}
