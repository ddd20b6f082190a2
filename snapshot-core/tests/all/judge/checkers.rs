//! All deciders of linearizability, to be run on the same histories.
//!
//! Brute force is the truth, and proves it if the history is linearizable. Every other checker must
//! agree with it. A new checker is one line in [`DECIDERS`] or [`PROVERS`].

use snapshot_core::History;
use snapshot_core::automata::{self, Alphabet};
use snapshot_core::certificate::brute_force::MAX_OPERATIONS;
use snapshot_core::certificate::{self, linearization, witness};
use snapshot_core::check::{Report, check, decide};
use snapshot_core::generic::{self, objects::Snapshot};
use snapshot_core::history::{Action, Event, Operation, Outcome, Writers};
use snapshot_core::linear;
use snapshot_core::monitor::{Judgement, Monitor, Violation};
use snapshot_core::observer::{Observation, Observer, OnlineObserver};
use snapshot_core::saturation::{self, Saturation};
use snapshot_core::search::{self, Budget};
use snapshot_core::simple::SimpleHistory;
use snapshot_core::verdict::{Method, Reason, Verdict};

use crate::judge::witnesses::{brute_force, whole_witness};
use crate::judge::{oracle, renamings};

/// Answers whether a history is linearizable; `None` if it does not apply.
type Decider = fn(&History<i64>) -> Option<bool>;

/// Answers with a certificate.
type Prover = fn(&History<i64>) -> Verdict;

/// Checkers that answer yes or no.
const DECIDERS: &[(&str, Decider)] = &[
    ("literal definition", oracle::decide),
    ("linear-time check", by_linear_check),
    ("monitor", by_monitor),
    ("saturation", by_saturation),
    ("online saturation", by_online_saturation),
    ("monitor of many writers", by_monitor_of_many_writers),
    ("exact search", by_search),
    ("exact search without narrowing", by_plain_search),
    ("generic search", by_generic_search),
    ("observer", by_observer),
    ("online observer", by_online_observer),
    ("union of the automata", by_automata),
    ("automata on all renamings", renamings::decide),
];

/// Checkers that prove their answers: each answer must come with a certificate that passes its
/// check.
const PROVERS: &[(&str, Prover)] = &[("check", by_check), ("exact search", by_proving_search)];

fn by_linear_check(history: &History<i64>) -> Option<bool> {
    match linear::check(history) {
        linear::Outcome::Linearizable(_) => Some(true),
        linear::Outcome::Violation(_) => Some(false),
        linear::Outcome::Undecided(_) => None,
    }
}

/// The monitor must judge every prefix as it judges the whole: it raises its
/// alarm at the first bad one, and is undecided only where the check is.
fn by_monitor(history: &History<i64>) -> Option<bool> {
    let mut monitor = Monitor::linear(history.declaration()).expect("the declaration is valid");
    let mut branching = monitor.clone();
    let mut judgement = Judgement::Linearizable;
    for (position, event) in history.events().enumerate() {
        judgement = monitor.observe(&event).expect("the event is admissible");
        take(&mut branching, &event);
        assert_eq!(branching.judgement(), judgement, "on {}", drawing(history));
        match judgement {
            Judgement::Violation(alarm) => assert!(alarm.event <= position),
            Judgement::Undecided(undecided) => assert!(undecided.event <= position),
            Judgement::Linearizable => {}
        }
    }
    let failed = history.operations().iter().filter(|operation| operation.is_failed()).count();
    let counted = (monitor.events(), monitor.operations(), monitor.pending(), monitor.failed());
    let (operations, pending) = (history.operations().len() as u64, history.pending() as u64);
    assert_eq!(counted, (history.len(), operations, pending, failed as u64));
    let at = |event: usize| by_linear_check(&history.prefix(event));
    match judgement {
        Judgement::Linearizable => Some(true),
        Judgement::Violation(alarm) => {
            assert_eq!(at(alarm.event), Some(true), "too late on {}", drawing(history));
            assert_eq!(at(alarm.event + 1), Some(false), "too early on {}", drawing(history));
            check_precedence(history, &alarm.violation);
            Some(false)
        }
        Judgement::Undecided(_) => None,
    }
}

/// Gives a monitor an event by the method for its kind.
fn take(monitor: &mut Monitor<i64>, event: &Event<'_, i64>) {
    let process = event.process;
    let taken = match event.action {
        Action::InvokeUpdate { segment, value } => monitor.invoke_update(process, segment, value),
        Action::InvokeScan => monitor.invoke_scan(process),
        Action::RespondUpdate => monitor.respond_update(process),
        Action::RespondScan { values } => monitor.respond_scan(process, values),
        _ => monitor.observe(event).map(drop),
    };
    taken.expect("the event is admissible");
}

/// The monitor must decide if the linear-time conditions do, or if values do not repeat.
fn by_monitor_of_many_writers(history: &History<i64>) -> Option<bool> {
    if history.writers() != Writers::Many || history.has_partial_scans() {
        return None;
    }
    let mut monitor = Monitor::new(history.declaration()).expect("the declaration is valid");
    let mut undecided_at = None;
    for (position, event) in history.events().enumerate() {
        let judgement = monitor.observe(&event).expect("the event is admissible");
        assert_eq!(monitor.judgement(), judgement);
        match judgement {
            Judgement::Violation(alarm) => {
                assert_eq!(alarm.event, position, "on {}", drawing(history));
                let is_good = |events| brute_force(&history.prefix(events)).is_some();
                assert!(!is_good(position + 1), "false alarm on {}", drawing(history));
                assert!(monitor.is_first() || !is_differentiated(history), "{}", drawing(history));
                if monitor.is_first() {
                    assert!(is_good(position), "late alarm on {}", drawing(history));
                }
                return Some(false);
            }
            Judgement::Undecided(undecided) => {
                assert_eq!(undecided.event, *undecided_at.get_or_insert(position));
            }
            Judgement::Linearizable => {}
        }
    }
    let is_decided = monitor.judgement() == Judgement::Linearizable;
    assert!(is_decided || !is_differentiated(history), "undecided on {}", drawing(history));
    is_decided.then_some(true)
}

/// If an alarm implies that one operation precedes another, the history must confirm it. (For
/// overlapping updates, another scan may imply that one had ended.)
fn check_precedence(history: &History<i64>, violation: &Violation) {
    let (before, after) = match *violation {
        Violation::Decrease { earlier, later, .. } => (earlier, later),
        Violation::Missing { missing, seen, .. } => (missing, seen),
        _ => return,
    };
    let (before, after) = (history.operation(before), history.operation(after));
    let is_over = before.is_complete() && history.writers() == Writers::Single;
    assert!(!is_over || before.precedes(after), "{violation:?} of {}", drawing(history));
}

fn unlimited<T>(run: impl FnOnce(&mut Budget<'_>) -> T) -> T {
    run(&mut Budget { memory: usize::MAX, proceed: &mut || true })
}

fn answer(outcome: &search::Outcome) -> Option<bool> {
    match outcome {
        search::Outcome::Linearizable(_) => Some(true),
        search::Outcome::NotLinearizable { .. } => Some(false),
        search::Outcome::Exhausted { .. } => panic!("there is no limit"),
    }
}

fn by_search(history: &History<i64>) -> Option<bool> {
    answer(&unlimited(|budget| search::search(history, budget)))
}

/// Its proofs must pass the independent check; where values do not repeat it
/// must decide.
fn by_saturation(history: &History<i64>) -> Option<bool> {
    match unlimited(|budget| saturation::check(history, budget)) {
        saturation::Outcome::Linearizable(order) => {
            check_proof("saturation", history, &Verdict::Linearizable(order), true);
            Some(true)
        }
        saturation::Outcome::Violation { event, is_first, witness: proof, refutation } => {
            if let Some(refutation) = &refutation {
                let checked = certificate::refutation::check(history, refutation);
                checked.unwrap_or_else(|e| panic!("{e} {refutation:?} of {}", drawing(history)));
            }
            witness::check(history, &proof)
                .unwrap_or_else(|e| panic!("{e} {proof:?} {refutation:?} of {}", drawing(history)));
            let is_good = |events| brute_force(&history.prefix(events)).is_some();
            assert!(is_first || !is_differentiated(history), "{}", drawing(history));
            assert!(!is_first || is_good(event), "late: {}", drawing(history));
            assert!(!is_good(event + 1), "early: {}", drawing(history));
            Some(false)
        }
        saturation::Outcome::Excluded => {
            assert!(!is_differentiated(history), "without proof: {}", drawing(history));
            Some(false)
        }
        saturation::Outcome::Ambiguous(guide) => {
            assert!(!is_differentiated(history), "undecided: {}", drawing(history));
            answer(&unlimited(|budget| search::search_guided(history, &guide, budget)))
        }
        saturation::Outcome::Exhausted { .. } => panic!("there is no limit"),
    }
}

/// Returns true if no value is written twice to a segment, or equals its initial value.
fn is_differentiated(history: &History<i64>) -> bool {
    let mut written = std::collections::HashSet::new();
    history.operations().iter().all(|operation| match operation.segment() {
        Some(segment) => {
            let value = *history.update_value(operation);
            value != *history.initial_value(segment) && written.insert((segment, value))
        }
        None => true,
    })
}

/// The alarm comes at the first event that makes the prefix non-linearizable, though the past is
/// forgotten from time to time. (`forgetting.rs` counts forgotten operations.)
fn by_online_saturation(history: &History<i64>) -> Option<bool> {
    let mut online = Saturation::new(history.declaration());
    // As in a crowd, but for every size.
    let mut placing = Saturation::new(history.declaration()).placing(0);
    for (position, event) in history.events().enumerate() {
        if position % 4 == 3 {
            online.forget();
            placing.forget();
        }
        let found = [online.observe(&event), placing.observe(&event)];
        if found[0].is_some() != found[1].is_some() {
            let is_of_use = !is_differentiated(history) || history.has_partial_scans();
            assert!(found[0].is_some() && is_of_use, "{found:?}, {}", drawing(history));
        }
        if found[0].is_some() {
            let is_good = |events| brute_force(&history.prefix(events)).is_some();
            assert!(!is_good(position + 1), "false alarm at {position}: {}", drawing(history));
            if is_differentiated(history) {
                assert!(is_good(position), "late alarm: {}", drawing(history));
            }
            return Some(false);
        }
    }
    is_differentiated(history).then_some(true)
}

fn by_plain_search(history: &History<i64>) -> Option<bool> {
    answer(&unlimited(|budget| search::search_plainly(history, budget)))
}

/// Its orders must pass both checks of linearizations, for snapshots and for generic objects. The
/// deepest prefix must be explained and linearizable.
fn by_generic_search(history: &History<i64>) -> Option<bool> {
    let (snapshot, generic_history) = Snapshot::of(history);
    match unlimited(|budget| generic::check(&snapshot, &generic_history, budget)) {
        generic::Outcome::Linearizable { linearization, .. } => {
            generic::replay(&snapshot, &generic_history, &linearization).expect("it is proved");
            check_proof("generic search", history, &Verdict::Linearizable(linearization), true);
            Some(true)
        }
        generic::Outcome::NotLinearizable {
            reason: generic::Reason::Searched(furthest), ..
        } => {
            let prefix = history.prefix(furthest.events);
            let mut order = furthest.order;
            // Scans that end later are taken already, but are not part of the proof.
            order.order.retain(|id| {
                let operation = prefix.operation(*id);
                operation.is_complete() || !operation.is_scan()
            });
            check_proof("furthest", &prefix, &Verdict::Linearizable(order), true);
            Some(false)
        }
        outcome => panic!("there is no limit, and a snapshot has no rules: {outcome:?}"),
    }
}

fn by_observer(history: &History<i64>) -> Option<bool> {
    let simple = SimpleHistory::recognise(history).ok()?;
    Some(Observer::first_violation(&simple).is_none())
}

/// It may have no opinion where the observer of the whole history has one, but not conversely.
fn by_online_observer(history: &History<i64>) -> Option<bool> {
    let mut observer = OnlineObserver::new(history.declaration());
    for event in history.events() {
        observer.observe(&event);
    }
    let answer = match observer.observation() {
        Observation::Linearizable => Some(true),
        Observation::Violation => Some(false),
        Observation::NotSimple => None,
    };
    let is_simple = SimpleHistory::recognise(history).is_ok();
    let is_update = |operation: &&Operation| !operation.is_scan();
    let is_certain = |operation: &Operation| match operation.outcome() {
        Outcome::Complete { .. } | Outcome::Pending => true,
        Outcome::Failed { .. } | Outcome::Unknown { .. } => false,
    };
    if is_simple && history.operations().iter().filter(is_update).all(is_certain) {
        assert!(answer.is_some(), "no opinion on {}", drawing(history));
    }
    // After its alarm the online observer ignores events.
    assert!(is_simple || answer != Some(true), "not simple: {}", drawing(history));
    answer
}

fn by_automata(history: &History<i64>) -> Option<bool> {
    let simple = SimpleHistory::recognise(history).ok()?;
    let alphabet = Alphabet::new(history.processes().max(1)).ok()?;
    let union = renamings::union_of(alphabet);
    Some(automata::first_accepting_prefix(&union, simple.letters()).is_none())
}

/// Search proves only that an order exists; the provers that name a witness prove that no order
/// exists.
fn by_proving_search(history: &History<i64>) -> Verdict {
    match unlimited(|budget| search::search(history, budget)) {
        search::Outcome::Linearizable(order) => Verdict::Linearizable(order),
        _ => Verdict::Violation(whole_witness(history)),
    }
}

fn by_check(history: &History<i64>) -> Verdict {
    let report = unlimited(|budget| check(history, budget));
    if !matches!(report.method, Method::Search | Method::Saturation) {
        let is_simple = SimpleHistory::recognise(history).is_ok();
        assert_eq!(report.method == Method::Simple, is_simple, "{}", drawing(history));
    }
    check_report(history, &report);
    report.verdict
}

/// A violation is decided at the event that completes it, shown by operations that suffice as a
/// proof, and by a renaming where renamings are possible.
fn check_report(history: &History<i64>, report: &Report<i64>) {
    let Some(explanation) = &report.explanation else { return };
    renamings::confirm(explanation, history);
    let Verdict::Violation(witness) = &report.verdict else { panic!("nothing to explain") };
    if renamings::are_possible(history) {
        assert!(witness.renaming.is_some(), "{witness:?} of {}", drawing(history));
    }
    let decided_at = report.decided_at.expect("a violation is complete at some event");
    assert!(report.is_first, "the budget has no limit: {}", drawing(history));
    for operation in &explanation.operations {
        let is_late =
            matches!(witness.reason, Reason::Future { update, .. } if update == operation.id);
        let moment = if operation.is_scan() {
            operation.ending.event().expect("it returned something")
        } else {
            operation.invocation
        };
        assert!(is_late || moment <= decided_at, "{operation:?} of {}", drawing(history));
        assert!(operation.ending.event().is_none_or(|end| end <= decided_at), "{operation:?}");
    }
    if let Some(lines) = &explanation.refutation {
        certificate::refutation::check(history, lines)
            .unwrap_or_else(|error| panic!("{error} {lines:?} of {}", drawing(history)));
    }
    let at = |event: usize| unlimited(|budget| decide(&history.prefix(event), budget));
    assert_eq!(at(decided_at), Some(true), "decided too late: {}", drawing(history));
    assert_eq!(at(decided_at + 1), Some(false), "decided too early: {}", drawing(history));
}

/// Returns true if a history is linearizable, after all checkers have agreed.
///
/// # Panics
/// If a checker errs, or a certificate is invalid.
pub fn agreed_verdict(history: &History<i64>) -> bool {
    let truth = brute_force(history);
    let is_linearizable = truth.is_some();
    if let Some(order) = truth {
        check_proof("brute force", history, &Verdict::Linearizable(order), true);
    }
    for (name, decider) in DECIDERS {
        if let Some(answer) = decider(history) {
            assert_eq!(answer, is_linearizable, "{name} errs on {}", drawing(history));
        }
    }
    for (name, prover) in PROVERS {
        check_proof(name, history, &prover(history), is_linearizable);
    }
    is_linearizable
}

/// Returns true if a history is linearizable, after brute force and the linear-time conditions have
/// agreed.
///
/// # Panics
/// If these err.
pub fn quick_verdict(history: &History<i64>) -> bool {
    let is_linearizable = brute_force(history).is_some();
    if let Some(answer) = by_linear_check(history) {
        assert_eq!(answer, is_linearizable, "linear-time check on {}", drawing(history));
    }
    is_linearizable
}

/// The number of times that a search on a long history may ask for more time.
const PATIENCE: u32 = 100;

/// Returns true if a history too long for brute force is linearizable, after the checkers that need
/// not try all orders have agreed, with a proof that passes. `None` if the linear-time conditions
/// do not decide it, nor does exact search soon.
///
/// # Panics
/// If a checker errs, or a certificate is invalid.
pub fn agreed_verdict_at_length(history: &History<i64>) -> Option<bool> {
    let patiently = |asked: &mut u32| {
        *asked += 1;
        *asked < PATIENCE
    };
    let mut asked = 0;
    let mut proceed = || patiently(&mut asked);
    let mut budget = Budget { memory: 1 << 26, proceed: &mut proceed };
    let by_search = match search::search_plainly(history, &mut budget) {
        search::Outcome::Exhausted { .. } => None,
        outcome => answer(&outcome),
    };
    let mut asked = 0;
    let mut proceed = || patiently(&mut asked);
    let report = check(history, &mut Budget { memory: 1 << 26, proceed: &mut proceed });
    let verdict = match &report.verdict {
        Verdict::Linearizable(_) => Some(true),
        Verdict::Violation(_) => Some(false),
        Verdict::Unknown(_) => None,
        Verdict::Disputed(dispute) => panic!("{dispute}: {}", drawing(history)),
    };
    let answers = [verdict, by_linear_check(history), by_monitor(history), by_search];
    let is_linearizable = answers.into_iter().flatten().next()?;
    for answer in answers.into_iter().flatten() {
        assert_eq!(answer, is_linearizable, "{answers:?} on {}", drawing(history));
    }
    if let Verdict::Violation(witness) = &report.verdict
        && witness.operations.len() > MAX_OPERATIONS
    {
        // A search that ran out of time during minimisation.
        assert_eq!(witness.reason, Reason::NoOrder, "{}", drawing(history));
        return Some(is_linearizable);
    }
    if verdict.is_some() {
        check_proof("check", history, &report.verdict, is_linearizable);
    }
    if !matches!(report.method, Method::Search | Method::Saturation) {
        check_report(history, &report);
    }
    Some(is_linearizable)
}

fn check_proof(name: &str, history: &History<i64>, verdict: &Verdict, is_linearizable: bool) {
    let proof = match verdict {
        Verdict::Linearizable(order) if is_linearizable => {
            linearization::check(history, order).map_err(|error| error.to_string())
        }
        Verdict::Violation(operations) if !is_linearizable => {
            witness::check(history, operations).map_err(|error| error.to_string())
        }
        verdict => Err(format!("the verdict {} is wrong", verdict.name())),
    };
    if let Err(error) = proof {
        panic!("{name} on {}: {error}", drawing(history));
    }
}

/// A history for human eyes, one event per line.
pub fn drawing(history: &History<i64>) -> String {
    let mut text = format!("{} segments, initially 0", history.segments());
    for (step, event) in history.steps().zip(history.events()) {
        text += &format!("\n  #{} p{} {:?}", step.operation, event.process, event.action);
    }
    text
}
