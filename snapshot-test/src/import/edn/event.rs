//! Maps of EDN as events, and events as calls.

use std::collections::HashMap;

use clojure_reader::edn::{Edn, read};

use super::super::{ImportError, ImportErrorKind, Stamp, Warning};
use super::value::{malformed, short};

/// What happens at an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Invoke,
    Ok,
    Fail,
    /// The outcome is not known.
    Info,
}

/// An operation, from its invocation to its end.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The line of its invocation.
    pub(super) line: u64,
    /// The number of its process, by first appearance.
    pub(super) process: usize,
    /// `:f`.
    pub(super) function: String,
    /// The `:value` of the invocation.
    pub(super) given: Edn<'static>,
    /// The `:value` of its end.
    pub(super) returned: Edn<'static>,
    pub(super) time: Option<Stamp>,
    /// How and when it ended, if it did.
    pub(super) end: Option<(Kind, Option<Stamp>)>,
}

/// An event of a client.
struct Raw {
    process: i64,
    kind: Kind,
    function: String,
    value: Edn<'static>,
    time: Option<Stamp>,
}

/// What a log holds: its calls, its events in order (each the number of its call and what
/// happens), and what is to be said of it.
pub(super) type Log = (Vec<Call>, Vec<(usize, Kind)>, Vec<Warning>);

/// The calls of all clients; what a nemesis does is left out.
pub(super) fn calls(log: &str) -> Result<Log, ImportError> {
    let (mut calls, mut events): (Vec<Call>, Vec<_>) = (Vec::new(), Vec::new());
    let mut numbers: HashMap<i64, usize> = HashMap::new();
    let mut open: HashMap<usize, usize> = HashMap::new();
    let mut latest: Option<Stamp> = None;
    let mut backwards: Option<(u64, usize)> = None;
    each(log, &mut |line, map| {
        let Some(raw) = event(&map).map_err(|kind| kind.at(line))? else { return Ok(()) };
        if let (Some(before), Some(now)) = (latest, raw.time)
            && now < before
        {
            backwards = Some(backwards.map_or((line, 1), |(first, count)| (first, count + 1)));
        }
        latest = raw.time.or(latest);
        let next = numbers.len();
        let process = *numbers.entry(raw.process).or_insert(next);
        let unpaired = |what, earlier| {
            Err(ImportErrorKind::Unpaired { process: raw.process, what, earlier }.at(line))
        };
        match (raw.kind, open.remove(&process)) {
            (Kind::Invoke, None) => {
                open.insert(process, calls.len());
                events.push((calls.len(), Kind::Invoke));
                calls.push(Call {
                    line,
                    process,
                    function: raw.function,
                    given: raw.value,
                    returned: Edn::Nil,
                    time: raw.time,
                    end: None,
                });
            }
            (Kind::Invoke, Some(earlier)) => {
                return unpaired(
                    "begins an operation while another one is open",
                    calls[earlier].line,
                );
            }
            (_, None) => return unpaired("ends an operation that has not begun", 0),
            (kind, Some(call)) => {
                if calls[call].function != raw.function {
                    return unpaired("ends another operation than it began", calls[call].line);
                }
                events.push((call, kind));
                calls[call].returned = raw.value;
                calls[call].end = Some((kind, raw.time));
            }
        }
        Ok(())
    })?;
    let warnings = backwards.map(|(line, events)| Warning::Backwards { line, events });
    Ok((calls, events, warnings.into_iter().collect()))
}

/// Hands over every map of a log: one after the other, or all of them in a vector or list.
fn each(
    log: &str,
    take: &mut dyn FnMut(u64, Edn<'static>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut rest = log;
    let mut line = 1;
    loop {
        let begin = rest.len() - skipped(rest);
        line += newlines(&rest[..rest.len() - begin]);
        rest = &rest[rest.len() - begin..];
        if rest.is_empty() {
            return Ok(());
        }
        let (form, after) = read(rest).map_err(|error| {
            let within = error.line.map_or(0, |line| line as u64 - 1);
            malformed(&error).at(line + within)
        })?;
        match &form {
            Edn::Vector(maps) | Edn::List(maps) => {
                // Where a map of a list begins is not kept.
                for map in maps {
                    take(line, map.clone().into_owned())?;
                }
            }
            map => take(line, map.clone().into_owned())?,
        }
        line += newlines(&rest[..rest.len() - after.len()]);
        rest = after;
    }
}

/// Bytes of white space and comments at the beginning.
fn skipped(text: &str) -> usize {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start_matches(|one: char| one.is_whitespace() || one == ',');
        match trimmed.strip_prefix(';') {
            Some(comment) => rest = comment.split_once('\n').map_or("", |(_, rest)| rest),
            None => return text.len() - trimmed.len(),
        }
    }
}

fn newlines(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// The event of a client; `None` for a nemesis.
fn event(form: &Edn<'static>) -> Result<Option<Raw>, ImportErrorKind> {
    let found = |field, expected, found: &Edn<'_>| ImportErrorKind::Field {
        field,
        expected,
        found: short(found),
    };
    // `#jepsen.history.Op{...}`
    let map = match form {
        Edn::Tagged(_, map) => map,
        map => map,
    };
    let Edn::Map(fields) = map else {
        return Err(found("event", "a map with :type, :process, :f and :value", form));
    };
    let field = |name: &'static str| fields.get(&Edn::key(name));
    let missing = |field| ImportErrorKind::Missing { field, cure: "" };
    let process = match field("process").ok_or(missing(":process"))? {
        Edn::Int(process) => *process,
        // A nemesis, or another that is no client.
        _ => return Ok(None),
    };
    let kind = match field("type").ok_or(missing(":type"))? {
        Edn::Key(name) if name == "invoke" => Kind::Invoke,
        Edn::Key(name) if name == "ok" => Kind::Ok,
        Edn::Key(name) if name == "fail" => Kind::Fail,
        Edn::Key(name) if name == "info" => Kind::Info,
        other => return Err(found(":type", ":invoke, :ok, :fail or :info", other)),
    };
    let function = match field("f").ok_or(missing(":f"))? {
        Edn::Key(name) | Edn::Str(name) | Edn::Symbol(name) => name.to_string(),
        other => return Err(found(":f", "a keyword", other)),
    };
    let time = match field("time") {
        None | Some(Edn::Nil) => None,
        Some(time) => {
            let stamp = time.to_string().parse();
            Some(stamp.map_err(|_| found(":time", "a number", time))?)
        }
    };
    let value = field("value").cloned().unwrap_or(Edn::Nil);
    Ok(Some(Raw { process, kind, function, value, time }))
}
