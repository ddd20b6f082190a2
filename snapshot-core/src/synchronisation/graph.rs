//! Maximum matching in general graphs, with a proof if some vertex has no partner.
//!
//! Edmonds ("Paths, Trees, and Flowers", 1965): from a vertex without a partner, grow a tree of
//! alternating paths, contract the odd cycles (*blossoms*) that it meets, and exchange edges
//! along a path to another vertex without partner. Here some vertices are *optional*: they
//! need no partner. So a path may also end, at even distance, at an optional vertex, which
//! then loses its partner.
//!
//! If a tree cannot grow, its even vertices fall into blossoms, one more than the vertices at odd
//! distance, and their other edges lead only to these vertices: more odd sets than vertices outside
//! of them that their members could meet (Tutte 1947, Berge 1958). That is the proof; an
//! independent check guards against mistakes in this search ([`crate::certificate::deficiency`]).
//!
//! O(vertices^3) at worst. A good initial matching leaves few trees to grow.

use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// A graph, and a matching of it.
pub(super) struct Graph {
    /// The vertices that each vertex can meet.
    pub adjacent: Vec<Vec<u32>>,
    /// For each vertex, true if it may stay without a partner.
    pub is_optional: Vec<bool>,
    mate: Vec<u32>,
}

/// Sets of vertices that prove that not all vertices can have a partner.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Shortage {
    /// Vertices that all edges out of the sets lead to.
    pub removed: Vec<u32>,
    /// Sets of an odd number of vertices, more than there are in `removed`.
    pub components: Vec<Vec<u32>>,
}

/// A tree of alternating paths.
struct Tree {
    /// For each vertex reached at odd distance, its predecessor in the tree; within blossoms also
    /// the way around.
    parent: Vec<u32>,
    /// The base of each vertex's blossom.
    base: Vec<u32>,
    /// For each vertex, true if it is at even distance.
    is_even: Vec<bool>,
    queue: VecDeque<u32>,
}

/// The end of a tree.
enum Grown {
    /// The tree reached a vertex without partner, at odd distance.
    Odd(u32),
    /// The tree reached an optional vertex, at even distance.
    Even(u32),
    Stuck,
}

impl Graph {
    pub fn new(adjacent: Vec<Vec<u32>>, is_optional: Vec<bool>) -> Self {
        let mate = vec![NONE; adjacent.len()];
        Self { adjacent, is_optional, mate }
    }

    /// Sorts the neighbours of each vertex by key; lesser keys are preferred.
    pub fn sort_neighbours(&mut self, keys: &[usize]) {
        for neighbours in &mut self.adjacent {
            neighbours.sort_by_key(|&vertex| keys[vertex as usize]);
        }
    }

    /// The partner of a vertex.
    pub fn mate(&self, vertex: u32) -> Option<u32> {
        Some(self.mate[vertex as usize]).filter(|&mate| mate != NONE)
    }

    /// Gives every vertex that needs one a partner. Polls `proceed` per vertex; returns `None` if
    /// it ends the search.
    ///
    /// # Errors
    /// The proof that this is impossible.
    pub fn cover(&mut self, proceed: &mut dyn FnMut() -> bool) -> Option<Result<(), Shortage>> {
        self.begin();
        for root in 0..self.mate.len() as u32 {
            if self.mate[root as usize] != NONE || self.is_optional[root as usize] {
                continue;
            }
            if !proceed() {
                return None;
            }
            if let Err(shortage) = self.grow(root) {
                return Some(Err(shortage));
            }
        }
        Some(Ok(()))
    }

    /// Gives each vertex the first free neighbour as partner, first the vertices that need one.
    fn begin(&mut self) {
        for vertex in 0..self.mate.len() {
            if self.mate[vertex] != NONE || self.is_optional[vertex] {
                continue;
            }
            let is_free = |&&other: &&u32| self.mate[other as usize] == NONE;
            let mut free = self.adjacent[vertex].iter().filter(is_free);
            let first = free.clone().find(|&&other| !self.is_optional[other as usize]);
            if let Some(&other) = first.or_else(|| free.next()) {
                self.mate[vertex] = other;
                self.mate[other as usize] = vertex as u32;
            }
        }
    }

    fn grow(&mut self, root: u32) -> Result<(), Shortage> {
        let vertices = self.mate.len();
        let mut tree = Tree {
            parent: vec![NONE; vertices],
            base: (0..vertices as u32).collect(),
            is_even: vec![false; vertices],
            queue: VecDeque::from([root]),
        };
        tree.is_even[root as usize] = true;
        let end = match self.explore(&mut tree, root) {
            Grown::Stuck => return Err(self.shortage(&tree)),
            Grown::Odd(end) => end,
            Grown::Even(end) => std::mem::replace(&mut self.mate[end as usize], NONE),
        };
        let mut vertex = end;
        while vertex != NONE {
            let before = tree.parent[vertex as usize];
            let next = self.mate[before as usize];
            self.mate[vertex as usize] = before;
            self.mate[before as usize] = vertex;
            vertex = next;
        }
        Ok(())
    }

    fn explore(&self, tree: &mut Tree, root: u32) -> Grown {
        while let Some(vertex) = tree.queue.pop_front() {
            for &other in &self.adjacent[vertex as usize] {
                let mate = self.mate[other as usize];
                if tree.base[vertex as usize] == tree.base[other as usize]
                    || self.mate[vertex as usize] == other
                {
                    continue;
                }
                if tree.is_even[other as usize] {
                    if let Some(optional) = self.contract(tree, vertex, other, root) {
                        return Grown::Even(optional);
                    }
                } else if tree.parent[other as usize] == NONE {
                    tree.parent[other as usize] = vertex;
                    if mate == NONE {
                        return Grown::Odd(other);
                    }
                    tree.is_even[mate as usize] = true;
                    if self.is_optional[mate as usize] {
                        return Grown::Even(mate);
                    }
                    tree.queue.push_back(mate);
                }
            }
        }
        Grown::Stuck
    }

    /// Contracts the cycle closed by an edge between even vertices into a blossom. Returns an
    /// optional vertex that thereby reaches even distance, if any.
    fn contract(&self, tree: &mut Tree, one: u32, other: u32, root: u32) -> Option<u32> {
        let base = self.common_base(tree, one, other, root);
        let mut is_inside = vec![false; self.mate.len()];
        self.mark(tree, one, base, other, &mut is_inside);
        self.mark(tree, other, base, one, &mut is_inside);
        for vertex in 0..self.mate.len() {
            if !is_inside[tree.base[vertex] as usize] {
                continue;
            }
            tree.base[vertex] = base;
            if !tree.is_even[vertex] {
                tree.is_even[vertex] = true;
                if self.is_optional[vertex] {
                    return Some(vertex as u32);
                }
                tree.queue.push_back(vertex as u32);
            }
        }
        None
    }

    fn common_base(&self, tree: &Tree, one: u32, other: u32, root: u32) -> u32 {
        let base = |vertex: u32| tree.base[vertex as usize];
        let up = |vertex: u32| tree.parent[self.mate[vertex as usize] as usize];
        let mut is_above = vec![false; self.mate.len()];
        let mut vertex = base(one);
        loop {
            is_above[vertex as usize] = true;
            if vertex == base(root) {
                break;
            }
            vertex = base(up(vertex));
        }
        let mut vertex = base(other);
        while !is_above[vertex as usize] {
            vertex = base(up(vertex));
        }
        vertex
    }

    fn mark(&self, tree: &mut Tree, from: u32, base: u32, child: u32, is_inside: &mut [bool]) {
        let (mut vertex, mut child) = (from, child);
        while tree.base[vertex as usize] != base {
            let mate = self.mate[vertex as usize];
            is_inside[tree.base[vertex as usize] as usize] = true;
            is_inside[tree.base[mate as usize] as usize] = true;
            tree.parent[vertex as usize] = child;
            child = mate;
            vertex = tree.parent[mate as usize];
        }
    }

    /// Returns the proof that a tree is stuck.
    fn shortage(&self, tree: &Tree) -> Shortage {
        let all = || 0..self.mate.len() as u32;
        let is_odd =
            |vertex: &u32| !tree.is_even[*vertex as usize] && tree.parent[*vertex as usize] != NONE;
        let mut even: Vec<u32> = all().filter(|vertex| tree.is_even[*vertex as usize]).collect();
        even.sort_by_key(|vertex| tree.base[*vertex as usize]);
        let same = |one: &u32, other: &u32| tree.base[*one as usize] == tree.base[*other as usize];
        Shortage {
            removed: all().filter(is_odd).collect(),
            components: even.chunk_by(same).map(<[u32]>::to_vec).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if all vertices that need a partner can have one, by exhaustive search.
    fn can(adjacent: &[Vec<u32>], optional: &[bool], taken: &mut Vec<bool>) -> bool {
        let next = (0..adjacent.len()).find(|&vertex| !taken[vertex] && !optional[vertex]);
        let Some(vertex) = next else { return true };
        taken[vertex] = true;
        for &other in &adjacent[vertex] {
            if taken[other as usize] {
                continue;
            }
            taken[other as usize] = true;
            let found = can(adjacent, optional, taken);
            taken[other as usize] = false;
            if found {
                taken[vertex] = false;
                return true;
            }
        }
        taken[vertex] = false;
        false
    }

    fn judge(adjacent: &[Vec<u32>], optional: &[bool]) -> bool {
        let mut graph = Graph::new(adjacent.to_vec(), optional.to_vec());
        match graph.cover(&mut || true).expect("there is time") {
            Ok(()) => {
                for vertex in 0..adjacent.len() as u32 {
                    match graph.mate(vertex) {
                        None => assert!(optional[vertex as usize]),
                        Some(mate) => {
                            assert_eq!(graph.mate(mate), Some(vertex));
                            assert!(adjacent[vertex as usize].contains(&mate));
                        }
                    }
                }
                true
            }
            Err(Shortage { removed, components }) => {
                assert!(components.len() > removed.len());
                for component in &components {
                    assert_eq!(component.len() % 2, 1);
                    for &vertex in component {
                        assert!(!optional[vertex as usize]);
                        let within =
                            |other: &u32| component.contains(other) || removed.contains(other);
                        assert!(adjacent[vertex as usize].iter().all(within));
                    }
                }
                false
            }
        }
    }

    /// All graphs of 6 vertices, each with four sets of optional vertices.
    #[test]
    fn matching_of_small_graphs_agrees_with_brute_force() {
        const VERTICES: usize = 6;
        let pairs: Vec<(usize, usize)> = (0..VERTICES)
            .flat_map(|one| (one + 1..VERTICES).map(move |other| (one, other)))
            .collect();
        let mut covered = 0;
        for edges in 0u32..1 << pairs.len() {
            let mut adjacent = vec![Vec::new(); VERTICES];
            for (bit, &(one, other)) in pairs.iter().enumerate() {
                if edges >> bit & 1 == 1 {
                    adjacent[one].push(other as u32);
                    adjacent[other].push(one as u32);
                }
            }
            for optional in [0b00_0000, 0b00_0001, 0b10_0100, 0b01_1010] {
                let optional: Vec<bool> =
                    (0..VERTICES).map(|vertex| optional >> vertex & 1 == 1).collect();
                let expected = can(&adjacent, &optional, &mut vec![false; VERTICES]);
                assert_eq!(judge(&adjacent, &optional), expected, "{adjacent:?} {optional:?}");
                covered += u32::from(expected);
            }
        }
        assert!(covered > 30_000 && covered < 4 << pairs.len(), "{covered}");
    }

    /// Random graphs of 14 vertices, sparse ones: blossoms within blossoms.
    #[test]
    fn matching_of_random_graphs_agrees_with_brute_force() {
        let mut seed = 1u64;
        let mut random = move |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let mut answers = [0; 2];
        for _ in 0..20_000 {
            let vertices = 8 + random(7) as usize;
            let mut adjacent = vec![Vec::new(); vertices];
            for _ in 0..vertices + random(8) as usize {
                let (one, other) =
                    (random(vertices as u64) as usize, random(vertices as u64) as usize);
                if one != other && !adjacent[one].contains(&(other as u32)) {
                    adjacent[one].push(other as u32);
                    adjacent[other].push(one as u32);
                }
            }
            let optional: Vec<bool> = (0..vertices).map(|_| random(5) == 0).collect();
            let expected = can(&adjacent, &optional, &mut vec![false; vertices]);
            assert_eq!(judge(&adjacent, &optional), expected, "{adjacent:?} {optional:?}");
            answers[usize::from(expected)] += 1;
        }
        assert!(answers.iter().all(|&count| count > 1_000), "{answers:?}");
    }
}
