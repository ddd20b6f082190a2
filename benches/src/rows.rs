//! What is measured in memory: inputs from fixed seeds, the work on them, and a digest of
//! both input and answer.
//!
//! A change that makes a row faster and its answer different is found at once: at the smoke
//! [`Size`] the digest must be the one in `digests.json`, under criterion as in the tests.

use corpus::family::{Published, hard, published as published_histories};
use corpus::generate::{Exchanges, Recipe, Rule, Style};
use snapshot_core::certificate::{blocks, linearization, witness};
use snapshot_core::check::{check, decide};
use snapshot_core::monitor::{Judgement, Monitor};
use snapshot_core::observer::Observer;
use snapshot_core::search::{self, Budget, search_plainly};
use snapshot_core::simple::SimpleHistory;
use snapshot_core::verdict::Verdict;
use snapshot_core::{History, immediate, linear};

use crate::{Digest, Size};

mod explored;

/// Takes rows: measures them, or compares their digests.
pub trait Visit {
    /// Takes a row of this many events. `digest` panics if the answer is wrong: all inputs have
    /// answers that are known by construction.
    fn row<I, A>(
        &mut self,
        name: &str,
        events: u64,
        input: &I,
        run: impl Fn(&I) -> A,
        digest: impl Fn(&I, &A) -> Digest,
    );
}

/// Visits all rows.
pub fn visit(size: Size, visitor: &mut impl Visit) {
    observer(size, visitor);
    differentiated(size, visitor);
    exchanged(size, visitor);
    published(visitor);
    hard_corpus(size, visitor);
    wrong(visitor);
    explored::explored(size, visitor);
}

/// Bytes that an exact search may use; no row needs them.
const SEARCH_MEMORY: usize = 1 << 26;

/// The verdict with its certificate, as a user asks for it.
fn verdict(history: &History<i64>) -> Verdict {
    let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
    check(history, &mut budget).verdict
}

/// Has the independent judge confirm a certificate.
fn confirm(history: &History<i64>, verdict: &Verdict) {
    match verdict {
        Verdict::Linearizable(order) => {
            linearization::check(history, order).expect("the order is a proof");
        }
        Verdict::Violation(found) => {
            witness::check(history, found).expect("the witness is a proof");
        }
        Verdict::Unknown(unknown) => panic!("no row needs more than its budget, but: {unknown:?}"),
        Verdict::Disputed(dispute) => panic!("{dispute}"),
    }
}

fn of_history(digest: Digest, history: &History<i64>) -> Digest {
    history.events().fold(digest, |digest, event| digest.event(&event))
}

/// The observer over the letters of a linearizable simple history of 20 processes.
fn observer(size: Size, visitor: &mut impl Visit) {
    let style = Style::Simple { i: 7, j: 12 };
    let recipe = Recipe::new(20, 20, (size.events() / 2) as usize, style, 2_022);
    let history = recipe.history().expect("the recipe can be followed");
    let input = SimpleHistory::recognise(&history).expect("the recipe is simple");
    let run = |input: &SimpleHistory| {
        let mut observer = Observer::new(input.processes());
        for &letter in input.letters() {
            observer.step(letter);
        }
        observer
    };
    visitor.row("observer", input.letters().len() as u64, &input, run, |input, answer| {
        assert_eq!(answer.alarm(), None, "linearizable by construction");
        let letters = input.letters().iter();
        letters
            .fold(Digest::EMPTY, |digest, letter| digest.number(letter.index() as u64))
            .bytes(format!("{:?}", answer.state()).as_bytes())
    });
}

/// A linearizable history of about this many events, half of its operations scans, 8 processes
/// and segments; no value occurs twice.
///
/// # Panics
/// If there are no events at all.
pub fn half_scans(events: u64) -> History<i64> {
    let recipe = Recipe::new(8, 8, (events / 2) as usize, Style::Differentiated, 2_010);
    recipe.history().expect("the recipe can be followed")
}

fn differentiated(size: Size, visitor: &mut impl Visit) {
    let input = half_scans(size.events());
    let events = input.len() as u64;
    let linearize = |input: &History<i64>| match linear::check(input) {
        linear::Outcome::Linearizable(reading) => reading.linearization(),
        other => panic!("linearizable by construction, but: {other:?}"),
    };
    let digest_order = |input: &History<i64>, order: &_| {
        linearization::check(input, order).expect("the order is a proof");
        of_history(Digest::EMPTY, input).linearization(order)
    };
    visitor.row("check", events, &input, linear::decide, |input, answer| {
        assert_eq!(*answer, linear::Decision::Linearizable, "by construction");
        digest_order(input, &linearize(input))
    });
    visitor.row("linearization", events, &input, linearize, digest_order);
    let monitor = |input: &History<i64>| {
        let mut monitor = Monitor::new(input.declaration()).expect("a history declares its sizes");
        for event in input.events() {
            monitor.observe(&event).expect("a history's events are admissible");
        }
        monitor
    };
    visitor.row("monitor", events, &input, monitor, |input, answer| {
        assert_eq!(answer.judgement(), Judgement::Linearizable, "by construction");
        of_history(Digest::EMPTY, input)
            .number(answer.events() as u64)
            .number(answer.operations())
            .number(answer.pending())
    });
}

/// An execution of immediate snapshots by 8 processes, of this many events.
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
/// If the execution declares no sizes, or has events that cannot come: those of recipes do not.
pub fn monitor_execution(input: &immediate::History<i64>) -> immediate::Monitor<i64> {
    let declaration = input.declaration().clone();
    let mut monitor = immediate::Monitor::new(declaration).expect("it declares its sizes");
    for (_, event) in input.events() {
        monitor.observe(&event).expect("an execution's events are admissible");
    }
    monitor
}

fn exchanged(size: Size, visitor: &mut impl Visit) {
    use immediate::{Action, Decision, Judgement, Verdict};

    let of_execution = |input: &immediate::History<i64>| {
        input.events().fold(Digest::EMPTY, |digest, (_, event)| {
            let digest = digest.number(event.process as u64);
            match event.action {
                Action::Invoke { value } => digest.number(1).number(*value as u64),
                Action::Respond { values } => {
                    values.iter().fold(digest.number(2), |digest, v| digest.number(*v as u64))
                }
                Action::Fail => digest.number(3),
                Action::Unknown => digest.number(4),
            }
        })
    };
    let input = execution(size.events());
    let events = input.len() as u64;
    visitor.row("immediate", events, &input, immediate::decide, |input, answer| {
        assert_eq!(*answer, Decision::SetLinearizable, "by construction");
        of_execution(input)
    });
    visitor.row("immediate-blocks", events, &input, immediate::check, |input, answer| {
        let Verdict::SetLinearizable(order) = answer else {
            panic!("set-linearizable by construction, but: {answer:?}")
        };
        blocks::check(input, order).expect("the blocks are a proof");
        let digest = of_execution(input).number(order.len() as u64);
        order.blocks().flatten().fold(digest, |digest, id| digest.number(id.index() as u64))
    });
    visitor.row("immediate-monitor", events, &input, monitor_execution, |input, answer| {
        assert_eq!(answer.judgement(), Judgement::SetLinearizable, "by construction");
        of_execution(input).number(answer.operations()).number(answer.pending())
    });
}

/// The 900 histories in the shape of the published corpus: with certificates, and by exact
/// search that knows nothing but what updates and scans mean. Which order the search finds, and
/// after how many states, is its own affair and not in the digest.
fn published(visitor: &mut impl Visit) {
    let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
    let input: Vec<Published> =
        published_histories(|history| decide(history, &mut budget) == Some(true)).collect();
    assert_eq!(input.len(), 900);
    let events = input.iter().map(|published| published.history.len() as u64).sum();
    let run = |input: &Vec<Published>| -> Vec<Verdict> {
        input.iter().map(|published| verdict(&published.history)).collect()
    };
    visitor.row("published", events, &input, run, |input, answer| {
        input.iter().zip(answer).fold(Digest::EMPTY, |digest, (published, verdict)| {
            let Published { name, expected, history } = published;
            let is_linearizable = matches!(verdict, Verdict::Linearizable(_));
            assert_eq!(is_linearizable, expected.is_linearizable(), "{name}: {verdict:?}");
            confirm(history, verdict);
            of_history(digest, history).verdict(verdict)
        })
    });
    let run = |input: &Vec<Published>| -> Vec<search::Outcome> {
        let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
        input.iter().map(|published| search_plainly(&published.history, &mut budget)).collect()
    };
    visitor.row("search", events, &input, run, |input, answer| {
        input.iter().zip(answer).fold(Digest::EMPTY, |digest, (published, outcome)| {
            let Published { name, expected, history } = published;
            let digest = of_history(digest, history);
            match outcome {
                search::Outcome::Linearizable(order) if expected.is_linearizable() => {
                    linearization::check(history, order).expect("the order is a proof");
                    digest.bytes(b"linearizable")
                }
                search::Outcome::NotLinearizable { .. } if !expected.is_linearizable() => {
                    digest.bytes(b"violation")
                }
                _ => panic!("{name}: {outcome:?}"),
            }
        })
    });
}

/// The hard corpus, decided without certificates; at the smoke size, that of 17 segments.
fn hard_corpus(size: Size, visitor: &mut impl Visit) {
    let most = if size == Size::Smoke { 17 } else { usize::MAX };
    let members = hard().filter(|member| member.recipe().segments <= most);
    let input: Vec<_> =
        members.map(|one| (one.name.clone(), one.expected(), one.history())).collect();
    let events = input.iter().map(|(_, _, history)| history.len() as u64).sum();
    let run = |input: &Vec<(String, corpus::Expected, History<i64>)>| -> Vec<Option<bool>> {
        let mut budget = Budget { memory: SEARCH_MEMORY, proceed: &mut || true };
        input.iter().map(|(_, _, history)| decide(history, &mut budget)).collect()
    };
    visitor.row("hard", events, &input, run, |input, answer| {
        input.iter().zip(answer).fold(Digest::EMPTY, |digest, (known, answer)| {
            let (name, expected, history) = known;
            assert_eq!(*answer, Some(expected.is_linearizable()), "{name}");
            of_history(digest, history).bytes(&[u8::from(expected.is_linearizable())])
        })
    });
}

/// Finds and proves a violation of each rule among 5,000 operations of 64 processes, of which a
/// few are pending: where memoised search drowns.
fn wrong(visitor: &mut impl Visit) {
    for rule in Rule::ALL {
        let name = format!("{rule}-64-5000-pending-4");
        let member = hard().find(|member| member.name == name);
        let input = member.expect("the family has one of every rule").history();
        let name = format!("wrong-{rule}");
        visitor.row(&name, input.len() as u64, &input, verdict, |input, answer| {
            let Verdict::Violation(found) = answer else {
                panic!("{rule} is planted, but: {}", answer.name())
            };
            assert_eq!(found.reason.name(), rule.name(), "it breaks no other rule");
            confirm(input, answer);
            of_history(Digest::EMPTY, input).verdict(answer)
        });
    }
}
