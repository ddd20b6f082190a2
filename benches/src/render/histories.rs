//! Histories: the published configurations, and the hard corpus.

use std::fmt::Write;

use super::page::{Share, Table, digits, emphasised, median, memory, time};
use crate::method::{METHODS, Method, Origin};
use crate::published::{Configuration, disc2022_table3, disc2022_table4};
use crate::record::Record;
use crate::tables::many_writers::{WANTED, Wanted};
use crate::tables::published::Half;

fn by<'r>(records: &'r [Record], method: &Method) -> impl Iterator<Item = &'r Record> {
    let name = method.name;
    records.iter().filter(move |record| record.method == name)
}

fn share(records: &[Record], method: &Method, group: &str) -> Share {
    Share::of(by(records, method).filter(|record| record.group == group))
}

/// Whether ours falls short of a peer: it solves a smaller share, or takes longer in
/// the middle.
fn falls_short(ours: &Share, peer: &Share) -> bool {
    let solves_less = ours.solved * peer.asked < peer.solved * ours.asked;
    let is_slower = ours.seconds.zip(peer.seconds).is_some_and(|(ours, peer)| ours > peer);
    ours.asked > 0 && (solves_less || is_slower)
}

/// Tables 3 and 4 of the DISC 2022 paper.
pub fn published(half: Half, records: &[Record]) -> String {
    let (title, figures) = match half {
        Half::Linearizable => ("Table 3: linearizable histories", disc2022_table3()),
        Half::NonLinearizable => ("Table 4: non-linearizable histories", disc2022_table4()),
    };
    let mut text = format!(
        "## DISC 2022, {title}\n\n\
         {} \
         Bold: of ours, what solves fewer of them than a peer does, or takes longer in the \
         middle, or does not solve all. Published: percent solved within ten minutes.\n\n",
        Share::LEGEND
    );
    let mut header = vec!["n".to_owned(), "events".to_owned()];
    header.extend(METHODS.iter().map(|method| method.name.to_owned()));
    header.extend(["published: this paper", "published: Lowe"].map(str::to_owned));
    let mut table = Table::new(header);
    for ours in figures.iter().filter(|row| row.method == "this-paper") {
        let operations = ours.events / 2;
        let group = format!("{}{}-{operations}", half.prefix(), ours.processes);
        let lowe = figures.iter().find(|row| {
            row.method == "lowe" && (row.processes, row.events) == (ours.processes, ours.events)
        });
        let mut row = vec![ours.processes.to_string(), ours.events.to_string()];
        row.extend(cells(records, &group));
        row.extend([Some(ours), lowe].map(|row| row.map_or("-".to_owned(), figure)));
        table.row(row);
    }
    text.push_str(&table.markdown());
    text.push_str(&totals(records));
    text
}

/// A cell per method. Streaming ones are left out of the judgement: their time is that
/// of reading, too.
fn cells(records: &[Record], group: &str) -> Vec<String> {
    let is_peer = |method: &&Method| method.origin == Origin::Peer;
    let peers = METHODS.iter().filter(is_peer);
    let peers: Vec<Share> = peers.map(|method| share(records, method, group)).collect();
    let cell = |method: &Method| {
        let share = share(records, method, group);
        let is_judged = method.origin == Origin::Ours && method.name != "monitor";
        let is_short = share.solved < share.asked || peers.iter().any(|p| falls_short(&share, p));
        emphasised(&share.cell(), is_judged && is_short)
    };
    METHODS.iter().map(cell).collect()
}

fn figure(row: &Configuration) -> String {
    let percent = row.terminated_percent;
    match row.median_seconds.zip(row.median_megabytes) {
        Some((seconds, megabytes)) => format!("{percent} %, {seconds} s, {megabytes} MB"),
        None => format!("{percent} %"),
    }
}

/// How many each method solved in all.
fn totals(records: &[Record]) -> String {
    let mut text = String::from("\n");
    for method in METHODS {
        let share = Share::of(by(records, method));
        if share.asked > 0 {
            let Share { solved, asked, .. } = share;
            let percent = digits(100.0 * solved as f64 / asked as f64);
            let _ = writeln!(
                text,
                "* `{}`, {}: {solved} of {asked} within the limit ({percent} %).",
                method.name, method.what
            );
        }
    }
    text
}

/// How many times faster than the best peer ours must be on the hard corpus.
const FASTER: f64 = 100.0;

/// The hard corpus.
pub fn hard(records: &[Record]) -> String {
    let mut text = format!(
        "## The hard corpus\n\n\
         {} The \
         last column: how many times faster `linear` is than the fastest peer, in the middle \
         and at least, where a peer finishes at all; bold: less than {FASTER} at least.\n\n",
        Share::LEGEND
    );
    let mut groups: Vec<&str> = records.iter().map(|record| record.group.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut header = vec!["histories".to_owned()];
    header.extend(METHODS.iter().map(|method| method.name.to_owned()));
    header.push("times faster".to_owned());
    let mut table = Table::new(header);
    for group in groups {
        let ratios = ratios(records, group);
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let faster = match ratios.is_empty() {
            true => "no peer finishes".to_owned(),
            false => {
                let (middle, least_text) = (median(ratios.iter().copied()), digits(least));
                emphasised(&format!("{}, at least {least_text}", digits(middle)), least < FASTER)
            }
        };
        let mut row = vec![group.to_owned()];
        row.extend(cells(records, group));
        row.push(faster);
        table.row(row);
    }
    text.push_str(&table.markdown());
    text.push_str(&totals(records));
    text
}

/// Histories in which any process may update any segment.
pub fn many_writers(records: &[Record]) -> String {
    let mut text = format!(
        "## Many writers\n\n\
         Any process updates any of 4 segments, no value twice, half of the operations are \
         scans; random runs, linearizable or with a planted violation (docs/many-writers.md). \
         `linear` is the saturated relation here, with proofs of violations; `monitor` the same \
         online. {} The limit is on time of the wall clock, whatever else the machine does. \
         Bold: of ours, what solves fewer of them than a peer does, or takes longer in the \
         middle, or does not solve all.\n\n",
        Share::LEGEND
    );
    let mut groups: Vec<&str> = records.iter().map(|record| record.group.as_str()).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut header = vec!["histories".to_owned()];
    header.extend(METHODS.iter().map(|method| method.name.to_owned()));
    let mut table = Table::new(header);
    for group in groups {
        let mut row = vec![group.to_owned()];
        row.extend(cells(records, group));
        table.row(row);
    }
    text.push_str(&table.markdown());
    text.push_str(&totals(records));
    text.push_str(
        "\nWhat is wanted of `linear`, in processor time of the whole process, reading \
         included:\n\n",
    );
    let mut table = Table::new(["histories", "wanted", "time", "memory", ""]);
    for wanted in WANTED {
        table.row(wanted_row(records, &wanted));
    }
    text.push_str(&table.markdown());
    text
}

fn wanted_row(records: &[Record], wanted: &Wanted) -> [String; 5] {
    let bound = wanted.mebibytes.map_or(String::new(), |most| format!(", {most} MiB"));
    let bound = format!("{} s{bound}", wanted.seconds);
    let found = by(records, &METHODS[0]).find(|record| record.case == wanted.case);
    let Some(record) = found else {
        return [wanted.what.to_owned(), bound, "-".into(), "-".into(), "not measured".into()];
    };
    let mebibytes = record.peak_bytes as f64 / f64::from(1 << 20);
    let is_met = record.outcome.is_answer()
        && !record.is_wrong()
        && record.cpu_seconds <= wanted.seconds
        && wanted.mebibytes.is_none_or(|most| mebibytes <= most);
    let verdict = if is_met { "met" } else { "**missed**" };
    let (spent, memory) = (time(record.cpu_seconds), memory(record.peak_bytes as f64));
    [wanted.what.to_owned(), bound, spent, memory, verdict.to_owned()]
}

/// Per history of a group that some peer solves: the fastest peer's time over ours.
fn ratios(records: &[Record], group: &str) -> Vec<f64> {
    let ours = &METHODS[0];
    let is_peer = |record: &&Record| {
        METHODS.iter().any(|m| m.origin == Origin::Peer && m.name == record.method)
    };
    let solved = |record: &&Record| record.outcome.is_answer() && !record.is_wrong();
    let of_group = by(records, ours).filter(|record| record.group == group).filter(solved);
    of_group
        .filter_map(|own| {
            let same = records.iter().filter(|record| record.case == own.case);
            let peers = same.filter(is_peer).filter(solved).map(Record::work);
            let best = peers.fold(f64::INFINITY, f64::min);
            best.is_finite().then(|| best / own.work())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Outcome;
    use crate::render::tests::solved;

    #[test]
    fn what_falls_short_is_bold() {
        let group = "linearizable-5-100";
        let record = |method, seconds| solved(group, "linearizable-5-100-0", method, seconds);
        let fast = [record("linear", 1e-6), record("todc-utils", 1e-3)];
        assert!(!published(Half::Linearizable, &fast).contains("| **"));
        let slow = [record("linear", 1e-2), record("todc-utils", 1e-3)];
        assert!(published(Half::Linearizable, &slow).contains("| **10.0 ms"));
        let mut unsolved = fast.clone();
        unsolved[0].outcome = Outcome::Time;
        assert!(published(Half::Linearizable, &unsolved).contains("| **0/1** |"));
        let search = [record("search", 1e-2), record("todc-utils", 1e-3)];
        assert!(published(Half::Linearizable, &search).contains("| **10.0 ms"));
        // A baseline is no claim.
        let plain = [record("plain-search", 1e-2), record("todc-utils", 1e-3)];
        assert!(!published(Half::Linearizable, &plain).contains("| **"));
    }

    #[test]
    fn a_hundred_times_faster_or_bold() {
        let record = |method, seconds| solved("g", "c", method, seconds);
        let peers = [record("linear", 1e-4), record("todc-utils", 2e-2), record("stateright", 1.0)];
        assert!(hard(&peers).contains("| 200, at least 200 |"), "{}", hard(&peers));
        let close = [record("linear", 1e-4), record("todc-utils", 5e-3)];
        assert!(hard(&close).contains("| **50.0, at least 50.0** |"));
        assert!(hard(&close[..1]).contains("| no peer finishes |"));
    }
}
