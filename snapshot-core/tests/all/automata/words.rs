//! Words over the letters of simple histories: parsed, enumerated, drawn at random.

use proptest::prelude::*;
use snapshot_core::Process;
use snapshot_core::automata::Alphabet;
use snapshot_core::simple::{Letter, Switching, Symbol, WellFormed};

/// Letters written as they display, separated by semicolons.
pub fn word(text: &str) -> Vec<Letter> {
    let alphabet = Alphabet::new(4).unwrap();
    let parse = |name: &str| {
        alphabet.letters().find(|letter| letter.to_string() == name.trim()).ok_or(name.to_owned())
    };
    text.split(';').map(|name| parse(name).expect("a letter as it displays")).collect()
}

/// The letters of an enumeration.
#[derive(Clone, Copy)]
pub struct Scope {
    pub processes: usize,
    pub length: usize,
    /// True if every process may update i and j; else p0 updates i, p1 updates j.
    pub any_writer: bool,
}

/// Calls `visit` with every well-formed word of the scope, prefixes first, and skips the extensions
/// of words for which it returns `false`. The updates of segments that never change are left out,
/// and so are unwritten values.
pub fn enumerate(scope: Scope, visit: &mut impl FnMut(&[Letter]) -> bool) {
    let letters: Vec<Letter> = Alphabet::new(scope.processes)
        .unwrap()
        .letters()
        .filter(|letter| match letter.symbol() {
            Symbol::InvokeUpdate { segment, .. } | Symbol::RespondUpdate { segment, .. } => {
                scope.any_writer || letter.process().index() == segment.index()
            }
            Symbol::InvokeScan | Symbol::RespondScan { .. } => true,
            Symbol::RespondForeign | Symbol::InvokeOther | Symbol::RespondOther => false,
        })
        .collect();
    let mut prefix = Vec::new();
    extend(&letters, scope.length, &WellFormed::new(scope.processes), &mut prefix, visit);
}

fn extend(
    letters: &[Letter],
    length: usize,
    so_far: &WellFormed,
    prefix: &mut Vec<Letter>,
    visit: &mut impl FnMut(&[Letter]) -> bool,
) {
    if !visit(prefix) || prefix.len() == length {
        return;
    }
    for &letter in letters {
        let mut next = so_far.clone();
        if next.admit(letter).is_ok() {
            prefix.push(letter);
            extend(letters, length, &next, prefix, visit);
            prefix.pop();
        }
    }
}

#[derive(Clone, Copy)]
enum Doing {
    Nothing,
    Scan(Option<[bool; 2]>),
    Update { segment: Switching, value: bool, done: bool },
    Other,
}

/// Returns a simple history of an atomic object, driven by a sequence of choices: each lets one
/// process invoke, take effect or respond. One response in `lies` may differ from the object's
/// values (0: none does), one update in sixteen is lost.
pub fn recorded(processes: usize, lies: u32, choices: &[u32]) -> Vec<Letter> {
    let mut word = WellFormed::new(processes);
    let mut letters = Vec::new();
    let mut held = [false; 2];
    let mut doing = vec![Doing::Nothing; processes];
    for &choice in choices {
        let (index, choice) = (choice as usize % processes, choice / processes as u32);
        let process = Process::from_index(index);
        let mut say = |symbol| {
            let letter = Letter::new(process, symbol);
            let admitted = word.admit(letter).is_ok();
            if admitted {
                letters.push(letter);
            }
            admitted
        };
        doing[index] = match doing[index] {
            Doing::Nothing => match choice % 8 {
                0..4 => {
                    say(Symbol::InvokeScan);
                    Doing::Scan(None)
                }
                kind @ 4..7 => {
                    let segment = Switching::BOTH[kind as usize & 1];
                    let value = held[segment.index()] || choice / 8 % 3 == 0;
                    if say(Symbol::InvokeUpdate { segment, value }) {
                        Doing::Update { segment, value, done: false }
                    } else {
                        Doing::Nothing
                    }
                }
                _ => {
                    say(Symbol::InvokeOther);
                    Doing::Other
                }
            },
            Doing::Scan(None) => Doing::Scan((choice % 8 == 0).then_some(held)),
            Doing::Scan(Some([at_i, at_j])) => {
                let lie = (lies > 0 && choice % lies == 0).then(|| choice / lies % 16);
                say(match lie {
                    None => Symbol::RespondScan { at_i, at_j },
                    Some(0) => Symbol::RespondForeign,
                    Some(1) => Symbol::RespondScan { at_i: true, at_j },
                    Some(2) => Symbol::RespondScan { at_i, at_j: true },
                    // A value that is too small is the more interesting lie.
                    Some(3..9) => Symbol::RespondScan { at_i: false, at_j },
                    Some(_) => Symbol::RespondScan { at_i, at_j: false },
                });
                Doing::Nothing
            }
            Doing::Update { .. } if choice % 16 == 0 => Doing::Nothing,
            Doing::Update { segment, value, done: false } => {
                held[segment.index()] = value;
                Doing::Update { segment, value, done: true }
            }
            Doing::Update { segment, value, done: true } => {
                say(Symbol::RespondUpdate { segment, value });
                Doing::Nothing
            }
            Doing::Other => {
                say(Symbol::RespondOther);
                Doing::Nothing
            }
        };
    }
    letters
}

/// A number of processes up to 8, and a history of theirs, truthful or not.
pub fn histories() -> impl Strategy<Value = (usize, Vec<Letter>)> {
    (
        2..=8_usize,
        prop_oneof![Just(0), Just(2), Just(20)],
        prop::collection::vec(any::<u32>(), 0..400),
    )
        .prop_map(|(processes, lies, choices)| (processes, recorded(processes, lies, &choices)))
}
