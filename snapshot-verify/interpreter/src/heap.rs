//! Nodes: allocated, freed, and collected once they are unreachable.
//!
//! A node is *absent*, *allocated* or *freed* ([`NodeType`]). The fields of a kind of nodes are
//! families of cells, one cell per node. An unreachable node, freed or not, becomes absent, and its
//! fields return to their content before the first `new`. The roots are shared variables, private
//! variables, and locals that a step may still read; reachability follows the fields.
//!
//! `new` takes the absent node with the least number. In a program that frees nodes, it may also
//! take any freed node that still has pointers to it: this gives rise to the ABA problem. An absent
//! node stands for all nodes without pointers, since they are indistinguishable. So `new` covers
//! every choice that an allocator may make.
//!
//! Nodes are only compared for equality, so states that differ in the numbers of their nodes have
//! the same futures. [`Heap::walk`] numbers the nodes of a state in the order of a breadth-first
//! walk, from variables in the order of their declarations: then such states have the same nodes.
//! The interpreter itself keeps the number of a node while it exists, so that traces are readable.

use std::sync::Arc;

use super::comparand::Field;
use super::data::Data;
use super::fault::FaultKind;
use super::parts::{ProcessPart, SharedPart};
use super::reached::Reached;
use super::state::{Activity, Cell, Local, State};
use crate::program::{NodeId, NodeType, Program};

/// Position of the nodes of a program among its cells.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    kinds: Vec<Kind>,
    /// First cell that belongs to nodes; these are the last cells.
    first_cell: usize,
    frees: bool,
}

/// Nodes that are declared together.
#[derive(Clone, Debug)]
struct Kind {
    name: String,
    /// Largest number of nodes.
    count: usize,
    /// Number of the first node among the nodes of all kinds.
    first: usize,
    /// First of the cells that hold the states of the nodes.
    state: usize,
    /// First cell of each field.
    fields: Vec<usize>,
    /// Content of an absent node, per field.
    blank: Vec<Data>,
    is_stable: bool,
}

/// Pointers of a part, as words made by [`Heap::shape`].
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// Nodes that shared variables point to, in order, each once; numbered over all kinds.
    pub(super) roots: &'a [u32],
    /// Nodes that the fields of nodes point to, node by node; absent and unreached nodes included.
    edges: &'a [u32],
    /// End of the edges of each node; trailing nodes without edges are left out.
    ends: &'a [u32],
    /// Number of nodes that are not absent.
    pub present: usize,
}

impl<'a> Shape<'a> {
    /// Reads a shape from these words: the numbers of present nodes, of roots and of ends; then the
    /// roots, the ends and the edges.
    ///
    /// # Panics
    /// If the words are not a shape.
    pub fn new(words: &'a [u32]) -> Self {
        let [present, roots, ends, rest @ ..] = words else {
            panic!("a shape has three numbers at its begin")
        };
        let (roots, rest) = rest.split_at(*roots as usize);
        let (ends, edges) = rest.split_at(*ends as usize);
        Self { roots, edges, ends, present: *present as usize }
    }

    /// Returns the nodes that the fields of a node point to.
    pub fn edges(&self, node: u32) -> &[u32] {
        let end = |node: usize| self.ends.get(node).map_or(self.edges.len(), |end| *end as usize);
        let start = (node as usize).checked_sub(1).map_or(0, end);
        &self.edges[start..end(node as usize)]
    }
}

impl Heap {
    /// Creates the heap of a program whose variables begin at these cells; `cells`: the content
    /// before there is a node.
    pub(super) fn new(program: &Program, n: usize, first_cells: &[usize], cells: &[Cell]) -> Self {
        let at = |shared: crate::program::SharedId| first_cells[shared.0 as usize];
        let mut kinds: Vec<Kind> = Vec::new();
        let mut first = 0;
        for node in &program.nodes {
            let count = node.bound.at(n).max(0) as usize;
            let fields: Vec<usize> = node.fields.iter().map(|field| at(*field)).collect();
            kinds.push(Kind {
                name: node.name.clone(),
                count,
                first,
                state: at(node.state),
                blank: fields.iter().map(|field| cells[*field].content.clone()).collect(),
                fields,
                is_stable: node.is_stable,
            });
            first += count;
        }
        let own = kinds.iter().flat_map(|kind| kind.fields.iter().chain([&kind.state]));
        let first_cell = own.min().copied().unwrap_or(cells.len());
        Self { kinds, first_cell, frees: program.frees() }
    }

    /// Returns true if the program has no nodes.
    pub const fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Returns the largest number of nodes, over all kinds.
    pub(super) fn len(&self) -> usize {
        self.kinds.last().map_or(0, |last| last.first + last.count)
    }

    fn kind(&self, id: NodeId) -> &Kind {
        &self.kinds[id.0 as usize]
    }

    /// Returns the number of nodes that a `new` may take.
    pub(super) fn choices(&self, cells: &[Cell], id: NodeId) -> u32 {
        let freed = || self.kind(id).in_state(cells, NodeType::FREED).count();
        1 + if self.frees { freed() as u32 } else { 0 }
    }

    /// Allocates a node with this content. Choice 0 is an absent node, choice k the k-th freed node
    /// that still has pointers to it.
    pub(super) fn allocate(
        &self,
        cells: &mut Arc<Vec<Cell>>,
        id: NodeId,
        choice: u32,
        content: Vec<Data>,
    ) -> Result<u32, FaultKind> {
        let kind = self.kind(id);
        let node = match choice.checked_sub(1) {
            None => kind.in_state(cells, NodeType::ABSENT).next().ok_or_else(|| {
                FaultKind::NodesExhausted { name: kind.name.clone(), limit: kind.count }
            })?,
            Some(freed) => kind
                .in_state(cells, NodeType::FREED)
                .nth(freed as usize)
                .expect("a step has no more outcomes than nodes were freed"),
        };
        let cells = Arc::make_mut(cells);
        cells[kind.state + node].write(Data::Number(NodeType::ALLOCATED));
        for (field, data) in kind.fields.iter().zip(content) {
            cells[field + node].write(data);
        }
        Ok(node as u32)
    }

    /// Allocates the node with this number, which an initial value may name.
    pub(super) fn place(
        &self,
        cells: &mut Arc<Vec<Cell>>,
        (id, number): (NodeId, u32),
        content: Vec<Data>,
    ) -> Result<(), FaultKind> {
        // Nodes are placed in the order of their numbers, so each takes the next number.
        let taken = self.allocate(cells, id, 0, content)?;
        debug_assert_eq!(taken, number, "the first nodes are numbered in order");
        Ok(())
    }

    pub(super) fn free(
        &self,
        cells: &mut Arc<Vec<Cell>>,
        id: NodeId,
        number: u32,
    ) -> Result<(), FaultKind> {
        let (kind, node) = (self.kind(id), number as usize);
        if !kind.is(cells, node, NodeType::ALLOCATED) {
            return Err(FaultKind::FreedTwice { node: kind.named(number) });
        }
        let cells = Arc::make_mut(cells);
        cells[kind.state + node].write(Data::Number(NodeType::FREED));
        if !kind.is_stable {
            kind.empty(cells, node);
        }
        Ok(())
    }

    /// Checks that a field of a node may be accessed.
    pub(super) fn check(&self, cells: &[Cell], id: NodeId, number: i64) -> Result<(), FaultKind> {
        let (kind, node) = (self.kind(id), number as usize);
        debug_assert!(!kind.is(cells, node, NodeType::ABSENT), "what is reached is no absent node");
        if kind.is_stable || kind.is(cells, node, NodeType::ALLOCATED) {
            return Ok(());
        }
        Err(FaultKind::UseAfterFree { node: kind.named(number as u32) })
    }

    /// Returns a name such as `Node 1`.
    pub fn named(&self, id: NodeId, number: u32) -> String {
        self.kind(id).named(number)
    }

    /// Returns the number of a node over all kinds.
    pub fn number(&self, id: NodeId, number: u32) -> u32 {
        self.kind(id).first as u32 + number
    }

    /// Collects the nodes in data, each once.
    pub(super) fn pointers(&self, data: &Data, found: &mut Vec<u32>) {
        match data {
            Data::Node { id, number } => {
                let node = self.number(*id, *number);
                if !found.contains(&node) {
                    found.push(node);
                }
            }
            Data::Parts(parts) => parts.iter().for_each(|part| self.pointers(part, found)),
            _ => {}
        }
    }

    /// Collects the nodes that shared variables point to.
    pub(super) fn roots(&self, part: &SharedPart, found: &mut Vec<u32>) {
        part.0[..self.first_cell].iter().for_each(|cell| self.pointers(&cell.content, found));
    }

    /// Collects the nodes that some fields of a node point to.
    pub(super) fn followed(
        &self,
        part: &SharedPart,
        node: u32,
        is_followed: impl Fn(Field) -> bool,
        found: &mut Vec<u32>,
    ) {
        let (kind, of) = self.kind_of(node);
        for (number, first) in of.fields.iter().enumerate() {
            if is_followed(Field { kind, number }) {
                let cell = &part.0[first + node as usize - of.first];
                self.pointers(&cell.content, found);
            }
        }
    }

    /// Returns the number of cells that point to a node.
    pub(super) fn mentions(&self, part: &SharedPart, node: u32) -> usize {
        let mentions = |cell: &&Cell| self.mentions_in(&cell.content, node);
        part.0.iter().filter(mentions).count()
    }

    fn mentions_in(&self, data: &Data, node: u32) -> bool {
        match data {
            Data::Node { id, number } => self.number(*id, *number) == node,
            Data::Parts(parts) => parts.iter().any(|part| self.mentions_in(part, node)),
            _ => false,
        }
    }

    /// Resets all fields of a node to their content before the first `new`.
    pub(super) fn empty(&self, cells: &mut [Cell], node: u32) {
        let (_, kind) = self.kind_of(node);
        kind.empty(cells, node as usize - kind.first);
    }

    /// Resets one field of a node to its content before the first `new`.
    pub(super) fn empty_field(&self, cells: &mut [Cell], node: u32, field: Field) {
        let kind = &self.kinds[field.kind];
        let blank = kind.blank[field.number].clone();
        cells[kind.fields[field.number] + node as usize - kind.first].write(blank);
    }

    /// Returns the number of kinds of nodes.
    pub(super) const fn kinds(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the kind of a node, and the number of the first node of that kind.
    pub(super) fn kind_and_first(&self, node: u32) -> (usize, u32) {
        let (kind, of) = self.kind_of(node);
        (kind, of.first as u32)
    }

    fn kind_of(&self, node: u32) -> (usize, &Kind) {
        let kind = self.kinds.iter().rposition(|kind| kind.first <= node as usize);
        let kind = kind.expect("a node has a kind");
        (kind, &self.kinds[kind])
    }

    /// Returns the pointers of shared memory: the words of a [`Shape`].
    pub fn shape(&self, part: &SharedPart) -> Vec<u32> {
        let cells = &*part.0;
        let mut roots = Vec::new();
        cells[..self.first_cell].iter().for_each(|cell| self.pointers(&cell.content, &mut roots));
        let (mut edges, mut ends) = (Vec::new(), Vec::with_capacity(self.len()));
        let (mut present, mut found) = (0, Vec::new());
        for kind in &self.kinds {
            for node in 0..kind.count {
                found.clear();
                for field in &kind.fields {
                    self.pointers(&cells[field + node].content, &mut found);
                }
                edges.append(&mut found);
                ends.push(edges.len() as u32);
                present += u32::from(!kind.is(cells, node, NodeType::ABSENT));
            }
        }
        let last =
            ends.iter().rposition(|end| *end < edges.len() as u32).map_or(0, |last| last + 1);
        ends.truncate(last);
        let numbers = [present, roots.len() as u32, ends.len() as u32];
        [&numbers[..], &roots, &ends, &edges].concat()
    }

    /// Returns the freed nodes that are still reachable; numbered over all kinds.
    pub fn freed(&self, part: &SharedPart) -> Vec<u32> {
        let freed = self.kinds.iter().flat_map(|kind| {
            kind.in_state(&part.0, NodeType::FREED).map(|node| (kind.first + node) as u32)
        });
        freed.collect()
    }

    /// Returns the nodes that a process holds, each once; numbered over all kinds.
    pub fn held(&self, part: &ProcessPart) -> Box<[u32]> {
        let mut found = Vec::new();
        part.0.each_data(&mut |data| self.pointers(data, &mut found));
        found.into()
    }

    fn renamed(&self, data: &Data, names: &[Option<u32>]) -> Data {
        match data {
            Data::Node { id, number } => {
                let named = names[self.number(*id, *number) as usize];
                let named = named.expect("what is pointed to is reached");
                Data::Node { id: *id, number: named - self.kind(*id).first as u32 }
            }
            Data::Parts(parts) => {
                Data::Parts(parts.iter().map(|part| self.renamed(part, names)).collect())
            }
            data => data.clone(),
        }
    }

    /// Renames the nodes of shared memory, and removes nodes without a name.
    pub fn renamed_shared(&self, part: &SharedPart, names: &[Option<u32>]) -> SharedPart {
        let before = &*part.0;
        let mut after = before.clone();
        for kind in &self.kinds {
            (0..kind.count).for_each(|node| kind.remove(&mut after, node));
        }
        for cell in &mut after[..self.first_cell] {
            cell.content = self.renamed(&cell.content, names);
        }
        for kind in &self.kinds {
            for node in 0..kind.count {
                let Some(name) = names[kind.first + node] else { continue };
                let name = name as usize - kind.first;
                after[kind.state + name] = before[kind.state + node].clone();
                for field in &kind.fields {
                    let Cell { content, links } = &before[field + node];
                    let content = self.renamed(content, names);
                    after[field + name] = Cell { content, links: links.clone() };
                }
            }
        }
        SharedPart(Arc::new(after))
    }

    /// Renames the nodes of a process's part.
    pub fn renamed_process(&self, part: &ProcessPart, names: &[Option<u32>]) -> ProcessPart {
        let mut local = (*part.0).clone();
        local.each_data_mut(&mut |data| *data = self.renamed(data, names));
        ProcessPart(Arc::new(local))
    }

    /// Replaces each node of a process's part by the first of its kind.
    pub fn without_nodes(&self, part: &ProcessPart) -> ProcessPart {
        let firsts = self.kinds.iter().flat_map(|kind| vec![Some(kind.first as u32); kind.count]);
        self.renamed_process(part, &firsts.collect::<Vec<_>>())
    }

    /// Makes unreachable nodes absent.
    pub fn collect(&self, state: &mut State) {
        let words = self.shape(&state.shared_part());
        let shape = Shape::new(&words);
        let held: Vec<Box<[u32]>> = (0..state.processes.len())
            .map(|process| self.held(&state.process_part(process)))
            .collect();
        let mut walk = Reached::default();
        self.walk(&mut walk, shape, held.iter().map(|held| &**held));
        if walk.order.len() == shape.present {
            return;
        }
        self.name(&mut walk);
        let names = walk.names;
        let cells = Arc::make_mut(&mut state.cells);
        for kind in &self.kinds {
            for node in (0..kind.count).filter(|node| names[kind.first + node].is_none()) {
                kind.remove(cells, node);
            }
        }
    }
}

impl Kind {
    fn is(&self, cells: &[Cell], node: usize, state: i64) -> bool {
        cells[self.state + node].content == Data::Number(state)
    }

    /// Returns the nodes in this state, in ascending order.
    fn in_state(&self, cells: &[Cell], state: i64) -> impl Iterator<Item = usize> {
        (0..self.count).filter(move |node| self.is(cells, *node, state))
    }

    /// Resets all fields of a node.
    fn empty(&self, cells: &mut [Cell], node: usize) {
        for (field, blank) in self.fields.iter().zip(&self.blank) {
            cells[field + node].write(blank.clone());
        }
    }

    fn remove(&self, cells: &mut [Cell], node: usize) {
        cells[self.state + node].write(Data::Number(NodeType::ABSENT));
        self.empty(cells, node);
    }

    fn named(&self, number: u32) -> String {
        format!("{} {number}", self.name)
    }
}

impl Local {
    /// Returns the number of variables that point to a node.
    pub(super) fn mentions(&self, heap: &Heap, node: u32) -> usize {
        let mut count = 0;
        self.each_data(&mut |data| count += usize::from(heap.mentions_in(data, node)));
        count
    }

    fn each_data(&self, act: &mut dyn FnMut(&Data)) {
        self.private.iter().for_each(&mut *act);
        if let Activity::Running(frames) = &self.activity {
            frames.iter().flat_map(|frame| &frame.locals).for_each(act);
        }
    }

    fn each_data_mut(&mut self, act: &mut dyn FnMut(&mut Data)) {
        self.private.iter_mut().for_each(&mut *act);
        if let Activity::Running(frames) = &mut self.activity {
            frames.iter_mut().flat_map(|frame| &mut frame.locals).for_each(act);
        }
    }
}

impl Data {
    /// Returns true if the data contains a node.
    pub(super) fn has_nodes(&self) -> bool {
        match self {
            Self::Node { .. } => true,
            Self::Parts(parts) => parts.iter().any(Self::has_nodes),
            _ => false,
        }
    }
}
