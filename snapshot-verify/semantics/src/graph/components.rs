//! Strongly connected components of a part of a graph (Tarjan, *Depth-first search and linear graph
//! algorithms*, SIAM Journal on Computing 1972).

/// Component of each vertex. Components are numbered in reverse topological order: an edge between
/// two of them leads to the smaller number.
#[derive(Debug)]
pub struct Components {
    /// Number of the component; [`Components::NONE`] for vertices that do not take part.
    pub of: Vec<u32>,
}

impl Components {
    pub const NONE: u32 = u32::MAX;

    /// Finds the components. `takes_part` selects vertices; `edges` returns the number of edges of
    /// a vertex; `target` returns the target of an edge, `None` if the edge does not take part.
    pub fn new(
        vertices: usize,
        takes_part: &dyn Fn(u32) -> bool,
        edges: &dyn Fn(u32) -> usize,
        target: &dyn Fn(u32, usize) -> Option<u32>,
    ) -> Self {
        let mut search = Search {
            low: vec![0; vertices],
            of: vec![Self::NONE; vertices],
            next: 1,
            count: 0,
            stack: Vec::new(),
        };
        let mut calls: Vec<(u32, usize)> = Vec::new();
        for root in 0..vertices as u32 {
            if search.low[root as usize] > 0 || !takes_part(root) {
                continue;
            }
            calls.push((root, 0));
            let mut numbers = vec![search.enter(root)];
            while let Some((vertex, position)) = calls.last_mut() {
                let vertex = *vertex;
                if *position == edges(vertex) {
                    calls.pop();
                    let number = numbers.pop().expect("a number per call");
                    search.leave(vertex, number);
                    if let Some((above, _)) = calls.last() {
                        search.lower(*above, vertex);
                    }
                    continue;
                }
                let edge = *position;
                *position += 1;
                let Some(to) = target(vertex, edge).filter(|to| takes_part(*to)) else { continue };
                if search.low[to as usize] == 0 {
                    calls.push((to, 0));
                    numbers.push(search.enter(to));
                } else {
                    search.lower(vertex, to);
                }
            }
        }
        Self { of: search.of }
    }

    /// Returns true if both vertices lie in the same component.
    pub fn are_connected(&self, one: u32, other: u32) -> bool {
        let component = self.of[one as usize];
        component != Self::NONE && component == self.of[other as usize]
    }
}

struct Search {
    /// Least number reached; 0: not visited.
    low: Vec<u32>,
    of: Vec<u32>,
    next: u32,
    count: u32,
    stack: Vec<u32>,
}

impl Search {
    fn enter(&mut self, vertex: u32) -> u32 {
        let number = self.next;
        self.next += 1;
        self.low[vertex as usize] = number;
        self.stack.push(vertex);
        number
    }

    /// Notes that `vertex` reaches `to`, if `to` still is on the stack.
    fn lower(&mut self, vertex: u32, to: u32) {
        if self.of[to as usize] == Components::NONE {
            self.low[vertex as usize] = self.low[vertex as usize].min(self.low[to as usize]);
        }
    }

    fn leave(&mut self, vertex: u32, number: u32) {
        if self.low[vertex as usize] != number {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.of[member as usize] = self.count;
            if member == vertex {
                break;
            }
        }
        self.count += 1;
    }
}
