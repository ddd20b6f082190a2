//! Process names used as numbers, for which exploration was once wrong. Each text has a twin that
//! is one edit away from it.

use snapshot_verify::language::parse;
use snapshot_verify::program::Program;
use snapshot_verify::verify::{Operations, Reductions, Request, Unwatched, Verdict, verify};

use crate::agreement::standard;

fn program(text: &str) -> Program {
    parse("trust", text).unwrap().program(None).unwrap()
}

fn request(processes: usize, operations: Operations) -> Request {
    Request { memory: 64 << 20, ..standard(processes, operations) }
}

/// Returns, per pair, whether it is wrong.
fn wrong(text: &str, request: &Request) -> Vec<bool> {
    let outcomes = verify(&program(text), true, request, &Unwatched::default()).unwrap();
    let is_wrong = |verdict: &Verdict| match verdict {
        Verdict::Verified => false,
        Verdict::Violation(_) => true,
        other => panic!("{other:?} of {text}"),
    };
    outcomes.iter().map(|outcome| is_wrong(&outcome.verdict)).collect()
}

/// An update and a scan in one step each; the scan sees the last updater.
fn last_updater(declarations: &str, statements: &str) -> String {
    format!(
        "algorithm last_updater
shared last: process
shared whole: view
update(v):
    local w: view
    atomic:
        last := me
        w := whole
        w[me] := v
        whole := w
scan:
    local w: view
    local zero: view
    local p: process
{declarations}    atomic:
        p := last
        w := whole
{statements}    return w
"
    )
}

#[test]
fn numeric_process_names_are_not_renamed() {
    // A program that distinguishes processes 1, 2 and 3 by number, and a twin that does not.
    let cases = [
        ("    local k: 0..n-1\n", "    k := p\n    if k = 3: return zero\n"),
        ("", "    if p > 2: return zero\n"),
        ("", "    if p >= 3: return zero\n"),
        ("", "    if (p + 1) mod 4 = 0: return zero\n"),
        ("", "    if p - 3 = 0: return zero\n"),
        ("    local k: 0..n-1\n", "    k := p\n    if k + k = 6: return zero\n"),
        ("    local b[0..n-1]: bool\n", "    b[3] := true\n    if b[p]: return zero\n"),
        ("", "    if p = process(3): return zero\n"),
    ];
    for (declarations, statements) in cases {
        let text = last_updater(declarations, statements);
        let found = wrong(&text, &request(4, Operations::Unbounded));
        // An update of 1 by process 3 is invisible: pairs with process 3. For other pairs, an
        // update by process 3 hides those of the pair.
        assert_eq!(found, [true; 6], "{text}");
        let mut unreduced = request(4, Operations::AtMost(1));
        unreduced.reductions = Reductions::NONE;
        assert_eq!(wrong(&text, &unreduced), found, "{text}");
        let twin = text.replace("return zero\n", "skip\n");
        assert_eq!(wrong(&twin, &request(4, Operations::Unbounded)), [false; 6], "{twin}");
    }
}

/// Pair (0, 2) is not pair (0, 1) with processes renamed.
#[test]
fn pairs_with_other_numbers_are_not_isomorphic() {
    let text = last_updater("", "    if p > 1: w[p] := initial\n");
    assert_eq!(wrong(&text, &request(3, Operations::Unbounded)), [false, true, true]);
    let twin = last_updater("", "    if p > 3: w[p] := initial\n");
    assert_eq!(wrong(&twin, &request(3, Operations::Unbounded)), [false; 3]);
}
