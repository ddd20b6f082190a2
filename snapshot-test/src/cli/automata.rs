//! `snapshot-test automata`: the automata of simple histories, counted or drawn.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use snapshot_core::automata::{Alphabet, AlphabetError};
use snapshot_core::simple::{SimpleHistory, Switching};
use snapshot_test::Value;
use snapshot_test::automata::{self, Automaton};

use super::format::InputFormat;
use super::recorded;
use super::{print, trouble};

/// Counts, draws or runs the automata that accept the violations of simple histories.
///
/// Exit code of `--run`: 0 if no automaton accepts, 1 if one does, 2 if the recording is bad or
/// not simple.
#[derive(Debug, Args)]
pub struct Automata {
    /// The number of processes, from 1 to 256.
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
    /// With --run: the key of the object, in a recording of several objects.
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
}

impl From<Name> for Automaton {
    fn from(name: Name) -> Self {
        match name {
            Name::Inversion => Self::Inversion,
            Name::Decrease => Self::Decrease,
            Name::Inappropriate => Self::Inappropriate,
            Name::Union => Self::Union,
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
        let chosen = match self.automaton {
            Some(name) => vec![name.into()],
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
        let alphabet = Alphabet::new(self.processes)?;
        let only = self.automaton.map(Automaton::from);
        if self.dot {
            return Ok(only.unwrap_or(Automaton::Union).over(alphabet).to_dot());
        }
        let chosen = Automaton::ALL.into_iter();
        let chosen = chosen.filter(|one| only.is_none_or(|only| only == *one));
        Ok(table(alphabet, chosen))
    }
}

fn segment(simple: &SimpleHistory, switching: Switching) -> String {
    simple.segment(switching).map_or_else(|| "none".to_owned(), |segment| segment.to_string())
}

fn table(alphabet: Alphabet, automata: impl Iterator<Item = Automaton>) -> String {
    let n = alphabet.processes();
    let mut table =
        format!("n = {n} (number of processes), 16 n = {} letters\n\n", alphabet.size());
    table += &format!("{:<19} {:>6}  {:>11}\n", "automaton", "states", "transitions");
    for automaton in automata {
        let nfa = automaton.over(alphabet);
        let name = format!("{:<2} {}", nfa.name(), automaton.name());
        let (states, transitions) = (nfa.states().len(), nfa.transitions().len());
        table += &format!("{name:<19} {states:>6}  {transitions:>11}\n");
    }
    table
}
