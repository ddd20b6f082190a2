//! `ample`: takes steps immediately that no process can interfere with any more.
//!
//! [`crate::passes::lipton`] fuses steps that never meet interference. This module decides it state
//! by state: in a loser's failing SC, in the last operations of all, or once all others are past
//! some cell, most steps commute with all steps still to come.
//!
//! The possible reads and writes of a process depend on its place
//! ([`crate::por::abstract_locations`]) and on the number of operations it may still begin. They
//! are its **future**, computed from the program alone. In a state s, the next step of p *commutes*
//! if no other process may, in its future, write a slot that the step reads, or read or write a
//! slot that it changes. The changed slots are found by taking the step; a slot that it writes
//! without changing it counts as read.
//!
//! *Soundness* (an ample set of one process; Godefroid's persistent sets). Let the step commute in
//! s, and let t be the state after it. Take a shortest path from s to a violation.
//!
//! 1. As long as p does not move, no process writes a slot that p's step reads, or notices its
//!    changes.
//! 2. If p moves on that path, its step can be made first. If not, it can be inserted.
//! 3. So from t the same violation can be reached, in at most as many steps, unless the step itself
//!    violates.
//! 4. If the step responds, the response comes earlier. A history with more precedence has no
//!    linearization that the history with less does not have. A pending operation that gets a
//!    response has no linearization that it does not have without the response.
//! 5. So t may be explored instead of s, and its successors may be replaced likewise: the rest of
//!    the path never gets longer.
//!
//! *Reactions* contribute to futures only their assignments, not the reads of their conditions. So
//! the argument above is made in the instance without reactions, which suffices. Let d(s) be the
//! length of a shortest path from s to a violation there.
//!
//! 1. A reaction does not increase d. It adds a fact that holds and stays true until its process
//!    moves, so the specialised steps are the original steps and movers, for which
//!    [`crate::passes::lipton`] has the argument.
//! 2. Without reactions a commuting step does not increase d either, even if it makes conditions
//!    true. The reactions that follow, of any process, do not increase d again.
//! 3. From a state with d > 0 some move decreases d; so the search finds a violation after at most
//!    d moves.
//!
//! (Counting the conditions would also be sound. Then steps that break links on which processes
//! react no longer commute. It gives jayanti for two processes and two operations each 33,689
//! states instead of 17,900, riany 106,778 instead of 72,092.)
//!
//! Two remarks. A broken link stays broken until its process moves, so no other process interferes
//! with a read of an own broken link. And a state at which a sequence of ample steps ends, for any
//! reason, is explored with the moves of all processes: so no process waits forever while another
//! runs in a cycle.
//!
//! With a bound on operations the gain is greatest towards the end: attiya_welch for three
//! processes and one operation each keeps one state of nine. Without a bound the future of every
//! process includes all its accesses, and only steps without effect commute.

use fixedbitset::FixedBitSet;
use snapshot_core::Process;

use crate::dataflow::{self, Lattice};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Instance, Location, Owner, Scalar, SlotId};
use crate::limits::Limit;
use crate::por::abstract_locations::{AbstractGraph, Event, Index, Selectors};
use crate::search::canonical::{self, Around};
use crate::search::layout::Registers;

/// Bounds above this count as unbounded.
const MANY: usize = 3;

/// The static tables that decide which steps commute.
#[derive(Clone, Debug)]
pub struct PersistentSets {
    /// The number of words of a set of cells.
    words: usize,
    /// By slot, its number among the cells: slots that several processes touch, and links.
    cells: Vec<Option<usize>>,
    /// By process.
    futures: Vec<Futures>,
    /// Whether operations are bounded.
    bounded: bool,
    /// The future of a process whose place is unknown: all cells.
    everything: Vec<u64>,
}

/// The futures of one process. Tables hold sets of cells, `words` words each.
#[derive(Clone, Debug)]
struct Futures {
    index: Index,
    /// The process's links, with their numbers among the cells.
    links: Vec<(SlotId, usize)>,
    /// The number of distinguished counts of operations left; the last one includes all larger
    /// counts.
    levels: usize,
    /// By place, the cells that the next step may read.
    next: Vec<u64>,
    /// By place, whether the next step can ever commute.
    hopeful: Vec<bool>,
    /// By place and operations left, the future reads and the future writes.
    all: Vec<u64>,
}

impl PersistentSets {
    /// Computes the tables of an instance, for this many operations per process. Returns `None` if
    /// processes have too many places.
    ///
    /// O(places * ways to take a step * cells).
    pub fn new(
        instance: &Instance,
        operations: Option<u32>,
        deadline: Deadline<'_>,
    ) -> Result<Option<Self>, Stopped> {
        let is_cell =
            |slot: SlotId| matches!(instance.slot(slot).owner, Owner::Shared | Owner::Link(_));
        let slots = (0..instance.slots.len() as u32).map(SlotId);
        let mut count = 0;
        let numbered = slots.map(|slot| {
            is_cell(slot).then(|| {
                count += 1;
                count - 1
            })
        });
        let cells: Vec<Option<usize>> = numbered.collect();
        let words = count.div_ceil(64).max(1);
        let selectors = Selectors::new(instance, &is_cell, deadline)?;
        let mut futures: Vec<Futures> = Vec::with_capacity(instance.processes);
        for (process, own) in selectors.of.iter().enumerate() {
            let graph = AbstractGraph::new(instance, process, &selectors, &is_cell, deadline)?;
            let Some(graph) = graph else { return Ok(None) };
            let process = Process::from_index(process);
            let index = Index::new(instance, process, own.clone(), &graph);
            let Some(index) = index else {
                Limit::Places.reach(deadline);
                return Ok(None);
            };
            let links = links(instance, process, &cells);
            let sets = Sets { words, cells: &cells };
            futures.push(Futures::new(index, links, &graph, &sets, operations, deadline)?);
        }
        let always: Vec<Vec<u64>> = futures.iter().map(|of| of.always(words)).collect();
        for (process, of) in futures.iter_mut().enumerate() {
            let others = always.iter().enumerate().filter(|(other, _)| *other != process);
            others.for_each(|(_, written)| of.give_up(written));
        }
        let everything = vec![u64::MAX; 2 * words];
        Ok(Some(Self { words, futures, bounded: operations.is_some(), everything, cells }))
    }
}

/// The format of sets of cells, as words.
struct Sets<'a> {
    words: usize,
    cells: &'a [Option<usize>],
}

impl Sets<'_> {
    /// Returns the possible reads of a path, and then its possible writes.
    fn touched(&self, events: &[Event]) -> FixedBitSet {
        let mut touched = self.none();
        for event in events {
            let (slot, writes) = match event {
                Event::Read(slot) | Event::Find(slot, _) => (slot, 0),
                Event::Write(slot) | Event::MayWrite(slot) | Event::Lead(slot, _) => {
                    (slot, 64 * self.words)
                }
            };
            touched.extend(self.cells[slot.index()].map(|cell| writes + cell));
        }
        touched
    }

    /// Returns an empty pair of sets: cells read and cells written.
    fn none(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(2 * 64 * self.words)
    }
}

/// Returns the links of a process, with their numbers among the cells.
fn links(instance: &Instance, process: Process, cells: &[Option<usize>]) -> Vec<(SlotId, usize)> {
    let numbered = (0..).map(SlotId).zip(cells).filter_map(|(slot, cell)| Some((slot, (*cell)?)));
    numbered.filter(|(slot, _)| instance.slot(*slot).owner == Owner::Link(process)).collect()
}

impl Futures {
    fn new(
        index: Index,
        links: Vec<(SlotId, usize)>,
        graph: &AbstractGraph,
        sets: &Sets<'_>,
        operations: Option<u32>,
        deadline: Deadline<'_>,
    ) -> Result<Self, Stopped> {
        let size = 2 * sets.words;
        let many = operations.is_none_or(|operations| operations as usize > MANY);
        let levels = operations.map_or(0, |operations| MANY.min(operations as usize)) + 1;
        let paths: Vec<FixedBitSet> =
            graph.paths.iter().map(|path| sets.touched(&path.events)).collect();
        let mut next = vec![sets.none(); graph.places.len()];
        for (path, touched) in graph.paths.iter().zip(&paths) {
            next[path.from].join(touched);
        }
        let mut all: Vec<Vec<FixedBitSet>> = Vec::with_capacity(levels);
        for level in 0..levels {
            let is_many = many && level + 1 == levels;
            let mut of_level = next.clone();
            for (place, future) in graph.places.iter().zip(&mut of_level) {
                if place.location == Location::IDLE && level == 0 && !is_many {
                    future.clear();
                }
            }
            // An operation that begins leaves one fewer, unless operations are unbounded.
            for path in graph.paths.iter().filter(|_| !is_many) {
                let begins = graph.places[path.from].location == Location::IDLE;
                if let (true, Some(to), Some(fewer)) = (begins, path.to, level.checked_sub(1)) {
                    of_level[path.from].join(&all[fewer][to]);
                }
            }
            let edges = |place: usize, visit: &mut dyn FnMut(usize)| {
                let from = graph.arriving(place).iter().map(|path| graph.paths[*path].from);
                let begins = |from: &usize| graph.places[*from].location == Location::IDLE;
                from.filter(|from| is_many || !begins(from)).for_each(visit);
            };
            dataflow::spread(&mut of_level, edges, deadline)?;
            all.push(of_level);
        }
        // Unreachable places get the most pessimistic entries.
        let mut futures = Self {
            links,
            levels,
            next: vec![u64::MAX; index.count() * sets.words],
            hopeful: vec![false; index.count()],
            all: vec![u64::MAX; index.count() * levels * size],
            index,
        };
        for (number, place) in graph.places.iter().enumerate() {
            let Some(at) = futures.index.at(place) else { continue };
            futures.hopeful[at] = place.location != Location::IDLE;
            copy(&next[number], &mut futures.next[at * sets.words..][..sets.words]);
            for (level, of_level) in all.iter().enumerate() {
                let begin = (at * levels + level) * size;
                copy(&of_level[number], &mut futures.all[begin..][..size]);
            }
        }
        Ok(futures)
    }
}

impl Futures {
    /// Returns the cells that the process may still write at every place.
    fn always(&self, words: usize) -> Vec<u64> {
        let mut always = vec![u64::MAX; words];
        for future in self.all.chunks_exact(2 * words) {
            for (word, written) in always.iter_mut().zip(&future[words..]) {
                *word &= written;
            }
        }
        always
    }

    /// Marks places whose next step can never commute, since another process may always write these
    /// cells.
    fn give_up(&mut self, written: &[u64]) {
        let mut written = written.to_vec();
        // These links may be known to be broken.
        for (_, cell) in &self.links {
            written[cell / 64] &= !(1 << (cell % 64));
        }
        for (hopeful, next) in self.hopeful.iter_mut().zip(self.next.chunks_exact(written.len())) {
            *hopeful &= next.iter().zip(&written).all(|(next, written)| next & written == 0);
        }
    }
}

/// Copies a set to a row of a table.
fn copy(set: &FixedBitSet, row: &mut [u64]) {
    row.iter_mut().zip(set.as_slice()).for_each(|(word, of_set)| *word = *of_set as u64);
}

/// Adds a row to another.
fn unite(row: &mut [u64], more: &[u64]) {
    row.iter_mut().zip(more).for_each(|(word, more)| *word |= more);
}

impl PersistentSets {
    /// Returns the future of a process: its possible reads, then its possible writes.
    fn future(&self, of: Process, place: Option<usize>, left: Option<u32>) -> &[u64] {
        let futures = &self.futures[of.index()];
        let most = futures.levels - 1;
        let level = left.map_or(most, |left| most.min(left as usize));
        let size = 2 * self.words;
        match place {
            Some(at) => &futures.all[(at * futures.levels + level) * size..][..size],
            None => &self.everything,
        }
    }

    /// Returns the noted futures of all processes except this one.
    fn others<'a>(&self, around: &'a Around, process: Process) -> (&'a [u64], &'a [u64]) {
        let size = 2 * self.words;
        around.others[process.index() * size..][..size].split_at(self.words)
    }
}

impl canonical::Ample for PersistentSets {
    fn persistent_step(&self, registers: Registers, state: &[Scalar], around: &mut Around) -> bool {
        let Around { places, others } = around;
        places.clear();
        places.extend(self.futures.iter().map(|futures| futures.index.of_state(state)));
        let is_hopeful = |(futures, place): (&Futures, &Option<usize>)| {
            place.is_some_and(|at| futures.hopeful[at])
        };
        if !self.futures.iter().zip(&*places).any(is_hopeful) {
            return false;
        }
        let size = 2 * self.words;
        others.clear();
        others.resize(self.futures.len() * size, 0);
        for (of, &place) in places.iter().enumerate() {
            let left =
                self.bounded.then(|| registers.operations_left(Process::from_index(of), state));
            let future = self.future(Process::from_index(of), place, left);
            for (process, others) in others.chunks_exact_mut(size).enumerate() {
                if process != of {
                    unite(others, future);
                }
            }
        }
        true
    }

    fn may_commute(&self, around: &Around, state: &[Scalar], process: Process) -> bool {
        let futures = &self.futures[process.index()];
        let place = around.places[process.index()].filter(|&at| futures.hopeful[at]);
        let Some(at) = place else { return false };
        let (_, written) = self.others(around, process);
        let read = &futures.next[at * self.words..][..self.words];
        (0..self.words).all(|word| {
            let mut met = read[word] & written[word];
            if met != 0 {
                let own = futures.links.iter().filter(|(_, cell)| cell / 64 == word);
                for (_, cell) in own.filter(|(link, _)| state[link.index()] == 0) {
                    met &= !(1 << (cell % 64));
                }
            }
            met == 0
        })
    }

    fn commutes(
        &self,
        around: &Around,
        process: Process,
        before: &[Scalar],
        after: &[Scalar],
        written: &[u16],
    ) -> bool {
        let (others_read, others_write) = self.others(around, process);
        let own = &self.futures[process.index()].links;
        written.iter().all(|&register| {
            let register = usize::from(register);
            let Some(&Some(cell)) = self.cells.get(register) else { return true };
            let (word, bit) = (cell / 64, 1 << (cell % 64));
            if after[register] != before[register] {
                return (others_read[word] | others_write[word]) & bit == 0;
            }
            let is_broken =
                || before[register] == 0 && own.iter().any(|(link, _)| link.index() == register);
            others_write[word] & bit == 0 || is_broken()
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;
    use crate::instance::{
        Assignment, Block, BlockId, Domain, End, Graph as Steps, Invocations, Operator, Reaction,
        Response, Slot, Standing, Target, Term,
    };
    use crate::language::Span;
    use crate::search::product::{Ahead, Product};
    use crate::search::{Choice, Exploration};

    const CELL: SlotId = SlotId(0);

    /// Creates an instance where process 0 scans and is about to respond. Its step reads no cell,
    /// but with `reacts` it reacts to the cell once this holds 1. Process 1 updates, and writes 1
    /// to the cell.
    fn instance(reacts: bool) -> Instance {
        let block = |assignments, end| Block { accesses: 1, assignments, end };
        let idle = Standing {
            step: None,
            span: Span::default(),
            label: "idle".to_owned(),
            updating: false,
            reactions: vec![],
        };
        let at = [Term::FALSE, Term::FALSE];
        let respond = End::Respond(Response::Scan { at, foreign: Term::FALSE });
        let done = End::Respond(Response::Update { value: Term::FALSE });
        let write = Assignment { target: Target::Slot(CELL), value: Term::TRUE };
        let when = Term::Apply(Operator::Equal, vec![Term::Slot(CELL), Term::TRUE]);
        let reaction = Reaction { when, then: BlockId(2) };
        let standing = |updating, step, reactions| Standing {
            step: Some(step),
            label: "waits".to_owned(),
            updating,
            reactions,
            ..idle.clone()
        };
        let graph = |reactions| Steps {
            blocks: vec![
                block(vec![], End::Pause(Location(1))),
                block(vec![], End::Pause(Location(2))),
                block(vec![], respond.clone()),
                block(vec![write.clone()], done.clone()),
            ],
            locations: vec![
                idle.clone(),
                standing(false, BlockId(2), reactions),
                standing(true, BlockId(3), vec![]),
            ],
            invocations: Invocations { update: BlockId(1), scan: BlockId(0) },
            argument: None,
        };
        let cell =
            Slot { name: "cell".to_owned(), owner: Owner::Shared, domain: Domain::BIT, initial: 0 };
        let [i, j] = [0, 1].map(Process::from_index);
        let reactions = if reacts { vec![reaction] } else { vec![] };
        let graphs = vec![graph(reactions), graph(vec![])];
        Instance { processes: 2, pair: [i, j], slots: vec![cell], graphs }
    }

    /// Returns the process with an ample step in the last operations of both.
    fn leader(instance: &Instance) -> Option<Process> {
        instance.validate();
        let ample = PersistentSets::new(instance, Some(1), Deadline::NEVER).unwrap().unwrap();
        let exploration =
            Exploration { operations: Some(1), ample: Some(&ample), ..Exploration::default() };
        let lead = |product: &Product<'_>| {
            let mut ahead = Ahead::new(product);
            let mut state = product.initial().0;
            for (process, choice) in [(0, Choice::Scan), (1, Choice::Update(0))] {
                ahead.machine.begin();
                ahead.machine.state_mut().copy_from_slice(&state);
                product.take(Process::from_index(process), choice, &mut ahead.machine).unwrap();
                state.copy_from_slice(ahead.machine.state());
            }
            product.leader(&state, &mut ahead).map(|(process, _)| process)
        };
        exploration.product(instance, lead).unwrap()
    }

    /// If process 0 moves before the write, it no longer reacts. This is allowed: reactions are
    /// optional.
    #[test]
    fn reads_of_reaction_conditions_do_not_prevent_ample_steps() {
        assert_eq!(leader(&instance(false)), Some(Process::from_index(0)));
        assert_eq!(leader(&instance(true)), Some(Process::from_index(0)));
    }
}
