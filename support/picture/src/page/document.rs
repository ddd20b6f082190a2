//! The file of a page: its head, with the content security policy, its script and its data.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

/// A page as a file.
pub(super) struct Document<'a> {
    pub title: String,
    pub style: &'a str,
    /// JSON for the script.
    pub data: Option<String>,
    pub script: Option<&'a str>,
    /// True if the script asks the server of the page.
    pub asks_server: bool,
    pub body: Markup,
}

impl Document<'_> {
    pub fn html(&self) -> String {
        let connect = if self.asks_server { "connect-src 'self'; " } else { "" };
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; \
             {}base-uri 'none'; form-action 'none'",
            hash(self.script.unwrap_or_default()),
            hash(self.style),
            connect
        );
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (shown(&self.title)) }
                    style { (PreEscaped(self.style)) }
                }
                body {
                    (self.body)
                    @if let Some(data) = &self.data {
                        script #data type="application/json" { (PreEscaped(data)) }
                    }
                    @if let Some(script) = self.script { script { (PreEscaped(script)) } }
                }
            }
        };
        page.into_string()
    }
}

/// Escapes JSON for a `script` element: nothing in it ends the element or begins a comment, and no
/// character in it is a line end to a script.
pub(super) fn embedded(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{7f}'..='\u{9f}' => {
                safe.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => safe.push(character),
        }
    }
    safe
}

/// Escapes untrusted text: control characters and those that change the direction of text are shown
/// as their numbers; `maud` escapes the rest.
pub(super) fn shown(text: &str) -> String {
    let is_hidden = |character: char| {
        character.is_control()
            || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}')
    };
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            safe.extend(character.escape_unicode());
        } else {
            safe.push(character);
        }
    }
    safe
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}
