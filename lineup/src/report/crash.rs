//! Crashes as text.

use std::fmt::Write as _;

use super::{Ends, WIDTH, drawn};
use crate::apart::Crash;
use crate::files::{self, Failure};
use crate::matrix::Test;
use crate::subject::Invocation;

/// Describes a crash: the execution in columns, and where it ends.
pub(super) fn crashed(test: &Test, crash: &Crash) -> String {
    let ends = |thread, is_open| match (is_open, Some(thread) == crash.thread) {
        (_, true) => "!",
        (true, false) => "|",
        (false, false) => "",
    };
    let ends: Option<&Ends<'_>> = Some(&ends);
    let mut text = format!(
        "\nexecution (time goes down):\n{}",
        drawn(test, &crash.events, ends, &crash.switches)
    );
    let subject = match (crash.open(), crash.thread) {
        (Some((thread, calls)), _) => {
            let operation = test.sequence(thread).get(calls - 1).map_or("", Invocation::text);
            format!("{operation} of {}", test.thread_name(thread))
        }
        (None, Some(thread)) => format!("{}, between two operations,", test.thread_name(thread)),
        (None, None) => "making the object".to_owned(),
    };
    let mut sentence = format!("{subject} ends the process: {}", crash.ended);
    if crash.ended == "SIGSEGV" {
        sentence.push_str(" (an invalid access to memory, or more than the 2 MiB of a stack)");
    }
    sentence.push('.');
    if let Some((file, line)) = &crash.place {
        let _ = write!(sentence, " Its last step is at {file}:{line}.");
    }
    let _ = write!(text, "\n{}\n", textwrap::fill(&sentence, WIDTH));
    if let Some(panic) = &crash.panic {
        let _ = write!(text, "\nfirst panic:\n{}", indented(panic.lines()));
    }
    if !crash.output.is_empty() {
        let _ = write!(text, "\nstderr:\n{}", indented(crash.output.iter().map(String::as_str)));
    }
    let _ = write!(text, "\nschedule: {}\n", crash.schedule);
    text
}

fn indented<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    lines.map(|line| format!("    {line}\n")).collect()
}

/// Returns the text of a replayed schedule that crashes.
pub(crate) fn replayed_crash(test: &Test, crash: &Crash, failure: &Failure) -> String {
    let same = failure.crash.as_ref() == Some(&crash.ended)
        && failure.events == files::events(test, &crash.events);
    let not = if same { "" } else { "not " };
    let text = crashed(test, crash);
    format!(
        "{}: replay of {}\n{not}the execution that was recorded\n{text}\nFAIL\n",
        test.subject().name(),
        test.text()
    )
}
