//! Answers as text.

mod crash;
mod plain;

use std::fmt::{Debug, Write as _};

use snapshot_core::observation::{
    ConcurrentHistory, Event, Explanation, Judgement, Outcome, SerialHistory, Thread, explain,
};

pub(crate) use crash::replayed_crash;

use crate::check::Check;
use crate::files::{self, Failure, ObservationFile};
use crate::matrix::Test;
use crate::replay::{Place, Replayed, Switch, Wait};
use crate::schedule::Schedule;
use crate::subject::{Answer, Invocation};
use crate::verdict::{ConcurrentPhase, Report, SerialPhase, Verdict, Violation};

/// Width of sentences, in terminal columns.
const WIDTH: usize = 88;

/// Returns the whole answer. A violation is executed again to find the locations of its switches.
pub fn report(check: &Check, report: &Report) -> String {
    let mut text = format!("{}: {}\n", report.test.subject().name(), headline(report));
    if !matches!(report.verdict, Verdict::Pass { .. }) {
        let (rows, columns) = report.test.dimension();
        let _ = write!(text, "\ntest ({rows} x {columns}):\n{}", matrix(&report.test));
    }
    match &report.verdict {
        Verdict::Pass { .. } | Verdict::Unknown(_) => {}
        Verdict::NotTotal(history) => {
            let _ = write!(text, "\nserial execution:\n{}", serial(&report.test, history));
            if report.serial.spinning > 0 {
                let _ = write!(text, "\n{}\n", textwrap::fill(PRESUMED, WIDTH));
            }
        }
        Verdict::Nondeterministic(pair) => {
            for history in [&pair.first, &pair.second] {
                let _ = write!(text, "\nserial execution:\n{}", serial(&report.test, history));
            }
        }
        Verdict::Crash(crash) => {
            text.push_str(&crash::crashed(&report.test, crash));
            return text;
        }
        Verdict::Violation(violation) => {
            let replayed = check.replay(&report.test, &violation.schedule).ok();
            text.push_str(&violated(&report.test, violation, replayed.as_ref()));
        }
    }
    let note = counts(&report.serial, &report.concurrent);
    let _ = write!(text, "\n{note}\n{}", plain::unordered(&report.concurrent));
    text
}

/// Variable in which `cargo lineup` lists the crates under control with their versions.
const VERSIONS: &str = "LINEUP_VERSIONS";

/// Returns a line with the versions of the published crates that are checked, if there are any.
pub(crate) fn versions() -> String {
    match std::env::var(VERSIONS) {
        Ok(versions) if !versions.is_empty() => {
            textwrap::fill(&format!("checked: {versions}"), WIDTH) + "\n"
        }
        _ => String::new(),
    }
}

/// Returns a number with commas between its thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn headline(report: &Report) -> String {
    let word = report.verdict.word();
    match &report.verdict {
        Verdict::Pass { complete: true } => format!("{word} (all executions)"),
        Verdict::Pass { complete: false } => format!("{word} ({})", bound(&report.concurrent)),
        Verdict::Nondeterministic(_) => {
            format!("{word}: the same serial calls get different answers")
        }
        Verdict::NotTotal(_) => format!("{word}: a serial execution gets stuck"),
        Verdict::Violation(violation) => match violation.judgement {
            Judgement::StuckWithoutWitness(_) => {
                format!("{word}: an execution gets stuck where no serial one does")
            }
            _ if violation.explanation.is_none() => {
                format!("{word}: an execution that the specification does not allow")
            }
            _ => format!("{word}: an execution that no serial one explains"),
        },
        Verdict::Crash(crash) => format!("{word}: an execution ends the process: {}", crash.ended),
        Verdict::Unknown(unknown) => format!("{word}: {unknown}"),
    }
}

/// Returns the bound that phase 2 reached, in words.
pub fn bound(phase: &ConcurrentPhase) -> String {
    match phase.bound {
        Some(bound) if phase.limited => {
            format!(
                "all executions with up to {bound} preemptions, some with more: {} in all",
                phase.executions
            )
        }
        Some(bound) => format!("all executions with up to {bound} preemptions"),
        None => format!("{} executions", phase.executions),
    }
}

fn counts(serial: &SerialPhase, phase: &ConcurrentPhase) -> String {
    let (all, stuck) = (serial.observations.len(), serial.observations.stuck());
    let mut text = match stuck {
        0 => format!("{all} serial histories"),
        _ => format!("{stuck} of {all} serial executions get stuck"),
    };
    if serial.spinning > 0 {
        let _ = write!(text, " ({} of them spin)", serial.spinning);
    }
    if !serial.complete {
        text.push_str(" (not all)");
    }
    let _ =
        write!(text, "; {} concurrent executions, {} histories", phase.executions, phase.histories);
    if phase.stuck > 0 {
        let _ = write!(text, ", {} of them stuck", phase.stuck);
    }
    if phase.spinning > 0 {
        let _ = write!(text, " ({} of them spin)", phase.spinning);
    }
    text
}

/// Returns the test as a matrix, a column per thread.
pub fn matrix(test: &Test) -> String {
    let columns: Vec<(String, Vec<String>)> = test
        .shape()
        .threads()
        .filter(|thread| !test.sequence(*thread).is_empty())
        .map(|thread| {
            let texts = test.sequence(thread).iter().map(|invocation| invocation.text().to_owned());
            (test.thread_name(thread), texts.collect())
        })
        .collect();
    let rows = columns.iter().map(|(_, column)| column.len()).max().unwrap_or(0);
    let head: Vec<String> = columns.iter().map(|(thread, _)| thread.clone()).collect();
    let cell = |row: usize| {
        columns.iter().map(move |(_, column)| column.get(row).cloned().unwrap_or_default())
    };
    let lines = (0..rows).map(|row| Line::Cells(cell(row).collect())).collect::<Vec<_>>();
    table(&head, &lines)
}

enum Line {
    Cells(Vec<String>),
    Note(String),
}

/// Formats columns of text, indented.
fn table(head: &[String], lines: &[Line]) -> String {
    let mut widths: Vec<usize> = head.iter().map(|word| word.chars().count()).collect();
    for line in lines {
        if let Line::Cells(cells) = line {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
    }
    let mut text = String::new();
    let mut row = |cells: &[String]| {
        let mut line = String::from("    ");
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}   ");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    };
    row(head);
    for line in lines {
        match line {
            Line::Cells(cells) => row(cells),
            Line::Note(note) => row(&[format!("  ~ {note}")]),
        }
    }
    text
}

/// Returns an execution in columns, time going down: calls, bars while they are open, and returns.
pub fn columns(test: &Test, history: &ConcurrentHistory<Answer>, switches: &[Switch]) -> String {
    let stuck = |_, is_open| if is_open { "#" } else { "" };
    let ends: Option<&Ends<'_>> = if history.is_stuck() { Some(&stuck) } else { None };
    drawn(test, history.events(), ends, switches)
}

/// Last cell of a thread's column, by whether its operation is open.
type Ends<'e> = dyn Fn(Thread, bool) -> &'static str + 'e;

fn drawn<A: Debug>(
    test: &Test,
    events: &[Event<A>],
    ends: Option<&Ends<'_>>,
    switches: &[Switch],
) -> String {
    let threads: Vec<Thread> =
        test.shape().threads().filter(|thread| !test.sequence(*thread).is_empty()).collect();
    let head: Vec<String> = threads.iter().map(|thread| test.thread_name(*thread)).collect();
    let mut called = [0; Thread::LIMIT + 1];
    let mut open = [false; Thread::LIMIT + 1];
    let mut lines = Vec::new();
    let notes = |events: usize, lines: &mut Vec<Line>| {
        for switch in switches.iter().filter(|switch| switch.events == events) {
            if let Some(place) = &switch.place {
                let from = test.thread_name(switch.from);
                lines.push(Line::Note(format!("{from} stops before {}", at(place))));
            }
        }
    };
    for (position, event) in events.iter().enumerate() {
        notes(position, &mut lines);
        let thread = event.thread();
        let t = thread.index();
        let cell = |other: &Thread| match event {
            _ if *other != thread => if open[other.index()] { "|" } else { "" }.to_owned(),
            Event::Call(_) => test.sequence(thread)[called[t]].text().to_owned(),
            Event::Return(_, answer) => format!("-> {answer:?}"),
        };
        lines.push(Line::Cells(threads.iter().map(cell).collect()));
        called[t] += usize::from(matches!(event, Event::Call(_)));
        open[t] = matches!(event, Event::Call(_));
    }
    notes(events.len(), &mut lines);
    if let Some(end) = ends {
        let cell = |thread: &Thread| end(*thread, open[thread.index()]).to_owned();
        lines.push(Line::Cells(threads.iter().map(cell).collect()));
    }
    table(&head, &lines)
}

/// Returns a location in a sentence. Line tables, as the only debugging information, give an
/// inlined function its bare name (`call`), which adds nothing to the line.
fn at(place: &Place) -> String {
    let function = place.function.rsplit("::").take(2).collect::<Vec<_>>();
    let function = function.into_iter().rev().collect::<Vec<_>>().join("::");
    // The rest of `<path::Object as Trait>::method`.
    let function = function.replace(['<', '>'], "");
    match &place.line {
        Some((file, line)) if function.contains("::") => format!("{file}:{line} ({function})"),
        Some((file, line)) => format!("{file}:{line}"),
        None => format!("a step of {function}"),
    }
}

/// Returns a serial execution, one operation a line.
pub fn serial(test: &Test, history: &SerialHistory<Answer>) -> String {
    let mut next = [0; Thread::LIMIT + 1];
    let mut line = |thread: Thread, end: String| {
        let index = next[thread.index()];
        next[thread.index()] += 1;
        let invocation = test.sequence(thread).get(index).map_or("", Invocation::text);
        format!("    {:<5} {invocation} {end}\n", test.thread_name(thread))
    };
    let mut text: String = history
        .operations
        .iter()
        .map(|(thread, answer)| line(*thread, format!("-> {answer:?}")))
        .collect();
    if let Some(thread) = history.stuck {
        text.push_str(&line(thread, "# gets stuck".to_owned()));
    }
    text
}

fn violated(test: &Test, violation: &Violation, replayed: Option<&Replayed>) -> String {
    let mut text = String::new();
    let preemptions = match violation.preemptions {
        0 => "no preemption".to_owned(),
        1 => "1 preemption".to_owned(),
        n => format!("{n} preemptions"),
    };
    let _ = write!(
        text,
        "\nexecution ({preemptions}; time goes down):\n{}",
        columns(test, &violation.history, replayed.map_or(&[], |replayed| &replayed.switches))
    );
    if let Some(replayed) = replayed {
        text.push_str(&spins(test, &replayed.spinning));
        text.push_str(&waits(test, &violation.history, &replayed.waiting));
    }
    if let Some(explanation) = &violation.explanation {
        let _ = write!(text, "\n{}\n", sentence(test, explanation));
        let _ = write!(text, "\nnearest serial execution:\n{}", serial(test, &explanation.nearest));
    }
    let _ = write!(text, "\nschedule: {}\n", violation.schedule);
    if violation.spins {
        let _ = write!(text, "\n{}\n", textwrap::fill(PRESUMED, WIDTH));
    }
    text
}

/// Premise of a failure if threads spin in it, or in serial executions.
const PRESUMED: &str = "This presumes that an operation which spins while nothing changes never \
     gives up by itself, after a number of rounds or at some time (--diverging stuck).";

/// Describes the threads that spin at the end of an execution.
fn spins(test: &Test, spinning: &[(Thread, Option<Place>)]) -> String {
    let line = |(thread, place): &(Thread, Option<Place>)| {
        let place = place.as_ref().map_or_else(String::new, |place| format!(" at {}", at(place)));
        format!("      ~ {} spins{place}, and nothing changes\n", test.thread_name(*thread))
    };
    spinning.iter().map(line).collect()
}

/// Describes the threads that wait at the end of an execution, and for which lock.
fn waits(test: &Test, history: &ConcurrentHistory<Answer>, waiting: &[Wait]) -> String {
    let line = |wait: &Wait| {
        let (file, line) = &wait.place;
        let calls = history.events().iter();
        let calls = calls.filter(|e| matches!(e, Event::Call(t) if *t == wait.thread)).count();
        let operation = test.sequence(wait.thread).get(calls.saturating_sub(1));
        let mut text = format!(
            "{} of {} waits at {file}:{line}",
            operation.map_or("", Invocation::text),
            test.thread_name(wait.thread)
        );
        if let Some((holder, (file, line))) = &wait.lock {
            let holder = holder.map(|holder| test.thread_name(holder));
            let holder = holder.unwrap_or_else(|| "another thread".to_owned());
            let _ = write!(text, " for the lock that {holder} took at {file}:{line}");
        }
        textwrap::fill(&(text + "."), WIDTH) + "\n"
    };
    let lines: String = waiting.iter().map(line).collect();
    if lines.is_empty() { lines } else { "\n".to_owned() + &lines }
}

/// Explains, in a paragraph, why no serial execution matches.
pub fn sentence(test: &Test, explanation: &Explanation<Answer>) -> String {
    let named = |id: &snapshot_core::OperationId| {
        let (thread, _) = test.shape().place(*id);
        format!("{} of {}", test.invocation(*id).text(), test.thread_name(thread))
    };
    let list = |ids: &[snapshot_core::OperationId]| and(&ids.iter().map(named).collect::<Vec<_>>());
    let culprit = named(&explanation.culprit);
    let mut text = match &explanation.outcome {
        Outcome::Returned(answer) => format!("{culprit} returned {answer:?}."),
        Outcome::Stuck => format!("{culprit} is stuck: no thread can go on."),
    };
    match explanation.before.len() {
        0 => {}
        1 => {
            let _ =
                write!(text, " {} had returned before it was called.", list(&explanation.before));
        }
        _ => {
            let _ =
                write!(text, " Before it was called, {} had returned.", list(&explanation.before));
        }
    }
    if !explanation.overlapping.is_empty() {
        let _ = write!(text, " It overlaps {}.", list(&explanation.overlapping));
    }
    let outcomes: Vec<String> = explanation.instead.iter().map(outcome).collect();
    let so = match explanation.outcome {
        Outcome::Returned(_) => "return that",
        Outcome::Stuck => "get stuck",
    };
    let _ = write!(
        text,
        " In no serial execution that explains all before does it {so}{}.",
        match outcomes.len() {
            0 => ": in none of them is it called".to_owned(),
            _ => format!(": there it {}", or(&outcomes)),
        }
    );
    textwrap::fill(&text, WIDTH)
}

fn outcome(outcome: &Outcome<Answer>) -> String {
    match outcome {
        Outcome::Returned(answer) => format!("returns {answer:?}"),
        Outcome::Stuck => "gets stuck".to_owned(),
    }
}

fn and(words: &[String]) -> String {
    join(words, "and")
}

fn or(words: &[String]) -> String {
    join(words, "or")
}

fn join(words: &[String], last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., end] => format!("{} {last} {end}", rest.join(", ")),
    }
}

/// Returns the text of a replayed schedule, and its exit code.
pub(crate) fn replayed(
    check: &Check,
    test: &Test,
    schedule: &Schedule,
    failure: &Failure,
) -> (String, u8) {
    let mut text = format!("{}: replay of {}\n", test.subject().name(), test.text());
    let replayed = match check.replay(test, schedule) {
        Ok(replayed) => replayed,
        Err(unknown) => return (format!("{text}unknown: {unknown}\n"), 3),
    };
    if let Some(part) = replayed.diverged {
        let place = schedule.0.get(part).map(|segment| Schedule(vec![*segment]).to_string());
        let place = place.map_or_else(String::new, |segment| format!(", `{segment}`"));
        let _ = writeln!(
            text,
            "the schedule could not be followed from part {}{place} on: the program has changed",
            part + 1
        );
    }
    let Some(history) = replayed.history else {
        return (format!("{text}unknown: the execution has no end\n"), 3);
    };
    let same = (files::events(test, history.events()), history.is_stuck())
        == (failure.events.clone(), failure.stuck)
        && failure.crash.is_none();
    let _ = writeln!(text, "{} execution that was recorded", if same { "the" } else { "not the" });
    let _ = write!(text, "\n{}", columns(test, &history, &replayed.switches));
    text.push_str(&spins(test, &replayed.spinning));
    text.push_str(&waits(test, &history, &replayed.waiting));
    let observations = match check.observations(test) {
        Ok(observations) => observations,
        Err(verdict) => {
            let _ = writeln!(text, "\n{}: the serial executions have no answer", verdict.word());
            return (text, verdict.exit_code());
        }
    };
    match explain(&observations, &history) {
        Some(explanation) => {
            let _ = write!(text, "\n{}\n", sentence(test, &explanation));
            if failure.spins {
                let _ = write!(text, "\n{}\n", textwrap::fill(PRESUMED, WIDTH));
            }
            text.push_str("\nFAIL\n");
            (text, 1)
        }
        None => {
            text.push_str("\nPASS: it has its serial witnesses\n");
            (text, 0)
        }
    }
}

/// Returns an observation file as readable text: groups with the answers of each thread.
pub(crate) fn shown(file: &ObservationFile) -> String {
    let all = if file.complete { "all" } else { "not all" };
    let (observations, stuck) = (&file.observations, file.observations.stuck());
    let mut text = format!("{}: {} serial executions ({all})", file.subject, observations.len());
    let _ = writeln!(text, ", {stuck} of them stuck");
    for group in observations.groups() {
        text.push('\n');
        for (t, column) in file.test.iter().enumerate().filter(|(_, column)| !column.is_empty()) {
            let answers = group.responses()[t].iter().map(|response| format!("-> {response}"));
            let stuck = (group.stuck() == Some(Thread::from_index(t))).then(|| "#".to_owned());
            let calls = column.iter().zip(answers.chain(stuck));
            let calls: Vec<String> = calls.map(|(call, end)| format!("{call} {end}")).collect();
            let line = format!("  {}: {}", Thread::from_index(t), calls.join("; "));
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let orders: Vec<String> = group.histories().map(|history| history.letters()).collect();
        let _ = writeln!(text, "  orders: {}", orders.join(" "));
    }
    text
}
