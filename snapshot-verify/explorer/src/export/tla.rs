//! An instance as a module in TLA+, for TLC (Lamport, *Specifying Systems*, 2002).
//!
//! The state is one record. Each block of a graph is an operator from the state before it to the
//! state after the step, so each transition evaluates one operator. The invariant `Right` fails iff
//! a simple execution is wrong.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::names::Names;
use super::{ExportError, LONGEST, about, check};
use crate::instance::{
    Assignment, BlockId, Domain, End, Graph, Instance, Location, NONE, Operator, Owner, Response,
    Scalar, Slot, SlotId, Target, Term,
};

/// Returns the model of an instance, with at most `operations` per process, if given. `title` is a
/// one-line description, and `name` is the module's name, as far as it is valid.
///
/// # Errors
/// If the instance has reactions, or the model would be too long.
pub fn tla(
    instance: &Instance,
    operations: Option<u32>,
    name: &str,
    title: &str,
) -> Result<String, ExportError> {
    check(instance, operations)?;
    let names = Names::new(instance);
    let least = instance.slots.iter().map(|slot| match slot.domain {
        Domain::Range { low, .. } => low,
        Domain::Version { .. } | Domain::Counter { .. } => 0,
    });
    let none = least.min().unwrap_or(0).min(0) - 1;
    let model = Model { instance, operations, names: &names, none, out: String::new() };
    model.write(name, title)
}

/// Converts a name to a valid module name.
fn module(name: &str) -> String {
    let name: String =
        name.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '_' }).collect();
    let is_word = name.starts_with(|first: char| first.is_ascii_alphabetic());
    if is_word && !name.starts_with("WF_") && !name.starts_with("SF_") {
        name
    } else {
        format!("the_{name}")
    }
}

/// Escapes text for a comment to the end of the line.
fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace("(*", "( *").replace("*)", "* )")
}

struct Model<'a> {
    instance: &'a Instance,
    operations: Option<u32>,
    names: &'a Names,
    none: Scalar,
    out: String,
}

/// The transitions of the observer, on the record of a state.
const OBSERVER: &str = r#"
InvokeUpdateI(s) ==
  IF s.invoked_i = 1 THEN s
  ELSE [s EXCEPT !.invoked_i = 1, !.bad_10 = IF s.needed_j = 1 THEN 1 ELSE @]
InvokeUpdateJ(s) ==
  IF s.invoked_j = 1 THEN s
  ELSE [s EXCEPT !.invoked_j = 1, !.bad_01 = IF s.needed_i = 1 THEN 1 ELSE @]
RespondUpdateI(s, value) == [s EXCEPT !.needed_i = IF value = 1 THEN 1 ELSE @]
RespondUpdateJ(s, value) == [s EXCEPT !.needed_j = IF value = 1 THEN 1 ELSE @]
RespondScan(s, ones_i, ones_j, i, j, foreign) ==
  IF \/ foreign = 1 \/ i < ones_i \/ j < ones_j \/ i > s.invoked_i \/ j > s.invoked_j
     \/ (i > j /\ s.bad_10 = 1) \/ (i < j /\ s.bad_01 = 1)
  THEN [s EXCEPT !.verdict = "violation"]
  ELSE [s EXCEPT !.needed_i = IF i = 1 THEN 1 ELSE @, !.needed_j = IF j = 1 THEN 1 ELSE @,
                 !.bad_01 = IF i > j THEN 1 ELSE @, !.bad_10 = IF i < j THEN 1 ELSE @]
"#;

impl Model<'_> {
    fn write(mut self, name: &str, title: &str) -> Result<String, ExportError> {
        let (name, title) = (module(name), comment(title));
        let about = about(self.instance, self.operations);
        let grows = |slot: &Slot| matches!(slot.domain, Domain::Counter { .. });
        let endless = match self.operations.is_none() && self.instance.slots.iter().any(grows) {
            true => "\\* It has counters, and infinitely many states without --operations.\n",
            false => "",
        };
        self.put(&format!(
            "\\* {title}\n\\*\n\\* {about}\n{endless}\\* The invariant Right fails iff an execution \
             violates linearizability, or goes wrong.\n\\*\n\\* {name}.cfg: INIT Init NEXT Next \
             INVARIANT Right\n\\* java -cp tla2tools.jar tlc2.TLC -deadlock {name}\n\n\
             ---- MODULE {name} ----\nEXTENDS Integers\n\nVARIABLE state\n\nNone == {}\n",
            self.none
        ))?;
        self.initial()?;
        self.put(OBSERVER)?;
        for process in 0..self.instance.processes {
            self.leave(process)?;
            let graph = &self.instance.graphs[process];
            for block in ordered(graph) {
                self.block(process, graph, block)?;
            }
            self.steps(process, graph)?;
        }
        self.next()?;
        self.put("\nRight == state.verdict = \"right\"\n\n====\n")?;
        Ok(self.out)
    }

    fn put(&mut self, text: &str) -> Result<(), ExportError> {
        if self.out.len() + text.len() > LONGEST {
            return Err(ExportError::TooLong { limit: LONGEST });
        }
        self.out.push_str(text);
        Ok(())
    }

    fn scalar(&self, scalar: Scalar) -> String {
        match scalar {
            NONE => "None".to_owned(),
            0.. => scalar.to_string(),
            _ => format!("({scalar})"),
        }
    }

    fn slot(&self, slot: SlotId) -> &str {
        &self.names.slots[slot.index()]
    }

    fn initial(&mut self) -> Result<(), ExportError> {
        self.put("\nInit == state = [\n")?;
        let names = self.names;
        for (slot, name) in self.instance.slots.iter().zip(&names.slots) {
            let initial = self.scalar(slot.meaningless().unwrap_or(slot.initial));
            self.put(&format!("  {name} |-> {initial}, \\* {}\n", comment(&slot.name)))?;
        }
        for process in 0..self.instance.processes {
            let idle = Location::IDLE.index();
            self.put(&format!("  at_{process} |-> {idle},"))?;
            if let Some(bound) = self.operations {
                self.put(&format!(" left_{process} |-> {bound},"))?;
            }
            self.put(&format!(" must_i_{process} |-> 0, must_j_{process} |-> 0,\n"))?;
        }
        self.put(
            "  invoked_i |-> 0, invoked_j |-> 0, needed_i |-> 0, needed_j |-> 0, bad_01 |-> 0, \
             bad_10 |-> 0,\n  verdict |-> \"right\"]\n",
        )
    }

    /// Writes the end of an operation.
    fn leave(&mut self, process: usize) -> Result<(), ExportError> {
        let idle = Location::IDLE.index();
        let mut text = format!(
            "\n\\* p{process}\nLeave_{process}(s) ==\n  [s EXCEPT !.at_{process} = {idle}, \
             !.must_i_{process} = 0, !.must_j_{process} = 0"
        );
        for (slot, name) in self.instance.slots.iter().zip(&self.names.slots) {
            let is_own = matches!(slot.owner, Owner::Operation(owner) if owner.index() == process);
            if is_own && let Some(initial) = slot.meaningless() {
                let _ = write!(text, ", !.{name} = {}", self.scalar(initial));
            }
        }
        text.push_str("]\n");
        self.put(&text)
    }

    /// Writes the operator of a block.
    fn block(&mut self, process: usize, graph: &Graph, id: BlockId) -> Result<(), ExportError> {
        let block = graph.block(id);
        self.put(&format!("Block_{process}_{}(s) ==\n", id.index()))?;
        let mut state = "s".to_owned();
        let mut number = 0;
        let mut assignments = block.assignments.as_slice();
        while !assignments.is_empty() {
            let together = together(assignments);
            let mut text = format!("[{state} EXCEPT ");
            for (position, assignment) in assignments[..together].iter().enumerate() {
                if position > 0 {
                    text.push_str(", ");
                }
                self.assignment(assignment, &state, &mut text)?;
            }
            number += 1;
            self.put(&format!("  LET s{number} == {text}] IN\n"))?;
            state = format!("s{number}");
            assignments = &assignments[together..];
        }
        let operator = |block: BlockId| format!("Block_{process}_{}({state})", block.index());
        let end = match &block.end {
            End::Jump(next) => operator(*next),
            End::Branch { condition, then, otherwise } => {
                let condition = self.condition(condition, &state)?;
                let (then, otherwise) = (operator(*then), operator(*otherwise));
                format!("IF {condition} THEN {then} ELSE {otherwise}")
            }
            End::Pause(at) => format!("[{state} EXCEPT !.at_{process} = {}]", at.index()),
            End::Respond(Response::Update { value }) => {
                let which = self.instance.pair.iter().position(|p| p.index() == process);
                match which {
                    None => format!("Leave_{process}({state})"),
                    Some(which) => {
                        let (letter, value) = (["I", "J"][which], self.number(value, &state)?);
                        format!("Leave_{process}(RespondUpdate{letter}({state}, {value}))")
                    }
                }
            }
            End::Respond(Response::Scan { at: [i, j], foreign }) => {
                let i = self.number(i, &state)?;
                let j = self.number(j, &state)?;
                let foreign = self.number(foreign, &state)?;
                format!(
                    "Leave_{process}(RespondScan({state}, {state}.must_i_{process}, \
                     {state}.must_j_{process}, {i}, {j}, {foreign}))"
                )
            }
            End::Fault { what, .. } => {
                format!("[{state} EXCEPT !.verdict = \"fault\"] \\* {}", comment(what))
            }
        };
        self.put(&format!("  {end}\n"))
    }

    fn assignment(
        &self,
        assignment: &Assignment,
        state: &str,
        text: &mut String,
    ) -> Result<(), ExportError> {
        let value = match &assignment.value {
            Term::Fresh => self.fresh(state),
            value => self.number(value, state)?,
        };
        match &assignment.target {
            Target::Slot(slot) => _ = write!(text, "!.{} = {value}", self.slot(*slot)),
            Target::Element { index, of } => {
                let index = self.number(index, state)?;
                for (number, slot) in of.iter().enumerate() {
                    let comma = if number > 0 { ", " } else { "" };
                    let name = self.slot(*slot);
                    let _ =
                        write!(text, "{comma}!.{name} = IF {index} = {number} THEN {value} ELSE @");
                    if text.len() > LONGEST {
                        return Err(ExportError::TooLong { limit: LONGEST });
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the smallest positive number that no version slot holds.
    fn fresh(&self, state: &str) -> String {
        let slots = self.instance.slots.iter().zip(&self.names.slots);
        let versions = slots.filter(|(slot, _)| matches!(slot.domain, Domain::Version { .. }));
        let held: Vec<String> = versions.map(|(_, name)| format!("{state}.{name}")).collect();
        let numbers = format!("1..{}", held.len() + 1);
        let held = held.join(", ");
        format!(
            "(CHOOSE v \\in {numbers} : v \\notin {{{held}}} /\\ \\A w \\in {numbers} : w \\notin \
             {{{held}}} => v <= w)"
        )
    }

    /// Writes the step of a process, by location.
    fn steps(&mut self, process: usize, graph: &Graph) -> Result<(), ExportError> {
        self.put(&format!("Step_{process}(s) ==\n  CASE "))?;
        let mut is_first = true;
        for (at, standing) in graph.every_location().zip(&graph.locations) {
            let Some(begin) = standing.step else { continue };
            let or = if std::mem::take(&mut is_first) { "" } else { "    [] " };
            self.put(&format!(
                "{or}s.at_{process} = {} -> Block_{process}_{}(s) \\* {}\n",
                at.index(),
                begin.index(),
                comment(&standing.label)
            ))?;
        }
        match is_first {
            // If no location has a step, the operator is the identity.
            true => self.put("TRUE -> s\n"),
            false => Ok(()),
        }
    }

    fn next(&mut self) -> Result<(), ExportError> {
        self.put("\nNext ==\n")?;
        for process in 0..self.instance.processes {
            let graph = &self.instance.graphs[process];
            let idle = Location::IDLE.index();
            let (mut guard, mut counted) = (format!("state.at_{process} = {idle}"), String::new());
            if self.operations.is_some() {
                guard.push_str(&format!(" /\\ state.left_{process} > 0"));
                counted = format!("!.left_{process} = @ - 1");
            }
            let which = self.instance.pair.iter().position(|p| p.index() == process);
            let letter = which.map(|which| [("I", "i"), ("J", "j")][which]);
            let update = graph.invocations.update.index();
            for value in 0..=Scalar::from(which.is_some()) {
                let mut changes: Vec<String> = Vec::new();
                changes.extend((!counted.is_empty()).then(|| counted.clone()));
                let argument = graph.argument.map(|slot| self.slot(slot));
                changes.extend(argument.map(|name| format!("!.{name} = {value}")));
                let mut begun = changed("state", &changes);
                let mut guard = guard.clone();
                match (letter, value) {
                    (Some((letter, _)), 1) => begun = format!("InvokeUpdate{letter}({begun})"),
                    // After an update of 1 the process never updates to 0.
                    (Some((_, letter)), _) => {
                        guard.push_str(&format!(" /\\ state.invoked_{letter} = 0"));
                    }
                    (None, _) => {}
                }
                self.put(&format!(
                    "  \\/ ({guard} /\\ state' = Block_{process}_{update}({begun})) \\* p{process} \
                     invokes update({value})\n"
                ))?;
            }
            let mut changes = vec![
                format!("!.must_i_{process} = state.needed_i"),
                format!("!.must_j_{process} = state.needed_j"),
            ];
            changes.extend((!counted.is_empty()).then_some(counted));
            let (scan, begun) = (graph.invocations.scan.index(), changed("state", &changes));
            self.put(&format!(
                "  \\/ ({guard} /\\ state' = Block_{process}_{scan}({begun})) \\* p{process} \
                 invokes scan\n  \\/ (state.at_{process} # {idle} /\\ state' = \
                 Step_{process}(state))\n"
            ))?;
        }
        Ok(())
    }

    /// Translates a term to a number.
    fn number(&self, term: &Term, state: &str) -> Result<String, ExportError> {
        let text = match term {
            Term::Constant(scalar) | Term::Process(scalar) => self.scalar(*scalar),
            Term::Slot(slot) => format!("{state}.{}", self.slot(*slot)),
            Term::Successor(slot) => format!("({state}.{} + 1)", self.slot(*slot)),
            Term::Fresh => self.fresh(state),
            Term::Element { index, of } => {
                let of = self.each(of, |term| self.number(term, state))?;
                format!("<<{}>>[{} + 1]", of.join(", "), self.number(index, state)?)
            }
            Term::Apply(operator, of) => match (operator, of.as_slice()) {
                (Operator::NumberOf | Operator::NameOf, [one]) => self.number(one, state)?,
                (Operator::If, [condition, then, otherwise]) => format!(
                    "(IF {} THEN {} ELSE {})",
                    self.condition(condition, state)?,
                    self.number(then, state)?,
                    self.number(otherwise, state)?
                ),
                (
                    Operator::Add | Operator::Subtract | Operator::Remainder | Operator::Quotient,
                    [left, right],
                ) => {
                    let symbol = match operator {
                        Operator::Quotient => "\\div",
                        Operator::Add => "+",
                        Operator::Subtract => "-",
                        _ => "%",
                    };
                    let [left, right] = [self.number(left, state)?, self.number(right, state)?];
                    format!("({left} {symbol} {right})")
                }
                _ => format!("(IF {} THEN 1 ELSE 0)", self.condition(term, state)?),
            },
        };
        limited(text)
    }

    /// Translates a term that is 0 or 1 to a truth value.
    fn condition(&self, term: &Term, state: &str) -> Result<String, ExportError> {
        let Term::Apply(operator, of) = term else {
            return Ok(format!("{} = 1", self.number(term, state)?));
        };
        let comparison = match operator {
            Operator::Equal => "=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Not => {
                let of = self.each(of, |term| self.condition(term, state))?;
                return limited(format!("(~({}))", of.concat()));
            }
            Operator::And | Operator::Or => {
                let (between, empty) = match operator {
                    Operator::And => (" /\\ ", "TRUE"),
                    _ => (" \\/ ", "FALSE"),
                };
                let of = self.each(of, |term| Ok(format!("({})", self.condition(term, state)?)))?;
                let of = if of.is_empty() { empty.to_owned() } else { of.join(between) };
                return limited(format!("({of})"));
            }
            _ => return Ok(format!("{} = 1", self.number(term, state)?)),
        };
        let of = self.each(of, |term| self.number(term, state))?;
        limited(format!("({})", of.join(&format!(" {comparison} "))))
    }

    fn each(
        &self,
        of: &[Term],
        make: impl Fn(&Term) -> Result<String, ExportError>,
    ) -> Result<Vec<String>, ExportError> {
        let mut length = 0;
        let mut made = Vec::new();
        for term in of {
            let text = make(term)?;
            length += text.len();
            if length > LONGEST {
                return Err(ExportError::TooLong { limit: LONGEST });
            }
            made.push(text);
        }
        Ok(made)
    }
}

fn limited(text: String) -> Result<String, ExportError> {
    if text.len() > LONGEST { Err(ExportError::TooLong { limit: LONGEST }) } else { Ok(text) }
}

/// Returns a record with changed fields.
fn changed(state: &str, changes: &[String]) -> String {
    match changes {
        [] => state.to_owned(),
        changes => format!("[{state} EXCEPT {}]", changes.join(", ")),
    }
}

/// Returns the number of leading assignments that can be made simultaneously: none reads or assigns
/// a slot that an earlier one assigns. A fresh version depends on all versions.
fn together(assignments: &[Assignment]) -> usize {
    let mut assigned: BTreeSet<SlotId> = BTreeSet::new();
    let position = assignments.iter().position(|assignment| {
        let mut is_free = assignment.value != Term::Fresh || assigned.is_empty();
        let mut look = |slot: SlotId| is_free &= !assigned.contains(&slot);
        if let Target::Element { index, .. } = &assignment.target {
            index.slots(&mut look);
        }
        assignment.value.slots(&mut look);
        assignment.target.slots(&mut look);
        assignment.target.slots(&mut |slot| _ = assigned.insert(slot));
        !is_free
    });
    position.unwrap_or(assignments.len())
}

/// Returns the blocks of a graph, each after its possible successors.
fn ordered(graph: &Graph) -> Vec<BlockId> {
    let mut ordered = Vec::new();
    let mut seen = vec![false; graph.blocks.len()];
    for begin in graph.beginnings() {
        // The flag is set once the block's successors were visited.
        let mut open = vec![(begin, false)];
        while let Some((block, is_done)) = open.pop() {
            if is_done {
                ordered.push(block);
            } else if !std::mem::replace(&mut seen[block.index()], true) {
                open.push((block, true));
                open.extend(graph.block(block).end.blocks().map(|next| (next, false)));
            }
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_names_are_valid_identifiers() {
        let names = ["bowman", "a-b", "2x", "WF_x", "\u{e9}"].map(module);
        assert_eq!(names, ["bowman", "a_b", "the_2x", "the_WF_x", "the__"]);
    }
}
