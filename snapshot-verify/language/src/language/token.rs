//! Symbols of the language.
//!
//! The lexer recognises only symbols; [`indentation`](super::indentation) groups lines. The text of
//! a name, number or string is found in the source at the token's span.

use logos::Logos;

use super::Span;

/// A symbol of the text, with its span.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    /// Span of the symbol; for an indentation, the first symbol after it.
    pub span: Span,
    /// 0 for an original symbol; otherwise the number, from 1, of the bug edit that inserted it.
    /// Then the span lies in the text of the edit.
    pub origin: u32,
}

/// Kind of a symbol.
#[derive(Clone, Copy, Debug, Eq, Hash, Logos, PartialEq)]
#[logos(skip r"[ \t\r]+")]
#[logos(skip(r"#[^\n]*", allow_greedy = true))]
pub(crate) enum TokenKind {
    /// End of a line; of a logical line, once the layout is known.
    #[token("\n")]
    Newline,
    /// The following lines are indented further. Inserted by the layout.
    Indent,
    /// End of an indented block. Inserted by the layout.
    Dedent,
    End,
    /// An invalid symbol, which was reported.
    Wrong,

    #[regex(r"[\p{Alphabetic}_][\p{Alphabetic}0-9_]*", priority = 1)]
    Name,
    #[regex("[0-9]+")]
    Number,
    // A string or quotation continues on lines that do not begin in the first column.
    #[regex("\"[^\"\n]*(\n([ \t\r][^\"\n]*)?)*\"")]
    String,
    #[regex("\"[^\"\n]*", priority = 1)]
    UnclosedString,
    #[regex("`[^`\n]*(\n([ \t\r][^`\n]*)?)*`")]
    Quote,
    #[regex("`[^`\n]*", priority = 1)]
    UnclosedQuote,

    /// Comment of other languages, to the end of the line; reported as a whole.
    #[regex("//[^\n]*", allow_greedy = true)]
    ForeignComment,
    /// `!=` of other languages; reported as a whole.
    #[token("/=")]
    ForeignUnequal,

    #[token(":=")]
    Becomes,
    #[token(":")]
    Colon,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("..")]
    Range,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("=")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessOrEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterOrEqual,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Times,
    #[token("/")]
    Over,

    #[token("all")]
    All,
    #[token("and")]
    And,
    #[token("any")]
    Any,
    #[token("atomic")]
    Atomic,
    #[token("else")]
    Else,
    #[token("except")]
    Except,
    #[token("exit")]
    Exit,
    #[token("false")]
    False,
    #[token("for")]
    For,
    #[token("fresh")]
    Fresh,
    #[token("if")]
    If,
    #[token("in")]
    In,
    #[token("initial")]
    Initial,
    #[token("linearizes")]
    Linearizes,
    #[token("local")]
    Local,
    #[token("loop")]
    Loop,
    #[token("me")]
    Me,
    #[token("mod")]
    Mod,
    #[token("n")]
    N,
    #[token("none")]
    None,
    #[token("not")]
    Not,
    #[token("or")]
    Or,
    #[token("repeat")]
    Repeat,
    #[token("return")]
    Return,
    #[token("skip")]
    Skip,
    #[token("then")]
    Then,
    #[token("true")]
    True,
    #[token("until")]
    Until,
    #[token("while")]
    While,
    #[token("with")]
    With,
    #[token("_")]
    Underscore,
}

impl TokenKind {
    /// Returns true if it is spelt like a name.
    pub fn is_word(self) -> bool {
        self == Self::Name || self.is_keyword()
    }

    /// Returns true for a word that cannot be a name.
    pub fn is_keyword(self) -> bool {
        use TokenKind as K;
        matches!(
            self,
            K::All
                | K::And
                | K::Any
                | K::Atomic
                | K::Else
                | K::Except
                | K::Exit
                | K::False
                | K::For
                | K::Fresh
                | K::If
                | K::In
                | K::Initial
                | K::Linearizes
                | K::Local
                | K::Loop
                | K::Me
                | K::Mod
                | K::N
                | K::None
                | K::Not
                | K::Or
                | K::Repeat
                | K::Return
                | K::Skip
                | K::Then
                | K::True
                | K::Until
                | K::While
                | K::With
        )
    }

    /// Returns true if the layout inserts it.
    pub fn is_layout(self) -> bool {
        matches!(self, Self::Newline | Self::Indent | Self::Dedent | Self::End)
    }

    /// Returns true if a statement can begin with it.
    pub fn begins_statement(self) -> bool {
        use TokenKind as K;
        matches!(
            self,
            K::Name
                | K::Open
                | K::Atomic
                | K::Exit
                | K::For
                | K::If
                | K::Local
                | K::Loop
                | K::Repeat
                | K::Return
                | K::Skip
                | K::While
        )
    }
}
