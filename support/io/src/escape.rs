//! Text for a terminal, without commands to it.
//!
//! File names, values and texts of algorithms are untrusted, and reports repeat them. A control
//! character among them could clear the screen or forge a verdict, and a bidirectional format
//! character could reorder the text (Boucher and Anderson, "Trojan Source", USENIX Security 2023).
//! They are written as Rust writes them in string literals: `\u{1b}`.

use std::borrow::Cow;

/// Escapes a report of several lines: line ends and tabs stay.
pub fn text(text: &str) -> Cow<'_, str> {
    escape(text, |character| is_command(character) && !matches!(character, '\n' | '\t'))
}

/// Escapes a name within a line, including line ends and tabs.
pub fn name(name: &str) -> Cow<'_, str> {
    escape(name, is_command)
}

fn is_command(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}')
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_escaped(character) {
            escaped.extend(character.escape_unicode());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_is_left() {
        let all: String = ('\0'..='\u{30000}').collect();
        let left = |text: &str| text.chars().filter(|c| c.is_control()).collect::<String>();
        assert_eq!(left(&name(&all)), "");
        assert_eq!(left(&text(&all)), "\t\n");
        assert_eq!(text("a\r\u{9b}\u{202e}b"), "a\\u{d}\\u{9b}\\u{202e}b");
    }

    #[test]
    fn other_text_is_left_alone() {
        assert!(matches!(text("é ∀ 漢字\n\tx"), Cow::Borrowed(_)));
        assert!(matches!(name("é ∀ 漢字"), Cow::Borrowed(_)));
    }
}
