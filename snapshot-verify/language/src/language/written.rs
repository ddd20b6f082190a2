//! The text of symbols: of a variant, with its edits; of the line that declares a name.

use super::Source;
use super::token::{Token, TokenKind};

/// Columns per level of indentation.
const INDENTATION: usize = 4;

/// Returns the text of these symbols, each as it stands in the source, with a space where there is
/// one. Lines are logical lines, without comments.
pub(super) fn written(source: &Source, tokens: &[Token]) -> String {
    let mut text = String::new();
    let mut depth = 0;
    let mut before: Option<&Token> = None;
    for token in tokens {
        match token.kind {
            TokenKind::Indent => depth += 1,
            TokenKind::Dedent => depth -= 1,
            TokenKind::End => {}
            // An edit may have left an empty line.
            TokenKind::Newline => text.extend(before.take().map(|_| '\n')),
            // A symbol of another edit may stand anywhere.
            kind => {
                match before {
                    None => text.extend(std::iter::repeat_n(' ', depth * INDENTATION)),
                    Some(before) if before.origin != token.origin => text.push(' '),
                    Some(before) if before.span.end != token.span.begin => text.push(' '),
                    Some(_) => {}
                }
                // A symbol that an edit ends a statement with has the span of the one before.
                match kind {
                    TokenKind::Semicolon => text.push(';'),
                    _ => text.push_str(source.slice(token.span)),
                }
                before = Some(token);
            }
        }
    }
    text
}
