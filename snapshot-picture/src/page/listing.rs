//! Sections of a page: tables, texts as they are, and listings of an algorithm with
//! remarks at its lines.

use maud::html;

use super::{Section, shown};

/// A line of a listing.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Line {
    /// The text of the line.
    pub text: String,
    /// What is said of it, in order.
    pub remarks: Vec<Remark>,
}

/// What is said of a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Remark {
    /// Its sign.
    pub sign: Sign,
    /// The words.
    pub text: String,
}

/// The sign of a remark: colours and symbols say again what its words say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sign {
    /// It is needed.
    Needed,
    /// It can be left out.
    Spare,
    /// It is not known, or does not apply.
    Open,
}

impl Sign {
    const fn class(self) -> &'static str {
        match self {
            Self::Needed => "needed",
            Self::Spare => "spare",
            Self::Open => "open",
        }
    }

    const fn symbol(self) -> &'static str {
        match self {
            Self::Needed => "\u{25cf} ",
            Self::Spare => "\u{25cb} ",
            Self::Open => "\u{00b7} ",
        }
    }
}

impl Section {
    /// A table: the heads of its columns, and its rows.
    pub fn table(heading: &str, note: &str, heads: &[&str], rows: &[Vec<String>]) -> Self {
        let body = html! {
            @if !note.is_empty() { p { (shown(note)) } }
            div.wide tabindex="0" role="group" aria-label=(heading) {
                table {
                    thead { tr { @for head in heads { th scope="col" { (head) } } } }
                    tbody {
                        @for row in rows { tr { @for cell in row { td { (shown(cell)) } } } }
                    }
                }
            }
        };
        Self { heading: heading.to_owned(), body }
    }

    /// A text with its lines and blanks, folded away below a word on it.
    pub fn folded(heading: &str, note: &str, summary: &str, text: &str) -> Self {
        let lines = text.lines().map(shown).collect::<Vec<_>>().join("\n");
        let body = html! {
            @if !note.is_empty() { p { (shown(note)) } }
            details {
                summary { (shown(summary)) }
                div.wide tabindex="0" role="group" aria-label=(heading) { pre { (lines) } }
            }
        };
        Self { heading: heading.to_owned(), body }
    }

    /// The lines of an algorithm, with their remarks.
    pub fn listing(heading: &str, notes: &[String], lines: &[Line]) -> Self {
        let body = html! {
            @for note in notes { p { (shown(note)) } }
            div.wide tabindex="0" role="group" aria-label=(heading) {
                table.listing {
                    thead { tr { th scope="col" { "line" } th scope="col" { "text" } th scope="col" { "what it contributes" } } }
                    tbody {
                        @for (at, line) in lines.iter().enumerate() {
                            tr {
                                th scope="row" { (at + 1) }
                                td.code { (shown(&line.text)) }
                                td.remarks {
                                    @for remark in &line.remarks {
                                        span.(remark.sign.class()) {
                                            span aria-hidden="true" { (remark.sign.symbol()) }
                                            (shown(&remark.text))
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        };
        Self { heading: heading.to_owned(), body }
    }
}
