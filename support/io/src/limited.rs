//! Inputs that are normally small: algorithms, traces, certificates. An endless or far too large
//! input is refused after the maximum number of bytes, or at its first overlong line.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use thiserror::Error;

/// Maximum length of a line in bytes.
pub const LINE_LIMIT: usize = 1 << 20;

/// Reason why a file was not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TextError {
    /// Error of the operating system.
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is a directory; name a file")]
    Directory,
    #[error("it is longer than {} KiB, the most that is read here", .limit >> 10)]
    TooLarge {
        /// Maximum number of bytes.
        limit: usize,
    },
    #[error("line {line} is longer than {} KiB, the most that a line may have", .limit >> 10)]
    LineTooLong {
        /// The line, from 1.
        line: usize,
        /// Maximum number of bytes.
        limit: usize,
    },
    #[error("it is no UTF-8 text from byte {valid} on")]
    NotText {
        /// Number of valid bytes.
        valid: usize,
    },
}

/// Reads a text of at most `limit` bytes, with lines of at most `line_limit`.
///
/// # Errors
/// If it cannot be read, or exceeds a limit, or is not UTF-8.
pub fn read_text(path: &Path, limit: usize, line_limit: usize) -> Result<String, TextError> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(TextError::Directory);
    }
    text(file, limit, line_limit)
}

fn text(mut input: impl Read, limit: usize, line_limit: usize) -> Result<String, TextError> {
    let mut bytes = Vec::new();
    let (mut line, mut line_start) = (1, 0);
    let mut piece = vec![0; 1 << 16];
    loop {
        let read = match input.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        for (at, _) in piece[..read].iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            let end = bytes.len() + at;
            if end - line_start > line_limit {
                return Err(TextError::LineTooLong { line, limit: line_limit });
            }
            (line, line_start) = (line + 1, end + 1);
        }
        bytes.extend_from_slice(&piece[..read]);
        if bytes.len() - line_start > line_limit {
            return Err(TextError::LineTooLong { line, limit: line_limit });
        }
        if bytes.len() > limit {
            return Err(TextError::TooLarge { limit });
        }
    }
    String::from_utf8(bytes)
        .map_err(|error| TextError::NotText { valid: error.utf8_error().valid_up_to() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_inputs_are_refused() {
        let refused = |byte: u8| text(io::repeat(byte), 100_000, 70_000);
        assert!(matches!(refused(0), Err(TextError::LineTooLong { line: 1, limit: 70_000 })));
        assert!(matches!(refused(b'\n'), Err(TextError::TooLarge { limit: 100_000 })));
    }

    #[test]
    fn limits_are_exact() {
        let read = |input: &str| text(input.as_bytes(), 8, 4);
        assert_eq!(read("abcd\nabc").ok().as_deref(), Some("abcd\nabc"));
        assert!(matches!(read("abc\nabcde"), Err(TextError::LineTooLong { line: 2, .. })));
        assert!(matches!(read("abcde\na"), Err(TextError::LineTooLong { line: 1, .. })));
        assert!(matches!(read("abc\nabc\nx"), Err(TextError::TooLarge { .. })));
        assert!(matches!(text(&b"a\xff"[..], 8, 8), Err(TextError::NotText { valid: 1 })));
    }
}
