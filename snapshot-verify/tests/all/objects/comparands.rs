//! Nodes that processes only compare are emptied, and nothing else changes: random stacks, right,
//! wrong and odd, with and without this reduction. `SNAPSHOT_SEEDS=FROM..TO` chooses their
//! seeds.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use snapshot_verify::interpret::{Client, Values};
use snapshot_verify::refine::{RefinementVerdict, Techniques};

use super::points::refine;
use super::{Case, STACK_OF_TWO, program};
use test_support::effort::seeds;

/// Statements for a loop of `push`, where `t` may not be a node.
const PUSH: [&str; 12] = [
    "t := top",
    "t := top",
    "t := top; old := t",
    "pushed.next := t",
    "pushed.next := t",
    "pushed.next := old",
    "old := t",
    "keep := pushed",
    "if CAS(top, t, pushed): return",
    "if CAS(top, t, pushed): return",
    "if CAS(top, old, pushed): return",
    "done := CAS(top, t, pushed); if done: pushed.next := old",
];

/// Statements for a loop of `pop`, where `t` is a node.
const POP: [&str; 14] = [
    "below := t.next",
    "below := t.next",
    "v := t.held",
    "v := t.held",
    "t.held := v",
    "t.next := keep",
    "old := t",
    "t := keep; if t = none: return none",
    "if below = none: v := t.held",
    "keep := t",
    "if CAS(top, t, below): return v",
    "if CAS(top, t, below): return v",
    "if CAS(top, old, below): return v",
    "done := CAS(top, t, below); if not done: below := old",
];

pub fn text(seed: u64) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut lines = |of: &[&str], least: usize| {
        let count = least + random.next_u32() as usize % 3;
        let mut lines = String::new();
        for _ in 0..count {
            let line = of[random.next_u32() as usize % of.len()];
            for part in line.split("; ") {
                lines += &format!("        {part}\n");
            }
        }
        lines
    };
    let (before, push) = (lines(&PUSH[..9], 0), lines(&PUSH, 1));
    let (first, pop) = (lines(&POP[..10], 1), lines(&POP, 1));
    format!(
        "algorithm odd
{STACK_OF_TWO}node Node up to 24:
    next: Node or none
    held: value
shared top: cas Node or none
private keep: Node or none
push(v):
    local old: Node or none
    local t: Node or none
    pushed := new Node(none, v)
    loop:
{before}        t := top
        pushed.next := t
{push}        if CAS(top, t, pushed): return
pop:
    local old: Node or none
    local t: Node or none
    local below: Node or none
    local v: value
    loop:
        t := top
        if t = none: return none
{first}        below := t.next
        v := t.held
{pop}        if CAS(top, t, below): return v
"
    )
}

#[test]
fn emptying_comparands_changes_no_answer() {
    let seeds = seeds(24, 200);
    let count = seeds.end - seeds.start;
    let client = Client::bounded(Values::Full(2), 2);
    let [mut right, mut wrong, mut faulty, mut fewer] = [0; 4];
    for seed in seeds {
        let text = text(seed);
        let program = program(&text);
        let case = Case::new(&program, 2);
        let [all, few] = [false, true].map(|forgetting| {
            let means = Techniques { forgetting, ..Techniques::NONE };
            let found = refine(&case, &client, means);
            let (kind, moves) = match found.verdict {
                RefinementVerdict::Verified => ("verified", 0),
                RefinementVerdict::Violation(moves) => ("violation", moves.len()),
                RefinementVerdict::Faulty { moves, .. } => ("faulty", moves.len()),
                RefinementVerdict::Unknown(_) => ("unknown", 0),
                other => panic!("{other:?}"),
            };
            (kind, moves, found.possibilities, found.states)
        });
        match all.0 {
            "unknown" => continue,
            "verified" => {
                right += 1;
                // The same results, with equally many possibilities.
                assert_eq!((all.0, all.2), (few.0, few.2), "{seed}: {text}");
            }
            kind => {
                *(if kind == "faulty" { &mut faulty } else { &mut wrong }) += 1;
                assert_eq!((all.0, all.1), (few.0, few.1), "{seed}: {text}");
            }
        }
        fewer += u64::from(few.3 < all.3);
    }
    println!("{right} right, {wrong} wrong, {faulty} faulty; of {fewer} fewer states");
    assert!(right.min(wrong) * 20 > count && fewer * 2 > right, "{right} {wrong} {fewer}");
}

/// Stacks above a node that is never popped, so that each node has one below it. A step that finds
/// no node there, because a relevant node was emptied, makes the program faulty.
fn with_bottom(extra_field: &str, push: &str, pop: &str) -> String {
    let extra = if extra_field.is_empty() { "" } else { ", none" };
    let field = if extra_field.is_empty() { String::new() } else { format!("    {extra_field}\n") };
    format!(
        "algorithm above
{STACK_OF_TWO}node Node up to 24:
    next: Node or none
    held: value
{field}initially low := new Node(none, initial{extra})
shared top: cas Node := low
shared bottom: Node := low
push(v):
    local t: Node
    local w: value
    b := bottom
    pushed := new Node(none, v{extra})
    loop:
{push}
pop:
    local w: value
    b := bottom
    loop:
{pop}
"
    )
}

/// The plain stack in that form.
const PLAIN_PUSH: &str = "        t := top
        pushed.next := t
        if CAS(top, t, pushed): return";
const PLAIN_POP: &str = "        t := top
        if t = b: return none
        below := t.next
        v := t.held
        if CAS(top, t, below): return v";

/// Each rule of the analysis: a right program in which the nodes reachable from a comparand must
/// not be assumed irrelevant.
#[test]
fn relevant_nodes_are_not_emptied() {
    let with = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let cas = "        if CAS(top, t, below): return v";
    let texts = [
        with_bottom("", PLAIN_PUSH, PLAIN_POP),
        // The value read is used before the CAS, and after its failure.
        with_bottom(
            "",
            PLAIN_PUSH,
            &with(PLAIN_POP, cas, &format!("        w := below.held\n{cas}")),
        ),
        with_bottom("", PLAIN_PUSH, &format!("{PLAIN_POP}\n        w := below.held")),
        with_bottom(
            "",
            PLAIN_PUSH,
            &with(
                PLAIN_POP,
                cas,
                &format!("{cas}\n        below := t.next\n        w := below.held"),
            ),
        ),
        // It is compared with a possible value, or stored where others look.
        with_bottom(
            "hint: Node or none",
            PLAIN_PUSH,
            &format!("{PLAIN_POP}\n        below.hint := t"),
        ),
        // It is stored in a node that others look at, though this operation does not look there
        // again.
        with_bottom(
            "hint: Node or none",
            &format!(
                "        h := b.hint\n        if h != none:\n            z := h.next\n            w := z.held\n\
                 {PLAIN_PUSH}"
            ),
            &format!("        s := bottom\n{PLAIN_POP}\n        s.hint := t"),
        ),
        // A field is read again after the CAS has failed.
        with_bottom(
            "",
            &format!(
                "{PLAIN_PUSH}\n        o := pushed.next\n        if o != b:\n            z := o.next\n            w := z.held"
            ),
            PLAIN_POP,
        ),
    ];
    let client = Client::bounded(Values::Full(1), 2);
    let mut fewer = 0;
    for text in &texts {
        let program = program(text);
        for n in [2, 3] {
            let client = if n == 3 { Client::bounded(Values::Full(1), 1) } else { client };
            let case = Case::new(&program, n);
            let [all, few] = [false, true].map(|forgetting| {
                let means = Techniques { forgetting, ..Techniques::NONE };
                let found = refine(&case, &client, means);
                assert_eq!(found.verdict, RefinementVerdict::Verified, "{forgetting}: {text}");
                (found.possibilities, found.states)
            });
            assert_eq!(all.0, few.0, "{text}");
            fewer += usize::from(few.1 < all.1);
        }
    }
    assert!(fewer >= 7, "{fewer} of {}", 2 * texts.len());
}

/// Fields that a point depends on are not emptied, though the step that passes it uses them for
/// nothing else: `touch` takes effect where it reads `bottom` again, because each node has one
/// below it.
#[test]
fn fields_that_points_depend_on_are_not_emptied() {
    let text = "algorithm touched
object cell:
    state items: list of value
    push(v: value) when len(items) < 1: items := prepend(v, items)
    pop: value or none:
        local v: value
        if items = []: return none
        v := first(items)
        items := rest(items)
        return v
    touch: skip
node Node up to 8:
    next: Node or none
    held: value
initially low := new Node(none, initial)
shared top: cas Node := low
shared bottom: Node := low
push(v):
    local t: Node
    pushed := new Node(none, v)
    loop:
        t := top
        pushed.next := t
        if CAS(top, t, pushed): return
pop:
    local t: Node
    b := bottom
    loop:
        t := top
        if t = b: return none
        below := t.next
        v := t.held
        if CAS(top, t, below): return v
touch:
    local t: Node
    local below: Node or none
    b := bottom
    t := top
    below := b
    if t != b: below := t.next
    c := bottom linearizes if below != none
    CAS(top, t, t)
";
    let program = program(text);
    let case = Case::new(&program, 2);
    let client = Client::unbounded(Values::Full(1));
    let states = [false, true].map(|forgetting| {
        let means = Techniques { points: true, forgetting, ..Techniques::NONE };
        let found = refine(&case, &client, means);
        assert_eq!(found.verdict, RefinementVerdict::Verified, "{forgetting}");
        found.states
    });
    assert!(states[1] < states[0], "{states:?}");
}

#[test]
fn emptying_halves_the_states_of_a_linked_stack() {
    let states = |name: &str| {
        let text = corpus::algorithm(name).unwrap().text;
        let program = program(&text.replace("up to size + 2 * n", "up to 4 * size"));
        let case = Case::new(&program, 2);
        let client = Client::unbounded(Values::Full(1));
        let states = |forgetting| {
            let means = Techniques { partial_order: true, forgetting, ..Techniques::NONE };
            let found = refine(&case, &client, means);
            assert_eq!(found.verdict, RefinementVerdict::Verified, "{name}");
            found.states
        };
        [states(true), states(false)]
    };
    let [few, all] = states("linked_stack");
    assert!(few * 2 < all, "{few} of {all}");
}
