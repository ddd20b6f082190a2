//! Reconstructs the trace from the initial state to a violation.
//!
//! A search stores no parents. But if the states of every level are known, a state on level k + 1
//! has a predecessor on level k, found by exploring the states of level k again and comparing.
//! Among several predecessors the least counts, so the trace does not depend on threads. The
//! reconstruction costs about as much as the search, without the store.
//!
//! Then the trace is walked forward once, to record each step. The search went from canonical state
//! to canonical state. Where canonical forms permute processes, the walk undoes the permutations so
//! far, so that a process of the trace stays the same process.

use std::borrow::Cow;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use snapshot_core::Process;

use super::budget::Supervisor;
use super::canonical::Permutation;
use super::code::RegisterMachine;
use super::outcome::{PathStep, SearchPath};
use super::product::{Ahead, Choice, Move, Product, Scratch, Stop};
use super::spill::{Files, Reader, Run};
use super::store::{CHUNK, Chunk};
use super::worker::Found;
use crate::instance::Scalar;

/// The states of an explored level.
#[derive(Debug)]
pub(super) enum LevelStates<const W: usize> {
    Memory(Vec<Chunk<W>>),
    Disk(Run),
}

/// The states of a level, shared by several threads.
enum Source<'a, const W: usize> {
    Memory(&'a [Chunk<W>], AtomicUsize),
    Disk(Mutex<Reader<W>>),
}

impl<const W: usize> Source<'_, W> {
    fn next(&self) -> io::Result<Option<Cow<'_, [[u64; W]]>>> {
        match self {
            Self::Memory(chunks, next) => {
                let chunk = chunks.get(next.fetch_add(1, Ordering::Relaxed));
                Ok(chunk.map(|chunk| Cow::Borrowed(chunk.as_slice())))
            }
            Self::Disk(reader) => {
                let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
                let chunk = reader.next_chunk(CHUNK)?;
                Ok((!chunk.is_empty()).then_some(Cow::Owned(chunk)))
            }
        }
    }
}

/// Returns the moves from the initial state to a violation or fault, including the last one.
/// Returns `None` if the watch ends the search.
pub(super) fn moves<const W: usize>(
    product: &Product<'_>,
    levels: &[LevelStates<W>],
    files: Option<Files<'_>>,
    found: &Found<W>,
    threads: usize,
    watch: &Supervisor<'_>,
) -> Option<Vec<([u64; W], Move)>> {
    let mut moves = vec![(found.state, found.by)];
    let mut target = found.state;
    for level in levels.iter().rev() {
        let source = match (level, files) {
            (LevelStates::Memory(chunks), _) => Source::Memory(chunks, AtomicUsize::new(0)),
            (LevelStates::Disk(run), Some(files)) => match files.read(*run) {
                Ok(reader) => Source::Disk(Mutex::new(reader)),
                Err(error) => {
                    watch.fail(error);
                    return None;
                }
            },
            (LevelStates::Disk(_), None) => unreachable!("what is on the disk has one"),
        };
        let step = predecessor(product, &source, &target, threads, watch)?;
        target = step.0;
        moves.push(step);
    }
    moves.reverse();
    Some(moves)
}

/// Returns the least state of a level with a move to the target, with its least such move.
fn predecessor<const W: usize>(
    product: &Product<'_>,
    source: &Source<'_, W>,
    target: &[u64; W],
    threads: usize,
    watch: &Supervisor<'_>,
) -> Option<([u64; W], Move)> {
    let least: Mutex<Option<([u64; W], Move)>> = Mutex::new(None);
    let work = || {
        let mut scratch = Scratch::new(product);
        let mut mine: Option<([u64; W], Move)> = None;
        while watch.cause().is_none()
            && let Some(chunk) = source.next().unwrap_or_else(|error| {
                watch.fail(error);
                None
            })
        {
            watch.look();
            for state in chunk.iter() {
                product.successors_dyn(state, &mut scratch, &mut |by, successor| {
                    if successor.state == Some(*target) {
                        mine = mine.into_iter().chain([(*state, by)]).min();
                    }
                });
            }
        }
        let mut least = least.lock().unwrap_or_else(PoisonError::into_inner);
        *least = least.into_iter().chain(mine).min();
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    if watch.cause().is_some() {
        return None;
    }
    let least = least.into_inner().unwrap_or_else(PoisonError::into_inner);
    debug_assert!(least.is_some(), "every state of a level has a predecessor on the one before");
    least
}

/// Walks moves from the initial state, with the ample steps after each.
pub(super) fn walk<const W: usize>(
    product: &Product<'_>,
    moves: &[([u64; W], Move)],
) -> SearchPath {
    let mut scratch = Scratch::new(product);
    let mut ahead = Ahead::new(product);
    let mut walker = Walker {
        product,
        machine: ahead.machine.clone(),
        permutation: product.initial().1,
        trace: SearchPath::default(),
    };
    for (state, by) in moves {
        for expansion in 0..=by.expansion {
            product.unpack(state, expansion, &mut scratch);
        }
        let mut after = scratch.machine.state().to_vec();
        if walker.step(by.process, by.choice, &mut after).is_err() {
            continue;
        }
        let steps = product.go_ahead(&mut after.clone(), &mut ahead).steps;
        for _ in 0..steps {
            let Some((process, _)) = product.leader(&after, &mut ahead) else { break };
            let _ = walker.step(process, Choice::Step, &mut after);
        }
    }
    walker.trace
}

/// Records steps by the processes of the trace.
struct Walker<'a> {
    product: &'a Product<'a>,
    machine: RegisterMachine,
    /// Maps processes of the trace to processes of the canonical state.
    permutation: Permutation,
    trace: SearchPath,
}

impl Walker<'_> {
    /// Takes one step from a state, and replaces the state by the canonical successor.
    fn step(&mut self, process: Process, choice: Choice, state: &mut [Scalar]) -> Result<(), Stop> {
        let Self { product, machine, permutation, trace } = self;
        let back = permutation.inverse();
        // Alike processes may make different numbers of accesses, so the step is taken by the
        // process of the trace itself.
        machine.begin();
        machine.state_mut().copy_from_slice(state);
        product.permute(&back, machine.state_mut());
        let process = back.image(process);
        let stopped = product.take(process, choice, machine);
        state.copy_from_slice(machine.state());
        product.permute(permutation, state);
        let next = match stopped {
            Ok(()) => product.canonicalise(state),
            Err(_) => Permutation::IDENTITY,
        };
        *permutation = permutation.then(&next);
        let mut shown = state.to_vec();
        product.permute(&permutation.inverse(), &mut shown);
        trace.steps.push(PathStep {
            process,
            choice,
            accesses: machine.accesses(),
            reactions: machine.reactions().to_vec(),
            state: shown,
        });
        stopped
    }
}
