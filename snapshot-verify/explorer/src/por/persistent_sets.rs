//! `ample`: steps that no process can interfere with any more are taken at once.
//!
//! [`crate::passes::lipton`] fuses what never can be interfered with. Here it is decided state by
//! state: in a loser's failing SC, in the last operations of all, or once all others
//! are past some cell, most steps commute with everything that is still to come.
//!
//! What a process may still read and write depends on its place ([`crate::por::abstract_locations`]) and
//! on how many operations it may still begin: its **future**, from the program alone.
//! Say that in a state s the next step of p *commutes* if no other process may, in its
//! future, write what the step reads, nor read or write what it changes. What the step
//! changes is seen by taking it; what it writes and leaves as it was, counts as read.
//!
//! *Soundness* (an ample set of one process; Godefroid's persistent sets). Let the step
//! commute in s, and let t be the state after it. Take a shortest way from s to a
//! violation. As long as p does not move, no process writes what p's step reads, nor notices
//! what it changes. If p moves on that way, its step can be made first; if not, it can
//! be inserted. So from t the same violation can be reached, in at most as many steps,
//! unless the step itself is one. If the step responds, the response comes earlier: a
//! history with more precedence has no linearization that the one with less does not
//! have, and a pending operation that gets a response has none that it does not have
//! without. So t may be explored instead of s, and what is reached from there may be
//! treated likewise: each time the rest of the way is no longer than before.
//!
//! *Reactions* are in no future but by what they do: what their conditions read is left
//! out. So the argument above is to be made in the instance without reactions, and that
//! suffices. Let d(s) be the length of a shortest way from s to a violation there. A
//! reaction does not make d larger: what it adds is a fact that holds and stays true until
//! its process moves, so that the decided steps are the steps, and movers, for which
//! [`crate::passes::lipton`] has the argument. Without reactions a step that commutes makes d no
//! larger, either, whatever conditions it makes hold: the reactions that follow are taken
//! by whichever process stands there, and d is no larger again. From a state with d > 0 some move
//! makes d smaller; so the search finds a violation after at most as many moves. (To count
//! the conditions, too, would be right as well: then steps that break links on which
//! processes react are no longer taken at once. It gives jayanti for two processes and two
//! operations each 33,689 states for 17,900, riany 106,778 for 72,092.)
//!
//! Two remarks. A link that is broken stays broken until its process moves, so that
//! no other process interferes with a read of an own broken link. And a state at
//! which this ends, for whatever reason, is explored with the moves of all processes: so
//! none waits for ever while another runs in a circle.
//!
//! With a bound on operations most is gained towards the end: of attiya_welch for three
//! processes and one operation each, one state of nine is left. Without a bound
//! the future of every process is everything, and it is steps without effect that commute.

use fixedbitset::FixedBitSet;
use snapshot_core::Process;

use crate::dataflow::{self, Lattice};
use crate::deadline::{Deadline, Stopped};
use crate::instance::{Instance, Location, Owner, Scalar, SlotId};
use crate::limits::Limit;
use crate::por::abstract_locations::{AbstractGraph, Event, Index, Selectors};
use crate::search::canonical::{self, Around};
use crate::search::layout::Registers;

/// This many operations are as good as any number.
const MANY: usize = 3;

/// Which steps commute when.
#[derive(Clone, Debug)]
pub struct PersistentSets {
    /// The words of a set of cells.
    words: usize,
    /// By slot, its number among the cells: what several processes touch, and links.
    cells: Vec<Option<usize>>,
    /// By process.
    futures: Vec<Futures>,
    /// Whether operations are.
    bounded: bool,
    /// What a process may touch of whose place nothing is known.
    everything: Vec<u64>,
}

/// What one process may do. Sets of cells follow each other, `words` words each.
#[derive(Clone, Debug)]
struct Futures {
    index: Index,
    /// Its links, with their numbers among the cells.
    links: Vec<(SlotId, usize)>,
    /// How many numbers of operations left are distinguished; the last may stand for more.
    levels: usize,
    /// By place, what its next step may read.
    next: Vec<u64>,
    /// By place, whether its next step may ever commute.
    hopeful: Vec<bool>,
    /// By place and operations left, what it may yet read, and what it may yet write.
    all: Vec<u64>,
}

impl PersistentSets {
    /// Of this instance, for this many operations each; none if processes have too many
    /// places.
    ///
    /// O(places * ways to take a step * cells).
    ///
    /// # Errors
    /// If the deadline comes first.
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

/// Sets of cells, as words.
struct Sets<'a> {
    words: usize,
    cells: &'a [Option<usize>],
}

impl Sets<'_> {
    /// What a way to take a step may read, and then what it may write.
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

    /// Room for a set of cells that are read and one of those that are written.
    fn none(&self) -> FixedBitSet {
        FixedBitSet::with_capacity(2 * 64 * self.words)
    }
}

/// The links of a process, with their numbers among the cells.
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
            // An operation that begins leaves one fewer, unless there are many.
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
        // Of places where the process never stands, nothing is known.
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
    /// What the process may yet write wherever it stands.
    fn always(&self, words: usize) -> Vec<u64> {
        let mut always = vec![u64::MAX; words];
        for future in self.all.chunks_exact(2 * words) {
            for (word, written) in always.iter_mut().zip(&future[words..]) {
                *word &= written;
            }
        }
        always
    }

    /// Notes where the next step can never commute, since a process may always write this.
    fn give_up(&mut self, written: &[u64]) {
        let mut written = written.to_vec();
        // It may be known that they are broken.
        for (_, cell) in &self.links {
            written[cell / 64] &= !(1 << (cell % 64));
        }
        for (hopeful, next) in self.hopeful.iter_mut().zip(self.next.chunks_exact(written.len())) {
            *hopeful &= next.iter().zip(&written).all(|(next, written)| next & written == 0);
        }
    }
}

/// Writes a set to a row of a table, as far as it has words.
fn copy(set: &FixedBitSet, row: &mut [u64]) {
    row.iter_mut().zip(set.as_slice()).for_each(|(word, of_set)| *word = *of_set as u64);
}

/// Adds a row to another.
fn unite(row: &mut [u64], more: &[u64]) {
    row.iter_mut().zip(more).for_each(|(word, more)| *word |= more);
}

impl PersistentSets {
    /// What a process may yet touch: what it may read, then what it may write.
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

    /// Of what was noted, what all but this process may do.
    fn others<'a>(&self, around: &'a Around, process: Process) -> (&'a [u64], &'a [u64]) {
        let size = 2 * self.words;
        around.others[process.index() * size..][..size].split_at(self.words)
    }
}

impl canonical::Ample for PersistentSets {
    fn look(&self, registers: Registers, state: &[Scalar], around: &mut Around) -> bool {
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

    /// Process 0 scans, and is about to respond; its step reads no cell, but it reacts to
    /// the cell as soon as it holds 1, if `reacts`. Process 1 updates: it writes 1 to it.
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

    /// The process whose step is taken at once in the last operations of both.
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

    /// Before the write, process 0 would react no more; it need not: reactions are offers.
    #[test]
    fn what_conditions_of_reactions_read_is_in_no_future() {
        assert_eq!(leader(&instance(false)), Some(Process::from_index(0)));
        assert_eq!(leader(&instance(true)), Some(Process::from_index(0)));
    }
}
