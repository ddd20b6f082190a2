//! Trace files: a schedule with the program it belongs to. `docs/traces.md` describes the format.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use snapshot_core::Process;
use thiserror::Error;

use super::event::{Argument, Call, OperationCall};
use super::machine::MAX_PROCESSES;
use super::schedule::{Move, MoveKind};
use crate::program::OperationId;

/// A schedule, with the program it belongs to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trace {
    /// Name of an algorithm of the corpus, or a file: one line of text.
    pub algorithm: String,
    /// Name of the bug variant, if the algorithm is one.
    pub bug: Option<String>,
    /// Value of `size`, if it differs from the declared one.
    pub size: Option<u32>,
    pub processes: usize,
    /// Pair (i, j), if the schedule was found among its simple executions.
    pub pair: Option<[Process; 2]>,
    /// Names of the operations by number, for [`Call::Operation`] in moves, if the algorithm
    /// declares an object.
    pub operations: Vec<String>,
    /// True if the program includes its linearization points.
    pub points: bool,
    /// [`digest`] of the program that made the trace, if known.
    pub program: Option<String>,
    /// Whether the history is linearizable, if known.
    pub linearizable: Option<bool>,
    pub moves: Vec<Move>,
    /// Number of moves before those that repeat for ever; the last state is the one before them.
    pub repeats: Option<usize>,
    /// Descriptions of moves, by their numbers from 1, as far as known.
    pub deeds: BTreeMap<usize, String>,
}

/// Returns sixteen hexadecimal digits that almost always distinguish programs. Comments and white
/// space do not count, edits of a bug do. (FNV-1a of [`Program`](crate::program::Program) as it is
/// displayed.) It does not protect against intent: the effects of moves are compared as well.
pub fn digest(program: &crate::program::Program) -> String {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let text = program.to_string();
    let digest =
        text.bytes().fold(BASIS, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(PRIME));
    format!("{digest:016x}")
}

/// A text that is not a valid trace.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("line {line}: {kind}")]
pub struct TraceError {
    /// Line number, from 1.
    pub line: usize,
    pub kind: TraceErrorKind,
}

#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum TraceErrorKind {
    /// The header is missing: the text is not a trace.
    #[error("a trace begins with the line `{}`", Trace::HEADER)]
    NoHeader,
    /// The trace has another version.
    #[error("this is version {found} of the trace format; this program reads versions 1 and 2")]
    Version {
        /// Version found.
        found: String,
    },
    /// A line of the head is missing.
    #[error("the line `{what} ...` is missing before the first move")]
    Missing {
        /// Keyword of the line.
        what: &'static str,
    },
    /// A line of the head occurs twice.
    #[error("`{what}` has been given before")]
    Twice {
        /// Keyword of the line.
        what: &'static str,
    },
    /// A line has no meaning.
    #[error(
        "`{found}` is neither a move (`p0 update 1`, `p0 scan`, `p0 step`, `p0 step 3`, or \
         `p0 begin NAME ARGUMENTS` of one of the `operations`) nor one of `algorithm NAME`, `bug \
         NAME`, `size N`, `processes N`, `pair I J`, `operations NAMES`, `points`, `program \
         DIGEST`, `history linearizable|violation`, `loop`, `= DEED`, `end`"
    )]
    Unknown {
        /// Line found.
        found: String,
    },
    /// A number is invalid or out of range.
    #[error("`{found}` is no {what} from {low} to {high}")]
    Number {
        /// Kind of number expected.
        what: &'static str,
        /// Text found.
        found: String,
        /// Least possible number.
        low: u64,
        /// Greatest possible number.
        high: u64,
    },
    /// The pair is invalid.
    #[error("a pair is two different processes, the smaller first")]
    Pair,
    #[error("a trace has at most {limit} moves")]
    TooLong {
        /// Largest possible number of moves.
        limit: usize,
    },
    /// The trace was cut off.
    #[error(
        "the trace is cut off after this line: its last line must be `{}`; make it again",
        Trace::END
    )]
    NoEnd,
    /// No move follows the mark of the loop.
    #[error("after `{LOOP}` the moves are missing that repeat for ever")]
    EmptyLoop,
    /// A line stands after the end.
    #[error("`{found}` stands after the last line, `{}`", Trace::END)]
    AfterEnd {
        /// Line found.
        found: String,
    },
    /// A description of a move stands before the first move.
    #[error("`=` says what the move before it did: there is none")]
    NoMove,
    /// A line of the head stands after a move.
    #[error("`{what}` belongs before the first move")]
    Late {
        /// Keyword of the line.
        what: &'static str,
    },
}

impl Trace {
    /// First line of a trace.
    pub const HEADER: &'static str = "snapshot-trace 2";

    /// Last line, since version 2: without it, a trace that was cut off would pass for a complete
    /// one.
    pub const END: &'static str = "end";

    /// Returns the line of a move in the text of a trace; both are numbered from 1.
    pub fn line_of(text: &str, number: usize) -> Option<usize> {
        let mut reading = Reading::default();
        let lines = text.lines().map(str::trim).zip(1..);
        let mut lines =
            lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')).skip(1);
        lines.find_map(|(line, at)| {
            let is_there = reading.line(line).is_ok() && reading.moves.len() >= number;
            is_there.then_some(at)
        })
    }
}

/// Formats as a trace file.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", Self::HEADER)?;
        writeln!(f, "algorithm {}", self.algorithm)?;
        if let Some(bug) = &self.bug {
            writeln!(f, "bug {bug}")?;
        }
        if let Some(size) = self.size {
            writeln!(f, "size {size}")?;
        }
        writeln!(f, "processes {}", self.processes)?;
        if let Some([i, j]) = self.pair {
            writeln!(f, "pair {i} {j}")?;
        }
        if !self.operations.is_empty() {
            writeln!(f, "operations {}", self.operations.join(" "))?;
        }
        if self.points {
            writeln!(f, "{POINTS}")?;
        }
        if let Some(program) = &self.program {
            writeln!(f, "program {program}")?;
        }
        if let Some(linearizable) = self.linearizable {
            writeln!(f, "history {}", if linearizable { LINEARIZABLE } else { WRONG })?;
        }
        writeln!(f)?;
        for (number, made) in (1..).zip(&self.moves) {
            if self.repeats == Some(number - 1) {
                writeln!(f, "{LOOP}")?;
            }
            writeln!(f, "{}", made.named(&self.operations))?;
            if let Some(deed) = self.deeds.get(&number) {
                writeln!(f, "= {deed}")?;
            }
        }
        writeln!(f, "{}", Self::END)
    }
}

/// Line that marks a program with its linearization points.
const POINTS: &str = "points";

/// Line before the moves that repeat for ever.
const LOOP: &str = "loop";

/// Text for a linearizable history.
const LINEARIZABLE: &str = "linearizable";

/// Text for a violation.
const WRONG: &str = "violation";

/// Most moves of a trace: people cannot read longer ones.
const MOST_MOVES: usize = 1 << 24;

/// Most outcomes of a step: no program has this many nodes.
const MOST_OUTCOMES: u64 = 1 << 20;

/// Partially read trace.
#[derive(Default)]
struct Reading {
    algorithm: Option<String>,
    bug: Option<String>,
    size: Option<u32>,
    processes: Option<usize>,
    pair: Option<[Process; 2]>,
    operations: Option<Vec<String>>,
    points: Option<()>,
    program: Option<String>,
    linearizable: Option<bool>,
    moves: Vec<Move>,
    repeats: Option<usize>,
    deeds: BTreeMap<usize, String>,
}

impl FromStr for Trace {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        let mut reading = Reading::default();
        let (mut began, mut has_end, mut ended) = (false, false, false);
        let mut last = 1;
        for (position, line) in text.lines().enumerate() {
            let at = |kind| TraceError { line: position + 1, kind };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            last = position + 1;
            if ended {
                return Err(at(TraceErrorKind::AfterEnd { found: line.to_owned() }));
            } else if has_end && line == Self::END {
                ended = true;
            } else if began {
                reading.line(line).map_err(at)?;
            } else {
                has_end = header(line).map_err(at)?;
                began = true;
            }
        }
        let at = |kind| TraceError { line: last, kind };
        if !began {
            return Err(at(TraceErrorKind::NoHeader));
        }
        if has_end && !ended {
            return Err(at(TraceErrorKind::NoEnd));
        }
        let missing = |what| at(TraceErrorKind::Missing { what });
        if reading.repeats.is_some_and(|repeats| repeats == reading.moves.len()) {
            return Err(at(TraceErrorKind::EmptyLoop));
        }
        Ok(Self {
            algorithm: reading.algorithm.ok_or_else(|| missing("algorithm"))?,
            bug: reading.bug,
            size: reading.size,
            processes: reading.processes.ok_or_else(|| missing("processes"))?,
            pair: reading.pair,
            operations: reading.operations.unwrap_or_default(),
            points: reading.points.is_some(),
            program: reading.program,
            linearizable: reading.linearizable,
            moves: reading.moves,
            repeats: reading.repeats,
            deeds: reading.deeds,
        })
    }
}

/// Returns true if a trace with this first line must have an end mark.
fn header(line: &str) -> Result<bool, TraceErrorKind> {
    let mut words = line.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("snapshot-trace"), Some("1"), None) => Ok(false),
        (Some("snapshot-trace"), Some("2"), None) => Ok(true),
        (Some("snapshot-trace"), Some(found), None) => {
            Err(TraceErrorKind::Version { found: found.to_owned() })
        }
        _ => Err(TraceErrorKind::NoHeader),
    }
}

fn number(what: &'static str, found: &str, (low, high): (u64, u64)) -> Result<u64, TraceErrorKind> {
    match found.parse() {
        Ok(number) if (low..=high).contains(&number) => Ok(number),
        _ => Err(TraceErrorKind::Number { what, found: found.to_owned(), low, high }),
    }
}

/// Sets a value that must not have been set before.
fn once<T>(place: &mut Option<T>, what: &'static str, found: T) -> Result<(), TraceErrorKind> {
    if place.is_some() {
        return Err(TraceErrorKind::Twice { what });
    }
    *place = Some(found);
    Ok(())
}

impl Reading {
    fn line(&mut self, line: &str) -> Result<(), TraceErrorKind> {
        let unknown = || TraceErrorKind::Unknown { found: line.to_owned() };
        if line == POINTS {
            if !self.moves.is_empty() {
                return Err(TraceErrorKind::Late { what: POINTS });
            }
            return once(&mut self.points, POINTS, ());
        }
        if line == LOOP {
            return once(&mut self.repeats, LOOP, self.moves.len());
        }
        let (word, rest) = line.split_once(char::is_whitespace).ok_or_else(unknown)?;
        let rest = rest.trim();
        if word == "=" {
            if self.moves.is_empty() {
                return Err(TraceErrorKind::NoMove);
            }
            let number = self.moves.len();
            return match self.deeds.insert(number, rest.to_owned()) {
                None => Ok(()),
                Some(_) => Err(TraceErrorKind::Twice { what: "=" }),
            };
        }
        let head =
            ["algorithm", "bug", "size", "processes", "pair", "operations", "program", "history"];
        if let Some(&what) = head.iter().find(|what| **what == word) {
            if !self.moves.is_empty() {
                return Err(TraceErrorKind::Late { what });
            }
            return match what {
                "algorithm" => once(&mut self.algorithm, what, rest.to_owned()),
                "bug" => once(&mut self.bug, what, rest.to_owned()),
                "operations" => {
                    let names = rest.split_whitespace().map(str::to_owned).collect();
                    once(&mut self.operations, what, names)
                }
                "program" => once(&mut self.program, what, rest.to_owned()),
                "history" if rest == LINEARIZABLE => once(&mut self.linearizable, what, true),
                "history" if rest == WRONG => once(&mut self.linearizable, what, false),
                "history" => Err(unknown()),
                "size" => {
                    let size = number("size", rest, (0, u64::from(u32::MAX)))?;
                    once(&mut self.size, what, size as u32)
                }
                "processes" => {
                    let range = (1, MAX_PROCESSES as u64);
                    let processes = number("number of processes", rest, range)? as usize;
                    once(&mut self.processes, what, processes)
                }
                _ => {
                    let (i, j) = rest.split_once(char::is_whitespace).ok_or_else(unknown)?;
                    let (i, j) = (self.process(i)?, self.process(j.trim())?);
                    if i >= j {
                        return Err(TraceErrorKind::Pair);
                    }
                    once(&mut self.pair, what, [i, j])
                }
            };
        }
        if self.moves.len() >= MOST_MOVES {
            return Err(TraceErrorKind::TooLong { limit: MOST_MOVES });
        }
        let names = self.operations.as_deref().unwrap_or_default();
        let (made, times) = read_move(line, names, |found| self.process(found))?;
        if times > MOST_MOVES - self.moves.len() {
            return Err(TraceErrorKind::TooLong { limit: MOST_MOVES });
        }
        self.moves.extend(std::iter::repeat_n(made, times));
        Ok(())
    }

    fn process(&self, found: &str) -> Result<Process, TraceErrorKind> {
        let processes = self.processes.ok_or(TraceErrorKind::Missing { what: "processes" })?;
        process(found, processes)
    }
}

fn process(found: &str, processes: usize) -> Result<Process, TraceErrorKind> {
    let index = number("process", found, (0, (processes as u64).saturating_sub(1)))?;
    Ok(Process::from_index(index as usize))
}

impl Move {
    /// Parses one move of n processes, as a line of a trace; `operations`: the names of the
    /// operations of the object that the program declares.
    ///
    /// # Errors
    /// If the text is no move, or several (`p0 step 3`).
    pub fn read(text: &str, n: usize, operations: &[String]) -> Result<Self, TraceErrorKind> {
        match read_move(text, operations, |found| process(found, n))? {
            (made, 1) => Ok(made),
            _ => Err(TraceErrorKind::Unknown { found: text.to_owned() }),
        }
    }
}

/// Parses the line of a move, and how often it is made.
fn read_move(
    line: &str,
    operations: &[String],
    process: impl FnOnce(&str) -> Result<Process, TraceErrorKind>,
) -> Result<(Move, usize), TraceErrorKind> {
    let unknown = || TraceErrorKind::Unknown { found: line.to_owned() };
    let mut words = line.split_whitespace();
    let named = words.next().and_then(|word| word.strip_prefix('p')).ok_or_else(unknown)?;
    let process = process(named)?;
    let words: Vec<&str> = words.collect();
    let made = match words[..] {
        ["update", value] => {
            let value = number("value", value, (0, u64::from(u32::MAX)))? as u32;
            Move::update(process, value)
        }
        ["scan"] => Move::scan(process),
        ["begin", name, ref arguments @ ..] => {
            let number = operations.iter().position(|known| known == name).ok_or_else(unknown)?;
            let number = u16::try_from(number).map_err(|_| unknown())?;
            let mut call = OperationCall::new(OperationId(number));
            if arguments.len() > call.arguments.len() {
                return Err(unknown());
            }
            for (argument, found) in call.arguments.iter_mut().zip(arguments) {
                if *found != "-" {
                    *argument = Argument(found.parse().map_err(|_| unknown())?);
                }
            }
            Move { process, kind: MoveKind::Begin(Call::Operation(call)) }
        }
        ["take", outcome] => {
            let outcome = number("outcome", outcome, (1, MOST_OUTCOMES))? as u32;
            Move::taking(process, outcome)
        }
        ["step"] => Move::step(process),
        ["step", times] => {
            let times = number("number of steps", times, (1, MOST_MOVES as u64))? as usize;
            return Ok((Move::step(process), times));
        }
        _ => return Err(unknown()),
    };
    Ok((made, 1))
}
