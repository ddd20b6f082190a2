//! Displays instances for people.

use std::fmt::{self, Display, Formatter};

use super::{
    Block, BlockId, Domain, End, Graph, Instance, Invocations, Location, NONE, Operator, Owner,
    Response, Scalar, Slot, SlotId, Standing, Target, Term,
};

/// Shows the slots, then for each process the start of its operations, and each location with the
/// code of its step. Code that several steps share is shown once, under a name `@` and its number.
impl Display for Instance {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [i, j] = self.pair.map(|process| process.index());
        writeln!(f, "processes {}, pair ({i}, {j})", self.processes)?;
        writeln!(f, "\nslots {}", self.slots.len())?;
        let width = self.slots.iter().map(|slot| slot.name.chars().count()).max().unwrap_or(0);
        for slot in &self.slots {
            let initial = match slot.owner {
                Owner::Operation(_) => String::new(),
                _ => format!(" := {}", Number(slot.initial)),
            };
            writeln!(f, "  {:width$}  {}{initial}", slot.name, slot.domain)?;
        }
        for (process, graph) in self.graphs.iter().enumerate() {
            let locations = graph.locations.len();
            let blocks = graph.blocks.len();
            writeln!(f, "\nprocess {process}: {locations} locations, {blocks} blocks")?;
            graph_lines(self, graph, f)?;
        }
        Ok(())
    }
}

fn graph_lines(instance: &Instance, graph: &Graph, f: &mut Formatter<'_>) -> fmt::Result {
    let mut leading = vec![0; graph.blocks.len()];
    for begin in graph.beginnings() {
        leading[begin.index()] += 1;
    }
    for next in graph.blocks.iter().flat_map(|block| block.end.blocks()) {
        leading[next.index()] += 1;
    }
    let shared = leading.iter().map(|leading| *leading > 1).collect();
    let mut code = Code { instance, graph, shared, shown: vec![false; graph.blocks.len()] };
    let Invocations { update, scan } = graph.invocations;
    match graph.argument {
        Some(slot) => writeln!(f, " update, argument in {}", instance.slot(slot).name)?,
        None => writeln!(f, " update")?,
    }
    code.block(update, 1, f)?;
    writeln!(f, " scan")?;
    code.block(scan, 1, f)?;
    for (position, standing) in graph.locations.iter().enumerate().skip(1) {
        let Standing { step, label, updating, reactions, .. } = standing;
        let operation = if *updating { "in update" } else { "in scan" };
        writeln!(f, " {} {operation}: {label}", Location(position as u32))?;
        for reaction in reactions {
            writeln!(f, "   as soon as {}", Named(instance, &reaction.when))?;
            code.block(reaction.then, 2, f)?;
        }
        if let Some(step) = step {
            code.block(*step, 1, f)?;
        }
    }
    Ok(())
}

/// Shows the code of a graph, block by block.
struct Code<'a> {
    instance: &'a Instance,
    graph: &'a Graph,
    /// Blocks with several predecessors.
    shared: Vec<bool>,
    shown: Vec<bool>,
}

impl Code<'_> {
    fn block(&mut self, id: BlockId, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
        let indent = "  ".repeat(depth);
        if self.shared[id.index()] {
            if std::mem::replace(&mut self.shown[id.index()], true) {
                return writeln!(f, "{indent} {id}");
            }
            writeln!(f, "{indent} {id}:")?;
        }
        let Block { accesses, assignments, end } = self.graph.block(id);
        if *accesses > 0 {
            writeln!(f, "{indent} (accesses {accesses})")?;
        }
        for assignment in assignments {
            let value = Named(self.instance, &assignment.value);
            match &assignment.target {
                Target::Slot(slot) => {
                    writeln!(f, "{indent} {} := {value}", self.instance.slot(*slot).name)?;
                }
                Target::Element { index, of } => {
                    let names: Vec<&str> =
                        of.iter().map(|slot| self.instance.slot(*slot).name.as_str()).collect();
                    let index = Named(self.instance, index);
                    writeln!(f, "{indent} [{}][{index}] := {value}", names.join(", "))?;
                }
            }
        }
        match end {
            End::Jump(next) => self.block(*next, depth, f),
            End::Branch { condition, then, otherwise } => {
                writeln!(f, "{indent} if {}", Named(self.instance, condition))?;
                self.block(*then, depth + 1, f)?;
                writeln!(f, "{indent} else")?;
                self.block(*otherwise, depth + 1, f)
            }
            End::Pause(location) => writeln!(f, "{indent} -> {location}"),
            End::Respond(Response::Update { value }) => {
                writeln!(f, "{indent} respond update({})", Named(self.instance, value))
            }
            End::Respond(Response::Scan { at: [i, j], foreign }) => {
                let [i, j, foreign] = [i, j, foreign].map(|term| Named(self.instance, term));
                writeln!(f, "{indent} respond scan(i: {i}, j: {j}, foreign: {foreign})")
            }
            End::Fault { what, .. } => writeln!(f, "{indent} fault: {what}"),
        }
    }
}

impl Display for Location {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "L{}", self.0)
    }
}

impl Display for BlockId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

impl Display for Domain {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let optional = match self {
            Self::Range { low, high, optional, names_processes } => {
                let processes = if *names_processes { "process " } else { "" };
                write!(f, "{processes}{low}..{high}")?;
                optional
            }
            Self::Version { optional } => {
                f.write_str("version")?;
                optional
            }
            Self::Counter { optional } => {
                f.write_str("counter")?;
                optional
            }
        };
        if *optional { f.write_str(" or none") } else { Ok(()) }
    }
}

struct Number(Scalar);

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0 == NONE { f.write_str("none") } else { write!(f, "{}", self.0) }
    }
}

/// Shows a term, with the names of its slots.
struct Named<'a>(&'a Instance, &'a Term);

impl Named<'_> {
    fn list(&self, terms: &[Term], between: &str, f: &mut Formatter<'_>) -> fmt::Result {
        for (position, term) in terms.iter().enumerate() {
            if position > 0 {
                f.write_str(between)?;
            }
            Named(self.0, term).fmt(f)?;
        }
        Ok(())
    }

    fn slot(&self, slot: SlotId) -> &str {
        let Slot { name, .. } = self.0.slot(slot);
        name
    }
}

impl Display for Named<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Named(instance, term) = self;
        match term {
            Term::Constant(scalar) => Number(*scalar).fmt(f),
            Term::Process(process) => write!(f, "p{process}"),
            Term::Slot(slot) => f.write_str(self.slot(*slot)),
            Term::Fresh => f.write_str("fresh"),
            Term::Successor(slot) => write!(f, "{} + 1", self.slot(*slot)),
            Term::Element { index, of } => {
                f.write_str("[")?;
                self.list(of, ", ", f)?;
                write!(f, "][{}]", Named(instance, index))
            }
            Term::Apply(operator, arguments) => {
                let between = match operator {
                    Operator::Not => {
                        f.write_str("not ")?;
                        return self.list(arguments, "", f);
                    }
                    Operator::NumberOf => {
                        f.write_str("number ")?;
                        return self.list(arguments, "", f);
                    }
                    Operator::NameOf => {
                        f.write_str("name ")?;
                        return self.list(arguments, "", f);
                    }
                    Operator::If => {
                        f.write_str("if")?;
                        ", "
                    }
                    Operator::And => " and ",
                    Operator::Or => " or ",
                    Operator::Equal => " = ",
                    Operator::Less => " < ",
                    Operator::LessOrEqual => " <= ",
                    Operator::Add => " + ",
                    Operator::Subtract => " - ",
                    Operator::Remainder => " mod ",
                    Operator::Quotient => " / ",
                };
                f.write_str("(")?;
                self.list(arguments, between, f)?;
                f.write_str(")")
            }
        }
    }
}
