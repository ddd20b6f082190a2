//! Figures 14 to 16 of Lawrence and Lowe, "Synchronisation: Specification and Testing".

use super::page::{Table, emphasised};
use crate::meeting::{GROWING, Meeting};
use crate::published::{Found, lawrence_figure15, lawrence_figure16};
use crate::record::Record;
use crate::tables::synchronisation::METHODS;

const HEAD: &str = "\
## Lawrence and Lowe, Figures 14 to 16

How long it takes to find a mistake in an object whose operations take effect together:
milliseconds of the whole process, mean of 100 processes with a 95 % confidence interval, and
executions until the mistake shows. Published: their testers in Scala, on another machine, on threads of
the operating system, on wrong objects that the paper does not print. Ours:
`lineup::together::execute`, threads under random schedules, on a monitor with a mistake (two places for
results; operations that do not wait; one thread woken instead of all). So the table says how long
a user waits, not which checker is faster. Bold: ours takes longer.

";

/// The figures, as they are published, and ours.
pub fn section(records: &[Record]) -> String {
    let [linearization, progress] = METHODS.map(|(method, _)| method);
    let mut first = Table::new([
        "object",
        "mistake",
        "published: direct",
        "published: two-step",
        "ours",
        "executions",
    ]);
    for row in lawrence_figure15() {
        let ours = Ours::new(records, &row.object, linearization);
        let mistake = Meeting::named(&row.object).map(|meeting| format!("{:?}", meeting.wrong));
        first.row([
            row.object.clone(),
            mistake.unwrap_or_default(),
            interval(row.direct, row.direct_error),
            row.two_step
                .zip(row.two_step_error)
                .map_or("-".to_owned(), |(mean, error)| interval(mean, error)),
            Ours::shown(ours, Some(&row)),
            ours.map_or("-".to_owned(), |ours| format!("{:.1}", ours.executions)),
        ]);
    }
    let mut second = Table::new(["object", "published: direct", "ours", "executions"]);
    for row in lawrence_figure16() {
        let ours = Ours::new(records, &row.object, progress);
        second.row([
            row.object.clone(),
            interval(row.direct, row.direct_error),
            Ours::shown(ours, Some(&row)),
            ours.map_or("-".to_owned(), |ours| format!("{:.1}", ours.executions)),
        ]);
    }
    let mut third = Table::new(["threads", "ours", "executions"]);
    for (threads, meeting) in GROWING {
        let ours = Ours::new(records, meeting.object, linearization);
        third.row([
            threads.to_string(),
            Ours::shown(ours, None),
            ours.map_or("-".to_owned(), |ours| format!("{:.1}", ours.executions)),
        ]);
    }
    format!(
        "{HEAD}Figure 15, histories that are not synchronisation-linearisable:\n\n{}\n\
         Figure 16, operations that wait and could take effect (the paper waits for 100 ms to know \
         that threads are stuck; a scheduler knows):\n\n{}\n\
         Figure 14, the channel with more threads (the paper prints no numbers; its two-step tester \
         gets out of hand, its direct one does not):\n\n{}",
        first.markdown(),
        second.markdown(),
        third.markdown(),
    )
}

/// What was observed.
#[derive(Clone, Copy, Debug)]
struct Ours {
    mean: f64,
    error: f64,
    executions: f64,
}

impl Ours {
    /// `None` if nothing was.
    fn new(records: &[Record], object: &str, method: &str) -> Option<Self> {
        let runs = records.iter().filter(|run| run.group == object && run.method == method);
        let runs: Vec<&Record> = runs.filter(|run| run.outcome.is_answer()).collect();
        let count = runs.len() as f64;
        if runs.len() < 2 {
            return None;
        }
        let times = || runs.iter().map(|run| run.wall_seconds * 1e3);
        let mean = times().sum::<f64>() / count;
        let variance = times().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let executions = runs.iter().filter_map(|run| run.states).sum::<u64>() as f64 / count;
        Some(Self { mean, error: 1.96 * (variance / count).sqrt(), executions })
    }

    fn shown(ours: Option<Self>, published: Option<&Found>) -> String {
        ours.map_or("-".to_owned(), |Self { mean, error, .. }| {
            let is_bold = published.is_some_and(|row| mean > row.direct);
            emphasised(&interval(mean, error), is_bold)
        })
    }
}

fn interval(mean: f64, error: f64) -> String {
    match mean < 10.0 {
        true => format!("{mean:.1} ± {error:.1}"),
        false => format!("{mean:.0} ± {error:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::solved;

    #[test]
    fn means_have_intervals_and_what_takes_longer_is_bold() {
        let run = |seconds| {
            let run = solved("Barrier", "Barrier, 1", "linearization", seconds);
            Record { wall_seconds: seconds, states: Some(3), ..run }
        };
        let text = section(&[run(0.002), run(0.004)]);
        assert!(
            text.contains("| Barrier | Impatience | 80 ± 1 | 106 ± 1 | 3.0 ± 2.0 | 3.0 |"),
            "{text}"
        );
        let text = section(&[run(0.2), run(0.2)]);
        assert!(text.contains("| **200 ± 0** | 3.0 |"), "{text}");
        assert!(text.contains("| Barrier | 169 ± 3 | - | - |"), "{text}");
    }
}
