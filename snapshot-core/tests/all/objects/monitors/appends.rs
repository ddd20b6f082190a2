//! Maps whose values are texts that grow, against all orders.

use snapshot_core::generic::objects::{Map, MapInput, MapOutput, Text};
use snapshot_core::generic::{Outcome, Proof, Reason, check, check_proof};
use snapshot_core::search::Budget;
use test_support::effort;

use super::objects::{Call, Tried};
use super::random::Draws;
use super::small::for_all;
use super::{Script, Tally, has_order, judged};

type Texts = Map<u8, String>;

const TEXT: Text<String> =
    Text { bytes: |text| Some(text.as_bytes()), join: |text, tail| format!("{text}{tail}") };

const fn texts() -> Texts {
    Map::growing(None, TEXT)
}

/// The text of the operation with this number.
fn piece(number: usize) -> String {
    char::from(b'a' + number as u8).to_string()
}

/// All texts made of these pieces, each once at most.
fn arrangements(pieces: &[String]) -> Vec<String> {
    let mut all = vec![String::new()];
    for (place, piece) in pieces.iter().enumerate() {
        let rest: Vec<String> = [&pieces[..place], &pieces[place + 1..]].concat();
        all.extend(arrangements(&rest).iter().map(|text| format!("{piece}{text}")));
    }
    all
}

impl Tried for Texts {
    fn calls(&self, before: &[Call<Self>], is_complete: bool, most: u8) -> Vec<Call<Self>> {
        let written = before.iter().filter(|(input, _)| !matches!(input, MapInput::Get(_)));
        let next = piece(written.count());
        let done = is_complete.then_some(MapOutput::Done);
        let mut calls = vec![
            (MapInput::Put(0, next.clone()), done.clone()),
            (MapInput::Append(0, next), done.clone()),
        ];
        if is_complete {
            let pieces: Vec<String> = (0..usize::from(most) - 1).map(piece).collect();
            calls.extend(arrangements(&pieces).into_iter().map(|text| {
                let found = (!text.is_empty()).then_some(text);
                (MapInput::Get(0), Some(MapOutput::Found(found)))
            }));
        } else {
            calls.push((MapInput::Get(0), None));
        }
        calls
    }
}

#[test]
fn texts_that_grow_agree_with_all_orders() {
    let mut tally = Tally::default();
    for operations in 1..=3 {
        for_all(&texts(), operations, &mut |script| {
            let history = script.history();
            judged(&texts(), &history, has_order(&texts(), &history), &mut tally);
        });
    }
    eprintln!("{tally:?}");
    assert_eq!(tally.counts(), (1_928, 5_926, 0));
}

/// An execution by four processes: some operations do not respond; with `lies`, some reads return what another
/// did, or less.
fn execution(
    draws: &mut Draws,
    operations: usize,
    lies: bool,
) -> Script<MapInput<u8, String>, MapOutput<String>> {
    let mut script = Script { events: Vec::new(), calls: Vec::new() };
    let mut open: Vec<Option<(usize, bool)>> = vec![None; 4];
    let mut text: Option<String> = None;
    while script.calls.len() < operations || open.iter().any(Option::is_some) {
        let process = draws.below(open.len());
        match open[process] {
            None if script.calls.len() < operations => {
                let number = script.calls.len();
                let input = match draws.below(8) {
                    0 => MapInput::Put(0, piece(number)),
                    1..=3 => MapInput::Append(0, piece(number)),
                    _ => MapInput::Get(0),
                };
                script.calls.push((input, None));
                script.events.push(number);
                open[process] = Some((number, false));
            }
            None => {}
            Some((number, false)) => {
                let (input, output) = &mut script.calls[number];
                *output = Some(match input {
                    MapInput::Put(_, put) => {
                        text = Some(put.clone());
                        MapOutput::Done
                    }
                    MapInput::Append(_, tail) => {
                        text = Some(text.take().unwrap_or_default() + tail);
                        MapOutput::Done
                    }
                    _ => MapOutput::Found(text.clone()),
                });
                open[process] = Some((number, true));
            }
            Some((number, true)) => {
                open[process] = None;
                if draws.below(12) == 0 {
                    script.calls[number].1 = None;
                } else {
                    script.events.push(number);
                }
            }
        }
    }
    if lies {
        for number in 0..script.calls.len() {
            let other = script.calls[draws.below(operations)].1.clone();
            if let Some(MapOutput::Found(found)) = &mut script.calls[number].1
                && draws.below(8) == 0
            {
                let (pieces, place) = (found.clone().unwrap_or_default(), draws.below(4));
                match other {
                    Some(MapOutput::Found(other)) if place > 0 => *found = other,
                    _ if pieces.len() > place => _ = found.as_mut().map(|one| one.remove(place)),
                    _ => _ = found.as_mut().map(String::pop),
                }
                if found.as_deref() == Some("") {
                    *found = None;
                }
            }
        }
    }
    script
}

#[test]
fn random_texts_agree_with_all_orders() {
    let mut tally = Tally::default();
    for round in 0..effort::either(300, 10_000) {
        let mut draws = Draws(round);
        let size = 6 + draws.below(6);
        let script = execution(&mut draws, size, round % 2 == 0);
        for script in script.twins().chain([script.clone()]) {
            let history = script.history();
            judged(&texts(), &history, has_order(&texts(), &history), &mut tally);
        }
    }
    eprintln!("{tally:?}");
    assert!(tally.violations > 300 && tally.linearizable > 300, "{tally:?}");
    // All but those with an empty text are decided by rules.
    assert!(10 * tally.beyond < tally.violations, "{tally:?}");
    for rule in ["interleaved", "misplaced", "replaced-twice", "reversed"] {
        assert!(tally.rules.get(rule).is_some_and(|count| *count > 2), "{rule}: {tally:?}");
    }
}

/// Two appends to the same text, as two reads show, and a text that is read twice as long.
#[test]
fn each_rule_of_texts_names_its_reads() {
    let append = |text: &str| (MapInput::Append(0, text.to_owned()), Some(MapOutput::Done));
    let get = |text: &str| (MapInput::Get(0), Some(MapOutput::Found(Some(text.to_owned()))));
    let calls = [append("a"), append("b"), append("c")];
    for (reads, rule, named) in [
        (vec![get("ab"), get("ac")], "replaced-twice", 4),
        (vec![get("ab"), get("ba")], "misplaced", 3),
        (vec![get("aa")], "misplaced", 2),
        (vec![get("ad")], "unwritten", 1),
    ] {
        let calls = [calls.as_slice(), &reads].concat();
        let all = 0..calls.len();
        let script = Script { events: all.clone().chain(all).collect(), calls };
        let history = script.history();
        let mut budget = Budget { memory: 0, proceed: &mut || true };
        let outcome = check(&texts(), &history, &mut budget);
        let Outcome::NotLinearizable { reason: Reason::Rule(proof), .. } = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!((proof.rule(), proof.operations().len()), (rule, named), "{proof:?}");
        assert_eq!(check_proof(&texts(), &history, &proof), Ok(()));
        // A proof without its reads shows nothing.
        if let Proof::Shown { proof, .. } = proof {
            assert!(check_proof(&texts(), &history, &proof).is_err(), "{proof:?}");
        }
    }
}

/// Texts that can be read in two ways, and texts that are appended twice, are searched.
#[test]
fn ambiguous_texts_are_searched() {
    let run = |inputs: &[MapInput<u8, String>], found: &str| {
        let mut history = snapshot_core::generic::History::builder();
        for input in inputs {
            history.invoke(0, input.clone()).unwrap();
            history.respond(0, MapOutput::Done).unwrap();
        }
        history.invoke(0, MapInput::Get(0)).unwrap();
        history.respond(0, MapOutput::Found(Some(found.to_owned()))).unwrap();
        let mut budget = Budget { memory: 1 << 20, proceed: &mut || true };
        check(&texts(), &history.finish(), &mut budget)
    };
    let append = |text: &str| MapInput::Append(0, text.to_owned());
    for (inputs, found) in [
        (vec![append("a"), append("b"), append("ab")], "abab"),
        (vec![append("a"), append("a")], "aa"),
        (vec![MapInput::Put(0, "a".to_owned()), append("a"), append("")], "aa"),
    ] {
        assert!(matches!(run(&inputs, found), Outcome::Linearizable { states: 1.., .. }));
        let wrong = run(&inputs, &format!("{found}a"));
        let Outcome::NotLinearizable { reason, .. } = wrong else { panic!("{wrong:?}") };
        assert!(matches!(reason, Reason::Searched(_)) || found == "abab", "{reason:?}");
    }
}
