//! Named histories: each violation with a correct sibling, one event away.

use snapshot_core::automata::{
    Alphabet, Nfa, decrease, first_accepting_prefix, inappropriate, inversion, violation,
};
use snapshot_core::observer::{Alarm, Observer};
use snapshot_core::simple::{Letter, SimpleHistory, Switching};

use crate::automata::definition::is_linearizable;
use crate::automata::words::word;

const I: Switching = Switching::I;
const J: Switching = Switching::J;

/// Name, letters, and for a violation: the accepting automata, and the alarm. The alarm always
/// comes with the last letter.
type Case = (&'static str, &'static str, Option<(&'static [&'static str], Alarm)>);

const CASES: &[Case] = &[
    (
        "inversion",
        "p0: inv update_i(1); p1: inv update_j(1); p2: inv scan; p3: inv scan; \
         p2: res scan(0, 1); p3: res scan(1, 0)",
        Some((&["M1"], Alarm::Inverted { ahead: I })),
    ),
    (
        "no inversion: the second scan saw both",
        "p0: inv update_i(1); p1: inv update_j(1); p2: inv scan; p3: inv scan; \
         p2: res scan(0, 1); p3: res scan(1, 1)",
        None,
    ),
    (
        "decrease",
        "p0: inv update_i(1); p2: inv scan; p2: res scan(1, 0); p3: inv scan; p3: res scan(0, 0)",
        Some((&["M2"], Alarm::Stale { segment: I })),
    ),
    (
        "no decrease: the scans overlap",
        "p0: inv update_i(1); p2: inv scan; p3: inv scan; p2: res scan(1, 0); p3: res scan(0, 0)",
        None,
    ),
    (
        "decrease of one process",
        "p1: inv update_j(1); p2: inv scan; p2: res scan(0, 1); p2: inv scan; p2: res scan(0, 0)",
        Some((&["M2"], Alarm::Stale { segment: J })),
    ),
    (
        "(1) F_j before the scan",
        "p1: inv update_j(1); p1: res update_j(1); p2: inv scan; p2: res scan(0, 0)",
        Some((&["M3"], Alarm::Stale { segment: J })),
    ),
    (
        "(1) F_j and the scan overlap",
        "p1: inv update_j(1); p2: inv scan; p1: res update_j(1); p2: res scan(0, 0)",
        None,
    ),
    (
        "(2) never written",
        "p1: inv scan; p1: res scan(1, 0)",
        Some((&["M3"], Alarm::Unwritten { segment: I })),
    ),
    ("(2) written, but pending", "p0: inv update_i(1); p1: inv scan; p1: res scan(1, 0)", None),
    (
        "(2) only zero written",
        "p1: inv update_j(0); p0: inv scan; p0: res scan(0, 1)",
        Some((&["M3"], Alarm::Unwritten { segment: J })),
    ),
    ("(2) foreign", "p1: inv scan; p1: res scan(foreign)", Some((&["M3"], Alarm::Foreign))),
    (
        "(3) the scan begins before both updates",
        "p2: inv scan; p0: inv update_i(1); p0: res update_i(1); p1: inv update_j(1); \
         p1: res update_j(1); p2: res scan(0, 1)",
        Some((&["M3"], Alarm::Inverted { ahead: J })),
    ),
    (
        "(3) the updates overlap",
        "p2: inv scan; p0: inv update_i(1); p1: inv update_j(1); p0: res update_i(1); \
         p1: res update_j(1); p2: res scan(0, 1)",
        None,
    ),
    (
        "(3) the second update is open",
        "p2: inv scan; p0: inv update_i(1); p0: res update_i(1); p1: inv update_j(1); \
         p2: res scan(0, 1)",
        Some((&["M3"], Alarm::Inverted { ahead: J })),
    ),
    (
        "(4) the scan begins between the updates' invocations",
        "p1: inv update_j(1); p2: inv scan; p1: res update_j(1); p0: inv update_i(1); \
         p2: res scan(1, 0)",
        Some((&["M3"], Alarm::Inverted { ahead: I })),
    ),
    (
        "(4) saw the first only",
        "p1: inv update_j(1); p2: inv scan; p1: res update_j(1); p0: inv update_i(1); \
         p2: res scan(0, 1)",
        None,
    ),
    (
        "the first update of i was lost, but may precede that of j",
        "p0: inv update_i(1); p1: inv update_j(1); p1: res update_j(1); p2: inv scan; \
         p0: inv update_i(1); p2: res scan(1, 1)",
        None,
    ),
    (
        "the first update of i was lost, its repetition was not",
        "p0: inv update_i(1); p0: inv update_i(1); p0: res update_i(1); p2: inv scan; \
         p2: res scan(0, 0)",
        Some((&["M3"], Alarm::Stale { segment: I })),
    ),
    (
        "a repetition does not make i switch after j",
        "p0: inv update_i(1); p2: inv scan; p1: inv update_j(1); p1: res update_j(1); \
         p0: inv update_i(1); p2: res scan(1, 0)",
        None,
    ),
];

type Automaton = fn(Alphabet) -> Nfa;

fn accepting_letter(automaton: Automaton, letters: &[Letter]) -> Option<usize> {
    first_accepting_prefix(&automaton(Alphabet::new(4).unwrap()), letters)
}

#[test]
fn deciders_agree_on_each_case() {
    for &(name, text, expected) in CASES {
        let letters = word(text);
        let history = SimpleHistory::from_letters(4, letters.clone()).expect(name);
        history.validate();
        assert_eq!(is_linearizable(&letters), expected.is_none(), "definition: {name}");
        let last = expected.map(|_| letters.len() - 1);
        assert_eq!(accepting_letter(violation, &letters), last, "union: {name}");
        let alarm = expected.map(|(_, alarm)| (letters.len() - 1, alarm));
        assert_eq!(Observer::first_violation(&history), alarm, "observer: {name}");
        let parts: [(&str, Automaton); 3] =
            [("M1", inversion), ("M2", decrease), ("M3", inappropriate)];
        for (part, automaton) in parts {
            let accepts = expected.is_some_and(|(parts, _)| parts.contains(&part));
            assert_eq!(
                accepting_letter(automaton, &letters),
                last.filter(|_| accepts),
                "{part}: {name}"
            );
        }
    }
}

#[test]
fn text_of_the_inversion_alarm_is_pinned() {
    let text = Alarm::Inverted { ahead: J }.to_string();
    assert_eq!(text, "the scan saw j switched and i not, though i switched first");
}
