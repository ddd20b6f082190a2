//! Processes that take no part.

use snapshot_core::Process;

use super::{Block, BlockId, End, Graph, Instance, Invocations, Response, Standing, Term};
use crate::language::Span;

impl Instance {
    /// The instance in which only some processes ever begin an operation: the
    /// graphs of the others are empty, so that what only they would read or write
    /// can be seen to be constant or without effect. Its explorer must not let
    /// the others begin operations.
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
    /// Of a process whose operations do nothing.
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
