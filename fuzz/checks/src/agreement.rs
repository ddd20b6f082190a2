//! Agreement on any small history: each decider agrees with brute force, at every prefix that it
//! decides, and proves its answer.

use snapshot_core::History;
use snapshot_core::certificate::{linearization, projection::Projection, witness};
use snapshot_core::check::{self, Report};
use snapshot_core::linear;
use snapshot_core::monitor::{Judgement, Monitor};
use snapshot_core::observer::Observer;
use snapshot_core::search::{self, Budget};
use snapshot_core::simple::SimpleHistory;
use snapshot_core::verdict::{Linearization, Verdict};

/// Memory limit of a search, in bytes; small histories need much less.
const MEMORY: usize = 1 << 26;

/// Returns true if some order of the operations explains the history, by brute force.
///
/// # Panics
/// If the history is too long for brute force.
pub fn is_linearizable(history: &History<i64>) -> bool {
    let order = Projection::whole(history).linearization(usize::MAX);
    order.expect("a small history can be decided").is_some()
}

/// Compares all deciders with brute force, and checks their proofs.
///
/// # Panics
/// If anything disagrees.
pub fn check(history: &History<i64>) {
    let expected = is_linearizable(history);
    let alarm = monitor(history);
    match linear::check(history) {
        linear::Outcome::Linearizable(reading) => {
            require(history, expected, "linear::check is wrong: linearizable");
            confirm_order(history, &reading.linearization(), "linear::check");
        }
        linear::Outcome::Violation(_) => {
            require(history, !expected, "linear::check is wrong: violation");
        }
        linear::Outcome::Undecided(_) => {}
    }
    if let Some(event) = alarm {
        require(history, !expected, &format!("the monitor's alarm at event {event} is false"));
    }
    searches(history, expected);
    report(history, expected);
}

/// Returns the event of the monitor's alarm; each prefix before is linearizable, the one that ends
/// with the alarm is not. Once undecided, it stays so.
fn monitor(history: &History<i64>) -> Option<usize> {
    let mut monitor = Monitor::linear(history.declaration()).expect("the declaration is valid");
    for (position, event) in history.events().enumerate() {
        let prefix = is_linearizable(&history.prefix(position + 1));
        match monitor.observe(&event).expect("a history's events are admissible") {
            Judgement::Linearizable => {
                require(history, prefix, &format!("the monitor misses event {position}"));
            }
            Judgement::Violation(alarm) => {
                require(history, alarm.event == position, "the alarm names another event");
                require(history, !prefix, &format!("a false alarm at event {position}"));
                return Some(position);
            }
            Judgement::Undecided(undecided) => {
                require(history, undecided.event == position, "it gave up at another event");
                let stands = monitor.judgement();
                for event in history.events().skip(position + 1) {
                    let later = monitor.observe(&event).expect("it is admissible");
                    require(history, later == stands, "an undecided judgement changes");
                }
                return None;
            }
        }
    }
    None
}

fn searches(history: &History<i64>, expected: bool) {
    let mut budget = Budget { memory: MEMORY, proceed: &mut || true };
    let outcomes = [
        ("search", search::search(history, &mut budget)),
        ("search_plainly", search::search_plainly(history, &mut budget)),
    ];
    for (name, outcome) in outcomes {
        match outcome {
            search::Outcome::Linearizable(order) => {
                require(history, expected, &format!("{name} is wrong: linearizable"));
                confirm_order(history, &order, name);
            }
            search::Outcome::NotLinearizable { .. } => {
                require(history, !expected, &format!("{name} is wrong: not linearizable"));
            }
            search::Outcome::Exhausted { .. } => complain(history, "a small search is too large"),
        }
    }
}

fn report(history: &History<i64>, expected: bool) {
    let mut budget = Budget { memory: MEMORY, proceed: &mut || true };
    let decided = check::decide(history, &mut budget);
    require(history, decided == Some(expected), &format!("decide says {decided:?}"));
    let report = check::check(history, &mut budget);
    match &report.verdict {
        Verdict::Linearizable(order) => {
            require(history, expected, "check is wrong: linearizable");
            confirm_order(history, order, "check");
        }
        Verdict::Violation(_) => {
            require(history, !expected, "check is wrong: violation");
            violation(history, &report);
        }
        Verdict::Unknown(unknown) => complain(history, &format!("check gives up: {unknown:?}")),
        Verdict::Disputed(dispute) => complain(history, &dispute.to_string()),
    }
}

/// Checks a violation: the witness is a proof and can be rendered, the violation is complete at the
/// reported event, and the renaming turns it into a violation of a simple history.
fn violation(history: &History<i64>, report: &Report<i64>) {
    let (Verdict::Violation(found), Some(event)) = (&report.verdict, report.decided_at) else {
        complain(history, "a violation happens at some event")
    };
    if let Err(error) = witness::check(history, found) {
        complain(history, &format!("the witness is no proof: {error}; {found:?}"));
    }
    let first =
        !is_linearizable(&history.prefix(event + 1)) && is_linearizable(&history.prefix(event));
    require(history, first, &format!("the violation is not complete just at event {event}"));
    let Some(explanation) = &report.explanation else {
        complain(history, "a violation is explained")
    };
    let argument = explanation.argument(|operation| format!("#{}", operation.id));
    require(history, !argument.is_empty(), "an explanation has words");
    require(history, !is_linearizable(&explanation.history()), "the operations prove nothing");
    if let Some(renamed) = explanation.renamed() {
        match SimpleHistory::recognise(&renamed) {
            Ok(simple) => {
                let accepted = Observer::first_violation(&simple).is_some();
                require(
                    history,
                    accepted,
                    &format!("no automaton accepts the renaming of {found:?}"),
                );
            }
            Err(error) => complain(history, &format!("the renamed history is not simple: {error}")),
        }
    }
}

fn confirm_order(history: &History<i64>, order: &Linearization, checker: &str) {
    if let Err(error) = linearization::check(history, order) {
        complain(history, &format!("the order of {checker} is no proof: {error}; {order:?}"));
    }
}

fn require(history: &History<i64>, holds: bool, complaint: &str) {
    if !holds {
        complain(history, complaint);
    }
}

fn complain(history: &History<i64>, complaint: &str) -> ! {
    let events: String =
        history.events().enumerate().map(|(k, event)| format!("{k}: {event:?}\n")).collect();
    panic!("{complaint}\n{:?}\n{events}", history.declaration());
}

#[cfg(test)]
pub(crate) mod tests {
    use snapshot_core::history::{Action, Declaration, Event};
    use snapshot_test::format::Reader;
    use snapshot_test::{Value, read_history};
    use test_support::effort::either;

    use super::*;
    use crate::history::history;

    /// Returns reproducible noise: `count` strings of up to `length` bytes.
    pub fn noise(count: usize, length: usize) -> impl Iterator<Item = Vec<u8>> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as usize
        };
        (0..count).map(move |_| (0..next() % (length + 1)).map(|_| next() as u8).collect())
    }

    /// Returns a recording of integers in the text format.
    fn recording(text: &str) -> History<i64> {
        let reader = Reader::text(text.as_bytes()).expect("it is well-formed");
        let (read, _) = read_history(reader).expect("the events are a history");
        let number = |value: &Value| match value {
            Value::Integer(number) => *number,
            Value::Text(text) => panic!("{text} is no integer"),
        };
        let declaration = Declaration::new(0)
            .with_segments(read.segments())
            .with_processes(read.processes())
            .with_writers(read.writers());
        let mut builder = History::builder(declaration).expect("the declaration is valid");
        for Event { process, action } in read.events() {
            let push = match action {
                Action::InvokeUpdate { segment, value } => {
                    builder.push(&Event::invoke_update(process, segment, &number(value)))
                }
                Action::InvokeScan => builder.push(&Event::invoke_scan(process)),
                Action::RespondUpdate => builder.push(&Event::respond_update(process)),
                Action::RespondScan { values } => {
                    let values: Vec<i64> = values.iter().map(number).collect();
                    builder.push(&Event::respond_scan(process, &values))
                }
                Action::RespondPartialScan { entries, .. } => {
                    let entries: Vec<(_, i64)> =
                        entries.iter().map(|(k, value)| (*k, number(value))).collect();
                    builder.push(&Event::respond_partial_scan(process, &entries))
                }
                Action::Fail => builder.push(&Event::fail(process)),
                Action::Unknown => builder.push(&Event::unknown(process)),
            };
            push.expect("the same events are a history");
        }
        builder.finish()
    }

    #[test]
    fn regressions_pass_the_agreement_check() {
        let mut count = 0;
        for entry in std::fs::read_dir("regressions").expect("the directory is committed") {
            let path = entry.expect("it can be listed").path();
            let text = std::fs::read_to_string(&path).expect("it is text");
            check(&recording(&text));
            count += 1;
        }
        assert!(count > 0, "there are regressions");
    }

    #[test]
    fn deciders_agree_on_random_histories() {
        let (mut good, mut bad) = (0, 0);
        for bytes in noise(either(1_000, 3_000), 60) {
            let history = history(&bytes);
            check(&history);
            *(if is_linearizable(&history) { &mut good } else { &mut bad }) += 1;
        }
        assert!(good.min(bad) > either(150, 500), "both answers occur: {good} and {bad}");
    }
}
