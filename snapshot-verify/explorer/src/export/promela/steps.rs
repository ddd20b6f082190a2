//! The moves of a model: the steps of each process by location.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::super::names::Names;
use super::{ExportError, LONGEST, Width, comment};
use crate::instance::{
    Assignment, BlockId, Domain, End, Graph, Instance, Location, Operator, Response, Scalar,
    SlotId, Target, Term,
};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Invocation {
    Update(Scalar),
    Scan,
}

pub(super) struct Steps<'a> {
    instance: &'a Instance,
    operations: Option<u32>,
    names: &'a Names,
    width: Width,
    out: &'a mut String,
}

struct Step<'a> {
    process: usize,
    graph: &'a Graph,
    /// Blocks that are entered by number: blocks with several predecessors, and some others to keep
    /// nesting shallow.
    shared: BTreeMap<BlockId, usize>,
}

/// The deepest nesting of branches.
const NESTING: usize = 24;

/// Returns the blocks of a step that are entered by number.
fn shared(graph: &Graph, begin: BlockId) -> BTreeMap<BlockId, usize> {
    let mut leading: BTreeMap<BlockId, usize> = BTreeMap::new();
    for block in graph.step_from(begin) {
        for next in graph.block(block).end.blocks() {
            *leading.entry(next).or_default() += 1;
        }
    }
    let mut shared: BTreeSet<BlockId> =
        leading.into_iter().filter_map(|(block, leading)| (leading > 1).then_some(block)).collect();
    // Each other block has one predecessor, and so occurs once.
    let mut open: Vec<(BlockId, usize)> = shared.iter().map(|&block| (block, 0)).collect();
    open.push((begin, 0));
    while let Some((block, depth)) = open.pop() {
        let end = &graph.block(block).end;
        let depth = depth + usize::from(matches!(end, End::Branch { .. }));
        for next in end.blocks().filter(|next| !shared.contains(next)).collect::<Vec<_>>() {
            if depth > NESTING {
                shared.insert(next);
                open.push((next, 0));
            } else {
                open.push((next, depth));
            }
        }
    }
    shared.into_iter().zip(1..).collect()
}

impl<'a> Steps<'a> {
    pub fn new(
        instance: &'a Instance,
        operations: Option<u32>,
        names: &'a Names,
        width: Width,
        out: &'a mut String,
    ) -> Self {
        Self { instance, operations, names, width, out }
    }

    /// Writes the process that makes all moves.
    pub fn write(mut self) -> Result<(), ExportError> {
        self.out.push_str(
            "\nactive proctype moves() {\n#ifdef PROGRESS\n\tdo\n\t:: if\n#else\nend:\n\tdo\n#endif\n",
        );
        for process in 0..self.instance.processes {
            let switching = self.instance.pair.iter().position(|p| p.index() == process);
            self.invoke(process, Invocation::Update(0), switching)?;
            if switching.is_some() {
                self.invoke(process, Invocation::Update(1), switching)?;
            }
            self.invoke(process, Invocation::Scan, switching)?;
            let graph = &self.instance.graphs[process];
            for (at, standing) in graph.every_location().zip(&graph.locations) {
                let Some(begin) = standing.step else { continue };
                self.line(1, &format!("/* p{process}, {} */", comment(&standing.label)))?;
                self.line(1, &format!(":: d_step {{ at_{process} == {} ->", at.index()))?;
                self.line(2, &format!("STEPS({process})"))?;
                self.step(process, begin)?;
            }
        }
        self.out.push_str(
            "#ifdef PROGRESS\n\tfi;\n\tif\n\t:: event ->\nprogress:\tskip\n\t:: else\n\tfi\n#endif\n\
             \tod\n}\n",
        );
        Ok(())
    }

    fn invoke(
        &mut self,
        process: usize,
        invocation: Invocation,
        switching: Option<usize>,
    ) -> Result<(), ExportError> {
        let graph = &self.instance.graphs[process];
        let letter = switching.map(|which| ["i", "j"][which]);
        let mut guard = format!("at_{process} == {}", Location::IDLE.index());
        if self.operations.is_some() {
            guard.push_str(&format!(" && left_{process} > 0"));
        }
        let what = match (invocation, letter) {
            (Invocation::Update(value), letter) => {
                // After an update of 1 the process never updates to 0.
                if let (0, Some(letter)) = (value, letter) {
                    guard.push_str(&format!(" && !invoked_{letter}"));
                }
                format!("update({value})")
            }
            (Invocation::Scan, _) => "scan".to_owned(),
        };
        self.line(1, &format!("/* p{process} invokes {what} */"))?;
        self.line(1, &format!(":: d_step {{ {guard} ->"))?;
        self.line(2, &format!("BEGINS({process})"))?;
        if self.operations.is_some() {
            self.line(2, &format!("left_{process} = left_{process} - 1;"))?;
        }
        match invocation {
            Invocation::Update(value) => {
                if let Some(slot) = graph.argument {
                    let name = &self.names.slots[slot.index()];
                    self.line(2, &format!("{name} = {value};"))?;
                }
                if let (1, Some(letter)) = (value, letter) {
                    self.line(2, &format!("invoke_update_{letter}();"))?;
                }
                self.step(process, graph.invocations.update)
            }
            Invocation::Scan => {
                let musts = format!("must_i_{process} = needed_i; must_j_{process} = needed_j;");
                self.line(2, &musts)?;
                self.step(process, graph.invocations.scan)
            }
        }
    }

    /// Writes the code from a block to the end of the step, and of the `d_step`.
    fn step(&mut self, process: usize, begin: BlockId) -> Result<(), ExportError> {
        let graph = &self.instance.graphs[process];
        let step = Step { process, graph, shared: shared(graph, begin) };
        self.block(&step, begin, 2)?;
        if !step.shared.is_empty() {
            // Blocks form no cycle, so this terminates.
            self.line(2, "do")?;
            for (&block, number) in &step.shared {
                self.line(2, &format!(":: block == {number} -> block = 0;"))?;
                self.block(&step, block, 3)?;
            }
            self.line(2, ":: else -> break")?;
            self.line(2, "od;")?;
        }
        self.line(2, "skip }")
    }

    /// Writes a block and its successors, up to blocks entered by number.
    fn block(&mut self, step: &Step<'_>, begin: BlockId, depth: usize) -> Result<(), ExportError> {
        let mut at = begin;
        loop {
            let block = step.graph.block(at);
            for assignment in &block.assignments {
                self.assign(assignment, depth)?;
            }
            match &block.end {
                End::Jump(next) if step.shared.contains_key(next) => {
                    return self.enter(step, *next, depth);
                }
                End::Jump(next) => at = *next,
                End::Branch { condition, then, otherwise } => {
                    let condition = self.term(condition)?;
                    self.line(depth, "if")?;
                    self.line(depth, &format!(":: {condition} ->"))?;
                    self.enter(step, *then, depth + 1)?;
                    self.line(depth, ":: else ->")?;
                    self.enter(step, *otherwise, depth + 1)?;
                    return self.line(depth, "fi;");
                }
                End::Pause(location) => {
                    let at = format!("at_{} = {};", step.process, location.index());
                    return self.line(depth, &at);
                }
                End::Respond(response) => return self.respond(step.process, response, depth),
                End::Fault { what, .. } => {
                    let what = comment(what);
                    self.line(depth, &format!("fault = 1; assert(!fault); /* {what} */"))?;
                    return Ok(());
                }
            }
        }
    }

    fn enter(&mut self, step: &Step<'_>, block: BlockId, depth: usize) -> Result<(), ExportError> {
        match step.shared.get(&block) {
            Some(number) => self.line(depth, &format!("block = {number};")),
            None => self.block(step, block, depth),
        }
    }

    fn assign(&mut self, assignment: &Assignment, depth: usize) -> Result<(), ExportError> {
        let value = match &assignment.value {
            Term::Fresh => {
                self.fresh(depth)?;
                "fresh".to_owned()
            }
            value => self.term(value)?,
        };
        match &assignment.target {
            Target::Slot(slot) => {
                let name = &self.names.slots[slot.index()];
                self.line(depth, &format!("{name} = {value};"))?;
            }
            Target::Element { index, of } => {
                let index = self.term(index)?;
                self.line(depth, "if")?;
                for (number, slot) in of.iter().enumerate() {
                    let name = &self.names.slots[slot.index()];
                    self.line(depth, &format!(":: {index} == {number} -> {name} = {value}"))?;
                }
                self.line(depth, "fi;")?;
            }
        }
        if assignment.value == Term::Fresh {
            self.line(depth, "fresh = 0;")?;
        }
        Ok(())
    }

    /// Writes code that sets `fresh` to the smallest positive number that no version slot holds.
    fn fresh(&mut self, depth: usize) -> Result<(), ExportError> {
        let slots = self.instance.slots.iter().zip(&self.names.slots);
        let versions = slots.filter(|(slot, _)| matches!(slot.domain, Domain::Version { .. }));
        let equal: Vec<String> = versions.map(|(_, name)| format!("{name} == fresh")).collect();
        let condition = if equal.is_empty() { "false".to_owned() } else { equal.join(" || ") };
        self.line(depth, "fresh = 1;")?;
        self.line(depth, "do")?;
        self.line(depth, &format!(":: {condition} -> fresh = fresh + 1"))?;
        self.line(depth, ":: else -> break")?;
        self.line(depth, "od;")
    }

    fn respond(
        &mut self,
        process: usize,
        response: &Response,
        depth: usize,
    ) -> Result<(), ExportError> {
        match response {
            Response::Update { value } => {
                let which = self.instance.pair.iter().position(|p| p.index() == process);
                if let Some(which) = which {
                    let (letter, value) = (["i", "j"][which], self.term(value)?);
                    let needed = format!("needed_{letter} = needed_{letter} | ({value});");
                    self.line(depth, &needed)?;
                }
            }
            Response::Scan { at: [i, j], foreign } => {
                let [i, j, foreign] = [self.term(i)?, self.term(j)?, self.term(foreign)?];
                self.line(depth, &format!("returned_i = {i};"))?;
                self.line(depth, &format!("returned_j = {j};"))?;
                self.line(depth, &format!("foreign = {foreign};"))?;
                let observed = format!("respond_scan(must_i_{process}, must_j_{process});");
                self.line(depth, &observed)?;
            }
        }
        self.line(depth, &format!("leave_{process}();"))
    }

    fn term(&self, term: &Term) -> Result<String, ExportError> {
        let mut text = String::new();
        self.put(term, &mut text)?;
        Ok(text)
    }

    fn slot(&self, slot: SlotId) -> &str {
        &self.names.slots[slot.index()]
    }

    fn put(&self, term: &Term, text: &mut String) -> Result<(), ExportError> {
        if text.len() > LONGEST {
            return Err(ExportError::TooLong { limit: LONGEST });
        }
        match term {
            Term::Constant(scalar) | Term::Process(scalar) => {
                let scalar = self.width.scalar(*scalar);
                match scalar == self.width.none {
                    true => text.push_str("NONE"),
                    false if scalar < 0 => _ = write!(text, "({scalar})"),
                    false => _ = write!(text, "{scalar}"),
                }
            }
            Term::Slot(slot) => text.push_str(self.slot(*slot)),
            Term::Successor(slot) => _ = write!(text, "({} + 1)", self.slot(*slot)),
            Term::Fresh => text.push_str("fresh"),
            Term::Element { index, of } => {
                let index = self.term(index)?;
                let Some((last, before)) = of.split_last() else {
                    text.push('0');
                    return Ok(());
                };
                for (number, one) in before.iter().enumerate() {
                    let _ = write!(text, "({index} == {number} -> ");
                    self.put(one, text)?;
                    text.push_str(" : ");
                }
                self.put(last, text)?;
                text.extend(std::iter::repeat_n(')', before.len()));
            }
            Term::Apply(operator, of) => self.apply(*operator, of, text)?,
        }
        Ok(())
    }

    fn apply(&self, operator: Operator, of: &[Term], text: &mut String) -> Result<(), ExportError> {
        let between = match (operator, of) {
            (Operator::And | Operator::Or, []) => {
                text.push(if operator == Operator::And { '1' } else { '0' });
                return Ok(());
            }
            (Operator::Not, [bit]) => {
                text.push_str("(!");
                self.put(bit, text)?;
                text.push(')');
                return Ok(());
            }
            (Operator::NumberOf | Operator::NameOf, [one]) => return self.put(one, text),
            (Operator::If, [condition, then, otherwise]) => {
                text.push('(');
                self.put(condition, text)?;
                text.push_str(" -> ");
                self.put(then, text)?;
                text.push_str(" : ");
                self.put(otherwise, text)?;
                text.push(')');
                return Ok(());
            }
            // The remainder of a negative number is negative or 0 in C.
            (Operator::Remainder, [number, divisor]) => {
                let (number, divisor) = (self.term(number)?, self.term(divisor)?);
                let _ = write!(text, "((({number} % {divisor}) + {divisor}) % {divisor})");
                return Ok(());
            }
            // The quotient is rounded towards 0 in C.
            (Operator::Quotient, [number, divisor]) => {
                let (number, by) = (self.term(number)?, self.term(divisor)?);
                let _ = write!(text, "(({number} - ((({number} % {by}) + {by}) % {by})) / {by})");
                return Ok(());
            }
            (Operator::And, _) => " && ",
            (Operator::Or, _) => " || ",
            (Operator::Equal, _) => " == ",
            (Operator::Less, _) => " < ",
            (Operator::LessOrEqual, _) => " <= ",
            (Operator::Add, _) => " + ",
            (Operator::Subtract, _) => " - ",
            _ => unreachable!("{operator:?} of {} terms", of.len()),
        };
        text.push('(');
        for (number, one) in of.iter().enumerate() {
            if number > 0 {
                text.push_str(between);
            }
            self.put(one, text)?;
        }
        text.push(')');
        Ok(())
    }

    fn line(&mut self, depth: usize, text: &str) -> Result<(), ExportError> {
        if self.out.len() + text.len() > LONGEST {
            return Err(ExportError::TooLong { limit: LONGEST });
        }
        self.out.extend(std::iter::repeat_n('\t', depth));
        self.out.push_str(text);
        self.out.push('\n');
        Ok(())
    }
}
