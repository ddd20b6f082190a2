//! Any bytes from an editor: any stream is read to its end, and a document answers every question
//! about every position, including positions outside the document.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};

use self::document::Document;
use self::transport::{Received, receive};
use crate::choices::Choices;

#[allow(dead_code, missing_docs, reason = "the program uses all of it")]
#[path = "../../../../snapshot-verify/src/cli/lsp/document.rs"]
mod document;
#[allow(dead_code, missing_docs, reason = "the program uses all of it")]
#[path = "../../../../snapshot-verify/src/cli/lsp/position.rs"]
mod position;
#[allow(dead_code, missing_docs, reason = "the program uses all of it")]
#[path = "../../../../snapshot-verify/src/cli/lsp/transport.rs"]
mod transport;

/// Part of verification that documents need.
mod verification {
    /// Command of a lens, as in the program.
    pub const COMMAND: &str = "snapshot-verify.check";
}

/// Some of the replacement texts.
const PIECES: [&str; 8] =
    ["", "\n", "\u{1f600}", "\r\n", "update(v)\n", "algorithm a\n", "\u{0}", "shared a[n] = init"];

/// Maximum number of messages and changes tried.
const MOST: usize = 64;

/// Reads messages; changes each text in places that the bytes choose, and asks all questions.
///
/// # Panics
/// If reading does not end, or a document does not answer.
pub fn check(bytes: &[u8]) {
    let mut input = bytes;
    let mut before = input.len() + 1;
    while let Ok(Some(received)) = receive(&mut input) {
        assert!(input.len() < before, "each message takes some bytes");
        before = input.len();
        if let Received::Malformed(words) = received {
            assert!(!words.is_empty(), "an error has a message");
        }
    }
    let (changes, text) = bytes.split_at(bytes.len().min(MOST));
    let uri: Uri = "file:///a.snapshot".parse().expect("a URI");
    let mut document = Document::new(uri, 0, String::from_utf8_lossy(text).into_owned());
    ask(&document, Position::new(0, 0));
    let mut choices = Choices::new(changes);
    let mut place = || {
        let ((line, _), (character, far)) = (choices.next(32)?, choices.next(64)?);
        let line = if far == 3 { u32::MAX } else { line as u32 };
        Some((Position::new(line, character as u32), far))
    };
    while let (Some((start, piece)), Some((end, _))) = (place(), place()) {
        let range = (piece != 1).then_some(Range { start, end });
        let text = PIECES[(start.character as usize + piece) % PIECES.len()].to_owned();
        document.change(1, TextDocumentContentChangeEvent { range, range_length: None, text });
        ask(&document, end);
    }
}

fn ask(document: &Document, place: Position) {
    // A line ends with `\r`, too, as the protocol has it.
    let text = document.text.replace("\r\n", "\n");
    let lines = text.split(['\n', '\r']).count() as u32;
    let is_inside = |range: Range| {
        assert!(range.start <= range.end && range.end.line <= lines, "{range:?}");
    };
    for diagnostic in document.diagnostics() {
        is_inside(diagnostic.range);
    }
    for symbol in document.symbols() {
        is_inside(symbol.range);
    }
    let _ = document.hover(place);
    if let Some(found) = document.definition(place) {
        is_inside(found.range);
    }
    for edit in document.formatting().into_iter().flatten() {
        is_inside(edit.range);
    }
    for lens in document.lenses("check") {
        is_inside(lens.range);
    }
    is_inside(document.place(None));
}
