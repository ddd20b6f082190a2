//! Locations with equal futures are one.
//!
//! Two locations of a process are *equivalent* if their steps are the same code,
//! up to pauses at equivalent locations, and so are their reactions. Standing at
//! one rather than the other makes no difference (it is a bisimulation of the
//! process), so one stands for all. Computed by partition refinement: begin with
//! all locations in one class, and split by the code of the steps, pauses named
//! by classes, until nothing splits.
//!
//! Only labels and places in the text may differ within a class; traces do not
//! depend on them, since a trace is expanded by counting accesses. Idle is in a
//! class of its own: a client may begin an operation there.
//!
//! Blocks are compared up to numbering, by hash-consing: a block is the same as
//! another if its assignments are, its decision is, and its successors are.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use crate::instance::{
    Assignment, Block, BlockId, End, Graph, Instance, Invocations, Location, Reaction, Standing,
    Term,
};

/// Identifies equivalent locations of every process, and drops what is not
/// reachable.
#[must_use]
pub fn merge(instance: &Instance) -> Instance {
    let mut reduced = instance.clone();
    for graph in &mut reduced.graphs {
        *graph = merge_graph(graph);
    }
    reduced
}

/// A block whose successors and pauses are classes.
type Shape = Block;

/// Numbers blocks so that equal ones get equal numbers.
#[derive(Default)]
struct Shapes {
    numbers: HashMap<Shape, BlockId, rustc_hash::FxBuildHasher>,
    blocks: Vec<Shape>,
}

impl Shapes {
    fn number(&mut self, shape: Shape) -> BlockId {
        let next = BlockId(self.blocks.len() as u32);
        *self.numbers.entry(shape).or_insert_with_key(|shape| {
            self.blocks.push(shape.clone());
            next
        })
    }
}

/// The numbers of the blocks of a graph, made bottom-up.
struct Walk<'a> {
    graph: &'a Graph,
    classes: &'a [u32],
    shapes: Shapes,
    known: Vec<Option<BlockId>>,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a Graph, classes: &'a [u32]) -> Self {
        Self { graph, classes, shapes: Shapes::default(), known: vec![None; graph.blocks.len()] }
    }

    /// The number of the block. Depth first, without recursion: blocks form
    /// long chains.
    fn block(&mut self, root: BlockId) -> BlockId {
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            let unknown = |next: &BlockId| self.known[next.index()].is_none();
            if let Some(next) = self.graph.block(id).end.blocks().find(unknown) {
                stack.push(next);
                continue;
            }
            stack.pop();
            if self.known[id.index()].is_none() {
                let shape = self.shape(id);
                self.known[id.index()] = Some(self.shapes.number(shape));
            }
        }
        self.known[root.index()].unwrap_or(root)
    }

    /// The block with its successors, all known, renumbered. A jump is absorbed:
    /// what follows it becomes part of the block.
    fn shape(&self, id: BlockId) -> Shape {
        let known = |next: &BlockId| self.known[next.index()].unwrap_or(*next);
        let block = self.graph.block(id);
        let end = match &block.end {
            End::Jump(next) => {
                let next = &self.shapes.blocks[known(next).index()];
                let mut assignments: Vec<Assignment> = block.assignments.clone();
                assignments.extend(next.assignments.iter().cloned());
                let accesses = block.accesses + next.accesses;
                return Block { accesses, assignments, end: next.end.clone() };
            }
            End::Branch { condition, then, otherwise } => {
                let (then, otherwise) = (known(then), known(otherwise));
                if then == otherwise {
                    let next = &self.shapes.blocks[then.index()];
                    let mut assignments: Vec<Assignment> = block.assignments.clone();
                    assignments.extend(next.assignments.iter().cloned());
                    let accesses = block.accesses + next.accesses;
                    return Block { accesses, assignments, end: next.end.clone() };
                }
                End::Branch { condition: condition.clone(), then, otherwise }
            }
            End::Pause(location) => End::Pause(Location(self.classes[location.index()])),
            other => other.clone(),
        };
        Block { accesses: block.accesses, assignments: block.assignments.clone(), end }
    }
}

/// Whether it is part of an update, and the step and the reactions of a
/// location, by shape.
type Future = (bool, Option<BlockId>, Vec<(Term, BlockId)>);

fn future(walk: &mut Walk<'_>, standing: &Standing) -> Future {
    let step = standing.step.map(|step| walk.block(step));
    let reactions = standing.reactions.iter();
    let reactions = reactions.map(|reaction| (reaction.when.clone(), walk.block(reaction.then)));
    (standing.updating, step, reactions.collect())
}

fn merge_graph(graph: &Graph) -> Graph {
    let mut classes = vec![1; graph.locations.len()];
    classes[Location::IDLE.index()] = 0;
    let mut count = 2.min(classes.len());
    loop {
        let mut walk = Walk::new(graph, &classes);
        let mut numbers: FxHashMap<(u32, Future), u32> = FxHashMap::default();
        let mut refined = Vec::with_capacity(classes.len());
        for (standing, &class) in graph.locations.iter().zip(&classes) {
            let key = (class, future(&mut walk, standing));
            let next = numbers.len() as u32;
            refined.push(*numbers.entry(key).or_insert(next));
        }
        let refined_count = numbers.len();
        classes = refined;
        if refined_count == count {
            return quotient(graph, &classes, count);
        }
        count = refined_count;
    }
}

/// One location per class, the first of its members; reachable ones only.
fn quotient(graph: &Graph, classes: &[u32], count: usize) -> Graph {
    let mut walk = Walk::new(graph, classes);
    let mut representatives = vec![usize::MAX; count];
    for (index, &class) in classes.iter().enumerate().rev() {
        representatives[class as usize] = index;
    }
    let update = walk.block(graph.invocations.update);
    let scan = walk.block(graph.invocations.scan);
    let mut locations: Vec<Standing> = Vec::with_capacity(count);
    for &representative in &representatives {
        let standing = &graph.locations[representative];
        let (_, step, reactions) = future(&mut walk, standing);
        let reactions = reactions.into_iter().map(|(when, then)| Reaction { when, then }).collect();
        locations.push(Standing { step, reactions, ..standing.clone() });
    }
    let whole = Graph {
        blocks: walk.shapes.blocks,
        locations,
        invocations: Invocations { update, scan },
        argument: graph.argument,
    };
    reachable(&whole)
}

/// The graph without what no execution of the process can reach, locations and
/// blocks in the order in which they are found.
#[must_use]
pub fn reachable(graph: &Graph) -> Graph {
    let mut blocks: Vec<Option<BlockId>> = vec![None; graph.blocks.len()];
    let mut locations: Vec<Option<Location>> = vec![None; graph.locations.len()];
    locations[Location::IDLE.index()] = Some(Location::IDLE);
    let mut found_blocks: Vec<BlockId> = Vec::new();
    let mut found_locations = vec![Location::IDLE];
    let mut open = vec![graph.invocations.scan, graph.invocations.update];
    while let Some(id) = open.pop() {
        if blocks[id.index()].is_some() {
            continue;
        }
        blocks[id.index()] = Some(BlockId(found_blocks.len() as u32));
        found_blocks.push(id);
        let block = graph.block(id);
        open.extend(block.end.blocks());
        if let End::Pause(location) = block.end
            && locations[location.index()].is_none()
        {
            locations[location.index()] = Some(Location(found_locations.len() as u32));
            found_locations.push(location);
            let standing = &graph.locations[location.index()];
            open.extend(standing.reactions.iter().map(|reaction| reaction.then));
            open.extend(standing.step);
        }
    }
    let renumber = |id: BlockId| blocks[id.index()].unwrap_or(id);
    let relocate = |id: Location| locations[id.index()].unwrap_or(id);
    Graph {
        blocks: found_blocks
            .iter()
            .map(|&id| graph.block(id).relinked(renumber, relocate))
            .collect(),
        locations: found_locations
            .iter()
            .map(|&id| {
                let mut standing = graph.locations[id.index()].clone();
                standing.step = standing.step.map(renumber);
                standing.reactions.iter_mut().for_each(|r| r.then = renumber(r.then));
                standing
            })
            .collect(),
        invocations: Invocations {
            update: renumber(graph.invocations.update),
            scan: renumber(graph.invocations.scan),
        },
        argument: graph.argument,
    }
}
