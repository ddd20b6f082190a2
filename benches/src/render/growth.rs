//! Growth: plots, and how far each method got.

use std::cmp::Ordering;
use std::fmt::Write;
use std::path::Path;

use super::RenderError;
use super::page::{Table, count, digits, emphasised, memory, time};
use super::plot::{Labels, Line, draw};
use crate::exponent;
use crate::method::{METHODS, Origin};
use crate::record::Record;
use crate::tables::growth::{CURVES, SWEEPS};

const MEBI: f64 = (1 << 20) as f64;

fn points(records: &[&Record], y: impl Fn(&Record) -> f64) -> Vec<(f64, f64)> {
    let answered = records.iter().filter(|record| record.outcome.is_answer());
    answered.filter_map(|record| Some((record.x?, y(record)))).collect()
}

/// Records of one curve, along it.
fn along<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<&'a Record> {
    let mut mine: Vec<&Record> = records.collect();
    mine.sort_by(|a, b| a.x.partial_cmp(&b.x).unwrap_or(Ordering::Equal));
    mine
}

/// Checks of histories.
pub fn histories(records: &[Record], plots: &Path) -> Result<String, RenderError> {
    let mut text = String::from(
        "## Growth: checks of histories\n\n\
         Per method: how far it got along the sweep, with the time and memory there, and the \
         exponent of its time over its last points. `monitor` gets its events one by one as they are \
         generated, which its time includes; the others have them in memory. Bold: ours, \
         where a peer got farther.\n",
    );
    for sweep in SWEEPS {
        for has_violation in [false, true] {
            let group = sweep.group(has_violation);
            let of_group: Vec<&Record> =
                records.iter().filter(|record| record.group == group).collect();
            if of_group.is_empty() {
                continue;
            }
            let _ = write!(text, "\n### {group}\n\nOver {}.\n\n", sweep.axis);
            text.push_str(&reached(&of_group));
            let (mut seconds, mut bytes) = (Vec::new(), Vec::new());
            for method in METHODS {
                let of_group = of_group.iter().copied();
                let mine = along(of_group.filter(|record| record.method == method.name));
                let line = |points| Line { name: method.name.to_owned(), points };
                seconds.push(line(points(&mine, Record::work)));
                bytes.push(line(points(&mine, |record| record.peak_bytes as f64 / MEBI)));
            }
            let file = group.replace(", ", "-");
            text.push_str(&pair(plots, &file, &group, sweep.axis, [seconds, bytes])?);
        }
    }
    Ok(text)
}

/// Draws time and memory; the lines of the page that show them.
fn pair(
    plots: &Path,
    file: &str,
    title: &str,
    axis: &str,
    [seconds, bytes]: [Vec<Line>; 2],
) -> Result<String, RenderError> {
    let mut text = String::from("\n");
    for (what, y, lines) in [("time", "seconds", seconds), ("memory", "MiB", bytes)] {
        let name = format!("{file}-{what}.svg");
        let lines: Vec<Line> = lines.into_iter().filter(|line| !line.points.is_empty()).collect();
        if draw(&plots.join(&name), Labels { title, x: axis, y }, &lines)? {
            let _ = writeln!(text, "![{title}: {what}](plots/{name})");
        }
    }
    Ok(text)
}

/// How many of the last points an exponent is of: what is small says little.
const LAST: usize = 4;

fn reached(records: &[&Record]) -> String {
    let mut table = Table::new(["method", "reached", "time", "memory", "exponent", "then"]);
    let farthest = |name: &str| {
        let mine = records.iter().filter(|record| record.method == name);
        mine.filter(|record| record.outcome.is_answer()).filter_map(|r| r.x).reduce(f64::max)
    };
    let peers = METHODS.iter().filter(|method| method.origin == Origin::Peer);
    let best = peers.filter_map(|method| farthest(method.name)).reduce(f64::max);
    for method in METHODS {
        let records = records.iter().copied();
        let mine = along(records.filter(|record| record.method == method.name));
        let Some(last) = mine.last() else { continue };
        let then = match last.outcome.is_answer() {
            true => "to the end".to_owned(),
            false => format!("{:?}", last.outcome).to_lowercase(),
        };
        let is_short = method.origin == Origin::Ours && farthest(method.name) < best;
        let answered: Vec<&&Record> =
            mine.iter().filter(|record| record.outcome.is_answer()).collect();
        let times: Vec<(f64, f64)> =
            points(&mine, Record::work).into_iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).collect();
        let times = &times[times.len().saturating_sub(LAST)..];
        let exponent = if times.len() >= 3 { digits(exponent(times)) } else { "-".to_owned() };
        let row = match answered.last() {
            Some(record) => {
                let x = record.x.unwrap_or(0.0);
                let x = if x.fract() == 0.0 { count(x as u64) } else { x.to_string() };
                [x, time(record.work()), memory(record.peak_bytes as f64), exponent, then]
            }
            None => ["-".to_owned(), "-".to_owned(), "-".to_owned(), exponent, then],
        };
        let [x, rest @ ..] = row;
        table.row([method.name.to_owned(), emphasised(&x, is_short)].into_iter().chain(rest));
    }
    table.markdown()
}

/// Verification.
pub fn verification(records: &[Record], plots: &Path) -> Result<String, RenderError> {
    let mut text = String::from(
        "## Growth: verification\n\n\
         `snapshot-verify check`, until a limit is exceeded.\n",
    );
    for curve in &CURVES {
        let mine = along(records.iter().filter(|record| record.group == curve.name));
        if mine.is_empty() {
            continue;
        }
        let _ = write!(text, "\n### {}\n\nOver {}.\n\n", curve.name, curve.axis);
        let mut table = Table::new(["x", "outcome", "states", "time", "memory", "states/s"]);
        for record in &mine {
            let rate = record.states.map(|states| states as f64 / record.work());
            table.row([
                record.x.map_or("-".to_owned(), |x| x.to_string()),
                format!("{:?}", record.outcome).to_lowercase(),
                record.states.map_or("-".to_owned(), count),
                time(record.work()),
                memory(record.peak_bytes as f64),
                rate.map_or("-".to_owned(), |rate| count(rate as u64)),
            ]);
        }
        text.push_str(&table.markdown());
        let line = |points| vec![Line { name: curve.name.to_owned(), points }];
        let seconds = line(points(&mine, Record::work));
        let bytes = line(points(&mine, |record| record.peak_bytes as f64 / MEBI));
        let file = format!("verification-{}", curve.name.replace([' ', ',', '='], ""));
        text.push_str(&pair(plots, &file, curve.name, curve.axis, [seconds, bytes])?);
        let by_states = |record: &&Record| Some((record.states? as f64, record.work()));
        let solved = mine.iter().filter(|record| record.outcome.is_answer());
        let mut states: Vec<(f64, f64)> = solved.filter_map(by_states).collect();
        states.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let name = format!("{file}-states.svg");
        let labels = Labels { title: curve.name, x: "states", y: "seconds" };
        let differ = states.first().map(|s| s.0) != states.last().map(|s| s.0);
        if differ && draw(&plots.join(&name), labels, &line(states))? {
            let _ = writeln!(text, "![{}: time by states](plots/{name})", curve.name);
        }
    }
    Ok(text)
}
