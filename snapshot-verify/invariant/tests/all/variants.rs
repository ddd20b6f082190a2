//! Wrong variants of afek_bounded: not all of their lists can be closed, and the right program's
//! list is not closed for any of them.

use snapshot_invariant::check::{Answer, Refusal};
use snapshot_invariant::step::InjectedFault;
use snapshot_invariant::write::WriteError;
use snapshot_language::program::Program;

use crate::programs::{certificate, checked, of_corpus, parsed, parts};

/// Each variant: a text, its replacement, and an obligation that fails.
const VARIANTS: [(&str, &str, &str, &str); 3] = [
    ("no_negation", "not q[k][me]", "q[k][me]", "calls.memory-t"),
    ("moved_once", "if moved[k]:", "if true:", "calls.nesting"),
    (
        "any_quiet",
        "if all k in processes: not has",
        "if any k in processes: not has",
        "calls.memory-t",
    ),
];

/// Without its bug variants, so that the certificate of the right program names it.
fn variant(from: &str, to: &str) -> Program {
    let text = corpus::algorithm("afek_bounded").unwrap().text;
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text);
    let end = changed.find("\nbug ").unwrap();
    parsed(&changed[..end], None)
}

#[test]
fn variants_of_afek_bounded_have_no_certificate() {
    for (name, from, to, rung) in VARIANTS {
        let program = variant(from, to);
        let made = certificate(&program, &parts(&program, &[rung]), InjectedFault::default());
        assert!(matches!(made, Err(WriteError::Failure { .. })), "{name}: {made:?}");
    }
}

/// The list of the right program is closed under no variant's steps. At night all
/// obligations, which takes minutes; otherwise only nesting, which only one variant violates.
#[test]
fn certificate_of_afek_bounded_is_refused_for_variants() {
    let mut rungs = vec!["calls.nesting", "calls.memory-t", "calls.memory-i", "calls.memory-j"];
    let is_whole = test_support::effort::is_night();
    if !is_whole {
        rungs.truncate(1);
    }
    let right = of_corpus("afek_bounded", None);
    let (text, _) = certificate(&right, &parts(&right, &rungs), InjectedFault::default()).unwrap();
    let answer = checked(&right, text.as_bytes());
    assert_eq!(matches!(answer, Answer::Accepted(_)), is_whole, "{answer:?}");
    for (name, from, to, rung) in VARIANTS {
        let answer = checked(&variant(from, to), text.as_bytes());
        let Answer::Refused(refusal) = answer else { panic!("{name}: {answer:?}") };
        let is_found = matches!(refusal, Refusal::Escape { .. } | Refusal::Failure { .. });
        assert!(is_found || !rungs.contains(&rung), "{name}: {refusal}");
    }
}
