//! Writes the certificate of an algorithm.

use std::io::{self, Write};

use sha2::{Digest, Sha256};
use snapshot_core::Process;
use thiserror::Error;

use super::claim::hexadecimal;
use super::search::{List, Obstacle, search};
use super::system::System;
use super::{Budget, Claim, ClaimError, Unfinished};
use crate::interpret::{Fault, Machine, MachineError, Move, Writing};
use crate::program::Program;
use crate::program::independence;

/// Summary of a written certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Summary {
    /// Pairs, each with its number of states.
    pub pairs: Vec<([Process; 2], usize)>,
    pub bytes: u64,
}

impl Summary {
    /// Returns the number of states of all pairs.
    pub fn states(&self) -> usize {
        self.pairs.iter().map(|(_, states)| states).sum()
    }
}

/// Reason for a missing certificate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// The program cannot be run with this many processes.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Simple executions are not representative.
    #[error("the program looks at values, so its simple executions do not speak for the others")]
    LooksAtValues,
    /// The program has infinitely many states.
    #[error(
        "the program has counters, so without a bound on the operations its states are \
         infinitely many, and a certificate lists them: add --operations"
    )]
    Counters,
    #[error(
        "for the pair ({},{}), the interpreter reaches a violation by `{made}`{}",
        .pair[0], .pair[1], permuted(*.symmetry)
    )]
    Violation {
        pair: [Process; 2],
        made: Move,
        /// True if processes were permuted: then the state may be unreachable.
        symmetry: bool,
    },
    /// The program has a fault.
    #[error(
        "for the pair ({},{}), the program goes wrong at `{made}`: {fault}{}",
        .pair[0], .pair[1], permuted(*.symmetry)
    )]
    Fault {
        pair: [Process; 2],
        made: Move,
        fault: Fault,
        /// True if processes were permuted: then the state may be unreachable.
        symmetry: bool,
    },
    /// The budget ran out.
    #[error("{} ran out before all states were listed", .0.name())]
    Unknown(Unfinished),
    #[error("it cannot be written: {0}")]
    Io(#[from] io::Error),
}

impl Failure {
    /// Returns true if the failure shows a wrong execution: its state is reached without
    /// permutations.
    pub const fn contradicts(&self) -> bool {
        matches!(
            self,
            Self::Violation { symmetry: false, .. } | Self::Fault { symmetry: false, .. }
        )
    }

    /// Returns true if only permutations lead to the wrong state.
    pub const fn is_asymmetric(&self) -> bool {
        matches!(self, Self::Violation { symmetry: true, .. } | Self::Fault { symmetry: true, .. })
    }
}

const fn permuted(symmetry: bool) -> &'static str {
    if symmetry { ", with processes permuted: the program does not treat them alike" } else { "" }
}

/// Lists the states of all pairs of a claim, and writes the certificate.
///
/// # Errors
/// If the claim has no certificate; the text written so far is then meaningless.
pub fn write(
    program: &Program,
    claim: &Claim,
    out: &mut dyn Write,
    budget: &mut Budget<'_>,
) -> Result<Summary, Failure> {
    claim.validate()?;
    if independence::check(program).is_err() {
        return Err(Failure::LooksAtValues);
    }
    if claim.operations.is_none() && program.has_counters() {
        return Err(Failure::Counters);
    }
    let machine = Machine::new(program, claim.processes)?;
    let mut out = Sealed { out, hash: Sha256::new(), bytes: 0 };
    write!(out, "{claim}")?;
    let mut pairs = Vec::new();
    let symmetry = claim.coverage.symmetry;
    for pair in claim.pairs.iter().copied() {
        let mut system = System::new(&machine, pair, claim.operations, symmetry);
        let list =
            search(&mut system, claim.coverage, budget).map_err(|obstacle| match obstacle {
                Obstacle::Accepting(made) => Failure::Violation { pair, made, symmetry },
                Obstacle::Fault(made, fault) => Failure::Fault { pair, made, fault, symmetry },
                Obstacle::Unknown(cause) => Failure::Unknown(cause),
            })?;
        writeln!(out, "pair {},{}", pair[0], pair[1])?;
        section(&mut out, &machine, &system, &list)?;
        pairs.push((pair, list.len()));
    }
    let seal = hexadecimal(out.hash.clone());
    writeln!(out, "end {seal}")?;
    out.flush()?;
    Ok(Summary { pairs, bytes: out.bytes })
}

/// Writes the tables of one pair. Parts and sets in use are numbered in the order of their first
/// occurrence in the search.
pub(super) fn section(
    out: &mut dyn Write,
    machine: &Machine<'_>,
    system: &System<'_, '_>,
    list: &List,
) -> io::Result<()> {
    let at = system.shared_at();
    let mut shared = vec![None; system.shared.len()];
    let mut processes = vec![None; system.processes.len()];
    let mut sets = vec![None; system.judge.len()];
    for number in 0..list.rows.len() {
        if list.sets[number].is_empty() {
            continue;
        }
        let row = list.rows.get(number);
        shared[row[at] as usize] = Some(0);
        row[at + 1..].iter().for_each(|part| processes[*part as usize] = Some(0));
        list.sets[number].iter().for_each(|set| sets[*set as usize] = Some(0));
    }
    for table in [&mut shared, &mut processes, &mut sets] {
        let used = table.iter_mut().flatten();
        used.enumerate().for_each(|(place, number)| *number = place as u32);
    }
    let used = |table: &[Option<u32>]| -> Vec<u32> {
        let numbers = (0..table.len() as u32).filter(|number| table[*number as usize].is_some());
        numbers.collect()
    };
    let writing = Writing::new(machine);
    let parts = used(&shared);
    writeln!(out, "shared {}", parts.len())?;
    for number in parts {
        writeln!(out, "{}", writing.shared(&system.shared.get(number)))?;
    }
    let parts = used(&processes);
    writeln!(out, "process {}", parts.len())?;
    for number in parts {
        writeln!(out, "{}", writing.process(&system.processes.get(number)))?;
    }
    let masks = used(&sets);
    writeln!(out, "sets {}", masks.len())?;
    for number in masks {
        writeln!(out, "{:x}", system.judge.set(number))?;
    }

    let mut states = Vec::with_capacity(list.len());
    for number in 0..list.rows.len() {
        let numbered = |table: &[Option<u32>], number: u32| table[number as usize].unwrap_or(0);
        let mut row = list.rows.get(number).to_vec();
        row[at] = numbered(&shared, row[at]);
        row[at + 1..].iter_mut().for_each(|part| *part = numbered(&processes, *part));
        states.extend(list.sets[number].iter().map(|set| {
            let mut state = row.clone();
            state.push(numbered(&sets, *set));
            state.into_boxed_slice()
        }));
    }
    states.sort_unstable();
    writeln!(out, "states {}", states.len())?;
    let mut before: &[u32] = &[];
    for state in &states {
        // The common prefix with the state before is left out.
        let common = before.iter().zip(state).take_while(|(a, b)| a == b).count();
        let rest: Vec<String> = state[common..].iter().map(u32::to_string).collect();
        writeln!(out, "{}", rest.join(" "))?;
        before = state;
    }
    Ok(())
}

/// Output that hashes and counts its bytes.
struct Sealed<'a> {
    out: &'a mut dyn Write,
    hash: Sha256,
    bytes: u64,
}

impl Write for Sealed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
