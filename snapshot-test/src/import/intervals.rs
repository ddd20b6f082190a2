//! Operations as intervals: a table, or JSON, with a row or an object per operation.

use snapshot_core::Segment;
use snapshot_core::history::Declaration;

use super::timeline::{Deed, Fate, Interval, history};
use super::{ImportError, ImportErrorKind, Imported, Stamp, json, table};
use crate::Value;

/// A log of intervals as a history. `skew` is by how much each clock may be off, in the
/// log's unit. O(n log n) for n operations, all of which are held in memory.
///
/// ```
/// use snapshot_test::import::intervals;
///
/// let log = "client,operation,segment,value,call,return\n\
///            a,update,0,5,10,20\n\
///            b,scan,,5 0,20,30\n";
/// let imported = intervals(log.as_bytes(), "0".parse()?)?;
/// // They touch, and so they overlap.
/// assert!(imported.history.to_string().starts_with("p0 update 5\np1 scan\np0 ok\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the log cannot be read, or says something that no history has.
pub fn intervals(log: &[u8], skew: Stamp) -> Result<Imported, ImportError> {
    let first = log.iter().find(|byte| !byte.is_ascii_whitespace());
    let rows = match first {
        None => return Err(ImportErrorKind::Empty.at(1)),
        Some(b'[' | b'{') => json::rows(log)?,
        Some(_) => table::rows(log)?,
    };
    let intervals = rows.into_iter().map(Row::interval).collect::<Result<_, _>>()?;
    history(intervals, Declaration::new(Value::ZERO), skew.magnitude())
}

/// The fields of an operation, as the log has them.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) line: u64,
    pub(super) client: Option<String>,
    pub(super) operation: Option<String>,
    pub(super) segment: Option<String>,
    /// What is written, or returned.
    pub(super) values: Option<Vec<Value>>,
    pub(super) call: Option<String>,
    pub(super) end: Option<String>,
    pub(super) outcome: Option<String>,
}

impl Row {
    fn interval(self) -> Result<Interval, ImportError> {
        let line = self.line;
        self.checked().map_err(|kind| kind.at(line))
    }

    fn checked(self) -> Result<Interval, ImportErrorKind> {
        let missing = |field| ImportErrorKind::Missing { field, cure: "" };
        let client = self.client.ok_or(missing("client"))?;
        let operation = self.operation.ok_or(missing("operation"))?;
        let call = stamp("call", &self.call.ok_or(missing("call"))?)?;
        let end = self.end.map(|end| stamp("return", &end)).transpose()?;
        let fate = match self.outcome.as_deref() {
            None | Some("ok") => Fate::Ok,
            Some("fail") => Fate::Failed,
            Some("unknown" | "info") => Fate::Unknown,
            Some(other) => {
                return Err(ImportErrorKind::Field {
                    field: "outcome",
                    expected: "ok, fail, unknown or nothing",
                    found: format!("`{other}`"),
                });
            }
        };
        if fate == Fate::Failed && end.is_none() {
            let cure = "; an operation that failed did so at some time";
            return Err(ImportErrorKind::Missing { field: "return", cure });
        }
        let is_known = fate == Fate::Ok && end.is_some();
        let deed = match operation.to_ascii_lowercase().as_str() {
            "update" | "write" => {
                let segment = segment(self.segment.as_deref(), &client)?;
                let value = match self.values.as_deref() {
                    Some([value]) => value.clone(),
                    Some(values) if values.len() > 1 => {
                        return Err(ImportErrorKind::Operation {
                            operation: format!("{operation} of {} values", values.len()),
                            reason: "an update writes one segment; writes of several keys at \
                                     once cannot be imported",
                        });
                    }
                    _ => {
                        let cure = "; it is what the update writes";
                        return Err(ImportErrorKind::Missing { field: "value", cure });
                    }
                };
                Deed::Update { segment, value }
            }
            "scan" | "read" => {
                if let Some(segment) = self.segment {
                    return Err(ImportErrorKind::Field {
                        field: "segment",
                        expected: "nothing, since a scan returns all segments,",
                        found: format!("`{segment}`"),
                    });
                }
                match self.values {
                    Some(values) if is_known => Deed::Scan { values },
                    None if is_known => {
                        let cure = "; it is what the scan returned, for all segments";
                        return Err(ImportErrorKind::Missing { field: "value", cure });
                    }
                    _ => Deed::Scan { values: Vec::new() },
                }
            }
            name => {
                return Err(ImportErrorKind::Operation {
                    reason: refusal(name),
                    operation: format!("`{operation}`"),
                });
            }
        };
        Ok(Interval { line: self.line, client, deed, call, end, fate })
    }
}

/// Why an operation is none of a snapshot, as far as its name says that.
pub(super) fn refusal(name: &str) -> &'static str {
    match name {
        "inc" | "increment" | "add" | "dec" => {
            "it does not say which value it wrote; record the value (`update`)"
        }
        "txn" | "transaction" | "multi-write" | "mset" => {
            "transactions, and writes of several keys at once, have no place in it"
        }
        "cas" | "compare-and-set" => "it writes depending on what is there",
        _ => "expected update (or write) or scan (or read)",
    }
}

fn stamp(field: &'static str, text: &str) -> Result<Stamp, ImportErrorKind> {
    text.parse().map_err(|_| ImportErrorKind::Field {
        field,
        expected: "a decimal number",
        found: format!("`{text}`"),
    })
}

fn segment(given: Option<&str>, client: &str) -> Result<Segment, ImportErrorKind> {
    let Some(text) = given else {
        let cure = "; only clients that are numbers can leave it out, and update their own";
        let own = client.parse().ok().and_then(|number| Segment::new(number).ok());
        return own.ok_or(ImportErrorKind::Missing { field: "segment", cure });
    };
    let segment = text.parse().ok().and_then(|number| Segment::new(number).ok());
    segment.ok_or_else(|| ImportErrorKind::Field {
        field: "segment",
        expected: "a number from 0 to 65535",
        found: format!("`{text}`"),
    })
}

/// A value as a table has it: an integer if it is one, else a text.
pub(super) fn value(text: &str) -> Value {
    let canonical = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
    canonical.map_or_else(|| Value::from(text), Value::from)
}
