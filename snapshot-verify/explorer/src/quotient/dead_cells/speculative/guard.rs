//! Guards: steps fault instead of reading a blank.

use std::collections::BTreeSet;

use super::{READ, Stale};
use crate::instance::{
    Assignment, Block, BlockId, Domain, End, Graph, Instance, NONE, Operator, Scalar, SlotId,
    Target, Term,
};
use crate::language::Span;

/// Returns the instance with a test before every read of a slot that may be stale. Moves between
/// such slots are not tested: they move the blank.
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

/// Appends to a block, and to the blocks that continue it.
struct Writer<'a> {
    graph: &'a mut Graph,
    at: usize,
    fault: BlockId,
}

impl Writer<'_> {
    /// Continues only if the condition is false.
    fn test(&mut self, condition: Term) {
        let next = BlockId(self.graph.blocks.len() as u32);
        self.graph.blocks[self.at].end =
            End::Branch { condition, then: self.fault, otherwise: next };
        // The end is overwritten once the block is complete.
        let end = End::Jump(self.fault);
        self.graph.blocks.push(Block { accesses: 0, assignments: Vec::new(), end });
        self.at = next.index();
    }
}

/// Returns the conditions under which an assignment reads a blank. Each may be evaluated once the
/// previous ones are false.
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

/// Adds the conditions under which the evaluation of a term reads a blank.
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
            let blank_of = |term: &Term| match term {
                Term::Slot(slot) => stale.blank(*slot),
                _ => None,
            };
            of.iter().filter(|term| blank_of(term).is_none()).for_each(|term| {
                reads(term, stale, found);
            });
            // Each blank is tested separately: the blank of one slot may be a scalar of another.
            let blanks: BTreeSet<Scalar> = of.iter().filter_map(blank_of).collect();
            for blank in blanks {
                let chosen = of.iter().map(|term| match blank_of(term) == Some(blank) {
                    true => term.clone(),
                    false => Term::FALSE,
                });
                let chosen = Term::Element { index: index.clone(), of: chosen.collect() };
                found.push(is_blank(chosen, blank));
            }
        }
        Term::Apply(_, arguments) => {
            arguments.iter().for_each(|term| reads(term, stale, found));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use snapshot_core::Process;

    use super::*;
    use crate::instance::{Invocations, Owner, Response, Slot, Standing};
    use crate::quotient::dead_cells::speculative::{Group, Layer};
    use crate::search::product::Scratch;
    use crate::search::{Choice, Exploration, Fault, Stop};

    /// A slot that may be stale, like [`SECOND`]. All slots start with 0.
    const FIRST: SlotId = SlotId(0);
    const SECOND: SlotId = SlotId(1);
    const OTHER: SlotId = SlotId(2);
    const LAST: SlotId = SlotId(3);
    const BLANK: Scalar = 2;

    /// Creates an instance whose scans have this block; block 1 responds.
    fn instance(assignments: Vec<Assignment>, end: End) -> Instance {
        let slot = |name: &str| Slot {
            name: name.to_owned(),
            owner: Owner::Shared,
            domain: Domain::BIT,
            initial: 0,
        };
        let block = |assignments, end| Block { accesses: 0, assignments, end };
        let respond = |response| block(vec![], End::Respond(response));
        let at = [Term::FALSE, Term::FALSE];
        let standing = Standing {
            step: None,
            span: Span::default(),
            label: "idle".to_owned(),
            updating: false,
            reactions: vec![],
        };
        let graph = Graph {
            blocks: vec![
                block(assignments, end),
                respond(Response::Scan { at, foreign: Term::FALSE }),
                respond(Response::Update { value: Term::FALSE }),
            ],
            locations: vec![standing],
            invocations: Invocations { update: BlockId(2), scan: BlockId(0) },
            argument: None,
        };
        let [i, j] = [0, 1].map(Process::from_index);
        let slots = ["first", "second", "other", "last"].map(slot).into();
        Instance { processes: 2, pair: [i, j], slots, graphs: vec![graph.clone(), graph] }
    }

    /// Runs a scan while the first slot is blank. Returns the contents of the slots after it, or
    /// `None` if it reads the blank.
    fn scanned(assignments: Vec<Assignment>, end: End) -> Option<Vec<Scalar>> {
        scanned_in(&[(BLANK, vec![FIRST, SECOND])], assignments, end)
    }

    /// Runs a scan with these blanks of these slots.
    fn scanned_in(
        blanks: &[(Scalar, Vec<SlotId>)],
        assignments: Vec<Assignment>,
        end: End,
    ) -> Option<Vec<Scalar>> {
        let group = |slots: &[SlotId]| {
            let slots = slots.to_vec();
            Group { key: vec![], slots, table: Default::default(), live: vec![], useful: false }
        };
        let layer = |(blank, slots): &(Scalar, Vec<SlotId>)| Layer {
            blank: *blank,
            groups: vec![group(slots)],
        };
        let stale = Stale { layers: blanks.iter().map(layer).collect() };
        let guarded = guarded(&instance(assignments, end), &stale);
        let after = Exploration::default().product(&guarded, |product| {
            let mut machine = Scratch::new(product).machine;
            let mut state = product.initial().0;
            state[FIRST.index()] = BLANK;
            machine.begin();
            machine.state_mut().copy_from_slice(&state);
            match product.take(Process::from_index(0), Choice::Scan, &mut machine) {
                Err(Stop::Fault(Fault { what: READ, .. })) => None,
                _ => Some(machine.state()[..4].to_vec()),
            }
        });
        after.unwrap()
    }

    fn assign(to: SlotId, value: Term) -> Assignment {
        Assignment { target: Target::Slot(to), value }
    }

    fn read(slot: SlotId) -> Term {
        Term::Slot(slot)
    }

    const ON: End = End::Jump(BlockId(1));

    #[test]
    fn branches_and_responses_read_blanks() {
        let branch = |condition| End::Branch { condition, then: BlockId(1), otherwise: BlockId(1) };
        assert_eq!(scanned(vec![], branch(read(FIRST))), None);
        assert!(scanned(vec![], branch(read(SECOND))).is_some());
        for place in 0..3 {
            let mut terms = [Term::FALSE, Term::FALSE, Term::FALSE];
            terms[place] = read(FIRST);
            let [i, j, foreign] = terms;
            let response = Response::Scan { at: [i, j], foreign };
            assert_eq!(scanned(vec![], End::Respond(response)), None, "{place}");
        }
    }

    #[test]
    fn computations_and_lasting_stores_read_blanks() {
        assert_eq!(scanned(vec![assign(OTHER, read(FIRST))], ON), None);
        let negation = Term::Apply(Operator::Not, vec![read(FIRST)]);
        assert_eq!(scanned(vec![assign(SECOND, negation)], ON), None);
        let of = vec![OTHER, LAST];
        let target = Target::Element { index: read(FIRST), of };
        assert_eq!(scanned(vec![Assignment { target, value: Term::TRUE }], ON), None);
    }

    #[test]
    fn blanks_may_be_moved_overwritten_and_skipped() {
        let moved = scanned(vec![assign(SECOND, read(FIRST))], ON);
        assert_eq!(moved, Some(vec![BLANK, BLANK, 0, 0]));
        let written = scanned(vec![assign(FIRST, Term::TRUE), assign(OTHER, read(FIRST))], ON);
        assert_eq!(written, Some(vec![1, 0, 1, 0]));
        // The moved blank is read later.
        let later = vec![assign(SECOND, read(FIRST)), assign(OTHER, read(SECOND))];
        assert_eq!(scanned(later, ON), None);
        // The index decides whether the blank is read.
        let chosen =
            |index| Term::Element { index: Box::new(index), of: vec![read(FIRST), read(OTHER)] };
        let set = assign(LAST, Term::TRUE);
        let by_last = assign(OTHER, chosen(read(LAST)));
        assert_eq!(scanned(vec![by_last.clone()], ON), None);
        assert_eq!(scanned(vec![set, by_last], ON), Some(vec![BLANK, 0, 0, 1]));
    }

    /// If an index selects among slots with different blanks, each is tested for its own.
    #[test]
    fn blanks_of_several_kinds_are_distinguished() {
        for blanks in [
            [(BLANK, vec![FIRST]), (BLANK + 1, vec![SECOND])],
            [(BLANK + 1, vec![SECOND]), (BLANK, vec![FIRST])],
        ] {
            let chosen = |of| Term::Element {
                index: Box::new(read(LAST)),
                of: [FIRST, of].map(read).into(),
            };
            let first = vec![assign(OTHER, chosen(SECOND))];
            assert_eq!(scanned_in(&blanks, first, ON), None);
            let set = assign(LAST, Term::TRUE);
            let second = vec![set, assign(OTHER, chosen(SECOND))];
            assert_eq!(scanned_in(&blanks, second, ON), Some(vec![BLANK, 0, 0, 1]));
        }
    }
}
