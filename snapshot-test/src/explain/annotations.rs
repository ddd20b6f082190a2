//! The comments of a recording, with their positions.
//!
//! Readers skip comments, since only events matter to them. This module reads the input a second
//! time for its comments alone, line by line. In text a comment begins with `#` outside of strings;
//! in JSON Lines it is the field `comment`; disc22 has none.

use std::io::{self, BufRead, BufReader, Read};

use serde::Deserialize;

use crate::format::{Format, LINE_LIMIT};

/// The largest number of comments kept.
pub const MOST: usize = 10_000;

/// The largest number of characters of a comment kept.
const LENGTH: usize = 300;

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Comment {
    /// The line of the comment, from 1.
    pub line: u64,
    pub text: String,
}

/// Returns the first [`MOST`] comments of an input, in order. O(length).
pub fn comments(input: impl Read, format: Format) -> io::Result<Vec<Comment>> {
    let mut comments = Vec::new();
    if format == Format::Disc22 {
        return Ok(comments);
    }
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut bytes = Vec::new();
    let mut line = 0;
    while comments.len() < MOST {
        bytes.clear();
        if input.by_ref().take(LINE_LIMIT as u64 + 1).read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        line += 1;
        let text = match format {
            Format::Text => in_text(&bytes),
            _ => in_jsonl(&bytes),
        };
        if let Some(text) = text {
            comments.push(Comment { line, text });
        }
    }
    Ok(comments)
}

fn shortened(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(LENGTH).collect())
}

fn in_text(line: &[u8]) -> Option<String> {
    memchr::memchr(b'#', line)?;
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'#' if !in_string => return shortened(&String::from_utf8_lossy(&line[at + 1..])),
            _ => {}
        }
    }
    None
}

#[derive(Deserialize)]
struct Commented {
    comment: Option<serde_json::Value>,
}

fn in_jsonl(line: &[u8]) -> Option<String> {
    memchr::memmem::find(line, b"\"comment\"")?;
    let comment = serde_json::from_slice::<Commented>(line).ok()?.comment?;
    match comment {
        serde_json::Value::String(text) => shortened(&text),
        other => shortened(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, format: Format) -> Vec<(u64, String)> {
        let comments = comments(text.as_bytes(), format).expect("memory can be read");
        comments.into_iter().map(|one| (one.line, one.text)).collect()
    }

    #[test]
    fn comments_are_found_outside_of_strings() {
        let text = "# begin\np0 update \"#no \\\" #no\" # yes\n\np0 ok\n#\n";
        let expected = vec![(1, "begin".to_owned()), (2, "yes".to_owned())];
        assert_eq!(found(text, Format::Text), expected);
        let jsonl = "{\"process\":0,\"comment\":\"net split\"}\n{\"comment\":{\"a\":[1]}}\n\
                     {\"value\":\"\\\"comment\\\"\"}\n";
        let expected = vec![(1, "net split".to_owned()), (2, "{\"a\":[1]}".to_owned())];
        assert_eq!(found(jsonl, Format::Jsonl), expected);
    }

    #[test]
    fn number_of_comments_is_bounded() {
        let text = "# x\n".repeat(MOST + 5);
        assert_eq!(found(&text, Format::Text).len(), MOST);
    }
}
