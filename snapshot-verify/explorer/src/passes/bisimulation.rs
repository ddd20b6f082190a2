//! Merges locations with equal futures.
//!
//! Two locations of a process are *equivalent* if their steps are the same code, up to pauses at
//! equivalent locations, and so are their reactions. Equivalent locations are indistinguishable
//! (this is a bisimulation of the process), so one represents all. The classes are computed by
//! partition refinement: start with all locations in one class, and split by the code of the steps,
//! with pauses named by classes, until no class splits.
//!
//! Only labels and positions in the text may differ within a class. Traces do not depend on them,
//! since a trace is expanded by counting accesses. Idle has its own class: a client may begin an
//! operation there.
//!
//! Blocks are compared up to numbering, by hash-consing: two blocks are equal if their assignments,
//! decisions and successors are.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::deadline::{Deadline, Stopped};
use crate::instance::{
    Assignment, Block, BlockId, End, Graph, Instance, Invocations, Location, Reaction, Standing,
    Term,
};

/// Merges equivalent locations of every process, and drops unreachable ones.
pub fn minimise(instance: &Instance, deadline: Deadline<'_>) -> Result<Instance, Stopped> {
    let mut reduced = instance.clone();
    reduced.graphs_parallel_mut().try_for_each(|graph| {
        *graph = merge_graph(graph, deadline)?;
        Ok(())
    })?;
    Ok(reduced)
}

/// An interner: equal values get equal numbers.
struct Numbered<T> {
    numbers: FxHashMap<T, u32>,
    things: Vec<T>,
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    fn new() -> Self {
        Self { numbers: FxHashMap::default(), things: Vec::new() }
    }

    fn number(&mut self, thing: T) -> u32 {
        match self.numbers.entry(thing) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let number = self.things.len() as u32;
                self.things.push(new.key().clone());
                *new.insert(number)
            }
        }
    }

    fn thing(&self, number: u32) -> &T {
        &self.things[number as usize]
    }
}

/// The interned contents of a graph's blocks. Classes change from round to round, but these numbers
/// do not, and they are faster to compare and copy than terms.
struct Words<'a> {
    graph: &'a Graph,
    assignments: Numbered<&'a Assignment>,
    /// Conditions of branches and of reactions.
    conditions: Numbered<&'a Term>,
    /// Responses and faults.
    endings: Numbered<&'a End>,
    /// Per block, the numbers of its assignments.
    of_block: Vec<Vec<u32>>,
    /// Per block, the number of its condition or ending; 0 if it has neither.
    of_end: Vec<u32>,
    /// Per location, the numbers of the conditions of its reactions.
    of_reactions: Vec<Vec<u32>>,
}

impl<'a> Words<'a> {
    fn new(graph: &'a Graph) -> Self {
        let mut words = Self {
            graph,
            assignments: Numbered::new(),
            conditions: Numbered::new(),
            endings: Numbered::new(),
            of_block: Vec::with_capacity(graph.blocks.len()),
            of_end: Vec::with_capacity(graph.blocks.len()),
            of_reactions: Vec::with_capacity(graph.locations.len()),
        };
        for block in &graph.blocks {
            let assignments = block.assignments.iter();
            let assignments = assignments.map(|assignment| words.assignments.number(assignment));
            words.of_block.push(assignments.collect());
            words.of_end.push(match &block.end {
                End::Branch { condition, .. } => words.conditions.number(condition),
                End::Respond(_) | End::Fault { .. } => words.endings.number(&block.end),
                End::Jump(_) | End::Pause(_) => 0,
            });
        }
        for standing in &graph.locations {
            let conditions = standing.reactions.iter().map(|reaction| &reaction.when);
            let conditions = conditions.map(|when| words.conditions.number(when));
            words.of_reactions.push(conditions.collect());
        }
        words
    }
}

/// A block with interned contents, whose successors are shapes and whose pauses are classes.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Shape {
    accesses: u32,
    assignments: Vec<u32>,
    end: Ending,
}

/// The end of a shape; jumps are absorbed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Ending {
    Branch { condition: u32, then: BlockId, otherwise: BlockId },
    Pause { class: u32 },
    Word(u32),
}

/// The shapes of a graph's blocks, made bottom-up.
struct Walk<'a> {
    words: &'a Words<'a>,
    classes: &'a [u32],
    shapes: Numbered<Shape>,
    known: Vec<Option<BlockId>>,
}

impl<'a> Walk<'a> {
    fn new(words: &'a Words<'a>, classes: &'a [u32]) -> Self {
        let known = vec![None; words.graph.blocks.len()];
        Self { words, classes, shapes: Numbered::new(), known }
    }

    /// Returns the number of the block's shape. The traversal is depth-first without recursion,
    /// since blocks form long chains.
    fn block(&mut self, root: BlockId) -> BlockId {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            let unknown = |next: &BlockId| self.known[next.index()].is_none();
            if let Some(next) = self.words.graph.block(id).end.blocks().find(unknown) {
                stack.push(next);
                continue;
            }
            stack.pop();
            if self.known[id.index()].is_none() {
                let shape = self.shape(id);
                self.known[id.index()] = Some(BlockId(self.shapes.number(shape)));
            }
        }
        self.known[root.index()].unwrap_or(root)
    }

    /// Returns the shape of a block whose successors are all known. A jump is absorbed: its target
    /// becomes part of the block.
    fn shape(&self, id: BlockId) -> Shape {
        let known = |next: &BlockId| self.known[next.index()].unwrap_or(*next);
        let block = self.words.graph.block(id);
        let word = self.words.of_end[id.index()];
        let mut shape = Shape {
            accesses: block.accesses,
            assignments: self.words.of_block[id.index()].clone(),
            end: Ending::Word(word),
        };
        let absorbed = match &block.end {
            End::Jump(next) => known(next),
            End::Branch { then, otherwise, .. } => {
                let (then, otherwise) = (known(then), known(otherwise));
                if then != otherwise {
                    shape.end = Ending::Branch { condition: word, then, otherwise };
                    return shape;
                }
                then
            }
            End::Pause(location) => {
                shape.end = Ending::Pause { class: self.classes[location.index()] };
                return shape;
            }
            End::Respond(_) | End::Fault { .. } => return shape,
        };
        let next = self.shapes.thing(absorbed.0);
        shape.accesses += next.accesses;
        shape.assignments.extend(&next.assignments);
        shape.end = next.end;
        shape
    }

    /// Returns the future of a location, by shapes.
    fn future(&mut self, location: usize) -> Future {
        let Words { graph, of_reactions, .. } = self.words;
        let standing = &graph.locations[location];
        let step = standing.step.map(|step| self.block(step));
        let reactions = standing.reactions.iter().zip(&of_reactions[location]);
        let reactions = reactions.map(|(reaction, when)| (*when, self.block(reaction.then)));
        (standing.updating, step, reactions.collect())
    }

    /// Converts the shapes to blocks that pause at the locations of their classes.
    fn into_blocks(self) -> Vec<Block> {
        let Self { words, shapes, .. } = self;
        let blocks = shapes.things.into_iter().map(|Shape { accesses, assignments, end }| Block {
            accesses,
            assignments: assignments
                .into_iter()
                .map(|word| (*words.assignments.thing(word)).clone())
                .collect(),
            end: match end {
                Ending::Branch { condition, then, otherwise } => {
                    let condition = (*words.conditions.thing(condition)).clone();
                    End::Branch { condition, then, otherwise }
                }
                Ending::Pause { class } => End::Pause(Location(class)),
                Ending::Word(word) => (*words.endings.thing(word)).clone(),
            },
        });
        blocks.collect()
    }
}

/// The future of a location: whether it is part of an update, its step, and its reactions by
/// condition.
type Future = (bool, Option<BlockId>, Vec<(u32, BlockId)>);

fn merge_graph(graph: &Graph, deadline: Deadline<'_>) -> Result<Graph, Stopped> {
    let words = Words::new(graph);
    let mut classes = vec![1; graph.locations.len()];
    classes[Location::IDLE.index()] = 0;
    let mut count = 2.min(classes.len());
    loop {
        let mut walk = Walk::new(&words, &classes);
        let mut numbers: FxHashMap<(u32, Future), u32> = FxHashMap::default();
        let mut refined = Vec::with_capacity(classes.len());
        for (location, &class) in classes.iter().enumerate() {
            deadline.check()?;
            let key = (class, walk.future(location));
            let next = numbers.len() as u32;
            refined.push(*numbers.entry(key).or_insert(next));
        }
        let refined_count = numbers.len();
        classes = refined;
        if refined_count == count {
            return Ok(quotient(&words, &classes, count));
        }
        count = refined_count;
    }
}

/// Returns the graph with one location per class, its first member, without unreachable locations.
fn quotient(words: &Words<'_>, classes: &[u32], count: usize) -> Graph {
    let graph = words.graph;
    let mut walk = Walk::new(words, classes);
    let mut representatives = vec![usize::MAX; count];
    for (index, &class) in classes.iter().enumerate().rev() {
        representatives[class as usize] = index;
    }
    let update = walk.block(graph.invocations.update);
    let scan = walk.block(graph.invocations.scan);
    let mut locations: Vec<Standing> = Vec::with_capacity(count);
    for &representative in &representatives {
        let standing = &graph.locations[representative];
        let (_, step, reactions) = walk.future(representative);
        let reactions = reactions.into_iter().zip(&standing.reactions);
        let reactions = reactions
            .map(|((_, then), Reaction { when, .. })| Reaction { when: when.clone(), then });
        let reactions = reactions.collect();
        locations.push(Standing { step, reactions, ..standing.clone() });
    }
    let whole = Graph {
        blocks: walk.into_blocks(),
        locations,
        invocations: Invocations { update, scan },
        argument: graph.argument,
    };
    whole.trimmed()
}
