//! Words over the letters of simple histories: the observers, the paper's automata, the linear-time
//! check and brute force agree, at every letter.

use std::sync::OnceLock;

use snapshot_core::automata::{Alphabet, Nfa, Simulation, violation};
use snapshot_core::history::{Declaration, HistoryBuilder, Writers};
use snapshot_core::observer::Observer;
use snapshot_core::simple::{Letter, SimpleHistory, Switching, Symbol, WellFormed};
use snapshot_core::{History, Process, linear};

use crate::agreement::is_linearizable;
use crate::choices::Choices;

/// Brute force on more letters would be slow.
const MAX_LETTERS: usize = 20;

const MAX_PROCESSES: usize = 4;

/// A value that no update writes.
const FOREIGN: i64 = 9;

/// Returns the well-formed word that these bytes encode, and its number of processes.
pub fn word(bytes: &[u8]) -> (usize, Vec<Letter>) {
    let mut choices = Choices::new(bytes);
    let processes = choices.next(MAX_PROCESSES).map_or(1, |(more, _)| more + 1);
    let mut word = WellFormed::new(processes);
    let mut letters = Vec::new();
    while letters.len() < MAX_LETTERS {
        let admissible: Vec<(Letter, WellFormed)> = (0..processes * Symbol::COUNT)
            .map(Letter::from_index)
            .filter_map(|letter| {
                let mut next = word.clone();
                next.admit(letter).ok().map(|()| (letter, next))
            })
            .collect();
        let Some((index, _)) = choices.next(admissible.len()) else { break };
        let (letter, next) = admissible[index].clone();
        letters.push(letter);
        word = next;
    }
    (processes, letters)
}

/// Returns the union of the three automata, for each number of processes.
fn union(processes: usize) -> &'static Nfa {
    static UNIONS: [OnceLock<Nfa>; MAX_PROCESSES + 1] =
        [const { OnceLock::new() }; MAX_PROCESSES + 1];
    UNIONS[processes]
        .get_or_init(|| violation(Alphabet::new(processes).expect("there are few processes")))
}

/// Compares all deciders with brute force.
///
/// # Panics
/// If anything disagrees.
pub fn check(processes: usize, letters: Vec<Letter>) {
    let recording = Recording::of(processes, &letters);
    let mut simulation = Simulation::new(union(processes));
    let mut observer = Observer::new(processes);
    let mut first = None;
    let mut accepted = false;
    for (position, &letter) in letters.iter().enumerate() {
        if first.is_none() {
            let prefix = recording.history.prefix(recording.events[position] + 1);
            first = (!is_linearizable(&prefix)).then_some(position);
        }
        let expected = first.is_some();
        accepted |= simulation.step(letter);
        require(&letters, accepted == expected, "the automata are wrong", position);
        require(&letters, observer.step(letter) == expected, "the observer is wrong", position);
    }
    let simple = match SimpleHistory::from_letters(processes, letters.clone()) {
        Ok(simple) => simple,
        Err(error) => panic!("the word is well-formed, but {error}: {letters:?}"),
    };
    simple.validate();
    let told = Observer::first_violation(&simple).map(|(position, _)| position);
    require(&letters, told == first, "the observer tells another letter", letters.len());
    recording.check(&letters, first);
}

/// The word as a recording: i and j are segments 0 and 1, and every process has one more segment,
/// which never changes.
struct Recording {
    history: History<i64>,
    /// The event of each letter.
    events: Vec<usize>,
}

impl Recording {
    fn of(processes: usize, letters: &[Letter]) -> Self {
        let declaration = Declaration::new(0)
            .with_segments(2 + processes)
            .with_processes(processes)
            .with_writers(Writers::Many);
        let mut builder = History::builder(declaration).expect("the declaration is valid");
        let mut open = vec![false; processes];
        let mut events = Vec::new();
        for &letter in letters {
            let process = letter.process().index();
            // A process with a new invocation has lost the outcome of its open operation.
            let is_invocation = letter.symbol().is_invocation();
            if is_invocation && open[process] {
                builder.unknown(process).expect("an update is open");
            }
            open[process] = is_invocation;
            events.push(builder.len());
            push(&mut builder, letter.process(), letter.symbol(), processes);
        }
        Self { history: builder.finish(), events }
    }

    /// Runs the checkers of recordings; they refuse overlapping updates of one segment, which are
    /// harmless with equal values.
    fn check(&self, letters: &[Letter], first: Option<usize>) {
        match linear::check(&self.history) {
            linear::Outcome::Undecided(_) => {}
            outcome => {
                let is_violation = matches!(outcome, linear::Outcome::Violation(_));
                let agrees = is_violation == first.is_some();
                require(letters, agrees, "the linear-time check is wrong", letters.len());
            }
        }
        if let Ok(simple) = SimpleHistory::recognise(&self.history) {
            let found = Observer::first_violation(&simple);
            let event = found.map(|(letter, _)| simple.event(letter));
            let expected = first.map(|position| self.events[position]);
            require(letters, event == expected, "the recording is read otherwise", letters.len());
        }
    }
}

fn push(builder: &mut HistoryBuilder<i64>, process: Process, symbol: Symbol, processes: usize) {
    let mut entries = vec![0; 2 + processes];
    let process = process.index();
    match symbol {
        Symbol::InvokeScan => builder.invoke_scan(process),
        Symbol::RespondScan { at_i, at_j } => {
            entries[Switching::I.index()] = at_i.into();
            entries[Switching::J.index()] = at_j.into();
            builder.respond_scan(process, &entries)
        }
        Symbol::RespondForeign => {
            entries[Switching::J.index()] = FOREIGN;
            builder.respond_scan(process, &entries)
        }
        Symbol::InvokeUpdate { segment, value } => {
            builder.invoke_update(process, segment.index(), value.into())
        }
        Symbol::InvokeOther => builder.invoke_update(process, 2 + process, 0),
        Symbol::RespondUpdate { .. } | Symbol::RespondOther => builder.respond_update(process),
    }
    .expect("a well-formed word is a history");
}

fn require(letters: &[Letter], holds: bool, complaint: &str, position: usize) {
    if !holds {
        let word: String =
            letters.iter().enumerate().map(|(k, letter)| format!("{k}: {letter}\n")).collect();
        panic!("{complaint}, at letter {position} of\n{word}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::effort::either;

    use crate::agreement::tests::noise;

    #[test]
    fn deciders_agree_on_random_words() {
        let (mut longest, mut bad) = (0, 0);
        for bytes in noise(either(6_000, 20_000), 25) {
            let (processes, letters) = word(&bytes);
            longest = longest.max(letters.len());
            let is_bad = !is_linearizable(&Recording::of(processes, &letters).history);
            bad += usize::from(is_bad);
            check(processes, letters);
        }
        assert_eq!(longest, MAX_LETTERS);
        assert!(
            (either(600, 2_000)..either(5_400, 18_000)).contains(&bad),
            "both answers occur: {bad} violations"
        );
    }
}
