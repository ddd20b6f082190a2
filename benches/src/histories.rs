//! Inputs, from recipes of the corpus: histories in memory, and families of recordings on disk.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;
use corpus::family::{Member, hard, published};
use corpus::generate::{Contradiction, Exchanges, ManyWriters, Recipe, Rule, Style, Violation};
use serde::Serialize;
use snapshot_core::check::decide;
use snapshot_core::search::Budget;
use snapshot_core::{History, immediate};
use snapshot_test::format::Format;
use snapshot_test::generate::{GenerateError, generate, generate_events, generate_many};

/// Returns a linearizable history of about this many events, half of its operations scans, 8
/// processes and segments; no value occurs twice.
///
/// # Panics
/// If there are no events at all.
pub fn half_scans(events: u64) -> History<i64> {
    let recipe = Recipe::new(8, 8, (events / 2) as usize, Style::Differentiated, 2_010);
    recipe.history().expect("the recipe can be followed")
}

/// Returns an execution of immediate snapshots by 8 processes, of this many events.
///
/// # Panics
/// If there are no events at all.
pub fn execution(events: u64) -> immediate::History<i64> {
    let recipe = Exchanges::new(8, (events / 2) as usize, 1_993);
    recipe.history().expect("the recipe can be followed")
}

/// Feeds the monitor of immediate snapshots event by event.
///
/// # Panics
/// If the execution declares no sizes, or has inadmissible events: those of recipes do not.
pub fn monitor_execution(input: &immediate::History<i64>) -> immediate::Monitor<i64> {
    let declaration = input.declaration().clone();
    let mut monitor = immediate::Monitor::new(declaration).expect("it declares its sizes");
    for (_, event) in input.events() {
        monitor.observe(&event).expect("an execution's events are admissible");
    }
    monitor
}

/// A family of recordings.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Family {
    /// DISC 2022, Table 3: 18 configurations of 25 linearizable histories.
    Linearizable,
    /// DISC 2022, Table 4: as many non-linearizable ones.
    NonLinearizable,
    /// Long histories of many processes, with pending operations and a violation near the end, and
    /// their linearizable twins.
    Hard,
    /// Histories in which any process may update any segment.
    ManyWriters,
    /// Histories of growing length, with a violation near the end.
    Growth,
}

/// A line of the index of a family.
#[derive(Clone, Debug, Serialize)]
struct Listed {
    /// Unique in its family; the name of the file, too.
    case: String,
    /// Row of the table, or curve of the plot.
    group: String,
    /// Place on the curve.
    x: Option<u64>,
    is_linearizable: bool,
}

/// Writes the recordings of a family into a directory, and a line of JSON for each, in the order of
/// the table. `quick`: a few small ones.
///
/// # Errors
/// If a file cannot be written.
pub fn write(family: Family, quick: bool, directory: &Path, index: impl Write) -> io::Result<()> {
    let writing = Writing { directory, quick, index };
    match family {
        Family::Linearizable => writing.published("linearizable-"),
        Family::NonLinearizable => writing.published("non_linearizable-"),
        Family::Hard => writing.hard(),
        Family::ManyWriters => writing.many_writers(),
        Family::Growth => writing.growth(),
    }
}

struct Writing<'a, W> {
    directory: &'a Path,
    quick: bool,
    index: W,
}

impl<W: Write> Writing<'_, W> {
    fn add(
        &mut self,
        listed: &Listed,
        write: impl FnOnce(BufWriter<File>) -> Result<BufWriter<File>, GenerateError>,
    ) -> io::Result<()> {
        let file = File::create(self.directory.join(&listed.case))?;
        write(BufWriter::new(file)).map_err(io::Error::other)?;
        writeln!(self.index, "{}", serde_json::to_string(listed)?)
    }

    fn published(mut self, prefix: &str) -> io::Result<()> {
        let mut budget = Budget { memory: 1 << 26, proceed: &mut || true };
        for member in published(|history| decide(history, &mut budget) == Some(true)) {
            let (name, history) = (member.name, member.history);
            let is_small = name.ends_with("-100-0") && history.processes() <= 5;
            if !name.starts_with(prefix) || self.quick && !is_small {
                continue;
            }
            let group = name.rsplit_once('-').map_or(&*name, |(group, _)| group).to_owned();
            let is_linearizable = member.expected.is_linearizable();
            let listed = Listed { case: name, group, x: None, is_linearizable };
            let sizes = [history.processes(), history.segments()];
            self.add(&listed, |output| {
                generate_events(sizes, history.events().map(Into::into), Format::Text, output)
            })?;
        }
        Ok(())
    }

    fn hard(mut self) -> io::Result<()> {
        for member in hard().take(if self.quick { 4 } else { usize::MAX }) {
            let listed = Listed {
                case: member.name.clone(),
                group: hard_group(&member),
                x: None,
                is_linearizable: member.expected().is_linearizable(),
            };
            self.add(&listed, |output| generate(member.recipe(), Format::Text, &[], output))?;
        }
        Ok(())
    }

    fn many_writers(mut self) -> io::Result<()> {
        // Processes, operations, and the number of histories of that size, each with its wrong
        // twins.
        const SIZES: [(usize, usize, u64); 8] = [
            (8, 16, 4),
            (8, 40, 4),
            (8, 200, 4),
            (16, 1_000, 4),
            (16, 10_000, 1),
            (16, 1_000_000, 1),
            (373, 10_000, 1),
            (1_000, 1_000, 1),
        ];
        const SEGMENTS: usize = 4;
        // A value that another one had replaced, a value that returns, and a ring.
        let planted = [Contradiction::Block, Contradiction::Return, Contradiction::Ring];
        let (sizes, most) = if self.quick { (1, 1) } else { (SIZES.len(), u64::MAX) };
        for (processes, operations, seeds) in SIZES.into_iter().take(sizes) {
            for violation in [None].into_iter().chain(planted.map(Some)) {
                for seed in 0..seeds.min(most) {
                    let mut recipe = ManyWriters::new(processes, SEGMENTS, operations, seed);
                    recipe.violation = violation;
                    let kind = violation.map_or("linearizable", Contradiction::name);
                    let listed = Listed {
                        case: format!("{kind}-{processes}-{operations}-{seed}"),
                        group: format!(
                            "{operations:>7} operations, {processes:>4} processes, {kind}"
                        ),
                        x: None,
                        is_linearizable: violation.is_none(),
                    };
                    self.add(&listed, |output| generate_many(&recipe, Format::Text, &[], output))?;
                }
            }
        }
        Ok(())
    }

    fn growth(mut self) -> io::Result<()> {
        for exponent in 2..=if self.quick { 3 } else { 6 } {
            let events = 10_u64.pow(exponent);
            let recipe = Recipe::new(8, 8, events as usize / 2, Style::Differentiated, 1_993)
                .with_violation(Violation::new(Rule::Decrease).after(0.9));
            let listed = Listed {
                case: format!("{events} events"),
                group: "length, violation".to_owned(),
                x: Some(events),
                is_linearizable: false,
            };
            self.add(&listed, |output| generate(&recipe, Format::Text, &[], output))?;
        }
        Ok(())
    }
}

/// All that differ in the rule only.
fn hard_group(member: &Member) -> String {
    let recipe = member.recipe();
    let style = if member.name.starts_with("simple-") { "simple, " } else { "" };
    let kind = if recipe.is_linearizable() { "linearizable" } else { "violation" };
    let (segments, operations, pending) = (recipe.segments, recipe.operations, recipe.pending);
    format!("{style}{kind}, n = {segments}, {operations} operations, {pending} pending")
}
