//! A set of rows as a decision diagram: one level per column, with equal tails shared. As a term it
//! is linear in its edges.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::term::{and, or};

/// A set of rows of the same length, of numbers of labels. A label is a condition.
pub struct Diagram<'a> {
    labels: &'a [String],
    /// Per column, its nodes: their edges.
    nodes: Vec<Vec<Vec<(u32, usize)>>>,
    known: Vec<FxHashMap<Vec<(u32, usize)>, usize>>,
    root: usize,
}

impl<'a> Diagram<'a> {
    /// Builds the diagram of sorted, distinct rows; there must be at least one.
    pub fn new(labels: &'a [String], rows: &[Vec<u32>]) -> Self {
        let columns = rows.first().map_or(0, Vec::len);
        let mut diagram = Self {
            labels,
            nodes: vec![Vec::new(); columns],
            known: vec![FxHashMap::default(); columns],
            root: 0,
        };
        diagram.root = diagram.node(rows, 0);
        diagram
    }

    /// Returns the node of rows that agree before a column. The last level has one node, which
    /// holds.
    fn node(&mut self, rows: &[Vec<u32>], column: usize) -> usize {
        if column == self.nodes.len() {
            return 0;
        }
        let parts = rows.chunk_by(|a, b| a[column] == b[column]);
        let edges: Vec<(u32, usize)> =
            parts.map(|part| (part[0][column], self.node(part, column + 1))).collect();
        let next = self.nodes[column].len();
        let node = *self.known[column].entry(edges.clone()).or_insert(next);
        if node == next {
            self.nodes[column].push(edges);
        }
        node
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.iter().map(Vec::len).sum()
    }

    /// Returns a term that holds for exactly the rows.
    pub fn term(&self) -> String {
        let mut text = String::new();
        let mut behind: Vec<String> = vec!["true".to_owned()];
        let mut open = 0;
        for (column, nodes) in self.nodes.iter().enumerate().rev() {
            let mut names = Vec::new();
            let mut defined = String::new();
            for (number, edges) in nodes.iter().enumerate() {
                let edges: Vec<String> = edges
                    .iter()
                    .map(|(label, to)| {
                        and(&[self.labels[*label as usize].clone(), behind[*to].clone()])
                    })
                    .collect();
                let term = or(&edges);
                if term.len() < 12 {
                    names.push(term);
                    continue;
                }
                let name = format!("n{column}.{number}");
                let _ = write!(defined, " ({name} {term})");
                names.push(name);
            }
            if !defined.is_empty() {
                let _ = write!(text, "\n  (let ({})", defined.trim_start());
                open += 1;
            }
            behind = names;
        }
        let _ = write!(text, " {}{}", behind[self.root.min(behind.len() - 1)], ")".repeat(open));
        text.trim_start().to_owned()
    }
}
