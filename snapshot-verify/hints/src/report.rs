//! Obligations and failures in words.

use snapshot_invariant::byte::{I, T};
use snapshot_invariant::claim::{Ghosts, Obligation, Property};
use snapshot_invariant::step::{Failure, Kind};
use snapshot_invariant::trace::{Actor, Event};
use snapshot_language::Source;

use crate::ladder::{Attempt, INTERRUPTED, Rung, VIEWS};

/// Returns the property that an obligation shows.
pub fn property(obligation: Obligation) -> String {
    let ghosts = match obligation.ghosts {
        Ghosts::Scans => "scans",
        Ghosts::Calls => "calls that return a view",
        Ghosts::Rounds => "rounds that several processes make",
    };
    match obligation.property {
        Property::Faults => "no fault".to_owned(),
        Property::Nesting => format!("nesting of {ghosts}"),
        Property::Observer => format!("vectors of {ghosts}, by the observer"),
        Property::Memory(member) => {
            let whose = match member {
                T => "processes other than i and j",
                I => "process i",
                _ => "process j",
            };
            format!("vectors of {ghosts} of {whose}, by what was in memory meanwhile")
        }
    }
}

/// Returns true if a rung matters to a reader: not one without meaning for the program, which has no
/// ghost scans of its kind.
pub fn is_told(rung: &Rung) -> bool {
    !matches!(&rung.attempt, Attempt::Unsupported(unsupported) if unsupported.is_of_ghosts())
}

const fn actor(actor: Actor) -> &'static str {
    match actor {
        Actor::I => "process i",
        Actor::J => "process j",
        Actor::Tracked => "process t",
        Actor::Another => "another process",
    }
}

/// Describes a failure, as a sentence that begins with "could not exclude that".
pub fn failure(failure: Failure, source: &Source) -> String {
    let what = match failure {
        Failure::Vector(_) => {
            "could not exclude that a scan ends here whose vector violates linearizability"
        }
        Failure::Stale(_) => {
            "could not exclude that the view returned here belongs to a scan that began before this one"
        }
        Failure::Mixed(_) => "could not exclude that entries of several views are mixed here",
        Failure::Unpassed(_) => {
            "could not exclude that an update ends here without having stored its value"
        }
        Failure::Fault(_) => "could not exclude that the program goes wrong here",
        Failure::Unsupported(construct) => return format!("not modelled: {construct}"),
        Failure::TooMany => return "not modelled: a step with more than 16,384 ways".to_owned(),
        Failure::Ended => return "not finished".to_owned(),
    };
    match failure.span() {
        Some(span) => format!("{}: {what}", source.place(span)),
        None => what.to_owned(),
    }
}

/// Describes the steps to a failure, one per line.
pub fn events(events: &[Event], source: &Source) -> Vec<String> {
    let described = |event: &Event| match event.span {
        None => format!("{} begins an operation", actor(event.actor)),
        Some(span) => {
            let text = source.slice(span).lines().next().unwrap_or_default().trim();
            format!("{} goes on from `{text}` ({})", actor(event.actor), source.place(span))
        }
    };
    events.iter().map(described).collect()
}

/// Describes the result of a rung, in a few words.
pub fn outcome(rung: &Rung, source: &Source) -> String {
    match &rung.attempt {
        Attempt::Holds => "holds".to_owned(),
        Attempt::Fails(what, _) => failure(*what, source),
        Attempt::Unsupported(unsupported) => {
            format!("{}: not modelled: {}", source.place(unsupported.span), unsupported.construct)
        }
        Attempt::Budget(INTERRUPTED) => INTERRUPTED.to_owned(),
        Attempt::Budget(VIEWS) if rung.views() == 0 => "not begun".to_owned(),
        Attempt::Budget(which) => format!("not finished, {which} ran short"),
    }
}

/// Returns the name of a kind of views: the members in order, the followed one in brackets.
pub fn kind(kind: &Kind) -> String {
    let name = |member: &u8| match *member {
        I => "i",
        T => "t",
        _ => "j",
    };
    let names = kind.members.iter().map(|member| match *member == kind.followed {
        true => format!("[{}]", name(member)),
        false => name(member).to_owned(),
    });
    names.collect::<Vec<_>>().join(" < ")
}
