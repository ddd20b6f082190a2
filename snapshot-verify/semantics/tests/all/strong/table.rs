//! Known answers.

use super::*;

/// Answers of n processes with at most this many operations each: `yes`, `no`, or another word.
fn word(program: &Program, n: usize, operations: Option<u32>) -> (&'static str, usize) {
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
    (word, found.positions)
}

#[test]
fn answers_of_small_scopes_are_as_known() {
    let mut words = Vec::new();
    for (name, n, operations, expected) in [
        ("bowman", 2, Some(1), "yes"),
        ("bowman", 2, Some(2), "no"),
        ("bowman", 3, Some(1), "no"),
        ("double_collect", 3, Some(1), "no"),
        ("afek_unbounded", 2, Some(2), "yes"),
        ("afek_unbounded", 2, Some(1), "yes"),
        ("afek_bounded", 2, Some(1), "yes"),
        ("double_collect", 2, Some(2), "yes"),
        ("treiber_stack", 2, Some(2), "yes"),
        ("ms_queue", 2, Some(2), "yes"),
        ("tas_lock", 2, None, "yes"),
        ("cas_counter", 2, Some(2), "yes"),
        ("faa_counter", 2, Some(2), "yes"),
    ] {
        let (word, positions) = word(&program(text(name)), n, operations);
        println!("{name} n = {n} {operations:?}: {word}, {positions} positions");
        words.push((name, n, operations, word, expected));
    }
    for (name, n, operations, word, expected) in words {
        assert_eq!(word, expected, "{name} {n} {operations:?}");
    }
}

/// Rows that take longer: `SNAPSHOT_EFFORT=slow cargo test --release -p snapshot-semantics larger`.
#[test]
fn answers_of_larger_scopes_are_as_known() {
    if trial::effort::is_left_out(trial::effort::Effort::Slow) {
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
        let (word, positions) = word(&program(text(name)), n, operations);
        println!("{name} n = {n} {operations:?}: {word}, {positions} positions");
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
