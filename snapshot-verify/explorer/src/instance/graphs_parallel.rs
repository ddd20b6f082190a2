//! Parallel iteration over the graphs of the processes.
//!
//! Each graph goes to the next free thread of the current pool: often two processes are active and
//! have all the work, and the others have graphs of a few blocks.

use rayon::prelude::*;

use super::{Graph, Instance};

impl Instance {
    /// Returns the graphs in the order of their processes.
    pub(crate) fn graphs_parallel(&self) -> impl IndexedParallelIterator<Item = &Graph> {
        self.graphs.par_iter().with_max_len(1)
    }

    /// Returns the graphs mutably, in the order of their processes.
    pub(crate) fn graphs_parallel_mut(
        &mut self,
    ) -> impl IndexedParallelIterator<Item = &mut Graph> {
        self.graphs.par_iter_mut().with_max_len(1)
    }
}
