//! Altered certificates are refused, and the refusal states the reason.

use sha2::{Digest, Sha256};
use snapshot_semantics::certificate::{
    Answer, Budget, Coverage, Refusal, Unfinished, check, digest,
};

use crate::certificate::programs::Subject;

const ANTICHAIN: Coverage = Coverage { symmetry: false, antichain: true };

/// A certificate in lines, with its states written out.
struct Parts {
    lines: Vec<String>,
    states: Vec<Vec<u32>>,
}

impl Parts {
    /// Splits a certificate with one pair.
    fn new(text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let at = lines.iter().position(|line| line.starts_with("states ")).unwrap();
        let mut states: Vec<Vec<u32>> = Vec::new();
        for line in &lines[at + 1..lines.len() - 1] {
            let rest: Vec<u32> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            let mut state = states.last().cloned().unwrap_or_default();
            state.truncate(state.len().saturating_sub(rest.len()));
            state.extend(rest);
            states.push(state);
        }
        Self { lines: lines[..at].to_vec(), states }
    }

    /// Returns the certificate, sealed again.
    fn text(&self) -> String {
        let mut text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        text.push_str(&format!("states {}\n", self.states.len()));
        let mut before: &[u32] = &[];
        for state in &self.states {
            let common = before.iter().zip(state).take_while(|(a, b)| a == b).count();
            let rest: Vec<String> = state[common..].iter().map(u32::to_string).collect();
            text.push_str(&rest.join(" "));
            text.push('\n');
            before = state;
        }
        sealed(&text)
    }
}

/// Appends the correct end mark.
fn sealed(text: &str) -> String {
    let hash = Sha256::digest(text);
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{text}end {digits}\n")
}

/// Replaces a line of the head, and seals again.
fn with_line(text: &str, old: &str, new: &str) -> String {
    let body = &text[..text.rfind("end ").unwrap()];
    assert!(body.contains(old), "{old}");
    sealed(&body.replacen(old, new, 1))
}

fn bowman() -> (Subject, String) {
    let subject = Subject::corpus("bowman", None);
    let (text, _) = subject.prove(&subject.claim(2, None, ANTICHAIN)).unwrap();
    (subject, text)
}

#[test]
fn dropped_state_is_refused() {
    for coverage in [Coverage::default(), ANTICHAIN] {
        let subject = Subject::corpus("bowman", None);
        let (text, states) = subject.prove(&subject.claim(2, Some(1), coverage)).unwrap();
        let parts = Parts::new(&text);
        assert_eq!(parts.states.len(), states);
        assert_eq!(parts.text(), text, "parts print as the original text");
        for dropped in (0..states).step_by(17) {
            let mut parts = Parts::new(&text);
            parts.states.remove(dropped);
            let refusal = subject.refusal(&parts.text());
            let is_missed = matches!(
                refusal,
                Refusal::Escape { violation: false, .. } | Refusal::Initial { .. }
            );
            assert!(is_missed, "{dropped}: {refusal}");
        }
    }
}

/// The former state is gone. Among maximal states, a change to a number that dominates it would be
/// accepted; none of these changes does.
#[test]
fn all_changed_numbers_are_refused_under_a_valid_seal() {
    let subject = Subject::corpus("bowman", None);
    for (operations, coverage) in [(Some(1), Coverage::default()), (None, ANTICHAIN)] {
        let (text, states) = subject.prove(&subject.claim(2, operations, coverage)).unwrap();
        let all = Parts::new(&text);
        let mut changed = 0;
        for place in (0..states).step_by(1 + states / 30) {
            for column in 0..all.states[place].len() {
                let mut parts = Parts::new(&text);
                parts.states[place][column] ^= 1;
                parts.states.sort_unstable();
                parts.states.dedup();
                let answer = subject.check(&parts.text());
                assert!(matches!(answer, Answer::Refused(_)), "{place}, {column}: {answer:?}");
                changed += 1;
            }
        }
        println!("{changed} changes");
        assert!(changed >= 150, "{changed}");
    }
}

#[test]
fn every_changed_bit_is_refused() {
    let (subject, text) = bowman();
    for (count, place) in (0..text.len()).step_by(97).enumerate() {
        let mut bytes = text.clone().into_bytes();
        bytes[place] ^= 1 << (count % 8);
        let mut budget = Budget { memory: 1 << 30, proceed: &mut || true };
        let digest = digest(&subject.text);
        let answer = check(&subject.program, &digest, &mut &*bytes, &mut budget).unwrap();
        assert!(matches!(answer, Answer::Refused(_) | Answer::Foreign), "{place}: {answer:?}");
    }
}

#[test]
fn truncated_and_extended_certificates_are_refused() {
    let (subject, text) = bowman();
    for length in (30..text.len()).step_by(211).chain([text.len() - 1]) {
        let refusal = subject.refusal(&text[..length]);
        assert!(matches!(refusal, Refusal::Line(_)), "{length}: {refusal}");
    }
    let refusal = subject.refusal(&format!("{text}more\n")).to_string();
    assert!(refusal.contains("nothing after the end mark"), "{refusal}");
    assert_eq!(subject.check("something else\n"), Answer::Foreign);
    assert_eq!(subject.check(""), Answer::Foreign);
}

#[test]
fn states_out_of_order_are_refused() {
    let (subject, text) = bowman();
    let mut parts = Parts::new(&text);
    parts.states.swap(100, 200);
    let refusal = subject.refusal(&parts.text()).to_string();
    assert!(refusal.contains("states in ascending order"), "{refusal}");
}

#[test]
fn certificate_of_another_program_is_refused() {
    let (subject, text) = bowman();
    let wrong = Subject::corpus("bowman", Some("early_exit"));
    let refusal = wrong.refusal(&text).to_string();
    assert!(refusal.contains("the bug none, not early_exit"), "{refusal}");
    let other = Subject::new(&subject.text.replace("# One", "# one"), None);
    let refusal = other.refusal(&text).to_string();
    assert!(
        refusal
            .contains("another text of the algorithm, which has changed since: that with SHA-256"),
        "{refusal}"
    );
    let jayanti = Subject::corpus("jayanti", None).refusal(&text).to_string();
    assert!(jayanti.contains("the algorithm bowman, not jayanti"), "{jayanti}");

    // The head agrees with the request, the states do not.
    let more = with_line(&text, "processes 2\n", "processes 3\n");
    assert!(matches!(subject.refusal(&more), Refusal::Line(_)));
    let stricter = with_line(&text, "coverage antichain\n", "coverage exact\n");
    assert!(matches!(subject.refusal(&stricter), Refusal::Escape { .. }));
    let bounded = with_line(&text, "operations none\n", "operations 3\n");
    assert!(matches!(subject.refusal(&bounded), Refusal::Line(_)));
}

#[test]
fn a_certificate_of_another_pair_is_refused() {
    let subject = Subject::corpus("bowman", None);
    let mut claim = subject.claim(3, Some(1), ANTICHAIN);
    claim.pairs.truncate(1);
    let (text, _) = subject.prove(&claim).unwrap();
    let Answer::Accepted(accepted) = subject.check(&text) else { panic!("{text}") };
    assert!(!accepted.claim.has_all_pairs() && !accepted.claim.is_complete());
    let renamed = with_line(&text, "pairs 0,1\n", "pairs 0,2\n");
    let renamed = with_line(&renamed, "pair 0,1\n", "pair 0,2\n");
    let refusal = subject.refusal(&renamed);
    assert!(matches!(refusal, Refusal::Escape { .. }), "{refusal}");
}

#[test]
fn budgets_end_in_unknown() {
    let (subject, text) = bowman();
    let digest = digest(&subject.text);
    let mut little = Budget { memory: 1 << 12, proceed: &mut || true };
    let answer = check(&subject.program, &digest, &mut text.as_bytes(), &mut little).unwrap();
    assert_eq!(answer, Answer::Unknown(Unfinished::Memory));
    let mut stopped = Budget { memory: 1 << 30, proceed: &mut || false };
    let answer = check(&subject.program, &digest, &mut text.as_bytes(), &mut stopped).unwrap();
    assert_eq!(answer, Answer::Unknown(Unfinished::Ended));
}
