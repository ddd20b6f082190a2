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
    fn the_first_line_that_says_something_decides() {
        for (format, inputs) in [
            (Format::Text, &["p0 scan\n", "\u{feff}\n  \r\n# {\n", "segments 1", "segmets 1"][..]),
            (Format::Jsonl, &["{", " \n\t{\"process\":0}", "\u{feff}{"][..]),
            (Format::Disc22, &["startUpdate!0,1;", "\nendScan!0", "endUpdate!", "startScan!"][..]),
        ] {
            for input in inputs {
                assert_eq!(detect(input.as_bytes()).unwrap(), format, "{input:?}");
            }
        }
    }

    #[test]
    fn a_defect_is_located_behind_blank_lines() {
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
