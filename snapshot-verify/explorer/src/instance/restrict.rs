//! Removal of inactive processes.

use snapshot_core::Process;

use super::{Block, BlockId, End, Graph, Instance, Invocations, Response, Standing, Term};
use crate::language::Span;

impl Instance {
    /// Returns the instance in which only some processes begin operations. The graphs of the other
    /// processes are empty, so that slots which only they read or write are recognised as constant
    /// or irrelevant. The explorer must not let the others begin operations.
    #[must_use]
    pub fn with_active(&self, is_active: impl Fn(Process) -> bool) -> Self {
        let mut reduced = self.clone();
        for (index, graph) in reduced.graphs.iter_mut().enumerate() {
            if !is_active(Process::from_index(index)) {
                *graph = Graph::idle();
            }
        }
        reduced
    }
}

impl Graph {
    /// Returns the graph of a process whose operations have no effect.
    fn idle() -> Self {
        let respond =
            |response| Block { accesses: 0, assignments: Vec::new(), end: End::Respond(response) };
        let scan = Response::Scan { at: [Term::FALSE, Term::FALSE], foreign: Term::FALSE };
        Self {
            blocks: vec![respond(Response::Update { value: Term::FALSE }), respond(scan)],
            locations: vec![Standing {
                step: None,
                span: Span::default(),
                label: "idle".to_owned(),
                updating: false,
                reactions: Vec::new(),
            }],
            invocations: Invocations { update: BlockId(0), scan: BlockId(1) },
            argument: None,
        }
    }
}
