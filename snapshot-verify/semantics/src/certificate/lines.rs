//! Lines of an untrusted text, read one at a time, in bounded memory.

use std::io::{self, BufRead, Read};

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::claim::hexadecimal;

/// The most bytes of a line, with its end.
pub const LONGEST: u64 = 1 << 16;

/// A line that is not as it must be.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("line {line}: expected {expected}")]
pub struct LineError {
    /// Its number, from 1.
    pub line: u64,
    /// What was expected.
    pub expected: String,
}

/// The lines of a text, and the hash of those that have been read.
#[derive(Debug)]
pub struct Lines<'a, R> {
    input: &'a mut R,
    hash: Sha256,
    buffer: Vec<u8>,
    number: u64,
}

impl<'a, R: BufRead> Lines<'a, R> {
    /// From the first line on.
    pub fn new(input: &'a mut R) -> Self {
        Self { input, hash: Sha256::new(), buffer: Vec::new(), number: 0 }
    }

    /// The number of the line read last.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// That the line read last is wrong.
    pub fn expected(&self, expected: &str) -> LineError {
        LineError { line: self.number, expected: expected.to_owned() }
    }

    /// The next line, without its end; `None` at the end of the text. Every line has an
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

    /// The next line, which there must be; `expected`: what stands there.
    pub fn expect_line(&mut self, expected: &str) -> io::Result<Result<&str, LineError>> {
        let missing = LineError {
            line: self.number + 1,
            expected: format!("{expected}, but the file ends here"),
        };
        Ok(self.next_line()?.and_then(|line| line.ok_or(missing)))
    }

    /// The content of the next line, which begins with this name.
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

    /// The next line, which says how many lines follow.
    pub fn count(&mut self, name: &str) -> io::Result<Result<u64, LineError>> {
        let number = match self.field(name)? {
            Ok(text) => text.parse::<u64>().ok(),
            Err(error) => return Ok(Err(error)),
        };
        Ok(number.ok_or_else(|| self.expected(&format!("`{name}` and a number"))))
    }

    /// The end mark: the hash of all lines before it, and nothing after it.
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
