//! `snapshot-test automata`: the automata of simple histories, counted or drawn.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use snapshot_core::automata::{Alphabet, AlphabetError};
use snapshot_core::observer::{Must, ObserverState};
use snapshot_test::automata::{Automaton, ObserverGraph};

use super::{print, trouble};

/// Counts or draws the automata that accept the violations of simple histories.
#[derive(Debug, Args)]
pub struct Automata {
    /// The number of processes, from 1 to 256; the observer is the same for all.
    #[arg(long, value_name = "N", default_value_t = 3)]
    processes: usize,
    /// Print a drawing for Graphviz: `... --dot | dot -Tsvg -o automaton.svg`.
    #[arg(long)]
    dot: bool,
    /// Only this automaton; without it the table has all, the drawing the union.
    #[arg(long, value_enum)]
    automaton: Option<Name>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Name {
    /// M1: two scans contradict each other.
    Inversion,
    /// M2: a scan sees less than one before it.
    Decrease,
    /// M3: a scan that the updates do not allow.
    Inappropriate,
    /// All three side by side.
    Union,
    /// The union, determinised; the same for any number of processes.
    Observer,
}

impl Name {
    const ALL: [Self; 5] =
        [Self::Inversion, Self::Decrease, Self::Inappropriate, Self::Union, Self::Observer];

    /// `None`: the observer.
    const fn automaton(self) -> Option<Automaton> {
        match self {
            Self::Inversion => Some(Automaton::Inversion),
            Self::Decrease => Some(Automaton::Decrease),
            Self::Inappropriate => Some(Automaton::Inappropriate),
            Self::Union => Some(Automaton::Union),
            Self::Observer => None,
        }
    }
}

impl Automata {
    pub fn run(self) -> ExitCode {
        match self.answer() {
            Ok(answer) => print(&answer),
            Err(error) => trouble(error),
        }
    }

    fn answer(&self) -> Result<String, AlphabetError> {
        if self.dot {
            return Ok(match self.automaton.unwrap_or(Name::Union).automaton() {
                Some(automaton) => automaton.over(Alphabet::new(self.processes)?).to_dot(),
                None => ObserverGraph::new().to_dot(),
            });
        }
        let chosen = |name: &Name| self.automaton.is_none_or(|automaton| automaton == *name);
        let chosen: Vec<Name> = Name::ALL.into_iter().filter(chosen).collect();
        let automata: Vec<Automaton> = chosen.iter().filter_map(|name| name.automaton()).collect();
        let mut tables = Vec::new();
        if !automata.is_empty() {
            tables.push(table(Alphabet::new(self.processes)?, &automata));
        }
        if chosen.contains(&Name::Observer) {
            tables.push(observer());
        }
        Ok(tables.join("\n"))
    }
}

fn table(alphabet: Alphabet, automata: &[Automaton]) -> String {
    let n = alphabet.processes();
    let mut table =
        format!("n = {n} (number of processes), 16 n = {} letters\n\n", alphabet.size());
    table += &format!(
        "{:<19} {:>6}  {:<8}  {:>11}  for any n\n",
        "automaton", "states", "for any n", "transitions"
    );
    for automaton in automata {
        let nfa = automaton.over(alphabet);
        let size = automaton.size();
        let (states, transitions) = (nfa.states().len(), nfa.transitions().len());
        debug_assert_eq!(states, size.states.at(n), "the formula counts states");
        debug_assert_eq!(transitions, size.transitions.at(n), "the formula counts transitions");
        let name = format!("{:<2} {}", nfa.name(), automaton.name());
        table += &format!(
            "{name:<19} {states:>6}  {:<9}  {transitions:>11}  {}\n",
            size.states, size.transitions
        );
    }
    table
}

fn observer() -> String {
    let graph = ObserverGraph::new();
    let violations = graph.transitions().iter().filter(|transition| transition.to.is_none());
    format!(
        "observer: the union, determinised; for any n\n\n\
         bits                {:>6}  invoked_i, invoked_j, needed_i, needed_j, bad01, bad10\n\
         bits per open scan  {:>6}  must_i, must_j\n\
         states              {:>6}  values of the {} bits that a simple history reaches, of {}\n\
         transitions         {:>6}  by updates to 1, and by responses of scans with each must\n\
         of these            {:>6}  lead to a violation\n",
        ObserverState::BITS,
        Must::COUNT.ilog2(),
        graph.states().len(),
        ObserverState::BITS,
        1 << ObserverState::BITS,
        graph.transitions().len(),
        violations.count(),
    )
}
