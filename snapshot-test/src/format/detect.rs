//! Detection of the format by the beginning of an input.

use super::Format;
use super::error::{Found, ReadError, ReadErrorKind};
use super::location::{Excerpt, Location};
use super::nearest::nearest;
use super::source::BYTE_ORDER_MARK;
use super::text::HEADERS;

/// The number of bytes that [`detect`] should get, if the input has that many.
pub const DETECTION_LENGTH: usize = 64 << 10;

/// Returns the format of the input that begins with `first`: the format of its first line that is
/// not blank.
///
/// ```
/// use snapshot_test::format::{Format, detect};
///
/// assert_eq!(detect(b"# by hand\np0 update 5\n").unwrap(), Format::Text);
/// assert_eq!(detect(br#"{"process":0,"event":"ok"}"#).unwrap(), Format::Jsonl);
/// assert_eq!(detect(b"startScan!0;").unwrap(), Format::Disc22);
/// ```
///
/// # Errors
/// If the input is empty or begins like no known format.
pub fn detect(first: &[u8]) -> Result<Format, ReadError> {
    if first.starts_with(b"\xff\xfe") || first.starts_with(b"\xfe\xff") {
        // A byte order mark of UTF-16.
        return Err(ReadError::new(Location::START, ReadErrorKind::NotUtf8(first[0]), None));
    }
    let mark = if first.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let Some(start) = first[mark..].iter().position(|byte| !blank(byte)) else {
        if first.len() >= DETECTION_LENGTH {
            return Ok(Format::Text);
        }
        return Err(ReadError::new(Location::START, ReadErrorKind::Empty, None));
    };
    let start = mark + start;
    if begins_like_edn(first) {
        return Ok(Format::Edn);
    }
    if is_table(&first[start..]) {
        return Ok(Format::Intervals);
    }
    match looks_like(&first[start..]) {
        Some(format) => Ok(format),
        None => Err(unknown(first, mark, start)),
    }
}

/// Returns the format of a line, by its first characters.
pub(super) fn looks_like(line: &[u8]) -> Option<Format> {
    let word = line.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let after = line.get(word).copied().unwrap_or(b'\n');
    match &line[..word] {
        b"" if is_map_of_edn(line) => None,
        b"" if after == b'{' => Some(Format::Jsonl),
        b"" if after == b'#' || after == b'@' => Some(Format::Text),
        b"startUpdate" | b"endUpdate" | b"startScan" | b"endScan" => Some(Format::Disc22),
        b"p" if after.is_ascii_digit() => Some(Format::Text),
        word => {
            let word = std::str::from_utf8(word).ok()?;
            let is_word = matches!(after, b' ' | b'\t' | b'\n' | b'\r');
            (is_word && nearest(word, &HEADERS).is_some()).then_some(Format::Text)
        }
    }
}

/// Returns true if a line begins with a map of EDN, whose first key is a keyword.
pub(super) fn is_map_of_edn(line: &[u8]) -> bool {
    line.strip_prefix(b"{").is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"))
}

/// Returns true if an input begins like a log in EDN, or a console log of Jepsen.
pub(crate) fn begins_like_edn(first: &[u8]) -> bool {
    let rest = behind_comments(first);
    let is_event = |rest: &[u8]| is_map_of_edn(rest) || is_tagged_map(rest);
    match rest {
        [b'[' | b'(', within @ ..] => {
            let within = behind_comments(within);
            is_event(within) || rest.first() == Some(&b'(')
        }
        [b'I' | b'0'..=b'9' | b':', ..] => {
            let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            match (words.next(), words.next()) {
                (Some(b"INFO"), Some(logger)) => logger == b"jepsen.util",
                (Some(_), Some(kind)) => kind.starts_with(b":"),
                _ => false,
            }
        }
        // Comments alone.
        [] => without_mark(first).trim_ascii_start().first() == Some(&b';'),
        rest => is_event(rest),
    }
}

/// Returns true if the format of an input does not depend on what follows.
pub(crate) fn is_decisive(first: &[u8]) -> bool {
    let rest = behind_comments(first);
    let rest = match rest {
        [b'[' | b'(', within @ ..] => behind_comments(within),
        rest => rest,
    };
    rest.contains(&b'\n')
}

fn without_mark(first: &[u8]) -> &[u8] {
    first.strip_prefix(BYTE_ORDER_MARK).unwrap_or(first)
}

/// Returns an input without the blanks and the comments of EDN at its beginning.
fn behind_comments(first: &[u8]) -> &[u8] {
    let mut rest = without_mark(first).trim_ascii_start();
    while rest.first() == Some(&b';') {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        rest = rest[end..].trim_ascii_start();
    }
    rest
}

/// Returns true for `#jepsen.history.Op{:index 0`, which is no comment of the text format.
fn is_tagged_map(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"#") else { return false };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-/".contains(byte);
    let end = rest.iter().position(|byte| !is_name(byte)).unwrap_or(0);
    end > 0 && is_map_of_edn(&rest[end..])
}

/// Returns true if an input begins with a table, or with JSON, of operations with their times.
pub(crate) fn is_table(rest: &[u8]) -> bool {
    let has = |text: &[u8], word: &[u8]| {
        text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
    };
    match rest.first() {
        Some(b'{' | b'[') => {
            let first = first_object(rest);
            has(first, b"\"call\"") && !has(first, b"\"event\"")
        }
        _ => {
            let mut lines = rest.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
            let line = lines.find(|line| !line.is_empty() && line[0] != b'#').unwrap_or_default();
            let mut fields = line.split(|byte| b",;\t".contains(byte)).map(<[u8]>::trim_ascii);
            let is_any = |field: &[u8], names: &[&[u8]]| {
                names.iter().any(|name| field.eq_ignore_ascii_case(name))
            };
            fields.clone().any(|field| is_any(field, &[b"operation", b"op"]))
                && fields.any(|field| is_any(field, &[b"call"]))
        }
    }
}

/// Returns JSON up to the end of its first object, with the objects within it.
fn first_object(json: &[u8]) -> &[u8] {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, &byte) in json.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return &json[..at];
                }
            }
            _ => {}
        }
    }
    json
}

fn unknown(first: &[u8], mark: usize, start: usize) -> ReadError {
    let rest = &first[start..];
    let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let line = &rest[..length];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let control = |byte: &u8| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f;
    // The end of `first` may cut a character in two: this is not an error of the input.
    let not_utf8 = std::str::from_utf8(line).err().filter(|error| error.error_len().is_some());
    let (at, width, kind) = match (line.iter().position(control), not_utf8) {
        (Some(at), _) => (at, 1, ReadErrorKind::ControlByte(line[at])),
        (None, Some(error)) => {
            let at = error.valid_up_to();
            (at, 1, ReadErrorKind::NotUtf8(line[at]))
        }
        (None, None) => {
            let found = Found::new(String::from_utf8_lossy(line).trim_end());
            (0, line.len(), ReadErrorKind::UnknownFormat { found })
        }
    };
    let before = &first[mark..start];
    let line_start = mark + memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let number = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
    let column = String::from_utf8_lossy(&first[line_start..start + at]).chars().count() as u64 + 1;
    let location = Location { line: number, column, offset: (start + at) as u64 };
    let shown = &first[line_start..start + length];
    ReadError::new(location, kind, Excerpt::new(shown, start + at - line_start, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_meaningful_line_decides_the_format() {
        for (format, inputs) in [
            (Format::Text, &["p0 scan\n", "\u{feff}\n  \r\n# {\n", "segments 1", "segmets 1"][..]),
            (Format::Jsonl, &["{", " \n\t{\"process\":0}", "\u{feff}{"][..]),
            (Format::Disc22, &["startUpdate!0,1;", "\nendScan!0", "endUpdate!", "startScan!"][..]),
            (
                Format::Intervals,
                &[
                    r#"[{"ClientId":0,"Input":{"op":"}","key":"x"},"Call":1,"Return":3}]"#,
                    r#"{"client":0,"operation":"write","value":5,"call":1}"#,
                    "client,operation,value,call,return",
                ][..],
            ),
        ] {
            for input in inputs {
                assert_eq!(detect(input.as_bytes()).unwrap(), format, "{input:?}");
            }
        }
    }

    #[test]
    fn defect_after_blank_lines_is_located() {
        let error = detect(b"\xef\xbb\xbf\n\n  p\xc3\xa9\xff\n").unwrap_err();
        assert_eq!(error.location(), Location { line: 3, column: 5, offset: 10 });
        assert!(matches!(error.kind(), ReadErrorKind::NotUtf8(0xff)));
    }

    #[test]
    fn a_character_cut_by_the_end_of_the_sample_is_no_defect() {
        let error = detect("grüße".as_bytes().split_last().unwrap().1).unwrap_err();
        assert!(matches!(error.kind(), ReadErrorKind::UnknownFormat { .. }));
        let error = detect(&"grü".as_bytes()[..3]).unwrap_err();
        assert!(matches!(error.kind(), ReadErrorKind::UnknownFormat { .. }));
    }
}
