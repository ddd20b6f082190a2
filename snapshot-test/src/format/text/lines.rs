//! The lines of a piece, from behind the header, parsed together without positions.

use snapshot_core::Process;

use super::cursor::Cursor;
use super::usual;
use crate::format::pieces::Irregular;
use crate::format::{Format, Object, Payload, Shape};

/// Parses whole lines of a recording of a snapshot without keys, from behind its header; calls
/// `take` after each event, whose values are then the last ones of the payload.
#[inline]
pub(in crate::format) fn lines(
    lines: &[u8],
    payload: &mut Payload,
    mut take: impl FnMut(Process, Shape, &Payload),
) -> Result<(), Irregular> {
    let mut at = 0;
    while at < lines.len() {
        let start = payload.values.len();
        if let Some((process, shape, length)) = usual::event(&lines[at..], &mut payload.values) {
            take(process, shape, payload);
            at += length;
        } else {
            payload.values.truncate(start);
            let (event, length) = unusual_line(&lines[at..], payload)?;
            if let Some((process, shape)) = event {
                take(process, shape, payload);
            }
            at += length;
        }
    }
    Ok(())
}

/// As [`lines`], if all values are integers, which are appended; `take` gets their number. `None`:
/// there are other values, and some lines were parsed. The payload is empty before and after.
#[inline]
pub(in crate::format) fn lines_of_integers(
    lines: &[u8],
    integers: &mut Vec<i64>,
    payload: &mut Payload,
    mut take: impl FnMut(Process, Shape, usize),
) -> Option<Result<(), Irregular>> {
    let mut at = 0;
    while at < lines.len() {
        let start = integers.len();
        if let Some((process, shape, length)) = usual::event(&lines[at..], integers) {
            take(process, shape, integers.len());
            at += length;
        } else {
            integers.truncate(start);
            let parsed = unusual_line(&lines[at..], payload);
            let are_integers = payload.move_integers(integers);
            let (event, length) = match parsed {
                Ok(parsed) => parsed,
                Err(irregular) => {
                    integers.truncate(start);
                    return Some(Err(irregular));
                }
            };
            if !are_integers {
                return None;
            }
            if let Some((process, shape)) = event {
                take(process, shape, integers.len());
            }
            at += length;
        }
    }
    Some(Ok(()))
}

/// Parses the event of the first line, if any. Returns it with the length of that line.
#[inline(never)]
fn unusual_line(
    lines: &[u8],
    payload: &mut Payload,
) -> Result<(Option<(Process, Shape)>, usize), Irregular> {
    let mut cursor = Cursor::new(lines, Format::Text);
    cursor.skip_blanks();
    if cursor.peek() == b'@' {
        return Err(Irregular::Line);
    }
    let event =
        super::event(&mut cursor, Object::Snapshot, payload).map_err(|_| Irregular::Line)?;
    Ok((event, cursor.at()))
}
