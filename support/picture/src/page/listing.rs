//! Sections of a page: tables, unformatted texts, and listings of an algorithm with remarks at its
//! lines.

use maud::html;

use super::{Section, shown};

/// A line of a listing.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Line {
    /// Text of the line.
    pub text: String,
    /// Remarks on the line, in order.
    pub remarks: Vec<Remark>,
}

/// A remark on a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Remark {
    /// Sign that repeats the message of the text.
    pub sign: Sign,
    /// Text of the remark.
    pub text: String,
}

/// Sign of a remark: a colour and a symbol that repeat the message of its text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sign {
    /// The statement is needed.
    Needed,
    /// The statement can be omitted.
    Spare,
    /// Unknown, or not applicable.
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
    /// A table with the heads of its columns, and its rows.
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

    /// A text with its lines and blanks, folded below a summary.
    pub fn folded(heading: &str, note: &str, summary: &str, text: &str) -> Self {
        let lines = text.lines().map(shown).collect::<Vec<_>>().join("\n");
        let body = html! {
            @if !note.is_empty() { p { (shown(note)) } }
            details.fold {
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
