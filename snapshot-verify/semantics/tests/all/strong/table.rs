//! Known answers.

use super::*;

/// Answers of n processes with at most this many operations each: `yes`, `no`, or another word; and
/// the numbers of positions, of edges, and of lost positions.
fn word(program: &Program, n: usize, operations: Option<u32>) -> (&'static str, [usize; 3]) {
    let (found, confirmed) = answered(program, n, &bounded(operations), Strength::All);
    let word = match &found.verdict {
        StrongVerdict::Strong => "yes",
        StrongVerdict::NotStrong(case) => {
            let confirmed = confirmed.unwrap();
            assert!(confirmed.orders >= case.leaves() && case.leaves() > 0, "{confirmed:?}");
            "no"
        }
        StrongVerdict::Unknown => "unknown",
        StrongVerdict::Faulty { fault, .. } => {
            println!("{fault}");
            "faulty"
        }
    };
    (word, [found.positions, found.edges, found.lost])
}

/// The counts are those of a game that stores all edges and counts each answer of each choice.
#[test]
fn answers_of_small_scopes_are_as_known() {
    let mut words = Vec::new();
    for (name, n, operations, expected, counts) in [
        ("bowman", 2, Some(1), "yes", [242, 414, 28]),
        ("bowman", 2, Some(2), "no", [4273, 8201, 1654]),
        ("bowman", 3, Some(1), "no", [9379, 21_570, 2908]),
        ("double_collect", 3, Some(1), "no", [8095, 20_111, 2983]),
        ("afek_unbounded", 2, Some(2), "yes", [7958, 13_000, 2267]),
        ("afek_unbounded", 2, Some(1), "yes", [301, 461, 22]),
        ("afek_bounded", 2, Some(1), "yes", [830, 1191, 60]),
        ("double_collect", 2, Some(2), "yes", [2520, 4965, 617]),
        ("treiber_stack", 2, Some(2), "yes", [53_583, 98_504, 6876]),
        ("ms_queue", 2, Some(2), "yes", [88_745, 169_528, 9984]),
        ("tas_lock", 2, None, "yes", [49, 98, 0]),
        ("cas_counter", 2, Some(2), "yes", [1043, 2090, 228]),
        ("faa_counter", 2, Some(2), "yes", [1589, 3598, 386]),
    ] {
        let found = word(&program(text(name)), n, operations);
        words.push((name, n, operations, found, (expected, counts)));
    }
    for (name, n, operations, found, expected) in words {
        assert_eq!(found, expected, "{name} {n} {operations:?}");
    }
}

/// Rows that take longer: `SNAPSHOT_EFFORT=slow cargo test --release -p snapshot-semantics larger`.
#[test]
fn answers_of_larger_scopes_are_as_known() {
    if test_support::effort::is_left_out(test_support::effort::Effort::Slow) {
        return;
    }
    for (name, n, operations, expected) in [
        ("afek_unbounded", 2, Some(3), "no"),
        ("afek_unbounded", 3, Some(1), "no"),
        ("afek_bounded", 2, Some(2), "yes"),
        ("afek_bounded", 3, Some(1), "no"),
        ("attiya_welch", 2, Some(2), "yes"),
        ("attiya_welch", 3, Some(1), "no"),
        ("jayanti", 2, Some(1), "yes"),
        ("jayanti", 2, Some(2), "no"),
        ("riany", 2, Some(1), "yes"),
    ] {
        let (word, counts) = word(&program(text(name)), n, operations);
        println!("{name} n = {n} {operations:?}: {word}, {counts:?}");
        assert_eq!(word, expected, "{name} {n} {operations:?}");
    }
}

#[test]
fn strategies_are_played_and_altered_ones_are_refused() {
    use snapshot_semantics::certificate::Budget;
    use snapshot_semantics::strategy::{Answers, Claim, Refusal, check, read};
    use snapshot_semantics::strong::certified;

    for (name, operations, values) in [
        ("bowman", Some(1), None),
        ("afek_bounded", Some(1), None),
        ("double_collect", Some(1), Some(2)),
    ] {
        let program = program(text(name));
        let claim = Claim {
            algorithm: name.to_owned(),
            bug: None,
            digest: "0".to_owned(),
            processes: 2,
            operations,
            each: Vec::new(),
            values,
        };
        let mut proceed = || true;
        let mut limits = snapshot_semantics::progress::Limits {
            states: 1_000_000,
            memory: 1 << 30,
            proceed: &mut proceed,
        };
        let text = certified(&program, &claim, &mut limits).unwrap();
        let (found, answers) = read(&text).unwrap();
        assert_eq!(found, claim);
        let played = |answers: Answers| {
            let mut proceed = || true;
            let mut budget = Budget { memory: 1 << 30, proceed: &mut proceed };
            check(&program, "0", (&claim, answers), &mut budget)
        };
        let all = played(answers.clone()).unwrap();
        println!("{name}: {all:?}");
        assert!(all.answers == answers.all.len() && all.answers > 10, "{all:?}");
        // One answer less, one more, and each answer replaced by its last operation alone.
        let mut fewer = answers.all.clone();
        fewer.pop();
        assert!(played(Answers::new(fewer)).is_err());
        let mut more = answers.all.clone();
        more.push(vec![vec![0]]);
        assert!(played(Answers::new(more)).is_err());
        let (mut altered, mut refused) = (0, 0);
        for at in (0..answers.all.len()).filter(|at| answers.all[*at].len() > 1) {
            let mut all = answers.all.clone();
            let last = all[at].pop().unwrap();
            all[at] = vec![last];
            altered += 1;
            refused += usize::from(played(Answers::new(all)).is_err());
        }
        println!("{altered} altered, {refused} refused");
        assert!(altered == 0 || refused > 0, "{name}");
        let mut proceed = || true;
        let mut budget = Budget { memory: 1 << 30, proceed: &mut proceed };
        let other = check(&program, "1", (&claim, answers), &mut budget);
        assert_eq!(other, Err(Refusal::OtherText));
    }
}
