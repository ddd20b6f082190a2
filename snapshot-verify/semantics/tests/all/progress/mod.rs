//! Progress: known answers, planted faults, and infinite executions that the interpreter confirms.

use snapshot_core::Process;
use snapshot_language::parse;
use snapshot_language::program::Program;
use snapshot_semantics::interpret::{Client, Machine, Sequential, Values};
use snapshot_semantics::progress::{Limits, Progress, Standing, progress, progress_object};

fn text(name: &str) -> &'static str {
    let mut all = corpus::algorithms().iter().chain(corpus::object_algorithms());
    all.find(|algorithm| algorithm.name == name).unwrap().text
}

fn program(text: &str) -> Program {
    parse("test", text).and_then(|parsed| parsed.program(None)).unwrap()
}

/// Returns the progress; all infinite executions are confirmed.
fn judged(program: &Program, n: usize, operations: Option<u32>, values: u32) -> Progress {
    let machine = Machine::new(program, n).unwrap();
    let client = Client { operations, ..Client::unbounded(Values::Full(values)) };
    let proceed = &mut || true;
    let mut limits = Limits { states: 2_000_000, memory: 4 << 30, proceed };
    let found = match program.object() {
        None => progress(&machine, &client, &mut limits),
        Some(object) => {
            let object = Sequential::new(object, n).unwrap();
            progress_object(&machine, &object, &client, &mut limits)
        }
    };
    let found = found.unwrap();
    let lassos = found.standings().filter_map(Standing::lasso);
    let waits = found.operations.iter().filter_map(|one| one.waits.as_ref());
    for lasso in lassos.chain(waits) {
        assert!(lasso.is_confirmed(&machine).unwrap(), "{lasso:?}");
    }
    found
}

/// Returns the answers in a line: for each operation wait-, starvation- and obstruction-freedom
/// (`+`: holds, `-`: fails, `~`: holds with fair choices), the most accesses, and whether the object
/// lets it wait; then lock-freedom and freedom from deadlock.
fn line(found: &Progress) -> String {
    let sign = |standing: &Standing| match standing {
        Standing::Holds => '+',
        Standing::Fails(_) => '-',
        Standing::WithFairChoices(_) => '~',
        Standing::Open => '?',
    };
    let mut text = String::new();
    for one in &found.operations {
        let accesses = one.accesses.map_or_else(String::new, |accesses| format!(" {accesses}"));
        let waits = if one.waits.is_some() { " waits" } else { "" };
        text += &format!(
            "{} {}{}{}{accesses}{waits}, ",
            found.name_of(one.operation),
            sign(&one.wait_free),
            sign(&one.starvation_free),
            sign(&one.obstruction_free),
        );
    }
    format!("{text}all {}{}", sign(&found.lock_free), sign(&found.deadlock_free))
}

#[test]
fn answers_of_the_corpus_are_as_known() {
    for (name, n, operations, values, expected) in [
        ("bowman", 2, None, 1, "update +++ 2, scan --+, all --"),
        ("bowman", 3, None, 1, "update +++ 2, scan --+, all --"),
        ("double_collect", 2, None, 2, "update +++ 1, scan --+, all ++"),
        ("afek_unbounded", 2, Some(1), 1, "update +++ 9, scan +++ 8, all ++"),
        ("tas_lock", 2, None, 1, "acquire +++ waits, release +++ 1, all ++"),
        ("ticket_lock", 2, None, 1, "acquire +++ waits, release +++ 1, all ++"),
    ] {
        let found = judged(&program(text(name)), n, operations, values);
        assert_eq!(line(&found), expected, "{name} n = {n} {operations:?}");
    }
}

/// A lock around everything, and the whole view in one cell.
#[test]
fn locks_block_and_one_cell_does_not() {
    let lock = "algorithm locked
shared busy: cas bool
shared a[segment]: value
update(v):
    repeat: t := TAS(busy)
    until not t
    a[me] := v
    busy := false
scan:
    local copy[segment]: value
    repeat: t := TAS(busy)
    until not t
    for s in segments: copy[s] := a[s]
    busy := false
    return copy
";
    let found = judged(&program(lock), 2, None, 1);
    assert_eq!(line(&found), "update ---, scan ---, all -+");
    let cell = "algorithm one_cell
type View = array [segment] of value
shared V: llsc View
update(v):
    local w: View
    repeat:
        w := LL(V)
        w[me] := v
    until SC(V, w)
scan:
    w := LL(V)
    return w
";
    let found = judged(&program(cell), 2, None, 1);
    assert_eq!(line(&found), "update --+, scan +++ 1, all ++");
}

/// Without borrowing a view, Afek's scan loses wait-freedom, and with it freedom from starvation;
/// nothing else changes. One process updates, the other scans, for ever.
#[test]
fn afek_without_borrowing_loses_wait_freedom_and_nothing_else() {
    let right = text("afek_bounded");
    let borrowing = "                if moved[k]:\n                    return b[k].view\n";
    let wrong = right.replace(borrowing, "");
    assert_ne!(right, wrong);
    let judged = |text: &str| {
        let program = program(text);
        let machine = Machine::new(&program, 2).unwrap();
        let updater = Some(Process::from_index(0));
        let client = Client { updater, ..Client::unbounded(Values::Full(1)) };
        let proceed = &mut || true;
        let mut limits = Limits { states: 2_000_000, memory: 4 << 30, proceed };
        let found = progress(&machine, &client, &mut limits).unwrap();
        println!("{}: {} states", line(&found), found.states);
        line(&found)
    };
    let (right, wrong) = (judged(right), judged(&wrong));
    assert!(right.contains("scan +++ ") && right.ends_with("all ++"), "{right}");
    assert!(wrong.contains("scan --+, ") && wrong.ends_with("all ++"), "{wrong}");
    let update = |line: &str| line.split(',').next().map(str::to_owned);
    assert_eq!(update(&right), update(&wrong));
}

/// A push that does not try again is wait-free, and does not always push.
#[test]
fn a_push_that_does_not_retry_is_wait_free() {
    let stack = |retry: &str| {
        format!(
            "algorithm stack
object box:
    state x: bool
    push(v: bit): skip
shared top: cas 0..3
push(v):
    loop:
        t := top
        done := CAS(top, t, (t + 1) mod 4)
        {retry}
"
        )
    };
    let retrying = judged(&program(&stack("if done: return")), 2, None, 1);
    assert_eq!(line(&retrying), "push --+, all ++");
    let once = judged(&program(&stack("return")), 2, None, 1);
    assert_eq!(line(&once), "push +++ 2, all ++");
}

/// A choice that may be made for ever violates wait-freedom, but with fair choices nothing.
#[test]
fn endless_choice_violates_progress_only_without_fairness() {
    let text = "algorithm lazy
object box:
    state x: bool
    put: skip
shared r: bit
put:
    loop:
        a := r
        again := choose 0..1
        if again = 0: return
";
    let found = judged(&program(text), 2, None, 1);
    assert_eq!(line(&found), "put ~~~, all ~~");
    assert!(found.lock_free.lasso().unwrap().choice.is_some());
}

/// A fault cuts executions, so that nothing is established; violations that are seen are final.
#[test]
fn faults_leave_properties_open() {
    let text = "algorithm counting
object box:
    state x: bool
    put: skip
    get: skip
shared r: 0..2
put:
    x := r
    r := x + 1
get:
    loop:
        x := r
        if x > 5: return
";
    let found = judged(&program(text), 2, None, 1);
    assert_eq!(line(&found), "put ??? 2, get ---, all --");
}
