//! The snapshot as a declared object has the same states and verdicts as the built-in snapshot.

use std::num::NonZeroUsize;

use snapshot_verify::enumerate::enumerate;
use snapshot_verify::interpret::Machine;
use snapshot_verify::refine::{Budget, RefinementVerdict, Techniques, refine};

use super::{Case, algorithm, bounded};
use crate::commands::answer_in;

const SNAPSHOT: &str = "
object snapshot:
    state content[segment]: value
    update(v: value): content[me] := v
    scan: view: return content
";

/// Returns the text with the snapshot declared, and without linearization points.
fn declared(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("expect "));
    let lines: Vec<String> = lines.map(|line| line.replace(" linearizes", "")).collect();
    format!("{}\n{SNAPSHOT}", lines.join("\n"))
}

#[test]
fn declared_snapshot_has_the_states_of_the_builtin() {
    let (mut right, mut wrong) = (0, 0);
    for (name, n, operations) in [
        ("naive_collect", 2, 2),
        ("naive_collect", 3, 1),
        ("bowman", 2, 2),
        ("bowman", 3, 1),
        ("double_collect", 2, 1),
        ("afek_unbounded", 2, 1),
    ] {
        let text = corpus::algorithm(name).unwrap().text;
        let (built_in, declared) = (algorithm(text), algorithm(&declared(text)));
        let bugs = built_in.bugs().iter().map(|bug| Some(bug.name.text.as_str()));
        for bug in std::iter::once(None).chain(bugs) {
            let programs = [&built_in, &declared].map(|one| one.program(bug).unwrap());
            let client = bounded(operations);
            let case = Case::new(&programs[1], n);
            let machine = Machine::new(&programs[0], n).unwrap();
            let switches = [(true, true), (true, false), (false, true), (false, false)];
            let means = switches.map(|(partial_order, forgetting)| Techniques {
                partial_order,
                forgetting,
                ..Techniques::NONE
            });
            for means in means.into_iter().chain([Techniques::ALL]) {
                let (states, memory, threads) = (usize::MAX, usize::MAX, NonZeroUsize::MIN);
                let mut budget = Budget { states, memory, threads, proceed: &mut |_| true };
                let expected = refine(&machine, &client, means, &mut budget).unwrap();
                let found = case.refine_by(&client, means);
                let is_same = |of: fn(&RefinementVerdict) -> bool| {
                    of(&expected.verdict) == of(&found.verdict)
                };
                assert!(
                    is_same(|one| matches!(one, RefinementVerdict::Verified)),
                    "{name} {bug:?}, n = {n}"
                );
                assert_eq!(found.states, expected.states, "{name} {bug:?}, n = {n}");
                assert_eq!(found.transitions, expected.transitions, "{name} {bug:?}, n = {n}");
                match found.verdict {
                    RefinementVerdict::Verified => right += 1,
                    _ => wrong += 1,
                }
            }
            if name == "naive_collect" && n == 2 {
                let expected = enumerate(&machine, &client, 1 << 22).unwrap();
                let found = case.enumerate(&client);
                assert_eq!(found.states, expected.states);
                assert_eq!(found.histories, expected.histories);
                assert_eq!(found.violations, expected.violations);
            }
        }
    }
    assert!(right > 4 && wrong >= 2, "{right} right, {wrong} wrong");
}

const MANY_WRITERS: &str = "
object multi_writer_snapshot:
    state memory[segment]: value
    update(s: segment, v: value): memory[s] := v
    scan: view: return memory
";

/// A text whose `update` names its segment implements the snapshot with many writers.
#[test]
fn a_snapshot_with_many_writers_needs_no_declaration() {
    let text = corpus::algorithm("multi_writer_double_collect").unwrap().text;
    let texts = [
        text.to_owned(),
        text.replace("update(s, v)", "update(s: segment, v: value)"),
        format!("{text}{MANY_WRITERS}"),
    ];
    let mut wrong = 0;
    for bug in [None, Some("one_collect"), Some("two_collects")] {
        let found = texts.clone().map(|text| {
            let program = algorithm(&text).program(bug).unwrap();
            assert_eq!(program.object().unwrap().name, "multi_writer_snapshot");
            let found = Case::new(&program, 2).refine(&bounded(2), true, true);
            wrong += usize::from(found.verdict != RefinementVerdict::Verified);
            (found.states, found.transitions, found.verdict)
        });
        assert!(found.iter().all(|one| *one == found[2]), "{bug:?}: {found:?}");
    }
    assert_eq!(wrong, 6);
    let folder = tempfile::tempdir().unwrap();
    let command = "check multi_writer_double_collect -n 2 --operations 1";
    let (code, out, _) = answer_in(folder.path(), command);
    assert!(code == 0 && out.contains("by refinement of `multi_writer_snapshot`"), "{out}");
    assert!(out.contains("try --values 3"), "{out}");
    for (from, to, told) in [
        ("update(s, v)", "update(s: value, v)", "`update(s, v):`, which writes segment s"),
        ("update(s, v)", "update(s, t, v)", "`update(s, v):`, which writes segment s"),
        ("scan:", "scan(s: segment):", "`scan` has other parameters"),
    ] {
        let altered = text.replacen(from, to, 1);
        let parsed = snapshot_verify::language::parse("test", &altered);
        let refused = parsed.and_then(|one| one.program(None)).unwrap_err().to_string();
        assert!(refused.contains(told), "{to}: {refused}");
    }
}
