//! A whole history in few bytes, for the script of a page.
//!
//! The encoding is one stream of unsigned LEB128 numbers, deflated (RFC 1950), in base64.
//! Operations are in the order of their invocations, column after column: neighbours in a column
//! are equal, or differ by little, which suits deflate. [`encode`] writes, in this order:
//!
//! 1. numbers of operations, processes, segments and ticks, and of included entries of scans (0 or
//!    all);
//! 2. per operation the process; per operation 0 for a scan, k + 1 for an update of segment k; per
//!    operation the invocation minus that of the previous operation; per operation 0 if it has no
//!    end, else 4 (end - invocation) + 1 (complete), 2 (failed) or 3 (outcome lost);
//! 3. per update the value; per complete scan its entries, if they are included;
//! 4. the number of operations in the linearization, and each minus the previous one, zigzag.
//!
//! For an immediate snapshot ([`encode_exchanges`]): every operation updates its process's segment,
//! and has entries if it is complete; at the end stand the number of blocks, and the size of each.
//!
//! For named operations ([`encode_operations`]): every operation updates segment 0, or 1 if it
//! returned something, with its text as the value; at the end stand the groups, as blocks, or 0.
//!
//! A value is an integer of at most 48 bits, or a text in the dictionary beside the columns. It is
//! written as 2 zigzag(v - w) if the value w before it (for an update: of the last update of that
//! segment; for a scan: in the last scan) is of the same kind, else as 2 zigzag(v) + 1; the first w
//! is the integer 0.

mod exchanges;
mod operations;

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use snapshot_core::History;
use snapshot_core::history::{OperationKind, Outcome};
use snapshot_core::verdict::Linearization;
use snapshot_core::{OperationId, Segment};

pub use self::exchanges::encode_exchanges;
pub use self::operations::encode_operations;

/// Maximum number of entries of scans; if there are more, the entries of all scans are omitted,
/// because a browser would have to hold them.
pub const MOST_ENTRIES: usize = 8_000_000;

/// Text for a segment that a partial scan did not return, as in recordings.
pub(crate) const GAP: &str = "_";

/// Columns of a history, as texts for a page.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Columns {
    /// The stream, deflated, in base64.
    pub base64: String,
    /// Values that are not small integers, in the order of their numbers.
    pub dictionary: Vec<String>,
    /// True if the entries of scans are included.
    pub has_entries: bool,
}

/// Times of the columns: the tick of each event.
#[derive(Clone, Copy, Debug)]
pub struct Ticks<'a> {
    /// Per event; `None` for the event's own number.
    pub of_event: Option<&'a [usize]>,
    /// Number of ticks.
    pub count: usize,
}

/// A value: whether it is in the dictionary, and its number.
type Coded = (bool, i64);

#[derive(Default)]
struct Values {
    numbers: HashMap<String, i64>,
    dictionary: Vec<String>,
}

impl Values {
    /// Integers of at most 48 bits stand for themselves: sums of two are exact in a script.
    fn code(&mut self, value: &impl Display) -> Coded {
        let text = value.to_string();
        if let Ok(number) = text.parse::<i64>()
            && number.unsigned_abs() < 1 << 48
        {
            return (false, number);
        }
        if let Some(number) = self.numbers.get(&text) {
            return (true, *number);
        }
        let number = self.dictionary.len() as i64;
        self.dictionary.push(text.clone());
        self.numbers.insert(text, number);
        (true, number)
    }
}

struct Stream {
    encoder: ZlibEncoder<Vec<u8>>,
}

impl Stream {
    fn put(&mut self, mut number: u64) -> io::Result<()> {
        let mut bytes = [0_u8; 10];
        let mut length = 0;
        loop {
            bytes[length] = (number & 0x7f) as u8 | if number > 0x7f { 0x80 } else { 0 };
            length += 1;
            number >>= 7;
            if number == 0 {
                return self.encoder.write_all(&bytes[..length]);
            }
        }
    }

    fn put_signed(&mut self, number: i64) -> io::Result<()> {
        self.put(zigzag(number))
    }

    fn put_value(&mut self, (is_text, number): Coded, last: &mut Coded) -> io::Result<()> {
        let code =
            if is_text == last.0 { 2 * zigzag(number - last.1) } else { 2 * zigzag(number) + 1 };
        *last = (is_text, number);
        self.put(code)
    }
}

const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Encodes the columns of a history. O(length).
pub fn encode<V: Display>(
    history: &History<V>,
    order: Option<&Linearization>,
    ticks: Ticks<'_>,
) -> Columns {
    let mut values = Values::default();
    let entries = history.scans() * history.segments();
    let has_entries = entries <= MOST_ENTRIES;
    let mut stream = Stream { encoder: ZlibEncoder::new(Vec::new(), Compression::new(6)) };
    write(&mut stream, history, order, ticks, has_entries, &mut values)
        .expect("writing to memory cannot fail");
    finished(stream, values, has_entries)
}

fn write<V: Display>(
    out: &mut Stream,
    history: &History<V>,
    order: Option<&Linearization>,
    ticks: Ticks<'_>,
    has_entries: bool,
    values: &mut Values,
) -> io::Result<()> {
    let operations = history.operations();
    let segments = history.segments();
    let entries = if has_entries { history.scans() * segments } else { 0 };
    let sizes = [operations.len(), history.processes(), segments, ticks.count, entries];
    for size in sizes {
        out.put(size as u64)?;
    }
    let tick = |event: usize| ticks.of_event.map_or(event, |of_event| of_event[event]) as u64;
    for operation in operations {
        out.put(operation.process().index() as u64)?;
    }
    for operation in operations {
        out.put(match operation.kind() {
            OperationKind::Scan => 0,
            OperationKind::Update { segment } => segment.index() as u64 + 1,
        })?;
    }
    let times = operations.iter().map(|operation| (operation.invocation(), operation.outcome()));
    write_times(out, times, tick)?;
    let mut written: Vec<Coded> = vec![(false, 0); segments];
    for operation in operations {
        if let Some(segment) = operation.segment() {
            let value = values.code(history.update_value(operation));
            out.put_value(value, &mut written[segment.index()])?;
        }
    }
    if has_entries {
        let mut returned: Vec<Coded> = vec![(false, 0); segments];
        for operation in operations.iter().filter(|o| o.is_scan() && o.is_complete()) {
            for (segment, last) in returned.iter_mut().enumerate() {
                let value = match history.entry(operation, Segment::from_index(segment)) {
                    Some(value) => values.code(value),
                    None => values.code(&GAP),
                };
                out.put_value(value, last)?;
            }
        }
    }
    write_order(out, order.map_or(&[], |order| &order.order))
}

/// Writes per operation its invocation, then per operation its outcome and end.
fn write_times(
    out: &mut Stream,
    times: impl Iterator<Item = (usize, Outcome)> + Clone,
    tick: impl Fn(usize) -> u64,
) -> io::Result<()> {
    let mut last = 0;
    for (invocation, _) in times.clone() {
        let begin = tick(invocation);
        out.put(begin - last)?;
        last = begin;
    }
    for (invocation, outcome) in times {
        let (end, kind) = match outcome {
            Outcome::Pending => {
                out.put(0)?;
                continue;
            }
            Outcome::Complete { response } => (response, 1),
            Outcome::Failed { event } => (event, 2),
            Outcome::Unknown { event } => (event, 3),
        };
        out.put(4 * (tick(end) - tick(invocation)) + kind)?;
    }
    Ok(())
}

fn write_order(out: &mut Stream, order: &[OperationId]) -> io::Result<()> {
    out.put(order.len() as u64)?;
    let mut last = 0;
    for id in order {
        let id = id.index() as i64;
        out.put_signed(id - last)?;
        last = id;
    }
    Ok(())
}

fn finished(stream: Stream, values: Values, has_entries: bool) -> Columns {
    let bytes = stream.encoder.finish().expect("writing to memory cannot fail");
    Columns { base64: STANDARD.encode(bytes), dictionary: values.dictionary, has_entries }
}
