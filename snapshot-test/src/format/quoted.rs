//! Texts in double quotes, as JSON writes them (RFC 8259, section 7).

#[cfg(test)]
use snapshot_kit::value::write_quoted as write;

/// The reason why a quoted text cannot be read, and its position in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Defect {
    /// Bytes from the opening quote to the defect.
    pub at: usize,
    pub kind: DefectKind,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum DefectKind {
    /// The line ends before the closing quote.
    Unterminated,
    /// A backslash with something after it that JSON does not know.
    BadEscape(String),
    /// A control byte that should have been escaped.
    Control(u8),
    /// Bytes that are not UTF-8.
    NotUtf8(u8),
}

/// Reads the quoted text at the start of `bytes`, which starts with the opening
/// quote; appends it to `text` and returns its length with both quotes.
pub(crate) fn read(bytes: &[u8], text: &mut String) -> Result<usize, Defect> {
    let fail = |at, kind| Err(Defect { at, kind });
    let mut at = 1;
    loop {
        let run = bytes[at..]
            .iter()
            .position(|&byte| byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f))
            .unwrap_or(bytes.len() - at);
        match std::str::from_utf8(&bytes[at..at + run]) {
            Ok(plain) => text.push_str(plain),
            Err(error) => {
                let at = at + error.valid_up_to();
                return fail(at, DefectKind::NotUtf8(bytes[at]));
            }
        }
        at += run;
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += escape(&bytes[at..], text).map_err(|kind| Defect { at, kind })?,
            None | Some(b'\n') => return fail(at, DefectKind::Unterminated),
            Some(b'\r') if matches!(bytes.get(at + 1), None | Some(b'\n')) => {
                return fail(at, DefectKind::Unterminated);
            }
            Some(&control) => return fail(at, DefectKind::Control(control)),
        }
    }
}

/// Reads the escape at the start of `bytes`, which starts with the backslash;
/// returns its length.
fn escape(bytes: &[u8], text: &mut String) -> Result<usize, DefectKind> {
    let plain = match bytes.get(1) {
        Some(&same @ (b'"' | b'\\' | b'/')) => char::from(same),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let (character, length) = unicode_escape(bytes).ok_or_else(|| bad(bytes, 6))?;
            text.push(character);
            return Ok(length);
        }
        _ => return Err(bad(bytes, 2)),
    };
    text.push(plain);
    Ok(2)
}

/// Reads `\uXXXX`, or two of them that form a surrogate pair.
fn unicode_escape(bytes: &[u8]) -> Option<(char, usize)> {
    let high = code_unit(bytes)?;
    if !(0xd800..0xdc00).contains(&high) {
        return Some((char::from_u32(high)?, 6));
    }
    let low = code_unit(&bytes[6..]).filter(|low| (0xdc00..0xe000).contains(low))?;
    Some((char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))?, 12))
}

fn code_unit(bytes: &[u8]) -> Option<u32> {
    if bytes.get(..2)? != b"\\u" {
        return None;
    }
    bytes
        .get(2..6)?
        .iter()
        .try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
}

/// Returns the raw escape, at most `length` bytes of it, without the next line.
fn bad(bytes: &[u8], length: usize) -> DefectKind {
    let end = bytes.iter().take(length).position(|&byte| byte < 0x20).unwrap_or(length);
    let shown = &bytes[..end.min(bytes.len())];
    let shown = match shown.iter().skip(1).position(|&byte| byte == b'"') {
        Some(quote) if quote > 0 => &shown[..=quote],
        _ => shown,
    };
    DefectKind::BadEscape(String::from_utf8_lossy(shown).trim_end_matches('\u{fffd}').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(source: &str) -> Result<(String, usize), Defect> {
        let mut text = String::new();
        read(source.as_bytes(), &mut text).map(|length| (text, length))
    }

    #[test]
    fn sampled_characters_round_trip() {
        let all: String = (0..=0x10ffff).step_by(7).filter_map(char::from_u32).collect();
        let mut written = String::new();
        write(&mut written, &all).unwrap();
        assert_eq!(decoded(&written), Ok((all.clone(), written.len())));
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), all);
    }

    #[test]
    fn all_escapes_are_those_of_json() {
        let source = r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00" rest"#;
        let expected: String = serde_json::from_str(source.trim_end_matches(" rest")).unwrap();
        assert_eq!(decoded(source), Ok((expected, source.len() - 5)));
    }

    #[test]
    fn defects_have_their_positions() {
        let bad = |at, found: &str| Err(Defect { at, kind: DefectKind::BadEscape(found.into()) });
        assert_eq!(decoded(r#""ab\x""#), bad(3, r"\x"));
        assert_eq!(decoded(r#""\ud800x""#), bad(1, r"\ud800"));
        assert_eq!(decoded(r#""\u12""#), bad(1, r"\u12"));
        assert_eq!(decoded("\"\\"), bad(1, r"\"));
        let unterminated = |at| Err(Defect { at, kind: DefectKind::Unterminated });
        assert_eq!(decoded("\"ab\r\n"), unterminated(3));
        assert_eq!(decoded("\"ab"), unterminated(3));
        assert_eq!(decoded("\"a\tb\""), Err(Defect { at: 2, kind: DefectKind::Control(b'\t') }));
        let mut text = String::new();
        let invalid = read(b"\"a\xff\"", &mut text);
        assert_eq!(invalid, Err(Defect { at: 2, kind: DefectKind::NotUtf8(0xff) }));
    }
}
