//! Checks a certificate: coverage of the initial state, closure under moves, and no acceptance. The
//! check searches nothing.

use std::io::{self, BufRead};

use snapshot_core::Process;
use thiserror::Error;

use super::claim::pair as pair_of;
use super::lines::{LineError, Lines};
use super::search::List;
use super::system::System;
use super::{Budget, Claim, ClaimError, Unfinished};
use crate::interpret::{Fault, Machine, MachineError, Move, Writing};
use crate::program::Program;
use crate::program::independence;

/// Interval between calls of the budget, in lines or states.
const PERIOD: u64 = 256;

/// Result of a check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The certificate proves its claim.
    Accepted(Accepted),
    /// The certificate does not prove its claim.
    Refused(Refusal),
    /// The budget ran out before the end of the certificate.
    Unknown(Unfinished),
    /// The input is not a certificate of this version.
    Foreign,
}

/// Summary of an accepted certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Accepted {
    pub claim: Claim,
    /// Number of listed states.
    pub states: u64,
    pub moves: u64,
}

/// Reason why a certificate proves nothing.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// A malformed line.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A claim that no certificate can prove.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// The certificate is for another program.
    #[error("it is for {what} {claimed}, not {given}")]
    Other {
        /// Name of the property that differs.
        what: &'static str,
        /// Value in the certificate.
        claimed: String,
        /// Value of the program.
        given: String,
    },
    /// Simple executions are not representative.
    #[error("the program looks at values, so its simple executions do not speak for the others")]
    LooksAtValues,
    /// The program cannot be run with this many processes.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The initial state is not covered.
    #[error("pair ({},{}): the initial state is not covered", .pair[0], .pair[1])]
    Initial {
        /// The pair (i, j).
        pair: [Process; 2],
    },
    /// A state is a violation.
    #[error("pair ({},{}), line {line}: the state is accepting, a violation", .pair[0], .pair[1])]
    Accepting {
        /// The pair (i, j).
        pair: [Process; 2],
        line: u64,
    },
    /// A move leads to a state that is not covered.
    #[error(
        "pair ({},{}), line {line}: `{made}`{} leads to a state that {}",
        .pair[0], .pair[1], suffix(*.permuted),
        if *.violation { "is a violation" } else { "is not covered" }
    )]
    Escape {
        pair: [Process; 2],
        line: u64,
        made: Move,
        /// True if the move starts from the state with its processes permuted.
        permuted: bool,
        /// True if the move leads to acceptance.
        violation: bool,
    },
    /// A move is a fault.
    #[error(
        "pair ({},{}), line {line}: at `{made}`{} the program goes wrong: {fault}",
        .pair[0], .pair[1], suffix(*.permuted)
    )]
    Fault {
        pair: [Process; 2],
        line: u64,
        made: Move,
        /// True if the move starts from the state with its processes permuted.
        permuted: bool,
        fault: Fault,
    },
}

const fn suffix(permuted: bool) -> &'static str {
    if permuted { ", with processes permuted," } else { "" }
}

#[derive(Debug)]
enum Stop {
    Refused(Refusal),
    Unknown(Unfinished),
    Io(io::Error),
}

impl<T: Into<Refusal>> From<T> for Stop {
    fn from(refusal: T) -> Self {
        Self::Refused(refusal.into())
    }
}

/// Checks a certificate for a program whose text has this digest.
///
/// Memory: the lists of one pair, a few times their size in the file, and the results of the moves
/// from them. Time: one step of the interpreter per distinct local situation, one look-up per move
/// and permutation.
///
/// # Errors
/// If the input cannot be read.
pub fn check(
    program: &Program,
    digest: &str,
    input: &mut impl BufRead,
    budget: &mut Budget<'_>,
) -> io::Result<Answer> {
    let mut lines = Lines::new(input);
    let claim = match Claim::read(&mut lines)? {
        Ok(Some(claim)) => claim,
        Ok(None) => return Ok(Answer::Foreign),
        Err(error) => return Ok(Answer::Refused(error.into())),
    };
    match Check::run(program, digest, claim, &mut lines, budget) {
        Ok(accepted) => Ok(Answer::Accepted(accepted)),
        Err(Stop::Refused(refusal)) => Ok(Answer::Refused(refusal)),
        Err(Stop::Unknown(cause)) => Ok(Answer::Unknown(cause)),
        Err(Stop::Io(error)) => Err(error),
    }
}

struct Check<'c, 'b, 'm, 'p> {
    pair: [Process; 2],
    claim: &'c Claim,
    system: System<'m, 'p>,
    list: List,
    /// Row and set of each state, in the order of the file.
    states: Vec<(u32, u32)>,
    first_line: u64,
    moves: u64,
    budget: &'c mut Budget<'b>,
}

impl<'c, 'b> Check<'c, 'b, '_, '_> {
    fn run(
        program: &Program,
        digest: &str,
        claim: Claim,
        lines: &mut Lines<'_, impl BufRead>,
        budget: &'c mut Budget<'b>,
    ) -> Result<Accepted, Stop> {
        claim.validate()?;
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
        for (what, claimed, given) in [
            ("the algorithm", claim.algorithm.clone(), program.name.clone()),
            ("the bug", name(&claim.bug), name(&program.bug)),
            (
                "another text of the algorithm, which has changed since: that with SHA-256",
                claim.digest.clone(),
                digest.to_owned(),
            ),
        ] {
            if claimed != given {
                return Err(Refusal::Other { what, claimed, given }.into());
            }
        }
        if independence::check(program).is_err() {
            return Err(Refusal::LooksAtValues.into());
        }
        let machine = Machine::new(program, claim.processes)?;
        let (mut states, mut moves) = (0, 0);
        for pair in claim.pairs.iter().copied() {
            let system = System::new(&machine, pair, claim.operations, claim.coverage.symmetry);
            let list = List::new(claim.coverage, system.width());
            let mut check = Check {
                pair,
                claim: &claim,
                system,
                list,
                states: Vec::new(),
                first_line: 0,
                moves: 0,
                budget: &mut *budget,
            };
            check.read(&Writing::new(&machine), lines)?;
            check.confirm()?;
            states += check.states.len() as u64;
            moves += check.moves;
        }
        lines.end().map_err(Stop::Io)??;
        Ok(Accepted { claim, states, moves })
    }

    /// Reads the lists of the pair.
    fn read(
        &mut self,
        writing: &Writing<'_, '_>,
        lines: &mut Lines<'_, impl BufRead>,
    ) -> Result<(), Stop> {
        let pair = lines.field("pair").map_err(Stop::Io)??;
        if pair_of(pair) != Some(self.pair) {
            let expected = format!("`pair {},{}`", self.pair[0], self.pair[1]);
            return Err(lines.expected(&expected).into());
        }
        let count = lines.count("shared").map_err(Stop::Io)??;
        for place in 0..count {
            let line = lines.expect_line("a shared part").map_err(Stop::Io)??;
            let part = writing.read_shared(line);
            let part = part.map_err(|error| lines.expected(&error.to_string()))?;
            let number = self.system.shared.number(part);
            self.require_new(u64::from(number) == place, lines)?;
        }
        let count = lines.count("process").map_err(Stop::Io)??;
        for place in 0..count {
            let line = lines.expect_line("a process's part").map_err(Stop::Io)??;
            let part = writing.read_process(line);
            let part = part.map_err(|error| lines.expected(&error.to_string()))?;
            let number = self.system.processes.number(part);
            self.require_new(u64::from(number) == place, lines)?;
        }
        let count = lines.count("sets").map_err(Stop::Io)??;
        for place in 0..count {
            let line = lines.expect_line("a set").map_err(Stop::Io)??;
            let set = u128::from_str_radix(line, 16).ok();
            let number = set.and_then(|set| self.system.judge.admit(set));
            let number =
                number.ok_or_else(|| lines.expected("a set of states, in hexadecimal digits"))?;
            self.require_new(u64::from(number) == place, lines)?;
        }
        self.read_states(lines)
    }

    /// Checks that a line of a table differs from all lines before it.
    fn require_new(&mut self, is_new: bool, lines: &Lines<'_, impl BufRead>) -> Result<(), Stop> {
        if !is_new {
            return Err(lines.expected("something that no line before says").into());
        }
        if lines.number().is_multiple_of(PERIOD) {
            self.spend()?;
        }
        Ok(())
    }

    fn read_states(&mut self, lines: &mut Lines<'_, impl BufRead>) -> Result<(), Stop> {
        let count = lines.count("states").map_err(Stop::Io)??;
        self.first_line = lines.number() + 1;
        let (width, at) = (self.system.width(), self.system.shared_at());
        let limits: Vec<u64> = (0..=width)
            .map(|column| match column {
                0 => 4,
                _ if column < at => u64::from(self.claim.operations.unwrap_or(0)) + 1,
                _ if column == at => self.system.shared.len() as u64,
                _ if column < width => self.system.processes.len() as u64,
                _ => self.system.judge.len() as u64,
            })
            .collect();
        let mut state: Vec<u32> = Vec::new();
        for _ in 0..count {
            let line = lines.expect_line("a state").map_err(Stop::Io)??;
            let numbers: Option<Vec<u32>> = line.split(' ').map(|word| word.parse().ok()).collect();
            let Some(numbers) = numbers.filter(|numbers| {
                let (given, all) = (numbers.len(), width + 1);
                if state.is_empty() { given == all } else { (1..=all).contains(&given) }
            }) else {
                return Err(lines.expected("the numbers of a state").into());
            };
            let common = width + 1 - numbers.len();
            // The first written number is where the state differs from its predecessor.
            if !state.is_empty() && numbers[0] <= state[common] {
                return Err(lines.expected("states in ascending order").into());
            }
            state.truncate(common);
            state.extend(numbers);
            let in_range =
                state.iter().zip(&limits).all(|(number, limit)| u64::from(*number) < *limit);
            if !in_range {
                return Err(lines.expected("numbers of the tables above").into());
            }
            self.admit(&state, lines)?;
        }
        Ok(())
    }

    fn admit(&mut self, state: &[u32], lines: &Lines<'_, impl BufRead>) -> Result<(), Stop> {
        let (row, set) = (&state[..state.len() - 1], state[state.len() - 1]);
        let mut normal = row.to_vec();
        self.system.normalise(&mut normal);
        if normal != row {
            return Err(lines.expected("versions numbered in the order they occur").into());
        }
        if self.system.judge.is_accepting(set) {
            return Err(Refusal::Accepting { pair: self.pair, line: lines.number() }.into());
        }
        let number = self.list.push(row, set);
        self.states.push((number as u32, set));
        if lines.number().is_multiple_of(PERIOD) {
            self.spend()?;
        }
        Ok(())
    }

    /// Checks that the initial state is covered, and that every move from a covered state leads to
    /// a covered one.
    fn confirm(&mut self) -> Result<(), Stop> {
        let pair = self.pair;
        let (row, set) = self.system.initial();
        if !self.list.covers(&mut self.system, &row, set) {
            return Err(Refusal::Initial { pair }.into());
        }
        let mut after = Vec::new();
        for place in 0..self.states.len() {
            if (place as u64).is_multiple_of(PERIOD) {
                self.spend()?;
            }
            let line = self.first_line + place as u64;
            let (number, set) = self.states[place];
            let row = self.list.rows.get(number as usize).to_vec();
            for permutation in 0..self.system.permutations() {
                let permuted = permutation > 0;
                let (row, set) = self.system.renamed(&row, set, permutation);
                let moves = self.system.successors(&row, set, &mut after);
                moves.map_err(|(made, fault)| {
                    Stop::Refused(Refusal::Fault { pair, line, made, permuted, fault })
                })?;
                self.moves += after.len() as u64;
                for next in &after {
                    let violation = self.system.judge.is_accepting(next.set);
                    if violation || !self.list.covers(&mut self.system, &next.row, next.set) {
                        let made = next.made;
                        let escape = Refusal::Escape { pair, line, made, permuted, violation };
                        return Err(escape.into());
                    }
                }
            }
        }
        Ok(())
    }

    fn spend(&mut self) -> Result<(), Stop> {
        let states = self.states.capacity() * size_of::<(u32, u32)>();
        let bytes = self.list.bytes() + self.system.bytes() + states;
        self.budget.spend(bytes).map_err(Stop::Unknown)
    }
}
