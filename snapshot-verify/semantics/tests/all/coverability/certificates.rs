//! Certificates of linearizability for every n, written, read, checked and altered.

use snapshot_semantics::certificate::{Budget, digest};
use snapshot_semantics::coverability::{
    Claim, Found, Pairs, Refusal, System, Upward, check, read, written,
};

use super::{VALUES, found, programs};

fn checked(program: &snapshot_language::program::Program, text: &str) -> Result<(), Refusal> {
    let (claim, upward) = read(text)?;
    let mut budget = Budget { memory: 1 << 30, proceed: &mut || true };
    check(program, (&digest("text"), None), (&claim, &upward), &mut budget)
}

/// A certificate that lists the errors, and omits the states from which steps lead to them, is
/// refused for such a step: of programs with an error it is the only objection, since no error is
/// an initial state.
#[test]
fn errors_alone_are_no_certificate() {
    let (mut of_proofs, mut of_errors) = (0, 0);
    for (name, program) in programs() {
        let answer = found(&program).unwrap();
        let mut system = System::new(&program, VALUES).unwrap();
        let mut budget = Budget { memory: 1 << 30, proceed: &mut || true };
        let pairs = Pairs::new(&mut system, &mut budget).unwrap();
        let mut errors = Upward::default();
        for (global, uses, _) in pairs.mistakes() {
            errors.insert(*global, uses.iter().copied().collect());
        }
        if errors == answer.upward {
            continue;
        }
        let claim = claim(&program, &answer);
        let text = written(&claim, &Found { upward: errors, ..answer.clone() });
        let refused = checked(&program, &text);
        assert!(matches!(refused, Err(Refusal::Open { .. })), "{name}: {refused:?}");
        match answer.wrong {
            Some(_) => of_errors += 1,
            None => of_proofs += 1,
        }
    }
    assert!(of_proofs >= 1 && of_errors >= 7, "{of_proofs}, {of_errors}");
}

fn claim(program: &snapshot_language::program::Program, answer: &Found) -> Claim {
    Claim {
        algorithm: program.name.clone(),
        bug: program.bug.clone(),
        digest: digest("text"),
        size: None,
        values: VALUES,
        states: [answer.globals, answer.locals],
    }
}

/// Certificates of proofs are accepted. Without one of their states, or with an initial state, none
/// is; nor is that of a program with an error.
#[test]
fn only_whole_certificates_are_accepted() {
    let (mut accepted, mut without, mut of_errors) = (0, 0, 0);
    for (name, program) in programs() {
        let answer = found(&program).unwrap();
        let claim = claim(&program, &answer);
        let text = written(&claim, &answer);
        assert_eq!(read(&text).unwrap(), (claim.clone(), answer.upward.clone()), "{name}");
        if answer.wrong.is_some() {
            let refused = checked(&program, &text);
            assert!(matches!(refused, Err(Refusal::Initial(_))), "{name}: {refused:?}");
            of_errors += 1;
            continue;
        }
        assert_eq!(checked(&program, &text), Ok(()), "{name}");
        accepted += 1;
        let lines: Vec<&str> = text.lines().collect();
        let first = lines.iter().position(|line| line.starts_with("minimal ")).unwrap();
        let count = lines.len() - first - 2;
        for left_out in (0..count).step_by(count / 40 + 1) {
            let mut lines = lines.clone();
            lines.remove(first + 1 + left_out);
            let fewer = format!("minimal {}", count - 1);
            lines[first] = &fewer;
            let refused = checked(&program, &(lines.join("\n") + "\n"));
            let is_open = matches!(refused, Err(Refusal::Error(_) | Refusal::Open { .. }));
            assert!(is_open, "{name}, without {left_out}: {refused:?}");
            without += 1;
        }
        let more = format!("minimal {}\n0 0 0\n", count + 1);
        let altered = text.replacen(&format!("minimal {count}\n"), &more, 1);
        let refused = checked(&program, &altered);
        assert!(refused.is_err(), "{name}");
        let takes_values = program.object().unwrap().takes_values();
        for (from, to) in [("values 2", "values 3"), ("text ", "text 0"), ("\nend\n", "\n")] {
            if from == "values 2" && !takes_values {
                continue;
            }
            assert!(checked(&program, &text.replacen(from, to, 1)).is_err(), "{name}: {from}");
        }
    }
    assert!(accepted >= 5 && without > 10 && of_errors >= 7, "{accepted} {without} {of_errors}");
}
