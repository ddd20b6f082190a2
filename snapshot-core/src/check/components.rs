//! Segments that no scan joins, as separate objects.
//!
//! Where scans are partial, segments may fall into *components*: two segments belong together if a
//! complete scan returned both. The history is linearizable iff its restriction to each component
//! is (Herlihy and Wing 1990, Theorem 1: linearizability is local), and a partial scan may be full
//! in its component. Reads of single segments, for instance, become one history of full scans per
//! segment, to which all methods for full scans apply.
//!
//! Orders of all components are merged by the instants at which operations take effect in them: the
//! earliest ones after their predecessors. An operation that responded before another one was
//! invoked has an earlier instant.

use std::hash::Hash;

use super::Report;
use crate::explanation::{Deed, Ending, Explanation};
use crate::history::{Action, Declaration, Event, History};
use crate::verdict::{Cause, Line, Linearization, Reason, Refutation, Rule, Verdict, Witness};
use crate::{OperationId, Segment};

/// Returns the segments of each component, ascending, components by their first segments. O(entries
/// of all scans).
pub(super) fn components<V>(history: &History<V>) -> Vec<Vec<Segment>> {
    let mut parent: Vec<usize> = (0..history.segments()).collect();
    for scan in history.operations().iter().filter(|operation| operation.is_scan()) {
        let mut entries = history.entries(scan).map(|(segment, _)| segment.index());
        if let Some(first) = entries.next() {
            for other in entries {
                let (a, b) = (root(&mut parent, first), root(&mut parent, other));
                // The root of a component is its first segment.
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    let mut components: Vec<Vec<Segment>> = Vec::new();
    let mut place = vec![usize::MAX; parent.len()];
    for segment in 0..parent.len() {
        let root = root(&mut parent, segment);
        if place[root] == usize::MAX {
            place[root] = components.len();
            components.push(Vec::new());
        }
        components[place[root]].push(Segment::from_index(segment));
    }
    components
}

fn root(parent: &mut [usize], mut segment: usize) -> usize {
    while parent[segment] != segment {
        parent[segment] = parent[parent[segment]];
        segment = parent[segment];
    }
    segment
}

/// Returns the events of each component, ascending. Scans that returned nothing, or did not
/// respond, belong to no component.
pub(super) fn events<V>(history: &History<V>, components: &[Vec<Segment>]) -> Vec<Vec<u32>> {
    let mut component_of = vec![0; history.segments()];
    for (number, component) in components.iter().enumerate() {
        for segment in component {
            component_of[segment.index()] = number;
        }
    }
    let mut events = vec![Vec::new(); components.len()];
    for (position, step) in history.steps().enumerate() {
        let operation = history.operation(step.operation);
        let entry = || history.entries(operation).next().map(|(segment, _)| segment);
        if let Some(segment) = operation.segment().or_else(entry) {
            events[component_of[segment.index()]].push(position as u32);
        }
    }
    events
}

/// The restriction of a history to a component.
pub(super) struct Part<V> {
    pub history: History<V>,
    segments: Vec<Segment>,
    /// For each operation and event of the restriction, its counterpart in the whole history.
    operations: Vec<OperationId>,
    events: Vec<u32>,
}

impl<V: Clone + Eq + Hash> Part<V> {
    pub fn new(whole: &History<V>, segments: Vec<Segment>, events: Vec<u32>) -> Self {
        let initial: Vec<V> = segments.iter().map(|k| whole.initial_value(*k).clone()).collect();
        let declaration = Declaration::new(initial[0].clone())
            .with_segments(initial.len())
            .with_initial(initial)
            .with_writers(whole.writers());
        let mut builder = History::builder(declaration).expect("a component has a segment");
        let mut operations = Vec::new();
        let place = |segment: Segment| {
            segments.binary_search(&segment).map_or(segment, Segment::from_index)
        };
        for &position in &events {
            let step = whole.step(position as usize);
            if !step.is_end {
                operations.push(step.operation);
            }
            let event = whole.event(position as usize);
            let pushed = match event.action {
                Action::InvokeUpdate { segment, value } => {
                    builder.push(&Event::invoke_update(event.process, place(segment), value))
                }
                Action::RespondPartialScan { entries, .. } => {
                    let entries: Vec<(Segment, V)> = entries
                        .iter()
                        .map(|(segment, value)| (place(*segment), value.clone()))
                        .collect();
                    builder.push(&Event::respond_partial_scan(event.process, &entries))
                }
                _ => builder.push(&event),
            };
            pushed.expect("a part of a history is a history");
        }
        Self { history: builder.finish(), segments, operations, events }
    }

    /// Returns the segments and the events of the component.
    pub fn into_component(self) -> (Vec<Segment>, Vec<u32>) {
        (self.segments, self.events)
    }

    fn operation(&self, id: OperationId) -> OperationId {
        self.operations[id.index()]
    }

    fn segment(&self, segment: Segment) -> Segment {
        self.segments[segment.index()]
    }

    /// Translates a report on the restriction into one on the whole history.
    pub fn lift(&self, report: Report<V>) -> Report<V> {
        let decided_at = report.decided_at.map(|event| self.events[event] as usize);
        let explanation = report.explanation.map(|explanation| self.lift_explanation(explanation));
        let verdict = match (&explanation, report.verdict) {
            (Some(explanation), _) => Verdict::Violation(explanation.witness.clone()),
            (None, other) => other,
        };
        Report { verdict, explanation, decided_at, ..report }
    }

    fn lift_explanation(&self, mut explanation: Explanation<V>) -> Explanation<V> {
        let event = |event: usize| self.events[event] as usize;
        for operation in &mut explanation.operations {
            operation.id = self.operation(operation.id);
            operation.invocation = event(operation.invocation);
            operation.ending = match operation.ending {
                Ending::Response(end) => Ending::Response(event(end)),
                Ending::Failure(end) => Ending::Failure(event(end)),
                Ending::Unknown(end) => Ending::Unknown(event(end)),
                Ending::None => Ending::None,
            };
            match &mut operation.deed {
                Deed::Update { segment, .. } => *segment = self.segment(*segment),
                Deed::Scan { entries } => {
                    for (segment, _) in entries {
                        *segment = self.segment(*segment);
                    }
                }
            }
        }
        for (segment, _) in &mut explanation.initial {
            *segment = self.segment(*segment);
        }
        explanation.renumber(|id| self.operation(id));
        explanation.witness = self.lift_witness(explanation.witness);
        explanation.refutation = explanation.refutation.map(|lines| self.lift_refutation(&lines));
        explanation
    }

    fn lift_witness(&self, mut witness: Witness) -> Witness {
        witness.operations.iter_mut().for_each(|id| *id = self.operation(*id));
        witness.segments.iter_mut().for_each(|segment| *segment = self.segment(*segment));
        if let Some(renaming) = &mut witness.renaming {
            renaming.i = self.segment(renaming.i);
            renaming.j = renaming.j.map(|j| self.segment(j));
        }
        let (of, at) = (|id| self.operation(id), |segment| self.segment(segment));
        witness.reason = match witness.reason {
            Reason::NeverWritten { scan, segment } => {
                Reason::NeverWritten { scan: of(scan), segment: at(segment) }
            }
            Reason::FailedUpdateSeen { scan, update } => {
                Reason::FailedUpdateSeen { scan: of(scan), update: of(update) }
            }
            Reason::Future { scan, update } => {
                Reason::Future { scan: of(scan), update: of(update) }
            }
            Reason::Stale { scan, overwriting } => {
                Reason::Stale { scan: of(scan), overwriting: of(overwriting) }
            }
            Reason::Decrease { earlier, later, segment } => {
                Reason::Decrease { earlier: of(earlier), later: of(later), segment: at(segment) }
            }
            Reason::Inversion { first, second, i, j } => {
                Reason::Inversion { first: of(first), second: of(second), i: at(i), j: at(j) }
            }
            Reason::Missing { scan, seen, missing } => {
                Reason::Missing { scan: of(scan), seen: of(seen), missing: of(missing) }
            }
            reason @ (Reason::Cycle | Reason::Ordering | Reason::NoOrder) => reason,
        };
        witness
    }

    fn lift_refutation(&self, refutation: &Refutation) -> Refutation {
        let line = |line: &Line| Line {
            before: self.operation(line.before),
            after: self.operation(line.after),
            rule: self.lift_rule(line.rule),
        };
        Refutation { lines: refutation.lines.iter().map(line).collect() }
    }

    fn lift_rule(&self, rule: Rule) -> Rule {
        match rule {
            Rule::Block { segment, because } => {
                Rule::Block { segment: self.segment(segment), because }
            }
            Rule::Source { segment } => Rule::Source { segment: self.segment(segment) },
            Rule::Excluded { segment } => Rule::Excluded { segment: self.segment(segment) },
            Rule::Unreadable { segment } => Rule::Unreadable { segment: self.segment(segment) },
            rule @ (Rule::Time
            | Rule::Reads
            | Rule::First
            | Rule::Chain { .. }
            | Rule::Suppose
            | Rule::Otherwise) => rule,
        }
    }

    /// Translates the reason for a search into the whole history.
    pub fn lift_cause(&self, cause: Cause) -> Cause {
        let of = |id| self.operation(id);
        match cause {
            Cause::AmbiguousValue { scan, segment } => {
                Cause::AmbiguousValue { scan: of(scan), segment: self.segment(segment) }
            }
            Cause::OverlappingUpdates { first, second } => {
                Cause::OverlappingUpdates { first: of(first), second: of(second) }
            }
            Cause::PartialScan { scan } => Cause::PartialScan { scan: of(scan) },
            // The automata judge only whole histories.
            Cause::Unrenamable(_) => unreachable!("a restriction is not judged by renamings"),
            Cause::Requested => Cause::Requested,
        }
    }

    /// Returns the counterpart in the whole history of event `event` of the restriction, if that
    /// event exists; else the number of events of the whole.
    pub fn lift_event(&self, event: usize, whole: &History<V>) -> usize {
        self.events.get(event).map_or(whole.len(), |event| *event as usize)
    }

    /// Returns the restriction's operations in order, each with the earliest instant at which it
    /// can take effect: the latest invocation among it and its predecessors.
    pub fn instants(&self, order: &Linearization, whole: &History<V>) -> Vec<(u32, OperationId)> {
        let mut instant = 0;
        let instants = order.iter().map(|id| {
            let id = self.operation(id);
            instant = instant.max(whole.operation(id).invocation() as u32);
            (instant, id)
        });
        instants.collect()
    }
}

/// Merges the operations of all components, and the scans that returned nothing, into one order.
pub(super) fn merge<V>(
    history: &History<V>,
    components: Vec<Vec<(u32, OperationId)>>,
) -> Linearization {
    let mut all: Vec<(u32, OperationId)> = components.into_iter().flatten().collect();
    let is_idle = |id: &OperationId| {
        let operation = history.operation(*id);
        operation.is_partial() && history.partial_entries(operation).is_empty()
    };
    let idle = history.operation_ids().filter(is_idle);
    all.extend(idle.map(|id| (history.operation(id).invocation() as u32, id)));
    // Stable: operations of one component with one instant stay in their order.
    all.sort_by_key(|(instant, _)| *instant);
    Linearization { order: all.into_iter().map(|(_, id)| id).collect() }
}
