//! Steps that fault rather than read a blank.

use super::{READ, Stale};
use crate::instance::{
    Assignment, Block, BlockId, Domain, End, Graph, Instance, NONE, Operator, SlotId, Target, Term,
};
use crate::language::Span;

/// The instance with a test before every read of a slot that may be stale. Moves
/// between such slots are not tested: they move the blank.
pub(super) fn guarded(instance: &Instance, stale: &Stale) -> Instance {
    let mut guarded = instance.clone();
    for (index, slot) in guarded.slots.iter_mut().enumerate() {
        let Some(blank) = stale.blank(SlotId(index as u32)) else { continue };
        if let Domain::Range { high, optional, .. } = &mut slot.domain {
            if blank == NONE { *optional = true } else { *high = blank }
        }
    }
    for graph in &mut guarded.graphs {
        guard(graph, stale);
    }
    debug_assert_eq!(guarded.validity(), Ok(()));
    guarded
}

fn guard(graph: &mut Graph, stale: &Stale) {
    let fault = BlockId(graph.blocks.len() as u32);
    let end = End::Fault { span: Span::default(), what: READ };
    graph.blocks.push(Block { accesses: 0, assignments: Vec::new(), end });
    for index in 0..fault.index() {
        let place = &mut graph.blocks[index];
        let end = place.end.clone();
        let assignments = std::mem::take(&mut place.assignments);
        let mut writer = Writer { graph, at: index, fault };
        for assignment in assignments {
            for test in tests(&assignment, stale) {
                writer.test(test);
            }
            writer.graph.blocks[writer.at].assignments.push(assignment);
        }
        let mut found = Vec::new();
        end.terms().into_iter().for_each(|term| reads(term, stale, &mut found));
        found.into_iter().for_each(|test| writer.test(test));
        let at = writer.at;
        graph.blocks[at].end = end;
    }
}

/// Appends to a block, and to those that it is continued by.
struct Writer<'a> {
    graph: &'a mut Graph,
    at: usize,
    fault: BlockId,
}

impl Writer<'_> {
    /// Goes on only if the condition does not hold.
    fn test(&mut self, condition: Term) {
        let next = BlockId(self.graph.blocks.len() as u32);
        self.graph.blocks[self.at].end =
            End::Branch { condition, then: self.fault, otherwise: next };
        // Its end is written when it is complete.
        let end = End::Jump(self.fault);
        self.graph.blocks.push(Block { accesses: 0, assignments: Vec::new(), end });
        self.at = next.index();
    }
}

/// The conditions under which an assignment reads a blank. Each may be evaluated
/// once those before it do not hold.
fn tests(assignment: &Assignment, stale: &Stale) -> Vec<Term> {
    let mut found = Vec::new();
    let Assignment { target, value } = assignment;
    match target {
        Target::Slot(to) => {
            if let Term::Slot(from) = value
                && stale.blank(*from).is_some()
                && stale.blank(*from) == stale.blank(*to)
            {
                return found;
            }
        }
        Target::Element { index, .. } => reads(index, stale, &mut found),
    }
    reads(value, stale, &mut found);
    found
}

/// The conditions under which evaluating a term reads a blank.
fn reads(term: &Term, stale: &Stale, found: &mut Vec<Term>) {
    let is_blank =
        |term: Term, blank| Term::Apply(Operator::Equal, vec![term, Term::Constant(blank)]);
    match term {
        Term::Constant(_) | Term::Process(_) | Term::Fresh => {}
        Term::Slot(slot) | Term::Successor(slot) => {
            if let Some(blank) = stale.blank(*slot) {
                found.push(is_blank(Term::Slot(*slot), blank));
            }
        }
        Term::Element { index, of } => {
            reads(index, stale, found);
            let mut blank = None;
            let mut chosen = Vec::with_capacity(of.len());
            for term in of {
                match term {
                    Term::Slot(slot) if stale.blank(*slot).is_some() => {
                        debug_assert!(blank.is_none() || blank == stale.blank(*slot));
                        blank = stale.blank(*slot);
                        chosen.push(term.clone());
                    }
                    other => {
                        reads(other, stale, found);
                        chosen.push(Term::FALSE);
                    }
                }
            }
            if let Some(blank) = blank {
                let chosen = Term::Element { index: index.clone(), of: chosen };
                found.push(is_blank(chosen, blank));
            }
        }
        Term::Apply(_, arguments) => {
            arguments.iter().for_each(|term| reads(term, stale, found));
        }
    }
}
