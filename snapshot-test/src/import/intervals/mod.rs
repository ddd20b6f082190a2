//! Operations as intervals: a table, or JSON, with a row or an object per operation.
//!
//! Segments have numbers, or names. If no key occurs and every `segment` is a number, these are the
//! segments' numbers, and a list of values has one value for each segment. Else segments are
//! numbered by first call, and keep their names.

mod json;
mod objects;
mod row;
mod table;

use snapshot_core::Names;

use self::objects::Objects;
use self::row::{Content, Given, Row};
use super::place::{Fault, Spot, Step, locations};
use super::timeline::{Arranged, Fate, Interval, history};
use super::{ImportErrorKind, Imported, Stamp, Warning, without_mark};
use crate::Value;
use crate::error::InputError;

/// Options for the interpretation of a log of intervals.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Options {
    /// The initial value of segments, as in a table (default: `0`); `null` is the JSON value.
    pub initial: Option<String>,
    /// The largest error of each clock, in the log's unit.
    pub skew: Stamp,
}

/// Imports a log of intervals as a history. O(n log n) for n operations, all of which are held in
/// memory.
///
/// ```
/// use snapshot_test::import::{IntervalOptions, intervals};
///
/// let log = "client,operation,segment,value,call,return\n\
///            a,update,0,5,10,20\n\
///            b,scan,,5 _,20,30\n\
///            c,read,1,0,25,30\n";
/// let imported = intervals(log.as_bytes(), &IntervalOptions::default())?;
/// // The first two touch, and so they overlap.
/// assert!(imported.history.to_string().starts_with("p0 update 5\np1 scan\np0 ok\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the log cannot be read, or contradicts every history.
pub fn intervals(log: &[u8], options: &Options) -> Result<Imported, InputError> {
    imported(log, options).map_err(|fault| fault.located(log))
}

fn imported(log: &[u8], options: &Options) -> Step<Imported> {
    let start = without_mark(log);
    let is_null_a_value = options.initial.as_deref().is_some_and(|text| text.trim() == "null");
    let rows = match log[start..].trim_ascii_start().first() {
        None => return Err(ImportErrorKind::Empty.at(Spot::default())),
        Some(b'[' | b'{') => json::rows(super::text(log)?, start, is_null_a_value)?,
        Some(_) => table::rows(log, start)?,
    };
    if rows.is_empty() {
        return Err(ImportErrorKind::Empty.at(Spot::default()));
    }
    let initial = options.initial.as_deref().map_or(Ok(Value::ZERO), table::initial)?;
    let mut calls: Vec<Call> = Vec::with_capacity(rows.len());
    let mut unused = (0, None);
    for row in rows {
        let call = Call::new(row)?;
        if call.fate != Fate::Ok || call.end.is_none() {
            let values = call.returned().filter(|given| call.deed == Deed::Scan && given.is.says());
            unused.0 += usize::from(values.is_some());
            unused.1 = unused.1.or(values.map(|values| values.spot));
        }
        // A failed operation of any kind has no effect.
        if call.deed != Deed::Nothing {
            calls.push(call);
        }
    }
    // Numbers of segments do not depend on the order of the rows.
    calls.sort_by(|one, other| one.order().cmp(&other.order()));
    let objects = Objects::new(&calls)?;
    let numbered = objects.numbered().transpose()?;
    let is_named = numbered.is_none();
    let mut segments = numbered.unwrap_or_default();
    let meanings = calls.iter().map(|call| Ok((call.row.spot, objects.meaning(call)?)));
    let deeds = segments.deeds(meanings.collect::<Step<_>>()?)?;
    let intervals = calls.into_iter().zip(deeds).map(|(call, deed)| Interval {
        spot: call.row.spot,
        client: call.client,
        deed,
        call: call.call,
        end: call.end,
        fate: call.fate,
    });
    let declaration = super::declaration(segments.len(), initial);
    let Arranged { history, mut warnings, clients, spots } =
        history(intervals.collect(), declaration, options.skew.magnitude())?;
    if let (operations, Some(spot)) = unused {
        let reason = "of unknown outcome has a value, which shows nothing";
        let first = spot.location(log);
        warnings.push(Warning::Unused { first, operations, reason });
    }
    let of_segments = if is_named { segments.names() } else { Vec::new() };
    let names = Names::new(super::process_names(&clients), of_segments);
    Ok(Imported { history, places: locations(log, &spots), warnings, names })
}

/// The kind of an operation, by its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Deed {
    Update,
    Scan,
    /// A failed operation of any kind.
    Nothing,
}

/// An operation whose fields have been checked.
#[derive(Debug)]
struct Call {
    row: Row,
    client: String,
    deed: Deed,
    call: Stamp,
    end: Option<Stamp>,
    fate: Fate,
}

impl Call {
    fn new(row: Row) -> Step<Self> {
        let spot = row.spot;
        let missing = |field, cure| ImportErrorKind::Missing { field, cure }.at(spot);
        let client = row.client.as_ref().ok_or_else(|| {
            missing("client", "it is the thread or task that had this operation, and one at a time")
        })?;
        let client = client.is.clone();
        let operation = row.operation.as_ref();
        let operation = operation.ok_or_else(|| missing("operation", "update or scan"))?.clone();
        let call = row.call.as_ref().ok_or_else(|| missing("call", "the time of its call"))?;
        let call = stamp("call", call)?;
        let end = row.end.as_ref().map(|end| stamp("return", end)).transpose()?;
        let fate = match row.outcome.as_ref().map(|outcome| (outcome.is.as_str(), outcome.spot)) {
            None if end.is_some() => Fate::Ok,
            None | Some(("unknown" | "info", _)) => Fate::Unknown,
            Some(("ok", _)) => Fate::Ok,
            Some(("fail", _)) => Fate::Failed,
            Some((other, spot)) => {
                return Err(ImportErrorKind::Field {
                    field: "outcome",
                    expected: "ok, fail, unknown or nothing",
                    found: format!("`{other}`"),
                    cure: "fail is certainly without effect, unknown may take effect at any time",
                }
                .at(spot));
            }
        };
        if end.is_none() && fate != Fate::Unknown {
            return Err(missing(
                "return",
                "an operation that is ok, or failed, was so at some time",
            ));
        }
        let deed = deed(&operation, fate)?;
        Ok(Self { row, client, deed, call, end, fate })
    }

    fn order(&self) -> impl Ord + '_ {
        let segments = self.row.segments.as_ref().map(|segments| &segments.is);
        let key = self.row.key.as_ref().map(|key| &key.is);
        let (value, input) = (self.returned(), self.row.input.as_ref());
        let values = (value.map(|value| &value.is), input.map(|input| &input.is));
        (self.call, self.end, &self.client, key, segments, values)
    }

    /// Returns the returned values, if it is a scan.
    const fn returned(&self) -> Option<&Given<Content>> {
        match &self.row.output {
            Some(output) => Some(output),
            None => self.row.value.as_ref(),
        }
    }

    /// Returns true if it is known to have returned.
    fn is_known(&self) -> bool {
        self.fate == Fate::Ok
    }
}

fn deed(operation: &Given<String>, fate: Fate) -> Step<Deed> {
    let (reason, cure) = match operation.is.to_ascii_lowercase().as_str() {
        "update" | "write" | "put" | "set" => return Ok(Deed::Update),
        "scan" | "read" | "get" => return Ok(Deed::Scan),
        // An operation that returned false has seen another value.
        "cas" | "compare-and-set" | "compareandset" => super::COMPARE_AND_SET,
        _ if fate == Fate::Failed => return Ok(Deed::Nothing),
        "inc" | "increment" | "add" | "dec" | "decrement" => (
            "is not judged yet as an operation of a snapshot: it does not say which value it wrote",
            "record the value that it wrote, as an update; counters are judged by `check --object \
             counter`, from text or JSON Lines (docs/synchronisation.md)",
        ),
        "enqueue" | "dequeue" | "push" | "pop" => super::QUEUE,
        "txn" | "transaction" | "multi-write" | "mset" => (
            "is not judged yet as an operation of a snapshot: it changes several keys at once",
            "an update writes one segment",
        ),
        _ => (
            "is no operation of a snapshot",
            "an operation is an update (or write, put, set) or a scan (or read, get)",
        ),
    };
    let operation_name = format!("`{}`", operation.is);
    Err(ImportErrorKind::Operation { operation: operation_name, reason, cure }.at(operation.spot))
}

fn stamp(field: &'static str, text: &Given<String>) -> Step<Stamp> {
    text.is.parse().map_err(|_| {
        ImportErrorKind::Field {
            field,
            expected: "a decimal number",
            found: format!("`{}`", text.is),
            cure: "write it with at most 20 digits before the point and 12 behind it, without an \
                   exponent",
        }
        .at(text.spot)
    })
}
