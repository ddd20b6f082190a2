//! The columns of a recording of named operations.

use std::io;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use snapshot_core::immediate::SetLinearization;

use super::{Coded, Columns, Stream, Values, finished, write_order, write_times};
use crate::operations::Named;

/// Encodes the columns of a recording of named operations with this many events; `is_grouped` if
/// operations take effect in groups. O(length).
pub fn encode_operations(
    operations: &[Named],
    events: usize,
    order: Option<&SetLinearization>,
    is_grouped: bool,
) -> Columns {
    let mut values = Values::default();
    let mut stream = Stream { encoder: ZlibEncoder::new(Vec::new(), Compression::new(6)) };
    let groups = order.filter(|_| is_grouped);
    write(&mut stream, operations, events, order, groups, &mut values)
        .expect("writing to memory cannot fail");
    finished(stream, values, true)
}

fn write(
    out: &mut Stream,
    operations: &[Named],
    events: usize,
    order: Option<&SetLinearization>,
    groups: Option<&SetLinearization>,
    values: &mut Values,
) -> io::Result<()> {
    let processes = operations.iter().map(|one| one.process.index() + 1).max().unwrap_or(0);
    for size in [operations.len(), processes, KINDS, events, 0] {
        out.put(size as u64)?;
    }
    for operation in operations {
        out.put(operation.process.index() as u64)?;
    }
    for operation in operations {
        out.put(kind(operation) as u64)?;
    }
    let times = operations.iter().map(|operation| (operation.invocation, operation.outcome));
    write_times(out, times, |event| event as u64)?;
    let mut written: Vec<Coded> = vec![(false, 0); KINDS];
    for operation in operations {
        let deed = values.code(&operation.deed);
        out.put_value(deed, &mut written[kind(operation) - 1])?;
    }
    let members = order.into_iter().flat_map(SetLinearization::blocks);
    write_order(out, &members.flatten().copied().collect::<Vec<_>>())?;
    out.put(groups.map_or(0, SetLinearization::len) as u64)?;
    for group in groups.into_iter().flat_map(SetLinearization::blocks) {
        out.put(group.len() as u64)?;
    }
    Ok(())
}

/// Number of kinds of operations: without and with an answer.
const KINDS: usize = 2;

fn kind(operation: &Named) -> usize {
    if operation.is_answer { 2 } else { 1 }
}
