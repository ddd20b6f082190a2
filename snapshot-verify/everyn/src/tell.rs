//! Obligations and failures in words.

use std::fmt;

use snapshot_language::Source;

use super::ladder::Rung;
use super::prove::{Actor, Attempt, Event, INTERRUPTED, VIEWS};
use super::run::Failure;
use super::shape::{I, T};

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::I => "process i",
            Self::J => "process j",
            Self::Tracked => "process t",
            Self::Another => "another process",
        })
    }
}

/// Describes a failure, as a sentence that begins with "could not exclude that".
pub fn failure(failure: Failure, source: &Source) -> String {
    let at = |span| source.place(span);
    match failure {
        Failure::Vector { entries, span } => format!(
            "{}: could not exclude that a scan returns ({}, {}) for segments i and j here, where \
             that violates linearizability",
            at(span),
            u8::from(entries[0]),
            u8::from(entries[1]),
        ),
        Failure::Stale(span) => format!(
            "{}: could not exclude that the view returned here is of a scan that began before \
             this one",
            at(span)
        ),
        Failure::Mixed(span) => {
            format!("{}: could not exclude that entries of several views are mixed here", at(span))
        }
        Failure::Unpassed(span) => format!(
            "{}: could not exclude that an update ends here without having stored its value",
            at(span)
        ),
        Failure::Fault(span) => {
            format!("{}: could not exclude that the program goes wrong here", at(span))
        }
    }
}

/// Describes the steps to a failure, one per line.
pub fn events(events: &[Event], source: &Source) -> Vec<String> {
    let described = |event: &Event| match event.span {
        None => format!("{} begins an operation", event.actor),
        Some(span) => {
            let text = source.slice(span).lines().next().unwrap_or_default().trim();
            format!("{} goes on from `{text}` ({})", event.actor, source.place(span))
        }
    };
    events.iter().map(described).collect()
}

/// Describes the result of a rung, in a few words.
pub fn outcome(rung: &Rung, source: &Source) -> String {
    match &rung.finding {
        Err(unsupported) => {
            format!("{}: not modelled: {}", source.place(unsupported.span), unsupported.construct)
        }
        Ok(finding) => match &finding.attempt {
            Attempt::Holds => "holds".to_owned(),
            Attempt::Fails(what, _) => failure(*what, source),
            Attempt::Unsupported(unsupported) => format!(
                "{}: not modelled: {}",
                source.place(unsupported.span),
                unsupported.construct
            ),
            Attempt::Budget(INTERRUPTED) => INTERRUPTED.to_owned(),
            Attempt::Budget(VIEWS) if finding.views() == 0 => "not begun".to_owned(),
            Attempt::Budget(which) => format!("not finished, {which} ran short"),
        },
    }
}

/// Returns the name of a kind of views: the members in order, the followed one in brackets.
pub fn kind(crowd: &super::run::Crowd) -> String {
    let name = |member: &u8| match *member {
        I => "i",
        T => "t",
        _ => "j",
    };
    let names = crowd.members.iter().map(|member| match *member == crowd.tracked {
        true => format!("[{}]", name(member)),
        false => name(member).to_owned(),
    });
    names.collect::<Vec<_>>().join(" < ")
}
