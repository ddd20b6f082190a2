//! Maps of EDN as events.

use clojure_reader::edn::{self, Edn};

use super::super::place::{Spot, Step};
use super::super::{ImportErrorKind, Stamp};
use super::scan::{Bracket, Forms, opening};
use super::value::{malformed, short};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Invoke,
    Ok,
    Fail,
    /// The outcome is not known.
    Info,
}

/// A value of an event, with its position.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) edn: Edn<'static>,
    pub(super) spot: Spot,
}

/// An event of a client.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) spot: Spot,
    pub(super) process: i64,
    pub(super) kind: Kind,
    /// `:f`.
    pub(super) function: String,
    pub(super) function_at: Spot,
    /// `:value`; if absent, `nil` at the position of the event.
    pub(super) value: Placed,
    pub(super) time: Option<Stamp>,
}

/// Returns the events of all clients, in the order of the log: maps one after the other, or in a
/// vector or list. Events of a nemesis are left out.
pub(super) fn events(log: &str, start: usize) -> Step<Vec<Event>> {
    let mut events = Vec::new();
    let mut forms = Forms::of(log, start);
    while let Some(form) = forms.next()? {
        let Some((at, Bracket::Sequence)) = opening(log, form) else {
            events.extend(event(log, form)?);
            continue;
        };
        let mut within = Forms::within(log, form);
        while let Some(form) = within.next()? {
            events.extend(event(log, form)?);
        }
        within.close(Spot { at, width: 1 })?;
    }
    if !forms.is_at_end() {
        let message = "expected an event, found a bracket that closes nothing".to_owned();
        return Err(ImportErrorKind::Edn { message }.at(forms.place()));
    }
    Ok(events)
}

/// The fields that are read.
const FIELDS: [&str; 5] = [":process", ":type", ":f", ":value", ":time"];

/// Parses the event of a client; `None` for a nemesis.
fn event(log: &str, form: Spot) -> Step<Option<Event>> {
    // Also `#jepsen.history.Op{...}`.
    let Some((_, Bracket::Map)) = opening(log, form) else {
        let kind = ImportErrorKind::Field {
            field: "event",
            expected: "a map with :type, :process, :f and :value",
            found: format!("`{}`", log[form.at..].chars().take(40).collect::<String>()),
            cure: "an event looks like {:type :invoke, :process 0, :f :write, :value 5}",
        };
        return Err(kind.at(form));
    };
    let [process, kind, function, value, time] = fields(log, form)?;
    let read = |spot: Option<Spot>| spot.map(|spot| placed(log, spot)).transpose();
    let (process, kind) = (read(process)?, read(kind)?);
    let is_info = kind.as_ref().is_some_and(|kind| kind.edn == Edn::Key("info".into()));
    let missing = |field| {
        let cure = "an event has :type, :process, :f and :value";
        ImportErrorKind::Missing { field, cure }.at(form)
    };
    let wrong = |field, expected, found: &Placed, cure| {
        let kind = ImportErrorKind::Field { field, expected, found: short(&found.edn), cure };
        kind.at(found.spot)
    };
    let process = match process.ok_or_else(|| missing(":process"))? {
        Placed { edn: Edn::Int(process), .. } => process,
        Placed { edn: Edn::Key(_), .. } if is_info => return Ok(None),
        other => {
            let cure = "only a nemesis, whose events are all :info, has a name";
            return Err(wrong(":process", "the number of a process", &other, cure));
        }
    };
    let (function, value, time) = (read(function)?, read(value)?, read(time)?);
    let kind = kind.ok_or_else(|| missing(":type"))?;
    let kind = match &kind.edn {
        Edn::Key(name) if name == "invoke" => Kind::Invoke,
        Edn::Key(name) if name == "ok" => Kind::Ok,
        Edn::Key(name) if name == "fail" => Kind::Fail,
        Edn::Key(name) if name == "info" => Kind::Info,
        _ => return Err(wrong(":type", ":invoke, :ok, :fail or :info", &kind, "")),
    };
    let function = function.ok_or_else(|| missing(":f"))?;
    let function_at = function.spot;
    let function = match &function.edn {
        Edn::Key(name) | Edn::Str(name) | Edn::Symbol(name) => name.to_string(),
        _ => return Err(wrong(":f", "a keyword", &function, "it names the operation: :write")),
    };
    let time = match time.filter(|time| time.edn != Edn::Nil) {
        None => None,
        Some(time) => {
            let text = &log[time.spot.at..time.spot.at + time.spot.width];
            let stamp = text.parse();
            let cure = "it is an integer or a decimal number without an exponent";
            Some(stamp.map_err(|_| wrong(":time", "a number", &time, cure))?)
        }
    };
    let value = value.unwrap_or(Placed { edn: Edn::Nil, spot: form });
    Ok(Some(Event { spot: form, process, kind, function, function_at, value, time }))
}

/// Returns the positions of the values of [`FIELDS`] in a map. Other fields are ignored.
fn fields(log: &str, map: Spot) -> Step<[Option<Spot>; FIELDS.len()]> {
    let mut fields = [None; FIELDS.len()];
    let mut forms = Forms::within(log, map);
    while let Some(name) = forms.next()? {
        let Some(value) = forms.next()? else {
            forms.close(Spot { at: opening(log, map).map_or(map.at, |(at, _)| at), width: 1 })?;
            let message = "expected a value behind the last key of the map".to_owned();
            return Err(ImportErrorKind::Edn { message }.at(name));
        };
        let text = &log[name.at..name.at + name.width];
        let Some(field) = FIELDS.iter().position(|field| *field == text) else { continue };
        if let Some(first) = fields[field] {
            let (field, found) = (FIELDS[field], text.to_owned());
            let kind = ImportErrorKind::DuplicateField { field, found };
            return Err(kind.at(name).against(first));
        }
        fields[field] = Some(value);
    }
    Ok(fields)
}

/// Parses the value of a form.
fn placed(log: &str, spot: Spot) -> Step<Placed> {
    let text = &log[spot.at..spot.at + spot.width];
    match edn::read(text) {
        Ok((edn, "")) => Ok(Placed { edn: edn.into_owned(), spot }),
        Ok(_) => {
            let message = "a value of this form is not known here".to_owned();
            Err(ImportErrorKind::Edn { message }.at(spot))
        }
        Err(error) => {
            let at = spot.at + error.ptr.unwrap_or(0).min(text.len());
            let end = if error.ptr.is_some() { at + 1 } else { spot.at + spot.width };
            Err(malformed(&error).at(Spot::new(at, end.max(at))))
        }
    }
}
