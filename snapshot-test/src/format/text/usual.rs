//! The usual lines of long recordings, read at the speed of memory.
//!
//! `p0 update 5`, `p1 scan`, `p0 ok`, `p1 ok 5 0`: single blanks, integers of
//! up to 15 digits without sign, nothing after. Such a line is read eight bytes
//! at a time: the process, the word after it, each value take one load each,
//! and the byte that ends a number comes with the number.
//!
//! Invariant: [`super::event`] would parse each line parsed here in the same way. Any other line,
//! right or wrong, and one that may reach beyond the available bytes, is left to it. So there is
//! one grammar, and this module reports no errors.

use snapshot_core::{Process, Segment};

use super::digits::leading_digits;
use crate::format::Shape;

/// Returns the first eight bytes from `at` on, the first one in the lowest bits.
#[inline(always)]
fn chunk(lines: &[u8], at: usize) -> Option<u64> {
    let chunk = lines.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*chunk))
}

/// Returns true if a chunk begins with this word.
#[inline(always)]
const fn begins<const LENGTH: usize>(chunk: u64, word: &[u8; LENGTH]) -> bool {
    let mut bytes = [0; 8];
    let mut at = 0;
    while at < LENGTH {
        bytes[at] = word[at];
        at += 1;
    }
    (chunk ^ u64::from_le_bytes(bytes)) << (8 * (8 - LENGTH)) == 0
}

/// Parses the event in the first of `lines`. Returns it with the length of that line with its end;
/// its values are appended. `None`: the line is not of the usual form; some of its values may have
/// been appended.
#[inline(always)]
pub(super) fn event<V: From<i64>>(
    lines: &[u8],
    values: &mut Vec<V>,
) -> Option<(Process, Shape, usize)> {
    let first = chunk(lines, 0)?;
    let (process, digits) = leading_digits(first >> 8);
    if first & 0xff != u64::from(b'p') || digits == 0 {
        return None;
    }
    let process = Process::new(process as usize).ok()?;
    let at = 1 + digits as usize;
    let word = chunk(lines, at)?;
    if begins(word, b" ok ") {
        let length = integers(lines, at + 4, values)?;
        Some((process, Shape::RespondScan, length))
    } else if begins(word, b" ok\n") {
        Some((process, Shape::RespondUpdate, at + 4))
    } else if begins(word, b" scan\n") {
        Some((process, Shape::InvokeScan, at + 6))
    } else if begins(word, b" update ") {
        let segment = Segment::new(process.index()).ok()?;
        let (value, end) = integer(lines, at + 8)?;
        values.push(V::from(value));
        (lines[end] == b'\n').then_some((process, Shape::InvokeUpdate(segment), end + 1))
    } else {
        None
    }
}

/// Appends the integers up to the end of the line, and returns its position.
#[inline(always)]
fn integers<V: From<i64>>(lines: &[u8], mut at: usize, values: &mut Vec<V>) -> Option<usize> {
    let limit = values.len() + Segment::LIMIT + 1;
    while values.len() < limit {
        let (value, end) = integer(lines, at)?;
        values.push(V::from(value));
        at = end + 1;
        match lines[end] {
            b' ' => {}
            b'\n' => return Some(at),
            _ => return None,
        }
    }
    None
}

/// Returns the integer at `at`, and the position of the byte after it.
#[inline(always)]
pub(in crate::format) fn integer(lines: &[u8], at: usize) -> Option<(i64, usize)> {
    match leading_digits(chunk(lines, at)?) {
        (_, 0) => None,
        (high, 8) => {
            let (low, length) = leading_digits(chunk(lines, at + 8)?);
            let value = high * 10u64.pow(length) + low;
            (length < 8).then_some((value as i64, at + 8 + length as usize))
        }
        (value, length) => Some((value as i64, at + length as usize)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::Value;
    use crate::format::text::cursor::Cursor;
    use crate::format::{Format, Object, Payload};

    /// The result of reading the first line: the event, its values, the length.
    type Read = Option<(Process, Shape, usize, Vec<Value>)>;

    fn usual(lines: &[u8]) -> Read {
        let mut values = Vec::new();
        let (process, shape, length) = event(lines, &mut values)?;
        Some((process, shape, length, values))
    }

    fn in_general(lines: &[u8]) -> Read {
        let mut cursor = Cursor::new(lines, Format::Text);
        cursor.skip_blanks();
        let mut payload = Payload::default();
        let (process, shape) =
            super::super::event(&mut cursor, Object::Snapshot, &mut payload).ok()??;
        Some((process, shape, cursor.at(), payload.values))
    }

    /// Integers of all lengths, the largest of each, and integers beyond 64 bits.
    fn integers() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[0-9]{1,7}",
            4 => "[0-9]{8,21}",
            1 => "9{1,21}",
            1 => "[+-][0-9]{1,20}",
            1 => any::<i64>().prop_map(|value| value.to_string()),
        ]
    }

    /// Usual lines, and lines one step off the usual.
    fn lines() -> impl Strategy<Value = Vec<u8>> {
        let often = |usual: &'static str, unusual: &'static str| prop_oneof![24 => Just(usual.to_owned()), 1 => unusual];
        let word = prop_oneof![
            6 => Just("ok".to_owned()),
            2 => Just("scan".to_owned()),
            4 => Just("update".to_owned()),
            1 => "fail|unknown|o|okay|scans|Scan|updat|updates|OK|ok#|s1|",
        ];
        let process = prop_oneof![
            12 => "p[0-9]{1,3}",
            2 => "p[0-9]{4,9}",
            1 => "p65535|p65536|p1048575|p1048576|P1|q1|p|p-1|p1x|1|s1",
        ];
        let value = prop_oneof![
            20 => integers(),
            1 => "\"[ -~]{0,3}\"|-|s0|s7 5|5x|0x1f|1_000|#|\u{e9}",
        ];
        let blank = move || often(" ", "  |\t| \t||\u{a0}|\x0b");
        let end = often("\n", "\r\n| \n|\t\n| # x\n|#\n|\r|\x00\n|;\n");
        let parts = (often("", " |\t|\u{feff}"), process, blank(), word);
        (parts, vec((blank(), value), 0..4), end).prop_map(|(parts, values, end)| {
            let mut line = [parts.0, parts.1, parts.2, parts.3].concat();
            for (blank, value) in values {
                line += &(blank + &value);
            }
            (line + &end).into_bytes()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(test_support::effort::either(4_000, 40_000)))]

        #[test]
        fn fast_parse_agrees_with_the_general_one(
            line in lines(),
            next in prop::sample::select(&["", "7\n", "p1 scan\np0 ok 1 2 3\n"][..]),
        ) {
            let lines = [&line, next.as_bytes()].concat();
            if let Some(read) = usual(&lines) {
                prop_assert_eq!(Some(read), in_general(&lines), "{:?}", String::from_utf8_lossy(&lines));
            }
        }

        #[test]
        fn fast_parse_of_damaged_lines_agrees_with_the_general_one(
            line in lines(),
            at in any::<prop::sample::Index>(),
            byte in prop_oneof![any::<u8>(), prop::sample::select(&b" \t\n\r0/:9-+#\"pks"[..])],
        ) {
            let mut lines = line.clone();
            let at = at.index(line.len());
            lines[at] = byte;
            lines.extend_from_slice(b"\np0 ok 8 9 10 11\n");
            if let Some(read) = usual(&lines) {
                prop_assert_eq!(Some(read), in_general(&lines), "{:?}", String::from_utf8_lossy(&lines));
            }
        }

        #[test]
        fn usual_lines_take_the_fast_parse(
            process in 0usize..=Segment::LIMIT,
            values in vec("[0-9]{1,15}", 0..9),
        ) {
            let mut lines = vec![format!("p{process} scan"), format!("p{process} ok")];
            lines[1].extend(values.iter().map(|value| format!(" {value}")));
            lines.extend(values.first().map(|value| format!("p{process} update {value}")));
            for line in lines {
                let lines = line + "\np0 ok 1 2 3 4 5\n";
                let read = usual(lines.as_bytes());
                prop_assert!(read.is_some(), "{lines:?}");
                prop_assert_eq!(read, in_general(lines.as_bytes()));
            }
        }
    }

    #[test]
    fn a_response_has_at_most_one_value_per_possible_segment() {
        for (excess, is_read) in [(0, true), (1, false)] {
            let values = " 7".repeat(Segment::LIMIT + 1 + excess);
            let lines = format!("p0 ok{values}\np0 scan\np0 scan\n");
            assert_eq!(usual(lines.as_bytes()).is_some(), is_read);
            assert_eq!(in_general(lines.as_bytes()).is_some(), is_read);
        }
    }

    #[test]
    fn incomplete_lines_are_not_parsed() {
        let whole = b"p12 ok 123456789 7\n";
        for end in 0..whole.len() {
            assert_eq!(usual(&whole[..end]), None);
        }
    }
}
