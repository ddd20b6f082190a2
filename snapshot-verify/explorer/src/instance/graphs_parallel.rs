//! Parallel iteration over the graphs of the processes.
//!
//! Each graph is for whichever thread of the current pool is free: often two processes are
//! active and have all the work, and the others have graphs of a few blocks.

use rayon::prelude::*;

use super::{Graph, Instance};

impl Instance {
    /// The graphs, in the order of their processes, for threads to read.
    pub(crate) fn graphs_parallel(&self) -> impl IndexedParallelIterator<Item = &Graph> {
        self.graphs.par_iter().with_max_len(1)
    }

    /// The graphs, in the order of their processes, for threads to change.
    pub(crate) fn graphs_parallel_mut(
        &mut self,
    ) -> impl IndexedParallelIterator<Item = &mut Graph> {
        self.graphs.par_iter_mut().with_max_len(1)
    }
}
