//! Reads an untrusted text line by line, in bounded memory.

use std::io::{self, BufRead, Read};

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::claim::hexadecimal;

/// Longest line in bytes, with its end.
pub const LONGEST: u64 = 1 << 16;

/// A malformed line.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("line {line}: expected {expected}")]
pub struct LineError {
    /// Line number, from 1.
    pub line: u64,
    pub expected: String,
}

/// Reader of lines that also hashes them.
#[derive(Debug)]
pub struct Lines<'a, R> {
    input: &'a mut R,
    hash: Sha256,
    buffer: Vec<u8>,
    number: u64,
}

impl<'a, R: BufRead> Lines<'a, R> {
    pub fn new(input: &'a mut R) -> Self {
        Self { input, hash: Sha256::new(), buffer: Vec::new(), number: 0 }
    }

    /// Returns the number of the last line read.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Returns the error that the last line read is not as expected.
    pub fn expected(&self, expected: &str) -> LineError {
        LineError { line: self.number, expected: expected.to_owned() }
    }

    /// Reads the next line, without its end; `None` at the end of the text. Every line must have an
    /// end.
    pub fn next_line(&mut self) -> io::Result<Result<Option<&str>, LineError>> {
        self.hash.update(&self.buffer);
        self.buffer.clear();
        self.number += 1;
        let mut bounded = self.input.by_ref().take(LONGEST);
        bounded.read_until(b'\n', &mut self.buffer)?;
        let line = match self.buffer.split_last() {
            None => return Ok(Ok(None)),
            Some((b'\n', line)) => std::str::from_utf8(line).ok(),
            Some(_) => None,
        };
        Ok(match line {
            Some(line) => Ok(Some(line)),
            None => Err(LineError {
                line: self.number,
                expected: format!("a whole line of UTF-8, shorter than {LONGEST} bytes"),
            }),
        })
    }

    /// Reads the next line and fails at the end of the text; `expected` names the content of the
    /// line.
    pub fn expect_line(&mut self, expected: &str) -> io::Result<Result<&str, LineError>> {
        let missing = LineError {
            line: self.number + 1,
            expected: format!("{expected}, but the file ends here"),
        };
        Ok(self.next_line()?.and_then(|line| line.ok_or(missing)))
    }

    /// Reads a line that begins with this name, and returns its content.
    pub fn field(&mut self, name: &str) -> io::Result<Result<&str, LineError>> {
        let expected = format!("`{name} ...`");
        let wrong = LineError { line: self.number + 1, expected: expected.clone() };
        let content = |line: &'_ str| -> Option<usize> {
            line.strip_prefix(name)?.strip_prefix(' ').map(|_| name.len() + 1)
        };
        Ok(self.expect_line(&expected)?.and_then(|line| match content(line) {
            Some(from) => Ok(&line[from..]),
            None => Err(wrong),
        }))
    }

    /// Reads a line that announces the number of lines to follow.
    pub fn count(&mut self, name: &str) -> io::Result<Result<u64, LineError>> {
        let number = match self.field(name)? {
            Ok(text) => text.parse::<u64>().ok(),
            Err(error) => return Ok(Err(error)),
        };
        Ok(number.ok_or_else(|| self.expected(&format!("`{name}` and a number"))))
    }

    /// Reads the end mark: the hash of all lines before it. No line may follow it.
    pub fn end(&mut self) -> io::Result<Result<(), LineError>> {
        let seal = match self.field("end")? {
            Ok(text) => text.to_owned(),
            Err(error) => return Ok(Err(error)),
        };
        if seal != hexadecimal(self.hash.clone()) {
            let expected = "the SHA-256 of all lines before: the file has been changed";
            return Ok(Err(self.expected(expected)));
        }
        Ok(match self.next_line()? {
            Ok(None) => Ok(()),
            _ => Err(self.expected("nothing after the end mark")),
        })
    }
}
