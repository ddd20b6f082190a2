//! Programs with nodes, against oracles that are independent of refinement's treatment of nodes.
//!
//! *Plain interpretation*: the enumeration visits all states of the interpreter, which never
//! renumbers nodes, and judges every history by exact search. It has no canonical form, no
//! reduction and no set of configurations.
//!
//! *Arrays*: a text with nodes that are never freed is equivalent to one with an array per field,
//! in which each process allocates its own numbers, each once. It has the same histories, and needs
//! neither allocation nor collection.
//!
//! Both are applied to random mutants of the algorithms of the corpus. `SNAPSHOT_SEEDS=FROM..TO`
//! chooses the seeds.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_verify::enumerate::{EnumerationError, enumerate_object};
use snapshot_verify::interpret::{Client, FaultKind, MoveKind, Values};
use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::refine::{RefinementVerdict, Techniques, Unfinished};
use test_support::effort::{Effort, is_left_out, seeds};

use super::{Case, STACK_OF_TWO, algorithm};

/// Maximum number of states of an enumeration; larger mutants are skipped.
const LIMIT: usize = 60_000;

fn below(random: &mut ChaCha8Rng, limit: usize) -> usize {
    random.next_u32() as usize % limit
}

/// Returns the text without its bugs and expectations, with some lines of its procedures changed.
/// `pointers` may be replaced by one another, and freed if `frees`.
fn mutant(text: &str, pointers: &[&str], frees: bool, random: &mut ChaCha8Rng) -> String {
    let end = text.find("\nbug ").unwrap_or(text.len());
    let mut lines: Vec<String> = text[..end].lines().map(str::to_owned).collect();
    let is_body = |line: &String| {
        line.starts_with("    ") && !line.ends_with(':') && !line.starts_with("    local")
    };
    let begin = lines.iter().position(|line| line.contains("(v):")).expect("a procedure");
    let begin = begin.max(lines.iter().rposition(|line| line.starts_with("shared")).unwrap());
    for _ in 0..1 + below(random, 3) {
        let body: Vec<usize> = (begin..lines.len()).filter(|at| is_body(&lines[*at])).collect();
        let at = body[below(random, body.len())];
        let indentation: String = lines[at].chars().take_while(|one| *one == ' ').collect();
        let [one, other] = [0, 1].map(|_| pointers[below(random, pointers.len())]);
        match below(random, 8) {
            0 => drop(lines.remove(at)),
            1 if at + 1 < lines.len() => lines.swap(at, at + 1),
            2 if frees => lines.insert(at, format!("{indentation}free {one}")),
            3 if frees => lines.insert(at + 1, format!("{indentation}free {one}")),
            4 => lines.insert(at, format!("{indentation}{one} := {other}")),
            5 => lines[at] = lines[at].replacen("fresh", "t.tag", 1),
            _ => lines[at] = lines[at].replacen(one, other, 1),
        }
    }
    lines.join("\n") + "\n"
}

fn program(text: &str) -> Option<Program> {
    parse("mutant", text).ok()?.program(None).ok()
}

/// A stack that initially holds a node, so that two operations each suffice to reuse it.
fn filled(text: &str) -> String {
    let top = "initially dummy := new Node(none, initial)\nshared top: ";
    let empty = "if items = []:\n            if not bottom: return none\n            \
                 bottom := false\n            return initial";
    text.replacen("state items: ", "state bottom: bool := true\n    state items: ", 1)
        .replacen("if items = []: return none", empty, 1)
        .replacen("shared top: cas Node or none", &format!("{top}cas Node or none := dummy"), 1)
        .replacen("tag: version)\n\npush", "tag: version) := (dummy, initial)\n\npush", 1)
        .replacen("shared top: cas record", &format!("{top}cas record"), 1)
}

/// Nodes are freed immediately, and are indistinguishable.
fn freeing(text: &str) -> String {
    let end = text.find("\nbug ").unwrap_or(text.len());
    text[..end].replacen("if done: return v", "if done: free t; return v", 1).replacen(
        "(below, fresh)",
        "(below, t.tag)",
        1,
    )
}

/// Counts which ensure that the test is not vacuous.
#[derive(Debug, Default)]
struct Counts {
    right: usize,
    wrong: usize,
    faulty: usize,
    /// Shortest wrong executions that reuse nodes.
    used_again: usize,
    /// Cases in which partial order reduction, and dead locals, make fewer states.
    partial_order: usize,
    forgetting: usize,
}

/// Compares refinement, with and without each of its reductions, with plain interpretation.
fn compare(text: &str, program: &Program, client: &Client, limit: usize, counts: &mut Counts) {
    let case = Case::new(program, 2);
    let plain = match enumerate_object(&case.machine, &case.sequential, client, limit) {
        Ok(plain) => plain,
        Err(EnumerationError::TooMany { .. }) => return,
        Err(error) => panic!("{error}\n{text}"),
    };
    let is_limit = |kind: &FaultKind| matches!(kind, FaultKind::NodesExhausted { .. });
    if plain.faulty.as_ref().is_some_and(|(_, fault)| is_limit(&fault.kind)) {
        return;
    }
    let violation = plain.first.as_ref().map(Vec::len);
    let fault = plain.faulty.as_ref().map(|(moves, _)| moves.len());
    let shortest = violation.into_iter().chain(fault).min();
    let mut states = Vec::new();
    for (partial_order, forgetting) in [(false, false), (false, true), (true, false), (true, true)]
    {
        let means = format!("partial order {partial_order}, forgetting {forgetting}");
        let found = case.refine(client, partial_order, forgetting);
        let is_faulty = matches!(found.verdict, RefinementVerdict::Faulty { .. });
        states.push(found.states);
        match found.verdict {
            RefinementVerdict::Verified => assert_eq!(shortest, None, "{means}\n{text}"),
            RefinementVerdict::Violation(moves) | RefinementVerdict::Faulty { moves, .. } => {
                let shortest = shortest.unwrap_or_else(|| panic!("{means}\n{text}"));
                assert!(moves.len() >= shortest, "{means}\n{text}");
                assert!(partial_order || moves.len() == shortest, "{means}\n{text}");
                // The interpreter makes the moves: they lead to the claimed result.
                let (last, before) = moves.split_last().unwrap();
                let mut state = case.machine.run(before).unwrap().last;
                let made = case.machine.make(&mut state, *last);
                assert_eq!(made.is_err(), is_faulty, "{means}\n{text}");
                let takes =
                    |one: &snapshot_verify::interpret::Move| matches!(one.kind, MoveKind::Take(_));
                counts.used_again += usize::from(moves.iter().any(takes));
            }
            RefinementVerdict::Unknown(Unfinished::Nodes) => panic!("{means}\n{text}"),
            other => panic!("{other:?}\n{text}"),
        }
    }
    match case.refine_by(client, Techniques::ALL).verdict {
        RefinementVerdict::Verified => assert_eq!(shortest, None, "all reductions\n{text}"),
        RefinementVerdict::Violation(_) | RefinementVerdict::Faulty { .. } => {
            assert_ne!(shortest, None, "all reductions\n{text}");
        }
        other => panic!("{other:?}\n{text}"),
    }
    counts.right += usize::from(shortest.is_none());
    counts.wrong += usize::from(violation.is_some());
    counts.faulty += usize::from(fault.is_some());
    let is_whole = shortest.is_none();
    counts.partial_order += usize::from(is_whole && states[2] < states[0]);
    counts.forgetting += usize::from(is_whole && states[1] < states[0]);
}

#[test]
fn refinement_agrees_with_plain_interpretation() {
    let pointers: [(&str, &[&str]); 4] = [
        ("linked_stack", &["t", "below", "pushed"]),
        ("tagged_stack", &["t.to", "below", "pushed"]),
        ("linked_queue", &["t", "h", "after", "added"]),
        ("tagged_queue", &["t.to", "h.to", "after.to", "added"]),
    ];
    let mut counts = Counts::default();
    for seed in seeds(24, 200) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (name, pointers) = pointers[below(&mut random, pointers.len())];
        let text = corpus::algorithm(name).unwrap().text;
        let text = if name.ends_with("stack") { filled(text) } else { text.to_owned() };
        let mut text = mutant(&text, pointers, true, &mut random);
        match below(&mut random, 3) {
            0 => text = text.replacen("+ 2 * n:", "+ 2 * n type stable:", 1),
            1 => text = text.replacen(" type stable:", ":", 1),
            _ => {}
        }
        let Some(program) = program(&text) else { continue };
        let (values, operations) = if below(&mut random, 2) == 0 { (1, 2) } else { (2, 1) };
        let client = Client::bounded(Values::Full(values), operations);
        compare(&text, &program, &client, LIMIT, &mut counts);
    }
    println!("{counts:?}");
    let Counts { right, wrong, faulty, partial_order, forgetting, .. } = counts;
    let least = [right, wrong, faulty, partial_order, forgetting];
    assert!(least.iter().all(|count| *count > 0), "{counts:?}");
}

/// The ABA problem: the allocated node is one that another process still points to.
#[test]
fn reused_nodes_are_found() {
    let mut counts = Counts::default();
    for name in ["linked_stack", "tagged_stack"] {
        let text = freeing(&filled(corpus::algorithm(name).unwrap().text));
        let text = text.replacen("+ 2 * n:", "+ 2 * n type stable:", 1);
        let client = Client::bounded(Values::Full(2), 2);
        compare(&text, &program(&text).unwrap(), &client, 4_000_000, &mut counts);
    }
    assert!(counts.wrong == 2 && counts.used_again == 8, "{counts:?}");
}

/// An algorithm with `POINTER` for the type of a pointer to a node, `@x.f` for a field,
/// `NEW x(...)` for the allocation of a node, `INITIAL` for the first one, `OBJECT` for the stack.
const STACK: &str = "algorithm stack
OBJECTNODES
shared top: cas POINTER or none := none
push(v):
    local pushed: POINTER or none
    local t: POINTER or none
    NEW pushed
    loop:
        t := top
        @pushed.next := t
        if CAS(top, t, pushed): return
pop:
    local t: POINTER or none
    local pushed: POINTER or none
    loop:
        t := top
        if t = none: return none
        pushed := @t.next
        v := @t.held
        if CAS(top, t, pushed): return v
";

const QUEUE: &str = "algorithm queue
object queue:
    state items: list of value
    enqueue(v: value) when len(items) < 2:
        items := append(items, v)
    dequeue: value or none:
        local v: value
        if items = []: return none
        v := first(items)
        items := rest(items)
        return v
NODES
shared head: cas POINTER or none := INITIAL
shared tail: cas POINTER or none := INITIAL
enqueue(v):
    local added: POINTER or none
    local t: POINTER or none
    local after: POINTER or none
    NEW added
    loop:
        t := tail
        after := @t.next
        if t = tail:
            if after = none:
                if CAS(@t.next, none, added): exit
            else:
                CAS(tail, t, after)
    CAS(tail, t, added)
dequeue:
    local t: POINTER or none
    local h: POINTER or none
    local after: POINTER or none
    loop:
        h := head
        t := tail
        after := @h.next
        if h = head:
            if h = t:
                if after = none: return none
                CAS(tail, t, after)
            else:
                v := @after.held
                if CAS(head, h, after): return v
";

/// Implements it with the nodes of the language.
fn with_nodes(text: &str) -> String {
    let nodes = "node Node up to 24:\n    next: cas Node or none\n    held: value\n\
                 initially dummy := new Node(none, initial)";
    let text = text
        .replace("OBJECT", STACK_OF_TWO)
        .replace("NODES", nodes)
        .replace("POINTER", "Node")
        .replace("INITIAL", "dummy");
    let mut lines = Vec::new();
    for line in text.lines() {
        lines.push(match line.split_once("NEW ") {
            Some((space, name)) => format!("{space}{name} := new Node(none, v)"),
            None => line.replace('@', ""),
        });
    }
    lines.join("\n") + "\n"
}

/// Implements it with an array per field. Node 0 is the first one, and each process has eleven
/// others.
fn with_arrays(text: &str) -> String {
    let nodes = "shared next[0..22]: cas 0..22 or none := none\nshared held[0..22]: value\n\
                 private used: 0..11";
    let text = text
        .replace("OBJECT", STACK_OF_TWO)
        .replace("NODES", nodes)
        .replace("POINTER", "0..22")
        .replace("INITIAL", "0");
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some((space, name)) = line.split_once("NEW ") {
            lines.push(format!("{space}used := used + 1"));
            lines.push(format!("{space}{name} := 11 * me + used"));
            lines.push(format!("{space}held[{name}] := v"));
            lines.push(format!("{space}next[{name}] := none"));
            continue;
        }
        let mut written = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('@') {
            let (pointer, field) = after.split_once('.').unwrap();
            let end = field.find(|one: char| !one.is_alphanumeric()).unwrap_or(field.len());
            written += &format!("{before}{}[{pointer}]", &field[..end]);
            rest = &field[end..];
        }
        lines.push(written + rest);
    }
    lines.join("\n") + "\n"
}

/// In the slow suite.
#[test]
fn histories_equal_those_of_arrays() {
    if is_left_out(Effort::Slow) {
        return;
    }
    let (mut compared, mut wrong, mut faulty, mut histories) = (0, 0, 0, 0);
    for seed in seeds(100, 200) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (text, pointers): (_, &[&str]) = match below(&mut random, 2) {
            0 => (STACK, &["t", "pushed"]),
            _ => (QUEUE, &["t", "h", "after", "added"]),
        };
        let text = match seed {
            0 => text.to_owned(),
            _ => mutant(text, pointers, false, &mut random),
        };
        let texts = [with_nodes(&text), with_arrays(&text)];
        let [Some(nodes), Some(arrays)] = texts.each_ref().map(|text| program(text)) else {
            assert_eq!(program(&texts[0]).is_some(), program(&texts[1]).is_some(), "{}", texts[0]);
            continue;
        };
        let (values, operations) = if below(&mut random, 2) == 0 { (1, 2) } else { (2, 1) };
        let client = Client::bounded(Values::Full(values), operations);
        let enumerated = |program| {
            let case = Case::new(program, 2);
            enumerate_object(&case.machine, &case.sequential, &client, LIMIT).ok()
        };
        let Some(nodes) = enumerated(&nodes) else { continue };
        let Some(arrays) = enumerated(&arrays) else { continue };
        assert_eq!(nodes.histories, arrays.histories, "{}", texts[0]);
        assert_eq!(nodes.violations, arrays.violations, "{}", texts[0]);
        assert_eq!(nodes.faulty.is_some(), arrays.faulty.is_some(), "{}", texts[0]);
        compared += 1;
        wrong += usize::from(nodes.violations > 0);
        faulty += usize::from(nodes.faulty.is_some());
        histories += nodes.histories;
    }
    println!("{compared} compared, {wrong} wrong, {faulty} faulty, {histories} histories");
    assert!(compared > 20 && wrong > 5 && faulty > 0 && compared > wrong);
}

/// Any of the freed nodes that are still pointed to, or another one.
#[test]
fn allocation_may_take_any_freed_node() {
    let text = "algorithm chosen
object o:
    state x: 0..3
    make: skip
node Node up to 9:
    other: Node or none
shared a: Node or none
shared b: Node or none
shared c: Node or none
make:
    p := new Node(none)
    a := p
    q := new Node(p)
    b := q
    r := new Node(q)
    free p
    free q
    free r
    s := new Node(none)
    c := s
";
    let algorithm = algorithm(text);
    let program = algorithm.program(None).unwrap();
    let case = Case::new(&program, 1);
    let mut state = case.machine.initial().clone();
    let process = snapshot_core::Process::from_index(0);
    let call = case.sequential.calls(0, 1)[0];
    let call = snapshot_verify::interpret::Call::Operation(call);
    case.machine.begin(&mut state, process, call).unwrap();
    let mut outcomes = Vec::new();
    for _ in 0..8 {
        outcomes.push(case.machine.outcomes(&state, process));
        case.machine.advance(&mut state, process).unwrap();
    }
    assert_eq!(outcomes, [1; 8]);
    // Nothing points to the third node any more: it represents all others.
    assert_eq!(case.machine.outcomes(&state, process), 3);
    let mut taken = Vec::new();
    for outcome in 0..3 {
        let mut after = state.clone();
        case.machine.step_taking(&mut after, process, outcome).unwrap();
        case.machine.advance(&mut after, process).unwrap();
        let cells = case.machine.shared_cells(&after);
        let held =
            |name: &str| cells.iter().find(|cell| cell.name == name).map(|cell| cell.held.clone());
        taken.push((held("c").unwrap(), held("a").unwrap(), held("b").unwrap()));
    }
    let of = |c: &str| (c.to_owned(), "Node 0".to_owned(), "Node 1".to_owned());
    assert_eq!(taken, [of("Node 2"), of("Node 0"), of("Node 1")]);
}
