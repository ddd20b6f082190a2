//! The code of one process, under construction.

use std::collections::BTreeMap;

use snapshot_core::Process;

use super::Memory;
use super::storage::{Size, Slots};
use super::tree::Tree;
use crate::deadline::Deadline;
use crate::instance::fold::{SlotValues, folded};
use crate::instance::scalars::Scalars;
use crate::instance::{
    Assignment, Block, BlockId, Domain, End, Graph, InstanceError, Invocations, Location, NONE,
    Operator, Owner, Scalar, SlotId, Standing, Target, Term,
};
use crate::language::Span;
use crate::program::{Expression, LocalId, Place, ProcedureId, Program};

/// The greatest number of blocks of one process.
const BLOCK_LIMIT: usize = 1 << 16;

/// The greatest number of assignments and conditions of one process.
const PIECE_LIMIT: usize = 1 << 20;

/// The code of one process so far, with the current position.
pub(super) struct Body<'a> {
    pub(super) program: &'a Program,
    pub(super) size: Size,
    pub(super) me: Process,
    pub(super) memory: &'a Memory,
    pub(super) slots: &'a mut Slots,
    deadline: Deadline<'a>,
    /// The number of assignments and conditions of quantifiers so far.
    pub(super) made: usize,
    pub(super) private: Vec<Tree<SlotId>>,
    /// Slots of locals, once per procedure.
    pub(super) locals: BTreeMap<(ProcedureId, LocalId), Tree<SlotId>>,
    blocks: Vec<Draft>,
    locations: Vec<Standing>,
    /// The block being written, which has no end yet.
    pub(super) current: BlockId,
    /// Whether the current operation is an update, not a scan.
    pub(super) updating: bool,
    /// The open calls, the innermost last.
    pub(super) frames: Vec<Frame<'a>>,
    /// Whether accesses are part of a step that has begun.
    pub(super) atomic: bool,
    /// The current value matters only where all of these hold.
    pub(super) guards: Vec<Term>,
    /// The conditions checked since the last assignment.
    established: Vec<Term>,
    /// Slots for parts of expressions, and whether the current statement uses them.
    temporaries: Vec<(Domain, SlotId, bool)>,
    /// The position of the current statement.
    pub(super) span: Span,
}

/// A block that may lack its end.
struct Draft {
    accesses: u32,
    assignments: Vec<Assignment>,
    end: Option<End>,
}

pub(super) struct Frame<'a> {
    pub(super) procedure: ProcedureId,
    /// Known locals: indices of `for`, and constant arguments.
    pub(super) known: BTreeMap<LocalId, Tree<Term>>,
    /// The block after `return`.
    pub(super) exit: BlockId,
    /// The target of the result.
    pub(super) result: Returning<'a>,
    /// The blocks after `exit`, of the innermost loop last.
    pub(super) breaks: Vec<BlockId>,
}

/// The target of a call's result.
#[derive(Clone)]
pub(super) enum Returning<'a> {
    Nowhere,
    /// A place in terms of the caller.
    Caller(&'a Place),
    /// Slots for the result of the operation.
    Operation(Tree<SlotId>),
}

impl<'a> Body<'a> {
    pub(super) fn new(
        program: &'a Program,
        me: Process,
        memory: &'a Memory,
        slots: &'a mut Slots,
        deadline: Deadline<'a>,
    ) -> Self {
        let idle = Standing {
            step: None,
            span: Span::default(),
            label: "idle".to_owned(),
            updating: false,
            reactions: Vec::new(),
        };
        Self {
            program,
            size: slots.size,
            me,
            memory,
            slots,
            deadline,
            made: 0,
            private: Vec::new(),
            locals: BTreeMap::new(),
            blocks: vec![Draft { accesses: 0, assignments: Vec::new(), end: None }],
            locations: vec![idle],
            current: BlockId(0),
            updating: false,
            frames: Vec::new(),
            atomic: false,
            guards: Vec::new(),
            established: Vec::new(),
            temporaries: Vec::new(),
            span: Span::default(),
        }
    }

    /// Returns the graph with all reachable code.
    pub(super) fn finish(self, invocations: Invocations, argument: Option<SlotId>) -> Graph {
        let nowhere = End::Fault { span: Span::default(), what: "unreachable" };
        let blocks = self.blocks.into_iter().map(|draft| Block {
            accesses: draft.accesses,
            assignments: draft.assignments,
            end: draft.end.unwrap_or_else(|| nowhere.clone()),
        });
        let blocks = blocks.collect();
        Graph { blocks, locations: self.locations, invocations, argument }.tidied()
    }

    /// Evaluates a constant expression, outside of any operation.
    pub(super) fn constant(
        mut self,
        name: &str,
        expression: &Expression,
    ) -> Result<Tree<Scalar>, InstanceError> {
        let bad =
            |what| InstanceError::BadInitial { name: name.to_owned(), what, span: expression.span };
        let tree = self.evaluate(expression, false)?;
        if let Some(End::Fault { what, .. }) = self.blocks[0].end {
            return Err(bad(what));
        }
        if tree.leaves().iter().any(|term| term.constant().is_none()) {
            return Err(bad("it is not constant"));
        }
        Ok(tree.map(&mut |term| term.constant().unwrap_or(NONE)))
    }

    /// Returns the innermost call.
    ///
    /// # Panics
    /// Outside of operations, where no expression may mention locals.
    pub(super) fn frame(&mut self) -> &mut Frame<'a> {
        self.frames.last_mut().expect("locals occur in procedures only")
    }

    /// Adds an empty block.
    pub(super) fn block(&mut self) -> Result<BlockId, InstanceError> {
        if self.blocks.len() == BLOCK_LIMIT {
            return Err(InstanceError::TooManyBlocks { limit: BLOCK_LIMIT, span: self.span });
        }
        self.blocks.push(Draft { accesses: 0, assignments: Vec::new(), end: None });
        Ok(BlockId(self.blocks.len() as u32 - 1))
    }

    /// Ends the current block, and continues with `next`.
    pub(super) fn end(&mut self, end: End, next: BlockId) {
        let draft = &mut self.blocks[self.current.index()];
        debug_assert!(draft.end.is_none(), "a block ends once");
        draft.end = Some(end);
        self.current = next;
        self.established.clear();
    }

    /// Ends the current block. The following code is unreachable unless another block leads there.
    pub(super) fn leave(&mut self, end: End) -> Result<(), InstanceError> {
        let next = self.block()?;
        self.end(end, next);
        Ok(())
    }

    /// Writes a branch, and continues where its alternatives meet.
    pub(super) fn choice(
        &mut self,
        condition: Term,
        then: impl FnOnce(&mut Self) -> Result<(), InstanceError>,
        otherwise: impl FnOnce(&mut Self) -> Result<(), InstanceError>,
    ) -> Result<(), InstanceError> {
        match condition.constant() {
            Some(0) => return otherwise(self),
            Some(_) => return then(self),
            None => {}
        }
        let (first, second, join) = (self.block()?, self.block()?, self.block()?);
        self.end(End::Branch { condition, then: first, otherwise: second }, first);
        then(self)?;
        self.end(End::Jump(join), second);
        otherwise(self)?;
        self.end(End::Jump(join), join);
        Ok(())
    }

    /// Pauses the process; its next step begins here.
    pub(super) fn pause(
        &mut self,
        label: String,
        span: Span,
        accesses: u32,
    ) -> Result<(), InstanceError> {
        let step = self.block()?;
        let location = Location(self.locations.len() as u32);
        self.blocks[step.index()].accesses = accesses;
        let updating = self.updating;
        self.locations.push(Standing {
            step: Some(step),
            span,
            label,
            updating,
            reactions: Vec::new(),
        });
        self.end(End::Pause(location), step);
        Ok(())
    }

    /// Writes a check: if all guards hold but `holds` does not, the program faults.
    pub(super) fn check(
        &mut self,
        holds: Term,
        span: Span,
        what: &'static str,
    ) -> Result<(), InstanceError> {
        let (holds, _) = folded(&Term::or([self.guard().not(), holds]), self);
        match holds.constant() {
            Some(0) => return self.leave(End::Fault { span, what }),
            Some(_) => return Ok(()),
            None if self.established.contains(&holds) => return Ok(()),
            None => {}
        }
        let (next, fault) = (self.block()?, self.block()?);
        self.blocks[fault.index()].end = Some(End::Fault { span, what });
        let mut established = std::mem::take(&mut self.established);
        established.push(holds.clone());
        self.end(End::Branch { condition: holds, then: next, otherwise: fault }, next);
        self.established = established;
        Ok(())
    }

    /// Writes a check that the term is from `low` to `high`, or `none`.
    pub(super) fn check_range(
        &mut self,
        term: &Term,
        (low, high): (Scalar, Scalar),
        span: Span,
        what: &'static str,
    ) -> Result<(), InstanceError> {
        let scalars = self.scalars_of(term);
        if scalars.within(low, high) {
            return Ok(());
        }
        let term = &self.number(term.clone());
        let (least, greatest) = scalars.numbers().unwrap_or((Scalar::MIN, Scalar::MAX));
        let order = |a, b| Term::apply(Operator::LessOrEqual, vec![a, b]);
        let above = (least < low).then(|| order(Term::Constant(low), term.clone()));
        let below = (greatest > high).then(|| order(term.clone(), Term::Constant(high)));
        let none = scalars.contains(NONE).then(|| term.clone().equal(Term::NONE));
        let inside = Term::and(above.into_iter().chain(below));
        self.check(Term::or(none.into_iter().chain([inside])), span, what)
    }

    /// Returns the conjunction of all guards.
    pub(super) fn guard(&self) -> Term {
        Term::and(self.guards.iter().cloned())
    }

    /// Returns the scalars that a term may have, according to domains.
    pub(super) fn scalars_of(&self, term: &Term) -> Scalars {
        folded(term, self).1
    }

    /// Returns the term converted to the kind of this domain.
    pub(super) fn of_kind(&self, term: Term, domain: Domain) -> Term {
        term.into_kind(domain, &|slot| self.domain(slot))
    }

    /// Returns the term as a number, if it is a name.
    pub(super) fn number(&self, term: Term) -> Term {
        term.into_number(&|slot| self.domain(slot))
    }

    /// Returns the equality of two scalars; a name equals the number that it has.
    pub(super) fn equal(&self, a: Term, b: Term) -> Term {
        let is_name = |term: &Term| term.names_processes(&|slot| self.domain(slot));
        if [&a, &b].iter().all(|term| **term == Term::NONE || is_name(term)) {
            return a.equal(b);
        }
        self.number(a).equal(self.number(b))
    }

    pub(super) fn emit(&mut self, target: Target, value: Term) {
        self.made += 1;
        let value = self.of_kind(value, self.domain(target.choices()[0]));
        self.blocks[self.current.index()].assignments.push(Assignment { target, value });
        self.established.clear();
    }

    /// Returns the value in a separate slot, assigned where all guards hold.
    pub(super) fn hoisted(&mut self, value: Term, domain: Domain) -> Result<Term, InstanceError> {
        let slot = self.temporary(domain)?;
        let guard = self.guard();
        self.choice(
            guard,
            |body| {
                body.emit(Target::Slot(slot), value);
                Ok(())
            },
            |body| {
                body.emit(Target::Slot(slot), Term::scalar(domain.some_scalar(), domain));
                Ok(())
            },
        )?;
        Ok(Term::Slot(slot))
    }

    /// Returns a slot for the rest of the statement.
    pub(super) fn temporary(&mut self, domain: Domain) -> Result<SlotId, InstanceError> {
        let free = |(of, _, used): &&mut (Domain, SlotId, bool)| *of == domain && !*used;
        if let Some((_, slot, used)) = self.temporaries.iter_mut().find(free) {
            *used = true;
            return Ok(*slot);
        }
        let slot = self.hidden("temporary", domain)?;
        self.temporaries.push((domain, slot, true));
        Ok(slot)
    }

    /// Adds a slot of the operation that does not occur in the text.
    pub(super) fn hidden(&mut self, what: &str, domain: Domain) -> Result<SlotId, InstanceError> {
        let name = format!("p{}.{what} {}", self.me.index(), self.slots.all.len());
        self.slots.scalar(name, Owner::Operation(self.me), domain, self.span)
    }

    /// Checks the deadline; called for each expression and statement.
    pub(super) fn tick(&mut self) -> Result<(), InstanceError> {
        Ok(self.deadline.check()?)
    }

    /// Begins a statement, and frees the temporaries of the previous one.
    ///
    /// # Errors
    /// As [`Self::tick`]; or if the previous statement has too many pieces.
    pub(super) fn begin(&mut self, span: Span) -> Result<(), InstanceError> {
        self.tick()?;
        self.span = span;
        self.established.clear();
        self.temporaries.iter_mut().for_each(|(_, _, used)| *used = false);
        if self.made > PIECE_LIMIT {
            return Err(InstanceError::TooManyBlocks { limit: PIECE_LIMIT, span });
        }
        Ok(())
    }
}

impl SlotValues for Body<'_> {
    fn scalars(&self, slot: SlotId) -> Scalars {
        Scalars::of_domain(self.domain(slot))
    }

    fn domain(&self, slot: SlotId) -> Domain {
        self.slots.all[slot.index()].domain
    }
}
