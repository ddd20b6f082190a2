//! Strong linearizability, as text and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::told::{Told, order_text};
use super::{PropertyCase, add, moves_json};
use crate::interpret::Machine;
use crate::report::{count, seconds};
use crate::strong::{
    Branch, Case as Tree, Confirmed, Strength, Strong, StrongValues, StrongVerdict,
};
use crate::verify::properties::{Decided, StrongAnswer};

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
pub fn human_strong(case: &PropertyCase<'_>, found: &StrongAnswer) -> String {
    let mut text = strong_heading(case, found) + "\n";
    for note in strong_notes(case, found) {
        let _ = writeln!(text, "  {note}");
    }
    if let StrongVerdict::NotStrong(tree) = &found.answer.0.verdict
        && let Ok(machine) = Machine::new(case.program, case.scope.processes)
        && let Ok(told) = Told::new(&machine, tree)
    {
        write_tree(&mut text, &machine, &told, 1);
    }
    text + &case.traced()
}

/// Returns the answer in a line.
pub(crate) fn strong_heading(case: &PropertyCase<'_>, found: &StrongAnswer) -> String {
    let strong = &found.answer.0;
    format!(
        "{}: {} ({} positions, {})",
        case.heading(),
        strong_words(strong),
        count(strong.positions as u64),
        seconds(found.elapsed)
    )
}

/// Returns the scope of the answer, and its reason except for a tree, in lines.
pub(crate) fn strong_notes(case: &PropertyCase<'_>, found: &StrongAnswer) -> Vec<String> {
    let (strong, confirmed) = &found.answer;
    let mut notes = Vec::new();
    match strong.values {
        StrongValues::None => {}
        StrongValues::Different => notes.push("values: all different".to_owned()),
        StrongValues::Few(values) => {
            notes.push(format!("values: {values}"));
            if strong.verdict == StrongVerdict::Strong {
                notes.push(format!(
                    "note: values are looked at, or followed by the object: with more of them the \
                     answer may be another one; try --values {}",
                    values + 1
                ));
            }
        }
    }
    match &strong.verdict {
        StrongVerdict::Strong if strong.is_bounded => {
            notes.push("note: with more operations the answer may be another one".to_owned());
        }
        StrongVerdict::Strong => {}
        StrongVerdict::NotStrong(_) => {
            let Confirmed { orders, .. } = confirmed.unwrap_or_default();
            let operations = match strong.strength {
                Strength::All => "operations",
                Strength::Writes => "updates",
            };
            notes.push(format!(
                "no order of the {operations} survives all continuations: {orders} refuted, each \
                 by an execution that the interpreter repeats"
            ));
        }
        StrongVerdict::Unknown => {
            let cure = "the limits ended the exploration: give it more --memory or --time";
            notes.push(cure.to_owned());
        }
        StrongVerdict::Faulty { moves, fault } => {
            let place = case.source.place(fault.span);
            notes.push(format!("after {} moves, at {place}: {fault}", moves.len()));
        }
    }
    notes
}

/// Writes a tree as indented text.
fn write_tree(text: &mut String, machine: &Machine<'_>, told: &Told, depth: usize) {
    let margin = "  ".repeat(depth);
    for report in &told.execution.reports[told.before..] {
        let _ = writeln!(text, "{margin}p{}  {}", report.process, report.deeds());
    }
    if told.branches.is_empty() {
        let _ = writeln!(text, "{margin}no order is left");
    }
    let calls = told.calls(machine);
    for branch in &told.branches {
        let orders: Vec<String> =
            branch.appended.iter().map(|order| order_text(order, &calls)).collect();
        let _ = writeln!(text, "{margin}if ordered {}:", orders.join(", or "));
        write_tree(text, machine, &branch.told, depth + 1);
    }
}

/// Returns strong linearizability as a line of JSON, without its end.
#[must_use]
pub fn json_strong(case: &PropertyCase<'_>, found: &StrongAnswer) -> String {
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
