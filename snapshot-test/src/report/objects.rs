//! The failing objects of a recording of several, for human readers.

use std::fmt::Write;

use crate::judge::objects::{Objects, Part};

/// The largest number of objects that are reported with their arguments.
const MOST_SHOWN: usize = 3;

/// The largest number of keys that are listed.
const MOST_NAMED: usize = 20;

/// Returns the parts that are reported in full: the first failing ones.
pub(super) fn shown(found: &Objects) -> &[Part] {
    let failing = found.failing();
    &failing[..failing.len().min(MOST_SHOWN)]
}

/// Writes the verdict in one line, and the keys of the failing objects.
pub(super) fn human(out: &mut String, name: &str, size: &str, found: &Objects) -> std::fmt::Result {
    let (total, failing) = (found.total(), found.failing());
    let (violations, unknown) = failing.split_at(found.violations as usize);
    let objects = if total == 1 { "object" } else { "objects" };
    match (violations.len(), unknown.len()) {
        (0, 0) => {
            let verdict = found.criterion;
            writeln!(out, "{name}: {verdict} ({total} {objects}, each by itself; {size})")?;
        }
        (0, undecided) => {
            writeln!(out, "{name}: unknown ({undecided} of {total} {objects} undecided; {size})")?;
        }
        (wrong, 0) => {
            writeln!(out, "{name}: violation ({wrong} of {total} {objects} wrong; {size})")?;
        }
        (wrong, undecided) => writeln!(
            out,
            "{name}: violation ({wrong} of {total} {objects} wrong, {undecided} undecided; {size})"
        )?,
    }
    list(out, &format!("not {}", found.criterion), violations)?;
    list(out, "undecided", unknown)?;
    if failing.len() > MOST_SHOWN {
        writeln!(
            out,
            "  help: the first {MOST_SHOWN} of these are reported below; `check --key KEY` and \
             `explain --key KEY` take one of them, --report json has all"
        )?;
    }
    if let Some(error) = &found.malformed {
        writeln!(out, "  note: the input is malformed later on: {error}")?;
    }
    Ok(())
}

fn list(out: &mut String, what: &str, parts: &[Part]) -> std::fmt::Result {
    if parts.is_empty() {
        return Ok(());
    }
    write!(out, "  {what}:")?;
    for part in &parts[..parts.len().min(MOST_NAMED)] {
        write!(out, " @{}", part.key)?;
    }
    match parts.len().saturating_sub(MOST_NAMED) {
        0 => writeln!(out),
        more => writeln!(out, " and {more} more"),
    }
}
