//! `snapshot-test automata`: the automata of simple histories, counted or drawn.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use snapshot_core::automata::{Alphabet, AlphabetError};
use snapshot_core::observer::{Must, ObserverState};
use snapshot_core::simple::{SimpleHistory, Switching};
use snapshot_test::Value;
use snapshot_test::automata::{self, Automaton, ObserverGraph};

use super::format::InputFormat;
use super::recorded;
use super::{print, trouble};

/// Counts, draws or runs the automata that accept the violations of simple histories.
///
/// Exit code of `--run`: 0 if no automaton accepts, 1 if one does, 2 if the recording is bad or
/// not simple.
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
    /// Run the automata on this recording, which must be simple (`snapshot-test rename` makes
    /// such recordings), and print the states that each letter adds (+) and removes (-); `-` is
    /// standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dot", "processes"])]
    run: Option<PathBuf>,
    /// With --run: the format of the recording.
    #[arg(long, value_enum, default_value = "auto", requires = "run")]
    format: InputFormat,
    /// With --run: of a recording of several objects, take the one with this key.
    #[arg(long, value_name = "KEY", value_parser = super::format::key, requires = "run",
          allow_negative_numbers = true)]
    key: Option<Value>,
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
        if let Some(path) = &self.run {
            return self.run_on(path);
        }
        match self.answer() {
            Ok(answer) => print(&answer),
            Err(error) => trouble(error),
        }
    }

    /// Runs the automata on a recording.
    fn run_on(&self, path: &Path) -> ExitCode {
        let chosen = match self.automaton.map(Name::automaton) {
            Some(None) => {
                return trouble(
                    "--run takes the nondeterministic automata; \
                     `snapshot-test check` runs the observer",
                );
            }
            Some(Some(automaton)) => vec![automaton],
            None => vec![Automaton::Inversion, Automaton::Decrease, Automaton::Inappropriate],
        };
        let recorded = match recorded::read(path, self.format, self.key.as_ref()) {
            Ok(recorded) => recorded,
            Err(code) => return code,
        };
        let name = &recorded.name;
        let simple = match SimpleHistory::recognise(&recorded.history) {
            Ok(simple) => simple,
            Err(error) => {
                return trouble(format_args!(
                    "{name}: {error}\nhelp: `snapshot-test rename {name} --pair 0,1 --from 1,1` \
                     prints a simple history of it"
                ));
            }
        };
        let rows = match automata::run(&simple, &chosen) {
            Ok(rows) => rows,
            Err(error) => return trouble(format_args!("{name}: {error}")),
        };
        let mut text = format!("{name}: i = segment {}", segment(&simple, Switching::I));
        text += &format!(", j = segment {}\n", segment(&simple, Switching::J));
        for row in &rows {
            text += &format!("  {:<7} {}\n", recorded.locations[row.event].to_string(), row.letter);
            for change in &row.changes {
                text += &format!("          {change}\n");
            }
        }
        let is_violation = rows.last().is_some_and(automata::Row::accepts);
        text += if is_violation { "a violation\n" } else { "no automaton accepts\n" };
        match print(&text) {
            ExitCode::SUCCESS if is_violation => ExitCode::from(1),
            code => code,
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

/// The number of a segment that may switch.
fn segment(simple: &SimpleHistory, switching: Switching) -> String {
    simple.segment(switching).map_or_else(|| "none".to_owned(), |segment| segment.to_string())
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
