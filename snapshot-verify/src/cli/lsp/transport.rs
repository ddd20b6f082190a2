//! Messages on a stream: `Content-Length: N`, an empty line, and N bytes of JSON.
//!
//! After malformed input, reading continues with the next message: invalid headers, messages that
//! are too long, and invalid messages are skipped. The reader of `lsp_server` ends at the first of
//! these, and reserves as much memory as a header claims.

use std::io::{self, BufRead, Read};

use lsp_server::Message;

/// Maximum length of a message in bytes. A text may be 256 KiB long.
const LONGEST: u64 = 16 << 20;

/// Maximum length of a header line in bytes.
const HEADER: u64 = 1 << 10;

/// An input from the stream.
#[derive(Debug)]
pub enum Received {
    Message(Message),
    /// An invalid message, with the error.
    Malformed(String),
}

/// Reads the next message; `None` at the end of the input. Memory is bounded for any input.
///
/// # Errors
/// Errors of the input.
pub fn receive(input: &mut impl BufRead) -> io::Result<Option<Received>> {
    let length = match header(input)? {
        None => return Ok(None),
        Some(Err(wrong)) => return Ok(Some(Received::Malformed(wrong))),
        Some(Ok(length)) => length,
    };
    if length > LONGEST {
        skip(input, length)?;
        let wrong = format!("a message of {length} bytes: at most {LONGEST} are taken");
        return Ok(Some(Received::Malformed(wrong)));
    }
    let mut bytes = Vec::new();
    input.by_ref().take(length).read_to_end(&mut bytes)?;
    Ok(Some(match serde_json::from_slice(&bytes) {
        Ok(message) => Received::Message(message),
        Err(error) => Received::Malformed(format!("no message of JSON-RPC: {error}")),
    }))
}

/// Reads a header. Returns the length of the message that follows, or the error in the header;
/// `None` at the end of the input.
fn header(input: &mut impl BufRead) -> io::Result<Option<Result<u64, String>>> {
    let mut length = None;
    let mut has_fields = false;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') {
            return match skip_line(input)? {
                true => Ok(Some(Err(format!("a line of a header has at most {HEADER} bytes")))),
                false => Ok(None),
            };
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            match length {
                Some(length) => return Ok(Some(Ok(length))),
                // Empty lines between messages are harmless.
                None if !has_fields => continue,
                None => return Ok(Some(Err("a header without Content-Length".to_owned()))),
            }
        }
        has_fields = true;
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            match value.trim().parse() {
                Ok(number) => length = Some(number),
                Err(_) => return Ok(Some(Err("Content-Length is a number of bytes".to_owned()))),
            }
        }
    }
}

/// Skips to the end of the line; returns `false` at the end of the input.
fn skip_line(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = input.fill_buf()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(bytes.len(), |end| end + 1);
        input.consume(length);
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn skip(input: &mut impl BufRead, length: u64) -> io::Result<()> {
    io::copy(&mut input.by_ref().take(length), &mut io::sink()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the methods of the received messages, and `!` for malformed ones.
    fn received(input: &[u8]) -> Vec<String> {
        let mut input = io::BufReader::with_capacity(7, input);
        let mut found = Vec::new();
        while let Some(received) = receive(&mut input).unwrap() {
            found.push(match received {
                Received::Message(Message::Notification(one)) => one.method,
                Received::Message(other) => panic!("{other:?}"),
                Received::Malformed(_) => "!".to_owned(),
            });
        }
        found
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn malformed_messages_do_not_end_the_stream() {
        let good = framed(r#"{"jsonrpc":"2.0","method":"m"}"#);
        let long = "x".repeat(HEADER as usize * 2);
        let too_long = LONGEST + 1;
        let bodies = "y".repeat(too_long as usize);
        let broken = [
            framed("{"),
            framed("[]"),
            framed("{\"id\":{}}"),
            framed("\u{0}\u{fffd}"),
            framed(&"[".repeat(10_000)),
            "Content-Length: -1\r\n".to_owned(),
            "Content-Length: 99999999999999999999999\r\n".to_owned(),
            "Content-Type: x\r\n\r\n".to_owned(),
            format!("{long}\n"),
            format!("Content-Length: {too_long}\r\n\r\n{bodies}"),
        ];
        for broken in broken {
            let found = received(format!("{good}{broken}{good}").as_bytes());
            assert_eq!(found, ["m", "!", "m"], "{broken:.40}");
        }
        let lower = good.replace("Content-Length: ", "x: y\r\ncontent-length:");
        assert_eq!(received(format!("\r\n{lower}\n\n{good}").as_bytes()), ["m", "m"]);
    }

    #[test]
    fn stream_may_end_anywhere() {
        let good = framed(r#"{"jsonrpc":"2.0","method":"m"}"#);
        for end in 0..good.len() {
            let found = received(&good.as_bytes()[..end]);
            assert!(found.is_empty() || found == ["!"], "{end}: {found:?}");
        }
        assert_eq!(received(b"Content-Length: 16000000\r\n\r\n"), ["!"]);
    }
}
