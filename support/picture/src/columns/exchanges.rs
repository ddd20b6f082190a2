//! The columns of an execution of an immediate snapshot.

use std::fmt::Display;
use std::io;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use snapshot_core::immediate::{History, SetLinearization};

use super::{Coded, Columns, MOST_ENTRIES, Stream, Values, finished, write_order, write_times};

/// Encodes the columns of an execution of an immediate snapshot. O(length).
pub fn encode_exchanges<V: Display>(
    history: &History<V>,
    blocks: Option<&SetLinearization>,
) -> Columns {
    let mut values = Values::default();
    let complete = history.operations().iter().filter(|operation| operation.is_complete()).count();
    let has_entries = complete * history.segments() <= MOST_ENTRIES;
    let mut stream = Stream { encoder: ZlibEncoder::new(Vec::new(), Compression::new(6)) };
    let entries = if has_entries { complete * history.segments() } else { 0 };
    write(&mut stream, history, blocks, entries, &mut values)
        .expect("writing to memory cannot fail");
    finished(stream, values, has_entries)
}

fn write<V: Display>(
    out: &mut Stream,
    history: &History<V>,
    blocks: Option<&SetLinearization>,
    entries: usize,
    values: &mut Values,
) -> io::Result<()> {
    let (operations, segments) = (history.operations(), history.segments());
    for size in [operations.len(), segments, segments, history.len(), entries] {
        out.put(size as u64)?;
    }
    for operation in operations {
        out.put(operation.process.index() as u64)?;
    }
    for operation in operations {
        out.put(operation.process.index() as u64 + 1)?;
    }
    let times = operations.iter().map(|operation| (operation.invocation, operation.outcome));
    write_times(out, times, |event| event as u64)?;
    let mut written: Vec<Coded> = vec![(false, 0); segments];
    for id in history.operation_ids() {
        let value = values.code(history.written(id));
        out.put_value(value, &mut written[history.operation(id).process.index()])?;
    }
    if entries > 0 {
        let mut last: Vec<Coded> = vec![(false, 0); segments];
        for returned in history.operation_ids().filter_map(|id| history.returned(id)) {
            for (value, last) in returned.iter().zip(&mut last) {
                let value = values.code(value);
                out.put_value(value, last)?;
            }
        }
    }
    let members = blocks.into_iter().flat_map(SetLinearization::blocks);
    write_order(out, &members.flatten().copied().collect::<Vec<_>>())?;
    out.put(blocks.map_or(0, SetLinearization::len) as u64)?;
    for block in blocks.into_iter().flat_map(SetLinearization::blocks) {
        out.put(block.len() as u64)?;
    }
    Ok(())
}
