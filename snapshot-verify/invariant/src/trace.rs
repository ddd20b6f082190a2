//! Steps that lead to a failure that cannot be excluded.

use std::ops::Deref;

use snapshot_language::Span;

use crate::byte::{I, J};
use crate::centre::canonical;
use crate::flips::{load, normal};
use crate::layout::Layout;
use crate::search::{Closing, NOWHERE, Origin};
use crate::step::lost::found;
use crate::step::{Outcome, Run};

/// A step on the path to a failure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Event {
    pub actor: Actor,
    /// Location of the process; `None`: it was idle.
    pub span: Option<Span>,
}

/// A process of a view.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Actor {
    /// The process that updates segment i.
    I,
    /// The process that updates segment j.
    J,
    /// The followed process.
    Tracked,
    Another,
}

impl<'p, L: Deref<Target = Layout<'p>>> Closing<L> {
    /// Returns the steps that led to the last failure, the failing one included.
    pub fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let (mut origin, mut child) = (self.sets.present, None);
        while origin.from != NOWHERE {
            events.extend(self.event(origin, child));
            child = Some(origin.from);
            origin = self.sets.origins[origin.from as usize];
        }
        events.reverse();
        events
    }

    /// Returns the step that led to a view, or, without one, to the failure.
    fn event(&self, origin: Origin, child: Option<u32>) -> Option<Event> {
        let layout = &*self.layout;
        let is_shown = origin.by == NOWHERE;
        let number = if is_shown { origin.from } else { origin.by };
        let kinds = self.sets.kinds(number);
        let (first, row) = (kinds.first()?, self.sets.row(number));
        let me = if is_shown {
            let loaded = load(layout, row);
            let makes = |me: &u8| {
                kinds.iter().any(|kind| {
                    let run = Run { layout, kind, me: *me, planted: self.sets.planted };
                    run.steps(&loaded).into_iter().any(|outcome| match child {
                        None => outcome.failure.is_some(),
                        Some(child) => self.leads_to(&run, outcome, child),
                    })
                })
            };
            *first.members.iter().find(|me| makes(me))?
        } else {
            first.followed
        };
        let actor = match me {
            I => Actor::I,
            J => Actor::J,
            _ if is_shown => Actor::Tracked,
            _ => Actor::Another,
        };
        let span = |(procedure, here)| {
            let code: &snapshot_semantics::interpret::code::Code<'_> = &layout.code[procedure];
            code.statements[here]
        };
        Some(Event { actor, span: layout.place(row, me, true).and_then(span) })
    }

    fn leads_to(&self, run: &Run<'_, '_>, outcome: Outcome, child: u32) -> bool {
        if outcome.failure.is_some() {
            return false;
        }
        let found = found(run.layout, run.kind, run.planted, outcome.state);
        found.into_iter().flatten().any(|mut state| {
            canonical(run.layout, &mut state);
            normal(run.layout, state).into_iter().any(|state| state == self.sets.row(child))
        })
    }
}
