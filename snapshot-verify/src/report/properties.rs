//! Strong linearizability and progress, as text and as JSON.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::{bound_on_operations, count, seconds};
use crate::interpret::{Machine, Move, MoveKind};
use crate::language::{Source, Span};
use crate::program::Program;
use crate::progress::{Extent, Lasso, OperationProgress, Progress, Standing};
use crate::strong::{
    Branch, Case as Tree, Confirmed, Strength, Strong, StrongValues, StrongVerdict,
};
use crate::verify::properties::{Decided, Scope};

/// Subject of a report on a property.
#[derive(Clone, Copy, Debug)]
pub struct PropertyCase<'a> {
    pub input: &'a str,
    pub title: &'a str,
    pub bug: Option<&'a str>,
    pub program: &'a Program,
    pub source: &'a Source,
    pub scope: &'a Scope,
    /// File that the first execution was written to.
    pub trace: Option<&'a Path>,
}

impl PropertyCase<'_> {
    /// Returns text such as `bowman, n = 2, at most 2 operations by each process`.
    fn heading(&self) -> String {
        let operations = bound_on_operations(self.scope.operations, &self.scope.each);
        format!("{}, n = {}, {operations}", self.title, self.scope.processes)
    }

    fn json(&self, question: &str, elapsed: Duration) -> Value {
        json!({
            "schema": super::json::SCHEMA,
            "question": question,
            "input": self.input,
            "algorithm": self.title,
            "bug": self.bug,
            "object": self.program.object().map(|object| object.name.as_str()),
            "processes": self.scope.processes,
            "operations": self.scope.operations,
            "operations_of_each": self.scope.each,
            "trace": self.trace.map(|path| path.display().to_string()),
            "seconds": elapsed.as_secs_f64(),
        })
    }

    fn traced(&self) -> String {
        let written = |path: &Path| {
            format!("  written to {}: snapshot-verify replay shows it\n", path.display())
        };
        self.trace.map(written).unwrap_or_default()
    }
}

/// Returns the exit code for strong linearizability.
#[must_use]
pub const fn strong_code(strong: &Strong) -> u8 {
    match strong.verdict {
        StrongVerdict::Strong => 0,
        StrongVerdict::NotStrong(_) => 1,
        StrongVerdict::Unknown | StrongVerdict::Faulty { .. } => 3,
    }
}

/// Returns the answer of strong linearizability in words.
#[must_use]
pub fn strong_words(strong: &Strong) -> &'static str {
    match &strong.verdict {
        StrongVerdict::Strong => strong.strength.name(),
        StrongVerdict::NotStrong(tree) if tree.branches.is_empty() => "not even linearizable",
        StrongVerdict::NotStrong(_) => match strong.strength {
            Strength::All => "not strongly linearizable",
            Strength::Writes => "not write strongly linearizable",
        },
        StrongVerdict::Unknown | StrongVerdict::Faulty { .. } => "unknown",
    }
}

/// Returns strong linearizability as text.
#[must_use]
pub fn human_strong(
    case: &PropertyCase<'_>,
    found: &Decided<(Strong, Option<Confirmed>)>,
) -> String {
    let Decided { answer: (strong, confirmed), elapsed } = found;
    let mut text = format!(
        "{}: {} ({} positions, {})\n",
        case.heading(),
        strong_words(strong),
        count(strong.positions as u64),
        seconds(*elapsed)
    );
    match strong.values {
        StrongValues::None => {}
        StrongValues::Different => text.push_str("  values: all different\n"),
        StrongValues::Few(values) => {
            let _ = writeln!(text, "  values: {values}");
            if strong.verdict == StrongVerdict::Strong {
                let _ = writeln!(
                    text,
                    "  note: values are looked at, or followed by the object: with more of them \
                     the answer may be another one; try --values {}",
                    values + 1
                );
            }
        }
    }
    match &strong.verdict {
        StrongVerdict::Strong if strong.is_bounded => {
            text.push_str("  note: with more operations the answer may be another one\n")
        }
        StrongVerdict::Strong => {}
        StrongVerdict::NotStrong(tree) => {
            let Confirmed { orders, .. } = confirmed.unwrap_or_default();
            let operations = match strong.strength {
                Strength::All => "operations",
                Strength::Writes => "updates",
            };
            let _ = writeln!(
                text,
                "  no order of the {operations} survives all continuations: {orders} refuted, each \
                 by an execution that the interpreter repeats"
            );
            if let Ok(machine) = Machine::new(case.program, case.scope.processes) {
                Telling { machine: &machine, text: &mut text }.case(tree, &[], 1);
            }
        }
        StrongVerdict::Unknown => {
            text.push_str("  the limits ended the exploration: give it more --memory or --time\n");
        }
        StrongVerdict::Faulty { moves, fault } => {
            let _ = writeln!(
                text,
                "  after {} moves, at {}: {fault}",
                moves.len(),
                case.source.place(fault.span)
            );
        }
    }
    text + &case.traced()
}

/// Writes a tree as indented text.
struct Telling<'a, 'p> {
    machine: &'a Machine<'p>,
    text: &'a mut String,
}

impl Telling<'_, '_> {
    fn case(&mut self, tree: &Tree, before: &[Move], depth: usize) {
        let margin = "  ".repeat(depth);
        let moves: Vec<Move> = before.iter().chain(&tree.moves).copied().collect();
        let Ok(execution) = self.machine.run(&moves) else { return };
        for report in &execution.reports[before.len()..] {
            let _ = writeln!(self.text, "{margin}p{}  {}", report.process, report.deeds());
        }
        if tree.branches.is_empty() {
            let _ = writeln!(self.text, "{margin}no order is left");
        }
        for branch in &tree.branches {
            let orders: Vec<String> =
                branch.orders.iter().map(|order| self.order(order, &moves)).collect();
            let _ = writeln!(self.text, "{margin}if ordered {}:", orders.join(", or "));
            self.case(&branch.case, &moves, depth + 1);
        }
    }

    /// Returns text such as `update(1) by p0, scan by p1`.
    fn order(&self, order: &[Vec<snapshot_core::Process>], moves: &[Move]) -> String {
        let named = |process: &snapshot_core::Process| {
            let own = moves.iter().rev().filter(|made| made.process == *process);
            let mut calls = own.filter_map(|made| match made.kind {
                MoveKind::Begin(call) => Some(self.machine.call_text(call)),
                MoveKind::Step | MoveKind::Take(_) => None,
            });
            format!("{} by p{process}", calls.next().unwrap_or_default())
        };
        let blocks: Vec<String> = order
            .iter()
            .map(|block| block.iter().map(named).collect::<Vec<_>>().join(" together with "))
            .collect();
        match blocks.len() {
            0 => "as before".to_owned(),
            _ => blocks.join(", then "),
        }
    }
}

/// Returns strong linearizability as a line of JSON, without its end.
#[must_use]
pub fn json_strong(
    case: &PropertyCase<'_>,
    found: &Decided<(Strong, Option<Confirmed>)>,
) -> String {
    let Decided { answer: (strong, confirmed), elapsed } = found;
    let names = case.program.operation_names();
    let question = match strong.strength {
        Strength::All => "strong linearizability",
        Strength::Writes => "write strong linearizability",
    };
    let mut line = case.json(question, *elapsed);
    let (values, different) = match strong.values {
        StrongValues::None => (None, true),
        StrongValues::Different => (None, true),
        StrongValues::Few(values) => (Some(values), false),
    };
    let (tree, fault) = match &strong.verdict {
        StrongVerdict::NotStrong(tree) => (Some(tree_json(tree, &names)), None),
        StrongVerdict::Faulty { fault, .. } => (None, Some(fault.to_string())),
        StrongVerdict::Strong | StrongVerdict::Unknown => (None, None),
    };
    add(&mut line, "verdict", strong_words(strong));
    add(&mut line, "values", values);
    add(&mut line, "all_values", different);
    add(&mut line, "positions", strong.positions);
    add(&mut line, "edges", strong.edges);
    add(&mut line, "lost", strong.lost);
    add(&mut line, "bytes", strong.bytes);
    add(&mut line, "orders_refuted", confirmed.map(|confirmed| confirmed.orders));
    add(&mut line, "histories_searched", confirmed.map(|confirmed| confirmed.searched));
    add(&mut line, "tree", tree);
    add(&mut line, "fault", fault);
    line.to_string()
}

fn add(line: &mut Value, key: &str, value: impl Serialize) {
    line[key] = json!(value);
}

fn tree_json(tree: &Tree, names: &[String]) -> Value {
    let branch = |branch: &Branch| {
        let order = |order: &Vec<Vec<snapshot_core::Process>>| -> Vec<Vec<usize>> {
            let block = |block: &Vec<snapshot_core::Process>| {
                block.iter().map(|process| process.index()).collect()
            };
            order.iter().map(block).collect()
        };
        let orders: Vec<_> = branch.orders.iter().map(order).collect();
        json!({ "orders": orders, "case": tree_json(&branch.case, names) })
    };
    json!({
        "moves": moves_json(&tree.moves, names),
        "branches": tree.branches.iter().map(branch).collect::<Vec<_>>(),
    })
}

fn moves_json(moves: &[Move], names: &[String]) -> Vec<String> {
    moves.iter().map(|made| made.named(names).to_string()).collect()
}

/// Returns the progress as text.
#[must_use]
pub fn human_progress(case: &PropertyCase<'_>, found: &Decided<Progress>) -> String {
    let Decided { answer, elapsed } = found;
    let mut text = format!(
        "{}: progress ({} states, {})\n",
        case.heading(),
        count(answer.states as u64),
        seconds(*elapsed)
    );
    let place = |span: Span| case.source.place(span).to_string();
    for one in &answer.operations {
        let name = answer.name_of(one.operation);
        let _ = writeln!(text, "  {name}: {}", level(answer, one));
        let fair = |standing: &Standing, name: &str| match standing {
            Standing::WithFairChoices(_) => format!("without fair choices not {name}"),
            _ => format!("not {name}"),
        };
        if let Some(lasso) = one.wait_free.lasso() {
            let what = fair(&one.wait_free, "wait-free");
            let _ = writeln!(text, "    {what}: {}", looped(answer, lasso, &place));
        }
        if let Standing::Fails(lasso) = &one.obstruction_free {
            let _ = writeln!(text, "    not obstruction-free: {}", looped(answer, lasso, &place));
        }
        if let Some(lasso) = &one.waits {
            let _ = writeln!(
                text,
                "    the object itself lets it wait (`await`): {}",
                looped(answer, lasso, &place)
            );
        }
    }
    for (name, standing) in
        [("lock-free", &answer.lock_free), ("deadlock-free", &answer.deadlock_free)]
    {
        let _ = match standing {
            Standing::Holds => writeln!(text, "  {name}: yes"),
            Standing::Open => writeln!(text, "  {name}: not established"),
            Standing::WithFairChoices(lasso) => writeln!(
                text,
                "  {name}: with fair choices; without, {}",
                looped(answer, lasso, &place)
            ),
            Standing::Fails(lasso) => {
                writeln!(text, "  {name}: no: {}", looped(answer, lasso, &place))
            }
        };
    }
    match &answer.extent {
        Extent::Complete => {}
        Extent::CutOff => {
            text.push_str(
                "  not all executions were explored: give it more --memory or --time; an object \
                 must be linearizable\n",
            );
        }
        Extent::Faulty { moves, fault } => {
            let _ = writeln!(
                text,
                "  not all executions could be followed: after {} moves, at {}: {fault}",
                moves.len(),
                place(fault.span)
            );
        }
    }
    text + &case.traced()
}

/// Returns the level of an operation, such as `wait-free, at most 2 accesses`.
fn level(answer: &Progress, one: &OperationProgress) -> String {
    let is_exact = !answer.is_bounded && answer.extent == Extent::Complete;
    let accesses = one.accesses.map(|accesses| {
        let unit = if accesses == 1 { "access" } else { "accesses" };
        match is_exact {
            true => format!(", at most {accesses} {unit}"),
            false => format!(", {accesses} {unit} or more in the worst case"),
        }
    });
    let accesses = accesses.unwrap_or_default();
    if one.waits.is_some() && one.wait_free == Standing::Holds {
        return "returns, unless the object itself keeps letting it wait".to_owned();
    }
    let level = match (&one.wait_free, &one.starvation_free, &one.obstruction_free) {
        (Standing::Holds, ..) => "wait-free",
        (Standing::Open, ..) => "nothing established",
        (_, Standing::Holds, Standing::Holds) => "obstruction-free, starvation-free",
        (_, Standing::Holds, Standing::WithFairChoices(_)) => {
            "obstruction-free with fair choices, starvation-free"
        }
        (_, _, Standing::Holds) => "obstruction-free",
        (Standing::WithFairChoices(_), _, Standing::WithFairChoices(_)) => {
            "wait-free with fair choices"
        }
        (_, _, Standing::WithFairChoices(_)) => "obstruction-free with fair choices",
        (_, Standing::Holds, Standing::Fails(_)) => "blocking, starvation-free",
        (_, _, Standing::Fails(_)) => "blocking",
        (_, _, Standing::Open) => "not wait-free",
    };
    let waits = if one.waits.is_some() { ", unless the object itself lets it wait" } else { "" };
    format!("{level}{accesses}{waits}")
}

/// Returns text such as `p0 and p1 can go on for ever (after 12 moves, 6 moves again and again)`.
fn looped(answer: &Progress, lasso: &Lasso, place: &dyn Fn(Span) -> String) -> String {
    let movers: Vec<String> = lasso.movers().iter().map(|process| format!("p{process}")).collect();
    let victim = lasso.victim.map_or_else(String::new, |(process, operation)| {
        format!(", and the {} by p{process} does not return", answer.name_of(operation))
    });
    let choice = lasso.choice.map_or_else(String::new, |span| {
        format!("; the `choose` at {} is made for ever", place(span))
    });
    format!(
        "{} can go on for ever{victim} (after {}, {} again and again){choice}",
        movers.join(" and "),
        moves(lasso.stem.len()),
        moves(lasso.cycle.len())
    )
}

fn moves(count: usize) -> String {
    if count == 1 { "1 move".to_owned() } else { format!("{count} moves") }
}

/// Returns the progress as a line of JSON, without its end.
#[must_use]
pub fn json_progress(case: &PropertyCase<'_>, found: &Decided<Progress>) -> String {
    let Decided { answer, elapsed } = found;
    let names = &answer.names;
    let lasso = |lasso: &Lasso| {
        json!({
            "stem": moves_json(&lasso.stem, names),
            "loop": moves_json(&lasso.cycle, names),
            "process": lasso.victim.map(|(process, _)| process.index()),
            "choice": lasso.choice.map(|span| case.source.position(span)),
        })
    };
    let standing = |standing: &Standing| json!({ "standing": standing.name(), "execution": standing.lasso().map(lasso) });
    let operations = answer.operations.iter().map(|one| {
        json!({
            "operation": answer.name_of(one.operation),
            "wait_free": standing(&one.wait_free),
            "starvation_free": standing(&one.starvation_free),
            "obstruction_free": standing(&one.obstruction_free),
            "waits": one.waits.as_ref().map(lasso),
            "accesses": one.accesses,
        })
    });
    let operations: Vec<Value> = operations.collect();
    let mut line = case.json("progress", *elapsed);
    add(&mut line, "progress_of", operations);
    add(&mut line, "lock_free", standing(&answer.lock_free));
    add(&mut line, "deadlock_free", standing(&answer.deadlock_free));
    add(&mut line, "established", answer.is_established());
    add(&mut line, "exact", !answer.is_bounded && answer.extent == Extent::Complete);
    let extent = match &answer.extent {
        Extent::Complete => json!("complete"),
        Extent::CutOff => json!("cut off"),
        Extent::Faulty { moves, fault } => {
            json!({ "moves": moves_json(moves, names), "fault": fault.to_string() })
        }
    };
    add(&mut line, "extent", extent);
    add(&mut line, "states", answer.states);
    add(&mut line, "edges", answer.edges);
    line.to_string()
}
